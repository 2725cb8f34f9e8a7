//! Statements, keywords and blocks.
//!
//! Nothing here decides which way a script takes: every block is read once, in the order of the text. What a loop or a
//! function changes is forgotten rather than guessed.

use super::super::cursor::{is_dash, is_name, is_newline};
use super::super::value::PowerShellValue;
use super::super::word::PowerShellWord;
use super::{BlockUse, PowerShellReader};
use crate::directories::Directories;

/// A loop over more values than this is read once, with a variable that nobody knows.
pub(super) const MOST_TURNS: usize = 12;

/// The keywords after which nothing means anything else than before, and that do not repeat without end.
const FLOW_KEYWORDS: &[&str] = &[
    "break", "catch", "continue", "do", "else", "elseif", "exit", "finally", "for", "foreach", "function",
    "if", "param", "return", "switch", "throw", "try", "until", "while",
];

impl PowerShellReader<'_, '_> {
    /// Reads statements up to a closing bracket, or to the end; returns what they yield.
    pub(super) fn statements(&mut self, close: Option<char>) -> Vec<PowerShellValue> {
        let start = self.cursor.position();
        let mut outputs = Vec::new();
        loop {
            self.cursor.skip_trivia();
            match self.cursor.peek() {
                None => {
                    if close.is_some() {
                        self.opaque(start, "a bracket is not closed");
                    }
                    return outputs;
                }
                Some(';') => {
                    self.cursor.bump();
                }
                letter if letter == close => {
                    self.cursor.bump();
                    return outputs;
                }
                Some(_) => self.one_statement(&mut outputs),
            }
        }
    }

    fn one_statement(&mut self, outputs: &mut Vec<PowerShellValue>) {
        let start = self.cursor.position();
        outputs.extend(self.statement());
        if self.cursor.position() == start {
            self.cursor.bump();
            self.opaque(start, "it is not PowerShell as it is read here");
        }
    }

    /// Reads one statement; returns what it yields, if anything.
    pub(super) fn statement(&mut self) -> Option<PowerShellValue> {
        self.skip_label();
        let mut ahead = self.cursor;
        let word = ahead.take_while(is_name).to_lowercase();
        let ends =
            ahead.peek().is_none_or(|next| next.is_whitespace() || matches!(next, '(' | '{' | ';' | '}'));
        if !word.is_empty() && ends {
            let before = self.cursor;
            self.cursor = ahead;
            if self.keyword(&word) {
                self.collector.is_plain = false;
                if !FLOW_KEYWORDS.contains(&word.as_str()) {
                    self.collector.lose();
                }
                return Some(PowerShellValue::unknown());
            }
            self.cursor = before;
        }
        self.chain()
    }

    /// Skips the name of a loop: `:outer foreach`.
    fn skip_label(&mut self) {
        if self.cursor.peek() == Some(':') && self.cursor.peek_second().is_some_and(is_name) {
            self.collector.lose();
            self.cursor.bump();
            self.cursor.take_while(is_name);
            self.cursor.skip_trivia();
        }
    }

    /// Reads what follows a keyword; `false` if the word is none here.
    fn keyword(&mut self, word: &str) -> bool {
        match word {
            "if" | "elseif" => self.condition(word, Self::branch),
            "while" | "until" => self.condition(word, Self::block),
            "switch" => self.switch(),
            "else" if self.is_before_keyword("if") => {}
            "else" => self.branch(),
            "finally" => self.block_statements(),
            "do" | "try" => self.block(),
            "begin" | "process" | "end" | "clean" | "dynamicparam" | "data" => {
                if !self.is_before('{') {
                    return false;
                }
                self.block();
            }
            "catch" | "trap" => self.handler(),
            "for" => self.counted_loop(),
            "foreach" => return self.each_loop(),
            "function" | "filter" | "workflow" | "configuration" => self.definition(word),
            "class" | "enum" => {
                let start = self.cursor.position();
                self.definition(word);
                self.opaque(start, "it defines a type");
            }
            "param" => return self.parameters(),
            "return" | "throw" | "exit" => {
                self.cursor.skip_blanks();
                if !self.is_at_statement_end() {
                    self.chain();
                }
            }
            "break" | "continue" => {
                self.cursor.skip_blanks();
                self.cursor.take_while(is_name);
            }
            _ => return false,
        }
        true
    }

    /// Says whether a bracket comes next, over blanks and lines.
    fn is_before(&mut self, bracket: char) -> bool {
        let mut ahead = self.cursor;
        ahead.skip_trivia();
        ahead.peek() == Some(bracket)
    }

    /// Says whether a word comes next, over blanks and lines.
    fn is_before_keyword(&self, word: &str) -> bool {
        let mut ahead = self.cursor;
        ahead.skip_trivia();
        ahead.take_while(is_name).eq_ignore_ascii_case(word)
    }

