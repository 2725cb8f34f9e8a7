//! Names, variables with sigils, symbols and numbers.
//!
//! Whether a slash or a percent sign begins a value depends on what stands before it. Where the languages themselves
//! need a symbol table to tell, the reading that reads more as code wins, and what stays unsure is reported.

use super::CodeLexer;
use crate::code::Language;
use crate::code::tree::{CodeItem, StringPiece};

impl CodeLexer {
    /// Lexes a name, a variable, a symbol or a number, if one begins here.
    pub(super) fn lex_word(&mut self, letter: char) -> bool {
        if letter.is_ascii_digit() {
            self.lex_number();
            return true;
        }
        if self.lex_variable(letter) || (letter == ':' && self.lex_symbol()) {
            return true;
        }
        if !self.dialect.begins_name(letter) {
            return false;
        }
        let name = self.take_name();
        if matches!(self.dialect.language, Language::Ruby | Language::Perl) && name == "__END__"
            || (self.dialect.language == Language::Perl && name == "__DATA__")
        {
            // What follows is data.
            self.at = self.end;
            return true;
        }
        // Python normalizes names: letters that look like others become them, so that `ﬁle` is `file`.
        if self.dialect.language == Language::Python && !name.is_ascii() {
            self.report("has names in letters that Python rewrites");
        }
        self.push(CodeItem::Name(name));
        true
    }

    /// Takes a name; `?` and `!` may end one of Ruby.
    fn take_name(&mut self) -> String {
        let mut name = String::new();
        while let Some(letter) = self.peek(0) {
            let is_private = name.is_empty() && letter == '#';
            if !is_private && !self.dialect.continues_name(letter) {
                break;
            }
            name.push(letter);
            self.at += 1;
        }
        let is_ruby = self.dialect.language == Language::Ruby;
        if let Some(suffix @ ('?' | '!')) = self.peek(0).filter(|_| is_ruby)
            && self.peek(1) != Some('=')
            && !(suffix == '?' && self.peek(1) == Some(':'))
        {
            name.push(suffix);
            self.at += 1;
        }
        name
    }

    /// Lexes a number in any base; what it is worth does not matter here.
    fn lex_number(&mut self) {
        let mut number = String::new();
        while let Some(letter) = self.peek(0) {
            let is_fraction = letter == '.'
                && self.peek(1).is_some_and(|next| next.is_ascii_digit())
                && !number.contains('.');
            let is_exponent = (letter == '+' || letter == '-')
                && number.ends_with(['e', 'E'])
                && !number.starts_with("0x")
                && self.peek(1).is_some_and(|next| next.is_ascii_digit());
            if !letter.is_alphanumeric() && letter != '_' && !is_fraction && !is_exponent {
                break;
            }
            number.push(letter);
            self.at += 1;
        }
        self.push(CodeItem::Number(number));
    }

    /// Lexes a variable with a sigil. In Perl the sigil says what is taken of a variable, so all become `$`.
    fn lex_variable(&mut self, sigil: char) -> bool {
        let language = self.dialect.language;
        let fits = match language {
            Language::Perl => {
                sigil == '$'
                    || (sigil == '@'
                        && self.peek(1).is_some_and(|next| next.is_alphabetic() || "_{$".contains(next)))
                    || (sigil == '%'
                        && self.begins_term()
                        && self.peek(1).is_some_and(|next| next.is_alphabetic() || "_{$+".contains(next)))
                    || (sigil == '&' && self.begins_term() && self.peek(1).is_some_and(char::is_alphabetic))
            }
            Language::Php => sigil == '$',
            Language::Ruby => {
                (sigil == '$' || sigil == '@') && self.peek(1).is_some_and(|next| !next.is_whitespace())
            }
            _ => false,
        };
        if !fits {
            return false;
        }
        self.at += 1;
        let mut name = String::from(if language == Language::Perl { '$' } else { sigil });
        if sigil == '&' {
            name.clear();
        }
        self.skip_more_sigils(&mut name);
        match self.peek(0) {
            Some(letter) if letter.is_alphanumeric() || letter == '_' => {
                let rest = self.take_variable_name();
                name.push_str(&rest);
            }
            // `${…}` and `@{…}` take the value of what stands inside.
            Some('{') if language != Language::Ruby => {}
            Some(letter) if language != Language::Php && !letter.is_whitespace() => {
                name.push(letter);
                self.at += 1;
            }
            _ => {}
        }
        self.push(CodeItem::Name(name));
        true
    }

