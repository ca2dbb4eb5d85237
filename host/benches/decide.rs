//! What a decision costs through the component, beside the same rules compiled natively.
//!
//! `cargo bench -p plumb-host --bench decide`.
//!
//! Three passes: one as the explorer asks for it, one with a whole object, sources and earlier
//! passes, and one of which nothing but the object and the clock is known.
#![expect(clippy::expect_used, reason = "a benchmark stops where it fails")]

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use plumb_host::engine::{Isolation, Policy};
use plumb_policy::decide::decide;
use serde_json::{Value, json};

fn kustomization(status: &Value) -> Value {
    json!({
        "apiVersion": "kustomize.toolkit.fluxcd.io/v1",
        "kind": "Kustomization",
        "metadata": {
            "name": "app", "namespace": "infra", "generation": 6,
            "finalizers": ["finalizers.fluxcd.io"],
        },
        "spec": {
            "interval": "30m", "timeout": "5m", "path": "./app", "prune": true,
            "sourceRef": {"kind": "GitRepository", "name": "app"},
        },
        "status": status,
    })
}

fn conditions(ready: &str, reason: &str) -> Value {
    let time = "2026-11-30T12:00:00Z";
    json!([
        {"type": "Reconciling", "status": "True", "reason": "ProgressingWithRetry",
         "message": "Running health checks for revision v5 with a timeout of 5m0s",
         "lastTransitionTime": time, "observedGeneration": 6},
        {"type": "Ready", "status": ready, "reason": reason,
         "message": "New reconciliation triggered by GitRepository/infra/app",
         "lastTransitionTime": time, "observedGeneration": 6},
    ])
}

/// A name, and the pass of that name.
fn passes() -> Vec<(&'static str, String)> {
    let canceled = json!({
        "observedGeneration": 6, "lastAttemptedRevision": "v5",
        "conditions": conditions("False", "HealthCheckCanceled"),
    });
    let entries: Vec<Value> = (0..200)
        .map(|index| json!({"id": format!("infra_app-{index}_apps_Deployment"), "v": "v1"}))
        .collect();
    let mut whole = canceled.clone();
    whole["inventory"] = json!({"entries": entries});
    let source = json!({
        "apiVersion": "source.toolkit.fluxcd.io/v1", "kind": "GitRepository",
        "metadata": {"name": "app", "namespace": "infra", "generation": 1},
        "status": {"observedGeneration": 1, "artifact": {"revision": "v5"}},
    });
    let outcome = json!({"type": "canceled", "by": "GitRepository/infra/app"});
    let earlier = json!({"at": "2026-11-30T11:40:00Z", "outcome": "succeeded",
                         "result": {"requeueAfter": "30m"}, "input": "v4"});
    let specs = [
        (
            "as explored",
            json!({"object": kustomization(&canceled), "sources": [{"cached": source}],
                   "outcome": outcome, "queue": {"flavour": "priority"}}),
        ),
        (
            "with all that is known",
            json!({"object": kustomization(&whole),
                   "sources": [{"cached": source, "server": source, "watched": true}],
                   "outcome": outcome, "result": {}, "trigger": "watch", "failures": 1,
                   "queue": {"flavour": "priority", "rateLimiter": {"base": "750ms", "max": "15m"}},
                   "input": "v5", "earlier": [earlier, earlier], "now": "2026-11-30T12:00:01Z"}),
        ),
        (
            "object and clock",
            json!({"object": kustomization(&canceled), "now": "2026-11-30T12:30:00Z"}),
        ),
    ];
    specs
        .into_iter()
        .map(|(name, spec)| {
            let pass =
                json!({"apiVersion": "plumb.dev/v1alpha1", "kind": "Reconcile", "spec": spec});
            (name, pass.to_string())
        })
        .collect()
}

fn decision(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("decision");
    let fresh = Policy::embedded().expect("the embedded policy loads");
    let reused = fresh.clone().with_isolation(Isolation::Reused);
    for (name, pass) in passes() {
        group.throughput(Throughput::Elements(1));
        group.bench_function(BenchmarkId::new("native", name), |bencher| {
            bencher.iter(|| decide(black_box(&pass), "").expect("it is decided"));
        });
        for (kind, policy) in [("reused instance", &reused), ("fresh instance", &fresh)] {
            group.bench_function(BenchmarkId::new(kind, name), |bencher| {
                bencher.iter(|| policy.decide(black_box(&pass), "").expect("it is decided"));
            });
        }
    }
    group.finish();
}

criterion_group!(benches, decision);
criterion_main!(benches);
