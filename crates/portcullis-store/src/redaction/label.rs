//! Secrets that are known by the name before them: assignments, fields, headers, options, statements.

use super::name::{self, NameWeight, SecretLabel};
use super::text::{RedactedText, is_stop};
use super::value::{self, NamedValue, ValueForm};
use super::{SecretSpan, phrase};

/// How much of a value is looked at to judge it.
const JUDGED: usize = 160;

/// How long the text of an element may be.
const LONGEST_ELEMENT: usize = 512;

/// How many quoted pieces a word may have.
const MOST_PIECES: u32 = 64;

/// Schemes of an authorization that are followed by one word, and by several.
const SCHEMES: &[&str] = &[
    "bearer",
    "basic",
    "token",
    "negotiate",
    "ntlm",
    "apikey",
    "key",
    "dpop",
    "bot",
    "splunk",
    "ssws",
    "flyv1",
    "geniekey",
    "pve-api",
];
const LONG_SCHEMES: &[&str] = &["digest", "aws4-hmac-sha256", "signature", "hawk", "oauth", "googlelogin"];

/// Finds what follows a telling name.
pub(super) fn find(text: RedactedText<'_>, spans: &mut Vec<SecretSpan>) {
    let mut reader = ValueReader { text, unclosed: [0; 12], run: (0, 0) };
    let mut recent: [&[u8]; 3] = [b""; 3];
    let mut place = 0;
    while place < text.len() {
        let end = text.run(place, usize::MAX, is_name_byte);
        if end == place {
            place += 1;
            continue;
        }
        // The letter of an escaped line break is no part of a name.
        let start = if place > 0 && text.is_after_escape(place + 1) { place + 1 } else { place };
        let name = text.part(start, end);
        let found = reader.read(start, end, recent);
        place = found.map_or(end, |span| span.end.max(end));
        spans.extend(found);
        let [_, second, third] = recent;
        recent = [second, third, name];
    }
}

const fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.')
}

/// Where a value stands.
#[derive(Debug, Clone, Copy)]
struct FoundValue {
    start: usize,
    end: usize,
    /// The quote around it, or 0.
    quote: u8,
    /// The first place after it and its quote.
    after: usize,
}

/// Reads values, and remembers what it looked for in vain, so that nothing is read again and again.
struct ValueReader<'a> {
    text: RedactedText<'a>,
    /// For every quote and depth: no such quote closes before this place.
    unclosed: [usize; 12],
    /// The last run without white space: where its reading began and where it ends.
    run: (usize, usize),
}

