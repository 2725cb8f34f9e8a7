//! Programs that PowerShell starts, read as the same words in bash: profiles, wrappers, package runners and code in their
//! arguments or in what is piped to them are those of bash.

use std::fmt::Write as _;
use std::ops::Range;

use crate::argument::Argument;
use crate::directories::Directories;
use crate::invocation::{Invocation, Survey};
use crate::powershell::{CommandDialect, EXPORT, PowerShellCommand, is_script};
use crate::profile::find_cmdlet;
use crate::survey::{Surroundings, survey};

/// The end of a text that is piped to a program.
const END: &str = "PORTCULLIS_END_OF_INPUT";

/// Says whether a command is a program that bash knows as well: no cmdlet, no program of Windows, no sign.
pub(super) fn is_native(command: &PowerShellCommand) -> bool {
    let name = command.name.as_str();
    command.dialect == CommandDialect::PowerShell
        && !name.is_empty()
        && !name.starts_with(['[', '.', '&', '$', '(', ':'])
        && !is_script(name)
        && find_cmdlet(name).is_none()
        && name.split_once('-').is_none_or(|(verb, _)| !VERBS.contains(&verb))
}

/// Verbs of cmdlets: what nobody knows of such a name is no program.
const VERBS: &[&str] = &[
    "add",
    "clear",
    "close",
    "compare",
    "complete",
    "compress",
    "connect",
    "convert",
    "convertfrom",
    "convertto",
    "copy",
    "disable",
    "disconnect",
    "enable",
    "enter",
    "exit",
    "expand",
    "export",
    "find",
    "format",
    "get",
    "grant",
    "group",
    "hide",
    "import",
    "initialize",
    "install",
    "invoke",
    "join",
    "limit",
    "lock",
    "measure",
    "merge",
    "mount",
    "move",
    "new",
    "open",
    "optimize",
    "out",
    "ping",
    "pop",
    "protect",
    "publish",
    "push",
    "read",
    "receive",
    "redo",
    "register",
    "remove",
    "rename",
    "repair",
    "request",
    "reset",
    "resize",
    "resolve",
    "restart",
    "restore",
    "resume",
    "revoke",
    "save",
    "search",
    "select",
    "send",
    "set",
    "show",
    "skip",
    "sort",
    "split",
    "start",
    "step",
    "stop",
    "submit",
    "suspend",
    "switch",
    "sync",
    "tee",
    "test",
    "trace",
    "unblock",
    "undo",
    "uninstall",
    "unlock",
    "unprotect",
    "unpublish",
    "unregister",
    "update",
    "use",
    "wait",
    "watch",
    "where",
    "write",
];

/// Reads a program as bash would start it. The place of the command is that of the first invocation.
fn in_bash(command: &Invocation, input: Option<&str>, surroundings: Surroundings<'_>) -> Option<Survey> {
    let mut line = String::new();
    let mut open = Vec::new();
    for word in &command.arguments {
        if !line.is_empty() {
            line.push(' ');
        }
        if let Some(text) = word.fixed() {
            line.push_str(&quoted(text));
        } else {
            let _ = write!(line, "\"$_portcullis_{}\"", open.len());
            open.push(word);
        }
    }
    match input {
        Some(text) if !command.piped.is_empty() && !text.contains(END) => {
            let _ = write!(line, " <<'{END}'\n{text}\n{END}\n");
        }
        _ if !command.piped.is_empty() => line.push_str(" < \"$_portcullis_input\""),
        _ => {}
    }
    let mut found = survey(&line, surroundings);
    let own = command.program()?;
    let is_whole = found
        .invocations
        .first()
        .and_then(Invocation::program)
        .is_some_and(|first| first.fixed() == own.fixed());
    for invocation in &mut found.invocations {
        invocation.span = command.span;
        for word in &mut invocation.arguments {
            filled(word, &open, command);
        }
        for variable in &mut invocation.assignments {
            filled(&mut variable.value, &open, command);
        }
    }
    for opacity in &mut found.opacities {
        opacity.span = command.span;
    }
    let first = found.invocations.first_mut()?;
    first.redirections.clone_from(&command.redirections);
    first.arguments.first_mut()?.source.clone_from(&own.source);
    is_whole.then_some(found)
}

