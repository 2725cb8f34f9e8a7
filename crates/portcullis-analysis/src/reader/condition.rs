//! `test` and `[`, whose operators must be known, because some of them evaluate their operands.

use super::CommandContext;
use super::nameless;
use crate::act::Act;
use crate::argument::{Argument, Knowledge};
use crate::profile::{Match, Use};
use crate::shape::Shape;

const UNARY: &str = "bcdefghkLnOprSstuwxzGN";
const BINARY: &[&str] =
    &["=", "==", "!=", "<", ">", "-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-nt", "-ot", "-ef"];

/// Reads a condition: nothing is done if it is plain.
pub(super) fn read(context: &CommandContext<'_>, _: &Match<'_>) -> Vec<Use> {
    let is_plain = is_plain(context.invocation.operands());
    if is_plain { Vec::new() } else { vec![nameless(Act::Unknown)] }
}

/// Says whether a condition is one comparison or question, with a known operator and operands that stay one word each.
fn is_plain(operands: &[Argument]) -> bool {
    let without_bracket = match operands {
        [inside @ .., last] if last.text == "]" => inside,
        all => all,
    };
    let words = match without_bracket {
        [first, rest @ ..] if first.fixed() == Some("!") => rest,
        all => all,
    };
    match words {
        [] => true,
        [only] => is_one_word(only),
        [operator, operand] => is_unary(operator) && is_one_word(operand),
        [left, operator, right] => {
            operator.fixed().is_some_and(|text| BINARY.contains(&text))
                && is_one_word(left)
                && is_one_word(right)
        }
        more => more.iter().all(|word| word.fixed().is_some_and(|text| !matches!(text, "-v" | "-R"))),
    }
}

fn is_unary(operator: &Argument) -> bool {
    operator
        .fixed()
        .and_then(|text| text.strip_prefix('-'))
        .is_some_and(|letter| letter.len() == 1 && UNARY.contains(letter))
}

/// Says whether a word stays one: known, or an expansion inside double quotes that is no list.
fn is_one_word(word: &Argument) -> bool {
    match word.knowledge {
        Knowledge::Fixed | Knowledge::Tilde => true,
        Knowledge::Glob => false,
        Knowledge::Dynamic => {
            word.shape().is_some_and(Shape::is_plain)
                || word.is_one_word() && !word.as_written().contains("[*]")
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::reader::testing::effects;

    #[test]
    fn plain_conditions_do_nothing_and_those_that_may_evaluate_are_unknown() {
        for plain in ["test -n \"$X\"", "[ \"$a\" = b ]", "[ ! -f \"$a\" ]", "[ -d src ]", "[ -f a -a -f b ]"]
            .into_iter()
            .chain(["test -e \"$(dirname \"$a\")/x\"", "[ \"$(dirname \"$a\")\" = \"$b\" ]"])
        {
            assert!(effects(plain).is_empty(), "{plain}");
        }
        for other in [
            "test -v x",
            "[ $a = b ]",
            "[ \"$a\" \"$b\" ]",
            "[ -n \"$@\" ]",
            "[ -f a -o -v b ]",
            "[ -e \"$(dirname a)\"$b ]",
            "[ -e \"$(echo \"(\")\"$b\")\" ]",
        ] {
            assert_eq!(effects(other), ["unknown"], "{other}");
        }
    }
}
