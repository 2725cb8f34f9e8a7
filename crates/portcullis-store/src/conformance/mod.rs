//! What every store must do, whoever keeps it: checks that a test runs against a backend.
//!
//! A check gets a function that opens a store, which is empty at first; each call opens the same one again, as another
//! process would. A check that fails panics or returns an error.
//!
//! ```
//! use portcullis_store::{Store, conformance};
//!
//! for check in conformance::CHECKS {
//!     let folder = tempfile::tempdir().unwrap();
//!     (check.run)(&|| Store::new(folder.path().to_path_buf())).unwrap();
//! }
//! ```

mod approvals;
mod documents;
mod grants;
mod policies;
mod sample;
mod trail;

use crate::Store;

/// What a check comes to.
pub type CheckResult = Result<(), Box<dyn std::error::Error>>;

/// Something that every store must do.
#[derive(Debug, Clone, Copy)]
pub struct ConformanceCheck {
    /// What it is, as a sentence of words with `_`.
    pub name: &'static str,
    /// Checks it, given what opens one store.
    pub run: fn(&dyn Fn() -> Store) -> CheckResult,
}

/// Names checks by their functions.
macro_rules! checks {
    ($($module:ident::$name:ident),* $(,)?) => {
        &[$(ConformanceCheck { name: stringify!($name), run: $module::$name }),*]
    };
}

/// All of them.
pub const CHECKS: &[ConformanceCheck] = checks![
    documents::denials_of_many_at_once_are_all_counted,
    documents::an_approval_is_taken_by_one_of_many,
    documents::an_answer_is_applied_to_a_call_that_the_session_forgot,
    documents::an_answer_that_is_applied_again_gives_nothing_more,
    documents::facts_of_many_at_once_are_all_kept,
    documents::a_change_that_fails_changes_nothing,
    documents::a_document_that_is_too_long_is_an_error,
    documents::what_was_denied_is_found_in_whichever_session,
    documents::only_old_sessions_are_forgotten,
    grants::uses_are_given_once_each,
    grants::grants_are_numbered_and_taken_back,
    trail::a_batch_is_kept_in_order,
    trail::many_writers_make_one_chain,
    trail::a_reader_goes_on_where_it_was,
    trail::a_walk_finds_what_was_expected_and_what_is_missing,
    trail::secrets_are_not_kept,
    trail::records_are_found_by_what_is_in_them,
    trail::pages_tell_every_record_once,
    trail::a_record_is_found_by_its_id_or_the_beginning_of_one,
    trail::a_repeated_question_is_counted_once,
    trail::decisions_are_counted_over_time,
    trail::times_are_counted_in_bins,
    trail::sessions_are_told_the_latest_first,
    trail::removing_the_old_leaves_a_whole_chain,
    approvals::a_question_is_put_once,
    approvals::a_question_is_kept_without_secrets,
    approvals::the_first_of_many_answers_counts,
    approvals::what_nobody_answered_in_time_is_over,
    approvals::an_answer_is_applied_once_however_late,
    approvals::approvals_are_listed_in_order,
    approvals::every_change_has_a_number_of_its_own,
    approvals::only_what_has_ended_is_removed,
    policies::versions_follow_each_other,
    policies::one_of_many_publishes_a_version,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_do_what_every_store_must_do() {
        let mut failures = Vec::new();
        for check in CHECKS {
            let folder = tempfile::tempdir().unwrap();
            let root = folder.path().join("state");
            let open = || Store::new(root.clone()).with_patience(std::time::Duration::from_mins(10));
            let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                (check.run)(&open).map_err(|error| error.to_string())
            }));
            failures.extend(match outcome {
                Ok(Ok(())) => None,
                Ok(Err(error)) => Some(format!("{}: {error}", check.name)),
                Err(_) => Some(check.name.to_owned()),
            });
        }
        assert_eq!(failures, Vec::<String>::new());
    }
}
