//! A controller of `Site` objects (`example.com/v1`): publishes `spec.build`, says so in the status,
//! and asks plumb what to return from the pass.

use std::sync::Arc;
use std::time::Duration;

use kube::api::{Api, DynamicObject, Patch, PatchParams};
use kube::core::{ApiResource, GroupVersionKind};
use kube::runtime::controller::Action;
use kube::{Client, ResourceExt};
use plumb_host::engine::{self, Policy};
use serde_json::{Value, json};

/// What plumb must know of the kind: which condition says that a site is ready, what its message
/// repeats, and how long it may sleep.
const SETTINGS: &str = r#"{
    "apiVersion": "plumb.dev/v1alpha1",
    "kind": "Settings",
    "profiles": [{
        "group": "example.com",
        "kinds": ["Site"],
        "happy": ["Ready"],
        "timing": {"interval": "spec.interval", "retry": "30s", "dependency": "30s"},
        "reasons": {"waiting": ["BuildNotFinished"]},
        "witnesses": [{"condition": "Ready", "text": ["published {status.published}"]}]
    }]
}"#;

/// Why a pass failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Api(#[from] kube::Error),
    #[error(transparent)]
    Policy(#[from] engine::Error),
}

/// What every pass needs.
pub struct Context {
    pub client: Client,
    pub policy: Policy,
}

/// What became of the work of a pass.
enum Outcome {
    Published,
    /// The build that the spec names is not there yet.
    Waiting,
}

/// The kind that is reconciled.
pub fn resource() -> ApiResource {
    ApiResource::from_gvk_with_plural(&GroupVersionKind::gvk("example.com", "v1", "Site"), "sites")
}

/// One pass: work, one write of the whole status, and the question when to come again.
///
/// # Errors
/// If the API server refuses the write, or the policy fails.
pub async fn reconcile(site: Arc<DynamicObject>, context: Arc<Context>) -> Result<Action, Error> {
    let build = site.data["spec"]["build"].as_str().unwrap_or_default().to_owned();
    let outcome = publish(&build);

    let namespace = site.namespace().unwrap_or_default();
    let sites: Api<DynamicObject> =
        Api::namespaced_with(context.client.clone(), &namespace, &resource());
    let status = json!({"status": status(&site, &outcome, &build)});
    let left = sites
        .patch_status(&site.name_any(), &PatchParams::default(), &Patch::Merge(&status))
        .await?;

    next(&context.policy, &left, &outcome)
}

/// What to return when a pass failed: kube-rs knows no back-off of its own.
pub fn failed(_site: Arc<DynamicObject>, _error: &Error, _context: Arc<Context>) -> Action {
    Action::requeue(Duration::from_secs(30))
}

/// The work itself: in this example, all builds but the empty one are there.
fn publish(build: &str) -> Outcome {
    if build.is_empty() { Outcome::Waiting } else { Outcome::Published }
}

/// The whole status, so that nobody ever reads a part of it.
fn status(site: &DynamicObject, outcome: &Outcome, build: &str) -> Value {
    let before = &site.data["status"]["conditions"][0];
    let (status, reason, message, published) = match outcome {
        Outcome::Published => ("True", "Published", format!("published {build}"), json!(build)),
        Outcome::Waiting => {
            let published = site.data["status"]["published"].clone();
            ("False", "BuildNotFinished", "the build is not finished".to_owned(), published)
        }
    };
    // The time moves with the status, and only then.
    let time = match before["lastTransitionTime"].as_str() {
        Some(time) if before["status"] == status => time.to_owned(),
        _ => now(),
    };
    json!({
        "observedGeneration": site.metadata.generation,
        "published": published,
        "conditions": [{
            "type": "Ready", "status": status, "reason": reason, "message": message,
            "observedGeneration": site.metadata.generation, "lastTransitionTime": time,
        }],
    })
}

/// The present, in whole seconds, as Kubernetes writes it.
fn now() -> String {
    jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// When to come again: what `decide` says of the object as this pass left it.
///
/// Nothing wakes this controller when a build is finished, so a pass that waits gets a duration.
fn next(policy: &Policy, left: &DynamicObject, outcome: &Outcome) -> Result<Action, Error> {
    let outcome = match outcome {
        Outcome::Published => "succeeded",
        Outcome::Waiting => "waiting",
    };
    let pass = json!({
        "apiVersion": "plumb.dev/v1alpha1",
        "kind": "Reconcile",
        "spec": {"object": left, "outcome": {"type": outcome}, "queue": {"flavour": "kube-rs"}},
    });
    let decision = policy.decide(&pass.to_string(), SETTINGS)?;
    Ok(match decision.action {
        engine::Action::Requeue => Action::requeue(Duration::ZERO),
        engine::Action::After(milliseconds) => {
            Action::requeue(Duration::from_millis(milliseconds.into()))
        }
        engine::Action::Await | engine::Action::Stop => Action::await_change(),
    })
}
