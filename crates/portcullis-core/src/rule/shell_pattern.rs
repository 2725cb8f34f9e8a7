//! Patterns of shell commands: exact, legacy prefix, wildcard (spec C2).

use std::borrow::Cow;

use super::wildcard::{PatternPiece, Wildcard, may_match_literals};

/// What a shell rule's content matches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ShellPattern {
    /// This command and no other.
    Exact(String),
    /// This command, alone or followed by a blank and anything: the legacy form `npm run:*`.
    Prefix(String),
    /// Text with wildcards; a trailing ` *` that is the only one also matches the bare command.
    Wildcard(Wildcard),
}

impl ShellPattern {
    /// Reads the content of a shell rule; every text is a pattern.
    pub fn parse(content: &str) -> Self {
        let content = content.trim();
        if let Some(prefix) =
            content.strip_suffix(":*").map(str::trim_end).filter(|prefix| !prefix.is_empty())
        {
            return Self::parse_prefix(prefix);
        }
        if has_wildcard(content) {
            return Self::Wildcard(Wildcard::new(&collapse_whitespace(content)));
        }
        Self::Exact(unescape_stars(content))
    }

    fn parse_prefix(prefix: &str) -> Self {
        if !has_wildcard(prefix) {
            return Self::Prefix(unescape_stars(&collapse_whitespace(prefix)));
        }
        // `git * push:*` means `git * push *`; of `*:*` nothing is left but the star.
        let wildcard = Wildcard::new(&collapse_whitespace(prefix));
        if wildcard.is_everything() {
            return Self::Wildcard(wildcard);
        }
        Self::Wildcard(Wildcard::new(&format!("{} *", wildcard.as_str())))
    }

    /// Writes a command so that [`ShellPattern::parse`] reads it as this very command.
    pub fn escape(command: &str) -> String {
        let mut escaped = String::with_capacity(command.len());
        let mut backslashes = 0_usize;
        for character in command.chars() {
            if character == '*' {
                escaped.push_str(&"\\".repeat(backslashes + 1));
            }
            backslashes = if character == '\\' { backslashes + 1 } else { 0 };
            escaped.push(character);
        }
        escaped
    }

    /// Says whether the pattern matches a command whose text is known.
    pub fn matches(&self, command: &str) -> bool {
        match self {
            Self::Exact(text) => command.trim() == text,
            Self::Prefix(prefix) => collapse_whitespace(command.trim())
                .strip_prefix(prefix.as_str())
                .is_some_and(|rest| rest.is_empty() || rest.starts_with(' ')),
            Self::Wildcard(wildcard) => {
                wildcard.matches_with_optional_tail(&collapse_whitespace(command.trim()))
            }
        }
    }

    /// Says the same without regard to case, as `PowerShell` does.
    pub fn matches_ignoring_case(&self, command: &str) -> bool {
        self.to_lowercase().matches(&command.to_lowercase())
    }

