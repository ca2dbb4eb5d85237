//! Every form that tools print of one watch holds the same objects.

use std::io::Cursor;
use std::path::Path;

use plumb_host::input::{Documents, ItemKind, Locator, Source};
use serde_json::Value;

fn recorded(name: &str) -> Documents {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/recorded").join(name);
    Source::file(path).open().expect(name)
}

/// The objects in order, without what only some forms show: managedFields, and that one is gone.
fn objects(documents: Documents) -> Vec<Value> {
    let mut objects = Vec::new();
    for document in documents {
        let document = document.expect("the recorded documents can be read");
        for item in document.items {
            let (ItemKind::Object(json) | ItemKind::Deleted(json)) = item.kind else { continue };
            let mut object: Value = serde_json::from_str(&json).expect("an object is JSON");
            let metadata = object["metadata"].as_object_mut().expect("an object has metadata");
            metadata.remove("managedFields");
            objects.push(object);
        }
    }
    objects
}

fn versions(objects: &[Value]) -> Vec<&str> {
    let version = |object: &'static str| {
        move |value| -> &str {
            let _: &Value = value;
            value.pointer(object).and_then(Value::as_str).unwrap_or_default()
        }
    };
    objects.iter().map(version("/metadata/resourceVersion")).collect()
}

#[test]
fn every_form_of_a_watch_holds_the_same_objects() {
    for (forms, expected) in [
        (
            &[
                "watch-torn-raw.jsonl",
                "watch-torn-events.json",
                "watch-torn-events.yaml",
                "watch-torn-plain.yaml",
            ][..],
            &["243", "244", "245", "246"][..],
        ),
        (
            &[
                "watch-e2-mutate-raw.jsonl",
                "watch-e2-mutate-events.json",
                "watch-e2-mutate-events.yaml",
                "watch-e2-mutate-plain.yaml",
            ],
            &["292", "293", "294", "295", "296", "297", "298", "299"],
        ),
        (&["watch-lifecycle-events.yaml", "watch-lifecycle-plain.yaml"], &[]),
    ] {
        let first = objects(recorded(forms[0]));
        if !expected.is_empty() {
            assert_eq!(versions(&first), expected, "{}", forms[0]);
        }
        assert!(first.len() >= 4, "{}", forms[0]);
        for form in &forms[1..] {
            assert_eq!(objects(recorded(form)), first, "{form}");
        }
    }
}

#[test]
fn pretty_json_and_lists_hold_the_same_objects() {
    let first = objects(recorded("watch-torn-raw.jsonl"));
    let pretty: Vec<_> =
        first.iter().map(|object| serde_json::to_string_pretty(object).expect("JSON")).collect();
    let list = serde_json::json!({"apiVersion": "v1", "kind": "List", "items": first});
    let typed = {
        let mut items = first.clone();
        for item in &mut items {
            let fields = item.as_object_mut().expect("an object");
            fields.remove("apiVersion");
            fields.remove("kind");
        }
        serde_json::json!({
            "apiVersion": "source.toolkit.fluxcd.io/v1",
            "kind": "GitRepositoryList",
            "items": items,
        })
    };
    for text in [
        pretty.join("\n"),
        pretty.join("\n---\n"),
        list.to_string(),
        format!("{list:#}"),
        typed.to_string(),
        Value::from(first.clone()).to_string(),
    ] {
        assert_eq!(objects(Documents::new("-", Cursor::new(text.clone()))), first, "{text}");
    }
}

#[test]
fn an_audit_log_holds_the_objects_that_were_written() {
    let watched = objects(recorded("watch-lifecycle-plain.yaml"));
    assert!(!watched.is_empty());
    let written = objects(recorded("audit-e0.jsonl"));
    assert!(
        versions(&written).is_sorted_by_key(|version| version.parse::<u64>().expect("a number"))
    );
    assert!(written.iter().all(|object| object["kind"] == "GitRepository"));
    assert_eq!(versions(&written).last(), Some(&"246"), "{:?}", versions(&written));
}

#[test]
fn a_review_holds_the_object_before_and_after() {
    let documents = recorded("admission-e1-validate-007-validate.json");
    let items: Vec<_> = documents.flat_map(|document| document.expect("a review").items).collect();
    let reviewed: Vec<_> = items.iter().filter(|item| item.base.starts_with("/request")).collect();
    let bases: Vec<_> = reviewed.iter().map(|item| item.base.as_str()).collect();
    assert_eq!(bases, ["/request/oldObject", "/request/object"]);
    assert!(matches!(reviewed[0].kind, ItemKind::OldObject(_)));
    assert!(matches!(reviewed[1].kind, ItemKind::Object(_)));
}

/// Whatever is in an object, its pointer leads to its text.
#[test]
fn every_value_of_every_form_is_located() {
    for form in [
        "watch-torn-raw.jsonl",
        "watch-torn-events.yaml",
        "watch-torn-plain.yaml",
        "audit-e0.jsonl",
    ] {
        for document in recorded(form) {
            let document = document.expect("the recorded documents can be read");
            let locator = Locator::new(&document).expect("what can be read can be located");
            for item in &document.items {
                let (ItemKind::Object(json) | ItemKind::Deleted(json)) = &item.kind else {
                    continue;
                };
                let object: Value = serde_json::from_str(json).expect("an object is JSON");
                locate_all(&document.text, &locator, &item.base, &object);
            }
        }
    }
}

fn locate_all(text: &str, locator: &Locator, pointer: &str, value: &Value) {
    let location = locator.locate(pointer).expect(pointer);
    assert!(location.exact, "{pointer} was located at {}", location.pointer);
    let found = &text[location.value];
    match value {
        Value::Object(fields) => {
            for (key, value) in fields {
                let key = key.replace('~', "~0").replace('/', "~1");
                locate_all(text, locator, &format!("{pointer}/{key}"), value);
            }
        }
        Value::Array(elements) => {
            for (index, value) in elements.iter().enumerate() {
                locate_all(text, locator, &format!("{pointer}/{index}"), value);
            }
        }
        Value::String(string) if !string.contains(['\'', '"', '\\', '\n', '<', '>', '&']) => {
            assert!(found.contains(string.as_str()), "{pointer}: {found}");
        }
        Value::Number(number) => assert_eq!(found, number.to_string(), "{pointer}"),
        _ => {}
    }
}
