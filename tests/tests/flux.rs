//! Flux's kinds: the fixtures of their witnesses and invariants, recorded streams, the field's
//! objects, and the repair of what is torn.

use std::path::Path;

use plumb_policy::finding::Verdict;
use plumb_policy::json::Json;
use plumb_policy::object::Object;
use plumb_policy::profile::{self, Invariant, Profile, Witness, test};
use plumb_policy::template::{self, Comparison};
use plumb_policy::verdict::{self, Observation};
use plumb_policy::witness::{self, Says};
use plumb_tests::generated;
use plumb_tests::native::{self, Judged};
use serde_json::{Value, json};

/// The rules whose data this test is about.
const RULES: [&str; 2] = ["message-revision-differs-from-field", "status-breaks-invariant"];

fn is_torn(one: &Judged) -> bool {
    one.findings().any(|finding| RULES.contains(&finding.rule))
}

/// Judges every file of a shared folder; nothing if it is not there.
fn shared(folder: &str, endings: &[&str]) -> Vec<Judged> {
    let Some(folder) = native::shared(folder) else { return Vec::new() };
    let files = native::files(&folder, endings);
    files.iter().filter_map(|path| native::try_judge(path).ok()).flat_map(|read| read.1).collect()
}

/// The fixtures of the rules.
fn fixtures() -> Vec<(Option<Value>, Vec<Judged>)> {
    let folders = RULES.map(|rule| generated::root().join("fixtures/rules").join(rule));
    let files = folders.iter().flat_map(|folder| native::files(folder, &[".yaml"]));
    files.map(|path| native::judge(&path)).collect()
}

#[test]
fn fixtures_are_judged_as_expected() {
    let mut unmet = Vec::new();
    for (header, judged) in fixtures() {
        assert!(!judged.is_empty(), "a fixture without objects");
        unmet.extend(native::unmet(&header.expect("a header"), &judged));
    }
    assert!(unmet.is_empty(), "{}", unmet.join("\n"));
}

#[test]
fn no_object_of_the_field_is_called_torn() {
    for folder in ["truth/corpus", "truth/argocd", "truth/karmada", "truth/kstatus"] {
        let judged = shared(folder, &[".yaml"]);
        let found: Vec<_> = judged.iter().filter(|one| is_torn(one)).map(Judged::told).collect();
        assert!(found.is_empty(), "{}", found.join(""));
    }
}

/// Of each recorded stream: the states that are torn, counted from one.
const RECORDED: [(&str, &[usize]); 14] = [
    ("watch-torn-events.yaml", &[3]),
    ("watch-torn-plain.yaml", &[3]),
    ("watch-torn-events.json", &[3]),
    ("watch-torn-raw.jsonl", &[3]),
    ("watch-lifecycle-events.yaml", &[5, 8]),
    ("watch-lifecycle-plain.yaml", &[5, 8]),
    ("watch-e1-validate-raw.jsonl", &[5, 8]),
    // What a mutating hook or policy held at Unknown is not torn for anybody.
    ("watch-e2-mutate-events.yaml", &[]),
    ("watch-e2-mutate-plain.yaml", &[]),
    ("watch-e2-mutate-events.json", &[]),
    ("watch-e2-mutate-raw.jsonl", &[]),
    ("watch-e7f-mutate-match-raw.jsonl", &[]),
    ("watch-e9-map-raw.jsonl", &[]),
    ("audit-e0.jsonl", &[7, 11]),
];

#[test]
fn the_torn_writes_are_found_in_every_form_of_a_stream() {
    let Some(folder) = native::shared("recorded") else { return };
    for (name, torn) in RECORDED {
        let (_, judged) = native::judge(&folder.join(name));
        let found: Vec<usize> =
            judged.iter().filter(|one| is_torn(one)).map(|one| one.document).collect();
        assert_eq!(found, torn, "{name}");
    }
}

#[test]
fn the_torn_writes_are_found_in_admission_reviews() {
    let Some(folder) = native::shared("recorded") else { return };
    for (number, torn) in (1..=12).map(|number| (number, matches!(number, 7 | 11))) {
        let path = folder.join(format!("admission-e1-validate-{number:03}-validate.json"));
        let (_, judged) = native::judge(&path);
        assert_eq!(judged.iter().any(is_torn), torn, "{}", path.display());
    }
}

// ---------------------------------------------------------------------------------------------
// Repair

fn check(object: &Value) -> Verdict {
    let text = object.to_string();
    let observation = Observation { object: &text, ..Observation::default() };
    verdict::check(&observation).expect("an object")
}

