//! Quotes, here-strings and the variables in them.

use super::super::cursor::{TextCursor, is_double_quote, is_name, is_newline, is_single_quote};
use super::super::value::{ObjectKind, PowerShellValue};
use super::super::{item, temporary};
use super::PowerShellReader;
use crate::shape::Shape;

/// How far ahead a variable is looked for behind the types it is cast to.
const LONGEST_TYPE: usize = 100;

/// A text being put together from pieces.
#[derive(Debug, Default)]
pub(super) struct TextPieces {
    text: String,
    is_open: bool,
    is_decoded: bool,
    shape: PiecesShape,
    /// Whether it begins with the folder for temporary files, behind which the shape begins.
    is_temporary: bool,
}

/// What is known of a text of which a piece is only known by its shape.
#[derive(Debug, Default)]
enum PiecesShape {
    /// All of it is known so far.
    #[default]
    Whole,
    /// Its shape.
    Of(Shape),
    /// Nothing.
    Unknown,
}

impl TextPieces {
    /// Adds a letter that means itself.
    pub(super) fn push(&mut self, letter: char) {
        self.text.push(letter);
        if let PiecesShape::Of(shape) = &mut self.shape {
            let letter = if letter == '\\' { '/' } else { letter };
            shape.push_text(letter.encode_utf8(&mut [0; 4]));
        }
    }

    /// Returns the shape of what is put together so far and of another piece.
    fn joined(&self, value: &PowerShellValue) -> Option<Shape> {
        let next = value.text_shape()?;
        match &self.shape {
            PiecesShape::Unknown => None,
            PiecesShape::Of(shape) => shape.clone().join(&next),
            PiecesShape::Whole => PowerShellValue::text(&self.text).text_shape()?.join(&next),
        }
    }

    /// Adds a value, in its source form if it is not known.
    pub(super) fn add(&mut self, value: &PowerShellValue, source: &str) {
        if self.text.is_empty() && *value == PowerShellValue::Instance(ObjectKind::TemporaryFolder) {
            self.is_temporary = true;
            self.shape = PiecesShape::Of(Shape::text(""));
        } else if value.known_text().is_none() || matches!(self.shape, PiecesShape::Of(_)) {
            self.shape = self.joined(value).map_or(PiecesShape::Unknown, PiecesShape::Of);
        }
        self.is_open |= value.known_text().is_none();
        self.is_decoded |= value.is_decoded();
        self.text.push_str(&value.shown(source));
    }

    /// Makes a value of the pieces: a text if all of it is known.
    pub(super) fn into_value(self) -> PowerShellValue {
        if let (PiecesShape::Of(shape), false) = (&self.shape, self.is_decoded) {
            if !self.is_temporary {
                return PowerShellValue::found(Some(shape.clone()), false, true);
            }
            if let Some(value) = temporary::below_variable(shape) {
                return value;
            }
        }
        match (self.is_open, self.is_decoded) {
            (true, _) => PowerShellValue::Open(self.text),
            (false, true) => PowerShellValue::Decoded(self.text),
            (false, false) => PowerShellValue::Text(self.text),
        }
    }
}

/// Returns the name under which a variable is kept: lower case, without a scope.
pub(super) fn variable_key(name: &str) -> String {
    let lower = name.to_lowercase();
    let scopes = ["global:", "script:", "local:", "private:", "using:", "variable:"];
    let bare = scopes.iter().find_map(|scope| lower.strip_prefix(scope));
    let key = bare.map_or_else(|| lower.clone(), str::to_owned);
    if key == "psitem" { "_".to_owned() } else { key }
}

