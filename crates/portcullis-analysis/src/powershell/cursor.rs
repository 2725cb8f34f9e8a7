//! A place in PowerShell text, and the classes of characters PowerShell knows.
//!
//! PowerShell takes typographic quotes and dashes for the plain ones, so every test of a quote or dash goes
//! through here.

/// A place in a text. Copying it is how the readers look ahead.
#[derive(Debug, Clone, Copy)]
pub(super) struct TextCursor<'t> {
    text: &'t str,
    position: usize,
}

impl<'t> TextCursor<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self { text, position: 0 }
    }

    pub(super) fn position(&self) -> usize {
        self.position
    }

    pub(super) fn rest(&self) -> &'t str {
        self.text.get(self.position..).unwrap_or_default()
    }

    /// Returns what stands between an earlier place and this one.
    pub(super) fn since(&self, start: usize) -> &'t str {
        self.text.get(start..self.position).unwrap_or_default()
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    pub(super) fn peek_second(&self) -> Option<char> {
        self.rest().chars().nth(1)
    }

    pub(super) fn bump(&mut self) -> Option<char> {
        let letter = self.peek()?;
        self.position += letter.len_utf8();
        Some(letter)
    }

    pub(super) fn jump_to_end(&mut self) {
        self.position = self.text.len();
    }

    pub(super) fn is_at_end(&self) -> bool {
        self.position >= self.text.len()
    }

    pub(super) fn starts_with(&self, wanted: &str) -> bool {
        self.rest().starts_with(wanted)
    }

    pub(super) fn eat(&mut self, wanted: char) -> bool {
        let is_there = self.peek() == Some(wanted);
        if is_there {
            self.bump();
        }
        is_there
    }

    pub(super) fn eat_text(&mut self, wanted: &str) -> bool {
        let is_there = self.starts_with(wanted);
        if is_there {
            self.position += wanted.len();
        }
        is_there
    }

    pub(super) fn take_while(&mut self, accepts: impl Fn(char) -> bool) -> &'t str {
        let rest = self.rest();
        let end = rest.find(|letter| !accepts(letter)).unwrap_or(rest.len());
        self.position += end;
        rest.get(..end).unwrap_or_default()
    }

    /// Skips blanks, comments and continued line ends, but no line end that ends a statement.
    ///
    /// Only called where a token may begin, so that `#` begins a comment.
    pub(super) fn skip_blanks(&mut self) {
        loop {
            self.take_while(|letter| letter.is_whitespace() && !is_newline(letter));
            if self.peek() == Some('`') && self.peek_second().is_some_and(is_newline) {
                self.bump();
                if self.bump() == Some('\r') {
                    self.eat('\n');
                }
            } else if self.starts_with("<#") {
                self.skip_block_comment();
            } else if self.peek() == Some('#') {
                self.take_while(|letter| !is_newline(letter));
            } else {
                return;
            }
        }
    }

    fn skip_block_comment(&mut self) {
        match self.rest().find("#>") {
            Some(end) => self.position += end + "#>".len(),
            None => self.jump_to_end(),
        }
    }

    /// Skips blanks, comments and line ends.
    pub(super) fn skip_trivia(&mut self) {
        loop {
            self.skip_blanks();
            if !self.peek().is_some_and(is_newline) {
                return;
            }
            self.take_while(is_newline);
        }
    }
}

pub(super) fn is_newline(letter: char) -> bool {
    matches!(letter, '\n' | '\r')
}

pub(super) fn is_single_quote(letter: char) -> bool {
    matches!(letter, '\'' | '\u{2018}'..='\u{201b}')
}

pub(super) fn is_double_quote(letter: char) -> bool {
    matches!(letter, '"' | '\u{201c}'..='\u{201e}')
}

pub(super) fn is_quote(letter: char) -> bool {
    is_single_quote(letter) || is_double_quote(letter)
}

pub(super) fn is_dash(letter: char) -> bool {
    matches!(letter, '-' | '\u{2013}'..='\u{2015}')
}

pub(super) fn is_name(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

/// Says whether a character ends an unquoted word of a command.
pub(super) fn ends_word(letter: char) -> bool {
    letter.is_whitespace() || matches!(letter, '(' | ')' | '{' | '}' | ';' | ',' | '|' | '&' | '<' | '>')
}
