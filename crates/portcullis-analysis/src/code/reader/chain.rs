//! Chains: a value with the members, calls and subscripts that follow it, and how a call's arguments are split.

use crate::code::Language;
use crate::code::table::LanguageTable;
use crate::code::tree::{CodeItem, CodeToken, CodeTree, StringPiece};

/// A stretch of a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct GroupSpan {
    pub(super) group: usize,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// One step from a value to the next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ChainStep {
    /// A member by its name.
    Member(String),
    /// A call with its arguments.
    Call(GroupSpan),
    /// An element.
    Index(GroupSpan),
}

/// A value and the steps that follow it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Chain {
    /// Where the value stands.
    pub(super) span: GroupSpan,
    pub(super) steps: Vec<ChainStep>,
    /// Where to look for the next chain: after the steps, or at the arguments of a call without brackets.
    pub(super) next: usize,
}

/// Cuts programs of one language into chains.
#[derive(Debug, Clone, Copy)]
pub(super) struct ChainCutter<'a> {
    pub(super) tree: &'a CodeTree,
    pub(super) profile: &'a LanguageTable,
}

impl<'a> ChainCutter<'a> {
    fn language(self) -> Language {
        self.profile.language
    }

    /// Returns the items of a stretch.
    pub(super) fn items(self, span: GroupSpan) -> &'a [CodeToken] {
        self.tree.items(span.group).get(span.start..span.end).unwrap_or(&[])
    }

    /// Returns a whole group.
    pub(super) fn whole(self, group: usize) -> GroupSpan {
        GroupSpan { group, start: 0, end: self.tree.items(group).len() }
    }

    /// Cuts the chain that begins at a place, if one does. The span of the chain covers its steps.
    pub(super) fn chain(self, group: usize, start: usize, limit: usize) -> Option<Chain> {
        let base = self.tree.item(group, start)?;
        match base {
            CodeItem::Name(name) if self.profile.is_keyword(name) => return None,
            CodeItem::Mark(_) | CodeItem::Line => return None,
            _ => {}
        }
        let mut chain =
            Chain { span: GroupSpan { group, start, end: start + 1 }, steps: Vec::new(), next: start + 1 };
        while chain.span.end < limit && self.take_step(&mut chain, base, limit) {}
        chain.next = chain.span.end;
        if self.may_call_without_brackets(&chain, base) {
            self.take_bare_call(&mut chain, limit);
        }
        Some(chain)
    }

    /// Takes the next step of a chain, if there is one.
    fn take_step(self, chain: &mut Chain, base: &CodeItem, limit: usize) -> bool {
        let GroupSpan { group, end, .. } = chain.span;
        let at = self.skip_lines(group, end, limit);
        let Some(token) = self.tree.items(group).get(at).filter(|_| at < limit) else { return false };
        match &token.item {
            CodeItem::Mark(mark) if self.is_member_mark(mark) => self.take_member(chain, at, limit),
            CodeItem::Group('(', inner) if self.begins_call(chain, base, token) => {
                chain.steps.push(ChainStep::Call(self.whole(*inner)));
                chain.span.end = at + 1;
                true
            }
            CodeItem::Group('[', inner) if !token.is_spaced || self.language() == Language::JavaScript => {
                chain.steps.push(ChainStep::Index(self.whole(*inner)));
                chain.span.end = at + 1;
                true
            }
            CodeItem::Group('{', inner)
                if self.language() == Language::Perl && !token.is_spaced && is_variable(base) =>
            {
                chain.steps.push(ChainStep::Index(self.whole(*inner)));
                chain.span.end = at + 1;
                true
            }
            CodeItem::Text(_)
                if self.language() == Language::JavaScript
                    && matches!(base, CodeItem::Name(_))
                    && at == end =>
            {
                chain.steps.push(ChainStep::Call(GroupSpan { group, start: at, end: at + 1 }));
                chain.span.end = at + 1;
                true
            }
            _ => false,
        }
    }

    fn take_member(self, chain: &mut Chain, mark: usize, limit: usize) -> bool {
        let group = chain.span.group;
        let at = self.skip_all_lines(group, mark + 1, limit);
        let step = match self.tree.item(group, at).filter(|_| at < limit) {
            Some(CodeItem::Name(name)) => ChainStep::Member(name.clone()),
            Some(CodeItem::Group('(', inner)) => ChainStep::Call(self.whole(*inner)),
            Some(CodeItem::Group(_, inner)) => ChainStep::Index(self.whole(*inner)),
            _ => return false,
        };
        chain.steps.push(step);
        chain.span.end = at + 1;
        true
    }

    fn is_member_mark(self, mark: &str) -> bool {
        match self.language() {
            Language::Perl => mark == "->" || mark == "::",
            Language::Php => mark == "->" || mark == "::" || mark == "?.",
            Language::Ruby => mark == "." || mark == "::" || mark == "&.",
            _ => mark == "." || mark == "?.",
        }
    }

    fn begins_call(self, chain: &Chain, base: &CodeItem, token: &CodeToken) -> bool {
        match self.language() {
            Language::Ruby => !token.is_spaced,
            Language::Perl => !is_variable(base) || !chain.steps.is_empty(),
            _ => !matches!(base, CodeItem::Number(_)),
        }
    }

    /// Steps over line ends after which a chain goes on.
    fn skip_lines(self, group: usize, from: usize, limit: usize) -> usize {
        let at = self.skip_all_lines(group, from, limit);
        if at == from {
            return from;
        }
        let goes_on = match self.tree.item(group, at).filter(|_| at < limit) {
            Some(CodeItem::Mark(mark)) => self.is_member_mark(mark) && *mark != "::",
            Some(CodeItem::Group(open, _)) => self.language() == Language::JavaScript && *open != '{',
            _ => false,
        };
        if goes_on { at } else { from }
    }

    fn skip_all_lines(self, group: usize, from: usize, limit: usize) -> usize {
        let rest = self.tree.items(group).iter().take(limit).skip(from);
        from + rest.take_while(|token| token.item == CodeItem::Line).count()
    }

    /// Says whether the language lets a call stand without brackets here.
    fn may_call_without_brackets(self, chain: &Chain, base: &CodeItem) -> bool {
        let ends_in_call = matches!(chain.steps.last(), Some(ChainStep::Call(_) | ChainStep::Index(_)));
        let CodeItem::Name(name) = base else { return false };
        let is_call = !ends_in_call && (!name.starts_with(['$', '@']) || !chain.steps.is_empty());
        match self.language() {
            Language::Ruby => is_call,
            Language::Perl => is_call && chain.steps.iter().all(|step| matches!(step, ChainStep::Member(_))),
            Language::Php => matches!(
                name.to_ascii_lowercase().as_str(),
                "echo" | "print" | "include" | "include_once" | "require" | "require_once" | "exit" | "die"
            ),
            _ => false,
        }
    }

    /// Takes what follows on the line as the arguments of a call, if it can be.
    fn take_bare_call(self, chain: &mut Chain, limit: usize) {
        let GroupSpan { group, end, .. } = chain.span;
        let Some(first) = self.tree.items(group).get(end).filter(|_| end < limit) else { return };
        let is_argument = match &first.item {
            CodeItem::Name(name) => !self.ends_bare_call(name),
            CodeItem::Text(_)
            | CodeItem::Shell(_)
            | CodeItem::Words(_)
            | CodeItem::Number(_)
            | CodeItem::Regex(_)
            | CodeItem::Replacement(_) => true,
            CodeItem::Group('[' | '(', _) => first.is_spaced,
            CodeItem::Group('{', _) => self.language() == Language::Perl,
            CodeItem::Group(..) | CodeItem::Line => false,
            CodeItem::Mark(mark) => {
                let is_next_close = self.tree.items(group).get(end + 1).is_some_and(|next| !next.is_spaced);
                first.is_spaced
                    && is_next_close
                    && matches!(*mark, "-" | "&" | "*" | "**" | "\\" | "!" | "::" | "->" | "<")
            }
        };
        if !is_argument {
            return;
        }
        let rest = self.tree.items(group).iter().enumerate().take(limit).skip(end);
        let stop = rest.clone().find(|(at, token)| match &token.item {
            CodeItem::Line => !self.is_continued(group, *at),
            CodeItem::Mark(mark) => *mark == ";" || *mark == "|",
            CodeItem::Name(name) => self.ends_bare_call(name),
            _ => false,
        });
        let stop = stop.map_or(limit, |(at, _)| at);
        chain.steps.push(ChainStep::Call(GroupSpan { group, start: end, end: stop }));
        chain.span.end = stop;
    }

    /// Says whether a line goes on after its end.
    fn is_continued(self, group: usize, line: usize) -> bool {
        let before = line.checked_sub(1).and_then(|at| self.tree.item(group, at));
        matches!(before, Some(CodeItem::Mark("," | "+" | "." | "||" | "&&" | "=>" | "=")))
    }

    fn ends_bare_call(self, name: &str) -> bool {
        matches!(
            name,
            "do" | "if"
                | "unless"
                | "and"
                | "or"
                | "while"
                | "until"
                | "for"
                | "foreach"
                | "then"
                | "end"
                | "rescue"
                | "x"
                | "eq"
                | "ne"
                | "lt"
                | "gt"
                | "cmp"
                | "in"
                | "xor"
                | "as"
        ) && (self.profile.is_keyword(name))
    }

    /// Returns a text that is all that stands in brackets.
    pub(super) fn plain_text(self, inner: GroupSpan) -> Option<String> {
        match self.items(inner) {
            [token] => match &token.item {
                CodeItem::Text(pieces) => match pieces.as_slice() {
                    [StringPiece::Plain(text)] => Some(text.clone()),
                    _ => None,
                },
                _ => None,
            },
            _ => None,
        }
    }

    /// Splits a stretch at its commas.
    pub(super) fn split(self, span: GroupSpan) -> Vec<GroupSpan> {
        self.split_at(span, |item| item.is_mark(","))
    }

    /// Splits a stretch at separators; empty parts are left out.
    pub(super) fn split_at(
        self,
        span: GroupSpan,
        is_separator: impl Fn(&CodeItem) -> bool,
    ) -> Vec<GroupSpan> {
        let mut parts = Vec::new();
        let mut start = span.start;
        for (ahead, token) in self.items(span).iter().enumerate() {
            if is_separator(&token.item) {
                let at = span.start + ahead;
                parts.push(GroupSpan { start, end: at, ..span });
                start = at + 1;
            }
        }
        parts.push(GroupSpan { start, ..span });
        parts.retain(|part| self.items(*part).iter().any(|token| token.item != CodeItem::Line));
        parts
    }

    /// Returns a stretch without line ends at either side.
    pub(super) fn trim(self, span: GroupSpan) -> GroupSpan {
        let items = self.items(span);
        let front = items.iter().take_while(|token| token.item == CodeItem::Line).count();
        let back = items.iter().rev().take_while(|token| token.item == CodeItem::Line).count();
        let start = (span.start + front).min(span.end);
        GroupSpan { start, end: span.end.saturating_sub(back).max(start), ..span }
    }
}

fn is_variable(item: &CodeItem) -> bool {
    item.name().is_some_and(|name| name.starts_with(['$', '@']))
}
