//! The rules, one file each, by family.

pub(crate) mod conditions;
pub(crate) mod counters;
pub(crate) mod generation;
pub(crate) mod handled;
pub(crate) mod related;
pub(crate) mod result;
pub(crate) mod series;
pub(crate) mod terminal;
pub(crate) mod time;
pub(crate) mod trace;
pub(crate) mod witness;