/// Applies a repair; panics at anything but the status of a condition.
fn repaired(object: &Value) -> Value {
    let mut after = object.clone();
    let Some(patch) = check(object).repair else { return after };
    let operations: Vec<Value> = serde_json::from_str(&patch).expect("a JSON Patch");
    for operation in operations {
        let path = operation["path"].as_str().expect("a path");
        let place = after.pointer_mut(path).expect("a place that is there");
        match operation["op"].as_str() {
            Some("test") => assert_eq!(*place, operation["value"], "{patch}"),
            Some("replace") => {
                let parts: Vec<&str> = path.split('/').collect();
                assert!(
                    matches!(parts[..], ["", "status", "conditions", _, "status"]),
                    "touches {path}"
                );
                *place = operation["value"].clone();
            }
            _ => panic!("{patch}"),
        }
    }
    assert_eq!(check(&after).repair, None, "a second repair finds something to do");
    after
}

fn summary(object: &Value) -> &Value {
    let conditions = object["status"]["conditions"].as_array().map_or(&[][..], Vec::as_slice);
    conditions.iter().find(|condition| condition["type"] == "Ready").unwrap_or(&Value::Null)
}

/// What the API server stores if every write of a recorded stream is repaired: a write of the
/// conditions brings them as the controller knows them, any other leaves them as they are stored.
fn stored(recorded: &[Value]) -> Vec<Value> {
    let mut states: Vec<Value> = Vec::new();
    for (index, write) in recorded.iter().enumerate() {
        let mut write = write.clone();
        if let (Some(before), Some(last)) = (index.checked_sub(1), states.last())
            && recorded[before]["status"]["conditions"] == write["status"]["conditions"]
        {
            write["status"]["conditions"] = last["status"]["conditions"].clone();
        }
        states.push(repaired(&write));
    }
    states
}

/// No state says Ready for a revision that the artifact does not have, and the last one is as the
/// controller left it.
fn assert_safe(name: &str, recorded: &[Value]) {
    let states = stored(recorded);
    let mut held = 0;
    for (number, state) in states.iter().enumerate() {
        let ready = summary(state);
        let revision = state["status"]["artifact"]["revision"].as_str();
        let says = ready["message"].as_str().unwrap_or_default();
        if ready["status"] == "True" {
            assert!(
                revision.is_some_and(|revision| says.contains(revision)),
                "{name}: state {number} says {says}, and has {revision:?}"
            );
        }
        held += usize::from(ready["status"] == "Unknown" && says.starts_with("stored artifact"));
    }
    assert!(held > 0, "{name}: nothing was held");
    assert_eq!(
        states.last().map(|state| &state["status"]),
        recorded.last().map(|state| &state["status"]),
        "{name}: the last state is not as the controller left it"
    );
}

#[test]
fn a_repaired_stream_never_says_ready_for_another_artifact() {
    let real = "fixtures/rules/message-revision-differs-from-field/\
                real-gitrepository-torn-artifact.yaml";
    let mut streams = vec![generated::root().join(real)];
    if let Some(folder) = native::shared("recorded") {
        for name in ["watch-torn-raw.jsonl", "watch-lifecycle-plain.yaml"] {
            streams.push(folder.join(name));
        }
    }
    for path in streams {
        let (_, judged) = native::judge(&path);
        let states: Vec<Value> = judged.into_iter().map(|one| one.object).collect();
        let states: Vec<Value> = states
            .into_iter()
            .filter(|state| state["metadata"]["deletionTimestamp"].is_null())
            .collect();
        assert_safe(&path.display().to_string(), &states);
    }
}

#[test]
fn repaired_reviews_never_store_ready_for_another_artifact() {
    let Some(folder) = native::shared("recorded") else { return };
    let files = native::files(&folder, &["-validate.json"]);
    let reviews = files.iter().filter(|path| is_of(path, "admission-e1-validate-"));
    let states: Vec<Value> = reviews
        .flat_map(|path| native::judge(path).1)
        .map(|one| one.object)
        .filter(|state| !state["status"]["conditions"].is_null())
        .collect();
    assert!(states.len() > 8, "{} writes", states.len());
    assert_safe("admission-e1-validate", &states);
}

fn is_of(path: &Path, prefix: &str) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(prefix))
}

/// Sets the field at a JSON Pointer, in the type that it has.
fn set(object: &mut Value, pointer: &str, text: &str) {
    let mut place = object;
    for step in pointer.split('/').skip(1) {
        if place.is_null() {
            *place = if step.parse::<usize>().is_ok() { json!([]) } else { json!({}) };
        }
        place = match (step.parse::<usize>(), place) {
            (Ok(index), Value::Array(items)) => {
                items.resize(items.len().max(index + 1), Value::Null);
                &mut items[index]
            }
            (_, other) => &mut other[step],
        };
    }
    let is_number = pointer.ends_with("/version") || pointer.ends_with("/tagCount");
    *place = if pointer.ends_with("/inventory") {
        Value::Array(vec![json!({}); text.parse().expect("a count")])
    } else if is_number {
        json!(text.parse::<i64>().expect("a number"))
    } else {
        json!(text)
    };
}

