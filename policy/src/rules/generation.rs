//! The generation that a status speaks of.

pub(crate) mod observed_generation_ahead;
pub(crate) mod ready_with_stale_generation;
