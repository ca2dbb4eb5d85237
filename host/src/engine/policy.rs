//! A loaded policy and its calls.

use std::sync::{Arc, Mutex};

use wasmtime::Store;

use super::bindings::exports::plumb::policy::evaluator::Guest;
use super::limits::{self, Guard, KEPT_BYTES, REPLY_BYTES};
use super::{
    About, Decision, Error, Fault, Identity, Note, Observation, Profile, Report, Rule, Verdict,
    bindings,
};

/// What one evaluation may leave to the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Isolation {
    /// Nothing: each evaluation has an instance of its own.
    #[default]
    Fresh,
    /// The instance. It is faster for many small objects, and right where all of them come from
    /// one user: a policy that keeps something in its memory can let one evaluation colour the
    /// next. After a failure a new instance is made.
    Reused,
}

/// A policy, ready to judge from any thread.
pub struct Policy {
    pre: Arc<bindings::PolicyPre<Guard>>,
    about: Arc<About>,
    isolation: Isolation,
    /// The instance kept for the next evaluation, under [`Isolation::Reused`].
    kept: Mutex<Option<Live>>,
}

/// An instance in its store.
struct Live {
    store: Store<Guard>,
    guest: bindings::Policy,
}

impl Policy {
    pub(super) fn new(pre: bindings::PolicyPre<Guard>, about: About) -> Self {
        Self {
            pre: Arc::new(pre),
            about: Arc::new(about),
            isolation: Isolation::default(),
            kept: Mutex::new(None),
        }
    }

    /// The same policy under another isolation.
    #[must_use]
    pub fn with_isolation(self, isolation: Isolation) -> Self {
        Self { isolation, kept: Mutex::new(None), ..self }
    }

    /// How evaluations are kept apart.
    pub fn isolation(&self) -> Isolation {
        self.isolation
    }

    /// Which policy this is.
    pub fn identity(&self) -> &Identity {
        &self.about.identity
    }

    /// What the component says of itself, and what it needs and gives.
    pub fn about(&self) -> &About {
        &self.about
    }

