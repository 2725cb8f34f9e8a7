//! What git is told on the command line: what a push pushes where, and settings by their keys.

pub(crate) mod key;

use crate::argument::{Argument, Knowledge};
use crate::invocation::Invocation;
use crate::lists::programs::git::SHARED;
use crate::shape::Shape;

/// A push, as far as its words tell.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct GitPush {
    /// The remote, if it is named.
    pub(crate) remote: Option<String>,
    /// The branches of the remote that are written.
    pub(crate) branches: Vec<String>,
    /// Refspecs that overwrite: `+main`.
    pub(crate) forced: Vec<Argument>,
    /// Refspecs that delete: `:main`, and `main` where `--delete` stands.
    pub(crate) deleted: Vec<Argument>,
    /// Whether every branch is pushed: `--all`, `--mirror`.
    pub(crate) takes_all: bool,
    /// Whether all words are known before it runs.
    pub(crate) is_known: bool,
}

/// Options of `git push` whose value is the next word.
const VALUED: &[&str] = &["-o", "--push-option", "--receive-pack", "--exec", "--recurse-submodules"];

/// Options before the subcommand whose value is the next word.
pub(crate) const GLOBAL_VALUED: &[&str] =
    &["-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path"];

impl GitPush {
    /// Reads the words after `git`.
    pub(crate) fn of(words: &[Argument]) -> Self {
        let mut push = Self { is_known: true, ..Self::default() };
        let mut rest = words.iter();
        let mut is_push = false;
        let mut is_deletion = false;
        let mut named = Vec::new();
        while let Some(word) = rest.next() {
            // The branch that is checked out is pushed as `HEAD` would be.
            let is_branch = word.shape().is_some_and(Shape::is_branch);
            let head = is_branch.then(|| Argument { knowledge: Knowledge::Fixed, ..word.piece("HEAD") });
            let word = head.as_ref().unwrap_or(word);
            let text = word.text.as_str();
            push.is_known &= word.is_known();
            if !is_push {
                is_push = text == "push";
                if GLOBAL_VALUED.contains(&text) {
                    let _ = rest.next();
                }
            } else if VALUED.contains(&text) {
                let _ = rest.next();
            } else if is_abbreviated(text, "--repo") {
                let attached = text.split_once('=').map(|(_, value)| value.to_owned());
                push.remote = attached.or_else(|| rest.next().map(|next| next.text.clone()));
            } else if word.is_option() {
                let is_cluster = !text.starts_with("--") && text.contains('d');
                is_deletion |= is_cluster || is_abbreviated(text, "--delete");
                push.takes_all |=
                    ["--all", "--mirror", "--branches"].iter().any(|option| is_abbreviated(text, option));
            } else if push.remote.is_none() {
                push.remote = Some(text.to_owned());
            } else {
                named.push(word.clone());
                push.refspec(word);
            }
        }
        if is_deletion {
            push.deleted = named;
        }
        push
    }

    fn refspec(&mut self, word: &Argument) {
        let text = word.text.as_str();
        let plain = text.strip_prefix('+').unwrap_or(text);
        if plain.len() < text.len() {
            self.forced.push(word.clone());
        }
        let to = plain.rsplit_once(':').map_or(plain, |(_, to)| to);
        if plain.starts_with(':') && plain.len() > 1 {
            self.deleted.push(word.clone());
        }
        // A pattern stands for every branch, and so does a lone colon.
        self.takes_all |= to.contains('*') || plain == ":";
        // Gerrit merges what is pushed with such a wish.
        self.is_known &= !to.contains('%');
        let branch = ["refs/heads/", "heads/"].iter().find_map(|start| to.strip_prefix(start));
        self.branches.push(branch.unwrap_or(to).to_owned());
    }
}

/// Says whether a word is a long option or a beginning of it that git takes for it: `--mirr`, `--repo=x`.
pub(crate) fn is_abbreviated(word: &str, option: &str) -> bool {
    let name = word.split('=').next().unwrap_or(word);
    name.len() > 3 && name.starts_with("--") && option.starts_with(name)
}

/// Returns the branches of the remote that a push names; `None` if it takes all, or not all words are known.
pub fn pushed_branches(command: &Invocation) -> Option<Vec<String>> {
    let push = GitPush::of(command.operands());
    (push.is_known && !push.takes_all).then_some(push.branches)
}

/// Says whether others build or deploy from a branch.
pub(crate) fn is_shared_branch(branch: &str) -> bool {
    SHARED.contains(&branch)
        || ["release/", "releases/", "hotfix/", "deploy/"].iter().any(|start| branch.starts_with(start))
}

/// Says whether a branch is the default one of a repository.
pub(crate) fn is_default_branch(branch: &str) -> bool {
    matches!(branch, "main" | "master" | "trunk" | "default")
}