/// Skips the name of a variable after its `$`; returns the name, if there is one.
fn skip_variable<'t>(cursor: &mut TextCursor<'t>) -> Option<&'t str> {
    if cursor.eat('{') {
        let name = cursor.take_while(|letter| letter != '}');
        cursor.eat('}');
        return Some(name);
    }
    let start = cursor.position();
    if cursor.peek().is_some_and(|letter| matches!(letter, '$' | '^' | '?')) {
        cursor.bump();
        return Some(cursor.since(start));
    }
    cursor.take_while(is_name);
    if cursor.position() == start {
        return None;
    }
    let mut ahead = *cursor;
    if ahead.eat(':') && ahead.peek().is_some_and(is_name) {
        ahead.take_while(is_name);
        *cursor = ahead;
    }
    Some(cursor.since(start))
}

impl PowerShellReader<'_, '_> {
    /// Reads a quoted text.
    pub(super) fn quoted(&mut self) -> PowerShellValue {
        let start = self.cursor.position();
        match self.cursor.bump() {
            Some(quote) if is_single_quote(quote) => self.single_quoted(start),
            _ => self.double_quoted(start),
        }
    }

    /// Reads `'…'`, in which only a doubled quote means something.
    fn single_quoted(&mut self, start: usize) -> PowerShellValue {
        let mut text = String::new();
        loop {
            text.push_str(self.cursor.take_while(|letter| !is_single_quote(letter)));
            if self.cursor.bump().is_none() {
                self.opaque(start, "a quote is not closed");
                return PowerShellValue::Text(text);
            }
            match self.cursor.peek() {
                Some(quote) if is_single_quote(quote) => {
                    self.cursor.bump();
                    text.push(quote);
                }
                _ => return PowerShellValue::Text(text),
            }
        }
    }

    /// Reads `"…"`, with its variables and subexpressions.
    fn double_quoted(&mut self, start: usize) -> PowerShellValue {
        let mut pieces = TextPieces::default();
        loop {
            match self.cursor.peek() {
                None => {
                    self.opaque(start, "a quote is not closed");
                    return pieces.into_value();
                }
                Some(quote) if is_double_quote(quote) => {
                    self.cursor.bump();
                    if !self.cursor.peek().is_some_and(is_double_quote) {
                        return pieces.into_value();
                    }
                    self.cursor.bump();
                    pieces.push('"');
                }
                Some('`') => self.escape(&mut pieces),
                Some('$') => self.expansion(&mut pieces),
                Some(letter) => {
                    self.cursor.bump();
                    pieces.push(letter);
                }
            }
        }
    }

    /// Reads what follows a backtick.
    fn escape(&mut self, pieces: &mut TextPieces) {
        self.cursor.bump();
        let Some(letter) = self.cursor.bump() else { return };
        let meant = match letter {
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            '0' => '\0',
            'a' => '\u{7}',
            'b' => '\u{8}',
            'e' => '\u{1b}',
            'f' => '\u{c}',
            'v' => '\u{b}',
            'u' if self.cursor.peek() == Some('{') => {
                self.cursor.bump();
                let digits = self.cursor.take_while(|letter| letter.is_ascii_hexdigit());
                self.cursor.eat('}');
                let code = u32::from_str_radix(digits, 16).ok();
                code.and_then(char::from_u32).unwrap_or(char::REPLACEMENT_CHARACTER)
            }
            other => other,
        };
        pieces.push(meant);
    }

    /// Reads a variable or sub-expression in a text or word; a lone `$` stands for itself.
    pub(super) fn expansion(&mut self, pieces: &mut TextPieces) {
        let start = self.cursor.position();
        if self.cursor.starts_with("$(") {
            let value = self.primary().unwrap_or_else(PowerShellValue::unknown);
            pieces.add(&value, self.cursor.since(start));
            return;
        }
        let mut ahead = self.cursor;
        ahead.bump();
        if skip_variable(&mut ahead).is_none() {
            self.cursor.bump();
            pieces.push('$');
            return;
        }
        let value = self.variable();
        pieces.add(&value, self.cursor.since(start));
    }

    /// Skips a variable with its `$`; returns its key and source.
    pub(super) fn variable_name(&mut self) -> (String, &str) {
        let start = self.cursor.position();
        self.cursor.bump();
        let name = skip_variable(&mut self.cursor).unwrap_or_default();
        (variable_key(name), self.cursor.since(start))
    }

