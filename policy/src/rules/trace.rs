//! What a work queue was made to do.

pub(crate) mod backoff_kept_across_inputs;
pub(crate) mod cancel_without_add;
pub(crate) mod event_dropped_while_owed;
pub(crate) mod hot_loop;
pub(crate) mod idle_with_work_owed;
pub(crate) mod ready_item_never_handed_out;
pub(crate) mod request_consumed_by_earlier_run;
pub(crate) mod stale_read_concluded;
pub(crate) mod timer_consumed_by_merge;
