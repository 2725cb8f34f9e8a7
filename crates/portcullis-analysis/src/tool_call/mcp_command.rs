//! Command lines in the fields of a tool's call, whole or in words. What acts in them counts.

use super::mcp::{act_of, drives_browser, fields, holder, is_listed, last_name, words_of};
use super::mcp_text::QUERY_FIELDS;
use super::{CallInput, Layout, effect};
use crate::act::{Act, Weight};
use crate::command_effects::effects;
use crate::effect::Target;
use crate::lists::mcp::{COMMAND_FIELDS, MAYBE_COMMAND_FIELDS, PROSE_FIELDS, REMOVING};
use crate::lists::programs::services::CHANGING;
use crate::survey::survey;

/// How many words of a list are put together to one command line.
const MOST_WORDS: usize = 64;

/// Words for what a text beside them is: a command line.
const SHELLS: &[&str] = &["bash", "cmd", "command", "powershell", "pwsh", "sh", "shell", "terminal", "zsh"];

/// Servers that type into a terminal, by a part of their names, and fields with what they type.
const TERMINALS: &[&str] = &["console", "pty", "screen", "shell", "term", "tmux"];
const TYPED_FIELDS: &[&str] = &["data", "input", "keys", "line", "text"];

/// Adds what command lines in the fields do, and says whether there is one in a field for them.
pub(super) fn add_commands(tool: &str, call: &CallInput<'_>, layout: &mut Layout) -> bool {
    let mut has_command = false;
    let server = tool.split("__").nth(1).unwrap_or_default().to_ascii_lowercase();
    if TERMINALS.iter().any(|name| server.contains(name)) {
        fields(call, TYPED_FIELDS).for_each(|text| call.shell(text, layout));
    }
    for line in command_lines(call) {
        call.shell(&line, layout);
        has_command = true;
    }
    let maybe: Vec<&str> = fields(call, MAYBE_COMMAND_FIELDS).collect();
    let line = maybe.iter().take(MOST_WORDS).copied().collect::<Vec<_>>().join(" ");
    for text in maybe.iter().copied().chain((!line.is_empty()).then_some(line.as_str())) {
        add_acting_command(text, call, layout);
    }
    add_word_list(tool, call, layout);
    for (field, text) in call.fields.iter().filter(|(field, _)| may_be_command(call, field)) {
        if !MAYBE_COMMAND_FIELDS.contains(&last_name(field).as_str()) {
            add_acting_command(text, call, layout);
        }
        // What is handed on to a program may pass a shell on the way.
        if ARGUMENT_FIELDS.iter().any(|part| last_name(field).contains(part)) {
            for command in text.split(SHELL_JOINTS).skip(1) {
                add_acting_command(command, call, layout);
            }
        }
    }
    has_command
}

/// Fields that hold the words behind a program, each for itself or all in one text.
const WORD_FIELDS: &[&str] = &["args", "argv", "arguments", "parameters", "params"];

/// Fields that name a program and stand beside its words.
const PROGRAM_FIELDS: &[&str] = &["bin", "binary", "exe", "executable", "program"];

/// Returns the command lines that fields hold: a text, or a program with its words in a list or a field beside it.
fn command_lines(call: &CallInput<'_>) -> Vec<String> {
    let mut lines = Vec::new();
    for (field, text) in call.fields {
        let name = last_name(field);
        let is_command = COMMAND_FIELDS.contains(&name.as_str());
        let words: Vec<&(String, String)> =
            call.fields.iter().filter(|(other, _)| is_word_of(field, other)).collect();
        let is_program = PROGRAM_FIELDS.contains(&name.as_str()) && !words.is_empty();
        if !is_command && !is_program {
            continue;
        }
        // Of a list that is one command, the first element has all the others behind it.
        let is_one = is_listed(field) && !name.ends_with('s');
        if is_one && !field.ends_with(".0") {
            continue;
        }
        let mut line = settings_before(call, field);
        line.push_str(&if is_one { quoted(text) } else { text.clone() });
        let start = line.clone();
        for (other, word) in words.iter().take(MOST_WORDS) {
            line.push(' ');
            line.push_str(&if other.contains('.') { quoted(word) } else { word.clone() });
        }
        lines.push(line);
        // Nobody knows in which order a tool hands on words that have names.
        let named = words.iter().filter(|(other, _)| other.contains('.') && !is_listed(other));
        let named: Vec<String> = named.take(MOST_WORDS).map(|(_, word)| quoted(word)).collect();
        if named.len() > 1 {
            let turned: Vec<&str> = named.iter().rev().map(String::as_str).collect();
            lines.push([start.as_str(), " ", &turned.join(" ")].concat());
        }
    }
    // One after the other they may be those of one shell.
    if lines.len() > 1 { vec![lines.join("\n")] } else { lines }
}

/// Returns the variables that are set beside a command, as a shell would set them.
fn settings_before(call: &CallInput<'_>, command: &str) -> String {
    let mut line = String::new();
    for (field, value) in call.fields {
        let Some((list, name)) = field.rsplit_once('.') else { continue };
        let is_variable =
            !name.is_empty() && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_');
        let is_beside = holder(command) == list.rsplit_once('.').map_or("", |(outer, _)| outer);
        if is_variable && is_beside && VARIABLE_FIELDS.contains(&last_name(list).as_str()) {
            line = [&line, "export ", name, "=", &quoted(value), "; "].concat();
        }
    }
    line
}

