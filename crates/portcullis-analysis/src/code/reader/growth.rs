//! Lists that get more than they were made with: `x.append(a)`, `list.push(a, b)`, `push @x, $a`.
//!
//! What is put into a list counts for every name that may stand for it: names that one is given to the other, and those
//! that a container holds. Where nobody knows which list grows, all do.

use std::collections::{BTreeMap, BTreeSet};

use super::chain::{Chain, ChainCutter, ChainStep, GroupSpan};
use super::evaluator::Evaluator;
use super::scope::{NameMeaning, ProgramNames};
use super::value::{CodeValue, element};
use crate::code::Language;
use crate::code::tree::CodeItem;

/// Methods that put what they are given into what they are called on.
const ADDING: &[&str] = &[
    "__iadd__",
    "__setitem__",
    "add",
    "append",
    "appendleft",
    "fill",
    "insert",
    "prepend",
    "push",
    "setdefault",
    "splice",
    "unshift",
];

/// Methods that put the elements of what they are given there.
const JOINING: &[&str] = &["extend", "extendleft", "merge!", "update"];

/// Methods that do so in Ruby alone; elsewhere they leave what they are called on as it is.
const JOINING_IN_RUBY: &[&str] = &["concat", "replace"];

/// Methods and functions after which elements stand in other places.
const MOVING: &[&str] = &[
    "appendleft",
    "array_shift",
    "array_splice",
    "array_unshift",
    "clear",
    "copyWithin",
    "del",
    "delete_at",
    "heappop",
    "heappush",
    "insert",
    "insort",
    "insort_left",
    "insort_right",
    "pop",
    "popleft",
    "prepend",
    "remove",
    "reverse",
    "reverse!",
    "rotate",
    "rotate!",
    "shift",
    "shuffle",
    "shuffle!",
    "sort",
    "sort!",
    "sort_by!",
    "splice",
    "unshift",
];

/// Functions that do so to their first argument.
const FUNCTIONS: &[&str] = &[
    "array_push",
    "array_splice",
    "array_unshift",
    "heappush",
    "insort",
    "insort_left",
    "insort_right",
    "push",
    "splice",
    "unshift",
];

/// How deep groups are searched for names.
const DEEPEST: usize = 8;

/// Says whether the places of elements may not be those in which a program lists them.
fn moves_elements(cutter: ChainCutter<'_>) -> bool {
    let mut all = (0..cutter.tree.groups.len()).flat_map(|group| cutter.tree.items(group));
    all.any(|token| token.item.name().is_some_and(|name| MOVING.contains(&name)))
}

/// Gives every name that may stand for a list that grows what is put into it.
pub(super) fn bind(cutter: ChainCutter<'_>, scope: &mut ProgramNames) {
    scope.moves_elements = moves_elements(cutter);
    let mut growths: Vec<(BTreeSet<String>, NameMeaning)> = Vec::new();
    for group in 0..cutter.tree.groups.len() {
        let length = cutter.tree.items(group).len();
        let mut at = 0;
        while at < length {
            let Some(chain) = cutter.chain(group, at, length.min(at + super::CHAIN_LIMIT)) else {
                at += 1;
                continue;
            };
            growths.extend(growths_of(cutter, scope, &chain));
            at = chain.next.max(at + 1);
        }
    }
    if growths.is_empty() {
        return;
    }
    let shared = names_by_sharing(cutter, scope);
    let all: BTreeSet<String> = scope.bounds.keys().cloned().collect();
    for (receivers, added) in growths {
        let grown = if receivers.is_empty() { all.clone() } else { reached(&shared, receivers) };
        for name in grown {
            scope.bind(&name, added.clone());
        }
    }
}

