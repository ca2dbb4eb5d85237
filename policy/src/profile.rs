//! What is known about kinds: the built-in profiles and those of the settings.

mod alphabet;
pub mod number;
mod packed;
mod schema;
pub mod test;

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

pub use schema::{
    Deadline, Finish, Generation, Instances, Invariant, Level, Mirror, PhaseName, PhaseRule, Poke,
    Profile, Reasons, Reference, Revision, Test, Text, Timing, Transitions, Witness,
};

use serde::Deserialize;

use crate::finding::Severity;
use crate::object::Object;
use crate::pointer;

mod built_in {
    include!(concat!(env!("OUT_DIR"), "/profiles.rs"));
}

/// The profile for a kind: from `own` first, then the built-in ones; of each, the most exact.
pub fn lookup<'a>(group: &str, kind: &str, own: &'a [Profile<'a>]) -> Option<Found<'a>> {
    let best = own
        .iter()
        .filter_map(|profile| Some((exactness(profile, group, kind)?, profile)))
        .max_by_key(|(exactness, _)| *exactness);
    if let Some((_, profile)) = best {
        return Some(Found::Own(profile));
    }
    Some(Found::BuiltIn(read(place(group, kind)?)))
}

/// The built-in profile at a place of `DOCUMENTS`.
fn read(place: usize) -> Profile<'static> {
    let packed = &mut packed::Packed(built_in::DOCUMENTS[place]);
    Profile::deserialize(packed).expect("build.rs has written what is read here")
}

/// The profile for an object of a kind that nobody names, by its shape: from `own` first.
pub fn by_shape<'a>(object: &Object<'_>, own: &'a [Profile<'a>]) -> Option<Found<'a>> {
    let fits =
        |profile: &Profile<'_>| !profile.shape.is_empty() && test::all(&profile.shape, object);
    if let Some(profile) = own.iter().find(|profile| fits(profile)) {
        return Some(Found::Own(profile));
    }
    built_in::INDEX.iter().filter(|(group, ..)| *group == "*").find_map(|&(_, _, place)| {
        let profile = read(place);
        fits(&profile).then_some(Found::BuiltIn(profile))
    })
}

/// A profile, borrowed from the settings or read from the built-in ones.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "one or two of them live at a time")]
pub enum Found<'a> {
    /// From the settings.
    Own(&'a Profile<'a>),
    /// Built in.
    BuiltIn(Profile<'static>),
}

/// Every built-in profile, in the order of group and kind.
pub fn built_in() -> impl Iterator<Item = (&'static str, &'static str, Profile<'static>)> {
    built_in::INDEX.iter().map(|&(group, kind, place)| (group, kind, read(place)))
}

fn place(group: &str, kind: &str) -> Option<usize> {
    let exact = |group: &str, kind: &str| {
        let found = built_in::INDEX.binary_search_by(|&(g, k, _)| (g, k).cmp(&(group, kind)));
        found.ok().map(|at| built_in::INDEX[at].2)
    };
    exact(group, kind).or_else(|| exact(group, "*")).or_else(|| {
        // `*.suffix` sorts before every letter, so these are the first entries.
        let wild =
            built_in::INDEX.iter().take_while(|(g, _, _)| g.is_empty() || g.starts_with('*'));
        wild.filter(|(g, k, _)| {
            covers(g, group) && g.starts_with("*.") && (*k == "*" || *k == kind)
        })
        .max_by_key(|(g, k, _)| (g.len(), *k != "*"))
        .map(|(_, _, place)| *place)
    })
}

fn covers(pattern: &str, group: &str) -> bool {
    match pattern.strip_prefix('*') {
        Some(suffix) => group.ends_with(suffix),
        None => pattern == group,
    }
}

fn exactness(profile: &Profile<'_>, group: &str, kind: &str) -> Option<(bool, bool, usize)> {
    let named = profile.kinds.iter().any(|name| *name == kind);
    let any = profile.kinds.iter().any(|name| *name == "*");
    let exact = *profile.group == *group;
    if !profile.shape.is_empty() {
        return None;
    }
    (covers(&profile.group, group) && (named || any)).then_some((exact, named, profile.group.len()))
}

