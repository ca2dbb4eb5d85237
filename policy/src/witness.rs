//! Compares the witnesses of a profile with an object.

use alloc::string::String;
use alloc::vec::Vec;

use crate::object::Object;
use crate::pointer;
use crate::profile::{Profile, Witness, test};
use crate::template::{self, Comparison, Mismatch};

/// A text that says something else than the field it speaks of.
#[derive(Debug)]
pub struct Torn<'a> {
    /// JSON Pointer of the text.
    pub text_path: String,
    /// The condition type whose message the text is; empty for a field.
    pub condition: &'a str,
    /// What it says, and what the field holds.
    pub mismatch: Mismatch,
    /// JSON Pointer of the field.
    pub field_path: String,
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
pub fn torn<'a>(object: &Object<'a>, profile: &Profile<'_>) -> Vec<Torn<'a>> {
    let mut found = Vec::new();
    for witness in &profile.witnesses {
        if let Says::Torn(torn) = says(witness, object, None) {
            found.extend(torn);
        }
    }
    found
}

/// What one witness says. With `status`, a condition's status is taken to be that.
pub fn says<'a>(witness: &Witness<'_>, object: &Object<'a>, status: Option<&str>) -> Says<'a> {
    if !test::all(&witness.when, object) {
        return Says::Nothing;
    }
    if witness.condition.is_empty() {
        let Some(value) = object.field(&witness.field) else { return Says::Nothing };
        let Some(text) = value.str() else { return Says::Nothing };
        let path = pointer::locate(object.root, &witness.field);
        return compare(witness, text, &path, "", object);
    }
    let Some(condition) = object.condition(&witness.condition) else { return Says::Nothing };
    let wanted: &str = if witness.status.is_empty() { "True" } else { &witness.status };
    let reason_fits = witness.reasons.is_empty()
        || witness.reasons.iter().any(|text| **text == *condition.reason);
    if condition.status.text() != status.unwrap_or(wanted) || !reason_fits {
        return Says::Nothing;
    }
    let path = object.place(condition, "message");
    compare(witness, condition.message, &path, condition.type_, object)
}

fn compare<'a>(
    witness: &Witness<'_>,
    text: &str,
    path: &str,
    condition: &'a str,
    object: &Object<'a>,
) -> Says<'a> {
    let mut worst = Says::Nothing;
    for template in &witness.text {
        match template::compare(template, text, object.root) {
            Comparison::Agrees => return Says::Agrees,
            Comparison::Silent => {}
            Comparison::Differs(mismatches) => {
                if matches!(worst, Says::Torn(_)) {
                    continue;
                }
                let torn: Vec<Torn<'a>> = mismatches
                    .into_iter()
                    .filter(|mismatch| !witness.optional || mismatch.held.is_some())
                    .map(|mismatch| Torn {
                        text_path: path.into(),
                        condition,
                        field_path: pointer::locate(object.root, &mismatch.field),
                        mismatch,
                    })
                    .collect();
                worst = if torn.is_empty() { Says::Agrees } else { Says::Torn(torn) };
            }
        }
    }
    worst
}
