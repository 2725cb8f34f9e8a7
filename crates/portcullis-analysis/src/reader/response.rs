//! Programs that take more options from a file: `@file`.

use super::CommandContext;
use super::certain;
use crate::act::Act;
use crate::profile::{Match, Use};

/// Makes every operand that names such a file unknown.
pub(super) fn read(_: &CommandContext<'_>, found: &Match<'_>) -> Vec<Use> {
    let mut uses = found.uses.clone();
    let files = found.wanted.operands.iter().filter(|word| word.text.starts_with('@'));
    uses.extend(files.map(|file| certain(Act::Unknown, file)));
    uses
}

#[cfg(test)]
mod tests {
    use crate::reader::testing::effects;

    #[test]
    fn options_from_a_file_are_unknown() {
        assert_eq!(effects("strings a.bin"), ["read a.bin"]);
        assert_eq!(effects("strings a.bin @more"), ["read @more", "read a.bin", "unknown @more"]);
    }
}
