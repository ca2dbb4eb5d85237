//! The types and calls of `wit/policy.wit`, generated.
#![expect(missing_docs, reason = "the documentation is in wit/policy.wit")]

wasmtime::component::bindgen!({
    world: "policy",
    path: "../wit",
    additional_derives: [Clone, PartialEq, Eq, PartialOrd, Ord, Hash],
});
