//! Runs `fixtures/phase`: streams of objects, each with the phase that its name is expected to
//! have and without findings that are not.

use std::fs;
use std::path::Path;

use plumb_policy::finding::Severity;
use plumb_policy::verdict::{self, Observation};
use serde_json::Value;

#[test]
fn phases_are_as_expected() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/phase");
    let mut wrong = Vec::new();
    let mut judged = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let text = fs::read_to_string(&path).unwrap();
        let documents: Vec<Value> = serde_saphyr::from_multiple(&text).unwrap();
        let (header, objects) = documents.split_first().unwrap();
        let expected = header["spec"]["expect"].as_array().unwrap();
        assert_eq!(expected.len(), objects.len(), "{}", path.display());
        for object in objects {
            let name = &object["metadata"]["name"];
            let entry = expected.iter().find(|entry| entry["name"] == *name).unwrap();
            let text = object.to_string();
            let observation = Observation {
                object: &text,
                now: header["spec"]["now"].as_str(),
                ..Observation::default()
            };
            let verdict = verdict::check(&observation).unwrap();
            let phase = serde_json::to_value(verdict.phase).unwrap();
            let findings: Vec<&str> = verdict
                .findings
                .iter()
                .filter(|finding| finding.severity > Severity::Info)
                .map(|finding| finding.rule)
                .collect();
            let wanted: Vec<&str> = entry["findings"]
                .as_array()
                .into_iter()
                .flatten()
                .map(|finding| finding["rule"].as_str().unwrap())
                .collect();
            if phase != entry["phase"] || findings != wanted {
                let file = path.file_name().unwrap().display();
                wrong.push(format!("{file} {name}: {phase}, {} {findings:?}", verdict.reason));
            }
            judged += 1;
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(judged > 60, "only {judged} objects were judged");
}
