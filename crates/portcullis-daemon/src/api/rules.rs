//! `/v1/rules`: the rules in force, what is wrong with them, changing them, and trying a call.

use std::path::Path as FilePath;
use std::sync::Arc;

use axum::extract::State;
use axum::routing::{get, post};
use axum::{Json, Router};
use portcullis_core::rule::Behavior;
use portcullis_core::{Mode, Person, Source, ToolCall};
use portcullis_hosts::HookSession;
use portcullis_hosts::json::parse_input;
use portcullis_settings::{EditReport, RuleDestination, SettingsOwner, add_rule, remove_rule};
use serde::Deserialize;
use serde_json::{Value, json};

use super::blocking;
use super::received::{Queried, Received};
use crate::access::{Present, Reads};
use crate::{ApiError, Daemon, Shared};
use portcullis_gate::Failure;
use portcullis_gate::call_input::{call_about, call_with_input};
use portcullis_gate::judge::Trial;
use portcullis_gate::session_settings::{SessionSettings, compile, locations};
use portcullis_output::rules::{lint_object, rules_object};
use portcullis_output::trial;

/// The directory whose settings count if nobody names one: it has none of its own, so the user's alone do.
const NOWHERE: &str = "/";

pub(super) fn routes() -> Router<Shared> {
    Router::new().route("/v1/rules", get(list).post(add).delete(remove)).route("/v1/rules/test", post(test))
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ListQuery {
    cwd: String,
}

async fn list(
    State(daemon): State<Shared>,
    Reads(_): Reads,
    Queried(query): Queried<ListQuery>,
) -> Result<Json<Value>, ApiError> {
    let object = blocking(move || {
        let session = open(&daemon, &query.cwd, "")?;
        let mut object = rules_object(&session);
        if let (Some(fields), Value::Object(lints)) = (object.as_object_mut(), lint_object(&session)) {
            fields.extend(lints);
        }
        Ok(object)
    });
    Ok(Json(object.await?))
}

/// Loads the settings of a directory, with what was granted in a session.
pub(crate) fn open(daemon: &Daemon, cwd: &str, session: &str) -> Result<Arc<SessionSettings>, ApiError> {
    let cwd = if cwd.is_empty() { NOWHERE } else { cwd };
    if !cwd.starts_with('/') {
        return Err(ApiError::bad_request("the directory must be an absolute path"));
    }
    let place = HookSession {
        id: session.to_owned(),
        cwd: cwd.to_owned(),
        project: None,
        transcript: None,
        agent: None,
    };
    Ok(daemon.settings.open(&daemon.arguments, &place, &daemon.store)?)
}

/// A rule that is to be written or taken out.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct RuleEdit {
    pub(crate) behavior: String,
    pub(crate) rule: String,
    /// Whose settings: `user`, `project` or `local`; with `:claude` behind it, Claude Code's file.
    pub(crate) source: String,
    /// The directory whose project settings are meant.
    pub(crate) cwd: String,
}

/// What becomes of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Edit {
    /// It is written.
    Add,
    /// It is taken out.
    Remove,
}

impl RuleEdit {
    /// Changes the settings file. Only what `portcullis rules add` could change can be changed.
    pub(crate) fn apply(&self, edit: Edit) -> Result<EditReport, ApiError> {
        let behavior = behavior(&self.behavior)?;
        let (source, owner) = match self.source.split_once(':') {
            Some((source, "claude")) => (source, SettingsOwner::ClaudeCode),
            None => (self.source.as_str(), SettingsOwner::Portcullis),
            Some(_) => return Err(wrong_source()),
        };
        let source = if source.is_empty() { Source::User.as_str() } else { source };
        let mut editable = Source::ALL.into_iter().filter(|known| known.is_editable());
        let source = editable.find(|known| known.as_str() == source).ok_or_else(wrong_source)?;
        if source.is_in_repository() && !FilePath::new(&self.cwd).is_absolute() {
            return Err(ApiError::bad_request("settings of a project need its directory"));
        }
        let directory = source.is_in_repository().then_some(self.cwd.as_str());
        let locations = locations(directory.or(Some(NOWHERE)))?;
        let destination = RuleDestination { source, owner };
        let edited = match edit {
            Edit::Add => {
                compile(&self.rule, behavior)?;
                add_rule(&locations, destination, behavior, &self.rule)
            }
            Edit::Remove => remove_rule(&locations, destination, behavior, &self.rule),
        };
        Ok(edited.map_err(|error| Failure::from(&error))?)
    }
}

