//! `git checkout`: a branch to go to, or files whose changes are thrown away.

use super::CommandContext;
use super::{certain, has, is_idle};
use crate::act::Act;
use crate::argument::Argument;
use crate::profile::{Match, Use};

/// Adds the files that are overwritten to what the options do.
pub(super) fn read(context: &CommandContext<'_>, found: &Match<'_>) -> Vec<Use> {
    let mut uses = found.uses.clone();
    if is_idle(context, found) {
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
    for file in files {
        let discard = certain(Act::GitDiscard, file);
        if !uses.contains(&discard) {
            uses.push(discard);
        }
    }
    uses
}

/// Says whether a lone word can only be a path: no branch is called so.
fn is_path(word: &Argument) -> bool {
    let text = word.text.as_str();
    matches!(text, "." | ".." | ":/")
        || ["./", "../", "/", ":/", ":("].iter().any(|start| text.starts_with(start))
        || text.contains('*')
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
        assert_eq!(effects("git checkout ."), ["git-discard .", "git-local"]);
    }

    #[test]
    fn branches_and_sides_of_a_conflict_lose_nothing() {
        assert_eq!(effects("git checkout main"), ["git-local"]);
        assert_eq!(effects("git checkout -b topic origin/main"), ["git-local"]);
        assert_eq!(effects("git checkout --theirs a.rs b.rs"), ["git-local"]);
    }
}
