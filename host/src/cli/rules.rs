//! `plumb rules`

use clap::{Args, ValueEnum};

use super::policy::PolicyArguments;
use super::{heading, say, width};
use crate::error::Error;
use crate::exit::Exit;
use crate::rules;

/// Lists the rules, or explains one of them.
///
/// What is printed comes from the policy component itself.
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// The rule to explain.
    id: Option<String>,
    /// How the rules are written.
    #[arg(long, value_enum, default_value_t, help_heading = heading::OUTPUT)]
    format: Format,
    #[command(flatten)]
    policy: PolicyArguments,
}

/// How a list is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(super) enum Format {
    /// For people.
    #[default]
    Human,
    /// A JSON array.
    Json,
}

impl Arguments {
    pub(super) fn run(&self) -> Result<Exit, Error> {
        let policy = self.policy.load()?;
        let task = "list the rules";
        let catalogue = policy.rules().map_err(|source| Error::Evaluation { task, source })?;
        let chosen = match &self.id {
            None => catalogue.iter().collect(),
            Some(id) => vec![rules::find(&catalogue, id).map_err(|near| unknown(id, near))?],
        };
        let text = match (self.format, chosen.as_slice()) {
            (Format::Json, rules) => super::json(&rules)?,
            (Format::Human, [rule]) if self.id.is_some() => rules::manual(rule),
            (Format::Human, rules) => rules::list(rules, width()),
        };
        say(&text).map(|()| Exit::Clean)
    }
}

fn unknown(id: &str, near: Option<&str>) -> Error {
    let hint = match near {
        Some(near) => format!("did you mean `{near}`?"),
        None => "`plumb rules` lists them".to_owned(),
    };
    Error::Usage(format!("there is no rule `{id}`; {hint}"))
}
