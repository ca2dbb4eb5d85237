//! When an object was written, and by whom, as far as it tells by itself.
//!
//! These are times that the object carries. None is the present; the newest of them is only a time
//! that has certainly come.

use crate::json::Json;
use crate::object::Object;
use crate::time::Time;

/// One entry of `managedFields`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Write<'a> {
    /// Who wrote.
    pub manager: &'a str,
    /// When the entry was last changed.
    pub time: Time,
    /// Whether the write went to the status subresource.
    pub status: bool,
}

/// The entries of `managedFields` that carry a time.
pub fn writes<'r>(object: &Object<'r>) -> impl Iterator<Item = Write<'r>> {
    object.root.at("metadata").at("managedFields").items().iter().filter_map(|entry| {
        Some(Write {
            manager: entry.at("manager").str()?,
            time: Time::parse(entry.at("time").str()?)?,
            status: entry.at("subresource").str() == Some("status"),
        })
    })
}

/// The latest write of the status.
pub fn status_write<'r>(object: &Object<'r>) -> Option<Write<'r>> {
    writes(object).filter(|write| write.status).max_by_key(|write| write.time)
}

/// The latest write of anything but the status: the spec has not been changed since.
pub fn main_write<'r>(object: &Object<'r>) -> Option<Write<'r>> {
    writes(object).filter(|write| !write.status).max_by_key(|write| write.time)
}

/// The newest time at which the status was certainly written: by a condition's own times, or by
/// `managedFields`.
pub fn status_time(object: &Object<'_>) -> Option<Time> {
    let keys = ["lastTransitionTime", "lastUpdateTime", "lastHeartbeatTime", "lastProbeTime"];
    let of = |json: &Json<'_>| keys.iter().filter_map(|key| Time::parse(json.at(key).str()?)).max();
    let conditions = object.lists.iter().flat_map(|list| &list.conditions);
    let newest = conditions.filter_map(|condition| of(condition.json)).max();
    newest.max(status_write(object).map(|write| write.time))
}

/// `metadata.creationTimestamp`.
pub fn created(object: &Object<'_>) -> Option<Time> {
    Time::parse(object.root.at("metadata").at("creationTimestamp").str()?)
}

/// `metadata.deletionTimestamp`.
pub fn deleted(object: &Object<'_>) -> Option<Time> {
    Time::parse(object.root.at("metadata").at("deletionTimestamp").str()?)
}
