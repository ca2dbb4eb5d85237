//! Why a decision is what it is: a closed list.

macro_rules! reasons {
    ($($(#[doc = $meaning:literal])+ $reason:ident = $name:literal,)+) => {
        /// Why a decision is what it is.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Reason {
            $($(#[doc = $meaning])+ $reason,)+
        }

        impl Reason {
            /// All of them, ordered by name.
            pub const ALL: &[Reason] = &[$(Reason::$reason),+];

            /// As decisions carry it.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Reason::$reason => $name,)+
                }
            }

            /// What it means, as one sentence.
            pub const fn meaning(self) -> &'static str {
                match self {
                    $(Reason::$reason => concat!($($meaning),+),)+
                }
            }
        }
    };
}

reasons! {
    /// The pass was cut off before its end, so its work is still owed.
    Canceled = "canceled",
    /// The object is being deleted, and something is left to do.
    Deleting = "deleting",
    /// The pass failed, and may work another time.
    Failed = "failed",
    /// Nothing was done but to add the finalizer.
    FinalizerAdded = "finalizer-added",
    /// By the clock: nothing is overdue; the delay ends when something would be.
    Fine = "fine",
    /// The object is gone, or only its finalizer kept it.
    Gone = "gone",
    /// All is done, and the kind is looked at by interval.
    Interval = "interval",
    /// By the clock: a run is overdue, and a long queue or back-off would explain it.
    Late = "late",
    /// All is done, and a change will be an event.
    Settled = "settled",
    /// The pass worked on a revision that its source has left.
    SourceMoved = "source-moved",
    /// No controller works on such an object.
    Static = "static",
    /// By the clock: a run is overdue by more than any back-off explains.
    Stuck = "stuck",
    /// The object is suspended; a change of it resumes it.
    Suspended = "suspended",
    /// Only a change of the spec can help, and that is an event of its own.
    Terminal = "terminal",
    /// A step was done, and the next one is to follow at once.
    Unfinished = "unfinished",
    /// The object does not say that it is done, and not what became of the pass.
    Unsettled = "unsettled",
    /// Another object is waited for.
    Waiting = "waiting",
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_ordered_and_named_once() {
        assert!(Reason::ALL.windows(2).all(|pair| pair[0].name() < pair[1].name()));
    }
}
