//! `git checkout`: a branch to go to, or files whose changes are thrown away.

use super::CommandContext;
use super::{certain, has, possible};
use crate::act::Act;
use crate::argument::Argument;
use crate::lists::programs::git::{FILE_ENDS, SOURCE_DIRECTORIES};
use crate::profile::{Match, Use};

/// Adds the files that are overwritten to what the options do.
pub(super) fn read(context: &CommandContext<'_>, found: &Match<'_>) -> Vec<Use> {
    let mut uses = found.uses.clone();
    if found.is_idle {
        return uses;
    }
    let operands = &found.wanted.operands;
    let is_operand = |word: &Argument| operands.iter().any(|operand| operand.span == word.span);
    // A new branch has a place to start from; a side of a conflict is committed already.
    if has(found, &["-b", "-B", "--ours", "--theirs"]) {
        uses.retain(|found| found.act != Act::GitDiscard || !found.word.as_ref().is_some_and(is_operand));
        return uses;
    }
    let mut words = context.invocation.operands().iter();
    let has_dashes = words.by_ref().any(|word| word.text == "--");
    let files: Vec<&Argument> = if has_dashes {
        words.collect()
    } else {
        operands.first().filter(|first| operands.len() == 1 && is_path(first)).into_iter().collect()
    };
    if let [only] = operands.as_slice()
        && is_likely_path(only)
        && !has_dashes
    {
        // Whether its changes are lost depends on there being no such branch.
        uses.push(possible(Act::Unknown, only));
    }
    for file in files {
        let discard = certain(Act::GitDiscard, file);
        if !uses.contains(&discard) {
            uses.push(discard);
        }
    }
    uses
}

/// Says whether a lone word is a path: no branch is called so.
fn is_path(word: &Argument) -> bool {
    let text = word.text.as_str();
    matches!(text, "." | ".." | ":/")
        || ["./", "../", "/", ":/", ":("].iter().any(|start| text.starts_with(start))
        || text.contains('*')
        || text.ends_with('/')
}

/// Says whether a lone word is more likely a file or directory than a branch.
fn is_likely_path(word: &Argument) -> bool {
    let text = word.text.as_str();
    SOURCE_DIRECTORIES.contains(&text)
        || text.rsplit_once('.').is_some_and(|(name, end)| !name.is_empty() && FILE_ENDS.contains(&end))
}

#[cfg(test)]
mod tests {
    use crate::reader::testing::effects;

    #[test]
    fn files_after_dashes_or_a_commit_lose_their_changes() {
        assert_eq!(
            effects("git checkout -- a.rs b.rs"),
            ["git-discard a.rs", "git-discard b.rs", "git-local"]
        );
        assert_eq!(effects("git checkout HEAD -- a.rs"), ["git-discard a.rs", "git-local"]);
        assert_eq!(effects("git checkout main a.rs"), ["git-discard a.rs", "git-local"]);
        assert_eq!(effects("git checkout src/a.rs"), ["git-local", "unknown src/a.rs"]);
        assert_eq!(effects("git checkout ."), ["git-discard .", "git-local"]);
    }

    #[test]
    fn branches_and_sides_of_a_conflict_lose_nothing() {
        assert_eq!(effects("git checkout main"), ["git-local"]);
        assert_eq!(effects("git checkout v1.2.3"), ["git-local"]);
        assert_eq!(effects("git checkout feature/x"), ["git-local"]);
        assert_eq!(effects("git checkout -tf origin/main"), ["git-discard", "git-local"]);
        assert_eq!(effects("git checkout -b topic origin/main"), ["git-local"]);
        assert_eq!(effects("git checkout --theirs a.rs b.rs"), ["git-local"]);
    }
}
