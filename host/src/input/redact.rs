//! Blanks what Secrets hold, before anything keeps or prints it.
//!
//! Bytes are replaced one for one, so positions stay true.

use serde_json::Value;

use super::Syntax;
use super::locate::Locator;

/// Annotation in which `kubectl apply` keeps a copy of the whole object.
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// Whether a document may hold a Secret, by its text alone.
pub(super) fn suspects(text: &str) -> bool {
    ["Secret", "SecretList", "secrets"].into_iter().any(|word| {
        text.match_indices(word).any(|(at, _)| {
            let before = text[..at].bytes().next_back();
            let after = text[at + word.len()..].bytes().next();
            [before, after].into_iter().flatten().all(|byte| !byte.is_ascii_alphanumeric())
        })
    })
}

/// Returns the text with the content of all Secrets blanked; nothing if that cannot be done.
pub(super) fn redact(text: String, json: &str, syntax: Syntax) -> Option<String> {
    let value = serde_json::from_str(json).ok()?;
    let mut pointers = Vec::new();
    find(&value, false, &mut String::new(), &mut pointers);
    if pointers.is_empty() {
        return Some(text);
    }
    let locator = Locator::of_text(&text, syntax)?;
    let mut bytes = text.into_bytes();
    for pointer in pointers {
        let location = locator.locate(&pointer)?;
        if !location.exact {
            return None;
        }
        if location.key.as_ref() != Some(&location.value) {
            blank(&mut bytes[location.value], syntax);
        }
    }
    String::from_utf8(bytes).ok()
}

