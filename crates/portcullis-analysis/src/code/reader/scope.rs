//! What the names of a program stand for: everything that is ever assigned to them, wherever that is.
//!
//! Nobody asks which assignment reaches which use; a name stands for all of them.

use std::collections::{BTreeMap, BTreeSet};

use super::chain::{Chain, ChainCutter, ChainStep, GroupSpan};
use crate::code::Language;
use crate::code::tree::{CodeItem, WHOLE};

/// One thing a name stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum NameMeaning {
    /// The value of an expression.
    Value(GroupSpan),
    /// Any element of the value of an expression.
    Element(GroupSpan),
    /// One of the names that an element of the value of an expression is taken apart into.
    ElementPart(GroupSpan, usize),
    /// A member of the value of an expression.
    Member(GroupSpan, String),
    /// A list of what a call puts into another one, or of its elements.
    Added { arguments: GroupSpan, joins: bool },
    /// Something of a library, by its full name.
    Library(String),
    /// A module of the project or of a package, or a member of it.
    Module(String, Option<String>),
    /// A function or class of the program itself.
    Own,
    /// Something only known at run time.
    Unknown,
    /// What is made of what it was, or has an element set: something only known at run time.
    Changed,
    /// Nothing of its own: the elements of its lists may stand in any order.
    Moved,
    /// Nothing of its own: nobody knows the elements of its lists, or the letters of texts that change in place.
    Shaken,
}

/// A module that is loaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LoadedModule {
    pub(super) module: String,
    /// Whether all its names are taken over.
    pub(super) takes_all: bool,
}

/// The names of a program.
#[derive(Debug, Default)]
pub(super) struct ProgramNames {
    pub(super) bounds: BTreeMap<String, Vec<NameMeaning>>,
    /// The parameters of the program's own functions; several functions may have one name.
    pub(super) functions: BTreeMap<String, Vec<Vec<String>>>,
    pub(super) classes: BTreeSet<String>,
    pub(super) loads: Vec<LoadedModule>,
    /// A file of the project that a program of Ruby loads: constants that nothing else explains are in it.
    pub(super) own_file: Option<String>,
    /// Whether the places of elements in lists may not be those in which they are written.
    pub(super) moves_elements: bool,
    /// The places of names that are bound there, not used.
    pub(super) skips: BTreeSet<(usize, usize)>,
}

/// How many things one name may stand for.
const BOUND_LIMIT: usize = 16;

impl ProgramNames {
    pub(super) fn bind(&mut self, name: &str, bound: NameMeaning) {
        // `$main::name` of Perl may be `$name`.
        if let Some((_, short)) = name.rsplit_once("::").filter(|_| name.starts_with('$')) {
            self.bind(&format!("${short}"), NameMeaning::Unknown);
        }
        let bounds = self.bounds.entry(name.to_owned()).or_default();
        if bounds.len() < BOUND_LIMIT {
            if !bounds.contains(&bound) {
                bounds.push(bound);
            }
        } else if bounds.last() != Some(&NameMeaning::Unknown) {
            bounds.push(NameMeaning::Unknown);
        }
    }

    /// Marks a stretch as one that names things rather than uses them.
    pub(super) fn skip(&mut self, span: GroupSpan) {
        self.skips.extend((span.start..span.end).map(|at| (span.group, at)));
    }

    pub(super) fn define(&mut self, name: &str, parameters: Vec<String>) {
        self.bind(name, NameMeaning::Own);
        for parameter in &parameters {
            self.bounds.entry(parameter.clone()).or_default();
        }
        let known = self.functions.entry(name.to_owned()).or_default();
        if known.len() < BOUND_LIMIT {
            known.push(parameters);
        }
    }

    /// Says whether the program defines a function of this name.
    pub(super) fn defines(&self, name: &str) -> bool {
        self.functions.contains_key(name) || self.classes.contains(name)
    }

    /// Binds the parameters of the program's own functions to the arguments of a call.
    pub(super) fn bind_arguments(&mut self, cutter: ChainCutter<'_>, chain: &Chain) {
        let mut callee =
            cutter.tree.item(chain.span.group, chain.span.start).and_then(CodeItem::name).map(str::to_owned);
        for step in &chain.steps {
            match step {
                ChainStep::Member(name) => callee = Some(name.clone()),
                ChainStep::Index(_) => callee = None,
                ChainStep::Call(arguments) => {
                    if let Some(name) = callee.take() {
                        self.bind_call(cutter, &name, *arguments);
                    }
                }
            }
        }
    }

