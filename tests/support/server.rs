//! A webhook server over real TLS on loopback, and its clients.
#![expect(clippy::unwrap_used, clippy::missing_panics_doc, reason = "a test panics where it fails")]

use std::fs;
use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::{BodyExt, Full};
use hyper::body::Bytes;
use hyper::header::CONTENT_TYPE;
use hyper::{Request, StatusCode};
use hyper_util::rt::{TokioExecutor, TokioIo};
use plumb_host::engine::Policy;
use plumb_host::webhook::config::Config;
use plumb_host::webhook::server::{Bound, Certificate, ConfigSource, Options, serve};
use plumb_host::webhook::tls::SelfSigned;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use serde_json::Value;
use tokio::net::TcpStream;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio_rustls::TlsConnector;

/// The media type of all that is sent.
pub const JSON: &str = "application/json";

/// The drain time of a server that nobody leaves in a hurry.
pub const SHORT: Duration = Duration::from_millis(10);

/// A server, and what its clients need to know.
pub struct Server {
    /// Where it listens.
    pub bound: Bound,
    /// Whom its clients trust.
    pub ca_pem: String,
    /// Tells it to end.
    pub stop: Option<oneshot::Sender<()>>,
    /// Done when it has ended.
    pub done: JoinHandle<()>,
}

impl Server {
    /// One with a certificate of its own, that ends in a hurry.
    pub async fn start(policy: Policy, config: Option<PathBuf>) -> Self {
        Self::draining(policy, config, SHORT).await
    }

    /// One that takes its time to end.
    pub async fn draining(policy: Policy, config: Option<PathBuf>, drain: Duration) -> Self {
        let certificate = SelfSigned::new(&["localhost".to_owned()]).unwrap();
        let ca_pem = certificate.ca_pem.clone();
        let certificate = Certificate::SelfSigned { certificate, client_ca: None };
        Self::with(policy, config, certificate, ca_pem, drain).await
    }

    /// One with this certificate.
    pub async fn with(
        policy: Policy,
        config: Option<PathBuf>,
        certificate: Certificate,
        ca_pem: String,
        drain: Duration,
    ) -> Self {
        let any: SocketAddr = "127.0.0.1:0".parse().unwrap();
        let options = Options {
            listen: any,
            metrics_listen: any,
            certificate,
            threads: NonZeroUsize::new(2).unwrap(),
            waiting: 64,
            in_flight: 256,
            body_limit_bytes: 1 << 20,
            drain,
            poll: Some(Duration::from_millis(20)),
        };
        let checker = Policy::embedded().unwrap();
        let file = config.clone();
        let source = ConfigSource {
            file: config,
            read: Box::new(move || match &file {
                None => Ok(Config::default()),
                Some(file) => Config::read(&fs::read_to_string(file).unwrap(), &checker),
            }),
        };
        let (stop, stopped) = oneshot::channel::<()>();
        let (tell, told) = oneshot::channel();
        let done = tokio::spawn(async move {
            let stop = async move {
                let _ = stopped.await;
            };
            serve(policy, options, source, stop, |bound| tell.send(bound).unwrap()).await.unwrap();
        });
        Self { bound: told.await.unwrap(), ca_pem, stop: Some(stop), done }
    }

    /// Ends it, and waits until it has ended.
    pub async fn stop(mut self) {
        self.stop.take().unwrap().send(()).unwrap();
        self.done.await.unwrap();
    }

    /// Asks on a connection of its own.
    pub async fn post(&self, path: &str, body: impl Into<Bytes>) -> (StatusCode, Value) {
        let mut client = Client::connect(self.bound.judging, &self.ca_pem, Protocol::Http1).await;
        client.post(path, JSON, body.into()).await.unwrap()
    }

    /// A metric's value: its whole line but the number.
    pub async fn metric(&self, line: &str) -> Option<f64> {
        let text = plain(self.bound.observing, "/metrics").await.1;
        let found = text.lines().find_map(|found| found.strip_prefix(line)).map(str::trim);
        found.map(|number| number.parse().unwrap())
    }
}

/// What is spoken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    /// HTTP/1.1.
    Http1,
    /// HTTP/2.
    Http2,
}

