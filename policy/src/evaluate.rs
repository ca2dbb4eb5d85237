//! All functions behind one: JSON in, JSON out.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::finding::{Fault, Scope, Severity};
use crate::verdict::Observation;
use crate::{catalogue, decide, infer, trace, verdict};

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
enum Request<'a> {
    #[serde(borrow)]
    Check(CheckRequest<'a>),
    #[serde(borrow)]
    Decide(DecideRequest<'a>),
    #[serde(borrow)]
    Trace(TraceRequest<'a>),
    Rules(Empty),
    #[serde(borrow)]
    Profiles(SettingsRequest<'a>),
    #[serde(borrow)]
    Validate(SettingsRequest<'a>),
    #[serde(borrow)]
    Infer(InferRequest<'a>),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Empty {}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CheckRequest<'a> {
    #[serde(borrow)]
    object: &'a RawValue,
    #[serde(borrow, default)]
    old: Option<&'a RawValue>,
    #[serde(borrow, default)]
    history: Vec<&'a RawValue>,
    #[serde(borrow, default)]
    related: Vec<&'a RawValue>,
    #[serde(default)]
    now: Option<String>,
    #[serde(borrow, default)]
    settings: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DecideRequest<'a> {
    #[serde(borrow)]
    pass: &'a RawValue,
    #[serde(borrow, default)]
    settings: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TraceRequest<'a> {
    #[serde(borrow)]
    trace: &'a RawValue,
    #[serde(borrow, default)]
    settings: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SettingsRequest<'a> {
    #[serde(borrow, default)]
    settings: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct InferRequest<'a> {
    #[serde(borrow)]
    samples: Vec<&'a RawValue>,
}

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

#[derive(Serialize)]
struct ProfileRecord {
    group: String,
    kind: String,
    origin: &'static str,
    document: serde_json::Value,
}

/// Answers a request; see `evaluate-json` in `wit/policy.wit`.
///
/// # Errors
/// A [`Fault`] as JSON.
pub fn evaluate(request: &str) -> Result<String, String> {
    answer(request).map_err(|fault| json(&fault).unwrap_or_default())
}

fn answer(request: &str) -> Result<String, Fault> {
    let mut deserializer = serde_json::Deserializer::from_str(request);
    let request: Request<'_> = serde_path_to_error::deserialize(&mut deserializer)
        .map_err(|error| Fault::Malformed(format!("request: {error}")))?;
    match request {
        Request::Check(request) => {
            let history: Vec<&str> = request.history.iter().map(|raw| raw.get()).collect();
            let related: Vec<&str> = request.related.iter().map(|raw| raw.get()).collect();
            let verdict = verdict::check(&Observation {
                object: request.object.get(),
                old: request.old.map(RawValue::get).filter(|old| *old != "null"),
                history: &history,
                related: &related,
                now: request.now.as_deref(),
                settings: text(request.settings),
            })?;
            json(&verdict)
        }
        Request::Decide(request) => {
            json(&decide::decide(request.pass.get(), text(request.settings))?)
        }
        Request::Trace(request) => {
            json(&trace::trace(request.trace.get(), text(request.settings))?)
        }
        Request::Rules(Empty {}) => {
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
        Request::Profiles(request) => {
            let profiles = catalogue::profiles(text(request.settings))?;
            let records: Result<Vec<ProfileRecord>, Fault> = profiles
                .into_iter()
                .map(|profile| {
                    Ok(ProfileRecord {
                        group: profile.group,
                        kind: profile.kind,
                        origin: profile.origin,
                        document: serde_json::from_str(&profile.document).map_err(internal)?,
                    })
                })
                .collect();
            json(&records?)
        }
        Request::Validate(request) => json(&catalogue::validate(text(request.settings))),
        Request::Infer(request) => {
            let samples: Vec<&str> = request.samples.iter().map(|raw| raw.get()).collect();
            infer::infer(&samples)
        }
    }
}

fn text(raw: Option<&RawValue>) -> &str {
    raw.map_or("", RawValue::get)
}

fn json<T: Serialize>(value: &T) -> Result<String, Fault> {
    serde_json::to_string(value).map_err(internal)
}

#[expect(clippy::needless_pass_by_value, reason = "passed to map_err")]
fn internal(error: serde_json::Error) -> Fault {
    Fault::Internal(error.to_string())
}
