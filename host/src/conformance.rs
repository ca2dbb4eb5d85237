//! What every component of the contract's world must hold to, asked of one.
//!
//! For those who write a policy of their own: each check calls the component through the contract
//! and looks at nothing but its answers. None needs to know what the component judges.

mod examples;

use std::collections::BTreeSet;

use serde::Serialize;
use serde_json::Value;

use crate::engine::{Error, Finding, Isolation, Observation, Policy, Rule};

/// What became of one check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Check {
    /// What is asked, as a sentence that is true of a component that conforms.
    pub name: String,
    /// Whether it is.
    pub outcome: Outcome,
    /// Why not, or why it was not asked; one line each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub details: Vec<String>,
}

/// What became of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// It holds.
    Passed,
    /// It does not.
    Failed,
    /// There was nothing to ask.
    Skipped,
}

/// An object that any policy can be asked about, with a status worth a look.
const OBJECT: &str = r#"{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"a","namespace":"b","uid":"c","generation":3,"resourceVersion":"7"},"spec":{},"status":{"observedGeneration":2,"conditions":[{"type":"Ready","status":"True","reason":"Done","message":"all is \"well\" — ✓","lastTransitionTime":"2026-01-01T00:00:00Z"}]}}"#;

const PASS: &str = r#"{"apiVersion":"plumb.dev/v1alpha1","kind":"Reconcile","spec":{"object":{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"a"}},"result":{}}}"#;

const TRACE: &str = r#"{"apiVersion":"plumb.dev/v1alpha1","kind":"QueueTrace","spec":{"queue":{"flavour":"classic"},"objects":[{"key":"a"}],"events":[{"event":"add"},{"event":"get"},{"event":"return"}]}}"#;

/// Texts that are no document of any kind.
const MALFORMED: &[&str] = &["", "{", "[]", "\"text\"", "null", "{\"metadata\":", "\u{0}", "{}}"];

/// Asks a policy all there is to ask.
pub fn run(policy: &Policy) -> Vec<Check> {
    let rules = policy.rules();
    let mut checks = vec![catalogue(&rules)];
    let rules = rules.unwrap_or_default();
    checks.extend([
        deterministic(policy),
        kept_apart(policy),
        json_agrees(policy),
        faults_are_faults(policy),
        requests_are_refused(policy),
        limits(policy),
        findings_are_sound(policy, &rules),
    ]);
    checks.extend(examples::run(policy, &rules));
    checks
}

/// Whether a component conforms that was asked these.
pub fn conforms(checks: &[Check]) -> bool {
    checks.iter().all(|check| check.outcome != Outcome::Failed)
}

fn check(name: &str, details: Vec<String>) -> Check {
    let outcome = if details.is_empty() { Outcome::Passed } else { Outcome::Failed };
    Check { name: name.to_owned(), outcome, details }
}

/// What a policy is asked in all checks that compare answers.
fn observation(object: impl Into<String>) -> Observation {
    Observation {
        object: object.into(),
        old: None,
        history: Vec::new(),
        related: Vec::new(),
        now: Some("2026-01-02T00:00:00Z".to_owned()),
        settings: String::new(),
    }
}

fn catalogue(rules: &Result<Vec<Rule>, Error>) -> Check {
    let mut details = Vec::new();
    match rules {
        Err(error) => details.push(error.to_string()),
        Ok(rules) => {
            for pair in rules.windows(2) {
                if pair[0].id >= pair[1].id {
                    details.push(format!("`{}` stands before `{}`", pair[0].id, pair[1].id));
                }
            }
            let word = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
            for Rule { id, family, since, summary, manual, .. } in rules {
                if id.is_empty() || !id.chars().all(word) {
                    details.push(format!("`{id}` is not in kebab-case"));
                }
                for (field, text) in
                    [("family", family), ("since", since), ("summary", summary), ("manual", manual)]
                {
                    if text.trim().is_empty() {
                        details.push(format!("`{id}` has no {field}"));
                    }
                }
                if summary.contains('\n') {
                    details.push(format!("the summary of `{id}` is more than one line"));
                }
            }
        }
    }
    check("the catalogue is ordered by id, and each rule is described", details)
}

