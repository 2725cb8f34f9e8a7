//! Reads lines of `cmd.exe`.
//!
//! There is no tree: blocks, loops and conditions only say where the next command begins.

use portcullis_shell::Span;

use super::CommandDialect;
use super::alias::{base, without_extension};
use super::collector::{CommandCollector, TextPlace};
use super::cursor::{TextCursor, is_name, is_newline};
use super::inside;
use super::word::PowerShellWord;
use crate::act::Access;
use crate::argument::{Argument, Knowledge};

/// Commands `cmd.exe` runs itself, which need no blank before what follows.
const BUILTINS: &[&str] = &[
    "assoc", "call", "cd", "chdir", "cls", "color", "copy", "date", "del", "dir", "echo", "endlocal",
    "erase", "exit", "ftype", "md", "mkdir", "mklink", "move", "path", "pause", "popd", "prompt", "pushd",
    "rd", "ren", "rename", "rmdir", "set", "setlocal", "shift", "start", "time", "title", "type", "ver",
    "verify", "vol",
];

/// Other names of the same command.
const SYNONYMS: &[(&str, &str)] =
    &[("chdir", "cd"), ("erase", "del"), ("md", "mkdir"), ("ren", "rename"), ("rmdir", "rd")];

/// Says whether text may be meant for `cmd.exe`.
pub(super) fn may_be_cmd(text: &str) -> bool {
    // A variable of PowerShell's says that it is not.
    let is_variable = |piece: &str| piece.starts_with(|letter: char| is_name(letter) || letter == '{');
    if text.split('$').skip(1).any(is_variable) {
        return false;
    }
    let lower = text.to_ascii_lowercase();
    let hints = [
        "if exist ",
        "if not exist ",
        "if defined ",
        "if errorlevel ",
        "@echo ",
        ">nul",
        "> nul",
        "del /",
        "rd /",
        "rmdir /",
        "erase /",
        "copy /",
        "for /f ",
        "for /l ",
        "for %",
        "setlocal",
        "goto :",
    ];
    has_percent_variable(&lower) || hints.iter().any(|hint| lower.contains(hint))
}

/// Looks for `%name%`.
fn has_percent_variable(text: &str) -> bool {
    let mut pieces = text.split('%');
    pieces.next();
    let is_name = |piece: &str| {
        let name = piece.split(':').next().unwrap_or_default();
        // Shorter names are rather places in a format, as in `%h%n`.
        name.len() > 2
            && name.chars().all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '(' | ')'))
    };
    let named: Vec<bool> = pieces.map(is_name).collect();
    // The last piece has no sign after it.
    named.iter().rev().skip(1).any(|is_name| *is_name)
}

/// Reads lines of `cmd.exe`.
pub(super) fn read(text: &str, place: TextPlace, collector: &mut CommandCollector) {
    let mut reader = CmdReader { cursor: TextCursor::new(text), collector, place, stage: 0..0 };
    reader.read();
}

struct CmdReader<'t, 'c> {
    cursor: TextCursor<'t>,
    collector: &'c mut CommandCollector,
    place: TextPlace,
    /// The commands of the pipeline stage before, empty if there is none.
    stage: std::ops::Range<usize>,
}

impl CmdReader<'_, '_> {
    /// Reads the commands of a line of cmd, between `&`, `|` and brackets.
    fn read(&mut self) {
        while !self.cursor.is_at_end() {
            let start = self.cursor.position();
            self.cursor.take_while(|letter| {
                letter.is_whitespace() || matches!(letter, '@' | '(' | ')' | ';' | ',' | '=' | '&')
            });
            if self.cursor.eat('|') {
                self.stage = 0..0;
                continue;
            }
            if self.cursor.peek() == Some(':') {
                self.skip_line();
                continue;
            }
            self.command();
            if self.cursor.position() == start {
                self.cursor.bump();
            }
        }
    }

    /// Skips a comment.
    fn skip_line(&mut self) {
        self.cursor.take_while(|letter| !is_newline(letter));
    }

