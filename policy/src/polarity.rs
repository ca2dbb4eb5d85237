//! What the name of a condition type suggests, where nothing else is known.
//!
//! Names lie: `Progressing` is good news on a Deployment, `Deployed` bad news nowhere. So these are
//! used only to avoid a claim, never to raise one.

/// Whether True is good news.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Polarity {
    /// True is good news.
    Normal,
    /// True is bad news.
    Abnormal,
    /// True means work under way.
    Progress,
    /// The name does not tell.
    Unknown,
}

/// Words that end or begin the names of conditions which are bad news when True; gathered from the
/// tables of kubectl-status, check-conditions and Rancher's wrangler.
const ABNORMAL: &[&str] = &[
    "Failed",
    "Failure",
    "Failures",
    "Failing",
    "Error",
    "Errors",
    "Errored",
    "Problem",
    "Pressure",
    "Unavailable",
    "Unhealthy",
    "Unreachable",
    "Missing",
    "Degraded",
    "Stalled",
    "Invalid",
    "Conflict",
    "Conflicted",
    "Exceeded",
    "Warning",
    "Terminal",
    "Blocked",
    "Outdated",
    "Expired",
    "Stopped",
    "Deadlock",
    "NotReady",
];

/// Names, whole or at the end, that mean work under way when True.
const PROGRESS: &[&str] = &[
    "Progressing",
    "Reconciling",
    "Updating",
    "Upgrading",
    "Creating",
    "Deleting",
    "Terminating",
    "Pending",
    "Installing",
    "Provisioning",
    "Scaling",
    "ScalingUp",
    "ScalingDown",
    "Initializing",
    "RollingOut",
];

/// Names, whole or at the end, that are good news when True.
const NORMAL: &[&str] = &[
    "Ready",
    "Available",
    "Healthy",
    "Synced",
    "Succeeded",
    "Valid",
    "Accepted",
    "Programmed",
    "ResolvedRefs",
    "Established",
    "Installed",
    "Reconciled",
];

/// What the name of a condition type suggests.
pub fn by_name(type_: &str) -> Polarity {
    let name = type_.rsplit('/').next().unwrap_or(type_);
    let ends = |words: &[&str]| words.iter().any(|word| name.ends_with(word));
    let denied = ["Not", "Non", "Un", "No", "In"].iter().any(|prefix| {
        name.strip_prefix(prefix).is_some_and(|rest| rest.starts_with(char::is_uppercase))
    });
    if ends(ABNORMAL) || (denied && ends(NORMAL)) {
        Polarity::Abnormal
    } else if denied {
        Polarity::Unknown
    } else if ends(PROGRESS) {
        Polarity::Progress
    } else if ends(NORMAL) {
        Polarity::Normal
    } else {
        Polarity::Unknown
    }
}

/// Words in the reason of a condition at False that mean a failure rather than work under way.
const FAILURE: &[&str] =
    &["Fail", "Error", "Invalid", "Denied", "Forbidden", "Unauthorized", "Exceeded", "Rejected"];

/// Whether the reason of a condition at False tells of a failure.
pub fn tells_failure(reason: &str) -> bool {
    FAILURE.iter().any(|word| reason.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_suggest_a_polarity() {
        for (name, polarity) in [
            ("Ready", Polarity::Normal),
            ("InfrastructureReady", Polarity::Normal),
            ("example.com/Synced", Polarity::Normal),
            ("NotReady", Polarity::Abnormal),
            ("MemoryPressure", Polarity::Abnormal),
            ("ReplicaFailure", Polarity::Abnormal),
            ("Progressing", Polarity::Progress),
            ("Unschedulable", Polarity::Unknown),
            ("Initialized", Polarity::Unknown),
        ] {
            assert_eq!(by_name(name), polarity, "{name}");
        }
        assert!(tells_failure("ReconcileError"));
        assert!(!tells_failure("Creating"));
    }
}
