use alloc::format;
use alloc::vec::Vec;

use crate::declare_rule;
use crate::finding::Finding;
use crate::rule::Check;
use crate::trace::story::Story;
use crate::trace::words;

declare_rule! {
    /// ## What it does
    ///
    /// Looks for a request to reconcile (an annotation with a token) that a run answered which had
    /// read its input before the request came.
    ///
    /// ## Why is this bad?
    ///
    /// Whoever asks has just changed something, and asks for a run that sees it. The answer says
    /// that it was done, and it was not; the event of the request finds it answered and starts
    /// nothing.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: plumb.dev/v1alpha1
    /// kind: QueueTrace
    /// metadata: {name: refresh}
    /// spec:
    ///   queue: {flavour: classic}
    ///   sources:
    ///   - {name: Commit/app, revision: a}
    ///   objects:
    ///   - {key: team-a/app, status: {handled: ""}}
    ///   events:
    ///   - {at: 0s, event: add}
    ///   - {event: get}
    ///   - {event: read, revision: a}
    ///   - {at: 1s, event: change, request: r1}
    ///   - {at: 2s, event: write, status: {handled: r1}}
    ///   - {event: return}
    ///   - {at: 3s, event: watch, key: team-a/app}
    ///   - {event: map, filter: drop, note: the request is answered}
    /// ```
    ///
    /// ## Instead
    ///
    /// ```yaml
    /// apiVersion: plumb.dev/v1alpha1
    /// kind: QueueTrace
    /// metadata: {name: refresh}
    /// spec:
    ///   queue: {flavour: classic}
    ///   sources:
    ///   - {name: Commit/app, revision: a}
    ///   objects:
    ///   - {key: team-a/app, status: {handled: ""}}
    ///   events:
    ///   - {at: 0s, event: add}
    ///   - {event: get}
    ///   - {event: read, revision: a}
    ///   - {at: 1s, event: change, request: r1}
    ///   - {event: watch, key: team-a/app}
    ///   - {event: add}
    ///   - {at: 2s, event: return}
    ///   - {at: 3s, event: get}
    ///   - {event: read, revision: a}
    ///   - {event: write, status: {handled: r1}}
    ///   - {event: return}
    /// ```
    ///
    /// ## Severity
    ///
    /// Error: the answer is not true.
    ///
    /// ## References
    ///
    /// - <https://github.com/argoproj/argo-cd/issues/28392>
    pub static RULE = {
        id: "request-consumed-by-earlier-run",
        family: "trace",
        severity: Error,
        means: Unknown,
        since: "0.1.0",
        summary: "a run answers a request that came after it had read its input",
        check: Check::Trace(check),
    }
}

fn check(story: &Story<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for key in &story.keys {
        for early in &key.early_answers {
            let message =
                format!("a run answers the request `{}`, which it never saw", early.token);
            findings.push(
                RULE.finding(words::pointer(early.at), message)
                    .beside(words::pointer(early.read), "the run reads its input here")
                    .beside(words::pointer(early.request), "the request comes here")
                    .help("answer the request that was read at the start of the run, no later one"),
            );
        }
    }
    findings
}
