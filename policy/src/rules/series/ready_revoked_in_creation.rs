use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::change;
use crate::declare_rule;
use crate::finding::Finding;
use crate::object::Object;
use crate::rule::{Check, View};
use crate::time;

/// How long a readiness may have lasted to have been premature, in milliseconds.
const PREMATURE: i64 = 10 * 60_000;

/// Reasons that speak of something that is not there so far.
const CREATION: &[&str] = &["Creating", "Provisioning", "Initializing", "Deploying"];

declare_rule! {
    /// ## What it does
    ///
    /// Looks for a summary that was True and is False for a reason of creation (`Creating`,
    /// `Provisioning`), with the same spec, within ten minutes.
    ///
    /// ## Why is this bad?
    ///
    /// What is still being created was not ready before: it was called ready when the first of its
    /// parts were, before the others were known. `kubectl wait` returned at the first True and the
    /// next step ran against half of a system.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: example.org/v1alpha1
    /// kind: XVault
    /// metadata: {name: x-1, generation: 1, resourceVersion: "10"}
    /// status:
    ///   conditions:
    ///   - {type: Ready, status: "True", reason: Available, message: "", lastTransitionTime: "2026-01-01T00:00:05Z"}
    /// ---
    /// apiVersion: example.org/v1alpha1
    /// kind: XVault
    /// metadata: {name: x-1, generation: 1, resourceVersion: "11"}
    /// status:
    ///   conditions:
    ///   - {type: Ready, status: "False", reason: Creating, message: "Unready resources: a, b, and c", lastTransitionTime: "2026-01-01T00:00:09Z"}
    /// ```
    ///
    /// ## Instead
    ///
    /// ```yaml
    /// apiVersion: example.org/v1alpha1
    /// kind: XVault
    /// metadata: {name: x-1, generation: 1, resourceVersion: "10"}
    /// status:
    ///   conditions:
    ///   - {type: Ready, status: "False", reason: Creating, message: "Unready resources: a, b, and c", lastTransitionTime: "2026-01-01T00:00:05Z"}
    /// ---
    /// apiVersion: example.org/v1alpha1
    /// kind: XVault
    /// metadata: {name: x-1, generation: 1, resourceVersion: "11"}
    /// status:
    ///   conditions:
    ///   - {type: Ready, status: "True", reason: Available, message: "", lastTransitionTime: "2026-01-01T00:00:09Z"}
    /// ```
    ///
    /// ## Severity
    ///
    /// Warning: a part that was deleted by hand in these minutes looks the same.
    ///
    /// ## References
    ///
    /// - <https://github.com/crossplane-contrib/function-patch-and-transform/issues/82>
    pub static RULE = {
        id: "ready-revoked-in-creation",
        family: "series",
        severity: Warning,
        means: Incoherent,
        since: "0.1.0",
        summary: "the summary was True and is False since something is still being created",
        check: Check::Transition(check),
    }
}

fn check(view: &View<'_>, old: &Object<'_>) -> Vec<Finding> {
    let (object, profile) = (view.object, view.profile);
    if object.deleting || !change::same_inputs(old, object) {
        return Vec::new();
    }
    let Some(type_) = profile.happy.first() else { return Vec::new() };
    let (Some(before), Some(after)) = (old.condition(type_), object.condition(type_)) else {
        return Vec::new();
    };
    if !before.is_true() || !after.is_false() || !CREATION.contains(&after.reason) {
        return Vec::new();
    }
    let lasted = match (before.transition(), after.transition()) {
        (Some(before), Some(after)) => after.since(before),
        (Some(_) | None, None) | (None, Some(_)) => 0,
    };
    if lasted > PREMATURE {
        return Vec::new();
    }
    let held =
        if lasted > 0 { format!(" after {}", time::readable(lasted)) } else { String::new() };
    let message = format!("{type_} was True and is False for {}{held}", after.reason);
    alloc::vec![
        RULE.finding(object.place(after, "status"), message)
            .elsewhere("old", old.place(before, "status"), "was True with the same spec")
            .help("set the summary to True only once all parts are known"),
    ]
}
