//! The webhook over real TLS on loopback.
#![expect(clippy::unwrap_used, reason = "a test panics where it fails")]

mod clients;
mod hostile;
mod manage;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use hyper::StatusCode;
use plumb_host::engine::{Engine, Policy};
use plumb_host::webhook::server::Certificate;
use plumb_host::webhook::tls::Files;
use plumb_tests::guest;
use plumb_tests::recorded::reviews;
use plumb_tests::server::{Client, JSON, Protocol, SHORT, Server, plain};
use serde_json::{Value, json};
use tokio::task::JoinHandle;

fn review(object: &Value) -> Value {
    json!({
        "apiVersion": "admission.k8s.io/v1",
        "kind": "AdmissionReview",
        "request": {
            "uid": "1", "operation": "UPDATE", "subResource": "status", "object": object,
            "kind": {"group": "example.com", "version": "v1", "kind": "Widget"},
        },
    })
}

/// A review that the policies of `small_objects_misbehave` take for small, or for large.
fn sized(large: bool) -> String {
    let filler = if large { "x".repeat(100) } else { String::new() };
    review(&json!({ "kind": "W", "a": filler })).to_string()
}

fn small_objects_misbehave(body: &str, functions: &str) -> Policy {
    let module = guest::module(body, functions)
        .replace("(i32.eqz (local.get 1))", "(i32.lt_u (local.get 1) (i32.const 60))");
    let engine = Engine::new(8).unwrap();
    engine.load_bytes(&guest::component(&module, &guest::contract())).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn every_recorded_review_is_answered() {
    let server = Server::start(Policy::embedded().unwrap(), None).await;
    for protocol in [Protocol::Http1, Protocol::Http2] {
        let mut client = Client::connect(server.bound.judging, &server.ca_pem, protocol).await;
        for (name, review) in reviews("admission-") {
            for door in ["/validate", "/mutate"] {
                let body = review.to_string().into();
                let (status, answer) = client.post(door, JSON, body).await.unwrap();
                assert_eq!(status, StatusCode::OK, "{name} {door}: {answer}");
                assert_eq!(answer["apiVersion"], "admission.k8s.io/v1", "{name}");
                assert_eq!(answer["kind"], "AdmissionReview", "{name}");
                assert_eq!(answer["response"]["uid"], review["request"]["uid"], "{name}");
                assert_eq!(answer["response"]["allowed"], true, "{name}");
            }
        }
    }
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_torn_writes_are_told_and_nothing_else() {
    let server = Server::start(Policy::embedded().unwrap(), None).await;
    let mut told = Vec::new();
    for (name, review) in reviews("admission-e1-validate") {
        let (_, answer) = server.post("/validate", review.to_string()).await;
        let response = &answer["response"];
        if let Some(warnings) = response["warnings"].as_array() {
            assert_eq!(response["auditAnnotations"]["coherence"], "incoherent", "{name}");
            assert!(warnings.iter().all(|line| line.as_str().unwrap().len() <= 256), "{name}");
            told.push(name);
        }
    }
    let torn: Vec<_> =
        told.iter().map(|name| &name["admission-e1-validate-".len()..][..3]).collect();
    assert_eq!(torn, ["007", "011"]);
    server.stop().await;
}

/// Writes what a controller writes, through `/mutate` as an API server does, and reads each stored
/// state as a consumer would.
#[tokio::test(flavor = "multi_thread")]
async fn no_stored_state_says_ready_for_another_artifact() {
    let server = Server::start(Policy::embedded().unwrap(), None).await;
    let mut ready = 0;
    let mut held = 0;
    for (name, mut review) in reviews("admission-e1-validate") {
        if review["request"]["subResource"] != "status" {
            continue;
        }
        for again in [false, true] {
            let (_, answer) = server.post("/mutate", review.to_string()).await;
            let patch = answer["response"]["patch"].as_str().map(|patch| {
                let text = base64::engine::general_purpose::STANDARD.decode(patch).unwrap();
                serde_json::from_slice::<json_patch::Patch>(&text).unwrap()
            });
            if again {
                assert!(patch.is_none(), "{name}: asked again, there is nothing left to do");
            }
            let Some(patch) = patch else { continue };
            held += 1;
            let before = review["request"]["object"].clone();
            let object = &mut review["request"]["object"];
            json_patch::patch(object, &patch).unwrap();
            let (mut left, mut right) = (before, object.clone());
            left.as_object_mut().unwrap().remove("status");
            right.as_object_mut().unwrap().remove("status");
            assert_eq!(left, right, "{name}: only the status may change");
        }
        let status = &review["request"]["object"]["status"];
        let conditions = status["conditions"].as_array().cloned().unwrap_or_default();
        for condition in conditions.iter().filter(|condition| condition["type"] == "Ready") {
            if condition["status"] == "True" {
                ready += 1;
                let revision = status["artifact"]["revision"].as_str().expect("an artifact");
                let message = condition["message"].as_str().unwrap();
                assert!(message.contains(revision), "{name}: {message} but {revision}");
            }
        }
    }
    assert!(ready > 0 && held > 0, "{ready} ready states, {held} held ones");
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_held_condition_is_released_by_the_healing_write_and_by_a_no_op() {
    let server = Server::start(Policy::embedded().unwrap(), None).await;
    let (_, healing) = reviews("admission-e1-validate-012").remove(0);
    let mut held = healing.clone();
    for condition in held["request"]["object"]["status"]["conditions"].as_array_mut().unwrap() {
        condition["status"] = "Unknown".into();
    }
    held["request"]["oldObject"] = held["request"]["object"].clone();
    for dry_run in [false, true] {
        held["request"]["dryRun"] = dry_run.into();
        let (_, answer) = server.post("/mutate", held.to_string()).await;
        let patch = answer["response"]["patch"].as_str().expect("a patch");
        let text = base64::engine::general_purpose::STANDARD.decode(patch).unwrap();
        let mut object = held["request"]["object"].clone();
        let patch: json_patch::Patch = serde_json::from_slice(&text).unwrap();
        json_patch::patch(&mut object, &patch).unwrap();
        assert_eq!(object["status"], healing["request"]["object"]["status"]);
    }
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rule_denies_only_on_request() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("plumb.json");
    fs::write(&file, "{}").unwrap();
    let server = Server::start(Policy::embedded().unwrap(), Some(file.clone())).await;
    let (_, torn) = reviews("admission-e1-validate-011").remove(0);
    let ask = || server.post("/validate", torn.to_string());
    assert_eq!(ask().await.1["response"]["allowed"], true);

    replace(&file, r#"{"webhook": {"deny": ["message-revision-*"]}}"#);
    until(async || ask().await.1["response"]["allowed"] == false).await;
    let response = ask().await.1["response"].clone();
    assert_eq!(response["status"]["code"], 422);

    replace(&file, r#"{"webhook": {"deny": ["no-such-rule"]}}"#);
    let bad = r#"plumb_reloads_total{what="config",outcome="error"}"#;
    until(async || server.metric(bad).await == Some(1.0)).await;
    assert_eq!(ask().await.1["response"]["allowed"], false, "a bad reload keeps the old one");
    server.stop().await;
}

/// Replaces a file in one step, as kubelet does.
fn replace(file: &Path, content: &str) {
    let fresh = file.with_extension("new");
    fs::write(&fresh, content).unwrap();
    fs::rename(fresh, file).unwrap();
}

async fn until(mut holds: impl AsyncFnMut() -> bool) {
    for _ in 0..500 {
        if holds().await {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("it does not come to hold");
}

#[tokio::test(flavor = "multi_thread")]
async fn bad_requests_get_a_clear_refusal_and_harm_nobody() {
    let server = Server::start(Policy::embedded().unwrap(), None).await;
    let mut client = Client::connect(server.bound.judging, &server.ca_pem, Protocol::Http2).await;
    let other =
        review(&json!({})).to_string().replace("admission.k8s.io/v1", "admission.k8s.io/v1beta1");
    let other_kind = review(&json!({})).to_string().replace("AdmissionReview", "ConversionReview");
    let no_request = r#"{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview"}"#.to_owned();
    let cases = [
        ("/validate", JSON, "{".to_owned(), StatusCode::BAD_REQUEST),
        ("/validate", JSON, "[]".to_owned(), StatusCode::BAD_REQUEST),
        ("/mutate", JSON, other, StatusCode::BAD_REQUEST),
        ("/validate", JSON, other_kind, StatusCode::BAD_REQUEST),
        ("/validate", JSON, no_request, StatusCode::BAD_REQUEST),
        ("/mutate", JSON, sized(false)[..60].to_owned(), StatusCode::BAD_REQUEST),
        ("/mutate", "", sized(false), StatusCode::UNSUPPORTED_MEDIA_TYPE),
        ("/validate", "text/plain", sized(false), StatusCode::UNSUPPORTED_MEDIA_TYPE),
        ("/validate", JSON, "x".repeat(2 << 20), StatusCode::PAYLOAD_TOO_LARGE),
        ("/nowhere", JSON, "{}".to_owned(), StatusCode::NOT_FOUND),
        ("/check", JSON, r#"{"object":"#.to_owned(), StatusCode::BAD_REQUEST),
        ("/decide", JSON, r#"{"pass":{}}"#.to_owned(), StatusCode::BAD_REQUEST),
    ];
    for (path, media, body, wanted) in cases {
        let shown: String = body.chars().take(40).collect();
        let (status, answer) = client.post(path, media, body.into()).await.unwrap();
        assert_eq!(status, wanted, "{path} {shown}: {answer}");
        if status != StatusCode::PAYLOAD_TOO_LARGE {
            assert!(answer["error"].is_string(), "{path} {shown}: {answer}");
        }
        let (status, _) = client.post("/validate", JSON, sized(true).into()).await.unwrap();
        assert_eq!(status, StatusCode::OK);
    }
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn plain_json_is_what_evaluate_json_answers() {
    let policy = Policy::embedded().unwrap();
    let server = Server::start(Policy::embedded().unwrap(), None).await;
    let (_, torn) = reviews("admission-e1-validate-011").remove(0);
    let object = torn["request"]["object"].clone();
    let body = json!({ "object": object }).to_string();
    let (status, answer) = server.post("/check", body.clone()).await;
    assert_eq!(status, StatusCode::OK);
    let direct = policy.evaluate_json(&format!(r#"{{"check":{body}}}"#)).unwrap();
    assert_eq!(answer, serde_json::from_str::<Value>(&direct).unwrap());

    let keys = json!({
        "apiVersion": "externaldata.gatekeeper.sh/v1beta1", "kind": "ProviderRequest",
        "request": { "keys": [object.to_string(), "{"] },
    });
    let (_, answer) = server.post("/gatekeeper", keys.to_string()).await;
    let items = answer["response"]["items"].as_array().unwrap();
    let value: Value = serde_json::from_str(items[0]["value"].as_str().unwrap()).unwrap();
    assert_eq!(value["coherence"], "incoherent");
    assert!(items[1]["error"].is_string());
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failed_evaluation_denies_on_request() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("plumb.json");
    fs::write(&file, r#"{"webhook": {"onError": "deny"}}"#).unwrap();
    let server = Server::start(small_objects_misbehave("unreachable", ""), Some(file)).await;
    let (_, answer) = server.post("/validate", sized(false)).await;
    assert_eq!(answer["response"]["allowed"], false);
    assert_eq!(answer["response"]["status"]["code"], 500);
    server.stop().await;
}

/// Asks again and again on `count` connections until told to stop; how many were answered.
fn load(
    server: &Server,
    count: usize,
) -> (Vec<JoinHandle<usize>>, Arc<std::sync::atomic::AtomicBool>) {
    let stop = Arc::new(std::sync::atomic::AtomicBool::new(false));
    let clients = (0..count)
        .map(|number| {
            let (address, ca_pem) = (server.bound.judging, server.ca_pem.clone());
            let stop = Arc::clone(&stop);
            let protocol = if number % 2 == 0 { Protocol::Http1 } else { Protocol::Http2 };
            tokio::spawn(async move {
                let mut answered = 0;
                while !stop.load(std::sync::atomic::Ordering::Relaxed) && answered < 20_000 {
                    let mut client = Client::connect(address, &ca_pem, protocol).await;
                    for _ in 0..20 {
                        let (status, answer) =
                            client.post("/validate", JSON, sized(true).into()).await.unwrap();
                        assert_eq!(
                            (status, &answer["response"]["allowed"]),
                            (StatusCode::OK, &json!(true))
                        );
                        answered += 1;
                    }
                }
                answered
            })
        })
        .collect();
    (clients, stop)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_certificate_is_swapped_under_load_without_a_failed_request() {
    use std::os::unix::fs::symlink;

    let folder = tempfile::tempdir().unwrap();
    // What kubelet does: files behind a link to a folder, and the link is swapped.
    let (first, ca_pem) = pair(folder.path(), "first");
    let (second, second_ca_pem) = pair(folder.path(), "second");
    let data = folder.path().join("..data");
    symlink(&first, &data).unwrap();
    for file in ["tls.crt", "tls.key"] {
        symlink(Path::new("..data").join(file), folder.path().join(file)).unwrap();
    }
    let files = Files {
        cert: folder.path().join("tls.crt"),
        key: folder.path().join("tls.key"),
        client_ca: None,
    };
    let mut server = Server::with(
        Policy::embedded().unwrap(),
        None,
        Certificate::Files(files),
        ca_pem.clone(),
        SHORT,
    )
    .await;
    // The clients trust both authorities by turns: new connections after the swap see the second.
    let before = server.post("/validate", sized(true)).await;
    assert_eq!(before.0, StatusCode::OK);
    let mut kept = Client::connect(server.bound.judging, &ca_pem, Protocol::Http2).await;

    // Connections of before the swap, which go on asking through it.
    let stop = Arc::new(std::sync::atomic::AtomicBool::new(false));
    let mut load = Vec::new();
    for protocol in [Protocol::Http1, Protocol::Http2, Protocol::Http1, Protocol::Http2] {
        let mut client = Client::connect(server.bound.judging, &ca_pem, protocol).await;
        let stop = Arc::clone(&stop);
        load.push(tokio::spawn(async move {
            let mut answered = 0;
            while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                let (status, _) = client.post("/validate", JSON, sized(true).into()).await.unwrap();
                assert_eq!(status, StatusCode::OK);
                answered += 1;
            }
            answered
        }));
    }

    let swap = folder.path().join("..data_tmp");
    symlink(&second, &swap).unwrap();
    fs::rename(&swap, &data).unwrap();
    let reloaded = r#"plumb_reloads_total{what="certificate",outcome="ok"}"#;
    until(async || {
        let (status, _) = kept.post("/validate", JSON, sized(true).into()).await.unwrap();
        assert_eq!(status, StatusCode::OK, "a connection outlives the swap");
        server.metric(reloaded).await == Some(1.0)
    })
    .await;
    stop.store(true, std::sync::atomic::Ordering::Relaxed);
    for client in load {
        assert!(client.await.unwrap() > 0);
    }
    server.ca_pem = second_ca_pem;
    assert_eq!(server.post("/validate", sized(true)).await.0, StatusCode::OK);

    fs::write(second.join("tls.crt"), "no certificate").unwrap();
    let refused = r#"plumb_reloads_total{what="certificate",outcome="error"}"#;
    until(async || server.metric(refused).await.is_some_and(|count| count >= 1.0)).await;
    assert_eq!(server.post("/validate", sized(true)).await.0, StatusCode::OK, "the old one serves");
    server.stop().await;
}

/// A folder with a certificate and its key, and the authority.
fn pair(folder: &Path, name: &str) -> (PathBuf, String) {
    let key = rcgen::KeyPair::generate().unwrap();
    let params = rcgen::CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
    let certificate = params.self_signed(&key).unwrap();
    let folder = folder.join(name);
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("tls.crt"), certificate.pem()).unwrap();
    fs::write(folder.join("tls.key"), key.serialize_pem()).unwrap();
    (folder, certificate.pem())
}

#[tokio::test(flavor = "multi_thread")]
async fn it_goes_down_under_load_without_a_failed_request() {
    let drain = Duration::from_secs(3);
    let mut server = Server::draining(Policy::embedded().unwrap(), None, drain).await;
    assert_eq!(plain(server.bound.observing, "/readyz").await.0, StatusCode::OK);
    let (clients, stop) = load(&server, 4);
    tokio::time::sleep(Duration::from_millis(100)).await;
    server.stop.take().unwrap().send(()).unwrap();
    // Readiness goes first: a load balancer has the drain time to follow it.
    let observing = server.bound.observing;
    until(async || plain(observing, "/readyz").await.0 == StatusCode::SERVICE_UNAVAILABLE).await;
    stop.store(true, std::sync::atomic::Ordering::Relaxed);
    for client in clients {
        assert!(client.await.unwrap() > 0);
    }
    server.done.await.unwrap();
}
