//! `plumb webhook`.

mod manifests;

pub(super) use manifests::documents;

use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};
use tracing_subscriber::EnvFilter;

use super::heading;
use super::policy::{PolicyArguments, read};
use crate::engine::Policy;
use crate::error::Error;
use crate::exit::Exit;
use crate::webhook::config::Config;
use crate::webhook::manage::{Cluster, keep};
use crate::webhook::server::{Certificate, ConfigSource, Options, serve};
use crate::webhook::tls::{Files, SelfSigned};

/// Serves the admission webhook: judges status writes, and can hold a torn status back.
///
/// Doors: /validate and /mutate take AdmissionReviews, /check, /decide and /trace plain JSON,
/// /gatekeeper a provider request. /healthz, /readyz and /metrics are on a port of their own.
#[derive(Debug, Args)]
#[command(alias = "serve", args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(super) struct Arguments {
    /// Where to judge, behind TLS.
    #[arg(long, value_name = "ADDR:PORT", default_value = "0.0.0.0:8443", help_heading = heading::SERVER)]
    listen: SocketAddr,
    /// Where to be observed, plain: /healthz, /readyz, /metrics.
    #[arg(long, value_name = "ADDR:PORT", default_value = "0.0.0.0:8080", help_heading = heading::SERVER)]
    metrics_listen: SocketAddr,
    /// The certificate chain, PEM; reloaded when its content changes.
    #[arg(long, value_name = "FILE", requires = "tls_key", help_heading = heading::SERVER)]
    tls_cert: Option<PathBuf>,
    /// The certificate's key, PEM.
    #[arg(long, value_name = "FILE", requires = "tls_cert", help_heading = heading::SERVER)]
    tls_key: Option<PathBuf>,
    /// Certificates of those that may call, PEM; everybody may without.
    #[arg(long, value_name = "FILE", help_heading = heading::SERVER)]
    client_ca: Option<PathBuf>,
    /// Make a certificate for these names instead of reading one: for trying, and for clusters
    /// without a certificate manager.
    #[arg(
        long,
        value_name = "NAME",
        value_delimiter = ',',
        num_args = 0..,
        default_missing_value = "localhost,127.0.0.1",
        conflicts_with = "tls_cert",
        required_unless_present = "tls_cert",
        help_heading = heading::SERVER
    )]
    self_signed: Option<Vec<String>>,
    /// Write the authority of `--self-signed` here, PEM: the `caBundle` of the registration.
    #[arg(long, value_name = "FILE", requires = "self_signed", help_heading = heading::SERVER)]
    ca_bundle: Option<PathBuf>,
    /// Add the authority of `--self-signed` to the `caBundle` of the webhook configurations of this
    /// name, with the service account of the pod; needs `get` and `patch` on them.
    #[arg(
        long,
        value_name = "NAME",
        num_args = 0..=1,
        default_missing_value = crate::admission::webhooks::NAME,
        requires = "self_signed",
        help_heading = heading::SERVER
    )]
    manage_webhook_configuration: Option<String>,
    /// Settings with a `webhook` section; reloaded when their content changes.
    #[arg(long, visible_alias = "settings", value_name = "FILE", help_heading = heading::JUDGEMENT)]
    config: Option<PathBuf>,
    #[command(flatten)]
    policy: PolicyArguments,
    /// Threads that evaluate; as many as there are processors by default.
    #[arg(long, value_name = "N", help_heading = heading::LIMITS)]
    threads: Option<NonZeroUsize>,
    /// Evaluations that may wait for a thread; more are refused.
    #[arg(long, value_name = "N", default_value_t = 256, help_heading = heading::LIMITS)]
    waiting: usize,
    /// Requests that may be under way; more are refused at once.
    #[arg(long, value_name = "N", default_value_t = 1024, help_heading = heading::LIMITS)]
    in_flight: usize,
    /// Largest body in bytes: a review holds the object twice, and the API server takes 3 MiB.
    #[arg(long, value_name = "BYTES", default_value_t = 8 << 20, help_heading = heading::LIMITS)]
    body_limit: usize,
    /// Time between readiness going false and the door closing.
    #[arg(long, value_name = "DURATION", default_value = "5s", value_parser = duration, help_heading = heading::SERVER)]
    drain: Duration,
    /// How often files are looked at, beside the notices of the file system.
    #[arg(long, value_name = "DURATION", default_value = "10s", value_parser = duration, hide = true)]
    poll: Duration,
    /// How logs are written.
    #[arg(long, value_name = "FORMAT", default_value = "human", help_heading = heading::OUTPUT)]
    log_format: LogFormat,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    Manifests(Box<manifests::Arguments>),
}

