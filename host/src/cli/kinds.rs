//! Which kinds a command is about.

use clap::Args;

use super::heading;
use super::policy::{PolicyArguments, SettingsArguments};
use crate::admission::kinds::{Choice, Kind};
use crate::engine::Policy;
use crate::error::Error;

/// Which kinds are meant. Without a choice, all of which plumb can hold a condition.
#[derive(Debug, Args)]
pub(super) struct KindsArguments {
    /// This kind: `Kind`, or `Kind.group` where several groups have it; `*` at the end stands for
    /// any text. Can be given again.
    #[arg(long, value_name = "KIND", help_heading = heading::KINDS)]
    kind: Vec<String>,
    /// The kinds of this group; `*` at the end stands for any text. Can be given again.
    #[arg(long, value_name = "GROUP", help_heading = heading::KINDS)]
    group: Vec<String>,
    /// The plural name of a kind, where it is not the English one:
    /// `Kind.group=plural`. Can be given again.
    #[arg(long, value_name = "KIND.GROUP=PLURAL", value_parser = pair, help_heading = heading::KINDS)]
    plural: Vec<(String, String)>,
    #[command(flatten)]
    settings: SettingsArguments,
    #[command(flatten)]
    policy: PolicyArguments,
}

/// The kinds, and what knows them.
pub(super) struct Chosen {
    pub(super) policy: Policy,
    pub(super) settings: String,
    pub(super) kinds: Vec<Kind>,
}

impl KindsArguments {
    pub(super) fn load(&self) -> Result<Chosen, Error> {
        let policy = self.policy.load()?;
        let settings = self.settings.load(&policy)?;
        let task = "list the profiles";
        let known =
            policy.profiles(&settings).map_err(|source| Error::Evaluation { task, source })?;
        let choice = Choice {
            kinds: self.kind.clone(),
            groups: self.group.clone(),
            plurals: self.plural.iter().cloned().collect(),
        };
        let kinds = choice.pick(&known).map_err(Error::Usage)?;
        Ok(Chosen { policy, settings, kinds })
    }
}

fn pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((kind, plural)) if !kind.is_empty() && !plural.is_empty() => {
            Ok((kind.to_owned(), plural.to_owned()))
        }
        _ => Err("expected `Kind.group=plural`".to_owned()),
    }
}
