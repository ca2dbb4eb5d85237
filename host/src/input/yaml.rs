//! YAML to JSON text, as Kubernetes reads YAML.
//!
//! Kubernetes reads YAML 1.1 scalars (`on`, `y`, `0777`), merge keys, and keys of any scalar type.
//! Like the API server's strict reading, a duplicate key is an error.

use std::fmt::{self, Formatter, Write};

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_saphyr::budget::BudgetBreach;
use serde_saphyr::{Error, MessageFormatter, Options, UserMessageFormatter};

/// Mappings and sequences nested deeper than this are refused, since they are read by recursion:
/// 21 KB of stack a level in a debug build. The deepest real objects, CRDs that hold schemas, stay
/// below 45.
const MAX_DEPTH: usize = 64;

/// Events and nodes in one document. The text is in memory and its size limited before, so this
/// only has to be above what such a text can hold.
const MAX_EVENTS: usize = 200_000_000;

/// Events that aliases may add to one document: an alias bomb ends here, in some milliseconds.
const MAX_ALIAS_EVENTS: usize = 1_000_000;

/// Why a document cannot be read.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct YamlError {
    /// 1-based line within the document, if known.
    pub(super) line: Option<usize>,
    /// What is wrong.
    pub(super) message: String,
}

/// All options for reading YAML; nothing else sets any.
pub(super) fn options() -> Options {
    let budget = serde_saphyr::budget! {
        max_depth: MAX_DEPTH,
        flow_nesting_limit: MAX_DEPTH,
        max_events: MAX_EVENTS,
        max_nodes: MAX_EVENTS,
        max_total_scalar_bytes: usize::MAX,
        enforce_alias_anchor_ratio: false,
    };
    serde_saphyr::options! {
        budget: budget,
        alias_limits: serde_saphyr::alias_limits! { max_total_replayed_events: MAX_ALIAS_EVENTS },
        legacy_octal_numbers: true,
        with_snippet: false,
    }
}

/// Returns a YAML document as JSON text, keys in the order of the source. An empty document is
/// `null`.
pub(super) fn to_json(text: &str) -> Result<String, YamlError> {
    let mut json = String::with_capacity(text.len());
    serde_saphyr::with_deserializer_from_str_with_options(text, options(), |deserializer| {
        ToJson(&mut json).deserialize(deserializer)
    })
    .map_err(|error| {
        let line = error.location().and_then(|location| usize::try_from(location.line()).ok());
        YamlError { line, message: message(&error) }
    })?;
    Ok(json)
}

/// What is wrong, in the words of someone who wrote the document; without the position.
fn message(error: &Error) -> String {
    match error {
        Error::AliasError { error, .. } | Error::WithSnippet { error, .. } => message(error),
        Error::DuplicateMappingKey { key: Some(key), .. } => format!("duplicate key `{key}`"),
        Error::Budget { breach: BudgetBreach::Depth { .. }, .. } => {
            format!("nested deeper than {MAX_DEPTH} levels")
        }
        Error::Budget {
            breach:
                BudgetBreach::RecordedAnchorEvents { .. } | BudgetBreach::RecordedAnchorBytes { .. },
            ..
        }
        | Error::AliasReplayCounterOverflow { .. }
        | Error::AliasReplayLimitExceeded { .. }
        | Error::AliasReplayStackDepthExceeded { .. } => {
            format!("aliases stand for more than {MAX_ALIAS_EVENTS} values")
        }
        Error::Budget { .. } => "too many anchors, aliases or merge keys".to_owned(),
        error => UserMessageFormatter.format_message(error).into_owned(),
    }
}

/// Writes whatever it reads.
struct ToJson<'a>(&'a mut String);

