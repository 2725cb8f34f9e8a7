//! `awk`: a program, then files and assignments.

use super::CommandContext;
use super::{certain, has};
use crate::act::Act;
use crate::argument::Argument;
use crate::profile::{Match, Use};

/// Reads the arguments of `awk`. What the program does is read as code.
pub(super) fn read(context: &CommandContext<'_>, found: &Match<'_>) -> Vec<Use> {
    let mut uses = found.uses.clone();
    let included = || {
        found
            .wanted
            .options
            .iter()
            .filter(|(option, _)| *option == "-i")
            .filter_map(|(_, file)| file.as_ref())
    };
    let is_in_place = included().any(|file| file.text == "inplace");
    uses.extend(included().filter(|file| file.text != "inplace").map(|file| certain(Act::Execute, file)));
    let is_program_named = has(found, &["-f", "-e", "-E"]);
    let mut operands = found.wanted.operands.iter();
    if !is_program_named {
        let program = operands.next();
        // Somebody must have read the program.
        uses.extend(
            program
                .filter(|_| context.invocation.code.is_none())
                .map(|program| certain(Act::Unknown, program)),
        );
    }
    for file in operands.filter(|word| !is_assignment(word) && word.text != "-") {
        uses.push(certain(Act::Read, file));
        uses.extend(is_in_place.then(|| certain(Act::Write, file)));
    }
    uses
}

fn is_assignment(word: &Argument) -> bool {
    let name = word.text.split_once('=').map(|(name, _)| name);
    name.is_some_and(|name| {
        !name.is_empty() && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
    })
}

#[cfg(test)]
mod tests {
    use crate::reader::testing::effects;

    #[test]
    fn files_are_read_and_changed_in_place_only_if_told() {
        assert_eq!(effects("awk -F, -f run.awk x=1 a.csv"), ["execute run.awk", "read a.csv"]);
        assert_eq!(
            effects("gawk -i inplace -f run.awk a.csv"),
            ["execute run.awk", "read a.csv", "write a.csv"]
        );
        assert_eq!(effects("gawk -l ./evil.so -f run.awk"), ["execute run.awk", "load-code ./evil.so"]);
    }
}
