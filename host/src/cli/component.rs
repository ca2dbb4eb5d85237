//! `plumb policy`

use std::fmt::Write;
use std::path::PathBuf;

use clap::{Args, Subcommand};
use serde::Serialize;

use super::rules::Format;
use super::{heading, json, say};
use crate::conformance::{self, Check, Outcome};
use crate::engine::{About, Policy, Rule};
use crate::error::Error;
use crate::exit::Exit;

/// Looks at a policy component: the one that is built in, or any of the world in wit/policy.wit.
#[derive(Debug, Args)]
pub(super) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Inspect(Inspect),
    Test(Test),
}

/// Shows what a component is: world, version, imports, rules, size, digest.
#[derive(Debug, Args)]
struct Inspect {
    #[command(flatten)]
    target: Target,
}

/// Asks a component what every policy must hold to: determinism, limits, forms of faults, and the
/// examples in its own rules' manuals.
///
/// Exit code 1 if it does not hold to all of it, 4 if it does not load.
#[derive(Debug, Args)]
struct Test {
    #[command(flatten)]
    target: Target,
}

#[derive(Debug, Args)]
struct Target {
    /// The component; the one that is built in if not named.
    file: Option<PathBuf>,
    /// How the answer is written.
    #[arg(long, value_enum, default_value_t, help_heading = heading::OUTPUT)]
    format: Format,
}

/// What is told of a component.
#[derive(Debug, Serialize)]
struct Inspected<'a> {
    file: &'a str,
    #[serde(flatten)]
    about: &'a About,
    profiles: usize,
    rules: Vec<Entry<'a>>,
}

/// A rule without its manual.
#[derive(Debug, Serialize)]
struct Entry<'a> {
    id: &'a str,
    family: &'a str,
    scope: crate::engine::Scope,
    severity: crate::engine::Severity,
    since: &'a str,
    summary: &'a str,
}

#[derive(Debug, Serialize)]
struct Tested<'a> {
    file: &'a str,
    sha256: &'a str,
    conforms: bool,
    checks: &'a [Check],
}

impl Arguments {
    pub(super) fn run(&self, is_verbose: bool) -> Result<Exit, Error> {
        match &self.command {
            Command::Inspect(Inspect { target }) => target.inspect(),
            Command::Test(Test { target }) => target.test(is_verbose),
        }
    }
}

impl Target {
    fn load(&self) -> Result<(String, Policy), Error> {
        match &self.file {
            Some(file) => Ok((file.display().to_string(), Policy::from_file(file)?)),
            None => Ok(("(embedded)".to_owned(), Policy::embedded()?)),
        }
    }

    fn inspect(&self) -> Result<Exit, Error> {
        let (file, policy) = self.load()?;
        let failed = |task| move |source| Error::Evaluation { task, source };
        let rules = policy.rules().map_err(failed("list the rules"))?;
        let profiles = policy.profiles("").map_err(failed("list the profiles"))?.len();
        let entries =
            rules.iter().map(|Rule { id, family, scope, severity, since, summary, .. }| Entry {
                id,
                family,
                scope: *scope,
                severity: *severity,
                since,
                summary,
            });
        let inspected =
            Inspected { file: &file, about: policy.about(), profiles, rules: entries.collect() };
        let text = match self.format {
            Format::Json => json(&inspected)?,
            Format::Human => inspected.text(),
        };
        say(&text).map(|()| Exit::Clean)
    }

    fn test(&self, is_verbose: bool) -> Result<Exit, Error> {
        let (file, policy) = self.load()?;
        let checks = conformance::run(&policy);
        let conforms = conformance::conforms(&checks);
        let sha256 = &policy.identity().sha256;
        let text = match self.format {
            Format::Json => json(&Tested { file: &file, sha256, conforms, checks: &checks })?,
            Format::Human => tested(&file, &checks, is_verbose),
        };
        say(&text)?;
        Ok(if conforms { Exit::Clean } else { Exit::Findings })
    }
}

impl Inspected<'_> {
    fn text(&self) -> String {
        let About { identity, bytes, world, exports, imports, description, licence, source } =
            self.about;
        let list = |names: &[String]| {
            if names.is_empty() { "none".to_owned() } else { names.join(", ") }
        };
        let mut text = String::new();
        let rows = [
            ("file", self.file.to_owned()),
            ("name", identity.name.clone()),
            ("version", identity.version.clone()),
            ("description", description.clone()),
            ("licence", licence.clone()),
            ("source", source.clone()),
            ("world", world.clone()),
            ("exports", list(exports)),
            ("imports", list(imports)),
            ("size", format!("{bytes} bytes")),
            ("sha256", identity.sha256.clone()),
            ("profiles", self.profiles.to_string()),
            ("rules", self.rules.len().to_string()),
        ];
        for (name, value) in rows.into_iter().filter(|(_, value)| !value.is_empty()) {
            let _ = writeln!(text, "{name:<12} {value}");
        }
        let widest = self.rules.iter().map(|rule| rule.id.len()).max().unwrap_or(0);
        for Entry { id, severity, scope, summary, .. } in &self.rules {
            let _ = writeln!(text, "  {id:<widest$}  {severity:<7}  {scope:<10}  {summary}");
        }
        text
    }
}

fn tested(file: &str, checks: &[Check], is_verbose: bool) -> String {
    let mut text = String::new();
    let count = |wanted| checks.iter().filter(|check| check.outcome == wanted).count();
    for Check { name, outcome, details } in checks {
        let mark = match outcome {
            Outcome::Passed if is_verbose => "ok    ",
            Outcome::Skipped if is_verbose => "skip  ",
            Outcome::Failed => "FAILED",
            Outcome::Passed | Outcome::Skipped => continue,
        };
        let _ = writeln!(text, "{mark} {name}");
        for detail in details {
            let _ = writeln!(text, "       {detail}");
        }
    }
    let (passed, failed) = (count(Outcome::Passed), count(Outcome::Failed));
    let skipped = count(Outcome::Skipped);
    let _ = writeln!(text, "{file}: {passed} passed, {failed} failed, {skipped} skipped");
    text
}
