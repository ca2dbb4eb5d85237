//! The native host of plumb's policy component.
