//! What was asked for and is not answered, and what lasts too long.

pub(crate) mod cancelled_and_not_resumed;
pub(crate) mod deadline_passed;
pub(crate) mod deletion_blocked_by_suspend;
pub(crate) mod poke_unanswered;
pub(crate) mod reconciling_past_timeout;
pub(crate) mod suspended_in_mid_reconcile;
