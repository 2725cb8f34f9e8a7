//! Which allow rules can never have a say, because a deny or ask rule always comes first.

use std::collections::BTreeMap;

use super::anchor::{PathAnchor, PathAnchors};
use super::lint::{Lint, LintContext, LintKind};
use super::{Behavior, Matcher, PathPattern, Rule, ShellPattern, ToolPattern};
use crate::origin::Source;

/// The deny and ask rules of a set, sorted for the question which of them covers an allow rule.
pub(super) struct Shadows<'a> {
    rules: &'a [Rule],
    context: LintContext,
    tool_wide: Vec<usize>,
    by_tool: BTreeMap<&'a str, Vec<usize>>,
}

impl<'a> Shadows<'a> {
    pub(super) fn new(rules: &'a [Rule], context: LintContext) -> Self {
        let mut tool_wide = Vec::new();
        let mut by_tool: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (index, rule) in rules.iter().enumerate().filter(|(_, rule)| rule.behavior != Behavior::Allow) {
            match &rule.matcher {
                Matcher::Tool(_) => tool_wide.push(index),
                _ => by_tool.entry(rule.text.tool.as_str()).or_default().push(index),
            }
        }
        Self { rules, context, tool_wide, by_tool }
    }

    /// Returns the lint of an allow rule that is shadowed, by a deny rule if there is one.
    pub(super) fn lint(&self, index: usize) -> Option<Lint> {
        let rule = self.rules.get(index).filter(|rule| rule.behavior == Behavior::Allow)?;
        let same_tool = self.by_tool.get(rule.text.tool.as_str()).map_or(&[][..], Vec::as_slice);
        let candidates = || self.tool_wide.iter().chain(same_tool).copied();
        let shadows = |behavior: Behavior| {
            candidates().find(|other| {
                self.rules.get(*other).is_some_and(|other| {
                    other.behavior == behavior
                        && covers(other, rule)
                        && !self.is_lifted_by_sandbox(other, rule)
                })
            })
        };
        let (kind, other) = match shadows(Behavior::Deny) {
            Some(other) => (LintKind::DenyShadowed, other),
            None => (LintKind::AskShadowed, shadows(Behavior::Ask)?),
        };
        self.rules.get(other).map(|shadow| describe(kind, index, other, shadow))
    }

    /// Says whether a personal tool-wide ask rule gives way to the sandbox, so that the allow rule is reached after all.
    fn is_lifted_by_sandbox(&self, shadow: &Rule, rule: &Rule) -> bool {
        let is_personal =
            matches!(shadow.origin.source, Source::User | Source::Local | Source::Argument | Source::Session);
        let is_about_shell = matches!(rule.text.tool.as_str(), "Bash" | "Monitor" | "PowerShell");
        self.context.sandbox_auto_allow
            && is_personal
            && is_about_shell
            && shadow.behavior == Behavior::Ask
            && matches!(shadow.matcher, Matcher::Tool(_))
    }
}

fn describe(kind: LintKind, index: usize, other: usize, shadow: &Rule) -> Lint {
    let (text, place) = (&shadow.source_text, &shadow.origin);
    let what = match kind {
        LintKind::DenyShadowed => "denies",
        _ => "asks about",
    };
    Lint {
        kind,
        rule: index,
        other: Some(other),
        message: format!("the rule is never reached: `{text}` in {place} {what} every call it is about"),
        fix: format!("remove this rule, or make `{text}` in {place} more specific"),
    }
}

/// Says whether one rule matches every call the other matches. May miss some pairs.
fn covers(wide: &Rule, narrow: &Rule) -> bool {
    match (&wide.matcher, &narrow.matcher) {
        (Matcher::Tool(wide), Matcher::Tool(narrow)) => covers_tool(wide, narrow),
        (Matcher::Tool(wide), _) => wide.matches(&narrow.text.tool),
        (Matcher::Shell { pattern: wide, tool }, Matcher::Shell { pattern: narrow, tool: same }) => {
            tool == same && may_cover(wide, narrow) && wide.covers(narrow)
        }
        (Matcher::Path { pattern, access }, Matcher::Path { pattern: other, access: same }) => {
            access == same && covers_path(wide, pattern, narrow, other)
        }
        (Matcher::Domain(wide), Matcher::Domain(narrow)) => {
            wide.is_everything() || wide == narrow || (narrow.is_literal() && wide.matches(narrow.as_str()))
        }
        (Matcher::Name { pattern: wide, tool }, Matcher::Name { pattern: narrow, tool: same }) => {
            tool == same && wide.covers(narrow)
        }
        _ => false,
    }
}

fn covers_tool(wide: &ToolPattern, narrow: &ToolPattern) -> bool {
    match (wide, narrow) {
        (_, ToolPattern::Name(name)) => wide.matches(name),
        (ToolPattern::Server(server), ToolPattern::Server(same)) => server == same,
        (ToolPattern::Server(server), ToolPattern::Glob(glob)) => {
            glob.literal_prefix().starts_with(&format!("mcp__{server}__"))
        }
        (ToolPattern::Glob(glob), ToolPattern::Server(server)) => {
            glob.covers(&super::Wildcard::new(&format!("mcp__{server}__*")))
        }
        (ToolPattern::Glob(wide), ToolPattern::Glob(narrow)) => wide.covers(narrow),
        (ToolPattern::Name(_), ToolPattern::Server(_) | ToolPattern::Glob(_)) => false,
    }
}

/// Spares the closer look at patterns that begin differently.
fn may_cover(wide: &ShellPattern, narrow: &ShellPattern) -> bool {
    narrow.literal_text().starts_with(wide.literal_text().trim_end())
}

fn covers_path(wide: &Rule, pattern: &PathPattern, narrow: &Rule, other: &PathPattern) -> bool {
    if pattern.is_negated() {
        return false;
    }
    let same_base = wide.origin.base == narrow.origin.base;
    if !same_base && (pattern.anchor() == PathAnchor::Source || other.anchor() == PathAnchor::Source) {
        return false;
    }
    if wide.text.content == narrow.text.content {
        return true;
    }
    // Stand-ins for directories that are only known when the rules are used.
    let anchors =
        PathAnchors { cwd: "/\u{1}cwd", project: "/\u{1}base", home: Some("/\u{1}home"), base: None };
    other.only_path(&anchors).is_some_and(|path| pattern.matches(&path, &anchors))
}

/// Returns one spelling for shell patterns that mean the same, such as `npm:*` and `npm *`.
pub(super) fn shell_key(pattern: &ShellPattern) -> String {
    match pattern.as_wildcard() {
        Some(wildcard) => wildcard.as_str().to_owned(),
        None => ShellPattern::escape(pattern.literal_text()),
    }
}
