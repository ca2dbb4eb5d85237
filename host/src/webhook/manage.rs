//! Tells the API server whom to trust: adds the authority of `--self-signed` to the `caBundle` of
//! the webhook configurations, with the service account of the pod.
//!
//! ```text
//!  GET configuration ──▶ is our authority in every caBundle? ──yes──▶ look again in a minute
//!                                     │ no
//!                                     ▼
//!                 JSON Patch, tied to the resourceVersion that was read
//! ```
//!
//! Every replica has an authority of its own, so each adds its own beside those that stand there.
//! It needs `get` and `patch` on these two objects by name, and nothing else.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use axum::body::Bytes;
use axum::http::{Method, Request, StatusCode, header};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http_body_util::{BodyExt, Full};
use hyper_util::rt::TokioIo;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

/// Authorities that are kept in a bundle: those of all replicas, and of the ones they replace
/// while they are rolled out. The oldest go first.
const KEPT: usize = 8;

/// How often the configurations are looked at again: somebody may apply them anew.
const AGAIN: Duration = Duration::from_mins(1);

/// How soon after a failure.
const AFTER_FAILURE: Duration = Duration::from_secs(2);

/// How long one request may take.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Largest answer that is read: a configuration with every kind is far smaller.
const ANSWER_BYTES: usize = 8 << 20;

/// The two resources that hold webhook configurations.
const RESOURCES: [&str; 2] = ["mutatingwebhookconfigurations", "validatingwebhookconfigurations"];

/// Why a configuration is not as it should be.
#[derive(Debug, thiserror::Error)]
pub enum ManageError {
    /// The process does not run in a pod with a service account.
    #[error("failed to find the API server: {0}")]
    NotInCluster(String),
    /// The API server cannot be reached.
    #[error("failed to reach the API server: {0}")]
    Unreachable(String),
    /// It refuses.
    #[error("the API server answers {status} to {method} {resource}: {message}")]
    Refused {
        /// The HTTP method.
        method: Method,
        /// What was asked for.
        resource: String,
        /// The HTTP status.
        status: StatusCode,
        /// What it says.
        message: String,
    },
}

/// Where the API server is, and who asks.
#[derive(Debug, Clone)]
pub struct Cluster {
    /// Host and port.
    pub host: String,
    /// Port.
    pub port: u16,
    /// The folder with `token` and `ca.crt`. Both change, so they are read for each request.
    pub account: PathBuf,
}

impl Cluster {
    /// The cluster of the pod in which this process runs.
    ///
    /// # Errors
    /// It runs in none.
    pub fn of_this_pod() -> Result<Self, ManageError> {
        let variable = |name: &str| {
            std::env::var(name).map_err(|_| ManageError::NotInCluster(format!("{name} is not set")))
        };
        let port = variable("KUBERNETES_SERVICE_PORT")?;
        Ok(Self {
            host: variable("KUBERNETES_SERVICE_HOST")?,
            port: port.parse().map_err(|_| ManageError::NotInCluster(format!("port `{port}`")))?,
            account: "/var/run/secrets/kubernetes.io/serviceaccount".into(),
        })
    }

