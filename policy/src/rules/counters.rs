//! Numbers of instances.

pub(crate) mod impossible_replica_counts;
pub(crate) mod ready_with_missing_instances;
