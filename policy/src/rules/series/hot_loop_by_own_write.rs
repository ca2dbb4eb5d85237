use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::change::{self, Difference};
use crate::declare_rule;
use crate::finding::Finding;
use crate::json::Json;
use crate::object::Object;
use crate::rule::{Check, View};
use crate::time::Time;

/// Writes without substance, one after the other, that make a loop.
const WRITES: usize = 3;

/// Heartbeats closer together than this, in milliseconds, are a loop of their own.
const HEARTBEAT: i64 = 5_000;

declare_rule! {
    /// ## What it does
    ///
    /// Looks for three writes or more in a row that change nothing of substance, while spec, labels
    /// and annotations stay the same: nothing but the resource version, only times of conditions, only
    /// an opaque token (an id, a hash) in the message of a failing condition, or, while the object is
    /// being deleted, only an annotation. A heartbeat is a loop only where it comes more often than
    /// every five seconds.
    ///
    /// ## Why is this bad?
    ///
    /// Each write changes the resource version, the change wakes the controller that wrote it, and it
    /// writes again. Back-off does not help, since the event goes past it. Such loops have eaten a
    /// core each in Strimzi, Crossplane, kopf and others, and hide in the noise of a busy cluster.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: example.com/v1
    /// kind: Widget
    /// metadata: {name: app, namespace: default, generation: 1, resourceVersion: "10"}
    /// status:
    ///   conditions:
    ///   - {type: Synced, status: "False", reason: ReconcileError, message: "AccessDenied, request id 0f3c9d7a-1b2c", lastTransitionTime: "2026-01-01T00:00:00Z"}
    /// ---
    /// apiVersion: example.com/v1
    /// kind: Widget
    /// metadata: {name: app, namespace: default, generation: 1, resourceVersion: "11"}
    /// status:
    ///   conditions:
    ///   - {type: Synced, status: "False", reason: ReconcileError, message: "AccessDenied, request id 77ab12e0-9f8e", lastTransitionTime: "2026-01-01T00:00:00Z"}
    /// ---
    /// apiVersion: example.com/v1
    /// kind: Widget
    /// metadata: {name: app, namespace: default, generation: 1, resourceVersion: "12"}
    /// status:
    ///   conditions:
    ///   - {type: Synced, status: "False", reason: ReconcileError, message: "AccessDenied, request id c5d4e3f2-a1b0", lastTransitionTime: "2026-01-01T00:00:00Z"}
    /// ---
    /// apiVersion: example.com/v1
    /// kind: Widget
    /// metadata: {name: app, namespace: default, generation: 1, resourceVersion: "13"}
    /// status:
    ///   conditions:
    ///   - {type: Synced, status: "False", reason: ReconcileError, message: "AccessDenied, request id 1a2b3c4d-5e6f", lastTransitionTime: "2026-01-01T00:00:00Z"}
    /// ```
    ///
    /// ## Instead
    ///
    /// ```yaml
    /// apiVersion: example.com/v1
    /// kind: Widget
    /// metadata: {name: app, namespace: default, generation: 1, resourceVersion: "10"}
    /// status:
    ///   conditions:
    ///   - {type: Synced, status: Unknown, reason: Reconciling, message: 1 of 3 ready, lastTransitionTime: "2026-01-01T00:00:00Z"}
    /// ---
    /// apiVersion: example.com/v1
    /// kind: Widget
    /// metadata: {name: app, namespace: default, generation: 1, resourceVersion: "11"}
    /// status:
    ///   conditions:
    ///   - {type: Synced, status: Unknown, reason: Reconciling, message: 2 of 3 ready, lastTransitionTime: "2026-01-01T00:00:00Z"}
    /// ---
    /// apiVersion: example.com/v1
    /// kind: Widget
    /// metadata: {name: app, namespace: default, generation: 1, resourceVersion: "12"}
    /// status:
    ///   conditions:
    ///   - {type: Synced, status: Unknown, reason: Reconciling, message: 3 of 3 ready, lastTransitionTime: "2026-01-01T00:00:00Z"}
    /// ---
    /// apiVersion: example.com/v1
    /// kind: Widget
    /// metadata: {name: app, namespace: default, generation: 1, resourceVersion: "13"}
    /// status:
    ///   conditions:
    ///   - {type: Synced, status: "True", reason: Available, message: "", lastTransitionTime: "2026-01-01T00:00:09Z"}
    /// ```
    ///
    /// ## Severity
    ///
    /// Warning: the status may be right, but the controller is not at rest.
    ///
    /// ## References
    ///
    /// - <https://github.com/upbound/provider-terraform/issues/89>
    /// - <https://github.com/strimzi/strimzi-kafka-operator/issues/13079>
    /// - <https://github.com/nolar/kopf/issues/601>
    /// - <https://github.com/keikoproj/instance-manager/issues/235>
    pub static RULE = {
        id: "hot-loop-by-own-write",
        family: "series",
        severity: Warning,
        means: Incoherent,
        since: "0.1.0",
        summary: "several writes in a row change nothing of substance",
        check: Check::Series(check),
    }
}

