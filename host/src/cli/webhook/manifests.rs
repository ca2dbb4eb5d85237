//! `plumb webhook manifests`.

use std::path::PathBuf;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use clap::{Args, ValueEnum};
use serde_json::{Value, json};

use crate::admission::webhooks::{self, Registration};
use crate::cli::kinds::KindsArguments;
use crate::cli::{heading, say};
use crate::error::Error;
use crate::exit::Exit;
use crate::yaml;

/// Prints the registration of the webhook for the kinds that the profiles cover: a
/// `MutatingWebhookConfiguration`, a `ValidatingWebhookConfiguration`, and the permissions that
/// are needed.
///
/// The webhook is asked about status writes alone, and the mutating one only where a condition is
/// torn or is to be released.
#[derive(Debug, Args)]
pub(in crate::cli) struct Arguments {
    #[command(flatten)]
    kinds: KindsArguments,
    /// Name of both configurations.
    #[arg(long, default_value = webhooks::NAME, help_heading = heading::SERVER)]
    name: String,
    /// The webhook's own namespace, about which it is not asked.
    #[arg(long, default_value = "plumb-system", help_heading = heading::SERVER)]
    namespace: String,
    /// The webhook's Service and its service account.
    #[arg(long, default_value = webhooks::NAME, help_heading = heading::SERVER)]
    service: String,
    /// A URL instead of the Service, without a path and without a query.
    #[arg(long, value_name = "URL", help_heading = heading::SERVER)]
    url: Option<String>,
    /// What the API server trusts, PEM.
    #[arg(long, value_name = "FILE", help_heading = heading::SERVER)]
    ca_bundle: Option<PathBuf>,
    /// Let cert-manager fill in the authority of this Certificate.
    #[arg(long, value_name = "NAMESPACE/NAME", conflicts_with = "ca_bundle", help_heading = heading::SERVER)]
    cert_manager: Option<String>,
    /// Add the permission for `plumb webhook --manage-webhook-configuration`.
    #[arg(long, help_heading = heading::SERVER)]
    manage_webhook_configuration: bool,
    /// What becomes of a write while the webhook does not answer.
    #[arg(long, value_enum, default_value_t, help_heading = heading::SERVER)]
    failure_policy: FailurePolicy,
    /// Seconds that the API server waits; keep it above the webhook's deadline.
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u8).range(1..=30), help_heading = heading::SERVER)]
    timeout_seconds: u8,
    /// How it is written.
    #[arg(long, value_enum, default_value_t, help_heading = heading::OUTPUT)]
    format: Format,
}

/// What becomes of a write while the webhook does not answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
enum FailurePolicy {
    /// It goes on as it is.
    #[default]
    Ignore,
    /// It is refused.
    Fail,
}

/// How manifests are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
enum Format {
    /// YAML documents.
    #[default]
    Yaml,
    /// A `List`.
    Json,
    /// The part of the Helm chart's values that says which kinds are meant.
    Values,
}

impl Arguments {
    pub(in crate::cli) fn run(&self) -> Result<Exit, Error> {
        let kinds = self.kinds.load()?.kinds;
        let text = match self.format {
            Format::Values => yaml::from_json(
                &json!({
                    "mutating": webhooks::mutating(&kinds),
                    "validating": webhooks::validating(&kinds),
                })
                .to_string(),
            ),
            Format::Yaml => documents(&webhooks::documents(&kinds, &self.registration()?)),
            Format::Json => {
                let items = webhooks::documents(&kinds, &self.registration()?);
                let list = json!({"apiVersion": "v1", "kind": "List", "items": items});
                return say(&crate::cli::json(&list)?).map(|()| Exit::Clean);
            }
        };
        say(&text.map_err(|error| Error::stdout(error.into()))?).map(|()| Exit::Clean)
    }

    fn registration(&self) -> Result<Registration, Error> {
        let ca_bundle = match &self.ca_bundle {
            None => None,
            Some(file) => {
                let pem = std::fs::read(file).map_err(|error| {
                    Error::Usage(format!("failed to read {}: {error}", file.display()))
                })?;
                Some(STANDARD.encode(pem))
            }
        };
        Ok(Registration {
            name: self.name.clone(),
            namespace: self.namespace.clone(),
            service: self.service.clone(),
            url: self.url.clone(),
            ca_bundle,
            inject_from: self.cert_manager.clone(),
            timeout_seconds: self.timeout_seconds,
            failure_policy: match self.failure_policy {
                FailurePolicy::Ignore => "Ignore".to_owned(),
                FailurePolicy::Fail => "Fail".to_owned(),
            },
            manage: self.manage_webhook_configuration,
        })
    }
}

/// Documents as a YAML stream.
pub(in crate::cli) fn documents(documents: &[Value]) -> serde_json::Result<String> {
    let texts: Result<Vec<String>, _> =
        documents.iter().map(|document| yaml::from_json(&document.to_string())).collect();
    Ok(texts?.join("---\n"))
}
