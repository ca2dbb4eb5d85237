//! What the webhook answers: pure, from a review and a verdict.

use crate::engine::{self, Finding, Observation, Severity, Verdict};

use super::config::{OnError, WebhookSection};
use super::review::{Request, Response};

/// Longest single warning in bytes: the API server cuts longer ones off at 256 characters.
const WARNING_BYTES: usize = 250;

/// Longest sum of warnings in bytes: the API server drops what is beyond 4096 characters.
const WARNINGS_BYTES: usize = 4_000;

/// Which door is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Door {
    /// `/validate`: judges, and refuses what it is told to refuse.
    Validate,
    /// `/mutate`: makes a torn status safe to read, and releases it.
    Mutate,
}

impl Door {
    /// Its name in logs and metrics.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Validate => "validate",
            Self::Mutate => "mutate",
        }
    }
}

/// What to judge of a request; nothing where there is no status to judge: a write of the main
/// resource, a deletion, a connection.
///
/// No clock goes with it: a write is the proof that the controller is at work, so nothing in it is
/// judged by its age.
pub fn observation(request: &Request<'_>, settings: &str) -> Option<Observation> {
    if request.sub_resource != "status" {
        return None;
    }
    Some(Observation {
        object: request.object()?.to_owned(),
        old: request.old_object().map(str::to_owned),
        history: Vec::new(),
        related: Vec::new(),
        now: None,
        settings: settings.to_owned(),
    })
}

/// The answer to a request that was judged.
pub fn judged(door: Door, uid: &str, verdict: &Verdict, section: &WebhookSection) -> Response {
    let response = Response::allowed(uid);
    match door {
        Door::Mutate => match &verdict.repair {
            Some(patch) => response.patched(patch),
            None => response,
        },
        Door::Validate => validated(response, verdict, section),
    }
}

fn validated(mut response: Response, verdict: &Verdict, section: &WebhookSection) -> Response {
    let told: Vec<&Finding> =
        verdict.findings.iter().filter(|finding| finding.severity > Severity::Info).collect();
    if !told.is_empty() {
        let rules: Vec<&str> = told.iter().map(|finding| finding.rule.as_str()).collect();
        response.audit_annotations.insert("coherence", verdict.coherence.name().to_owned());
        response.audit_annotations.insert("phase", verdict.phase.name().to_owned());
        response.audit_annotations.insert("rules", rules.join(","));
    }
    if section.warnings {
        response.warnings = warnings(told.iter().map(|finding| line(finding)));
    }
    match told.iter().find(|finding| section.denies(&finding.rule)) {
        Some(finding) => response.denied(422, "Invalid", format!("plumb: {}", line(finding))),
        None => response,
    }
}

/// The answer to a request that could not be judged.
pub fn failed(uid: &str, error: &str, on_error: OnError) -> Response {
    let mut response = Response::allowed(uid);
    let message = format!("plumb could not judge this status: {error}");
    response.audit_annotations.insert("error", message.clone());
    match on_error {
        OnError::Allow => {
            response.warnings = warnings(std::iter::once(message));
            response
        }
        OnError::Deny => response.denied(500, "InternalError", message),
    }
}

/// A name for the outcome of an evaluation.
pub fn outcome(result: &Result<Verdict, engine::Error>) -> &'static str {
    match result {
        Ok(_) => "ok",
        Err(error) => error.name(),
    }
}

fn line(finding: &Finding) -> String {
    format!("{}: {}", finding.rule, finding.message)
}

/// As many of the lines as the API server passes on, each no longer than it passes on.
fn warnings(lines: impl Iterator<Item = String>) -> Vec<String> {
    let mut left = WARNINGS_BYTES;
    let mut kept = Vec::new();
    for line in lines {
        let line = cut(line);
        if line.len() > left {
            break;
        }
        left -= line.len();
        kept.push(line);
    }
    kept
}

fn cut(mut line: String) -> String {
    if line.len() > WARNING_BYTES {
        let mut end = WARNING_BYTES - '…'.len_utf8();
        while !line.is_char_boundary(end) {
            end -= 1;
        }
        line.truncate(end);
        line.push('…');
    }
    line
}
