//! Text with `*` for any text, matched in linear time (spec C2).

/// The most known bytes of a partly unknown text that are looked at; what follows counts as unknown.
const KNOWN_LIMIT: usize = 1_024;

/// A pattern: `*` is any text, newlines included; `\*` is a star and `\\` a backslash.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Wildcard {
    source: String,
    // INVARIANT: never empty; a star stands between each two neighbours.
    literals: Vec<String>,
}

/// A piece of a text that is only partly known before it runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PatternPiece<'a> {
    /// This very text.
    Known(&'a str),
    /// Any text, also none.
    Unknown,
}

impl Wildcard {
    /// Reads a pattern; every text is one.
    pub fn new(source: &str) -> Self {
        let mut literals = Vec::new();
        let mut literal = String::new();
        let mut rest = source;
        // Stars and backslashes are single bytes, and no byte of another character is one.
        while let Some(place) = rest.bytes().position(|byte| matches!(byte, b'*' | b'\\')) {
            literal.push_str(rest.get(..place).unwrap_or_default());
            let (character, length) = match rest.as_bytes().get(place..) {
                Some([b'\\', b'*', ..]) => (Some('*'), 2),
                Some([b'\\', b'\\', ..]) => (Some('\\'), 2),
                Some([b'\\', ..]) => (Some('\\'), 1),
                _ => (None, 1),
            };
            match character {
                Some(character) => literal.push(character),
                None if literal.is_empty() && !literals.is_empty() => {}
                None => literals.push(std::mem::take(&mut literal)),
            }
            rest = rest.get(place + length..).unwrap_or_default();
        }
        literal.push_str(rest);
        literals.push(literal);
        Self { source: source.to_owned(), literals }
    }

    /// Returns the pattern as it was written.
    pub fn as_str(&self) -> &str {
        &self.source
    }

    /// Says whether the pattern matches the whole text.
    pub fn matches(&self, text: &str) -> bool {
        let Some((first, others)) = self.literals.split_first() else { return false };
        let Some((last, middle)) = others.split_last() else { return text == first };
        let inner = text.strip_prefix(first.as_str()).and_then(|rest| rest.strip_suffix(last.as_str()));
        let Some(mut rest) = inner else { return false };
        for literal in middle {
            // The leftmost place is always as good as any later one, so nothing is ever tried twice.
            let Some((_, after)) = rest.split_once(literal.as_str()) else { return false };
            rest = after;
        }
        true
    }

    /// Says whether the pattern matches, where a trailing ` *` that is the only wildcard may also be left out.
    pub fn matches_with_optional_tail(&self, text: &str) -> bool {
        self.matches(text) || self.optional_tail() == Some(text)
    }

    /// Returns what stands before a trailing ` *` that is the only wildcard.
    pub fn optional_tail(&self) -> Option<&str> {
        match self.literals.as_slice() {
            [before, after] if after.is_empty() => before.strip_suffix(' ').filter(|bare| !bare.is_empty()),
            _ => None,
        }
    }

