//! Strings, regular expressions and the code inside them.
//!
//! Code inside a string is lexed where it stands: the string waits on the stack with its pieces so far, and goes on when
//! the bracket closes. So strings in code in strings cost no recursion, and nothing in a string is skipped unread.

use super::dialect::{StringEscapes, StringHoles};
use super::{CodeLexer, LexerFrame};
use crate::code::Language;
use crate::code::tree::{CodeItem, StringPiece};

/// What a string becomes when it ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StringPurpose {
    Text,
    Shell,
    Regex,
    Words,
    /// The rest of a hole of Python after a colon; its end is the end of the hole.
    Format,
}

/// A string whose end has not been seen.
#[derive(Debug)]
pub(super) struct OpenString {
    pub(super) purpose: StringPurpose,
    /// The letters that end it; empty if the end of the part does.
    pub(super) close: String,
    /// The bracket that nests inside, if the delimiters are brackets.
    pub(super) nest: Option<char>,
    pub(super) escapes: StringEscapes,
    pub(super) holes: StringHoles,
    pub(super) may_span_lines: bool,
    pub(super) pieces: Vec<StringPiece>,
    pub(super) plain: String,
    pub(super) depth: usize,
}

impl OpenString {
    pub(super) fn new(
        purpose: StringPurpose,
        close: &str,
        escapes: StringEscapes,
        holes: StringHoles,
    ) -> Self {
        Self {
            purpose,
            close: close.to_owned(),
            nest: None,
            escapes,
            holes,
            may_span_lines: true,
            pieces: Vec::new(),
            plain: String::new(),
            depth: 0,
        }
    }

    /// Ends the plain text so far, because code or the end follows.
    fn end_piece(&mut self) {
        if !self.plain.is_empty() {
            self.pieces.push(StringPiece::Plain(std::mem::take(&mut self.plain)));
        }
    }
}

impl CodeLexer {
    /// Lexes a string or a regular expression, if one begins here.
    pub(super) fn lex_quoted(&mut self, letter: char) -> bool {
        match (letter, self.dialect.language) {
            ('<', Language::Ruby | Language::Perl | Language::Php) => self.lex_heredoc(),
            ('\'' | '"', _) => {
                self.lex_plain_string(letter);
                true
            }
            ('`', Language::JavaScript) => self.begin(
                1,
                OpenString::new(StringPurpose::Text, "`", StringEscapes::All, StringHoles::DollarBrace),
            ),
            ('`', Language::Ruby) => self.begin(
                1,
                OpenString::new(StringPurpose::Shell, "`", StringEscapes::All, StringHoles::HashBrace),
            ),
            ('`', Language::Perl) => self.begin(
                1,
                OpenString::new(StringPurpose::Shell, "`", StringEscapes::All, StringHoles::PerlSigil),
            ),
            ('`', Language::Php) => self.begin(
                1,
                OpenString::new(StringPurpose::Shell, "`", StringEscapes::All, StringHoles::PhpSigil),
            ),
            ('/', _) if self.dialect.has_regex => self.lex_slash(),
            ('%', Language::Ruby) => self.lex_percent(),
            (_, Language::Python) if letter.is_ascii_alphabetic() => self.lex_prefixed(),
            (_, Language::Perl) if letter.is_ascii_lowercase() => self.lex_quote_operator(),
            _ => false,
        }
    }

    /// Steps over the delimiter and reads the string.
    pub(super) fn begin(&mut self, skipped: usize, string: OpenString) -> bool {
        self.at += skipped;
        self.continue_string(string);
        true
    }

    /// Lexes `'…'` or `"…"` by the rules of the language.
    fn lex_plain_string(&mut self, quote: char) {
        let dialect = self.dialect;
        if dialect.language == Language::Python {
            self.lex_python_string(quote, StringEscapes::All, StringHoles::None);
            return;
        }
        let (escapes, holes) = if quote == '"' {
            (StringEscapes::All, dialect.double)
        } else {
            (dialect.single, StringHoles::None)
        };
        let mut string = OpenString::new(StringPurpose::Text, &quote.to_string(), escapes, holes);
        string.may_span_lines = !matches!(dialect.language, Language::JavaScript | Language::Awk);
        self.begin(1, string);
    }

    /// Lexes a string of Python, in one quote or in three.
    fn lex_python_string(&mut self, quote: char, escapes: StringEscapes, holes: StringHoles) {
        let triple = quote.to_string().repeat(3);
        let is_triple = self.looking_at(&triple);
        let close = if is_triple { triple } else { quote.to_string() };
        let mut string = OpenString::new(StringPurpose::Text, &close, escapes, holes);
        string.may_span_lines = is_triple;
        self.begin(close.len(), string);
    }

