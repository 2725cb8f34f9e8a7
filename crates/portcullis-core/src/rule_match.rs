//! Finds the deny and ask rules that a call meets, by its content.

use portcullis_analysis::access::Likelihood;
use portcullis_analysis::read_only::is_read_only;
use portcullis_analysis::{Access, Invocation, base_name};
use portcullis_shell::Span;

use crate::path_use::PathUse;
use crate::pipeline::Run;
use crate::request::{Shell, Subject};
use crate::rule::{
    Anchors, Behavior, Matcher, PathAccess, PathPattern, Piece, Rule, ShellPattern, Wildcard,
    guarding_pattern,
};
use crate::shell_match::restrains;
use crate::verdict::Certainty;

/// A rule that a call meets.
#[derive(Debug, Clone)]
pub(crate) struct RuleMatch<'a> {
    pub(crate) rule: &'a Rule,
    /// What it matched.
    pub(crate) matched: String,
    pub(crate) certainty: Certainty,
    pub(crate) spans: Vec<Span>,
}

/// Finds the surest content or parameter rule of a restraining behavior.
pub(crate) fn find_restraint<'a>(run: &Run<'a>, behavior: Behavior) -> Option<RuleMatch<'a>> {
    let mut best: Option<RuleMatch<'a>> = None;
    let mut consider = |found: Option<RuleMatch<'a>>| {
        if let Some(found) = found {
            let is_better = match &best {
                None => true,
                Some(best) => best.certainty == Certainty::Possible && found.certainty == Certainty::Certain,
            };
            if is_better {
                best = Some(found);
            }
        }
    };
    consider(find_parameter(run, behavior));
    match &run.request.subject {
        Subject::Shell(shell) => {
            for invocation in &shell.survey.invocations {
                consider(find_shell(run, behavior, invocation));
            }
            consider(find_hidden(run, behavior, shell));
            for (paths, invocation) in shell.paths.iter().zip(&shell.survey.invocations) {
                for path_use in paths.certain() {
                    consider(find_path(run, behavior, path_use));
                }
                let accesses: &[Access] =
                    if is_read_only(invocation) { &[Access::Read] } else { &[Access::Read, Access::Write] };
                for path_use in paths.mentioned.iter().filter(|path_use| path_use.path.is_some()) {
                    for &access in accesses {
                        let found = find_path(run, behavior, &PathUse { access, ..path_use.clone() });
                        consider(found.map(|found| RuleMatch { certainty: Certainty::Possible, ..found }));
                    }
                }
            }
        }
        Subject::PowerShell(command) => consider(find_power_shell(run, behavior, command)),
        Subject::Files(files) => {
            for path_use in files {
                consider(find_path(run, behavior, path_use));
            }
        }
        Subject::Fetch { host } => consider(find_domain(run, behavior, host.as_deref())),
        Subject::Other | Subject::Malformed(_) => {}
    }
    consider(find_name(run, behavior));
    best
}

/// Returns the tools whose shell rules a call obeys: `Monitor` runs bash commands.
pub(crate) fn shell_tools(tool: &str) -> &'static [&'static str] {
    match tool {
        "Monitor" => &["Monitor", "Bash"],
        "PowerShell" => &["PowerShell"],
        _ => &["Bash"],
    }
}

fn find_shell<'a>(run: &Run<'a>, behavior: Behavior, invocation: &Invocation) -> Option<RuleMatch<'a>> {
    let program = invocation.program_name();
    let mut possible = None;
    for tool in shell_tools(run.request.call().tool()) {
        for rule in run.policy.rules.shell(behavior, tool, program) {
            let Some(certainty) = shell_pattern(rule).and_then(|pattern| restrains(pattern, invocation))
            else {
                continue;
            };
            let found = RuleMatch {
                rule,
                matched: invocation.as_written(),
                certainty,
                spans: deciding_spans(shell_pattern(rule), invocation),
            };
            match certainty {
                Certainty::Certain => return Some(found),
                Certainty::Possible => possible = possible.or(Some(found)),
            }
        }
    }
    possible
}

