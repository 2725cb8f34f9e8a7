//! Hooks of others that an agent runs at the same moment as ours.
//!
//! An agent runs all hooks of a moment side by side on the call as the model wrote it. Where a hook may change the call,
//! what runs may be another one than was judged; so every one of them is named, wherever it stands.

use std::path::PathBuf;

use portcullis_hosts::Host;
use portcullis_install::document;
use portcullis_install::ours::Ours;
use portcullis_settings::SettingsLocations;
use serde_json::Value;

use super::Checks;
use super::agents::document_at;

/// Lists the files beside the user's own that an agent takes hooks and switches from.
pub(super) fn further_files(host: Host, locations: &SettingsLocations) -> Vec<PathBuf> {
    let in_project = |files: &[&str]| files.iter().map(|file| locations.project.join(file)).collect();
    match host {
        Host::Claude => {
            let mut files: Vec<PathBuf> =
                in_project(&[".claude/settings.json", ".claude/settings.local.json"]);
            files.push(locations.managed.claude.join("managed-settings.json"));
            files
        }
        Host::Codex => in_project(&[".codex/hooks.json"]),
        Host::Gemini => in_project(&[".gemini/settings.json"]),
        Host::Qwen => in_project(&[".qwen/settings.json"]),
        Host::Droid => in_project(&[".factory/hooks.json"]),
        Host::Opencode
        | Host::Cursor
        | Host::Copilot
        | Host::Crush
        | Host::Amp
        | Host::Kimi
        | Host::Pi
        | Host::Cline
        | Host::Generic => Vec::new(),
    }
}

/// Names the hooks of others in these files, each with the place of its list.
pub(super) fn check(checks: &mut Checks, host: Host, ours: &Ours, at: &[&str], files: &[PathBuf]) {
    for file in files {
        let Ok(document) = document_at(file) else { continue };
        let list = document::follow(&document, at).and_then(Value::as_array);
        let others: Vec<String> =
            list.into_iter().flatten().flat_map(|entry| commands_of_others(entry, ours)).collect();
        if others.is_empty() {
            continue;
        }
        let named = format!("`{}` in `{}` names {}", at.join("."), file.display(), others.join(", "));
        if host.adapter().usual.capabilities.changed_input {
            let message =
                format!("{named}: a hook that changes the input makes another call run than was judged");
            checks.warning("neighbours", message, "make sure that it changes no input");
        } else {
            checks.fine("neighbours", named);
        }
    }
}

/// Lists the commands of others in an entry, as they are written. The entry is a hook, or a group of some.
fn commands_of_others(entry: &Value, ours: &Ours) -> Vec<String> {
    let hooks = match entry.get("hooks").and_then(Value::as_array) {
        Some(group) => group.as_slice(),
        None => std::slice::from_ref(entry),
    };
    let text = |hook: &Value| {
        let fields = ["command", "bash", "powershell", "url", "prompt"];
        let word = fields.iter().find_map(|field| hook.get(*field).and_then(Value::as_str));
        word.map_or("a hook without a command".to_owned(), |word| format!("`{word}`"))
    };
    hooks.iter().filter(|hook| ours.own_command(hook).is_none()).map(text).collect()
}
