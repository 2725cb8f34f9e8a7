//! Tools of MCP servers: judged by the verbs in their names and by what their fields hold.

use super::{CallInput, Layout, address, effect, mcp_command, mcp_text};
use crate::act::Act;
use crate::effect::{Certainty, Effect, Target};
use crate::lists::mcp::{
    AMOUNT_FIELDS, BROWSER_ACTIONS, BROWSER_LOOKS, BROWSER_NOUNS, BROWSER_SWITCHES, BROWSERS,
    DIRECTORY_FIELDS, FILLING, MILD, MOVING, PART_FIELDS, PATH_FIELDS, PIECE_FIELDS, PROSE_FIELDS,
    RECIPIENT_FIELDS, REMOVING, SENDING, SERVICE_FIELDS, STRONG, VERBS,
};
use crate::outgoing::is_telling;
use crate::path::join;
use crate::survey::Surroundings;

/// Nouns that make an act weigh more than its verb says; the first that stands in a name counts.
const NOUNS: &[(&str, Act)] = &[
    ("money", Act::Transact),
    ("password", Act::Account),
    ("payment", Act::Transact),
    ("transaction", Act::Transact),
    ("tweet", Act::Message),
    ("email", Act::Message),
    ("mail", Act::Message),
    ("sms", Act::Message),
    ("shipment", Act::Transact),
    ("reservation", Act::Transact),
    ("booking", Act::Transact),
    ("appointment", Act::Transact),
    ("purchase", Act::Transact),
    ("secret", Act::SecretWrite),
    ("credential", Act::SecretWrite),
];

/// Nouns whose value is a secret: asking for it shows it.
const SECRETS: &[&str] = &["credential", "password", "passphrase", "secret"];

/// Fields that hold code or a script of some language.
const CODE_FIELDS: &[&str] = &["code", "expression", "function", "javascript", "js", "python", "script"];

/// Fields that say where something is put.
const OUTPUT_FIELDS: &[&str] =
    &["dest", "destination", "out", "output", "outputfile", "outputpath", "savepath", "saveto", "savetofile"];

/// Verbs that put what they get into the file they are given.
const SAVING: &[&str] = &["capture", "download", "export", "record", "save", "screenshot", "snapshot"];

/// Works out what a tool of an MCP server does, in the directory that it is told.
pub(super) fn layout(tool: &str, call: &CallInput<'_>) -> Layout {
    let nested = mcp_text::nested_fields(call);
    let all: Vec<(String, String)>;
    let fields = if nested.is_empty() {
        call.fields
    } else {
        all = call.fields.iter().cloned().chain(nested).collect();
        all.as_slice()
    };
    let call = CallInput { fields, surroundings: call.surroundings };
    let told = self::fields(&call, DIRECTORY_FIELDS).find(|text| !text.is_empty());
    let target = told.map(|directory| call.path(directory));
    let directory = target.as_ref().and_then(|target| target.paths().first());
    let directory = directory.map_or(call.surroundings.directory, String::as_str);
    let surroundings = Surroundings { directory, ..call.surroundings };
    layout_of(tool, &CallInput { fields: call.fields, surroundings })
}

