//! What is odd about a set of rules: shadowed, doubled, mistaken, too broad (spec C13).
//!
//! A lint never changes what a rule does. Rules that cannot work at all are [`RuleProblem`](super::RuleProblem)s and
//! never get here.

use std::collections::BTreeMap;

use super::anchor::PathAnchor;
use super::shadow::{Shadows, shell_key};
use super::{Behavior, Matcher, Rule, RuleText, ShellPattern, ToolPattern, is_dangerous_allow};
use crate::closeness::find_closest;
use crate::tool::{TOOLS, find_tool};

/// Something odd about a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lint {
    /// What kind of oddity.
    pub kind: LintKind,
    /// The index of the rule.
    pub rule: usize,
    /// The index of the rule it clashes with, if there is one.
    pub other: Option<usize>,
    /// What is wrong: lower case, no final period.
    pub message: String,
    /// How to put it right.
    pub fix: String,
}

/// The kinds of lints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LintKind {
    /// A deny rule stops every call that an allow rule is about.
    DenyShadowed,
    /// An ask rule asks about every call that an allow rule is about.
    AskShadowed,
    /// The rule stands there twice.
    Duplicate,
    /// A path that looks absolute but is relative to the settings file's directory.
    AbsolutePath,
    /// An allow rule with a wildcard where the subcommand belongs, which options fit into.
    EarlyWildcard,
    /// An allow rule for nearly everything a tool can do.
    OverBroad,
    /// An allow rule for a command that runs any other.
    Dangerous,
    /// A deny or ask rule for a tool that does not exist.
    UnknownTool,
    /// Braces in a path pattern, which are ordinary characters there.
    LiteralBraces,
    /// `:*` at the end of a path pattern, which only command patterns know.
    PrefixInPath,
}

impl LintKind {
    /// Returns the name used on the command line and in JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::DenyShadowed => "deny-shadowed",
            Self::AskShadowed => "ask-shadowed",
            Self::Duplicate => "duplicate",
            Self::AbsolutePath => "absolute-path",
            Self::EarlyWildcard => "early-wildcard",
            Self::OverBroad => "over-broad",
            Self::Dangerous => "dangerous",
            Self::UnknownTool => "unknown-tool",
            Self::LiteralBraces => "literal-braces",
            Self::PrefixInPath => "prefix-in-path",
        }
    }
}

/// What the lints must know beside the rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LintContext {
    /// Whether sandboxed shell commands run without asking.
    pub sandbox_auto_allow: bool,
}

/// Returns what is odd about the rules, in their order.
pub fn lint(rules: &[Rule], context: &LintContext) -> Vec<Lint> {
    let shadows = Shadows::new(rules, *context);
    let mut first_seen: BTreeMap<(Behavior, String, Option<&str>), usize> = BTreeMap::new();
    let mut lints = Vec::new();
    for (index, rule) in rules.iter().enumerate() {
        let first = *first_seen.entry(identity(rule)).or_insert(index);
        if first != index {
            lints.push(duplicate(rules, first, index));
            continue;
        }
        lints.extend(shadows.lint(index));
        lints.extend(single_rule_lints(rule).map(|(kind, message, fix)| Lint {
            kind,
            rule: index,
            other: None,
            message,
            fix,
        }));
    }
    lints
}

/// Returns what two rules that mean the same have in common.
fn identity(rule: &Rule) -> (Behavior, String, Option<&str>) {
    let text = match &rule.matcher {
        Matcher::Shell { tool, pattern } => RuleText::new(tool, Some(&shell_key(pattern))).to_string(),
        Matcher::Tool(ToolPattern::Server(server)) => format!("mcp__{server}"),
        _ => rule.text.to_string(),
    };
    let is_source_relative =
        matches!(&rule.matcher, Matcher::Path { pattern, .. } if pattern.anchor() == PathAnchor::Source);
    (rule.behavior, text, rule.origin.base.as_deref().filter(|_| is_source_relative))
}

fn duplicate(rules: &[Rule], first: usize, index: usize) -> Lint {
    let (text, place) =
        rules.get(first).map(|rule| (rule.source_text.clone(), rule.origin.to_string())).unwrap_or_default();
    Lint {
        kind: LintKind::Duplicate,
        rule: index,
        other: Some(first),
        message: format!("the rule repeats `{text}` in {place}"),
        fix: "remove one of the two".to_owned(),
    }
}

type Finding = (LintKind, String, String);

fn single_rule_lints(rule: &Rule) -> impl Iterator<Item = Finding> {
    let checks = [absolute_path, early_wildcard, too_much, unknown_tool, literal_braces, prefix_in_path];
    checks.into_iter().filter_map(move |check| check(rule))
}

/// Directories at the root of a system that no project has at its own root by custom.
const SYSTEM_DIRECTORIES: &[&str] = &[
    "Users", "home", "etc", "tmp", "var", "opt", "usr", "root", "private", "mnt", "Volumes", "proc", "sys",
    "srv",
];