impl ValueReader<'_> {
    /// Reads what follows a name.
    fn read(&mut self, start: usize, end: usize, recent: [&[u8]; 3]) -> Option<SecretSpan> {
        let name = self.text.part(start, end);
        if name.eq_ignore_ascii_case(b"bearer") {
            return self.read_bearer(end);
        }
        if name.eq_ignore_ascii_case(b"by")
            && recent.iter().any(|word| word.eq_ignore_ascii_case(b"identified"))
        {
            return self.read_statement(end);
        }
        if let Some(span) = phrase::read(self.text, name, end) {
            return Some(span);
        }
        let label = name::classify(name)?;
        // The signature of an address that lets its bearer in is long, and need not look like one.
        if label.kind == "signature" && matches!(self.text.before(start, 1), b'&' | b'?') {
            let found = self.read_word(end + 1);
            let is_signature = self.text.at(end) == b'=' && found.end >= found.start + 20;
            let bytes = self.text.part(found.start, found.end.min(found.start + JUDGED));
            if is_signature && !value::is_mark(bytes) && !value::is_reference(bytes) {
                return Some(SecretSpan { start: found.start, end: found.end, kind: label.kind });
            }
        }
        if self.text.before(start, 1) == b'<' && self.text.at(end) == b'>' {
            return self.read_element(end + 1, label);
        }
        if label.weight == NameWeight::Password && label.is_capital && self.text.at(end) == b'(' {
            return self.read_statement(end + 1);
        }
        let (form, place) = self.read_separator(start, end)?;
        match (form, label.weight) {
            (ValueForm::Bare, NameWeight::Password) => self.read_bare_password(end, recent),
            (ValueForm::Tight | ValueForm::Loose, NameWeight::Authorization) => {
                self.read_authorization(start, place, label, form)
            }
            (ValueForm::Tight | ValueForm::Loose, NameWeight::Cookie)
                if self.is_cookie_header(end, place) =>
            {
                Some(SecretSpan { start: place, end: self.end_of_header(start, place), kind: label.kind })
            }
            (ValueForm::Tight | ValueForm::Loose, NameWeight::Cookie) if self.quote_at(place).is_none() => {
                None
            }
            _ => self.judge(start, place, label, form),
        }
    }

    /// Reads what stands between a name and its value.
    fn read_separator(&self, start: usize, end: usize) -> Option<(ValueForm, usize)> {
        let text = self.text;
        let mut place = end;
        if let Some((_, depth)) = self.quote_at(place) {
            place += depth + 1;
            if text.at(place) == b']' {
                place += 1;
            }
        }
        let separator = text.after_spaces(place);
        // Headers have dashes, and variables of programs have none.
        let is_dashed = text.part(start, end).contains(&b'-');
        let (length, form) = match (text.at(separator), text.at(separator + 1), text.at(separator + 2)) {
            (b':', b':', _) | (b'=', b'~', _) => return None,
            (b'=', b'=', b'=') => (3, ValueForm::Compared),
            (b'=', b'=', _) => (2, ValueForm::Compared),
            (b'=', b'>', _) | (b':', b'=', _) => (2, ValueForm::Loose),
            (b'=', ..) => (1, ValueForm::Tight),
            (b':', ..) if is_dashed => (1, ValueForm::Tight),
            (b':', ..) => (1, ValueForm::Loose),
            _ if separator == end || place != end => return None,
            _ => {
                let is_option = text.at(start) == b'-' && text.at(separator) != b'-';
                return Some((if is_option { ValueForm::Option } else { ValueForm::Bare }, separator));
            }
        };
        let mut after = text.after_spaces(separator + length);
        // A list of one.
        let item = text.after_spaces(after + 1);
        if text.at(after) == b'[' && self.quote_at(item).is_some() {
            after = item;
        }
        let is_spaced = separator > place && after > separator + length && text.at(separator) == b'=';
        Some((if is_spaced { ValueForm::Loose } else { form }, after))
    }

    /// Reads a value and judges it.
    fn judge(
        &mut self,
        name: usize,
        place: usize,
        label: SecretLabel,
        form: ValueForm,
    ) -> Option<SecretSpan> {
        let mut found = self.read_value(place, form, label.is_capital);
        if form == ValueForm::Option {
            // Some programs are told where the password comes from.
            let is_elsewhere = ["env:", "file:", "fd:", "id=", "type=", "src=", "source="]
                .iter()
                .any(|from| self.text.has(found.start, from.as_bytes()));
            if is_elsewhere {
                return None;
            }
            if self.text.has(found.start, b"pass:") {
                found.start += 5;
            }
        }
        let bytes = self.text.part(found.start, found.end.min(found.start + JUDGED));
        let is_alone = self.is_alone(name, found.after);
        let value = NamedValue { bytes, quote: found.quote, form, is_alone };
        value::is_secret(label, value).then_some(SecretSpan {
            start: found.start,
            end: found.end,
            kind: label.kind,
        })
    }

    fn read_value(&mut self, place: usize, form: ValueForm, is_capital: bool) -> FoundValue {
        let is_prefixed = matches!(self.text.at(place), b'b' | b'r' | b'f' | b'u' | b'L' | b'@' | b'$')
            && matches!(self.text.at(place + 1), b'"' | b'\'');
        let place = if is_prefixed { place + 1 } else { place };
        let Some((quote, depth)) = self.quote_at(place).filter(|(quote, _)| *quote != b'`' || !is_capital)
        else {
            return self.read_word(place);
        };
        let start = place + depth + 1;
        let Some(close) = self.find_close(start, quote, depth) else {
            return self.read_word(start);
        };
        let mut found = FoundValue { start, end: close, quote, after: close + depth + 1 };
        if depth > 0 || !matches!(form, ValueForm::Tight | ValueForm::Option) {
            return found;
        }
        // In a shell the word goes on behind the quote.
        for _ in 0..MOST_PIECES {
            let next = match self.quote_at(found.after) {
                Some((quote, 0)) => self.find_close(found.after + 1, quote, 0).map(|close| close + 1),
                Some(_) => None,
                None => Some(self.read_word(found.after).end),
            };
            match next {
                Some(next) if next > found.after => {
                    found = FoundValue { start: place, end: next, after: next, ..found }
                }
                _ => break,
            }
        }
        found
    }

    /// Reads a value without quotes: as far as a shell would, without closing brackets and full stops.
    fn read_word(&mut self, start: usize) -> FoundValue {
        if !(self.run.0 <= start && start < self.run.1) {
            let mut end = start;
            while end < self.text.len() && !self.ends_word(end) {
                end += 1;
            }
            self.run = (start, end);
        }
        let mut end = self.run.1;
        let is_tail = |byte: u8| matches!(byte, b')' | b']' | b'}' | b',' | b'.' | b':');
        while end > start && is_tail(self.text.before(end, 1)) {
            end -= 1;
        }
        FoundValue { start, end, quote: 0, after: self.run.1 }
    }

    fn ends_word(&self, place: usize) -> bool {
        let byte = self.text.at(place);
        match byte {
            b'\\' => self.text.blank(place) > 0 || self.quote_at(place).is_some(),
            b',' => {
                let next = self.text.at(place + 1);
                self.text.blank(place + 1) > 0 || is_stop(next) || matches!(next, b'}' | b']' | b')' | b'\\')
            }
            _ => is_stop(byte) || self.text.blank(place) > 0,
        }
    }

    /// Returns the quote at a place and how many backslashes stand before it: none, or one for every level of escaping.
    fn quote_at(&self, place: usize) -> Option<(u8, usize)> {
        let quote = self.text.run(place, 8, |byte| byte == b'\\');
        let (byte, depth) = (self.text.at(quote), quote - place);
        (matches!(byte, b'"' | b'\'' | b'`') && matches!(depth, 0 | 1 | 3 | 7)).then_some((byte, depth))
    }

    /// Finds the quote that closes what begins at a place, in the same line.
    fn find_close(&mut self, start: usize, quote: u8, depth: usize) -> Option<usize> {
        let row = match quote {
            b'"' => 0,
            b'\'' => 4,
            _ => 8,
        };
        let column = [0, 1, 3, 7].iter().position(|known| *known == depth)?;
        let unclosed = self.unclosed.get_mut(row + column)?;
        if start < *unclosed {
            return None;
        }
        let (mut place, mut backslashes) = (start, 0);
        while place < self.text.len() {
            match self.text.at(place) {
                b'\\' => backslashes += 1,
                b'\n' => break,
                byte if byte == quote && backslashes % (2 * (depth + 1)) == depth => {
                    return Some(place - depth);
                }
                _ => backslashes = 0,
            }
            if self.text.at(place) == quote {
                backslashes = 0;
            }
            place += 1;
        }
        *unclosed = place;
        None
    }

    /// Says whether a name and its value are a line of their own.
    fn is_alone(&self, name: usize, after: usize) -> bool {
        let mut start = name;
        while start > 0 && name - start < 40 && matches!(self.text.before(start, 1), b' ' | b'\t' | b'-') {
            start -= 1;
        }
        let begins = start == 0
            || matches!(self.text.before(start, 1), b'\n' | b'\r')
            || self.text.is_after_escape(start);
        let end = self.text.after_spaces(after);
        begins && (end >= self.text.len() || self.text.line_break(end) > 0)
    }

    /// Reads `<name>value</name>`.
    fn read_element(&mut self, start: usize, label: SecretLabel) -> Option<SecretSpan> {
        let end = self.text.run(start, LONGEST_ELEMENT, |byte| byte != b'<' && byte != b'\n');
        let bytes = self.text.part(start, end.min(start + JUDGED));
        let value = NamedValue { bytes, quote: b'>', form: ValueForm::Tight, is_alone: false };
        let is_secret = self.text.has(end, b"</") && value::is_secret(label, value);
        is_secret.then_some(SecretSpan { start, end, kind: label.kind })
    }

    /// Reads `Bearer TOKEN` where no header stands before it.
    fn read_bearer(&mut self, end: usize) -> Option<SecretSpan> {
        let start = self.text.after_spaces(end);
        if start == end {
            return None;
        }
        let found = self.read_word(start);
        let bytes = self.text.part(found.start, found.end.min(found.start + JUDGED));
        let has_digit = bytes.iter().any(u8::is_ascii_digit);
        let is_secret =
            value::is_random(bytes) || (bytes.len() >= 16 && has_digit && !value::is_reference(bytes));
        (is_secret && !bytes.starts_with(b"$")).then_some(SecretSpan {
            start,
            end: found.end,
            kind: "authorization",
        })
    }

    /// Reads the password of `IDENTIFIED BY 'password'`.
    fn read_statement(&mut self, end: usize) -> Option<SecretSpan> {
        let start = self.text.after_spaces(end);
        let (quote, depth) = self.quote_at(start)?;
        let close = self.find_close(start + depth + 1, quote, depth)?;
        let bytes = self.text.part(start + depth + 1, close.min(start + JUDGED));
        let is_secret = !bytes.is_empty() && !value::is_mark(bytes) && !value::is_reference(bytes);
        is_secret.then_some(SecretSpan { start: start + depth + 1, end: close, kind: "password" })
    }

    /// Reads `login NAME password VALUE` of a file for machines, and `WITH PASSWORD 'VALUE'` of a database.
    fn read_bare_password(&mut self, end: usize, recent: [&[u8]; 3]) -> Option<SecretSpan> {
        let [_, second, third] = recent;
        let start = self.text.after_spaces(end);
        let is = |word: &[u8], known: &[&str]| {
            known.iter().any(|known| known.as_bytes().eq_ignore_ascii_case(word))
        };
        if is(third, &["with", "encrypted", "login"]) || is(second, &["user", "role"]) {
            return self.read_statement(end);
        }
        if !is(second, &["login"]) {
            let label = name::classify(b"password")?;
            return self.judge(start, start, label, ValueForm::Bare);
        }
        let found = self.read_word(start);
        let bytes = self.text.part(found.start, found.end.min(found.start + JUDGED));
        let is_secret = !bytes.is_empty() && !value::is_mark(bytes) && !value::is_reference(bytes);
        is_secret.then_some(SecretSpan { start, end: found.end, kind: "password" })
    }

    /// Reads `Authorization: SCHEME SECRET`; the scheme stays.
    fn read_authorization(
        &mut self,
        name: usize,
        place: usize,
        label: SecretLabel,
        form: ValueForm,
    ) -> Option<SecretSpan> {
        let text = self.text;
        let opened = self.quote_at(place);
        let start = opened.map_or(place, |(_, depth)| place + depth + 1);
        let scheme_end = text.run(start, 24, |byte| byte.is_ascii_alphanumeric() || byte == b'-');
        let scheme = text.part(start, scheme_end);
        let value = text.after_spaces(scheme_end);
        let is = |known: &[&str]| known.iter().any(|known| known.as_bytes().eq_ignore_ascii_case(scheme));
        if value > scheme_end && is(SCHEMES) {
            let found = self.read_word(value);
            let bytes = text.part(found.start, found.end.min(found.start + JUDGED));
            let is_word = bytes.len() < 16 && bytes.iter().all(u8::is_ascii_lowercase);
            let is_open = bytes.is_empty() || value::is_mark(bytes) || value::is_reference(bytes);
            let is_secret = !is_word && !is_open && !matches!(bytes.first(), Some(b'<' | b'{' | b'$'));
            return is_secret.then_some(SecretSpan { start: value, end: found.end, kind: label.kind });
        }
        if value > scheme_end && is(LONG_SCHEMES) {
            let first = text.run(value, 64, is_name_byte);
            if text.at(first) != b'=' {
                return None;
            }
            let end = match opened {
                Some((quote, depth)) => self.find_close(start, quote, depth)?,
                None => self.end_of_header(name, value),
            };
            return Some(SecretSpan { start: value, end, kind: label.kind });
        }
        self.judge(name, place, label, form)
    }

    /// Says whether `name=value` follows a colon.
    fn is_cookie_header(&self, end: usize, place: usize) -> bool {
        let first = self.text.run(place, 64, |byte| is_name_byte(byte) || byte == b'%');
        let next = self.text.at(first + 1);
        let is_pair = first > place && self.text.at(first) == b'=' && next != b'=' && next != b' ';
        let separator = self.text.after_spaces(end);
        is_pair && self.text.at(separator) == b':' && next != b'[' && next != b'$'
    }

    /// Returns where a header ends: at the end of the line, or at the quote that stands before its name.
    fn end_of_header(&self, name: usize, start: usize) -> usize {
        let opened = self.text.before(name, 1);
        let is_line = name == 0 || matches!(opened, b'\n' | b'\r');
        let is_escaped_line = !is_line && self.text.is_after_escape(name);
        let closes = |place: usize| match (self.text.at(place), opened) {
            // Within a line of its own, quotes are part of the header.
            _ if is_line => false,
            (b'"', _) if is_escaped_line => self.text.before(place, 1) != b'\\',
            _ if is_escaped_line => false,
            (byte, b'"' | b'\'' | b'`') => byte == opened,
            (byte, _) => byte == b'"' || byte == b'\'',
        };
        let mut end = start;
        while end < self.text.len() && self.text.line_break(end) == 0 && !closes(end) {
            end += 1;
        }
        // The backslash of an escaped quote stays with it.
        if closes(end) {
            while end > start && self.text.before(end, 1) == b'\\' {
                end -= 1;
            }
        }
        end
    }
}
