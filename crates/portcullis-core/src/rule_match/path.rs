//! Rules about paths: any spelling of a path counts, and one that is not known may be meant.

use portcullis_analysis::Access;
use portcullis_analysis::effect::Certainty;

use super::restraint::RuleMatch;
use crate::case::{CaseView, EffectSource};
use crate::path_use::PathUse;
use crate::pattern::may_name_component;
use crate::rule::{Behavior, Matcher, PathAccess, PathAnchors, PathPattern, Rule, guarding_pattern};

/// Finds the surest path rule that anything meets which one text makes the call do.
pub(super) fn find_path_in<'a>(
    view: &CaseView<'a>,
    behavior: Behavior,
    source: &EffectSource<'_>,
) -> Option<RuleMatch<'a>> {
    if !view.policy.rules.has_path_restraint() {
        return None;
    }
    let mut possible = None;
    for path_use in source.path_uses().filter(|path_use| counts(source, path_use)) {
        let Some(mut found) = find_path(view, behavior, &path_use) else { continue };
        let (matched, span) = source.named(&path_use);
        (found.matched, found.spans) = (matched, vec![span]);
        if found.certainty == Certainty::Certain {
            return Some(found);
        }
        possible = possible.or(Some(found));
    }
    possible
}

/// Says whether a file counts that is only known at run time. The project's own scripts may name files as they like: what
/// they surely touch counts alone.
fn counts(source: &EffectSource<'_>, path_use: &PathUse<'_>) -> bool {
    path_use.path().is_some() || source.is_agents_own
}

/// Finds the surest path rule that the use of a file meets.
pub(super) fn find_path<'a>(
    view: &CaseView<'a>,
    behavior: Behavior,
    path_use: &PathUse<'_>,
) -> Option<RuleMatch<'a>> {
    if path_use.is_free() {
        return None;
    }
    // Whoever may not read a file may not write it either.
    let accesses: &[PathAccess] = match path_use.access {
        Access::Read => &[PathAccess::Read],
        Access::Write | Access::Remove if behavior == Behavior::Deny => &[PathAccess::Edit, PathAccess::Read],
        Access::Write | Access::Remove => &[PathAccess::Edit],
    };
    let found = |rule: &'a Rule, certainty: Certainty| RuleMatch {
        rule,
        matched: path_use.shown().to_owned(),
        certainty,
        spans: vec![path_use.span],
    };
    let mut possible = None;
    for &access in accesses {
        if let Some(rule) = find_guard(view, behavior, access, path_use) {
            match path_use.certainty {
                Certainty::Certain => return Some(found(rule, Certainty::Certain)),
                Certainty::Possible => possible = possible.or(Some(rule)),
            }
        }
        possible = possible.or_else(|| find_possible_guard(view, behavior, access, path_use));
    }
    possible.map(|rule| found(rule, Certainty::Possible))
}

/// Finds a path rule that matches any spelling of the path.
fn find_guard<'a>(
    view: &CaseView<'a>,
    behavior: Behavior,
    access: PathAccess,
    path_use: &PathUse<'_>,
) -> Option<&'a Rule> {
    let variants = path_use.known_variants();
    let rules = &view.policy.rules;
    if !rules.has_negated_path(behavior, access) {
        return variants.iter().find_map(|path| {
            let candidates = rules.paths_for(behavior, access, path).into_iter();
            candidates
                .filter(|rule| {
                    path_pattern(rule).is_some_and(|pattern| pattern.matches(path, &anchors(view, rule)))
                })
                .min_by_key(|rule| rule.origin.source)
        });
    }
    // A negated pattern speaks of the list it stands in, so that the rules of each file are read together.
    let mut lists: Vec<Vec<&'a Rule>> = Vec::new();
    for rule in rules.paths(behavior, access) {
        let same = |list: &&mut Vec<&Rule>| {
            list.first().is_some_and(|first| {
                first.origin.source == rule.origin.source && first.origin.base == rule.origin.base
            })
        };
        match lists.iter_mut().find(same) {
            Some(list) => list.push(rule),
            None => lists.push(vec![rule]),
        }
    }
    lists.iter().find_map(|list| {
        let patterns: Vec<&PathPattern> = list.iter().filter_map(|rule| path_pattern(rule)).collect();
        let anchors = anchors(view, list.first()?);
        let place = variants.iter().find_map(|path| guarding_pattern(&patterns, path, &anchors))?;
        list.get(place).copied()
    })
}

/// Finds a path rule that may match, because the path is not known or stands for several.
fn find_possible_guard<'a>(
    view: &CaseView<'a>,
    behavior: Behavior,
    access: PathAccess,
    path_use: &PathUse<'_>,
) -> Option<&'a Rule> {
    let mut rules = view
        .policy
        .rules
        .paths(behavior, access)
        .filter(|rule| !path_pattern(rule).is_some_and(PathPattern::is_negated));
    match (path_use.path(), path_use.target.is_pattern) {
        (None, _) => rules.next(),
        (Some(_), false) => None,
        (Some(glob), true) => rules.find(|rule| {
            let name = path_pattern(rule).and_then(PathPattern::required_name);
            name.is_none_or(|name| glob.split('/').any(|component| may_name_component(component, name)))
        }),
    }
}

pub(crate) fn path_pattern(rule: &Rule) -> Option<&PathPattern> {
    match &rule.matcher {
        Matcher::Path { pattern, .. } => Some(pattern),
        Matcher::Tool(_)
        | Matcher::Shell { .. }
        | Matcher::Domain(_)
        | Matcher::Name { .. }
        | Matcher::Parameter { .. } => None,
    }
}

/// Returns what a rule's path pattern is relative to.
pub(crate) fn anchors<'a>(view: &CaseView<'a>, rule: &'a Rule) -> PathAnchors<'a> {
    let context = view.case.context();
    PathAnchors {
        cwd: &context.cwd,
        project: &context.project,
        home: context.home.as_deref(),
        base: rule.origin.base.as_deref(),
    }
}
