//! Brace expansion: whether bash makes several words of one.
//!
//! `{a,b}` and `{1..9}` expand, `{}` and `{a}` do not. Only unquoted braces, commas and dots count; what stands between
//! them may be quoted or dynamic. Where bash's own rule depends on such a piece (`{$a..9}`) the answer is yes.

use crate::ast::WordPart;

#[derive(Debug, Default)]
struct OpenBrace {
    comma: bool,
    dots: bool,
    /// Where the content begins in the text of part number `part`.
    start: usize,
    part: usize,
    /// Whether something other than plain text of that part stands inside.
    mixed: bool,
}

/// Says whether an unquoted brace list or range stands in the word.
pub(crate) fn expands(parts: &[WordPart]) -> bool {
    let mut open: Vec<OpenBrace> = Vec::new();
    for (number, part) in parts.iter().enumerate() {
        if let WordPart::Literal { text, .. } = part {
            if literal_expands(&mut open, number, text) {
                return true;
            }
        } else if let Some(innermost) = open.last_mut() {
            innermost.mixed = true;
        }
    }
    false
}

fn literal_expands(open: &mut Vec<OpenBrace>, part: usize, text: &str) -> bool {
    let mut previous = 0;
    for (index, byte) in text.bytes().enumerate() {
        match byte {
            b'{' => {
                if let Some(outer) = open.last_mut() {
                    outer.mixed = true;
                }
                open.push(OpenBrace { start: index + 1, part, ..OpenBrace::default() });
            }
            b',' => {
                if let Some(innermost) = open.last_mut() {
                    innermost.comma = true;
                }
            }
            b'.' if previous == b'.' => {
                if let Some(innermost) = open.last_mut() {
                    innermost.dots = true;
                }
            }
            b'}' if open.pop().is_some_and(|closed| closes(&closed, part, text, index)) => return true,
            _ => {}
        }
        previous = byte;
    }
    false
}

fn closes(closed: &OpenBrace, part: usize, text: &str, end: usize) -> bool {
    if closed.comma {
        return true;
    }
    let content = text.get(closed.start..end).unwrap_or_default();
    closed.dots && (closed.mixed || closed.part != part || is_sequence(content))
}

/// Says whether `content` is `x..y` or `x..y..step`, of two numbers or two letters.
fn is_sequence(content: &str) -> bool {
    let mut ends = content.split("..");
    let (Some(first), Some(last)) = (ends.next(), ends.next()) else { return false };
    let step_fits = ends.next().is_none_or(is_number);
    let both_letters = is_letter(first) && is_letter(last);
    step_fits && ends.next().is_none() && (both_letters || is_number(first) && is_number(last))
}

fn is_number(text: &str) -> bool {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_letter(text: &str) -> bool {
    text.len() == 1 && text.bytes().all(|byte| byte.is_ascii_alphabetic())
}
