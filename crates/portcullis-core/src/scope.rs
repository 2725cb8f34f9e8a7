//! Whether a path lies in the working directories, all its spellings considered (spec C5).

use portcullis_analysis::Access;

use crate::case::CaseView;
use crate::path::is_inside;
use crate::path_use::PathUse;
use crate::rule::{Behavior, PathAccess, Rule};
use crate::rule_match::{anchors, path_pattern};

/// Says whether every spelling of a path lies in a working directory. What is not known does not.
pub(crate) fn is_in_workspace(view: &CaseView<'_>, path_use: &PathUse) -> bool {
    path_use.is_free()
        || path_use.variants(&view.case.answers).is_some_and(|variants| {
            variants.iter().all(|path| view.spellings_of_roots().any(|root| is_inside(path, root)))
        })
}

/// Says whether the path as written lies in a working directory, links not followed.
pub(crate) fn looks_in_workspace(view: &CaseView<'_>, path_use: &PathUse) -> bool {
    path_use.path.as_deref().is_some_and(|path| is_below_a_root(view, path))
}

/// Says whether an absolute path lies in a working directory by its text.
pub(crate) fn is_below_a_root(view: &CaseView<'_>, path: &str) -> bool {
    view.is_in_project(path)
}

/// Says whether a path may be read without asking: it lies in the workspace, or a rule allows it.
pub(crate) fn may_read(view: &CaseView<'_>, path_use: &PathUse) -> bool {
    is_in_workspace(view, path_use) || is_allowed_by_rule(view, path_use)
}

/// Says whether allow rules cover every spelling of a path.
pub(crate) fn is_allowed_by_rule(view: &CaseView<'_>, path_use: &PathUse) -> bool {
    find_path_permit(view, path_use).is_some()
}

/// Finds the allow rule for a path, if every spelling of it has one. An edit rule implies reading.
pub(crate) fn find_path_permit<'a>(view: &CaseView<'a>, path_use: &PathUse) -> Option<&'a Rule> {
    if path_use.is_connection() {
        return None;
    }
    let accesses: &[PathAccess] = match path_use.access {
        Access::Read => &[PathAccess::Read, PathAccess::Edit],
        Access::Write | Access::Remove => &[PathAccess::Edit],
    };
    let permit = |path: &str| {
        accesses.iter().find_map(|&access| {
            view.policy.rules.paths_for(Behavior::Allow, access, path).into_iter().find(|rule| {
                let anchors = anchors(view, rule);
                path_pattern(rule).is_some_and(|pattern| match path_use.glob {
                    None => pattern.matches(path, &anchors),
                    // A shell pattern stands for any file below its directory.
                    Some(_) => pattern.tree(&anchors).is_some_and(|tree| is_inside(path, &tree)),
                })
            })
        })
    };
    let variants = path_use.variants(&view.case.answers)?;
    let permits: Option<Vec<&Rule>> = variants.into_iter().map(permit).collect();
    permits?.first().copied()
}
