//! Compound commands: every branch, loop and body counts.
//!
//! Which branch runs is never decided here: all of them are walked, and the directory afterwards is any that one of them
//! may leave the shell in. A loop may run again from where its body ended, so a body that moves makes it unknown.

use std::collections::BTreeSet;

use portcullis_shell::ast::{CaseArm, Command, CommandKind, List, Word, WordPart};

use super::calculation::set_by;
use super::settled::{VariableNames, inside_of};
use super::variables::KnownValue;
use super::walk::SurveyWalk;
use crate::argument::Argument;
use crate::directories::Directories;
use crate::invocation::Variable;
use crate::shape::{Shape, TextKind};
use crate::standard_input::{LineCount, StandardInput};

impl SurveyWalk<'_> {
    /// Walks a compound command; returns where the shell may be after it. A subshell and a coprocess leave it where it was.
    pub(super) fn compound(&mut self, command: &Command, before: Directories) -> Directories {
        let outer = self.is_moving;
        let is_loop = matches!(
            &command.kind,
            CommandKind::Loop { .. } | CommandKind::For { .. } | CommandKind::ArithmeticFor { .. }
        );
        self.is_moving |=
            is_loop && (self.lasting.has_moving_function || names_move(command.span.of(self.text)));
        let after = self.compound_inside(command, before);
        self.is_moving = outer;
        after
    }

    fn compound_inside(&mut self, command: &Command, before: Directories) -> Directories {
        match &command.kind {
            CommandKind::Simple(_) => before,
            CommandKind::Subshell(body) => {
                let mark = self.values.mark();
                let _ = self.list(body, before.clone());
                let _ = self.values.undo(mark);
                before
            }
            CommandKind::Group(body) => self.list(body, before),
            CommandKind::If { branches, otherwise } => self.branches(branches, otherwise.as_ref(), before),
            CommandKind::Loop { condition, body } => self.conditional_loop(condition, body, before),
            CommandKind::For { variable, words, body } => {
                self.for_loop(variable, words.as_deref(), body, command, before)
            }
            CommandKind::ArithmeticFor { header, body } => {
                let first = self.found.invocations.len();
                self.parts(header, &before);
                self.note_evaluated(header);
                let mark = self.begin_loop(&[body]);
                let after = self.list(body, before.clone());
                self.values.weaken(mark);
                self.settled(first, before, &after)
            }
            CommandKind::Case { subject, arms } => self.case(subject, arms, command, before),
            CommandKind::Function { name, body } => {
                self.function(name, body, command);
                before
            }
            CommandKind::Conditional(words) => {
                let is_split = command.span.of(self.text).contains(['|', '&', ';', '(', '\n']);
                if self.is_posix && is_split {
                    self.not_everywhere(command.span);
                }
                self.words(words.iter(), &before);
                self.note_condition(words);
                before
            }
            CommandKind::Arithmetic(parts) => {
                self.calculation(parts, command, &before);
                before
            }
            CommandKind::Coprocess { body, .. } => {
                let mark = self.values.mark();
                let first = self.found.invocations.len();
                let _ = self.command(body, before.clone(), StandardInput::Unknown);
                for started in self.found.invocations.iter_mut().skip(first) {
                    started.background = true;
                }
                let _ = self.values.undo(mark);
                before
            }
            CommandKind::Opaque => {
                self.opaque(command.span, "the shell syntax is not understood".to_owned());
                before
            }
        }
    }

    /// Walks `((…))`, and notes the numbers that it sets.
    fn calculation(&mut self, parts: &[WordPart], command: &Command, before: &Directories) {
        if self.is_posix {
            self.not_everywhere(command.span);
        }
        self.parts(parts, before);
        self.note_evaluated(parts);
        let number = KnownValue::of(Shape::of(TextKind::Number), LineCount::One);
        for name in inside_of(command.span.of(self.text)).and_then(set_by).unwrap_or_default() {
            self.set_variable(name, Some(vec![number.clone()]));
        }
    }

    fn conditional_loop(&mut self, condition: &List, body: &List, before: Directories) -> Directories {
        let first = self.found.invocations.len();
        let mark = self.begin_loop(&[condition, body]);
        let outer = std::mem::replace(&mut self.is_condition, true);
        let inside = self.list(condition, before.clone());
        self.is_condition = outer;
        let after = self.list(body, inside);
        self.values.weaken(mark);
        self.settled(first, before, &after)
    }

    fn for_loop(
        &mut self,
        variable: &str,
        words: Option<&[Word]>,
        body: &List,
        command: &Command,
        before: Directories,
    ) -> Directories {
        let first = self.found.invocations.len();
        self.words(words.iter().copied().flatten(), &before);
        self.note_loop(variable, words);
        let mark = self.values.mark();
        let values = self.loop_variable(variable, words, first, command, &before);
        let _ = self.begin_loop(&[body]);
        self.set_variable(variable, values);
        let first = self.found.invocations.len();
        let after = self.list(body, before.clone());
        self.values.weaken(mark);
        self.settled(first, before, &after)
    }

    /// Begins a loop: what its body sets may be anything at its beginning.
    fn begin_loop(&mut self, lists: &[&List]) -> usize {
        let mark = self.values.mark();
        if self.values.is_empty() {
            return mark;
        }
        for list in lists {
            let names = VariableNames::of_list(list, self.text);
            self.values.widen_to_number(names.calculated());
            let calculated: BTreeSet<&str> = names.calculated().collect();
            self.values.forget(names.all().filter(|name| !calculated.contains(name)));
        }
        if !self.lasting.functions.is_empty() {
            self.values.forget_changing();
        }
        mark
    }

    /// Records the words a loop goes through as values its variable is given.
    fn loop_variable(
        &mut self,
        name: &str,
        words: Option<&[Word]>,
        first: usize,
        command: &Command,
        directories: &Directories,
    ) -> Option<Vec<KnownValue>> {
        let mut invocation = self.bare(command, Vec::new(), directories);
        invocation.substituted = self.since(first);
        let arguments = self.arguments(words.unwrap_or_default(), directories);
        let single = |word: &Argument| match KnownValue::of_argument(word, self.values.is_decoded(word))? {
            KnownValue::Shaped { shape, .. } => Some(KnownValue::of(shape, LineCount::One)),
            value => Some(value),
        };
        // Without words a loop goes through the arguments of the shell or function.
        let values: Option<Vec<KnownValue>> = match words {
            Some(_) => arguments.iter().map(single).collect(),
            None => None,
        };
        let values = values.map(|mut values| {
            values.dedup();
            values
        });
        invocation.assignments =
            arguments.into_iter().map(|value| Variable { name: name.to_owned(), value }).collect();
        if !invocation.assignments.is_empty() {
            self.invoke(invocation, &StandardInput::Nothing);
        }
        values
    }

    fn case(
        &mut self,
        subject: &Word,
        arms: &[CaseArm],
        command: &Command,
        before: Directories,
    ) -> Directories {
        self.words(std::iter::once(subject), &before);
        // `;&` and `;;&` go on with the next arm.
        let falls_through = command.span.of(self.text).contains(";&");
        let mut after = before.clone();
        let mut arm_values = Vec::new();
        for arm in arms {
            let start = if falls_through { after.clone() } else { before.clone() };
            self.words(arm.patterns.iter(), &start);
            let mark = self.values.mark();
            after = after.either(self.list(&arm.body, start));
            if falls_through {
                self.values.weaken(mark);
            } else {
                arm_values.push(self.values.undo_branch(mark));
            }
        }
        let is_complete =
            arms.last().is_some_and(|arm| arm.patterns.iter().any(|pattern| pattern.text == "*"));
        if !is_complete {
            let mark = self.values.mark();
            arm_values.push(self.values.undo_branch(mark));
        }
        if !falls_through {
            self.values.merge_branches(&arm_values);
        }
        if arms.is_empty() { before } else { after }
    }

    fn branches(
        &mut self,
        branches: &[(List, List)],
        otherwise: Option<&List>,
        before: Directories,
    ) -> Directories {
        let mut tested = before;
        let mut after: Option<Directories> = None;
        let mut join = |state: Directories| {
            after = Some(match after.take() {
                Some(so_far) => so_far.either(state),
                None => state,
            });
        };
        let mut branch_values = Vec::new();
        for (condition, body) in branches {
            tested = self.list(condition, tested);
            let mark = self.values.mark();
            join(self.list(body, tested.clone()));
            branch_values.push(self.values.undo_branch(mark));
        }
        let mark = self.values.mark();
        match otherwise {
            Some(body) => join(self.list(body, tested)),
            None => join(tested),
        }
        branch_values.push(self.values.undo_branch(mark));
        self.values.merge_branches(&branch_values);
        after.unwrap_or(Directories::Unknown)
    }

    /// After a loop: where its body ends if it goes nowhere, else nobody knows, not even where it began.
    fn settled(&mut self, first: usize, before: Directories, after: &Directories) -> Directories {
        if before == *after {
            return before;
        }
        for invocation in self.found.invocations.iter_mut().skip(first) {
            invocation.directories = Directories::Unknown;
        }
        Directories::Unknown
    }
}

/// Says whether a text has a word of a command that may change the directory.
fn names_move(text: &str) -> bool {
    let mut words = text.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '.');
    words.any(|word| matches!(word, "cd" | "pushd" | "popd" | "source" | "."))
}
