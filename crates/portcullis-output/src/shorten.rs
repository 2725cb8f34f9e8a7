//! Shortening of a text for people.

use std::borrow::Cow;

/// Cuts a text after so many characters, and shows that it was cut.
pub fn shorten(text: &str, longest: usize) -> Cow<'_, str> {
    match text.char_indices().nth(longest) {
        Some((end, _)) => Cow::Owned(format!("{}…", text.get(..end).unwrap_or_default())),
        None => Cow::Borrowed(text),
    }
}
