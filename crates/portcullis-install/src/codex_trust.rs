//! Codex runs a hook only if its user trusted that very hook; one that is not trusted is skipped without a word.
//!
//! Codex itself says which hooks it knows and what stands for their present form (`codex app-server`, method
//! `hooks/list`). Trust is that text in `config.toml`, under the hook's key. Only hooks of the user's own file with our
//! own command are ever trusted here.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use portcullis_hosts::Host;
use portcullis_settings::SettingsLocations;
use serde_json::{Value, json};
use toml_edit::{DocumentMut, Item, Table, TableLike, value};

use super::agent::Agent;
use super::ours::Ours;
use super::plan::{TextChange, read, unreadable};
use super::text_kind::TextKind;
use super::writing::Turn;
use portcullis_gate::Failure;
use portcullis_gate::process::Dialogue;

/// How long Codex may take to list its hooks.
const LIMIT: Duration = Duration::from_secs(30);

/// The most lines that are read until an answer comes.
const MOST_LINES: usize = 1_000;

/// The file that Codex keeps trust in.
pub const CONFIG: &str = "config.toml";

/// A hook of ours as Codex sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownHook {
    key: String,
    hash: String,
    /// Whether Codex runs it.
    pub is_trusted: bool,
    /// Whether it is switched on.
    pub is_enabled: bool,
}

/// Asks Codex for its hooks of ours. What went wrong is a clause that follows the program's name.
pub fn look(agent: &Agent, ours: &Ours, locations: &SettingsLocations) -> Result<Vec<KnownHook>, String> {
    let program = agent.program.as_ref().ok_or("was not found")?;
    let home = locations.home.as_deref().unwrap_or(Path::new("/"));
    let mut command = Command::new(program);
    command.arg("app-server").env("CODEX_HOME", &agent.folder).current_dir(home);
    let mut dialogue = Dialogue::start(command, LIMIT)?;
    let client = json!({"name": "portcullis", "title": "Portcullis", "version": env!("CARGO_PKG_VERSION")});
    dialogue.say(&json!({"id": 1, "method": "initialize", "params": {"clientInfo": client}}).to_string())?;
    answer(&dialogue, 1)?;
    dialogue.say(&json!({"method": "initialized"}).to_string())?;
    // The home directory is no project, so that no repository's hooks are in the list.
    dialogue.say(&json!({"id": 2, "method": "hooks/list", "params": {"cwds": [home]}}).to_string())?;
    let result = answer(&dialogue, 2)?;
    let lists = result.get("data").and_then(Value::as_array).ok_or("answers in a form we do not know")?;
    let mut hooks: Vec<KnownHook> = Vec::new();
    for hook in lists.iter().filter_map(|list| list.get("hooks").and_then(Value::as_array)).flatten() {
        let Some(known) = known_hook(hook, agent, ours) else { continue };
        if hooks.iter().all(|other| other.key != known.key) {
            hooks.push(known);
        }
    }
    Ok(hooks)
}

/// Trusts hooks: the change of Codex's settings, or `None` if there is nothing to change.
pub fn plan(agent: &Agent, hooks: &[KnownHook]) -> Result<Option<TextChange>, Failure> {
    let path = agent.folder.join(CONFIG);
    let (real_path, before) = read(&path)?;
    let after = trust(before.as_deref().unwrap_or_default(), hooks).map_err(|why| unreadable(&path, &why))?;
    let change = TextChange { path, real_path, before, after, kind: TextKind::Toml };
    Ok(Some(change).filter(|change| change.before.as_deref().unwrap_or_default() != change.after))
}

/// Writes a change that [`plan`] made.
pub fn write(
    turn: &Turn,
    agent: &Agent,
    program: &str,
    change: &TextChange,
    hooks: &[KnownHook],
) -> Result<(), Failure> {
    turn.write_keys(agent, program, change, hooks.iter().map(|hook| hook.key.clone()).collect())
}

/// Refuses a Codex that would call no hook whatever stands in its file of hooks, because its settings switch them off. Of
/// other agents nothing is said.
pub fn refuse_switched_off(agent: &Agent) -> Result<(), Failure> {
    if agent.host() != Host::Codex {
        return Ok(());
    }
    let path = agent.folder.join(CONFIG);
    let (_, text) = read(&path)?;
    let text = text.unwrap_or_default();
    let settings = parse(&text).map_err(|why| unreadable(&path, &why))?;
    let is_off = |key: &&&str| {
        settings.get("features").and_then(|features| features.get(**key)).and_then(Item::as_bool)
            == Some(false)
    };
    let Some(key) = SWITCHES.iter().find(is_off) else { return Ok(()) };
    let is_named = |line: &str| line.split(['=', '.']).any(|word| word.trim() == *key);
    let line = text.lines().position(|line| is_named(line) && line.contains("false"));
    let place = line.map_or_else(String::new, |line| format!(" in line {}", line + 1));
    let message =
        format!("Codex calls no hook: `{key} = false`{place} of `{}` switches them off", path.display());
    Err(Failure::usage(message)
        .with_hint("take the line out and run `portcullis init` again; nothing was written"))
}

/// The names of the switch for hooks below `features`, today's first.
const SWITCHES: [&str; 2] = ["hooks", "codex_hooks"];

