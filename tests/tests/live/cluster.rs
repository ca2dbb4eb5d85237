//! etcd and kube-apiserver on loopback, with certificates made on the spot.

use std::env;
use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use hyper::StatusCode;
use plumb_tests::server::{Client, Protocol};
use plumb_tests::torn;
use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose,
};
use serde_json::{Value, json};

/// How long an API server may take to be ready, on a busy machine.
const START: Duration = Duration::from_mins(2);

/// How long a registration may take to be in force; seconds are usual.
const IN_FORCE: Duration = Duration::from_mins(1);

const OBJECTS: &str = "/apis/source.toolkit.fluxcd.io/v1/namespaces/default/gitrepositories";

/// An API server that ends with the test.
pub(crate) struct Cluster {
    port: u16,
    ca_pem: String,
    identity: (String, String),
    folder: tempfile::TempDir,
    _processes: Vec<Process>,
}

struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Cluster {
    /// Nothing without `KUBEBUILDER_ASSETS`.
    pub(crate) async fn start() -> Option<Self> {
        let assets = PathBuf::from(env::var_os("KUBEBUILDER_ASSETS")?);
        if !assets.join("etcd").is_file() || !assets.join("kube-apiserver").is_file() {
            return None;
        }
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name).display().to_string();
        let authority = Authority::new();
        let (server_cert, server_key) =
            authority.certificate("kube-apiserver", "", &["localhost", "127.0.0.1"]);
        let identity = authority.certificate("admin", "system:masters", &[]);
        let account_key = KeyPair::generate().unwrap();
        for (name, content) in [
            ("ca.crt", authority.pem.as_str()),
            ("server.crt", &server_cert),
            ("server.key", &server_key),
            ("account.key", &account_key.serialize_pem()),
            ("account.pub", &account_key.public_key_pem()),
        ] {
            fs::write(folder.path().join(name), content).unwrap();
        }

        let [client, peer, port] = free_ports();
        let etcd = format!("http://127.0.0.1:{client}");
        let peer = format!("http://127.0.0.1:{peer}");
        let etcd_process = run(
            &assets.join("etcd"),
            &at("etcd.log"),
            &[
                format!("--data-dir={}", at("etcd")),
                format!("--listen-client-urls={etcd}"),
                format!("--advertise-client-urls={etcd}"),
                format!("--listen-peer-urls={peer}"),
                format!("--initial-advertise-peer-urls={peer}"),
                format!("--initial-cluster=default={peer}"),
                "--unsafe-no-fsync=true".to_owned(),
            ],
        );
        let api_process = run(
            &assets.join("kube-apiserver"),
            &at("kube-apiserver.log"),
            &[
                "--bind-address=127.0.0.1".to_owned(),
                "--advertise-address=127.0.0.1".to_owned(),
                format!("--secure-port={port}"),
                format!("--etcd-servers={etcd}"),
                format!("--cert-dir={}", at("certificates")),
                format!("--tls-cert-file={}", at("server.crt")),
                format!("--tls-private-key-file={}", at("server.key")),
                format!("--client-ca-file={}", at("ca.crt")),
                format!("--service-account-key-file={}", at("account.pub")),
                format!("--service-account-signing-key-file={}", at("account.key")),
                "--service-account-issuer=https://localhost".to_owned(),
                "--service-cluster-ip-range=10.0.0.0/24".to_owned(),
                "--disable-admission-plugins=ServiceAccount".to_owned(),
                "--authorization-mode=RBAC".to_owned(),
            ],
        );
        let cluster = Self {
            port,
            ca_pem: authority.pem.clone(),
            identity,
            _processes: vec![api_process, etcd_process],
            folder,
        };
        let log = cluster.folder.path().join("kube-apiserver.log");
        let started = Instant::now();
        while !cluster.has("/readyz").await || !cluster.has("/api/v1/namespaces/default").await {
            assert!(
                started.elapsed() < START,
                "the API server is not ready:\n{}",
                fs::read_to_string(&log).unwrap_or_default()
            );
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
        Some(cluster)
    }

    /// What the API server answers; nothing while it does not answer.
    async fn send(&self, method: &str, path: &str, body: &Value) -> Option<(StatusCode, String)> {
        let address = ([127, 0, 0, 1], self.port).into();
        let identity = (self.identity.0.as_str(), self.identity.1.as_str());
        let mut client = Client::connect_as(address, &self.ca_pem, Protocol::Http1, Some(identity))
            .await
            .ok()?;
        let media = match method {
            "PATCH" => "application/merge-patch+json",
            _ => "application/json",
        };
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let (status, body) = client.send(method, path, media, body.into()).await.ok()?;
        Some((status, String::from_utf8(body.to_vec()).unwrap()))
    }

    /// The same, where it has to be done.
    async fn done(&self, method: &str, path: &str, body: &Value) -> Value {
        let (status, answer) = self.send(method, path, body).await.expect("it answers");
        assert!(status.is_success(), "{method} {path}: {status} {answer}");
        serde_json::from_str(&answer).unwrap()
    }

    /// Whether there is something at a path.
    pub(crate) async fn has(&self, path: &str) -> bool {
        let answer = self.send("GET", path, &Value::Null).await;
        answer.is_some_and(|(status, _)| status == StatusCode::OK)
    }

    /// Makes the kind known.
    pub(crate) async fn define(&self) {
        let anything = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
        let definition = json!({
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": "gitrepositories.source.toolkit.fluxcd.io"},
            "spec": {
                "group": "source.toolkit.fluxcd.io",
                "scope": "Namespaced",
                "names": {
                    "kind": "GitRepository", "listKind": "GitRepositoryList",
                    "plural": "gitrepositories", "singular": "gitrepository",
                },
                "versions": [{
                    "name": "v1", "served": true, "storage": true,
                    "subresources": {"status": {}},
                    "schema": {"openAPIV3Schema": {
                        "type": "object",
                        "properties": {"spec": anything, "status": anything},
                    }},
                }],
            },
        });
        let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
        self.done("POST", path, &definition).await;
        let started = Instant::now();
        while !self.has(OBJECTS).await {
            assert!(started.elapsed() < START, "the kind is not served");
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }

    /// Creates objects of admissionregistration.k8s.io/v1.
    pub(crate) async fn create(&self, documents: &[Value]) {
        for document in documents {
            self.done("POST", &collection(document), document).await;
        }
    }

    /// Deletes them.
    pub(crate) async fn delete(&self, documents: &[Value]) {
        for document in documents {
            let name = document["metadata"]["name"].as_str().unwrap();
            self.done("DELETE", &format!("{}/{name}", collection(document)), &Value::Null).await;
        }
    }

    /// Waits until a torn write is held, or is not any more: registrations need their time.
    pub(crate) async fn until_held(&self, name: &str, held: bool) {
        self.done("POST", OBJECTS, &torn::object(name)).await;
        let status = format!("{OBJECTS}/{name}/status");
        let torn = &torn::writes()[1];
        let started = Instant::now();
        loop {
            self.done("PATCH", &status, &json!({"status": null})).await;
            let stored = self.done("PATCH", &status, torn).await;
            if torn::Read::of(&stored).is_torn() != held {
                return;
            }
            assert!(started.elapsed() < IN_FORCE, "it does not come in force: {stored:#}");
            tokio::time::sleep(Duration::from_millis(500)).await;
        }
    }

    /// Writes as a controller does; every state that a watcher is sent.
    pub(crate) async fn write_and_watch(&self, name: &str) -> Vec<Value> {
        let created = self.done("POST", OBJECTS, &torn::object(name)).await;
        for write in torn::writes() {
            self.done("PATCH", &format!("{OBJECTS}/{name}/status"), &write).await;
        }
        let last = self.done("GET", &format!("{OBJECTS}/{name}"), &Value::Null).await;
        // A watch from the past sends all that happened since, and ends by its timeout.
        let version = created["metadata"]["resourceVersion"].as_str().unwrap();
        let path = format!(
            "{OBJECTS}?watch=1&resourceVersion={version}&fieldSelector=metadata.name%3D{name}&timeoutSeconds=3"
        );
        let (status, events) = self.send("GET", &path, &Value::Null).await.expect("it answers");
        assert_eq!(status, StatusCode::OK, "{events}");
        let states: Vec<Value> = events
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap())
            .inspect(|event| assert_eq!(event["type"], "MODIFIED", "{event}"))
            .map(|mut event| event["object"].take())
            .collect();
        let version = |one: &Value| one["metadata"]["resourceVersion"].clone();
        assert_eq!(states.last().map(version), Some(version(&last)), "the watch is complete");
        states
    }
}

