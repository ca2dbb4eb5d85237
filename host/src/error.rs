//! Why a command could not do its work at all. What is wrong with a single input is part of the
//! report instead.

use std::io;

use thiserror::Error;

use crate::engine::{self, LoadError};
use crate::exit::Exit;
use crate::input::Unreadable;

/// Why a command could not do its work.
#[derive(Debug, Error)]
pub enum Error {
    /// The command line asks for something that cannot be.
    #[error("{0}")]
    Usage(String),
    /// The settings are wrong; one line for each fault, with its place.
    #[error("failed to read the settings {file}: {}", faults.join("\n  "))]
    Settings {
        /// The file.
        file: String,
        /// What is wrong, each with its place.
        faults: Vec<String>,
    },
    /// An input that all depends on cannot be read.
    #[error("{}", unreadable(.0))]
    Input(Unreadable),
    /// The policy does not load.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// The policy in the file is not the one that was asked for.
    #[error("failed to load the policy {file}: its SHA-256 is {found}, not {wanted}")]
    Digest {
        /// The file.
        file: String,
        /// What was found.
        found: String,
        /// What was asked for.
        wanted: String,
    },
    /// The policy failed.
    #[error("failed to {task}: {source}")]
    Evaluation {
        /// What it should have done.
        task: &'static str,
        /// Why it did not.
        source: engine::Error,
    },
    /// The server does not run.
    #[error("{0}")]
    Server(String),
    /// The output cannot be written.
    #[error("failed to write {target}: {source}")]
    Output {
        /// A file, or `the output`.
        target: String,
        /// Why.
        source: io::Error,
    },
}

impl Error {
    /// How the command ends.
    pub fn exit(&self) -> Exit {
        match self {
            Self::Usage(_) | Self::Settings { .. } | Self::Server(_) | Self::Output { .. } => {
                Exit::Usage
            }
            Self::Input(_) => Exit::Unreadable,
            Self::Load(_) | Self::Digest { .. } | Self::Evaluation { .. } => Exit::Policy,
        }
    }

    /// Whether the reader of the output went away, which is no fault.
    pub fn is_closed_pipe(&self) -> bool {
        matches!(self, Self::Output { source, .. } if source.kind() == io::ErrorKind::BrokenPipe)
    }

    /// What becomes of a server that does not run.
    pub(crate) fn serving(error: impl std::error::Error) -> Self {
        Self::Server(error.to_string())
    }

    /// What becomes of a failure to write to standard output.
    pub(crate) fn stdout(source: io::Error) -> Self {
        Self::Output { target: "the output".to_owned(), source }
    }
}

fn unreadable(error: &Unreadable) -> String {
    let Unreadable { input, document, line, message } = error;
    let line = line.map(|line| format!(", line {line}")).unwrap_or_default();
    let document = document.map(|number| format!(", document {number}")).unwrap_or_default();
    format!("failed to read {input}{document}{line}: {message}")
}