#[test]
fn every_torn_summary_is_held_until_its_field_follows() {
    let mut held = 0;
    for one in fixtures().into_iter().flat_map(|(_, judged)| judged) {
        let text = one.object.to_string();
        let root = Json::parse(&text).expect("JSON");
        let profile = profile_of(&one.object);
        let object = Object::read(&root, &profile);
        let torn = witness::torn(&object, &profile);
        let torn: Vec<_> = torn.iter().filter(|torn| torn.condition == "Ready").collect();
        if torn.is_empty() || torn[0].status != "True" {
            continue;
        }
        held += 1;
        let mut after = repaired(&one.object);
        assert_eq!(summary(&after)["status"], "Unknown", "{} is not held", one.name);
        for torn in &torn {
            set(&mut after, &torn.field_path, &torn.mismatch.said);
        }
        let after = repaired(&after);
        assert_eq!(summary(&after)["status"], "True", "{} is not released", one.name);
    }
    assert!(held >= 40, "{held}");
}

// ---------------------------------------------------------------------------------------------
// Coverage

fn profile_of(object: &Value) -> Profile<'static> {
    let version = object["apiVersion"].as_str().unwrap_or_default();
    let (group, kind) = (version.split('/').next().unwrap_or_default(), &object["kind"]);
    let (_, _, profile) = profile::built_in()
        .find(|(g, k, _)| *g == group && kind == *k)
        .unwrap_or_else(|| panic!("no profile for {group} {kind}"));
    profile
}

/// Whether fixtures show the template of the witness agree, and disagree.
fn shown(
    witness: &Witness<'_>,
    template: &str,
    profile: &Profile<'_>,
    objects: &[&Value],
) -> (bool, bool) {
    let mut shown = (false, false);
    for object in objects {
        let text = object.to_string();
        let root = Json::parse(&text).expect("JSON");
        let object = Object::read(&root, profile);
        let alone =
            Witness { text: vec![profile::Text(template.to_string().into())], ..witness.clone() };
        match witness::says(&alone, &object, None) {
            Says::Nothing => {}
            Says::Agrees => shown.0 = true,
            // Another template may have the same shape and agree.
            Says::Torn(_) => {
                let whole = witness::says(witness, &object, None);
                shown.1 |= matches!(whole, Says::Torn(_));
            }
        }
    }
    shown
}

fn kept(invariant: &Invariant<'_>, profile: &Profile<'_>, objects: &[&Value]) -> (bool, bool) {
    let mut shown = (false, false);
    for object in objects {
        let text = object.to_string();
        let root = Json::parse(&text).expect("JSON");
        let object = Object::read(&root, profile);
        if test::all(&invariant.when, &object) {
            match test::all(&invariant.must, &object) {
                true => shown.0 = true,
                false => shown.1 = true,
            }
        }
    }
    shown
}

#[test]
fn each_witness_and_invariant_of_flux_is_shown_to_hold_and_to_fail() {
    let fixtures = fixtures();
    let objects: Vec<&Value> =
        fixtures.iter().flat_map(|(_, judged)| judged).map(|one| &one.object).collect();
    let mut missing = Vec::new();
    for (group, kind, profile) in profile::built_in() {
        if !group.ends_with("fluxcd.io") && !group.ends_with("controlplane.io") {
            continue;
        }
        let of_kind: Vec<&Value> =
            objects.iter().copied().filter(|object| object["kind"] == kind).collect();
        for witness in &profile.witnesses {
            for template in &witness.text {
                let shown = shown(witness, template, &profile, &of_kind);
                if shown != (true, true) {
                    missing.push(format!("{kind} {}: {template}: {shown:?}", witness.condition));
                }
            }
        }
        for invariant in &profile.invariants {
            let shown = kept(invariant, &profile, &of_kind);
            if shown != (true, true) {
                missing.push(format!("{kind}: {}: {shown:?}", invariant.message));
            }
        }
    }
    assert!(missing.is_empty(), "(holds, fails):\n{}", missing.join("\n"));
}

#[test]
fn a_template_of_flux_reads_only_known_filters() {
    for (_, _, profile) in profile::built_in() {
        assert_eq!(profile::problems(&profile, ""), [], "{}", profile.group);
        for template in profile.witnesses.iter().flat_map(|witness| &witness.text) {
            let root = Json::parse("{}").expect("JSON");
            assert_eq!(template::compare(template, "", &root), Comparison::Silent, "{template}");
        }
    }
}
