//! Judges one object: rules, phase, coherence, repair.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::change;
use crate::finding::{Coherence, Fault, Finding, Note, Phase, Severity, Verdict};
use crate::json::Json;
use crate::object::{self, Object};
use crate::phase;
use crate::profile::{self, Found, Profile};
use crate::registry;
use crate::repair;
use crate::rule::{Check, View};
use crate::settings::Settings;
use crate::time::Time;

/// What is known about one object; see `observation` in `wit/policy.wit`.
#[derive(Debug, Clone, Copy, Default)]
pub struct Observation<'a> {
    /// The object, JSON.
    pub object: &'a str,
    /// The state just before, of the same uid.
    pub old: Option<&'a str>,
    /// Earlier states, oldest first, without `old`.
    pub history: &'a [&'a str],
    /// Objects that this one names or is named by.
    pub related: &'a [&'a str],
    /// The present, RFC 3339.
    pub now: Option<&'a str>,
    /// Settings, JSON; empty for the defaults.
    pub settings: &'a str,
}

/// Judges one object.
///
/// # Errors
/// [`Fault::Malformed`] names the input that is not what it should be.
pub fn check(observation: &Observation<'_>) -> Result<Verdict, Fault> {
    let settings = read_settings(observation.settings)?;
    let now = read_now(observation.now)?;
    let root = read("object", observation.object)?;
    let old_root = observation.old.map(|text| read("old", text)).transpose()?;
    let history_roots = read_all("history", observation.history)?;
    let related_roots = read_all("related", observation.related)?;

    let found = Kind::of(&root, &settings);
    let profile = found.profile();
    let object = Object::read(&root, profile).at(now);
    let view = View { object: &object, profile, profiled: found.is_known(), now };

    let old = old_root.as_ref().map(|root| Object::read(root, profile));
    // A pair of two uids is no transition: the old object is gone, the new one has its name.
    let old = old.filter(|old| old.uid == object.uid || old.uid.is_empty());
    let old = old.filter(|old| change::follows(old, &object));
    let history: Vec<Object<'_>> =
        history_roots.iter().map(|root| Object::read(root, profile)).collect();
    let related_kinds: Vec<Kind<'_>> =
        related_roots.iter().map(|root| Kind::of(root, &settings)).collect();
    let related_objects: Vec<Object<'_>> = related_roots
        .iter()
        .zip(&related_kinds)
        .map(|(root, kind)| Object::read(root, kind.profile()).at(now))
        .collect();
    let related: Vec<View<'_>> = related_objects
        .iter()
        .zip(&related_kinds)
        .map(|(object, kind)| View {
            object,
            profile: kind.profile(),
            profiled: kind.is_known(),
            now,
        })
        .collect();
    let mut series: Vec<&Object<'_>> = history.iter().chain(old.as_ref()).collect();
    series.push(&object);

    let mut findings = Vec::new();
    let mut coherence =
        if object.status().is_empty() { Coherence::Unknown } else { Coherence::Coherent };
    for rule in registry::RULES {
        let mut found = match rule.check {
            Check::State(check) => check(&view),
            Check::Transition(check) => old.as_ref().map_or_else(Vec::new, |old| check(&view, old)),
            Check::Series(check) if series.len() > 2 => check(&view, &series),
            Check::Set(check) if !related.is_empty() => check(&view, &related),
            Check::Series(_) | Check::Set(_) | Check::Pass(_) | Check::Trace(_) => continue,
        };
        if found.is_empty() {
            continue;
        }
        settings.apply(&object, now, &mut found);
        if found.iter().any(|finding| finding.severity > Severity::Info) {
            coherence = coherence.max(rule.means);
        }
        findings.append(&mut found);
    }
    sort(&mut findings);
    if coherence == Coherence::Coherent && phase::behind(&object, profile).is_some() {
        coherence = Coherence::Stale;
    }
    let mut judgement = phase::judge(&view);
    if judgement.phase == Phase::Settled && coherence > Coherence::Unknown {
        let worst = findings.iter().max_by_key(|finding| finding.severity);
        judgement.phase = Phase::Unknown;
        if let Some(worst) = worst {
            judgement.reason = format!("its status cannot be relied on: {}", worst.message);
        }
    }
    Ok(Verdict {
        phase: judgement.phase,
        reason: judgement.reason,
        coherence,
        profiled: view.profiled,
        findings,
        repair: repair::patch(&view),
    })
}

/// Orders findings by rule, then path.
pub fn sort(findings: &mut [Finding]) {
    findings.sort_by(|left, right| (left.rule, &left.path).cmp(&(right.rule, &right.path)));
}

/// The conventions of an object's kind.
pub enum Kind<'a> {
    /// From the settings or built in.
    Known(Found<'a>),
    /// The conventions of the field alone.
    Conventional(Profile<'static>),
}

impl<'a> Kind<'a> {
    /// The conventions of the kind of `root`.
    pub fn of(root: &Json<'_>, settings: &'a Settings<'a>) -> Kind<'a> {
        let group = object::group(root.at("apiVersion").str().unwrap_or(""));
        let kind = root.at("kind").str().unwrap_or("");
        let named = profile::lookup(group, kind, &settings.profiles);
        let found = named.or_else(|| {
            let object = Object::read(root, &Profile::default());
            profile::by_shape(&object, &settings.profiles)
        });
        found.map_or_else(|| Kind::Conventional(profile::conventional()), Kind::Known)
    }

    /// The conventions.
    pub fn profile(&self) -> &Profile<'_> {
        match self {
            Kind::Known(Found::Own(profile)) => profile,
            Kind::Known(Found::BuiltIn(profile)) | Kind::Conventional(profile) => profile,
        }
    }

    /// Whether there is a profile for the kind.
    pub fn is_known(&self) -> bool {
        matches!(self, Kind::Known(_))
    }
}

/// The settings, or why they cannot be used.
///
/// # Errors
/// [`Fault::Malformed`] names every place that is wrong.
pub fn read_settings(text: &str) -> Result<Settings<'_>, Fault> {
    Settings::read(text).map_err(|problems| {
        let lines: Vec<String> = problems.iter().map(line).collect();
        Fault::Malformed(format!("settings: {}", lines.join("; ")))
    })
}

fn line(note: &Note) -> String {
    if note.path.is_empty() {
        note.message.clone()
    } else {
        format!("{}: {}", note.path, note.message)
    }
}

/// The clock.
///
/// # Errors
/// [`Fault::Malformed`] if it is no RFC 3339 time.
pub fn read_now(text: Option<&str>) -> Result<Option<Time>, Fault> {
    text.map(|text| {
        Time::parse(text)
            .ok_or_else(|| Fault::Malformed(format!("now: `{text}` is not an RFC 3339 time")))
    })
    .transpose()
}

fn read_all<'a>(what: &str, texts: &[&'a str]) -> Result<Vec<Json<'a>>, Fault> {
    texts.iter().enumerate().map(|(index, text)| read(&format!("{what}/{index}"), text)).collect()
}

fn read<'a>(what: &str, text: &'a str) -> Result<Json<'a>, Fault> {
    let root = Json::parse(text).map_err(|error| Fault::Malformed(format!("{what}: {error}")))?;
    if matches!(root, Json::Object(_)) {
        Ok(root)
    } else {
        Err(Fault::Malformed(format!("{what}: a Kubernetes object is a JSON object")))
    }
}
