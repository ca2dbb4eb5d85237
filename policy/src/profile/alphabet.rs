//! The characters of the packed form, for its writer (`build/pack.rs`) and its reader.
//!
//! Numbers are little-endian digits, lengths come before what they count, and a structure is the
//! number and value of each field that has not its default, then [`END`].

/// The base of a number's digits: two digits less than ASCII's seven bits would hold.
pub(super) const BASE: u64 = 32;

/// Added to a digit that another one follows.
pub(super) const MORE: u8 = 32;

/// The end of a structure.
pub(super) const END: u8 = 127;
