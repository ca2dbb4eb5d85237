//! What must happen after a reconcile pass.
//!
//! ```text
//!   pass ──▶ outcome, given or read from the object ──▶ table ──▶ action, reason
//!     │                                                             │
//!     └── neither outcome nor result: the clock ──▶ clock ──────────┤
//!                                                                   ▼
//!                                             rules/result: what is wrong with the result
//! ```

mod clock;
mod outcome;
pub mod reason;
mod sources;
mod table;
mod timing;

use alloc::string::String;
use alloc::vec::Vec;

pub(crate) use self::outcome::{is_stalled, read as read_outcome};
pub use self::reason::Reason;
pub(crate) use self::table::backoff;
pub use self::timing::timing;

use crate::finding::{Action, Decision, Fault};
use crate::json::Json;
use crate::object::Object;
use crate::pass::{self, Pass, QueueFacts, SourceView, Spec};
use crate::profile::test;
use crate::registry;
use crate::rule::{Check, View};
use crate::settings::Settings;
use crate::time::Time;
use crate::verdict::{Kind, read_settings, sort};

/// What must happen next.
#[derive(Debug, Clone)]
pub struct Next {
    /// The action.
    pub action: Action,
    /// Why.
    pub reason: Reason,
    /// Why, in one sentence without a final stop.
    pub message: String,
    /// Whether it is sure that a pass which schedules nothing is never taken up again by itself.
    pub owed: bool,
}

/// Decides what must happen after the pass, and judges what the controller is about to return.
///
/// # Errors
/// [`Fault::Malformed`] and [`Fault::Unsupported`] name the field.
pub fn decide(text: &str, settings_text: &str) -> Result<Decision, Fault> {
    let settings = read_settings(settings_text)?;
    let document = pass::read(text)?;
    let spec = &document.spec;
    let now = spec.now.map(|now| now.0);
    let found = Kind::of(&spec.object, &settings);
    let object = Object::read(&spec.object, found.profile()).at(now);
    let view = view(&object, &found, now);
    let copies = Copies::of(spec, &settings);
    let objects: Vec<_> = copies.objects(now).collect();
    let sources = copies.views(&objects, spec, now);

    let told = spec.outcome.as_ref();
    let outcome = told.map(|outcome| outcome.type_).or_else(|| outcome::read(&view));
    let by = told.map_or("", |outcome| &*outcome.by);
    let (flavour, runtime) =
        spec.queue.as_ref().map_or_else(|| QueueFacts::default().machine(), QueueFacts::machine);
    let next = match now {
        Some(now) if told.is_none() && spec.result.is_none() => clock::next(&view, &sources, now),
        _ => table::next(outcome, by, spec, &view, &sources),
    };
    let pass = Pass {
        view,
        sources: &sources,
        outcome,
        told: told.is_some(),
        by,
        returned: spec.result.as_ref(),
        spec,
        flavour,
        runtime,
        next,
    };
    let mut findings = Vec::new();
    for rule in registry::RULES {
        if let Check::Pass(check) = rule.check {
            findings.extend(check(&pass));
        }
    }
    settings.apply(&object, now, &mut findings);
    sort(&mut findings);
    let Next { action, reason, message, .. } = pass.next;
    Ok(Decision { action, reason: reason.name().into(), message, findings })
}

/// Whether no controller ever works on such an object.
pub(crate) fn is_static(view: &View<'_>) -> bool {
    let mut phases = view.profile.phases.iter();
    view.profile.statusless
        || phases.any(|rule| rule.any_generation && test::all(&rule.when, view.object))
}

/// Whether the kind is one that its controller looks at again by itself: then no path of its
/// controller may leave an object without a timer, but for those that are done with it.
pub(crate) fn is_polled(view: &View<'_>) -> bool {
    let timings = &view.profile.timing;
    let of = |text: &str| timing(text, view.object).is_some_and(|millis| millis > 0);
    view.profiled
        && !is_bare(view)
        && (interval(view).is_some() || of(&timings.retry) || of(&timings.dependency))
}

/// Whether the kind is one that leaves its failures to the back-off of the queue: that is written
/// down, and no interval for retries.
pub(crate) fn backs_off(view: &View<'_>) -> bool {
    let timings = &view.profile.timing;
    view.profiled && !timings.backoff.is_empty() && timings.retry.is_empty()
}

/// The kind's interval in milliseconds, if it has one and it is not zero.
pub(crate) fn interval(view: &View<'_>) -> Option<i64> {
    let timings = &view.profile.timing;
    let interval = timing(&timings.interval, view.object).filter(|interval| *interval > 0)?;
    (!is_bare(view) && !test::any(&timings.once, view.object)).then_some(interval)
}

/// Whether no more than the object's name is known, as from a log. Then a missing field says
/// nothing, and what the kind has for it by default may be wrong.
pub(crate) fn is_bare(view: &View<'_>) -> bool {
    view.object.root.at("spec").is_null() && view.object.root.at("status").is_null()
}

fn view<'a>(object: &'a Object<'a>, kind: &'a Kind<'_>, now: Option<Time>) -> View<'a> {
    View { object, profile: kind.profile(), profiled: kind.is_known(), now }
}

/// The sources' copies, each with its kind: cached ones at even places, the server's at odd ones.
struct Copies<'a>(Vec<Option<(&'a Json<'a>, Kind<'a>)>>);

impl<'a> Copies<'a> {
    fn of(spec: &'a Spec<'a>, settings: &'a Settings<'a>) -> Self {
        let copies = spec.sources.iter().flat_map(|source| [&source.cached, &source.server]);
        Copies(copies.map(|copy| copy.as_ref().map(|it| (it, Kind::of(it, settings)))).collect())
    }

    fn objects(&self, now: Option<Time>) -> impl Iterator<Item = Option<Object<'_>>> {
        self.0.iter().map(move |copy| {
            let (json, kind) = copy.as_ref()?;
            Some(Object::read(json, kind.profile()).at(now))
        })
    }

    fn views<'v>(
        &'v self,
        objects: &'v [Option<Object<'v>>],
        spec: &Spec<'_>,
        now: Option<Time>,
    ) -> Vec<SourceView<'v>> {
        let mut views = objects.iter().zip(&self.0).map(|(object, copy)| {
            let (object, (_, kind)) = object.as_ref().zip(copy.as_ref())?;
            Some(view(object, kind, now))
        });
        let watched = spec.sources.iter().map(|source| source.watched);
        watched
            .map(|watched| SourceView {
                cached: views.next().flatten(),
                server: views.next().flatten(),
                watched,
            })
            .collect()
    }
}
