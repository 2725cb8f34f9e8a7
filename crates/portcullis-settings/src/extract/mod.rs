//! From the text of one settings file to its [`Layer`]: types checked against the key table, rules compiled, every
//! mistake reported with its place and skipped (spec C11).
//!
//! INVARIANT: a mistake never widens. A restriction with a wrong value is taken strictly, anything else with a wrong
//! value is not taken. What stands before a syntax error still restricts, and allows nothing; since what stands behind
//! it may have forbidden anything, nothing outside managed settings widens either. Where a key is repeated, the last one
//! counts, as for every JSON reader, but restrictions of all of them hold.

mod hooks;
mod object;
mod scalar;
mod store;
mod text;
mod value;

use std::sync::Arc;

use portcullis_core::rule::{Behavior, Rule};
use portcullis_core::{Origin, Source};

pub(crate) use text::SettingsText;

use crate::json::{self, JsonNode, JsonValue, TextPosition};
use crate::keys::{KeyId, SettingsKey};
use crate::layer::{IgnoredReason, IgnoredSetting, Setting, SettingValue, SettingsLayer};
use crate::location::SettingsOwner;
use crate::problem::{ProblemSeverity, SettingsProblem};

/// What a broken settings file means for everything else, in one clause.
pub const BROKEN_SETTINGS: &str =
    "until it is repaired, bypass and auto mode are off and nothing outside managed settings allows";

/// How many problems of one file are reported one by one.
const REPORTED: usize = 50;

/// How much of a part of the file counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ExtractScope {
    Everything,
    /// Only what restricts: the part is damaged or overwritten.
    Restrictions,
}

struct LayerExtractor<'text> {
    input: SettingsText<'text>,
    layer: SettingsLayer,
    reported: usize,
    behind: usize,
}

/// Reads a text into a layer.
pub(crate) fn extract(input: SettingsText<'_>) -> SettingsLayer {
    let mut extractor =
        LayerExtractor { input, layer: SettingsLayer::new(input.source), reported: 0, behind: 0 };
    let reading = json::read(input.text);
    let mut taking = ExtractScope::Everything;
    if let Some(mistake) = reading.mistake {
        taking = ExtractScope::Restrictions;
        extractor.broken(mistake.message, mistake.position);
    } else if let Some(extension) = reading.extension
        && input.owner == SettingsOwner::ClaudeCode
    {
        let message = format!("Claude Code reads strict JSON and will refuse {}", extension.name);
        extractor.problem(ProblemSeverity::Note, message, extension.position, None);
    }
    match reading.root {
        Some(JsonNode { value: JsonValue::Object(members), .. }) => extractor.object(None, &members, taking),
        Some(node) if taking == ExtractScope::Everything => {
            extractor.broken(format!("settings must be an object, not {}", node.value.kind()), node.position);
        }
        _ => {}
    }
    extractor.finish()
}

/// Compiles rules that were given as values.
pub(crate) fn given(source: Source, label: &Arc<str>, rules: &[(Behavior, String)]) -> SettingsLayer {
    let mut layer = SettingsLayer::new(source);
    for (behavior, text) in rules {
        match Rule::compile(text, *behavior, Origin::bare(source)) {
            Ok(rule) => layer.rules.push(rule),
            Err(problem) => {
                let length = u32::try_from(text.chars().count()).unwrap_or(u32::MAX);
                let mut report = SettingsProblem::new(ProblemSeverity::Warning, problem.message)
                    .in_file(label)
                    .at(text, TextPosition { line: 1, column: 1, length });
                report.hint = problem.hint;
                layer.problems.push(report);
            }
        }
    }
    layer
}

impl LayerExtractor<'_> {
    fn finish(mut self) -> SettingsLayer {
        if self.behind > 0 {
            let message = format!("{} more problems in this file", self.behind);
            self.layer
                .problems
                .push(SettingsProblem::new(ProblemSeverity::Note, message).in_file(self.input.label));
        }
        self.layer
    }

    fn broken(&mut self, message: String, position: TextPosition) {
        self.layer.damaged = true;
        // The file may have held a stricter mode than weaker sources do.
        if let Some(key) = SettingsKey::of(KeyId::DefaultMode) {
            self.set(key, SettingValue::Mode(None), position);
        }
        self.problem(ProblemSeverity::Error, message, position, Some(BROKEN_SETTINGS.to_owned()));
    }

    fn problem(
        &mut self,
        severity: ProblemSeverity,
        message: String,
        position: TextPosition,
        hint: Option<String>,
    ) {
        if self.has_room() {
            let problem = self.made(severity, message, position, hint);
            self.layer.problems.push(problem);
        }
    }

    /// Reports a problem without the line it is in, which may hold a secret.
    fn problem_without_excerpt(
        &mut self,
        severity: ProblemSeverity,
        message: String,
        position: TextPosition,
        hint: Option<String>,
    ) {
        if self.has_room() {
            let problem = self.made(severity, message, position, hint).without_excerpt();
            self.layer.problems.push(problem);
        }
    }

    /// Counts a problem, and says whether it is one of those that are reported one by one.
    const fn has_room(&mut self) -> bool {
        if self.reported == REPORTED {
            self.behind += 1;
            return false;
        }
        self.reported += 1;
        true
    }

    fn made(
        &self,
        severity: ProblemSeverity,
        message: String,
        position: TextPosition,
        hint: Option<String>,
    ) -> SettingsProblem {
        let mut problem =
            SettingsProblem::new(severity, message).in_file(self.input.label).at(self.input.text, position);
        problem.hint = hint;
        let index = usize::try_from(position.line).unwrap_or(usize::MAX).saturating_sub(1);
        let line = self.input.text.split('\n').nth(index);
        if line.is_some_and(carries_password) { problem.without_excerpt() } else { problem }
    }

    fn origin(&self, position: TextPosition) -> Origin {
        Origin {
            source: self.input.source,
            file: self.input.file.map(Arc::clone),
            line: Some(position.line),
            column: Some(position.column),
            base: self.input.base.map(Arc::clone),
        }
    }

    fn set(&mut self, key: &'static SettingsKey, value: SettingValue, position: TextPosition) {
        let origin = self.origin(position);
        self.layer.settings.push(Setting { key, value, origin });
    }

    fn ignore(&mut self, what: String, position: TextPosition, reason: IgnoredReason) {
        let origin = self.origin(position);
        self.layer.ignored.push(IgnoredSetting { what, origin, reason });
    }
}

/// Says whether a line has an address with somebody's name before the host, which may come with a password.
fn carries_password(line: &str) -> bool {
    line.split_once("://").is_some_and(|(_, rest)| rest.contains('@'))
}
