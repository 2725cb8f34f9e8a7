//! The pieces of a shape, what they admit, and the patterns of paths they stand for.

use crate::path::may_name_component;

/// Pieces of a text, one after the other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shape {
    pub(super) pieces: Vec<ShapePiece>,
}

/// A piece of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ShapePiece {
    /// Exactly this.
    Text(String),
    /// One text of this kind.
    Of(TextKind),
}

/// Kinds of text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TextKind {
    /// One digit or more: a count, the number of a process.
    Digits,
    /// A number that may have a sign.
    Number,
    /// Letters, digits and marks without a slash that begin with a letter or digit: a date, a version, the name of a host.
    Word,
    /// What git calls a commit, branch or tag: it begins with a letter or digit and never climbs.
    Revision,
    /// The branch that is checked out.
    Branch,
    /// A file's name in one directory, by a shell pattern.
    Name(String),
    /// A path without `..` that begins with a name; the pattern is that of its last component.
    Inside(String),
    /// Nothing, or a slash and such a path, perhaps with another slash behind it.
    Below(String),
    /// Any text without a slash, perhaps none: what `*` stands for inside a name.
    Wild,
    /// What a wrapper puts in for what it reads or finds.
    Input,
}

/// A shape has at most so many pieces.
const MOST_PIECES: usize = 16;

/// A pattern that names everything.
pub(super) const EVERYTHING: &str = "*";

/// The longest shape, in bytes of written text.
const LONGEST: usize = 4_096;

impl Shape {
    /// Makes a shape of one piece.
    pub(crate) fn of(kind: TextKind) -> Self {
        Self { pieces: vec![ShapePiece::Of(kind)] }
    }

    /// Says whether it is a path that begins with a name, and so lies below wherever it is used.
    pub(crate) fn begins_inside(&self) -> bool {
        matches!(self.pieces.first(), Some(ShapePiece::Of(TextKind::Inside(_) | TextKind::Name(_))))
    }

    /// Says whether every text of it begins with a letter, a digit, a dot, a slash or an underscore.
    pub(crate) fn begins_plainly(&self) -> bool {
        let is_plain = |text: &str| {
            text.starts_with(|letter: char| letter.is_alphanumeric() || matches!(letter, '.' | '/' | '_'))
        };
        match self.pieces.first() {
            Some(ShapePiece::Text(text)) => is_plain(text),
            Some(ShapePiece::Of(TextKind::Name(pattern) | TextKind::Inside(pattern))) => is_plain(pattern),
            _ => false,
        }
    }

    /// Says whether every text of it ends so.
    pub(crate) fn ends_with(&self, ending: &str) -> bool {
        match self.pieces.last() {
            Some(ShapePiece::Text(text)) => text.ends_with(ending),
            Some(ShapePiece::Of(
                TextKind::Name(pattern) | TextKind::Inside(pattern) | TextKind::Below(pattern),
            )) => pattern.ends_with(ending),
            _ => false,
        }
    }

    /// Makes the shape of one text.
    pub(crate) fn text(text: &str) -> Self {
        let mut shape = Self { pieces: Vec::new() };
        shape.push_text(text);
        shape
    }

    /// Makes the shape of the names that a shell pattern stands for; `None` if it may climb or is too odd.
    pub(crate) fn of_pattern(pattern: &str) -> Option<Self> {
        let is_wild = |component: &str| component.contains(['*', '?', '[']);
        // What climbs before the first wildcard is a directory like any other.
        let wild = pattern.get(pattern.find(['*', '?', '[']).unwrap_or(pattern.len())..).unwrap_or_default();
        if pattern.contains(['\\', '(', '{', '~']) || wild.split('/').any(|part| part == "..") {
            return None;
        }
        let mut shape = Self { pieces: Vec::new() };
        let mut components = pattern.split('/').peekable();
        let mut is_first = true;
        while let Some(component) = components.next() {
            if component == "**" {
                let last = components.next().unwrap_or("*");
                if components.peek().is_some() {
                    return None;
                }
                shape.pieces.push(ShapePiece::Of(if is_first {
                    TextKind::Inside(last.to_owned())
                } else {
                    TextKind::Below(last.to_owned())
                }));
                return Some(shape);
            }
            if !is_first {
                shape.push_text("/");
            }
            is_first = false;
            if is_wild(component) {
                // A pattern of dots may name the directory above.
                if component.starts_with('.') && component.chars().all(|letter| ".*?".contains(letter)) {
                    return None;
                }
                shape.pieces.push(ShapePiece::Of(TextKind::Name(component.to_owned())));
            } else {
                shape.push_text(component);
            }
        }
        Some(shape).filter(Self::is_bounded)
    }