/// Takes trust in hooks back: text in, text out.
pub(super) fn distrust(text: &str, keys: &[String], original: Option<&str>) -> Result<String, String> {
    let mut document = parse(text)?;
    let original = original.and_then(|text| parse(text).ok()).unwrap_or_default();
    let root = document.as_table_mut();
    let Some(hooks) = root.get_mut("hooks").and_then(Item::as_table_like_mut) else {
        return Ok(text.to_owned());
    };
    if let Some(state) = hooks.get_mut("state").and_then(Item::as_table_like_mut) {
        for key in keys {
            state.remove(key);
        }
        if state.is_empty() && original.get("hooks").and_then(|hooks| hooks.get("state")).is_none() {
            hooks.remove("state");
        }
    }
    if hooks.is_empty() && original.get("hooks").is_none() {
        root.remove("hooks");
    }
    Ok(document.to_string())
}

fn answer(dialogue: &Dialogue, id: u64) -> Result<Value, String> {
    for _ in 0..MOST_LINES {
        let Ok(message) = serde_json::from_str::<Value>(&dialogue.hear()?) else { continue };
        if message.get("id").and_then(Value::as_u64) != Some(id) || message.get("method").is_some() {
            continue;
        }
        let result = message.get("result").cloned();
        return result.ok_or_else(|| "refuses to answer; this version may be too old".to_owned());
    }
    Err("talks of other things".to_owned())
}

/// Reads an entry of the list, if it is ours.
fn known_hook(hook: &Value, agent: &Agent, ours: &Ours) -> Option<KnownHook> {
    let text = |name: &str| hook.get(name).and_then(Value::as_str);
    let key = text("key")?;
    let file = agent.folder.join("hooks.json");
    let real_file = file.canonicalize().unwrap_or_else(|_| file.clone());
    let is_in =
        |file: &Path| key.strip_prefix(&*file.to_string_lossy()).is_some_and(|rest| rest.starts_with(':'));
    if !is_in(&file) && !is_in(&real_file) {
        return None;
    }
    ours.own_command(&json!({"command": text("command")?}))?;
    let is_managed = hook.get("isManaged").and_then(Value::as_bool).unwrap_or(false);
    Some(KnownHook {
        key: key.to_owned(),
        hash: text("currentHash")?.to_owned(),
        is_trusted: is_managed || text("trustStatus") == Some("trusted"),
        is_enabled: hook.get("enabled").and_then(Value::as_bool).unwrap_or(true),
    })
}

fn parse(text: &str) -> Result<DocumentMut, String> {
    text.parse::<DocumentMut>().map_err(|error| error.message().to_lowercase())
}

/// Trusts hooks: text in, text out.
fn trust(text: &str, hooks: &[KnownHook]) -> Result<String, String> {
    let mut document = parse(text)?;
    let outer = table_in(document.as_table_mut(), "hooks")?;
    let state = table_in(outer, "state")?;
    for hook in hooks {
        let entry = state.entry(&hook.key).or_insert_with(|| Item::Table(Table::new()));
        let entry = entry.as_table_like_mut().ok_or("an entry of `hooks.state` must be a table")?;
        if entry.get("trusted_hash").and_then(Item::as_str) != Some(&hook.hash) {
            entry.insert("trusted_hash", value(&hook.hash));
        }
    }
    let after = document.to_string();
    parse(&after)?;
    Ok(after)
}

/// Finds a table, or makes one that has no heading of its own.
fn table_in<'t>(parent: &'t mut dyn TableLike, name: &str) -> Result<&'t mut dyn TableLike, String> {
    let item = parent.entry(name).or_insert_with(|| {
        let mut table = Table::new();
        table.set_implicit(true);
        Item::Table(table)
    });
    item.as_table_like_mut().ok_or_else(|| format!("`{name}` must be a table"))
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn hook(key: &str, hash: &str) -> KnownHook {
        KnownHook { key: key.to_owned(), hash: hash.to_owned(), is_trusted: false, is_enabled: true }
    }

    #[test]
    fn trust_is_added_and_everything_else_stays() {
        let before = "# mine\nmodel = \"m\"   # this one\n\n[projects.\"/p\"]\ntrust_level = \"trusted\"\n";
        let hooks = [hook("/h/hooks.json:pre_tool_use:0:0", "sha256:ab")];
        let after = trust(before, &hooks).unwrap();
        assert_eq!(
            after,
            format!(
                "{before}\n[hooks.state.\"/h/hooks.json:pre_tool_use:0:0\"]\ntrusted_hash = \"sha256:ab\"\n"
            )
        );
        assert_eq!(trust(&after, &hooks).unwrap(), after);
        let keys = [hooks[0].key.clone()];
        assert_eq!(distrust(&after, &keys, Some(before)).unwrap(), before);
    }

    #[test]
    fn a_new_form_of_a_hook_is_trusted_in_its_place_and_others_are_kept() {
        let before = "[hooks.state.\"a:1\"]\ntrusted_hash = \"old\"\n\n[hooks.state.\"b:1\"]\ntrusted_hash = \"theirs\"\n";
        let after = trust(before, &[hook("a:1", "new")]).unwrap();
        assert_eq!(after, before.replace("old", "new"));
        let left = distrust(&after, &["a:1".to_owned()], None).unwrap();
        assert!(left.contains("b:1") && !left.contains("a:1"), "{left}");
    }

    #[test]
    fn settings_that_are_something_else_are_refused() {
        for text in ["hooks = 1\n", "[hooks]\nstate = 2\n", "[hooks.state]\n\"k\" = 3\n", "[hooks\n"] {
            assert!(trust(text, &[hook("k", "h")]).is_err(), "{text}");
        }
    }
}