/// Fields that hold variables for a command.
const VARIABLE_FIELDS: &[&str] = &["env", "environ", "environment", "envvars", "variables"];

/// Says whether a field holds words that stand behind the program which another names.
fn is_word_of(program: &str, field: &str) -> bool {
    if is_listed(program) {
        let list = |field: &str| field.rsplit_once('.').map(|(list, _)| list.to_owned());
        return is_listed(field)
            && field != program
            && list(field) == list(program)
            && !last_name(program).ends_with('s');
    }
    let outer = holder(program);
    let below = if outer.is_empty() {
        Some(field)
    } else {
        field.strip_prefix(outer).and_then(|rest| rest.strip_prefix('.'))
    };
    let first = below.and_then(|below| below.split('.').next());
    first.is_some_and(|first| WORD_FIELDS.contains(&last_name(first).as_str()))
}

/// Quotes a word for a shell.
fn quoted(word: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./=:,+@%".contains(letter);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// Parts of the names of fields that hold words for a program.
const ARGUMENT_FIELDS: &[&str] = &["arg", "flag", "opt"];

/// Signs after which a shell begins another command.
const SHELL_JOINTS: &[char] = &['|', ';', '&', '\n', '`', '('];

/// Says whether a field may hold a command line: it is none for prose, or its neighbour says so.
fn may_be_command(call: &CallInput<'_>, field: &str) -> bool {
    let name = last_name(field);
    let is_prose = [PROSE_FIELDS, QUERY_FIELDS].iter().any(|names| names.contains(&name.as_str()));
    let holder = |field: &str| field.rsplit_once('.').map_or("", |(holder, _)| holder).to_owned();
    let is_beside = |other: &str| holder(other) == holder(field) && other != field;
    let says_shell = |text: &str| SHELLS.contains(&text.trim().to_ascii_lowercase().as_str());
    !is_prose || call.fields.iter().any(|(other, text)| is_beside(other) && says_shell(text))
}

/// Adds what a list of words does: those of a program that the server is named after, or of one nobody named.
fn add_word_list(tool: &str, call: &CallInput<'_>, layout: &mut Layout) {
    let in_list = |(field, _): &&(String, String)| {
        is_listed(field) && MAYBE_COMMAND_FIELDS.contains(&last_name(field).as_str())
    };
    let words: Vec<&str> =
        call.fields.iter().filter(in_list).take(MOST_WORDS).map(|(_, text)| text.as_str()).collect();
    let changes = |word: &&&str| {
        let word = word.to_ascii_lowercase();
        let begins = |verb: &&str| verb.len() > 3 && word.starts_with(*verb);
        CHANGING.binary_search(&word.as_str()).is_ok()
            || REMOVING.iter().any(|verb| begins(verb) || *verb == word)
    };
    let verbs = words.iter().filter(|word| !word.starts_with('-')).take(2);
    if let Some(verb) = verbs.into_iter().find(changes) {
        layout.effects.push(effect(Act::Unknown, Target::Name(format!("a command to {verb}"))));
    }
    if drives_browser(tool) {
        // What it is told is done in a page.
        return;
    }
    // The words may be those of the program that the server is named after.
    let line = fields(call, MAYBE_COMMAND_FIELDS).take(MOST_WORDS).collect::<Vec<_>>().join(" ");
    let server = tool.split("__").nth(1).unwrap_or_default();
    for program in server.split(['_', '-']).filter(|_| !line.is_empty()) {
        add_acting_command(&format!("{program} {line}"), call, layout);
    }
}

/// Fields that say what a tool is to do.
const ACTION_FIELDS: &[&str] = &["action", "method", "op", "operation", "verb"];

/// Fields that say where a request goes.
const ROUTE_FIELDS: &[&str] = &["api", "endpoint", "path", "route", "uri", "url"];

/// Returns what a field orders a tool to do, whatever the tool is called: `action: post_message`, `/users/_delete_by_query`.
pub(super) fn ordered_act(call: &CallInput<'_>) -> Option<Act> {
    let by_action = fields(call, ACTION_FIELDS).map(|text| act_of(&words_of(text)));
    let acting = |act: &Act| !matches!(act, Act::Query | Act::Unknown | Act::Fetch);
    let removes = |text: &&str| {
        let last = text.split(['?', '#']).next().unwrap_or(text).rsplit('/').next().unwrap_or(text);
        words_of(last).iter().any(|word| REMOVING.contains(&word.as_str())) && !last.contains('.')
    };
    by_action
        .into_iter()
        .find(acting)
        .or_else(|| fields(call, ROUTE_FIELDS).find(removes).map(|_| Act::Delete))
}

/// Adds what a text does if it is a command line of a known program that does more than look.
fn add_acting_command(text: &str, call: &CallInput<'_>, layout: &mut Layout) {
    let Some((program, _)) = text.trim().split_once(char::is_whitespace) else { return };
    // A question in GraphQL begins like a program of Windows.
    let is_question = program == "query" && text.contains('{');
    if is_question || call.surroundings.profiles.find(program).is_none() {
        return;
    }
    let found = effects(&survey(text, call.surroundings), call.surroundings);
    let acts = |act: Act| act.weight() != Weight::Observing && act != Act::Fetch;
    let acting = found.into_iter().filter(|effect| acts(effect.act));
    // They stand in no command of the call's own.
    layout.effects.extend(acting.map(|found| effect(found.act, found.target)));
}
