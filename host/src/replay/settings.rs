//! Settings of several documents as one.
//!
//! The host knows nothing of what is in them: lists are joined, mappings merged, and of anything
//! else the later document counts.

use serde_json::{Map, Value};

use crate::input::{ItemKind, Source, Unreadable};

/// Returns the settings in a file, JSON: all its `Settings` documents as one.
///
/// # Errors
/// What cannot be read, and what is there beside Settings.
pub fn read_settings(source: &Source) -> Result<String, Vec<Unreadable>> {
    let documents = source.open().map_err(|error| vec![error])?;
    let mut merged = String::new();
    let mut errors = Vec::new();
    let mut found = false;
    for next in documents {
        let document = match next {
            Ok(document) => document,
            Err(error) => {
                errors.push(error);
                continue;
            }
        };
        for item in &document.items {
            if let ItemKind::Settings(settings) = &item.kind {
                merged = merge(&merged, settings);
                found = true;
            } else {
                errors.push(Unreadable {
                    input: document.input.clone(),
                    document: Some(document.number),
                    line: Some(document.line),
                    message: "expected kind Settings of plumb.dev/v1alpha1".to_owned(),
                });
            }
        }
    }
    if !found && errors.is_empty() {
        errors.push(Unreadable {
            input: source.name.clone(),
            document: None,
            line: None,
            message: "holds no Settings of plumb.dev/v1alpha1".to_owned(),
        });
    }
    if errors.is_empty() { Ok(merged) } else { Err(errors) }
}

/// Returns two settings as one; an empty text is no settings.
pub(super) fn merge(first: &str, second: &str) -> String {
    let read = |text: &str| match serde_json::from_str(text) {
        Ok(Value::Object(fields)) => fields,
        _ => Map::new(),
    };
    match (first, second) {
        ("", only) | (only, "") => only.to_owned(),
        (first, second) => {
            let mut merged = read(first);
            join(&mut merged, read(second));
            Value::Object(merged).to_string()
        }
    }
}

fn join(into: &mut Map<String, Value>, from: Map<String, Value>) {
    for (key, value) in from {
        match (into.get_mut(&key), value) {
            (Some(Value::Array(known)), Value::Array(more)) => known.extend(more),
            (Some(Value::Object(known)), Value::Object(more)) => join(known, more),
            (_, value) => {
                into.insert(key, value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_joined_and_the_later_value_counts() {
        let first = r#"{"kind":"Settings","metadata":{"name":"a"},"rules":[1]}"#;
        let second = r#"{"ignore":[2],"metadata":{"name":"b"},"rules":[3]}"#;
        assert_eq!(
            merge(first, second),
            r#"{"ignore":[2],"kind":"Settings","metadata":{"name":"b"},"rules":[1,3]}"#
        );
        assert_eq!(merge("", second), second);
        assert_eq!(merge(first, ""), first);
    }
}
