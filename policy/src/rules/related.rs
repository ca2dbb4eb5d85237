//! An object beside those that it names.

pub(crate) mod no_controller_selects_object;
pub(crate) mod owner_uid_differs;
pub(crate) mod ready_on_failed_dependency;
pub(crate) mod revision_behind_source;
pub(crate) mod route_refused_though_listener_matches;
pub(crate) mod status_item_not_in_spec;
pub(crate) mod waiting_for_what_is_ready;