/// Returns where the words stand that a rule names, or all words if it does not name them one by one.
fn deciding_spans(pattern: Option<&ShellPattern>, invocation: &Invocation) -> Vec<Span> {
    let named = pattern.and_then(ShellPattern::literal_words).unwrap_or_default();
    let mut arguments = invocation.arguments.iter();
    let mut find = |word: &&str| {
        arguments
            .find(|argument| argument.text == **word || base_name(&argument.text) == *word)
            .map(|found| found.span)
    };
    let spans: Option<Vec<Span>> = named.iter().map(&mut find).collect();
    let mut spans = match spans {
        Some(spans) if !spans.is_empty() => spans,
        Some(_) | None => invocation.arguments.iter().map(|argument| argument.span).collect(),
    };
    spans.dedup();
    spans
}

/// What cannot be read may hold what any rule names.
fn find_hidden<'a>(run: &Run<'a>, behavior: Behavior, shell: &Shell) -> Option<RuleMatch<'a>> {
    let (span, _) = shell.first_opacity()?;
    let rules = &run.policy.rules;
    let rule = shell_tools(run.request.call().tool())
        .iter()
        .find_map(|tool| rules.shell(behavior, tool, None).next())?;
    Some(RuleMatch {
        rule,
        matched: span.of(&shell.text).to_owned(),
        certainty: Certainty::Possible,
        spans: vec![span],
    })
}

pub(crate) fn shell_pattern(rule: &Rule) -> Option<&ShellPattern> {
    match &rule.matcher {
        Matcher::Shell { pattern, .. } => Some(pattern),
        Matcher::Tool(_)
        | Matcher::Path { .. }
        | Matcher::Domain(_)
        | Matcher::Name { .. }
        | Matcher::Parameter { .. } => None,
    }
}

/// PowerShell is not parsed: a rule is tried on the whole text and on every piece between separators.
fn find_power_shell<'a>(run: &Run<'a>, behavior: Behavior, command: &str) -> Option<RuleMatch<'a>> {
    let pieces = || {
        std::iter::once(command)
            .chain(command.split([';', '|', '&', '\n', '{', '}', '(', ')']))
            .map(str::trim)
    };
    let mut rules = run.policy.rules.shell(behavior, "PowerShell", None);
    rules.find_map(|rule| {
        let pattern = shell_pattern(rule)?;
        let matched = pieces().find(|piece| pattern.matches_ignoring_case(piece))?;
        Some(RuleMatch {
            rule,
            matched: matched.to_owned(),
            certainty: Certainty::Certain,
            spans: Vec::new(),
        })
    })
}

fn find_path<'a>(run: &Run<'a>, behavior: Behavior, path_use: &PathUse) -> Option<RuleMatch<'a>> {
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
        matched: path_use.shown.clone(),
        certainty,
        spans: vec![path_use.span],
    };
    let mut possible = None;
    for &access in accesses {
        if let Some(rule) = find_guard(run, behavior, access, path_use) {
            match path_use.likelihood {
                Likelihood::Sure => return Some(found(rule, Certainty::Certain)),
                Likelihood::Possible => possible = possible.or(Some(rule)),
            }
        }
        possible = possible.or_else(|| find_possible_guard(run, behavior, access, path_use));
    }
    possible.map(|rule| found(rule, Certainty::Possible))
}

