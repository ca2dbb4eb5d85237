//! All rules, ordered by id.

use crate::rule::Rule;
use crate::rules::{conditions, generation, result, trace, witness};

/// All rules, ordered by id.
pub static RULES: &[&Rule] = &[
    &trace::backoff_kept_across_inputs::RULE,
    &trace::cancel_without_add::RULE,
    &trace::event_dropped_while_owed::RULE,
    &trace::hot_loop::RULE,
    &trace::idle_with_work_owed::RULE,
    &result::lost_wake_up::RULE,
    &witness::message_revision_differs_from_field::RULE,
    &generation::observed_generation_ahead::RULE,
    &trace::ready_item_never_handed_out::RULE,
    &conditions::ready_while_reconciling_or_stalled::RULE,
    &generation::ready_with_stale_generation::RULE,
    &conditions::reconciling_and_stalled::RULE,
    &trace::request_consumed_by_earlier_run::RULE,
    &trace::stale_read_concluded::RULE,
    &witness::status_breaks_invariant::RULE,
    &trace::timer_consumed_by_merge::RULE,
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