    /// Says whether a statement ends here.
    pub(super) fn is_at_statement_end(&self) -> bool {
        self.cursor
            .peek()
            .is_none_or(|letter| is_newline(letter) || matches!(letter, ';' | ')' | '}' | '|' | '&'))
    }

    /// Reads a condition in brackets, and the block after it. `do … while (…)` has no block.
    fn condition(&mut self, word: &str, block: fn(&mut Self)) {
        let start = self.cursor.position();
        self.bracketed();
        let source: String = self.cursor.since(start).to_lowercase().split_whitespace().collect();
        // A loop without an end, in which anything may be done any number of times.
        if word == "while" && matches!(source.as_str(), "($true)" | "(1)") {
            self.collector.lose();
        }
        if self.is_before('{') {
            block(self);
        }
    }

    /// Reads statements in round brackets.
    fn bracketed(&mut self) {
        let start = self.cursor.position();
        self.cursor.skip_trivia();
        if self.cursor.peek() != Some('(') {
            self.opaque(start, "a keyword has no condition in brackets");
            return;
        }
        if self.enter() {
            self.cursor.bump();
            self.statements(Some(')'));
            self.collector.leave();
        }
    }

    /// Reads `switch`, whose options may name a file that is read.
    fn switch(&mut self) {
        self.cursor.skip_trivia();
        let mut reads_file = false;
        while self.cursor.peek().is_some_and(is_dash) {
            let option = self.argument().map(|word| word.lower()).unwrap_or_default();
            reads_file |= option.trim_start_matches(is_dash).starts_with('f');
            self.cursor.skip_blanks();
            if !matches!(self.cursor.peek(), Some('(' | '{')) && !self.cursor.peek().is_some_and(is_dash) {
                let start = self.cursor.position();
                let file = self.argument();
                self.read_by_switch(file, start);
                self.cursor.skip_blanks();
                reads_file = false;
                break;
            }
        }
        if self.is_before('(') {
            let start = self.cursor.position();
            self.bracketed();
            if reads_file {
                self.read_by_switch(None, start);
            }
        }
        self.cursor.skip_trivia();
        let start = self.cursor.position();
        if self.cursor.peek() != Some('{') {
            self.opaque(start, "a keyword has no block");
        } else if self.enter() {
            self.cursor.bump();
            let item = self.collector.scope.replace("_", None);
            self.cases(start);
            self.collector.scope.replace("_", item);
            self.collector.leave();
        }
    }

    /// Lists the file that a `switch` reads line by line.
    fn read_by_switch(&mut self, file: Option<PowerShellWord>, start: usize) {
        let span = self.span(start);
        let index = self.collector.reserve("get-content".to_owned(), "switch -File", span, self.place);
        let file = file.unwrap_or_else(|| PowerShellWord::new(PowerShellValue::unknown(), "$_", span, true));
        if let Some(command) = self.collector.command(index) {
            command.arguments.push(file.argument);
        }
    }

    /// Reads the cases of a `switch`; which of them fits is not decided. What is not understood is stepped over letter by
    /// letter, so that it always ends.
    fn cases(&mut self, start: usize) {
        loop {
            self.cursor.skip_trivia();
            let before = self.cursor.position();
            match self.cursor.peek() {
                None => {
                    self.opaque(start, "a bracket is not closed");
                    return;
                }
                Some('}') => {
                    self.cursor.bump();
                    return;
                }
                Some('{') => self.block(),
                Some(';') => {
                    self.cursor.bump();
                }
                Some(_) => {
                    self.argument();
                }
            }
            if self.cursor.position() == before {
                self.cursor.bump();
                self.opaque(before, "it is not PowerShell as it is read here");
            }
        }
    }

    /// Reads the types a handler is for, and its block.
    fn handler(&mut self) {
        loop {
            self.cursor.skip_trivia();
            if self.cursor.peek() == Some('[') {
                self.type_literal();
            } else if !self.cursor.eat(',') {
                break;
            }
        }
        let item = self.collector.scope.replace("_", None);
        self.block();
        self.collector.scope.replace("_", item);
    }

    /// Reads `for (…; …; …) { … }`.
    fn counted_loop(&mut self) {
        self.bracketed();
        self.block();
    }

    /// Reads `foreach ($name in …) { … }`, whose variable never has one value. `foreach` without brackets is a command.
    fn each_loop(&mut self) -> bool {
        self.cursor.skip_trivia();
        while self.cursor.peek().is_some_and(is_dash) {
            self.argument();
            self.cursor.skip_blanks();
        }
        if self.cursor.peek() != Some('(') {
            return false;
        }
        let mut ahead = self.cursor;
        ahead.bump();
        ahead.skip_trivia();
        if ahead.peek() == Some('$') {
            self.cursor = ahead;
            let (name, _) = self.variable_name();
            self.cursor.skip_trivia();
            self.cursor.take_while(is_name);
            let mut outputs = Vec::new();
            if self.enter() {
                outputs = self.statements(Some(')'));
                self.collector.leave();
            }
            self.each_turn(&name, &outputs);
            return true;
        }
        self.bracketed();
        self.block();
        true
    }

