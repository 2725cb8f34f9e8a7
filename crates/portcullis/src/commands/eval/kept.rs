//! What a model said in a run that was broken off: a file of lines, one a judged action, which the next run goes on with.
//!
//! A line counts for the very judge, prompt, settings and action it was got with: all of them are in its key. What is not
//! understood, such as a line that a killed run left unfinished, does not count, and the action is judged again.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::time::Duration;

use portcullis_classifier::provider::TokenUsage;
use portcullis_core::{Decision, STEPS};
use serde::{Deserialize, Serialize};

use super::action::Action;
use super::figures::{Answered, Word};
use portcullis_gate::Failure;

/// One line of the file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct KeptLine {
    key: String,
    decision: String,
    step: String,
    reason: String,
    findings: Vec<String>,
    word: String,
    calls: usize,
    input: u64,
    cache_read: u64,
    cache_write: u64,
    output: u64,
    cost: f64,
    unpriced: usize,
    millis: u64,
}

/// The file, and what is in it.
#[derive(Debug)]
pub(super) struct KeptVerdicts {
    name: String,
    file: File,
    known: BTreeMap<String, KeptLine>,
}

impl KeptVerdicts {
    /// Opens the file, which need not be there.
    pub(super) fn open(name: &str) -> Result<Self, Failure> {
        let failed = |error: std::io::Error| Failure::usage(format!("`{name}` cannot be used: {error}"));
        let text = match fs::read(name) {
            Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(failed(error)),
        };
        let lines: Vec<KeptLine> =
            text.lines().filter_map(|line| serde_json::from_str::<KeptLine>(line).ok()).collect();
        if lines.is_empty() && !text.trim().is_empty() {
            let message = format!("`{name}` is no file of an earlier run");
            return Err(Failure::usage(message).with_hint("name a file that is not there yet"));
        }
        let mut file = OpenOptions::new().create(true).append(true).open(name).map_err(failed)?;
        if !text.is_empty() && !text.ends_with('\n') {
            // A run that was killed left half a line, and the next one must not become a part of it.
            file.write_all(b"\n").map_err(failed)?;
        }
        let known = lines.into_iter().map(|line| (line.key.clone(), line)).collect();
        Ok(Self { name: name.to_owned(), file, known })
    }

    /// Gives an action what an earlier run was told of it.
    pub(super) fn recall(&self, key: &str, action: &mut Action) -> Option<Answered> {
        let line = self.known.get(key)?;
        let word = Word::find(&line.word)?;
        let decision = [Decision::Allow, Decision::Contained, Decision::Ask, Decision::Deny];
        let decision = decision.into_iter().find(|decision| decision.as_str() == line.decision)?;
        let step = STEPS.iter().map(|step| step.id).find(|step| step.as_str() == line.step)?;
        action.decision = decision;
        action.step = step;
        action.reason.clone_from(&line.reason);
        action.findings.clone_from(&line.findings);
        let usage = TokenUsage {
            input: line.input,
            cache_read: line.cache_read,
            cache_write: line.cache_write,
            output: line.output,
        };
        let time = Duration::from_millis(line.millis);
        Some(Answered { word, calls: line.calls, usage, cost: line.cost, unpriced: line.unpriced, time })
    }

    /// Keeps what was said of an action. A failure is nothing that was said, and is not kept.
    pub(super) fn keep(&mut self, key: &str, action: &Action, answered: &Answered) -> Result<(), Failure> {
        if answered.word == Word::Failed {
            return Ok(());
        }
        let TokenUsage { input, cache_read, cache_write, output } = answered.usage;
        let line = KeptLine {
            key: key.to_owned(),
            decision: action.decision.as_str().to_owned(),
            step: action.step.as_str().to_owned(),
            reason: action.reason.clone(),
            findings: action.findings.clone(),
            word: answered.word.as_str().to_owned(),
            calls: answered.calls,
            input,
            cache_read,
            cache_write,
            output,
            cost: answered.cost,
            unpriced: answered.unpriced,
            millis: u64::try_from(answered.time.as_millis()).unwrap_or(u64::MAX),
        };
        let written = serde_json::to_string(&line)
            .map_err(std::io::Error::other)
            .and_then(|text| self.file.write_all(format!("{text}\n").as_bytes()));
        let failed = |error| Failure::internal(format!("`{}` could not be written: {error}", self.name));
        written.map_err(failed)
    }
}