/// Finds a path rule that matches any spelling of the path.
fn find_guard<'a>(
    run: &Run<'a>,
    behavior: Behavior,
    access: PathAccess,
    path_use: &PathUse,
) -> Option<&'a Rule> {
    let variants = path_use.known_variants(run.facts);
    let rules = &run.policy.rules;
    if !rules.has_negated_path(behavior, access) {
        return variants.iter().find_map(|path| {
            let candidates = rules.paths_for(behavior, access, path).into_iter();
            candidates
                .filter(|rule| {
                    path_pattern(rule).is_some_and(|pattern| pattern.matches(path, &anchors(run, rule)))
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
        let anchors = anchors(run, list.first()?);
        let place = variants.iter().find_map(|path| guarding_pattern(&patterns, path, &anchors))?;
        list.get(place).copied()
    })
}

/// Finds a path rule that may match, because the path is not known or stands for several.
fn find_possible_guard<'a>(
    run: &Run<'a>,
    behavior: Behavior,
    access: PathAccess,
    path_use: &PathUse,
) -> Option<&'a Rule> {
    let mut rules = run
        .policy
        .rules
        .paths(behavior, access)
        .filter(|rule| !path_pattern(rule).is_some_and(PathPattern::is_negated));
    match (&path_use.path, &path_use.glob) {
        (None, _) => rules.next(),
        (Some(_), None) => None,
        (Some(_), Some(glob)) => rules.find(|rule| {
            let name = path_pattern(rule).and_then(PathPattern::required_name);
            name.is_none_or(|name| may_name(glob, name))
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
pub(crate) fn anchors<'a>(run: &Run<'a>, rule: &'a Rule) -> Anchors<'a> {
    let context = run.request.context();
    Anchors {
        cwd: &context.cwd,
        project: &context.project,
        home: context.home.as_deref(),
        base: rule.origin.base.as_deref(),
    }
}

/// Says whether any component of a shell pattern could be this file name.
fn may_name(glob: &str, name: &str) -> bool {
    let wanted = Wildcard::new(&ShellPattern::escape(name));
    glob.split('/').any(|component| {
        let mut pieces = Vec::new();
        for fixed in component.split(['*', '?', '[', ']', '(', ')', '|', '{', '}', ',']) {
            pieces.push(Piece::Known(fixed));
            pieces.push(Piece::Unknown);
        }
        pieces.pop();
        // What stands inside a bracket or an alternative is not followed.
        component.contains(['[', '(', '{']) || wanted.may_match(&pieces)
    })
}

fn find_domain<'a>(run: &Run<'a>, behavior: Behavior, host: Option<&str>) -> Option<RuleMatch<'a>> {
    let mut rules = run.policy.rules.domains(behavior);
    let Some(host) = host else {
        let rule = rules.next()?;
        return Some(RuleMatch {
            rule,
            matched: String::new(),
            certainty: Certainty::Possible,
            spans: Vec::new(),
        });
    };
    let rule = rules.find(|rule| matches!(&rule.matcher, Matcher::Domain(domain) if domain.matches(host)))?;
    Some(RuleMatch { rule, matched: host.to_owned(), certainty: Certainty::Certain, spans: Vec::new() })
}

/// Returns what an agent or skill rule compares with.
pub(crate) fn name_of<'a>(run: &Run<'a>) -> Option<&'a str> {
    let call = run.request.call();
    match call.tool() {
        "Agent" => call.input().text("subagent_type"),
        "Skill" => call.input().text("skill").or_else(|| call.input().text("command")),
        _ => None,
    }
}

fn find_name<'a>(run: &Run<'a>, behavior: Behavior) -> Option<RuleMatch<'a>> {
    let name = name_of(run)?;
    let mut rules = run.policy.rules.names(behavior, run.request.call().tool());
    let rule = rules.find(|rule| name_matches(rule, run))?;
    Some(RuleMatch { rule, matched: name.to_owned(), certainty: Certainty::Certain, spans: Vec::new() })
}

/// Says whether an agent or skill rule names the call; a skill's arguments follow its name.
pub(crate) fn name_matches(rule: &Rule, run: &Run<'_>) -> bool {
    let Matcher::Name { pattern, .. } = &rule.matcher else {
        return false;
    };
    let Some(name) = name_of(run) else {
        return false;
    };
    let arguments = run.request.call().input().text("args").unwrap_or_default();
    let whole = if arguments.is_empty() { name.to_owned() } else { format!("{name} {arguments}") };
    pattern.matches_with_optional_tail(&whole) || (rule.behavior != Behavior::Allow && pattern.matches(name))
}

fn find_parameter<'a>(run: &Run<'a>, behavior: Behavior) -> Option<RuleMatch<'a>> {
    let call = run.request.call();
    let mut rules = run.policy.rules.parameters(behavior, call.tool());
    rules.find_map(|rule| {
        let Matcher::Parameter { field, value, .. } = &rule.matcher else {
            return None;
        };
        let given = call.input().field(field)?.as_scalar().filter(|given| value.matches(given))?;
        let matched = format!("{field}: {given}");
        Some(RuleMatch { rule, matched, certainty: Certainty::Certain, spans: Vec::new() })
    })
}
