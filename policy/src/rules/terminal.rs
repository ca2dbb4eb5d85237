//! Bounded work at its end.

pub(crate) mod finish_time_changed;
pub(crate) mod finish_time_without_finish;
pub(crate) mod finished_without_finish_time;
pub(crate) mod terminal_state_reverted;