    /// Reads a variable.
    pub(super) fn variable(&mut self) -> PowerShellValue {
        let start = self.cursor.position();
        let (key, _) = self.variable_name();
        if matches!(key.as_str(), "true" | "false" | "null") {
            return PowerShellValue::Text(format!("${key}"));
        }
        self.collector.is_plain = false;
        if key == "pwd" {
            return self.sourced(item::here(&self.collector.directories), start);
        }
        let size = self.collector.scope.value(&key).map(PowerShellValue::size);
        let span = self.span(start);
        let value = match size {
            Some(size) if self.collector.spend(size, span) => self.collector.scope.value(&key).cloned(),
            _ => self.collector.scope.take(&key).and(None),
        };
        value.unwrap_or_else(|| PowerShellValue::Open(self.cursor.since(start).to_owned()))
    }

    /// Returns the variable an assignment may be to, types before it skipped, and where it ends.
    pub(super) fn assigned_variable(&self) -> Option<(String, usize)> {
        let mut ahead = self.cursor;
        let mut looked = 0;
        while matches!(ahead.peek(), Some('[')) {
            while ahead.peek().is_some_and(|letter| letter != '$' && !is_newline(letter)) {
                ahead.bump();
                looked += 1;
                if looked > LONGEST_TYPE {
                    return None;
                }
            }
        }
        if !ahead.eat('$') {
            return None;
        }
        let name = skip_variable(&mut ahead)?;
        Some((variable_key(name), ahead.position()))
    }

    /// Forgets every variable that is named between a place and here.
    pub(super) fn forget_variables(&mut self, start: usize) {
        let source = self.cursor.since(start);
        for piece in source.split('$').skip(1) {
            let mut cursor = TextCursor::new(piece);
            if let Some(name) = skip_variable(&mut cursor) {
                self.collector.scope.forget(&variable_key(name));
            }
        }
    }

    /// Reads a here-string, whose `@` and quote stand here.
    pub(super) fn here_string(&mut self) -> PowerShellValue {
        let start = self.cursor.position();
        self.cursor.bump();
        let is_literal = self.cursor.bump().is_some_and(is_single_quote);
        self.cursor.take_while(|letter| letter.is_whitespace() && !is_newline(letter));
        self.skip_line_end();
        let mut pieces = TextPieces::default();
        let mut is_line_start = true;
        loop {
            if is_line_start && self.eat_here_end(is_literal) {
                return without_last_line_end(pieces).into_value();
            }
            let letter = self.cursor.peek();
            is_line_start = letter == Some('\n');
            match letter {
                None => {
                    self.opaque(start, "a quote is not closed");
                    return pieces.into_value();
                }
                Some('`') if !is_literal => self.escape(&mut pieces),
                Some('$') if !is_literal => self.expansion(&mut pieces),
                Some(letter) => {
                    self.cursor.bump();
                    pieces.push(letter);
                }
            }
        }
    }

    /// Skips the line end after the beginning of a here-string.
    fn skip_line_end(&mut self) {
        self.cursor.eat('\r');
        self.cursor.eat('\n');
    }

    /// Takes the end of a here-string, which stands first on its line.
    fn eat_here_end(&mut self, is_literal: bool) -> bool {
        let mut ahead = self.cursor;
        let is_end = match ahead.bump() {
            Some(quote) if is_literal => is_single_quote(quote),
            Some(quote) => is_double_quote(quote),
            None => false,
        };
        let is_end = is_end && ahead.eat('@');
        if is_end {
            self.cursor = ahead;
        }
        is_end
    }
}

/// Drops the line end before the end of a here-string, which does not belong to it.
fn without_last_line_end(mut pieces: TextPieces) -> TextPieces {
    if pieces.text.ends_with('\n') {
        pieces.text.pop();
    }
    if pieces.text.ends_with('\r') {
        pieces.text.pop();
    }
    pieces
}
