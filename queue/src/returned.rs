use crate::Millis;

/// Whose worker loop reads the result of a pass.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Runtime {
    /// controller-runtime, whichever queue it uses (`pkg/internal/controller/controller.go`,
    /// `reconcileHandler`).
    ControllerRuntime,
    /// A worker loop written by hand over client-go's queue, as the core controllers have it:
    /// error: `AddRateLimited`; a delay: `Forget`, then `AddAfter`; else `Forget`.
    ClientGo,
    /// kube-rs (`kube-runtime/src/controller/mod.rs`, `applier`).
    KubeRs,
}

/// What one pass returned, as written; nothing is resolved yet.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Returned {
    /// `Result.Requeue`.
    pub requeue: bool,
    /// `Result.RequeueAfter` or kube-rs's `Action::requeue`, in milliseconds. A positive delay
    /// below one millisecond is one millisecond.
    pub after: Option<i64>,
    /// An error was returned.
    pub error: bool,
    /// The error was wrapped in `reconcile.TerminalError`.
    pub terminal: bool,
}

impl Returned {
    /// The empty result; kube-rs: `Action::await_change`.
    pub const EMPTY: Self = Self { requeue: false, after: None, error: false, terminal: false };
    /// `Result{Requeue: true}`.
    pub const REQUEUE: Self = Self { requeue: true, ..Self::EMPTY };
    /// An error.
    pub const ERROR: Self = Self { error: true, ..Self::EMPTY };
    /// A terminal error.
    pub const TERMINAL: Self = Self { error: true, terminal: true, ..Self::EMPTY };

    /// `Result{RequeueAfter: after}`.
    pub const fn after(after: i64) -> Self {
        Self { after: Some(after), ..Self::EMPTY }
    }

    /// What the runtime does with this result.
    ///
    /// controller-runtime, first match wins: terminal error, error, `RequeueAfter > 0`, `Requeue`,
    /// anything else. A zero or negative `RequeueAfter` therefore schedules nothing, whereas a
    /// loop by hand that passes it to `AddAfter` adds the key at once. kube-rs knows neither
    /// `Requeue` nor a terminal error; the closest are `Action::requeue(0)` and an error policy
    /// that answers `await_change`.
    pub fn step(&self, runtime: Runtime, on_error: Option<Millis>) -> Step {
        let after = self.after.map(|after| Millis::try_from(after).unwrap_or(0));
        match runtime {
            Runtime::ControllerRuntime if self.terminal => Step::Nothing,
            Runtime::ControllerRuntime | Runtime::ClientGo if self.error && !self.terminal => {
                Step::RateLimited
            }
            Runtime::ControllerRuntime => match after {
                Some(after) if after > 0 => Step::ForgetThenAfter(after),
                _ if self.requeue => Step::RateLimited,
                _ => Step::Forget,
            },
            Runtime::ClientGo => match after {
                _ if self.terminal => Step::Forget,
                Some(after) => Step::ForgetThenAfter(after),
                None if self.requeue => Step::RateLimited,
                None => Step::Forget,
            },
            Runtime::KubeRs => {
                let after = match after {
                    _ if self.terminal => None,
                    _ if self.error => on_error,
                    Some(after) => Some(after),
                    None => self.requeue.then_some(0),
                };
                after.map_or(Step::Nothing, Step::After)
            }
        }
    }
}

/// What a runtime does with the result of a pass, before `Done`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Step {
    /// Neither an add nor a `Forget`.
    Nothing,
    /// `Forget` only.
    Forget,
    /// `AddRateLimited`; the failure count grows.
    RateLimited,
    /// `Forget`, then `AddAfter`.
    ForgetThenAfter(Millis),
    /// kube-rs: schedule after a delay.
    After(Millis),
}