    fn is_bounded(&self) -> bool {
        let length: usize = self.pieces.iter().map(ShapePiece::len).sum();
        self.pieces.len() <= MOST_PIECES && length <= LONGEST
    }

    /// Returns the pieces.
    pub(crate) fn pieces(&self) -> &[ShapePiece] {
        &self.pieces
    }

    /// Returns the whole text if nothing else is admitted.
    pub(crate) fn as_text(&self) -> Option<&str> {
        match self.pieces.as_slice() {
            [] => Some(""),
            [ShapePiece::Text(text)] => Some(text),
            _ => None,
        }
    }

    pub(crate) fn push_text(&mut self, text: &str) {
        match self.pieces.last_mut() {
            _ if text.is_empty() => {}
            Some(ShapePiece::Text(last)) => last.push_str(text),
            _ => self.pieces.push(ShapePiece::Text(text.to_owned())),
        }
    }

    /// Returns the shape with another text where its first one stands.
    pub(crate) fn with_first(&self, text: &str) -> Option<Self> {
        let first = Self::text(text);
        first.join(&Self { pieces: self.pieces.get(1..)?.to_vec() })
    }

    /// Returns the shape with other pieces where its last one stands.
    pub(crate) fn with_last(&self, last: &[ShapePiece]) -> Option<Self> {
        let (_, before) = self.pieces.split_last()?;
        Self { pieces: before.to_vec() }.join(&Self { pieces: last.to_vec() })
    }

    /// Splits the shape of `name=value`.
    pub(crate) fn split_assignment(&self) -> Option<(String, Self)> {
        let ShapePiece::Text(first) = self.pieces.first()? else { return None };
        let (name, rest) = first.split_once('=')?;
        Some((name.to_owned(), self.with_first(rest)?))
    }

    /// Adds what one wildcard of the shell stands for.
    pub(crate) fn push_wild(&mut self) {
        self.pieces.push(ShapePiece::Of(TextKind::Wild));
    }

    /// Adds another shape behind this one; `None` if that grows too long.
    pub(crate) fn join(mut self, other: &Self) -> Option<Self> {
        for piece in &other.pieces {
            match piece {
                ShapePiece::Text(text) => self.push_text(text),
                ShapePiece::Of(kind) => self.pieces.push(ShapePiece::Of(kind.clone())),
            }
        }
        Some(self).filter(Self::is_bounded)
    }

    /// Returns the shape of a file in a directory of this shape.
    pub(crate) fn in_directory(&self, file: &Self) -> Option<Self> {
        let mut path = self.clone();
        path.push_text("/");
        path.join(file)
    }

    /// Says whether it may begin with the sign of a number.
    pub(crate) fn may_be_negative(&self) -> bool {
        match self.pieces.first() {
            Some(ShapePiece::Text(text)) => text.starts_with('-'),
            first => first == Some(&ShapePiece::Of(TextKind::Number)),
        }
    }

    /// Says whether it may be the very pattern, which stays as it is where no file has such a name.
    pub(crate) fn may_be_pattern(&self) -> bool {
        let is_pattern =
            |piece: &ShapePiece| matches!(piece, ShapePiece::Of(TextKind::Name(_) | TextKind::Wild));
        self.pieces.iter().any(is_pattern)
    }

    /// Says whether a wrapper puts something in.
    pub(crate) fn has_input(&self) -> bool {
        self.pieces.contains(&ShapePiece::Of(TextKind::Input))
    }

    /// Makes the shape of a text with marks in it that a wrapper fills in; `None` if there is none.
    pub(crate) fn with_marks(text: &str, mark: &str) -> Option<Self> {
        if mark.is_empty() || !text.contains(mark) {
            return None;
        }
        let mut shape = Self { pieces: Vec::new() };
        for (place, piece) in text.split(mark).enumerate() {
            if place > 0 {
                shape.pieces.push(ShapePiece::Of(TextKind::Input));
            }
            shape.push_text(piece);
        }
        Some(shape).filter(Self::is_bounded)
    }

