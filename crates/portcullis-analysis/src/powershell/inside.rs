//! Finishes a command: stores its arguments and reads what it runs.

use portcullis_shell::Span;

use super::collector::{CommandCollector, TextPlace};
use super::cursor::is_dash;
use super::reader::PowerShellReader;
use super::value::PowerShellValue;
use super::word::PowerShellWord;
use super::{CommandDialect, PowerShellCommand, alias, carrier, cmd, launcher, temporary};

/// Something a command runs.
#[derive(Debug)]
pub(super) enum RunPart {
    /// PowerShell text that runs in the same session.
    Session(RunText),
    /// PowerShell text that runs in a new one.
    PowerShell(RunText),
    /// A line of `cmd.exe`.
    Cmd(RunText),
    /// A program with its arguments.
    Program(Vec<PowerShellWord>),
    /// A use of a type or member.
    Member(String, Vec<PowerShellWord>),
    /// Something that is not known.
    Unknown(&'static str),
}

/// Text that is run.
#[derive(Debug)]
pub(super) struct RunText {
    pub(super) content: String,
    pub(super) span: Span,
    pub(super) is_open: bool,
    pub(super) is_decoded: bool,
}

impl RunText {
    /// Makes text of words, one blank between them.
    pub(super) fn of_words(words: &[PowerShellWord]) -> Option<Self> {
        let first = words.first()?;
        Some(Self {
            content: words.iter().map(PowerShellWord::text).collect::<Vec<_>>().join(" "),
            span: words.iter().fold(first.argument.span, |span, word| span.cover(word.argument.span)),
            is_open: words.iter().any(PowerShellWord::is_open),
            is_decoded: words.iter().any(PowerShellWord::is_decoded),
        })
    }

    /// Makes text of a value that comes through a pipe.
    pub(super) fn of_value(value: &PowerShellValue, span: Span) -> Option<Self> {
        let content = match value {
            PowerShellValue::List(items) => {
                let lines: Option<Vec<String>> = items.iter().map(PowerShellValue::known_text).collect();
                lines.map(|lines| lines.join("\n"))
            }
            other => other.known_text(),
        }?;
        Some(Self { content, span, is_open: false, is_decoded: value.is_decoded() })
    }
}

/// Finishes a command under its own name.
pub(super) fn finish(
    collector: &mut CommandCollector,
    index: usize,
    words: Vec<PowerShellWord>,
    input: Option<&PowerShellValue>,
    place: TextPlace,
) {
    let name = collector.command(index).map(|command| command.name.clone()).unwrap_or_default();
    finish_as(collector, &name, index, words, input, place);
}

/// Finishes a command that is treated as if it had another name.
pub(super) fn finish_as(
    collector: &mut CommandCollector,
    name: &str,
    index: usize,
    mut words: Vec<PowerShellWord>,
    input: Option<&PowerShellValue>,
    place: TextPlace,
) {
    if name.contains(is_dash) && !name.starts_with(['.', '[']) {
        words.iter_mut().for_each(PowerShellWord::expand_quoted);
    }
    if matches!(name, "get-childitem" | "join-path" | "test-path") {
        words.iter_mut().for_each(temporary::look_inside);
    }
    let Some(command) = collector.command(index) else { return };
    command.arguments = words.iter().map(|word| word.argument.clone()).collect();
    let (span, dialect) = (command.span, command.dialect);
    let is_piped = !command.piped.is_empty();
    let call = RunningCommand { name, words: &words, input, is_piped, span };
    define(collector, &call);
    let insides = carrier::insides(&call).or_else(|| launcher::insides(&call, dialect)).unwrap_or_default();
    if insides.is_empty() || !collector.enter(span) {
        return;
    }
    for inside in insides {
        read(collector, inside, TextPlace { owner: Some(index), span: Some(span), ..place });
    }
    collector.leave();
}

/// A command whose insides are looked for.
#[derive(Debug, Clone, Copy)]
pub(super) struct RunningCommand<'c> {
    pub(super) name: &'c str,
    pub(super) words: &'c [PowerShellWord],
    /// The text that comes through a pipe, if it is written there.
    pub(super) input: Option<&'c PowerShellValue>,
    pub(super) is_piped: bool,
    pub(super) span: Span,
}

impl RunningCommand<'_> {
    /// Returns the text that comes through a pipe.
    pub(super) fn input_text(&self) -> Option<RunText> {
        self.input.and_then(|value| RunText::of_value(value, self.span))
    }
}

