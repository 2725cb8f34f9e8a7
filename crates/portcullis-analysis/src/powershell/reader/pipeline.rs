//! Pipelines, the commands in them, redirections.
//!
//! A command is reserved in the list before its arguments are read, so that what stands in them comes after it and can
//! name it as its owner. What an expression yields goes through a pipe as a command of its own, `write-output`, because
//! rules speak of commands.

use std::ops::Range;

use super::super::alias;
use super::super::cursor::{is_dash, is_newline, is_quote};
use super::super::inside::{self, RunText};
use super::super::item::{self, FinishedCommand};
use super::super::temporary;
use super::super::value::PowerShellValue;
use super::super::word::PowerShellWord;
use super::argument::words_of;
use super::assignment::removed_variables;
use super::statement::MOST_TURNS;
use super::{BlockUse, PowerShellReader};
use crate::act::Access;

/// One stage of a pipeline.
struct PipelineStage {
    value: PowerShellValue,
    is_expression: bool,
}

/// What comes into a command through a pipe.
#[derive(Debug, Default)]
struct StageInput {
    commands: Range<usize>,
    value: Option<PowerShellValue>,
}

impl PowerShellReader<'_, '_> {
    /// Reads pipelines joined by `&&` and `||`; returns what they yield.
    pub(super) fn chain(&mut self) -> Option<PowerShellValue> {
        let value = self.pipeline();
        self.cursor.skip_blanks();
        if self.cursor.starts_with("&&") || self.cursor.starts_with("||") {
            while self.cursor.eat_text("&&") || self.cursor.eat_text("||") {
                self.cursor.skip_trivia();
                self.pipeline();
                self.cursor.skip_blanks();
            }
            return Some(PowerShellValue::unknown());
        }
        if self.cursor.eat('&') {
            self.collector.lose();
        }
        value
    }

    /// Reads one pipeline; what its last stage puts out is what it yields.
    fn pipeline(&mut self) -> Option<PowerShellValue> {
        let mut input = StageInput::default();
        loop {
            self.cursor.skip_blanks();
            let stage_start = self.cursor.position();
            let first = self.collector.commands.len();
            let stage = self.stage(input);
            let end = self.cursor;
            if !self.eat_pipe() {
                return stage.map(|stage| stage.value);
            }
            if let Some(PipelineStage { value, is_expression: true }) = &stage {
                let after = std::mem::replace(&mut self.cursor, end);
                self.written_out(value, stage_start);
                self.cursor = after;
            }
            let value = stage.map(|stage| stage.value);
            input = StageInput { commands: first..self.collector.commands.len(), value };
            self.cursor.skip_trivia();
        }
    }

    /// Takes a pipe, which may stand on the next line.
    fn eat_pipe(&mut self) -> bool {
        let mut ahead = self.cursor;
        ahead.skip_trivia();
        let is_pipe = ahead.peek() == Some('|') && ahead.peek_second() != Some('|');
        if is_pipe {
            ahead.bump();
            self.cursor = ahead;
        }
        is_pipe
    }

    /// Lists text that goes through a pipe or into a file as a command.
    fn written_out(&mut self, value: &PowerShellValue, start: usize) -> usize {
        let written = self.cursor.since(start).trim_end();
        let span = self.span(start);
        let index = self.collector.reserve("write-output".to_owned(), written, span, self.place);
        let words = words_of(value.clone(), written, span, true);
        if let Some(command) = self.collector.command(index) {
            command.arguments = words.into_iter().map(|word| word.argument).collect();
        }
        index
    }

    /// Reads one stage: an expression, or a command by its name. `None` if nothing stands here.
    fn stage(&mut self, input: StageInput) -> Option<PipelineStage> {
        if self.is_at_statement_end() && !self.is_call() {
            return None;
        }
        if self.begins_expression() {
            return self.expression_stage(input);
        }
        let start = self.cursor.position();
        let is_called = self.is_call();
        let name = if is_called { self.called_name() } else { self.command_name()? };
        let value = self.command(start, &name, is_called, input);
        Some(PipelineStage { value, is_expression: false })
    }

