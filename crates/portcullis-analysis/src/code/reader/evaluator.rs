//! What expressions stand for, as far as the text tells: texts, paths, modules, kinds of values.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use super::chain::{Chain, Cutter, Span, Step};
use super::decode;
use super::scope::{Bound, Scope};
use super::value::{Value, element, fill, is_constant, joined};
use crate::code::Language;
use crate::code::tree::{Item, Piece};

/// How many steps lead from a use to what it stands for.
const DEPTH_LIMIT: usize = 8;
/// How many things an expression may stand for.
const VALUE_LIMIT: usize = 8;

/// Returns the name of a module of Node without its scheme.
pub(super) fn module_name(module: &str) -> String {
    module.strip_prefix("node:").unwrap_or(module).replace('/', ".")
}

/// Finds what expressions stand for.
#[derive(Debug)]
pub(super) struct Evaluator<'a> {
    pub(super) cutter: Cutter<'a>,
    pub(super) scope: &'a Scope,
    /// How much looking is left; a program that needs more is not understood.
    pub(super) fuel: Cell<usize>,
    /// What names stand for; `None` while that is being found, so that a circle ends.
    names: RefCell<BTreeMap<String, Option<Vec<Value>>>>,
}

impl<'a> Evaluator<'a> {
    pub(super) fn new(cutter: Cutter<'a>, scope: &'a Scope, fuel: usize) -> Self {
        Self { cutter, scope, fuel: Cell::new(fuel), names: RefCell::default() }
    }

    fn burn(&self, amount: usize) -> bool {
        let left = self.fuel.get().saturating_sub(amount);
        self.fuel.set(left);
        left > 0
    }

    /// Returns what an expression may stand for; never empty.
    pub(super) fn values(&self, span: Span) -> Vec<Value> {
        self.values_at(span, 0)
    }

    pub(super) fn values_at(&self, span: Span, depth: usize) -> Vec<Value> {
        let span = self.strip(self.cutter.trim(span));
        let items = self.cutter.items(span);
        if depth > DEPTH_LIMIT || items.is_empty() || !self.burn(items.len() + 1) {
            return vec![Value::Unknown];
        }
        let mut values = self.expression(span, depth);
        if values.len() > VALUE_LIMIT {
            values.truncate(VALUE_LIMIT);
            values.push(Value::Unknown);
        }
        if values.is_empty() { vec![Value::Unknown] } else { values }
    }

    /// Steps over words before a value that do not change it.
    fn strip(&self, span: Span) -> Span {
        let language = self.cutter.profile.language;
        let skipped = self.cutter.items(span).iter().take_while(|token| match &token.item {
            Item::Name(name) => match language {
                Language::Perl => matches!(name.as_str(), "my" | "our" | "local"),
                Language::Ruby => false,
                _ => matches!(name.as_str(), "await" | "new"),
            },
            Item::Mark(mark) => *mark == "\\" && language == Language::Perl,
            _ => false,
        });
        Span { start: span.start + skipped.count(), ..span }
    }

    fn expression(&self, span: Span, depth: usize) -> Vec<Value> {
        let items = self.cutter.items(span);
        let find = |wanted: &dyn Fn(&Item) -> bool| {
            items.iter().position(|token| wanted(&token.item)).map(|at| span.start + at)
        };
        if items
            .iter()
            .any(|token| token.item.is_mark("=>") && self.cutter.profile.language == Language::JavaScript)
            || items
                .iter()
                .take(2)
                .any(|token| matches!(token.item.name(), Some("lambda" | "function" | "class" | "async")))
        {
            return vec![Value::Own];
        }
        if let Some(at) = find(&|item| item.is_mark("=")) {
            return self.values_at(Span { start: at + 1, ..span }, depth + 1);
        }
        if let Some(values) = self.alternatives(span, depth) {
            return values;
        }
        let plus =
            if matches!(self.cutter.profile.language, Language::Perl | Language::Php) { "." } else { "+" };
        let parts = self.cutter.split_at(span, |item| item.is_mark(plus));
        if parts.len() > 1 {
            return self.concatenation(&parts, depth);
        }
        if let Some(values) = self.formatted(span, depth).or_else(|| self.path_division(span, depth)) {
            return values;
        }
        if items.len() > 1 && items.iter().all(|token| matches!(token.item, Item::Text(_))) {
            let parts: Vec<Span> =
                (span.start..span.end).map(|at| Span { start: at, end: at + 1, ..span }).collect();
            return self.concatenation(&parts, depth);
        }
        match self.cutter.chain(span.group, span.start, span.end) {
            Some(chain) if chain.span.end == span.end => self.chain(&chain, depth),
            _ => vec![Value::Unknown],
        }
    }