    /// Makes the parameters of a function unknown that is handed to something else, which calls it with anything.
    pub(super) fn open_handed(&mut self, cutter: ChainCutter<'_>, chain: &Chain) {
        let GroupSpan { group, start, end } = chain.span;
        let is_end = |item: Option<&CodeItem>| {
            item.is_none_or(|item| matches!(item, CodeItem::Line | CodeItem::Mark("," | ";")))
        };
        let before = start.checked_sub(1).and_then(|at| cutter.tree.item(group, at));
        let is_assigned = before.is_some_and(|item| item.is_mark("="));
        let is_begin = is_end(before) || is_assigned || before.is_some_and(|item| item.is_mark(":"));
        let name = match (chain.steps.as_slice(), cutter.tree.item(group, start)) {
            ([], Some(CodeItem::Name(name))) => name,
            // `run.call(…)` calls it with anything.
            ([ChainStep::Member(way), ..], Some(CodeItem::Name(name)))
                if matches!(way.as_str(), "apply" | "bind" | "call") =>
            {
                self.open_function(name);
                return;
            }
            ([.., ChainStep::Member(name)], _) => name,
            _ => return,
        };
        // In Ruby and Perl a name that stands alone is a call.
        let may_alias = !matches!(cutter.profile.language, Language::Ruby | Language::Perl);
        let is_export = start
            .checked_sub(2)
            .and_then(|at| cutter.tree.item(group, at))
            .is_some_and(|item| item.is_name("exports"));
        let may_be_handed = group != WHOLE || is_assigned && may_alias && !is_export;
        if may_be_handed && is_begin && is_end(cutter.tree.item(group, end)) {
            self.open_function(name);
        }
    }

    /// Makes the parameters of a function unknown.
    fn open_function(&mut self, name: &str) {
        for parameter in self.functions.get(name).cloned().unwrap_or_default().iter().flatten() {
            self.bind(parameter, NameMeaning::Unknown);
        }
    }

    fn bind_call(&mut self, cutter: ChainCutter<'_>, name: &str, arguments: GroupSpan) {
        let mut signatures = self.functions.get(name).cloned().unwrap_or_default();
        if self.classes.contains(name) || name == "new" {
            for constructor in ["__init__", "constructor", "initialize", "__construct"] {
                signatures.extend(self.functions.get(constructor).cloned().unwrap_or_default());
            }
        }
        if signatures.is_empty() {
            return;
        }
        let arguments = cutter.split(arguments);
        if arguments.iter().any(|argument| is_spread(cutter, *argument)) {
            for parameter in signatures.iter().flatten() {
                self.bind(parameter, NameMeaning::Unknown);
            }
        }
        for signature in &signatures {
            let skipped =
                usize::from(signature.first().is_some_and(|first| first == "self" || first == "cls"));
            for (place, argument) in arguments.iter().enumerate() {
                let (name, value) = named_argument(cutter, *argument);
                match name {
                    Some(name) if is_itself(cutter, value, &name) => {}
                    Some(name) => self.bind(&name, NameMeaning::Value(value)),
                    None => {
                        if let Some(parameter) = signature.get(place + skipped)
                            && !is_itself(cutter, value, parameter)
                        {
                            self.bind(parameter, NameMeaning::Value(value));
                        }
                    }
                }
            }
        }
    }

    /// Binds several targets that commas part, with or without a star before one.
    pub(super) fn bind_targets(&mut self, cutter: ChainCutter<'_>, targets: GroupSpan, value: GroupSpan) {
        let values = cutter.split(value);
        let parts = cutter.split(targets);
        let has_star = cutter.items(targets).iter().any(|token| token.item.is_mark("*"));
        let is_even = values.len() == parts.len() && parts.len() > 1 && !has_star;
        for (place, part) in parts.iter().enumerate() {
            let bound = match values.get(place) {
                Some(value) if is_even && !is_spread(cutter, *value) => NameMeaning::Value(*value),
                _ => NameMeaning::Unknown,
            };
            match cutter.items(*part) {
                [token] if token.item.name().is_some() => {
                    self.bind(token.item.name().unwrap_or_default(), bound);
                }
                _ => self.bind_part(cutter, *part),
            }
        }
    }

