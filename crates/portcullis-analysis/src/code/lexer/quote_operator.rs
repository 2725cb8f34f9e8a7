//! Strings with a delimiter of the programmer's choice: `%w[…]` of Ruby, `q(…)` and its kin of Perl.

use super::CodeLexer;
use super::dialect::{StringEscapes, StringHoles};
use super::quote::{OpenString, StringPurpose, closing};

impl CodeLexer {
    /// Lexes `%w[…]`, `%q(…)`, `%x{…}` and the like of Ruby.
    pub(super) fn lex_percent(&mut self) -> bool {
        let kind = self.peek(1).unwrap_or(' ');
        let has_kind = kind.is_ascii_alphabetic();
        let open = self.peek(if has_kind { 2 } else { 1 }).unwrap_or(' ');
        let fits = if has_kind {
            "qQwWiIxrs".contains(kind) && !open.is_alphanumeric() && !open.is_whitespace()
        } else {
            "({[<|!/".contains(open)
        };
        if !fits || (open == '=' || !self.begins_term()) {
            return false;
        }
        let (purpose, escapes, holes) = match kind {
            'w' | 'i' => (StringPurpose::Words, StringEscapes::Few, StringHoles::None),
            'W' | 'I' => (StringPurpose::Words, StringEscapes::All, StringHoles::HashBrace),
            'q' | 's' => (StringPurpose::Text, StringEscapes::Few, StringHoles::None),
            'x' => (StringPurpose::Shell, StringEscapes::All, StringHoles::HashBrace),
            'r' => (StringPurpose::Regex, StringEscapes::Raw, StringHoles::HashBrace),
            _ => (StringPurpose::Text, StringEscapes::All, StringHoles::HashBrace),
        };
        self.begin(if has_kind { 3 } else { 2 }, delimited(purpose, open, escapes, holes))
    }

    /// Lexes `q(…)`, `qw(…)`, `qx(…)`, `m{…}`, `s/…/…/`, `tr/…/…/` of Perl.
    pub(super) fn lex_quote_operator(&mut self) -> bool {
        const OPERATORS: &[&str] = &["qq", "qw", "qx", "qr", "tr", "q", "m", "s", "y"];
        let before = self.at.checked_sub(1).and_then(|at| self.letters.get(at)).copied().unwrap_or(' ');
        // `$q`, `->s` and `{y}` are names, not quotes.
        if before.is_alphanumeric() || "_$@%&>{".contains(before) {
            return false;
        }
        let Some(operator) = OPERATORS.iter().find(|operator| {
            self.looking_at(operator)
                && self.peek(operator.len()).is_some_and(|next| !next.is_alphanumeric() && next != '_')
        }) else {
            return false;
        };
        let mut length = operator.len();
        while self.peek(length) == Some(' ') {
            length += 1;
        }
        let open = self.peek(length).unwrap_or(' ');
        let is_spaced = length > operator.len();
        // `s => 1` and `y, z` are names too; a `#` after a blank is a comment.
        if ",;)=".contains(open)
            || open.is_whitespace()
            || open.is_alphanumeric()
            || (is_spaced && open == '#')
        {
            return false;
        }
        self.at += length + 1;
        self.lex_perl_quote(operator, open);
        true
    }

    /// Lexes what follows an operator of Perl; a quote as the delimiter of `qx` switches interpolation off.
    fn lex_perl_quote(&mut self, operator: &str, open: char) {
        let interpolates = if open == '\'' { StringHoles::None } else { StringHoles::PerlSigil };
        match operator {
            "q" => self.continue_string(delimited(
                StringPurpose::Text,
                open,
                StringEscapes::Few,
                StringHoles::None,
            )),
            "qq" => self.continue_string(delimited(
                StringPurpose::Text,
                open,
                StringEscapes::All,
                StringHoles::PerlSigil,
            )),
            "qw" => self.continue_string(delimited(
                StringPurpose::Words,
                open,
                StringEscapes::Few,
                StringHoles::None,
            )),
            "qx" => {
                self.continue_string(delimited(StringPurpose::Shell, open, StringEscapes::All, interpolates));
            }
            "m" | "qr" => self.continue_string(delimited(
                StringPurpose::Regex,
                open,
                StringEscapes::Raw,
                StringHoles::None,
            )),
            _ => self.lex_replacement(open),
        }
    }
}

/// Makes a string with a delimiter of the programmer's choice; brackets nest.
fn delimited(purpose: StringPurpose, open: char, escapes: StringEscapes, holes: StringHoles) -> OpenString {
    let close = closing(open);
    let mut string = OpenString::new(purpose, &close.to_string(), escapes, holes);
    string.nest = (close != open).then_some(open);
    string
}
