//! The text a parser reads, and where each of its bytes stands in the original text.
//!
//! The script itself is its own origin. The inside of backquotes and the body of an unquoted here-document are read
//! from an unescaped copy: a side text made of pieces of its parent. Only ASCII bytes are ever left out of a copy, so
//! positions map between character boundaries.

use crate::span::Span;

/// A text with the way back to the original.
#[derive(Debug)]
pub(crate) struct SourceText<'t> {
    text: &'t str,
    origin: Option<SideOrigin<'t>>,
}

#[derive(Debug)]
struct SideOrigin<'t> {
    parent: &'t SourceText<'t>,
    pieces: &'t [RepeatedPiece],
    start: usize,
}

/// Says that from `at` on a side text repeats its parent from `from` on.
#[derive(Debug, Clone, Copy)]
struct RepeatedPiece {
    at: usize,
    from: usize,
}

/// An unescaped copy under construction.
#[derive(Debug)]
pub(crate) struct SideText {
    text: String,
    pieces: Vec<RepeatedPiece>,
    start: usize,
    next: usize,
}

impl SideText {
    /// Starts a copy of what stands at `start` in the parent.
    pub(crate) fn new(start: usize) -> Self {
        Self { text: String::new(), pieces: Vec::new(), start, next: usize::MAX }
    }

    /// Adds the parent's bytes `from..to`.
    pub(crate) fn push(&mut self, parent: &SourceText<'_>, from: usize, to: usize) {
        if from >= to {
            return;
        }
        if self.next != from {
            self.pieces.push(RepeatedPiece { at: self.text.len(), from });
        }
        self.text.push_str(parent.slice(from, to));
        self.next = to;
    }

    /// Forgets what was added after the first `length` bytes.
    pub(crate) fn truncate(&mut self, length: usize) {
        self.text.truncate(length);
        let kept = self.pieces.partition_point(|piece| piece.at < length);
        self.pieces.truncate(kept);
        self.next = usize::MAX;
    }

    /// Returns the text so far.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Returns the copy as a source that maps back through `parent`.
    pub(crate) fn source<'a>(&'a self, parent: &'a SourceText<'a>) -> SourceText<'a> {
        let origin = SideOrigin { parent, pieces: &self.pieces, start: self.start };
        SourceText { text: &self.text, origin: Some(origin) }
    }
}

impl<'t> SourceText<'t> {
    /// Makes the source that is the original text.
    pub(crate) fn original(text: &'t str) -> Self {
        Self { text, origin: None }
    }

    /// Returns the number of bytes.
    pub(crate) fn len(&self) -> usize {
        self.text.len()
    }

    /// Returns the byte at `index`.
    pub(crate) fn byte(&self, index: usize) -> Option<u8> {
        self.text.as_bytes().get(index).copied()
    }

    /// Returns the bytes `from..to`.
    pub(crate) fn slice(&self, from: usize, to: usize) -> &'t str {
        self.text.get(from..to).unwrap_or_default()
    }

    /// Returns the character at `index`.
    pub(crate) fn character(&self, index: usize) -> Option<char> {
        self.text.get(index..).and_then(|rest| rest.chars().next())
    }

    /// Returns where `from..to` stands in the original text.
    pub(crate) fn span(&self, from: usize, to: usize) -> Span {
        if self.origin.is_none() {
            return Span::new(from, to);
        }
        if from < to {
            return Span::new(self.original_index(from), self.original_index(to - 1) + 1);
        }
        let point = if from == 0 { self.original_index(0) } else { self.original_index(from - 1) + 1 };
        Span::new(point, point)
    }

    fn original_index(&self, index: usize) -> usize {
        let mut source = self;
        let mut index = index;
        while let Some(origin) = &source.origin {
            let after = origin.pieces.partition_point(|piece| piece.at <= index);
            let piece = after.checked_sub(1).and_then(|before| origin.pieces.get(before));
            index = piece.map_or(origin.start, |piece| piece.from + (index - piece.at));
            source = origin.parent;
        }
        index
    }
}

#[cfg(test)]
mod tests {
    use super::{SideText, SourceText};
    use crate::span::Span;

    #[test]
    fn a_side_text_maps_back_over_what_it_left_out() {
        let original = SourceText::original(r"`a \$b`");
        let mut side = SideText::new(1);
        side.push(&original, 1, 3);
        side.push(&original, 4, 6);
        let source = side.source(&original);
        assert_eq!(side.text(), "a $b");
        assert_eq!(source.span(0, 1), Span::new(1, 2));
        assert_eq!(source.span(2, 4), Span::new(4, 6));
        assert_eq!(source.span(4, 4), Span::new(6, 6));
    }

    #[test]
    fn a_side_text_of_a_side_text_maps_back_to_the_original() {
        let original = SourceText::original("0123456789");
        let mut outer = SideText::new(2);
        outer.push(&original, 2, 4);
        outer.push(&original, 6, 9);
        let middle = outer.source(&original);
        let mut inner = SideText::new(1);
        inner.push(&middle, 1, 2);
        inner.push(&middle, 3, 5);
        let source = inner.source(&middle);
        assert_eq!(inner.text(), "378");
        assert_eq!(source.span(0, 3), Span::new(3, 9));
        assert_eq!(source.span(1, 2), Span::new(7, 8));
    }

    #[test]
    fn an_empty_side_text_stands_where_it_was_made() {
        let original = SourceText::original("ab");
        let side = SideText::new(1);
        assert_eq!(side.source(&original).span(0, 0), Span::new(1, 1));
    }
}
