//! The change itself: text in, text out.

use std::path::Path;
use std::sync::Arc;

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstArray, CstInputValue, CstNode, CstObject, CstRootNode};
use portcullis_core::Origin;
use portcullis_core::rule::{Behavior, Rule};

use super::EditError;
use crate::json::{self, JsonMember, JsonNode, JsonValue, ParsedJson, TextPosition};
use crate::problem::{ProblemSeverity, SettingsProblem};
use portcullis_core::closeness::rank;

/// What is to be done.
#[derive(Debug, Clone)]
pub(super) enum RuleChange {
    /// Adds a rule that compiles.
    Add(Box<Rule>),
    /// Removes a rule by its text, whether it compiles or not.
    Remove {
        /// The list.
        behavior: Behavior,
        /// The text.
        text: String,
    },
}

/// What the syntax tree accepts: exactly what the reader of settings accepts.
pub(super) const PARSE_OPTIONS: ParseOptions = ParseOptions {
    allow_comments: true,
    allow_loose_object_property_names: false,
    allow_trailing_commas: true,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

impl RuleChange {
    const fn behavior(&self) -> Behavior {
        match self {
            Self::Add(rule) => rule.behavior,
            Self::Remove { behavior, .. } => *behavior,
        }
    }

    /// Returns the new text, or `None` if there is nothing to do.
    pub(super) fn apply(&self, file: &Path, before: Option<&str>) -> Result<Option<String>, EditError> {
        let whole = before.unwrap_or_default();
        let (mark, text) = match whole.strip_prefix('\u{feff}') {
            Some(text) => ("\u{feff}", text),
            None => ("", whole),
        };
        let is_new = text.trim().is_empty();
        let text = if is_new { "{}\n" } else { text };
        let listed = self.check(file, text)?;
        let root = CstRootNode::parse(text, &PARSE_OPTIONS).map_err(|error| {
            broken(file, text, error.to_string(), TextPosition { line: 1, column: 1, length: 1 })
        })?;
        let changed = match self {
            Self::Add(rule) => !listed.iter().any(|entry| is_same(rule, entry)) && add(&root, rule, is_new),
            Self::Remove { text, .. } if !listed.contains(text) => return Err(self.missing(file, &listed)),
            Self::Remove { behavior, text } => remove(&root, *behavior, text),
        };
        if !changed {
            return Ok(None);
        }
        let after = root.to_string();
        self.verify(file, &after)?;
        Ok(Some(format!("{mark}{after}")))
    }

    /// Reads the new text once more before it replaces anything.
    fn verify(&self, file: &Path, after: &str) -> Result<(), EditError> {
        let listed = self.check(file, after)?;
        let came_out = match self {
            Self::Add(rule) => listed.contains(&rule.source_text),
            Self::Remove { text, .. } => !listed.contains(text),
        };
        if came_out {
            return Ok(());
        }
        let detail = "the change did not come out as meant".to_owned();
        Err(EditError::Io { file: file.to_path_buf(), detail })
    }

    /// Makes the error of a rule that is not there.
    pub(super) fn missing(&self, file: &Path, listed: &[String]) -> EditError {
        let text = match self {
            Self::Add(rule) => rule.source_text.clone(),
            Self::Remove { text, .. } => text.clone(),
        };
        let close =
            rank(&text, listed.iter().map(String::as_str)).into_iter().take(3).map(str::to_owned).collect();
        EditError::Missing { text, behavior: self.behavior(), file: file.to_path_buf(), close }
    }

    /// Refuses a file that cannot be edited without guessing, and returns the entries of the list.
    fn check(&self, file: &Path, text: &str) -> Result<Vec<String>, EditError> {
        let ParsedJson { root, mistake, .. } = json::read(text);
        if let Some(mistake) = mistake {
            return Err(broken(file, text, mistake.message, mistake.position));
        }
        let Some(root) = root else { return Ok(Vec::new()) };
        let Some(permissions) = find_once(file, text, &root, "permissions")? else { return Ok(Vec::new()) };
        let Some(list) = find_once(file, text, permissions, self.behavior().as_str())? else {
            return Ok(Vec::new());
        };
        let JsonValue::Array(entries) = &list.value else {
            let message =
                format!("`permissions.{}` must be a list, not {}", self.behavior(), list.value.kind());
            return Err(broken(file, text, message, list.position));
        };
        let texts = entries.iter().filter_map(|entry| match &entry.value {
            JsonValue::String(text) => Some(text.to_string()),
            _ => None,
        });
        Ok(texts.collect())
    }
}

/// Finds a member that must not be repeated, in what must be an object.
pub(super) fn find_once<'node, 'text>(
    file: &Path,
    text: &str,
    node: &'node JsonNode<'text>,
    name: &str,
) -> Result<Option<&'node JsonNode<'text>>, EditError> {
    let JsonValue::Object(members) = &node.value else {
        return Err(broken(
            file,
            text,
            format!("this must be an object, not {}", node.value.kind()),
            node.position,
        ));
    };
    let found: Vec<&JsonMember<'_>> = members.iter().filter(|member| member.name == name).collect();
    match found.as_slice() {
        [] => Ok(None),
        [member] => Ok(members.iter().find(|other| other.name == member.name).map(|member| &member.node)),
        [.., again] => {
            Err(broken(file, text, format!("`{name}` is set more than once"), again.name_position))
        }
    }
}

pub(super) fn broken(file: &Path, text: &str, message: String, position: TextPosition) -> EditError {
    let name: Arc<str> = Arc::from(file.to_string_lossy());
    let problem = SettingsProblem::new(ProblemSeverity::Error, message)
        .in_file(&name)
        .at(text, position)
        .with_hint("repair the file first; it was left as it is");
    EditError::Broken { problem: Box::new(problem) }
}

/// Says whether an entry means the same as a rule, spelling aside.
fn is_same(rule: &Rule, entry: &str) -> bool {
    entry == rule.source_text
        || Rule::compile(entry, rule.behavior, Origin::bare(rule.origin.source))
            .is_ok_and(|other| other.matcher == rule.matcher)
}

fn add(root: &CstRootNode, rule: &Rule, is_new: bool) -> bool {
    let object = root.object_value_or_set();
    let permissions = object.object_value_or_set("permissions");
    let list = permissions.array_value_or_set(rule.behavior.as_str());
    if is_new {
        make_multiline(&object, &permissions, &list);
    } else if list.elements().is_empty() && is_spread_out(&permissions) {
        list.ensure_multiline();
    }
    list.append(CstInputValue::String(rule.source_text.clone()));
    true
}

fn make_multiline(object: &CstObject, permissions: &CstObject, list: &CstArray) {
    object.ensure_multiline();
    permissions.ensure_multiline();
    list.ensure_multiline();
}

/// Says whether an object is written over several lines, so that a new list in it should be as well.
fn is_spread_out(object: &CstObject) -> bool {
    object.children().iter().any(CstNode::is_newline)
}

fn remove(root: &CstRootNode, behavior: Behavior, text: &str) -> bool {
    let list = root
        .object_value()
        .and_then(|object| object.object_value("permissions"))
        .and_then(|permissions| permissions.array_value(behavior.as_str()));
    let Some(list) = list else { return false };
    let was_tight = space_after_bracket(&list).is_none();
    let mut removed = false;
    for element in list.elements() {
        let is_it = element
            .as_string_lit()
            .and_then(|literal| literal.decoded_value().ok())
            .is_some_and(|value| value == text);
        if is_it {
            element.remove();
            removed = true;
        }
    }
    // `["a", "b"]` without its first entry is `["b"]`, not `[ "b"]`.
    if was_tight && let Some(space) = space_after_bracket(&list) {
        space.remove();
    }
    removed
}

/// Finds the blanks between the opening bracket and what follows on the same line.
fn space_after_bracket(list: &CstArray) -> Option<CstNode> {
    list.child_at_index(1).filter(CstNode::is_whitespace)
}