fn path_content(rule: &Rule) -> Option<&str> {
    if matches!(rule.matcher, Matcher::Path { .. }) { rule.text.content.as_deref() } else { None }
}

fn absolute_path(rule: &Rule) -> Option<Finding> {
    let content = path_content(rule)?;
    let below = content.strip_prefix('/').filter(|below| !below.starts_with('/'))?;
    let first = below.split('/').next()?;
    SYSTEM_DIRECTORIES.contains(&first).then(|| {
        let better = RuleText::new(&rule.text.tool, Some(&format!("/{content}")));
        (
            LintKind::AbsolutePath,
            format!(
                "`{content}` begins at the directory of its settings, not at the root of the file system"
            ),
            format!("write `{better}` for the absolute path"),
        )
    })
}

fn early_wildcard(rule: &Rule) -> Option<Finding> {
    let Matcher::Shell { pattern: ShellPattern::Wildcard(wildcard), tool } = &rule.matcher else {
        return None;
    };
    let words: Vec<&str> = wildcard.as_str().split_whitespace().collect();
    let place = words.iter().position(|word| word.contains('*'))?;
    let is_early = rule.behavior == Behavior::Allow && place < 2 && place + 1 < words.len();
    is_early.then(|| {
        let program = words.first().filter(|_| place > 0).copied().unwrap_or("program");
        let better = RuleText::new(tool, Some(&format!("{program} subcommand *")));
        (
            LintKind::EarlyWildcard,
            "options that run other programs fit where the wildcard stands".to_owned(),
            format!("put the wildcard after the subcommand, as in `{better}`"),
        )
    })
}

fn too_much(rule: &Rule) -> Option<Finding> {
    if rule.behavior != Behavior::Allow {
        return None;
    }
    let broad = match &rule.matcher {
        Matcher::Tool(ToolPattern::Name(name)) => broad_tool(name),
        Matcher::Shell { pattern, tool } if pattern.is_everything() => broad_tool(tool),
        Matcher::Domain(domain) if domain.is_everything() => broad_tool("WebFetch"),
        Matcher::Path { pattern, .. } if pattern.is_system_wide() => {
            Some(("every file of the system or the home", "name the directories, as in `Read(src/**)`"))
        }
        _ => None,
    };
    if let Some((what, fix)) = broad {
        return Some((LintKind::OverBroad, format!("the rule allows {what}"), fix.to_owned()));
    }
    let is_shell = matches!(rule.matcher, Matcher::Shell { .. });
    (is_shell && is_dangerous_allow(rule)).then(|| {
        (
            LintKind::Dangerous,
            "a command this rule allows can run any other command; auto mode suspends the rule".to_owned(),
            "allow the exact commands you need, as in `Bash(npm test)`".to_owned(),
        )
    })
}

fn broad_tool(tool: &str) -> Option<(&'static str, &'static str)> {
    match tool {
        "Bash" | "PowerShell" | "Monitor" => {
            Some(("every command", "allow the commands you need, as in `Bash(npm test)`"))
        }
        "Edit" | "Write" | "MultiEdit" | "NotebookEdit" => {
            Some(("writing any file", "name the directories, as in `Edit(src/**)`"))
        }
        "WebFetch" => Some(("fetching from any host", "name the hosts, as in `WebFetch(domain:docs.rs)`")),
        _ => None,
    }
}

fn unknown_tool(rule: &Rule) -> Option<Finding> {
    let Matcher::Tool(ToolPattern::Name(name)) = &rule.matcher else { return None };
    if rule.behavior == Behavior::Allow || name.contains(['_', '*']) || find_tool(name).is_some() {
        return None;
    }
    let fix = match find_closest(name, TOOLS.iter().map(|info| info.name)) {
        Some(known) => format!("write `{known}`"),
        None => "check the name; tools of MCP servers are written `mcp__server__tool`".to_owned(),
    };
    Some((LintKind::UnknownTool, format!("there is no tool `{name}`"), fix))
}

fn literal_braces(rule: &Rule) -> Option<Finding> {
    let content = path_content(rule)?;
    let (_, inside) = content.split_once('{')?;
    let (alternatives, _) = inside.split_once('}')?;
    alternatives.contains(',').then(|| {
        (
            LintKind::LiteralBraces,
            format!("braces have no meaning in path patterns: `{content}` matches names with braces only"),
            "write one rule for each alternative".to_owned(),
        )
    })
}

fn prefix_in_path(rule: &Rule) -> Option<Finding> {
    let path = path_content(rule)?.strip_suffix(":*")?;
    let better = RuleText::new(&rule.text.tool, Some(&format!("{}/**", path.trim_end_matches('/'))));
    Some((
        LintKind::PrefixInPath,
        "`:*` has no meaning in path patterns and is matched as it stands".to_owned(),
        format!("write `{better}` for everything below"),
    ))
}

#[cfg(test)]
#[path = "lint_tests.rs"]
mod tests;
