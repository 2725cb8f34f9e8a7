//! The effects of calls that are no command lines: file tools, fetches, MCP tools, agents, settings.

mod address;
mod mcp;
mod mcp_command;
mod mcp_text;

pub use mcp::is_named_removal;
use portcullis_shell::Span;

use crate::act::Act;
use crate::command_effects::{Layout, effects, tree_search};
use crate::directories::Directories;
use crate::effect::{Effect, PathTarget, Target, target};
use crate::outgoing::is_telling;
use crate::path;
use crate::place::{Scope, secrecy};
use crate::survey::{Surroundings, survey};

/// The text fields of a call by their paths, such as `url` or `options.command`.
pub type CallFields<'a> = &'a [(String, String)];

/// Works out what a call of a tool other than a shell does.
pub fn layout(tool: &str, fields: CallFields<'_>, surroundings: Surroundings<'_>) -> Layout {
    let call = CallInput { fields, surroundings };
    match tool {
        "Read" | "LSP" | "NotebookRead" => call.files(Act::Read),
        "LS" => call.search(Act::List, "ignore"),
        "Glob" => call.search(Act::List, "pattern"),
        "Grep" => call.search(Act::Read, "glob"),
        "Edit" | "Write" | "MultiEdit" | "NotebookEdit" => call.files(Act::Write),
        "WebFetch" => only(address::effect_of(call.field("url").unwrap_or_default(), &call)),
        "ReadMcpResourceTool" => {
            let uri = call.field("uri").unwrap_or_default();
            let is_file = uri.trim_start().to_ascii_lowercase().starts_with("file:");
            only(if is_file { address::effect_of(uri, &call) } else { effect(Act::Query, Target::None) })
        }
        "WebSearch" if call.fields.iter().any(|(_, text)| is_telling(text)) => only(effect(
            Act::Send,
            Target::Host { host: String::new(), written: "a search engine".to_owned() },
        )),
        "WebSearch" => only(effect(Act::Query, Target::None)),
        "Agent" => call.agent(),
        "Config" => {
            only(effect(Act::AgentConfig, Target::Name(call.field("setting").unwrap_or_default().to_owned())))
        }
        "CronCreate" | "RemoteTrigger" => {
            only(effect(Act::Post, Target::Name(call.field("prompt").unwrap_or_default().to_owned())))
        }
        "SendMessage" | "TeamCreate" | "ListAgents" | "EnterWorktree" | "ExitWorktree" | "CronDelete"
        | "TeamDelete" | "Skill" => only(effect(Act::Observe, Target::None)),
        name if name.starts_with("mcp__") => mcp::layout(name, &call),
        name => only(effect(Act::Unknown, Target::Name(name.to_owned()))),
    }
}

fn effect(act: Act, target: Target) -> Effect {
    Effect::of_call(act, target, Span::default())
}

fn only(effect: Effect) -> Layout {
    Layout { effects: vec![effect], ..Layout::default() }
}

/// Says whether words of a search are those that stand beside secrets.
fn looks_for_secrets(pattern: &str) -> bool {
    const WORDS: &[&str] = &[
        "akia",
        "api_key",
        "apikey",
        "begin",
        "credential",
        "passwd",
        "password",
        "private key",
        "secret",
        "token",
    ];
    let pattern = pattern.to_ascii_lowercase();
    WORDS.iter().any(|word| pattern.contains(word))
}

struct CallInput<'a> {
    fields: CallFields<'a>,
    surroundings: Surroundings<'a>,
}