    /// Reads the block of a loop once for each of a few values that its variable gets, else once for all.
    fn each_turn(&mut self, name: &str, outputs: &[PowerShellValue]) {
        let items: Vec<PowerShellValue> =
            outputs.iter().flat_map(PowerShellValue::items_of_pipe).take(MOST_TURNS + 1).collect();
        let is_known = !items.is_empty()
            && items.len() <= MOST_TURNS
            && !items.iter().any(|item| matches!(item, PowerShellValue::Open(_)));
        let start = self.cursor;
        let before = self.collector.scope.values();
        let items = if is_known { items.into_iter().map(Some).collect() } else { vec![None] };
        let is_several = items.len() > 1;
        for item in items {
            self.cursor = start;
            self.collector.scope.bind(name, item);
            self.block();
            let length = self.cursor.since(start.position()).len();
            let span = self.span(start.position());
            if is_several && !self.collector.spend(length, span) {
                break;
            }
        }
        if is_several {
            self.collector.scope.forget_changed(&before);
        }
        self.collector.scope.forget(name);
    }

    /// Reads the name, parameters and block of what is defined. A function is read where it is called.
    fn definition(&mut self, word: &str) {
        self.cursor.skip_blanks();
        let name =
            self.cursor.take_while(|letter| !letter.is_whitespace() && !matches!(letter, '(' | '{' | ';'));
        if word == "function" && !self.collector.is_trial {
            self.keep_function(name);
        } else {
            self.collector.lose();
            self.definition_rest();
        }
    }

    /// Reads the parameters and the block of what is defined.
    pub(super) fn definition_rest(&mut self) {
        self.cursor.skip_trivia();
        if self.cursor.peek() == Some('(') {
            self.parameters();
        }
        self.cursor.skip_trivia();
        self.cursor.take_while(|letter| !is_newline(letter) && !matches!(letter, '{' | ';'));
        self.script_block();
    }

    /// Reads a list of parameters. Their defaults are no constants: a caller may give others.
    fn parameters(&mut self) -> bool {
        self.cursor.skip_trivia();
        if self.cursor.peek() != Some('(') {
            return false;
        }
        let start = self.cursor.position();
        self.bracketed();
        self.forget_variables(start);
        true
    }

    /// Reads the block of a keyword that may run, or run more than once: where commands run must not change in it.
    pub(super) fn block(&mut self) {
        let start = self.cursor.position();
        let before = self.collector.directories.clone();
        self.block_statements();
        self.stay(&before, start);
    }

    /// Reads a block that runs in its turn; what it yields is kept.
    fn block_statements(&mut self) {
        self.collector.is_plain = false;
        let start = self.cursor.position();
        self.cursor.skip_trivia();
        if self.cursor.peek() != Some('{') {
            self.opaque(start, "a keyword has no block");
            return;
        }
        if self.enter() {
            self.cursor.bump();
            let outputs = self.statements(Some('}'));
            self.block = Some(PowerShellValue::of_outputs(outputs));
            self.collector.leave();
        }
    }

    /// Notes that nobody knows where later commands run, if a part that may run more or less than once changed it.
    fn stay(&mut self, before: &Directories, start: usize) {
        if self.collector.directories != *before {
            let span = self.span(start);
            self.collector.lose_directory(span);
        }
    }

    /// Reads the block of a condition, after which either of two directories is the one commands run in.
    fn branch(&mut self) {
        let before = self.collector.directories.clone();
        self.block_statements();
        let after = std::mem::replace(&mut self.collector.directories, Directories::Unknown);
        self.collector.directories = if after == before { before } else { before.either(after) };
    }

    /// Reads a script block. One that runs later knows no variable's value.
    pub(super) fn script_block(&mut self) {
        let start = self.cursor.position();
        let block_use = std::mem::replace(&mut self.block_use, BlockUse::Later);
        let before = self.collector.directories.clone();
        match block_use {
            BlockUse::ForItems => {
                let item = self.item.take();
                let outer = self.collector.scope.replace("_", item.clone());
                self.block_statements();
                self.collector.scope.replace("_", outer);
                self.item = item;
            }
            BlockUse::Now => {
                let item = self.collector.scope.replace("_", None);
                self.block_statements();
                self.collector.scope.replace("_", item);
            }
            BlockUse::Later => {
                let values = self.collector.scope.take_values();
                self.block_statements();
                self.collector.scope.restore(values);
            }
        }
        self.stay(&before, start);
        self.block_use = block_use;
    }
}
