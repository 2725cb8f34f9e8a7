//! Long texts cut to size, with a mark that says so.

/// What stands where a text was cut.
const MARK: &str = " […cut]";

/// Returns a text of at most so many characters: its beginning and a mark where it is longer.
pub(super) fn beginning(text: &str, most: usize) -> String {
    if text.chars().nth(most).is_none() {
        return text.to_owned();
    }
    let kept = most.saturating_sub(MARK.chars().count());
    text.chars().take(kept).chain(MARK.chars()).collect()
}

/// Returns the last characters of a text, at most so many, with a mark in front where it is longer.
pub(super) fn ending(text: &str, most: usize) -> String {
    if text.chars().nth(most).is_none() {
        return text.to_owned();
    }
    let mark = "[…cut] ";
    let mut kept: Vec<char> = text.chars().rev().take(most.saturating_sub(mark.chars().count())).collect();
    kept.reverse();
    mark.chars().chain(kept).collect()
}

/// Returns the beginning and the ending of a text, at most so many characters, with a mark between where it is longer.
pub(super) fn both_ends(text: &str, most: usize) -> String {
    if text.chars().nth(most).is_none() {
        return text.to_owned();
    }
    let half = most / 2;
    beginning(text, half) + &ending(text, most - half)
}

/// Returns the beginning of a text that is estimated at no more than so many tokens, and whether that is all of it.
///
/// It counts as [`crate::estimate_tokens`] does: three ASCII characters a token, or one of any other kind.
pub(super) fn within_tokens(text: &str, tokens: usize) -> (String, bool) {
    let room = tokens.saturating_mul(3);
    let mut spent: usize = 0;
    let mut kept = String::new();
    for character in text.chars() {
        spent += if character.is_ascii() { 1 } else { 3 };
        if spent > room {
            return (kept, false);
        }
        kept.push(character);
    }
    (kept, true)
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;
    use crate::estimate_tokens;

    #[test]
    fn a_short_text_is_left_alone() {
        for text in ["", "abc", "日本語日本語日本語日"] {
            assert_eq!(beginning(text, 10), text);
            assert_eq!(ending(text, 10), text);
            assert_eq!(both_ends(text, 10), text);
            assert_eq!(within_tokens(text, 10), (text.to_owned(), true));
        }
    }

    #[test]
    fn a_long_text_is_cut_and_says_so() {
        let text = "0123456789".repeat(10);
        assert_eq!(beginning(&text, 20), "0123456789012 […cut]");
        assert_eq!(ending(&text, 20), "[…cut] 7890123456789");
        assert_eq!(both_ends(&text, 40), "0123456789012 […cut][…cut] 7890123456789");
        for most in 0..30 {
            let longest = most.max(MARK.chars().count());
            assert!(beginning(&text, most).chars().count() <= longest);
            assert!(ending(&text, most).chars().count() <= longest);
        }
    }

    #[test]
    fn what_is_within_a_number_of_tokens_is_estimated_so() {
        for text in ["word ".repeat(100), "日本".repeat(100), "aé".repeat(100)] {
            let (kept, is_whole) = within_tokens(&text, 30);
            assert!(!is_whole);
            assert!(text.starts_with(&kept));
            assert!((28..=30).contains(&estimate_tokens(&kept)), "{}", estimate_tokens(&kept));
        }
    }
}
