use alloc::format;
use alloc::vec::Vec;

use crate::declare_rule;
use crate::finding::{Finding, Severity};
use crate::object::{Condition, Status};
use crate::rule::{Check, View};

declare_rule! {
    /// ## What it does
    ///
    /// Looks for two conditions of one type in one list. Lists whose elements have no status, and
    /// types that a kind repeats on purpose, are left out.
    ///
    /// ## Why is this bad?
    ///
    /// The type is the key of the list. Some readers take the first, others the last, so a Job with
    /// two `Failed` conditions has failed for one tool and not for the next. Most often a controller
    /// appends where it should replace.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: batch/v1
    /// kind: Job
    /// metadata: {name: import, namespace: default, generation: 1}
    /// status:
    ///   conditions:
    ///   - {type: Failed, status: "False", lastTransitionTime: "2026-01-01T00:00:00Z"}
    ///   - {type: Failed, status: "True", reason: BackoffLimitExceeded, lastTransitionTime: "2026-01-01T00:05:00Z"}
    /// ```
    ///
    /// ## Instead
    ///
    /// ```yaml
    /// apiVersion: batch/v1
    /// kind: Job
    /// metadata: {name: import, namespace: default, generation: 1}
    /// status:
    ///   conditions:
    ///   - {type: Failed, status: "True", reason: BackoffLimitExceeded, lastTransitionTime: "2026-01-01T00:05:00Z"}
    /// ```
    ///
    /// ## Severity
    ///
    /// Error where the two say different things; warning where they say the same.
    ///
    /// ## References
    ///
    /// - <https://github.com/kubernetes/community/blob/main/contributors/devel/sig-architecture/api-conventions.md#typical-status-properties>
    /// - <https://github.com/kubernetes/kubernetes/issues/109904>
    /// - <https://github.com/kubesphere/kubesphere/issues/3135>
    pub static RULE = {
        id: "repeated-condition-type",
        family: "conditions",
        severity: Error,
        means: Incoherent,
        since: "0.1.0",
        summary: "a list holds two conditions of one type",
        check: Check::State(check),
    }
}

fn check(view: &View<'_>) -> Vec<Finding> {
    let (object, profile) = (view.object, view.profile);
    let may_repeat =
        |type_: &str| profile.repeats.iter().any(|text| **text == *"*" || **text == *type_);
    let mut findings = Vec::new();
    for list in &object.lists {
        for (place, condition) in list.conditions.iter().enumerate() {
            if !speaks(condition) || may_repeat(condition.type_) {
                continue;
            }
            let type_ = condition.type_;
            let earlier = list.conditions[..place].iter().rev().find(|other| other.type_ == type_);
            let Some(earlier) = earlier.filter(|other| speaks(other)) else { continue };
            let (was, is) = (earlier.status.text(), condition.status.text());
            let agree = was == is;
            let message = if agree {
                format!("{type_} stands twice in one list, both times as {is}")
            } else {
                format!("{type_} stands twice in one list, as {was} and as {is}")
            };
            let mut finding = RULE
                .finding(list.place(condition, "type"), message)
                .beside(list.place(earlier, "type"), format!("{type_} is {was} here"))
                .help("replace the condition of a type instead of appending another one");
            if agree {
                finding.severity = Severity::Warning;
            }
            findings.push(finding);
        }
    }
    findings
}

fn speaks(condition: &Condition<'_>) -> bool {
    !condition.type_.is_empty()
        && matches!(condition.status, Status::True | Status::False | Status::Unknown)
}
