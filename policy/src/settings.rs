//! What a user sets: profiles of own kinds, rules on and off, severities, what to ignore.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use serde::de::{self, Unexpected};
use serde::{Deserialize, Deserializer};

use crate::document;
use crate::finding::{Finding, Note, Severity};
use crate::object::Object;
use crate::profile::{self, Profile, Text};
use crate::registry;
use crate::time::Time;

/// The settings document (`kind: Settings`), or its `spec` alone.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default, bound(deserialize = "'de: 'a"))]
pub struct Settings<'a> {
    /// `plumb.dev/v1alpha1`.
    pub api_version: Text<'a>,
    /// `Settings`.
    pub kind: Text<'a>,
    /// Ignored, but for its name.
    pub metadata: Option<de::IgnoredAny>,
    /// Profiles of own kinds; they come before the built-in ones.
    pub profiles: Vec<Profile<'a>>,
    /// Changes of rules; the last one that matches counts.
    pub rules: Vec<RuleSetting<'a>>,
    /// Findings that are known and accepted.
    pub ignore: Vec<Ignore<'a>>,
    /// The host's own; see `docs/webhook.md`.
    pub webhook: Option<serde::de::IgnoredAny>,
}

/// A change of one or several rules.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default, bound(deserialize = "'de: 'a"))]
pub struct RuleSetting<'a> {
    /// Rule ids; `*` at the end stands for any text.
    pub rules: Vec<Text<'a>>,
    /// Where it holds.
    pub on: Target<'a>,
    /// `off`, or a severity.
    pub level: Option<Level>,
}

/// What a rule is set to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// Nothing is reported.
    Off,
    /// Severity info.
    Info,
    /// Severity warning.
    Warning,
    /// Severity error.
    Error,
}

/// `level: off` without quotes is `false` to YAML as Kubernetes reads it.
impl<'de> Deserialize<'de> for Level {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl de::Visitor<'_> for Visitor {
            type Value = Level;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("off, info, warning or error")
            }

            fn visit_bool<E: de::Error>(self, value: bool) -> Result<Level, E> {
                if value {
                    Err(E::invalid_value(Unexpected::Bool(value), &self))
                } else {
                    Ok(Level::Off)
                }
            }

            fn visit_str<E: de::Error>(self, value: &str) -> Result<Level, E> {
                Ok(match value {
                    "off" => Level::Off,
                    "info" => Level::Info,
                    "warning" => Level::Warning,
                    "error" => Level::Error,
                    _ => return Err(E::invalid_value(Unexpected::Str(value), &self)),
                })
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

/// A finding that is known and accepted.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default, bound(deserialize = "'de: 'a"))]
pub struct Ignore<'a> {
    /// Rule ids; `*` at the end stands for any text.
    pub rules: Vec<Text<'a>>,
    /// Where it holds.
    pub on: Target<'a>,
    /// Why; required.
    pub reason: Text<'a>,
    /// Until when (`2026-12-31` or RFC 3339); for ever if empty.
    pub until: Text<'a>,
}

/// Which objects; what is empty matches all. `*` at the end stands for any text.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default, bound(deserialize = "'de: 'a"))]
pub struct Target<'a> {
    /// API groups.
    pub groups: Vec<Text<'a>>,
    /// Kinds.
    pub kinds: Vec<Text<'a>>,
    /// Namespaces.
    pub namespaces: Vec<Text<'a>>,
    /// Names.
    pub names: Vec<Text<'a>>,
}

impl<'a> Settings<'a> {
    /// The settings in `text`; the defaults for an empty text.
    ///
    /// # Errors
    /// Everything that is wrong, each with its place.
    pub fn read(text: &'a str) -> Result<Self, Vec<Note>> {
        if text.trim().is_empty() {
            return Ok(Settings::default());
        }
        let settings: Settings<'a> = document::read(text)
            .map_err(|wrong| alloc::vec![note(wrong.pointer(), wrong.message)])?;
        let problems = settings.problems();
        if problems.is_empty() { Ok(settings) } else { Err(problems) }
    }

