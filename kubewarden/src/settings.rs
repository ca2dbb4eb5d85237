//! The policy's settings: plumb's own, and which findings reject a request.

use plumb_policy::catalogue;
use serde_json::{Map, Value, json};

/// What a user sets.
#[derive(Debug)]
pub(crate) struct Settings {
    /// Rule ids, `*` at the end for any text: a finding of these rejects the request.
    pub(crate) deny: Vec<String>,
    /// plumb's own, JSON; empty for the defaults.
    pub(crate) own: String,
}

impl Settings {
    /// The settings in an object.
    ///
    /// # Errors
    /// Why they are none.
    pub(crate) fn read(mut members: Map<String, Value>) -> Result<Self, String> {
        let deny = members.remove("deny").unwrap_or_else(|| json!([]));
        let deny: Vec<String> = serde_json::from_value(deny)
            .map_err(|_| "deny: expected a list of rule ids".to_owned())?;
        for id in &deny {
            if !catalogue::rules().any(|rule| matches(id, rule.id)) {
                return Err(format!("deny: there is no rule `{id}`"));
            }
        }
        let own =
            if members.is_empty() { String::new() } else { Value::Object(members).to_string() };
        let problems = catalogue::validate(&own);
        if let Some(note) = problems.first() {
            return Err(format!("{}: {}", note.path, note.message));
        }
        Ok(Self { deny, own })
    }

    /// Whether a finding of this rule rejects the request.
    pub(crate) fn denies(&self, rule: &str) -> bool {
        self.deny.iter().any(|id| matches(id, rule))
    }
}

fn matches(pattern: &str, id: &str) -> bool {
    pattern.strip_suffix('*').map_or(pattern == id, |begin| id.starts_with(begin))
}

/// Answers `validate-settings`.
///
/// # Errors
/// If the input is not JSON.
pub(crate) fn validate(input: &str) -> Result<String, String> {
    let settings: Value =
        serde_json::from_str(input).map_err(|error| format!("the settings: {error}"))?;
    let answer = match settings {
        Value::Null => json!({"valid": true}),
        Value::Object(members) => match Settings::read(members) {
            Ok(_) => json!({"valid": true}),
            Err(message) => json!({"valid": false, "message": message}),
        },
        _ => json!({"valid": false, "message": "expected an object"}),
    };
    Ok(answer.to_string())
}
