//! The JSON Patch that makes a torn status safe to read, and the one that releases it.
//!
//! While a happy condition says True and its witness disagrees, the condition is held at Unknown;
//! reason and message stay as the controller wrote them. A condition at Unknown whose message has
//! the shape of success is one that was held: no controller writes that pair. When its witness
//! agrees again, it is released. The patch is a function of the object and its profile alone, so
//! it may be applied any number of times, and it touches nothing but that one `status` field.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::object::Status;
use crate::rule::View;
use crate::witness::{self, Says};

/// The patch, RFC 6902; nothing where there is nothing to do.
///
/// An object that is being deleted is never held (its controller clears the fields and leaves the
/// conditions), but what was held before is released.
pub fn patch(view: &View<'_>) -> Option<String> {
    let (object, profile) = (view.object, view.profile);
    let mut operations = Vec::new();
    for type_ in &profile.happy {
        let Some(condition) = object.condition(type_) else { continue };
        let status = match condition.status {
            Status::True if !object.deleting => "True",
            Status::Unknown => "Unknown",
            _ => continue,
        };
        let (mut torn, mut agrees) = (false, false);
        for witness in profile.witnesses.iter().filter(|witness| witness.condition == **type_) {
            match witness::says(witness, object, Some(status)) {
                Says::Torn(_) => torn = true,
                Says::Agrees => agrees = true,
                Says::Nothing => {}
            }
        }
        let value = match condition.status {
            Status::True if torn => "Unknown",
            Status::Unknown if agrees && !torn => "True",
            _ => continue,
        };
        let type_path = object.place(condition, "type");
        let status_path = object.place(condition, "status");
        operations.push(format!(
            r#"{{"op":"test","path":"{type_path}","value":"{type_}"}},{{"op":"replace","path":"{status_path}","value":"{value}"}}"#
        ));
    }
    (!operations.is_empty()).then(|| format!("[{}]", operations.join(",")))
}
