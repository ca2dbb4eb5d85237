//! All rules, ordered by id.

use crate::rule::Rule;
use crate::rules::{
    conditions, counters, generation, handled, related, result, series, terminal, time, trace,
    witness,
};

/// All rules, ordered by id.
pub static RULES: &[&Rule] = &[
    &result::aggregate_later_than_part::RULE,
    &trace::backoff_kept_across_inputs::RULE,
    &result::backoff_without_failure::RULE,
    &trace::cancel_without_add::RULE,
    &handled::cancelled_and_not_resumed::RULE,
    &series::condition_flaps::RULE,
    &witness::condition_moved_before_its_field::RULE,
    &time::condition_older_than_object::RULE,
    &conditions::condition_outside_schema::RULE,
    &conditions::condition_status_unknown_word::RULE,
    &generation::condition_without_observed_generation::RULE,
    &handled::deadline_passed::RULE,
    &result::delay_beyond_interval::RULE,
    &result::delay_not_positive::RULE,
    &handled::deletion_blocked_by_suspend::RULE,
    &trace::event_dropped_while_owed::RULE,
    &generation::failure_of_older_generation::RULE,
    &series::failure_reported_before_known::RULE,
    &result::failure_waits_for_interval::RULE,
    &witness::field_moved_under_unmoved_condition::RULE,
    &terminal::finish_time_changed::RULE,
    &terminal::finish_time_without_finish::RULE,
    &terminal::finished_without_finish_time::RULE,
    &generation::generation_observed_early::RULE,
    &generation::generation_raised_alone::RULE,
    &trace::hot_loop::RULE,
    &series::hot_loop_by_own_write::RULE,
    &result::hot_requeue::RULE,
    &trace::idle_with_work_owed::RULE,
    &counters::impossible_replica_counts::RULE,
    &result::lost_wake_up::RULE,
    &series::message_churn::RULE,
    &witness::message_revision_differs_from_field::RULE,
    &related::no_controller_selects_object::RULE,
    &generation::observed_generation_ahead::RULE,
    &generation::observed_generation_as_text::RULE,
    &generation::observed_generation_backwards::RULE,
    &generation::observed_generation_not_positive::RULE,
    &related::owner_uid_differs::RULE,
    &handled::poke_unanswered::RULE,
    &generation::ready_carried_over_to_new_spec::RULE,
    &trace::ready_item_never_handed_out::RULE,
    &related::ready_on_failed_dependency::RULE,
    &series::ready_revoked_in_creation::RULE,
    &conditions::ready_while_abnormal::RULE,
    &conditions::ready_while_dependent_false::RULE,
    &conditions::ready_while_reconciling_or_stalled::RULE,
    &counters::ready_with_missing_instances::RULE,
    &generation::ready_with_stale_generation::RULE,
    &conditions::reconciling_and_stalled::RULE,
    &handled::reconciling_past_timeout::RULE,
    &conditions::repeated_condition_type::RULE,
    &trace::request_consumed_by_earlier_run::RULE,
    &result::result_ignored_beside_error::RULE,
    &related::revision_behind_source::RULE,
    &related::route_refused_though_listener_matches::RULE,
    &trace::stale_read_concluded::RULE,
    &result::stalled_by_curable_cause::RULE,
    &result::stalled_object_retried::RULE,
    &witness::status_breaks_invariant::RULE,
    &generation::status_generation_behind_ready::RULE,
    &related::status_item_not_in_spec::RULE,
    &conditions::summary_condition_missing::RULE,
    &conditions::summary_hides_the_cause::RULE,
    &conditions::summary_unknown_while_dependents_true::RULE,
    &handled::suspended_in_mid_reconcile::RULE,
    &terminal::terminal_state_reverted::RULE,
    &result::terminal_without_stalled::RULE,
    &trace::timer_consumed_by_merge::RULE,
    &result::timer_lost_to_event::RULE,
    &time::transition_time_backwards::RULE,
    &time::transition_time_in_future::RULE,
    &time::transition_time_moved_alone::RULE,
    &time::transition_time_unmoved::RULE,
    &series::two_writers_alternate::RULE,
    &series::void_write::RULE,
    &related::waiting_for_what_is_ready::RULE,
    &conditions::waiting_reason_while_acting::RULE,
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
