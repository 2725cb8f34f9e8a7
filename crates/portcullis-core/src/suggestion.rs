//! Rules that would settle such calls: at most five, general enough to be of use again, never a here-document, a secret
//! or a prefix that would allow anything.
//!
//! What cannot be undone is allowed word for word or not at all: whoever wants to remove `node_modules` today does not
//! want every later removal to pass. A rule that denies it may be as wide as any.

use portcullis_analysis::effect::{Act, Effect};
use portcullis_analysis::environment::is_safe_prefix;
use portcullis_analysis::tool_call::is_named_removal;
use portcullis_analysis::{Access, Argument, Invocation, Wrapping, base_name};

use crate::case::{CallSubject, Case, Shell};
use crate::coverage::{Coverage, GapKind};
use crate::mode::Mode;
use crate::path::{is_inside, parent};
use crate::path_use::PathUse;
use crate::rule::{Behavior, Rule, RuleText, ShellPattern, is_dangerous_allow};
use crate::tool::ToolKind;
use crate::verdict::{Reason, Suggestion};
use crate::{Origin, Source};

const MOST: usize = 5;

/// Programs whose first operand says what they do, with the operands after which a third word matters.
const WITH_SUBCOMMANDS: &[(&str, &[&str])] = &[
    ("apt", &[]),
    ("apt-get", &[]),
    ("aws", &["*"]),
    ("az", &["*"]),
    ("brew", &[]),
    ("bun", &["run"]),
    ("bundle", &[]),
    ("cargo", &[]),
    ("composer", &[]),
    ("docker", &["compose", "image", "container"]),
    ("deno", &["task"]),
    ("dotnet", &[]),
    ("gcloud", &["*"]),
    ("gem", &[]),
    ("gh", &["*"]),
    ("git", &["remote", "stash", "worktree"]),
    ("glab", &["*"]),
    ("go", &["mod"]),
    ("gradle", &[]),
    ("helm", &[]),
    ("just", &[]),
    ("kubectl", &[]),
    ("make", &[]),
    ("mise", &["run"]),
    ("mvn", &[]),
    ("npm", &["run"]),
    ("nx", &["run"]),
    ("pip", &[]),
    ("pip3", &[]),
    ("pnpm", &["run"]),
    ("podman", &[]),
    ("poetry", &[]),
    ("rake", &[]),
    ("systemctl", &[]),
    ("task", &[]),
    ("terraform", &[]),
    ("tofu", &[]),
    ("turbo", &["run"]),
    ("uv", &["pip"]),
    ("yarn", &["run"]),
];

/// Programs whose arguments may be a program of their own: editors, database shells, debuggers.
const NEVER_SUGGESTED: &[&str] = &[
    "ed",
    "emacs",
    "ex",
    "expect",
    "gdb",
    "lldb",
    "mongosh",
    "mysql",
    "nano",
    "nvim",
    "osascript",
    "psql",
    "redis-cli",
    "sqlite3",
    "vi",
    "vim",
];

/// Programs whose next call may destroy what this one does not, whatever their effects are now.
const NEVER_WIDENED: &[&str] = &[
    "chattr", "chgrp", "chmod", "chown", "dd", "kill", "killall", "pkill", "rm", "rmdir", "setfacl", "shred",
    "srm", "truncate", "unlink", "wipefs",
];

/// Beginnings of well-known credentials.
const SECRET_STARTS: &[&str] = &[
    "sk-",
    "sk_",
    "ghp_",
    "gho_",
    "ghs_",
    "github_pat_",
    "glpat-",
    "xox",
    "AKIA",
    "ASIA",
    "AIza",
    "eyJ",
    "npm_",
    "pypi-",
];

/// Words that announce a credential.
const SECRET_WORDS: &[&str] = &[
    "password",
    "passwd",
    "secret",
    "token",
    "apikey",
    "api_key",
    "api-key",
    "authorization",
    "bearer",
    "credential",
];

/// Says whether a rule could have settled a call that was not allowed for a reason.
pub(crate) fn is_settleable(reason: &Reason) -> bool {
    match reason {
        Reason::Unsettled { .. }
        | Reason::Requested { .. }
        | Reason::Prose { .. }
        | Reason::OutsideWorkspace { .. }
        | Reason::Headless { .. } => true,
        Reason::Mode(mode) => *mode == Mode::DontAsk,
        Reason::Rule { .. }
        | Reason::Covered { .. }
        | Reason::ReadOnly
        | Reason::Sandbox
        | Reason::Safety { .. }
        | Reason::Interaction
        | Reason::Opaque { .. }
        | Reason::Finding { .. }
        | Reason::Harmless { .. }
        | Reason::Contained { .. }
        | Reason::Classifier { .. }
        | Reason::Hook { .. }
        | Reason::Person
        | Reason::Refused { .. }
        | Reason::Boundary { .. }
        | Reason::Approval { .. }
        | Reason::Remembered { .. }
        | Reason::Unavailable { .. }
        | Reason::Limit { .. }
        | Reason::Error { .. } => false,
    }
}

