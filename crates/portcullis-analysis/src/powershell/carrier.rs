//! Cmdlets and members that run the text or program they are given.

use super::command_line;
use super::inside::{RunPart, RunText, RunningCommand};
use super::value::{ObjectKind, PowerShellValue};
use super::word::{BoundParameters, PowerShellWord};

/// The switches of `Start-Process`, and those every cmdlet has.
const SWITCHES: &[&str] = &[
    "confirm",
    "debug",
    "loaduserprofile",
    "nonewwindow",
    "passthru",
    "usenewenvironment",
    "verbose",
    "wait",
    "whatif",
];

/// Cmdlets and members that run a script block for what they are given, with the parameter that takes it. It may be left out,
/// and then the first word takes its place.
const BLOCK_TAKERS: &[(&str, &str)] = &[
    (".foreach", ""),
    (".where", ""),
    ("compare-object", "property"),
    ("format-custom", "property"),
    ("format-list", "property"),
    ("format-table", "property"),
    ("format-wide", "property"),
    ("group-object", "property"),
    ("measure-command", "expression"),
    ("measure-object", "property"),
    ("select-object", "property"),
    ("sort-object", "property"),
    ("trace-command", "expression"),
    ("where-object", "filterscript"),
];

/// Their switches, which take no value.
const TAKER_SWITCHES: &[&str] = &[
    "allstats",
    "asstring",
    "ashashtable",
    "autosize",
    "average",
    "casesensitive",
    "character",
    "descending",
    "hidetableheaders",
    "line",
    "maximum",
    "minimum",
    "noelement",
    "repeatheader",
    "stable",
    "sum",
    "unique",
    "wait",
    "word",
    "wrap",
];

/// Returns what a cmdlet or member runs; `None` if it is none of those known here.
pub(super) fn insides(call: &RunningCommand<'_>) -> Option<Vec<RunPart>> {
    let found = match call.name {
        "invoke-expression" => vec![expression(call)],
        "start-process" => start_process(call),
        "new-scheduledtaskaction" => task_action(call),
        "new-service" | "set-service" => parameter_line(call, "binarypathname"),
        "invoke-wmimethod" => wmi_method(call),
        "invoke-cimmethod" => cim_method(call),
        "new-object" => new_object(call),
        "add-type" => add_type(call),
        "foreach-object" => each(call),
        "invoke-command" | "start-job" | "start-threadjob" | "register-scheduledjob" => block_runner(call),
        "[system.management.automation.scriptblock]::create"
        | ".invokescript"
        | ".newscriptblock"
        | ".addscript" => script(call),
        "[system.diagnostics.process]::start" => process_start(call),
        ".run" | ".exec" | "wmi" => line(call.words.first()).into_iter().collect(),
        ".shellexecute" => process_start(call),
        ".foreach" if !call.words.iter().any(|word| word.value == PowerShellValue::Block) => {
            member_named(call)
        }
        name => taken_block(call, BLOCK_TAKERS.iter().find(|(taker, _)| *taker == name)?.1),
    };
    Some(found)
}

/// Lists the member that `.ForEach('Delete')` calls by its name.
fn member_named(call: &RunningCommand<'_>) -> Vec<RunPart> {
    match call.words.first() {
        Some(word) if word.is_open() => vec![RunPart::Unknown("what it runs is only known at run time")],
        Some(word) => vec![RunPart::Member(format!(".{}", word.lower()), Vec::new())],
        None => Vec::new(),
    }
}

/// Notes a block that is only known at run time. The commands of one that is written out are listed already, and a text is
/// the name of a property.
fn taken_block(call: &RunningCommand<'_>, parameter: &str) -> Vec<RunPart> {
    let bound = BoundParameters::new(call.words, TAKER_SWITCHES);
    let named = if parameter.is_empty() { None } else { bound.named(parameter) };
    // What is compared stands before the properties by which it is.
    let place =
        if call.name == "compare-object" { None } else { bound.positional.first().map(Vec::as_slice) };
    let mut words = named.into_iter().chain(place).flatten();
    if words.any(|word| word.value != PowerShellValue::Block && is_source(word)) {
        vec![RunPart::Unknown("what it runs is only known at run time")]
    } else {
        Vec::new()
    }
}