    /// Lexes a string with a prefix such as `rb` or `f`.
    fn lex_prefixed(&mut self) -> bool {
        let length = (0..3).find(|ahead| matches!(self.peek(*ahead), Some('\'' | '"')));
        let Some(length) = length else { return false };
        let prefix: String =
            (0..length).filter_map(|ahead| self.peek(ahead)).collect::<String>().to_lowercase();
        if !matches!(prefix.as_str(), "r" | "b" | "u" | "f" | "t" | "rb" | "br" | "rf" | "fr" | "rt" | "tr") {
            return false;
        }
        self.at += length;
        let escapes = if prefix.contains('r') { StringEscapes::Raw } else { StringEscapes::All };
        let holes = if prefix.contains(['f', 't']) { StringHoles::Brace } else { StringHoles::None };
        let quote = self.peek(0).unwrap_or('"');
        self.lex_python_string(quote, escapes, holes);
        true
    }

    /// Says whether a colon begins the format of a hole of Python.
    pub(super) fn begins_format(&self) -> bool {
        self.dialect.language == Language::Python && matches!(self.stack.last(), Some(LexerFrame::Hole(..)))
    }

    /// Lexes `:>10` of a hole; code may stand in it again.
    pub(super) fn lex_format(&mut self) {
        let mut string = OpenString::new(StringPurpose::Format, "}", StringEscapes::Raw, StringHoles::Brace);
        string.may_span_lines = true;
        self.continue_string(string);
    }

    /// Reads a string until it ends or code begins inside it.
    pub(super) fn continue_string(&mut self, mut string: OpenString) {
        loop {
            let Some(letter) = self.peek(0) else {
                if !string.close.is_empty() {
                    self.report("ends inside a string");
                }
                self.finish(string);
                return;
            };
            if !string.close.is_empty() && string.depth == 0 && self.looking_at(&string.close) {
                self.at += string.close.chars().count();
                self.finish(string);
                return;
            }
            if letter == '\n' && !string.may_span_lines {
                self.report("has a string that does not end on its line");
                self.finish(string);
                return;
            }
            if letter == '\\' {
                self.lex_escape(&mut string);
                continue;
            }
            if let Some(length) = self.hole_length(&mut string) {
                self.at += length;
                string.end_piece();
                self.open_hole(string);
                return;
            }
            if self.lex_sigil_hole(&mut string) {
                continue;
            }
            // A doubled brace was taken by the check for a hole.
            if let Some(letter) = self.peek(0).filter(|_| self.at < self.end) {
                count_nesting(&mut string, letter);
                string.plain.push(letter);
                self.at += 1;
            }
        }
    }

    /// Begins the code inside a string. Past the limit the rest is not read at all, which is reported.
    fn open_hole(&mut self, mut string: OpenString) {
        if self.stack.len() >= super::DEPTH_LIMIT {
            self.report("nests too deep");
            self.at = self.end;
            return;
        }
        let group = self.new_group();
        string.pieces.push(StringPiece::Hole(group));
        self.stack.push(LexerFrame::Hole(group, string));
    }

    /// Returns how many letters open code here, if code opens here.
    fn hole_length(&mut self, string: &mut OpenString) -> Option<usize> {
        match string.holes {
            StringHoles::Brace if self.looking_at("{{") && string.purpose != StringPurpose::Format => {
                self.at += 1;
                None
            }
            StringHoles::Brace if self.looking_at("}}") && string.purpose != StringPurpose::Format => {
                self.at += 1;
                None
            }
            StringHoles::Brace => self.looking_at("{").then_some(1),
            StringHoles::DollarBrace => self.looking_at("${").then_some(2),
            StringHoles::HashBrace => self.looking_at("#{").then_some(2),
            StringHoles::PerlSigil => (self.looking_at("${") || self.looking_at("@{")).then_some(2),
            StringHoles::PhpSigil if self.looking_at("{$") => Some(1),
            StringHoles::PhpSigil => self.looking_at("${").then_some(2),
            StringHoles::None => None,
        }
    }

    /// Takes a variable inside a string, with what it takes of it.
    fn lex_sigil_hole(&mut self, string: &mut OpenString) -> bool {
        let sigil = self.peek(0).unwrap_or(' ');
        let fits = match string.holes {
            StringHoles::PerlSigil => sigil == '$' || sigil == '@',
            StringHoles::PhpSigil => sigil == '$',
            _ => false,
        };
        if !fits || !self.peek(1).is_some_and(|next| next.is_alphanumeric() || next == '_') {
            return false;
        }
        self.at += 1;
        let mut name = String::from('$');
        while let Some(letter) = self.peek(0).filter(|letter| letter.is_alphanumeric() || *letter == '_') {
            name.push(letter);
            self.at += 1;
        }
        let is_element = self.looking_at("->")
            || self.looking_at("[")
            || (self.looking_at("{") && string.holes == StringHoles::PerlSigil);
        if is_element {
            name.push_str("[]");
            self.skip_subscript();
        }
        string.end_piece();
        let group = self.new_group();
        if let Some(items) = self.tree.groups.get_mut(group) {
            items.push(crate::code::tree::CodeToken { item: CodeItem::Name(name), is_spaced: false });
        }
        string.pieces.push(StringPiece::Hole(group));
        true
    }