/// Lists the rules that would have allowed the call, and one that would deny it. `coverage` is what rules leave open of a
/// shell command.
pub(crate) fn suggest(case: &Case, coverage: &Coverage<'_>) -> Vec<Suggestion> {
    let mut proposals = Vec::new();
    match &case.subject {
        CallSubject::Shell(shell) => for_shell(case, shell, coverage, &mut proposals),
        CallSubject::Files => {
            let files = case.effects().iter().filter_map(PathUse::of);
            let home = case.context().home.as_deref();
            proposals.extend(files.filter_map(|path_use| for_path(path_use.access, path_use.path()?, home)));
        }
        CallSubject::Fetch { host } => {
            proposals
                .extend(host.iter().map(|host| Proposal::both("WebFetch", Some(format!("domain:{host}")))));
        }
        CallSubject::Other if case.call().kind() != ToolKind::Agent => {
            let tool = case.call().tool();
            let is_removal = is_named_removal(tool) || is_beyond_undoing(case.effects());
            let whole = Proposal::both(tool, None);
            let allow = whole.allow.filter(|_| !is_removal);
            proposals.push(Proposal { allow, ..whole });
        }
        CallSubject::Other | CallSubject::PowerShell(_) | CallSubject::Malformed(_) => {}
    }
    finish(proposals)
}

/// Rules for one part of a call.
struct Proposal {
    /// The one that would allow it, if there is one that would not allow too much.
    allow: Option<String>,
    /// The one that would deny it.
    deny: String,
}

impl Proposal {
    /// Allows and denies by the same rule.
    fn both(tool: &str, content: Option<String>) -> Self {
        let deny = RuleText { tool: tool.to_owned(), content }.to_string();
        Self { allow: Some(deny.clone()), deny }
    }
}

/// Lists the rules, without repetition and without what would allow anything, and the deny form if there is one part.
fn finish(proposals: Vec<Proposal>) -> Vec<Suggestion> {
    let mut suggestions: Vec<Suggestion> = Vec::new();
    let mut denials: Vec<String> = Vec::new();
    for Proposal { allow, deny } in proposals {
        let compile = |rule: &str| Rule::compile(rule, Behavior::Allow, Origin::bare(Source::Session)).ok();
        let is_good = |rule: &str| compile(rule).is_some_and(|compiled| !is_dangerous_allow(&compiled));
        if allow.as_deref().map_or_else(|| compile(&deny).is_none(), |rule| !is_good(rule)) {
            continue;
        }
        if let Some(rule) = allow
            && !suggestions.iter().any(|known| known.rule == rule)
            && suggestions.len() < MOST
        {
            suggestions.push(Suggestion { behavior: Behavior::Allow, rule });
        }
        if !denials.contains(&deny) {
            denials.push(deny);
        }
    }
    if suggestions.len() <= 1
        && let [only] = denials.as_slice()
    {
        suggestions.push(Suggestion { behavior: Behavior::Deny, rule: only.clone() });
    }
    suggestions
}

fn for_shell(case: &Case, shell: &Shell, coverage: &Coverage<'_>, proposals: &mut Vec<Proposal>) {
    let (tool, home) = (case.call().tool(), case.context().home.as_deref());
    for gap in &coverage.gaps {
        match &gap.kind {
            GapKind::Path { access, path } => {
                proposals.extend(path.as_deref().and_then(|path| for_path(*access, path, home)));
            }
            GapKind::Command => {
                let invocation = shell.survey.invocations.get(gap.invocation);
                let own = invocation.filter(|invocation| !is_changed(shell, invocation));
                let effects = shell.effects_of(gap.invocation);
                proposals.extend(own.and_then(|invocation| for_command(tool, invocation, effects)));
            }
        }
    }
}

/// Proposes to allow all such commands, or, where what is done cannot be undone, this very one.
fn for_command(tool: &str, invocation: &Invocation, effects: &[Effect]) -> Option<Proposal> {
    let whole = Proposal::both(tool, Some(generalize(invocation)?));
    let program = base_name(invocation.program()?.fixed()?);
    let is_destroyer = NEVER_WIDENED.contains(&program) || program.starts_with("mkfs");
    if !is_destroyer && !is_beyond_undoing(effects) {
        return Some(whole);
    }
    let exact = exactly(invocation).map(|content| RuleText { tool: tool.to_owned(), content: Some(content) });
    Some(Proposal { allow: exact.map(|rule| rule.to_string()), ..whole })
}