fn collection(document: &Value) -> String {
    let kind = document["kind"].as_str().unwrap().to_lowercase();
    let plural = match kind.strip_suffix('y') {
        Some(stem) => format!("{stem}ies"),
        None => format!("{kind}s"),
    };
    format!("/apis/admissionregistration.k8s.io/v1/{plural}")
}

fn run(program: &Path, log: &str, arguments: &[String]) -> Process {
    let log = fs::File::create(log).unwrap();
    let child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(log.try_clone().unwrap())
        .stderr(log)
        .spawn();
    Process(child.unwrap_or_else(|error| panic!("{}: {error}", program.display())))
}

/// Ports that nobody listens on; all are held until the last one is found, so that they differ.
fn free_ports<const N: usize>() -> [u16; N] {
    let listeners = [(); N].map(|()| TcpListener::bind("127.0.0.1:0").unwrap());
    listeners.map(|listener| listener.local_addr().unwrap().port())
}

/// Who signs all certificates.
struct Authority {
    pem: String,
    issuer: Issuer<'static, KeyPair>,
}

impl Authority {
    fn new() -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::DigitalSignature];
        params.distinguished_name.push(DnType::CommonName, "authority of a test");
        let key = KeyPair::generate().unwrap();
        let pem = params.self_signed(&key).unwrap().pem();
        Self { pem, issuer: Issuer::new(params, key) }
    }

    /// A certificate and its key, PEM.
    fn certificate(&self, name: &str, organization: &str, hosts: &[&str]) -> (String, String) {
        let hosts: Vec<String> = hosts.iter().map(|host| (*host).to_owned()).collect();
        let mut params = CertificateParams::new(hosts).unwrap();
        params.distinguished_name.push(DnType::CommonName, name);
        if !organization.is_empty() {
            params.distinguished_name.push(DnType::OrganizationName, organization);
        }
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages =
            vec![ExtendedKeyUsagePurpose::ServerAuth, ExtendedKeyUsagePurpose::ClientAuth];
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        (certificate.pem(), key.serialize_pem())
    }
}
