//! The times that conditions carry.

pub(crate) mod condition_older_than_object;
pub(crate) mod transition_time_backwards;
pub(crate) mod transition_time_in_future;
pub(crate) mod transition_time_moved_alone;
pub(crate) mod transition_time_unmoved;
