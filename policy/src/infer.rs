//! Proposes a profile for an unknown kind from samples of it.
//!
//! ```text
//!  samples ── conditions.rs: which is good news, which bad ──┐
//!         ├── times.rs:      when lastTransitionTime moves ──┼── a profile to edit
//!         └── witnesses.rs:  messages that repeat a field ───┘
//! ```
//!
//! Only what the samples show is proposed. A proposal is read by a person before it counts.

mod conditions;
mod times;
mod witnesses;

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::finding::Fault;
use crate::json::Json;
use crate::object::{self, Object};
use crate::polarity;
use crate::profile::{
    Generation, PhaseName, PhaseRule, Poke, Profile, Reasons, Test, Text, Timing,
};
use crate::time;

/// The proposed profile, JSON.
///
/// # Errors
/// [`Fault::Malformed`] if a sample is no object, or if the samples are not of one kind.
pub fn infer(samples: &[&str]) -> Result<String, Fault> {
    let mut roots = Vec::new();
    for (index, text) in samples.iter().enumerate() {
        let root = Json::parse(text)
            .map_err(|error| Fault::Malformed(format!("samples/{index}: {error}")))?;
        roots.push(root);
    }
    let Some(first) = roots.first() else {
        return Err(Fault::Malformed("samples: at least one object is needed".into()));
    };
    let (group, kind) = name(first);
    if kind.is_empty() {
        return Err(Fault::Malformed("samples/0: it has no `kind`".into()));
    }
    if let Some(index) = roots.iter().position(|root| name(root) != (group, kind)) {
        let message = format!("samples/{index}: all must be `{kind}` of `{group}`");
        return Err(Fault::Malformed(message));
    }
    serde_json::to_string(&propose(group, kind, &roots))
        .map_err(|error| Fault::Internal(error.to_string()))
}

fn name<'r>(root: &'r Json<'_>) -> (&'r str, &'r str) {
    let group = object::group(root.at("apiVersion").str().unwrap_or(""));
    (group, root.at("kind").str().unwrap_or(""))
}