    /// Puts a shape in for what a wrapper fills in; `None` if nobody knows what that is.
    pub(crate) fn fill(&self, input: Option<&Self>) -> Option<Self> {
        let mut filled = Self { pieces: Vec::new() };
        for piece in &self.pieces {
            match piece {
                ShapePiece::Of(TextKind::Input) => filled = filled.join(input?)?,
                ShapePiece::Text(text) => filled.push_text(text),
                ShapePiece::Of(kind) => filled.pieces.push(ShapePiece::Of(kind.clone())),
            }
        }
        Some(filled)
    }

    /// Says whether a text of this shape may begin with a dash, so that a program may take it for an option.
    pub(crate) fn may_be_option(&self) -> bool {
        match self.pieces.first() {
            None => false,
            Some(ShapePiece::Text(text)) => text.starts_with('-'),
            Some(ShapePiece::Of(kind)) => match kind {
                TextKind::Digits | TextKind::Word | TextKind::Revision | TextKind::Branch => false,
                TextKind::Name(pattern) => pattern.starts_with(['*', '?', '[', '-']),
                TextKind::Number
                | TextKind::Wild
                | TextKind::Inside(_)
                | TextKind::Below(_)
                | TextKind::Input => true,
            },
        }
    }

    /// Says whether it is the branch that is checked out.
    pub(crate) fn is_branch(&self) -> bool {
        matches!(self.pieces.as_slice(), [ShapePiece::Of(TextKind::Branch)])
    }

    /// Says whether it is one text that nobody else chooses: no name of a file that may or may not be there.
    pub(crate) fn is_single(&self) -> bool {
        self.pieces.iter().all(|piece| match piece {
            ShapePiece::Text(_) => true,
            ShapePiece::Of(kind) => matches!(kind, TextKind::Digits | TextKind::Number | TextKind::Word),
        })
    }

    /// Returns a text that stands for all, if they differ in numbers alone.
    pub(crate) fn with_any_number(&self) -> Option<String> {
        let piece = |piece: &ShapePiece| match piece {
            ShapePiece::Text(text) => Some(text.clone()),
            ShapePiece::Of(TextKind::Digits | TextKind::Number) => Some("1".to_owned()),
            ShapePiece::Of(_) => None,
        };
        self.pieces.iter().map(piece).collect()
    }

    /// Says whether it is only digits, letters and the like, which no program takes for anything but data.
    pub(crate) fn is_plain(&self) -> bool {
        self.pieces.iter().all(|piece| match piece {
            ShapePiece::Text(text) => !text.starts_with('-'),
            ShapePiece::Of(kind) => {
                matches!(
                    kind,
                    TextKind::Digits
                        | TextKind::Number
                        | TextKind::Word
                        | TextKind::Revision
                        | TextKind::Branch
                )
            }
        })
    }

    /// Returns the shell patterns of the paths it stands for; `**` is any number of directories. `None` if a path may lead
    /// anywhere.
    pub(crate) fn path_patterns(&self) -> Option<Vec<String>> {
        let mut all = vec![String::new()];
        if self.has_loose_component() {
            return None;
        }
        for piece in &self.pieces {
            let choices: Vec<String> = match piece {
                ShapePiece::Text(text) if text.contains(['*', '?', '[', '{', '$', '`', '\\']) => return None,
                ShapePiece::Text(text) => vec![text.clone()],
                ShapePiece::Of(kind) => match kind {
                    TextKind::Digits => vec!["[0-9]*".to_owned()],
                    TextKind::Number => vec!["[-0-9]*".to_owned()],
                    TextKind::Word => vec!["[0-9A-Za-z]*".to_owned()],
                    TextKind::Revision | TextKind::Branch => {
                        vec!["[0-9A-Za-z]*".to_owned(), "[0-9A-Za-z]*/**".to_owned()]
                    }
                    TextKind::Name(pattern) => vec![pattern.clone()],
                    TextKind::Wild => vec!["*".to_owned()],
                    TextKind::Inside(last) => vec![last.clone(), format!("**/{last}")],
                    TextKind::Below(last) => {
                        let below = format!("/**/{last}");
                        let is_start =
                            all.iter().any(|before| may_name_component(last, last_component(before)));
                        if is_start { vec![String::new(), below] } else { vec![below] }
                    }
                    TextKind::Input => return None,
                },
            };
            // Only the root is written with nothing before the slash.
            let join = |before: &String, next: &String| {
                if before.is_empty() && next.is_empty() { "/".to_owned() } else { format!("{before}{next}") }
            };
            all = all.iter().flat_map(|before| choices.iter().map(move |next| join(before, next))).collect();
            if all.len() > MOST_PIECES {
                return None;
            }
        }
        let climbs = |path: &String| path.split('/').any(|part| part == "..");
        // A wildcard before `..` makes it lead anywhere.
        let is_lost = |path: &String| {
            climbs(path)
                && path
                    .find(['*', '['])
                    .is_some_and(|at| path.get(at..).is_some_and(|rest| rest.contains("/..")))
        };
        (!all.iter().any(is_lost)).then_some(all)
    }