/// Collects the pointers to what must not be seen. `secret` if `value` is known to be of a Secret.
fn find(value: &Value, secret: bool, pointer: &mut String, pointers: &mut Vec<String>) {
    let length = pointer.len();
    match value {
        Value::Object(fields) => {
            let kind = fields.get("kind").and_then(Value::as_str);
            let secret = secret || kind == Some("SecretList") || speaks_of_secrets(value);
            let is_secret = secret || kind == Some("Secret");
            for (key, child) in fields {
                push(pointer, key);
                match key.as_str() {
                    "data" | "stringData" if is_secret => leaves(child, pointer, pointers),
                    LAST_APPLIED => {
                        if child.as_str().is_some_and(|copy| copy.contains("\"Secret\"")) {
                            pointers.push(pointer.clone());
                        }
                    }
                    _ => find(child, secret, pointer, pointers),
                }
                pointer.truncate(length);
            }
        }
        Value::Array(elements) => {
            for (index, element) in elements.iter().enumerate() {
                push(pointer, &index.to_string());
                find(element, secret, pointer, pointers);
                pointer.truncate(length);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Whether an audit event or a request of an AdmissionReview is about Secrets: patches in it do
/// not say their kind.
fn speaks_of_secrets(value: &Value) -> bool {
    ["/objectRef/resource", "/resource/resource"]
        .into_iter()
        .any(|pointer| value.pointer(pointer).and_then(Value::as_str) == Some("secrets"))
}

/// Collects the pointers to all scalars in `value`.
fn leaves(value: &Value, pointer: &mut String, pointers: &mut Vec<String>) {
    let length = pointer.len();
    match value {
        Value::Object(fields) => {
            for (key, child) in fields {
                push(pointer, key);
                leaves(child, pointer, pointers);
                pointer.truncate(length);
            }
        }
        Value::Array(elements) => {
            for (index, element) in elements.iter().enumerate() {
                push(pointer, &index.to_string());
                leaves(element, pointer, pointers);
                pointer.truncate(length);
            }
        }
        Value::Null => {}
        Value::Bool(_) | Value::Number(_) | Value::String(_) => pointers.push(pointer.clone()),
    }
}

fn push(pointer: &mut String, token: &str) {
    pointer.push('/');
    pointer.push_str(&token.replace('~', "~0").replace('/', "~1"));
}

/// Quotes and white space stay, and what is a number or a word in JSON becomes a number, so that
/// the text reads as before.
fn blank(bytes: &mut [u8], syntax: Syntax) {
    let quoted = bytes.len() >= 2 && matches!(bytes[0], b'"' | b'\'');
    let (inner, filler) = match (quoted, syntax) {
        (true, _) => (1..bytes.len() - 1, b'x'),
        (false, Syntax::Yaml) => (0..bytes.len(), b'x'),
        (false, Syntax::Json) => (0..bytes.len(), b'1'),
    };
    for byte in &mut bytes[inner] {
        if !byte.is_ascii_whitespace() {
            *byte = filler;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::yaml;

    fn redacted(text: &str, syntax: Syntax) -> String {
        assert!(suspects(text), "{text}");
        let json = match syntax {
            Syntax::Json => text.to_owned(),
            Syntax::Yaml => yaml::to_json(text).expect(text),
        };
        let redacted = redact(text.to_owned(), &json, syntax).expect(text);
        assert_eq!(redacted.len(), text.len());
        assert!(!redacted.contains("hunter2"), "{redacted}");
        match syntax {
            Syntax::Json => {
                serde_json::from_str::<Value>(&redacted).expect(&redacted);
            }
            Syntax::Yaml => {
                yaml::to_json(&redacted).expect(&redacted);
            }
        }
        redacted
    }

    #[test]
    fn yaml_secrets_are_blanked_in_place() {
        let text = concat!(
            "apiVersion: v1\nkind: Secret\nmetadata:\n  name: app\n  annotations:\n",
            "    kubectl.kubernetes.io/last-applied-configuration: |\n",
            "      {\"kind\":\"Secret\",\"stringData\":{\"a\":\"hunter2\"}}\n",
            "data: {a: hunter2, \"b\": 'hunter2'}\n",
            "stringData:\n  c: |-\n    # hunter2\n      hunter2\n  d:\n  e: &e hunter2\n  f: *e\n  g: [\"hunter2\"]\n",
        );
        let redacted = redacted(text, Syntax::Yaml);
        assert!(redacted.contains("data: {a: xxxxxxx, \"b\": 'xxxxxxx'}\n"), "{redacted}");
        assert!(redacted.contains("  c: |-\n    x xxxxxxx\n      xxxxxxx\n"), "{redacted}");
        assert!(redacted.contains("name: app"), "{redacted}");
    }

    #[test]
    fn secrets_inside_lists_events_and_reviews_are_blanked() {
        for text in [
            r#"{"kind":"SecretList","items":[{"data":{"a":"hunter2"}}]}"#,
            r#"{"kind":"List","items":[{"kind":"Secret","data":{"a":"hunter2","n":-5,"t":true}}]}"#,
            r#"{"type":"ADDED","object":{"kind":"Secret","data":{"a":"hunter2 \" hunter2"}}}"#,
            r#"{"objectRef":{"resource":"secrets"},"requestObject":{"stringData":{"a":"hunter2"}}}"#,
            r#"{"request":{"resource":{"resource":"secrets"},"oldObject":{"data":{"a":"hunter2"}}}}"#,
        ] {
            redacted(text, Syntax::Json);
        }
    }

    #[test]
    fn words_that_contain_secret_are_not_suspected() {
        for text in ["kind: ExternalSecret", "imagePullSecrets: []", "secretRef: {name: a}"] {
            assert!(!suspects(text), "{text}");
        }
    }

    #[test]
    fn what_is_no_secret_stays() {
        for text in [
            r#"{"kind":"Role","rules":[{"resources":["secrets"]}],"data":{"a":"b"}}"#,
            r#"{"kind":"ConfigMap","data":{"kind":"Secret"}}"#,
        ] {
            assert_eq!(redact(text.to_owned(), text, Syntax::Json).as_deref(), Some(text));
        }
    }
}
