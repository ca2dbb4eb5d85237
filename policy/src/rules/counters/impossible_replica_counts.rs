use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::declare_rule;
use crate::finding::{Finding, Severity};
use crate::json::Json;
use crate::object::Object;
use crate::pointer;
use crate::rule::{Check, View};

declare_rule! {
    /// ## What it does
    ///
    /// Does the sums of the replica fields that Kubernetes' own kinds, Cluster API, Argo Rollouts and
    /// many others share: no more ready, updated or labelled than there are, no more available than
    /// ready, none unavailable where all that are asked for are available, none less than zero. A
    /// missing field says nothing. That fewer are available than asked for is no fault.
    ///
    /// ## Why is this bad?
    ///
    /// Dashboards, autoscalers and scripts believe these numbers. A machine controller that left one
    /// of them out of its comparison showed 13 unavailable of 12 machines, for days, since nothing
    /// else changed.
    ///
    /// ## Example
    ///
    /// ```yaml
    /// apiVersion: machine.sapcloud.io/v1alpha1
    /// kind: MachineDeployment
    /// metadata: {name: workers, namespace: default, generation: 89}
    /// spec: {replicas: 12}
    /// status:
    ///   observedGeneration: 89
    ///   replicas: 12
    ///   readyReplicas: 12
    ///   availableReplicas: 12
    ///   updatedReplicas: 12
    ///   unavailableReplicas: 13
    /// ```
    ///
    /// ## Instead
    ///
    /// ```yaml
    /// apiVersion: machine.sapcloud.io/v1alpha1
    /// kind: MachineDeployment
    /// metadata: {name: workers, namespace: default, generation: 89}
    /// spec: {replicas: 12}
    /// status:
    ///   observedGeneration: 89
    ///   replicas: 12
    ///   readyReplicas: 12
    ///   availableReplicas: 12
    ///   updatedReplicas: 12
    /// ```
    ///
    /// ## Severity
    ///
    /// Error where the kind is known to count all of them in one pass over the same instances. Info
    /// elsewhere: some kinds write what they want into `replicas`, and what is left of before into
    /// the others.
    ///
    /// ## References
    ///
    /// - <https://github.com/gardener/machine-controller-manager/issues/512>
    /// - `calculateStatus` in `pkg/controller/deployment/sync.go` of <https://github.com/kubernetes/kubernetes>
    /// - <https://github.com/kubernetes-sigs/cluster-api/issues/7533>: one of two unavailable is no fault
    pub static RULE = {
        id: "impossible-replica-counts",
        family: "counters",
        severity: Error,
        means: Incoherent,
        since: "0.1.0",
        summary: "the numbers of replicas cannot be true at once",
        check: Check::State(check),
    }
}

/// No more of the first than of the second.
const AT_MOST: &[(&str, &str)] = &[
    ("readyReplicas", "replicas"),
    ("availableReplicas", "replicas"),
    ("availableReplicas", "readyReplicas"),
    ("updatedReplicas", "replicas"),
    ("upToDateReplicas", "replicas"),
    ("fullyLabeledReplicas", "replicas"),
    ("numberReady", "desiredNumberScheduled"),
    ("numberAvailable", "numberReady"),
    ("currentNumberScheduled", "desiredNumberScheduled"),
    ("updatedNumberScheduled", "desiredNumberScheduled"),
];

/// Groups whose controllers count all of them in one pass over the same instances; `.` begins a
/// suffix.
const COUNTING: &[&str] = &[
    "apps",
    "extensions",
    "argoproj.io",
    "machine.sapcloud.io",
    "cluster.x-k8s.io",
    ".cluster.x-k8s.io",
];

fn check(view: &View<'_>) -> Vec<Finding> {
    let object = view.object;
    let group = object.group();
    let counting = COUNTING.iter().any(|known| match known.strip_prefix('.') {
        Some(_) => group.ends_with(known),
        None => group == *known,
    });
    let mut findings = Vec::new();
    let status = object.status();
    judge(object, status, "/status", counting, &mut findings);
    for (key, part) in status.members() {
        if part.at("replicas").integer().is_some() {
            let mut place = String::from("/status");
            pointer::push(&mut place, key);
            judge(object, part, &place, counting, &mut findings);
        }
    }
    findings
}

fn judge(
    object: &Object<'_>,
    counts: &Json<'_>,
    at: &str,
    counting: bool,
    findings: &mut Vec<Finding>,
) {
    let count = |key: &str| counts.at(key).integer();
    let place = |key: &str| format!("{at}/{key}");
    for (key, value) in counts.members() {
        if let Json::Integer(number) = value
            && *number < 0
            && (key.ends_with("eplicas") || key.starts_with("number"))
        {
            findings.push(RULE.finding(place(key), format!("{key} is {number}, less than none")));
        }
    }
    for (less, more) in AT_MOST {
        if let (Some(few), Some(many)) = (count(less), count(more))
            && few > many
            && many >= 0
        {
            let message = format!("{less} is {few}, but {more} is {many}");
            let mut finding = RULE
                .finding(place(less), message)
                .beside(place(more), format!("{more} is {many}"))
                .help("count all of them from the same list, in one pass");
            if !counting {
                finding.severity = Severity::Info;
            }
            findings.push(finding);
        }
    }
    let all = ["replicas", "readyReplicas", "availableReplicas"].map(count);
    let wanted = object.root.at("spec").at("replicas").integer();
    if let (Some(unavailable), [Some(total), Some(ready), Some(available)]) =
        (count("unavailableReplicas"), all)
        && unavailable > 0
        && total == ready
        && total == available
        && count("updatedReplicas").is_none_or(|updated| updated == total)
        && wanted.is_none_or(|wanted| wanted == total)
    {
        let message =
            format!("unavailableReplicas is {unavailable}, but all {total} replicas are available");
        findings.push(
            RULE.finding(place("unavailableReplicas"), message)
                .beside(place("availableReplicas"), format!("{available} are available"))
                .help("compare every field of the status before a write is left out"),
        );
    }
    if let (Some(unavailable), Some(desired), Some(available)) =
        (count("numberUnavailable"), count("desiredNumberScheduled"), count("numberAvailable"))
        && unavailable != desired - available
        && counting
    {
        let message = format!(
            "numberUnavailable is {unavailable}, but {available} of {desired} are available"
        );
        findings.push(
            RULE.finding(place("numberUnavailable"), message)
                .beside(place("numberAvailable"), format!("{available} are available")),
        );
    }
}