impl<'de> DeserializeSeed<'de> for ToJson<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for ToJson<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter.write_str("a value that JSON has")
    }

    fn visit_bool<E>(self, value: bool) -> Result<(), E> {
        self.0.push_str(if value { "true" } else { "false" });
        Ok(())
    }

    fn visit_i64<E>(self, value: i64) -> Result<(), E> {
        append(self.0, value);
        Ok(())
    }

    fn visit_u64<E>(self, value: u64) -> Result<(), E> {
        append(self.0, value);
        Ok(())
    }

    fn visit_i128<E>(self, value: i128) -> Result<(), E> {
        append(self.0, value);
        Ok(())
    }

    fn visit_u128<E>(self, value: u128) -> Result<(), E> {
        append(self.0, value);
        Ok(())
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<(), E> {
        if !value.is_finite() {
            return Err(E::custom("JSON has no such number"));
        }
        append(self.0, Number(value));
        Ok(())
    }

    fn visit_str<E: serde::de::Error>(self, value: &str) -> Result<(), E> {
        append_string(self.0, value);
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        self.0.push_str("null");
        Ok(())
    }

    fn visit_none<E: serde::de::Error>(self) -> Result<(), E> {
        self.visit_unit()
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        self.deserialize(deserializer)
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        self.deserialize(deserializer)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<(), A::Error> {
        self.0.push('[');
        let start = self.0.len();
        loop {
            let end = self.0.len();
            if end > start {
                self.0.push(',');
            }
            if sequence.next_element_seed(ToJson(self.0))?.is_none() {
                self.0.truncate(end);
                break;
            }
        }
        self.0.push(']');
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        self.0.push('{');
        let start = self.0.len();
        loop {
            let end = self.0.len();
            if end > start {
                self.0.push(',');
            }
            if map.next_key_seed(Key(self.0))?.is_none() {
                self.0.truncate(end);
                break;
            }
            self.0.push(':');
            map.next_value_seed(ToJson(self.0))?;
        }
        self.0.push('}');
        Ok(())
    }
}

/// Writes a key: JSON has only strings there.
struct Key<'a>(&'a mut String);

impl<'de> DeserializeSeed<'de> for Key<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Key<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter.write_str("a string, a number or a boolean as key")
    }

    fn visit_bool<E>(self, value: bool) -> Result<(), E> {
        append_string(self.0, if value { "true" } else { "false" });
        Ok(())
    }

    fn visit_i64<E>(self, value: i64) -> Result<(), E> {
        append_string(self.0, &value.to_string());
        Ok(())
    }

    fn visit_u64<E>(self, value: u64) -> Result<(), E> {
        append_string(self.0, &value.to_string());
        Ok(())
    }

    fn visit_f64<E>(self, value: f64) -> Result<(), E> {
        append_string(self.0, &Number(value).to_string());
        Ok(())
    }

    fn visit_str<E>(self, value: &str) -> Result<(), E> {
        append_string(self.0, value);
        Ok(())
    }

    fn visit_unit<E: serde::de::Error>(self) -> Result<(), E> {
        Err(E::custom("a key is null; expected a string"))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, _: A) -> Result<(), A::Error> {
        Err(serde::de::Error::custom("a key is a sequence; expected a string"))
    }

    fn visit_map<A: MapAccess<'de>>(self, _: A) -> Result<(), A::Error> {
        Err(serde::de::Error::custom("a key is a mapping; expected a string"))
    }
}

/// A number as Go's JSON encoder writes it: without a fraction if it has none.
struct Number(f64);

impl fmt::Display for Number {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        // Below 1e21 Go writes no exponent, and Rust never does.
        if self.0.abs() < 1e21 {
            write!(formatter, "{}", self.0)
        } else {
            write!(formatter, "{:e}", self.0)
        }
    }
}

fn append(json: &mut String, value: impl fmt::Display) {
    write!(json, "{value}").expect("writing to a string does not fail");
}