    /// Says whether a call operator stands here: `& x`, `. x`.
    fn is_call(&self) -> bool {
        let next = self.cursor.peek_second();
        match self.cursor.peek() {
            Some('&') => next != Some('&'),
            Some('.') => next.is_some_and(|next| {
                next.is_whitespace() || is_quote(next) || matches!(next, '$' | '(' | '{' | '`')
            }),
            _ => false,
        }
    }

    /// Says whether an expression begins here, by its first letters alone, as PowerShell decides it too.
    fn begins_expression(&self) -> bool {
        let next = self.cursor.peek_second();
        match self.cursor.peek() {
            Some('$' | '(' | '[' | '{' | '!' | ',') => true,
            Some('@') => next.is_some_and(|next| is_quote(next) || matches!(next, '(' | '{')),
            Some('+') => true,
            Some(letter) if is_quote(letter) => true,
            Some(letter) if is_dash(letter) => true,
            Some(letter) if letter.is_ascii_digit() => self.is_number(),
            Some('.') => next.is_some_and(|next| next.is_ascii_digit()) && self.is_number(),
            _ => false,
        }
    }

    /// Reads a stage that begins as an expression; an assignment yields nothing.
    fn expression_stage(&mut self, input: StageInput) -> Option<PipelineStage> {
        self.collector.is_plain = false;
        let start = self.cursor.position();
        let variable = self.assigned_variable();
        let value = self.expression()?;
        let end = self.cursor.position();
        self.cursor.skip_blanks();
        if let Some(sign) = self.assignment_sign() {
            let name = variable.filter(|(_, variable_end)| *variable_end == end).map(|(name, _)| name);
            self.assignment(start, end, name, sign);
            return None;
        }
        if self.is_at_redirection() {
            let index = self.written_out(&value, start);
            while self.redirection(index) {
                self.cursor.skip_blanks();
            }
        }
        if self.is_at_statement_end() || matches!(self.cursor.peek(), Some(',' | ']' | '=')) {
            return Some(PipelineStage { value, is_expression: true });
        }
        self.left_over(start, end, value, input);
        Some(PipelineStage { value: PowerShellValue::unknown(), is_expression: false })
    }

    /// Reads words after an expression. PowerShell refuses them; whoever wrote them took the expression for a
    /// program.
    fn left_over(&mut self, start: usize, end: usize, value: PowerShellValue, input: StageInput) {
        let mut name = value;
        if self.cursor.position() == end
            && let Some(word) = self.generic_word()
        {
            name = name.plus(word);
        }
        self.opaque(start, "words follow an expression, which PowerShell refuses");
        let name = self.sourced(name, start);
        self.command(start, &name, false, input);
    }

    /// Reads what follows a call operator.
    fn called_name(&mut self) -> PowerShellValue {
        self.collector.is_plain = false;
        self.cursor.bump();
        self.cursor.skip_blanks();
        let start = self.cursor.position();
        if self.cursor.peek() == Some('{') {
            return PowerShellValue::Block;
        }
        let word = self.argument_value();
        match word {
            Some((PowerShellValue::List(items), _)) => {
                items.into_iter().next().unwrap_or_else(PowerShellValue::unknown)
            }
            Some((value, _)) => self.sourced(value, start),
            None => PowerShellValue::unknown(),
        }
    }

    /// Reads the name of a command; one with quotes or escapes in it is not plain, because rules would not see it.
    fn command_name(&mut self) -> Option<PowerShellValue> {
        let start = self.cursor.position();
        let value = self.generic_word()?;
        let is_disguised = |letter: char| letter == '`' || letter == '$' || is_quote(letter);
        if self.cursor.since(start).contains(is_disguised) {
            self.collector.lose();
        }
        Some(value)
    }

