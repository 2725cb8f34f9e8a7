//! What calls give back, as far as the rows and the methods of texts tell.

use super::chain::GroupSpan;
use super::evaluator::Evaluator;
use super::scope::named_argument;
use super::value::{ANY_NAME, CodeValue, HOME, PACKAGE, PROJECT, fill, joined, variable};
use super::{element, value};
use crate::act::Act;
use crate::code::table::{Does, Gives, LibraryRow, ModuleOrigin, On, module_name};
use crate::encoded_text;

impl Evaluator<'_> {
    /// Returns what a call gives. Without a row nobody knows, and what was decoded stays decoded.
    pub(super) fn call(&self, callee: &CodeValue, arguments: GroupSpan, depth: usize) -> CodeValue {
        match callee {
            CodeValue::Named(name) => {
                if let Some(words) = self.words_of(name, arguments, depth) {
                    return words;
                }
                match self.cutter.profile.row(name) {
                    Some(row) => self.given(row, None, arguments, depth),
                    None => CodeValue::Unknown,
                }
            }
            CodeValue::Member(kind, own, method) => {
                self.method(kind, own.as_deref(), method, arguments, depth)
            }
            CodeValue::Decoded(_) | CodeValue::Kind("document", _) => callee.clone(),
            CodeValue::Kind(kind @ (PROJECT | PACKAGE), of) => CodeValue::Kind(kind, of.clone()),
            _ => CodeValue::Unknown,
        }
    }

    /// Returns what a method gives. What came over the network or was hidden stays that through all of its methods.
    fn method(
        &self,
        kind: &'static str,
        own: Option<&str>,
        method: &str,
        arguments: GroupSpan,
        depth: usize,
    ) -> CodeValue {
        if let Some(row) = self.cutter.profile.method(kind, method) {
            return self.given(row, own, arguments, depth);
        }
        match (kind, own) {
            (PROJECT | PACKAGE, _) => CodeValue::Kind(kind, own.map(str::to_owned)),
            ("fetched" | "received" | "hidden", _) => CodeValue::Kind(kind, None),
            ("text", Some(text)) => self.text_method(text, method, arguments, depth),
            _ => match self.cutter.profile.method("?", method) {
                Some(row) => self.given(row, own, arguments, depth),
                None => CodeValue::Unknown,
            },
        }
    }

    /// Returns what a method of a text gives.
    fn text_method(&self, text: &str, method: &str, arguments: GroupSpan, depth: usize) -> CodeValue {
        let values: Vec<CodeValue> = self
            .cutter
            .split(arguments)
            .iter()
            .map(|part| self.single(named_argument(self.cutter, *part).1, depth))
            .collect();
        match (method, values.as_slice()) {
            // What a name stands for is not known while it is being found.
            _ if value::is_marked(text) => CodeValue::Unknown,
            (
                "encode" | "decode" | "strip" | "trim" | "rstrip" | "lstrip" | "chomp" | "to_s" | "toString"
                | "freeze",
                _,
            ) => CodeValue::Text(text.to_owned()),
            ("format", values) => fill(text, '{', values),
            ("split", []) => CodeValue::List(
                text.split_whitespace().map(|word| CodeValue::Text(word.to_owned())).collect(),
            ),
            ("split", [CodeValue::Text(at), ..]) if !at.is_empty() => CodeValue::List(
                text.split(at.as_str()).map(|word| CodeValue::Text(word.to_owned())).collect(),
            ),
            ("join", [CodeValue::List(parts)]) => {
                let mut pieces = Vec::new();
                for (place, part) in parts.iter().enumerate() {
                    if place > 0 {
                        pieces.push(Some(text.to_owned()));
                    }
                    pieces.extend(part.pieces());
                }
                joined(pieces)
            }
            ("replace" | "gsub" | "replaceAll", [CodeValue::Text(from), CodeValue::Text(to)])
                if !from.is_empty() && text.len() + to.len() < 4096 =>
            {
                CodeValue::Text(text.replace(from.as_str(), to))
            }
            // Turning a text round is a way to hide it.
            ("reverse", _) => CodeValue::Decoded(text.chars().rev().collect()),
            _ => CodeValue::Unknown,
        }
    }

    /// Returns what a row says a call gives.
    fn given(&self, row: &LibraryRow, own: Option<&str>, arguments: GroupSpan, depth: usize) -> CodeValue {
        let parts = self.cutter.split(arguments);
        let argument = |place: usize| {
            parts
                .get(place)
                .map_or(CodeValue::Unknown, |part| self.single(named_argument(self.cutter, *part).1, depth))
        };
        match row.gives {
            Gives::Unknown => match row.does {
                Does::Act(Act::Environment, On::Name(place)) => {
                    variable(&argument(place)).unwrap_or(CodeValue::Unknown)
                }
                _ => CodeValue::Unknown,
            },
            Gives::Home => CodeValue::Kind("path", Some(HOME.to_owned())),
            Gives::Same(place) => match argument(place) {
                // What is sorted or turned round has its elements elsewhere.
                CodeValue::List(values) | CodeValue::Mixed(values) if is_reordering(row.name) => {
                    CodeValue::Mixed(values)
                }
                value => value,
            },
            Gives::Below => found_below(own, argument(0), row.name),
            Gives::Joined => {
                element::join_paths(&parts.iter().map(|part| self.single(*part, depth)).collect::<Vec<_>>())
                    .map_or(CodeValue::Unknown, CodeValue::Text)
            }
            Gives::OwnJoined => {
                let mut values = vec![own.map_or(CodeValue::Unknown, |own| CodeValue::Text(own.to_owned()))];
                values.extend(parts.iter().map(|part| self.single(*part, depth)));
                CodeValue::Kind("path", element::join_paths(&values))
            }
            Gives::Kind("path") if parts.len() > 1 => CodeValue::Kind(
                "path",
                element::join_paths(&parts.iter().map(|part| self.single(*part, depth)).collect::<Vec<_>>()),
            ),
            Gives::Kind(kind) => CodeValue::Kind(kind, text_of(argument(0))),
            Gives::Own(kind) => CodeValue::Kind(kind, own.map(str::to_owned)),
            Gives::Some(kind) => CodeValue::Kind(kind, None),
            // What cannot be undone here is hidden all the same, and running it is an act of its own.
            Gives::Base64(place) => text_of(argument(place))
                .and_then(|text| encoded_text::base64(&text))
                .map_or(CodeValue::Kind("hidden", None), CodeValue::Decoded),
            Gives::Hex(place) => text_of(argument(place))
                .and_then(|text| encoded_text::hex(&text))
                .map_or(CodeValue::Kind("hidden", None), CodeValue::Decoded),
            Gives::Hidden => match argument(0) {
                value if value.foreign() == Some("received") => value,
                _ => CodeValue::Kind("hidden", None),
            },
            Gives::Module => text_of(argument(0)).map_or(CodeValue::Unknown, |name| {
                match self.cutter.profile.origin(&name) {
                    ModuleOrigin::Project | ModuleOrigin::Package => self.module_value(&name, None),
                    ModuleOrigin::Known | ModuleOrigin::Unclear => CodeValue::Named(module_name(&name)),
                }
            }),
            Gives::Member => match (argument(0), argument(1)) {
                (CodeValue::Named(owner), CodeValue::Text(name)) => {
                    CodeValue::Named(format!("{owner}.{name}"))
                }
                _ => CodeValue::Unknown,
            },
        }
    }
}

/// Returns the text that a value stands for: its own, or that of the first element of a list.
fn text_of(value: CodeValue) -> Option<String> {
    match value {
        CodeValue::Text(text) | CodeValue::Kind(_, Some(text)) => Some(text),
        CodeValue::List(values) => match values.first() {
            Some(CodeValue::Text(text)) => Some(text.clone()),
            _ => None,
        },
        _ => None,
    }
}

/// Returns the paths below one, by a pattern if there is one.
fn found_below(own: Option<&str>, pattern: CodeValue, name: &str) -> CodeValue {
    let pattern = match pattern {
        CodeValue::Text(pattern) => pattern,
        _ => ANY_NAME.to_owned(),
    };
    let depth = if name.ends_with("rglob") { "**/" } else { "" };
    CodeValue::Kind("found", own.map(|own| format!("{own}/{depth}{pattern}")))
}

/// Says whether a function gives the elements of a list in another order.
fn is_reordering(name: &str) -> bool {
    matches!(name, "reversed" | "set" | "sorted")
}
