//! The exit codes of `plumb`, and which of them wins.

use std::process::ExitCode;

/// How `plumb` ended. `docs/exit-codes.md` is generated from [`Exit::ALL`].
///
/// Where several hold, the greatest wins: a run that could not judge everything vouches for
/// nothing, whatever it found in the rest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Exit {
    /// Everything was judged, and nothing is wrong.
    Clean = 0,
    /// Something is wrong with what was judged.
    Findings = 1,
    /// The command line or the settings are wrong.
    Usage = 2,
    /// Some input could not be read.
    Unreadable = 3,
    /// The policy could not be loaded, or it failed on some input.
    Policy = 4,
    /// The cluster could not be reached or refused to answer.
    Cluster = 5,
}

impl Exit {
    /// All of them, in order.
    pub const ALL: [Self; 6] =
        [Self::Clean, Self::Findings, Self::Usage, Self::Unreadable, Self::Policy, Self::Cluster];

    /// The number that the shell sees.
    pub const fn code(self) -> u8 {
        self as u8
    }

    /// What it means, for the manual.
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::Clean => {
                "Everything was judged. No finding is as severe as `--fail-on`, and all \
                 expectations of fixture headers are met."
            }
            Self::Findings => {
                "Everything was judged. A finding is at least as severe as `--fail-on`, or an \
                 expectation of a fixture header is not met. Findings that a header expects do \
                 not count. With `--fail-on never` only expectations count."
            }
            Self::Usage => "The command line or the settings are wrong. Nothing was judged.",
            Self::Unreadable => {
                "Some input could not be read: a missing file, a bad document, a duplicate key. \
                 The rest was judged."
            }
            Self::Policy => {
                "The policy component could not be loaded (another world or version, not a \
                 component, a wrong `--policy-sha256`), or it failed on some input (out of time, \
                 out of memory, trapped). A failed evaluation is never a pass. The rest was \
                 judged."
            }
            Self::Cluster => "The cluster could not be reached or refused to answer.",
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_documented_numbers_are_the_numbers() {
        assert_eq!(Exit::ALL.map(Exit::code), [0, 1, 2, 3, 4, 5]);
    }

    #[test]
    fn the_greatest_wins() {
        assert_eq!(Exit::Findings.max(Exit::Policy).max(Exit::Unreadable), Exit::Policy);
    }
}