    /// Reads a command's arguments and redirections, and what it runs; returns what it puts out.
    fn command(
        &mut self,
        start: usize,
        name: &PowerShellValue,
        is_called: bool,
        input: StageInput,
    ) -> PowerShellValue {
        let written = match name {
            PowerShellValue::Block => "&".to_owned(),
            other => other.shown(self.cursor.since(start)),
        };
        let is_known = *name == PowerShellValue::Block || name.known_text().is_some();
        let canonical = self.collector.scope.canonical_name(&written);
        let span = self.span(start);
        let index = self.collector.reserve(canonical.clone(), &written, span, self.place);
        if !is_known {
            self.opaque(start, "the program is only known at run time");
        }
        let owner = self.place.owner.replace(index);
        let (mut words, block) = self.arguments_for(index, &canonical, input.value.as_ref());
        self.place.owner = owner;
        let span = self.span(start);
        let is_piped = !input.commands.is_empty();
        if let Some(command) = self.collector.command(index) {
            command.span = span;
            command.piped = input.commands;
            command.is_dot_sourced_or_called = is_called;
            command.decoded |= name.is_decoded();
        }
        self.piped_in(index, input.value.as_ref());
        let lower = written.to_lowercase();
        let called = self.call_function(&lower, index, &words, is_piped, start);
        if called.is_none() && self.collector.scope.is_defined(&canonical) {
            // A program that has the name of a function of this text.
            self.collector.lose();
        }
        let directories = self.collector.directories.clone();
        self.move_directory(&canonical, &words, is_piped, start);
        let output = called.unwrap_or_else(|| {
            let (words, input, block) = (&words, input.value.as_ref(), block.as_ref());
            let directories = &directories;
            item::output(&FinishedCommand { name: &canonical, words, input, block, directories })
        });
        if canonical == "stop-process"
            && item::names_started(&words)
            && let Some(command) = self.collector.command(index)
        {
            // It ends what this text started, as `stop-job` does.
            "stop-job".clone_into(&mut command.name);
        }
        let names = removed_variables(&words).filter(|_| canonical == "remove-item" && !is_piped);
        if let Some(names) = names {
            words = self.unset(index, &names);
        }
        if temporary::may_run_here(&canonical) {
            temporary::forget_folders(&mut self.collector.scope);
        }
        if alias::is_script(&canonical) && is_called {
            // A script that runs in this scope may set any variable.
            self.collector.scope.forget_all();
        }
        inside::finish(self.collector, index, words, input.value.as_ref(), self.place);
        self.paid(output, start)
    }

    /// Notes what comes to a command through a pipe, as files and as text.
    fn piped_in(&mut self, index: usize, input: Option<&PowerShellValue>) {
        let Some(value) = input else { return };
        let span = self.span(self.cursor.position());
        let files = item::piped_files(value, span);
        let text = RunText::of_value(value, span).map(|text| text.content);
        if let Some(command) = self.collector.command(index) {
            command.piped_files = files;
            command.input = text;
        }
    }

    /// Reads the words of a command, its script blocks once for each of a few things that come through the pipe.
    fn arguments_for(
        &mut self,
        index: usize,
        name: &str,
        input: Option<&PowerShellValue>,
    ) -> (Vec<PowerShellWord>, Option<PowerShellValue>) {
        let block_use = item::block_use(name, input.is_some());
        let outer = std::mem::replace(&mut self.block_use, block_use);
        let items = input.map(PowerShellValue::items_of_pipe).filter(|_| block_use == BlockUse::ForItems);
        let turns: Vec<Option<PowerShellValue>> = match items {
            Some(items) if items.len() <= MOST_TURNS => items.into_iter().map(Some).collect(),
            _ => vec![None],
        };
        let hidden = self.collector.scope.replace("_", None);
        let start = self.cursor;
        let before = self.collector.scope.values();
        let is_several = turns.len() > 1;
        let mut words = Vec::new();
        let mut blocks = Vec::new();
        for item in turns {
            self.cursor = start;
            self.block = None;
            let item = item.filter(|item| !matches!(item, PowerShellValue::Open(_)));
            // Words outside of blocks belong to the stage around.
            self.item = item;
            self.collector.scope.replace("_", hidden.clone());
            if let Some(command) = self.collector.command(index) {
                command.redirections.clear();
            }
            words = self.arguments(index);
            let length = self.cursor.since(start.position()).len();
            let span = self.span(start.position());
            let Some(block) = self.block.take() else { break };
            blocks.push(block);
            if is_several && !self.collector.spend(length, span) {
                break;
            }
        }
        if is_several {
            self.collector.scope.forget_changed(&before);
        }
        self.collector.scope.replace("_", hidden);
        self.block_use = outer;
        let is_alone = matches!(words.as_slice(), [only] if only.value == PowerShellValue::Block);
        let block = is_alone.then(|| item::loosened(blocks));
        (words, block)
    }