    /// Sends one request; what the API server answers with success.
    async fn send(
        &self,
        method: Method,
        path: &str,
        media: &str,
        body: String,
    ) -> Result<Bytes, ManageError> {
        let unreachable = |error: String| ManageError::Unreachable(error);
        let token =
            read(&self.account.join("token")).map_err(|error| unreachable(error.to_string()))?;
        let token = String::from_utf8_lossy(&token).trim().to_owned();
        let address = if self.host.contains(':') {
            format!("[{}]:{}", self.host, self.port)
        } else {
            format!("{}:{}", self.host, self.port)
        };
        let request = Request::builder()
            .method(method.clone())
            .uri(path)
            .header(header::HOST, &address)
            .header(header::AUTHORIZATION, format!("Bearer {token}"))
            .header(header::ACCEPT, "application/json")
            .header(header::CONTENT_TYPE, media)
            .header(header::USER_AGENT, concat!("plumb/", env!("CARGO_PKG_VERSION")))
            .body(Full::new(Bytes::from(body)))
            .map_err(|error| unreachable(error.to_string()))?;
        let exchange = async {
            let stream = TcpStream::connect(&address).await?;
            let name = ServerName::try_from(self.host.clone()).map_err(io::Error::other)?;
            let stream = self.connector()?.connect(name, stream).await?;
            let (mut client, connection) =
                hyper::client::conn::http1::handshake(TokioIo::new(stream))
                    .await
                    .map_err(io::Error::other)?;
            let connection = tokio::spawn(connection);
            let response = client.send_request(request).await.map_err(io::Error::other)?;
            let status = response.status();
            let body = http_body_util::Limited::new(response.into_body(), ANSWER_BYTES);
            let body = body.collect().await.map_err(io::Error::other)?.to_bytes();
            connection.abort();
            Ok::<_, io::Error>((status, body))
        };
        let (status, body) = tokio::time::timeout(TIMEOUT, exchange)
            .await
            .map_err(|_| unreachable(format!("no answer within {TIMEOUT:?}")))?
            .map_err(|error| unreachable(error.to_string()))?;
        if status.is_success() {
            return Ok(body);
        }
        let said: Option<Value> = serde_json::from_slice(&body).ok();
        let message =
            said.as_ref().and_then(|said| said["message"].as_str()).unwrap_or("no message");
        let (resource, message) = (path.to_owned(), message.to_owned());
        Err(ManageError::Refused { method, resource, status, message })
    }

    fn connector(&self) -> io::Result<TlsConnector> {
        let mut roots = RootCertStore::empty();
        let authorities = read(&self.account.join("ca.crt"))?;
        for certificate in CertificateDer::pem_slice_iter(&authorities) {
            roots.add(certificate.map_err(io::Error::other)?).map_err(io::Error::other)?;
        }
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(io::Error::other)?
            .with_root_certificates(roots)
            .with_no_client_auth();
        Ok(TlsConnector::from(Arc::new(config)))
    }
}

fn read(file: &Path) -> io::Result<Vec<u8>> {
    std::fs::read(file)
        .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", file.display())))
}

/// Keeps our authority in the bundles of the configurations named `name`, for as long as it runs.
pub async fn keep(cluster: Cluster, name: String, ca_pem: String) {
    let mut last = None;
    loop {
        let outcome = ensure(&cluster, &name, &ca_pem).await;
        let pause = match &outcome {
            Ok(0) => AGAIN,
            Ok(changed) => {
                tracing::info!(name, changed, "added the authority to the webhook configurations");
                AGAIN
            }
            Err(error) => {
                let said = error.to_string();
                // A cluster where this is not allowed says so once, not every two seconds.
                if last.as_ref() != Some(&said) {
                    tracing::error!(
                        name,
                        error = said,
                        "the API server does not trust this webhook yet"
                    );
                }
                last = Some(said);
                AFTER_FAILURE
            }
        };
        if outcome.is_ok() {
            last = None;
        }
        tokio::time::sleep(pause).await;
    }
}

/// Adds our authority where it is missing; how many configurations were changed. A configuration
/// that does not exist is none of ours to make.
///
/// # Errors
/// The API server cannot be reached, or refuses.
pub async fn ensure(cluster: &Cluster, name: &str, ca_pem: &str) -> Result<usize, ManageError> {
    let mut changed = 0;
    for resource in RESOURCES {
        let path = format!("/apis/admissionregistration.k8s.io/v1/{resource}/{name}");
        let answer = match cluster.send(Method::GET, &path, "application/json", String::new()).await
        {
            Err(ManageError::Refused { status: StatusCode::NOT_FOUND, .. }) => continue,
            answer => answer?,
        };
        let configuration: Configuration = serde_json::from_slice(&answer)
            .map_err(|error| ManageError::Unreachable(format!("{path}: {error}")))?;
        let Some(patch) = patch(&configuration, ca_pem) else { continue };
        cluster
            .send(Method::PATCH, &path, "application/json-patch+json", patch.to_string())
            .await?;
        changed += 1;
    }
    Ok(changed)
}

