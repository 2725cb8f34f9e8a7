//! Protected paths: files and directories that decide what programs view later.

use portcullis_analysis::{Access, Naming};
use portcullis_shell::Span;

use crate::case::CaseView;
use crate::path::{below, is_inside};
use crate::path_use::PathUse;
use crate::scope::{is_allowed_by_rule, leaves_by_link};
use crate::verdict::SafetyCheck;

/// Directories nothing may be written in, wherever they stand.
const DIRECTORIES: &[&str] = &[
    ".git",
    ".vscode",
    ".idea",
    ".husky",
    ".cargo",
    ".devcontainer",
    ".yarn",
    ".mvn",
    ".claude",
    ".portcullis",
];

/// Pairs of a directory and what it has, a directory or a file, with the same meaning.
const NESTED: &[(&str, &str)] = &[
    (".config", "git"),
    (".config", "portcullis"),
    ("etc", "claude-code"),
    ("etc", "portcullis"),
    // Who may come in, and what starts by itself.
    (".ssh", "authorized_keys"),
    (".ssh", "authorized_keys2"),
    (".ssh", "config"),
    (".ssh", "environment"),
    (".ssh", "rc"),
    (".config", "autostart"),
    (".config", "environment.d"),
    (".config", "systemd"),
    (".config", "fish"),
    ("Library", "LaunchAgents"),
    ("Library", "LaunchDaemons"),
    // What was granted, forbidden and decided.
    ("state", "portcullis"),
    // Where agents are told to ask.
    (".config", "amp"),
    (".config", "crush"),
    (".config", "opencode"),
    (".opencode", "plugin"),
    (".opencode", "plugins"),
    (".copilot", "hooks"),
    (".github", "hooks"),
    (".codex", "config.toml"),
    (".codex", "hooks.json"),
    (".codex", "sessions"),
    (".cursor", "hooks.json"),
    (".factory", "hooks.json"),
    (".factory", "settings.json"),
    (".gemini", "settings.json"),
    (".qwen", "settings.json"),
    (".kimi-code", "config.toml"),
    (".kimi-code", "mcp.json"),
    (".pi", "agent"),
    (".pi", "extensions"),
    (".cline", "hooks"),
];

/// Places inside a protected directory that agents keep their own work in.
const EXCEPTIONS: &[&[&str]] =
    &[&[".claude", "worktrees"], &[".claude", "plans"], &[".claude", "agent-memory"]];

/// Files that may not be written, wherever they stand.
const FILES: &[&str] = &[
    ".gitconfig",
    ".gitmodules",
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".bash_aliases",
    ".bash_logout",
    ".zshrc",
    ".zprofile",
    ".zshenv",
    ".zlogin",
    ".zlogout",
    ".profile",
    ".xprofile",
    ".xsession",
    ".xsessionrc",
    ".xinitrc",
    ".cshrc",
    ".tcshrc",
    ".kshrc",
    ".login",
    ".pam_environment",
    ".envrc",
    ".npmrc",
    ".yarnrc",
    ".yarnrc.yml",
    ".pnp.cjs",
    ".pnp.loader.mjs",
    ".pnpmfile.cjs",
    "bunfig.toml",
    ".bunfig.toml",
    ".bazelrc",
    ".bazelversion",
    ".bazeliskrc",
    ".pre-commit-config.yaml",
    "lefthook.yml",
    "lefthook.yaml",
    ".lefthook.yml",
    ".lefthook.yaml",
    "gradle-wrapper.properties",
    "maven-wrapper.properties",
    ".devcontainer.json",
    ".ripgreprc",
    "pyrightconfig.json",
    ".mcp.json",
    ".claude.json",
];

/// A write that no mode lifts.
#[derive(Debug)]
pub(crate) struct ProtectedWrite {
    pub(crate) check: SafetyCheck,
    /// What is written, as a question names it.
    pub(crate) subject: String,
    pub(crate) span: Span,
}

/// Finds a write to a protected path, or one that leaves the workspace through a symbolic link.
pub(crate) fn find_protected_write(view: &CaseView<'_>) -> Option<ProtectedWrite> {
    let by_effect = view.sources().find_map(|source| {
        let mut uses =
            source.path_uses().filter(|path_use| path_use.access != Access::Read && !path_use.is_free());
        uses.find_map(|path_use| {
            let check = check_of(view, &path_use)?;
            let (subject, span) = source.named(&path_use);
            Some(ProtectedWrite { check, subject, span })
        })
    });
    by_effect.or_else(|| find_protected_name(view))
}

fn check_of(view: &CaseView<'_>, path_use: &PathUse<'_>) -> Option<SafetyCheck> {
    let is_named = path_use.known_variants().iter().any(|path| is_protected(path));
    if is_named || is_protected_text(path_use) {
        return Some(SafetyCheck::ProtectedPath);
    }
    if is_hidden_in_home(view, path_use) && !is_allowed_by_rule(view, path_use) {
        return Some(SafetyCheck::ProtectedPath);
    }
    let leaves = leaves_by_link(view, path_use) && !is_allowed_by_rule(view, path_use);
    leaves.then_some(SafetyCheck::SymbolicLink)
}

/// Says whether a setting of the user's changes where the home directory itself is worked in. By what is hidden there
/// programs start and people come in, and it belongs to no project.
fn is_hidden_in_home(view: &CaseView<'_>, path_use: &PathUse<'_>) -> bool {
    let home = view.case.context().home.as_deref().filter(|home| *home != "/");
    let Some(home) = home.filter(|home| view.roots.iter().any(|root| is_inside(home, root))) else {
        return false;
    };
    path_use.known_variants().iter().any(|path| below(path, home).is_some_and(is_setting_of_home))
}

