use alloc::format;
use alloc::vec::Vec;

use crate::declare_rule;
use crate::finding::Finding;
use crate::pointer;
use crate::rule::{Check, View};
use crate::witness;

declare_rule! {
    /// ## What it does
    ///
    /// Compares the value that a condition's message, or a path or URL, repeats with the field
    /// that holds it: a revision, a digest, a version, a release, a count. The kind's profile
    /// says which text repeats which field. A text of another shape says nothing.
    ///
    /// ## Why is this bad?
    ///
    /// A controller that writes its conditions in one request and the rest of its status in the
    /// next publishes, for a moment or for good, `Ready=True` for a revision that
    /// `status.artifact` does not hold. No generation check can see it, since a new commit does
    /// not change the spec. A pipeline that waits for Ready then deploys the old artifact.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: source.toolkit.fluxcd.io/v1
    /// kind: GitRepository
    /// metadata: {name: app, namespace: default, generation: 2}
    /// status:
    ///   observedGeneration: 2
    ///   artifact: {revision: "main@sha1:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"}
    ///   conditions:
    ///   - type: Ready
    ///     status: "True"
    ///     reason: Succeeded
    ///     message: stored artifact for revision 'main@sha1:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb'
    ///     lastTransitionTime: "2025-05-27T21:27:13Z"
    ///     observedGeneration: 2
    /// ```
    ///
    /// ## Instead
    ///
    /// ```yaml
    /// apiVersion: source.toolkit.fluxcd.io/v1
    /// kind: GitRepository
    /// metadata: {name: app, namespace: default, generation: 2}
    /// status:
    ///   observedGeneration: 2
    ///   artifact: {revision: "main@sha1:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"}
    ///   conditions:
    ///   - type: Ready
    ///     status: "True"
    ///     reason: Succeeded
    ///     message: stored artifact for revision 'main@sha1:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb'
    ///     lastTransitionTime: "2025-05-27T21:27:13Z"
    ///     observedGeneration: 2
    ///   - type: ArtifactInStorage
    ///     status: "True"
    ///     reason: Succeeded
    ///     message: stored artifact for revision 'main@sha1:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb'
    ///     lastTransitionTime: "2025-05-27T21:27:13Z"
    ///     observedGeneration: 2
    /// ```
    ///
    /// ## Severity
    ///
    /// Error: no lag explains it, and a consumer that believes the condition acts on the wrong
    /// thing.
    ///
    /// ## References
    ///
    /// - <https://github.com/fluxcd/pkg/issues/934>
    /// - <https://github.com/kubernetes-sigs/cluster-api/issues/8706>
    pub static RULE = {
        id: "message-revision-differs-from-field",
        family: "witness",
        severity: Error,
        means: Incoherent,
        since: "0.1.0",
        summary: "a condition, path or URL names another value than the field it speaks of",
        check: Check::State(check),
    }
}

fn check(view: &View<'_>) -> Vec<Finding> {
    let mut findings: Vec<Finding> = Vec::new();
    for torn in witness::torn(view.object, view.profile) {
        let said = &torn.mismatch.said;
        let field = pointer::readable(&torn.field_path);
        let speaker = if torn.condition.is_empty() {
            pointer::readable(&torn.text_path)
        } else {
            format!("{} is {}", torn.condition, torn.status)
        };
        let note = format!("says `{said}`");
        // Several texts about one field are one fault.
        if let Some(known) = findings.iter_mut().find(|finding| finding.path == torn.field_path) {
            *known = known.clone().beside(torn.text_path, note);
            known.severity = known.severity.max(torn.severity);
            continue;
        }
        let message = match &torn.mismatch.held {
            Some(_) if torn.outdated => {
                format!("{speaker} for `{said}`, but {field} is that already")
            }
            Some(held) => format!("{speaker} for `{said}`, but {field} is `{held}`"),
            None => format!("{speaker} for `{said}`, but there is no {field}"),
        };
        let help = if torn.outdated {
            "the rest of the status was written without its conditions: wait for the controller's \
             next write, or ask for a reconcile"
                .into()
        } else {
            format!(
                "a consumer that trusts the condition acts on {field}, which is of another state: \
                 do not use it before both agree, and compare {field} instead of the condition; \
                 the controller should write both in one request"
            )
        };
        let mut finding = RULE.finding(torn.field_path, message).beside(torn.text_path, note);
        finding.severity = torn.severity;
        findings.push(finding.help(help));
    }
    findings
}