    /// Makes everything unknown that a part of a pattern names: names, members, what has an element set.
    fn bind_part(&mut self, cutter: ChainCutter<'_>, part: GroupSpan) {
        let mut open = vec![(part, 0)];
        while let Some((part, depth)) = open.pop() {
            let mut is_default = false;
            for at in part.start..part.end {
                let Some(token) = cutter.tree.items(part.group).get(at) else { break };
                let next = cutter.tree.items(part.group).get(at + 1);
                let before = at.checked_sub(1).and_then(|before| cutter.tree.item(part.group, before));
                match &token.item {
                    CodeItem::Mark("=") => is_default = true,
                    CodeItem::Mark(",") => is_default = false,
                    _ if is_default => {}
                    CodeItem::Name(name) if before.is_some_and(|item| item.is_mark(".")) => {
                        self.bind(&format!(".{name}"), NameMeaning::Unknown);
                    }
                    CodeItem::Name(name) if !cutter.profile.is_keyword(name) => {
                        let bound = match next.map(|token| &token.item) {
                            Some(CodeItem::Group('[', _) | CodeItem::Mark(".")) => NameMeaning::Changed,
                            _ => NameMeaning::Unknown,
                        };
                        self.bind(name, bound);
                    }
                    CodeItem::Group('[', _)
                        if matches!(before, Some(CodeItem::Name(_) | CodeItem::Group(..))) => {}
                    CodeItem::Group(_, inner) if depth < DEEPEST_PATTERN => {
                        open.push((cutter.whole(*inner), depth + 1));
                    }
                    _ => {}
                }
            }
        }
    }

    /// Binds what a target names to the value of an expression.
    pub(super) fn bind_target(
        &mut self,
        cutter: ChainCutter<'_>,
        group: usize,
        mark: usize,
        value: GroupSpan,
    ) {
        let Some(last) = mark.checked_sub(1) else { return };
        match cutter.tree.item(group, last) {
            Some(CodeItem::Name(name)) => self.bind_named_target(cutter, group, last, name, value),
            Some(CodeItem::Group(open, inner)) => {
                let before = last.checked_sub(1).and_then(|at| cutter.tree.items(group).get(at));
                let is_element = *open == '['
                    && cutter.tree.items(group).get(last).is_some_and(|token| !token.is_spaced)
                    && before
                        .is_some_and(|token| matches!(token.item, CodeItem::Name(_) | CodeItem::Group(..)));
                if is_element {
                    let is_member = last.checked_sub(2).and_then(|at| cutter.tree.item(group, at));
                    let is_member = is_member
                        .is_some_and(|item| matches!(item, CodeItem::Mark("." | "->" | "?." | "&." | "::")));
                    if let Some(CodeItem::Name(name)) = before.map(|token| &token.item) {
                        let name = if is_member { format!(".{name}") } else { name.clone() };
                        self.bind(&name, NameMeaning::Changed);
                    }
                } else {
                    self.bind_pattern(cutter, *inner, value);
                }
            }
            _ => {}
        }
    }

    fn bind_named_target(
        &mut self,
        cutter: ChainCutter<'_>,
        group: usize,
        last: usize,
        name: &str,
        value: GroupSpan,
    ) {
        let mark_before = |at: usize| {
            at.checked_sub(1).and_then(|at| match cutter.tree.item(group, at) {
                Some(CodeItem::Mark(mark)) => Some(*mark),
                _ => None,
            })
        };
        match mark_before(last) {
            Some("." | "->" | "?." | "::") => self.bind(&format!(".{name}"), NameMeaning::Value(value)),
            Some(":") => self.bind_annotated(cutter, group, last, value),
            _ => {
                self.skips.insert((group, last));
                self.bind(name, NameMeaning::Value(value));
                if cutter.profile.language == Language::Python
                    || cutter.profile.language == Language::JavaScript
                {
                    self.bind_annotated(cutter, group, last, value);
                }
            }
        }
    }

