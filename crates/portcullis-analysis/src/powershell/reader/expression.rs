//! Expressions: operators, literals and brackets.

use super::super::alias::canonical_type;
use super::super::cursor::{TextCursor, is_dash, is_name, is_quote};
use super::super::operator;
use super::super::value::{PowerShellValue, parse_number};
use super::super::word::PowerShellWord;
use super::PowerShellReader;
use crate::lists::code::powershell::PLAIN_TYPES;

/// Whether commas make a list or end the expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CommaMeaning {
    Join,
    End,
}

/// The operators that are words, with how tightly they bind, in order.
const NAMED: &[(&str, u8)] = &[
    ("and", 0),
    ("as", 2),
    ("band", 1),
    ("bor", 1),
    ("bxor", 1),
    ("contains", 2),
    ("eq", 2),
    ("f", 5),
    ("ge", 2),
    ("gt", 2),
    ("in", 2),
    ("is", 2),
    ("isnot", 2),
    ("join", 2),
    ("le", 2),
    ("like", 2),
    ("lt", 2),
    ("match", 2),
    ("ne", 2),
    ("notcontains", 2),
    ("notin", 2),
    ("notlike", 2),
    ("notmatch", 2),
    ("or", 0),
    ("replace", 2),
    ("shl", 2),
    ("shr", 2),
    ("split", 2),
    ("xor", 0),
];

/// The operators that are signs, with how tightly they bind.
const SIGNS: &[(&str, u8)] =
    &[("..", 6), ("??", 0), ("+", 3), ("*", 4), ("/", 4), ("%", 4), ("? ", 0), (": ", 0)];

impl PowerShellReader<'_, '_> {
    /// Reads an expression; `None` if none begins here.
    pub(super) fn expression(&mut self) -> Option<PowerShellValue> {
        self.binary(0, CommaMeaning::Join)
    }

    /// Reads an expression that ends at a comma.
    pub(super) fn item(&mut self) -> Option<PowerShellValue> {
        self.binary(0, CommaMeaning::End)
    }

    /// Reads operators that bind at least so strongly, from left to right; the right side takes those that bind more.
    fn binary(&mut self, weakest: u8, commas: CommaMeaning) -> Option<PowerShellValue> {
        let start = self.cursor.position();
        let mut left = self.list(commas)?;
        while let Some((name, level, after)) = self.operator().filter(|(_, level, _)| *level >= weakest) {
            let before = std::mem::replace(&mut self.cursor, after);
            self.cursor.skip_trivia();
            let Some(right) = self.binary(level + 1, commas) else {
                // Nothing follows that the operator could apply to, so it is none: `"x.exe" /y`.
                self.cursor = before;
                break;
            };
            left = self.applied(&name, left, right, start);
        }
        Some(self.sourced(left, start))
    }

    /// Computes an operator, if both sides are known and the budget allows.
    fn applied(
        &mut self,
        name: &str,
        left: PowerShellValue,
        right: PowerShellValue,
        start: usize,
    ) -> PowerShellValue {
        // Adding at the end costs what is added; every other operator makes its operands anew.
        let cost = if name == "+" { right.size() } else { left.size() + right.size() };
        let span = self.span(start);
        if !self.collector.spend(cost, span) {
            return PowerShellValue::unknown();
        }
        let value = operator::binary(name, left, right);
        if name == "+" { value } else { self.paid(value, start) }
    }

    /// Reads values joined by commas.
    fn list(&mut self, commas: CommaMeaning) -> Option<PowerShellValue> {
        let first = self.unary()?;
        if commas == CommaMeaning::End || !self.eat_comma() {
            return Some(first);
        }
        let mut items = vec![first];
        loop {
            items.push(self.unary().unwrap_or_else(PowerShellValue::unknown));
            if !self.eat_comma() {
                return Some(PowerShellValue::List(items));
            }
        }
    }

    /// Takes a comma, which may end a line.
    fn eat_comma(&mut self) -> bool {
        let mut ahead = self.cursor;
        ahead.skip_blanks();
        let is_comma = ahead.eat(',');
        if is_comma {
            ahead.skip_trivia();
            self.cursor = ahead;
        }
        is_comma
    }

    /// Reads a value with the operators and casts before it.
    fn unary(&mut self) -> Option<PowerShellValue> {
        let start = self.cursor.position();
        let mut prefixes = Vec::new();
        let mut value = None;
        while let Some(prefix) = self.prefix() {
            match prefix {
                OperatorPrefix::Type(name) if !self.is_before_operand() => {
                    value = Some(PowerShellValue::Type(name));
                    break;
                }
                prefix => prefixes.push(prefix),
            }
            self.cursor.skip_blanks();
        }
        let operand_start = self.cursor.position();
        let value = value.or_else(|| self.primary());
        if value.is_none() && prefixes.is_empty() {
            return None;
        }
        let mut value = self.postfix(value.unwrap_or_else(PowerShellValue::unknown), start);
        for prefix in prefixes.into_iter().rev() {
            value = self.prefixed(prefix, value, start, operand_start);
        }
        Some(self.sourced(value, start))
    }

