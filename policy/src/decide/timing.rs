//! How long a kind's things take.

use crate::object::Object;
use crate::time;

/// Milliseconds of a timing, the first that there is of its alternatives: a field of the object
/// (seconds if it is a number), or a fixed duration; see `Timing`.
pub fn timing(text: &str, object: &Object<'_>) -> Option<i64> {
    text.split('|').find_map(|part| {
        if let Some(fixed) = time::duration(part) {
            return Some(fixed);
        }
        let value = object.field(part)?;
        match value.integer() {
            Some(seconds) => seconds.checked_mul(1_000),
            None => value.str().and_then(time::duration),
        }
    })
}
