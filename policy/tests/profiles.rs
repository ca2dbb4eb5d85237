//! The built-in profiles: their shape, and the language of their tests.

use plumb_policy::json::Json;
use plumb_policy::object::Object;
use plumb_policy::profile::{self, Found, Profile, Test, test};
use plumb_policy::time::Time;

#[test]
fn built_in_profiles_are_sound() {
    let mut found = Vec::new();
    for (group, kind, profile) in profile::built_in() {
        found.extend(profile::problems(&profile, &format!("{group}/{kind}")));
        for type_ in profile.abnormal.iter().chain(&profile.stalled).chain(&profile.progress) {
            if profile.happy.contains(type_) {
                found.push((format!("{group}/{kind}"), format!("{type_} is both good and bad")));
            }
        }
    }
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn built_in_profiles_are_packed_without_loss() {
    let mut kinds = 0;
    for file in std::fs::read_dir("profiles").unwrap() {
        let text = std::fs::read_to_string(file.unwrap().path()).unwrap();
        let options = serde_saphyr::options! {
            budget: serde_saphyr::budget! { max_nodes: 1_000_000, max_documents: 4_096, },
        };
        let written: Vec<Profile<'_>> =
            serde_saphyr::from_str_with_options(&text, options).unwrap();
        for profile in &written {
            for kind in &profile.kinds {
                let Some(Found::BuiltIn(packed)) = profile::lookup(&profile.group, kind, &[])
                else {
                    panic!("{}/{kind} is not built in", profile.group);
                };
                assert_eq!(packed, *profile);
                kinds += 1;
            }
        }
    }
    assert_eq!(kinds, profile::built_in().count());
}

/// Each line: whether the test holds for the object below, and the test.
const LANGUAGE: &str = r#"
true  {"condition":"Ready","status":["True"]}
false {"condition":"Ready","status":["False","Unknown"]}
true  {"condition":"Ready","notReason":["Other"]}
false {"condition":"Ready","notReason":["Fine"]}
true  {"condition":"Gone","exists":false}
true  {"condition":"*","status":["False"]}
false {"condition":"*","except":["Synced"],"status":["False"]}
true  {"field":"status.phase","in":["Running"]}
true  {"field":"status.phase","notIn":["Failed"]}
false {"field":"status.phase","notIn":["Running"]}
true  {"field":"status.nothing","exists":false}
false {"field":"status.empty","exists":true}
true  {"field":"status.ready","equals":"spec.replicas"}
false {"field":"status.updated","least":"spec.replicas"}
true  {"field":"status.updated","least":"spec.replicas - spec.partition"}
true  {"field":"status.updated","below":"spec.absent","default":9}
true  {"field":"sum(spec.sets[*].count)","least":"5"}
false {"field":"sum(spec.sets[*].count)","least":"6"}
true  {"field":"status.ratio","whole":true}
false {"field":"status.partial","whole":true}
false {"field":"status.phase","whole":false}
true  {"field":"status.then","age":"1m"}
false {"field":"status.then","age":"2h"}
true  {"field":"status.then","before":"status.later"}
false {"field":"status.later","before":"status.then"}
true  {"some":"status.parents[*]","where":[{"condition":"Accepted","status":["False"]}]}
false {"every":"status.parents[*]","where":[{"condition":"Accepted","status":["True"]}]}
true  {"every":"status.parents[*].conditions[*]","where":[{"field":"observedGeneration","equals":"$.metadata.generation"}]}
true  {"every":"status.nothing[*]","where":[{"field":"@","in":["x"]}]}
true  {"some":"status.states[*]","where":[{"field":"@","in":["RUNNING"]}],"least":"2"}
false {"some":"status.states[*]","where":[{"field":"@","in":["RUNNING"]}],"least":"3"}
true  {"any":[{"field":"status.phase","in":["Failed"]},{"condition":"Ready"}]}
false {"none":[{"field":"status.phase","in":["Failed"]},{"condition":"Ready"}]}
true  {"all":[{"field":"status.phase","in":["Running"]},{"condition":"Ready"}]}
"#;

const OBJECT: &str = r#"{
  "metadata": {"generation": 3},
  "spec": {"replicas": 3, "partition": 1, "sets": [{"count": 2}, {"count": 3}]},
  "status": {
    "phase": "Running", "empty": [], "ready": 3, "updated": 2,
    "ratio": "2/2", "partial": "1/2", "then": "2026-01-01T00:00:00Z", "later": "2026-01-01T01:30:00+01:00",
    "conditions": [
      {"type": "Ready", "status": "True", "reason": "Fine"},
      {"type": "Synced", "status": "False"}
    ],
    "parents": [
      {"conditions": [{"type": "Accepted", "status": "True", "observedGeneration": 3}]},
      {"conditions": [{"type": "Accepted", "status": "False", "observedGeneration": 3}]}
    ],
    "states": {"a": "RUNNING", "b": "FAILED", "c": "RUNNING"}
  }
}"#;

#[test]
fn tests_hold_as_documented() {
    let root = Json::parse(OBJECT).unwrap();
    let now = Time::parse("2026-01-01T01:00:00Z");
    let object = Object::read(&root, &Profile::default()).at(now);
    for line in LANGUAGE.lines().filter(|line| !line.is_empty()) {
        let (expected, text) = line.split_once(' ').unwrap();
        let one: Test<'_> = serde_json::from_str(text.trim()).unwrap();
        let mut problems = Vec::new();
        test::problems(&one, "test", &mut problems);
        assert!(problems.is_empty(), "{text}: {problems:?}");
        assert_eq!(test::holds(&one, &object), expected == "true", "{text}");
    }
}

#[test]
fn tests_without_a_subject_are_refused() {
    for text in [
        r#"{"status":["True"]}"#,
        r#"{"condition":"Ready","field":"status.phase"}"#,
        r#"{"field":"status.phase","where":[{"condition":"Ready"}]}"#,
        r#"{"some":"status.parents[*]"}"#,
        r#"{"field":"status.then","age":"soon"}"#,
        r#"{"none":[{"field":"status[0"}]}"#,
    ] {
        let one: Test<'_> = serde_json::from_str(text).unwrap();
        let mut problems = Vec::new();
        test::problems(&one, "test", &mut problems);
        assert!(!problems.is_empty(), "{text}");
    }
}
