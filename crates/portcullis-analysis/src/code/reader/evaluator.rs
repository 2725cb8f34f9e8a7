//! What expressions stand for, as far as the text tells: texts, paths, modules, kinds of values.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use super::chain::{Chain, ChainCutter, ChainStep, GroupSpan};
use super::given_words::GivenWords;
use super::scope::{NameMeaning, ProgramNames};
use super::value::{CodeValue, element, element_part, fill, is_constant, joined};
use super::{element, value};
use crate::code::Language;
use crate::code::tree::{CodeItem, StringPiece};

/// How many steps lead from a use to what it stands for.
pub(super) const DEPTH_LIMIT: usize = 8;
/// How many things an expression may stand for.
const VALUE_LIMIT: usize = 8;

/// Finds what expressions stand for.
#[derive(Debug)]
pub(super) struct Evaluator<'a> {
    pub(super) cutter: ChainCutter<'a>,
    pub(super) scope: &'a ProgramNames,
    /// How much looking is left; a program that needs more is not understood.
    pub(super) fuel: Cell<usize>,
    /// What names stand for; `None` while that is being found, so that a circle ends.
    names: RefCell<BTreeMap<String, Option<Vec<CodeValue>>>>,
    /// The words that the program is started with, as far as they are known.
    pub(super) words: Option<GivenWords<'a>>,
}

impl<'a> Evaluator<'a> {
    pub(super) fn new(
        cutter: ChainCutter<'a>,
        scope: &'a ProgramNames,
        fuel: usize,
        words: Option<GivenWords<'a>>,
    ) -> Self {
        Self { cutter, scope, fuel: Cell::new(fuel), names: RefCell::default(), words }
    }

    /// Uses fuel up; says whether any is left. Once it is gone everything is unknown and the reader reports a gap.
    fn burn(&self, amount: usize) -> bool {
        let left = self.fuel.get().saturating_sub(amount);
        self.fuel.set(left);
        left > 0
    }

    /// Returns what an expression may stand for; never empty.
    pub(super) fn values(&self, span: GroupSpan) -> Vec<CodeValue> {
        self.values_at(span, 0)
    }

    pub(super) fn values_at(&self, span: GroupSpan, depth: usize) -> Vec<CodeValue> {
        let span = self.strip(self.cutter.trim(span));
        let items = self.cutter.items(span);
        if depth > DEPTH_LIMIT || items.is_empty() || !self.burn(items.len() + 1) {
            return vec![CodeValue::Unknown];
        }
        let mut values = self.expression(span, depth);
        // Too many possibilities are cut, and the cut is a possibility of its own.
        if values.len() > VALUE_LIMIT {
            values.truncate(VALUE_LIMIT);
            values.push(CodeValue::Unknown);
        }
        if values.is_empty() { vec![CodeValue::Unknown] } else { values }
    }

    /// Steps over words before a value that do not change it.
    fn strip(&self, span: GroupSpan) -> GroupSpan {
        let language = self.cutter.profile.language;
        let skipped = self.cutter.items(span).iter().take_while(|token| match &token.item {
            CodeItem::Name(name) => match language {
                Language::Perl => matches!(name.as_str(), "my" | "our" | "local"),
                Language::Ruby => false,
                _ => matches!(name.as_str(), "await" | "new"),
            },
            CodeItem::Mark(mark) => *mark == "\\" && language == Language::Perl,
            _ => false,
        });
        GroupSpan { start: span.start + skipped.count(), ..span }
    }

