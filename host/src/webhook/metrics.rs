//! What Prometheus sees. `docs/webhook.md` lists the same names.

use std::time::Duration;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::{Registry, Unit};

use crate::engine::Identity;

/// Upper bounds of the latency histogram, in seconds: from below the cost of one evaluation to the
/// longest timeout that the API server allows a webhook.
const BUCKETS: [f64; 12] =
    [0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.05, 0.25, 1.0, 5.0, 30.0];

/// All metrics.
#[derive(Debug)]
pub struct Metrics {
    registry: Registry,
    evaluations: Family<Evaluation, Counter>,
    seconds: Family<Door, Histogram, fn() -> Histogram>,
    findings: Family<FindingLabels, Counter>,
    repairs: Family<Repair, Counter>,
    denials: Family<RuleLabel, Counter>,
    reloads: Family<Reload, Counter>,
    /// Requests under way.
    pub in_flight: Gauge,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Evaluation {
    door: &'static str,
    outcome: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Door {
    door: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct FindingLabels {
    rule: String,
    severity: &'static str,
    group: String,
    kind: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Repair {
    group: String,
    kind: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RuleLabel {
    rule: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Reload {
    what: &'static str,
    outcome: &'static str,
}

impl Metrics {
    /// All metrics at zero.
    pub fn new(policy: &Identity) -> Self {
        let mut registry = Registry::with_prefix("plumb");
        let histogram: fn() -> Histogram = || Histogram::new(BUCKETS);
        let metrics = Self {
            evaluations: Family::default(),
            seconds: Family::new_with_constructor(histogram),
            findings: Family::default(),
            repairs: Family::default(),
            denials: Family::default(),
            reloads: Family::default(),
            in_flight: Gauge::default(),
            registry: Registry::default(),
        };
        registry.register(
            "policy",
            "The policy that judges",
            Info::new([
                ("name", policy.name.clone()),
                ("version", policy.version.clone()),
                ("sha256", policy.sha256.clone()),
            ]),
        );
        registry.register(
            "evaluations",
            "Evaluations by door and outcome; an outcome other than ok is no pass",
            metrics.evaluations.clone(),
        );
        registry.register_with_unit(
            "evaluation",
            "Time from the request's last byte to the answer",
            Unit::Seconds,
            metrics.seconds.clone(),
        );
        registry.register(
            "findings",
            "Findings by rule, severity and kind of the object",
            metrics.findings.clone(),
        );
        registry.register(
            "repairs",
            "Patches answered, by kind of the object",
            metrics.repairs.clone(),
        );
        registry.register("denials", "Writes refused, by rule", metrics.denials.clone());
        registry.register(
            "reloads",
            "Reloads of certificate and configuration by outcome",
            metrics.reloads.clone(),
        );
        registry.register("in_flight", "Requests under way", metrics.in_flight.clone());
        Self { registry, ..metrics }
    }

    /// Counts one evaluation.
    pub fn evaluated(&self, door: &'static str, outcome: &'static str, took: Duration) {
        self.evaluations.get_or_create(&Evaluation { door, outcome }).inc();
        self.seconds.get_or_create(&Door { door }).observe(took.as_secs_f64());
    }

    /// Counts one finding.
    pub fn found(&self, rule: &str, severity: &'static str, group: &str, kind: &str) {
        let labels = FindingLabels {
            rule: rule.to_owned(),
            severity,
            group: group.to_owned(),
            kind: kind.to_owned(),
        };
        self.findings.get_or_create(&labels).inc();
    }

    /// Counts one patch.
    pub fn repaired(&self, group: &str, kind: &str) {
        let labels = Repair { group: group.to_owned(), kind: kind.to_owned() };
        self.repairs.get_or_create(&labels).inc();
    }

    /// Counts one refusal.
    pub fn denied(&self, rule: &str) {
        self.denials.get_or_create(&RuleLabel { rule: rule.to_owned() }).inc();
    }

    /// Counts one reload.
    pub fn reloaded(&self, what: &'static str, outcome: &'static str) {
        self.reloads.get_or_create(&Reload { what, outcome }).inc();
    }

    /// The text that Prometheus reads (`OpenMetrics`).
    pub fn text(&self) -> String {
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = encode(&mut text, &self.registry);
        text
    }
}
