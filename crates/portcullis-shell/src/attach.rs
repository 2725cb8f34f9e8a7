//! Puts the bodies of here-documents into the tree.
//!
//! A body is read at the next newline, when the redirection that asked for it may already be part of a finished
//! command. Until then the redirection's [`Heredoc`] holds a number in place of the body's span; this walk, made once
//! and only if there is a here-document, replaces it.

use crate::ast::{
    AssignmentValue, Command, CommandKind, Heredoc, List, Redirect, RedirectTarget, Word, WordPart,
};
use crate::span::Span;

/// The bodies by number.
#[derive(Debug)]
pub(crate) struct HeredocBodies(pub(crate) Vec<Option<Heredoc>>);

impl HeredocBodies {
    /// Fills in every here-document of `list`.
    pub(crate) fn attach(&mut self, list: &mut List) {
        for item in &mut list.items {
            for (_, pipeline) in &mut item.pipelines {
                for command in &mut pipeline.stages {
                    self.command(command);
                }
            }
        }
    }

    fn command(&mut self, command: &mut Command) {
        match &mut command.kind {
            CommandKind::Simple(simple) => {
                for assignment in &mut simple.assignments {
                    self.parts(&mut assignment.subscript);
                    match &mut assignment.value {
                        AssignmentValue::Word(word) => self.parts(&mut word.parts),
                        AssignmentValue::Array(words) => self.words(words),
                    }
                }
                self.words(&mut simple.words);
            }
            CommandKind::Subshell(list) | CommandKind::Group(list) => self.attach(list),
            CommandKind::Function { body, .. } | CommandKind::Coprocess { body, .. } => self.command(body),
            CommandKind::Conditional(words) => self.words(words),
            CommandKind::Arithmetic(parts) => self.parts(parts),
            CommandKind::Opaque => {}
            clause @ (CommandKind::If { .. }
            | CommandKind::Loop { .. }
            | CommandKind::For { .. }
            | CommandKind::ArithmeticFor { .. }
            | CommandKind::Case { .. }) => self.clause(clause),
        }
        for redirect in &mut command.redirects {
            self.redirect(redirect);
        }
    }

    fn clause(&mut self, kind: &mut CommandKind) {
        match kind {
            CommandKind::If { branches, otherwise } => {
                for (condition, body) in branches {
                    self.attach(condition);
                    self.attach(body);
                }
                if let Some(body) = otherwise {
                    self.attach(body);
                }
            }
            CommandKind::Loop { condition, body } => {
                self.attach(condition);
                self.attach(body);
            }
            CommandKind::For { words, body, .. } => {
                if let Some(words) = words {
                    self.words(words);
                }
                self.attach(body);
            }
            CommandKind::ArithmeticFor { header, body } => {
                self.parts(header);
                self.attach(body);
            }
            CommandKind::Case { subject, arms } => {
                self.parts(&mut subject.parts);
                for arm in arms {
                    self.words(&mut arm.patterns);
                    self.attach(&mut arm.body);
                }
            }
            CommandKind::Simple(_)
            | CommandKind::Subshell(_)
            | CommandKind::Group(_)
            | CommandKind::Function { .. }
            | CommandKind::Coprocess { .. }
            | CommandKind::Conditional(_)
            | CommandKind::Arithmetic(_)
            | CommandKind::Opaque => {}
        }
    }

    fn redirect(&mut self, redirect: &mut Redirect) {
        match &mut redirect.target {
            RedirectTarget::Word(word) => self.parts(&mut word.parts),
            RedirectTarget::Heredoc(heredoc) => {
                match self.0.get_mut(heredoc.body.start).and_then(Option::take) {
                    Some(body) => *heredoc = body,
                    None => heredoc.body = Span::new(redirect.span.end, redirect.span.end),
                }
                self.parts(&mut heredoc.parts);
            }
        }
    }

    fn words(&mut self, words: &mut [Word]) {
        for word in words {
            self.parts(&mut word.parts);
        }
    }

    fn parts(&mut self, parts: &mut [WordPart]) {
        for part in parts {
            match part {
                WordPart::Command { body, .. } | WordPart::Process { body, .. } => self.attach(body),
                WordPart::Double { parts, .. }
                | WordPart::Parameter { parts, .. }
                | WordPart::Arithmetic { parts, .. } => {
                    self.parts(parts);
                }
                WordPart::Literal { .. }
                | WordPart::Escaped { .. }
                | WordPart::Single { .. }
                | WordPart::AnsiC { .. }
                | WordPart::Glob { .. } => {}
            }
        }
    }
}
