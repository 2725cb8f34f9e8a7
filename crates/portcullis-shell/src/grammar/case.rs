//! `case … esac`.

use crate::ast::{CaseArm, CommandKind, List, Word};
use crate::cursor::Parser;
use crate::pieces::{WordPieces, WordRole};

impl Parser<'_> {
    /// `case word in … esac`.
    pub(crate) fn case_clause(&mut self) -> CommandKind {
        self.take_keyword("case".len());
        let subject = self.required_word();
        self.skip_lines();
        self.expect_keyword("in");
        let mut arms = Vec::new();
        loop {
            self.skip_lines();
            if self.at_keyword("esac") || self.peek().is_none() {
                break;
            }
            let (arm, more) = self.case_arm();
            arms.push(arm);
            if !more {
                break;
            }
        }
        self.expect_keyword("esac");
        CommandKind::Case { subject, arms }
    }

    /// One arm; says whether it ended in `;;`, `;&` or `;;&`.
    fn case_arm(&mut self) -> (CaseArm, bool) {
        let patterns = self.case_patterns();
        self.expect_parenthesis();
        let body: List = self.list();
        let more = self.at_arm_end();
        if more {
            let width = if self.looking_at(b";;&") { 3 } else { 2 };
            self.operator(width);
        }
        (CaseArm { patterns, body }, more)
    }

    fn case_patterns(&mut self) -> Vec<Word> {
        if self.peek() == Some(b'(') {
            self.operator(1);
            self.skip_space();
        }
        let mut patterns = vec![self.required_word()];
        self.skip_space();
        while self.peek() == Some(b'|') {
            self.operator(1);
            self.skip_space();
            patterns.push(self.required_word());
            self.skip_space();
        }
        patterns
    }

    /// A word, or a failure.
    pub(crate) fn required_word(&mut self) -> Word {
        if let Some(word) = self.opt_word() {
            return word;
        }
        let at = self.here();
        self.unexpected();
        WordPieces::default().into_word(self.source.span(at, at), WordRole::Argument)
    }
}
