//! Reads a controller's log into reconcile passes, as far as it carries them.
//!
//! The lines are JSON as zap writes it by default in controller-runtime and in Flux. What ends a
//! pass is a line of the runtime or one of Flux's own; what belongs to one pass has its
//! `reconcileID`, which runtimes before 0.13 do not write.
//!
//! A log says neither what the object's spec and status are nor what its sources hold. What queued
//! a pass follows from when the pass before it was to be followed; else it is left out.

use std::collections::{BTreeMap, VecDeque};

use jiff::{SignedDuration, Timestamp};
use serde_json::{Map, Value, json};

/// So many passes of an object are told beside the next one.
const EARLIER: usize = 20;

/// Why lines are passed over.
const OF_NO_OBJECT: &str = "log lines that belong to no object";
const WITHIN: &str = "log lines from within a pass";
const UNTOLD: &str = "a controller's log, which tells only the passes that end with an error or name \
                      the next one; spec, status and sources of an object do not show in it";

/// The log of one input so far.
#[derive(Debug, Default)]
pub(super) struct Logs {
    begun: bool,
    /// By kind, namespace and name.
    objects: BTreeMap<(String, String, String), Track>,
}

/// What is known of one object.
#[derive(Debug, Default)]
struct Track {
    /// The passes before, oldest first.
    earlier: VecDeque<Value>,
    /// When the next pass was to come, from when on, if the pass before told.
    due: Option<(Timestamp, SignedDuration)>,
    /// The pass that is told already.
    told: String,
    /// The pass under way.
    open: Open,
    /// The controller has started since the pass before.
    restarted: bool,
}

/// A pass under way.
#[derive(Debug, Default)]
struct Open {
    id: String,
    began: Option<Timestamp>,
    outcome: Option<Value>,
}

/// What a line comes to.
#[derive(Debug, PartialEq)]
pub(super) struct Told {
    /// A `Reconcile` document.
    pub(super) pass: Option<String>,
    /// Why there is nothing to judge, or what the log does not tell.
    pub(super) notes: Vec<&'static str>,
}

/// How a pass ends.
struct End {
    /// `outcome.type`, if the line tells.
    outcome: Option<&'static str>,
    result: Option<Value>,
    /// When the next pass comes.
    after: Option<SignedDuration>,
    /// How long the pass took.
    took: Option<SignedDuration>,
}

impl Logs {
    /// Takes in the next line.
    pub(super) fn line(&mut self, line: &str) -> Told {
        let mut notes = Vec::new();
        if !std::mem::replace(&mut self.begun, true) {
            notes.push(UNTOLD);
        }
        let pass = match serde_json::from_str::<Map<String, Value>>(line) {
            Ok(line) => self.read(&line),
            Err(_) => Err(OF_NO_OBJECT),
        };
        match pass {
            Ok(pass) => Told { pass: Some(pass.to_string()), notes },
            Err(why) => {
                notes.push(why);
                Told { pass: None, notes }
            }
        }
    }

    fn read(&mut self, line: &Map<String, Value>) -> Result<Value, &'static str> {
        let text = |key: &str| line.get(key).and_then(Value::as_str).unwrap_or_default();
        let either = |new: &str, old: &str| {
            let found = if text(new).is_empty() { text(old) } else { text(new) };
            found.to_owned()
        };
        let message = text("msg").trim();
        if is_start(message) {
            self.objects.values_mut().for_each(|track| {
                *track = Track { restarted: true, ..Track::default() };
            });
            return Err(OF_NO_OBJECT);
        }
        let kind = either("controllerKind", "reconciler kind");
        let group = either("controllerGroup", "reconciler group");
        let (namespace, name) = (text("namespace").to_owned(), text("name").to_owned());
        let at = line.get("ts").or_else(|| line.get("time")).and_then(time);
        let (Some(at), false, false) = (at, kind.is_empty(), name.is_empty()) else {
            return Err(OF_NO_OBJECT);
        };
        let key = (kind.clone(), namespace.clone(), name.clone());
        let track = self.objects.entry(key).or_default();
        let id = text("reconcileID");
        if track.open.id != id || id.is_empty() && is_begin(message) {
            track.open = Open { id: id.to_owned(), ..Open::default() };
        }
        let failure = text("error");
        let Some(end) = end(message, failure) else {
            if is_begin(message) {
                track.open.began = Some(at);
            }
            if let Some(outcome) = aside(message, line) {
                track.open.outcome = Some(outcome);
            }
            return Err(WITHIN);
        };
        // A line of the runtime behind one of the controller's own tells nothing new, unless an
        // error came between them.
        if !id.is_empty() && track.told == id && failure.is_empty() {
            return Err(WITHIN);
        }
        id.clone_into(&mut track.told);
        let open = std::mem::take(&mut track.open);
        let began = open.began.or_else(|| at.checked_sub(end.took?).ok());
        let mut metadata = json!({"name": name});
        if !namespace.is_empty() {
            metadata["namespace"] = namespace.into();
        }
        let version = if group.is_empty() { "unknown".into() } else { format!("{group}/unknown") };
        let mut spec = json!({
            "object": {"apiVersion": version, "kind": kind, "metadata": metadata},
            "now": at.to_string(),
        });
        let outcome = open.outcome.or_else(|| end.outcome.map(|type_| json!({"type": type_})));
        let input = text("revision");
        let mut summary = json!({"at": at.to_string()});
        if let Some(outcome) = outcome {
            summary["outcome"] = outcome["type"].clone();
            spec["outcome"] = outcome;
        }
        if let Some(result) = end.result {
            summary["result"] = result.clone();
            spec["result"] = result;
        }
        if !input.is_empty() {
            summary["input"] = input.into();
            spec["input"] = input.into();
        }
        if let Some(trigger) = track.trigger(began) {
            spec["trigger"] = trigger.into();
        }
        if !track.earlier.is_empty() {
            spec["earlier"] = track.earlier.iter().cloned().collect();
        }
        track.earlier.push_back(summary);
        if track.earlier.len() > EARLIER {
            track.earlier.pop_front();
        }
        track.due = end.after.map(|after| (at, after));
        track.restarted = false;
        Ok(json!({
            "apiVersion": "plumb.dev/v1alpha1",
            "kind": "Reconcile",
            "metadata": {"name": if id.is_empty() { "pass" } else { id }},
            "spec": spec,
        }))
    }
}

