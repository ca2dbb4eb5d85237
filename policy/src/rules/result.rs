//! What a reconcile pass returns.

pub(crate) mod aggregate_later_than_part;
pub(crate) mod backoff_without_failure;
pub(crate) mod delay_beyond_interval;
pub(crate) mod delay_not_positive;
pub(crate) mod failure_waits_for_interval;
pub(crate) mod hot_requeue;
pub(crate) mod lost_wake_up;
pub(crate) mod result_ignored_beside_error;
pub(crate) mod stalled_by_curable_cause;
pub(crate) mod stalled_object_retried;
pub(crate) mod terminal_without_stalled;
mod timer;
pub(crate) mod timer_lost_to_event;
