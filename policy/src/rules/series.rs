//! What only shows over several states.

pub(crate) mod condition_flaps;
pub(crate) mod failure_reported_before_known;
pub(crate) mod hot_loop_by_own_write;
pub(crate) mod message_churn;
pub(crate) mod ready_revoked_in_creation;
pub(crate) mod two_writers_alternate;
pub(crate) mod void_write;