fn layout_of(tool: &str, call: &CallInput<'_>) -> Layout {
    let name = tool.rsplit("__").next().unwrap_or(tool);
    let words = words_of(name);
    let act = if looks_at_page(tool, &words, call) { Act::Query } else { act_of(&words) };
    let mut layout = Layout::default();
    let files = add_files(&words, act, call, &mut layout);
    if act == Act::SetMode && fields(call, &["mode"]).any(sets_identity) {
        layout.effects.push(effect(Act::Grant, Target::Name("set-user-id".to_owned())));
    }
    let changes = fields(call, &["method"])
        .any(|method| ["delete", "patch", "post", "put"].contains(&method.to_ascii_lowercase().as_str()))
        || act == Act::Query && fields(call, &["body", "data", "payload"]).any(|text| !text.is_empty());
    for (_, address) in call.fields.iter().filter(|(field, text)| is_address(field, text)) {
        let mut fetched = address::effect_of(address, call);
        if changes && matches!(fetched.act, Act::Fetch | Act::Send) {
            fetched.act = Act::Send;
            fetched.certainty = Certainty::Certain;
        }
        if matches!(fetched.target, Target::Path(_)) {
            fetched.act = act_on_files(&words, act);
        }
        layout.effects.push(fetched);
    }
    let is_ordered = call.fields.iter().any(|(field, text)| orders_change(field, text));
    if changes && act == Act::Query || is_ordered {
        layout.effects.push(effect(Act::Post, Target::Name(tool.to_owned())));
    }
    let is_local = files > 0 && act != Act::Unknown && !leaves(&words, act, call);
    let mut is_settled = is_local || act == Act::Fetch && !layout.effects.is_empty();
    is_settled |= mcp_command::add_commands(tool, call, &mut layout) && act == Act::Unknown;
    is_settled |= mcp_text::add_statements(tool, call, &mut layout);
    if act == Act::Query && mcp_text::shows_secret(tool, call) {
        layout.effects.push(effect(Act::SecretRead, Target::Name(tool.to_owned())));
    }
    if act == Act::Query
        && let Some(ordered) = mcp_command::ordered_act(call)
    {
        let ordered = if ordered == Act::Delete { Act::Post } else { ordered };
        layout.effects.push(effect(ordered, Target::Name(tool.to_owned())));
    }
    if !is_settled {
        // A removal whose target is no file here is an entry of some service.
        let act = if act == Act::Delete { Act::Post } else { act };
        let name = if act == Act::Transact { payment(tool, call) } else { tool.to_owned() };
        let done = effect(act, Target::Name(name));
        layout.effects.push(if act == Act::Unknown { call.with_texts(done) } else { done });
    }
    let is_code = |text: &&str| text.contains(['(', ';', '\n', ' ']);
    if let Some(code) = fields(call, CODE_FIELDS).find(is_code) {
        let done = effect(Act::Unknown, Target::Name("code that it is given".to_owned()));
        layout.effects.push(Effect { word: Some(CallInput::word(code)), ..done });
    }
    if act == Act::Query && call.fields.iter().any(|(_, text)| is_telling(text)) {
        let target = Target::Host { host: String::new(), written: tool.to_owned() };
        layout.effects.push(effect(Act::Send, target));
    }
    layout
}

/// Verbs that a field begins with by which a tool that looks is told to change something.
const ORDERS: &[&str] = &[
    "append",
    "create",
    "delete",
    "drop",
    "insert",
    "overwrite",
    "publish",
    "remove",
    "replace",
    "send",
    "truncate",
    "update",
    "upsert",
    "write",
];

/// Words at the end of a name that make it one of something that is looked for: `create_time`, `delete_by`.
const SOUGHT: &[&str] = &[
    "after", "at", "before", "by", "count", "date", "from", "id", "ids", "on", "since", "time", "to", "type",
    "until",
];

/// Values that switch off what a field says.
const OFF: &[&str] = &["", "0", "false", "never", "no", "none", "null", "off"];

/// Says whether a field tells a tool to change something: `writeDisposition`, `deleteAfterRead`.
fn orders_change(field: &str, text: &str) -> bool {
    let last = field.rsplit('.').find(|part| part.parse::<usize>().is_err()).unwrap_or(field);
    let words = words_of(last);
    let (Some(first), Some(end)) = (words.first(), words.get(1..).and_then(<[String]>::last)) else {
        return false;
    };
    let is_off = OFF.contains(&text.trim().to_ascii_lowercase().as_str());
    ORDERS.contains(&first.as_str()) && !SOUGHT.contains(&end.as_str()) && !is_off
}

/// So much of a recipient or an amount is shown.
const LONGEST_SHOWN: usize = 60;

/// Says what is paid to whom, where the fields tell, and through which tool.
fn payment(tool: &str, call: &CallInput<'_>) -> String {
    let shown = |names: &[&str]| {
        let text = fields(call, names).find(|text| !text.trim().is_empty())?;
        let is_plain = |letter: &char| letter.is_alphanumeric() || " .,:@+-_/#&".contains(*letter);
        Some(text.chars().filter(is_plain).take(LONGEST_SHOWN).collect::<String>())
    };
    match (shown(AMOUNT_FIELDS), shown(RECIPIENT_FIELDS)) {
        (Some(amount), Some(recipient)) => format!("{amount} to {recipient} through `{tool}`"),
        (None, Some(recipient)) => format!("something to {recipient} through `{tool}`"),
        (Some(amount), None) => format!("{amount} through `{tool}`"),
        (None, None) => tool.to_owned(),
    }
}

/// Says whether what a tool does to files goes on elsewhere: it sends them, or they are files of a service.
fn leaves(words: &[String], act: Act, call: &CallInput<'_>) -> bool {
    let is_changing = act != Act::Query && act != Act::SecretRead;
    let is_sending = || words.iter().any(|word| SENDING.contains(&word.as_str()));
    let is_of_service = || fields(call, SERVICE_FIELDS).any(|text| !text.is_empty());
    is_changing && (is_sending() || is_of_service())
}