/// All answers of a policy, as text.
fn answers(policy: &Policy) -> Vec<String> {
    #[expect(clippy::needless_pass_by_value, reason = "each is asked for this alone")]
    fn text<T: std::fmt::Debug>(answer: Result<T, Error>) -> String {
        format!("{answer:?}")
    }
    let older = Observation {
        old: Some(OBJECT.replace("\"7\"", "\"6\"")),
        history: vec![OBJECT.replace("\"7\"", "\"5\"")],
        related: vec![OBJECT.replace("\"c\"", "\"d\"")],
        ..observation(OBJECT)
    };
    vec![
        text(policy.check(&observation(OBJECT))),
        text(policy.check(&older)),
        text(policy.check(&observation("{}"))),
        text(policy.decide(PASS, "")),
        text(policy.trace(TRACE, "")),
        text(policy.rules()),
        text(policy.profiles("")),
        text(policy.validate("{\"unknown\":1}")),
        text(policy.infer(&[OBJECT.to_owned()])),
        text(policy.evaluate_json("{\"rules\":{}}")),
        text(policy.check(&observation("{"))),
    ]
}

fn differences(one: &[String], other: &[String]) -> Vec<String> {
    let pairs = one.iter().zip(other).filter(|(one, other)| one != other);
    pairs.map(|(one, other)| format!("{} and then {}", brief(one), brief(other))).collect()
}

fn deterministic(policy: &Policy) -> Check {
    let fresh = policy.clone().with_isolation(Isolation::Fresh);
    let details = differences(&answers(&fresh), &answers(&fresh));
    check("the same input gives the same answer", details)
}

fn kept_apart(policy: &Policy) -> Check {
    let fresh = answers(&policy.clone().with_isolation(Isolation::Fresh));
    let reused = policy.clone().with_isolation(Isolation::Reused);
    let mut details = Vec::new();
    for _ in 0..3 {
        details.extend(differences(&fresh, &answers(&reused)));
    }
    details.dedup();
    check("a reused instance answers as a fresh one does", details)
}

fn json_agrees(policy: &Policy) -> Check {
    fn json<T: Serialize>(answer: &T) -> Option<Value> {
        serde_json::to_value(answer).ok()
    }
    let now = "2026-01-02T00:00:00Z";
    let pairs = [
        (
            format!("{{\"check\":{{\"object\":{OBJECT},\"now\":\"{now}\"}}}}"),
            policy.check(&observation(OBJECT)).ok().as_ref().and_then(json),
        ),
        (
            format!("{{\"decide\":{{\"pass\":{PASS}}}}}"),
            policy.decide(PASS, "").ok().as_ref().and_then(json),
        ),
        (
            format!("{{\"trace\":{{\"trace\":{TRACE}}}}}"),
            policy.trace(TRACE, "").ok().as_ref().and_then(json),
        ),
        ("{\"rules\":{}}".to_owned(), policy.rules().ok().as_ref().and_then(json)),
        ("{\"validate\":{}}".to_owned(), policy.validate("").ok().as_ref().and_then(json)),
    ];
    let mut details = Vec::new();
    for (request, typed) in pairs {
        let answer = policy.evaluate_json(&request);
        let parsed = answer.as_ref().ok().and_then(|text| serde_json::from_str::<Value>(text).ok());
        if parsed != typed {
            let answer = answer.unwrap_or_else(|error| error.to_string());
            details.push(format!("{} is answered by {}", brief(&request), brief(&answer)));
        }
    }
    check("evaluate-json answers as the typed functions do", details)
}

/// Whether an error is one that the contract has; a trap or a limit is none.
fn is_fault(error: &Error) -> bool {
    matches!(error, Error::Malformed(_) | Error::Unsupported(_))
}

fn faults_are_faults(policy: &Policy) -> Check {
    let mut details = Vec::new();
    let mut ask = |what: &str, text: &str, failure: Option<Error>| match failure {
        Some(error) if is_fault(&error) => {}
        Some(error) => details.push(format!("{what} {text:?}: {error}")),
        None => details.push(format!("{what} {text:?} is answered as if it were one")),
    };
    for text in MALFORMED {
        ask("the object", text, policy.check(&observation(*text)).err());
        ask("the pass", text, policy.decide(text, "").err());
        ask("the trace", text, policy.trace(text, "").err());
        ask("the sample", text, policy.infer(&[(*text).to_owned()]).err());
    }
    let wrong = Observation { now: Some("yesterday".to_owned()), ..observation(OBJECT) };
    ask("the time", "yesterday", policy.check(&wrong).err());
    let wrong = Observation { settings: "{".to_owned(), ..observation(OBJECT) };
    ask("the settings", "{", policy.check(&wrong).err());
    match policy.validate("{") {
        Ok(notes) if notes.is_empty() => details.push("nothing is wrong with settings `{`".into()),
        Ok(_) => {}
        Err(error) => details.push(format!("validate: {error}")),
    }
    check("an input that is none is a fault, malformed or unsupported", details)
}