/// A webhook configuration, as far as it is read.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Configuration {
    metadata: Metadata,
    #[serde(default)]
    webhooks: Vec<Webhook>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Metadata {
    resource_version: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Webhook {
    name: String,
    client_config: Client,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Client {
    #[serde(default)]
    ca_bundle: String,
}

/// The JSON Patch (RFC 6902) that adds our authority; nothing where it stands everywhere.
fn patch(configuration: &Configuration, ca_pem: &str) -> Option<Value> {
    let mut operations = Vec::new();
    for (index, webhook) in configuration.webhooks.iter().enumerate() {
        let Some(bundle) = bundle(&webhook.client_config.ca_bundle, ca_pem) else { continue };
        operations.push(json!({
            "op": "test", "path": format!("/webhooks/{index}/name"), "value": webhook.name,
        }));
        operations.push(json!({
            "op": "add",
            "path": format!("/webhooks/{index}/clientConfig/caBundle"),
            "value": STANDARD.encode(bundle),
        }));
    }
    if operations.is_empty() {
        return None;
    }
    let version = &configuration.metadata.resource_version;
    operations
        .insert(0, json!({"op": "test", "path": "/metadata/resourceVersion", "value": version}));
    Some(Value::Array(operations))
}

/// The bundle with our authority at its end; nothing where it has it. What is no certificate is
/// left out: a bundle that the API server cannot read stops all calls.
fn bundle(present: &str, ca_pem: &str) -> Option<String> {
    let present = STANDARD.decode(present).unwrap_or_default();
    let known: Vec<CertificateDer<'_>> =
        CertificateDer::pem_slice_iter(&present).filter_map(Result::ok).collect();
    let ours = CertificateDer::from_pem_slice(ca_pem.as_bytes()).ok()?;
    if known.contains(&ours) {
        return None;
    }
    let kept = &known[known.len().saturating_sub(KEPT - 1)..];
    Some(kept.iter().chain([&ours]).map(pem).collect())
}

fn pem(certificate: &CertificateDer<'_>) -> String {
    let text = STANDARD.encode(certificate);
    let mut pem = String::from("-----BEGIN CERTIFICATE-----\n");
    let mut rest = text.as_str();
    while !rest.is_empty() {
        let (line, after) = rest.split_at(rest.len().min(64));
        pem += line;
        pem.push('\n');
        rest = after;
    }
    pem + "-----END CERTIFICATE-----\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn authority() -> String {
        let key = rcgen::KeyPair::generate().expect("a key");
        let params = rcgen::CertificateParams::new(Vec::new()).expect("no names");
        params.self_signed(&key).expect("a certificate").pem()
    }

    #[test]
    fn a_bundle_keeps_the_authorities_of_the_other_replicas() {
        let mut text = String::new();
        let all: Vec<String> = (0..=KEPT).map(|_| authority()).collect();
        for ca_pem in &all {
            text = STANDARD.encode(bundle(&text, ca_pem).expect("it is new"));
            assert_eq!(bundle(&text, ca_pem), None, "it stands there");
        }
        assert_eq!(bundle(&text, &all[1]), None, "the last ones are kept");
        assert!(bundle(&text, &all[0]).is_some(), "the oldest has gone");
    }

    #[test]
    fn what_is_no_certificate_is_replaced() {
        let ca_pem = authority();
        for rubbish in ["", "Cg==", "!!", "bm8gY2VydGlmaWNhdGU="] {
            let bundle = bundle(rubbish, &ca_pem).expect("ours is missing");
            let found: Vec<_> = CertificateDer::pem_slice_iter(bundle.as_bytes()).collect();
            assert_eq!(found.len(), 1, "{rubbish}");
        }
    }
}
