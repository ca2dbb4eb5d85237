use alloc::format;
use alloc::vec::Vec;

use crate::declare_rule;
use crate::finding::{Finding, Severity};
use crate::object::Status;
use crate::rule::{Check, View};

declare_rule! {
    /// ## What it does
    ///
    /// Looks for conditions whose status is none of True, False and Unknown. Elements without a
    /// status are no conditions in this sense and are left out; a boolean, which YAML makes of an
    /// unquoted word, is read as the word and told as info. Conditions of the kind `metav1.Condition`
    /// are judged by `condition-outside-schema`.
    ///
    /// ## Why is this bad?
    ///
    /// No reader knows what the word means: most take it for neither True nor False and wait for
    /// ever.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: example.com/v1
    /// kind: Widget
    /// metadata: {name: app, namespace: default, generation: 1}
    /// status:
    ///   observedGeneration: 1
    ///   conditions:
    ///   - {type: Ready, status: "Yes", reason: Succeeded, message: ""}
    /// ```
    ///
    /// ## Instead
    ///
    /// ```yaml
    /// apiVersion: example.com/v1
    /// kind: Widget
    /// metadata: {name: app, namespace: default, generation: 1}
    /// status:
    ///   observedGeneration: 1
    ///   conditions:
    ///   - {type: Ready, status: "True", reason: Succeeded, message: ""}
    /// ```
    ///
    /// ## Severity
    ///
    /// Warning: the condition cannot be relied on, in either sense.
    ///
    /// ## References
    ///
    /// - <https://github.com/kubernetes/community/blob/main/contributors/devel/sig-architecture/api-conventions.md#typical-status-properties>
    pub static RULE = {
        id: "condition-status-unknown-word",
        family: "conditions",
        severity: Warning,
        means: Unknown,
        since: "0.1.0",
        summary: "the status of a condition is not True, False or Unknown",
        check: Check::State(check),
    }
}

fn check(view: &View<'_>) -> Vec<Finding> {
    if view.profile.metav1 {
        return Vec::new();
    }
    let mut findings = Vec::new();
    for list in &view.object.lists {
        for condition in list.conditions.iter().filter(|condition| !condition.type_.is_empty()) {
            let type_ = condition.type_;
            let place = list.place(condition, "status");
            match condition.status {
                Status::Other(word) => {
                    let message =
                        format!("status of {type_} is `{word}`, not True, False or Unknown");
                    findings.push(RULE.finding(place, message));
                }
                Status::True | Status::False if condition.json.at("status").bool().is_some() => {
                    let word = condition.status.text();
                    let message =
                        format!("status of {type_} is a boolean, and is read as \"{word}\"");
                    let mut finding = RULE.finding(place, message).help("quote the word in YAML");
                    finding.severity = Severity::Info;
                    findings.push(finding);
                }
                Status::True | Status::False | Status::Unknown | Status::Missing => {}
            }
        }
    }
    findings
}
