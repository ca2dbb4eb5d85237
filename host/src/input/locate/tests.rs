use super::*;

/// Key and value that `pointer` leads to, and the pointer that was found.
fn found<'a>(text: &'a str, syntax: Syntax, pointer: &str) -> (&'a str, &'a str, String) {
    let location = Locator::of_text(text, syntax).expect(text).locate(pointer).expect(pointer);
    assert_eq!(location.exact, location.pointer == pointer, "{pointer}");
    (location.key.map_or("", |key| &text[key]), &text[location.value], location.pointer)
}

const YAML: &str = r#"
kind: Example
metadata: {name: app, labels: {"a/b": 'c~d', e: }}
status:
  empty:
  folded: >-
    two
    lines
  text: |
    one
    ---
  quoted: "a \
    b" # comment
  conditions:
  - type: Ready
    status: "True"
    message: plain text
      that goes on

  # The last one.
  - type: Other
  nested:
  - - deep
ünï: cödé
"#;

#[test]
fn yaml_values_are_found() {
    for (pointer, key, value) in [
        ("/kind", "kind", "Example"),
        ("/metadata", "metadata", "{name: app, labels: {\"a/b\": 'c~d', e: }}"),
        ("/metadata/labels/a~1b", "\"a/b\"", "'c~d'"),
        ("/metadata/labels/e", "e", "e"),
        ("/status/empty", "empty", "empty"),
        ("/status/folded", "folded", "two\n    lines"),
        ("/status/text", "text", "one\n    ---"),
        ("/status/quoted", "quoted", "\"a \\\n    b\""),
        ("/status/conditions/0/status", "status", "\"True\""),
        ("/status/conditions/0/message", "message", "plain text\n      that goes on"),
        ("/status/conditions/1", "", "type: Other"),
        ("/status/conditions/1/type", "type", "Other"),
        ("/status/nested/0/0", "", "deep"),
        ("/ünï", "ünï", "cödé"),
    ] {
        assert_eq!(found(YAML, Syntax::Yaml, pointer), (key, value, pointer.to_owned()));
    }
    let (_, root, _) = found(YAML, Syntax::Yaml, "");
    assert_eq!(root, YAML.trim());
}

#[test]
fn the_nearest_ancestor_stands_in_for_what_is_missing() {
    for (pointer, ancestor) in [
        ("/status/conditions/7/status", "/status/conditions"),
        ("/status/conditions/0/reason", "/status/conditions/0"),
        ("/kind/of", "/kind"),
        ("/spec/suspend", ""),
        ("/status/conditions/-1", "/status/conditions"),
    ] {
        let (_, _, found) = found(YAML, Syntax::Yaml, pointer);
        assert_eq!(found, ancestor, "{pointer}");
    }
}

#[test]
fn aliases_lead_to_what_they_stand_for() {
    let text = "base: &base {a: 1, b: &b [2]}\none:\n  <<: *base\n  b: 3\nlist:\n  <<: [*base, {c: 4}]\nuse: *b\n";
    for (pointer, key, value) in [
        ("/one/a", "a", "1"),
        ("/one/b", "b", "3"),
        ("/list/c", "c", "4"),
        ("/list/b/0", "", "2"),
        ("/use", "use", "[2]"),
    ] {
        assert_eq!(found(text, Syntax::Yaml, pointer), (key, value, pointer.to_owned()));
    }
}

#[test]
fn json_values_are_found() {
    let text = "{\n \"type\": \"ADDED\", \"object\": {\"a\\/b\": [1, {\"c\": \"d\\\"}\"}, null], \"ü\": {}}}\n";
    for (pointer, key, value) in [
        ("/type", "\"type\"", "\"ADDED\""),
        ("/object/a~1b/0", "", "1"),
        ("/object/a~1b/1/c", "\"c\"", "\"d\\\"}\""),
        ("/object/a~1b/2", "", "null"),
        ("/object/ü", "\"ü\"", "{}"),
    ] {
        assert_eq!(found(text, Syntax::Json, pointer), (key, value, pointer.to_owned()));
    }
}

#[test]
fn text_that_is_not_what_it_says_is_not_located() {
    for text in ["", "{", "{\"a\"", "{\"a\" 1}", "[}", "{\"a\":\"", "[1"] {
        assert!(Locator::of_text(text, Syntax::Json).is_none(), "{text}");
    }
    assert!(Locator::of_text("a: [", Syntax::Yaml).is_none());
    assert!(Locator::of_text("", Syntax::Yaml).is_none());
}
