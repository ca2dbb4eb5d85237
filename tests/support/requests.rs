//! The fixtures as requests to `evaluate-json`: what every host of the component must answer alike.

use std::fs;
use std::path::Path;

use plumb_host::input::{Documents, ItemKind};
use serde_json::{Value, json};

use crate::{generated, native};

/// One request, and where it comes from.
#[derive(Debug)]
pub struct Request {
    /// `FILE#NUMBER`, or what is asked.
    pub name: String,
    /// The request, JSON on one line.
    pub text: String,
}

/// A request for each object, pass and trace of each fixture, with what is known beside it, and
/// one for each other function and each form of fault.
pub fn requests() -> Vec<Request> {
    let root = generated::root();
    let mut requests = Vec::new();
    let mut samples = Vec::new();
    for file in native::files(&root.join("fixtures"), &[".yaml", ".json", ".jsonl"]) {
        let name = file.strip_prefix(&root).unwrap_or(&file).display().to_string();
        for (number, text) in of_file(&file, &mut samples).into_iter().enumerate() {
            requests.push(Request { name: format!("{name}#{}", number + 1), text });
        }
    }
    samples.truncate(3);
    let settings = json!({
        "rules": [{"rules": ["*"], "level": "info"}],
        "profiles": [{"group": "example.com", "kinds": ["Widget"], "happy": ["Ready"]}],
    });
    let widget = json!({"apiVersion": "example.com/v1", "kind": "Widget"});
    let mut ask = |name: &str, request: Value| {
        requests.push(Request { name: name.to_owned(), text: request.to_string() });
    };
    ask("rules", json!({"rules": {}}));
    ask("profiles", json!({"profiles": {}}));
    ask("profiles with settings", json!({"profiles": {"settings": settings}}));
    ask("settings that are right", json!({"validate": {"settings": settings}}));
    ask("settings that are wrong", json!({"validate": {"settings": {"rules": [{}]}}}));
    ask("samples", json!({"infer": {"samples": samples}}));
    ask("an object with settings", json!({"check": {"object": widget, "settings": settings}}));
    ask("an object that is none", json!({"check": {"object": []}}));
    ask("no object", json!({"check": {}}));
    ask("a time that is none", json!({"check": {"object": {}, "now": "yesterday"}}));
    ask("a function that is none", json!({"guess": {}}));
    ask("two functions", json!({"rules": {}, "profiles": {}}));
    ask("a pass that is none", json!({"decide": {"pass": {"kind": "Pod"}}}));
    ask("a trace that is none", json!({"trace": {"trace": {}}}));
    for (name, text) in [("an empty text", ""), ("half an object", r#"{"check":{"#)] {
        requests.push(Request { name: name.to_owned(), text: text.to_owned() });
    }
    requests
}

/// The requests of one file, in its order; adds its first object to the samples.
fn of_file(file: &Path, samples: &mut Vec<Value>) -> Vec<String> {
    let reader = fs::File::open(file).expect("a fixture can be read");
    let mut header = Value::Null;
    let mut settings = Value::Null;
    let mut objects: Vec<(Value, Option<Value>)> = Vec::new();
    let mut requests = Vec::new();
    let mut old = None;
    let parse = |text: &str| serde_json::from_str::<Value>(text).expect("JSON");
    for document in Documents::new(file.display().to_string(), reader) {
        // What is wrong with an input is the business of other tests.
        for item in document.into_iter().flat_map(|document| document.items) {
            match item.kind {
                ItemKind::Fixture(text) => header = parse(&text),
                ItemKind::Settings(text) => settings = parse(&text),
                ItemKind::OldObject(text) => old = Some(parse(&text)),
                ItemKind::Object(text) => objects.push((parse(&text), old.take())),
                ItemKind::Pass(text) => requests.push(json!({"decide": {"pass": parse(&text)}})),
                ItemKind::Trace(text) => requests.push(json!({"trace": {"trace": parse(&text)}})),
                _ => {}
            }
        }
    }
    samples.extend(objects.first().map(|(object, _)| object.clone()));
    let identity = |object: &Value| {
        let metadata = &object["metadata"];
        [&object["kind"], &metadata["uid"], &metadata["namespace"], &metadata["name"]]
            .map(Clone::clone)
    };
    let identities: Vec<_> = objects.iter().map(|(object, _)| identity(object)).collect();
    let now = &header["spec"]["now"];
    for (place, (object, old)) in objects.iter().enumerate() {
        let same = |&other: &usize| identities[other] == identities[place];
        let mut history: Vec<&Value> =
            (0..place).filter(same).map(|other| &objects[other].0).collect();
        // A long history is costly to send, and tells no more of how a host passes it on.
        history.drain(..history.len().saturating_sub(4));
        let old = old.as_ref().or_else(|| history.pop());
        let related: Vec<&Value> = (0..objects.len())
            .filter(|other| !same(other) && objects.len() < 16)
            .map(|other| &objects[other].0)
            .collect();
        let mut known = json!({"object": object, "history": history, "related": related});
        for (name, value) in [("old", old), ("now", Some(now)), ("settings", Some(&settings))] {
            if let Some(value) = value.filter(|value| !value.is_null()) {
                known[name] = value.clone();
            }
        }
        requests.push(json!({"check": known}));
    }
    requests.iter().map(Value::to_string).collect()
}