/// Quotes a text for bash.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// Puts the word back that a variable stood for.
fn filled(word: &mut Argument, open: &[&Argument], command: &Invocation) {
    word.span = command.span;
    let index = word.text.strip_prefix("$_portcullis_").and_then(|index| index.parse::<usize>().ok());
    if let Some(other) = index.and_then(|index| open.get(index)) {
        *word = (*other).clone();
    }
}

/// Puts surveys of programs in the places of their commands in a list; returns where each command of the list is now.
pub(super) fn merge(found: &mut Survey, natives: Vec<Option<Survey>>) -> Vec<Range<usize>> {
    let old = std::mem::take(&mut found.invocations);
    let lengths = natives.iter().map(|native| native.as_ref().map_or(1, |native| native.invocations.len()));
    let mut starts = Vec::new();
    let mut next = 0;
    for length in lengths {
        starts.push(next);
        next += length;
    }
    starts.push(next);
    let start_of = |index: usize| starts.get(index).copied().unwrap_or(next);
    for (index, (invocation, native)) in old.into_iter().zip(natives).enumerate() {
        let piped = start_of(invocation.piped.start)..start_of(invocation.piped.end);
        let piped = if invocation.piped.is_empty() { 0..0 } else { piped };
        let parent = invocation.parent.map(start_of);
        let Some(native) = native else {
            found.invocations.push(Invocation { parent, piped, ..invocation });
            continue;
        };
        let offset = start_of(index);
        let by = |range: Range<usize>| {
            if range.is_empty() { 0..0 } else { range.start + offset..range.end + offset }
        };
        for (place, inner) in native.invocations.into_iter().enumerate() {
            let is_first = place == 0;
            found.invocations.push(Invocation {
                piped: if is_first { piped.clone() } else { by(inner.piped.clone()) },
                parent: if is_first { parent } else { inner.parent.map(|parent| parent + offset) },
                substituted: by(inner.substituted.clone()),
                ..inner
            });
        }
        found.opacities.extend(native.opacities);
    }
    starts
        .windows(2)
        .map(|pair| pair.first().copied().unwrap_or(0)..pair.last().copied().unwrap_or(0))
        .collect()
}

/// Returns the line that sets a variable for programs, as bash writes it.
fn export(command: &Invocation, surroundings: Surroundings<'_>) -> Option<Survey> {
    let [_, name, value] = command.arguments.as_slice() else { return None };
    let line = match value.fixed() {
        Some(text) => format!("export {}={}", name.text, quoted(&paths_of_bash(text)?)),
        None => format!("export {}=\"$_portcullis_0\"", name.text),
    };
    let mut found = survey(&line, surroundings);
    for invocation in &mut found.invocations {
        invocation.span = command.span;
        invocation.arguments.iter_mut().for_each(|word| word.span = command.span);
    }
    (found.opacities.is_empty() && !found.invocations.is_empty()).then_some(found)
}

/// Writes a list of paths as bash does; `None` if drives of Windows stand in it.
fn paths_of_bash(text: &str) -> Option<String> {
    let is_list = text.contains(';') && !text.contains("://");
    if !is_list {
        return Some(text.replace('\\', "/"));
    }
    (!text.contains(':')).then(|| text.replace(';', ":").replace('\\', "/"))
}

/// Reads a program where it runs, whichever of several directories that is.
pub(super) fn read(
    command: &PowerShellCommand,
    invocation: &Invocation,
    surroundings: Surroundings<'_>,
) -> Option<Survey> {
    let input = command.input.as_deref();
    let at = |directory: &str| {
        let place = Surroundings { directory, ..surroundings };
        if command.name == EXPORT { export(invocation, place) } else { in_bash(invocation, input, place) }
    };
    if let Some([directory]) = invocation.directories.alternatives() {
        return at(directory);
    }
    let mut found = at(surroundings.directory)?;
    for inner in &mut found.invocations {
        let is_start = inner.directories == Directories::only(surroundings.directory);
        inner.directories = if is_start { invocation.directories.clone() } else { Directories::Unknown };
    }
    Some(found)
}