    /// Follows a change of the directory.
    fn move_directory(&mut self, name: &str, words: &[PowerShellWord], is_piped: bool, start: usize) {
        let current = self.collector.directories.clone();
        let next = match name {
            "pop-location" if words.is_empty() => self.collector.pushed.pop(),
            "set-location" | "push-location" if !is_piped => item::target(words, &current),
            "set-location" | "push-location" | "pop-location" => None,
            _ => return,
        };
        if name == "push-location" {
            self.collector.pushed.push(current);
        }
        if let Some(next) = next {
            self.collector.directories = next;
        } else {
            let span = self.span(start);
            self.collector.lose_directory(span);
        }
    }

    /// Reads the words of a command up to its end.
    fn arguments(&mut self, index: usize) -> Vec<PowerShellWord> {
        let mut words = Vec::new();
        loop {
            self.cursor.skip_blanks();
            if self.is_at_statement_end() && self.cursor.peek() != Some('{') {
                return words;
            }
            if self.cursor.starts_with("--%") {
                self.verbatim(&mut words);
                return words;
            }
            if self.redirection(index) {
                continue;
            }
            let before = self.cursor.position();
            if self.splatted(&mut words) {
                continue;
            }
            self.argument_list(&mut words);
            if self.cursor.position() == before {
                self.cursor.bump();
                self.opaque(before, "it is not PowerShell as it is read here");
            }
        }
    }

    /// Reads the words after `--%`, which PowerShell hands on as they are.
    fn verbatim(&mut self, words: &mut Vec<PowerShellWord>) {
        self.collector.lose();
        self.cursor.eat_text("--%");
        let start = self.cursor.position();
        let line = self.cursor.take_while(|letter| !is_newline(letter) && letter != '|');
        let span = self.span(start);
        for word in super::super::command_line::split(line) {
            words.push(PowerShellWord::computed(&word, word.contains('%'), span));
        }
    }

    fn is_at_redirection(&self) -> bool {
        let mut ahead = self.cursor;
        if ahead.peek().is_some_and(|letter| letter.is_ascii_digit() || letter == '*') {
            ahead.bump();
        }
        ahead.peek() == Some('>') || self.cursor.peek() == Some('<')
    }

    /// Reads one redirection, if there is one.
    fn redirection(&mut self, index: usize) -> bool {
        if !self.is_at_redirection() {
            return false;
        }
        self.cursor.take_while(|letter| letter.is_ascii_digit() || letter == '*');
        let access = if self.cursor.eat('<') { Access::Read } else { Access::Write };
        self.cursor.take_while(|letter| letter == '>');
        if self.cursor.eat('&') {
            self.cursor.take_while(|letter| letter.is_ascii_digit());
            return true;
        }
        self.cursor.skip_blanks();
        let start = self.cursor.position();
        let Some(target) = self.argument() else {
            self.opaque(start, "a redirection has no target");
            return true;
        };
        if target.text().eq_ignore_ascii_case("$null") {
            return true;
        }
        self.collector.is_plain = false;
        if let Some(command) = self.collector.command(index) {
            command.redirections.push((access, target.argument));
        }
        true
    }
}
