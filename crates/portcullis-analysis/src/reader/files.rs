//! Programs whose operands are files and whose options are no worse than touching a file nobody knows.

use std::collections::BTreeSet;

use super::CommandContext;
use crate::act::Act;
use crate::argument::Argument;
use crate::effect::Certainty;
use crate::profile::{Match, Use};

/// Drops the doubt whether a word is an option where the word is already a file that only the running shell knows.
pub(super) fn read(_: &CommandContext<'_>, found: &Match<'_>) -> Vec<Use> {
    let is_doubt = |used: &Use| used.act == Act::Unknown && used.certainty == Certainty::Possible;
    let touched = found.uses.iter().filter(|used| !is_doubt(used) && !used.act.is_observing());
    let files: BTreeSet<&str> =
        touched.filter_map(|used| used.word.as_ref()).map(Argument::as_written).collect();
    let is_file = |used: &Use| used.word.as_ref().is_some_and(|word| files.contains(word.as_written()));
    found.uses.iter().filter(|used| !is_doubt(used) || !is_file(used)).cloned().collect()
}

/// Reads programs that pass their input on if there is no file: without operands nothing is touched.
pub(super) fn or_input(_: &CommandContext<'_>, found: &Match<'_>) -> Vec<Use> {
    found.uses.iter().filter(|used| used.word.is_some()).cloned().collect()
}

#[cfg(test)]
mod tests {
    use crate::reader::testing::effects;

    #[test]
    fn a_file_only_the_shell_knows_is_one_effect() {
        assert_eq!(effects("rm \"$file\""), ["delete \"$file\""]);
        assert_eq!(effects("rm -rf \"$file\" build"), ["delete-tree \"$file\"", "delete-tree build"]);
        assert_eq!(effects("rm --bogus a"), ["delete a", "unknown --bogus"]);
    }

    #[test]
    fn packing_a_stream_touches_no_file() {
        assert!(effects("gzip -9").is_empty());
        assert_eq!(effects("gzip a.txt"), ["write a.txt"]);
    }
}
