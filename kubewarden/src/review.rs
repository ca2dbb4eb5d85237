//! One request.

use plumb_policy::finding::{Fault, Severity};
use plumb_policy::verdict::{self, Observation};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use crate::settings::Settings;

/// What Kubewarden asks.
#[derive(Debug, Deserialize)]
struct Review<'a> {
    #[serde(borrow)]
    request: Request<'a>,
    #[serde(default)]
    settings: Option<Map<String, Value>>,
}

/// The part of an admission request that is looked at.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Request<'a> {
    #[serde(borrow, default)]
    object: Option<&'a RawValue>,
    #[serde(borrow, default)]
    old_object: Option<&'a RawValue>,
}

/// Answers `validate`: findings above info are warnings, those of denied rules reject.
///
/// # Errors
/// If the input is none, or nothing can be judged: a failed evaluation is no pass.
pub(crate) fn validate(input: &str) -> Result<String, String> {
    let Review { request, settings } =
        serde_json::from_str(input).map_err(|error| format!("the request: {error}"))?;
    let settings = Settings::read(settings.unwrap_or_default())?;
    // A deletion has no object.
    let Some(object) = request.object else {
        return Ok(json!({"accepted": true}).to_string());
    };
    let observation = Observation {
        object: object.get(),
        old: request.old_object.map(RawValue::get),
        settings: &settings.own,
        ..Observation::default()
    };
    let verdict = verdict::check(&observation).map_err(|fault| match fault {
        Fault::Malformed(message) | Fault::Unsupported(message) | Fault::Internal(message) => {
            message
        }
    })?;
    let told = verdict.findings.iter().filter(|finding| finding.severity > Severity::Info);
    let (mut denials, mut warnings) = (Vec::new(), Vec::new());
    for finding in told {
        let line = format!("{}: {} ({})", finding.rule, finding.message, finding.path);
        if settings.denies(finding.rule) {
            denials.push(line);
        } else {
            warnings.push(line);
        }
    }
    let mut answer = json!({"accepted": denials.is_empty(), "warnings": warnings});
    if !denials.is_empty() {
        answer["message"] = json!(denials.join("; "));
        answer["code"] = json!(403);
    }
    Ok(answer.to_string())
}
