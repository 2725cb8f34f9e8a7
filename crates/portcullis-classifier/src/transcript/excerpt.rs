//! Shortening a text to a number of tokens, visibly.

use crate::quote;

/// Cuts a text in the middle so that its quotation is at most so many tokens, and says how much is missing.
///
/// Beginning and end stay, because that is where commands begin and where people come to the point. A text that fits is
/// returned as it is. `line_break` is what a line break costs, in characters. The time is linear in the text, whatever it escapes to.
pub(super) fn shorten(text: &str, tokens: usize, line_break: usize) -> String {
    if fits(text, tokens, line_break) {
        return text.to_owned();
    }
    let room = tokens.saturating_sub(MARK_TOKENS) * 3;
    let head = taken(text.chars(), room.div_ceil(2), line_break);
    let tail_characters = taken(text.chars().rev(), room / 2, line_break).chars().count();
    let count = text.chars().count();
    let head_characters = head.chars().count();
    let left_out = count.saturating_sub(head_characters + tail_characters);
    let tail: String = text.chars().skip(count - tail_characters.min(count)).collect();
    format!("{head} …[{left_out} characters left out]… {tail}")
}

/// What the mark costs at most, with the quotation marks around the text.
const MARK_TOKENS: usize = 20;

/// Says whether the quotation of a text is at most so many tokens, without building all of it.
fn fits(text: &str, tokens: usize, line_break: usize) -> bool {
    let limit = tokens.saturating_mul(3);
    let mut cost = 2;
    for character in text.chars() {
        cost += cost_of(character, line_break);
        if cost > limit {
            return false;
        }
    }
    true
}

/// Takes characters as long as there is room, in thirds of tokens.
fn taken(characters: impl Iterator<Item = char>, room: usize, line_break: usize) -> String {
    let mut text = String::new();
    let mut cost = 0;
    for character in characters {
        cost += cost_of(character, line_break);
        if cost > room {
            break;
        }
        text.push(character);
    }
    text
}

/// What a character costs in a quotation, in thirds of tokens.
fn cost_of(character: char, line_break: usize) -> usize {
    match character {
        '\n' => line_break,
        '"' | '\\' | '\r' | '\t' => 2,
        '<' => 6,
        ' '..='~' => 1,
        other => {
            let mut buffer = [0; 4];
            let quoted = quote(other.encode_utf8(&mut buffer));
            if quoted.is_ascii() { quoted.len() } else { 3 }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate_tokens;

    #[test]
    fn what_fits_stays_as_it_is() {
        for text in ["", "cargo test", "日本", "<a>"] {
            assert_eq!(shorten(text, 50, 2), text);
        }
    }

    #[test]
    fn what_is_cut_keeps_both_ends_and_counts_the_rest() {
        let text = format!("begin{}end", "x".repeat(10_000));
        let short = shorten(&text, 100, 2);
        assert!(short.starts_with("begin") && short.ends_with("end"), "{short}");
        let (head, rest) = short.split_once(" …[").unwrap();
        let (number, tail) = rest.split_once(" characters left out]… ").unwrap();
        assert_eq!(number.parse::<usize>().unwrap() + head.len() + tail.len(), text.len());
    }

    #[test]
    fn the_quotation_of_what_is_cut_fits() {
        for letter in ["x", "<", "\n", "日", "\u{200b}", "😀", "\u{e0041}", "\"", "\u{0}"] {
            for tokens in [30, 100, 1000] {
                let short = shorten(&letter.repeat(20_000), tokens, 2);
                let cost = estimate_tokens(&quote(&short));
                assert!(cost <= tokens, "{letter:?}: {cost} > {tokens}");
            }
        }
    }
}
