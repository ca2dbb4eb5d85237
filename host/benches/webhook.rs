//! The webhook under load, on loopback: `cargo bench -p plumb-host --bench webhook`.
//!
//! One server, a process of its own, answers all of one run. The no-op handler is the same door
//! with the same body, but for the name of the subresource: the review is received and read, its
//! answer is written and logged, and nothing is evaluated.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a benchmark prints its table")]
#![expect(clippy::unwrap_used, reason = "a benchmark stops where it fails")]

use std::fs;
use std::net::{SocketAddr, TcpListener};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use http_body_util::{BodyExt, Full};
use hyper::Request;
use hyper::body::Bytes;
use hyper::client::conn::http1::SendRequest;
use hyper_util::rt::TokioIo;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

/// How long each row is measured; `PLUMB_BENCH_SECONDS` sets it.
const SECONDS: u64 = 5;

/// Connections that ask one request after the other. Enough to keep two processors busy.
const CONNECTIONS: usize = 16;

fn main() {
    // Called by `cargo test` or `--test`, it only has to build.
    if std::env::args().any(|argument| argument == "--test") {
        return;
    }
    let seconds = std::env::var("PLUMB_BENCH_SECONDS").ok().and_then(|text| text.parse().ok());
    let span = Duration::from_secs(seconds.unwrap_or(SECONDS));
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(run(span));
}

async fn run(span: Duration) {
    let server = Server::start().await;
    println!("| review | handler | requests/s | of no-op | p50 ms | p99 ms | slowest ms |");
    println!("| --- | --- | --: | --: | --: | --: | --: |");
    let mut rate_of_small = 0.0;
    for kilobytes in [3, 30, 300] {
        let full = review(kilobytes << 10, "status");
        let noop = review(kilobytes << 10, "scale");
        // Both are warmed up, and take turns, so that neither has the quieter machine.
        for body in [&noop, &full] {
            server.load(body, CONNECTIONS, span / 10, None).await;
        }
        let (mut without, mut with) = (Load::default(), Load::default());
        for _ in 0..2 {
            without.add(server.load(&noop, CONNECTIONS, span / 2, None).await);
            with.add(server.load(&full, CONNECTIONS, span / 2, None).await);
        }
        without.row(kilobytes, "no-op", None);
        with.row(kilobytes, "evaluation", Some(without.rate()));
        if kilobytes == 3 {
            rate_of_small = with.rate();
        }
    }
    let half =
        server.load(&review(3 << 10, "status"), CONNECTIONS, span, Some(rate_of_small / 2.0)).await;
    half.row(3, "evaluation, half load", None);
    let idle = server.resident_mib();
    let many = server.load(&review(3 << 10, "status"), 500, span, None).await;
    many.row(3, "evaluation, 500 concurrent", None);
    println!(
        "\nresident memory: {idle:.0} MiB before, {:.0} MiB at 500 concurrent",
        server.resident_mib()
    );
}

/// A review of about `bytes`, which holds the object twice as the API server sends it.
fn review(bytes: usize, sub_resource: &str) -> Bytes {
    let revision = format!("main@sha1:{}", "a".repeat(40));
    let message = format!("stored artifact for revision '{revision}'");
    let condition = |type_: &str| {
        json!({
            "type": type_, "status": "True", "reason": "Succeeded", "message": message,
            "lastTransitionTime": "2026-01-01T00:00:00Z", "observedGeneration": 1,
        })
    };
    let object = |filler: usize| {
        let files: Vec<Value> = (0..filler / 64)
            .map(|number| json!({"path": format!("clusters/production/apps/{number:08}"), "mode": 420}))
            .collect();
        json!({
            "apiVersion": "source.toolkit.fluxcd.io/v1", "kind": "GitRepository",
            "metadata": {
                "name": "demo", "namespace": "default", "generation": 1, "resourceVersion": "1",
                "uid": "83b82c08-510b-47e7-a159-1674f6bf13cd",
            },
            "spec": {"interval": "1m0s", "url": "https://example.com/a.git", "files": files},
            "status": {
                "observedGeneration": 1,
                "conditions": [condition("Ready"), condition("ArtifactInStorage")],
                "artifact": {
                    "revision": revision, "digest": format!("sha256:{}", "a".repeat(64)),
                    "path": format!("gitrepository/default/demo/{}.tar.gz", "a".repeat(40)),
                    "url": format!("http://a/gitrepository/default/demo/{}.tar.gz", "a".repeat(40)),
                    "lastUpdateTime": "2026-01-01T00:00:00Z",
                },
            },
        })
    };
    let text = |filler: usize| {
        let object = object(filler);
        json!({
            "apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
            "request": {
                "uid": "705ab4f5-6393-11e8-b7cc-42010a800002", "operation": "UPDATE",
                "kind": {"group": "source.toolkit.fluxcd.io", "version": "v1", "kind": "GitRepository"},
                "subResource": sub_resource, "name": "demo", "namespace": "default",
                "object": object, "oldObject": object,
                "userInfo": {"username": "system:serviceaccount:flux-system:source-controller"},
            },
        })
        .to_string()
    };
    // Each byte of filler stands there twice.
    let bare = text(0).len();
    text(bytes.saturating_sub(bare) / 2).into()
}