    /// Takes an operator that stands before its operand, or a type that a value is turned into.
    fn prefix(&mut self) -> Option<OperatorPrefix> {
        let letter = self.cursor.peek()?;
        match letter {
            '!' | ',' => {
                self.cursor.bump();
                Some(OperatorPrefix::Operator(letter.to_string()))
            }
            '+' => Some(OperatorPrefix::Operator(self.cursor.take_while(|letter| letter == '+').to_owned())),
            '[' => Some(OperatorPrefix::Type(self.type_literal())),
            letter if is_dash(letter) => {
                let dashes = self.cursor.take_while(is_dash).chars().count();
                let name = self.cursor.take_while(char::is_alphabetic).to_lowercase();
                let name = name.trim_start_matches(['c', 'i']);
                Some(OperatorPrefix::Operator(if name.is_empty() {
                    "-".repeat(dashes)
                } else {
                    name.to_owned()
                }))
            }
            _ => None,
        }
    }

    /// Says whether something follows that a prefix could stand before.
    fn is_before_operand(&self) -> bool {
        if self.cursor.starts_with("::") {
            return false;
        }
        let mut ahead = self.cursor;
        ahead.skip_blanks();
        let next = ahead.peek_second();
        ahead.peek().is_some_and(|letter| {
            is_quote(letter)
                || letter.is_ascii_digit()
                || matches!(letter, '$' | '(' | '[' | '{')
                || letter == '@' && next.is_some_and(|next| is_quote(next) || matches!(next, '(' | '{'))
                || is_dash(letter) && next.is_some_and(|next| next.is_ascii_digit())
        })
    }

    /// Applies what stood before a value. Turning it into a type nobody knows may run code of that type.
    fn prefixed(
        &mut self,
        prefix: OperatorPrefix,
        value: PowerShellValue,
        start: usize,
        operand: usize,
    ) -> PowerShellValue {
        let span = self.span(start);
        if !self.collector.spend(value.size(), span) {
            return PowerShellValue::unknown();
        }
        match prefix {
            OperatorPrefix::Operator(name) => {
                if name.starts_with("++") || name.starts_with("--") {
                    self.forget_variables(operand);
                }
                operator::unary(&name, value)
            }
            OperatorPrefix::Type(name) => {
                if name == "ref" {
                    self.forget_variables(operand);
                }
                if !PLAIN_TYPES.contains(&name.as_str()) {
                    self.used_type(&name, &value, start, operand);
                }
                operator::cast(&name, value)
            }
        }
    }

    /// Lists a cast as a use of its type.
    fn used_type(&mut self, name: &str, value: &PowerShellValue, start: usize, operand: usize) {
        let span = self.span(start);
        let name = format!("[{name}]");
        let index = self.collector.reserve(name.clone(), &name, span, self.place);
        let word = PowerShellWord::new(value.clone(), self.cursor.since(operand), span, true);
        if let Some(command) = self.collector.command(index) {
            command.arguments.push(word.argument);
        }
    }

    /// Reads a type in brackets, or an attribute with its arguments; returns its canonical name.
    pub(super) fn type_literal(&mut self) -> String {
        let start = self.cursor.position();
        self.cursor.bump();
        let inside = self.cursor.position();
        let mut depth = 0_usize;
        while let Some(letter) = self.cursor.peek() {
            match letter {
                '[' => depth += 1,
                ']' if depth == 0 => break,
                ']' => depth -= 1,
                letter if is_name(letter) || matches!(letter, '.' | ',' | ' ' | '+' | '`' | '*' | '&') => {}
                _ => break,
            }
            self.cursor.bump();
        }
        let name = canonical_type(self.cursor.since(inside));
        if self.cursor.peek() == Some('(') {
            self.member_arguments();
        }
        if !self.cursor.eat(']') {
            self.opaque(start, "a type is not written as it is read here");
        }
        name
    }

    /// Reads a literal, a variable or something in brackets; `None` if none begins here.
    pub(super) fn primary(&mut self) -> Option<PowerShellValue> {
        let start = self.cursor.position();
        let next = self.cursor.peek_second();
        let letter = self.cursor.peek()?;
        match letter {
            '$' if next == Some('(') => {
                self.cursor.bump();
                Some(PowerShellValue::of_outputs(self.bracket()))
            }
            '$' => Some(self.variable()),
            '(' => Some(PowerShellValue::of_outputs(self.bracket())),
            '{' => {
                self.script_block();
                Some(PowerShellValue::Block)
            }
            '@' if next == Some('(') => {
                self.cursor.bump();
                let items = self.bracket().into_iter().flat_map(PowerShellValue::into_items).collect();
                Some(PowerShellValue::List(items))
            }
            '@' if next == Some('{') => Some(self.table()),
            '@' if next.is_some_and(is_quote) => Some(self.here_string()),
            letter if is_quote(letter) => Some(self.quoted()),
            letter if letter.is_ascii_digit() || letter == '.' && self.is_number() => {
                skip_number(&mut self.cursor);
                let text = self.cursor.since(start);
                Some(parse_number(text).map_or_else(|| PowerShellValue::text(text), PowerShellValue::Number))
            }
            _ => None,
        }
    }

