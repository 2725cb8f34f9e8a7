//! Function definitions in both spellings, and coprocesses.

use crate::ast::{Command, CommandKind, SimpleCommand, Word};
use crate::cursor::Parser;

impl Parser<'_> {
    /// `function name [()] body`.
    pub(crate) fn function_clause(&mut self, start: usize) -> Command {
        self.enter();
        self.take_keyword("function".len());
        let name = self.plain_name("a function");
        self.skip_space();
        if self.looking_at(b"()") {
            self.operator(2);
        }
        let command = self.function_body(start, name);
        self.leave();
        command
    }

    /// The rest of `name() body`, with the cursor on the `(`.
    pub(crate) fn function_definition(&mut self, start: usize, name: &Word) -> Command {
        self.enter();
        self.operator(1);
        self.skip_space();
        self.expect_parenthesis();
        if name.fixed().is_none() || name.traits.quoted {
            self.fail(start, "quotes or expansions in the name of a function");
        }
        let command = self.function_body(start, name.text.clone());
        self.leave();
        command
    }

    /// A compound command; its redirections belong to it.
    fn function_body(&mut self, start: usize, name: String) -> Command {
        self.skip_lines();
        let outer = self.context.compounds;
        self.context.compounds += 1;
        let body = if self.at_compound() {
            Box::new(self.command())
        } else {
            self.unexpected();
            Box::new(Command {
                span: self.span_from(self.pos),
                kind: CommandKind::Opaque,
                redirects: Vec::new(),
            })
        };
        self.context.compounds = outer;
        Command {
            span: self.span_from(start),
            kind: CommandKind::Function { name, body },
            redirects: Vec::new(),
        }
    }

    fn at_compound(&mut self) -> bool {
        self.peek() == Some(b'(')
            || matches!(
                self.keyword(),
                Some("{" | "if" | "while" | "until" | "for" | "select" | "case" | "[[")
            )
    }

    /// `coproc [NAME] command`; a name only counts before a compound command.
    pub(crate) fn coprocess(&mut self, start: usize) -> Command {
        self.enter();
        self.take_keyword("coproc".len());
        let outer = self.context.compounds;
        self.context.compounds += 1;
        let (name, body) = self.coprocess_body();
        self.context.compounds = outer;
        self.leave();
        let kind = CommandKind::Coprocess { name, body: Box::new(body) };
        Command { span: self.span_from(start), kind, redirects: Vec::new() }
    }

    fn coprocess_body(&mut self) -> (Option<String>, Command) {
        let start = self.here();
        if self.at_compound() {
            return (None, self.command());
        }
        match self.keyword() {
            None | Some("time") => {}
            Some(word) => self.fail(start, format!("unexpected `{word}`")),
        }
        if self.at_assignment() || self.at_redirect() {
            self.refuse_simple_coprocess(start);
            return (None, self.simple(start));
        }
        let first = self.required_word();
        if self.at_redirect() {
            self.fail(start, "a redirection right after the first word of a coprocess");
        }
        self.skip_space();
        if self.at_compound() {
            if first.fixed().is_none() || first.traits.quoted {
                self.fail(start, "quotes or expansions in the name of a coprocess");
            }
            return (Some(first.text), self.command());
        }
        if self.keyword().is_some_and(|word| word != "time") {
            self.unexpected();
        }
        self.refuse_simple_coprocess(start);
        let simple = SimpleCommand { assignments: Vec::new(), words: vec![first] };
        (None, self.simple_rest(start, simple))
    }

    /// Fails for `$(coproc a)`: bash 5.2 runs it as `coproc COPROC a`, which is another command.
    fn refuse_simple_coprocess(&mut self, start: usize) {
        if self.context.substitution {
            self.fail(start, "a simple command as a coprocess inside a substitution");
        }
    }
}
