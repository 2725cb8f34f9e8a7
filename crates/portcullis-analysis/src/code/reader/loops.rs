//! Loops and blocks that give a name to what they go over: `for`, `foreach`, `of`, `with … as`.

use super::binder::{Binder, STATEMENT_LIMIT};
use super::chain::GroupSpan;
use super::scope::NameMeaning;
use crate::code::tree::CodeItem;

impl Binder<'_> {
    /// Binds `for a in value` of loops and comprehensions.
    pub(super) fn bind_loop(&mut self, group: usize, start: usize) {
        let names_end =
            (start..start + 24).find(|at| self.item(group, *at).is_none_or(|item| item.is_name("in")));
        let Some(place) = names_end.filter(|at| self.item(group, *at).is_some()) else { return };
        let length = self.cutter.tree.items(group).len().min(place + STATEMENT_LIMIT);
        let end = (place + 1..length).find(|at| match self.item(group, *at) {
            Some(CodeItem::Mark(":" | ";") | CodeItem::Line) => true,
            Some(CodeItem::Name(name)) => matches!(name.as_str(), "for" | "if" | "do" | "async"),
            _ => false,
        });
        let value = GroupSpan { group, start: place + 1, end: end.unwrap_or(length) };
        let mut names = Vec::new();
        for at in start..place {
            match self.item(group, at) {
                Some(CodeItem::Name(name)) => names.push(name.clone()),
                Some(CodeItem::Group('(', inner)) => {
                    names.extend(
                        self.cutter
                            .tree
                            .items(*inner)
                            .iter()
                            .filter_map(|token| token.item.name().map(str::to_owned)),
                    );
                }
                _ => {}
            }
        }
        let is_one = names.len() == 1;
        for (place, name) in names.iter().enumerate() {
            let bound =
                if is_one { NameMeaning::Element(value) } else { NameMeaning::ElementPart(value, place) };
            self.scope.bind(name, bound);
        }
    }

    /// Binds `with value as name`, `except kind as name`; imports have been bound already.
    pub(super) fn bind_as(&mut self, group: usize, at: usize) {
        let Some(name) = self.name(group, at + 1) else { return };
        let start = (at.saturating_sub(64)..at).rev().find(|before| match self.item(group, *before) {
            Some(CodeItem::Name(word)) => matches!(word.as_str(), "with" | "except" | "import" | "case"),
            Some(CodeItem::Mark(",") | CodeItem::Line) => true,
            _ => false,
        });
        if start.is_some_and(|start| self.item(group, start).is_some_and(|item| item.is_name("import")))
            || self.is_import(group, at)
        {
            return;
        }
        let is_exception =
            start.is_some_and(|start| self.item(group, start).is_some_and(|item| item.is_name("except")));
        let start = start.map_or(0, |start| start + 1);
        let bound = if is_exception {
            NameMeaning::Unknown
        } else {
            NameMeaning::Value(GroupSpan { group, start, end: at })
        };
        self.scope.bind(&name, bound);
    }

    /// Says whether the statement around a place imports something, whose `as` is bound there.
    fn is_import(&self, group: usize, at: usize) -> bool {
        let words = (at.saturating_sub(64)..at).rev().map_while(|before| {
            self.item(group, before).filter(|item| **item != CodeItem::Line && !item.is_mark(";"))
        });
        words.into_iter().any(|item| item.is_name("import"))
    }

    /// Binds `foreach ($list as $key => $value)`: the last name is the element.
    pub(super) fn bind_php_loop(&mut self, group: usize, at: usize) {
        let value = GroupSpan { group, start: 0, end: at };
        let names: Vec<String> = (at + 1..at + 4).filter_map(|at| self.name(group, at)).collect();
        if let Some(name) = names.last() {
            self.scope.bind(name, NameMeaning::Element(value));
        }
    }

    /// Binds `for (const name of values)`; taking an element apart gives unknown names.
    pub(super) fn bind_of(&mut self, group: usize, at: usize) {
        let value = self.cutter.whole(group);
        match at.checked_sub(1).and_then(|before| self.item(group, before)) {
            Some(CodeItem::Name(name)) => {
                let name = name.clone();
                self.scope.bind(&name, NameMeaning::Element(GroupSpan { start: at + 1, ..value }));
            }
            Some(CodeItem::Group(_, inner)) => {
                let inner = *inner;
                for name in self.cutter.tree.items(inner).iter().filter_map(|token| token.item.name()) {
                    self.scope.bind(name, NameMeaning::Unknown);
                }
            }
            _ => {}
        }
    }

    /// Binds `for my $name (values)`, or `$_` where no name stands.
    pub(super) fn bind_perl_loop(&mut self, group: usize, at: usize) {
        let place =
            (at + 1..at + 4).find(|at| matches!(self.item(group, *at), Some(CodeItem::Group('(', _))));
        let Some((place, Some(CodeItem::Group(_, inner)))) =
            place.map(|place| (place, self.item(group, place)))
        else {
            return;
        };
        let value = self.cutter.whole(*inner);
        let name =
            (at + 1..place).rev().find_map(|at| self.name(group, at)).unwrap_or_else(|| "$_".to_owned());
        self.scope.bind(&name, NameMeaning::Element(value));
    }
}