    /// Reads `a if c else b`, `c ? a : b`, `a or b`, `a || b`, `a ?? b`.
    fn alternatives(&self, span: Span, depth: usize) -> Option<Vec<Value>> {
        let items = self.cutter.items(span);
        let is_choice = |item: &Item| {
            matches!(item, Item::Mark("||" | "??" | "?" | "//"))
                || matches!(item.name(), Some("or" | "if" | "else"))
        };
        if !items.iter().any(|token| is_choice(&token.item))
            || (self.cutter.profile.language == Language::Python
                && items.iter().any(|token| token.item.is_mark("//")))
        {
            return None;
        }
        let parts = self.cutter.split_at(span, |item| is_choice(item) || item.is_mark(":"));
        let mut values = Vec::new();
        for part in parts {
            values.extend(self.values_at(part, depth + 1));
        }
        Some(values)
    }

    fn concatenation(&self, parts: &[Span], depth: usize) -> Vec<Value> {
        let mut results = vec![Value::Text(String::new())];
        for part in parts.iter().take(64) {
            let values = self.values_at(*part, depth + 1);
            if let Some(foreign) = values.iter().find(|value| value.foreign().is_some()) {
                return vec![foreign.clone()];
            }
            let mut next = Vec::new();
            for left in &results {
                for right in &values {
                    let pieces = left.pieces().into_iter().chain(right.pieces()).collect();
                    next.push(joined(pieces));
                }
            }
            next.truncate(VALUE_LIMIT);
            results = next;
        }
        if parts.len() > 64 { vec![Value::Unknown] } else { results }
    }

    /// Reads `"…%s…" % value`.
    fn formatted(&self, span: Span, depth: usize) -> Option<Vec<Value>> {
        let items = self.cutter.items(span);
        let (Some(Item::Text(pieces)), true) = (
            items.first().map(|token| &token.item),
            items.get(1).is_some_and(|token| token.item.is_mark("%")),
        ) else {
            return None;
        };
        let right = self.cutter.trim(Span { start: span.start + 2, ..span });
        let parts = match self.cutter.items(right) {
            [token] => match token.item {
                Item::Group('(' | '[', inner) => self.cutter.split(self.cutter.whole(inner)),
                _ => vec![right],
            },
            _ => vec![right],
        };
        let values: Vec<Value> = parts.iter().map(|part| self.single(*part, depth)).collect();
        let template = match self.text(pieces, depth).as_slice() {
            [Value::Text(text)] => text.clone(),
            _ => return Some(vec![Value::Unknown]),
        };
        Some(vec![fill(&template, '%', &values)])
    }

    /// Reads `Path("a") / "b"`.
    fn path_division(&self, span: Span, depth: usize) -> Option<Vec<Value>> {
        if self.cutter.profile.language != Language::Python {
            return None;
        }
        let parts = self.cutter.split_at(span, |item| item.is_mark("/"));
        if parts.len() < 2 || parts.len() > 16 {
            return None;
        }
        let values: Vec<Value> = parts.iter().map(|part| self.single(*part, depth)).collect();
        values
            .iter()
            .any(|value| matches!(value, Value::Kind("path", _)))
            .then(|| vec![Value::Kind("path", decode::join_paths(&values))])
    }

    /// Returns what an expression stands for if it is only one thing.
    pub(super) fn single(&self, span: Span, depth: usize) -> Value {
        let mut values = self.values_at(span, depth + 1);
        match (values.pop(), values.is_empty()) {
            (Some(value), true) => value,
            _ => Value::Unknown,
        }
    }

    fn chain(&self, chain: &Chain, depth: usize) -> Vec<Value> {
        let mut values = self.base(chain.span.group, chain.span.start, depth);
        for (place, step) in chain.steps.iter().enumerate() {
            values = self.step_all(&values, step, depth);
            // What follows a dot is called in Ruby, brackets or not.
            let is_called = matches!(chain.steps.get(place + 1), Some(Step::Call(_)));
            if self.cutter.profile.language == Language::Ruby && matches!(step, Step::Member(_)) && !is_called
            {
                let Span { group, start, .. } = chain.span;
                values = self.bare_call(values, Span { group, start, end: start }, depth);
            }
        }
        values
    }