/// Says whether a tool is one of a server that drives a browser.
pub(super) fn drives_browser(tool: &str) -> bool {
    let server = tool.split("__").nth(1).unwrap_or_default().to_ascii_lowercase();
    BROWSERS.iter().any(|name| server.contains(name))
}

/// Says whether a tool only looks at what a browser shows, or moves about in it.
fn looks_at_page(tool: &str, words: &[String], call: &CallInput<'_>) -> bool {
    let is_browser = drives_browser(tool) || words.iter().any(|word| word == "browser");
    let verbs = || words.iter().filter(|word| !BROWSER_NOUNS.contains(&word.as_str()));
    let is_look = || verbs().next().is_some() && verbs().all(|word| BROWSER_LOOKS.contains(&word.as_str()));
    let name = words.join("_");
    let is_switch = || BROWSER_SWITCHES.contains(&name.strip_prefix("browser_").unwrap_or(&name));
    let is_told = || {
        let mut told = fields(call, &["action"]).peekable();
        words == ["computer"] && told.peek().is_some() && told.all(|action| BROWSER_ACTIONS.contains(&action))
    };
    is_browser && (is_look() || is_switch() || is_told())
}

/// Says whether a tool of an MCP server is named after a removal.
pub fn is_named_removal(tool: &str) -> bool {
    let name = tool.rsplit("__").next().unwrap_or(tool);
    words_of(name).iter().any(|word| REMOVING.contains(&word.as_str()))
}

/// Returns what a tool does by the words of its name.
pub(super) fn act_of(words: &[String]) -> Act {
    let mut verbs = words.iter().filter_map(|word| verb_of(word).map(|act| (word.as_str(), act)));
    let first = verbs.next();
    let joined = words.iter().skip_while(|word| !matches!(word.as_str(), "and" | "or" | "then"));
    let strong =
        || words.iter().find_map(|word| STRONG.iter().find(|(verb, _)| verb == word)).map(|(_, act)| *act);
    let second = || joined.skip(1).filter_map(|word| verb_of(word)).find(|act| *act != Act::Query);
    let noun = |list: &[(&str, Act)]| {
        let is_there = |noun: &str| words.iter().any(|word| word.trim_end_matches('s') == noun);
        list.iter().find(|(noun, _)| is_there(noun)).map(|(_, act)| *act)
    };
    let Some((word, act)) = first else {
        return strong().or_else(|| noun(NOUNS)).unwrap_or(Act::Unknown);
    };
    if act != Act::Query {
        return noun(NOUNS).unwrap_or(act);
    }
    let later = || verbs.map(|(_, act)| act).find(|act| *act != Act::Query);
    let is_mild = MILD.contains(&word);
    let more = strong().or_else(second).or_else(|| if is_mild { later() } else { None });
    let shows_secret = words.iter().any(|word| SECRETS.contains(&word.trim_end_matches('s')));
    match more {
        Some(act) => act,
        None if shows_secret && !matches!(word, "count" | "check") => Act::SecretRead,
        None => Act::Query,
    }
}

/// Returns what a tool does to the files that it names, by the words of its name.
fn act_on_files(words: &[String], act: Act) -> Act {
    let has = |list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
    match act {
        Act::Query if has(SAVING) => Act::Write,
        Act::Query | Act::SecretRead => Act::Read,
        Act::Delete => Act::DeleteTree,
        Act::SetMode => Act::SetMode,
        _ if has(MOVING) => Act::Move,
        Act::Unknown if has(FILLING) => Act::Write,
        Act::Unknown => Act::Unknown,
        _ if has(SENDING) => Act::Read,
        _ => Act::Write,
    }
}

/// Adds what is done to files of this machine, and returns how many there are.
fn add_files(words: &[String], act: Act, call: &CallInput<'_>, layout: &mut Layout) -> usize {
    let on_file = act_on_files(words, act);
    let mut count = 0;
    for (field, text) in call.fields {
        let name = last_name(field);
        let is_named =
            PATH_FIELDS.contains(&name.as_str()) || name.ends_with("path") || name.ends_with("paths");
        let is_output = OUTPUT_FIELDS.contains(&name.as_str());
        if !(is_named || is_output) || !is_path(text) {
            // Whatever its field is called: what begins like a path of this machine may be one.
            let is_text = || {
                PROSE_FIELDS.contains(&name.as_str())
                    || PIECE_FIELDS.contains(&name.replace('_', "").as_str())
            };
            let is_told = act == Act::Query || on_file != Act::Unknown && !is_text();
            if is_told && begins_like_path(text) && !DIRECTORY_FIELDS.contains(&name.as_str()) {
                layout.effects.push(effect(on_file, call.path(text)));
            }
            continue;
        }
        count += 1;
        let is_kept = matches!(on_file, Act::Read | Act::Move);
        let on_file = if is_output && is_kept { Act::Write } else { on_file };
        layout.effects.push(effect(on_file, call.path(text)));
    }
    layout.effects.extend(joined_paths(call).map(|path| effect(on_file, call.path(&path))));
    count
}

