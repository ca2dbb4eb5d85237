//! The contract's types under the names that `wit/policy.wit` gives them.
//!
//! The generated Rust types carry Rust's names (`Severity::Error`). Whatever a user sees or writes,
//! JSON output and fixture headers alike, carries the contract's (`error`). A record is written
//! with the fields that it has; an absent option is no field.

use std::fmt::{self, Display, Formatter};

use serde::de::{Deserialize, Deserializer, Error};
use serde::ser::{Serialize, SerializeStruct, Serializer};

use super::{
    Action, Coherence, Decision, Ending, Fault, Finding, Note, Phase, Profile, Report, Rule, Scope,
    Severity, Verdict,
};

macro_rules! enumeration {
    ($type:ident { $($case:ident = $name:literal),+ $(,)? }) => {
        impl $type {
            /// All cases in the order of the contract.
            pub const ALL: &'static [Self] = &[$(Self::$case),+];

            /// The contract's name of this case.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$case => $name),+
                }
            }
        }

        impl Display for $type {
            fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
                formatter.pad(self.name())
            }
        }

        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.name())
            }
        }

        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let name = String::deserialize(deserializer)?;
                match name.as_str() {
                    $($name => Ok(Self::$case),)+
                    _ => Err(D::Error::unknown_variant(&name, &[$($name),+])),
                }
            }
        }
    };
}

enumeration!(Severity { Info = "info", Warning = "warning", Error = "error" });
enumeration!(Scope {
    State = "state",
    Transition = "transition",
    Series = "series",
    Set = "set",
    Pass = "pass",
    Trace = "trace",
});
enumeration!(Phase {
    Settled = "settled",
    Progressing = "progressing",
    Failed = "failed",
    Suspended = "suspended",
    Terminating = "terminating",
    Unknown = "unknown",
});
enumeration!(Coherence {
    Coherent = "coherent",
    Stale = "stale",
    Incoherent = "incoherent",
    Unknown = "unknown",
});
enumeration!(Ending { Settled = "settled", Asleep = "asleep", Stuck = "stuck", Hot = "hot" });

macro_rules! record {
    ($type:ident { $($field:ident $(: $option:ident)?),+ $(,)? }) => {
        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                let Self { $($field),+ } = self;
                let fields = 0 $(+ count!($field $($option)?))+;
                let mut record = serializer.serialize_struct(stringify!($type), fields)?;
                $(write_field!(record, $field $($option)?);)+
                record.end()
            }
        }
    };
}

macro_rules! count {
    ($field:ident) => {
        1
    };
    ($field:ident option) => {
        usize::from($field.is_some())
    };
}

macro_rules! write_field {
    ($record:ident, $field:ident) => {
        $record.serialize_field(stringify!($field), $field)?
    };
    ($record:ident, $field:ident option) => {
        match $field {
            Some(value) => $record.serialize_field(stringify!($field), value)?,
            None => $record.skip_field(stringify!($field))?,
        }
    };
}

record!(Note { origin, path, message });
record!(Finding { rule, severity, scope, path, message, related, help: option });
record!(Verdict { phase, reason, coherence, profiled, findings, repair: option });
record!(Report { state, until: option, lost: option, message, findings });
record!(Rule { id, family, scope, severity, since, summary, manual });
record!(Profile { group, kind, origin, document });

impl Action {
    /// The contract's name of this case.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Requeue => "requeue",
            Self::After(_) => "after",
            Self::Await => "await",
            Self::Stop => "stop",
        }
    }

    /// How long to wait, in milliseconds, where the action is to wait.
    pub const fn delay(&self) -> Option<u32> {
        match self {
            Self::After(milliseconds) => Some(*milliseconds),
            Self::Requeue | Self::Await | Self::Stop => None,
        }
    }
}

/// The action stands flat in the decision: `"action": "after", "delay": 1000`. Without a delay
/// there is no such field.
impl Serialize for Decision {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { action, reason, message, findings } = self;
        let fields = if action.delay().is_some() { 5 } else { 4 };
        let mut record = serializer.serialize_struct("Decision", fields)?;
        record.serialize_field("action", action.name())?;
        match action.delay() {
            Some(milliseconds) => record.serialize_field("delay", &milliseconds)?,
            None => record.skip_field("delay")?,
        }
        record.serialize_field("reason", reason)?;
        record.serialize_field("message", message)?;
        record.serialize_field("findings", findings)?;
        record.end()
    }
}

impl Fault {
    /// The contract's name of this case.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Malformed(_) => "malformed",
            Self::Unsupported(_) => "unsupported",
            Self::Internal(_) => "internal",
        }
    }

    /// What the component says about it.
    pub fn message(&self) -> &str {
        match self {
            Self::Malformed(message) | Self::Unsupported(message) | Self::Internal(message) => {
                message
            }
        }
    }
}

/// `{"fault": "malformed", "message": "…"}`
impl Serialize for Fault {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut record = serializer.serialize_struct("Fault", 2)?;
        record.serialize_field("fault", self.name())?;
        record.serialize_field("message", self.message())?;
        record.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn enumerations_are_written_and_read_under_the_contracts_names() {
        for severity in Severity::ALL {
            let text = serde_json::to_string(severity).unwrap();
            assert_eq!(text, format!("\"{severity}\""));
            assert_eq!(serde_json::from_str::<Severity>(&text).unwrap(), *severity);
        }
        let error = serde_json::from_str::<Phase>("\"Settled\"").unwrap_err().to_string();
        assert!(error.contains("unknown variant `Settled`, expected one of `settled`"), "{error}");
    }

    #[test]
    fn severities_are_ordered_by_weight() {
        assert!(Severity::Info < Severity::Warning && Severity::Warning < Severity::Error);
    }

    #[test]
    fn a_decision_carries_its_action_flat() {
        let decision = |action| Decision {
            action,
            reason: "r".into(),
            message: "m".into(),
            findings: Vec::new(),
        };
        assert_eq!(
            serde_json::to_string(&decision(Action::After(1500))).unwrap(),
            r#"{"action":"after","delay":1500,"reason":"r","message":"m","findings":[]}"#
        );
        assert_eq!(
            serde_json::to_string(&decision(Action::Await)).unwrap(),
            r#"{"action":"await","reason":"r","message":"m","findings":[]}"#
        );
    }

    #[test]
    fn a_fault_names_its_case() {
        let text = serde_json::to_string(&Fault::Malformed("no object".into())).unwrap();
        assert_eq!(text, r#"{"fault":"malformed","message":"no object"}"#);
    }

    #[test]
    fn an_absent_option_is_no_field() {
        let mut finding = Finding {
            rule: "a".into(),
            severity: Severity::Error,
            scope: Scope::State,
            path: "/b".into(),
            message: "c".into(),
            related: vec![Note { origin: "old".into(), path: "/d".into(), message: "e".into() }],
            help: None,
        };
        assert_eq!(
            serde_json::to_string(&finding).unwrap(),
            r#"{"rule":"a","severity":"error","scope":"state","path":"/b","message":"c","related":[{"origin":"old","path":"/d","message":"e"}]}"#
        );
        finding.help = Some("f".into());
        assert!(serde_json::to_string(&finding).unwrap().ends_with(r#""help":"f"}"#));
    }
}
