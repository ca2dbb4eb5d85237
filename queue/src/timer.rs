use core::fmt;

use crate::Millis;

/// A point in time, or never, in eight bytes. Never comes after every point in time.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Timer(Millis);

impl Timer {
    pub(crate) const NEVER: Self = Self(Millis::MAX);

    /// A timer that fires at `at`.
    pub(crate) fn at(at: Millis) -> Self {
        Self(at.min(Millis::MAX - 1))
    }

    /// A timer that fires `delay` after `now`.
    pub(crate) fn after(now: Millis, delay: Millis) -> Self {
        Self::at(now.saturating_add(delay))
    }

    pub(crate) fn due(self) -> Option<Millis> {
        (self != Self::NEVER).then_some(self.0)
    }

    pub(crate) fn has_fired(self, now: Millis) -> bool {
        self.0 <= now && self != Self::NEVER
    }

    /// The same timer on a clock that starts at `zero`; one long overdue is just due.
    pub(crate) fn rebase(self, zero: Millis) -> Self {
        if self == Self::NEVER { self } else { Self(self.0.saturating_sub(zero)) }
    }
}

impl Default for Timer {
    fn default() -> Self {
        Self::NEVER
    }
}

impl fmt::Debug for Timer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.due() {
            Some(due) => write!(f, "{due}ms"),
            None => f.write_str("never"),
        }
    }
}
