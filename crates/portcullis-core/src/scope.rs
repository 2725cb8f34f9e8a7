//! Whether a path lies in the working directories, all its spellings considered (spec C5).

use portcullis_analysis::Access;

use crate::fact::Resolution;
use crate::path::is_inside;
use crate::path_use::PathUse;
use crate::pipeline::Run;
use crate::rule::{Behavior, PathAccess, Rule};
use crate::rule_match::{anchors, path_pattern};

/// Says whether every spelling of a path lies in a working directory. What is not known does not.
pub(crate) fn is_in_workspace(run: &Run<'_>, path_use: &PathUse) -> bool {
    path_use.is_free()
        || path_use.variants(run.facts).is_some_and(|variants| {
            variants.iter().all(|path| spellings_of_roots(run).any(|root| is_inside(path, root)))
        })
}

/// Says whether the path as written lies in a working directory, links not followed.
pub(crate) fn looks_in_workspace(run: &Run<'_>, path_use: &PathUse) -> bool {
    path_use.path.as_deref().is_some_and(|path| is_below_a_root(run, path))
}

/// Says whether an absolute path lies in a working directory by its text.
pub(crate) fn is_below_a_root(run: &Run<'_>, path: &str) -> bool {
    run.request.roots.iter().any(|root| is_inside(path, root))
}

/// Returns the working directories and where they lead.
fn spellings_of_roots<'a>(run: &Run<'a>) -> impl Iterator<Item = &'a str> {
    let facts = run.facts;
    run.request.roots.iter().flat_map(move |root| {
        let leads = match facts.path(root) {
            Some(Resolution::Leads(leads)) => leads.as_slice(),
            Some(Resolution::Text(_) | Resolution::Absent | Resolution::Broken) | None => &[],
        };
        std::iter::once(root.as_str()).chain(leads.iter().map(String::as_str))
    })
}

/// Says whether a path may be read without asking: it lies in the workspace, or a rule allows it.
pub(crate) fn may_read(run: &Run<'_>, path_use: &PathUse) -> bool {
    is_in_workspace(run, path_use) || is_allowed_by_rule(run, path_use)
}

/// Says whether allow rules cover every spelling of a path.
pub(crate) fn is_allowed_by_rule(run: &Run<'_>, path_use: &PathUse) -> bool {
    find_path_permit(run, path_use).is_some()
}

/// Finds the allow rule for a path, if every spelling of it has one. An edit rule implies reading.
pub(crate) fn find_path_permit<'a>(run: &Run<'a>, path_use: &PathUse) -> Option<&'a Rule> {
    if path_use.is_connection() {
        return None;
    }
    let accesses: &[PathAccess] = match path_use.access {
        Access::Read => &[PathAccess::Read, PathAccess::Edit],
        Access::Write | Access::Remove => &[PathAccess::Edit],
    };
    let permit = |path: &str| {
        accesses.iter().find_map(|&access| {
            run.policy.rules.paths_for(Behavior::Allow, access, path).into_iter().find(|rule| {
                let anchors = anchors(run, rule);
                path_pattern(rule).is_some_and(|pattern| match path_use.glob {
                    None => pattern.matches(path, &anchors),
                    // A shell pattern stands for any file below its directory.
                    Some(_) => pattern.tree(&anchors).is_some_and(|tree| is_inside(path, &tree)),
                })
            })
        })
    };
    let variants = path_use.variants(run.facts)?;
    let permits: Option<Vec<&Rule>> = variants.into_iter().map(permit).collect();
    permits?.first().copied()
}
