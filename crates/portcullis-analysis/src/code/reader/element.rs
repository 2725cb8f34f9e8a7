//! Parts of values, members and elements, and paths that parts are joined to.

use super::chain::GroupSpan;
use super::evaluator::DEPTH_LIMIT;
use super::evaluator::Evaluator;
use super::scope::NameMeaning;
use super::value::{ANY_NAME, CodeValue, PACKAGE, PROJECT, element, variable};
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
            CodeValue::List(_) | CodeValue::Mixed(_) => of("list", None),
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
                _ if self.is_slice(inner) => vec![words.part(self.slice_start(inner))],
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
            (CodeValue::Mixed(values), CodeValue::Plain(_)) if !values.is_empty() => values.clone(),
            (CodeValue::List(values), CodeValue::Plain(number)) => {
                let element = place(&number).and_then(|at| values.get(at).cloned());
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
            (CodeValue::List(values) | CodeValue::Mixed(values), _) if values.contains(&CodeValue::Own) => {
                vec![CodeValue::Own]
            }
            _ => vec![CodeValue::Unknown],
        }
    }

    /// Returns what a call puts into a list, as a list of its own.
    pub(super) fn added(&self, arguments: GroupSpan, joins: bool, depth: usize) -> CodeValue {
        let parts = self.cutter.split(arguments);
        let values = parts.iter().flat_map(|part| self.values_at(*part, depth + 1));
        CodeValue::List(if joins { values.flat_map(element).collect() } else { values.collect() })
    }

    /// Returns what is left of what a name is set to, if that is changed somewhere; never nothing at all.
    pub(super) fn unsettled(&self, values: Vec<CodeValue>, bounds: &[NameMeaning]) -> Vec<CodeValue> {
        let is_shaken = bounds.contains(&NameMeaning::Shaken);
        let moves = |bound: &NameMeaning| matches!(bound, NameMeaning::Moved | NameMeaning::Added { .. });
        if !is_shaken && !bounds.iter().any(moves) {
            return values;
        }
        let is_ruby = self.cutter.profile.language == Language::Ruby;
        let mut elements = Vec::new();
        let mut settled = Vec::new();
        let has_list = values.iter().any(|value| matches!(value, CodeValue::List(_) | CodeValue::Mixed(_)));
        for value in values {
            match value {
                CodeValue::List(values) | CodeValue::Mixed(values) => elements.extend(values),
                CodeValue::Kind("entries" | "found" | "names" | "tree", _) if is_shaken => {
                    settled.push(CodeValue::Kind("list", None));
                }
                value if is_shaken && self.given_words(&value).is_some() => settled.push(CodeValue::Unknown),
                CodeValue::Text(_) | CodeValue::Partial(_) | CodeValue::Decoded(_) if is_ruby => {
                    settled.push(CodeValue::Unknown);
                }
                value => settled.push(value),
            }
        }
        if has_list {
            settled.push(if is_shaken { CodeValue::Kind("list", None) } else { CodeValue::Mixed(elements) });
        }
        if settled.is_empty() { vec![CodeValue::Unknown] } else { settled }
    }

    /// Returns the value of an environment variable, if something holds these and its name tells.
    fn variable_of(&self, owner: &str, name: &CodeValue) -> Option<CodeValue> {
        let holds = self.cutter.profile.row(owner).is_some_and(|row| row.does == Does::Variables);
        variable(name).filter(|_| holds)
    }

    fn is_slice(&self, inner: GroupSpan) -> bool {
        self.cutter.items(inner).iter().any(|token| matches!(token.item, CodeItem::Mark(":" | ".." | "...")))
    }

    /// Returns the place that a slice begins at, if that is a number.
    fn slice_start(&self, inner: GroupSpan) -> Option<usize> {
        match self.cutter.items(inner).iter().map(|token| &token.item).collect::<Vec<_>>().as_slice() {
            [CodeItem::Number(number), CodeItem::Mark(":" | ".." | "..."), ..] => place(number),
            _ => None,
        }
    }

    fn is_reversal(&self, inner: GroupSpan) -> bool {
        let items = self.cutter.items(inner);
        items.iter().any(|token| token.item.is_mark("-"))
            && items.iter().any(|token| matches!(token.item, CodeItem::Mark(":" | "::")))
    }
}

/// Returns the place that a number names; with a zero before it, it counts by eights in some languages.
pub(super) fn place(number: &str) -> Option<usize> {
    let is_plain = number == "0" || !number.starts_with('0');
    number.parse().ok().filter(|_| is_plain)
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
