//! Words of a call made fit for a sentence: hidden characters spelled out, backquotes replaced, length bounded.

use crate::visible::visible;

/// The most of anything that is quoted, in characters.
pub(crate) const LONGEST_QUOTE: usize = 120;

/// Quotes a text between backquotes, of which it keeps none itself, so that it cannot pose as the sentence round it.
pub(crate) fn quote(text: &str, longest: usize) -> String {
    format!("`{}`", bare(text, longest))
}

/// Makes a sentence of others fit to show: every piece between backquotes is bounded, and so is the whole.
///
/// `subject` is text of the call that stands in it.
pub(crate) fn prose(sentence: &str, subject: &str) -> String {
    let plain = if subject.contains('`') {
        sentence.replace(subject, &subject.replace('`', "'"))
    } else {
        sentence.to_owned()
    };
    let pieces: Vec<String> = plain.split('`').take(24).map(|piece| shown(piece, LONGEST_QUOTE)).collect();
    pieces.join("`")
}

/// Cuts a text after so many characters, and shows that it was cut.
pub(crate) fn cut(text: String, longest: usize) -> String {
    if text.chars().nth(longest).is_none() {
        return text;
    }
    text.chars().take(longest.saturating_sub(1)).chain(['…']).collect()
}

/// Makes the first letter a capital.
pub(crate) fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_ascii_uppercase()).into_iter().chain(letters).collect()
}

fn bare(text: &str, longest: usize) -> String {
    shown(text.trim(), longest).replace('`', "'")
}

/// Spells out what is hidden in the beginning of a text.
fn shown(text: &str, longest: usize) -> String {
    // Nothing gets shorter by being spelled out, so the rest need not be looked at.
    let beginning: String = text.chars().take(longest + 1).collect();
    cut(visible(&beginning).into_owned(), longest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_are_bounded_and_hold_no_backquote() {
        assert_eq!(quote("a`b", 9), "`a'b`");
        assert_eq!(quote("abcdefghij", 5), "`abcd…`");
        assert_eq!(quote("a\u{202e}\n", 20), "`a\\u{202e}`");
        assert_eq!(quote(&"\u{1b}".repeat(1000), 20).chars().count(), 22);
    }

    #[test]
    fn a_subject_cannot_end_its_own_quotes() {
        assert_eq!(prose("it removes `a` and b`", "a` and b"), "it removes `a' and b`");
    }
}
