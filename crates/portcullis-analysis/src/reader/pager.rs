//! Pagers, whose operands after `+` are commands typed into them.

use super::CommandContext;
use super::certain;
use crate::act::Act;
use crate::profile::{Match, Use};

/// Reads the operands of `less` and its like.
pub(super) fn read(_: &CommandContext<'_>, found: &Match<'_>) -> Vec<Use> {
    let is_typed = |used: &Use| used.word.as_ref().is_some_and(|word| word.text.starts_with('+'));
    let mut uses: Vec<Use> = found.uses.iter().filter(|used| !is_typed(used)).cloned().collect();
    let typed = found.wanted.operands.iter().filter_map(|word| Some((word, word.text.strip_prefix('+')?)));
    for (word, keys) in typed {
        let keys = keys.strip_prefix('+').unwrap_or(keys);
        let is_movement =
            matches!(keys, "" | "G" | "F" | "g") || keys.chars().all(|letter| letter.is_ascii_digit());
        if !is_movement && !keys.starts_with(['/', '?']) {
            uses.push(certain(Act::Unknown, word));
        }
    }
    uses
}

/// Reads the operands of `man`: a name with a slash is a file.
pub(super) fn manual(_: &CommandContext<'_>, found: &Match<'_>) -> Vec<Use> {
    let files = found.wanted.operands.iter().filter(|word| word.text.contains('/'));
    found.uses.iter().cloned().chain(files.map(|word| certain(Act::Read, word))).collect()
}

#[cfg(test)]
mod tests {
    use crate::reader::testing::effects;

    #[test]
    fn going_somewhere_is_told_from_other_keys() {
        assert_eq!(effects("less +G a.log | cat"), ["read a.log"]);
        assert_eq!(effects("less '+!date' a.log | cat"), ["read a.log", "unknown +!date"]);
    }
}
