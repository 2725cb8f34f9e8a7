//! Rules that would settle such calls: at most five, general enough to be of use again, never a here-document, a secret
//! or a prefix that would allow anything.

use portcullis_analysis::environment::is_safe_prefix;
use portcullis_analysis::{Access, Argument, Invocation, Wrapping, base_name};

use crate::coverage::{GapKind, Grounds};
use crate::path::parent;
use crate::pipeline::Run;
use crate::request::{Shell, Subject};
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

/// Lists the rules that would have allowed the call, and one that would deny it.
pub(crate) fn suggest(run: &mut Run<'_>, reason: &Reason) -> Vec<Suggestion> {
    let is_settleable = match reason {
        Reason::Unsettled { .. } | Reason::OutsideWorkspace { .. } | Reason::Headless => true,
        Reason::Mode(mode) => *mode == crate::Mode::DontAsk,
        Reason::Rule { .. }
        | Reason::Covered { .. }
        | Reason::ReadOnly
        | Reason::Sandbox
        | Reason::Safety { .. }
        | Reason::Interaction
        | Reason::Opaque { .. }
        | Reason::Finding { .. }
        | Reason::Harmless { .. }
        | Reason::Classifier { .. }
        | Reason::Hook { .. }
        | Reason::Person
        | Reason::Approval { .. }
        | Reason::Unavailable { .. }
        | Reason::Limit { .. }
        | Reason::Error { .. } => false,
    };
    if !is_settleable {
        return Vec::new();
    }
    let mut rules = Vec::new();
    let request = run.request;
    match &request.subject {
        Subject::Shell(shell) => for_shell(run, shell, &mut rules),
        Subject::Files(files) => rules
            .extend(files.iter().filter_map(|path_use| for_path(path_use.access, path_use.path.as_deref()?))),
        Subject::Fetch { host } => {
            rules.extend(host.iter().map(|host| ("WebFetch".to_owned(), Some(format!("domain:{host}")))));
        }
        Subject::Other if request.call().kind() != ToolKind::Agent => {
            rules.push((request.call().tool().to_owned(), None));
        }
        Subject::Other | Subject::PowerShell(_) | Subject::Malformed(_) => {}
    }
    finish(rules)
}

/// Prints the rules, without repetition and without what would allow anything, and adds the deny form of the first.
fn finish(rules: Vec<(String, Option<String>)>) -> Vec<Suggestion> {
    let mut suggestions: Vec<Suggestion> = Vec::new();
    for (tool, content) in rules {
        let rule = RuleText { tool, content }.to_string();
        let compiled = Rule::compile(&rule, Behavior::Allow, Origin::bare(Source::Session));
        let is_useful = compiled.is_ok_and(|compiled| !is_dangerous_allow(&compiled));
        let is_new = !suggestions.iter().any(|known| known.rule == rule);
        if is_useful && is_new && suggestions.len() < MOST {
            suggestions.push(Suggestion { behavior: Behavior::Allow, rule });
        }
    }
    if let [only] = suggestions.as_slice() {
        let deny = Suggestion { behavior: Behavior::Deny, rule: only.rule.clone() };
        suggestions.push(deny);
    }
    suggestions
}

fn for_shell(run: &mut Run<'_>, shell: &Shell, rules: &mut Vec<(String, Option<String>)>) {
    let tool = run.request.call().tool().to_owned();
    let coverage = run.coverage(Grounds::Rules);
    for gap in &coverage.gaps {
        match &gap.kind {
            GapKind::Path { access, path } => {
                rules.extend(path.as_deref().and_then(|path| for_path(*access, path)));
            }
            GapKind::Command => {
                let invocation = shell.survey.invocations.get(gap.invocation);
                let pattern =
                    invocation.filter(|invocation| !is_changed(shell, invocation)).and_then(generalize);
                rules.extend(pattern.map(|pattern| (tool.clone(), Some(pattern))));
            }
        }
    }
}

/// Says whether an invocation is wrapped by one that does more than run it: a rule for it alone would not settle the call.
fn is_changed(shell: &Shell, invocation: &Invocation) -> bool {
    let parent = invocation.parent.and_then(|parent| shell.survey.invocations.get(parent));
    parent.is_some_and(|parent| parent.wrapping == Wrapping::Changing || is_changed(shell, parent))
}

fn for_path(access: Access, path: &str) -> Option<(String, Option<String>)> {
    let name = match access {
        Access::Read => "Read",
        Access::Write | Access::Remove => "Edit",
    };
    let directory = parent(path)?;
    // A whole tree directly under the root is more than anybody means.
    let depth = directory.split('/').filter(|component| !component.is_empty()).count();
    let pattern =
        if depth < 2 || access != Access::Read { format!("/{path}") } else { format!("/{directory}/**") };
    let is_plain = pattern
        .chars()
        .all(|letter| letter.is_alphanumeric() || "-_./ +@,".contains(letter) || letter == '*');
    is_plain.then(|| (name.to_owned(), Some(pattern)))
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
