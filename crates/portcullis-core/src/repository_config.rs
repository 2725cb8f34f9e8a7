//! Programs that the configuration of a repository makes git or cargo run although they only look (spec A9, D3).
//!
//! `git status` in a repository that was unpacked from an archive runs what its `core.fsmonitor` names. So a look counts
//! as a look only if the configuration was read and names no program; what nobody looked up counts as naming one.

use std::collections::{BTreeMap, BTreeSet};

use portcullis_analysis::Invocation;

use crate::disk::{DiskAnswer, DiskAnswers, DiskQuestion};

/// Returns what must be looked up before an invocation may count as a mere look.
pub(crate) fn questions(invocation: &Invocation) -> Vec<DiskQuestion> {
    let Some(make) = question_for(invocation) else {
        return Vec::new();
    };
    let directories = invocation.directories.alternatives().unwrap_or_default();
    directories.iter().cloned().map(make).collect()
}

/// Says whether settings of the repository may run a program when an invocation only looks.
pub(crate) fn may_run_program(invocation: &Invocation, answers: &DiskAnswers) -> bool {
    let Some(make) = question_for(invocation) else {
        return false;
    };
    if neutralises(invocation) {
        return false;
    }
    if names_repository(invocation) {
        return true;
    }
    match invocation.directories.alternatives() {
        None => true,
        Some(directories) => {
            directories.iter().any(|directory| match answers.settings(&make(directory.clone())) {
                Some(DiskAnswer::Absent) => false,
                Some(DiskAnswer::Text(text)) => names_program(&make(directory.clone()), text),
                Some(DiskAnswer::Leads(_) | DiskAnswer::Broken) | None => true,
            })
        }
    }
}

/// Says whether git would run a program that settings of the repository name and that no judge can see.
///
/// Hooks and helpers that projects usually set up, and what needs a terminal, are left aside.
pub(crate) fn hides_program(invocation: &Invocation, answers: &DiskAnswers) -> bool {
    if invocation.program_name() != Some("git") || neutralises(invocation) {
        return false;
    }
    if names_repository(invocation) {
        return true;
    }
    let directories = invocation.directories.alternatives().unwrap_or_default();
    directories.iter().any(|directory| {
        match answers.settings(&DiskQuestion::GitSettings(directory.clone())) {
            Some(DiskAnswer::Absent) => false,
            Some(DiskAnswer::Text(text)) => {
                git_settings(text).any(|(key, value)| is_git_program(&key, &value) && !is_usual(&key, &value))
            }
            Some(DiskAnswer::Leads(_) | DiskAnswer::Broken) | None => true,
        }
    })
}

/// Returns the remotes of the repositories that invocations work in, with their addresses; none that two of them disagree
/// about.
pub(crate) fn remotes<'a>(
    invocations: impl Iterator<Item = &'a Invocation>,
    answers: &DiskAnswers,
) -> BTreeMap<String, String> {
    let mut remotes = BTreeMap::new();
    let mut disputed = BTreeSet::new();
    for question in invocations.flat_map(questions) {
        let Some(DiskAnswer::Text(text)) = answers.settings(&question) else { continue };
        for (key, value) in git_settings(text) {
            let name = key.strip_prefix("remote.").and_then(|rest| rest.strip_suffix(".url"));
            if let Some(name) = name
                && remotes.insert(name.to_owned(), value.clone()).is_some_and(|before| before != value)
            {
                disputed.insert(name.to_owned());
            }
        }
    }
    remotes.retain(|name, _| !disputed.contains(name));
    remotes
}

/// Says whether git is pointed at a repository whose settings nobody looked up.
fn names_repository(invocation: &Invocation) -> bool {
    let is_git = invocation.program_name() == Some("git");
    let by_option = || {
        let words = invocation.arguments.iter().skip(1);
        words.take_while(|word| word.text.starts_with('-')).any(|word| word.text.starts_with("--git-dir"))
    };
    is_git && (by_option() || invocation.assignments.iter().any(|variable| variable.name == "GIT_DIR"))
}

/// Says whether a setting is one that projects usually bring along, or that only counts at a terminal.
fn is_usual(key: &str, value: &str) -> bool {
    const KEYS: &[&str] =
        &["core.askpass", "core.editor", "core.pager", "core.worktree", "interactive.difffilter"];
    const SECTIONS: &[&str] = &["alias.", "credential.", "gpg.", "pager.", "sequence."];
    let is_hooks =
        key == "core.hookspath" && [".husky", ".githooks"].iter().any(|start| value.starts_with(start));
    is_hooks || KEYS.contains(&key) || SECTIONS.iter().any(|section| key.starts_with(section))
}

fn question_for(invocation: &Invocation) -> Option<fn(String) -> DiskQuestion> {
    match invocation.program_name()? {
        "git" => Some(DiskQuestion::GitSettings),
        "cargo" => Some(DiskQuestion::CargoSettings),
        _ => None,
    }
}

/// Says whether the call itself switches off what settings could run, or runs nothing that would.
fn neutralises(invocation: &Invocation) -> bool {
    matches!(invocation.operands(), [only] if matches!(only.fixed(), Some("--version" | "-v" | "--help" | "-h")))
}