fn requests_are_refused(policy: &Policy) -> Check {
    let mut details = Vec::new();
    let requests = MALFORMED.iter().copied().chain([
        "{}",
        "{\"guess\":{}}",
        "{\"rules\":{},\"profiles\":{}}",
        "{\"rules\":{\"id\":1}}",
        "{\"check\":{\"object\":[]}}",
    ]);
    for request in requests {
        match policy.evaluate_json(request) {
            Err(error) if is_fault(&error) => {}
            Err(error) => details.push(format!("{request:?}: {error}")),
            Ok(answer) => details.push(format!("{request:?} is answered by {}", brief(&answer))),
        }
    }
    check("evaluate-json refuses what it does not know, by a fault in JSON", details)
}

fn limits(policy: &Policy) -> Check {
    let nested =
        |depth: usize| format!("{{\"spec\":{}1{}}}", "{\"a\":".repeat(depth), "}".repeat(depth));
    let condition = r#"{"type":"Ready","status":"True","reason":"Done","message":"","lastTransitionTime":"2026-01-01T00:00:00Z"}"#;
    let inputs = [
        ("nested 100 deep", nested(100)),
        ("nested 100 000 deep", nested(100_000)),
        ("a message of 1 MB", OBJECT.replace("all is", &"all ".repeat(250_000))),
        (
            "5 000 conditions",
            format!("{{\"status\":{{\"conditions\":[{}]}}}}", vec![condition; 5_000].join(",")),
        ),
        ("100 000 labels", {
            let labels: Vec<String> = (0..100_000).map(|n| format!("\"{n}\":\"\"")).collect();
            format!("{{\"metadata\":{{\"labels\":{{{}}}}}}}", labels.join(","))
        }),
        ("numbers at the ends", r#"{"metadata":{"generation":9223372036854775807},"status":{"observedGeneration":-9223372036854775808}}"#.to_owned()),
        ("numbers beyond", r#"{"metadata":{"generation":1e400},"status":{"observedGeneration":18446744073709551616}}"#.to_owned()),
    ];
    let mut details = Vec::new();
    for (name, object) in inputs {
        if let Err(error) = policy.check(&observation(object))
            && !is_fault(&error)
        {
            details.push(format!("{name}: {error}"));
        }
    }
    check("large, deep and odd objects are answered or refused within the limits", details)
}

fn findings_are_sound(policy: &Policy, rules: &[Rule]) -> Check {
    let known: BTreeSet<&str> = rules.iter().map(|rule| rule.id.as_str()).collect();
    let mut details = Vec::new();
    let mut look = |findings: Vec<Finding>| {
        for pair in findings.windows(2) {
            if (&pair[0].rule, &pair[0].path) > (&pair[1].rule, &pair[1].path) {
                details.push(format!("{} stands before {}", pair[0].rule, pair[1].rule));
            }
        }
        for Finding { rule, path, message, related, .. } in findings {
            if !known.contains(rule.as_str()) {
                details.push(format!("`{rule}` is not in the catalogue"));
            }
            if message.is_empty() || message.ends_with('.') {
                details.push(format!("{rule}: {message:?} is no sentence without a final stop"));
            }
            for path in std::iter::once(&path).chain(related.iter().map(|note| &note.path)) {
                if !path.is_empty() && !path.starts_with('/') {
                    details.push(format!("{rule}: {path:?} is no JSON Pointer"));
                }
            }
        }
    };
    for object in [OBJECT, "{}"] {
        look(policy.check(&observation(object)).map_or_else(|_| Vec::new(), |v| v.findings));
    }
    look(policy.decide(PASS, "").map_or_else(|_| Vec::new(), |decision| decision.findings));
    look(policy.trace(TRACE, "").map_or_else(|_| Vec::new(), |report| report.findings));
    check("findings are of the catalogue, ordered, and point by JSON Pointers", details)
}

/// The begin of a text, for a line of output.
fn brief(text: &str) -> String {
    const SHOWN: usize = 120;
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("`{}…`", &text[..end]),
        None => format!("`{text}`"),
    }
}