    /// Reads an expression by its loosest operator first: functions, assignments, choices, joined texts, then a chain.
    fn expression(&self, span: GroupSpan, depth: usize) -> Vec<CodeValue> {
        let items = self.cutter.items(span);
        let find = |wanted: &dyn Fn(&CodeItem) -> bool| {
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
            // A function of the program; its body is a group of its own and read there.
            return vec![CodeValue::Own];
        }
        if let Some(at) = find(&|item| item.is_mark("=")) {
            return self.values_at(GroupSpan { start: at + 1, ..span }, depth + 1);
        }
        if let Some(values) = self.alternatives(span, depth) {
            return values;
        }
        // What joins texts; where it adds numbers the parts are no texts, and the result is unknown.
        let plus =
            if matches!(self.cutter.profile.language, Language::Perl | Language::Php) { "." } else { "+" };
        let parts = self.cutter.split_at(span, |item| item.is_mark(plus));
        if parts.len() > 1 {
            return self.concatenation(&parts, depth);
        }
        if let Some(values) = self.formatted(span, depth).or_else(|| self.path_division(span, depth)) {
            return values;
        }
        // Texts that stand side by side are one.
        if items.len() > 1 && items.iter().all(|token| matches!(token.item, CodeItem::Text(_))) {
            let parts: Vec<GroupSpan> =
                (span.start..span.end).map(|at| GroupSpan { start: at, end: at + 1, ..span }).collect();
            return self.concatenation(&parts, depth);
        }
        match self.cutter.chain(span.group, span.start, span.end) {
            Some(chain) if chain.span.end == span.end => self.chain(&chain, depth),
            _ => vec![CodeValue::Unknown],
        }
    }

