use super::*;
use crate::input::Syntax;

fn document() -> Arc<Document> {
    Arc::new(Document {
        input: "in".into(),
        number: 1,
        line: 1,
        text: "".into(),
        syntax: Syntax::Yaml,
        items: Vec::new(),
    })
}

fn object(uid: &str, version: &str, rest: &str) -> String {
    format!(
        r#"{{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"a","namespace":"n","uid":"{uid}","resourceVersion":"{version}"}}{rest}}}"#
    )
}

/// `history: old <- earlier`, in resourceVersions.
fn step(tracker: &mut Tracker, json: &str) -> String {
    proceed(tracker, json, Certainty::Stored)
}

fn proceed(tracker: &mut Tracker, json: &str, certainty: Certainty) -> String {
    let facts = Facts::read(json).unwrap();
    let index = tracker.history(&facts);
    match tracker.step(index, state(json, &facts), &facts, certainty) {
        Step::Repeated => format!("{index}: repeated"),
        Step::New { old, earlier } => {
            let old = old.map_or("none".to_owned(), |old| old.resource_version);
            let earlier: Vec<_> = earlier.into_iter().map(|state| state.resource_version).collect();
            format!("{index}: {old} <- {}", earlier.join(" ")).trim_end().to_owned()
        }
    }
}

fn state(json: &str, facts: &Facts) -> State {
    State {
        document: document(),
        base: String::new(),
        json: json.into(),
        resource_version: facts.resource_version.clone(),
    }
}

fn stored(tracker: &mut Tracker, json: &str) {
    let facts = Facts::read(json).unwrap();
    let index = tracker.history(&facts);
    tracker.stored(index, state(json, &facts));
}

