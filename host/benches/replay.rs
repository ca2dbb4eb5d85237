//! Objects per second of a whole replay, beside only reading them.
//!
//! `cargo bench -p plumb-host --bench replay`: 10,000 objects of 1.3 KB each.
#![expect(clippy::expect_used, reason = "a benchmark stops where it fails")]

use std::hint::black_box;
use std::io::Cursor;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use plumb_host::engine::Policy;
use plumb_host::input::Documents;
use plumb_host::replay::{Options, Replay};

const OBJECTS: u32 = 10_000;

fn yaml(index: u32) -> String {
    let revision = format!("main@sha1:{index:040x}");
    format!(
        r#"apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata:
  creationTimestamp: "2026-11-30T18:12:11Z"
  finalizers:
  - finalizers.fluxcd.io
  generation: 1
  name: demo-{index}
  namespace: default
  resourceVersion: "{index}"
  uid: 18794cd2-65dc-4916-ae47-{index:012x}
spec:
  interval: 1m
  ref:
    branch: main
  timeout: 60s
  url: https://example.com/org/repo.git
status:
  artifact:
    digest: sha256:{index:064x}
    lastUpdateTime: "2026-11-30T18:12:11Z"
    path: gitrepository/default/demo-{index}/{index:040x}.tar.gz
    revision: {revision}
    size: 4242
    url: http://source-controller.flux-system.svc/gitrepository/default/{index:040x}.tar.gz
  conditions:
  - lastTransitionTime: "2026-11-30T18:12:11Z"
    message: stored artifact for revision '{revision}'
    observedGeneration: 1
    reason: Succeeded
    status: "True"
    type: Ready
  - lastTransitionTime: "2026-11-30T18:12:11Z"
    message: stored artifact for revision '{revision}'
    observedGeneration: 1
    reason: Succeeded
    status: "True"
    type: ArtifactInStorage
  observedGeneration: 1
"#
    )
}

/// The same objects as JSON lines.
fn json_lines(yaml: &str) -> String {
    let mut lines = String::new();
    for document in Documents::new("in", Cursor::new(yaml.to_owned())) {
        for item in document.expect("the objects can be read").items {
            let plumb_host::input::ItemKind::Object(json) = item.kind else { continue };
            lines.push_str(&json);
            lines.push('\n');
        }
    }
    lines
}

fn replay(criterion: &mut Criterion) {
    let policy = Policy::embedded().expect("the embedded policy");
    let documents: Vec<_> = (1..=OBJECTS).map(yaml).collect();
    let yaml = documents.join("---\n");
    let inputs = [("json", json_lines(&yaml)), ("yaml", yaml)];
    let mut group = criterion.benchmark_group("replay");
    group.sample_size(10).throughput(Throughput::Elements(u64::from(OBJECTS)));
    for (name, text) in &inputs {
        group.bench_with_input(BenchmarkId::new("read", name), text, |bencher, text| {
            bencher.iter(|| {
                let documents = Documents::new("in", Cursor::new(text.clone()));
                black_box(documents.flatten().count())
            });
        });
        group.bench_with_input(BenchmarkId::new("judge", name), text, |bencher, text| {
            bencher.iter(|| {
                let options = Options { keep: false, ..Options::default() };
                let mut replay = Replay::new(&policy, options).expect("the options are right");
                let documents = Documents::new("in", Cursor::new(text.clone()));
                replay.judge("in", false, documents, &mut |_| Ok(())).expect("nothing is written");
                let report = replay.finish();
                assert_eq!(report.summary.objects, OBJECTS as usize);
                black_box(report)
            });
        });
    }
    group.finish();
}

criterion_group!(benches, replay);
criterion_main!(benches);
