//! The types of `wit/policy.wit`, generated.
#![expect(missing_docs, reason = "the documentation is in wit/policy.wit")]
#![expect(clippy::pedantic, reason = "generated code")]

wasmtime::component::bindgen!({
    world: "policy",
    path: "../wit",
    additional_derives: [Clone, PartialEq, serde::Serialize],
});