/// Returns what a chain puts into lists, with the names they have there; no name if nobody knows which they are.
fn growths_of(
    cutter: ChainCutter<'_>,
    scope: &ProgramNames,
    chain: &Chain,
) -> Vec<(BTreeSet<String>, NameMeaning)> {
    let mut growths = Vec::new();
    let base = cutter.tree.item(chain.span.group, chain.span.start).and_then(CodeItem::name);
    let known = |name: String| scope.bounds.contains_key(&name).then_some(name);
    let mut receivers: BTreeSet<String> = base.map(str::to_owned).and_then(known).into_iter().collect();
    let mut called = base;
    for (place, step) in chain.steps.iter().enumerate() {
        let arguments = match chain.steps.get(place + 1) {
            Some(ChainStep::Call(arguments)) => Some(*arguments),
            _ => None,
        };
        match step {
            ChainStep::Member(name) => {
                let adds = ADDING.contains(&name.as_str());
                let joins = JOINING.contains(&name.as_str())
                    || JOINING_IN_RUBY.contains(&name.as_str()) && cutter.profile.language == Language::Ruby;
                match arguments {
                    Some(arguments) if adds || joins => {
                        growths.push((receivers.clone(), NameMeaning::Added { arguments, joins }));
                    }
                    // Whoever takes the method calls it with anything.
                    None if adds || joins => growths.push((receivers.clone(), NameMeaning::Unknown)),
                    _ => {}
                }
                receivers.extend(known(format!(".{name}")));
                called = Some(name);
            }
            ChainStep::Call(arguments) => {
                if called.take().is_some_and(|name| FUNCTIONS.contains(&name)) {
                    let parts = cutter.split(*arguments);
                    let first = parts.first().map(|first| names_in(cutter, *first)).unwrap_or_default();
                    let first = first.into_iter().filter_map(known).collect();
                    let added = NameMeaning::Added { arguments: *arguments, joins: false };
                    growths.push((first, added));
                }
            }
            ChainStep::Index(_) => called = None,
        }
    }
    growths
}

/// Returns for each name the names that may stand for the same list, or hold it, or are held by it.
fn names_by_sharing(cutter: ChainCutter<'_>, scope: &ProgramNames) -> BTreeMap<String, BTreeSet<String>> {
    let mut shared: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut share = |one: &str, other: String| {
        shared.entry(one.to_owned()).or_default().insert(other.clone());
        shared.entry(other).or_default().insert(one.to_owned());
    };
    for (name, bounds) in &scope.bounds {
        for bound in bounds {
            let span = match bound {
                NameMeaning::Value(span)
                | NameMeaning::Element(span)
                | NameMeaning::ElementPart(span, _)
                | NameMeaning::Member(span, _) => *span,
                _ => continue,
            };
            for other in names_in(cutter, span) {
                if scope.bounds.contains_key(&other) {
                    share(name, other);
                }
            }
        }
    }
    for group in 0..cutter.tree.groups.len() {
        for (holder, held) in elements_set(cutter, group) {
            share(&holder, held);
        }
    }
    shared
}

/// Returns the names that an element of a container is set to, with the container's: `held["a"] = list`.
fn elements_set(cutter: ChainCutter<'_>, group: usize) -> Vec<(String, String)> {
    let items = cutter.tree.items(group);
    let mut pairs = Vec::new();
    for (at, _) in items.iter().enumerate().filter(|(_, token)| token.item.is_mark("=")) {
        let before = |back: usize| at.checked_sub(back).and_then(|at| items.get(at)).map(|token| &token.item);
        let (Some(CodeItem::Group('[', _)), Some(CodeItem::Name(holder))) = (before(1), before(2)) else {
            continue;
        };
        let rest = items.iter().skip(at + 1);
        let length =
            rest.take_while(|token| token.item != CodeItem::Line && !token.item.is_mark(";")).count();
        let span = GroupSpan { group, start: at + 1, end: at + 1 + length };
        pairs.extend(names_in(cutter, span).into_iter().map(|held| (holder.clone(), held)));
    }
    pairs
}

impl Evaluator<'_> {
    /// Returns what a call puts into a list, as a list of its own.
    pub(super) fn added(&self, arguments: GroupSpan, joins: bool, depth: usize) -> CodeValue {
        let parts = self.cutter.split(arguments);
        let values = parts.iter().flat_map(|part| self.values_at(*part, depth + 1));
        CodeValue::List(if joins { values.flat_map(element).collect() } else { values.collect() })
    }
}

/// Returns every name in a stretch, whatever it is there for; members as members too.
fn names_in(cutter: ChainCutter<'_>, span: GroupSpan) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut open = vec![(span, 0)];
    while let Some((span, depth)) = open.pop() {
        for token in cutter.items(span) {
            match &token.item {
                CodeItem::Name(name) => {
                    names.insert(name.clone());
                    names.insert(format!(".{name}"));
                }
                CodeItem::Group(_, inner) if depth < DEEPEST => open.push((cutter.whole(*inner), depth + 1)),
                _ => {}
            }
        }
    }
    names
}

/// Returns all names that share something with some, over any number of steps.
fn reached(shared: &BTreeMap<String, BTreeSet<String>>, from: BTreeSet<String>) -> BTreeSet<String> {
    let mut open: Vec<String> = from.iter().cloned().collect();
    let mut reached = from;
    while let Some(name) = open.pop() {
        for next in shared.get(&name).into_iter().flatten() {
            if reached.insert(next.clone()) {
                open.push(next.clone());
            }
        }
    }
    reached
}