    /// Reads `a if c else b`, `c ? a : b`, `a or b`, `a || b`, `a ?? b`.
    fn alternatives(&self, span: GroupSpan, depth: usize) -> Option<Vec<CodeValue>> {
        let items = self.cutter.items(span);
        let is_choice = |item: &CodeItem| {
            matches!(item, CodeItem::Mark("||" | "??" | "?" | "//"))
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

    /// Joins what parts stand for, every possibility of one with every possibility of the next. Something that came over
    /// the network or was hidden stays that, whatever is joined to it.
    fn concatenation(&self, parts: &[GroupSpan], depth: usize) -> Vec<CodeValue> {
        let mut results = vec![CodeValue::Text(String::new())];
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
        if parts.len() > 64 { vec![CodeValue::Unknown] } else { results }
    }

    /// Reads `"…%s…" % value`.
    fn formatted(&self, span: GroupSpan, depth: usize) -> Option<Vec<CodeValue>> {
        let items = self.cutter.items(span);
        let (Some(CodeItem::Text(pieces)), true) = (
            items.first().map(|token| &token.item),
            items.get(1).is_some_and(|token| token.item.is_mark("%")),
        ) else {
            return None;
        };
        let right = self.cutter.trim(GroupSpan { start: span.start + 2, ..span });
        let parts = match self.cutter.items(right) {
            [token] => match token.item {
                CodeItem::Group('(' | '[', inner) => self.cutter.split(self.cutter.whole(inner)),
                _ => vec![right],
            },
            _ => vec![right],
        };
        let values: Vec<CodeValue> = parts.iter().map(|part| self.single(*part, depth)).collect();
        let template = match self.text(pieces, depth).as_slice() {
            [CodeValue::Text(text)] => text.clone(),
            _ => return Some(vec![CodeValue::Unknown]),
        };
        Some(vec![fill(&template, '%', &values)])
    }

    /// Reads `Path("a") / "b"`.
    fn path_division(&self, span: GroupSpan, depth: usize) -> Option<Vec<CodeValue>> {
        if self.cutter.profile.language != Language::Python {
            return None;
        }
        let parts = self.cutter.split_at(span, |item| item.is_mark("/"));
        if parts.len() < 2 || parts.len() > 16 {
            return None;
        }
        let values: Vec<CodeValue> = parts.iter().map(|part| self.single(*part, depth)).collect();
        values
            .iter()
            .any(|value| matches!(value, CodeValue::Kind("path", _)))
            .then(|| vec![CodeValue::Kind("path", element::join_paths(&values))])
    }

    /// Returns what an expression stands for if it is only one thing.
    pub(super) fn single(&self, span: GroupSpan, depth: usize) -> CodeValue {
        let mut values = self.values_at(span, depth + 1);
        match (values.pop(), values.is_empty()) {
            (Some(value), true) => value,
            _ => CodeValue::Unknown,
        }
    }

    /// Follows a chain from its first value through every member, call and subscript.
    fn chain(&self, chain: &Chain, depth: usize) -> Vec<CodeValue> {
        let mut values = self.base(chain.span.group, chain.span.start, depth);
        for (place, step) in chain.steps.iter().enumerate() {
            values = self.step_all(&values, step, depth);
            // What follows a dot is called in Ruby, brackets or not.
            let is_called = matches!(chain.steps.get(place + 1), Some(ChainStep::Call(_)));
            if self.cutter.profile.language == Language::Ruby
                && matches!(step, ChainStep::Member(_))
                && !is_called
            {
                let GroupSpan { group, start, .. } = chain.span;
                values = self.bare_call(values, GroupSpan { group, start, end: start }, depth);
            }
        }
        values
    }

    /// Calls what is no constant of Ruby.
    pub(super) fn bare_call(
        &self,
        values: Vec<CodeValue>,
        nothing: GroupSpan,
        depth: usize,
    ) -> Vec<CodeValue> {
        let call = |value: CodeValue| match &value {
            CodeValue::Named(name) if is_constant(name) => value,
            _ => self.call(&value, nothing, depth),
        };
        values.into_iter().map(call).collect()
    }

    /// Returns what the first part of a chain stands for.
    pub(super) fn base(&self, group: usize, at: usize, depth: usize) -> Vec<CodeValue> {
        match self.cutter.tree.item(group, at) {
            Some(CodeItem::Name(name)) => self.name(name, depth),
            Some(CodeItem::Number(number)) => vec![CodeValue::Plain(number.clone())],
            Some(CodeItem::Text(pieces)) => self.text(pieces, depth),
            Some(CodeItem::Words(words)) => {
                vec![CodeValue::List(words.iter().cloned().map(CodeValue::Text).collect())]
            }
            Some(CodeItem::Group('(', inner)) => self.round(*inner, depth),
            Some(CodeItem::Group('[', inner)) => vec![self.list(*inner, depth)],
            Some(CodeItem::Group(..)) => vec![CodeValue::Kind("table", None)],
            Some(CodeItem::Regex(_) | CodeItem::Replacement(_)) => vec![CodeValue::Kind("pattern", None)],
            _ => vec![CodeValue::Unknown],
        }
    }

    /// Reads brackets that group or make a list.
    fn round(&self, inner: usize, depth: usize) -> Vec<CodeValue> {
        let whole = self.cutter.whole(inner);
        let has_comma = self.cutter.items(whole).iter().any(|token| token.item.is_mark(","));
        if has_comma { vec![self.list(inner, depth)] } else { self.values_at(whole, depth + 1) }
    }

    /// Reads the elements of a list; a comprehension or a spread makes the list or the element unknown.
    fn list(&self, inner: usize, depth: usize) -> CodeValue {
        let whole = self.cutter.whole(inner);
        if self.cutter.items(whole).iter().any(|token| matches!(token.item.name(), Some("for"))) {
            return CodeValue::Kind("list", None);
        }
        let parts = self.cutter.split(whole);
        if parts.len() > 256 {
            return CodeValue::Kind("list", None);
        }
        let spread = |part: &GroupSpan| {
            self.cutter
                .items(*part)
                .first()
                .is_some_and(|token| matches!(token.item, CodeItem::Mark("*" | "...")))
        };
        CodeValue::List(
            parts
                .iter()
                .map(|part| if spread(part) { CodeValue::Unknown } else { self.single(*part, depth) })
                .collect(),
        )
    }

    /// Puts a string together from its pieces.
    pub(super) fn text(&self, pieces: &[StringPiece], depth: usize) -> Vec<CodeValue> {
        let mut results = vec![CodeValue::Text(String::new())];
        for piece in pieces {
            let values = match piece {
                StringPiece::Plain(text) => vec![CodeValue::Text(text.clone())],
                StringPiece::Hole(group) => self.values_at(self.hole(*group), depth + 1),
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
    fn hole(&self, group: usize) -> GroupSpan {
        let whole = self.cutter.whole(group);
        let end = self.cutter.items(whole).iter().position(|token| token.item.is_mark("!"));
        GroupSpan { end: end.map_or(whole.end, |end| whole.start + end), ..whole }
    }

    /// Returns what a name stands for.
    pub(super) fn name(&self, name: &str, depth: usize) -> Vec<CodeValue> {
        if matches!(
            name,
            "None" | "True" | "False" | "null" | "undefined" | "nil" | "true" | "false" | "undef" | "NULL"
        ) {
            return vec![CodeValue::Plain(name.to_owned())];
        }
        let is_unbound = !self.scope.bounds.contains_key(name);
        if let Some(file) =
            self.scope.own_file.as_deref().filter(|_| is_unbound && self.is_own_constant(name))
        {
            return vec![self.module_value(file, None)];
        }
        let Some(bounds) = self.scope.bounds.get(name) else {
            return vec![if name.starts_with(['$', '@']) && self.cutter.profile.row(name).is_none() {
                CodeValue::Unknown
            } else {
                CodeValue::Named(self.written(name))
            }];
        };
        if bounds.is_empty() || depth > DEPTH_LIMIT {
            return vec![CodeValue::Unknown];
        }
        self.remembered(name, bounds, depth)
    }

    /// Returns what all meanings of a name stand for, found once.
    pub(super) fn remembered(&self, name: &str, bounds: &[NameMeaning], depth: usize) -> Vec<CodeValue> {
        if let Some(known) = self.names.borrow().get(name) {
            // A name that stands for a place below itself: what is joined to it tells.
            return known.clone().unwrap_or_else(|| vec![CodeValue::Text(value::circle_mark(name))]);
        }
        self.names.borrow_mut().insert(name.to_owned(), None);
        let mut values = Vec::new();
        // What is put into a list counts where there may be one; a list of Perl may look like its only element.
        let adds = |bound: &&NameMeaning| matches!(bound, NameMeaning::Added { .. });
        let is_of_perl = self.cutter.profile.language == Language::Perl;
        for bound in bounds.iter().filter(|bound| !adds(bound)).chain(bounds.iter().filter(adds)) {
            let may_grow = |value: &CodeValue| {
                value::may_grow(value) || value::is_open(value) || self.given_words(value).is_some()
            };
            if adds(&bound) && !values.is_empty() && !is_of_perl && !values.iter().any(may_grow) {
                continue;
            }
            for value in self.bound(bound, depth) {
                if !values.contains(&value) {
                    values.push(value);
                }
            }
        }
        let values = self.unsettled(value::without_circle(values, name), bounds);
        if values.iter().any(value::is_open) {
            // What is found on the way round holds for that way alone.
            self.names.borrow_mut().remove(name);
        } else {
            self.names.borrow_mut().insert(name.to_owned(), Some(values.clone()));
        }
        values
    }

    pub(super) fn written(&self, name: &str) -> String {
        if self.cutter.profile.language == Language::Php {
            name.to_ascii_lowercase()
        } else {
            name.to_owned()
        }
    }

    fn bound(&self, bound: &NameMeaning, depth: usize) -> Vec<CodeValue> {
        match bound {
            NameMeaning::Value(span) => self.values_at(*span, depth + 1),
            NameMeaning::Element(span) => {
                let elements = |value: CodeValue| match self.given_words(&value) {
                    Some(words) => words.any(),
                    None => element(value),
                };
                self.values_at(*span, depth + 1).into_iter().flat_map(elements).collect()
            }
            NameMeaning::ElementPart(span, place) => {
                self.values_at(*span, depth + 1).iter().map(|value| element_part(value, *place)).collect()
            }
            NameMeaning::Member(span, member) => {
                let owners = self.values_at(*span, depth + 1);
                owners.iter().flat_map(|owner| self.member(owner, member, depth)).collect()
            }
            NameMeaning::Added { arguments, joins } => vec![self.added(*arguments, *joins, depth)],
            NameMeaning::Library(name) => vec![CodeValue::Named(name.clone())],
            NameMeaning::Module(module, member) => vec![self.module_value(module, member.as_deref())],
            NameMeaning::Own => vec![CodeValue::Own],
            NameMeaning::Unknown | NameMeaning::Changed => vec![CodeValue::Unknown],
            NameMeaning::Moved | NameMeaning::Shaken => Vec::new(),
        }
    }

    /// Takes one step from all values.
    pub(super) fn step_all(&self, values: &[CodeValue], step: &ChainStep, depth: usize) -> Vec<CodeValue> {
        let mut results: Vec<CodeValue> = Vec::new();
        for value in values {
            let next = match step {
                ChainStep::Member(name) => self.member(value, name, depth),
                ChainStep::Index(inner) => self.element_of(value, *inner, depth),
                ChainStep::Call(arguments) => vec![self.call(value, *arguments, depth)],
            };
            for value in next {
                if !results.contains(&value) && results.len() <= VALUE_LIMIT {
                    results.push(value);
                }
            }
        }
        results
    }
}
