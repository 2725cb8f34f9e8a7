//! Paths cut at their last slash: the name of a file, the directory it is in.

use super::pieces::{EVERYTHING, Shape, ShapePiece, TextKind, last_component};
use crate::path::may_name_component;

/// What stands before the last slash of a text.
enum BeforeSlash {
    /// There is no slash.
    NoSlash,
    /// This.
    Cut(Shape),
}

impl Shape {
    /// Returns the shape of the last component; `None` if that may be anything.
    pub(crate) fn file_name(&self) -> Option<Self> {
        let mut name: Vec<ShapePiece> = Vec::new();
        for piece in self.pieces.iter().rev() {
            match piece {
                ShapePiece::Text(text) => {
                    let text = if name.is_empty() { text.trim_end_matches('/') } else { text };
                    if let Some((_, last)) = text.rsplit_once('/') {
                        name.push(ShapePiece::Text(last.to_owned()));
                        break;
                    }
                    name.push(ShapePiece::Text(text.to_owned()));
                }
                ShapePiece::Of(TextKind::Inside(last)) => {
                    name.push(ShapePiece::Of(TextKind::Name(last.clone())));
                    break;
                }
                // The directory itself may be what was found.
                ShapePiece::Of(TextKind::Below(last)) if name.is_empty() && !is_wide(last) => {
                    name.push(ShapePiece::Of(TextKind::Name(last.clone())));
                    break;
                }
                ShapePiece::Of(
                    TextKind::Below(_) | TextKind::Input | TextKind::Revision | TextKind::Branch,
                ) => return None,
                ShapePiece::Of(kind) => name.push(ShapePiece::Of(kind.clone())),
            }
        }
        let mut shape = Self { pieces: Vec::new() };
        for piece in name.into_iter().rev() {
            match piece {
                ShapePiece::Text(text) => shape.push_text(&text),
                piece @ ShapePiece::Of(_) => shape.pieces.push(piece),
            }
        }
        let is_name = !matches!(shape.as_text(), Some("" | "." | ".."));
        is_name.then_some(shape)
    }

    /// Returns the shape of what `${x##*/}` leaves: the last component, and nothing of a path with a slash at its end;
    /// `None` if that may be anything.
    pub(crate) fn after_last_slash(&self) -> Option<Self> {
        match self.pieces.split_last() {
            Some((ShapePiece::Text(text), _)) if text.ends_with('/') => Some(Self::text("")),
            // The place where a search starts may be what was found, written with a slash.
            Some((ShapePiece::Of(TextKind::Below(pattern)), [.., ShapePiece::Text(start)]))
                if may_name_component(pattern, last_component(start)) =>
            {
                None
            }
            _ => self.file_name(),
        }
    }

    /// Returns the shape of what `dirname` leaves of a path; `None` if that may be anything.
    pub(crate) fn directory(&self) -> Option<Self> {
        match self.without_end_slash()?.before_slash()? {
            // Nothing is cut where there is no slash.
            BeforeSlash::NoSlash => Some(Self::text(".")),
            BeforeSlash::Cut(shape) if shape.pieces.is_empty() => Some(Self::text("/")),
            BeforeSlash::Cut(shape) => {
                let is_whole = !matches!(shape.pieces.first(), Some(ShapePiece::Of(TextKind::Inside(_))));
                is_whole.then_some(shape)
            }
        }
    }

    /// Returns it without the slash at its end, which belongs to the last component.
    pub(crate) fn without_end_slash(&self) -> Option<Self> {
        match self.pieces.last() {
            Some(ShapePiece::Text(text))
                if text.trim_end_matches('/').len() < text.len() && self.as_text() != Some("/") =>
            {
                self.with_last(&[ShapePiece::Text(text.trim_end_matches('/').to_owned())])
            }
            _ => Some(self.clone()),
        }
    }

    /// Returns the shape of what `${x%/*}` leaves; `None` if that may be anything.
    pub(crate) fn without_last(&self) -> Option<Self> {
        self.before_slash().map(|found| match found {
            BeforeSlash::NoSlash => self.clone(),
            BeforeSlash::Cut(shape) => shape,
        })
    }

    /// Returns what stands before the last slash: nothing if there is none; `None` if that cannot be told.
    fn before_slash(&self) -> Option<BeforeSlash> {
        let below = || ShapePiece::Of(TextKind::Below(EVERYTHING.to_owned()));
        let mut before = self.pieces.as_slice();
        while let Some((last, rest)) = before.split_last() {
            before = rest;
            match last {
                ShapePiece::Text(text) => {
                    if let Some((directory, _)) = text.rsplit_once('/') {
                        let mut shape = Self { pieces: before.to_vec() };
                        shape.push_text(directory);
                        return Some(BeforeSlash::Cut(shape));
                    }
                }
                ShapePiece::Of(
                    TextKind::Digits | TextKind::Number | TextKind::Word | TextKind::Name(_) | TextKind::Wild,
                ) => {}
                ShapePiece::Of(TextKind::Inside(_)) => {
                    let mut shape = Self { pieces: before.to_vec() };
                    return match shape.pieces.pop() {
                        None => Some(BeforeSlash::Cut(Self::of(TextKind::Inside(EVERYTHING.to_owned())))),
                        Some(ShapePiece::Text(start)) => {
                            shape.push_text(start.strip_suffix('/')?);
                            shape.pieces.push(below());
                            Some(BeforeSlash::Cut(shape))
                        }
                        Some(ShapePiece::Of(_)) => None,
                    };
                }
                ShapePiece::Of(TextKind::Below(pattern)) => {
                    let [ShapePiece::Text(start)] = before else { return None };
                    // The place where a search starts may be what was found.
                    let is_start = may_name_component(pattern, last_component(start));
                    return (!is_start || start == ".").then(|| {
                        BeforeSlash::Cut(Self { pieces: vec![ShapePiece::Text(start.clone()), below()] })
                    });
                }
                ShapePiece::Of(TextKind::Revision | TextKind::Branch | TextKind::Input) => return None,
            }
        }
        Some(BeforeSlash::NoSlash)
    }
}

/// Says whether a pattern of names leaves nothing out.
fn is_wide(pattern: &str) -> bool {
    pattern.chars().all(|letter| letter == '*')
}
