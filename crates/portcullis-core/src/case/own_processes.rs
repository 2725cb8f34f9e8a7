//! Processes that a call ends by their numbers, and which of them an agent started in the working directories: ending what
//! one started is nobody else's business (spec D3).

use std::collections::BTreeSet;

use portcullis_analysis::ended_process;

use super::view::CaseView;
use crate::disk::{DiskAnswer, DiskQuestion};
use crate::path;

/// Of so many processes it is looked up whose they are.
const MOST: usize = 16;

/// Lists what must be known of the processes that a call ends.
pub(super) fn questions(view: &CaseView<'_>) -> impl Iterator<Item = DiskQuestion> {
    ended(view).map(|number| DiskQuestion::AgentProcess(number.to_owned()))
}

/// Returns those that an agent started in the working directories.
pub(super) fn started_here(view: &CaseView<'_>) -> BTreeSet<String> {
    let is_own =
        |number: &&str| match view.case.answers.settings(&DiskQuestion::AgentProcess((*number).to_owned())) {
            Some(DiskAnswer::Text(directory)) => {
                view.spellings_of_roots().any(|root| path::is_inside(directory, root))
            }
            Some(DiskAnswer::Leads(_) | DiskAnswer::Absent | DiskAnswer::Broken) | None => false,
        };
    ended(view).filter(is_own).map(str::to_owned).collect()
}

fn ended<'a>(view: &CaseView<'a>) -> impl Iterator<Item = &'a str> {
    let case = view.case;
    case.effects().iter().filter_map(|effect| ended_process(case.survey(), effect)).take(MOST)
}
