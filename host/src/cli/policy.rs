//! Which policy judges, and by which settings.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use super::heading;
use crate::engine::{self, Policy};
use crate::error::Error;
use crate::input::{Source, Unreadable};
use crate::output::words;
use crate::replay::read_settings;

/// What names the policy.
#[derive(Debug, Args)]
pub(super) struct PolicyArguments {
    /// Judge by the component in this file instead of the one that is built in. Any component of
    /// the world in wit/policy.wit will do.
    #[arg(long, value_name = "FILE", help_heading = heading::JUDGEMENT)]
    policy: Option<PathBuf>,
    /// Refuse the component of `--policy` unless this is its SHA-256, in hexadecimal.
    #[arg(
        long,
        value_name = "HEX",
        requires = "policy",
        value_parser = digest,
        help_heading = heading::JUDGEMENT
    )]
    policy_sha256: Option<String>,
}

/// How evaluations are kept apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(super) enum Isolation {
    /// Each evaluation has an instance of its own.
    #[default]
    Fresh,
    /// One instance judges all: faster for many small objects.
    Reused,
}

/// Which settings hold.
#[derive(Debug, Args)]
pub(super) struct SettingsArguments {
    /// Settings: own profiles, rules on and off, severities (`kind: Settings`, YAML).
    #[arg(long, visible_alias = "config", value_name = "FILE", help_heading = heading::JUDGEMENT)]
    settings: Option<PathBuf>,
}

impl PolicyArguments {
    pub(super) fn load(&self) -> Result<Policy, Error> {
        let Some(file) = &self.policy else {
            return Ok(Policy::embedded()?);
        };
        let policy = Policy::from_file(file)?;
        let found = &policy.identity().sha256;
        match &self.policy_sha256 {
            Some(wanted) if wanted != found => Err(Error::Digest {
                file: file.display().to_string(),
                found: found.clone(),
                wanted: wanted.clone(),
            }),
            _ => Ok(policy),
        }
    }
}

impl SettingsArguments {
    /// The settings as JSON, found right by the policy; empty for the defaults.
    pub(super) fn load(&self, policy: &Policy) -> Result<String, Error> {
        let Some(file) = &self.settings else {
            return Ok(String::new());
        };
        let wrong = |faults| Error::Settings { file: file.display().to_string(), faults };
        let settings = read(file).map_err(wrong)?;
        let faults = policy
            .validate(&settings)
            .map_err(|source| Error::Evaluation { task: "validate the settings", source })?;
        if faults.is_empty() {
            return Ok(settings);
        }
        let faults = faults.iter().map(|note| match words::field(&note.path) {
            field if field.is_empty() => note.message.clone(),
            field => format!("{field}: {}", note.message),
        });
        Err(wrong(faults.collect()))
    }
}

/// The settings in a file as JSON, or what is wrong with the file.
pub(super) fn read(file: &Path) -> Result<String, Vec<String>> {
    read_settings(&Source::file(file)).map_err(|errors| {
        let faults = errors.into_iter().map(|Unreadable { line, message, .. }| match line {
            Some(line) => format!("line {line}: {message}"),
            None => message,
        });
        faults.collect()
    })
}

impl From<Isolation> for engine::Isolation {
    fn from(isolation: Isolation) -> Self {
        match isolation {
            Isolation::Fresh => Self::Fresh,
            Isolation::Reused => Self::Reused,
        }
    }
}

fn digest(text: &str) -> Result<String, String> {
    if text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        Ok(text.to_ascii_lowercase())
    } else {
        Err("expected 64 hexadecimal digits".to_owned())
    }
}