/// Returns the paths that a call tells in parts: a directory in one field, and what lies below it in others.
fn joined_paths<'a>(call: &'a CallInput<'_>) -> impl Iterator<Item = String> + 'a {
    let bases = call.fields.iter().filter(|(_, text)| begins_like_path(text));
    bases.flat_map(|(base, directory)| {
        let is_below = |text: &str| !text.is_empty() && !text.starts_with(['/', '~']) && text.len() < 256;
        let beside = call.fields.iter().filter(move |(field, text)| {
            let is_part = PART_FIELDS.contains(&last_name(field).as_str());
            field != base && is_part && holder(field) == holder(base) && is_below(text)
        });
        let parts: Vec<(&str, &str)> = beside.map(|(field, text)| (field.as_str(), text.as_str())).collect();
        let single =
            parts.iter().filter(|(field, _)| !is_listed(field)).map(|(_, text)| join(directory, text));
        let listed: Vec<&str> =
            parts.iter().filter(|(field, _)| is_listed(field)).map(|(_, text)| *text).collect();
        let whole = (!listed.is_empty()).then(|| join(directory, &listed.join("/")));
        single.chain(whole).collect::<Vec<String>>()
    })
}

/// Returns what a field lies in; elements of a list lie where the list does.
pub(super) fn holder(field: &str) -> &str {
    let outer = |field| str::rsplit_once(field, '.').map(|(outer, _)| outer);
    let list = if is_listed(field) { outer(field).unwrap_or(field) } else { field };
    outer(list).unwrap_or_default()
}

/// Says whether a field is an element of a list.
pub(super) fn is_listed(field: &str) -> bool {
    field.rsplit('.').next().is_some_and(|last| last.parse::<usize>().is_ok())
}

/// Returns what a verb says that a tool does.
fn verb_of(word: &str) -> Option<Act> {
    VERBS.iter().find(|(verb, _)| *verb == word).map(|(_, act)| *act)
}

