//! Simple commands: assignments, words and redirections in any order bash takes them.

use crate::ast::{Command, CommandKind, Redirect, SimpleCommand, Word};
use crate::cursor::Parser;

/// The builtins whose arguments may be array assignments.
const DECLARES: [&str; 5] = ["declare", "export", "local", "readonly", "typeset"];

impl Parser<'_> {
    /// A simple command, or the function definition it turns out to be.
    pub(crate) fn simple(&mut self, start: usize) -> Command {
        self.simple_rest(start, SimpleCommand::default())
    }

    /// A simple command of which some words have been read.
    pub(crate) fn simple_rest(&mut self, start: usize, mut simple: SimpleCommand) -> Command {
        let mut redirects = Vec::new();
        loop {
            self.skip_space();
            if self.peek() == Some(b'(') {
                if self.context.no_function != Some(start)
                    && let ([name], [], []) = (&*simple.words, &*simple.assignments, &*redirects)
                {
                    return self.function_definition(start, name);
                }
                self.unexpected();
            }
            if !self.simple_element(&mut simple, &mut redirects) {
                break;
            }
        }
        if simple.words.is_empty() && simple.assignments.is_empty() && redirects.is_empty() {
            self.unexpected();
            return Command { span: self.span_from(start), kind: CommandKind::Opaque, redirects };
        }
        Command { span: self.span_from(start), kind: CommandKind::Simple(simple), redirects }
    }

    /// An assignment, a word or a redirection, if one comes next.
    fn simple_element(&mut self, simple: &mut SimpleCommand, redirects: &mut Vec<Redirect>) -> bool {
        if let Some(redirect) = self.opt_redirect() {
            redirects.push(redirect);
            return true;
        }
        match simple.words.first() {
            None => {
                if let Some(assignment) = self.opt_assignment() {
                    simple.assignments.push(assignment);
                    return true;
                }
            }
            Some(program) if declares(program) => {
                if let Some(word) = self.opt_array_argument() {
                    simple.words.push(word);
                    return true;
                }
            }
            Some(_) => {}
        }
        let start = self.here();
        let Some(word) = self.opt_word() else { return false };
        if matches!(self.peek(), Some(b'<' | b'>')) && is_subscripted_descriptor(&word) {
            self.fail(start, "a subscript in the name of a file descriptor");
        }
        simple.words.push(word);
        true
    }
}

/// Says whether a word before a redirection looks like `{name[…]}`.
fn is_subscripted_descriptor(word: &Word) -> bool {
    word.text.starts_with('{') && word.text.ends_with('}') && word.text.contains('[')
}

fn declares(program: &Word) -> bool {
    !program.traits.quoted && DECLARES.contains(&program.text.as_str())
}
