//! Text from files and commands made safe to show.
//!
//! A settings file is written by whoever wrote the repository. Shown raw, an escape sequence in it could rewrite the
//! terminal, and a bidirectional override could make a rule read as its opposite. Everything a person would not see
//! as itself is therefore spelled out.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Spells out control, bidirectional and invisible characters; ordinary text comes back unchanged and unallocated.
///
/// Newline, return and tab become `\n`, `\r` and `\t`; every other hidden character becomes `\u{…}`.
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        match character {
            '\n' => shown.push_str("\\n"),
            '\r' => shown.push_str("\\r"),
            '\t' => shown.push_str("\\t"),
            hidden if is_hidden(hidden) => {
                // Writing to a `String` cannot fail.
                let _ = write!(shown, "\\u{{{:x}}}", u32::from(hidden));
            }
            plain => shown.push(plain),
        }
    }
    Cow::Owned(shown)
}

/// Says whether a character is not seen as itself: it moves the cursor, turns the reading direction, or has no width.
pub fn is_hidden(character: char) -> bool {
    if character.is_ascii() {
        return character.is_ascii_control();
    }
    matches!(character,
        '\u{80}'..='\u{9f}'
        | '\u{ad}'
        | '\u{34f}'
        | '\u{61c}'
        | '\u{115f}'..='\u{1160}'
        | '\u{17b4}'..='\u{17b5}'
        | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{3164}'
        | '\u{fe00}'..='\u{fe0f}'
        | '\u{feff}'
        | '\u{ffa0}'
        | '\u{fff9}'..='\u{fffb}'
        | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_characters_are_spelled_out_and_the_rest_is_left_alone() {
        for (text, shown) in [
            ("", ""),
            ("Bash(ls *) – naïve 日本 🦀", "Bash(ls *) – naïve 日本 🦀"),
            ("a\tb\r\n", "a\\tb\\r\\n"),
            ("\u{1b}[2J", "\\u{1b}[2J"),
            ("rm\u{202e}gpj", "rm\\u{202e}gpj"),
            ("a\u{200b}b\u{feff}c\u{2066}d", "a\\u{200b}b\\u{feff}c\\u{2066}d"),
            ("\u{0}\u{7f}\u{9b}", "\\u{0}\\u{7f}\\u{9b}"),
            ("\u{e0041}", "\\u{e0041}"),
            ("back\\slash", "back\\slash"),
        ] {
            assert_eq!(visible(text), shown, "{text:?}");
        }
    }

    #[test]
    fn ordinary_text_is_borrowed() {
        assert!(matches!(visible("plain"), Cow::Borrowed("plain")));
    }
}
