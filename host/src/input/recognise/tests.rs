use super::*;
use crate::input::yaml;

/// `base kind JSON`, one line an item, then `base! message` for each problem.
fn read(text: &str) -> Vec<String> {
    let json = yaml::to_json(text).expect(text);
    let Contents { items, problems } = recognise(&json);
    let items = items.into_iter().map(|Item { base, kind }| {
        let (name, json) = match kind {
            ItemKind::Object(json) => ("object", json),
            ItemKind::OldObject(json) => ("old", json),
            ItemKind::Deleted(json) => ("deleted", json),
            ItemKind::Bookmark => ("bookmark", String::new()),
            ItemKind::Skipped(why) => ("skipped", why),
            ItemKind::WatchError(message) => ("error", message),
            ItemKind::Log(_) => ("log", String::new()),
            ItemKind::Fixture(_) => ("fixture", String::new()),
            ItemKind::Pass(_) => ("pass", String::new()),
            ItemKind::Trace(_) => ("trace", String::new()),
            ItemKind::Scenario(_) => ("scenario", String::new()),
            ItemKind::Settings(_) => ("settings", String::new()),
        };
        format!("{base} {name} {json}").trim().to_owned()
    });
    let problems =
        problems.into_iter().map(|Problem { base, message }| format!("{base}! {message}"));
    items.chain(problems).collect()
}

fn check(text: &str, expected: &[&str]) {
    assert_eq!(read(text), expected, "{text}");
}

const POD: &str = r#"{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"}}"#;

#[test]
fn objects_and_lists() {
    check(POD, &[&format!("object {POD}")]);
    check(
        &format!("kind: List\napiVersion: v1\nitems: [{POD}, {POD}]"),
        &[&format!("/items/0 object {POD}"), &format!("/items/1 object {POD}")],
    );
    check(&format!("[{POD}]"), &[&format!("/0 object {POD}")]);
    check(
        "{kind: PodList, apiVersion: v1, metadata: {}, items: [{metadata: {name: a}}, {}]}",
        &[
            &format!("/items/0 object {POD}"),
            "/items/1 skipped v1 Pod has no metadata, so no status",
        ],
    );
    check("{kind: List, apiVersion: v1, items: []}", &[]);
    check(
        "{kind: PodList, apiVersion: v1, metadata: {resourceVersion: '1'}}",
        &["skipped the PodList is empty"],
    );
    // A kind may end like a list and be none.
    let list = r#"{"apiVersion":"a.example.com/v1","kind":"AllowList","metadata":{"name":"a"}}"#;
    check(list, &[&format!("object {list}")]);
}

#[test]
fn watch_events() {
    check(&format!("object: {POD}\ntype: ADDED"), &[&format!("/object object {POD}")]);
    check(&format!("{{type: MODIFIED, object: {POD}}}"), &[&format!("/object object {POD}")]);
    check(&format!("{{type: DELETED, object: {POD}}}"), &[&format!("/object deleted {POD}")]);
    check(
        "{type: BOOKMARK, object: {kind: Pod, apiVersion: v1, metadata: {}}}",
        &["/object bookmark"],
    );
    check(
        "{type: ERROR, object: {kind: Status, apiVersion: v1, code: 410, reason: Expired, message: too old}}",
        &["/object error too old (code 410)"],
    );
    check(
        "{type: ERROR}",
        &["! expected apiVersion and kind of a Kubernetes object, found a mapping of type"],
    );
    check(
        &format!("{{type: CHANGED, object: {POD}}}"),
        &[
            "! expected type ADDED, MODIFIED, DELETED, BOOKMARK or ERROR of a watch event, found CHANGED",
        ],
    );
    check("{type: ADDED, object: 5}", &["/object! expected a Kubernetes object, found a number"]);
}

