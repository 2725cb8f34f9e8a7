//! Parts of values, members and elements, and paths that parts are joined to.

use super::chain::GroupSpan;
use super::evaluator::DEPTH_LIMIT;
use super::evaluator::Evaluator;
use super::value::{ANY_NAME, CodeValue, PACKAGE, PROJECT, variable};
use crate::code::Language;
use crate::code::table::Does;
use crate::code::tree::CodeItem;

impl Evaluator<'_> {
    pub(super) fn member(&self, value: &CodeValue, name: &str, depth: usize) -> Vec<CodeValue> {
        let of = |kind, text: Option<String>| vec![CodeValue::Member(kind, text, name.to_owned())];
        match value {
            CodeValue::Named(owner) if name == "default" => vec![CodeValue::Named(owner.clone())],
            CodeValue::Named(owner) => {
                let known = self.variable_of(owner, &CodeValue::Text(name.to_owned()));
                vec![known.unwrap_or_else(|| CodeValue::Named(format!("{owner}.{}", self.written(name))))]
            }
            // An entry of a directory says its own name.
            CodeValue::Kind("name", None) if name == "name" => vec![value.clone()],
            CodeValue::Kind(kind, text) | CodeValue::Member(kind @ (PROJECT | PACKAGE), text, _) => {
                of(kind, text.clone())
            }
            CodeValue::Text(text) => of("text", Some(text.clone())),
            CodeValue::Decoded(_) => vec![value.clone()],
            CodeValue::Plain(_) => of("plain", None),
            CodeValue::List(_) => of("list", None),
            CodeValue::Partial(_) => of("text", None),
            CodeValue::Own | CodeValue::Unknown | CodeValue::Member(..) => {
                match self.scope.bounds.get(&format!(".{name}")) {
                    Some(bounds) if depth < DEPTH_LIMIT => {
                        let mut values = self.remembered(&format!(".{name}"), bounds, depth + 1);
                        values.retain(|value| !matches!(value, CodeValue::Plain(_)));
                        if values.is_empty() { of("?", None) } else { values }
                    }
                    _ => match value.foreign() {
                        Some(kind) => of(kind, None),
                        None => of("?", None),
                    },
                }
            }
        }
    }

    pub(super) fn element_of(&self, value: &CodeValue, inner: GroupSpan, depth: usize) -> Vec<CodeValue> {
        let key = self.single(inner, depth);
        if let Some(words) = self.given_words(value) {
            return match key {
                CodeValue::Plain(number) => words.at(&number),
                _ if self.is_slice(inner) => vec![words.part()],
                _ => words.any(),
            };
        }
        if let CodeValue::Named(owner) = value
            && let Some(known) = self.variable_of(owner, &key)
        {
            return vec![known];
        }
        match (value, key) {
            (CodeValue::List(values), CodeValue::Plain(_))
                if self.scope.moves_elements && !values.is_empty() =>
            {
                values.clone()
            }
            (CodeValue::List(values), CodeValue::Plain(number)) => {
                let element = number.parse::<usize>().ok().and_then(|at| values.get(at).cloned());
                vec![element.unwrap_or(CodeValue::Unknown)]
            }
            (CodeValue::Named(_), CodeValue::Text(name))
                if self.cutter.profile.language == Language::JavaScript =>
            {
                self.member(value, &name, depth)
            }
            (CodeValue::Text(text), _) if self.is_reversal(inner) => {
                vec![CodeValue::Decoded(text.chars().rev().collect())]
            }
            (CodeValue::Kind("path", _), _) => vec![CodeValue::Kind("path", None)],
            (
                CodeValue::Kind(kind @ (PROJECT | PACKAGE), of)
                | CodeValue::Member(kind @ (PROJECT | PACKAGE), of, _),
                _,
            ) => {
                vec![CodeValue::Kind(kind, of.clone())]
            }
            (value, _) if value.foreign().is_some() => vec![value.clone()],
            (CodeValue::List(values), _) if values.contains(&CodeValue::Own) => vec![CodeValue::Own],
            _ => vec![CodeValue::Unknown],
        }
    }

    /// Returns the value of an environment variable, if something holds these and its name tells.
    fn variable_of(&self, owner: &str, name: &CodeValue) -> Option<CodeValue> {
        let holds = self.cutter.profile.row(owner).is_some_and(|row| row.does == Does::Variables);
        variable(name).filter(|_| holds)
    }

    fn is_slice(&self, inner: GroupSpan) -> bool {
        self.cutter.items(inner).iter().any(|token| matches!(token.item, CodeItem::Mark(":" | "..")))
    }

    fn is_reversal(&self, inner: GroupSpan) -> bool {
        let items = self.cutter.items(inner);
        items.iter().any(|token| token.item.is_mark("-"))
            && items.iter().any(|token| matches!(token.item, CodeItem::Mark(":" | "::")))
    }
}

/// Joins paths; one that begins at the root replaces what stands before it. `None` if any is unknown.
pub(super) fn join_paths(values: &[CodeValue]) -> Option<String> {
    let mut path = String::new();
    for value in values {
        let part = match value {
            CodeValue::Text(part) | CodeValue::Kind("path", Some(part)) => part.as_str(),
            CodeValue::Kind("name", _) => ANY_NAME,
            _ => return None,
        };
        if part.starts_with('/') || path.is_empty() {
            part.clone_into(&mut path);
        } else {
            if !path.ends_with('/') {
                path.push('/');
            }
            path.push_str(part);
        }
    }
    (!values.is_empty()).then_some(path)
}