fn append_string(json: &mut String, value: &str) {
    json.push('"');
    let mut rest = value;
    while let Some(at) = rest.bytes().position(|byte| byte < b' ' || byte == b'"' || byte == b'\\')
    {
        json.push_str(&rest[..at]);
        match rest.as_bytes()[at] {
            b'\n' => json.push_str("\\n"),
            b'\t' => json.push_str("\\t"),
            b'\r' => json.push_str("\\r"),
            byte @ (b'"' | b'\\') => json.extend(['\\', char::from(byte)]),
            byte => append(json, format_args!("\\u{byte:04x}")),
        }
        rest = &rest[at + 1..];
    }
    json.push_str(rest);
    json.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(yaml: &str) -> String {
        to_json(yaml).expect(yaml)
    }

    #[test]
    fn scalars_are_read_as_kubernetes_reads_them() {
        for (yaml, expected) in [
            ("on", "true"),
            ("No", "false"),
            ("y", "true"),
            ("'y'", "\"y\""),
            ("0777", "511"),
            ("0o17", "15"),
            ("0x1F", "31"),
            ("1_000", "1000"),
            ("08", "8"),
            ("1.0", "1"),
            ("1.50", "1.5"),
            ("1e3", "1000"),
            ("-1e30", "-1e30"),
            ("18446744073709551615", "18446744073709551615"),
            ("9007199254740993", "9007199254740993"),
            ("2025-05-27T20:42:28Z", "\"2025-05-27T20:42:28Z\""),
            ("12:30:45", "\"12:30:45\""),
            ("~", "null"),
            ("", "null"),
            ("!!str 5", "\"5\""),
            ("=", "\"=\""),
            ("\"tab\\t, quote\\\", ü, \\u0001\"", "\"tab\\t, quote\\\", ü, \\u0001\""),
        ] {
            assert_eq!(json(yaml), expected, "{yaml}");
        }
    }

    #[test]
    fn keys_become_strings_and_keep_their_order() {
        assert_eq!(
            json("z: 1\non: 2\n3: [a, {}]\n1.5: []\n"),
            r#"{"z":1,"true":2,"3":["a",{}],"1.5":[]}"#
        );
    }

    #[test]
    fn merge_keys_and_aliases_are_resolved() {
        assert_eq!(
            json("x: &a {b: 1, d: 4}\nw:\n  <<: *a\n  c: 2\n  b: 3\nz: *a\n"),
            r#"{"x":{"b":1,"d":4},"w":{"c":2,"b":3,"d":4},"z":{"b":1,"d":4}}"#
        );
    }

    #[test]
    fn errors_name_the_line() {
        for (yaml, line, message) in [
            ("a: 1\nb: 2\na: 3\n", 3, "duplicate key `a`"),
            ("a: 1\n---\nb: 2\n", 3, "document"),
            ("a:\n  ~: 1\n", 2, "a key is null; expected a string"),
            ("a:\n  [b]: 1\n", 2, "a key is a sequence"),
            ("a: \"x\n", 1, "unclosed quote"),
            ("a: .inf\n", 1, "not a finite number"),
            ("a: *b\n", 1, "unknown"),
        ] {
            let error = to_json(yaml).expect_err(yaml);
            assert_eq!(error.line, Some(line), "{yaml}: {}", error.message);
            assert!(error.message.contains(message), "{yaml}: {}", error.message);
            assert!(!error.message.contains(" line "), "{}", error.message);
        }
    }

    #[test]
    fn an_alias_bomb_is_refused() {
        let mut bomb = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
        for level in 1..12 {
            let below = format!("*a{}", level - 1);
            let ten = vec![below; 10].join(", ");
            append(&mut bomb, format_args!("a{level}: &a{level} [{ten}]\n"));
        }
        let error = to_json(&bomb).expect_err("the bomb was read");
        assert_eq!(error.message, "aliases stand for more than 1000000 values");
    }

    #[test]
    fn deep_nesting_is_refused() {
        let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
        assert!(to_json(&deep).is_err());
        let mut block = String::new();
        for level in 0..1_000 {
            append(&mut block, format_args!("{}a:\n", " ".repeat(level)));
        }
        assert!(to_json(&block).is_err());
    }
}
