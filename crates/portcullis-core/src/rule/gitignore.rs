//! One gitignore pattern, matched the way git does it: on bytes, braces literal, an unclosed class never matching.
//!
//! The pattern becomes a row of tokens that is run over the path once, keeping the set of reachable tokens: the cost
//! is the length of the pattern times the length of the path, whatever the pattern.

use std::borrow::Cow;

use super::byte_class::ByteClass;

/// A pattern as one line of a `.gitignore` file holds it, without a leading `!`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Gitignore {
    tokens: Vec<GlobToken>,
    place: MatchPlace,
    directories_only: bool,
    case: LetterCase,
}

/// Whether upper and lower case differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LetterCase {
    /// They do.
    #[default]
    Sensitive,
    /// They do not, as on most macOS and Windows disks.
    Insensitive,
}

/// What the last component of a path is taken for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EntryKind {
    File,
    Directory,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MatchPlace {
    /// No slash but a trailing one: the pattern is about a name at any depth.
    AnyDepth,
    /// The pattern is about the whole path below its anchor.
    Anchored,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum GlobToken {
    Byte(u8),
    /// `?`: one byte of a name.
    One,
    Class(ByteClass),
    /// `*`: any part of a name.
    Star,
    /// `**`: any text, slashes included.
    Path,
    /// Stands before the `**` and the slash of `**/`, which together may be nothing.
    MaySkipTwo,
}

impl GlobToken {
    /// Says whether the token takes this byte and is done.
    fn reads(&self, byte: u8) -> bool {
        match self {
            Self::Byte(wanted) => *wanted == byte,
            Self::One => byte != b'/',
            Self::Class(class) => byte != b'/' && class.contains(byte),
            Self::Star | Self::Path | Self::MaySkipTwo => false,
        }
    }
}

impl Gitignore {
    /// Reads a pattern; `None` if it is empty, a comment, or malformed, so that it could never match.
    pub(super) fn parse(pattern: &str, case: LetterCase) -> Option<Self> {
        let trimmed = trim_trailing_spaces(pattern);
        if trimmed.starts_with('#') {
            return None;
        }
        let folded = case.fold(trimmed);
        let (body, directories_only) =
            folded.strip_suffix('/').map_or((folded.as_ref(), false), |body| (body, true));
        let (place, body) = match body.strip_prefix('/') {
            Some(rest) => (MatchPlace::Anchored, rest),
            None if body.contains('/') => (MatchPlace::Anchored, body),
            None => (MatchPlace::AnyDepth, body),
        };
        if body.is_empty() {
            return None;
        }
        Some(Self { tokens: tokenize(body.as_bytes(), place, case)?, place, directories_only, case })
    }

    /// Says whether the pattern matches a path or a directory above it. The path is relative to the anchor.
    pub(super) fn matches(&self, path: &str, kind: EntryKind) -> bool {
        let path = self.case.fold(path);
        let last_is_fine = !self.directories_only || kind == EntryKind::Directory;
        match self.place {
            MatchPlace::AnyDepth => {
                let mut names = path.split('/');
                let last = names.next_back().unwrap_or_default();
                names.any(|name| self.run(name).whole) || (last_is_fine && self.run(last).whole)
            }
            MatchPlace::Anchored => {
                let run = self.run(&path);
                run.directory || (last_is_fine && run.whole)
            }
        }
    }

    /// Says whether the pattern matches this entry itself, not a directory above it.
    pub(super) fn matches_entry(&self, path: &str, kind: EntryKind) -> bool {
        let path = self.case.fold(path);
        let subject = match self.place {
            MatchPlace::AnyDepth => path.rsplit('/').next().unwrap_or_default(),
            MatchPlace::Anchored => path.as_ref(),
        };
        (!self.directories_only || kind == EntryKind::Directory) && self.run(subject).whole
    }

    fn run(&self, text: &str) -> SegmentRun {
        let mut reached = vec![false; self.tokens.len() + 1];
        if let Some(start) = reached.first_mut() {
            *start = true;
        }
        self.follow_skips(&mut reached);
        let mut next = Vec::with_capacity(reached.len());
        let mut run = SegmentRun { directory: false, whole: false };
        for byte in text.bytes() {
            run.directory |= byte == b'/' && reached.last() == Some(&true);
            self.step(&reached, byte, &mut next);
            std::mem::swap(&mut reached, &mut next);
            if !reached.contains(&true) {
                return run;
            }
        }
        run.whole = reached.last() == Some(&true);
        run
    }

    fn step(&self, reached: &[bool], byte: u8, next: &mut Vec<bool>) {
        next.clear();
        let mut arrives = false;
        for (token, is_reached) in self.tokens.iter().zip(reached) {
            let stays =
                matches!(token, GlobToken::Path) || (matches!(token, GlobToken::Star) && byte != b'/');
            next.push(arrives || (*is_reached && stays));
            arrives = *is_reached && token.reads(byte);
        }
        next.push(arrives);
        self.follow_skips(next);
    }

    /// Marks what is reached without reading a byte. All skips go forward, so one pass is enough.
    fn follow_skips(&self, reached: &mut [bool]) {
        let (mut after_one, mut after_two, mut after_three) = (false, false, false);
        for (index, is_reached) in reached.iter_mut().enumerate() {
            *is_reached |= after_one;
            (after_one, after_two, after_three) = (after_two, after_three, false);
            match self.tokens.get(index) {
                Some(GlobToken::Star | GlobToken::Path) => after_one |= *is_reached,
                Some(GlobToken::MaySkipTwo) => {
                    after_one |= *is_reached;
                    after_three |= *is_reached;
                }
                _ => {}
            }
        }
    }
}

struct SegmentRun {
    /// A directory above the path matched.
    directory: bool,
    /// The whole path matched.
    whole: bool,
}

impl LetterCase {
    fn fold(self, text: &str) -> Cow<'_, str> {
        match self {
            Self::Sensitive => Cow::Borrowed(text),
            Self::Insensitive => Cow::Owned(text.to_lowercase()),
        }
    }
}

