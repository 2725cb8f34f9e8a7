//! `test` and `[`, whose operators must be known, because some of them evaluate their operands.

use crate::argument::{Argument, Knowledge};

const UNARY: &str = "bcdefghkLnOprSstuwxzGN";
const BINARY: &[&str] =
    &["=", "==", "!=", "<", ">", "-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-nt", "-ot", "-ef"];

/// Says whether a condition is one comparison or question, with a known operator and operands that stay one word each.
pub(super) fn is_plain(operands: &[Argument]) -> bool {
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
        more => more
            .iter()
            .all(|word| word.fixed().is_some_and(|text| !matches!(text, "-v" | "-R" | "-a" | "-o"))),
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
    let written = word.as_written();
    let is_quoted = written.len() > 1 && written.starts_with('"') && written.ends_with('"');
    let is_list = written.contains('@') || written.contains("[*]");
    match word.knowledge {
        Knowledge::Fixed | Knowledge::Tilde => true,
        Knowledge::Glob => false,
        Knowledge::Dynamic => is_quoted && !is_list && written.matches('"').count() == 2,
    }
}
