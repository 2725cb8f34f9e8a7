//! Finishes a command: stores its arguments and reads what it runs.

use portcullis_shell::Span;

use super::collector::{Collector, Place};
use super::cursor::is_dash;
use super::reader::Reader;
use super::value::Value;
use super::word::Word;
use super::{Dialect, alias, carrier, cmd, launcher};

/// Something a command runs.
#[derive(Debug)]
pub(super) enum Inside {
    /// PowerShell text that runs in the same session.
    Session(Text),
    /// PowerShell text that runs in a new one.
    PowerShell(Text),
    /// A line of `cmd.exe`.
    Cmd(Text),
    /// A program with its arguments.
    Program(Vec<Word>),
    /// A use of a type or member.
    Member(String, Vec<Word>),
    /// Something that is not known.
    Unknown(&'static str),
}

/// Text that is run.
#[derive(Debug)]
pub(super) struct Text {
    pub(super) content: String,
    pub(super) span: Span,
    pub(super) is_open: bool,
    pub(super) is_decoded: bool,
}

impl Text {
    /// Makes text of words, one blank between them.
    pub(super) fn of_words(words: &[Word]) -> Option<Self> {
        let first = words.first()?;
        Some(Self {
            content: words.iter().map(Word::text).collect::<Vec<_>>().join(" "),
            span: words.iter().fold(first.argument.span, |span, word| span.cover(word.argument.span)),
            is_open: words.iter().any(Word::is_open),
            is_decoded: words.iter().any(Word::is_decoded),
        })
    }

    /// Makes text of a value that comes through a pipe.
    pub(super) fn of_value(value: &Value, span: Span) -> Option<Self> {
        let content = match value {
            Value::List(items) => {
                let lines: Option<Vec<String>> = items.iter().map(Value::known_text).collect();
                lines.map(|lines| lines.join("\n"))
            }
            other => other.known_text(),
        }?;
        Some(Self { content, span, is_open: false, is_decoded: value.is_decoded() })
    }
}

/// Finishes a command under its own name.
pub(super) fn finish(
    collector: &mut Collector,
    index: usize,
    words: Vec<Word>,
    input: Option<&Value>,
    place: Place,
) {
    let name = collector.command(index).map(|command| command.name.clone()).unwrap_or_default();
    finish_as(collector, &name, index, words, input, place);
}

/// Finishes a command that is treated as if it had another name.
pub(super) fn finish_as(
    collector: &mut Collector,
    name: &str,
    index: usize,
    mut words: Vec<Word>,
    input: Option<&Value>,
    place: Place,
) {
    if name.contains(is_dash) && !name.starts_with(['.', '[']) {
        words.iter_mut().for_each(Word::expand_quoted);
    }
    let Some(command) = collector.command(index) else { return };
    command.arguments = words.iter().map(|word| word.argument.clone()).collect();
    let (span, dialect) = (command.span, command.dialect);
    let is_piped = !command.piped.is_empty();
    let call = Call { name, words: &words, input, is_piped, span };
    define(collector, &call);
    let insides = carrier::insides(&call).or_else(|| launcher::insides(&call, dialect)).unwrap_or_default();
    if insides.is_empty() || !collector.enter(span) {
        return;
    }
    for inside in insides {
        read(collector, inside, Place { owner: Some(index), span: Some(span), ..place });
    }
    collector.leave();
}

/// A command whose insides are looked for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Call<'c> {
    pub(super) name: &'c str,
    pub(super) words: &'c [Word],
    /// The text that comes through a pipe, if it is written there.
    pub(super) input: Option<&'c Value>,
    pub(super) is_piped: bool,
    pub(super) span: Span,
}

impl Call<'_> {
    /// Returns the text that comes through a pipe.
    pub(super) fn input_text(&self) -> Option<Text> {
        self.input.and_then(|value| Text::of_value(value, self.span))
    }
}

/// Keeps the aliases and variables a command defines.
fn define(collector: &mut Collector, call: &Call<'_>) {
    match call.name {
        "set-alias" | "new-alias" => {
            collector.is_plain = false;
            if let Some((name, target)) = carrier::definition(call) {
                collector.scope.define_alias(&name, &target);
            }
        }
        "set-variable" | "new-variable" => match carrier::definition(call) {
            Some((name, value)) => collector.scope.assign(&name.to_lowercase(), Value::Text(value)),
            None => collector.scope.forget_all(),
        },
        "clear-variable" | "remove-variable" => collector.scope.forget_all(),
        _ => {}
    }
}

fn read(collector: &mut Collector, inside: Inside, place: Place) {
    match inside {
        Inside::Session(text) => read_text(collector, &text, place, |text, place, collector| {
            Reader::new(text, place, collector).read();
        }),
        Inside::PowerShell(text) => {
            let scope = std::mem::take(&mut collector.scope);
            read_text(collector, &text, place, |text, place, collector| {
                Reader::new(text, place, collector).read();
            });
            collector.scope = scope;
        }
        Inside::Cmd(text) => read_text(collector, &text, place, cmd::read),
        Inside::Program(words) => program(collector, &words, place),
        Inside::Member(name, words) => {
            let span = place.span.unwrap_or(Span::new(0, 0));
            let index = collector.reserve(name.clone(), &name, span, place);
            finish_as(collector, &name, index, words, None, place);
        }
        Inside::Unknown(why) => {
            let span = place.span.unwrap_or(Span::new(0, 0));
            collector.opaque(span, why);
        }
    }
}

fn read_text(collector: &mut Collector, text: &Text, place: Place, reader: fn(&str, Place, &mut Collector)) {
    if text.is_open {
        collector.opaque(text.span, "the text it runs is only known at run time");
    }
    if !collector.spend(text.content.len(), text.span) {
        return;
    }
    let place = Place {
        span: Some(text.span),
        is_decoded: place.is_decoded || text.is_decoded,
        is_open: place.is_open || text.is_open,
        ..place
    };
    reader(&text.content, place, collector);
}

/// Lists a program that is started without a shell.
fn program(collector: &mut Collector, words: &[Word], place: Place) {
    let Some((program, arguments)) = words.split_first() else { return };
    if program.is_open() {
        collector.opaque(program.argument.span, "the program is only known at run time");
    }
    let lower = program.lower();
    let name = alias::without_extension(alias::base(&lower)).to_owned();
    let place = Place { is_decoded: place.is_decoded || words.iter().any(Word::is_decoded), ..place };
    let index = collector.reserve(name, program.text(), program.argument.span, place);
    if let Some(command) = collector.command(index) {
        command.dialect = Dialect::Cmd;
    }
    finish(collector, index, arguments.to_vec(), None, place);
}
