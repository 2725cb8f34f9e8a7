//! Cuts a script into statements and commands of the client, past quotes and comments.
//!
//! Databases differ in how strings, comments and bodies of functions are written. Where two readings part, one is taken
//! and the doubt is reported: a script with a problem is not understood, so that nothing hides in the other reading.

/// One part of a script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum SqlPart {
    /// A statement without its semicolon and its comments.
    Statement(String),
    /// A command of `psql` or `sqlite3`, with its mark.
    Command(String),
}

/// A script in parts.
#[derive(Debug, Default)]
pub(super) struct SqlScript {
    pub(super) parts: Vec<SqlPart>,
    /// Where databases read the same letters in different ways.
    pub(super) problems: Vec<&'static str>,
}

/// Cuts a script into parts.
pub(super) fn split(text: &str) -> SqlScript {
    let mut splitter = SqlSplitter {
        letters: text.chars().collect(),
        at: 0,
        current: String::new(),
        script: SqlScript::default(),
    };
    while splitter.at < splitter.letters.len() {
        splitter.step();
    }
    splitter.end_statement();
    splitter.script
}

struct SqlSplitter {
    letters: Vec<char>,
    at: usize,
    current: String,
    script: SqlScript,
}

impl SqlSplitter {
    fn peek(&self, ahead: usize) -> Option<char> {
        self.letters.get(self.at + ahead).copied()
    }

    /// Notes a doubt once; each becomes a gap.
    fn report(&mut self, problem: &'static str) {
        if !self.script.problems.contains(&problem) {
            self.script.problems.push(problem);
        }
    }

    fn take(&mut self) {
        self.current.extend(self.peek(0));
        self.at += 1;
    }

    /// Ends the statement so far.
    fn end_statement(&mut self) {
        let statement = std::mem::take(&mut self.current);
        if !statement.trim().is_empty() {
            self.script.parts.push(SqlPart::Statement(statement.trim().to_owned()));
        }
    }

    /// Reads one letter, or the quote, comment or client command that begins with it.
    fn step(&mut self) {
        let letter = self.peek(0).unwrap_or(' ');
        match (letter, self.peek(1)) {
            ('\'' | '"' | '`', _) => self.take_quoted(letter),
            ('-', Some('-')) => self.skip_line(),
            ('/', Some('*')) => self.skip_comment(),
            ('#', _) => {
                self.report("has a `#`, which only some databases take for a comment");
                self.take();
            }
            ('$', Some(next)) if next == '$' || next.is_alphabetic() || next == '_' => {
                self.take_dollar_quoted();
            }
            (';', _) => {
                self.at += 1;
                self.end_statement();
            }
            // MySQL's end of a statement, whose rows are shown one below the other.
            ('\\', Some('G')) if !self.peek(2).is_some_and(char::is_alphanumeric) => {
                self.at += 2;
                self.end_statement();
            }
            ('\\', _) => self.take_command(),
            ('.', Some(next)) if next.is_alphabetic() && self.current.trim().is_empty() => {
                self.take_command();
            }
            ('\0', _) => {
                self.report("has a NUL in it");
                self.at += 1;
            }
            _ => self.take(),
        }
    }

    /// Takes a quoted text with its quotes; a doubled quote stands for itself.
    fn take_quoted(&mut self, quote: char) {
        self.take();
        loop {
            match self.peek(0) {
                None => {
                    self.report("ends inside a quoted text");
                    return;
                }
                Some('\\') if quote != '`' && self.peek(1) == Some(quote) => {
                    self.report("has a backslash before a quote, which databases read in different ways");
                    self.take();
                    self.take();
                }
                Some('\\') if quote != '`' && self.peek(1) == Some('\\') => {
                    self.take();
                    self.take();
                }
                Some(letter) => {
                    self.take();
                    if letter == quote {
                        return;
                    }
                }
            }
        }
    }

    /// Takes `$$ … $$` and `$tag$ … $tag$`; anything else after a dollar is a parameter.
    fn take_dollar_quoted(&mut self) {
        let tag: String = self
            .letters
            .iter()
            .skip(self.at + 1)
            .take(64)
            .take_while(|letter| letter.is_alphanumeric() || **letter == '_')
            .collect();
        let length = tag.chars().count() + 2;
        if self.peek(length - 1) != Some('$') {
            self.take();
            return;
        }
        let mark: Vec<char> = format!("${tag}$").chars().collect();
        for _ in 0..length {
            self.take();
        }
        while self.at < self.letters.len() {
            if self.letters.get(self.at..self.at + length) == Some(mark.as_slice()) {
                for _ in 0..length {
                    self.take();
                }
                return;
            }
            self.take();
        }
        self.report("ends inside a quoted text");
    }

    fn skip_line(&mut self) {
        while self.peek(0).is_some_and(|letter| letter != '\n') {
            self.at += 1;
        }
        self.current.push(' ');
    }

    /// Skips a comment; one that some databases run, `/*! … */`, is reported.
    fn skip_comment(&mut self) {
        if matches!(self.peek(2), Some('!' | 'M' | '+')) && self.peek(2) != Some('+') {
            self.report("has a comment that some databases run");
        }
        self.at += 2;
        loop {
            match (self.peek(0), self.peek(1)) {
                (None, _) => {
                    self.report("ends inside a comment");
                    return;
                }
                (Some('*'), Some('/')) => {
                    self.at += 2;
                    self.current.push(' ');
                    return;
                }
                (Some('/'), Some('*')) => {
                    self.report("has a comment inside a comment");
                    self.at += 2;
                }
                _ => self.at += 1,
            }
        }
    }

    /// Takes a command of the client, which ends with its line; what stands before it is a statement.
    fn take_command(&mut self) {
        self.end_statement();
        let mut line = String::new();
        while let Some(letter) = self.peek(0).filter(|letter| *letter != '\n') {
            line.push(letter);
            self.at += 1;
        }
        self.script.parts.push(SqlPart::Command(line.trim().to_owned()));
    }
}
