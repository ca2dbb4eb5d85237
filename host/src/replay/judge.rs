//! Asks the policy, and takes its answers apart by scope.

use std::thread;

use super::result::{Decided, End, Expectation, Judged, Place};
use super::scan::Facts;
use crate::engine::{
    Action, Coherence, Decision, Ending, Error, Finding, Observation, Phase, Policy, Report, Scope,
    Verdict,
};

/// One evaluation, complete: it depends on nothing else.
#[derive(Debug)]
pub(super) struct Task {
    pub(super) call: Call,
    /// Who is judged.
    pub(super) facts: Facts,
    /// The judged thing first, then what it is judged beside.
    pub(super) places: Vec<Place>,
    /// The time taken for the present.
    pub(super) now: Option<String>,
}

/// What the policy is asked.
#[derive(Debug)]
pub(super) enum Call {
    Check(Observation),
    Decide { pass: String, settings: String, profiled: bool },
    Trace { trace: String, settings: String },
}

impl Task {
    /// `FILE#DOC`.
    pub(super) fn label(&self) -> String {
        let document = &self.places[0].document;
        format!("{}#{}", document.input, document.number)
    }

    /// Asks the policy. The first result is of the judged thing alone.
    fn run(&self, policy: &Policy) -> Result<Vec<Judged>, Error> {
        match &self.call {
            Call::Check(observation) => Ok(self.verdict(check(policy, observation)?, observation)),
            Call::Decide { pass, settings, profiled } => {
                let decision = policy.decide(pass, settings)?;
                Ok(vec![self.decision(decision, *profiled)])
            }
            Call::Trace { trace, settings } => {
                let report = policy.trace(trace, settings)?;
                Ok(vec![self.report(report)])
            }
        }
    }

    fn verdict(&self, verdict: Verdict, observation: &Observation) -> Vec<Judged> {
        let Verdict { phase, reason, coherence, profiled, findings, repair } = verdict;
        let mut results = Vec::new();
        let mut repair = repair.and_then(|patch| serde_json::from_str(&patch).ok());
        for scope in [Scope::State, Scope::Transition, Scope::Series, Scope::Set] {
            // Scopes that the call cannot have are told with the state, rather than not at all.
            let here = |found: Scope| match scope {
                Scope::State => !matches!(found, Scope::Transition | Scope::Series | Scope::Set),
                scope => found == scope,
            };
            let findings: Vec<Finding> =
                findings.iter().filter(|finding| here(finding.scope)).cloned().collect();
            let judged = match scope {
                Scope::State => true,
                Scope::Transition => observation.old.is_some() || !findings.is_empty(),
                _ => !findings.is_empty(),
            };
            if judged {
                results.push(Judged {
                    profiled,
                    phase,
                    reason: reason.clone(),
                    coherence,
                    repair: repair.take(),
                    ..self.result(scope, findings)
                });
            }
        }
        results
    }

    fn decision(&self, decision: Decision, profiled: bool) -> Judged {
        let Decision { action, reason, message, findings } = decision;
        let (action, delay) = match action {
            Action::Requeue => ("requeue", None),
            Action::After(delay) => ("after", Some(delay)),
            Action::Await => ("await", None),
            Action::Stop => ("stop", None),
        };
        Judged {
            profiled,
            decision: Some(Decided { action, delay, reason, message }),
            ..self.result(Scope::Pass, findings)
        }
    }

    fn report(&self, report: Report) -> Judged {
        let Report { state, until, lost, message, findings } = report;
        let state: Ending = state;
        let end = End { state: state.name(), until, lost_at: lost, message };
        Judged { end: Some(end), ..self.result(Scope::Trace, findings) }
    }

    fn result(&self, scope: Scope, findings: Vec<Finding>) -> Judged {
        let shown = if findings.is_empty() { 1 } else { self.places.len() };
        let Facts { api_version, kind, namespace, name, uid, resource_version, .. } =
            self.facts.clone();
        Judged {
            input: self.label(),
            scope,
            profiled: false,
            api_version,
            kind,
            namespace,
            name,
            uid,
            resource_version,
            now: self.now.clone(),
            phase: Phase::Unknown,
            reason: String::new(),
            coherence: Coherence::Unknown,
            findings,
            decision: None,
            end: None,
            repair: None,
            expectation: Expectation::None,
            unmet: Vec::new(),
            places: self.places[..shown].to_vec(),
        }
    }
}

/// Asks for a verdict. What stands beside the object may be malformed, which is no reason not to
/// judge the object.
fn check(policy: &Policy, observation: &Observation) -> Result<Verdict, Error> {
    match policy.check(observation) {
        Err(Error::Malformed(message)) if observation.has_company() => {
            let alone = Observation {
                old: None,
                history: Vec::new(),
                related: Vec::new(),
                ..observation.clone()
            };
            policy.check(&alone).map_err(|_| Error::Malformed(message))
        }
        answer => answer,
    }
}

impl Observation {
    fn has_company(&self) -> bool {
        self.old.is_some() || !self.history.is_empty() || !self.related.is_empty()
    }
}

/// Runs all tasks on as many threads as there are policies, and returns the answers in order.
pub(super) fn run(policies: &[Policy], tasks: &[Task]) -> Vec<Result<Vec<Judged>, Error>> {
    /// Fewer tasks than this a thread are not worth the thread.
    const TASKS_PER_THREAD: usize = 16;
    let threads = policies.len().min(tasks.len() / TASKS_PER_THREAD).max(1);
    if threads == 1 {
        return tasks.iter().map(|task| task.run(&policies[0])).collect();
    }
    let share = tasks.len().div_ceil(threads);
    thread::scope(|scope| {
        let workers: Vec<_> = tasks
            .chunks(share)
            .zip(policies)
            .map(|(tasks, policy)| {
                scope.spawn(move || tasks.iter().map(|task| task.run(policy)).collect::<Vec<_>>())
            })
            .collect();
        workers
            .into_iter()
            .flat_map(|worker| {
                worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            })
            .collect()
    })
}
