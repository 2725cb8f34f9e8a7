//! Simple commands: assignments, words, redirections, and `cd`.

use portcullis_shell::ast::{
    AssignmentValue, Command, Descriptor, Redirect, RedirectOperator, RedirectTarget, SimpleCommand,
};

use super::movement::Mover;
use super::walk::{After, Walk, is_expansion};
use crate::argument::{Argument, Knowledge};
use crate::directories::Directories;
use crate::feed::{Feed, is_input};
use crate::invocation::{Access, Invocation, Redirection, Variable, Wrapping};

impl Walk<'_> {
    /// Makes an invocation of nothing but redirections.
    pub(super) fn bare(
        &self,
        command: &Command,
        redirections: Vec<Redirection>,
        directories: &Directories,
    ) -> Invocation {
        Invocation {
            span: self.fixed_span.unwrap_or(command.span),
            arguments: Vec::new(),
            assignments: Vec::new(),
            redirections,
            directories: directories.clone(),
            parent: self.parent,
            background: self.background,
            wrapping: Wrapping::Nothing,
        }
    }

    pub(super) fn redirections(
        &mut self,
        command: &Command,
        directories: &Directories,
        feed: &mut Feed,
    ) -> Vec<Redirection> {
        let mut redirections = Vec::new();
        let mut own: Option<Feed> = None;
        let mut others = Feed::Nothing;
        let is_fed = command.redirects.iter().any(|redirect| is_input(redirect.operator));
        for redirect in &command.redirects {
            let mut given = Feed::Nothing;
            // A substitution in one redirection may read what another one gives.
            let outer = is_fed.then(|| std::mem::replace(&mut self.input, Feed::Unknown));
            self.redirect(redirect, directories, &mut redirections, &mut given);
            if let Some(outer) = outer {
                self.input = outer;
            }
            if given == Feed::Nothing {
                continue;
            }
            match &redirect.descriptor {
                None | Some(Descriptor::Number(0)) => own = Some(own.unwrap_or(Feed::Nothing).and(given)),
                // Another descriptor may become the input later.
                Some(Descriptor::Number(_) | Descriptor::Variable(_)) => others = others.and(given),
            }
        }
        let input = own.unwrap_or_else(|| std::mem::replace(feed, Feed::Nothing));
        *feed = input.and(others);
        redirections
    }

    pub(super) fn simple(
        &mut self,
        simple: &SimpleCommand,
        command: &Command,
        before: Directories,
        mut feed: Feed,
    ) -> After {
        // Substitutions in the words read what the command itself would read.
        let outer = std::mem::replace(&mut self.input, feed.clone());
        let mut assignments = Vec::new();
        for assignment in &simple.assignments {
            if self.is_posix && !assignment.subscript.is_empty() {
                self.not_everywhere(assignment.span);
            }
            self.parts(&assignment.subscript, &before);
            let value = match &assignment.value {
                AssignmentValue::Word(word) => {
                    self.words(std::iter::once(word), &before);
                    Argument::of_word(word, self.text, self.fixed_span)
                }
                AssignmentValue::Array(words) => {
                    self.words(words.iter(), &before);
                    Argument::unknown(assignment.span)
                }
            };
            assignments.push(Variable { name: assignment.name.clone(), value });
        }
        self.words(simple.words.iter(), &before);
        let redirections = self.redirections(command, &before, &mut feed);
        self.input = outer;
        let mut invocation = self.bare(command, redirections, &before);
        invocation.arguments =
            simple.words.iter().map(|word| Argument::of_word(word, self.text, self.fixed_span)).collect();
        invocation.assignments = assignments;
        let takes_over = matches!(invocation.program_name(), Some("exec" | "command" | "builtin"))
            && invocation.arguments.iter().any(|word| word.text == "exec");
        if takes_over && command.redirects.iter().any(|redirect| is_input(redirect.operator)) {
            self.lasting.note_input(feed.clone());
        }
        self.lasting.note_invocation(&invocation);
        let indirect = self.mover(&invocation);
        let is_trap = invocation.arguments.iter().any(|word| word.text == "trap");
        let moved = self.change_of_directory(&invocation, &before);
        let first = self.found.invocations.len() + 1;
        self.invoke(invocation, &feed);
        match (indirect, moved) {
            (Mover::Inside, _) if is_trap && self.moves_since(first) => {
                self.opaque(command.span, "a trap changes the directory at any time".to_owned());
                After::same(Directories::Unknown)
            }
            (Mover::Itself, _) => After::same(Directories::Unknown),
            (Mover::Inside, _) if self.moves_since(first) => After::same(Directories::Unknown),
            (_, Some(success)) => After { success, failure: before },
            (_, None) => After::same(before),
        }
    }

    pub(super) fn redirect(
        &mut self,
        redirect: &Redirect,
        directories: &Directories,
        redirections: &mut Vec<Redirection>,
        feed: &mut Feed,
    ) {
        let is_of_bash = matches!(
            redirect.operator,
            RedirectOperator::HereString | RedirectOperator::OutputBoth | RedirectOperator::AppendBoth
        );
        if self.is_posix && is_of_bash {
            self.not_everywhere(redirect.span);
        }
        let word = match &redirect.target {
            RedirectTarget::Heredoc(heredoc) => {
                self.parts(&heredoc.parts, directories);
                *feed = if heredoc.quoted || !heredoc.parts.iter().any(is_expansion) {
                    Feed::Text(heredoc.text.clone())
                } else {
                    Feed::Partly(heredoc.text.clone())
                };
                return;
            }
            RedirectTarget::Word(word) => word,
        };
        self.words(std::iter::once(word), directories);
        let target = Argument::of_word(word, self.text, self.fixed_span);
        let accesses: &[Access] = match redirect.operator {
            RedirectOperator::Input => &[Access::Read],
            RedirectOperator::Output
            | RedirectOperator::Append
            | RedirectOperator::Clobber
            | RedirectOperator::OutputBoth
            | RedirectOperator::AppendBoth => &[Access::Write],
            RedirectOperator::ReadWrite => &[Access::Read, Access::Write],
            RedirectOperator::DuplicateInput | RedirectOperator::DuplicateOutput
                if !is_descriptor(&target) =>
            {
                &[Access::Read, Access::Write]
            }
            RedirectOperator::HereString => {
                *feed = match target.knowledge {
                    Knowledge::Fixed | Knowledge::Tilde | Knowledge::Glob => Feed::Text(target.text.clone()),
                    Knowledge::Dynamic => Feed::Partly(target.text.clone()),
                };
                &[]
            }
            RedirectOperator::DuplicateInput => {
                *feed = Feed::Unknown;
                &[]
            }
            RedirectOperator::DuplicateOutput | RedirectOperator::Heredoc => &[],
        };
        if accesses.contains(&Access::Read) {
            *feed = Feed::Unknown;
        }
        redirections.extend(accesses.iter().map(|&access| Redirection { access, target: target.clone() }));
    }
}

fn is_descriptor(target: &Argument) -> bool {
    target.fixed().is_some_and(|text| {
        let digits = text.trim_end_matches('-');
        digits.chars().all(|letter| letter.is_ascii_digit())
    })
}
