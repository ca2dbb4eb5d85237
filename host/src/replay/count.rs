//! How much was judged, and how much was passed over.

use super::result::{Expectation, Judged, Skipped, Summary};
use crate::engine::{Scope, Severity};

impl Summary {
    pub(super) fn count_object(&mut self, profiled: bool) {
        self.objects += 1;
        if profiled {
            self.profiled += 1;
        } else {
            self.unprofiled += 1;
        }
    }

    pub(super) fn count(&mut self, result: &Judged) {
        match result.scope {
            Scope::State => self.states += 1,
            Scope::Transition => self.transitions += 1,
            Scope::Pass => self.passes += 1,
            Scope::Trace => self.traces += 1,
            Scope::Series | Scope::Set => {}
        }
        for finding in &result.findings {
            match finding.severity {
                Severity::Error => self.findings.error += 1,
                Severity::Warning => self.findings.warning += 1,
                Severity::Info => self.findings.info += 1,
            }
        }
        self.unmet += usize::from(result.expectation == Expectation::Unmet);
    }
}

/// Adds to what was passed over in an input.
pub(super) fn skip(skipped: &mut Vec<Skipped>, input: &str, document: usize, message: &str) {
    match skipped.iter_mut().find(|known| known.message == message) {
        Some(known) => known.count += 1,
        None => skipped.push(Skipped {
            input: input.to_owned(),
            document,
            count: 1,
            message: message.to_owned(),
        }),
    }
}
