//! One command: which kind it is, and the redirections after a compound one.

use crate::ast::{Command, CommandKind};
use crate::cursor::Parser;

impl Parser<'_> {
    /// A simple or compound command, a function definition or a coprocess.
    pub(crate) fn command(&mut self) -> Command {
        let start = self.here();
        match self.keyword() {
            Some("{") => self.compound(start, Self::group),
            Some("if") => self.compound(start, Self::if_clause),
            Some("while" | "until") => self.compound(start, Self::while_clause),
            Some("for") => self.compound(start, Self::for_clause),
            Some("select") => self.compound(start, Self::select_clause),
            Some("case") => self.compound(start, Self::case_clause),
            Some("[[") => self.compound(start, Self::conditional),
            Some("function") => self.function_clause(start),
            Some("coproc") => self.coprocess(start),
            None if self.peek() == Some(b'(') => self.compound(start, Self::parenthesis),
            Some("time") | None => self.simple(start),
            Some(word) => {
                self.fail(start, format!("unexpected `{word}`"));
                self.finish_command(start, CommandKind::Opaque)
            }
        }
    }

    /// A compound command read by `production`, and its redirections.
    fn compound(&mut self, start: usize, production: fn(&mut Self) -> CommandKind) -> Command {
        self.enter();
        self.context.compounds += 1;
        let kind = production(self);
        self.context.after_word = false;
        let command = self.finish_command(start, kind);
        self.context.compounds = self.context.compounds.saturating_sub(1);
        self.leave();
        command
    }

    /// Adds the redirections that follow to a command that is otherwise complete.
    pub(crate) fn finish_command(&mut self, start: usize, kind: CommandKind) -> Command {
        let mut redirects = Vec::new();
        loop {
            self.skip_space();
            match self.opt_redirect() {
                Some(redirect) => redirects.push(redirect),
                None => break,
            }
        }
        self.context.after_word |= !redirects.is_empty();
        Command { span: self.span_from(start), kind, redirects }
    }
}
