use alloc::format;
use alloc::vec::Vec;

use crate::change;
use crate::declare_rule;
use crate::finding::Finding;
use crate::json::Json;
use crate::object::{Object, Status};
use crate::record;
use crate::rule::{Check, View};
use crate::time::{self, Time};

declare_rule! {
    /// ## What it does
    ///
    /// Looks for a condition whose status changes while its `lastTransitionTime` stays. Times are cut
    /// to the second, so two changes within one second look alike: the rule speaks only where another
    /// time of the same write (another condition's, or that of `managedFields`) shows that the clock
    /// had moved on.
    ///
    /// ## Why is this bad?
    ///
    /// An object that has failed a second ago says that it has failed since last week. Alerts with a
    /// "for at least" fire at once, and time-outs that count from here are over before they begin.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: example.com/v1
    /// kind: Widget
    /// metadata: {name: app, namespace: default, generation: 1, resourceVersion: "10"}
    /// status:
    ///   observedGeneration: 1
    ///   conditions:
    ///   - {type: Ready, status: "True", reason: Available, message: "", lastTransitionTime: "2026-01-01T00:00:00Z"}
    ///   - {type: Synced, status: "True", reason: Synced, message: "", lastTransitionTime: "2026-01-01T00:00:00Z"}
    /// ---
    /// apiVersion: example.com/v1
    /// kind: Widget
    /// metadata: {name: app, namespace: default, generation: 1, resourceVersion: "11"}
    /// status:
    ///   observedGeneration: 1
    ///   conditions:
    ///   - {type: Ready, status: "False", reason: Failed, message: "", lastTransitionTime: "2026-01-01T00:00:00Z"}
    ///   - {type: Synced, status: "False", reason: Failed, message: "", lastTransitionTime: "2026-01-01T08:00:00Z"}
    /// ```
    ///
    /// ## Instead
    ///
    /// ```yaml
    /// apiVersion: example.com/v1
    /// kind: Widget
    /// metadata: {name: app, namespace: default, generation: 1, resourceVersion: "10"}
    /// status:
    ///   observedGeneration: 1
    ///   conditions:
    ///   - {type: Ready, status: "True", reason: Available, message: "", lastTransitionTime: "2026-01-01T00:00:00Z"}
    ///   - {type: Synced, status: "True", reason: Synced, message: "", lastTransitionTime: "2026-01-01T00:00:00Z"}
    /// ---
    /// apiVersion: example.com/v1
    /// kind: Widget
    /// metadata: {name: app, namespace: default, generation: 1, resourceVersion: "11"}
    /// status:
    ///   observedGeneration: 1
    ///   conditions:
    ///   - {type: Ready, status: "False", reason: Failed, message: "", lastTransitionTime: "2026-01-01T08:00:00Z"}
    ///   - {type: Synced, status: "False", reason: Failed, message: "", lastTransitionTime: "2026-01-01T08:00:00Z"}
    /// ```
    ///
    /// ## Severity
    ///
    /// Warning: the status is right, its age is not.
    ///
    /// ## References
    ///
    /// - `SetStatusCondition` in `pkg/api/meta/conditions.go` of <https://github.com/kubernetes/apimachinery>
    /// - <https://github.com/kubernetes/community/blob/main/contributors/devel/sig-architecture/api-conventions.md#typical-status-properties>
    pub static RULE = {
        id: "transition-time-unmoved",
        family: "time",
        severity: Warning,
        means: Incoherent,
        since: "0.1.0",
        summary: "the status of a condition changes, its lastTransitionTime stays",
        check: Check::Transition(check),
    }
}

fn check(view: &View<'_>, old: &Object<'_>) -> Vec<Finding> {
    let object = view.object;
    let mut findings = Vec::new();
    for pair in change::conditions(old, object) {
        let real =
            |status: Status<'_>| matches!(status, Status::True | Status::False | Status::Unknown);
        let (before, after) = (pair.old, pair.new);
        if before.status == after.status || !real(before.status) || !real(after.status) {
            continue;
        }
        let (Some(then), Some(since)) = (before.transition(), after.transition()) else { continue };
        if then != since || since.0 <= 0 {
            continue;
        }
        // The status changed in this write or before it; what the write itself dates is no older.
        let Some((written, place)) = written(old, object) else { continue };
        let late = written.since(since);
        if late <= 1_000 {
            continue;
        }
        let message = format!(
            "{} went from {} to {}, but its lastTransitionTime stayed, {} behind",
            after.type_,
            before.status.text(),
            after.status.text(),
            time::readable(late)
        );
        findings.push(
            RULE.finding(pair.list.place(after, "lastTransitionTime"), message)
                .beside(place, format!("the write is not older than {}", written.text()))
                .elsewhere(
                    "old",
                    pair.old_list.place(before, "status"),
                    format!("was {}", before.status.text()),
                )
                .help("set the time whenever the status changes"),
        );
    }
    findings
}

/// The newest time that came with the newer state, and where it stands.
fn written(old: &Object<'_>, new: &Object<'_>) -> Option<(Time, alloc::string::String)> {
    let mut newest: Option<(Time, alloc::string::String)> = None;
    let mut take = |time: Option<Time>, place: alloc::string::String| {
        if let Some(time) = time
            && newest.as_ref().is_none_or(|(known, _)| time > *known)
        {
            newest = Some((time, place));
        }
    };
    for difference in change::status(old, new) {
        let of_condition = difference.pointer.contains("/conditions/");
        let dates = matches!(
            difference.key(),
            "lastTransitionTime" | "lastUpdateTime" | "lastHeartbeatTime" | "lastProbeTime"
        );
        if of_condition
            && dates
            && let Json::String(text) = difference.new
        {
            take(Time::parse(text), difference.pointer);
        }
    }
    let (before, after) = (record::status_write(old), record::status_write(new));
    if let Some(after) = after
        && before.is_none_or(|before| before.time < after.time)
    {
        take(Some(after.time), "/metadata/managedFields".into());
    }
    newest
}