fn propose(group: &str, kind: &str, roots: &[Json<'_>]) -> Profile<'static> {
    let mut profile = Profile {
        group: owned(group),
        kinds: alloc::vec![owned(kind)],
        conditions: conditions::lists(roots),
        ..Profile::default()
    };
    let objects: Vec<Object<'_>> = roots.iter().map(|root| Object::read(root, &profile)).collect();
    conditions::propose(&objects, &mut profile);
    profile.generation = generation(&objects);
    profile.transitions = times::propose(&objects);
    profile.suspended = suspended(roots);
    profile.poke = poke(roots);
    profile.timing = timing(roots);
    profile.reasons = reasons(&objects, &profile);
    profile.witnesses = witnesses::propose(&objects);
    if profile.happy.is_empty() {
        profile.phases = phases(roots);
    }
    profile
}

fn owned(text: impl Into<String>) -> Text<'static> {
    Text(text.into().into())
}

/// Where the observed generation stands: what all samples that have one agree on.
fn generation(objects: &[Object<'_>]) -> Generation<'static> {
    let of_conditions = objects
        .iter()
        .flat_map(|object| &object.lists)
        .flat_map(|list| &list.conditions)
        .any(|condition| condition.observed_generation.is_some());
    let mut found = Generation { conditions: of_conditions, ..Generation::default() };
    let mut fields: Vec<String> = Vec::new();
    for object in objects {
        for (path, _) in leaves(object.status(), "status") {
            if path.ends_with("bservedGeneration") && !path.contains('[') && !fields.contains(&path)
            {
                fields.push(path);
            }
        }
    }
    fields.sort_by_key(|path| (path.len(), path.clone()));
    let Some(field) = fields.into_iter().next() else {
        found.absent = objects.iter().any(|object| !object.status().is_empty());
        return found;
    };
    for object in objects {
        if let Some(text) = object.field(&field).and_then(Json::str) {
            found.text = true;
            let number: Option<i64> = text.parse().ok();
            // A hash is written as text, too, and is beyond every generation.
            found.opaque |= match (number, object.generation) {
                (Some(number), Some(generation)) => number > generation,
                (None, _) => true,
                (Some(_), None) => false,
            };
        }
    }
    if field != crate::generation::FIELD {
        found.field = owned(field);
    }
    found
}

/// Fields and annotations of the samples by which objects are usually paused.
fn suspended(roots: &[Json<'_>]) -> Vec<Test<'static>> {
    let is = |path: String| Test {
        field: owned(path),
        one_of: alloc::vec![owned("true")],
        ..Test::default()
    };
    let mut tests = Vec::new();
    for key in ["suspend", "suspended", "paused", "pause"] {
        if roots.iter().any(|root| root.at("spec").at(key).bool().is_some()) {
            tests.push(is(format!("spec.{key}")));
        }
    }
    let mut keys: Vec<&str> = Vec::new();
    for root in roots {
        for (key, value) in root.at("metadata").at("annotations").members() {
            let word = key.rsplit('/').next().unwrap_or(key);
            let pauses = ["paused", "pause", "suspend", "pause-reconciliation"].contains(&word);
            if pauses && value.str().is_some_and(|text| text == "true" || text == "false") {
                keys.push(key);
            }
        }
    }
    keys.sort_unstable();
    keys.dedup();
    tests.extend(keys.into_iter().map(|key| is(format!("metadata.annotations['{key}']"))));
    tests
}

/// An annotation whose value the status repeats.
fn poke(roots: &[Json<'_>]) -> Option<Poke<'static>> {
    for root in roots {
        for (key, value) in root.at("metadata").at("annotations").members() {
            let Some(token) = value.str().filter(|text| (4..=128).contains(&text.len())) else {
                continue;
            };
            let handled = leaves(root.at("status"), "status")
                .into_iter()
                .find(|(path, leaf)| leaf.str() == Some(token) && !path.contains('['));
            if let Some((handled, _)) = handled {
                return Some(Poke { annotation: owned(key.as_ref()), handled: owned(handled) });
            }
        }
    }
    None
}

/// Durations of the spec by their usual names.
fn timing(roots: &[Json<'_>]) -> Timing<'static> {
    let field = |keys: &[&str]| {
        let is_duration = |key: &str| {
            roots.iter().any(|root| {
                root.at("spec").at(key).str().is_some_and(|text| time::duration(text).is_some())
            })
        };
        let key = keys.iter().find(|key| is_duration(key));
        key.map_or_else(Text::default, |key| owned(format!("spec.{key}")))
    };
    Timing {
        interval: field(&["interval", "refreshInterval", "resyncPeriod", "pollInterval"]),
        retry: field(&["retryInterval"]),
        timeout: field(&["timeout"]),
        ..Timing::default()
    }
}

/// What the reasons of the happy condition mean where it is not True.
fn reasons(objects: &[Object<'_>], profile: &Profile<'_>) -> Reasons<'static> {
    const UNDER_WAY: &[&str] = &["Progress", "Pending", "Creating", "Updating", "Reconciling"];
    let mut found = Reasons::default();
    let Some(summary) = profile.happy.first() else { return found };
    for condition in objects.iter().filter_map(|object| object.condition(summary)) {
        let reason = condition.reason;
        let list = if condition.is_true() || reason.is_empty() {
            continue;
        } else if polarity::tells_failure(reason) {
            &mut found.failed
        } else if UNDER_WAY.iter().any(|word| reason.contains(word)) {
            &mut found.progressing
        } else {
            continue;
        };
        if !list.iter().any(|text| **text == *reason) {
            list.push(owned(reason));
        }
    }
    found.failed.sort();
    found.progressing.sort();
    found
}

/// Words of a phase field, and the phase that they usually mean.
const WORDS: &[(PhaseName, &[&str])] = &[
    (
        PhaseName::Settled,
        &[
            "ready",
            "running",
            "active",
            "available",
            "bound",
            "succeeded",
            "successful",
            "completed",
            "complete",
            "healthy",
            "installed",
            "deployed",
            "exists",
        ],
    ),
    (
        PhaseName::Failed,
        &["failed", "failure", "error", "degraded", "invalid", "unhealthy", "rejected", "lost"],
    ),
    (PhaseName::Suspended, &["paused", "suspended", "stopped"]),
    (PhaseName::Terminating, &["terminating", "deleting"]),
];

/// Rules over a phase field, for a kind whose conditions do not tell.
fn phases(roots: &[Json<'_>]) -> Vec<PhaseRule<'static>> {
    let Some(key) = ["phase", "state", "status"]
        .into_iter()
        .find(|key| roots.iter().any(|root| root.at("status").at(key).str().is_some()))
    else {
        return Vec::new();
    };
    let mut seen: Vec<&str> =
        roots.iter().filter_map(|root| root.at("status").at(key).str()).collect();
    seen.sort_unstable();
    seen.dedup();
    let mut rules = Vec::new();
    for &(is, words) in WORDS {
        let values: Vec<Text<'static>> = seen
            .iter()
            .filter(|value| words.contains(&value.to_lowercase().as_str()))
            .map(|value| owned(*value))
            .collect();
        if !values.is_empty() {
            let test =
                Test { field: owned(format!("status.{key}")), one_of: values, ..Test::default() };
            rules.push(PhaseRule {
                is,
                when: alloc::vec![test],
                any_generation: false,
                because: Text::default(),
            });
        }
    }
    if !rules.is_empty() {
        let is = PhaseName::Progressing;
        rules.push(PhaseRule {
            is,
            when: Vec::new(),
            any_generation: false,
            because: Text::default(),
        });
    }
    rules
}

/// Every scalar below `json` with its field path, in the order of the document; of a list the first
/// item alone, and nothing of conditions.
fn leaves<'r, 'a>(json: &'r Json<'a>, path: &str) -> Vec<(String, &'r Json<'a>)> {
    let mut found = Vec::new();
    let mut pending = alloc::vec![(path.to_string(), json)];
    while let Some((path, json)) = pending.pop() {
        match json {
            Json::Object(members) => {
                for (key, member) in members.iter().rev() {
                    let plain = key.bytes().all(|byte| byte.is_ascii_alphanumeric());
                    let step =
                        if plain { format!("{path}.{key}") } else { format!("{path}['{key}']") };
                    if key != "conditions" {
                        pending.push((step, member));
                    }
                }
            }
            Json::Array(items) => {
                if let Some(item) = items.first() {
                    pending.push((format!("{path}[0]"), item));
                }
            }
            Json::Null => {}
            Json::Bool(_)
            | Json::Integer(_)
            | Json::Unsigned(_)
            | Json::Float(_)
            | Json::String(_) => found.push((path, json)),
        }
    }
    found
}