/// What one run has measured.
#[derive(Default)]
struct Load {
    times: Vec<Duration>,
    span: Duration,
}

impl Load {
    fn add(&mut self, other: Self) {
        self.times.extend(other.times);
        self.span += other.span;
    }

    #[expect(clippy::cast_precision_loss, reason = "a rate is no exact number")]
    fn rate(&self) -> f64 {
        self.times.len() as f64 / self.span.as_secs_f64()
    }

    fn row(&self, kilobytes: usize, handler: &str, noop: Option<f64>) {
        let mut times = self.times.clone();
        times.sort();
        let at = |per_mille: usize| {
            let place = (times.len() * per_mille / 1000).min(times.len() - 1);
            times[place].as_secs_f64() * 1e3
        };
        let share =
            noop.map_or(String::new(), |noop| format!("{:.0} %", self.rate() / noop * 100.0));
        println!(
            "| {kilobytes} KB | {handler} | {:.0} | {share} | {:.2} | {:.2} | {:.1} |",
            self.rate(),
            at(500),
            at(990),
            at(1000),
        );
    }
}

struct Server {
    process: Child,
    address: SocketAddr,
    connector: TlsConnector,
    _folder: tempfile::TempDir,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Server {
    async fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let bundle = folder.path().join("ca.crt");
        let ports = [(); 2].map(|()| TcpListener::bind("127.0.0.1:0").unwrap());
        let [address, observing] = ports.each_ref().map(|port| port.local_addr().unwrap());
        drop(ports);
        let process = Command::new(env!("CARGO_BIN_EXE_plumb"))
            .args(["webhook", "--self-signed", "localhost", "--drain", "0s", "--ca-bundle"])
            .arg(&bundle)
            .args(["--listen", &address.to_string(), "--metrics-listen", &observing.to_string()])
            // As many as the 500 connections may have under way, else it refuses some.
            .args(["--waiting", "1024"])
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        while TcpStream::connect(address).await.is_err() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_slice(&fs::read(&bundle).unwrap()).unwrap()).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        let connector = TlsConnector::from(Arc::new(config));
        Self { process, address, connector, _folder: folder }
    }

    async fn connect(&self) -> SendRequest<Full<Bytes>> {
        let stream = TcpStream::connect(self.address).await.unwrap();
        stream.set_nodelay(true).unwrap();
        let name = ServerName::try_from("localhost").unwrap();
        let stream = self.connector.connect(name, stream).await.unwrap();
        let (client, connection) =
            hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.unwrap();
        tokio::spawn(connection);
        client
    }

    /// Asks on `connections` connections for `span`: as fast as it is answered, or at `rate`
    /// requests per second in all.
    async fn load(
        &self,
        body: &Bytes,
        connections: usize,
        span: Duration,
        rate: Option<f64>,
    ) -> Load {
        let mut clients = Vec::new();
        for _ in 0..connections {
            clients.push(self.connect().await);
        }
        let pause = rate.map(|rate| {
            Duration::from_secs_f64(f64::from(u32::try_from(connections).unwrap()) / rate)
        });
        let started = Instant::now();
        let tasks: Vec<_> = clients
            .into_iter()
            .map(|mut client| {
                let body = body.clone();
                tokio::spawn(async move {
                    let mut times = Vec::new();
                    let mut due = Instant::now();
                    while started.elapsed() < span {
                        if let Some(pause) = pause {
                            due += pause;
                            tokio::time::sleep_until(due.into()).await;
                        }
                        let asked = Instant::now();
                        ask(&mut client, body.clone()).await;
                        times.push(asked.elapsed());
                    }
                    times
                })
            })
            .collect();
        let mut load = Load::default();
        for task in tasks {
            load.times.extend(task.await.unwrap());
        }
        load.span = started.elapsed();
        load
    }

    /// Resident memory of the server's process.
    fn resident_mib(&self) -> f64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.process.id()));
        let Ok(status) = status else {
            eprintln!("resident memory is only known on Linux");
            return f64::NAN;
        };
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or_default();
        let kilobytes: f64 = line.trim().trim_end_matches(" kB").parse().unwrap_or(f64::NAN);
        kilobytes / 1024.0
    }
}

async fn ask(client: &mut SendRequest<Full<Bytes>>, body: Bytes) {
    client.ready().await.unwrap();
    let request = Request::post("/validate")
        .header("host", "localhost")
        .header("content-type", "application/json")
        .body(Full::new(body))
        .unwrap();
    let response = client.send_request(request).await.unwrap();
    let status = response.status();
    let answer = response.into_body().collect().await.unwrap().to_bytes();
    assert!(status.is_success() && !answer.is_empty(), "{status}");
}
