//! How a replay is done.

use thiserror::Error;

/// How a replay is done.
#[derive(Debug, Clone)]
pub struct Options {
    /// The time taken for the present, RFC 3339, in place of any other.
    pub now: Option<String>,
    /// Settings, JSON; empty for the defaults. See [`read_settings`](super::read_settings).
    pub settings: String,
    /// Patterns of rule ids: other findings are not told. All if empty.
    pub rules: Vec<String>,
    /// Patterns of kinds, also as `Kind.group`: other objects are not judged. All if empty.
    pub kinds: Vec<String>,
    /// Patterns of namespaces: other objects are not judged. All if empty.
    pub namespaces: Vec<String>,
    /// Write what is found into the files as their expectations.
    pub update: bool,
    /// Keep the results for the report; they are told as events in any case.
    pub keep: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            now: None,
            settings: String::new(),
            rules: Vec::new(),
            kinds: Vec::new(),
            namespaces: Vec::new(),
            update: false,
            keep: true,
        }
    }
}

/// What is wrong with [`Options`].
#[derive(Debug, Error)]
pub enum OptionsError {
    /// `now` is no time.
    #[error("`{0}` is no time such as 2026-11-30T12:00:00Z")]
    Now(String),
    /// A pattern is none.
    #[error("not a pattern: {0}")]
    Pattern(String),
    /// The settings are not what they should be; one line for each problem.
    #[error("the settings are wrong: {}", .0.join("; "))]
    Settings(Vec<String>),
    /// The policy cannot be asked.
    #[error("the policy failed on the settings: {0}")]
    Policy(#[from] crate::engine::Error),
}
