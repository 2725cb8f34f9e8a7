//! Lists, `;` and `&`, and chains of `&&` and `||`.

use crate::ast::{AndOr, List, PipelineLink};
use crate::cursor::Parser;

impl Parser<'_> {
    /// The whole text.
    pub(crate) fn script(&mut self) -> List {
        let list = self.list();
        if self.peek().is_some() {
            self.unexpected();
        }
        self.read_heredocs();
        list
    }

    /// Commands up to something that only the production around them can place; possibly none.
    pub(crate) fn list(&mut self) -> List {
        let mut items = Vec::new();
        loop {
            self.skip_lines();
            if self.at_list_end() {
                break;
            }
            let mut item = self.and_or();
            let separated = self.separator(&mut item);
            items.push(item);
            if !separated {
                break;
            }
        }
        List { items }
    }

    /// At least one command.
    pub(crate) fn body(&mut self) -> List {
        let list = self.list();
        if list.items.is_empty() {
            self.unexpected();
        }
        list
    }

    fn and_or(&mut self) -> AndOr {
        let start = self.here();
        let mut pipelines = vec![(PipelineLink::First, self.pipeline())];
        loop {
            self.skip_space();
            let link = if self.looking_at(b"&&") {
                PipelineLink::And
            } else if self.looking_at(b"||") {
                PipelineLink::Or
            } else {
                break;
            };
            self.operator(2);
            self.skip_lines();
            pipelines.push((link, self.pipeline()));
        }
        AndOr { span: self.span_from(start), pipelines, background: false }
    }

    /// Takes what ends a chain; says whether another one may follow.
    fn separator(&mut self, item: &mut AndOr) -> bool {
        let awaits_body = self.context.substitution && !self.pending.is_empty();
        match self.peek() {
            Some(b';' | b'&') if awaits_body => {
                // Bash 5.2 loses such a `;` when it prints the substitution's text in order to run it.
                self.fail(self.pos, "more commands before the body of a here-document inside a substitution");
                false
            }
            Some(b'\n') => true,
            Some(b';') if !self.at_arm_end() => {
                self.operator(1);
                true
            }
            Some(b'&') => {
                item.background = true;
                self.operator(1);
                true
            }
            _ => false,
        }
    }

    fn at_list_end(&mut self) -> bool {
        match self.peek() {
            None | Some(b')') => true,
            Some(b';') => self.at_arm_end(),
            Some(_) => {
                matches!(self.keyword(), Some("then" | "else" | "elif" | "fi" | "do" | "done" | "esac" | "}"))
            }
        }
    }

    /// Says whether `;;`, `;&` or `;;&` comes next.
    pub(crate) fn at_arm_end(&mut self) -> bool {
        self.peek() == Some(b';') && matches!(self.peek_at(1), Some(b';' | b'&'))
    }
}