    /// Says whether the pattern matches a command that is only partly known, whatever the unknown pieces turn out to be.
    pub fn may_match(&self, pieces: &[PatternPiece<'_>]) -> bool {
        if !pieces.contains(&PatternPiece::Unknown) {
            let known: String = pieces
                .iter()
                .map(|piece| if let PatternPiece::Known(text) = piece { text } else { "" })
                .collect();
            return self.matches(&known);
        }
        let collapsed = collapse_pieces(pieces);
        let with_all: Vec<PatternPiece<'_>> = collapsed
            .iter()
            .map(|piece| piece.as_deref().map_or(PatternPiece::Unknown, PatternPiece::Known))
            .collect();
        if self.may_match_collapsed(&with_all) {
            return true;
        }
        // A blank last piece leaves the command to end where the known text before it ends.
        match with_all.as_slice() {
            [before @ .., PatternPiece::Known(text), PatternPiece::Unknown] if text.ends_with(' ') => {
                let mut shorter = before.to_vec();
                shorter.push(PatternPiece::Known(text.trim_end()));
                self.may_match_collapsed(&shorter)
            }
            _ => false,
        }
    }

    fn may_match_collapsed(&self, pieces: &[PatternPiece<'_>]) -> bool {
        match self {
            Self::Exact(text) => {
                may_match_literals(&[text], pieces)
                    || may_match_literals(&[&collapse_whitespace(text)], pieces)
            }
            Self::Prefix(prefix) => {
                may_match_literals(&[prefix], pieces)
                    || may_match_literals(&[&format!("{prefix} "), ""], pieces)
            }
            Self::Wildcard(wildcard) => {
                wildcard.may_match(pieces)
                    || wildcard.optional_tail().is_some_and(|bare| may_match_literals(&[bare], pieces))
            }
        }
    }

    /// Returns the program if the pattern leaves no doubt about it: its first word, plain and without wildcard.
    pub fn program(&self) -> Option<&str> {
        let (literal, is_whole) = match self {
            Self::Exact(text) | Self::Prefix(text) => (text.as_str(), true),
            Self::Wildcard(wildcard) => (wildcard.literal_prefix(), false),
        };
        let word = match literal.bytes().position(is_blank_byte) {
            Some(end) => literal.get(..end).unwrap_or_default(),
            None if is_whole => literal,
            None => return None,
        };
        let is_plain = |character: char| {
            character.is_alphanumeric()
                || matches!(character, '_' | '-' | '.' | '/' | '+' | '@' | '%' | ',' | ':')
        };
        (!word.is_empty() && word.chars().all(is_plain)).then_some(word)
    }

    /// Returns the words before the end of an exact pattern, or before the one trailing wildcard.
    ///
    /// `None` where wildcards stand elsewhere, where the last word is left open (`ls*`), and where the text holds quotes
    /// or operators, so that blanks do not part it into words.
    pub fn literal_words(&self) -> Option<Vec<&str>> {
        let text = match self {
            Self::Exact(text) | Self::Prefix(text) => text,
            Self::Wildcard(wildcard) => wildcard.optional_tail()?,
        };
        let needs_shell = |character: char| "'\"\\`$|&;<>(){}#".contains(character);
        (!text.contains(needs_shell)).then(|| text.split_whitespace().collect())
    }

    /// Says whether a matching command may go on after what the pattern spells out.
    pub fn is_open_ended(&self) -> bool {
        match self {
            Self::Exact(_) => false,
            Self::Prefix(_) => true,
            Self::Wildcard(wildcard) => wildcard.literals().last().is_some_and(String::is_empty),
        }
    }

    /// Says whether the pattern matches every command.
    pub fn is_everything(&self) -> bool {
        matches!(self, Self::Wildcard(wildcard) if wildcard.is_everything())
    }

    /// Says whether every command the other pattern matches is matched by this one too. May miss some pairs.
    pub fn covers(&self, other: &Self) -> bool {
        match (self.as_wildcard(), other) {
            (None, Self::Exact(_)) => self == other,
            (None, _) => false,
            (Some(_), Self::Exact(command)) => self.matches(command),
            (Some(wide), _) => other.as_wildcard().is_some_and(|narrow| {
                let bare_is_covered = narrow.optional_tail().is_none_or(|bare| self.matches(bare));
                bare_is_covered && wide.covers(&narrow)
            }),
        }
    }

    /// Returns the wildcard form of a prefix or wildcard pattern; `None` for an exact one.
    pub fn as_wildcard(&self) -> Option<Cow<'_, Wildcard>> {
        match self {
            Self::Exact(_) => None,
            Self::Prefix(prefix) => {
                Some(Cow::Owned(Wildcard::new(&format!("{} *", escape_wildcard(prefix)))))
            }
            Self::Wildcard(wildcard) => Some(Cow::Borrowed(wildcard)),
        }
    }

    /// Returns the text every match begins with.
    pub fn literal_text(&self) -> &str {
        match self {
            Self::Exact(text) | Self::Prefix(text) => text,
            Self::Wildcard(wildcard) => wildcard.literal_prefix(),
        }
    }

    fn to_lowercase(&self) -> Self {
        match self {
            Self::Exact(text) => Self::Exact(text.to_lowercase()),
            Self::Prefix(text) => Self::Prefix(text.to_lowercase()),
            Self::Wildcard(wildcard) => Self::Wildcard(Wildcard::new(&wildcard.as_str().to_lowercase())),
        }
    }
}

const fn is_blank(character: char) -> bool {
    character.is_ascii_whitespace()
}

/// Blanks are single bytes, and no byte of another character is one.
const fn is_blank_byte(byte: u8) -> bool {
    byte.is_ascii_whitespace()
}

/// Makes one blank of every run of blanks.
fn collapse_whitespace(text: &str) -> Cow<'_, str> {
    let mut was_blank = false;
    let is_collapsed = text.bytes().all(|byte| {
        let is_fine = !is_blank_byte(byte) || (byte == b' ' && !was_blank);
        was_blank = is_blank_byte(byte);
        is_fine
    });
    if is_collapsed {
        return Cow::Borrowed(text);
    }
    let mut collapsed = String::with_capacity(text.len());
    for character in text.chars() {
        if !is_blank(character) {
            collapsed.push(character);
        } else if !collapsed.ends_with(' ') {
            collapsed.push(' ');
        }
    }
    Cow::Owned(collapsed)
}

/// Collapses blanks over the borders of pieces; `None` is an unknown piece.
///
/// A blank after an unknown piece is left out where that piece, being blank itself, could swallow it.
fn collapse_pieces(pieces: &[PatternPiece<'_>]) -> Vec<Option<String>> {
    let mut collapsed: Vec<Option<String>> = Vec::new();
    let mut ends_blank = true;
    for piece in pieces {
        let PatternPiece::Known(text) = piece else {
            if collapsed.last() != Some(&None) {
                collapsed.push(None);
            }
            continue;
        };
        let mut known = if matches!(collapsed.last(), Some(Some(_))) {
            collapsed.pop().flatten().unwrap_or_default()
        } else {
            String::new()
        };
        for character in text.chars() {
            if !is_blank(character) {
                known.push(character);
            } else if !ends_blank {
                known.push(' ');
            }
            ends_blank = is_blank(character);
        }
        if !known.is_empty() {
            collapsed.push(Some(known));
        }
    }
    if let Some(Some(last)) = collapsed.last_mut() {
        last.truncate(last.trim_end().len());
    }
    collapsed
}

/// Says whether a star stands there that no backslash takes the meaning from.
fn has_wildcard(content: &str) -> bool {
    let mut escaped = false;
    content.bytes().any(|byte| {
        let plain = !escaped;
        escaped = plain && byte == b'\\';
        plain && byte == b'*'
    })
}

/// Takes the escapes from stars in a text without wildcards; other backslashes belong to the shell.
fn unescape_stars(content: &str) -> String {
    if !content.contains('\\') {
        return content.to_owned();
    }
    let mut plain = String::with_capacity(content.len());
    for character in content.chars() {
        if character == '*' {
            let backslashes = plain.len() - plain.trim_end_matches('\\').len();
            plain.truncate(plain.len() - backslashes.div_ceil(2));
        }
        plain.push(character);
    }
    plain
}

fn escape_wildcard(literal: &str) -> String {
    literal.replace('\\', "\\\\").replace('*', "\\*")
}

#[cfg(test)]
#[path = "shell_pattern_tests.rs"]
mod tests;
