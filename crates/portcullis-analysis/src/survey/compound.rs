//! Compound commands: every branch, loop and body counts.

use portcullis_shell::ast::{Command, CommandKind, List};

use super::walk::Walk;
use crate::directories::Directories;
use crate::feed::Feed;

impl Walk<'_> {
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
                let inside = self.list(condition, before.clone());
                let after = self.list(body, inside);
                settled(before, &after)
            }
            CommandKind::For { words, body, .. } => {
                self.words(words.iter().flatten(), &before);
                let after = self.list(body, before.clone());
                settled(before, &after)
            }
            CommandKind::ArithmeticFor { header, body } => {
                self.parts(header, &before);
                let after = self.list(body, before.clone());
                settled(before, &after)
            }
            CommandKind::Case { subject, arms } => {
                self.words(std::iter::once(subject), &before);
                let mut after = before.clone();
                for arm in arms {
                    self.words(arm.patterns.iter(), &before);
                    after = after.either(self.list(&arm.body, before.clone()));
                }
                after
            }
            CommandKind::Function { name, body } => {
                // The body runs where it is called from, which is not followed.
                let outer = std::mem::replace(&mut self.input, Feed::Unknown);
                let first = self.found.invocations.len();
                let _ = self.command(body, Directories::Unknown, Feed::Unknown);
                self.input = outer;
                if self.moves_since(first) {
                    self.movers.push(name.clone());
                }
                before
            }
            CommandKind::Conditional(words) => {
                self.words(words.iter(), &before);
                before
            }
            CommandKind::Arithmetic(parts) => {
                self.parts(parts, &before);
                before
            }
            CommandKind::Coprocess { body, .. } => {
                let _ = self.command(body, before.clone(), Feed::Unknown);
                before
            }
            CommandKind::Opaque => {
                self.opaque(command.span, "the shell syntax is not understood".to_owned());
                before
            }
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
            join(self.list(body, tested.clone()));
        }
        match otherwise {
            Some(body) => join(self.list(body, tested)),
            None => join(tested),
        }
        after.unwrap_or(Directories::Unknown)
    }
}

/// After a loop: where its body ends if it goes nowhere, else nobody knows.
fn settled(before: Directories, after: &Directories) -> Directories {
    if before == *after { before } else { Directories::Unknown }
}
