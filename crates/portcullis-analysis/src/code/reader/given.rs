//! What calls give back, as far as the rows and the methods of texts tell.

use super::chain::Span;
use super::decode;
use super::evaluator::{Evaluator, module_name};
use super::scope::named_argument;
use super::value::{Value, fill, joined};
use crate::code::table::{Gives, Row};

impl Evaluator<'_> {
    pub(super) fn call(&self, callee: &Value, arguments: Span, depth: usize) -> Value {
        match callee {
            Value::Named(name) => match self.cutter.profile.row(name) {
                Some(row) => self.given(row, None, arguments, depth),
                None => Value::Unknown,
            },
            Value::Member(kind, own, method) => self.method(kind, own.as_deref(), method, arguments, depth),
            Value::Decoded(_) => callee.clone(),
            _ => Value::Unknown,
        }
    }

    fn method(
        &self,
        kind: &'static str,
        own: Option<&str>,
        method: &str,
        arguments: Span,
        depth: usize,
    ) -> Value {
        if let Some(row) = self.cutter.profile.method(kind, method) {
            return self.given(row, own, arguments, depth);
        }
        match (kind, own) {
            ("fetched" | "received" | "hidden", _) => Value::Kind(kind, None),
            ("text", Some(text)) => self.text_method(text, method, arguments, depth),
            _ => match self.cutter.profile.method("?", method) {
                Some(row) => self.given(row, own, arguments, depth),
                None => Value::Unknown,
            },
        }
    }

    /// Returns what a method of a text gives.
    fn text_method(&self, text: &str, method: &str, arguments: Span, depth: usize) -> Value {
        let values: Vec<Value> = self
            .cutter
            .split(arguments)
            .iter()
            .map(|part| self.single(named_argument(self.cutter, *part).1, depth))
            .collect();
        match (method, values.as_slice()) {
            (
                "encode" | "decode" | "strip" | "trim" | "rstrip" | "lstrip" | "chomp" | "to_s" | "toString"
                | "freeze",
                _,
            ) => Value::Text(text.to_owned()),
            ("format", values) => fill(text, '{', values),
            ("split", []) => {
                Value::List(text.split_whitespace().map(|word| Value::Text(word.to_owned())).collect())
            }
            ("split", [Value::Text(at), ..]) if !at.is_empty() => {
                Value::List(text.split(at.as_str()).map(|word| Value::Text(word.to_owned())).collect())
            }
            ("join", [Value::List(parts)]) => {
                let mut pieces = Vec::new();
                for (place, part) in parts.iter().enumerate() {
                    if place > 0 {
                        pieces.push(Some(text.to_owned()));
                    }
                    pieces.extend(part.pieces());
                }
                joined(pieces)
            }
            ("replace" | "gsub" | "replaceAll", [Value::Text(from), Value::Text(to)])
                if !from.is_empty() && text.len() + to.len() < 4096 =>
            {
                Value::Text(text.replace(from.as_str(), to))
            }
            ("reverse", _) => Value::Decoded(text.chars().rev().collect()),
            _ => Value::Unknown,
        }
    }

    /// Returns what a row says a call gives.
    fn given(&self, row: &Row, own: Option<&str>, arguments: Span, depth: usize) -> Value {
        let parts = self.cutter.split(arguments);
        let argument = |place: usize| {
            parts
                .get(place)
                .map_or(Value::Unknown, |part| self.single(named_argument(self.cutter, *part).1, depth))
        };
        let text_of = |value: Value| match value {
            Value::Text(text) | Value::Kind(_, Some(text)) => Some(text),
            Value::List(values) => match values.first() {
                Some(Value::Text(text)) => Some(text.clone()),
                _ => None,
            },
            _ => None,
        };
        match row.gives {
            Gives::Unknown => Value::Unknown,
            Gives::Same(place) => argument(place),
            Gives::Joined => {
                decode::join_paths(&parts.iter().map(|part| self.single(*part, depth)).collect::<Vec<_>>())
                    .map_or(Value::Unknown, Value::Text)
            }
            Gives::OwnJoined => {
                let mut values = vec![own.map_or(Value::Unknown, |own| Value::Text(own.to_owned()))];
                values.extend(parts.iter().map(|part| self.single(*part, depth)));
                Value::Kind("path", decode::join_paths(&values))
            }
            Gives::Kind("path") if parts.len() > 1 => Value::Kind(
                "path",
                decode::join_paths(&parts.iter().map(|part| self.single(*part, depth)).collect::<Vec<_>>()),
            ),
            Gives::Kind(kind) => Value::Kind(kind, text_of(argument(0))),
            Gives::Own(kind) => Value::Kind(kind, own.map(str::to_owned)),
            Gives::Some(kind) => Value::Kind(kind, None),
            Gives::Base64(place) => text_of(argument(place))
                .and_then(|text| decode::base64(&text))
                .map_or(Value::Kind("hidden", None), Value::Decoded),
            Gives::Hex(place) => text_of(argument(place))
                .and_then(|text| decode::hex(&text))
                .map_or(Value::Kind("hidden", None), Value::Decoded),
            Gives::Hidden => match argument(0) {
                value if value.foreign() == Some("received") => value,
                _ => Value::Kind("hidden", None),
            },
            Gives::Module => {
                text_of(argument(0)).map_or(Value::Unknown, |name| Value::Named(module_name(&name)))
            }
            Gives::Member => match (argument(0), argument(1)) {
                (Value::Named(owner), Value::Text(name)) => Value::Named(format!("{owner}.{name}")),
                _ => Value::Unknown,
            },
        }
    }
}
