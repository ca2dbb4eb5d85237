//! The server: listens, reloads, and goes down without dropping a request.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum_server::Handle;
use axum_server::tls_rustls::RustlsConfig;
use notify::{RecursiveMode, Watcher};
use tokio::net::TcpListener;
use tokio::sync::{Notify, Semaphore, watch};
use tracing::{error, info, warn};

use super::config::Config;
use super::metrics::Metrics;
use super::pool::Pool;
use super::routes::{self, App};
use super::tls::{Files, SelfSigned, TlsError};
use crate::engine::Policy;

/// How often the content of files is looked at, beside the notices of the file system. A swapped
/// symbolic link on some volumes gives no notice; controller-runtime's certificate watcher uses
/// the same ten seconds.
const POLL: Duration = Duration::from_secs(10);

/// How long requests under way may take at the end; the longest timeout of a webhook.
const LAST_REQUESTS: Duration = Duration::from_secs(30);

/// Where the certificate comes from.
#[derive(Debug)]
pub enum Certificate {
    /// From files.
    Files(Files),
    /// Made on the spot.
    SelfSigned {
        /// The certificate.
        certificate: SelfSigned,
        /// Certificates of those that may call.
        client_ca: Option<PathBuf>,
    },
}

/// How the server runs.
#[derive(Debug)]
pub struct Options {
    /// Where to judge.
    pub listen: SocketAddr,
    /// Where to be observed.
    pub metrics_listen: SocketAddr,
    /// The certificate.
    pub certificate: Certificate,
    /// Threads that evaluate.
    pub threads: NonZeroUsize,
    /// Evaluations that may wait for a thread.
    pub waiting: usize,
    /// Requests that may be under way.
    pub in_flight: usize,
    /// Largest body in bytes.
    pub body_limit_bytes: usize,
    /// Time between readiness going false and the door closing, for the endpoints to follow.
    pub drain: Duration,
    /// How often files are looked at; [`None`] for the usual ten seconds.
    pub poll: Option<Duration>,
}

/// Reads the configuration anew.
pub type ReadConfig = Box<dyn Fn() -> Result<Config, Vec<String>> + Send + Sync>;

/// Where the configuration comes from.
pub struct ConfigSource {
    /// The file, watched; nothing to watch without one.
    pub file: Option<PathBuf>,
    /// Reads it.
    pub read: ReadConfig,
}

/// Why the server does not run.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    /// The configuration is wrong.
    #[error("failed to read the configuration: {}", .0.join("; "))]
    Config(Vec<String>),
    /// The certificate is wrong.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// The address is not to be had.
    #[error("failed to listen on {address}: {source}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// Why.
        source: io::Error,
    },
    /// The system refuses something else.
    #[error("failed to serve: {0}")]
    Io(#[from] io::Error),
}

/// Where the server listens; with port 0 in the options, the ports that the system chose.
#[derive(Debug, Clone, Copy)]
pub struct Bound {
    /// Where it judges.
    pub judging: SocketAddr,
    /// Where it is observed.
    pub observing: SocketAddr,
}

