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
    /// Looks for runs at the end of the history that each woke the next one, by the event of their
    /// own status write or by a delay of at most a second, with no change of any input and no new
    /// status between them: three of them in a row if they come at once, twenty if they wait.
    ///
    /// Retries whose delay grows are not counted, nor is a run that brought the status to where it had
    /// not been before. A write of which the history does not say what it changed counts as work.
    ///
    /// ## Why is this bad?
    ///
    /// The controller burns the API server's time, floods every watcher of the object, and starves
    /// the other keys of its queue. `For()` does not filter the controller's own status writes; a
    /// status that holds a time, a counter or an error text with a random part is never equal to
    /// the last one.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: plumb.dev/v1alpha1
    /// kind: QueueTrace
    /// metadata: {name: own-writes}
    /// spec:
    ///   queue: {flavour: priority}
    ///   events:
    ///   - {at: 0s, event: add, key: team-a/app}
    ///   - {event: get}
    ///   - {event: write, fields: [status.conditions.lastTransitionTime]}
    ///   - {event: return}
    ///   - {at: 300ms, event: watch, key: team-a/app}
    ///   - {event: add}
    ///   - {event: get}
    ///   - {event: write, fields: [status.conditions.lastTransitionTime]}
    ///   - {event: return}
    ///   - {at: 600ms, event: watch, key: team-a/app}
    ///   - {event: add}
    ///   - {event: get}
    ///   - {event: write, fields: [status.conditions.lastTransitionTime]}
    ///   - {event: return}
    ///   - {at: 900ms, event: watch, key: team-a/app}
    ///   - {event: add}
    ///   - {event: get}
    ///   - {event: write, fields: [status.conditions.lastTransitionTime]}
    ///   - {event: return}
    /// ```
    ///
    /// ## Instead
    ///
    /// ```yaml
    /// apiVersion: plumb.dev/v1alpha1
    /// kind: QueueTrace
    /// metadata: {name: own-writes}
    /// spec:
    ///   queue: {flavour: priority}
    ///   events:
    ///   - {at: 0s, event: add, key: team-a/app}
    ///   - {event: get}
    ///   - {event: write, fields: [status.conditions.lastTransitionTime]}
    ///   - {event: return}
    ///   - {at: 300ms, event: watch, key: team-a/app}
    ///   - {event: add}
    ///   - {event: get}
    ///   - {event: return, note: nothing to write}
    /// ```
    ///
    /// ## Severity
    ///
    /// Error: it does not end by itself.
    ///
    /// ## References
    ///
    /// - <https://github.com/konflux-ci/konflux-ci/pull/5874>
    /// - <https://github.com/cert-manager/cert-manager/issues/1214>
    pub static RULE = {
        id: "hot-loop",
        family: "trace",
        severity: Error,
        means: Unknown,
        since: "0.1.0",
        summary: "the same work is done again and again, and each run wakes the next",
        check: Check::Trace(check),
    }
}

fn check(story: &Story<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for key in &story.keys {
        let Some(passes) = key.hot() else { continue };
        let [first, .., last] = passes else { continue };
        let (why, advice) = words::waker(last.woken);
        let name = story.history.key(key.key);
        let message = format!("`{name}` runs {} times for the same work", passes.len());
        let mut finding = RULE
            .finding(words::pointer(last.got), message)
            .beside(words::pointer(first.got), "the first of these runs");
        let mut why = alloc::string::String::from(why);
        why.make_ascii_lowercase();
        finding = finding.beside(words::pointer(last.returned), why);
        findings.push(finding.help(advice));
    }
    findings
}