    fn span(&self, start: usize) -> Span {
        self.place.span.unwrap_or_else(|| Span::new(start, self.cursor.position().max(start)))
    }

    /// Reads one command, or a word that only says where the next one begins.
    fn command(&mut self) {
        let start = self.cursor.position();
        let Some(program) = self.word() else { return };
        let lower = program.lower();
        match lower.as_str() {
            "rem" => return self.skip_line(),
            "if" | "else" | "call" | "do" | "in" => {
                self.collector.lose();
                if lower == "if" {
                    self.skip_condition();
                }
                return;
            }
            "for" => return self.loop_head(),
            _ => {}
        }
        let (written, glued) = split_builtin(program.text());
        let name = canonical(written);
        let span = self.span(start);
        let index = self.collector.reserve(name, written, span, self.place);
        let mut words: Vec<PowerShellWord> = Vec::new();
        if !glued.is_empty() {
            words.push(PowerShellWord::computed(glued, program.is_open(), program.argument.span));
        }
        if program.is_open() {
            self.collector.opaque(span, "the program is only known at run time");
        }
        self.arguments(index, &mut words);
        self.finish(start, index, words);
    }

    /// Stores the words of a command and reads what it runs.
    fn finish(&mut self, start: usize, index: usize, words: Vec<PowerShellWord>) {
        let span = self.span(start);
        let piped = std::mem::replace(&mut self.stage, 0..0);
        if let Some(command) = self.collector.command(index) {
            command.span = span;
            command.piped = piped;
            command.dialect = CommandDialect::Cmd;
        }
        inside::finish(self.collector, index, words, None, self.place);
        if self.cursor.peek() == Some('|') && self.cursor.peek_second() != Some('|') {
            self.cursor.bump();
            self.stage = index..self.collector.commands.len();
        } else if self.cursor.starts_with("||") {
            self.cursor.eat_text("||");
        }
    }

    /// Reads the words of a command up to its end.
    fn arguments(&mut self, index: usize, words: &mut Vec<PowerShellWord>) {
        loop {
            self.cursor.take_while(|letter| letter.is_whitespace() && !is_newline(letter));
            let before = self.cursor.position();
            match self.cursor.peek() {
                None | Some('&' | '|' | ')') => return,
                Some(letter) if is_newline(letter) => return,
                Some(_) if self.redirection(index) => {}
                Some(_) => words.extend(self.word()),
            }
            if self.cursor.position() == before {
                self.cursor.bump();
            }
        }
    }

    /// Reads a redirection, if one stands here.
    fn redirection(&mut self, index: usize) -> bool {
        let mut ahead = self.cursor;
        if ahead.peek().is_some_and(|letter| letter.is_ascii_digit()) {
            ahead.bump();
        }
        let access = match ahead.peek() {
            Some('>') => Access::Write,
            Some('<') => Access::Read,
            _ => return false,
        };
        ahead.take_while(|letter| matches!(letter, '>' | '<'));
        self.cursor = ahead;
        if self.cursor.eat('&') {
            self.cursor.take_while(|letter| letter.is_ascii_digit());
            return true;
        }
        self.cursor.take_while(|letter| letter == ' ' || letter == '\t');
        if let Some(target) = self.word()
            && !target.text().eq_ignore_ascii_case("nul")
            && let Some(command) = self.collector.command(index)
        {
            command.redirections.push((access, target.argument));
        }
        true
    }

