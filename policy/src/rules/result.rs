//! What a reconcile pass returns.

pub(crate) mod lost_wake_up;
