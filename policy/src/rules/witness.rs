//! Texts that repeat a field's value, and say something else.

pub(crate) mod condition_moved_before_its_field;
pub(crate) mod field_moved_under_unmoved_condition;
pub(crate) mod message_revision_differs_from_field;
pub(crate) mod status_breaks_invariant;