    /// Says whether a whole component may be any text, the directory above among them.
    fn has_loose_component(&self) -> bool {
        let ends = |piece: Option<&ShapePiece>, is_edge: fn(&str) -> bool| match piece {
            None => true,
            Some(ShapePiece::Text(text)) => is_edge(text),
            Some(ShapePiece::Of(kind)) => matches!(kind, TextKind::Wild | TextKind::Below(_)),
        };
        self.pieces.iter().enumerate().any(|(at, piece)| {
            let before = at.checked_sub(1).and_then(|before| self.pieces.get(before));
            *piece == ShapePiece::Of(TextKind::Wild)
                && ends(before, |text| text.ends_with(['/', '.']))
                && ends(self.pieces.get(at + 1), |text| text.starts_with('/'))
        })
    }

    /// Says whether a text is of this shape.
    pub fn admits(&self, text: &str) -> bool {
        admits(&self.pieces, text)
    }
}

pub(super) fn last_component(path: &str) -> &str {
    path.trim_end_matches('/').rsplit('/').next().unwrap_or(path)
}

impl ShapePiece {
    fn len(&self) -> usize {
        match self {
            Self::Text(text)
            | Self::Of(TextKind::Name(text) | TextKind::Inside(text) | TextKind::Below(text)) => text.len(),
            Self::Of(_) => 1,
        }
    }
}

fn admits(pieces: &[ShapePiece], text: &str) -> bool {
    let Some((piece, rest)) = pieces.split_first() else {
        return text.is_empty();
    };
    match piece {
        ShapePiece::Text(wanted) => text.strip_prefix(wanted.as_str()).is_some_and(|text| admits(rest, text)),
        ShapePiece::Of(kind) => (0..=text.len()).any(|end| {
            let (Some(taken), Some(after)) = (text.get(..end), text.get(end..)) else { return false };
            kind.admits(taken) && admits(rest, after)
        }),
    }
}

impl TextKind {
    fn admits(&self, text: &str) -> bool {
        let is_digits = |text: &str| !text.is_empty() && text.chars().all(|letter| letter.is_ascii_digit());
        let is_path = |path: &str, last: &str| {
            let is_name = |part: &str| !matches!(part, "" | "..");
            path.split('/').all(is_name) && may_name_component(last, last_component(path))
        };
        match self {
            Self::Digits => is_digits(text),
            Self::Number => is_digits(text.strip_prefix('-').unwrap_or(text)),
            Self::Word => {
                text.starts_with(|letter: char| letter.is_ascii_alphanumeric()) && !text.contains('/')
            }
            Self::Revision | Self::Branch => {
                text.starts_with(|letter: char| letter.is_ascii_alphanumeric()) && !text.contains("..")
            }
            Self::Name(pattern) => {
                !matches!(text, "" | "." | "..") && !text.contains('/') && may_name_component(pattern, text)
            }
            Self::Inside(last) => is_path(text, last),
            Self::Below(last) => {
                let path = text.strip_prefix('/').map(|path| path.strip_suffix('/').unwrap_or(path));
                matches!(text, "" | "/") || path.is_some_and(|path| is_path(path, last))
            }
            Self::Wild => !text.contains('/'),
            Self::Input => false,
        }
    }
}
