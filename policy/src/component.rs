//! The policy as a component: the only file that knows WIT.
#![expect(unsafe_code, reason = "generated code")]
#![expect(clippy::pedantic, reason = "generated code")]

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::finding as own;
use crate::verdict::Observation;
use crate::{catalogue, decide, evaluate, infer, trace, verdict};

wit_bindgen::generate!({ world: "policy", path: "../wit" });

use exports::plumb::policy::evaluator as wit;

struct Component;

export!(Component);

impl wit::Guest for Component {
    fn check(observation: wit::Observation) -> Result<wit::Verdict, wit::Fault> {
        let history: Vec<&str> = observation.history.iter().map(String::as_str).collect();
        let related: Vec<&str> = observation.related.iter().map(String::as_str).collect();
        verdict::check(&Observation {
            object: &observation.object,
            old: observation.old.as_deref(),
            history: &history,
            related: &related,
            now: observation.now.as_deref(),
            settings: &observation.settings,
        })
        .map(|verdict| wit::Verdict {
            phase: phase(verdict.phase),
            reason: verdict.reason,
            coherence: coherence(verdict.coherence),
            profiled: verdict.profiled,
            findings: findings(verdict.findings),
            repair: verdict.repair,
        })
        .map_err(fault)
    }

    fn decide(pass: String, settings: String) -> Result<wit::Decision, wit::Fault> {
        decide::decide(&pass, &settings)
            .map(|decision| wit::Decision {
                action: match decision.action {
                    own::Action::Requeue => wit::Action::Requeue,
                    own::Action::After(millis) => wit::Action::After(millis),
                    own::Action::Await => wit::Action::Await,
                    own::Action::Stop => wit::Action::Stop,
                },
                reason: decision.reason,
                message: decision.message,
                findings: findings(decision.findings),
            })
            .map_err(fault)
    }

    fn trace(trace: String, settings: String) -> Result<wit::Report, wit::Fault> {
        trace::trace(&trace, &settings)
            .map(|report| wit::Report {
                state: match report.state {
                    own::Ending::Settled => wit::Ending::Settled,
                    own::Ending::Asleep => wit::Ending::Asleep,
                    own::Ending::Stuck => wit::Ending::Stuck,
                    own::Ending::Hot => wit::Ending::Hot,
                },
                until: report.until,
                lost: report.lost,
                message: report.message,
                findings: findings(report.findings),
            })
            .map_err(fault)
    }

    fn rules() -> Vec<wit::Rule> {
        catalogue::rules()
            .map(|rule| wit::Rule {
                id: rule.id.to_string(),
                family: rule.family.to_string(),
                scope: scope(rule.check.scope()),
                severity: severity(rule.severity),
                since: rule.since.to_string(),
                summary: rule.summary.to_string(),
                manual: catalogue::manual(rule),
            })
            .collect()
    }

    fn profiles(settings: String) -> Result<Vec<wit::Profile>, wit::Fault> {
        let kinds = catalogue::profiles(&settings).map_err(fault)?;
        Ok(kinds
            .into_iter()
            .map(|kind| wit::Profile {
                group: kind.group,
                kind: kind.kind,
                origin: kind.origin.to_string(),
                document: kind.document,
            })
            .collect())
    }

    fn validate(settings: String) -> Vec<wit::Note> {
        catalogue::validate(&settings).into_iter().map(note).collect()
    }

    fn infer(samples: Vec<String>) -> Result<String, wit::Fault> {
        let samples: Vec<&str> = samples.iter().map(String::as_str).collect();
        infer::infer(&samples).map_err(fault)
    }

    fn evaluate_json(request: String) -> Result<String, String> {
        evaluate::evaluate(&request)
    }
}

fn findings(findings: Vec<own::Finding>) -> Vec<wit::Finding> {
    findings
        .into_iter()
        .map(|finding| wit::Finding {
            rule: finding.rule.to_string(),
            severity: severity(finding.severity),
            scope: scope(finding.scope),
            path: finding.path,
            message: finding.message,
            related: finding.related.into_iter().map(note).collect(),
            help: finding.help,
        })
        .collect()
}

fn note(note: own::Note) -> wit::Note {
    wit::Note { origin: note.origin, path: note.path, message: note.message }
}

fn fault(fault: own::Fault) -> wit::Fault {
    match fault {
        own::Fault::Malformed(message) => wit::Fault::Malformed(message),
        own::Fault::Unsupported(message) => wit::Fault::Unsupported(message),
        own::Fault::Internal(message) => wit::Fault::Internal(message),
    }
}

fn severity(severity: own::Severity) -> wit::Severity {
    match severity {
        own::Severity::Info => wit::Severity::Info,
        own::Severity::Warning => wit::Severity::Warning,
        own::Severity::Error => wit::Severity::Error,
    }
}

fn scope(scope: own::Scope) -> wit::Scope {
    match scope {
        own::Scope::State => wit::Scope::State,
        own::Scope::Transition => wit::Scope::Transition,
        own::Scope::Series => wit::Scope::Series,
        own::Scope::Set => wit::Scope::Set,
        own::Scope::Pass => wit::Scope::Pass,
        own::Scope::Trace => wit::Scope::Trace,
    }
}

fn phase(phase: own::Phase) -> wit::Phase {
    match phase {
        own::Phase::Settled => wit::Phase::Settled,
        own::Phase::Progressing => wit::Phase::Progressing,
        own::Phase::Failed => wit::Phase::Failed,
        own::Phase::Suspended => wit::Phase::Suspended,
        own::Phase::Terminating => wit::Phase::Terminating,
        own::Phase::Unknown => wit::Phase::Unknown,
    }
}

fn coherence(coherence: own::Coherence) -> wit::Coherence {
    match coherence {
        own::Coherence::Coherent => wit::Coherence::Coherent,
        own::Coherence::Stale => wit::Coherence::Stale,
        own::Coherence::Incoherent => wit::Coherence::Incoherent,
        own::Coherence::Unknown => wit::Coherence::Unknown,
    }
}