impl CallInput<'_> {
    fn field(&self, name: &str) -> Option<&str> {
        self.fields.iter().find(|(field, _)| field == name).map(|(_, value)| value.as_str())
    }

    /// Resolves a path that a field holds.
    fn path(&self, text: &str) -> Target {
        let expanded = match (text.strip_prefix('~'), self.surroundings.home) {
            (Some(rest), Some(home)) if rest.is_empty() || rest.starts_with('/') => format!("{home}{rest}"),
            _ => text.to_owned(),
        };
        let here = Directories::only(self.surroundings.directory);
        let path = target::path_of_text(&expanded, &here);
        Target::Path(PathTarget { written: text.to_owned(), ..path })
    }

    /// Does an act to every file that the call names; a call that names none is not understood.
    fn files(&self, act: Act) -> Layout {
        let names = ["file_path", "notebook_path", "path"];
        let files = names.iter().filter_map(|name| self.field(name));
        let effects: Vec<Effect> = files.map(|file| effect(act, self.path(file))).collect();
        if effects.is_empty() {
            return only(effect(Act::Unknown, Target::Name("a file that is not named".to_owned())));
        }
        Layout { effects, ..Layout::default() }
    }

    /// A search shows names or lines of the files below a directory; a pattern may name another one.
    fn search(&self, act: Act, pattern: &str) -> Layout {
        let mut effects = vec![effect(act, self.path(self.field("path").unwrap_or(".")))];
        let pattern = self.field(pattern).unwrap_or_default();
        if pattern.starts_with(['/', '~']) || pattern.split('/').any(|part| part == "..") {
            let fixed = pattern.split(['*', '?', '[', '{']).next().unwrap_or_default();
            let directory = fixed.rsplit_once('/').map_or("/", |(directory, _)| directory);
            effects.push(effect(act, self.path(if fixed == pattern { pattern } else { directory })));
        }
        if act == Act::Read {
            effects.extend(self.searched_secrets());
            effects.extend(self.chosen_secrets(pattern));
        } else if pattern.contains(['/', '.']) {
            effects.extend(self.listed_secrets(pattern));
        }
        Layout { effects, ..Layout::default() }
    }

    /// Looking for names of keys and settings outside of the project is looking for secrets. A star alone names nothing: what
    /// is below a directory is listed with it, not looked for.
    fn listed_secrets(&self, pattern: &str) -> Option<Effect> {
        let named = |directory: &str| {
            let parts = directory.split('/').filter(|part| !matches!(*part, "*" | "**"));
            parts.collect::<Vec<&str>>().join("/")
        };
        let directory = match pattern.rsplit_once('/') {
            Some((directory, _)) if directory.starts_with(['/', '~']) => named(directory),
            _ => self.field("path").unwrap_or(".").to_owned(),
        };
        let sample = tree_search::sample(pattern);
        let name = if sample.is_empty() { "x" } else { &sample };
        let target = self.path(&format!("{directory}/{name}"));
        let Surroundings { directory, home, .. } = self.surroundings;
        let scope = Scope { roots: vec![directory.to_owned()], home: home.map(str::to_owned) };
        let is_hunted = |path: &String| !scope.is_in_project(path) && secrecy(path, &scope).is_some();
        let is_found = target.paths().iter().any(is_hunted);
        is_found.then(|| effect(Act::SecretHunt, Target::Name(pattern.to_owned())))
    }

    /// A pattern of names that takes in keys and settings shows those below the directory, wherever they lie.
    fn chosen_secrets(&self, pattern: &str) -> Option<Effect> {
        let last = pattern.rsplit('/').next().filter(|last| !last.is_empty() && !pattern.starts_with('!'))?;
        let directory = self.field("path").unwrap_or(".").trim_end_matches('/');
        let sample = self.path(&format!("{directory}/{}", tree_search::sample(last)));
        let is_secret = |path: &String| secrecy(path, &Scope::default()).is_some();
        let Target::Path(found) = self.path(&format!("{directory}/**/{last}")) else { return None };
        let target = Target::Path(PathTarget { is_pattern: true, ..found });
        sample.paths().iter().any(is_secret).then(|| effect(Act::Read, target))
    }

    /// A search shows lines of hidden files too: those that its pattern of names takes in, and without one the secrets
    /// of whatever project lies below, if it looks for these.
    fn searched_secrets(&self) -> Option<Effect> {
        let directory = self.field("path").unwrap_or(".");
        let filter = self.field("glob").filter(|glob| !glob.is_empty() && !glob.starts_with('!'));
        let is_hunt = self.field("pattern").is_some_and(looks_for_secrets);
        let name = match filter {
            Some(glob) => tree_search::sample(glob),
            None if is_hunt && self.field("type").is_none() => tree_search::SECRET_FILE.to_owned(),
            None => return None,
        };
        let target = self.path(&format!("{}/{name}", directory.trim_end_matches('/')));
        let home = self.surroundings.home.unwrap_or("/");
        let is_elsewhere = |path: &String| {
            !path::is_inside(path, self.surroundings.directory) && tree_search::may_hold_projects(path, home)
        };
        target.paths().iter().any(is_elsewhere).then(|| effect(Act::Read, target))
    }

    /// Reads a call that starts another agent, by the mode it is given.
    fn agent(&self) -> Layout {
        const UNCHECKED: &[&str] = &["bypassPermissions", "dontAsk", "yolo"];
        let is_unchecked = self.field("mode").is_some_and(|mode| UNCHECKED.contains(&mode));
        let act = if is_unchecked { Act::SpawnUnchecked } else { Act::SpawnAgent };
        only(effect(act, Target::Name(self.field("subagent_type").unwrap_or_default().to_owned())))
    }

    /// Adds what shell text in a field does.
    fn shell(&self, text: &str, layout: &mut Layout) {
        let found = survey(text, self.surroundings);
        // Several texts in one call are rare; the commands of the last are kept for the words, the effects of all.
        layout.effects.extend(effects(&found, self.surroundings));
        layout.survey = found;
    }

    fn host(text: &str) -> Target {
        Target::Host { host: target::host_in(text).unwrap_or_default(), written: text.to_owned() }
    }
}
