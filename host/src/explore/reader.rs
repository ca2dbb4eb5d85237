//! Reads a JSON value and remembers where it is, so that every error names the field.

use std::fmt::{self, Display};

use serde_json::{Map, Value};

/// What is wrong with a scenario, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{path}: {message}")]
pub struct ScenarioError {
    /// The field, as `spec.controllers.app.watches[0].maps`.
    pub path: String,
    /// What is wrong and what was expected.
    pub message: String,
}

pub(super) type Result<T> = std::result::Result<T, ScenarioError>;

/// A value and where it is.
#[derive(Clone)]
pub(super) struct Node<'a> {
    pub(super) value: &'a Value,
    pub(super) path: String,
}

/// The fields of an object; [`Fields::end`] complains about those that nobody asked for.
pub(super) struct Fields<'a> {
    map: &'a Map<String, Value>,
    path: String,
    asked: Vec<&'static str>,
}

impl<'a> Node<'a> {
    pub(super) fn new(value: &'a Value, path: impl Into<String>) -> Self {
        Self { value, path: path.into() }
    }

    pub(super) fn error(&self, message: impl Display) -> ScenarioError {
        ScenarioError { path: self.path.clone(), message: message.to_string() }
    }

    fn expected(&self, what: &str) -> ScenarioError {
        let found = match self.value {
            Value::Null => "nothing".to_owned(),
            Value::Bool(value) => format!("`{value}`"),
            Value::Number(value) => format!("`{value}`"),
            Value::String(value) => format!("`{value}`"),
            Value::Array(_) => "a list".to_owned(),
            Value::Object(_) => "a map".to_owned(),
        };
        self.error(format_args!("expected {what}, found {found}"))
    }

    pub(super) fn fields(&self) -> Result<Fields<'a>> {
        let map = self.value.as_object().ok_or_else(|| self.expected("a map"))?;
        Ok(Fields { map, path: self.path.clone(), asked: vec![] })
    }

    /// A map with names that the user chooses, in the order of the names.
    pub(super) fn entries(&self) -> Result<Vec<(&'a str, Self)>> {
        let map = self.value.as_object().ok_or_else(|| self.expected("a map"))?;
        Ok(map
            .iter()
            .map(|(name, value)| (name.as_str(), Self::new(value, format!("{}.{name}", self.path))))
            .collect())
    }

    pub(super) fn list(&self) -> Result<Vec<Self>> {
        let list = self.value.as_array().ok_or_else(|| self.expected("a list"))?;
        Ok(self.items(list))
    }

    /// A list, or one item that stands for a list of one.
    pub(super) fn one_or_more(&self) -> Vec<Self> {
        match self.value {
            Value::Array(list) => self.items(list),
            _ => vec![self.clone()],
        }
    }

    fn items(&self, list: &'a [Value]) -> Vec<Self> {
        let item = |(index, value)| Self::new(value, format!("{}[{index}]", self.path));
        list.iter().enumerate().map(item).collect()
    }

    pub(super) fn text(&self) -> Result<&'a str> {
        self.value.as_str().ok_or_else(|| self.expected("text"))
    }

    /// Text, or a number or boolean as it is written: `true` is a label and an expression too.
    pub(super) fn scalar(&self) -> Result<String> {
        match self.value {
            Value::String(value) => Ok(value.clone()),
            Value::Bool(value) => Ok(value.to_string()),
            Value::Number(value) => Ok(value.to_string()),
            _ => Err(self.expected("text, a number or a boolean")),
        }
    }

    pub(super) fn bool(&self) -> Result<bool> {
        self.value.as_bool().ok_or_else(|| self.expected("`true` or `false`"))
    }

    pub(super) fn number(&self, low: u64, high: u64) -> Result<u64> {
        self.value
            .as_u64()
            .filter(|value| (low..=high).contains(value))
            .ok_or_else(|| self.expected(&format!("a number from {low} to {high}")))
    }

    pub(super) fn small(&self, low: u8, high: u8) -> Result<u8> {
        let value = self.number(u64::from(low), u64::from(high))?;
        Ok(u8::try_from(value).unwrap_or(high))
    }

    /// A span as Go writes it (`750ms`, `1h30m`, `-3s`), in milliseconds.
    pub(super) fn duration(&self) -> Result<i64> {
        let text = self.scalar()?;
        parse_duration(&text)
            .ok_or_else(|| self.expected("a duration as `750ms`, `30s`, `10m` or `1h30m`"))
    }

    pub(super) fn positive_duration(&self) -> Result<u64> {
        match u64::try_from(self.duration()?) {
            Ok(value) if value > 0 => Ok(value),
            _ => Err(self.expected("a duration above zero")),
        }
    }

    /// One of a closed list of words.
    pub(super) fn word<T: Copy>(&self, words: &[(&str, T)]) -> Result<T> {
        let found = self.value.as_str().and_then(|text| words.iter().find(|(w, _)| *w == text));
        found.map(|(_, value)| *value).ok_or_else(|| {
            let words: Vec<String> = words.iter().map(|(word, _)| format!("`{word}`")).collect();
            self.expected(&words.join(" or "))
        })
    }
}

