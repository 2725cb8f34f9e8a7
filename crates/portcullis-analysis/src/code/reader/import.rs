//! Imports: which modules a program loads, and the names it gives to what is in them.

use super::binder::Binder;
use super::chain::GroupSpan;
use super::scope::{LoadedModule, NameMeaning};
use crate::code::table::{ModuleOrigin, module_name};
use crate::code::tree::{CodeItem, StringPiece};

impl Binder<'_> {
    /// Binds `import a.b as c, d`.
    pub(super) fn bind_import(&mut self, group: usize, at: usize) {
        let begins = at
            .checked_sub(1)
            .and_then(|before| self.item(group, before))
            .is_none_or(|item| matches!(item, CodeItem::Line | CodeItem::Mark(";" | ":")));
        if !begins {
            return;
        }
        let line = self.statement(group, at + 1);
        self.scope.skip(line);
        if line.start == line.end {
            self.scope.loads.push(LoadedModule { module: "…".to_owned(), takes_all: false });
        }
        for part in self.cutter.split(line) {
            let (module, alias) = self.dotted(part);
            let top = module.split('.').next().unwrap_or_default().to_owned();
            let is_listed = self.is_listed(&module);
            match alias {
                Some(alias) if !is_listed => {
                    self.scope.bind(&alias, NameMeaning::Module(module.clone(), None));
                }
                None if !is_listed => self.scope.bind(&top, NameMeaning::Module(module.clone(), None)),
                Some(alias) => self.scope.bind(&alias, NameMeaning::Library(module.clone())),
                None => self.scope.bind(&top, NameMeaning::Library(top.clone())),
            }
            self.scope.loads.push(LoadedModule { module, takes_all: false });
        }
    }

    /// Binds `from a.b import c as d, e`.
    pub(super) fn bind_from(&mut self, group: usize, at: usize) {
        let begins = at
            .checked_sub(1)
            .and_then(|before| self.item(group, before))
            .is_none_or(|item| matches!(item, CodeItem::Line | CodeItem::Mark(";" | ":")));
        let line = self.statement(group, at + 1);
        let Some(place) =
            self.cutter.items(line).iter().position(|token| token.item.is_name("import")).filter(|_| begins)
        else {
            return;
        };
        self.scope.skip(line);
        let head = GroupSpan { end: line.start + place, ..line };
        let is_relative =
            self.cutter.items(head).first().is_none_or(|token| matches!(token.item, CodeItem::Mark(_)));
        let module = if is_relative { ".".to_owned() } else { self.dotted(head).0 };
        let mut names = GroupSpan { start: line.start + place + 1, ..line };
        if let Some(CodeItem::Group('(', inner)) = self.item(group, names.start) {
            names = self.cutter.whole(*inner);
            self.scope.skip(names);
        }
        let mut takes_all = false;
        for part in self.cutter.split(names) {
            takes_all |= self.cutter.items(part).iter().any(|token| token.item.is_mark("*"));
            let (name, alias) = self.dotted(part);
            if name.is_empty() {
                continue;
            }
            let meaning = if self.is_listed(&module) {
                NameMeaning::Library(format!("{module}.{name}"))
            } else {
                NameMeaning::Module(module.clone(), Some(name.clone()))
            };
            self.scope.bind(alias.as_ref().unwrap_or(&name), meaning);
        }
        self.scope.loads.push(LoadedModule { module, takes_all });
    }

    /// Says whether a module is one that the lists speak of, or one of which nobody can tell whose it is.
    fn is_listed(&self, module: &str) -> bool {
        matches!(self.cutter.profile.origin(module), ModuleOrigin::Known | ModuleOrigin::Unclear)
    }

    /// Reads `a.b.c as d`.
    fn dotted(&self, span: GroupSpan) -> (String, Option<String>) {
        let mut names = self.cutter.items(span).iter().filter_map(|token| token.item.name());
        let mut module = Vec::new();
        let mut alias = None;
        while let Some(name) = names.next() {
            if name == "as" {
                alias = names.next().map(str::to_owned);
            } else {
                module.push(name);
            }
        }
        (module.join("."), alias)
    }

    /// Binds `import a, {b as c} from 'module'` and `import * as d from 'module'`.
    pub(super) fn bind_js_import(&mut self, group: usize, at: usize) {
        let line = self.statement_of_import(group, at + 1);
        let items = self.cutter.items(line);
        let module = items.iter().rev().find_map(|token| match &token.item {
            CodeItem::Text(pieces) => match pieces.as_slice() {
                [StringPiece::Plain(text)] => Some(text.clone()),
                _ => None,
            },
            _ => None,
        });
        let Some(module) =
            module.filter(|_| !matches!(self.item(group, at + 1), Some(CodeItem::Group('(', _))))
        else {
            return;
        };
        let is_listed = self.is_listed(&module);
        let module = if is_listed { module_name(&module) } else { module };
        self.scope.skip(GroupSpan { start: at, ..line });
        let member = |name: &str| {
            if is_listed {
                NameMeaning::Library(format!("{module}.{name}"))
            } else {
                NameMeaning::Module(module.clone(), Some(name.to_owned()))
            }
        };
        let items: Vec<CodeItem> = items.iter().map(|token| token.item.clone()).collect();
        for item in &items {
            match item {
                CodeItem::Name(name) if name == "from" => break,
                CodeItem::Name(name) if name != "as" && name != "type" => {
                    let whole = NameMeaning::Module(module.clone(), None);
                    let meaning = if is_listed { NameMeaning::Library(module.clone()) } else { whole };
                    self.scope.bind(name, meaning);
                }
                CodeItem::Group('{', inner) => {
                    self.scope.skip(self.cutter.whole(*inner));
                    for part in self.cutter.split(self.cutter.whole(*inner)) {
                        let (name, alias) = self.dotted(part);
                        self.scope.bind(alias.as_ref().unwrap_or(&name), member(&name));
                    }
                }
                _ => {}
            }
        }
        self.scope.loads.push(LoadedModule { module, takes_all: false });
    }

    fn statement_of_import(&self, group: usize, start: usize) -> GroupSpan {
        let length = self.cutter.tree.items(group).len();
        let end = (start..length.min(start + 32))
            .find(|at| matches!(self.item(group, *at), Some(CodeItem::Text(_))));
        GroupSpan { group, start, end: end.map_or(start, |end| end + 1) }
    }
}
