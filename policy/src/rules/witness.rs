//! Texts that repeat a field's value, and say something else.

pub(crate) mod message_revision_differs_from_field;
pub(crate) mod status_breaks_invariant;
