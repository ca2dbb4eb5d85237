//! The HTTP doors.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use axum::Router;
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, Path, Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;
use tokio::sync::{Semaphore, watch};
use tracing::{info, warn};

use super::answer::{self, Door};
use super::config::Config;
use super::metrics::Metrics;
use super::pool::{NotDone, Pool};
use super::review::{API_VERSION, Review};
use crate::engine::{Error, Policy, Verdict};

/// What all requests share.
#[derive(Clone)]
pub struct App {
    /// The policy.
    pub policy: Arc<Policy>,
    /// The threads that evaluate.
    pub pool: Pool,
    /// The configuration in force.
    pub config: watch::Receiver<Arc<Config>>,
    /// What Prometheus sees.
    pub metrics: Arc<Metrics>,
    /// Whether new requests are welcome.
    pub ready: Arc<AtomicBool>,
    /// Room for requests under way.
    pub room: Arc<Semaphore>,
}

/// Why a request has no answer of its own.
struct Refused {
    status: StatusCode,
    message: String,
}

impl IntoResponse for Refused {
    fn into_response(self) -> Response {
        (self.status, axum::Json(json!({ "error": self.message }))).into_response()
    }
}

fn refused(status: StatusCode, message: impl Into<String>) -> Refused {
    Refused { status, message: message.into() }
}

/// The doors that judge; behind TLS.
pub fn judging(app: App, body_limit_bytes: usize) -> Router {
    Router::new()
        .route("/validate", post(validate))
        .route("/mutate", post(mutate))
        .route("/evaluate", post(evaluate))
        .route("/gatekeeper", post(gatekeeper))
        .route("/{function}", post(function))
        .layer(DefaultBodyLimit::max(body_limit_bytes))
        .layer(middleware::from_fn_with_state(app.clone(), admit))
        .with_state(app)
}

/// The doors for kubelet and Prometheus; plain.
pub fn observing(app: App) -> Router {
    Router::new()
        .route("/healthz", get(|| async { "ok\n" }))
        .route("/readyz", get(ready))
        .route("/metrics", get(metrics))
        .with_state(app)
}

async fn ready(State(app): State<App>) -> (StatusCode, &'static str) {
    if app.ready.load(Ordering::Relaxed) {
        (StatusCode::OK, "ok\n")
    } else {
        (StatusCode::SERVICE_UNAVAILABLE, "going down\n")
    }
}

async fn metrics(State(app): State<App>) -> impl IntoResponse {
    const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    ([(header::CONTENT_TYPE, OPEN_METRICS)], app.metrics.text())
}

/// Refuses what is more than fits, at once.
async fn admit(State(app): State<App>, request: Request, next: Next) -> Response {
    let Ok(_room) = app.room.try_acquire() else {
        app.metrics.evaluated("any", "overload", std::time::Duration::ZERO);
        return refused(StatusCode::TOO_MANY_REQUESTS, "too many requests are under way")
            .into_response();
    };
    app.metrics.in_flight.inc();
    let response = next.run(request).await;
    app.metrics.in_flight.dec();
    response
}

async fn validate(state: State<App>, headers: HeaderMap, body: Bytes) -> Response {
    admission(state.0, Door::Validate, &headers, body).await.into_response()
}

async fn mutate(state: State<App>, headers: HeaderMap, body: Bytes) -> Response {
    admission(state.0, Door::Mutate, &headers, body).await.into_response()
}