/// Splits a name into lower-case words: `createIssue`, `create_issue`, `create-issue`.
pub(super) fn words_of(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_lower = false;
    for letter in name.chars() {
        let is_break = !letter.is_ascii_alphanumeric() || letter.is_ascii_uppercase() && was_lower;
        if is_break {
            words.push(String::new());
        }
        if letter.is_ascii_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.push(letter.to_ascii_lowercase());
        }
        was_lower = letter.is_ascii_lowercase();
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Returns the last name of a field in lower case and without separators: `options.file_paths.0` is `filepaths`.
pub(super) fn last_name(field: &str) -> String {
    let last = field.rsplit('.').find(|part| part.parse::<usize>().is_err()).unwrap_or(field);
    last.chars().filter(|letter| letter.is_alphanumeric()).map(|letter| letter.to_ascii_lowercase()).collect()
}

/// Returns the values of fields with one of these names, wherever they stand in the input.
pub(super) fn fields<'a>(call: &'a CallInput<'_>, names: &'a [&'a str]) -> impl Iterator<Item = &'a str> {
    call.fields
        .iter()
        .filter(move |(field, _)| names.contains(&last_name(field).as_str()))
        .map(|(_, value)| value.as_str())
}

/// Says whether a field holds an address, by its name or by its form.
fn is_address(field: &str, text: &str) -> bool {
    let has_scheme = text.split_once("://").is_some_and(|(scheme, _)| {
        !scheme.is_empty() && scheme.chars().all(|letter| letter.is_ascii_alphanumeric())
    });
    let is_named = ["url", "urls", "uri", "href"].contains(&last_name(field).as_str());
    !text.is_empty() && (is_named || has_scheme && !text.contains(char::is_whitespace))
}

/// Says whether a text begins like a path of this machine and is no more than that.
fn begins_like_path(text: &str) -> bool {
    let is_short = text.len() < 512 && !text.contains(['\n', '{', '<']);
    let mut letters = text.chars();
    let has_drive = letters.next().is_some_and(|letter| letter.is_ascii_alphabetic())
        && letters.next() == Some(':')
        && matches!(letters.next(), Some('\\' | '/'));
    is_short && (text.starts_with("~/") || text.starts_with("../") || text.starts_with('/') || has_drive)
}

/// Says whether a text may be a path: anything with a slash or a dot that is no address.
fn is_path(text: &str) -> bool {
    !text.is_empty()
        && !text.contains("://")
        && (text.contains('/') || text.contains('.') || text.starts_with('~'))
}

fn sets_identity(mode: &str) -> bool {
    mode.contains('s') || (mode.len() >= 4 && mode.starts_with(['2', '4', '6']))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn effects(tool: &str, fields: &[(&str, &str)]) -> Vec<Effect> {
        let fields: Vec<_> =
            fields.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect();
        let surroundings = Surroundings {
            directory: "/code/app",
            home: Some("/home/me"),
            profiles: crate::profile::Profiles::BUILT_IN,
        };
        layout(&format!("mcp__x__{tool}"), &CallInput { fields: &fields, surroundings }).effects
    }

    #[test]
    fn a_name_that_does_more_than_look_is_not_taken_for_a_look() {
        for tool in [
            "get_and_delete",
            "findOneAndUpdate",
            "search_replace",
            "ls_rm",
            "grep_exec",
            "status_update",
            "validate_and_deploy",
            "describe_then_terminate",
            "get_secret_value",
            "list_secrets",
            "read_password",
            "search_wipe",
        ] {
            assert!(effects(tool, &[("id", "1")]).iter().all(|effect| effect.act != Act::Query), "{tool}");
        }
        for tool in ["get_post", "list_workflow_runs", "get_order", "searchIssues", "get_comment"] {
            assert!(effects(tool, &[("id", "1")]).iter().all(|effect| effect.act == Act::Query), "{tool}");
        }
    }

    #[test]
    fn a_path_is_found_whatever_its_field_is_called() {
        for (field, text) in [
            ("paths.1", "/home/me/.ssh/id_rsa"),
            ("file_paths.0", "~/.ssh/id_rsa"),
            ("absolutePath", "/home/me/.ssh/id_rsa"),
            ("name", "/home/me/.ssh/id_rsa"),
            ("uri", "file:///home/me/.ssh/id_rsa"),
            ("options.target_file", "/home/me/.ssh/id_rsa"),
        ] {
            let found = effects("read_file", &[(field, text)]);
            let reads = |effect: &Effect| {
                effect.act == Act::Read && effect.target.paths() == ["/home/me/.ssh/id_rsa"]
            };
            assert!(found.iter().any(reads), "{field}: {found:?}");
        }
        for (tool, field) in [("download", "output"), ("get_file", "saveTo"), ("take_screenshot", "filename")]
        {
            let found = effects(tool, &[(field, "~/.bashrc")]);
            assert!(found.iter().any(|effect| effect.act == Act::Write), "{tool}: {found:?}");
        }
    }

    #[test]
    fn a_statement_is_read_and_one_that_is_not_understood_is_unknown() {
        for (field, text) in [
            ("sql", "/* x */ DROP TABLE users"),
            ("q", "DROP TABLE users"),
            ("statements.0", "DROP TABLE users"),
            ("cypher", "MATCH (n) DETACH DELETE n"),
            ("query", "mutation { deleteUser(id: 1) }"),
            ("query", "db.dropDatabase()"),
            ("query", "--x\nDROP TABLE users"),
        ] {
            let found = effects("query", &[(field, text)]);
            let grave = |effect: &Effect| matches!(effect.act, Act::DatabaseDestroy | Act::Unknown);
            assert!(found.iter().any(grave), "{text}: {found:?}");
        }
        assert!(effects("search", &[("query", "select a good name")]).len() < 4);
        let found = effects("search", &[("query", "how to drop a table")]);
        assert!(found.iter().all(|effect| effect.act == Act::Query), "{found:?}");
    }

    #[test]
    fn a_request_that_changes_something_is_sent_and_code_is_unknown() {
        for fields in [
            &[("url", "https://example.com"), ("method", "DELETE")][..],
            &[("url", "https://example.com"), ("body", "x")],
            &[("endpoint", "https://example.com"), ("options.method", "post")],
        ] {
            let found = effects("fetch", fields);
            assert!(found.iter().any(|effect| effect.act == Act::Send), "{found:?}");
        }
        let found = effects("get_output", &[("script", "rm -rf /")]);
        assert!(found.iter().any(|effect| effect.act == Act::Unknown), "{found:?}");
    }
}
