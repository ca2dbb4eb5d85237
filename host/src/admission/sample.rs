//! A torn object of a kind, made from its profile: the policy itself says which of its rules finds
//! it. So what is exported never claims a rule that the policy does not have.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::kinds::Kind;
use super::profile::{Piece, Step, Witness, pieces, steps};
use crate::engine::{self, Observation, Policy, Severity};

/// The rules that find a condition of this kind torn.
///
/// # Errors
/// An evaluation that failed.
pub fn rules(
    policy: &Policy,
    settings: &str,
    kind: &Kind,
) -> Result<BTreeSet<String>, engine::Error> {
    let mut rules = BTreeSet::new();
    let witnesses = kind.profile.witnesses.iter();
    for witness in witnesses.filter(|one| kind.profile.holds(one) && one.when.is_empty()) {
        for template in &witness.text {
            let Some(object) = object(kind, witness, template, Sample::Torn) else { continue };
            let verdict = policy.check(&Observation {
                object: object.to_string(),
                old: None,
                history: Vec::new(),
                related: Vec::new(),
                now: None,
                settings: settings.to_owned(),
            })?;
            let speaks_of_text = |path: &str| path.ends_with("/0/message");
            rules.extend(
                verdict
                    .findings
                    .into_iter()
                    .filter(|finding| finding.severity > Severity::Info)
                    .filter(|finding| {
                        speaks_of_text(&finding.path)
                            || finding.related.iter().any(|note| speaks_of_text(&note.path))
                    })
                    .map(|finding| finding.rule),
            );
        }
    }
    Ok(rules)
}

/// How the text of a sample and its fields compare.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sample {
    /// The text says another value than each field that it speaks of.
    Torn,
    /// It says what they hold.
    Whole,
    /// The fields are missing.
    Missing,
}

/// An object whose one condition has the text of a witness. Nothing for templates that no object
/// can be made of.
pub fn object(kind: &Kind, witness: &Witness, template: &str, sample: Sample) -> Option<Value> {
    let api_version =
        if kind.group.is_empty() { "v1".into() } else { format!("{}/v1", kind.group) };
    let mut object = json!({
        "apiVersion": api_version,
        "kind": kind.kind,
        "metadata": {
            "name": "sample", "namespace": "default", "generation": 1, "resourceVersion": "1",
            "uid": "00000000-0000-0000-0000-000000000000",
        },
    });
    let mut message = String::new();
    for piece in pieces(template) {
        match piece {
            Piece::Fixed(text) => message += text,
            Piece::Word | Piece::Any => message += "text",
            Piece::Field(path, filter) => {
                let letter = if sample == Sample::Torn { "b" } else { "a" };
                let (held, said) = match filter {
                    "count" => {
                        (json!([{}]), if sample == Sample::Torn { "2" } else { "1" }.to_owned())
                    }
                    "hash" => (json!(revision("a")), letter.repeat(40)),
                    "revision" => (json!(revision("a")), revision(letter)),
                    _ => (json!("1.0.a"), format!("1.0.{letter}")),
                };
                if sample != Sample::Missing {
                    put(&mut object, &steps(path)?, held);
                }
                message += &said;
            }
        }
    }
    let reason = witness.reasons.first().map_or("Sample", String::as_str);
    let list = kind.profile.conditions.first().map_or("status.conditions", String::as_str);
    let condition = json!([{
        "type": witness.condition, "status": "True", "reason": reason, "message": message,
        "lastTransitionTime": "2026-01-01T00:00:00Z", "observedGeneration": 1,
    }]);
    put(&mut object, &steps(list)?, condition);
    Some(object)
}

fn revision(letter: &str) -> String {
    format!("main@sha1:{}", letter.repeat(40))
}

fn put(at: &mut Value, steps: &[Step<'_>], value: Value) {
    match steps {
        [] => *at = value,
        [Step::Key(key), rest @ ..] => {
            if !at.is_object() {
                *at = json!({});
            }
            put(&mut at[*key], rest, value);
        }
        [Step::Index(index), rest @ ..] => {
            if !at.is_array() {
                *at = json!([]);
            }
            if let Some(items) = at.as_array_mut() {
                while items.len() <= *index {
                    items.push(json!({}));
                }
                put(&mut items[*index], rest, value);
            }
        }
    }
}