/// Says whether something is done that nobody can take back, or that gives power over the machine.
fn is_beyond_undoing(effects: &[Effect]) -> bool {
    effects.iter().any(|effect| {
        matches!(
            effect.act,
            Act::Delete
                | Act::DeleteTree
                | Act::Wipe
                | Act::SetMode
                | Act::Uninstall
                | Act::GitDiscard
                | Act::GitErase
                | Act::GitDeleteRemote
                | Act::Kill
                | Act::PowerOff
                | Act::ServiceStop
                | Act::Disk
                | Act::Mount
                | Act::Elevate
                | Act::Account
                | Act::Grant
                | Act::TamperLog
                | Act::CloudDelete
                | Act::StorageDelete
                | Act::InfraDestroy
                | Act::ClusterDelete
                | Act::ContainerDelete
                | Act::ContainerPurge
                | Act::DatabaseDestroy
                | Act::Moderate
        )
    })
}

/// Writes an invocation word for word. One that names no particular thing, such as `.` or a pattern, means something
/// else in every directory, and one with quotes or variables may hold anything: neither is proposed.
fn exactly(invocation: &Invocation) -> Option<String> {
    let written = invocation.as_written();
    let is_particular = |word: &str| word.contains(|letter: char| letter.is_ascii_alphanumeric());
    let is_good =
        |word: &str| (is_plain_word(word) || is_option(word)) && is_particular(word) && !is_secret(word);
    written.split(' ').all(is_good).then(|| ShellPattern::escape(&written))
}

fn is_option(word: &str) -> bool {
    word.strip_prefix("--").is_some_and(|rest| rest.split('=').all(is_plain_word))
}

/// Says whether an invocation is wrapped by one that does more than run it: a rule for it alone would not settle the call.
fn is_changed(shell: &Shell, invocation: &Invocation) -> bool {
    let parent = invocation.parent.and_then(|parent| shell.survey.invocations.get(parent));
    parent.is_some_and(|parent| parent.wrapping == Wrapping::Changing || is_changed(shell, parent))
}

fn for_path(access: Access, path: &str, home: Option<&str>) -> Option<Proposal> {
    let name = match access {
        Access::Read => "Read",
        Access::Write | Access::Remove => "Edit",
    };
    let directory = parent(path)?;
    // A whole tree directly under the root is more than anybody means.
    let depth = directory.split('/').filter(|component| !component.is_empty()).count();
    let is_exact =
        depth < 2 || access != Access::Read || home.is_some_and(|home| holds_home(&directory, home));
    let pattern = if is_exact { format!("/{path}") } else { format!("/{directory}/**") };
    let is_plain = pattern
        .chars()
        .all(|letter| letter.is_alphanumeric() || "-_./ +@,".contains(letter) || letter == '*');
    is_plain.then(|| Proposal::both(name, Some(pattern)))
}

/// Says whether a tree holds a home directory, or lies in one where programs keep their settings and keys: whoever reads one
/// file there does not mean all of them.
fn holds_home(directory: &str, home: &str) -> bool {
    let is_hidden = |rest: &str| rest.trim_start_matches('/').starts_with('.');
    is_inside(home, directory) || directory.strip_prefix(home).is_some_and(is_hidden)
}

/// Turns an invocation into a pattern that covers its next variant: program, subcommand, and any arguments.
fn generalize(invocation: &Invocation) -> Option<String> {
    // Whoever may run one command through another may run any.
    if invocation.wrapping != Wrapping::Nothing {
        return None;
    }
    let program = invocation.program()?.fixed()?;
    let is_assigned = !invocation.assignments.iter().all(|variable| is_safe_prefix(&variable.name));
    let is_banned = NEVER_SUGGESTED.contains(&base_name(program));
    if !is_plain_word(program) || program.starts_with('-') || is_assigned || is_banned {
        return None;
    }
    let operands = invocation.operands();
    let mut words = vec![program];
    if let Some((_, deeper)) = WITH_SUBCOMMANDS.iter().find(|(name, _)| *name == program) {
        let verb = operands.first()?.fixed().filter(|word| is_subcommand(word))?;
        words.push(verb);
        if deeper.contains(&verb) || deeper.contains(&"*") {
            words.extend(operands.get(1).and_then(Argument::fixed).filter(|word| is_subcommand(word)));
        }
    }
    if words.iter().any(|word| is_secret(word)) {
        return None;
    }
    let fixed = words.iter().map(|word| ShellPattern::escape(word)).collect::<Vec<_>>().join(" ");
    Some(format!("{fixed} *"))
}

fn is_plain_word(word: &str) -> bool {
    !word.is_empty() && word.chars().all(|letter| letter.is_ascii_alphanumeric() || "-_./+".contains(letter))
}

fn is_subcommand(word: &str) -> bool {
    word.starts_with(|letter: char| letter.is_ascii_alphabetic())
        && word.chars().all(|letter| letter.is_ascii_alphanumeric() || "-_:".contains(letter))
}

/// Says whether a word looks like a credential.
fn is_secret(word: &str) -> bool {
    let lower = word.to_ascii_lowercase();
    SECRET_STARTS.iter().any(|start| word.starts_with(start))
        || SECRET_WORDS.iter().any(|secret| lower.contains(secret))
        || word.split(|letter: char| !letter.is_ascii_alphanumeric()).any(|piece| piece.len() >= 32)
}
