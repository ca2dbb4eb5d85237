//! `--manage-webhook-configuration`, against an API server that knows two configurations.

use std::collections::BTreeMap;
use std::fs;
use std::sync::{Arc, Mutex};

use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, Method, StatusCode, Uri};
use axum::response::IntoResponse;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use plumb_host::admission::kinds::Choice;
use plumb_host::admission::webhooks::{self, Registration};
use plumb_host::engine::Policy;
use plumb_host::webhook::manage::{Cluster, ManageError, ensure};
use plumb_host::webhook::tls::SelfSigned;
use serde_json::{Value, json};

/// What the API server has, and what it was asked.
#[derive(Debug, Default)]
struct Api {
    objects: BTreeMap<String, Value>,
    asked: Vec<String>,
    /// Somebody else writes between the next read and the write after it.
    interfere: bool,
    forbid: bool,
}

type Shared = Arc<Mutex<Api>>;

async fn answer(
    State(api): State<Shared>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> impl IntoResponse {
    let status = |code: StatusCode, message: &str| (code, axum::Json(json!({"message": message})));
    let mut api = api.lock().unwrap();
    api.asked.push(format!("{method} {uri}"));
    if headers["authorization"] != "Bearer a-token" {
        return status(StatusCode::UNAUTHORIZED, "Unauthorized");
    }
    if api.forbid {
        return status(StatusCode::FORBIDDEN, "plumb may not do that");
    }
    let interfere = std::mem::take(&mut api.interfere);
    let Some(object) = api.objects.get_mut(uri.path()) else {
        return status(StatusCode::NOT_FOUND, "not found");
    };
    let mut answer = object.clone();
    if method == Method::PATCH {
        assert_eq!(headers["content-type"], "application/json-patch+json");
        let patch: json_patch::Patch = serde_json::from_slice(&body).unwrap();
        if let Err(error) = json_patch::patch(&mut answer, &patch) {
            return status(StatusCode::UNPROCESSABLE_ENTITY, &error.to_string());
        }
        bump(&mut answer);
        *object = answer.clone();
    } else if interfere {
        bump(object);
    }
    (StatusCode::OK, axum::Json(answer))
}

fn bump(object: &mut Value) {
    let version: u32 = object["metadata"]["resourceVersion"].as_str().unwrap().parse().unwrap();
    object["metadata"]["resourceVersion"] = (version + 1).to_string().into();
}

/// An API server, and the cluster as a pod sees it.
fn api() -> (Shared, Cluster, tempfile::TempDir) {
    let kinds = Choice::default().pick(&Policy::embedded().unwrap().profiles("").unwrap()).unwrap();
    let mut api = Api::default();
    for mut document in webhooks::documents(&kinds, &Registration::default()) {
        document["metadata"]["resourceVersion"] = "1".into();
        let kind = document["kind"].as_str().unwrap().to_lowercase();
        let path = format!("/apis/admissionregistration.k8s.io/v1/{kind}s/plumb");
        api.objects.insert(path, document);
    }
    let api = Arc::new(Mutex::new(api));
    let certificate = SelfSigned::new(&["127.0.0.1".to_owned()]).unwrap();
    let account = tempfile::tempdir().unwrap();
    fs::write(account.path().join("ca.crt"), &certificate.ca_pem).unwrap();
    fs::write(account.path().join("token"), "a-token\n").unwrap();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port();
    let tls = Arc::new(certificate.into_config(None).unwrap());
    let tls = axum_server::tls_rustls::RustlsConfig::from_config(tls);
    let router = axum::Router::new().fallback(answer).with_state(Arc::clone(&api));
    let server = axum_server::from_tcp_rustls(listener, tls).unwrap();
    tokio::spawn(server.serve(router.into_make_service()));
    let cluster =
        Cluster { host: "127.0.0.1".to_owned(), port, account: account.path().to_owned() };
    (api, cluster, account)
}

/// How many certificates each `caBundle` has, having checked that they are the same everywhere.
fn trusted(api: &Shared) -> usize {
    let api = api.lock().unwrap();
    let webhooks = api.objects.values().flat_map(|one| one["webhooks"].as_array().unwrap());
    let bundles: Vec<String> = webhooks
        .map(|one| {
            let bundle = one["clientConfig"]["caBundle"].as_str().unwrap_or_default();
            String::from_utf8(STANDARD.decode(bundle).unwrap()).unwrap()
        })
        .collect();
    assert!(bundles.len() > 2 && bundles.iter().all(|one| *one == bundles[0]), "{bundles:?}");
    bundles[0].matches("BEGIN CERTIFICATE").count()
}

fn authority() -> String {
    SelfSigned::new(&["localhost".to_owned()]).unwrap().ca_pem
}

#[tokio::test(flavor = "multi_thread")]
async fn each_replica_adds_its_authority_once() {
    let (api, cluster, _account) = api();
    let (first, second) = (authority(), authority());
    assert_eq!(ensure(&cluster, "plumb", &first).await.unwrap(), 2);
    assert_eq!(trusted(&api), 1);
    assert_eq!(ensure(&cluster, "plumb", &second).await.unwrap(), 2);
    assert_eq!(trusted(&api), 2);
    for ca_pem in [&first, &second] {
        assert_eq!(ensure(&cluster, "plumb", ca_pem).await.unwrap(), 0, "it stands there");
    }
    // No more than the role allows.
    for asked in &api.lock().unwrap().asked {
        let (method, path) = asked.split_once(' ').unwrap();
        assert!(["GET", "PATCH"].contains(&method), "{asked}");
        assert!(path.ends_with("webhookconfigurations/plumb"), "{asked}");
    }
    // Somebody applies the manifests anew.
    for object in api.lock().unwrap().objects.values_mut() {
        for webhook in object["webhooks"].as_array_mut().unwrap() {
            webhook["clientConfig"].as_object_mut().unwrap().remove("caBundle");
        }
    }
    assert_eq!(ensure(&cluster, "plumb", &first).await.unwrap(), 2);
    assert_eq!(trusted(&api), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_write_of_somebody_else_is_not_lost() {
    let (api, cluster, _account) = api();
    api.lock().unwrap().interfere = true;
    let error = ensure(&cluster, "plumb", &authority()).await.unwrap_err();
    assert!(matches!(error, ManageError::Refused { status, .. } if status == 422), "{error}");
    assert_eq!(ensure(&cluster, "plumb", &authority()).await.unwrap(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_there_is_not_made_and_what_is_forbidden_is_told() {
    let (api, cluster, account) = api();
    assert_eq!(ensure(&cluster, "another", &authority()).await.unwrap(), 0);
    api.lock().unwrap().forbid = true;
    let error = ensure(&cluster, "plumb", &authority()).await.unwrap_err().to_string();
    assert!(error.contains("403") && error.contains("plumb may not do that"), "{error}");
    // An API server with a certificate by another authority is none.
    fs::write(account.path().join("ca.crt"), authority()).unwrap();
    let error = ensure(&cluster, "plumb", &authority()).await.unwrap_err();
    assert!(matches!(error, ManageError::Unreachable(_)), "{error}");
}