/// Returns the fixed name and value a command defines.
pub(super) fn definition(call: &RunningCommand<'_>) -> Option<(String, String)> {
    let bound = BoundParameters::new(call.words, &["force", "passthru"]);
    let place = usize::from(bound.named("name").is_none());
    let name = bound.value("name", 0)?.first()?;
    let value = bound.value("value", place)?;
    let is_fixed = !name.is_open() && value.len() == 1 && value.iter().all(|word| !word.is_open());
    is_fixed.then(|| Some((name.text().to_owned(), value.first()?.text().to_owned())))?
}

/// Returns the text that `Invoke-Expression` runs, from its argument or from the pipe.
fn expression(call: &RunningCommand<'_>) -> RunPart {
    let words: Vec<PowerShellWord> =
        call.words.iter().filter(|word| word.parameter().is_none()).cloned().collect();
    // The source of an expression that makes the text is not the text.
    let text = if words.iter().any(is_source) {
        None
    } else {
        RunText::of_words(&words).or_else(|| call.input_text())
    };
    text.map_or(RunPart::Unknown("the text it runs is only known at run time"), RunPart::Session)
}

/// Says whether a word shows the source of something computed and no piece of text.
fn is_source(word: &PowerShellWord) -> bool {
    word.is_open() && !word.argument.as_written().starts_with(['"', '@', '\u{201c}'])
}

/// Returns the text that a command takes as script; the commands of a block are listed already.
fn script(call: &RunningCommand<'_>) -> Vec<RunPart> {
    let text = call.words.first().filter(|word| !is_source(word));
    match text {
        // Its commands are listed already.
        Some(word) if word.value == PowerShellValue::Block => Vec::new(),
        Some(word) => {
            RunText::of_words(std::slice::from_ref(word)).map(RunPart::Session).into_iter().collect()
        }
        None => vec![RunPart::Unknown("the text it runs is only known at run time")],
    }
}

/// Notes a runner of script blocks that is given something else.
fn block_runner(call: &RunningCommand<'_>) -> Vec<RunPart> {
    let bound = BoundParameters::new(call.words, SWITCHES);
    let block = bound.named("scriptblock").and_then(<[PowerShellWord]>::first);
    match block {
        Some(block) if block.value != PowerShellValue::Block => {
            vec![RunPart::Unknown("the script block it runs is only known at run time")]
        }
        _ => Vec::new(),
    }
}

/// Splits the arguments of a program: one text is a command line, several are words.
pub(super) fn split_arguments(words: &[PowerShellWord]) -> Vec<PowerShellWord> {
    words.iter().flat_map(pieces).collect()
}

/// Splits a text the way a program of Windows splits its command line.
fn pieces(word: &PowerShellWord) -> Vec<PowerShellWord> {
    if !word.text().contains(char::is_whitespace) {
        return vec![word.clone()];
    }
    command_line::split(word.text())
        .into_iter()
        .map(|piece| {
            let mut made =
                PowerShellWord::computed(&piece, word.is_open() && piece.contains('$'), word.argument.span);
            if word.is_decoded() {
                made.value = PowerShellValue::Decoded(piece);
            }
            made
        })
        .collect()
}

/// Returns the program of a command line.
pub(super) fn line(word: Option<&PowerShellWord>) -> Option<RunPart> {
    let word = word?;
    if is_source(word) {
        return Some(RunPart::Unknown("the command line it runs is only known at run time"));
    }
    let words = pieces(word);
    (!words.is_empty()).then_some(RunPart::Program(words))
}

/// Returns the program that `Start-Process` starts, with its arguments.
fn start_process(call: &RunningCommand<'_>) -> Vec<RunPart> {
    let bound = BoundParameters::new(call.words, SWITCHES);
    let place = usize::from(bound.named("filepath").is_none());
    let Some(program) = bound.value("filepath", 0).and_then(<[PowerShellWord]>::first) else {
        return if call.is_piped {
            vec![RunPart::Unknown("the program comes through a pipe")]
        } else {
            Vec::new()
        };
    };
    let arguments = bound.named("argumentlist").or_else(|| bound.named("args"));
    let arguments = arguments.or_else(|| bound.positional.get(place).map(Vec::as_slice)).unwrap_or_default();
    let mut words = vec![program.clone()];
    words.extend(split_arguments(arguments));
    vec![RunPart::Program(words)]
}