/// Says whether a path below a home directory is that of a setting or of a program that its user starts.
fn is_setting_of_home(path: &str) -> bool {
    let is_own_work = |start: &&str| below(path, start).is_some();
    let first = path.split('/').next().unwrap_or_default();
    let is_setting = first.starts_with('.') || matches!(first, "bin" | "Library");
    is_setting && !WORK_IN_HOME.iter().any(is_own_work)
}

/// What is hidden in a home and nothing that programs obey.
const WORK_IN_HOME: &[&str] = &[
    ".cache",
    ".claude/agent-memory",
    ".claude/plans",
    ".claude/worktrees",
    ".gitignore",
    ".local/share/Trash",
    "Library/Caches",
];

/// Finds the name of a protected path inside code that nobody reads, or where something unknown is done to it: it may
/// well be written.
fn find_protected_name(view: &CaseView<'_>) -> Option<ProtectedWrite> {
    let files = view.case.subject.shell()?.possible_files().iter().flatten();
    let mut named = files.filter(|file| file.naming != Naming::Word);
    let file = named.find(|file| file.target.paths.iter().any(|path| is_protected(path)))?;
    let subject = file.target.written.clone();
    Some(ProtectedWrite { check: SafetyCheck::ProtectedPath, subject, span: file.span })
}

/// Says whether a path that is not wholly known ends in, or passes through, something protected.
fn is_protected_text(path_use: &PathUse<'_>) -> bool {
    if path_use.path().is_some() && !path_use.target.is_pattern {
        return false;
    }
    // What is computed may name it in the words of a substitution.
    let words = || path_use.shown().split(['"', '\'', ' ', '(', ')', '`']);
    words().any(is_protected)
        || words().flat_map(|word| word.split('/')).filter(|component| component.starts_with('.')).any(
            |component| {
                let fixed =
                    component.split(['*', '?', '[', '{', '@', '+', '!', '$', '`']).next().unwrap_or_default();
                // Of a pattern the beginning is known; a lone dot could be the beginning of any of them.
                fixed.len() < component.len()
                    && DIRECTORIES.iter().chain(FILES).any(|name| name.starts_with(fixed))
            },
        )
}

/// Says whether a path is protected; case does not matter, as on file systems that ignore it.
pub(crate) fn is_protected(path: &str) -> bool {
    // Some file systems overlook signs without width.
    let lower: String = path.chars().filter(|letter| !is_overlooked(*letter)).collect();
    let lower = lower.to_ascii_lowercase();
    let components: Vec<&str> =
        lower.split('/').filter(|component| !component.is_empty()).map(plain_name).collect();
    if components.last().is_some_and(|name| FILES.contains(name)) {
        return true;
    }
    components.iter().enumerate().any(|(place, component)| {
        let next = components.get(place + 1);
        let nested = NESTED.iter().any(|(parent, child)| component == parent && next == Some(child));
        let excepted = EXCEPTIONS.iter().any(|exception| {
            components.get(place..place + exception.len()).is_some_and(|here| here == *exception)
        });
        (DIRECTORIES.contains(component) && !excepted) || nested
    })
}

/// Returns the name a file system may take a component for: Windows drops dots and blanks at the end, knows streams
/// behind a colon, and has short names.
fn plain_name(component: &str) -> &str {
    let name = component
        .split_once(':')
        .map_or(component, |(name, _)| if name.is_empty() { component } else { name });
    let name = if matches!(name, "." | "..") { name } else { name.trim_end_matches(['.', ' ']) };
    if name == "git~1" { ".git" } else { name }
}

fn is_overlooked(letter: char) -> bool {
    matches!(letter, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn protected_paths_are_told_from_others() {
        for path in [
            "/a/.git/config",
            "/a/.git",
            "/home/me/.bashrc",
            "/a/.claude/settings.json",
            "/a/.GIT/hooks/x",
            "/home/me/.config/git/config",
            "/home/me/.config/portcullis/settings.json",
            "/home/me/.config/portcullis/commands/acme.toml",
            "/a/.portcullis/commands/acme.toml",
            "/etc/portcullis/commands/acme.toml",
            "/a/sub/.mcp.json",
            "/etc/claude-code/managed-settings.json",
            "/a/.git./config",
            "/a/.git /config",
            "/a/GIT~1/config",
            "/a/.git::$INDEX_ALLOCATION/config",
            "/a/.gi\u{200b}t/config",
            "/a/.bashrc.",
            "/home/me/.local/state/portcullis/grants.json",
            "/home/me/.codex/hooks.json",
            "/home/me/.copilot/hooks/portcullis.json",
            "/home/me/.config/opencode/plugin/portcullis.js",
            "/home/me/.pi/agent/extensions/portcullis.ts",
        ] {
            assert!(is_protected(path), "{path}");
        }
        for path in [
            "/a/git/config",
            "/a/.gitignore",
            "/a/.claude/worktrees/x/y.rs",
            "/home/me/.config/nvim/init.lua",
            "/home/me/.local/state/nvim/log",
            "/a/.cursor/rules/style.mdc",
            "/a/.codex/notes.md",
            "/",
        ] {
            assert!(!is_protected(path), "{path}");
        }
    }
}
