//! `plumb export`.

use clap::{Args, Subcommand, ValueEnum};

use super::kinds::KindsArguments;
use super::webhook::documents;
use super::{heading, say, say_note};
use crate::admission::policies::{self, Action};
use crate::admission::sample;
use crate::error::Error;
use crate::exit::Exit;

/// Writes rules in the forms of other tools.
#[derive(Debug, Args)]
pub(super) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    AdmissionPolicy(AdmissionPolicy),
}

/// Prints what holds a torn status as `MutatingAdmissionPolicy` and `ValidatingAdmissionPolicy`
/// with their bindings (admissionregistration.k8s.io/v1, CEL), for clusters of version 1.36 or
/// later that want it without a server.
///
/// Each policy says in its annotations which rule it stands for, and what it cannot do. What of a
/// kind CEL cannot say is left out, and named on standard error.
#[derive(Debug, Args)]
struct AdmissionPolicy {
    #[command(flatten)]
    kinds: KindsArguments,
    /// What the validating policy does with a torn status.
    #[arg(long, value_enum, default_value_t, help_heading = heading::OUTPUT)]
    action: OnTorn,
}

/// What the validating policy does with a torn status.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
enum OnTorn {
    /// Tells the user who writes, and the audit log.
    #[default]
    Warn,
    /// Refuses the write.
    Deny,
}

impl Arguments {
    pub(super) fn run(&self) -> Result<Exit, Error> {
        match &self.command {
            Command::AdmissionPolicy(arguments) => arguments.run(),
        }
    }
}

impl AdmissionPolicy {
    fn run(&self) -> Result<Exit, Error> {
        let chosen = self.kinds.load()?;
        let action = match self.action {
            OnTorn::Warn => Action::Warn,
            OnTorn::Deny => Action::Deny,
        };
        let mut all = Vec::new();
        for kind in &chosen.kinds {
            let task = "ask for the rules of a torn status";
            let rules = sample::rules(&chosen.policy, &chosen.settings, kind)
                .map_err(|source| Error::Evaluation { task, source })?;
            let name = format!("{}.{}", kind.kind, kind.group);
            if rules.is_empty() {
                say_note(&format!("{name}: no rule of this policy finds it torn; left out"));
                continue;
            }
            let (documents, left_out) = policies::documents(kind, &rules, action);
            for one in left_out {
                say_note(&format!(
                    "{name}: {}: left out `{}`: {}",
                    one.condition, one.text, one.why
                ));
            }
            all.extend(documents);
        }
        if all.is_empty() {
            return Err(Error::Usage("nothing of these kinds can be said in CEL".to_owned()));
        }
        let text = documents(&all).map_err(|error| Error::stdout(error.into()))?;
        say(&text).map(|()| Exit::Clean)
    }
}
