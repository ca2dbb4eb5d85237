//! What an object says of the generation that its status speaks of.

use crate::json::Json;
use crate::object::{Condition, Object};
use crate::profile::Profile;

/// The default field path of the observed generation.
pub const FIELD: &str = "status.observedGeneration";

/// How far the status has followed the spec.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Observed {
    /// The status says which generation it speaks of.
    Number(i64),
    /// The field has its default: nothing was reconciled to the end so far.
    Unset,
    /// There is no such field, or it is no generation.
    Absent,
}

/// The field path of the observed generation.
pub fn field<'p>(profile: &'p Profile<'_>) -> &'p str {
    if profile.generation.field.is_empty() { FIELD } else { &profile.generation.field }
}

/// What the status says. Generations begin at 1: zero and less are what a field holds that nobody
/// has set so far.
pub fn observed(object: &Object<'_>, profile: &Profile<'_>) -> Observed {
    if profile.generation.absent || profile.generation.opaque {
        return Observed::Absent;
    }
    let number = match object.field(field(profile)) {
        Some(Json::Integer(number)) => *number,
        // A string beyond the generation is no generation: older versions kept a hash there.
        Some(Json::String(text)) if profile.generation.text => match text.parse() {
            Ok(number) if object.generation.is_none_or(|generation| number <= generation) => number,
            Ok(_) | Err(_) => return Observed::Absent,
        },
        _ => return Observed::Absent,
    };
    if number > 0 { Observed::Number(number) } else { Observed::Unset }
}

/// The generation that a condition speaks of: its own number where it has one, else the
/// status's.
pub fn of_condition(
    condition: &Condition<'_>,
    object: &Object<'_>,
    profile: &Profile<'_>,
) -> Option<i64> {
    condition.observed_generation.filter(|number| *number > 0).or_else(|| {
        match observed(object, profile) {
            Observed::Number(number) => Some(number),
            Observed::Unset | Observed::Absent => None,
        }
    })
}
