//! All rules, ordered by id.

use crate::rule::Rule;
use crate::rules::{conditions, generation, result, witness};

/// All rules, ordered by id.
pub static RULES: &[&Rule] = &[
    &result::lost_wake_up::RULE,
    &witness::message_revision_differs_from_field::RULE,
    &generation::observed_generation_ahead::RULE,
    &conditions::ready_while_reconciling_or_stalled::RULE,
    &generation::ready_with_stale_generation::RULE,
    &conditions::reconciling_and_stalled::RULE,
];

/// The rule with this id.
pub fn find(id: &str) -> Option<&'static Rule> {
    RULES.iter().find(|rule| rule.id == id).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_ordered_and_named_once() {
        assert!(RULES.windows(2).all(|pair| pair[0].id < pair[1].id));
    }
}