impl<'a> Fields<'a> {
    pub(super) fn optional(&mut self, name: &'static str) -> Option<Node<'a>> {
        self.asked.push(name);
        let value = self.map.get(name).filter(|value| !value.is_null())?;
        Some(Node::new(value, join(&self.path, name)))
    }

    pub(super) fn required(&mut self, name: &'static str) -> Result<Node<'a>> {
        self.optional(name).ok_or_else(|| ScenarioError {
            path: self.path.clone(),
            message: format!("`{name}` is missing"),
        })
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.map.contains_key(name)
    }

    pub(super) fn error(&self, message: impl Display) -> ScenarioError {
        ScenarioError { path: self.path.clone(), message: message.to_string() }
    }

    /// Refuses fields that are not known.
    pub(super) fn end(self) -> Result<()> {
        match self.map.keys().find(|name| !self.asked.contains(&name.as_str())) {
            None => Ok(()),
            Some(name) => Err(ScenarioError {
                path: join(&self.path, name),
                message: format!("unknown field; known here: {}", self.asked.join(", ")),
            }),
        }
    }
}

fn join(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

/// Decimals that a duration may have.
const MOST_DECIMALS: usize = 9;

/// Parses a Go duration into milliseconds; a positive span below one is one.
fn parse_duration(text: &str) -> Option<i64> {
    let (sign, mut rest) = match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text),
    };
    if rest == "0" {
        return Some(0);
    }
    if rest.is_empty() {
        return None;
    }
    let mut nanos: i128 = 0;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let (whole, fraction) = rest[..digits].split_once('.').unwrap_or((&rest[..digits], ""));
        rest = &rest[digits..];
        let end = rest.find(|c: char| c.is_ascii_digit()).unwrap_or(rest.len());
        let unit: i128 = match &rest[..end] {
            "ns" => 1,
            "us" | "µs" => 1_000,
            "ms" => 1_000_000,
            "s" => 1_000_000_000,
            "m" => 60_000_000_000,
            "h" => 3_600_000_000_000,
            _ => return None,
        };
        let count = if whole.is_empty() { 0 } else { whole.parse::<i128>().ok()? };
        nanos = nanos.checked_add(count.checked_mul(unit)?)?;
        if whole.is_empty() && fraction.is_empty() || fraction.len() > MOST_DECIMALS {
            return None;
        }
        if !fraction.is_empty() {
            let parts = fraction.parse::<u64>().ok()?;
            let scale = 10_i128.pow(u32::try_from(fraction.len()).ok()?);
            nanos = nanos.checked_add(i128::from(parts) * unit / scale)?;
        }
        rest = &rest[end..];
    }
    let millis = nanos / 1_000_000 + i128::from(nanos % 1_000_000 != 0);
    Some(sign * i64::try_from(millis).ok()?)
}

/// Milliseconds as a person writes them.
pub(super) struct Span(pub(super) u64);

impl Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = self.0;
        if rest == 0 {
            return f.write_str("0s");
        }
        for (unit, name) in [(3_600_000, "h"), (60_000, "m")] {
            if rest >= unit {
                write!(f, "{}{name}", rest / unit)?;
                rest %= unit;
            }
        }
        if !rest.is_multiple_of(1000) && rest < 1000 {
            return write!(f, "{rest}ms");
        }
        if rest > 0 {
            write!(f, "{}s", fraction(rest))?;
        }
        Ok(())
    }
}

fn fraction(millis: u64) -> String {
    let text = format!("{}.{:03}", millis / 1000, millis % 1000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_read_as_they_are_written() {
        for (text, millis) in [
            ("750ms", 750),
            ("1.5s", 1500),
            ("1h30m", 5_400_000),
            ("-3s", -3000),
            ("0", 0),
            ("10us", 1),
            (".5m", 30_000),
            ("12.002s", 12_002),
        ] {
            assert_eq!(parse_duration(text), Some(millis), "{text}");
        }
        for text in ["", "5", "1.5", ".s", "s", "1.2.3s", "1d", "1.-5s", "-"] {
            assert_eq!(parse_duration(text), None, "{text}");
        }
        for millis in [1, 999, 1000, 1500, 59_999, 60_000, 90_500, 3_600_001, 2_592_000_000] {
            let text = Span(millis).to_string();
            assert_eq!(parse_duration(&text), i64::try_from(millis).ok(), "{text}");
        }
    }
}