async fn admission(
    app: App,
    door: Door,
    headers: &HeaderMap,
    body: Bytes,
) -> Result<Response, Refused> {
    let started = Instant::now();
    let read = read_review(headers, &body);
    let request = match read {
        Ok(request) => request,
        Err(refused) => {
            app.metrics.evaluated(door.name(), "bad-request", started.elapsed());
            warn!(door = door.name(), error = refused.message, "refused a request");
            return Err(refused);
        }
    };
    let config = Arc::clone(&app.config.borrow());
    let (response, outcome, verdict) = match answer::observation(&request, &config.settings) {
        None => (super::review::Response::allowed(&request.uid), "not-a-status", None),
        Some(observation) => {
            let policy = Arc::clone(&app.policy);
            let job = app.pool.run(move || policy.check(&observation));
            match tokio::time::timeout(config.webhook.deadline, job).await {
                Ok(Ok(Ok(verdict))) => {
                    let response = answer::judged(door, &request.uid, &verdict, &config.webhook);
                    (response, "ok", Some(verdict))
                }
                Ok(Ok(Err(error))) => {
                    let outcome = error.name();
                    let response = failing(&request.uid, &error.to_string(), &config);
                    (response, outcome, None)
                }
                Ok(Err(error)) => {
                    let outcome = if error == NotDone::Busy { "busy" } else { "lost" };
                    (failing(&request.uid, &error.to_string(), &config), outcome, None)
                }
                Err(_) => {
                    let error = "the deadline passed";
                    (failing(&request.uid, error, &config), "deadline", None)
                }
            }
        }
    };
    let took = started.elapsed();
    app.metrics.evaluated(door.name(), outcome, took);
    count(&app, &request.kind, &response, verdict.as_ref());
    let rules = verdict.as_ref().map(rules).unwrap_or_default();
    let fields = format_args!("{took:?}");
    if verdict.is_some() || outcome == "not-a-status" {
        info!(
            uid = request.uid,
            door = door.name(),
            group = request.kind.group,
            kind = request.kind.kind,
            namespace = request.namespace,
            name = request.name,
            operation = request.operation,
            sub_resource = request.sub_resource,
            user = request.user_info.username,
            dry_run = request.dry_run.unwrap_or(false),
            outcome,
            allowed = response.allowed,
            patched = response.patch.is_some(),
            rules,
            took = fields,
            "judged"
        );
    } else {
        warn!(
            uid = request.uid,
            door = door.name(),
            group = request.kind.group,
            kind = request.kind.kind,
            namespace = request.namespace,
            name = request.name,
            operation = request.operation,
            outcome,
            allowed = response.allowed,
            error = response.audit_annotations.get("error").map_or("", String::as_str),
            took = fields,
            "could not judge"
        );
    }
    Ok(axum::Json(response.into_answer()).into_response())
}

fn failing(uid: &str, error: &str, config: &Config) -> super::review::Response {
    answer::failed(uid, error, config.webhook.on_error)
}

fn count(
    app: &App,
    kind: &super::review::GroupVersionKind,
    response: &super::review::Response,
    verdict: Option<&Verdict>,
) {
    for finding in verdict.iter().flat_map(|verdict| &verdict.findings) {
        app.metrics.found(&finding.rule, finding.severity.name(), &kind.group, &kind.kind);
    }
    if response.patch.is_some() {
        app.metrics.repaired(&kind.group, &kind.kind);
    }
    if !response.allowed {
        let config = app.config.borrow();
        let denied = verdict
            .iter()
            .flat_map(|verdict| &verdict.findings)
            .find(|finding| config.webhook.denies(&finding.rule));
        app.metrics.denied(denied.map_or("evaluation-error", |finding| &finding.rule));
    }
}

fn rules(verdict: &Verdict) -> String {
    let rules: Vec<&str> = verdict.findings.iter().map(|finding| finding.rule.as_str()).collect();
    rules.join(",")
}

/// What the review asks.
fn read_review<'a>(
    headers: &HeaderMap,
    body: &'a Bytes,
) -> Result<super::review::Request<'a>, Refused> {
    let text = read_json(headers, body)?;
    let review: Review<'a> = serde_json::from_str(text).map_err(|error| {
        refused(StatusCode::BAD_REQUEST, format!("failed to read the AdmissionReview: {error}"))
    })?;
    if review.api_version != API_VERSION || review.kind != "AdmissionReview" {
        let (version, kind) = (&review.api_version, &review.kind);
        return Err(refused(
            StatusCode::BAD_REQUEST,
            format!("`{version} {kind}` is not `{API_VERSION} AdmissionReview`"),
        ));
    }
    review
        .request
        .ok_or_else(|| refused(StatusCode::BAD_REQUEST, "the AdmissionReview has no request"))
}

/// The body, if it is JSON by its media type and UTF-8.
fn read_json<'a>(headers: &HeaderMap, body: &'a Bytes) -> Result<&'a str, Refused> {
    let media = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let is_json = media.is_some_and(|media| {
        media
            .split(';')
            .next()
            .is_some_and(|media| media.trim().eq_ignore_ascii_case("application/json"))
    });
    if !is_json {
        let media = media.unwrap_or("none");
        return Err(refused(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            format!("the media type is {media}, expected application/json"),
        ));
    }
    std::str::from_utf8(body)
        .map_err(|error| refused(StatusCode::BAD_REQUEST, format!("the body: {error}")))
}