/// Drops spaces at the end that no backslash protects.
pub(super) fn trim_trailing_spaces(pattern: &str) -> &str {
    let trimmed = pattern.trim_end_matches(' ');
    let backslashes = trimmed.len() - trimmed.trim_end_matches('\\').len();
    let keeps_one = backslashes % 2 == 1 && trimmed.len() < pattern.len();
    pattern.get(..trimmed.len() + usize::from(keeps_one)).unwrap_or(trimmed)
}

fn tokenize(mut rest: &[u8], place: MatchPlace, case: LetterCase) -> Option<Vec<GlobToken>> {
    let mut tokens = Vec::new();
    let mut before_is_border = true;
    let mut seen_special = false;
    while let Some((&byte, after)) = rest.split_first() {
        let was_special = seen_special;
        seen_special |= matches!(byte, b'*' | b'?' | b'[' | b'\\');
        rest = match byte {
            b'*' => {
                // Git compares the literal beginning apart, so the first special character counts as a beginning too.
                let at_border = place == MatchPlace::Anchored && (before_is_border || !was_special);
                push_stars(&mut tokens, after, at_border)
            }
            b'?' => {
                tokens.push(GlobToken::One);
                after
            }
            b'[' => {
                let (class, after_class) = ByteClass::parse(after, case)?;
                tokens.push(GlobToken::Class(class));
                after_class
            }
            b'\\' => {
                let (&escaped, after_escape) = after.split_first()?;
                tokens.push(GlobToken::Byte(escaped));
                after_escape
            }
            _ => {
                tokens.push(GlobToken::Byte(byte));
                after
            }
        };
        before_is_border = matches!(tokens.last(), Some(GlobToken::Byte(b'/')));
    }
    Some(tokens)
}

/// Reads a run of stars, the first of which is read already, and returns what follows.
fn push_stars<'a>(tokens: &mut Vec<GlobToken>, after: &'a [u8], at_border: bool) -> &'a [u8] {
    let count = after.iter().take_while(|byte| **byte == b'*').count();
    let rest = after.get(count..).unwrap_or_default();
    match rest {
        [b'/', below @ ..] if count > 0 && at_border => {
            tokens.extend([GlobToken::MaySkipTwo, GlobToken::Path, GlobToken::Byte(b'/')]);
            return below;
        }
        [] | [b'\\', b'/', ..] if count > 0 && at_border => tokens.push(GlobToken::Path),
        _ => tokens.push(GlobToken::Star),
    }
    rest
}