/// Serves until `stop` is done, then until the last request is answered.
///
/// # Errors
/// See [`ServerError`].
pub async fn serve(
    policy: Policy,
    options: Options,
    source: ConfigSource,
    stop: impl Future<Output = ()>,
    bound: impl FnOnce(Bound),
) -> Result<(), ServerError> {
    let config = (source.read)().map_err(ServerError::Config)?;
    let (publish, config) = watch::channel(Arc::new(config));
    let metrics = Arc::new(Metrics::new(policy.identity()));
    let app = App {
        policy: Arc::new(policy),
        pool: Pool::new(options.threads, options.waiting)?,
        config,
        metrics: Arc::clone(&metrics),
        ready: Arc::new(AtomicBool::new(true)),
        room: Arc::new(Semaphore::new(options.in_flight)),
    };

    let (tls, files) = match options.certificate {
        Certificate::Files(files) => (files.load()?, Some(files)),
        Certificate::SelfSigned { certificate, client_ca } => {
            (certificate.into_config(client_ca.as_deref())?, None)
        }
    };
    let tls = RustlsConfig::from_config(Arc::new(tls));

    let judging = listen(options.listen).await?;
    let observing = listen(options.metrics_listen).await?;
    bound(Bound { judging: judging.local_addr()?, observing: observing.local_addr()? });

    let poll = options.poll.unwrap_or(POLL);
    if let Some(files) = files {
        let watched =
            vec![Some(files.cert.clone()), Some(files.key.clone()), files.client_ca.clone()];
        let (tls, metrics) = (tls.clone(), Arc::clone(&metrics));
        let mut last = files.digest().ok();
        let watched: Vec<PathBuf> = watched.into_iter().flatten().collect();
        on_change(&watched, poll, move || {
            reload_certificate(&files, &tls, &metrics, &mut last);
        });
    }
    if let Some(file) = source.file.clone() {
        let metrics = Arc::clone(&metrics);
        let mut last = std::fs::read(&file).ok();
        on_change(std::slice::from_ref(&file.clone()), poll, move || {
            reload_config(&file, &source, &publish, &metrics, &mut last);
        });
    }

    let handle = Handle::new();
    let judge = axum_server::from_tcp_rustls(judging.into_std()?, tls)?
        .handle(handle.clone())
        .serve(routes::judging(app.clone(), options.body_limit_bytes).into_make_service());
    let judge = tokio::spawn(judge);
    let closed = Arc::new(Notify::new());
    let observe = {
        let closed = Arc::clone(&closed);
        let router = routes::observing(app.clone());
        tokio::spawn(async move {
            axum::serve(observing, router)
                .with_graceful_shutdown(async move { closed.notified().await })
                .await
        })
    };
    info!("ready");
    stop.await;
    app.ready.store(false, Ordering::Relaxed);
    info!(drain = ?options.drain, "not ready any more, going down");
    tokio::time::sleep(options.drain).await;
    handle.graceful_shutdown(Some(LAST_REQUESTS));
    judge.await.map_err(io::Error::other)??;
    closed.notify_one();
    observe.await.map_err(io::Error::other)??;
    Ok(())
}

async fn listen(address: SocketAddr) -> Result<TcpListener, ServerError> {
    TcpListener::bind(address).await.map_err(|source| ServerError::Listen { address, source })
}

fn reload_certificate(
    files: &Files,
    tls: &RustlsConfig,
    metrics: &Metrics,
    last: &mut Option<[u8; 32]>,
) {
    let digest = match files.digest() {
        Ok(digest) if Some(digest) == *last => return,
        Ok(digest) => digest,
        Err(error) => {
            if last.take().is_some() {
                metrics.reloaded("certificate", "error");
                error!(%error, "kept the old certificate");
            }
            return;
        }
    };
    *last = Some(digest);
    match files.load() {
        Ok(config) => {
            tls.reload_from_config(Arc::new(config));
            metrics.reloaded("certificate", "ok");
            info!("reloaded the certificate");
        }
        Err(error) => {
            metrics.reloaded("certificate", "error");
            error!(%error, "kept the old certificate");
        }
    }
}

fn reload_config(
    file: &PathBuf,
    source: &ConfigSource,
    publish: &watch::Sender<Arc<Config>>,
    metrics: &Metrics,
    last: &mut Option<Vec<u8>>,
) {
    let content = std::fs::read(file).ok();
    if content == *last {
        return;
    }
    *last = content;
    match (source.read)() {
        Ok(config) => {
            publish.send_replace(Arc::new(config));
            metrics.reloaded("config", "ok");
            info!("reloaded the configuration");
        }
        Err(faults) => {
            metrics.reloaded("config", "error");
            error!(faults = faults.join("; "), "kept the old configuration");
        }
    }
}

/// Calls `look` at every notice of the file system about the folders of `files`, and at every
/// `poll`.
fn on_change(files: &[PathBuf], poll: Duration, mut look: impl FnMut() + Send + 'static) {
    let changed = Arc::new(Notify::new());
    let notice = Arc::clone(&changed);
    let watcher =
        notify::recommended_watcher(move |_| notice.notify_one()).and_then(|mut watcher| {
            for folder in files.iter().filter_map(|file| file.parent()) {
                let folder = if folder.as_os_str().is_empty() { ".".as_ref() } else { folder };
                watcher.watch(folder, RecursiveMode::NonRecursive)?;
            }
            Ok(watcher)
        });
    if let Err(error) = &watcher {
        warn!(%error, "files are looked at every {poll:?} alone");
    }
    tokio::spawn(async move {
        let _watcher = watcher;
        loop {
            let _ = tokio::time::timeout(poll, changed.notified()).await;
            tokio::task::block_in_place(&mut look);
        }
    });
}