/// What is wrong with a profile beyond its shape: field paths and templates, with their place.
pub fn problems(profile: &Profile<'_>, at: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut path = |place: String, text: &str| {
        if text.is_empty() {
            return;
        }
        if let Some(problem) = pointer::problem(text) {
            found.push((place, problem));
        }
    };
    for (index, text) in profile.conditions.iter().enumerate() {
        path(format!("{at}/conditions/{index}"), text);
    }
    path(format!("{at}/generation/field"), &profile.generation.field);
    for (index, witness) in profile.witnesses.iter().enumerate() {
        path(format!("{at}/witnesses/{index}/field"), &witness.field);
        for (number, template) in witness.text.iter().enumerate() {
            for piece in crate::template::pieces(template) {
                if let crate::template::Piece::Field(field, _) = piece {
                    path(format!("{at}/witnesses/{index}/text/{number}"), field);
                }
            }
        }
    }
    for (place, tests) in tests(profile) {
        for (index, one) in tests.iter().enumerate() {
            test::problems(one, &format!("{at}/{place}/{index}"), &mut found);
        }
    }
    for (index, witness) in profile.witnesses.iter().enumerate() {
        for (number, template) in witness.text.iter().enumerate() {
            for filter in crate::template::unknown_filters(template) {
                let place = format!("{at}/witnesses/{index}/text/{number}");
                found.push((place, format!("`{filter}` is no filter")));
            }
        }
    }
    if (*profile.group == *"*") == profile.shape.is_empty() {
        let problem = "the group `*` goes with a `shape`, and a `shape` with the group `*`";
        found.push((format!("{at}/shape"), problem.into()));
    }
    if profile.kinds.is_empty() {
        found.push((format!("{at}/kinds"), "names no kind".into()));
    }
    for (index, reference) in profile.references.iter().enumerate() {
        let place = format!("{at}/references/{index}");
        if reference.field.is_empty() != reference.owned {
            found.push((place, "a reference needs either `field` or `owned`".into()));
        } else if reference.owned && (reference.kind.is_empty() || !reference.waits.is_empty()) {
            found.push((place, "`owned` goes with a `kind`, and without `waits`".into()));
        }
    }
    for (index, witness) in profile.witnesses.iter().enumerate() {
        if witness.condition.is_empty() == witness.field.is_empty() {
            let problem = "a witness needs either `condition` or `field`";
            found.push((format!("{at}/witnesses/{index}"), problem.into()));
        }
    }
    found
}

/// Every list of tests of a profile, with its place.
fn tests<'p, 'a>(profile: &'p Profile<'a>) -> Vec<(String, &'p [Test<'a>])> {
    let mut lists = alloc::vec![
        ("suspended".into(), &*profile.suspended),
        ("acting".into(), &*profile.acting),
        ("timing/once".into(), &*profile.timing.once),
        ("shape".into(), &*profile.shape),
    ];
    for (index, finish) in profile.finish.iter().enumerate() {
        lists.push((format!("finish/{index}/when"), &*finish.when));
    }
    for (index, instances) in profile.instances.iter().enumerate() {
        lists.push((format!("instances/{index}/when"), &*instances.when));
    }
    for (index, reference) in profile.references.iter().enumerate() {
        lists.push((format!("references/{index}/waits"), &*reference.waits));
        lists.push((format!("references/{index}/ready"), &*reference.ready));
    }
    for (index, deadline) in profile.deadlines.iter().enumerate() {
        lists.push((format!("deadlines/{index}/when"), &*deadline.when));
    }
    for (index, witness) in profile.witnesses.iter().enumerate() {
        lists.push((format!("witnesses/{index}/when"), &*witness.when));
    }
    for (index, invariant) in profile.invariants.iter().enumerate() {
        lists.push((format!("invariants/{index}/when"), &*invariant.when));
        lists.push((format!("invariants/{index}/must"), &*invariant.must));
    }
    for (index, rule) in profile.phases.iter().enumerate() {
        lists.push((format!("phases/{index}/when"), &*rule.when));
    }
    lists
}

/// The conventions of the field alone, for kinds without a profile.
pub fn conventional() -> Profile<'static> {
    let text = |text: &'static str| Text(text.into());
    Profile {
        happy: alloc::vec![text("Ready")],
        progress: alloc::vec![text("Reconciling")],
        stalled: alloc::vec![text("Stalled")],
        generation: Generation { conditions: true, ..Generation::default() },
        suspended: alloc::vec![Test {
            field: text("spec.suspend"),
            one_of: alloc::vec![text("true")],
            ..Test::default()
        }],
        references: crossplane(),
        ..Profile::default()
    }
}

/// What Crossplane's claims and composites name. Their groups and kinds are the users' own, so no
/// profile can name them; the fields are Crossplane's.
fn crossplane() -> Vec<Reference<'static>> {
    let text = |text: &'static str| Text(text.into());
    let waits = |reason: &'static str, contains: &'static str| {
        alloc::vec![Test {
            condition: text("Ready"),
            status: alloc::vec![text("False")],
            reason: alloc::vec![text(reason)],
            contains: alloc::vec![text(contains)],
            ..Test::default()
        }]
    };
    let reference = |field: &'static str, waits: Vec<Test<'static>>| Reference {
        field: text(field),
        waits,
        ..Reference::default()
    };
    alloc::vec![
        reference("spec.resourceRef", waits("Waiting", "omposite resource")),
        reference("spec.resourceRefs[*]", waits("Creating", "Unready resources")),
        reference("spec.crossplane.resourceRefs[*]", waits("Creating", "Unready resources")),
    ]
}

impl From<Level> for Severity {
    fn from(level: Level) -> Self {
        match level {
            Level::Info => Severity::Info,
            Level::Warning => Severity::Warning,
            Level::Error => Severity::Error,
        }
    }
}

impl Reasons<'_> {
    /// Whether a message of the happy condition says that another object is waited for.
    pub fn waits_by_message(&self, message: &str) -> bool {
        self.waiting_messages.iter().any(|text| message.contains(&**text))
    }
}
