//! Passes against an API server of three lines: what is written is coherent, and what is returned is
//! right.

use std::sync::Arc;
use std::time::Duration;

use http::{Request, Response};
use http_body_util::BodyExt;
use kube::Client;
use kube::api::DynamicObject;
use kube::client::Body;
use kube::runtime::controller::Action;
use plumb_example_controller::{Context, reconcile};
use plumb_host::engine::Policy;
use plumb_host::testing::assert_coherent;
use serde_json::{Value, json};
use tokio::sync::mpsc;

/// One pass over a site: what it returned, and the object as it left it.
async fn pass(build: &str) -> (Action, Value) {
    let site = json!({
        "apiVersion": "example.com/v1", "kind": "Site",
        "metadata": {"name": "a", "namespace": "default", "generation": 3, "uid": "1"},
        "spec": {"build": build, "interval": "10m"},
    });
    let (written, mut states) = mpsc::unbounded_channel();
    let stored = site.clone();
    let server = tower::service_fn(move |request: Request<Body>| {
        let (written, mut stored) = (written.clone(), stored.clone());
        async move {
            assert_eq!(
                request.uri().path(),
                "/apis/example.com/v1/namespaces/default/sites/a/status"
            );
            let patch = request.into_body().collect().await?.to_bytes();
            let patch: Value = serde_json::from_slice(&patch).expect("JSON");
            stored["status"] = patch["status"].clone();
            written.send(stored.clone()).expect("the test listens");
            Ok::<_, kube::Error>(Response::new(Body::from(stored.to_string().into_bytes())))
        }
    });
    let context = Context {
        client: Client::new(server, "default"),
        policy: Policy::embedded().expect("the policy loads"),
    };
    let site: DynamicObject = serde_json::from_value(site).expect("a site");
    let action = reconcile(Arc::new(site), Arc::new(context)).await.expect("the pass ends");
    (action, states.recv().await.expect("one write"))
}

#[tokio::test]
async fn a_published_site_is_coherent_and_sleeps_for_its_interval() {
    let (action, left) = pass("b7").await;
    assert_coherent(left.to_string());
    assert_eq!(left["status"]["published"], "b7");
    assert_eq!(action, Action::requeue(Duration::from_secs(600)));
}

#[tokio::test]
async fn a_site_that_waits_is_coherent_and_tries_again() {
    let (action, left) = pass("").await;
    assert_coherent(left.to_string());
    assert_eq!(action, Action::requeue(Duration::from_secs(30)));
}
