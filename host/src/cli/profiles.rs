//! `plumb profiles`

use clap::{Args, Subcommand};

use super::policy::{PolicyArguments, SettingsArguments};
use super::rules::Format;
use super::{heading, say, width};
use crate::error::Error;
use crate::exit::Exit;
use crate::input::{ItemKind, sources};
use crate::profiles;

/// Lists the kinds of which the conventions are known, or shows one of them.
///
/// What is printed comes from the policy component itself and from the settings.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(super) struct Arguments {
    /// The kind to show, as YAML for the settings: `GitRepository`, or
    /// `GitRepository.source.toolkit.fluxcd.io` where several groups have it.
    kind: Option<String>,
    /// How the kinds are written.
    #[arg(long, value_enum, default_value_t, help_heading = heading::OUTPUT)]
    format: Format,
    #[command(flatten)]
    settings: SettingsArguments,
    #[command(flatten)]
    policy: PolicyArguments,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    Infer(Infer),
}

/// Proposes a profile for a kind from recorded objects of it, as settings to edit.
#[derive(Debug, Args)]
struct Infer {
    /// Files, folders, patterns, or `-`; all objects must be of one kind.
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<String>,
    #[command(flatten)]
    policy: PolicyArguments,
}

impl Arguments {
    pub(super) fn run(&self) -> Result<Exit, Error> {
        if let Some(Command::Infer(infer)) = &self.command {
            return infer.run();
        }
        let policy = self.policy.load()?;
        let settings = self.settings.load(&policy)?;
        let task = "list the profiles";
        let known =
            policy.profiles(&settings).map_err(|source| Error::Evaluation { task, source })?;
        let chosen = match &self.kind {
            None => known.iter().collect(),
            Some(kind) => profiles::find(&known, kind).map_err(Error::Usage)?,
        };
        let text = match self.format {
            Format::Json => super::json(&chosen)?,
            Format::Human if self.kind.is_some() => profiles::documents(&chosen),
            Format::Human => profiles::list(&chosen, width()),
        };
        say(&text).map(|()| Exit::Clean)
    }
}

impl Infer {
    fn run(&self) -> Result<Exit, Error> {
        let policy = self.policy.load()?;
        let (sources, mut errors) = sources(&self.paths);
        if let Some(error) = errors.pop() {
            return Err(Error::Input(error));
        }
        let mut samples = Vec::new();
        for source in sources {
            for document in source.open().map_err(Error::Input)? {
                let items = document.map_err(Error::Input)?.items;
                samples.extend(items.into_iter().filter_map(|item| match item.kind {
                    ItemKind::Object(json) => Some(json),
                    _ => None,
                }));
            }
        }
        let task = "infer a profile";
        let profile =
            policy.infer(&samples).map_err(|source| Error::Evaluation { task, source })?;
        say(&profiles::settings(&profile)).map(|()| Exit::Clean)
    }
}
