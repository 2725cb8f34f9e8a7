//! The tool `check`: what would be answered to a call, and why. It decides nothing.
//!
//! It is a dry run that an agent may make, and so may an attacker who speaks through one. So it asks no model, which
//! would cost money and could be tried until it says yes; it counts and records nothing, uses up no approval, and looks
//! at no directory outside of the server's own.

use std::path::{Path, PathBuf};
use std::time::Instant;

use portcullis_core::{Value, path, visible};
use serde_json::Map;

use super::McpToolContext;
use crate::commands::check::{CallLine, parse_object, take_call, take_text};
use portcullis_gate::Failure;
use portcullis_gate::judge::JudgedCall;
use portcullis_gate::judge::{judge, prepare};
use portcullis_output::judged::write_fields;
use portcullis_world::World;

/// What a check comes to.
pub(super) struct Checked {
    /// A sentence.
    pub(super) summary: String,
    /// The object that `portcullis check --json` prints.
    pub(super) object: serde_json::Value,
}

/// Checks the call that the arguments describe; the error says what is wrong with them.
pub(super) fn check(
    tools: &McpToolContext,
    arguments: &Map<String, serde_json::Value>,
) -> Result<Checked, String> {
    let started = Instant::now();
    let line = read(arguments)?;
    let cwd = directory(&tools.place.cwd, line.cwd.as_deref())?;
    let told = |failure: Failure| failure.message;
    let session = tools.session(&cwd).map_err(told)?;
    let mut context = session.context(line.mode.or(tools.gate.mode), tools.gate.person(), &[]);
    // There is a session, of which nothing is known here.
    context.session.is_partial = true;
    let case = prepare(session.policy(), line.call, context, &mut World::default());
    let verdict = judge(session.policy(), &case).map_err(told)?;
    let (decision, reason) = (verdict.decision.as_str(), verdict.reason.message());
    let summary = format!("{decision}: {}", visible(&reason));
    let judged = JudgedCall { verdict, case, denial: None, exchanges: Vec::new(), problems: Vec::new() };
    let mut text = String::from("{");
    write_fields(&mut text, &judged, started.elapsed().as_micros(), None);
    text.push('}');
    let object = serde_json::from_str(&text).map_err(|error| error.to_string())?;
    Ok(Checked { summary, object })
}

/// Reads `{command}` or `{tool, input, cwd?, mode?}`.
fn read(arguments: &Map<String, serde_json::Value>) -> Result<CallLine, String> {
    let text = serde_json::to_vec(arguments).map_err(|error| error.to_string())?;
    let mut fields = parse_object(&text)?;
    if let Some(command) = take_text(&mut fields, "command")? {
        if fields.contains_key("tool") || fields.contains_key("input") {
            return Err("give either `command`, or `tool` and `input`".to_owned());
        }
        let input = [("command".to_owned(), Value::Text(command))].into();
        fields.insert("tool".to_owned(), Value::Text("Bash".to_owned()));
        fields.insert("input".to_owned(), Value::Object(input));
    }
    take_call(&mut fields)
}

/// Finds the directory a call would run in, which lies in the server's own.
fn directory(own: &str, named: Option<&str>) -> Result<String, String> {
    let directory = path::join(own, named.unwrap_or_default());
    // A link inside may lead outside.
    let real = |path: &str| Path::new(path).canonicalize().unwrap_or_else(|_| PathBuf::from(path));
    if Path::new(&directory).starts_with(own) && real(&directory).starts_with(real(own)) {
        Ok(directory)
    } else {
        Err(format!("the directory `{directory}` is outside of `{own}`, which this server answers for"))
    }
}
