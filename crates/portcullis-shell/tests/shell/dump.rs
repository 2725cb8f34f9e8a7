//! A compact text form of a script, for the golden files.

use std::fmt::Write as _;

use portcullis_shell::ast::{
    AndOr, Assignment, AssignmentValue, Command, CommandKind, List, Pipeline, PipelineLink, Redirect,
    RedirectTarget, Word, WordPart, WordTraits,
};
use portcullis_shell::{ParsedScript, Span};

/// Returns the tree, the tokens' kinds and the errors.
pub(crate) fn dump(script: &ParsedScript) -> String {
    let mut out = Dump { text: String::new(), indent: 0 };
    out.list("script", &script.body);
    for error in &script.errors {
        out.line(&format!("error {} {}", at(error.span), error.message));
    }
    let tokens: Vec<String> =
        script.tokens.iter().map(|token| format!("{:?}@{}", token.kind, token.span.start)).collect();
    out.line(&format!("tokens {}", tokens.join(" ")));
    out.text
}

fn at(span: Span) -> String {
    format!("{}..{}", span.start, span.end)
}

struct Dump {
    text: String,
    indent: usize,
}

impl Dump {
    fn line(&mut self, line: &str) {
        writeln!(self.text, "{:1$}{line}", "", self.indent * 2).expect("writing to a string");
    }

    fn deeper(&mut self, inner: impl FnOnce(&mut Self)) {
        self.indent += 1;
        inner(self);
        self.indent -= 1;
    }

    fn list(&mut self, label: &str, list: &List) {
        self.line(label);
        self.deeper(|out| list.items.iter().for_each(|item| out.and_or(item)));
    }

    fn and_or(&mut self, item: &AndOr) {
        let background = if item.background { " &" } else { "" };
        if let ([(PipelineLink::First, pipeline)], "") = (&*item.pipelines, background) {
            return self.pipeline("", pipeline);
        }
        self.line(&format!("chain {}{background}", at(item.span)));
        self.deeper(|out| {
            for (link, pipeline) in &item.pipelines {
                let label = match link {
                    PipelineLink::First => "",
                    PipelineLink::And => "&& ",
                    PipelineLink::Or => "|| ",
                };
                out.pipeline(label, pipeline);
            }
        });
    }

    fn pipeline(&mut self, label: &str, pipeline: &Pipeline) {
        if let ([command], false, false, "") = (&*pipeline.stages, pipeline.negated, pipeline.timed, label) {
            return self.command(command);
        }
        let negated = if pipeline.negated { " !" } else { "" };
        let timed = if pipeline.timed { " time" } else { "" };
        self.line(&format!("{label}pipeline {}{negated}{timed}", at(pipeline.span)));
        self.deeper(|out| pipeline.stages.iter().for_each(|stage| out.command(stage)));
    }

    fn command(&mut self, command: &Command) {
        let label = match &command.kind {
            CommandKind::Simple(_) => "simple".to_owned(),
            CommandKind::Subshell(_) => "subshell".to_owned(),
            CommandKind::Group(_) => "group".to_owned(),
            CommandKind::If { .. } => "if".to_owned(),
            CommandKind::Loop { .. } => "loop".to_owned(),
            CommandKind::For { variable, .. } => format!("for `{variable}`"),
            CommandKind::ArithmeticFor { .. } => "arithmetic for".to_owned(),
            CommandKind::Case { .. } => "case".to_owned(),
            CommandKind::Function { name, .. } => format!("function `{name}`"),
            CommandKind::Conditional(_) => "conditional".to_owned(),
            CommandKind::Arithmetic(_) => "arithmetic".to_owned(),
            CommandKind::Coprocess { name, .. } => format!("coprocess {name:?}"),
            CommandKind::Opaque => "opaque".to_owned(),
        };
        self.line(&format!("{label} {}", at(command.span)));
        self.deeper(|out| {
            out.kind(&command.kind);
            for redirect in &command.redirects {
                out.redirect(redirect);
            }
        });
    }