    /// Says whether some text in place of the unknown pieces makes the pattern match.
    pub fn may_match(&self, pieces: &[PatternPiece<'_>]) -> bool {
        let literals: Vec<&str> = self.literals.iter().map(String::as_str).collect();
        may_match_literals(&literals, pieces)
    }

    /// Says whether there is no wildcard in the pattern.
    pub fn is_literal(&self) -> bool {
        self.literals.len() == 1
    }

    /// Says whether the pattern matches every text.
    pub fn is_everything(&self) -> bool {
        self.literals.len() > 1 && self.literals.iter().all(String::is_empty)
    }

    /// Returns the text every match begins with, up to the first wildcard.
    pub fn literal_prefix(&self) -> &str {
        self.literals.first().map_or("", String::as_str)
    }

    /// Returns the literal texts between the wildcards, in order; the first and the last may be empty.
    pub fn literals(&self) -> &[String] {
        &self.literals
    }

    /// Says whether every text the other pattern matches is matched by this one too. May miss some pairs.
    pub fn covers(&self, other: &Self) -> bool {
        // A star of the other pattern, taken as an ordinary character, can only fall under a star of this one.
        let has_literal_star = self.literals.iter().any(|literal| literal.contains('*'));
        !has_literal_star && self.matches(&other.literals.join("*"))
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum WildcardToken {
    Byte(u8),
    Any,
    End,
}

/// Says whether the literals with a star between each two neighbours can match some completion of the pieces.
pub(super) fn may_match_literals(literals: &[&str], pieces: &[PatternPiece<'_>]) -> bool {
    if begin_differently(literals, pieces) {
        return false;
    }
    let text = text_tokens(pieces);
    // `row` says which places of the text can be reached with the pattern read so far.
    let mut row = vec![false; text.len()];
    if let Some(start) = row.first_mut() {
        *start = true;
    }
    for (index, literal) in literals.iter().enumerate() {
        if index > 0 {
            spread(&mut row, &text, |_| true);
        }
        for byte in literal.bytes() {
            spread(&mut row, &text, |token| token == WildcardToken::Any);
            row = advance(&row, &text, byte);
            if !row.contains(&true) {
                return false;
            }
        }
    }
    spread(&mut row, &text, |token| token == WildcardToken::Any);
    row.last() == Some(&true)
}

fn begin_differently(literals: &[&str], pieces: &[PatternPiece<'_>]) -> bool {
    match (literals.first(), pieces.first()) {
        (Some(literal), Some(PatternPiece::Known(known))) => {
            literal.bytes().zip(known.bytes()).any(|(wanted, found)| wanted != found)
        }
        _ => false,
    }
}

fn text_tokens(pieces: &[PatternPiece<'_>]) -> Vec<WildcardToken> {
    let mut tokens = Vec::new();
    let mut budget = KNOWN_LIMIT;
    for piece in pieces {
        match piece {
            PatternPiece::Known(known) => {
                tokens.extend(known.bytes().take(budget).map(WildcardToken::Byte));
                if known.len() > budget {
                    tokens.push(WildcardToken::Any);
                    break;
                }
                budget -= known.len();
            }
            PatternPiece::Unknown if tokens.last() == Some(&WildcardToken::Any) => {}
            PatternPiece::Unknown => tokens.push(WildcardToken::Any),
        }
    }
    tokens.push(WildcardToken::End);
    tokens
}

/// Moves every reached place over the tokens that may be skipped there.
fn spread(row: &mut [bool], text: &[WildcardToken], may_skip: impl Fn(WildcardToken) -> bool) {
    let mut carried = false;
    for (reached, token) in row.iter_mut().zip(text) {
        *reached |= carried;
        carried = *reached && may_skip(*token);
    }
}

/// Reads one byte of the pattern at every reached place.
fn advance(row: &[bool], text: &[WildcardToken], byte: u8) -> Vec<bool> {
    let mut carried = false;
    let step = |(reached, token): (&bool, &WildcardToken)| {
        let stays = *reached && *token == WildcardToken::Any;
        let arrives = carried;
        carried = *reached && *token == WildcardToken::Byte(byte);
        stays || arrives
    };
    row.iter().zip(text).map(step).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::PatternPiece::{Known, Unknown};
    use super::*;

    #[test]
    fn stars_stand_for_any_text() {
        for (pattern, text, expected) in [
            ("*", "", true),
            ("*", "a\nb", true),
            ("**", "x", true),
            ("", "", true),
            ("", "a", false),
            ("a", "a", true),
            ("a", "ab", false),
            ("a*", "a", true),
            ("a*", "a\n\nb", true),
            ("*b", "ab", true),
            ("*b", "ba", false),
            ("a*b", "ab", true),
            ("a*a", "a", false),
            ("a*b*c", "a-b-b-c", true),
            ("a*b*c", "a-c-b", false),
            ("a**c", "abc", true),
            ("*a*", "bab", true),
            ("*ab*b", "ab", false),
            ("é*", "élan", true),
            (r"git ad\* file", "git ad* file", true),
            (r"git ad\* file", "git add file", false),
            (r"a\\*", r"a\b", true),
            (r"a\\*", "a*", false),
            (r"a\b", r"a\b", true),
            (r"\\\*", r"\*", true),
            (r"a\", r"a\", true),
        ] {
            assert_eq!(Wildcard::new(pattern).matches(text), expected, "{pattern} on {text:?}");
        }
    }

    #[test]
    fn a_trailing_star_after_a_blank_may_be_left_out_if_it_is_the_only_one() {
        for (pattern, text, expected) in [
            ("ls *", "ls", true),
            ("ls *", "ls -la", true),
            ("ls *", "lsof", false),
            ("ls*", "lsof", true),
            ("* run *", "npm run", false),
            ("* run *", "npm run x", true),
            (r"ls \*", "ls", false),
            (" *", "", false),
        ] {
            assert_eq!(
                Wildcard::new(pattern).matches_with_optional_tail(text),
                expected,
                "{pattern} on {text}"
            );
        }
    }

    #[test]
    fn many_stars_on_a_long_text_stay_cheap() {
        let text = "a".repeat(100_000);
        let hard = format!("{}b", "a*".repeat(200));
        assert!(!Wildcard::new(&hard).matches(&text));
        assert!(!Wildcard::new(&format!("{hard}*a")).matches(&text));
        assert!(Wildcard::new(&"a*".repeat(200)).matches(&text));
        assert!(Wildcard::new(&hard).may_match(&[Known(&text), Unknown]));
        assert!(!Wildcard::new(&hard).may_match(&[Known(text.get(..1_000).unwrap())]));
    }

    #[test]
    fn an_unknown_piece_may_be_any_text() {
        let table: &[(&str, &[PatternPiece<'_>], bool)] = &[
            ("rm *", &[Known("rm "), Unknown], true),
            ("rm *", &[Unknown], true),
            ("rm *", &[Known("ls "), Unknown], false),
            ("rm -rf", &[Known("rm"), Unknown, Known("f")], true),
            ("rm -rf", &[Known("rm"), Unknown, Known("i")], false),
            ("a*b", &[Known("a"), Unknown, Known("c")], false),
            ("a*b", &[Known("a"), Unknown, Unknown], true),
            ("a*b*", &[Known("ac"), Unknown, Known("c")], true),
            ("a", &[Known("a"), Unknown, Known("a")], false),
            ("aa", &[Known("a"), Unknown, Known("a")], true),
            ("", &[Unknown], true),
            ("", &[], true),
            ("a", &[], false),
            ("*", &[], true),
            (r"\*x", &[Unknown, Known("x")], true),
            (r"\*x", &[Known("yx")], false),
        ];
        for (pattern, pieces, expected) in table {
            assert_eq!(Wildcard::new(pattern).may_match(pieces), *expected, "{pattern} on {pieces:?}");
        }
    }

    #[test]
    fn past_the_limit_the_rest_counts_as_unknown() {
        let long = "x".repeat(KNOWN_LIMIT + 1);
        assert!(Wildcard::new("*y").may_match(&[Known(&long), Unknown]));
        assert!(!Wildcard::new("y*").may_match(&[Known(&long), Unknown]));
    }

    #[test]
    fn a_pattern_covers_the_narrower_ones() {
        for (wide, narrow, expected) in [
            ("mcp__*", "mcp__a__*", true),
            ("*", "anything", true),
            ("a*", "ab*c", true),
            ("ab*", "a*", false),
            ("a*c", "a*b", false),
            (r"\*", "*", false),
            ("a", "a", true),
        ] {
            assert_eq!(Wildcard::new(wide).covers(&Wildcard::new(narrow)), expected, "{wide} over {narrow}");
        }
    }

    /// The textbook definition, exponential and obviously right.
    fn matches_slowly(pattern: &[char], text: &[char]) -> bool {
        match pattern.split_first() {
            None => text.is_empty(),
            Some(('*', rest)) => (0..=text.len()).any(|taken| matches_slowly(rest, &text[taken..])),
            Some((first, rest)) => text.first() == Some(first) && matches_slowly(rest, &text[1..]),
        }
    }

    proptest! {
        #[test]
        fn the_fast_road_agrees_with_the_definition(pattern in "[ab*]{0,8}", text in "[ab]{0,10}") {
            let slow = matches_slowly(&pattern.chars().collect::<Vec<_>>(), &text.chars().collect::<Vec<_>>());
            let wildcard = Wildcard::new(&pattern);
            prop_assert_eq!(wildcard.matches(&text), slow);
            prop_assert_eq!(wildcard.may_match(&[Known(&text)]), slow);
        }

        #[test]
        fn a_match_is_always_a_possible_match(pattern in "[ab*]{0,8}", left in "[ab]{0,4}", hidden in "[ab]{0,4}", right in "[ab]{0,4}") {
            let wildcard = Wildcard::new(&pattern);
            if wildcard.matches(&format!("{left}{hidden}{right}")) {
                prop_assert!(wildcard.may_match(&[Known(&left), Unknown, Known(&right)]));
            }
        }

        #[test]
        fn a_covered_pattern_matches_nothing_more(wide in "[ab*]{0,6}", narrow in "[ab*]{0,6}", text in "[ab]{0,8}") {
            let (wide, narrow) = (Wildcard::new(&wide), Wildcard::new(&narrow));
            if wide.covers(&narrow) && narrow.matches(&text) {
                prop_assert!(wide.matches(&text));
            }
        }
    }
}
