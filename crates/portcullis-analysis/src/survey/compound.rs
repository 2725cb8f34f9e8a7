//! Compound commands: every branch, loop and body counts.
//!
//! Which branch runs is never decided here: all of them are walked, and the directory afterwards is any that one of them
//! may leave the shell in. A loop may run again from where its body ended, so a body that moves makes it unknown.

use portcullis_shell::ast::{CaseArm, Command, CommandKind, List, Word};

use super::walk::SurveyWalk;
use crate::directories::Directories;
use crate::invocation::Variable;
use crate::standard_input::StandardInput;

/// Names whose usual meaning the survey relies on.
const RELIED_ON: &[&str] = &[
    "base64", "cat", "cd", "echo", "gbase64", "openssl", "popd", "printf", "pushd", "pwd", "rev", "tr", "xxd",
];

impl SurveyWalk<'_> {
    /// Walks a compound command; returns where the shell may be after it. A subshell and a coprocess leave it where it was.
    pub(super) fn compound(&mut self, command: &Command, before: Directories) -> Directories {
        match &command.kind {
            CommandKind::Simple(_) => before,
            CommandKind::Subshell(body) => {
                let _ = self.list(body, before.clone());
                before
            }
            CommandKind::Group(body) => self.list(body, before),
            CommandKind::If { branches, otherwise } => self.branches(branches, otherwise.as_ref(), before),
            CommandKind::Loop { condition, body } => {
                let first = self.found.invocations.len();
                let inside = self.list(condition, before.clone());
                let after = self.list(body, inside);
                self.settled(first, before, &after)
            }
            CommandKind::For { variable, words, body } => {
                let first = self.found.invocations.len();
                self.words(words.iter().flatten(), &before);
                let words = words.as_deref().unwrap_or_default();
                self.loop_variable(variable, words, first, command, &before);
                let first = self.found.invocations.len();
                let after = self.list(body, before.clone());
                self.settled(first, before, &after)
            }
            CommandKind::ArithmeticFor { header, body } => {
                let first = self.found.invocations.len();
                self.parts(header, &before);
                let after = self.list(body, before.clone());
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
                before
            }
            CommandKind::Arithmetic(parts) => {
                if self.is_posix {
                    self.not_everywhere(command.span);
                }
                self.parts(parts, &before);
                before
            }
            CommandKind::Coprocess { body, .. } => {
                let _ = self.command(body, before.clone(), StandardInput::Unknown);
                before
            }
            CommandKind::Opaque => {
                self.opaque(command.span, "the shell syntax is not understood".to_owned());
                before
            }
        }
    }

    /// Records the words a loop goes through as values its variable is given.
    fn loop_variable(
        &mut self,
        name: &str,
        words: &[Word],
        first: usize,
        command: &Command,
        directories: &Directories,
    ) {
        let mut invocation = self.bare(command, Vec::new(), directories);
        invocation.substituted = self.since(first);
        let values = self.arguments(words, directories).into_iter();
        invocation.assignments = values.map(|value| Variable { name: name.to_owned(), value }).collect();
        if !invocation.assignments.is_empty() {
            self.invoke(invocation, &StandardInput::Nothing);
        }
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
        for arm in arms {
            let start = if falls_through { after.clone() } else { before.clone() };
            self.words(arm.patterns.iter(), &start);
            let mark = self.values.mark();
            after = after.either(self.list(&arm.body, start));
            self.values.forget(mark);
        }
        if arms.is_empty() { before } else { after }
    }

    fn function(&mut self, name: &str, body: &Command, command: &Command) {
        // The body runs where it is called from, which is not followed.
        let outer = std::mem::replace(&mut self.input, StandardInput::Unknown);
        let piped = std::mem::take(&mut self.piped);
        let first = self.found.invocations.len();
        let values = self.lasting.exports_functions.then(|| std::mem::take(&mut self.values));
        let _ = self.command(body, Directories::Unknown, StandardInput::Unknown);
        if let Some(mut values) = values {
            values.put_in = self.values.put_in;
            self.values = values;
        }
        self.piped = piped;
        self.input = outer;
        self.lasting.has_moving_function |= self.moves_since(first);
        let body = self.since(first);
        self.found.bodies.entry(name.to_owned()).or_default().push(body);
        self.lasting.note_function(name);
        if RELIED_ON.contains(&name) {
            self.opaque(command.span, format!("it gives `{name}` another meaning"));
        }
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
        for (condition, body) in branches {
            tested = self.list(condition, tested);
            let mark = self.values.mark();
            join(self.list(body, tested.clone()));
            self.values.forget(mark);
        }
        match otherwise {
            Some(body) => join(self.list(body, tested)),
            None => join(tested),
        }
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
