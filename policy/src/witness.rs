//! Compares the witnesses of a profile with an object.

use alloc::string::String;
use alloc::vec::Vec;

use crate::finding::Severity;
use crate::generation;
use crate::object::{Object, Status};
use crate::pointer;
use crate::profile::{Profile, Witness, test};
use crate::template::{self, Comparison, Mismatch, Piece};

/// A text that says something else than the field it speaks of.
#[derive(Debug)]
pub struct Torn<'a> {
    /// JSON Pointer of the text.
    pub text_path: String,
    /// The condition type whose message the text is; empty for a field.
    pub condition: &'a str,
    /// The condition's status; empty for a field.
    pub status: &'a str,
    /// What it says, and what the field holds.
    pub mismatch: Mismatch,
    /// JSON Pointer of the field.
    pub field_path: String,
    /// The text calls the field outdated, though the field holds what it says.
    pub outdated: bool,
    /// How bad it is.
    pub severity: Severity,
}

/// How the texts of one witness compare.
#[derive(Debug)]
pub enum Says<'a> {
    /// No text of the witness's shape.
    Nothing,
    /// What the fields hold.
    Agrees,
    /// Something else.
    Torn(Vec<Torn<'a>>),
}

/// Every text of the profile's witnesses that disagrees with its field.
///
/// An object that is being deleted is left out: its controller clears the fields and leaves the
/// conditions. While the summary is held at Unknown, what else is torn is only worth knowing.
pub fn torn<'a>(object: &Object<'a>, profile: &Profile<'_>) -> Vec<Torn<'a>> {
    let mut found = Vec::new();
    if object.deleting {
        return found;
    }
    for witness in &profile.witnesses {
        if let Says::Torn(torn) = says(witness, object, None) {
            found.extend(torn);
        }
    }
    if !found.is_empty() && is_held(object, profile) {
        for torn in &mut found {
            torn.severity = Severity::Info;
        }
    }
    found
}

/// Whether the summary is kept at Unknown because the status is torn (see `repair`): it has the
/// text of success, and the text still disagrees with its field.
pub fn is_held(object: &Object<'_>, profile: &Profile<'_>) -> bool {
    let Some(summary) = profile.happy.first().and_then(|type_| object.condition(type_)) else {
        return false;
    };
    summary.status == Status::Unknown
        && profile.witnesses.iter().any(|witness| {
            *witness.condition == *summary.type_
                && matches!(says(witness, object, Some("Unknown")), Says::Torn(_))
        })
}

/// What one witness says. With `status`, a condition's status is taken to be that.
pub fn says<'a>(witness: &Witness<'_>, object: &Object<'a>, status: Option<&str>) -> Says<'a> {
    let wanted: &str = if witness.status.is_empty() { "True" } else { &witness.status };
    let speaker = if witness.condition.is_empty() {
        let Some(text) = object.field(&witness.field).and_then(|value| value.str()) else {
            return Says::Nothing;
        };
        let path = pointer::locate(object.root, &witness.field);
        Speaker { text, path, condition: "", status: "" }
    } else {
        let Some(condition) = object.condition(&witness.condition) else { return Says::Nothing };
        let reason_fits = witness.reasons.is_empty()
            || witness.reasons.iter().any(|text| **text == *condition.reason);
        if condition.status.text() != status.unwrap_or(wanted) || !reason_fits {
            return Says::Nothing;
        }
        Speaker {
            text: condition.message,
            path: object.place(condition, "message"),
            condition: condition.type_,
            status: condition.status.name(),
        }
    };
    if !test::all(&witness.when, object) {
        return Says::Nothing;
    }
    if witness.outdated {
        outdated(witness, &speaker, object)
    } else {
        compare(witness, &speaker, object)
    }
}

/// The text that a witness reads.
struct Speaker<'a> {
    text: &'a str,
    path: String,
    condition: &'a str,
    status: &'a str,
}

impl<'a> Speaker<'a> {
    fn torn(&self, mismatch: Mismatch, witness: &Witness<'_>, object: &Object<'_>) -> Torn<'a> {
        Torn {
            text_path: self.path.clone(),
            condition: self.condition,
            status: self.status,
            field_path: pointer::locate(object.root, &mismatch.field),
            mismatch,
            outdated: witness.outdated,
            severity: witness.level.map_or(Severity::Error, Into::into),
        }
    }
}

/// A template that agrees counts; else the one of the text's shape that disagrees least, and of
/// those the one that reads most fields.
fn compare<'a>(witness: &Witness<'_>, speaker: &Speaker<'a>, object: &Object<'_>) -> Says<'a> {
    let mut best: Option<(Vec<Mismatch>, usize)> = None;
    for template in &witness.text {
        match template::compare(template, speaker.text, object.root) {
            Comparison::Agrees => return Says::Agrees,
            Comparison::Silent => {}
            Comparison::Differs(mismatches) => {
                let pieces = template::pieces(template).into_iter();
                let fields = pieces.filter(|piece| matches!(piece, Piece::Field(..))).count();
                let is_better = best
                    .as_ref()
                    .is_none_or(|(least, most)| (mismatches.len(), *most) < (least.len(), fields));
                if is_better {
                    best = Some((mismatches, fields));
                }
            }
        }
    }
    let Some((mismatches, _)) = best else { return Says::Nothing };
    let missing_counts = !witness.optional && is_whole(object);
    let torn: Vec<Torn<'a>> = mismatches
        .into_iter()
        .filter(|mismatch| missing_counts || mismatch.held.is_some())
        .map(|mismatch| speaker.torn(mismatch, witness, object))
        .collect();
    if torn.is_empty() { Says::Nothing } else { Says::Torn(torn) }
}

/// The text names what the field does not hold so far; that it does is the fault.
fn outdated<'a>(witness: &Witness<'_>, speaker: &Speaker<'a>, object: &Object<'_>) -> Says<'a> {
    let mut shape = false;
    for template in &witness.text {
        match template::compare(template, speaker.text, object.root) {
            Comparison::Silent => {}
            Comparison::Differs(_) => shape = true,
            Comparison::Agrees => {
                let torn = template::pieces(template).into_iter().filter_map(|piece| {
                    let Piece::Field(field, filter) = piece else { return None };
                    let held: String = filter.read(object.field(field))?.into_owned();
                    let mismatch =
                        Mismatch { field: field.into(), said: held.clone(), held: Some(held) };
                    Some(speaker.torn(mismatch, witness, object))
                });
                return Says::Torn(torn.collect());
            }
        }
    }
    if shape { Says::Agrees } else { Says::Nothing }
}

/// Whether the object is all that the API server has, and no excerpt of which fields were left
/// out.
pub fn is_whole(object: &Object<'_>) -> bool {
    object.generation.is_some()
        || !object.uid.is_empty()
        || !object.resource_version.is_empty()
        || object.field(generation::FIELD).is_some()
}