#[test]
fn states_of_one_uid_are_a_history() {
    let mut tracker = Tracker::default();
    assert_eq!(step(&mut tracker, &object("u", "1", "")), "0: none <-");
    assert_eq!(step(&mut tracker, &object("u", "2", "")), "0: 1 <-");
    assert_eq!(step(&mut tracker, &object("u", "2", "")), "0: repeated");
    assert_eq!(step(&mut tracker, &object("u", "3", "")), "0: 2 <- 1");
    // A list after a watch that broke.
    assert_eq!(step(&mut tracker, &object("u", "1", "")), "0: repeated");
    // The same version with another content is not the same state.
    assert_eq!(step(&mut tracker, &object("u", "3", r#","status":{}"#)), "0: 3 <- 1 2");
}

#[test]
fn another_uid_is_another_object() {
    let mut tracker = Tracker::default();
    assert_eq!(step(&mut tracker, &object("u", "1", "")), "0: none <-");
    assert_eq!(step(&mut tracker, &object("v", "2", "")), "1: none <-");
    assert_eq!(step(&mut tracker, &object("u", "3", "")), "0: 1 <-");
    let other_kind = object("u", "4", "").replace("Pod", "Scale");
    assert_eq!(step(&mut tracker, &other_kind), "2: none <-");
    assert_eq!(tracker.len(), 3);
}

#[test]
fn without_a_uid_the_name_tells() {
    let mut tracker = Tracker::default();
    assert_eq!(step(&mut tracker, &object("", "", r#","status":{"a":1}"#)), "0: none <-");
    assert_eq!(step(&mut tracker, &object("", "", r#","status":{"a":2}"#)), "0:  <-");
    assert_eq!(step(&mut tracker, &object("", "", r#","status":{"a":2}"#)), "0: repeated");
    // Back again is a new state.
    assert_eq!(step(&mut tracker, &object("", "", r#","status":{"a":1}"#)), "0:  <-");
    // The uid becomes known.
    assert_eq!(step(&mut tracker, &object("u", "5", "")).split(':').next(), Some("0"));
    assert_eq!(step(&mut tracker, &object("v", "6", "")), "1: none <-");
}

#[test]
fn deletion_ends_a_history() {
    let mut tracker = Tracker::default();
    step(&mut tracker, &object("u", "1", ""));
    tracker.end(0);
    assert_eq!(step(&mut tracker, &object("v", "2", "")), "1: none <-");
    tracker.end(1);
    assert_eq!(step(&mut tracker, &object("", "", "")), "2: none <-");
}

#[test]
fn what_comes_out_of_order_has_no_old_state() {
    let mut tracker = Tracker::default();
    step(&mut tracker, &object("u", "9", ""));
    assert_eq!(step(&mut tracker, &object("u", "8", "")), "0: none <-");
    assert_eq!(step(&mut tracker, &object("u", "10", "")), "0: 9 <-");
}

#[test]
fn a_broken_watch_breaks_histories() {
    let mut tracker = Tracker::default();
    step(&mut tracker, &object("u", "1", ""));
    tracker.break_watch();
    assert_eq!(step(&mut tracker, &object("u", "2", "")), "0: none <-");
    assert_eq!(step(&mut tracker, &object("u", "3", "")), "0: 2 <-");
}

#[test]
fn reviews_compare_with_what_is_stored() {
    let mut tracker = Tracker::default();
    let status =
        |version: &str, status: &str| object("u", version, &format!(r#","status":"{status}""#));
    let review = |tracker: &mut Tracker, old: &str, new: &str| {
        stored(tracker, old);
        proceed(tracker, new, Certainty::Proposed)
    };
    let (a, b, c) = (status("1", "a"), status("2", "b"), status("3", "c"));
    // The version counts up when the write is done, after the review.
    let (proposed_b, proposed_c) = (status("1", "b"), status("2", "c"));
    assert_eq!(review(&mut tracker, &a, &proposed_b), "0: 1 <-");
    // A second webhook is asked the same.
    assert_eq!(review(&mut tracker, &a, &proposed_b), "0: repeated");
    assert_eq!(review(&mut tracker, &b, &proposed_c), "0: 2 <- 1");
    // A write that is refused never was.
    assert_eq!(review(&mut tracker, &b, &status("2", "d")), "0: 2 <- 1");
    assert_eq!(review(&mut tracker, &c, &status("3", "e")), "0: 3 <- 1 2");
}

#[test]
fn histories_are_bounded() {
    let mut tracker = Tracker::default();
    for version in 0..100 {
        step(&mut tracker, &object("u", &version.to_string(), ""));
    }
    let found = step(&mut tracker, &object("u", "100", ""));
    assert_eq!(found.split(' ').count(), STATES_KEPT + 2, "{found}");
}

#[test]
fn objects_are_found_by_the_names_they_give() {
    let mut tracker = Tracker::default();
    let named = |kind: &str, namespace: &str, name: &str, spec: &str| {
        format!(
            r#"{{"apiVersion":"v1","kind":"{kind}","metadata":{{"name":"{name}","namespace":"{namespace}"}},"spec":{spec}}}"#
        )
    };
    let app = named(
        "App",
        "n",
        "app",
        r#"{"sourceRef":{"kind":"Source","name":"s","namespace":"other"},"dependsOn":[{"name":"base"}],"classRef":{"kind":"Class","name":"c"}}"#,
    );
    let objects = [
        &app,
        &named("Source", "other", "s", "{}"),
        &named("Source", "n", "s", "{}"),
        &named("App", "n", "base", "{}"),
        &named("Class", "", "c", "{}"),
        &named("Policy", "n", "p", r#"{"targetRefs":[{"kind":"App","name":"app"}]}"#),
        &named("Policy", "m", "q", r#"{"targetRefs":[{"kind":"App","name":"app"}]}"#),
    ];
    for object in objects {
        step(&mut tracker, object);
    }
    let related = |json: &str| -> Vec<String> {
        let facts = Facts::read(json).unwrap();
        let index = tracker.find(&facts).unwrap();
        let states = tracker.related(index, &facts);
        states
            .into_iter()
            .map(|state| {
                let facts = Facts::read(&state.json).unwrap();
                format!("{}/{}/{}", facts.kind, facts.namespace, facts.name)
            })
            .collect()
    };
    assert_eq!(related(&app), ["App/n/base", "Class//c", "Source/other/s", "Policy/n/p"]);
    assert_eq!(related(objects[1]), ["App/n/app"]);
    assert_eq!(related(objects[2]), [""; 0]);
    assert_eq!(related(objects[4]), ["App/n/app"]);
}
