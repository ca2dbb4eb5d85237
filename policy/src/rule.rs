//! What a rule is, and how one is declared.

use alloc::string::String;
use alloc::vec::Vec;

use crate::finding::{Coherence, Finding, Scope, Severity};
use crate::object::Object;
use crate::pass::Pass;
use crate::profile::Profile;
use crate::time::Time;
use crate::trace::story::Story;

/// One rule of the catalogue. A rule is pure: what it says depends on its input alone.
#[derive(Debug)]
pub struct Rule {
    /// Kebab-case; names the wrong state; never renamed, never used again.
    pub id: &'static str,
    /// The folder that the rule lives in.
    pub family: &'static str,
    /// Severity without settings.
    pub severity: Severity,
    /// What a finding of this rule means for the verdict's coherence.
    pub means: Coherence,
    /// The version that first had it.
    pub since: &'static str,
    /// The wrong state in one line.
    pub summary: &'static str,
    /// The manual, Markdown: the doc comment of the declaration.
    pub manual: &'static str,
    /// The rule itself.
    pub check: Check,
}

/// The rule's function; its kind says what the rule needs to see.
#[derive(Debug, Clone, Copy)]
pub enum Check {
    /// Judges one state.
    State(fn(&View<'_>) -> Vec<Finding>),
    /// Judges a pair: the state, and the one just before it of the same uid.
    Transition(fn(&View<'_>, &Object<'_>) -> Vec<Finding>),
    /// Judges three or more states of one uid, oldest first; the last one is the view's.
    Series(fn(&View<'_>, &[&Object<'_>]) -> Vec<Finding>),
    /// Judges the object beside others.
    Set(fn(&View<'_>, &[View<'_>]) -> Vec<Finding>),
    /// Judges one reconcile pass.
    Pass(fn(&Pass<'_>) -> Vec<Finding>),
    /// Judges a recorded queue history.
    Trace(fn(&Story<'_>) -> Vec<Finding>),
}

impl Check {
    /// What the rule needs to see.
    pub const fn scope(self) -> Scope {
        match self {
            Check::State(_) => Scope::State,
            Check::Transition(_) => Scope::Transition,
            Check::Series(_) => Scope::Series,
            Check::Set(_) => Scope::Set,
            Check::Pass(_) => Scope::Pass,
            Check::Trace(_) => Scope::Trace,
        }
    }
}

/// One object with what is known about its kind.
#[derive(Debug, Clone, Copy)]
pub struct View<'a> {
    /// The object.
    pub object: &'a Object<'a>,
    /// Its kind's conventions; the general ones where the kind is not known.
    pub profile: &'a Profile<'a>,
    /// Whether the kind is known.
    pub profiled: bool,
    /// The present, if known.
    pub now: Option<Time>,
}

impl Rule {
    /// A finding of this rule at `path`.
    pub fn finding(&self, path: impl Into<String>, message: impl Into<String>) -> Finding {
        Finding {
            rule: self.id,
            severity: self.severity,
            scope: self.check.scope(),
            path: path.into(),
            message: message.into(),
            related: Vec::new(),
            help: None,
        }
    }
}

/// Declares a rule; the doc comment becomes its manual.
#[macro_export]
macro_rules! declare_rule {
    (
        $(#[doc = $manual:literal])+
        pub static RULE = {
            id: $id:literal,
            family: $family:literal,
            severity: $severity:ident,
            means: $means:ident,
            since: $since:literal,
            summary: $summary:literal,
            check: $check:expr,
        }
    ) => {
        $(#[doc = $manual])+
        pub(crate) static RULE: $crate::rule::Rule = $crate::rule::Rule {
            id: $id,
            family: $family,
            severity: $crate::finding::Severity::$severity,
            means: $crate::finding::Coherence::$means,
            since: $since,
            summary: $summary,
            manual: concat!($($manual, "\n"),+),
            check: $check,
        };
    };
}