fn wrong_source() -> ApiError {
    ApiError::bad_request("`source` must be user, project or local")
}

/// Reads `allow`, `ask` or `deny`.
pub(crate) fn behavior(word: &str) -> Result<Behavior, ApiError> {
    let mut all = [Behavior::Allow, Behavior::Ask, Behavior::Deny].into_iter();
    all.find(|behavior| behavior.as_str() == word)
        .ok_or_else(|| ApiError::bad_request("`behavior` must be allow, ask or deny"))
}

async fn add(_: Present, Received(edit): Received<RuleEdit>) -> Result<Json<Value>, ApiError> {
    blocking(move || edit.apply(Edit::Add)).await.map(|report| Json(report_object(&report)))
}

async fn remove(_: Present, Received(edit): Received<RuleEdit>) -> Result<Json<Value>, ApiError> {
    blocking(move || edit.apply(Edit::Remove)).await.map(|report| Json(report_object(&report)))
}

fn report_object(report: &EditReport) -> Value {
    let lines: Vec<Value> = report
        .lines
        .iter()
        .map(|line| {
            let side = match line.side {
                portcullis_settings::LineSide::Before => "before",
                portcullis_settings::LineSide::After => "after",
            };
            json!({"side": side, "number": line.number, "text": line.text})
        })
        .collect();
    json!({"file": report.file.display().to_string(), "changed": report.changed, "lines": lines})
}

/// A call that is tried. Nothing is recorded, and no model, hook or person is asked.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
struct TestBody {
    tool: String,
    input: Option<Value>,
    command: String,
    cwd: String,
    mode: String,
}

/// Makes a call of a tool and what it is about: its input as a JSON object, or its main field.
pub(crate) fn call_of(tool: &str, about: &str) -> Result<ToolCall, ApiError> {
    let tool = if tool.is_empty() { "Bash" } else { tool };
    let is_input = about.trim_start().starts_with('{') && tool != "Bash" && tool != "PowerShell";
    if about.is_empty() {
        return Err(ApiError::bad_request("there is no call to try"));
    }
    Ok(if is_input { call_with_input(tool, about.as_bytes())? } else { call_about(tool, about)? })
}

/// Reads the name of a mode; nothing is the settings' own.
pub(crate) fn mode(name: &str) -> Result<Option<Mode>, ApiError> {
    if name.is_empty() {
        return Ok(None);
    }
    Mode::find(name).map(Some).ok_or_else(|| ApiError::bad_request("there is no such mode"))
}

async fn test(
    State(daemon): State<Shared>,
    Reads(_): Reads,
    Received(body): Received<TestBody>,
) -> Result<Json<Value>, ApiError> {
    let object = blocking(move || {
        let call = match &body.input {
            Some(input) => {
                let input = parse_input(input.to_string().as_bytes())
                    .map_err(|error| ApiError::bad_request(format!("`input`: {error}")))?;
                ToolCall::new(if body.tool.is_empty() { "Bash" } else { &body.tool }, input)
            }
            None => call_of(&body.tool, &body.command)?,
        };
        let session = open(&daemon, &body.cwd, "")?;
        let trial = Trial::new(&session, call, mode(&body.mode)?, Person::Present)?;
        Ok(trial::object(&trial, &session))
    });
    Ok(Json(object.await?))
}
