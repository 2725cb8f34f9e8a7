//! `date`, which sets the clock if an operand is no format.

use super::CommandContext;
use super::{certain, has, possible};
use crate::act::Act;
use crate::argument::Knowledge;
use crate::profile::{Match, Use};

/// Reads the operands of `date`.
pub(super) fn read(_: &CommandContext<'_>, found: &Match<'_>) -> Vec<Use> {
    let mut uses = found.uses.clone();
    if has(found, &["-j"]) {
        // On BSD nothing is set with this option.
        return uses;
    }
    for operand in found.wanted.operands.iter().filter(|operand| !operand.text.starts_with('+')) {
        let is_open = operand.knowledge == Knowledge::Dynamic;
        uses.push(if is_open { possible(Act::Unknown, operand) } else { certain(Act::TamperLog, operand) });
    }
    uses
}

#[cfg(test)]
mod tests {
    use crate::reader::testing::effects;

    #[test]
    fn formats_are_told_from_times_to_set() {
        assert_eq!(effects("date -u +%s"), ["observe"]);
        assert_eq!(effects("date -d '1 day ago' \"+%F $x\""), ["observe"]);
        assert_eq!(effects("date 010112002030"), ["observe", "tamper-log 010112002030"]);
        assert_eq!(effects("date -j -f %s 0 +%F"), ["observe", "read %s"]);
        assert_eq!(effects("date --set=now"), ["observe", "system-config now"]);
    }
}
