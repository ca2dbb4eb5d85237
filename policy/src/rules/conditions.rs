//! Conditions against each other.

pub(crate) mod ready_while_reconciling_or_stalled;
pub(crate) mod reconciling_and_stalled;