/// Returns what a scheduled task will run.
fn task_action(call: &RunningCommand<'_>) -> Vec<RunPart> {
    let bound = BoundParameters::new(call.words, &[]);
    let Some(program) = bound.value("execute", 0).and_then(<[PowerShellWord]>::first) else {
        return Vec::new();
    };
    let mut words = vec![program.clone()];
    words.extend(split_arguments(bound.value("argument", 1).unwrap_or_default()));
    vec![RunPart::Program(words)]
}

/// Returns the command line in a parameter.
fn parameter_line(call: &RunningCommand<'_>, name: &str) -> Vec<RunPart> {
    let bound = BoundParameters::new(call.words, &[]);
    line(bound.named(name).and_then(<[PowerShellWord]>::first)).into_iter().collect()
}

/// Returns the process that WMI is asked to create.
fn wmi_method(call: &RunningCommand<'_>) -> Vec<RunPart> {
    let is_creation = call.words.iter().any(|word| word.lower() == "create");
    let bound = BoundParameters::new(call.words, &[]);
    let arguments = bound.named("argumentlist").and_then(<[PowerShellWord]>::first);
    if is_creation { line(arguments).into_iter().collect() } else { Vec::new() }
}

/// Reads `@{ CommandLine = '…' }`.
fn cim_method(call: &RunningCommand<'_>) -> Vec<RunPart> {
    let tables = call.words.iter().filter_map(|word| match &word.value {
        PowerShellValue::Table(entries) => Some((entries, word.argument.span)),
        _ => None,
    });
    tables
        .flat_map(|(entries, span)| entries.iter().map(move |(key, value)| (key, value, span)))
        .filter(|(key, _, _)| *key == "commandline")
        .filter_map(|(_, value, span)| line(Some(&PowerShellWord::new(value.clone(), "$_", span, true))))
        .collect()
}

/// Lists the type of a new object.
fn new_object(call: &RunningCommand<'_>) -> Vec<RunPart> {
    let bound = BoundParameters::new(call.words, &["strict"]);
    if bound.has("comobject") {
        return Vec::new();
    }
    let Some(name) = bound.value("typename", 0).and_then(<[PowerShellWord]>::first) else {
        return Vec::new();
    };
    if name.is_open() {
        return vec![RunPart::Unknown("the type it makes is only known at run time")];
    }
    let full = super::alias::canonical_type(name.text());
    let rest = bound.named("argumentlist").map(<[PowerShellWord]>::to_vec);
    let rest = rest.unwrap_or_else(|| bound.positional.iter().skip(1).flatten().cloned().collect());
    vec![RunPart::Member(format!("[{full}]::new"), rest)]
}

/// Notes code that is compiled and loaded; an assembly that is named is none.
fn add_type(call: &RunningCommand<'_>) -> Vec<RunPart> {
    let bound = BoundParameters::new(call.words, &["passthru"]);
    let is_assembly =
        bound.has("assemblyname") && !bound.has("typedefinition") && !bound.has("memberdefinition");
    if is_assembly { Vec::new() } else { vec![RunPart::Unknown("it compiles code of another language")] }
}

/// Lists the member that `ForEach-Object` calls by name.
fn each(call: &RunningCommand<'_>) -> Vec<RunPart> {
    let bound = BoundParameters::new(call.words, &["confirm", "whatif", "asjob"]);
    let Some(member) = bound.value("membername", 0).and_then(<[PowerShellWord]>::first) else {
        return Vec::new();
    };
    match &member.value {
        PowerShellValue::Block => Vec::new(),
        // Records have properties and no methods.
        _ if call.input == Some(&PowerShellValue::Instance(ObjectKind::Record)) && !member.is_open() => {
            Vec::new()
        }
        _ if member.is_open() => vec![RunPart::Unknown("what it runs is only known at run time")],
        _ => vec![RunPart::Member(format!(".{}", member.lower()), Vec::new())],
    }
}

/// Returns the program of `[Diagnostics.Process]::Start`.
fn process_start(call: &RunningCommand<'_>) -> Vec<RunPart> {
    let Some((program, arguments)) = call.words.split_first() else { return Vec::new() };
    if is_source(program) {
        return vec![RunPart::Unknown("the program is only known at run time")];
    }
    let mut words = vec![program.clone()];
    words.extend(split_arguments(arguments));
    vec![RunPart::Program(words)]
}