    /// Calls what is no constant of Ruby.
    pub(super) fn bare_call(&self, values: Vec<Value>, nothing: Span, depth: usize) -> Vec<Value> {
        let call = |value: Value| match &value {
            Value::Named(name) if is_constant(name) => value,
            _ => self.call(&value, nothing, depth),
        };
        values.into_iter().map(call).collect()
    }

    /// Returns what the first part of a chain stands for.
    pub(super) fn base(&self, group: usize, at: usize, depth: usize) -> Vec<Value> {
        match self.cutter.tree.item(group, at) {
            Some(Item::Name(name)) => self.name(name, depth),
            Some(Item::Number(number)) => vec![Value::Plain(number.clone())],
            Some(Item::Text(pieces)) => self.text(pieces, depth),
            Some(Item::Words(words)) => vec![Value::List(words.iter().cloned().map(Value::Text).collect())],
            Some(Item::Group('(', inner)) => self.round(*inner, depth),
            Some(Item::Group('[', inner)) => vec![self.list(*inner, depth)],
            Some(Item::Group(..)) => vec![Value::Kind("table", None)],
            Some(Item::Regex(_)) => vec![Value::Kind("pattern", None)],
            _ => vec![Value::Unknown],
        }
    }

    /// Reads brackets that group or make a list.
    fn round(&self, inner: usize, depth: usize) -> Vec<Value> {
        let whole = self.cutter.whole(inner);
        let has_comma = self.cutter.items(whole).iter().any(|token| token.item.is_mark(","));
        if has_comma { vec![self.list(inner, depth)] } else { self.values_at(whole, depth + 1) }
    }

    fn list(&self, inner: usize, depth: usize) -> Value {
        let whole = self.cutter.whole(inner);
        if self.cutter.items(whole).iter().any(|token| matches!(token.item.name(), Some("for"))) {
            return Value::Kind("list", None);
        }
        let parts = self.cutter.split(whole);
        if parts.len() > 256 {
            return Value::Kind("list", None);
        }
        let spread = |part: &Span| {
            self.cutter
                .items(*part)
                .first()
                .is_some_and(|token| matches!(token.item, Item::Mark("*" | "...")))
        };
        Value::List(
            parts
                .iter()
                .map(|part| if spread(part) { Value::Unknown } else { self.single(*part, depth) })
                .collect(),
        )
    }

    /// Puts a string together from its pieces.
    pub(super) fn text(&self, pieces: &[Piece], depth: usize) -> Vec<Value> {
        let mut results = vec![Value::Text(String::new())];
        for piece in pieces {
            let values = match piece {
                Piece::Plain(text) => vec![Value::Text(text.clone())],
                Piece::Hole(group) => self.values_at(self.hole(*group), depth + 1),
            };
            let mut next = Vec::new();
            for left in &results {
                for right in &values {
                    next.push(joined(left.pieces().into_iter().chain(right.pieces()).collect()));
                }
            }
            next.truncate(VALUE_LIMIT);
            results = next;
        }
        results
    }

    /// Returns the expression of a hole without `=` and the conversion after it.
    fn hole(&self, group: usize) -> Span {
        let whole = self.cutter.whole(group);
        let end = self.cutter.items(whole).iter().position(|token| token.item.is_mark("!"));
        Span { end: end.map_or(whole.end, |end| whole.start + end), ..whole }
    }

    /// Returns what a name stands for.
    pub(super) fn name(&self, name: &str, depth: usize) -> Vec<Value> {
        if matches!(
            name,
            "None" | "True" | "False" | "null" | "undefined" | "nil" | "true" | "false" | "undef" | "NULL"
        ) {
            return vec![Value::Plain(name.to_owned())];
        }
        let Some(bounds) = self.scope.bounds.get(name) else {
            return vec![if name.starts_with(['$', '@']) && self.cutter.profile.row(name).is_none() {
                Value::Unknown
            } else {
                Value::Named(self.written(name))
            }];
        };
        if bounds.is_empty() || depth > DEPTH_LIMIT {
            return vec![Value::Unknown];
        }
        self.remembered(name, bounds, depth)
    }

