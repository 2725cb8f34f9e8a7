//! Whether a path lies in the working directories, all its spellings considered (spec C5).

use portcullis_analysis::Access;

use crate::case::CaseView;
use crate::disk::DiskAnswer;
use crate::path::is_inside;
use crate::path_use::PathUse;
use crate::rule::{Behavior, PathAccess, Rule};
use crate::rule_match::{anchors, path_pattern};

/// Says whether every spelling of a path lies in a working directory. What is not known does not.
pub(crate) fn is_in_workspace(view: &CaseView<'_>, path_use: &PathUse<'_>) -> bool {
    path_use.is_free()
        || path_use.variants().is_some_and(|variants| variants.iter().all(|path| leads_inside(view, path)))
}

/// Says whether a spelling lies in a working directory, or where that leads.
fn leads_inside(view: &CaseView<'_>, path: &str) -> bool {
    view.spellings_of_roots().any(|root| is_inside(path, root))
}

/// Says whether the path lies in a working directory as it is written, and a link leads it out of them.
pub(crate) fn leaves_by_link(view: &CaseView<'_>, path_use: &PathUse<'_>) -> bool {
    let answers = &view.case.answers;
    let leads_out = |path: &String| {
        let found = if path_use.target.is_pattern { answers.pattern(path) } else { answers.path(path) };
        let leads = match found {
            Some(DiskAnswer::Leads(leads)) => leads.as_slice(),
            Some(DiskAnswer::Text(_) | DiskAnswer::Absent | DiskAnswer::Broken) | None => &[],
        };
        is_below_a_root(view, path) && leads.iter().any(|lead| !leads_inside(view, lead))
    };
    path_use.known_variants().iter().any(leads_out)
}

/// Says whether an absolute path lies in a working directory by its text.
pub(crate) fn is_below_a_root(view: &CaseView<'_>, path: &str) -> bool {
    view.is_in_project(path)
}

/// Says whether a path may be read without asking: it lies in the workspace, or a rule allows it.
pub(crate) fn may_read(view: &CaseView<'_>, path_use: &PathUse<'_>) -> bool {
    is_in_workspace(view, path_use) || is_allowed_by_rule(view, path_use)
}

/// Says whether allow rules cover every spelling of a path.
pub(crate) fn is_allowed_by_rule(view: &CaseView<'_>, path_use: &PathUse<'_>) -> bool {
    find_path_permit(view, path_use).is_some()
}

/// Finds the allow rule for a path, if every spelling of it has one. An edit rule implies reading.
pub(crate) fn find_path_permit<'a>(view: &CaseView<'a>, path_use: &PathUse<'_>) -> Option<&'a Rule> {
    let accesses: &[PathAccess] = match path_use.access {
        Access::Read => &[PathAccess::Read, PathAccess::Edit],
        Access::Write | Access::Remove => &[PathAccess::Edit],
    };
    let permit = |path: &str| {
        accesses.iter().find_map(|&access| {
            view.policy.rules.paths_for(Behavior::Allow, access, path).into_iter().find(|rule| {
                let anchors = anchors(view, rule);
                path_pattern(rule).is_some_and(|pattern| {
                    if path_use.target.is_pattern {
                        // A shell pattern stands for any file below its directory.
                        pattern.tree(&anchors).is_some_and(|tree| is_inside(path, &tree))
                    } else {
                        pattern.matches(path, &anchors)
                    }
                })
            })
        })
    };
    let permits: Option<Vec<&Rule>> = path_use.variants()?.iter().map(|path| permit(path)).collect();
    permits?.first().copied()
}