fn check(view: &View<'_>, series: &[&Object<'_>]) -> Vec<Finding> {
    let object = view.object;
    let mut writes = 0;
    let mut seen: Option<(String, &'static str)> = None;
    for pair in series.windows(2).rev() {
        let [before, after] = pair else { break };
        let Some((path, what)) = void(before, after) else { break };
        writes += 1;
        seen.get_or_insert((path, what));
    }
    let Some((path, what)) = seen.filter(|_| writes >= WRITES) else { return Vec::new() };
    let earliest = series.len() - writes - 1;
    let origin = if earliest + 2 == series.len() {
        String::from("old")
    } else {
        format!("history/{earliest}")
    };
    let message = format!("the last {writes} writes change {what}");
    alloc::vec![
        RULE.finding(path, message)
            .elsewhere(
                origin,
                "/metadata/resourceVersion",
                format!(
                    "from {} to {} nothing of substance changed",
                    series[earliest].resource_version, object.resource_version
                ),
            )
            .help(
                "compare before writing, keep times and ids out of the comparison, and do not \
                 reconcile on changes of the own status",
            ),
    ]
}

/// What a write changed that is nothing, and where.
pub(super) fn void(before: &Object<'_>, after: &Object<'_>) -> Option<(String, &'static str)> {
    if before.resource_version == after.resource_version || before.uid != after.uid {
        return None;
    }
    let differences = change::status(before, after);
    if !change::same_inputs(before, after) {
        let finalizers = !after.root.at("metadata").at("finalizers").is_empty();
        let touched = before.deleting
            && after.deleting
            && finalizers
            && differences.is_empty()
            && change::same_spec(before, after);
        return touched.then(|| {
            ("/metadata/annotations".into(), "only annotations of an object that is being deleted")
        });
    }
    let Some(first) = differences.first() else {
        return Some(("/metadata/resourceVersion".into(), "nothing but the resource version"));
    };
    let path = first.pointer.clone();
    if differences.iter().all(Difference::is_heartbeat) {
        return differences
            .iter()
            .all(is_quick)
            .then_some((path, "only a heartbeat, and too often"));
    }
    if differences.iter().all(is_time) {
        return Some((path, "only times of conditions"));
    }
    let churn =
        |difference: &Difference<'_, '_>| is_time(difference) || is_churn(difference, after);
    differences
        .iter()
        .all(churn)
        .then_some((path, "only an id in the message of a failing condition"))
}

fn is_time(difference: &Difference<'_, '_>) -> bool {
    difference.pointer.contains("/conditions/")
        && (difference.key() == "lastTransitionTime" || difference.is_heartbeat())
        && Time::parse(difference.old.str().unwrap_or("")).is_some()
        && Time::parse(difference.new.str().unwrap_or("")).is_some()
}

fn is_quick(difference: &Difference<'_, '_>) -> bool {
    let time = |json: &Json<'_>| json.str().and_then(Time::parse);
    match (time(difference.old), time(difference.new)) {
        (Some(old), Some(new)) => (0..HEARTBEAT).contains(&new.since(old)),
        (Some(_) | None, None) | (None, Some(_)) => false,
    }
}

/// Whether the message of a condition that is not True differs in opaque tokens alone.
pub(super) fn is_churn(difference: &Difference<'_, '_>, after: &Object<'_>) -> bool {
    let Some(place) = difference.pointer.strip_suffix("/message") else { return false };
    let failing = after.lists.iter().any(|list| {
        list.conditions
            .iter()
            .any(|condition| list.place(condition, "") == place && !condition.is_true())
    });
    match (difference.old, difference.new) {
        (Json::String(old), Json::String(new)) => failing && differ_in_tokens(old, new),
        _ => false,
    }
}

/// Whether two texts have the same words but for tokens that mean nothing to a reader: ids, hashes,
/// addresses. Numbers, versions, durations and words are no such tokens.
fn differ_in_tokens(old: &str, new: &str) -> bool {
    fn words(text: &str) -> impl Iterator<Item = &str> {
        let edge = |character: char| {
            character.is_whitespace()
                || matches!(
                    character,
                    '"' | '\'' | ',' | ';' | '(' | ')' | '[' | ']' | '{' | '}' | '='
                )
        };
        text.split(edge).filter(|word| !word.is_empty())
    }
    let (mut before, mut after) = (words(old), words(new));
    let mut tokens = 0;
    loop {
        match (before.next(), after.next()) {
            (None, None) => return tokens > 0,
            (Some(before), Some(after)) if before == after => {}
            (Some(before), Some(after)) if is_opaque(before) && is_opaque(after) => tokens += 1,
            (Some(_), _) | (None, Some(_)) => return false,
        }
    }
}

/// Eight characters or more of letters, digits and dashes, with both letters and digits, and not
/// more letters in a row than a word of hexadecimal digits has by chance.
fn is_opaque(word: &str) -> bool {
    let word = word.trim_matches(|character: char| !character.is_ascii_alphanumeric());
    let digits = word.bytes().filter(u8::is_ascii_digit).count();
    let letters = word.bytes().filter(u8::is_ascii_alphabetic).count();
    let others = word.bytes().filter(|byte| !byte.is_ascii_alphanumeric()).count();
    word.len() >= 8
        && digits >= 3
        && letters >= 1
        && others * 4 <= word.len()
        && word
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b':'))
        && Time::parse(word).is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_told_from_words_and_numbers() {
        for (old, new, wanted) in [
            ("denied (request id 0f3c9d7a-1b2c)", "denied (request id 77ab12e0-9f8e)", true),
            ("1 of 3 ready", "2 of 3 ready", false),
            ("waiting for pod app-0", "waiting for pod app-1", false),
            ("chart 1.2.3 failed", "chart 1.2.4 failed", false),
            ("timed out after 5m0s", "timed out after 5m1s", false),
            ("same", "same", false),
            ("id=0f3c9d7a11 op=get", "id=99c0ffee22 op=get", true),
            ("id=0f3c9d7a11 op=get", "id=99c0ffee22 op=put", false),
        ] {
            assert_eq!(differ_in_tokens(old, new), wanted, "{old} | {new}");
        }
    }
}
