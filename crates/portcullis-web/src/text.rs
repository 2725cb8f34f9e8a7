//! Text from outside, as a page may show it.

use std::fmt;
use std::fmt::Write as _;

use portcullis_core::is_hidden;

/// A text in which everything that would not be seen as itself is spelled out. Line breaks and tabs stay.
///
/// Templates escape it like any other text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct VisibleText(String);

impl VisibleText {
    /// Returns the text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Says whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Makes a text of at most so many characters; one that was cut ends with a mark.
    pub fn cut(text: &str, longest: usize) -> Self {
        match text.char_indices().nth(longest) {
            Some((end, _)) => Self::from(format!("{}…", text.get(..end).unwrap_or_default())),
            None => Self::from(text),
        }
    }
}

impl From<&str> for VisibleText {
    fn from(text: &str) -> Self {
        let mut shown = String::with_capacity(text.len());
        for character in text.chars() {
            if is_hidden(character) && !matches!(character, '\n' | '\t') {
                // Writing to a `String` cannot fail.
                let _ = write!(shown, "\\u{{{:x}}}", u32::from(character));
            } else {
                shown.push(character);
            }
        }
        Self(shown)
    }
}

impl From<String> for VisibleText {
    fn from(text: String) -> Self {
        Self::from(text.as_str())
    }
}

impl fmt::Display for VisibleText {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn what_is_not_seen_as_itself_is_spelled_out() {
        let table = [
            ("ls -l", "ls -l"),
            ("a\nb\tc", "a\nb\tc"),
            ("a\u{202e}b", "a\\u{202e}b"),
            ("\u{1b}[2J\r", "\\u{1b}[2J\\u{d}"),
            ("日本", "日本"),
            ("\u{200b}\u{feff}", "\\u{200b}\\u{feff}"),
        ];
        for (text, shown) in table {
            assert_eq!(VisibleText::from(text).as_str(), shown);
        }
    }

    #[test]
    fn a_cut_falls_between_characters() {
        assert_eq!(VisibleText::cut("日本語", 2).as_str(), "日本…");
        assert_eq!(VisibleText::cut("ab", 2).as_str(), "ab");
    }
}