    /// Judges one object.
    ///
    /// ```
    /// use plumb_host::engine::{Observation, Policy};
    ///
    /// let policy = Policy::embedded()?;
    /// let verdict = policy.check(&Observation {
    ///     object: r#"{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}}"#.to_owned(),
    ///     old: None,
    ///     history: Vec::new(),
    ///     related: Vec::new(),
    ///     now: None,
    ///     settings: String::new(),
    /// })?;
    /// assert!(verdict.findings.is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn check(&self, observation: &Observation) -> Result<Verdict, Error> {
        let Observation { object, old, history, related, now, settings } = observation;
        let input_bytes = [Some(object), old.as_ref(), now.as_ref(), Some(settings)]
            .into_iter()
            .flatten()
            .chain(history)
            .chain(related)
            .map(String::len)
            .sum();
        self.call(input_bytes, |guest, store| guest.call_check(store, observation))
    }

    /// Judges one reconcile pass (JSON, `kind: Reconcile`): what a controller should return, and
    /// what is wrong with what it is about to.
    ///
    /// ```
    /// use plumb_host::engine::{Action, Policy};
    ///
    /// let policy = Policy::embedded()?;
    /// let pass = r#"{
    ///     "apiVersion": "plumb.dev/v1alpha1", "kind": "Reconcile",
    ///     "spec": {
    ///         "object": {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "a"}},
    ///         "outcome": {"type": "canceled", "by": "GitRepository/default/app"},
    ///         "result": {}
    ///     }
    /// }"#;
    /// let decision = policy.decide(pass, "")?;
    /// // What kube-rs calls `Action::requeue` and `Action::await_change`.
    /// let delay = match decision.action {
    ///     Action::Requeue => Some(0),
    ///     Action::After(milliseconds) => Some(milliseconds),
    ///     Action::Await | Action::Stop => None,
    /// };
    /// assert!(delay.is_some(), "a run that was cut off is taken up again");
    /// assert!(!decision.findings.is_empty(), "an empty result would lose it");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn decide(&self, pass: &str, settings: &str) -> Result<Decision, Error> {
        let input_bytes = pass.len() + settings.len();
        self.call(input_bytes, |guest, store| guest.call_decide(store, pass, settings))
    }

    /// Judges a recorded queue history (JSON, `kind: QueueTrace`).
    pub fn trace(&self, trace: &str, settings: &str) -> Result<Report, Error> {
        let input_bytes = trace.len() + settings.len();
        let fuel = limits::trace_fuel(input_bytes);
        self.call_with(fuel, input_bytes, |guest, store| guest.call_trace(store, trace, settings))
    }

    /// The catalogue of rules, ordered by id.
    pub fn rules(&self) -> Result<Vec<Rule>, Error> {
        self.call(limits::CATALOGUE_BYTES, |guest, store| {
            guest.call_rules(store).map(Ok::<_, Fault>)
        })
    }

    /// The known kinds, ordered by group, then kind, with those of the settings.
    pub fn profiles(&self, settings: &str) -> Result<Vec<Profile>, Error> {
        let input_bytes = settings.len() + limits::CATALOGUE_BYTES;
        self.call(input_bytes, |guest, store| guest.call_profiles(store, settings))
    }

    /// What is wrong with the settings; nothing if the list is empty.
    pub fn validate(&self, settings: &str) -> Result<Vec<Note>, Error> {
        self.call(settings.len(), |guest, store| {
            guest.call_validate(store, settings).map(Ok::<_, Fault>)
        })
    }

    /// A proposed profile (JSON) for the kind of the samples (JSON each).
    pub fn infer(&self, samples: &[String]) -> Result<String, Error> {
        let input_bytes = samples.iter().map(String::len).sum();
        self.call(input_bytes, |guest, store| guest.call_infer(store, samples))
    }

    /// Any of the above, by a JSON request; see `evaluate-json` in `wit/policy.wit`.
    pub fn evaluate_json(&self, request: &str) -> Result<String, Error> {
        // The request may be for the catalogue.
        let input_bytes = request.len() + limits::CATALOGUE_BYTES;
        self.call(input_bytes, |guest, store| {
            Ok(guest.call_evaluate_json(store, request)?.map_err(|fault| read_fault(&fault)))
        })
    }

    /// Calls the guest within the limits that an input of this size gets.
    fn call<T, F: Into<Error>>(
        &self,
        input_bytes: usize,
        function: impl FnOnce(&Guest, &mut Store<Guard>) -> wasmtime::Result<Result<T, F>>,
    ) -> Result<T, Error> {
        self.call_with(limits::fuel(input_bytes), input_bytes, function)
    }

    /// The same with another budget than the usual one.
    fn call_with<T, F: Into<Error>>(
        &self,
        fuel: u64,
        input_bytes: usize,
        function: impl FnOnce(&Guest, &mut Store<Guard>) -> wasmtime::Result<Result<T, F>>,
    ) -> Result<T, Error> {
        let mut live = match self.take_kept() {
            Some(live) => live,
            None => self.instantiate(input_bytes)?,
        };
        let Live { store, guest } = &mut live;
        store.data_mut().limit_bytes = limits::memory(input_bytes);
        let answer = store
            .set_fuel(fuel)
            .and_then(|()| function(guest.plumb_policy_evaluator(), store))
            .map_err(|error| Error::from_wasmtime(&error, store.data(), fuel))?;
        // Only an instance that has answered is kept: one that trapped refuses further calls.
        self.keep(live);
        answer.map_err(Into::into)
    }

    fn instantiate(&self, input_bytes: usize) -> Result<Live, Error> {
        let fuel = limits::fuel(input_bytes);
        let guard = Guard::new(limits::memory(input_bytes));
        let mut store = Store::new(self.pre.engine(), guard);
        store.limiter(|guard| guard);
        store.set_hostcall_fuel(REPLY_BYTES);
        let guest = store.set_fuel(fuel).and_then(|()| self.pre.instantiate(&mut store));
        match guest {
            Ok(guest) => Ok(Live { store, guest }),
            Err(error) => Err(Error::from_wasmtime(&error, store.data(), fuel)),
        }
    }

    /// The kept instance, unless another thread has it.
    fn take_kept(&self) -> Option<Live> {
        match self.isolation {
            Isolation::Fresh => None,
            Isolation::Reused => self.kept.try_lock().ok()?.take(),
        }
    }

    fn keep(&self, live: Live) {
        if self.isolation == Isolation::Reused
            && live.store.data().memory_bytes <= KEPT_BYTES
            && let Ok(mut kept) = self.kept.try_lock()
        {
            *kept = Some(live);
        }
    }
}

/// Shares the code; keeps an instance of its own.
impl Clone for Policy {
    fn clone(&self) -> Self {
        Self {
            pre: Arc::clone(&self.pre),
            about: Arc::clone(&self.about),
            isolation: self.isolation,
            kept: Mutex::new(None),
        }
    }
}

impl std::fmt::Debug for Policy {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Policy")
            .field("identity", self.identity())
            .field("isolation", &self.isolation)
            .finish_non_exhaustive()
    }
}

/// Reads the error side of `evaluate-json`.
fn read_fault(text: &str) -> Error {
    #[derive(serde::Deserialize)]
    struct Written {
        fault: String,
        message: String,
    }
    match serde_json::from_str::<Written>(text) {
        Ok(Written { fault, message }) => match fault.as_str() {
            "malformed" => Error::Malformed(message),
            "unsupported" => Error::Unsupported(message),
            _ => Error::Internal(message),
        },
        Err(_) => Error::Contract(format!("a fault is not JSON of the contract: {text}")),
    }
}
