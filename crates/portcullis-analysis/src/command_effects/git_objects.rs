//! Files that git shows out of its history: `git show HEAD:path`, `git log -p -- path`. What they hold is read as from disk.

use crate::argument::Argument;
use crate::invocation::Invocation;

/// Commands of git that show what files hold.
const SHOWING: &[&str] = &["blame", "cat-file", "diff", "log", "show", "stash", "whatchanged"];

/// Returns the words that name files whose content a command of git shows.
pub(super) fn shown_files(invocation: &Invocation) -> Vec<Argument> {
    let words = invocation.operands();
    let is_shown = invocation.program_name() == Some("git")
        && words.iter().any(|word| SHOWING.contains(&word.text.as_str()));
    if !is_shown {
        return Vec::new();
    }
    let of_revision = |word: &Argument| {
        let (revision, path) = word.text.split_once(':')?;
        let is_path = !revision.starts_with('-') && !path.is_empty() && !path.starts_with('/');
        (is_path && word.is_known()).then(|| word.piece(path.trim_start_matches("./")))
    };
    let shows_patches = words.iter().any(|word| matches!(word.text.as_str(), "-p" | "--patch" | "-u"));
    let after = words.iter().skip_while(|word| word.text != "--").skip(1).filter(|_| shows_patches);
    let options = words.iter().take_while(|word| word.text != "--");
    options
        .filter(|word| !word.is_option())
        .filter_map(of_revision)
        .chain(after.filter(|word| word.is_known()).cloned())
        .collect()
}
