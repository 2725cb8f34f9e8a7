//! Simple commands: assignments, words, redirections, and `cd`.

use portcullis_shell::ast::{
    AssignmentValue, Command, Redirect, RedirectOperator, RedirectTarget, SimpleCommand,
};

use super::walk::{After, Walk, is_expansion};
use crate::argument::{Argument, Knowledge};
use crate::directories::Directories;
use crate::feed::Feed;
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
        for redirect in &command.redirects {
            self.redirect(redirect, directories, &mut redirections, feed);
        }
        redirections
    }

    pub(super) fn simple(
        &mut self,
        simple: &SimpleCommand,
        command: &Command,
        before: Directories,
        mut feed: Feed,
    ) -> After {
        let mut assignments = Vec::new();
        for assignment in &simple.assignments {
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
        let mut invocation = self.bare(command, redirections, &before);
        invocation.arguments =
            simple.words.iter().map(|word| Argument::of_word(word, self.text, self.fixed_span)).collect();
        invocation.assignments = assignments;
        let moved = self.change_of_directory(&invocation, &before);
        self.invoke(invocation, feed);
        match moved {
            Some(success) => After { success, failure: before },
            None => After::same(before),
        }
    }

    pub(super) fn redirect(
        &mut self,
        redirect: &Redirect,
        directories: &Directories,
        redirections: &mut Vec<Redirection>,
        feed: &mut Feed,
    ) {
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
            RedirectOperator::DuplicateInput
            | RedirectOperator::DuplicateOutput
            | RedirectOperator::Heredoc => &[],
        };
        if accesses.contains(&Access::Read) {
            *feed = Feed::Unknown;
        }
        redirections.extend(accesses.iter().map(|&access| Redirection { access, target: target.clone() }));
    }

    /// Returns the directories after the command succeeded, if it changes them.
    pub(super) fn change_of_directory(
        &self,
        invocation: &Invocation,
        before: &Directories,
    ) -> Option<Directories> {
        let name = invocation.program_name()?;
        match name {
            "cd" | "pushd" => {}
            "popd" => return Some(Directories::Unknown),
            _ => return None,
        }
        if invocation.assignments.iter().any(|variable| matches!(variable.name.as_str(), "CDPATH" | "HOME")) {
            return Some(Directories::Unknown);
        }
        let mut operands = invocation.operands().iter().filter(|argument| !is_cd_option(argument));
        let target = match operands.next() {
            None if name == "cd" => self.home.map(str::to_owned),
            None => None,
            Some(target) => match target.knowledge {
                Knowledge::Fixed if !target.text.starts_with(['+', '-']) => Some(target.text.clone()),
                Knowledge::Tilde => self.expand_tilde(&target.text),
                Knowledge::Fixed | Knowledge::Glob | Knowledge::Dynamic => None,
            },
        };
        Some(target.map_or(Directories::Unknown, |target| before.enter(&target)))
    }

    pub(super) fn expand_tilde(&self, text: &str) -> Option<String> {
        let rest = text.strip_prefix('~')?;
        (rest.is_empty() || rest.starts_with('/')).then(|| self.home.map(|home| format!("{home}{rest}")))?
    }
}

fn is_descriptor(target: &Argument) -> bool {
    target.fixed().is_some_and(|text| {
        let digits = text.trim_end_matches('-');
        digits.chars().all(|letter| letter.is_ascii_digit())
    })
}

fn is_cd_option(argument: &Argument) -> bool {
    matches!(argument.text.as_str(), "-P" | "-L" | "-e" | "-@" | "--" | "-n")
}