    /// Steps over subscripts; code in them is a problem, because it is not looked at.
    fn skip_subscript(&mut self) {
        while self.looking_at("->") || self.looking_at("[") || self.looking_at("{") {
            if self.looking_at("->") {
                self.at += 2;
                while self.peek(0).is_some_and(|letter| letter.is_alphanumeric() || letter == '_') {
                    self.at += 1;
                }
                continue;
            }
            self.at += 1;
            while let Some(letter) = self.peek(0) {
                self.at += 1;
                if letter == ']' || letter == '}' {
                    break;
                }
                if letter == '(' || letter == '`' || letter == '\n' {
                    self.report("has code inside a subscript in a string");
                    break;
                }
            }
        }
    }

    /// Makes an item of a string that ended.
    fn finish(&mut self, mut string: OpenString) {
        string.end_piece();
        match string.purpose {
            StringPurpose::Text => self.push(CodeItem::Text(string.pieces)),
            StringPurpose::Shell => self.push(CodeItem::Shell(string.pieces)),
            StringPurpose::Regex => {
                let has_code = |piece: &StringPiece| matches!(piece, StringPiece::Plain(text) if text.contains("(?{") || text.contains("(??{"));
                if self.dialect.language == Language::Perl && string.pieces.iter().any(has_code) {
                    self.report("has code inside a regular expression");
                }
                self.push(CodeItem::Regex(string.pieces));
                self.skip_flags();
            }
            StringPurpose::Words => {
                let words = string.pieces.iter().map(|piece| match piece {
                    StringPiece::Plain(text) => text.clone(),
                    StringPiece::Hole(_) => " ".to_owned(),
                });
                let words = words.collect::<String>().split_whitespace().map(str::to_owned).collect();
                self.push(CodeItem::Words(words));
            }
            StringPurpose::Format => {
                // The code inside the format has its own groups, which are read like all others.
                if let Some(LexerFrame::Hole(_, outer)) = self.stack.pop() {
                    self.continue_string(outer);
                }
            }
        }
    }

    fn lex_escape(&mut self, string: &mut OpenString) {
        let next = self.peek(1);
        match (string.escapes, next) {
            (_, None) => {
                string.plain.push('\\');
                self.at += 1;
            }
            (StringEscapes::Raw, Some(letter)) => {
                string.plain.push('\\');
                string.plain.push(letter);
                self.at += 2;
            }
            (StringEscapes::Few, Some(letter)) => {
                let is_own =
                    letter == '\\' || string.close.starts_with(letter) || string.nest == Some(letter);
                if !is_own {
                    string.plain.push('\\');
                }
                string.plain.push(letter);
                self.at += 2;
            }
            (StringEscapes::All, Some(letter)) => {
                self.at += 2;
                self.push_escaped(&mut string.plain, letter);
            }
        }
    }

    fn push_escaped(&mut self, plain: &mut String, letter: char) {
        match letter {
            '\n' => {}
            'n' => plain.push('\n'),
            't' => plain.push('\t'),
            'r' => plain.push('\r'),
            'x' => self.push_code(plain, 16, 2),
            'u' if self.looking_at("{") => {
                self.at += 1;
                self.push_code(plain, 16, 6);
                self.at += 1;
            }
            'u' => self.push_code(plain, 16, 4),
            'U' if self.dialect.language == Language::Python => self.push_code(plain, 16, 8),
            '0'..='7' => {
                self.at -= 1;
                self.push_code(plain, 8, 3);
            }
            _ => {
                if self.dialect.language == Language::Python && !"\\'\"abfv".contains(letter) {
                    plain.push('\\');
                }
                plain.push(letter);
            }
        }
    }

    fn push_code(&mut self, plain: &mut String, base: u32, length: usize) {
        let mut code = 0_u32;
        for _ in 0..length {
            let Some(digit) = self.peek(0).and_then(|letter| letter.to_digit(base)) else { break };
            code = code.saturating_mul(base).saturating_add(digit);
            self.at += 1;
        }
        plain.push(char::from_u32(code).unwrap_or('\u{fffd}'));
    }
}

fn count_nesting(string: &mut OpenString, letter: char) {
    if string.nest == Some(letter) {
        string.depth += 1;
    } else if string.nest.is_some() && string.close.starts_with(letter) {
        string.depth = string.depth.saturating_sub(1);
    }
}

/// Returns what closes what this letter opens.
pub(super) fn closing(open: char) -> char {
    match open {
        '(' => ')',
        '[' => ']',
        '{' => '}',
        '<' => '>',
        other => other,
    }
}
