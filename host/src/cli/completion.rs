//! `plumb completion`

use std::io;

use clap::Args;
use clap_complete::Shell;

use super::say;
use crate::error::Error;
use crate::exit::Exit;

/// Prints the completions of a shell.
///
/// For bash: `plumb completion bash > ~/.local/share/bash-completion/completions/plumb`
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// The shell.
    shell: Shell,
}

impl Arguments {
    pub(super) fn run(&self) -> Result<Exit, Error> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut super::command(), "plumb", &mut script);
        let script =
            String::from_utf8(script).map_err(|error| Error::stdout(io::Error::other(error)))?;
        say(&script).map(|()| Exit::Clean)
    }
}
