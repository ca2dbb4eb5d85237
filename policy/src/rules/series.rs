//! What only shows over several states.

