//! Pipelines with the `!` and `time` before them.
//!
//! `time` is reserved only where a pipeline begins: `a | time b` runs a program of that name.

use crate::ast::Pipeline;
use crate::cursor::Parser;

impl Parser<'_> {
    /// One or more commands joined by `|` or `|&`.
    pub(crate) fn pipeline(&mut self) -> Pipeline {
        let start = self.here();
        let mut pipeline =
            Pipeline { span: self.span_from(start), negated: false, timed: false, stages: Vec::new() };
        let prefixed = self.pipeline_prefix(&mut pipeline);
        if !(prefixed && self.at_bare_end()) {
            self.stages(&mut pipeline);
        }
        pipeline.span = self.span_from(start);
        pipeline
    }

    fn pipeline_prefix(&mut self, pipeline: &mut Pipeline) -> bool {
        let mut prefixed = false;
        let opens_substitution = self.context.opening == Some(self.pos);
        loop {
            match self.keyword() {
                Some("!") => {
                    pipeline.negated = !pipeline.negated;
                    self.take_keyword(1);
                }
                Some("time") => {
                    pipeline.timed = true;
                    self.time_word();
                }
                _ => return prefixed,
            }
            prefixed = true;
            if opens_substitution && pipeline.timed {
                self.after_opening_time();
            }
        }
    }

    /// Refuses what bash takes for a word when it reads `$(time …)`, as it does not know the reserved word yet, and for
    /// something else when it runs the same text.
    fn after_opening_time(&mut self) {
        self.context.no_function = Some(self.pos);
        let reserved = self.keyword().is_some_and(|word| word != "time");
        if reserved || self.peek() == Some(b'(') || self.at_assignment() {
            self.fail(self.pos, "more than a plain command after `time` at the beginning of a substitution");
        }
    }

    fn time_word(&mut self) {
        self.take_keyword("time".len());
        if self.at_bare_word("-p") {
            self.take_keyword("-p".len());
        }
        if self.at_bare_word("--") {
            self.take_keyword("--".len());
        }
    }

    /// Says whether a bare `!` or `time` may end here.
    fn at_bare_end(&mut self) -> bool {
        matches!(self.peek(), None | Some(b'\n' | b';')) && !self.at_arm_end()
    }

    fn stages(&mut self, pipeline: &mut Pipeline) {
        loop {
            pipeline.stages.push(self.command());
            self.skip_space();
            if self.peek() != Some(b'|') || self.peek_at(1) == Some(b'|') {
                break;
            }
            let width = if self.peek_at(1) == Some(b'&') { 2 } else { 1 };
            self.operator(width);
            self.skip_lines();
        }
    }
}