    /// Steps over sigils after the first: references of Perl, variable variables of PHP, which nobody can follow.
    fn skip_more_sigils(&mut self, name: &mut String) {
        while let Some(letter @ ('$' | '@' | '#')) = self.peek(0) {
            let next = self.peek(1);
            let goes_on = next.is_some_and(|next| next.is_alphabetic() || "_${".contains(next));
            if !goes_on || (letter == '#' && self.dialect.language == Language::Ruby) {
                break;
            }
            if letter == '@' {
                name.push(letter);
            }
            if letter == '$' && self.dialect.language == Language::Php {
                self.report("uses variables whose names are computed");
            }
            self.at += 1;
        }
    }

    /// Takes the name after a sigil, with its packages in Perl.
    fn take_variable_name(&mut self) -> String {
        let mut name = String::new();
        while let Some(letter) = self.peek(0) {
            let is_package = letter == ':'
                && self.dialect.language == Language::Perl
                && self.peek(1) == Some(':')
                && self.peek(2).is_some_and(char::is_alphabetic);
            if is_package {
                name.push_str("::");
                self.at += 2;
                continue;
            }
            if !letter.is_alphanumeric() && letter != '_' {
                break;
            }
            name.push(letter);
            self.at += 1;
        }
        name
    }

    /// Lexes `:name` of Ruby, which is a string that does not change.
    fn lex_symbol(&mut self) -> bool {
        let before = self.at.checked_sub(1).and_then(|at| self.letters.get(at)).copied();
        let follows_name =
            before.is_some_and(|letter| letter.is_alphanumeric() || letter == ':' || letter == ')');
        if self.dialect.language != Language::Ruby
            || follows_name
            || !self.peek(1).is_some_and(char::is_alphabetic)
        {
            return false;
        }
        self.at += 1;
        let name = self.take_name();
        self.push(CodeItem::Text(vec![StringPiece::Plain(name)]));
        true
    }

    /// Says whether what comes next is a value rather than an operator.
    pub(super) fn begins_term(&self) -> bool {
        match self.last() {
            None | Some(CodeItem::Line) => true,
            Some(CodeItem::Mark(mark)) => !matches!(*mark, "++" | "--"),
            Some(CodeItem::Group('{', _)) if self.dialect.language == Language::Awk => true,
            Some(CodeItem::Name(name)) if self.dialect.language == Language::Awk => {
                matches!(name.as_str(), "print" | "printf" | "return" | "in")
            }
            Some(CodeItem::Name(_)) if self.follows_dot() => false,
            Some(CodeItem::Name(name)) => {
                let is_loose = matches!(self.dialect.language, Language::Ruby | Language::Perl);
                is_term_keyword(name)
                    || (is_loose && is_loose_keyword(name))
                    || (is_loose
                        && !name.starts_with(['$', '@'])
                        && self.spaced
                        && self.peek(1).is_some_and(|next| !next.is_whitespace() && next != '='))
            }
            Some(_) => false,
        }
    }

    /// Says whether the last name is a member, which no keyword is.
    fn follows_dot(&self) -> bool {
        let items = self.tree.items(self.group());
        let before = items.len().checked_sub(2).and_then(|at| items.get(at)).map(|token| &token.item);
        matches!(before, Some(CodeItem::Mark("." | "?." | "->" | "::")))
    }
}

/// Says whether a value follows this keyword.
fn is_term_keyword(name: &str) -> bool {
    matches!(
        name,
        "return"
            | "typeof"
            | "case"
            | "in"
            | "of"
            | "delete"
            | "void"
            | "throw"
            | "new"
            | "instanceof"
            | "else"
            | "do"
            | "await"
            | "yield"
            | "if"
            | "unless"
            | "while"
            | "until"
            | "when"
            | "and"
            | "or"
            | "not"
            | "elsif"
    )
}

/// Says whether a value follows this word of Ruby or Perl.
fn is_loose_keyword(name: &str) -> bool {
    matches!(
        name,
        "split"
            | "grep"
            | "map"
            | "join"
            | "push"
            | "unshift"
            | "then"
            | "print"
            | "puts"
            | "x"
            | "eq"
            | "ne"
    )
}

/// Says whether lines end where few see it: a comment would end there too.
pub(super) fn has_hidden_lines(language: Language, text: &str) -> bool {
    let is_line_end = |letter: char| match language {
        Language::JavaScript => matches!(letter, '\r' | '\u{2028}' | '\u{2029}'),
        Language::Python | Language::Php => letter == '\r',
        _ => false,
    };
    text.char_indices().any(|(at, letter)| {
        let is_usual = letter == '\r' && text.get(at..).is_some_and(|rest| rest.starts_with("\r\n"));
        is_line_end(letter) && !is_usual
    })
}
