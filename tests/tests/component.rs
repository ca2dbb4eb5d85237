//! What holds for the embedded component, and how the engine refuses what is no policy.
#![expect(clippy::unwrap_used, reason = "a test panics where it fails")]

use std::fs;

use plumb_host::engine::{EMBEDDED, Engine, Isolation, Observation, Policy, Refusal, limits};
use plumb_tests::guest;
use wasmparser::{Parser, Payload};
use wit_parser::Resolve;

const OBJECT: &str = r#"{
    "apiVersion": "example.com/v1", "kind": "Gadget",
    "metadata": {"name": "a", "namespace": "b", "generation": 3, "uid": "c"},
    "status": {
        "observedGeneration": 2,
        "conditions": [
            {"type": "Ready", "status": "True", "reason": "Fine", "message": "all is well",
             "lastTransitionTime": "2026-01-01T00:00:00Z"},
            {"type": "Ready", "status": "False", "reason": "Bad", "message": "",
             "lastTransitionTime": "2026-01-01T00:00:00Z"}
        ]
    }
}"#;

fn observation(object: &str) -> Observation {
    Observation {
        object: object.to_owned(),
        old: None,
        history: Vec::new(),
        related: Vec::new(),
        now: None,
        settings: String::new(),
    }
}

/// The reason why bytes are no policy, once as a buffer and once as a file.
fn refusal(bytes: &[u8]) -> Refusal {
    let engine = Engine::new(1).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("policy.wasm");
    fs::write(&file, bytes).unwrap();
    let of_file = engine.load(&file).expect_err("it is refused").to_string();
    let of_bytes = engine.load_bytes(bytes).expect_err("it is refused");
    assert_eq!(
        of_file,
        format!("failed to load the policy {}: {}", file.display(), of_bytes.reason),
        "both ways give the same reason"
    );
    of_bytes.reason
}

#[test]
fn the_component_imports_nothing() {
    let mut depth = 0;
    let mut modules = 0;
    for payload in Parser::new(0).parse_all(EMBEDDED) {
        match payload.expect("the component is well-formed") {
            // A component inside is a shim for types; its imports are met within the outer one.
            Payload::ComponentSection { .. } => depth += 1,
            Payload::ModuleSection { .. } => {
                depth += 1;
                modules += 1;
            }
            Payload::End(_) => depth -= 1,
            Payload::ComponentImportSection(section) if depth == 0 => {
                assert_eq!(section.count(), 0, "the component imports something");
            }
            Payload::ImportSection(section) => {
                assert_eq!(section.count(), 0, "a core module imports something");
            }
            _ => {}
        }
    }
    assert_eq!(modules, 1, "there is one core module, which other engines can take out");
}

#[test]
fn the_component_carries_its_name_and_version() {
    let policy = Policy::embedded().unwrap();
    assert_eq!(policy.identity().name, "plumb-policy");
    assert_eq!(policy.identity().version, env!("CARGO_PKG_VERSION"));
    assert_eq!(policy.identity().sha256.len(), 64);
}

