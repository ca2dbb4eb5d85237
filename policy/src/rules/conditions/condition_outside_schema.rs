use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::declare_rule;
use crate::finding::{Finding, Severity};
use crate::json::Json;
use crate::object::{Condition, Status};
use crate::rule::{Check, View};
use crate::time::Time;

declare_rule! {
    /// ## What it does
    ///
    /// On kinds whose conditions are `metav1.Condition`: looks for a type, status, reason, message,
    /// time or generation that the API server would refuse. Nothing of the kind holds for the many
    /// kinds that declare conditions of their own.
    ///
    /// ## Why is this bad?
    ///
    /// The API server refuses the whole write of the status, not only the one condition: a reason
    /// made of an error text has stopped all status updates of several operators. In a test with
    /// fakes, and in a golden file, nobody refuses anything, so it shows in production first.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: source.toolkit.fluxcd.io/v1
    /// kind: GitRepository
    /// metadata: {name: app, namespace: default, generation: 1}
    /// status:
    ///   conditions:
    ///   - {type: Ready, status: "False", reason: "404: not found", message: "", lastTransitionTime: "2026-01-01T00:00:00Z"}
    /// ```
    ///
    /// ## Instead
    ///
    /// ```yaml
    /// apiVersion: source.toolkit.fluxcd.io/v1
    /// kind: GitRepository
    /// metadata: {name: app, namespace: default, generation: 1}
    /// status:
    ///   conditions:
    ///   - {type: Ready, status: "False", reason: NotFound, message: "404: not found", lastTransitionTime: "2026-01-01T00:00:00Z"}
    /// ```
    ///
    /// ## Severity
    ///
    /// Error for a value that is there and would be refused. Info for a required field that is
    /// missing, since an excerpt often lacks some, for a time that is none, since golden files mask
    /// them, and for a status that YAML reads as a boolean.
    ///
    /// ## References
    ///
    /// - `Condition` in `pkg/apis/meta/v1/types.go` of <https://github.com/kubernetes/apimachinery>
    /// - <https://github.com/kubernetes-sigs/kueue/issues/15144>
    pub static RULE = {
        id: "condition-outside-schema",
        family: "conditions",
        severity: Error,
        means: Incoherent,
        since: "0.1.0",
        summary: "a condition holds a value that the API server refuses",
        check: Check::State(check),
    }
}

/// Longest type, in characters: 253 of a DNS name, a slash, 62 more, as the schema's 316 says.
const TYPE_LIMIT: usize = 316;
/// Longest reason, in characters.
const REASON_LIMIT: usize = 1_024;
/// Longest message, in characters.
const MESSAGE_LIMIT: usize = 32_768;

fn check(view: &View<'_>) -> Vec<Finding> {
    if !view.profile.metav1 {
        return Vec::new();
    }
    let mut findings = Vec::new();
    for list in &view.object.lists {
        for condition in &list.conditions {
            for (field, problem, lesser) in problems(condition) {
                let missing = condition.json.at(field).is_null();
                let place = if missing { "" } else { field };
                let type_ =
                    if condition.type_.is_empty() { "a condition" } else { condition.type_ };
                let message = format!("{field} of {type_} {problem}");
                let mut finding = RULE
                    .finding(list.place(condition, place), message)
                    .help("the API server refuses the whole status with it");
                if lesser {
                    finding.severity = Severity::Info;
                }
                findings.push(finding);
            }
        }
    }
    findings
}

/// The fields at fault, what is wrong, and whether it is only worth knowing.
fn problems(condition: &Condition<'_>) -> Vec<(&'static str, String, bool)> {
    let mut found = Vec::new();
    let mut text = |field: &'static str, judge: &dyn Fn(&str) -> Option<String>| match condition
        .json
        .at(field)
    {
        Json::Null => found.push((field, String::from("is missing"), true)),
        Json::String(value) => {
            if let Some(problem) = judge(value) {
                found.push((field, problem, false));
            }
        }
        _ => found.push((field, String::from("is not a string"), false)),
    };
    text("type", &|value| {
        if value.chars().count() > TYPE_LIMIT {
            return Some(format!("has more than {TYPE_LIMIT} characters"));
        }
        (!is_type(value)).then(|| format!("is `{value}`, which is not a qualified name"))
    });
    text("reason", &|value| {
        if value.is_empty() {
            return Some("is empty".into());
        }
        if value.chars().count() > REASON_LIMIT {
            return Some(format!("has more than {REASON_LIMIT} characters"));
        }
        (!is_reason(value)).then(|| {
            format!("is `{value}`, which is not one word of letters, digits, `_`, `,` and `:`")
        })
    });
    text("message", &|value| {
        (value.chars().count() > MESSAGE_LIMIT)
            .then(|| format!("has more than {MESSAGE_LIMIT} characters"))
    });
    // Golden files mask times, so one that is none is only told.
    match condition.json.at("lastTransitionTime") {
        Json::Null => found.push(("lastTransitionTime", "is missing".into(), true)),
        Json::String(value) if Time::parse(value).is_none() => {
            let problem = format!("is `{value}`, which is no RFC 3339 time");
            found.push(("lastTransitionTime", problem, true));
        }
        Json::String(_) => {}
        _ => found.push(("lastTransitionTime", "is not a string".into(), false)),
    }
    match condition.status {
        Status::Missing => found.push(("status", "is missing".into(), true)),
        // What YAML makes of an unquoted word; it is read as the word.
        Status::True | Status::False if condition.json.at("status").bool().is_some() => {
            found.push(("status", "is a boolean, and would have to be a string".into(), true));
        }
        Status::Other(word) => {
            found.push(("status", format!("is `{word}`, not True, False or Unknown"), false));
        }
        Status::True | Status::False | Status::Unknown => {}
    }
    match condition.json.at("observedGeneration") {
        Json::Integer(number) if *number < 0 => {
            found.push(("observedGeneration", format!("is {number}, less than 0"), false));
        }
        Json::Null | Json::Integer(_) => {}
        _ => found.push(("observedGeneration", "is not an integer".into(), false)),
    }
    found
}

/// `^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$`
fn is_type(value: &str) -> bool {
    let (prefix, name) = match value.split_once('/') {
        Some((prefix, name)) => (Some(prefix), name),
        None => (None, value),
    };
    let edges = |text: &str, inner: fn(u8) -> bool, edge: fn(&u8) -> bool| {
        let bytes = text.as_bytes();
        bytes.first().is_some_and(edge)
            && bytes.last().is_some_and(edge)
            && bytes.iter().all(|&byte| inner(byte))
    };
    let label = |text: &str| {
        edges(
            text,
            |byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-',
            |byte| byte.is_ascii_lowercase() || byte.is_ascii_digit(),
        )
    };
    prefix.is_none_or(|prefix| prefix.split('.').all(label))
        && edges(
            name,
            |byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'),
            u8::is_ascii_alphanumeric,
        )
}

/// `^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$`
fn is_reason(value: &str) -> bool {
    let bytes = value.as_bytes();
    let inner = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b',' | b':');
    bytes.first().is_some_and(u8::is_ascii_alphabetic)
        && bytes.iter().all(inner)
        && bytes.last().is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
}
