//! An object beside those that it names.

