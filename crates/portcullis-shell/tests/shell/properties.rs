//! Properties of any text whatever.

use portcullis_shell::ast::{
    AndOr, AssignmentValue, Command, CommandKind, List, Redirect, RedirectTarget, Word, WordPart,
};
use portcullis_shell::{ParsedScript, Span, parse};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

/// Pieces that make interesting texts.
const PIECES: &[&str] = &[
    "a",
    "b c",
    " ",
    " ",
    " ",
    "\n",
    "\n",
    "\t",
    ";",
    "&",
    "|",
    "&&",
    "||",
    ";;",
    ";&",
    "(",
    ")",
    "((",
    "))",
    "{ ",
    "; }",
    "{",
    "}",
    "$(",
    "${",
    "$((",
    "$[",
    "`",
    "\\`",
    "'",
    "\"",
    "\\",
    "\\\n",
    "$",
    "$x",
    "$'",
    "$\"",
    "$1",
    "if ",
    "; then ",
    "; fi",
    "else ",
    "while ",
    "; do ",
    "; done",
    "for x in ",
    "for ((",
    "case x in ",
    "a) ",
    "esac",
    "[[ ",
    " ]]",
    "=~ ",
    "== ",
    "!",
    "time ",
    "coproc ",
    "function f ",
    "f() ",
    "x=",
    "x=(",
    "a[",
    "]=",
    "+=",
    "<",
    ">",
    "<<E",
    "<<-E",
    "<<'E'",
    "\nE\n",
    "E)",
    "<<<",
    "<(",
    ">(",
    "&>",
    ">&",
    ">&-",
    "2>",
    "{fd}>",
    "#",
    "*",
    "?",
    "[",
    "]",
    "~",
    ",",
    "..",
    "@(",
    "é",
    "\u{10ffff}",
    "\r",
    "\0",
    "declare ",
];

fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        8 => (0..PIECES.len()).prop_map(|index| PIECES[index].to_owned()),
        1 => any::<char>().prop_map(String::from),
    ];
    vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

fn check(cases: u32, property: impl Fn(&str)) {
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(
        config,
        proptest::test_runner::TestRng::deterministic_rng(proptest::test_runner::RngAlgorithm::ChaCha),
    );
    let outcome = runner.run(&text(), |text| {
        property(&text);
        Ok(())
    });
    outcome.expect("the property holds");
}

#[test]
fn tokens_concatenate_to_the_text() {
    check(20_000, |text| {
        let joined: String = parse(text).tokens.iter().map(|token| token.span.of(text)).collect();
        assert_eq!(joined, text);
    });
}

#[test]
fn the_same_text_gives_the_same_script() {
    check(2_000, |text| assert_eq!(parse(text), parse(text)));
}

#[test]
fn spans_lie_in_the_text_and_in_their_parents() {
    check(20_000, |text| Spans { text }.script(&parse(text)));
}

#[test]
fn a_parse_is_either_clear_or_has_exactly_one_error() {
    check(5_000, |text| {
        let script = parse(text);
        assert!(script.errors.len() <= 1);
        assert_eq!(script.is_clear(), !has_opaque(&script));
    });
}

fn has_opaque(script: &ParsedScript) -> bool {
    format!("{:?}", script.body).contains("kind: Opaque")
}

/// Checks that each span is a piece of the text and holds those below it. The body of a here-document stands after
/// its command and holds its own parts.
struct Spans<'a> {
    text: &'a str,
}

impl Spans<'_> {
    fn script(&self, script: &ParsedScript) {
        let whole = Span::new(0, self.text.len());
        self.list(&script.body, whole);
        for error in &script.errors {
            self.inside(error.span, whole);
        }
    }

    fn inside(&self, span: Span, parent: Span) {
        assert!(self.text.get(span.range()).is_some(), "{span:?} is no piece of {:?}", self.text);
        assert!(
            parent.start <= span.start && span.end <= parent.end,
            "{span:?} outside {parent:?} of {:?}",
            self.text
        );
    }

    fn list(&self, list: &List, parent: Span) {
        for item in &list.items {
            self.and_or(item, parent);
        }
    }

    fn and_or(&self, item: &AndOr, parent: Span) {
        self.inside(item.span, parent);
        for (_, pipeline) in &item.pipelines {
            self.inside(pipeline.span, item.span);
            for stage in &pipeline.stages {
                self.command(stage, pipeline.span);
            }
        }
    }

    fn command(&self, command: &Command, parent: Span) {
        self.inside(command.span, parent);
        let span = command.span;
        match &command.kind {
            CommandKind::Simple(simple) => {
                for assignment in &simple.assignments {
                    self.inside(assignment.span, span);
                    self.parts(&assignment.subscript, assignment.span);
                    match &assignment.value {
                        AssignmentValue::Word(word) => self.word(word, assignment.span),
                        AssignmentValue::Array(words) => self.words(words, assignment.span),
                    }
                }
                self.words(&simple.words, span);
            }
            CommandKind::Subshell(body) | CommandKind::Group(body) => self.list(body, span),
            CommandKind::If { branches, otherwise } => {
                for (condition, body) in branches {
                    self.list(condition, span);
                    self.list(body, span);
                }
                if let Some(body) = otherwise {
                    self.list(body, span);
                }
            }
            CommandKind::Loop { condition, body } => {
                self.list(condition, span);
                self.list(body, span);
            }
            CommandKind::For { words, body, .. } => {
                self.words(words.as_deref().unwrap_or_default(), span);
                self.list(body, span);
            }
            CommandKind::ArithmeticFor { header, body } => {
                self.parts(header, span);
                self.list(body, span);
            }
            CommandKind::Case { subject, arms } => {
                self.word(subject, span);
                for arm in arms {
                    self.words(&arm.patterns, span);
                    self.list(&arm.body, span);
                }
            }
            CommandKind::Function { body, .. } | CommandKind::Coprocess { body, .. } => {
                self.command(body, span);
            }
            CommandKind::Conditional(words) => self.words(words, span),
            CommandKind::Arithmetic(parts) => self.parts(parts, span),
            CommandKind::Opaque => {}
        }
        for redirect in &command.redirects {
            self.redirect(redirect, span);
        }
    }

    fn redirect(&self, redirect: &Redirect, parent: Span) {
        self.inside(redirect.span, parent);
        match &redirect.target {
            RedirectTarget::Word(word) => self.word(word, redirect.span),
            RedirectTarget::Heredoc(heredoc) => {
                self.inside(heredoc.body, Span::new(0, self.text.len()));
                self.parts(&heredoc.parts, heredoc.body);
            }
        }
    }

    fn words(&self, words: &[Word], parent: Span) {
        for word in words {
            self.word(word, parent);
        }
    }

    fn word(&self, word: &Word, parent: Span) {
        self.inside(word.span, parent);
        self.parts(&word.parts, word.span);
    }

    fn parts(&self, parts: &[WordPart], parent: Span) {
        for part in parts {
            self.inside(part.span(), parent);
            match part {
                WordPart::Double { parts, span }
                | WordPart::Parameter { parts, span, .. }
                | WordPart::Arithmetic { parts, span } => self.parts(parts, *span),
                WordPart::Command { body, span } | WordPart::Process { body, span } => self.list(body, *span),
                _ => {}
            }
        }
    }
}