    /// Binds `name: type = value`.
    fn bind_annotated(&mut self, cutter: ChainCutter<'_>, group: usize, last: usize, value: GroupSpan) {
        let nearby = (last.saturating_sub(12)..last).rev();
        let within = nearby.map_while(|at| {
            cutter
                .tree
                .item(group, at)
                .filter(|item| !matches!(item, CodeItem::Line | CodeItem::Mark(";")))
                .map(|item| (at, item))
        });
        let start = within.into_iter().find(|(_, item)| item.is_mark(":")).map(|(at, _)| at);
        if let Some(colon) = start
            && let Some(CodeItem::Name(name)) =
                colon.checked_sub(1).and_then(|at| cutter.tree.item(group, at))
            && !cutter.profile.is_keyword(name)
        {
            self.bind(name, NameMeaning::Value(value));
        }
    }

    /// Binds the names of `{a, b: c}`, `[a, b]` and `(a, b)`.
    fn bind_pattern(&mut self, cutter: ChainCutter<'_>, inner: usize, value: GroupSpan) {
        let values = cutter.split(value);
        // A default value is code of its own.
        if !has_default(cutter, inner, 0) {
            self.skip(cutter.whole(inner));
        }
        let parts = cutter.split(cutter.whole(inner));
        for (place, part) in parts.iter().enumerate() {
            let items = cutter.items(*part);
            let default = items.iter().position(|token| token.item.is_mark("="));
            let head = GroupSpan { end: part.start + default.unwrap_or(items.len()), ..*part };
            let names: Vec<&str> = cutter
                .items(head)
                .iter()
                .filter_map(|token| token.item.name())
                .filter(|name| !cutter.profile.is_keyword(name))
                .collect();
            let is_deep = cutter
                .items(head)
                .iter()
                .any(|token| matches!(token.item, CodeItem::Group(..) | CodeItem::Mark("." | "*" | "...")));
            if is_deep {
                self.bind_part(cutter, head);
                continue;
            }
            let (Some(first), Some(last)) = (names.first(), names.last()) else { continue };
            let bound = match (cutter.profile.language, values.get(place)) {
                (Language::JavaScript, _) => NameMeaning::Member(value, (*first).to_owned()),
                (_, Some(value)) if values.len() == parts.len() => NameMeaning::Value(*value),
                _ => NameMeaning::Unknown,
            };
            self.bind(last, bound);
            if let Some(place) = default {
                self.bind(last, NameMeaning::Value(GroupSpan { start: part.start + place + 1, ..*part }));
            }
        }
    }
}

/// Patterns that are nested deeper count as having default values.
const DEEPEST_PATTERN: usize = 8;

/// Says whether a pattern gives a default value to one of its names.
fn has_default(cutter: ChainCutter<'_>, inner: usize, depth: usize) -> bool {
    depth > DEEPEST_PATTERN
        || cutter.tree.items(inner).iter().any(|token| match token.item {
            CodeItem::Group(_, group) => has_default(cutter, group, depth + 1),
            ref item => item.is_mark("="),
        })
}

/// Says whether an argument is a list that is taken apart.
fn is_spread(cutter: ChainCutter<'_>, argument: GroupSpan) -> bool {
    let first = cutter.items(cutter.trim(argument)).first();
    first.is_some_and(|token| matches!(token.item, CodeItem::Mark("*" | "**" | "...")))
}

/// Says whether an expression is only this name.
fn is_itself(cutter: ChainCutter<'_>, value: GroupSpan, name: &str) -> bool {
    matches!(cutter.items(value), [token] if token.item.is_name(name))
}

/// Splits `name=value`, `name: value` and `"name" => value` off an argument.
pub(super) fn named_argument(cutter: ChainCutter<'_>, argument: GroupSpan) -> (Option<String>, GroupSpan) {
    let argument = cutter.trim(argument);
    let items = cutter.items(argument);
    let separator = items.get(1).map(|token| &token.item);
    let is_named = match cutter.profile.language {
        Language::Python => separator.is_some_and(|item| item.is_mark("=")),
        Language::Ruby | Language::Php => separator.is_some_and(|item| item.is_mark(":")),
        _ => false,
    };
    match items.first().and_then(|token| token.item.name()) {
        Some(name) if is_named => {
            (Some(name.to_owned()), GroupSpan { start: argument.start + 2, ..argument })
        }
        _ => (None, argument),
    }
}