#[test]
fn the_same_input_gives_the_same_bytes_in_every_mode() {
    let engine = Engine::new(2).unwrap();
    let fresh = engine.embedded().unwrap();
    let reused = fresh.clone().with_isolation(Isolation::Reused);
    let given = engine.load_bytes(EMBEDDED).unwrap();
    assert_eq!(given.identity(), fresh.identity());
    let request = format!(r#"{{"check":{{"object":{OBJECT}}}}}"#);
    let expected = fresh.evaluate_json(&request).unwrap();
    let verdict = fresh.check(&observation(OBJECT)).unwrap();
    for policy in [&fresh, &reused, &reused, &reused, &given] {
        assert_eq!(policy.evaluate_json(&request).unwrap(), expected);
        assert_eq!(policy.check(&observation(OBJECT)).unwrap(), verdict);
    }
}

#[test]
fn a_typed_answer_and_its_json_form_agree() {
    let policy = Policy::embedded().unwrap();
    let verdict = policy.check(&observation(OBJECT)).unwrap();
    let request = format!(r#"{{"check":{{"object":{OBJECT}}}}}"#);
    assert_eq!(serde_json::to_string(&verdict).unwrap(), policy.evaluate_json(&request).unwrap());
    let rules = policy.rules().unwrap();
    assert_eq!(
        serde_json::to_string(&rules).unwrap(),
        policy.evaluate_json(r#"{"rules":{}}"#).unwrap()
    );
}

#[test]
fn the_host_calls_the_contract_in_wit() {
    let contract = guest::contract();
    let (_, package) = contract.packages.iter().next().unwrap();
    let wanted = format!("{}/evaluator@0.1.0", package.name.to_string().split('@').next().unwrap());
    assert_eq!(package.name.to_string(), "plumb:policy@0.1.0");
    let Refusal::OtherWorld { wanted: called, .. } = refusal(b"\0asm\x0d\0\x01\0") else {
        panic!("an empty component is of another world");
    };
    assert_eq!(called, wanted);
}

#[test]
fn an_empty_file_is_refused() {
    assert_eq!(refusal(b"").to_string(), "it is not WebAssembly: the file is empty");
}

#[test]
fn a_file_of_another_kind_is_refused() {
    for (bytes, expected) in [
        (&b"kind: Pod"[..], "it does not begin with `\\0asm`"),
        (b"(component)", "it looks like the text format"),
        (b"\0asm\x0d\0\x02\0", "its binary format is of another version"),
    ] {
        let message = refusal(bytes).to_string();
        assert!(message.contains(expected), "{message}");
    }
}

#[test]
fn native_code_is_refused() {
    let code = wasmtime_code();
    let message = refusal(&code).to_string();
    assert!(message.contains("it is native code"), "{message}");
}

/// The head of an ELF file as wasmtime writes it: 64 bits, little-endian, wasmtime's own OS and
/// ABI for a component.
fn wasmtime_code() -> Vec<u8> {
    let mut elf = vec![0x7f, b'E', b'L', b'F', 2, 1, 1, 200, 0];
    elf.resize(16, 0);
    elf.extend([1, 0, 62, 0, 1, 0, 0, 0]);
    elf.resize(48, 0);
    // e_flags: a component.
    elf.extend([2, 0, 0, 0, 64, 0, 0, 0, 0, 0, 64, 0, 0, 0, 0, 0]);
    elf
}

#[test]
fn a_core_module_is_refused() {
    let module = guest::core("(module)");
    assert!(matches!(refusal(&module), Refusal::CoreModule));
}

#[test]
fn a_broken_component_is_refused() {
    assert!(matches!(refusal(&EMBEDDED[..EMBEDDED.len() / 2]), Refusal::Invalid(_)));
}

#[test]
fn a_component_that_is_too_large_is_refused() {
    let large = vec![0; usize::try_from(limits::COMPONENT_BYTES).unwrap() + 1];
    assert!(matches!(refusal(&large), Refusal::TooLarge { .. }));
}

#[test]
fn a_component_of_another_world_is_refused() {
    let mut resolve = Resolve::default();
    resolve
        .push_str("other.wit", "package a:b; world other { export greet: func() -> u32; }")
        .unwrap();
    let other =
        guest::component(r#"(module (func (export "greet") (result i32) i32.const 1))"#, &resolve);
    assert_eq!(
        refusal(&other).to_string(),
        "it does not export plumb:policy/evaluator@0.1.0; it exports the function greet"
    );
}

#[test]
fn a_component_of_another_version_is_refused() {
    let mut resolve = Resolve::default();
    resolve
        .push_str(
            "other.wit",
            "package plumb:policy@0.2.0; interface evaluator { check: func() -> u32; } \
             world policy { export evaluator; }",
        )
        .unwrap();
    let other = guest::component(
        r#"(module
            (func (export "plumb:policy/evaluator@0.2.0#check") (result i32) i32.const 1))"#,
        &resolve,
    );
    assert_eq!(
        refusal(&other).to_string(),
        "it exports plumb:policy/evaluator@0.2.0; this host speaks plumb:policy/evaluator@0.1.0"
    );
}

#[test]
fn a_component_with_other_functions_is_refused() {
    let mut resolve = Resolve::default();
    resolve
        .push_str(
            "other.wit",
            "package plumb:policy@0.1.0; interface evaluator { check: func() -> u32; } \
             world policy { export evaluator; }",
        )
        .unwrap();
    let other = guest::component(
        r#"(module
            (func (export "plumb:policy/evaluator@0.1.0#check") (result i32) i32.const 1))"#,
        &resolve,
    );
    assert!(matches!(refusal(&other), Refusal::Mismatch(_)));
}

#[test]
fn a_component_with_imports_is_refused() {
    let mut resolve = Resolve::default();
    resolve
        .push_str("other.wit", "package a:b; world other { import now: func() -> u32; }")
        .unwrap();
    let other =
        guest::component(r#"(module (import "$root" "now" (func (result i32))))"#, &resolve);
    assert_eq!(refusal(&other).to_string(), "it imports now; a policy imports nothing");
}