    fn problems(&self) -> Vec<Note> {
        let mut found = Vec::new();
        if !self.api_version.is_empty() && self.api_version != "plumb.dev/v1alpha1" {
            let message = format!("`{}` is not `plumb.dev/v1alpha1`", self.api_version);
            found.push(note("/apiVersion".into(), message));
        }
        if !self.kind.is_empty() && self.kind != "Settings" {
            found.push(note("/kind".into(), format!("`{}` is not `Settings`", self.kind)));
        }
        for (index, profile) in self.profiles.iter().enumerate() {
            let problems = profile::problems(profile, &format!("/profiles/{index}"));
            found.extend(problems.into_iter().map(|(path, message)| note(path, message)));
        }
        let settings = self.rules.iter().map(|setting| &setting.rules);
        let ignores = self.ignore.iter().map(|ignore| &ignore.rules);
        for (list, rules) in settings
            .enumerate()
            .map(|(index, rules)| (format!("/rules/{index}"), rules))
            .chain(ignores.enumerate().map(|(index, rules)| (format!("/ignore/{index}"), rules)))
        {
            if rules.is_empty() {
                found.push(note(format!("{list}/rules"), "names no rule".into()));
            }
            for (number, id) in rules.iter().enumerate() {
                if !registry::RULES.iter().any(|rule| glob(id, rule.id)) {
                    let message = format!("`{id}` is no rule; see `plumb rules`");
                    found.push(note(format!("{list}/rules/{number}"), message));
                }
            }
        }
        for (index, setting) in self.rules.iter().enumerate() {
            if setting.level.is_none() {
                let message = "needs `level`: off, info, warning or error";
                found.push(note(format!("/rules/{index}"), message.into()));
            }
        }
        for (index, ignore) in self.ignore.iter().enumerate() {
            if ignore.reason.trim().is_empty() {
                let message = "needs a `reason`: why is this finding accepted?";
                found.push(note(format!("/ignore/{index}"), message.into()));
            }
            if !ignore.until.is_empty() && ignore.until().is_none() {
                let message = format!("`{}` is no date such as 2026-12-31", ignore.until);
                found.push(note(format!("/ignore/{index}/until"), message));
            }
        }
        found
    }

    /// Applies the settings to the findings about `object`.
    pub fn apply(&self, object: &Object<'_>, now: Option<Time>, findings: &mut Vec<Finding>) {
        if self.rules.is_empty() && self.ignore.is_empty() {
            return;
        }
        findings.retain_mut(|finding| {
            let matching = self.rules.iter().rev().find(|setting| {
                setting.rules.iter().any(|id| glob(id, finding.rule)) && setting.on.covers(object)
            });
            finding.severity = match matching.and_then(|setting| setting.level) {
                Some(Level::Off) => return false,
                Some(Level::Info) => Severity::Info,
                Some(Level::Warning) => Severity::Warning,
                Some(Level::Error) => Severity::Error,
                None => finding.severity,
            };
            !self.ignore.iter().any(|ignore| {
                ignore.rules.iter().any(|id| glob(id, finding.rule))
                    && ignore.on.covers(object)
                    && !ignore.expired(now)
            })
        });
    }
}

impl Ignore<'_> {
    fn until(&self) -> Option<Time> {
        Time::parse(&self.until).or_else(|| Time::parse(&format!("{}T23:59:59Z", self.until)))
    }

    /// Without a clock an ignore with a date has not expired.
    fn expired(&self, now: Option<Time>) -> bool {
        matches!((self.until(), now), (Some(until), Some(now)) if now > until)
    }
}

impl Target<'_> {
    fn covers(&self, object: &Object<'_>) -> bool {
        let one = |list: &[Text<'_>], value: &str| {
            list.is_empty() || list.iter().any(|pattern| glob(pattern, value))
        };
        one(&self.groups, object.group())
            && one(&self.kinds, object.kind)
            && one(&self.namespaces, object.namespace)
            && one(&self.names, object.name)
    }
}

fn glob(pattern: &str, value: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(prefix) => value.starts_with(prefix),
        None => pattern == value,
    }
}

fn note(path: String, message: String) -> Note {
    Note { origin: "settings".into(), path, message }
}
