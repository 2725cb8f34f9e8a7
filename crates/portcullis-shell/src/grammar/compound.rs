//! Groups, subshells, `if`, `while` and `until`.

use crate::ast::CommandKind;
use crate::cursor::Parser;

impl Parser<'_> {
    /// `{ …; }`.
    pub(crate) fn group(&mut self) -> CommandKind {
        self.take_keyword(1);
        let body = self.body();
        self.expect_keyword("}");
        CommandKind::Group(body)
    }

    /// `( … )` or `(( … ))`.
    pub(crate) fn parenthesis(&mut self) -> CommandKind {
        if self.peek_at(1) == Some(b'(')
            && let Some(kind) = self.opt_arithmetic_command()
        {
            return kind;
        }
        self.operator(1);
        let body = self.body();
        self.expect_parenthesis();
        CommandKind::Subshell(body)
    }

    /// Takes a `)`, or fails.
    pub(crate) fn expect_parenthesis(&mut self) {
        if self.peek() == Some(b')') {
            self.operator(1);
        } else {
            self.missing(")");
        }
    }

    /// `if … fi`.
    pub(crate) fn if_clause(&mut self) -> CommandKind {
        let mut branches = Vec::new();
        let mut otherwise = None;
        self.take_keyword("if".len());
        loop {
            let condition = self.body();
            self.expect_keyword("then");
            let body = self.body();
            branches.push((condition, body));
            if self.at_keyword("elif") {
                self.take_keyword("elif".len());
                continue;
            }
            if self.at_keyword("else") {
                self.take_keyword("else".len());
                otherwise = Some(self.body());
            }
            break;
        }
        self.expect_keyword("fi");
        CommandKind::If { branches, otherwise }
    }

    /// `while … done` or `until … done`; both words have the same length.
    pub(crate) fn while_clause(&mut self) -> CommandKind {
        self.take_keyword("while".len());
        let condition = self.body();
        self.expect_keyword("do");
        let body = self.body();
        self.expect_keyword("done");
        CommandKind::Loop { condition, body }
    }
}
