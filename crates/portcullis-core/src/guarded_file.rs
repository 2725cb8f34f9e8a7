//! Files that rules guard, below directories that a call takes as a whole: what lies in it is taken too.

use portcullis_analysis::effect::{Act, Effect};
use portcullis_analysis::{Invocation, Survey};
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

/// Options by which such a program leaves files out: which ones is not followed.
const CHOOSING: &[&str] = &["--exclude", "--include", "--filter", "--files-from"];

/// The most rules that are looked at for one call.
const MOST_RULES: usize = 64;

/// A file that a rule guards, and the directory that is taken with it.
#[derive(Debug)]
pub(crate) struct GuardedFile<'p> {
    pub(crate) rule: &'p Rule,
    pub(crate) file: String,
    /// Whether the directory is one for sure, and not a file that is named like one.
    pub(crate) is_below_directory: bool,
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
                if command.is_some_and(|command| leaves_out(command, &file)) {
                    continue;
                }
                let is_below_directory = is_named || path::is_inside(&context.cwd, path);
                all.push(GuardedFile { rule, file, is_below_directory, directory, span });
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
    command.program_name().is_some_and(|name| TREE_READERS.contains(&name))
}

/// Says whether options of a command may leave a file out: it names other files, or nobody follows which ones.
fn leaves_out(command: &Invocation, file: &str) -> bool {
    let words = command.operands();
    let name = path::file_name(file).unwrap_or(file);
    let included =
        words.iter().enumerate().filter_map(|(place, word)| match word.text.strip_prefix("--include") {
            Some("") => words.get(place + 1).map(|next| next.text.as_str()),
            Some(value) => value.strip_prefix('='),
            None => None,
        });
    let is_other =
        |word: &str| CHOOSING.iter().any(|option| word.starts_with(option)) && !word.starts_with("--include");
    let mut included = included.peekable();
    let is_chosen = included.peek().is_some();
    words.iter().any(|word| is_other(&word.text))
        || is_chosen && !included.any(|pattern| may_name_component(pattern, name))
}
