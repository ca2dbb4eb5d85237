//! Writes YAML as people write fixtures: maps in blocks, the entries of lists on one line each.

use std::fmt::Write;

use serde_json::Value;

/// The order in which known fields stand; others follow by name.
const ORDER: [&str; 24] = [
    "apiVersion",
    "kind",
    "metadata",
    "spec",
    "at",
    "event",
    "key",
    "source",
    "story",
    "expect",
    "description",
    "flavour",
    "sources",
    "objects",
    "events",
    "name",
    "worker",
    "revision",
    "side",
    "filter",
    "document",
    "scope",
    "status",
    "note",
];

/// One document.
pub(super) fn document(value: &Value) -> String {
    let mut out = String::new();
    block(&mut out, value, 0);
    out
}

fn entries(value: &Value) -> Vec<(&String, &Value)> {
    let mut entries: Vec<_> = value.as_object().into_iter().flatten().collect();
    let place = |name: &str| match ORDER.iter().position(|known| *known == name) {
        Some(at) if name == "note" => (2, at),
        Some(at) => (0, at),
        None => (1, 0),
    };
    entries.sort_by(|(left, _), (right, _)| place(left).cmp(&place(right)).then(left.cmp(right)));
    entries
}

/// Maps down to this depth take a line for each field.
const BLOCKS: usize = 2;

fn block(out: &mut String, value: &Value, depth: usize) {
    for (name, value) in entries(value) {
        let indent = "  ".repeat(depth);
        match value {
            Value::Object(map) if depth < BLOCKS && !map.is_empty() && name == "spec" => {
                let _ = writeln!(out, "{indent}{name}:");
                block(out, value, depth + 1);
            }
            Value::Array(list) if !list.is_empty() => {
                let _ = writeln!(out, "{indent}{name}:");
                for entry in list {
                    let _ = writeln!(out, "{indent}- {}", flow(entry));
                }
            }
            Value::String(text) if text.len() > 80 => {
                let _ = writeln!(out, "{indent}{name}: >-");
                let width = 98_usize.saturating_sub(indent.len());
                for line in super::super::report::wrap(text, width) {
                    let _ = writeln!(out, "{indent}  {line}");
                }
            }
            _ => {
                let _ = writeln!(out, "{indent}{name}: {}", flow(value));
            }
        }
    }
}

fn flow(value: &Value) -> String {
    match value {
        Value::Object(_) => {
            let fields = entries(value).into_iter();
            let fields = fields.map(|(name, value)| format!("{}: {}", scalar(name), flow(value)));
            format!("{{{}}}", fields.collect::<Vec<_>>().join(", "))
        }
        Value::Array(list) => {
            format!("[{}]", list.iter().map(flow).collect::<Vec<_>>().join(", "))
        }
        Value::String(text) => scalar(text),
        other => other.to_string(),
    }
}

/// Text that YAML would read as something else is quoted.
fn scalar(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./ ".contains(c);
    let begins = text.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '/');
    let number = text.starts_with(|c: char| c.is_ascii_digit())
        && !text.ends_with(|c: char| c.is_ascii_alphabetic());
    let reserved = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"];
    let is_reserved = reserved.contains(&&*text.to_ascii_lowercase());
    let is_url = text.starts_with("https://") && !text.contains([' ', '#']);
    let is_safe = text.chars().all(is_plain) && begins && !number && !is_reserved;
    if (is_safe && !text.ends_with(' ')) || is_url {
        text.to_owned()
    } else {
        Value::from(text).to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_needs_quotes_has_them() {
        for (text, written) in [
            ("v1", "v1"),
            ("True", "\"True\""),
            ("30m", "30m"),
            ("10", "\"10\""),
            ("1e3", "\"1e3\""),
            ("-3s", "\"-3s\""),
            ("a: b", "\"a: b\""),
            ("https://example.org/1", "https://example.org/1"),
        ] {
            assert_eq!(scalar(text), written, "{text}");
        }
    }
}