    fn kind(&mut self, kind: &CommandKind) {
        match kind {
            CommandKind::Simple(simple) => {
                for assignment in &simple.assignments {
                    self.assignment(assignment);
                }
                self.words(&simple.words);
            }
            CommandKind::Subshell(body) | CommandKind::Group(body) => self.list("body", body),
            CommandKind::If { branches, otherwise } => {
                for (condition, body) in branches {
                    self.list("condition", condition);
                    self.list("then", body);
                }
                if let Some(body) = otherwise {
                    self.list("else", body);
                }
            }
            CommandKind::Loop { condition, body } => {
                self.list("condition", condition);
                self.list("body", body);
            }
            CommandKind::For { words, body, .. } => {
                self.line(if words.is_some() { "in" } else { "in the positional parameters" });
                self.deeper(|out| out.words(words.as_deref().unwrap_or_default()));
                self.list("body", body);
            }
            CommandKind::ArithmeticFor { header, body } => {
                self.parts(header);
                self.list("body", body);
            }
            CommandKind::Case { subject, arms } => {
                self.word(subject);
                for arm in arms {
                    self.line("arm");
                    self.deeper(|out| out.words(&arm.patterns));
                    self.list("body", &arm.body);
                }
            }
            CommandKind::Function { body, .. } | CommandKind::Coprocess { body, .. } => self.command(body),
            CommandKind::Conditional(words) => self.words(words),
            CommandKind::Arithmetic(parts) => self.parts(parts),
            CommandKind::Opaque => {}
        }
    }

    fn assignment(&mut self, assignment: &Assignment) {
        self.line(&format!("assign {} `{}`", at(assignment.span), assignment.name));
        self.deeper(|out| {
            if !assignment.subscript.is_empty() {
                out.line("subscript");
                out.deeper(|out| out.parts(&assignment.subscript));
            }
            match &assignment.value {
                AssignmentValue::Word(word) => out.word(word),
                AssignmentValue::Array(words) => {
                    out.line("array");
                    out.deeper(|out| out.words(words));
                }
            }
        });
    }

    fn redirect(&mut self, redirect: &Redirect) {
        let descriptor = redirect.descriptor.as_ref().map(|one| format!(" {one:?}")).unwrap_or_default();
        self.line(&format!("redirect {} {:?}{descriptor}", at(redirect.span), redirect.operator));
        self.deeper(|out| match &redirect.target {
            RedirectTarget::Word(word) => out.word(word),
            RedirectTarget::Heredoc(heredoc) => {
                let quoted = if heredoc.quoted { " quoted" } else { "" };
                let tabs = if heredoc.strip_tabs { " tabs" } else { "" };
                let body = at(heredoc.body);
                out.line(&format!("heredoc {body} `{}`{quoted}{tabs} {:?}", heredoc.delimiter, heredoc.text));
                out.deeper(|out| out.parts(&heredoc.parts));
            }
        });
    }

    fn words(&mut self, words: &[Word]) {
        for word in words {
            self.word(word);
        }
    }

    fn word(&mut self, word: &Word) {
        let WordTraits { quoted, dynamic, glob, brace, tilde } = word.traits;
        let flags =
            [(quoted, "quoted"), (dynamic, "dynamic"), (glob, "glob"), (brace, "brace"), (tilde, "tilde")];
        let flags: Vec<&str> = flags.into_iter().filter(|(set, _)| *set).map(|(_, name)| name).collect();
        self.line(format!("word {} {:?} {}", at(word.span), word.text, flags.join(" ")).trim_end());
        if !matches!(&*word.parts, [] | [WordPart::Literal { .. }]) {
            self.deeper(|out| out.parts(&word.parts));
        }
    }

    fn parts(&mut self, parts: &[WordPart]) {
        for part in parts {
            self.part(part);
        }
    }

    fn part(&mut self, part: &WordPart) {
        let span = at(part.span());
        match part {
            WordPart::Literal { text, .. } => self.line(&format!("literal {span} {text:?}")),
            WordPart::Escaped { text, .. } => self.line(&format!("escaped {span} {text:?}")),
            WordPart::Single { text, .. } => self.line(&format!("single {span} {text:?}")),
            WordPart::AnsiC { text, .. } => self.line(&format!("ansi {span} {text:?}")),
            WordPart::Glob { text, .. } => self.line(&format!("glob {span} {text:?}")),
            WordPart::Double { parts, .. } => self.nested(&format!("double {span}"), parts),
            WordPart::Arithmetic { parts, .. } => self.nested(&format!("arithmetic {span}"), parts),
            WordPart::Parameter { name, plain, parts, .. } => {
                let plain = if *plain { " plain" } else { "" };
                self.nested(&format!("parameter {span} `{name}`{plain}"), parts);
            }
            WordPart::Command { body, .. } => self.list(&format!("command {span}"), body),
            WordPart::Process { body, .. } => self.list(&format!("process {span}"), body),
        }
    }

    fn nested(&mut self, label: &str, parts: &[WordPart]) {
        self.line(label);
        self.deeper(|out| out.parts(parts));
    }
}
