//! The effects of calls that are no command lines: file tools, fetches, MCP tools, agents, settings.

mod address;
mod mcp;
mod mcp_command;
mod mcp_text;
mod search;

pub use mcp::is_named_removal;
use portcullis_shell::Span;

use crate::act::Act;
use crate::argument::{Argument, Knowledge};
use crate::command_effects::{Layout, effects};
use crate::directories::Directories;
use crate::effect::{Effect, PathTarget, Target, target};
use crate::lists::mcp::PROSE_FIELDS;
use crate::outgoing::is_telling;
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
        name => {
            let mut effects = call.patched();
            effects.push(call.with_texts(effect(Act::Unknown, Target::Name(name.to_owned()))));
            Layout { effects, ..Layout::default() }
        }
    }
}

fn effect(act: Act, target: Target) -> Effect {
    Effect::of_call(act, target, Span::default())
}

fn only(effect: Effect) -> Layout {
    Layout { effects: vec![effect], ..Layout::default() }
}

/// The fields by which tools that read or write files name them.
pub const FILE_FIELDS: [&str; 4] = ["file_path", "filePath", "notebook_path", "path"];

/// Says whether a field is one for a patch, of which the lines that name files are read.
fn is_patch(field: &str) -> bool {
    ["input", "patch", "diff"].contains(&mcp::last_name(field).as_str())
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
        let files = FILE_FIELDS.iter().filter_map(|name| self.field(name));
        let effects: Vec<Effect> = files.map(|file| effect(act, self.path(file))).collect();
        if effects.is_empty() {
            return only(effect(Act::Unknown, Target::Name("a file that is not named".to_owned())));
        }
        Layout { effects, ..Layout::default() }
    }

    /// Makes a text a word that a tool is given.
    fn word(text: &str) -> Argument {
        Argument {
            text: text.to_owned(),
            source: None,
            knowledge: Knowledge::Fixed,
            span: Span::default(),
            bound: None,
        }
    }

    /// Hands an effect that nobody knows the texts of the call, in which names of places may stand. Of what a tool is to
    /// write or say they only tell.
    fn with_texts(&self, done: Effect) -> Effect {
        let is_told = |(field, _): &&(String, String)| {
            !PROSE_FIELDS.contains(&mcp::last_name(field).as_str()) && !is_patch(field)
        };
        let texts = self.fields.iter().filter(is_told).map(|(_, text)| text.as_str());
        let all = texts.collect::<Vec<_>>().join("\n");
        Effect { word: Some(Self::word(&all)), ..done }
    }

    /// Returns what a patch in a field changes, by the lines that name files.
    fn patched(&self) -> Vec<Effect> {
        const HEADS: &[(&str, Act)] = &[
            ("*** Add File: ", Act::Write),
            ("*** Update File: ", Act::Write),
            ("*** Move to: ", Act::Write),
            ("*** Delete File: ", Act::Delete),
        ];
        let lines = self.fields.iter().flat_map(|(_, text)| text.lines());
        let named = lines.filter_map(|line| {
            let (head, act) = HEADS.iter().find(|(head, _)| line.starts_with(head))?;
            Some(effect(*act, self.path(line.get(head.len()..)?.trim())))
        });
        named.collect()
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
