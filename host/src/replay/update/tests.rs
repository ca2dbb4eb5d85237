use super::*;

fn entry() -> Value {
    json!({
        "resourceVersion": "7",
        "coherence": "incoherent",
        "findings": [{"rule": "a-rule", "path": "/status/a~1b", "severity": "error"}],
    })
}

const BLOCK: &str = "  expect:
  - resourceVersion: \"7\"
    coherence: incoherent
    findings:
    - {rule: a-rule, path: /status/a~1b, severity: error}
";

/// The file must read as before but for its expectations, which must be those given.
fn check(text: &str, expected: &str) {
    let entries = [entry()];
    let found = updated(text, "name", &entries).expect(text);
    assert_eq!(found, expected, "{text}");
    // Once more changes nothing.
    assert_eq!(updated(&found, "name", &entries).expect(&found), found);
    let mut documents = Documents::new("", Cursor::new(found));
    let header = documents.next().expect("a header").expect("a header that can be read");
    let [item] = header.items.as_slice() else { panic!("{header:?}") };
    let ItemKind::Fixture(json) = &item.kind else { panic!("{header:?}") };
    let header: Value = serde_json::from_str(json).unwrap();
    assert_eq!(header["spec"]["expect"], json!(entries));
}

const POD: &str = "# a pod\napiVersion: v1\nkind:   Pod\nmetadata: {name: a}\n---\n# end\n";

#[test]
fn expectations_replace_earlier_ones() {
    let header = "# why\napiVersion: plumb.dev/v1alpha1\nkind: Fixture\nspec:\n  story: a # b\n";
    let rest = format!("  now: \"2026-01-01T00:00:00Z\"\n---\n{POD}");
    for before in [
        "  expect: []\n",
        "  expect:\n",
        "  expect:\n  - document: 1\n    findings:\n    - {rule: x}\n",
    ] {
        check(&format!("{header}{before}{rest}"), &format!("{header}{BLOCK}{rest}"));
    }
    let last = format!("{header}  expect:\n  - document: 1\n---\n{POD}");
    check(&last, &format!("{header}{BLOCK}---\n{POD}"));
}

#[test]
fn expectations_are_added_to_a_header_without_any() {
    let header = "apiVersion: plumb.dev/v1alpha1\nkind: Fixture\n";
    let spec = "spec:\n  story: >-\n    one\n    two\n";
    check(&format!("{header}{spec}---\n{POD}"), &format!("{header}{spec}{BLOCK}---\n{POD}"));
    check(&format!("{header}---\n{POD}"), &format!("{header}spec:\n{BLOCK}---\n{POD}"));
    check(&format!("{header}spec:\n---\n{POD}"), &format!("{header}spec:\n{BLOCK}---\n{POD}"));
}

#[test]
fn a_file_without_a_header_gets_one() {
    let header = format!(
        "apiVersion: plumb.dev/v1alpha1\nkind: Fixture\nmetadata: {{name: name}}\nspec:\n{BLOCK}"
    );
    check(POD, &format!("{header}---\n{POD}"));
    check(&format!("---\n{POD}"), &format!("{header}---\n{POD}"));
    let windows = |text: &str| text.replace('\n', "\r\n");
    check(&windows(POD), &windows(&format!("{header}---\n{POD}")));
    check(&format!("\u{feff}{POD}"), &format!("\u{feff}{header}---\n{POD}"));
}

#[test]
fn json_gets_a_header_in_one_line() {
    let pod = "{\"kind\": \"Pod\",\n \"apiVersion\": \"v1\", \"metadata\": {\"name\": \"a\"}}\n";
    let header = json!({
        "apiVersion": "plumb.dev/v1alpha1",
        "kind": "Fixture",
        "metadata": {"name": "name"},
        "spec": {"expect": [entry()]},
    });
    check(pod, &format!("{header}\n{pod}"));
    let before = r#"{"apiVersion":"plumb.dev/v1alpha1","kind":"Fixture","metadata":{"name":"name"},"spec":{}}"#;
    check(&format!("{before}\n{pod}"), &format!("{header}\n{pod}"));
}

#[test]
fn flow_style_is_left_to_its_author() {
    for text in [
        "{apiVersion: plumb.dev/v1alpha1, kind: Fixture, spec: {expect: []}}\n",
        "apiVersion: plumb.dev/v1alpha1\nkind: Fixture\nspec: {story: a}\n",
    ] {
        let error = updated(text, "name", &[entry()]).expect_err(text);
        assert!(error.contains("flow style"), "{error}");
    }
}

#[test]
fn selectors_choose_one_evaluation() {
    let group = |document: usize, name: &str, version: &str| Group {
        document,
        kind: "Pod".to_owned(),
        namespace: String::new(),
        name: name.to_owned(),
        resource_version: version.to_owned(),
        entries: vec![(Scope::State, Map::new())],
    };
    let groups = [group(1, "a", "1"), group(2, "a", "2"), group(2, "b", "2"), group(3, "c", "")];
    assert_eq!(
        entries(&groups),
        [
            json!({"resourceVersion": "1"}),
            json!({"document": 2, "kind": "Pod", "name": "a", "resourceVersion": "2"}),
            json!({"document": 2, "kind": "Pod", "name": "b", "resourceVersion": "2"}),
            json!({"document": 3}),
        ]
    );
}

#[test]
fn words_that_yaml_reads_otherwise_are_quoted() {
    for (text, expected) in [
        ("stop", "stop"),
        ("/status/conditions/0", "/status/conditions/0"),
        ("on", "\"on\""),
        ("Null", "\"Null\""),
        ("", "\"\""),
        ("5m", "\"5m\""),
        ("a: b", "\"a: b\""),
    ] {
        assert_eq!(scalar(text), expected);
    }
}
