//! What the component costs beside the same rules compiled natively.
//!
//! `cargo bench -p plumb-host --bench engine`; the table of docs/benchmarks.md comes from here.
//!
//! Times are processor time of the measuring thread, so that other work on the machine disturbs
//! them less.
#![expect(clippy::expect_used, reason = "a benchmark stops where it fails")]

use std::fmt::Write;
use std::hint::black_box;
use std::time::Duration;

use criterion::measurement::{Measurement, ValueFormatter, WallTime};
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use plumb_host::engine::{EMBEDDED, Engine, Isolation, Observation, Policy};
use plumb_policy::verdict;
use rustix::time::{ClockId, clock_gettime};

/// Sizes of the judged object, in bytes.
const SIZES: [usize; 3] = [3_000, 30_000, 300_000];

/// A `GitRepository` as Flux writes it, grown to `bytes` by what grows real objects: managed
/// fields, an inventory and annotations, a third each.
fn object(bytes: usize) -> String {
    let revision = "main@sha1:3f7a1b0c9d8e7f6a5b4c3d2e1f0a9b8c7d6e5f4a";
    let time = "2026-11-30T12:00:00Z";
    let third = bytes.saturating_sub(1_500) / 3;
    let repeat = |entry: &dyn Fn(usize) -> String| {
        let mut text = String::new();
        for index in 0.. {
            let next = entry(index);
            if text.len() + next.len() > third {
                break;
            }
            text.push_str(&next);
        }
        text
    };
    let annotations = repeat(&|index| {
        format!(r#","example.com/note-{index}":"written by \"tool {index}\" for the team""#)
    });
    let fields = repeat(&|index| {
        format!(
            r#"{}{{"apiVersion":"source.toolkit.fluxcd.io/v1","fieldsType":"FieldsV1","fieldsV1":{{"f:status":{{"f:artifact":{{".":{{}},"f:digest":{{}},"f:revision":{{}}}},"f:conditions":{{}}}}}},"manager":"manager-{index}","operation":"Update","subresource":"status","time":"{time}"}}"#,
            if index == 0 { "" } else { "," }
        )
    });
    let inventory = repeat(&|index| {
        format!(
            r#"{}{{"id":"apps_deployment-{index}_apps_Deployment","v":"v1"}}"#,
            if index == 0 { "" } else { "," }
        )
    });
    let mut text = String::new();
    write!(
        text,
        r#"{{"apiVersion":"source.toolkit.fluxcd.io/v1","kind":"GitRepository","metadata":{{"annotations":{{"kubectl.kubernetes.io/last-applied-configuration":"{{\"apiVersion\":\"source.toolkit.fluxcd.io/v1\"}}\n"{annotations}}},"creationTimestamp":"{time}","finalizers":["finalizers.fluxcd.io"],"generation":3,"managedFields":[{fields}],"name":"platform","namespace":"flux-system","resourceVersion":"2292287","uid":"6fdd1a3c-1d3c-4b7e-9f0a-2f1c5e1a7b44"}},"spec":{{"interval":"1m0s","ref":{{"branch":"main"}},"timeout":"60s","url":"https://example.com/platform.git"}},"status":{{"artifact":{{"digest":"sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08","lastUpdateTime":"{time}","path":"gitrepository/flux-system/platform/3f7a1b0c.tar.gz","revision":"{revision}","size":30412,"url":"http://source-controller/gitrepository/flux-system/platform/3f7a1b0c.tar.gz"}},"conditions":[{{"lastTransitionTime":"{time}","message":"stored artifact for revision '{revision}'","observedGeneration":3,"reason":"Succeeded","status":"True","type":"Ready"}},{{"lastTransitionTime":"{time}","message":"stored artifact for revision '{revision}'","observedGeneration":3,"reason":"Succeeded","status":"True","type":"ArtifactInStorage"}}],"inventory":{{"entries":[{inventory}]}},"observedGeneration":3}}}}"#
    )
    .expect("memory");
    text
}

fn observation(object: String) -> Observation {
    Observation {
        object,
        old: None,
        history: Vec::new(),
        related: Vec::new(),
        now: None,
        settings: String::new(),
    }
}

fn evaluation(criterion: &mut Criterion<ProcessorTime>) {
    let mut group = criterion.benchmark_group("evaluation");
    let fresh = Policy::embedded().expect("the embedded policy loads");
    let reused = fresh.clone().with_isolation(Isolation::Reused);
    for size in SIZES {
        let observation = observation(object(size));
        let native = verdict::Observation {
            object: &observation.object,
            old: None,
            history: &[],
            related: &[],
            now: None,
            settings: "",
        };
        group.throughput(Throughput::Bytes(observation.object.len() as u64));
        group.bench_function(BenchmarkId::new("native", size), |bencher| {
            bencher.iter(|| verdict::check(black_box(&native)).expect("the object is judged"));
        });
        for (name, policy) in [("reused instance", &reused), ("fresh instance", &fresh)] {
            group.bench_function(BenchmarkId::new(name, size), |bencher| {
                bencher.iter(|| policy.check(black_box(&observation)).expect("it is judged"));
            });
        }
    }
    group.finish();
}

fn start(criterion: &mut Criterion<ProcessorTime>) {
    let mut group = criterion.benchmark_group("start");
    group.sample_size(10);
    group.bench_function("embedded policy", |bencher| {
        bencher.iter(|| Policy::embedded().expect("it loads"));
    });
    group.bench_function("compiling a policy", |bencher| {
        let engine = Engine::new(1).expect("the engine starts");
        bencher.iter(|| engine.load_bytes(EMBEDDED).expect("it compiles"));
    });
    group.finish();
}

/// Processor time of the calling thread.
struct ProcessorTime;

impl Measurement for ProcessorTime {
    type Intermediate = Duration;
    type Value = Duration;

    fn start(&self) -> Duration {
        let now = clock_gettime(ClockId::ThreadCPUTime);
        Duration::new(now.tv_sec.unsigned_abs(), u32::try_from(now.tv_nsec).unwrap_or(0))
    }

    fn end(&self, start: Duration) -> Duration {
        self.start().saturating_sub(start)
    }

    fn add(&self, left: &Duration, right: &Duration) -> Duration {
        *left + *right
    }

    fn zero(&self) -> Duration {
        Duration::ZERO
    }

    fn to_f64(&self, value: &Duration) -> f64 {
        WallTime.to_f64(value)
    }

    fn formatter(&self) -> &dyn ValueFormatter {
        WallTime.formatter()
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default().with_measurement(ProcessorTime);
    targets = evaluation, start
}
criterion_main!(benches);