#[test]
fn shortened_objects_are_left_for_their_history() {
    check("{metadata: {uid: b}, status: {}}", &[r#"object {"metadata":{"uid":"b"},"status":{}}"#]);
}

#[test]
fn reviews() {
    let review = |request: &str| {
        format!("{{apiVersion: admission.k8s.io/v1, kind: AdmissionReview, request: {request}}}")
    };
    check(
        &review(&format!("{{operation: UPDATE, object: {POD}, oldObject: {POD}}}")),
        &[&format!("/request/oldObject old {POD}"), &format!("/request/object object {POD}")],
    );
    check(
        &review(&format!("{{operation: CREATE, object: {POD}, oldObject: null}}")),
        &[&format!("/request/object object {POD}")],
    );
    check(
        &review(&format!("{{operation: DELETE, object: null, oldObject: {POD}}}")),
        &[&format!("/request/oldObject object {POD}")],
    );
    check(
        &review("{kind: {group: '', version: v1, kind: Pod}, object: {metadata: {name: a}}}"),
        &[&format!("/request/object object {POD}")],
    );
    check(
        &review("{operation: CONNECT, object: {kind: PodExecOptions}}"),
        &["skipped an AdmissionReview of CONNECT, not of an object"],
    );
    check(
        &review("{operation: UPDATE, subResource: scale, object: {kind: Scale}}"),
        &["skipped an AdmissionReview of scale, not of an object"],
    );
    check(
        "{apiVersion: admission.k8s.io/v1, kind: AdmissionReview, response: {allowed: true}}",
        &["skipped an AdmissionReview that holds only a response"],
    );
    check(
        "{apiVersion: admission.k8s.io/v1, kind: AdmissionReview}",
        &["! expected the request of an AdmissionReview"],
    );
    check(
        &review("7"),
        &["! not an AdmissionReview: invalid type: integer `7`, expected struct Request"],
    );
}

#[test]
fn audit_events() {
    let stored = r#"{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","uid":"u"}}"#;
    let event = |rest: &str| {
        format!(
            "{{apiVersion: audit.k8s.io/v1, kind: Event, stage: ResponseComplete, verb: update, \
             responseStatus: {{code: 200}}, {rest}}}"
        )
    };
    check(
        &event(&format!("requestObject: {POD}, responseObject: {stored}")),
        &[&format!("/responseObject object {stored}")],
    );
    check(&event(&format!("requestObject: {POD}")), &[&format!("/requestObject object {POD}")]);
    for (rest, why) in [
        ("responseObject: {kind: Status, apiVersion: v1, metadata: {}}".to_owned(), "whole"),
        (format!("responseObject: {POD}"), "whole"),
        (format!("responseObject: {stored}, requestURI: '/a?dryRun=All'"), "dry run"),
        (format!("responseObject: {stored}, objectRef: {{subresource: eviction}}"), "subresource"),
        (String::new(), "whole"),
    ] {
        let found = read(&event(&rest));
        assert!(found.len() == 1 && found[0].starts_with("skipped "), "{rest}: {found:?}");
        assert!(found[0].contains(why), "{rest}: {found:?}");
    }
    for (from, to, why) in [
        ("verb: update", "verb: list", "read"),
        ("verb: update", "verb: patch", "whole"),
        ("ResponseComplete", "RequestReceived", "stage"),
        ("code: 200", "code: 409", "failed"),
    ] {
        let found = read(&event(&format!("requestObject: {POD}")).replace(from, to));
        assert!(found.len() == 1 && found[0].contains(why), "{to}: {found:?}");
    }
    check(
        &format!(
            "{{kind: EventList, apiVersion: audit.k8s.io/v1, items: [{{stage: ResponseComplete, \
             verb: patch, responseStatus: {{code: 201}}, responseObject: {stored}}}]}}"
        ),
        &[&format!("/items/0/responseObject object {stored}")],
    );
}

#[test]
fn own_documents() {
    for (kind, found) in [
        ("Fixture", "fixture"),
        ("Reconcile", "pass"),
        ("QueueTrace", "trace"),
        ("Scenario", "scenario"),
        ("Settings", "settings"),
    ] {
        check(&format!("{{apiVersion: plumb.dev/v1alpha1, kind: {kind}}}"), &[found]);
    }
    check(
        "{apiVersion: plumb.dev/v2, kind: Fixture}",
        &["! expected apiVersion plumb.dev/v1alpha1, found plumb.dev/v2"],
    );
    check(
        "{apiVersion: plumb.dev/v1alpha1, kind: Fixtures}",
        &["! expected kind Fixture, Reconcile, QueueTrace, Scenario or Settings of \
         plumb.dev/v1alpha1, found Fixtures"],
    );
}

#[test]
fn what_is_no_object_is_told() {
    for (text, expected) in [
        ("just text", "! expected a Kubernetes object, found a string"),
        ("5", "! expected a Kubernetes object, found a number"),
        ("{}", "! expected apiVersion and kind of a Kubernetes object, found an empty mapping"),
        (
            "{a: 1, b: 2, c: 3, d: 4, e: 5}",
            "! expected apiVersion and kind of a Kubernetes object, found a mapping of a, b, c, d, …",
        ),
        ("{kind: Pod}", "! apiVersion is missing beside kind Pod; expected apiVersion and kind"),
        ("{apiVersion: v1}", "! kind is missing; expected apiVersion and kind"),
        ("{apiVersion: 1, kind: Pod}", "! expected a string as apiVersion, found a number"),
        (
            "{apiVersion: v1, kind: Pod, metadata: []}",
            "/metadata! expected the metadata of a Pod, found a sequence",
        ),
        (
            "{apiVersion: v1, kind: PodList, items: {}}",
            "/items! expected a sequence of objects, found a mapping",
        ),
        (
            "{apiVersion: meta.k8s.io/v1, kind: Table, rows: []}",
            "! a Table holds printed columns, not objects; expected -o yaml or -o json",
        ),
    ] {
        check(text, &[expected]);
    }
    // The rest of a list is still read.
    check(
        &format!("{{kind: List, apiVersion: v1, items: [5, {POD}]}}"),
        &[
            &format!("/items/1 object {POD}"),
            "/items/0! expected a Kubernetes object, found a number",
        ],
    );
    check(
        "{apiVersion: kustomize.config.k8s.io/v1beta1, kind: Kustomization, resources: []}",
        &["skipped kustomize.config.k8s.io/v1beta1 Kustomization has no metadata, so no status"],
    );
}

#[test]
fn a_line_of_a_log_has_a_level_a_time_and_a_message() {
    check(r#"{"level":"info","ts":"2026-01-01T00:00:00Z","msg":"starting manager"}"#, &["log"]);
    check(r#"{"level":"info","time":1767225600.5,"msg":"Reconciling"}"#, &["log"]);
    let other = read(r#"{"level":"info","msg":"no time"}"#);
    assert!(other.iter().all(|line| line.starts_with('!')), "{other:?}");
}