    /// Returns what all meanings of a name stand for, found once.
    fn remembered(&self, name: &str, bounds: &[Bound], depth: usize) -> Vec<Value> {
        if let Some(known) = self.names.borrow().get(name) {
            return known.clone().unwrap_or_else(|| vec![Value::Unknown]);
        }
        self.names.borrow_mut().insert(name.to_owned(), None);
        let mut values = Vec::new();
        for bound in bounds {
            for value in self.bound(bound, depth) {
                if !values.contains(&value) {
                    values.push(value);
                }
            }
        }
        self.names.borrow_mut().insert(name.to_owned(), Some(values.clone()));
        values
    }

    fn written(&self, name: &str) -> String {
        if self.cutter.profile.language == Language::Php {
            name.to_ascii_lowercase()
        } else {
            name.to_owned()
        }
    }

    fn bound(&self, bound: &Bound, depth: usize) -> Vec<Value> {
        match bound {
            Bound::Value(span) => self.values_at(*span, depth + 1),
            Bound::Element(span) => self.values_at(*span, depth + 1).into_iter().flat_map(element).collect(),
            Bound::Member(span, member) => {
                let owners = self.values_at(*span, depth + 1);
                owners.iter().flat_map(|owner| self.member(owner, member, depth)).collect()
            }
            Bound::Library(name) => vec![Value::Named(name.clone())],
            Bound::Own => vec![Value::Own],
            Bound::Unknown => vec![Value::Unknown],
        }
    }

    /// Takes one step from all values.
    pub(super) fn step_all(&self, values: &[Value], step: &Step, depth: usize) -> Vec<Value> {
        let mut results: Vec<Value> = Vec::new();
        for value in values {
            let next = match step {
                Step::Member(name) => self.member(value, name, depth),
                Step::Index(inner) => self.element_of(value, *inner, depth),
                Step::Call(arguments) => vec![self.call(value, *arguments, depth)],
            };
            for value in next {
                if !results.contains(&value) && results.len() <= VALUE_LIMIT {
                    results.push(value);
                }
            }
        }
        results
    }

    fn member(&self, value: &Value, name: &str, depth: usize) -> Vec<Value> {
        let of = |kind, text: Option<String>| vec![Value::Member(kind, text, name.to_owned())];
        match value {
            Value::Named(owner) if name == "default" => vec![Value::Named(owner.clone())],
            Value::Named(owner) => vec![Value::Named(format!("{owner}.{}", self.written(name)))],
            Value::Kind(kind, text) => of(kind, text.clone()),
            Value::Text(text) => of("text", Some(text.clone())),
            Value::Decoded(_) => vec![value.clone()],
            Value::Plain(_) => of("plain", None),
            Value::List(_) => of("list", None),
            Value::Partial(_) => of("text", None),
            Value::Own | Value::Unknown | Value::Member(..) => {
                match self.scope.bounds.get(&format!(".{name}")) {
                    Some(bounds) if depth < DEPTH_LIMIT => {
                        let mut values = self.remembered(&format!(".{name}"), bounds, depth + 1);
                        values.retain(|value| !matches!(value, Value::Plain(_)));
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

    fn element_of(&self, value: &Value, inner: Span, depth: usize) -> Vec<Value> {
        let key = self.single(inner, depth);
        match (value, key) {
            (Value::List(values), Value::Plain(number)) => {
                let element = number.parse::<usize>().ok().and_then(|at| values.get(at).cloned());
                vec![element.unwrap_or(Value::Unknown)]
            }
            (Value::Named(_), Value::Text(name)) if self.cutter.profile.language == Language::JavaScript => {
                self.member(value, &name, depth)
            }
            (Value::Text(text), _) if self.is_reversal(inner) => {
                vec![Value::Decoded(text.chars().rev().collect())]
            }
            (Value::Kind("path", _), _) => vec![Value::Kind("path", None)],
            (value, _) if value.foreign().is_some() => vec![value.clone()],
            (Value::List(values), _) if values.contains(&Value::Own) => vec![Value::Own],
            _ => vec![Value::Unknown],
        }
    }

    fn is_reversal(&self, inner: Span) -> bool {
        let items = self.cutter.items(inner);
        items.iter().any(|token| token.item.is_mark("-"))
            && items.iter().any(|token| matches!(token.item, Item::Mark(":" | "::")))
    }
}
