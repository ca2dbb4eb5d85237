//! All functions behind one: JSON in, JSON out.

use alloc::borrow::Cow;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;

use crate::finding::{Fault, Scope, Severity};
use crate::json::Text;
use crate::verdict::Observation;
use crate::{catalogue, decide, infer, trace, verdict};

/// The functions, each with its arguments.
const FUNCTIONS: &[(&str, &[&str])] = &[
    ("check", &["object", "old", "history", "related", "now", "settings"]),
    ("decide", &["pass", "settings"]),
    ("trace", &["trace", "settings"]),
    ("rules", &[]),
    ("profiles", &["settings"]),
    ("validate", &["settings"]),
    ("infer", &["samples"]),
];

/// One rule of the catalogue, as JSON.
#[derive(Serialize)]
struct RuleRecord {
    id: &'static str,
    family: &'static str,
    scope: Scope,
    severity: Severity,
    since: &'static str,
    summary: &'static str,
    manual: String,
}

/// Answers a request; see `evaluate-json` in `wit/policy.wit`.
///
/// # Errors
/// A [`Fault`] as JSON.
pub fn evaluate(request: &str) -> Result<String, String> {
    answer(request).map_err(|fault| json(&fault).unwrap_or_default())
}

fn answer(request: &str) -> Result<String, Fault> {
    let (function, arguments) = read(request)?;
    match function {
        "check" => {
            let now: Option<Cow<'_, str>> = arguments.get("now").map(string).transpose()?;
            let verdict = verdict::check(&Observation {
                object: arguments.required("object")?,
                old: arguments.get("old"),
                history: &arguments.list("history")?,
                related: &arguments.list("related")?,
                now: now.as_deref(),
                settings: arguments.settings(),
            })?;
            json(&verdict)
        }
        "decide" => json(&decide::decide(arguments.required("pass")?, arguments.settings())?),
        "trace" => json(&trace::trace(arguments.required("trace")?, arguments.settings())?),
        "rules" => {
            let rules: Vec<RuleRecord> = catalogue::rules()
                .map(|rule| RuleRecord {
                    id: rule.id,
                    family: rule.family,
                    scope: rule.check.scope(),
                    severity: rule.severity,
                    since: rule.since,
                    summary: rule.summary,
                    manual: catalogue::manual(rule),
                })
                .collect();
            json(&rules)
        }
        "profiles" => {
            let mut text = String::from("[");
            for profile in catalogue::profiles(arguments.settings())? {
                if text.len() > 1 {
                    text.push(',');
                }
                // The document is JSON already; a second reading would cost more than all the rest.
                text += &format!(
                    r#"{{"group":{},"kind":{},"origin":{},"document":{}}}"#,
                    json(&profile.group)?,
                    json(&profile.kind)?,
                    json(&profile.origin)?,
                    profile.document
                );
            }
            text.push(']');
            Ok(text)
        }
        "validate" => json(&catalogue::validate(arguments.settings())),
        "infer" => {
            arguments.required("samples")?;
            infer::infer(&arguments.list("samples")?)
        }
        _ => Err(Fault::Internal(format!("`{function}` has no answer"))),
    }
}

/// The function that a request names, and its arguments.
fn read(request: &str) -> Result<(&'static str, Members<'_>), Fault> {
    let functions: Members<'_> = members(request, "request")?;
    let [(name, arguments)] = functions.0.as_slice() else {
        let count = functions.0.len();
        let message = format!("request: expected one key, the function's name, not {count}");
        return Err(Fault::Malformed(message));
    };
    let known = FUNCTIONS.iter().find(|(function, _)| function == name);
    let Some((function, expected)) = known else {
        let names: Vec<&str> = FUNCTIONS.iter().map(|(function, _)| *function).collect();
        let message = format!("request: no function `{name}`; there are {}", names.join(", "));
        return Err(Fault::Unsupported(message));
    };
    let arguments = members(arguments.get(), function)?;
    for (index, (name, _)) in arguments.0.iter().enumerate() {
        let problem = if !expected.contains(&name.as_ref()) {
            "is no argument"
        } else if arguments.0[..index].iter().any(|(earlier, _)| earlier == name) {
            "stands twice"
        } else {
            continue;
        };
        return Err(Fault::Malformed(format!("request: {function}: `{name}` {problem}")));
    }
    Ok((function, arguments))
}

/// The members of a JSON object, their values unread.
struct Members<'a>(Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'a> Members<'a> {
    /// The JSON text of a member that is not `null`.
    fn get(&self, name: &str) -> Option<&'a str> {
        let (_, value) = self.0.iter().find(|(key, _)| key == name)?;
        Some(value.get()).filter(|text| *text != "null")
    }

    fn required(&self, name: &str) -> Result<&'a str, Fault> {
        self.get(name).ok_or_else(|| Fault::Malformed(format!("request: `{name}` is missing")))
    }

    fn list(&self, name: &str) -> Result<Vec<&'a str>, Fault> {
        let Some(text) = self.get(name) else { return Ok(Vec::new()) };
        let items: Vec<&RawValue> = serde_json::from_str(text)
            .map_err(|_| Fault::Malformed(format!("request: `{name}` is not an array")))?;
        Ok(items.into_iter().map(RawValue::get).collect())
    }

    fn settings(&self) -> &'a str {
        self.get("settings").unwrap_or("")
    }
}

fn members<'a>(text: &'a str, what: &str) -> Result<Members<'a>, Fault> {
    serde_json::from_str(text).map_err(|error| Fault::Malformed(format!("{what}: {error}")))
}

fn string(text: &str) -> Result<Cow<'_, str>, Fault> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    deserializer
        .deserialize_str(Text)
        .map_err(|error| Fault::Malformed(format!("request: now: {error}")))
}

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct MembersVisitor;
        impl<'de> Visitor<'de> for MembersVisitor {
            type Value = Members<'de>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(key) = access.next_key_seed(Text)? {
                    members.push((key, access.next_value()?));
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(MembersVisitor)
    }
}

fn json<T: Serialize>(value: &T) -> Result<String, Fault> {
    serde_json::to_string(value).map_err(internal)
}

#[expect(clippy::needless_pass_by_value, reason = "used in map_err")]
fn internal(error: serde_json::Error) -> Fault {
    Fault::Internal(error.to_string())
}
