//! The rules and the profiles, for those who list them.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::finding::{Fault, Note};
use crate::profile::{self, Profile};
use crate::registry;
use crate::rule::Rule;
use crate::settings::Settings;
use crate::verdict::read_settings;

/// All rules, ordered by id.
pub fn rules() -> impl Iterator<Item = &'static Rule> {
    registry::RULES.iter().copied()
}

/// A rule's manual without the margin of its doc comment.
pub fn manual(rule: &Rule) -> String {
    let mut text = String::with_capacity(rule.manual.len());
    for line in rule.manual.lines() {
        text.push_str(line.strip_prefix(' ').unwrap_or(line));
        text.push('\n');
    }
    text
}

/// One kind of which the conventions are known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownKind {
    /// API group.
    pub group: String,
    /// Kind.
    pub kind: String,
    /// `built-in` or `settings`.
    pub origin: &'static str,
    /// The profile, JSON.
    pub document: String,
}

/// The known kinds, ordered by group, then kind.
///
/// # Errors
/// [`Fault::Malformed`] if the settings are.
pub fn profiles(settings_text: &str) -> Result<Vec<KnownKind>, Fault> {
    let settings = read_settings(settings_text)?;
    let mut kinds = Vec::new();
    for (group, kind, profile) in profile::built_in() {
        kinds.push(KnownKind {
            group: group.to_string(),
            kind: kind.to_string(),
            origin: "built-in",
            document: serialize(&profile)?,
        });
    }
    for own in &settings.profiles {
        let document = serialize(own)?;
        for kind in &own.kinds {
            kinds.retain(|known| known.group != *own.group || known.kind != **kind);
            kinds.push(KnownKind {
                group: own.group.to_string(),
                kind: kind.to_string(),
                origin: "settings",
                document: document.clone(),
            });
        }
    }
    kinds.sort_by(|left, right| (&left.group, &left.kind).cmp(&(&right.group, &right.kind)));
    Ok(kinds)
}

fn serialize(profile: &Profile<'_>) -> Result<String, Fault> {
    serde_json::to_string(profile).map_err(|error| Fault::Internal(error.to_string()))
}

/// What is wrong with the settings; an empty list if nothing is.
pub fn validate(settings_text: &str) -> Vec<Note> {
    Settings::read(settings_text).err().unwrap_or_default()
}