/// Keeps the aliases and variables a command defines.
fn define(collector: &mut CommandCollector, call: &RunningCommand<'_>) {
    match call.name {
        "set-alias" | "new-alias" => {
            collector.lose();
            if let Some((name, target)) = carrier::definition(call) {
                collector.scope.define_alias(&name, &target);
            }
        }
        "set-variable" | "new-variable" => {
            collector.lose();
            match carrier::definition(call) {
                Some((name, value)) => {
                    collector.scope.assign(&name.to_lowercase(), PowerShellValue::Text(value));
                }
                None => collector.scope.forget_all(),
            }
        }
        "clear-variable" | "remove-variable" => collector.scope.forget_all(),
        _ if call.words.iter().any(|word| is_definition(call.name, word)) => collector.lose(),
        _ => {}
    }
}

/// Says whether a word makes a cmdlet change what names mean, set a variable, or make a link.
fn is_definition(name: &str, word: &PowerShellWord) -> bool {
    let lower = word.lower();
    let is_change = !matches!(name, "get-childitem" | "get-item" | "test-path" | "get-content");
    let drives = ["alias:", "function:", "variable:", "microsoft.powershell.core\\"];
    let is_drive = drives.iter().any(|drive| lower.starts_with(drive));
    let variables =
        ["-variable", "-sessionvariable", "-errorvariable", "-warningvariable", "-informationvariable"];
    let is_variable = word.parameter().is_some_and(|(parameter, _)| {
        let full = format!("-{parameter}");
        parameter.len() > 5 && variables.iter().any(|variable| variable.starts_with(&full))
            || name == "tee-object" && full.starts_with("-v")
            || matches!(parameter.as_str(), "ev" | "wv" | "iv" | "sv" | "ov" | "pv")
    });
    let is_link = name == "new-item" && matches!(lower.as_str(), "symboliclink" | "junction" | "hardlink");
    name.contains('-') && (is_change && is_drive || is_variable || is_link)
}

fn read(collector: &mut CommandCollector, inside: RunPart, place: TextPlace) {
    match inside {
        RunPart::Session(text) => read_text(collector, &text, place, |text, place, collector| {
            PowerShellReader::new(text, place, collector).read();
        }),
        RunPart::PowerShell(text) => {
            let scope = std::mem::take(&mut collector.scope);
            read_text(collector, &text, place, |text, place, collector| {
                PowerShellReader::new(text, place, collector).read();
            });
            collector.scope = scope;
        }
        RunPart::Cmd(text) => read_text(collector, &text, place, cmd::read),
        RunPart::Program(words) => program(collector, &words, place),
        RunPart::Member(name, words) => {
            let span = place.span.unwrap_or(Span::new(0, 0));
            let index = collector.reserve(name.clone(), &name, span, place);
            finish_as(collector, &name, index, words, None, place);
        }
        RunPart::Unknown(why) => {
            let span = place.span.unwrap_or(Span::new(0, 0));
            collector.opaque(span, why);
        }
    }
}

fn read_text(
    collector: &mut CommandCollector,
    text: &RunText,
    place: TextPlace,
    reader: fn(&str, TextPlace, &mut CommandCollector),
) {
    if text.is_open {
        collector.opaque(text.span, "the text it runs is only known at run time");
    }
    if !collector.spend(text.content.len(), text.span) {
        return;
    }
    let place = TextPlace {
        span: Some(text.span),
        is_decoded: place.is_decoded || text.is_decoded,
        is_open: place.is_open || text.is_open,
        ..place
    };
    reader(&text.content, place, collector);
}

/// Lists a program that is started without a shell.
fn program(collector: &mut CommandCollector, words: &[PowerShellWord], place: TextPlace) {
    let Some((program, arguments)) = words.split_first() else { return };
    if program.is_open() {
        collector.opaque(program.argument.span, "the program is only known at run time");
    }
    let lower = program.lower();
    let name = alias::without_extension(alias::base(&lower)).to_owned();
    let place =
        TextPlace { is_decoded: place.is_decoded || words.iter().any(PowerShellWord::is_decoded), ..place };
    let is_started = |command: &mut PowerShellCommand| command.name == "start-process";
    let is_direct = place.owner.and_then(|owner| collector.command(owner)).is_some_and(is_started);
    let index = collector.reserve(name, program.text(), program.argument.span, place);
    if let Some(command) = collector.command(index).filter(|_| !is_direct) {
        command.dialect = CommandDialect::Cmd;
    }
    finish(collector, index, arguments.to_vec(), None, place);
}
