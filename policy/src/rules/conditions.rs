//! Conditions against each other.

pub(crate) mod condition_outside_schema;
pub(crate) mod condition_status_unknown_word;
pub(crate) mod ready_while_abnormal;
pub(crate) mod ready_while_dependent_false;
pub(crate) mod ready_while_reconciling_or_stalled;
pub(crate) mod reconciling_and_stalled;
pub(crate) mod repeated_condition_type;
pub(crate) mod summary_condition_missing;
pub(crate) mod summary_hides_the_cause;
pub(crate) mod summary_unknown_while_dependents_true;
pub(crate) mod waiting_reason_while_acting;
