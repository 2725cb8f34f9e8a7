//! `` `…` ``.
//!
//! Bash takes the text up to the next unescaped backquote, removes the backslashes before `$`, `` ` `` and `\` (and,
//! in double quotes, before `"`), and reads the result as a script of its own. So does this, on a side text.

use super::Quoting;
use crate::ast::{List, WordPart};
use crate::cursor::Parser;
use crate::pieces::WordPieces;
use crate::source::SideText;

impl Parser<'_> {
    /// A backquoted substitution.
    pub(crate) fn backquote(&mut self, pieces: &mut WordPieces, quoting: Quoting) {
        let start = self.here();
        self.enter();
        let body = if let Some((side, close)) = self.unescaped(start + 1, quoting) {
            self.advance_to(close + 1);
            self.side_script(&side)
        } else {
            self.fail(start, "this backquote is not closed");
            List::default()
        };
        self.leave();
        let part = WordPart::Command { span: self.source.span(start, self.pos), body };
        pieces.expansion(part, self.source.slice(start, self.pos));
    }

    /// Returns the unescaped text from `start` to the closing backquote, and where that stands.
    fn unescaped(&mut self, start: usize, quoting: Quoting) -> Option<(SideText, usize)> {
        let mut side = SideText::new(start);
        let mut copied = start;
        let mut index = start;
        loop {
            self.charge(2);
            match self.raw(index)? {
                b'`' => {
                    side.push(self.source, copied, index);
                    return Some((side, index));
                }
                b'\\' => {
                    let next = self.raw(index + 1)?;
                    if next == b'"' && quoting == Quoting::Mixed {
                        self.fail(index, "an escaped quote in backquotes inside an expansion");
                        return None;
                    }
                    if next == b'\n' {
                        side.push(self.source, copied, index);
                        copied = index + 2;
                    } else if matches!(next, b'$' | b'`' | b'\\')
                        || next == b'"' && quoting == Quoting::Double
                    {
                        side.push(self.source, copied, index);
                        copied = index + 1;
                    }
                    index += 2;
                }
                _ => index += 1,
            }
        }
    }

    /// Reads a side text as a script.
    fn side_script(&mut self, side: &SideText) -> List {
        let source = side.source(self.source);
        let mut inner = Parser::side(&source, self.shared);
        let body = inner.script();
        self.widen(self.end);
        body
    }
}
