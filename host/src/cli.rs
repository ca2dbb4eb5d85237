//! The command line: one file for each subcommand, each of which parses its arguments and calls
//! the library.

mod completion;
mod component;
mod explore;
mod export;
mod kinds;
mod policy;
mod profiles;
mod progress;
mod replay;
mod rules;
mod watch;
mod webhook;

use std::ffi::{OsStr, OsString};
use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::process::ExitCode;

use anstyle::{AnsiColor, Effects, Style};
use clap::builder::Styles;
use clap::{Args, ColorChoice, CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::error::Error;
use crate::exit::Exit;
use crate::output::Verbosity;

/// The headings of the help, in the order in which they are shown.
mod heading {
    pub(super) const INPUT: &str = "Input";
    pub(super) const JUDGEMENT: &str = "Judgement";
    pub(super) const OUTPUT: &str = "Output";
    pub(super) const SERVER: &str = "Server";
    pub(super) const LIMITS: &str = "Limits";
    pub(super) const KINDS: &str = "Kinds";
}

const STYLES: Styles = Styles::styled()
    .header(Style::new().effects(Effects::BOLD))
    .usage(Style::new().effects(Effects::BOLD))
    .literal(AnsiColor::Cyan.on_default())
    .placeholder(AnsiColor::Cyan.on_default());

/// `--version`; `-V` is the first line's number alone.
const LONG_VERSION: &str = concat!(
    env!("CARGO_PKG_VERSION"),
    "\ncontract plumb:policy@0.1.0\npolicy   sha256 ",
    env!("PLUMB_POLICY_SHA256")
);

/// Columns where the output is not a terminal.
const DEFAULT_WIDTH: usize = 140;

/// Judges the status that Kubernetes controllers publish, and what they decide to do next.
#[derive(Debug, Parser)]
#[command(
    name = "plumb",
    version,
    long_version = LONG_VERSION,
    styles = STYLES,
    max_term_width = 100,
    propagate_version = true,
    subcommand_required = true,
    arg_required_else_help = true
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    common: Common,
}

#[derive(Debug, Subcommand)]
enum Command {
    Replay(Box<replay::Arguments>),
    Explore(Box<explore::Arguments>),
    Rules(rules::Arguments),
    Profiles(profiles::Arguments),
    Policy(component::Arguments),
    Webhook(Box<webhook::Arguments>),
    Export(export::Arguments),
    Completion(completion::Arguments),
}

/// What every subcommand takes.
#[derive(Debug, Args)]
struct Common {
    /// Say more: every result, and findings of severity info.
    #[arg(short, long, global = true, help_heading = heading::OUTPUT)]
    verbose: bool,
    /// Say less: only findings and the closing line.
    #[arg(short, long, global = true, conflicts_with = "verbose", help_heading = heading::OUTPUT)]
    quiet: bool,
    /// Colours; `auto` heeds `NO_COLOR` and `CLICOLOR_FORCE`.
    #[arg(long, global = true, value_name = "WHEN", default_value_t, help_heading = heading::OUTPUT)]
    color: ColorChoice,
}

impl Common {
    fn verbosity(&self) -> Verbosity {
        match (self.quiet, self.verbose) {
            (true, _) => Verbosity::Quiet,
            (false, true) => Verbosity::Verbose,
            (false, false) => Verbosity::Normal,
        }
    }
}

/// The command line as clap has it; the manual and the completions come from it.
pub fn command() -> clap::Command {
    Cli::command()
}

/// Runs one command line, program name first.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    let mut command = command();
    if arguments.first().is_some_and(|name| is_kubectl_plugin(name)) {
        command = command.bin_name("kubectl plumb");
    }
    let parsed = command
        .try_get_matches_from_mut(arguments)
        .and_then(|matches| Cli::from_arg_matches(&matches));
    let Cli { command, common } = match parsed {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version go to standard output and are no error; a closed pipe is none
            // either.
            let _ = error.print();
            return if error.use_stderr() { Exit::Usage.into() } else { Exit::Clean.into() };
        }
    };
    choose_colors(common.color);
    let result = match &command {
        Command::Replay(arguments) => arguments.run(&common),
        Command::Explore(arguments) => arguments.run(common.verbosity()),
        Command::Rules(arguments) => arguments.run(),
        Command::Profiles(arguments) => arguments.run(),
        Command::Policy(arguments) => arguments.run(common.verbose),
        Command::Webhook(arguments) => arguments.run(),
        Command::Export(arguments) => arguments.run(),
        Command::Completion(arguments) => arguments.run(),
    };
    match result {
        Ok(exit) => exit.into(),
        Err(error) if error.is_closed_pipe() => Exit::Clean.into(),
        Err(error) => {
            say_error(&error.to_string());
            error.exit().into()
        }
    }
}

/// Whether kubectl called: it runs `kubectl-plumb` for `kubectl plumb`.
fn is_kubectl_plugin(program: &OsStr) -> bool {
    Path::new(program).file_stem().is_some_and(|name| name == "kubectl-plumb")
}

fn choose_colors(choice: ColorChoice) {
    match choice {
        ColorChoice::Auto => anstream::ColorChoice::Auto,
        ColorChoice::Always => anstream::ColorChoice::Always,
        ColorChoice::Never => anstream::ColorChoice::Never,
    }
    .write_global();
}

/// Writes to standard output all at once, with colours where they are wanted.
fn say(text: &str) -> Result<(), Error> {
    let mut out = anstream::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(Error::stdout)
}

/// A value as JSON, with its line break.
fn json(value: &impl serde::Serialize) -> Result<String, Error> {
    let text = serde_json::to_string_pretty(value);
    text.map(|text| text + "\n").map_err(|error| Error::stdout(error.into()))
}

/// Says on standard error why nothing came of it.
fn say_error(message: &str) {
    let style = AnsiColor::BrightRed.on_default().effects(Effects::BOLD);
    // There is nowhere else to say that standard error is closed.
    let _ = writeln!(anstream::stderr(), "{style}error{style:#}: {message}");
}

/// Says on standard error what else there is to know.
fn say_note(message: &str) {
    let style = AnsiColor::Cyan.on_default().effects(Effects::BOLD);
    let _ = writeln!(anstream::stderr(), "{style}note{style:#}: {message}");
}

/// Columns of the terminal that standard output is.
fn width() -> usize {
    if !io::stdout().is_terminal() {
        return DEFAULT_WIDTH;
    }
    terminal_size::terminal_size().map_or(DEFAULT_WIDTH, |(width, _)| usize::from(width.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_sound() {
        command().debug_assert();
    }

    #[test]
    fn kubectls_plugin_is_told_by_its_name() {
        for (name, is_plugin) in [
            ("/usr/bin/kubectl-plumb", true),
            ("kubectl-plumb", true),
            ("plumb", false),
            ("kubectl-plumber", false),
        ] {
            assert_eq!(is_kubectl_plugin(OsStr::new(name)), is_plugin, "{name}");
        }
    }
}
