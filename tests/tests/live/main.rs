//! The torn writes of a controller, watched: through the webhook, and through the exported
//! admission policies.
//!
//! With `KUBEBUILDER_ASSETS` (a folder with `etcd` and `kube-apiserver`) by a real API server;
//! everywhere by the same writes, merged here as one does.
#![expect(clippy::unwrap_used, reason = "a test panics where it fails")]

mod cluster;

use std::future::Future;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use plumb_host::admission::kinds::{Choice, Kind};
use plumb_host::admission::policies::{self, Action};
use plumb_host::admission::sample;
use plumb_host::admission::webhooks::{self, Registration};
use plumb_host::engine::Policy;
use plumb_tests::server::Server;
use plumb_tests::{cel, torn};
use serde_json::{Value, json};

use cluster::Cluster;

fn kind() -> Kind {
    let choice = Choice {
        kinds: vec!["GitRepository".to_owned()],
        groups: vec!["source.toolkit.fluxcd.io".to_owned()],
        ..Choice::default()
    };
    choice.pick(&Policy::embedded().unwrap().profiles("").unwrap()).unwrap().remove(0)
}

fn exported() -> Vec<Value> {
    let rules = sample::rules(&Policy::embedded().unwrap(), "", &kind()).unwrap();
    policies::documents(&kind(), &rules, Action::Warn).0
}

/// The registration of a webhook at a URL.
fn registration(server: &Server) -> Vec<Value> {
    let registration = Registration {
        url: Some(format!("https://localhost:{}", server.bound.judging.port())),
        ca_bundle: Some(STANDARD.encode(&server.ca_pem)),
        namespace: "plumb-system".to_owned(),
        ..Registration::default()
    };
    webhooks::documents(&[kind()], &registration)
}

/// Every state that is stored, if `admit` stands between a write and the store.
async fn stored<F: Future<Output = Value>>(admit: impl Fn(Value, Value) -> F) -> Vec<Value> {
    let mut object = torn::object("demo");
    object["metadata"]["uid"] = "1".into();
    object["metadata"]["generation"] = 1.into();
    object["status"] = json!({"observedGeneration": -1});
    let mut states = vec![object.clone()];
    for write in torn::writes() {
        let mut fresh = object.clone();
        json_patch::merge(&mut fresh, &write);
        let admitted = admit(fresh, object.clone()).await;
        if admitted != object {
            states.push(admitted.clone());
        }
        object = admitted;
    }
    states
}

#[tokio::test]
async fn without_plumb_a_watcher_sees_torn_states() {
    let states = stored(|object, _| async { object }).await;
    let torn = states.iter().filter(|one| torn::Read::of(one).is_torn()).count();
    assert_eq!(torn, 2, "the first install, and the new revision");
    assert!(torn::is_safe(&states).is_err());
}

#[tokio::test(flavor = "multi_thread")]
async fn through_the_webhook_no_watcher_sees_a_torn_state() {
    let server = Server::start(Policy::embedded().unwrap(), None).await;
    let registered = registration(&server);
    let condition =
        registered[0]["webhooks"][0]["matchConditions"][0]["expression"].as_str().unwrap();
    let calls = std::cell::Cell::new(0);
    let states = stored(|object, old| {
        let (server, calls) = (&server, &calls);
        async move {
            // The API server asks only where the condition of the registration holds.
            if !cel::holds(condition, &object, &old).unwrap() {
                return object;
            }
            calls.set(calls.get() + 1);
            let review = json!({
                "apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
                "request": {
                    "uid": "1", "operation": "UPDATE", "subResource": "status",
                    "kind": {"group": "source.toolkit.fluxcd.io", "version": "v1", "kind": "GitRepository"},
                    "object": object, "oldObject": old,
                },
            });
            let (_, answer) = server.post("/mutate", review.to_string()).await;
            let mut object = object;
            if let Some(patch) = answer["response"]["patch"].as_str() {
                let patch: json_patch::Patch =
                    serde_json::from_slice(&STANDARD.decode(patch).unwrap()).unwrap();
                json_patch::patch(&mut object, &patch).unwrap();
            }
            object
        }
    })
    .await;
    torn::is_safe(&states).unwrap();
    assert_eq!(calls.get(), 4, "to hold and to release, twice, of eight writes");
    server.stop().await;
}

#[tokio::test]
async fn through_the_exported_policy_no_watcher_sees_a_torn_state() {
    let policies = exported();
    assert_eq!(policies[0]["kind"], "MutatingAdmissionPolicy");
    let states =
        stored(|object, _| std::future::ready(cel::mutated(&policies[0], &object).unwrap())).await;
    torn::is_safe(&states).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_real_api_server_never_stores_a_torn_state() {
    let Some(cluster) = Cluster::start().await else {
        eprintln!("skipped: KUBEBUILDER_ASSETS names no folder with etcd and kube-apiserver");
        return;
    };
    cluster.define().await;

    // Without plumb there are torn states, so the watcher can see them.
    let states = cluster.write_and_watch("bare").await;
    let torn = states.iter().filter(|one| torn::Read::of(one).is_torn()).count();
    assert_eq!(torn, 2, "{states:#?}");

    let server = Server::start(Policy::embedded().unwrap(), None).await;
    let registered = registration(&server);
    cluster.create(&registered).await;
    cluster.until_held("probe-webhook", true).await;
    torn::is_safe(&cluster.write_and_watch("webhook").await).unwrap();
    cluster.delete(&registered).await;
    cluster.until_held("probe-none", false).await;
    server.stop().await;

    let policies = exported();
    if !cluster.has("/apis/admissionregistration.k8s.io/v1/mutatingadmissionpolicies").await {
        eprintln!("skipped: this API server has no MutatingAdmissionPolicy v1 (1.36 has)");
        return;
    }
    cluster.create(&policies).await;
    cluster.until_held("probe-policy", true).await;
    torn::is_safe(&cluster.write_and_watch("policy").await).unwrap();
    tokio::time::sleep(Duration::ZERO).await;
}
