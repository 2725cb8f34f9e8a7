//! `portcullis settings`: which values are in force, and which files they come from.

use std::fmt::Write as _;

use clap::{Args, Subcommand};
use portcullis_core::visible;
use portcullis_settings::{
    BROKEN_SETTINGS, DocumentState, EffectiveValue, KeyKind, LoadedSettings, ProblemSeverity,
    SettingsDocument, SettingsKey, SettingsOwner,
};
use serde_json::json;

use crate::exit_code::ExitCode;
use portcullis_gate::Failure;
use portcullis_gate::{SessionSettings, SettingsFlags};
use portcullis_output::rules::ignored_json;
use portcullis_output::settings_notes;
use portcullis_output::terminal::{BOLD, DIM, ERROR, Painted, print, printable};

/// Show the settings in force and where they come from
#[derive(Debug, Args)]
pub(crate) struct SettingsArgs {
    #[command(subcommand)]
    command: SettingsCommand,
}

#[derive(Debug, Subcommand)]
enum SettingsCommand {
    /// Show the value of every key and who set it
    #[command(after_help = "Examples:
  portcullis settings show
  portcullis settings show --json")]
    Show(ViewArgs),
    /// Show which files are looked at, and what was found there
    #[command(after_help = "Examples:
  portcullis settings where
  portcullis settings where --cwd ~/src/app")]
    Where(ViewArgs),
}

#[derive(Debug, Args)]
struct ViewArgs {
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    session: SettingsFlags,
}

/// Runs the command.
pub(crate) fn run(arguments: SettingsArgs) -> Result<ExitCode, Failure> {
    let text = match arguments.command {
        SettingsCommand::Show(view) => view.render(values_text, values_json)?,
        SettingsCommand::Where(view) => view.render(files_text, files_json)?,
    };
    print(&text)?;
    Ok(ExitCode::Success)
}

impl ViewArgs {
    fn render(
        &self,
        as_text: fn(&LoadedSettings) -> String,
        as_json: fn(&LoadedSettings) -> serde_json::Value,
    ) -> Result<String, Failure> {
        let session = SessionSettings::open(&self.session)?;
        settings_notes::warn_from(&session, ProblemSeverity::Note);
        let loaded = &session.loaded;
        Ok(if self.json { printable(&format!("{}\n", as_json(loaded))) } else { as_text(loaded) })
    }
}

fn values_text(loaded: &LoadedSettings) -> String {
    let width = loaded.effective.iter().map(|value| value.key.path.len()).max().unwrap_or(0);
    let mut out = String::new();
    for EffectiveValue { key, value, origin } in &loaded.effective {
        let name = Painted(BOLD, format_args!("{:<width$}", key.path));
        let place = match origin {
            Some(origin) => format!("{}, {}", origin.source, visible(&origin.to_string())),
            None => "default".to_owned(),
        };
        let shown = value.as_deref().unwrap_or_else(|| default_text(key));
        let _ = writeln!(out, "{name}  {}  {}", visible(shown), Painted(DIM, place));
    }
    if loaded.damaged {
        let text = format!("a settings file is broken: {BROKEN_SETTINGS}");
        let _ = writeln!(out, "\n{}", Painted(ERROR, text));
    }
    if !loaded.ignored.is_empty() {
        out.push('\n');
    }
    for entry in &loaded.ignored {
        let _ = writeln!(out, "{}", Painted(DIM, visible(&entry.to_string())));
    }
    out
}

fn values_json(loaded: &LoadedSettings) -> serde_json::Value {
    let values: Vec<_> = loaded
        .effective
        .iter()
        .map(|EffectiveValue { key, value, origin }| {
            json!({
                "key": key.path,
                "value": value_json(key, value.as_deref()),
                "source": origin.as_ref().map(|origin| origin.source.as_str()),
                "file": origin.as_ref().and_then(|origin| origin.file.as_deref()),
                "line": origin.as_ref().and_then(|origin| origin.line),
            })
        })
        .collect();
    let ignored: Vec<_> = loaded.ignored.iter().map(ignored_json).collect();
    let trusted = loaded.trust.map(portcullis_settings::WorkspaceTrust::is_trusted);
    json!({"values": values, "ignored": ignored, "trusted": trusted, "damaged": loaded.damaged})
}

/// Describes a value that nobody has set.
fn default_text(key: &SettingsKey) -> &'static str {
    match key.default {
        "null" => "not set",
        default => default.trim_matches('"'),
    }
}

/// Makes the JSON of a value, or of the default if there is none.
pub(crate) fn value_json(key: &SettingsKey, value: Option<&str>) -> serde_json::Value {
    match value {
        Some(value) if key.kind == KeyKind::Boolean => json!(value == "true"),
        Some(value) if matches!(key.kind, KeyKind::Number { .. }) => {
            value.parse::<u32>().map_or_else(|_| json!(value), |number| json!(number))
        }
        Some(value) if matches!(key.kind, KeyKind::Words | KeyKind::PublicKeys) => {
            serde_json::from_str(value).unwrap_or_else(|_| json!(value))
        }
        Some(value) => json!(value),
        None => serde_json::from_str(key.default).unwrap_or(serde_json::Value::Null),
    }
}

fn files_text(loaded: &LoadedSettings) -> String {
    let mut out = String::new();
    for document in &loaded.documents {
        let source = Painted(BOLD, format_args!("{:<8}", document.source.as_str()));
        let name = visible(&document.name);
        let found = match document.state {
            DocumentState::Read if document.programs > 0 => format!("{} programs", document.programs),
            DocumentState::Read => format!("{} rules", document.rules),
            other => state_name(other).to_owned(),
        };
        let style = if document.state == DocumentState::Broken { ERROR } else { DIM };
        let _ = writeln!(out, "{source} {name}  {}", Painted(style, found));
    }
    out
}

fn files_json(loaded: &LoadedSettings) -> serde_json::Value {
    let files: Vec<_> = loaded.documents.iter().map(document_json).collect();
    json!({"files": files})
}

fn document_json(document: &SettingsDocument) -> serde_json::Value {
    json!({
        "source": document.source.as_str(),
        "owner": match document.owner {
            SettingsOwner::ClaudeCode => "claude",
            SettingsOwner::Portcullis => "portcullis",
        },
        "file": &*document.name,
        "state": state_name(document.state),
        "rules": document.rules,
        "programs": document.programs,
    })
}

const fn state_name(state: DocumentState) -> &'static str {
    match state {
        DocumentState::Missing => "missing",
        DocumentState::Read => "read",
        DocumentState::Broken => "broken",
    }
}