/// One connection.
pub enum Client {
    /// HTTP/1.1.
    Http1(hyper::client::conn::http1::SendRequest<Full<Bytes>>),
    /// HTTP/2.
    Http2(hyper::client::conn::http2::SendRequest<Full<Bytes>>),
}

impl Client {
    /// Connects without a certificate.
    pub async fn connect(address: SocketAddr, ca_pem: &str, protocol: Protocol) -> Self {
        Self::connect_as(address, ca_pem, protocol, None).await.unwrap()
    }

    /// Connects, with a certificate and its key (PEM) if there is one.
    pub async fn connect_as(
        address: SocketAddr,
        ca_pem: &str,
        protocol: Protocol,
        identity: Option<(&str, &str)>,
    ) -> std::io::Result<Self> {
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_slice(ca_pem.as_bytes()).unwrap()).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots);
        let mut config = match identity {
            None => config.with_no_client_auth(),
            Some((cert, key)) => {
                let chain = vec![CertificateDer::from_pem_slice(cert.as_bytes()).unwrap()];
                let key = PrivateKeyDer::from_pem_slice(key.as_bytes()).unwrap();
                config.with_client_auth_cert(chain, key).unwrap()
            }
        };
        config.alpn_protocols = vec![match protocol {
            Protocol::Http1 => b"http/1.1".to_vec(),
            Protocol::Http2 => b"h2".to_vec(),
        }];
        let stream = TcpStream::connect(address).await?;
        let name = ServerName::try_from("localhost").unwrap();
        let stream = TlsConnector::from(Arc::new(config)).connect(name, stream).await?;
        let stream = TokioIo::new(stream);
        Ok(match protocol {
            Protocol::Http1 => {
                let (client, connection) =
                    hyper::client::conn::http1::handshake(stream).await.unwrap();
                tokio::spawn(connection);
                Self::Http1(client)
            }
            Protocol::Http2 => {
                let handshake = hyper::client::conn::http2::handshake(TokioExecutor::new(), stream);
                let (client, connection) = handshake.await.unwrap();
                tokio::spawn(connection);
                Self::Http2(client)
            }
        })
    }

    /// Posts.
    ///
    /// # Errors
    /// The connection fails.
    pub async fn post(
        &mut self,
        path: &str,
        media: &str,
        body: Bytes,
    ) -> Result<(StatusCode, Value), hyper::Error> {
        let (status, body) = self.send("POST", path, media, body).await?;
        Ok((status, serde_json::from_slice(&body).unwrap_or(Value::Null)))
    }

    /// Sends any request.
    ///
    /// # Errors
    /// The connection fails.
    pub async fn send(
        &mut self,
        method: &str,
        path: &str,
        media: &str,
        body: Bytes,
    ) -> Result<(StatusCode, Bytes), hyper::Error> {
        let request = Request::builder()
            .method(method)
            .uri(match self {
                Self::Http1(_) => path.to_owned(),
                Self::Http2(_) => format!("https://localhost{path}"),
            })
            .header("host", "localhost")
            .header(CONTENT_TYPE, media)
            .body(Full::new(body))
            .unwrap();
        let response = match self {
            Self::Http1(client) => {
                client.ready().await?;
                client.send_request(request).await?
            }
            Self::Http2(client) => {
                client.ready().await?;
                client.send_request(request).await?
            }
        };
        let status = response.status();
        let body = response.into_body().collect().await?.to_bytes();
        Ok((status, body))
    }
}

/// What a plain port answers.
pub async fn plain(address: SocketAddr, path: &str) -> (StatusCode, String) {
    let stream = TokioIo::new(TcpStream::connect(address).await.unwrap());
    let (mut client, connection) =
        hyper::client::conn::http1::handshake::<_, Full<Bytes>>(stream).await.unwrap();
    tokio::spawn(connection);
    let request = Request::get(path).header("host", "localhost").body(Full::default()).unwrap();
    let response = client.send_request(request).await.unwrap();
    let status = response.status();
    let body = response.into_body().collect().await.unwrap().to_bytes();
    (status, String::from_utf8(body.to_vec()).unwrap())
}
