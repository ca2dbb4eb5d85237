//! The rules, one file each, by family.

pub(crate) mod conditions;
pub(crate) mod generation;
pub(crate) mod result;
pub(crate) mod time;
pub(crate) mod trace;
pub(crate) mod witness;
