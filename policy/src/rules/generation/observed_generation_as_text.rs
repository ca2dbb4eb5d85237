use alloc::format;
use alloc::vec::Vec;

use crate::declare_rule;
use crate::finding::Finding;
use crate::generation;
use crate::json::Json;
use crate::pointer;
use crate::rule::{Check, View};

declare_rule! {
    /// ## What it does
    ///
    /// Looks for an observed generation that is written as a string, on kinds of which no profile
    /// says that they do so.
    ///
    /// ## Why is this bad?
    ///
    /// `metadata.generation` is a number. kstatus, and with it Helm and Flux, ends with an error at
    /// a string and never sees the object ready; others compare text with a number and find it
    /// never equal. Older Argo Rollouts even kept a hash there, which looks like a large number.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: example.com/v1
    /// kind: Widget
    /// metadata: {name: app, namespace: default, generation: 2}
    /// status:
    ///   observedGeneration: "2"
    /// ```
    ///
    /// ## Instead
    ///
    /// ```yaml
    /// apiVersion: example.com/v1
    /// kind: Widget
    /// metadata: {name: app, namespace: default, generation: 2}
    /// status:
    ///   observedGeneration: 2
    /// ```
    ///
    /// ## Severity
    ///
    /// Info: the kind's schema says so, the object can do nothing about it. What the string says is
    /// not compared with the generation.
    ///
    /// ## References
    ///
    /// - <https://github.com/helm/helm/issues/32615>
    /// - <https://github.com/argoproj/argo-rollouts>, `ObservedGeneration` in `pkg/apis/rollouts/v1alpha1/types.go`
    pub static RULE = {
        id: "observed-generation-as-text",
        family: "generation",
        severity: Info,
        means: Unknown,
        since: "0.1.0",
        summary: "the observed generation is a string",
        check: Check::State(check),
    }
}

fn check(view: &View<'_>) -> Vec<Finding> {
    let (object, profile) = (view.object, view.profile);
    if profile.generation.text || profile.generation.opaque || profile.generation.absent {
        return Vec::new();
    }
    let field = generation::field(profile);
    let Some(Json::String(text)) = object.field(field) else { return Vec::new() };
    if text.is_empty() {
        return Vec::new();
    }
    alloc::vec![
        RULE.finding(
            pointer::locate(object.root, field),
            format!("{field} is the string \"{text}\", and cannot be compared with the generation"),
        )
        .help("a profile with `generation: {text: true}` tells plumb to read it as a number"),
    ]
}
