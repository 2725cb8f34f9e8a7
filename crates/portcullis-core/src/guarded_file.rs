//! Files that rules guard, below directories that a call takes as a whole: what lies in it is taken too.

use portcullis_analysis::effect::{Act, Effect};
use portcullis_analysis::{Argument, Invocation, Survey};
use portcullis_shell::Span;

use crate::context::Context;
use crate::path;
use crate::pattern::may_name_component;
use crate::policy::Policy;
use crate::rule::{Behavior, Matcher, PathAccess, PathAnchors, Rule};

/// Programs that hand out the content of every file below a directory, hidden ones included.
const TREE_READERS: &[&str] = &[
    "7z", "7za", "bsdtar", "cp", "cpio", "ditto", "egrep", "fgrep", "gcp", "ggrep", "grep", "gtar", "pax",
    "rsync", "scp", "tar", "zgrep", "zip",
];

/// Programs that search trees and pass over what is hidden or ignored unless they are told not to.
const SEARCHERS: &[&str] = &["ack", "ag", "git", "hgrep", "pt", "rg", "ripgrep", "sift", "ug", "ugrep"];

/// Options that make them look at what is hidden, and at what is ignored.
const SHOWING_HIDDEN: &[&str] =
    &["--all-types", "--hidden", "--no-index", "--unrestricted", "-.", "-U", "-a", "-uu", "-uuu"];
const SHOWING_IGNORED: &[&str] = &[
    "--all-types",
    "--no-exclude-standard",
    "--no-ignore",
    "--no-ignore-vcs",
    "--no-index",
    "--unrestricted",
    "-U",
    "-a",
    "-u",
    "-uu",
    "-uuu",
];

/// Options with the names of what is taken, and of what is left out.
const INCLUDING: &[&str] = &["--glob", "--iglob", "--include", "-g"];
const EXCLUDING: &[&str] = &["--exclude", "--exclude-dir"];

/// Options that say in another way what is left out or taken: which files these are is not followed.
const CHOOSING: &[&str] = &[
    "--exclude-caches",
    "--exclude-from",
    "--exclude-ignore",
    "--exclude-tag",
    "--exclude-vcs",
    "--files-from",
    "--filter",
    "--type",
    "-X",
    "-t",
    "-x",
];

/// The most rules that are looked at for one call.
const MOST_RULES: usize = 64;

/// A file that a rule guards, and the directory that is taken with it.
#[derive(Debug)]
pub(crate) struct GuardedFile<'p> {
    pub(crate) rule: &'p Rule,
    pub(crate) file: String,
    /// Whether the directory is one for sure, and not a file that is named like one.
    pub(crate) is_below_directory: bool,
    /// Whether it is known that the file is taken with the directory.
    pub(crate) is_followed: bool,
    /// The directory as it is written.
    pub(crate) directory: String,
    pub(crate) span: Span,
}

/// Lists the files below directories that commands take as a whole, as far as rules name them outright.
pub(crate) fn guarded_files<'p>(
    policy: &'p Policy,
    context: &Context,
    behavior: Behavior,
    (survey, effects): (&Survey, &[Effect]),
) -> Vec<GuardedFile<'p>> {
    let mut all = Vec::new();
    if !policy.rules.has_path_restraint() {
        return all;
    }
    for effect in effects {
        let command = effect.invocation.and_then(|place| survey.invocations.get(place));
        let access = match effect.act {
            Act::Read if command.is_some_and(reads_tree) => PathAccess::Read,
            // Whoever moves a directory away may read it elsewhere.
            Act::Move => PathAccess::Read,
            Act::DeleteTree => PathAccess::Edit,
            _ => continue,
        };
        for path in effect.target.paths() {
            for rule in policy.rules.paths(behavior, access).take(MOST_RULES) {
                let (directory, span) = (effect.target.written().to_owned(), effect.span);
                let Some((file, is_named)) = file_below(rule, path, context) else { continue };
                let below = path::below(&file, path).unwrap_or(&file);
                if command.is_some_and(|command| leaves_out(command, below)) {
                    continue;
                }
                let is_followed = !command.is_some_and(chooses_otherwise);
                let is_below_directory = is_named || path::is_inside(&context.cwd, path);
                all.push(GuardedFile { rule, file, is_below_directory, is_followed, directory, span });
            }
        }
    }
    all
}

/// Returns the file that a rule guards below a directory, and whether the rule names the directory too.
fn file_below(rule: &Rule, directory: &str, context: &Context) -> Option<(String, bool)> {
    let Matcher::Path { pattern, .. } = &rule.matcher else {
        return None;
    };
    let anchors = PathAnchors {
        cwd: &context.cwd,
        project: &context.project,
        home: context.home.as_deref(),
        base: rule.origin.base.as_deref(),
    };
    Some((pattern.path_below(directory, &anchors)?, pattern.is_anchored()))
}

/// Says whether a command hands out what lies below a directory it reads.
fn reads_tree(command: &Invocation) -> bool {
    command.program_name().is_some_and(|name| TREE_READERS.contains(&name) || SEARCHERS.contains(&name))
}

/// Says whether a command does not hand out a file below the directory it reads, going by its path from there.
fn leaves_out(command: &Invocation, file: &str) -> bool {
    let words = command.operands();
    let name = path::file_name(file).unwrap_or(file);
    let of =
        |options: &[&str]| -> Vec<&str> { options.iter().flat_map(|option| values(words, option)).collect() };
    let mut included = of(INCLUDING);
    included.retain(|pattern| !pattern.starts_with('!'));
    let is_named = included.iter().any(|pattern| may_name_component(pattern, name));
    let is_plain = |pattern: &str| !pattern.contains(['?', '[', '{', '/']);
    let is_excluded = of(EXCLUDING).into_iter().any(|pattern| {
        is_plain(pattern) && file.split('/').any(|component| may_name_component(pattern, component))
    });
    let has = |options: &[&str]| words.iter().any(|word| options.contains(&word.text.as_str()));
    let is_searched = || {
        let is_hidden = file.split('/').any(|component| component.starts_with('.'));
        is_named || if is_hidden { has(SHOWING_HIDDEN) } else { has(SHOWING_IGNORED) }
    };
    let passes_over = command.program_name().is_some_and(|program| SEARCHERS.contains(&program));
    !included.is_empty() && !is_named || is_excluded || passes_over && !is_searched()
}

/// Says whether options of a command choose files in a way that is not followed.
fn chooses_otherwise(command: &Invocation) -> bool {
    command.operands().iter().any(|word| {
        let option = word.text.split('=').next().unwrap_or_default();
        CHOOSING.contains(&option)
    })
}

/// Returns the values of an option, attached or in the word behind it.
fn values<'a>(words: &'a [Argument], option: &str) -> Vec<&'a str> {
    let value = |(place, word): (usize, &'a Argument)| match word.text.strip_prefix(option)? {
        "" => words.get(place + 1).map(|next| next.text.as_str()),
        attached => attached.strip_prefix('='),
    };
    words.iter().enumerate().filter_map(value).collect()
}