/// How logs are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum LogFormat {
    /// For people.
    Human,
    /// One JSON object a line.
    Json,
}

impl Arguments {
    pub(super) fn run(&self) -> Result<Exit, Error> {
        if let Some(Command::Manifests(manifests)) = &self.command {
            return manifests.run();
        }
        self.log();
        let threads = self
            .threads
            .unwrap_or_else(|| std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN));
        let policy = self.policy.load()?;
        let certificate = self.certificate()?;
        let managed = match (&self.manage_webhook_configuration, &certificate) {
            (Some(name), Certificate::SelfSigned { certificate, .. }) => {
                let cluster = Cluster::of_this_pod().map_err(Error::serving)?;
                Some((cluster, name.clone(), certificate.ca_pem.clone()))
            }
            _ => None,
        };
        let options = Options {
            listen: self.listen,
            metrics_listen: self.metrics_listen,
            certificate,
            threads,
            waiting: self.waiting,
            in_flight: self.in_flight,
            body_limit_bytes: self.body_limit,
            drain: self.drain,
            poll: Some(self.poll),
        };
        // The settings are checked by the same component, on an engine of their own.
        let checker = Arc::new(self.policy.load()?);
        let source = ConfigSource {
            file: self.config.clone(),
            read: config_reader(self.config.clone(), checker),
        };
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build()
            .map_err(Error::serving)?;
        runtime.block_on(async {
            if let Some((cluster, name, ca_pem)) = managed {
                tokio::spawn(keep(cluster, name, ca_pem));
            }
            serve(policy, options, source, stopped(), |bound| {
                tracing::info!(judging = %bound.judging, observing = %bound.observing, "listening");
            })
            .await
            .map_err(Error::serving)
        })?;
        Ok(Exit::Clean)
    }

    fn certificate(&self) -> Result<Certificate, Error> {
        if let (Some(cert), Some(key)) = (&self.tls_cert, &self.tls_key) {
            return Ok(Certificate::Files(Files {
                cert: cert.clone(),
                key: key.clone(),
                client_ca: self.client_ca.clone(),
            }));
        }
        let names = self.self_signed.clone().unwrap_or_default();
        let certificate = SelfSigned::new(&names).map_err(Error::serving)?;
        if let Some(file) = &self.ca_bundle {
            std::fs::write(file, &certificate.ca_pem)
                .map_err(|source| Error::Output { target: file.display().to_string(), source })?;
        }
        Ok(Certificate::SelfSigned { certificate, client_ca: self.client_ca.clone() })
    }

    fn log(&self) {
        let filter = EnvFilter::try_from_env("PLUMB_LOG").unwrap_or_else(|_| "info".into());
        let builder =
            tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
        // A second subscriber in one process is refused; the first one serves.
        let _ = match self.log_format {
            LogFormat::Human => builder.try_init(),
            LogFormat::Json => builder.json().flatten_event(true).try_init(),
        };
    }
}

fn config_reader(
    file: Option<PathBuf>,
    policy: Arc<Policy>,
) -> Box<dyn Fn() -> Result<Config, Vec<String>> + Send + Sync> {
    Box::new(move || match &file {
        None => Ok(Config::default()),
        Some(file) => read_config(file, &policy),
    })
}

fn read_config(file: &Path, policy: &Policy) -> Result<Config, Vec<String>> {
    Config::read(&read(file)?, policy)
}

/// Done when the process is asked to end.
async fn stopped() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let Ok(mut terminate) = signal(SignalKind::terminate()) {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = tokio::signal::ctrl_c() => {}
            }
            return;
        }
    }
    let _ = tokio::signal::ctrl_c().await;
}

fn duration(text: &str) -> Result<Duration, String> {
    let span: jiff::SignedDuration =
        text.parse().map_err(|_| "expected a duration such as 5s".to_owned())?;
    Duration::try_from(span).map_err(|_| "expected a duration that is not negative".to_owned())
}