    /// Reads the statements in round brackets.
    fn bracket(&mut self) -> Vec<PowerShellValue> {
        self.collector.is_plain = false;
        if !self.enter() {
            return Vec::new();
        }
        self.cursor.bump();
        let outputs = self.statements(Some(')'));
        self.collector.leave();
        outputs
    }

    /// Reads a table of keys and values.
    fn table(&mut self) -> PowerShellValue {
        self.collector.is_plain = false;
        let start = self.cursor.position();
        let mut entries = Vec::new();
        if !self.enter() {
            return PowerShellValue::unknown();
        }
        self.cursor.eat_text("@{");
        loop {
            self.cursor.skip_trivia();
            match self.cursor.peek() {
                None => {
                    self.opaque(start, "a bracket is not closed");
                    break;
                }
                Some('}') => {
                    self.cursor.bump();
                    break;
                }
                Some(';') => {
                    self.cursor.bump();
                }
                Some(_) => entries.extend(self.entry()),
            }
        }
        self.collector.leave();
        PowerShellValue::Table(entries)
    }

    /// Reads `key = value` of a table.
    fn entry(&mut self) -> Option<(String, PowerShellValue)> {
        let start = self.cursor.position();
        let key = match self.cursor.peek() {
            Some(letter) if is_quote(letter) || matches!(letter, '$' | '(') => {
                let value = self.primary().unwrap_or_else(PowerShellValue::unknown);
                self.postfix(value, start).known_text()
            }
            _ => {
                let name = self.cursor.take_while(|letter| is_name(letter) || matches!(letter, '-' | '.'));
                Some(name.to_owned())
            }
        };
        self.cursor.skip_blanks();
        if !self.cursor.eat('=') {
            if self.cursor.position() == start {
                self.cursor.bump();
            }
            self.opaque(start, "a table is not written as it is read here");
            return None;
        }
        self.cursor.skip_trivia();
        let value = self.statement().unwrap_or_else(PowerShellValue::unknown);
        key.map(|key| (key.to_lowercase(), value))
    }

    /// Says whether a number stands here, and not a name such as `7z`.
    pub(super) fn is_number(&self) -> bool {
        let mut ahead = self.cursor;
        skip_number(&mut ahead);
        ahead.position() > self.cursor.position()
            && !ahead.peek().is_some_and(|letter| is_name(letter) || matches!(letter, '\\' | ':'))
    }
}

impl<'t> PowerShellReader<'t, '_> {
    /// Returns the operator that follows, how tightly it binds, and where it ends.
    fn operator(&self) -> Option<(String, u8, TextCursor<'t>)> {
        let mut ahead = self.cursor;
        ahead.skip_blanks();
        if ahead.peek().is_some_and(is_dash) {
            return dashed(ahead);
        }
        let (sign, level) = SIGNS.iter().find(|(sign, _)| ahead.starts_with(sign))?;
        ahead.eat_text(sign);
        let is_other = ahead.peek() == Some('=') || *sign == "+" && ahead.peek() == Some('+');
        (!is_other).then(|| ((*sign).to_owned(), *level, ahead))
    }
}

/// Something that stands before a value.
#[derive(Debug)]
enum OperatorPrefix {
    /// An operator, without its dash.
    Operator(String),
    /// A type.
    Type(String),
}

/// Reads an operator that begins with a dash.
fn dashed(mut ahead: TextCursor<'_>) -> Option<(String, u8, TextCursor<'_>)> {
    ahead.bump();
    let word = ahead.take_while(char::is_alphabetic).to_lowercase();
    if word.is_empty() {
        let is_minus = !ahead.peek().is_some_and(|letter| letter == '=' || is_dash(letter));
        return is_minus.then(|| ("-".to_owned(), 3, ahead));
    }
    let level = level_of(&word).or_else(|| level_of(word.strip_prefix(['c', 'i'])?))?;
    Some((word, level, ahead))
}

/// Returns how strongly a named operator binds.
fn level_of(name: &str) -> Option<u8> {
    let index = NAMED.binary_search_by(|(operator, _)| (*operator).cmp(name)).ok()?;
    NAMED.get(index).map(|(_, level)| *level)
}

/// Skips a number and its suffix.
fn skip_number(cursor: &mut TextCursor<'_>) {
    if cursor.starts_with("0x") || cursor.starts_with("0X") {
        cursor.eat('0');
        cursor.bump();
        cursor.take_while(|letter| letter.is_ascii_hexdigit());
        return;
    }
    cursor.take_while(|letter| letter.is_ascii_digit());
    if cursor.peek() == Some('.') && cursor.peek_second().is_some_and(|next| next.is_ascii_digit()) {
        cursor.bump();
        cursor.take_while(|letter| letter.is_ascii_digit());
    }
    let mut ahead = *cursor;
    let suffix = ahead.take_while(|letter| letter.is_ascii_alphabetic()).to_ascii_lowercase();
    if matches!(suffix.as_str(), "kb" | "mb" | "gb" | "tb" | "pb" | "l" | "d" | "u" | "ul") {
        *cursor = ahead;
    }
}