/// `/check`, `/decide`, `/trace` …: what `evaluate-json` takes under that name.
async fn function(
    State(app): State<App>,
    Path(function): Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    const FUNCTIONS: [&str; 7] =
        ["check", "decide", "trace", "rules", "profiles", "validate", "infer"];
    let Some(name) = FUNCTIONS.iter().find(|name| **name == function) else {
        return refused(StatusCode::NOT_FOUND, format!("there is no /{function}")).into_response();
    };
    let request = read_json(&headers, &body).map(|text| format!("{{\"{name}\":{text}}}"));
    match request {
        Ok(request) => plain(app, name, request).await,
        Err(refused) => refused.into_response(),
    }
}

/// `/evaluate`: all of `evaluate-json`.
async fn evaluate(State(app): State<App>, headers: HeaderMap, body: Bytes) -> Response {
    match read_json(&headers, &body) {
        Ok(text) => plain(app, "evaluate", text.to_owned()).await,
        Err(refused) => refused.into_response(),
    }
}

async fn plain(app: App, door: &'static str, request: String) -> Response {
    let started = Instant::now();
    let (outcome, result) = evaluate_json(&app, request).await;
    app.metrics.evaluated(door, outcome, started.elapsed());
    info!(door, outcome, took = format_args!("{:?}", started.elapsed()), "judged");
    match result {
        Ok(answer) => ([(header::CONTENT_TYPE, "application/json")], answer).into_response(),
        Err(message) => {
            let status = match outcome {
                "malformed" => StatusCode::BAD_REQUEST,
                "unsupported" => StatusCode::UNPROCESSABLE_ENTITY,
                "busy" | "lost" => StatusCode::SERVICE_UNAVAILABLE,
                "deadline" => StatusCode::GATEWAY_TIMEOUT,
                _ => StatusCode::INTERNAL_SERVER_ERROR,
            };
            refused(status, message).into_response()
        }
    }
}

async fn evaluate_json(app: &App, request: String) -> (&'static str, Result<String, String>) {
    let policy = Arc::clone(&app.policy);
    let deadline = app.config.borrow().webhook.deadline;
    let job = app.pool.run(move || policy.evaluate_json(&request));
    match tokio::time::timeout(deadline, job).await {
        Ok(Ok(Ok(answer))) => ("ok", Ok(answer)),
        Ok(Ok(Err(error))) => (Error::name(&error), Err(error.to_string())),
        Ok(Err(error)) => {
            (if error == NotDone::Busy { "busy" } else { "lost" }, Err(error.to_string()))
        }
        Err(_) => ("deadline", Err("the deadline passed".to_owned())),
    }
}

/// A Gatekeeper external data provider: each key is the text of an object, or of a request for
/// `/evaluate`; its value is the answer as text.
async fn gatekeeper(State(app): State<App>, headers: HeaderMap, body: Bytes) -> Response {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct ProviderRequest {
        api_version: String,
        request: Keys,
    }
    #[derive(Deserialize)]
    struct Keys {
        keys: Vec<String>,
    }
    let request: ProviderRequest = match read_json(&headers, &body).and_then(|text| {
        serde_json::from_str(text).map_err(|error| {
            refused(StatusCode::BAD_REQUEST, format!("failed to read the ProviderRequest: {error}"))
        })
    }) {
        Ok(request) => request,
        Err(refused) => return refused.into_response(),
    };
    let mut items = Vec::new();
    for key in request.request.keys {
        let started = Instant::now();
        let is_object = serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(&key)
            .is_ok_and(|object| object.contains_key("kind"));
        let text = if is_object {
            let settings = settings(&app);
            format!("{{\"check\":{{\"object\":{key}{settings}}}}}")
        } else {
            key.clone()
        };
        let (outcome, result) = evaluate_json(&app, text).await;
        app.metrics.evaluated("gatekeeper", outcome, started.elapsed());
        items.push(match result {
            Ok(value) => json!({ "key": key, "value": value }),
            Err(error) => json!({ "key": key, "error": error }),
        });
    }
    axum::Json(json!({
        "apiVersion": request.api_version,
        "kind": "ProviderResponse",
        "response": { "idempotent": true, "items": items },
    }))
    .into_response()
}

fn settings(app: &App) -> String {
    let config = app.config.borrow();
    match serde_json::from_str::<&RawValue>(&config.settings) {
        Ok(settings) => format!(",\"settings\":{}", settings.get()),
        Err(_) => String::new(),
    }
}