impl Track {
    /// What queued a pass that began then. Flux's controllers name the interval without its
    /// jitter, a twentieth.
    fn trigger(&self, began: Option<Timestamp>) -> Option<&'static str> {
        if self.restarted {
            return Some("start");
        }
        let ((at, after), began) = (self.due?, began?);
        let waited = began.duration_since(at);
        let least = after.checked_sub(after / 16)?.checked_sub(SignedDuration::from_secs(1))?;
        Some(if waited < least { "watch" } else { "timer" })
    }
}

/// Whether the controller starts here, with an empty queue.
fn is_start(message: &str) -> bool {
    ["starting manager", "starting workers", "starting controller"]
        .iter()
        .any(|start| message.eq_ignore_ascii_case(start))
}

/// Whether the runtime begins a pass here.
fn is_begin(message: &str) -> bool {
    message.eq_ignore_ascii_case("reconciling")
}

/// RFC 3339, or seconds since 1970 as zap's production encoder writes them.
fn time(value: &Value) -> Option<Timestamp> {
    match value {
        Value::String(text) => text.parse().ok(),
        #[expect(clippy::cast_possible_truncation, reason = "a float cast saturates")]
        Value::Number(seconds) => {
            Timestamp::from_millisecond((seconds.as_f64()? * 1_000.0) as i64).ok()
        }
        _ => None,
    }
}

/// How a pass ends with this line, if it does.
fn end(message: &str, failure: &str) -> Option<End> {
    let lower = message.to_ascii_lowercase();
    let none = End { outcome: None, result: None, after: None, took: None };
    let again = |outcome, delay: &str, took: Option<&str>| {
        let after = delay.parse::<SignedDuration>().ok()?;
        Some(End {
            outcome,
            result: Some(json!({"requeueAfter": delay})),
            after: Some(after),
            took: took.and_then(|took| took.parse().ok()),
        })
    };
    // Early helm-controllers wrote the last of these, misspelt, whatever became of the pass.
    if let Some((outcome, rest)) = [
        (Some("succeeded"), "Reconciliation finished in "),
        (Some("failed"), "Reconciliation failed after "),
        (None, concat!("reconcil", "ation finished in ")),
    ]
    .iter()
    .find_map(|(outcome, start)| Some((*outcome, message.strip_prefix(start)?)))
    {
        let (took, next) = rest.split_once(", next ")?;
        let delay = next.strip_prefix("run in ").or_else(|| next.strip_prefix("try in "))?;
        return again(outcome, delay.trim(), Some(took));
    }
    if message == "Reconciler error" {
        let (terminal, text) = match failure.strip_prefix("terminal error: ") {
            Some(text) => (true, text),
            None => (false, failure),
        };
        let mut result = json!({"error": text});
        if terminal {
            result["terminal"] = true.into();
        }
        let outcome = if terminal { "terminal" } else { "failed" };
        return Some(End { outcome: Some(outcome), result: Some(result), ..none });
    }
    if let Some(delay) = message.strip_prefix("Reconcile done, requeueing after ") {
        return again(None, delay.trim(), None);
    }
    if message == "Reconcile done, requeueing" {
        return Some(End { result: Some(json!({"requeue": true})), ..none });
    }
    if message == "Reconcile successful" {
        return Some(End { result: Some(json!({})), ..none });
    }
    let at = lower.rfind("retrying in ")?;
    again(Some("waiting"), message[at + "retrying in ".len()..].trim(), None)
}

/// What came of a pass whose end is still to come.
fn aside(message: &str, line: &Map<String, Value>) -> Option<Value> {
    if message.eq_ignore_ascii_case("reconciliation is suspended for this object") {
        return Some(json!({"type": "suspended"}));
    }
    if message != "New reconciliation triggered, canceling health checks" {
        return None;
    }
    let mut outcome = json!({"type": "canceled"});
    let part = |key: &str| line.get("trigger")?.get(key)?.as_str();
    if let (Some(kind), Some(name)) = (part("kind"), part("name")) {
        let namespace = part("namespace").unwrap_or_default();
        outcome["by"] = format!("{kind}/{namespace}/{name}").into();
    }
    Some(outcome)
}

#[cfg(test)]
mod tests;