    /// Reads a word: quotes removed, `^` removed, variables kept as they are written.
    fn word(&mut self) -> Option<PowerShellWord> {
        let start = self.cursor.position();
        let mut text = String::new();
        let mut is_quoted = false;
        let mut has_quotes = false;
        let mut is_open = false;
        while let Some(letter) = self.cursor.peek() {
            match letter {
                '"' => {
                    is_quoted = !is_quoted;
                    has_quotes = true;
                }
                '^' if !is_quoted => {
                    self.cursor.bump();
                    match self.cursor.peek() {
                        Some('\r') => {
                            self.cursor.bump();
                        }
                        Some('\n') | None => {}
                        Some(escaped) => text.push(escaped),
                    }
                }
                letter if is_newline(letter) => break,
                letter if !is_quoted && ends_word(letter) => break,
                letter => {
                    is_open |= matches!(letter, '%' | '!') || self.place.is_open && letter == '$';
                    text.push(letter);
                }
            }
            self.cursor.bump();
        }
        let written = self.cursor.since(start);
        (!written.is_empty()).then(|| {
            let mut word = PowerShellWord::computed(&text, is_open, self.span(start));
            word.argument =
                Argument { source: (written != text).then(|| written.to_owned()), ..word.argument };
            if has_quotes && !is_open && word.argument.knowledge == Knowledge::Tilde {
                word.argument.knowledge = Knowledge::Fixed;
            }
            word
        })
    }

    /// Skips the condition of an `if`, so that the command after it is read.
    fn skip_condition(&mut self) {
        for _ in 0..6 {
            self.cursor.take_while(|letter| letter.is_whitespace() && !is_newline(letter));
            let Some(word) = self.word() else { return };
            let lower = word.lower();
            match lower.as_str() {
                "/i" | "not" => {}
                "exist" | "defined" | "errorlevel" | "cmdextversion" => {
                    self.cursor.take_while(|letter| letter == ' ' || letter == '\t');
                    self.word();
                    return;
                }
                "==" | "equ" | "neq" | "lss" | "leq" | "gtr" | "geq" => {
                    self.cursor.take_while(|letter| letter == ' ' || letter == '\t');
                    self.word();
                    return;
                }
                // `a==b` may be one word, and `a== b` two.
                _ if lower.contains("==") && !lower.ends_with("==") => return,
                _ => {}
            }
        }
    }

    /// Reads `for /f %i in ('command') do`, up to the command that is repeated.
    fn loop_head(&mut self) {
        self.collector.lose();
        let start = self.cursor.position();
        let mut words = Vec::new();
        loop {
            self.cursor.take_while(|letter| {
                letter.is_whitespace() && !is_newline(letter) || matches!(letter, '(' | ')' | ',' | ';')
            });
            match self.word() {
                Some(word) if word.lower() == "do" => break,
                Some(word) => words.push(word),
                None => break,
            }
        }
        let span = self.span(start);
        let index = self.collector.reserve("for".to_owned(), "for", span, self.place);
        let head = self.cursor.since(start);
        let command = head.split_once(['\'', '`']).and_then(|(_, rest)| rest.rsplit_once(['\'', '`']));
        if let Some(command_reference) = self.collector.command(index) {
            command_reference.dialect = CommandDialect::Cmd;
            command_reference.arguments = words.into_iter().map(|word| word.argument).collect();
        }
        if let Some((command, _)) = command
            && self.collector.enter(span)
        {
            if self.collector.spend(command.len(), span) {
                let place = TextPlace { owner: Some(index), span: Some(span), ..self.place };
                read(command, place, self.collector);
            }
            self.collector.leave();
        }
    }
}

/// Says whether a letter ends a word outside of quotes.
fn ends_word(letter: char) -> bool {
    letter.is_whitespace() || matches!(letter, '&' | '|' | '<' | '>' | ')' | '(')
}

/// Splits a command `cmd.exe` runs itself from what is glued to it: `del/f`, `cd\`, `echo.`.
fn split_builtin(word: &str) -> (&str, &str) {
    let end = word.find(['/', '\\', '.', ':', '=', ',', ';']).unwrap_or(word.len());
    let (head, rest) = word.split_at_checked(end).unwrap_or((word, ""));
    let is_builtin = BUILTINS.iter().any(|name| name.eq_ignore_ascii_case(head));
    if is_builtin { (head, rest) } else { (word, "") }
}

/// Returns the one name of a program that profiles have: without its ending, whichever of its synonyms is used.
fn canonical(written: &str) -> String {
    let lower = written.to_lowercase();
    let name = without_extension(base(&lower));
    SYNONYMS.iter().find(|(other, _)| *other == name).map_or(name, |(_, name)| *name).to_owned()
}
