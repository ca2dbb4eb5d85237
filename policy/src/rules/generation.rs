//! The generation that a status speaks of.

pub(crate) mod condition_without_observed_generation;
pub(crate) mod failure_of_older_generation;
pub(crate) mod generation_observed_early;
pub(crate) mod generation_raised_alone;
pub(crate) mod observed_generation_ahead;
pub(crate) mod observed_generation_as_text;
pub(crate) mod observed_generation_backwards;
pub(crate) mod observed_generation_not_positive;
pub(crate) mod ready_carried_over_to_new_spec;
pub(crate) mod ready_with_stale_generation;
pub(crate) mod status_generation_behind_ready;