/// Keys of git's configuration whose value is run, in lower case; a `*` stands for any name between the dots.
const GIT_KEYS: &[&str] = &[
    "core.fsmonitor",
    "core.hookspath",
    "core.pager",
    "core.editor",
    "core.sshcommand",
    "core.gitproxy",
    "core.askpass",
    "core.worktree",
    "core.alternaterefscommand",
    "diff.external",
    "diff.*.command",
    "diff.*.textconv",
    "filter.*.clean",
    "filter.*.smudge",
    "filter.*.process",
    "pager.*",
    "gpg.program",
    "gpg.*.program",
    "credential.helper",
    "credential.*.helper",
    "uploadpack.packobjectshook",
    "include.path",
    "includeif.*.path",
    "interactive.difffilter",
    "sequence.editor",
    "protocol.ext.allow",
    "hook.*",
    "merge.*.driver",
    "mergetool.*.cmd",
    "difftool.*.cmd",
    "remote.*.uploadpack",
    "remote.*.receivepack",
    "remote.*.vcs",
    "trailer.*.command",
    "trailer.*.cmd",
    "tar.*.command",
    "url.ext::*",
];

/// Filters that git's own extensions install, and that run the extension alone.
const KNOWN_FILTERS: &[&str] = &["git-lfs clean -- %f", "git-lfs smudge -- %f", "git-lfs filter-process"];

fn names_program(question: &DiskQuestion, text: &str) -> bool {
    match question {
        DiskQuestion::GitSettings(_) => git_settings(text).any(|(key, value)| is_git_program(&key, &value)),
        // Any setting of cargo may name a compiler, a wrapper, a runner or an alias.
        _ => !text.trim().is_empty(),
    }
}

fn is_git_program(key: &str, value: &str) -> bool {
    if KNOWN_FILTERS.contains(&value) || (key == "core.fsmonitor" && matches!(value, "true" | "false" | "")) {
        return false;
    }
    let is_shell_alias = key.starts_with("alias.") && value.starts_with('!');
    let is_remote_helper = key.starts_with("remote.") && value.starts_with("ext::");
    let is_update = key.starts_with("submodule.") && value.starts_with('!');
    is_shell_alias || is_remote_helper || is_update || GIT_KEYS.iter().any(|pattern| is_key(pattern, key))
}

fn is_key(pattern: &str, key: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == key,
        Some((start, end)) => {
            key.len() > start.len() + end.len() && key.starts_with(start) && key.ends_with(end)
        }
    }
}

/// Reads `section.subsection.key` and value of every setting, keys and sections in lower case.
fn git_settings(text: &str) -> impl Iterator<Item = (String, String)> {
    let mut section = String::new();
    text.lines().filter_map(move |line| {
        let line = line.trim();
        if let Some(header) = line.strip_prefix('[') {
            let (name, rest) = header.split_once(']').unwrap_or((header, ""));
            section =
                name.replace('"', "").split_whitespace().collect::<Vec<_>>().join(".").to_ascii_lowercase();
            // A setting may stand behind its section on the same line.
            return setting(&section, rest.trim());
        }
        setting(&section, line)
    })
}

fn setting(section: &str, line: &str) -> Option<(String, String)> {
    if line.is_empty() || line.starts_with(['#', ';']) {
        return None;
    }
    let (key, value) = line.split_once('=').unwrap_or((line, "true"));
    let key = format!("{section}.{}", key.trim().to_ascii_lowercase());
    Some((key, value.trim().trim_matches('"').to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remotes_are_read_with_their_addresses() {
        let survey = portcullis_analysis::survey(
            "git status",
            portcullis_analysis::Surroundings {
                directory: "/app",
                home: None,
                profiles: portcullis_analysis::profile::Profiles::BUILT_IN,
            },
        );
        let mut answers = DiskAnswers::default();
        let text = "[remote \"origin\"]\n url = https://example.com/a\n fetch = x\n".to_owned();
        answers.insert(DiskQuestion::GitSettings("/app".to_owned()), DiskAnswer::Text(text));
        let found = remotes(survey.invocations.iter(), &answers);
        assert_eq!(
            found.into_iter().collect::<Vec<_>>(),
            [("origin".to_owned(), "https://example.com/a".to_owned())]
        );
    }

    fn names_git_program(text: &str) -> bool {
        names_program(&DiskQuestion::GitSettings(String::new()), text)
    }

    #[test]
    fn settings_that_run_a_program_are_found() {
        for text in [
            "[core]\n\tfsmonitor = ./run.sh",
            "[core] fsmonitor=\"./run.sh\"",
            "[CORE]\nHooksPath = hooks",
            "[diff \"x\"]\n\ttextconv = ./run.sh",
            "[filter \"x\"]\nclean = ./run.sh",
            "[alias]\n\tst = !./run.sh",
            "[include]\n\tpath = ../evil",
            "[includeIf \"gitdir:~/\"]\n\tpath = ../evil",
            "[diff]\n\texternal = ./run.sh",
            "[hook]\npost-index-change = true",
            "[merge \"x\"]\n\tdriver = ./run.sh %A",
            "[remote \"o\"]\n\turl = ext::sh -c ./run.sh",
            "[submodule \"s\"]\n\tupdate = !./run.sh",
            "[url \"ext::sh -c x\"]\n\tinsteadOf = https://",
        ] {
            assert!(names_git_program(text), "{text}");
        }
    }

    #[test]
    fn ordinary_settings_are_not() {
        for text in [
            "",
            "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n\tfsmonitor = true",
            "[remote \"origin\"]\n\turl = git@example.com:x.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*",
            "[alias]\n\tst = status\n# [core]\n; fsmonitor = x",
            "[filter \"lfs\"]\n\tclean = git-lfs clean -- %f\n\tprocess = git-lfs filter-process",
            "[branch \"main\"]\n\tremote = origin",
        ] {
            assert!(!names_git_program(text), "{text}");
        }
    }
}
