use alloc::vec::Vec;

use crate::declare_rule;
use crate::finding::Finding;
use crate::rule::{Check, View};

declare_rule! {
    /// ## What it does
    ///
    /// Looks for `Reconciling` and `Stalled` that are both True.
    ///
    /// ## Why is this bad?
    ///
    /// The two exclude each other: one says that work is under way, the other that none will be
    /// done before the spec changes. Tools take whichever comes first in the list, so the order of
    /// a list decides whether a pipeline waits or fails.
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
    ///   - {type: Reconciling, status: "True", reason: Progressing, message: ""}
    ///   - {type: Stalled, status: "True", reason: InvalidSpec, message: ""}
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
    ///   - {type: Stalled, status: "True", reason: InvalidSpec, message: ""}
    /// ```
    ///
    /// ## Severity
    ///
    /// Error: no lag explains it where one writer owns both.
    ///
    /// ## References
    ///
    /// - <https://github.com/kubernetes-sigs/cli-utils/blob/master/pkg/kstatus/README.md>
    /// - FAIL0005 of Flux's condition checker, `runtime/conditions/check` in <https://github.com/fluxcd/pkg>
    pub static RULE = {
        id: "reconciling-and-stalled",
        family: "conditions",
        severity: Error,
        means: Incoherent,
        since: "0.1.0",
        summary: "Reconciling and Stalled are both True",
        check: Check::State(check),
    }
}

fn check(view: &View<'_>) -> Vec<Finding> {
    let is_true = |type_: &str| view.object.condition(type_).filter(|found| found.is_true());
    let (Some(reconciling), Some(stalled)) = (is_true("Reconciling"), is_true("Stalled")) else {
        return Vec::new();
    };
    let message = "Reconciling and Stalled are both True";
    alloc::vec![
        RULE.finding(view.object.place(stalled, "status"), message)
            .beside(view.object.place(reconciling, "status"), "Reconciling is True")
            .help("remove Reconciling when setting Stalled, and the other way round"),
    ]
}
