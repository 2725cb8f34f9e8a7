//! Finds the places where a program gives names their meaning: assignments, loops, functions and imports.

use super::chain::{ChainCutter, GroupSpan};
use super::growth;
use super::scope::{LoadedModule, NameMeaning, ProgramNames};
use crate::code::Language;
use crate::code::tree::{CodeItem, StringPiece};

/// How many items a statement may have.
pub(super) const STATEMENT_LIMIT: usize = 1024;

/// Binds the names of a whole program.
pub(super) fn bind(cutter: ChainCutter<'_>) -> ProgramNames {
    let mut binder =
        Binder { cutter, scope: ProgramNames::default(), lists: Vec::new(), parents: parents(cutter) };
    binder.lists = (0..cutter.tree.groups.len()).map(|group| binder.is_list(group)).collect();
    for group in 0..cutter.tree.groups.len() {
        binder.bind_group(group);
    }
    let mut scope = binder.scope;
    for group in 0..cutter.tree.groups.len() {
        let length = cutter.tree.items(group).len();
        let mut at = 0;
        while at < length {
            let Some(chain) = cutter.chain(group, at, length.min(at + super::CHAIN_LIMIT)) else {
                at += 1;
                continue;
            };
            if !scope.skips.contains(&(group, at)) {
                scope.bind_arguments(cutter, &chain);
                scope.open_handed(cutter, &chain);
            }
            at = chain.next.max(at + 1);
        }
    }
    growth::bind(cutter, &mut scope);
    scope
}

/// Returns a file that is named from where the program stands, as it is written elsewhere.
pub(super) fn relative_file(file: &str) -> String {
    if file.starts_with(['.', '/']) { file.to_owned() } else { format!("./{file}") }
}

fn parents(cutter: ChainCutter<'_>) -> Vec<Option<(usize, usize)>> {
    let mut parents = vec![None; cutter.tree.groups.len()];
    for group in 0..cutter.tree.groups.len() {
        for (at, token) in cutter.tree.items(group).iter().enumerate() {
            if let CodeItem::Group(_, inner) = token.item
                && let Some(parent) = parents.get_mut(inner)
            {
                *parent = Some((group, at));
            }
        }
    }
    parents
}

pub(super) struct Binder<'a> {
    pub(super) cutter: ChainCutter<'a>,
    pub(super) scope: ProgramNames,
    /// For each group, whether commas part expressions in it.
    lists: Vec<bool>,
    /// Where each group stands.
    parents: Vec<Option<(usize, usize)>>,
}

impl Binder<'_> {
    pub(super) fn item(&self, group: usize, at: usize) -> Option<&CodeItem> {
        self.cutter.tree.item(group, at)
    }

    pub(super) fn name(&self, group: usize, at: usize) -> Option<String> {
        self.item(group, at).and_then(CodeItem::name).map(str::to_owned)
    }

    fn bind_group(&mut self, group: usize) {
        for at in 0..self.cutter.tree.items(group).len() {
            match self.item(group, at) {
                Some(CodeItem::Mark("=" | ":=" | "||=" | "??=")) => self.bind_assignment(group, at),
                Some(CodeItem::Mark("+=" | ".=" | "<<" | "<<=")) => {
                    if let Some(name) = at.checked_sub(1).and_then(|at| self.name(group, at)) {
                        self.scope.bind(&name, NameMeaning::Unknown);
                    }
                }
                Some(CodeItem::Mark("=>")) => self.bind_arrow(group, at),
                Some(CodeItem::Mark("|")) => self.bind_block_parameters(group, at),
                Some(CodeItem::Name(name)) => {
                    let name = name.clone();
                    self.bind_word(group, at, &name);
                }
                _ => {}
            }
        }
    }

    fn bind_assignment(&mut self, group: usize, mark: usize) {
        let value = self.statement(group, mark + 1);
        self.scope.bind_target(self.cutter, group, mark, value);
        // `const run = (a, b) => …` and `run = function (a) {…}` define functions.
        let Some(name) = mark.checked_sub(1).and_then(|at| self.name(group, at)) else { return };
        let items = self.cutter.items(value);
        let parameters = items.iter().take(3).find_map(|token| match token.item {
            CodeItem::Group('(', inner) => Some(inner),
            _ => None,
        });
        let is_function =
            items.iter().take(4).any(|token| token.item.is_mark("=>") || token.item.is_name("function"));
        if is_function && let Some(inner) = parameters {
            let parameters = self.parameters(inner);
            self.scope.define(&name, parameters);
        } else if is_function {
            // `x => …` has no brackets around its parameter.
            let parameter = match items {
                [first, arrow, ..] if arrow.item.is_mark("=>") => first.item.name().map(str::to_owned),
                _ => None,
            };
            self.scope.define(&name, parameter.into_iter().collect());
        } else if items.first().is_some_and(|token| token.item.is_name("lambda")) {
            self.scope.bind(&name, NameMeaning::Own);
        }
    }

    /// Binds the parameters before `=>`.
    fn bind_arrow(&mut self, group: usize, mark: usize) {
        let Some(before) = mark.checked_sub(1) else { return };
        if self.cutter.profile.language != Language::JavaScript {
            return;
        }
        match self.item(group, before) {
            Some(CodeItem::Name(name)) => {
                let name = name.clone();
                match self.element_source(group, before) {
                    Some(element) => self.scope.bind(&name, element),
                    None => _ = self.scope.bounds.entry(name).or_default(),
                }
            }
            Some(CodeItem::Group('(', inner)) => {
                let inner = *inner;
                let only = self.parameters(inner);
                match (only.as_slice(), self.element_source(group, before)) {
                    ([name, ..], Some(element)) if !name.is_empty() => {
                        let name = name.clone();
                        self.scope.bind(&name, element);
                        self.open_parameters(inner);
                    }
                    _ => self.open_parameters(inner),
                }
            }
            _ => {}
        }
    }

    /// Returns what the first parameter of an arrow function stands for that a method of a list is given: its elements.
    fn element_source(&self, group: usize, start: usize) -> Option<NameMeaning> {
        let is_first =
            start == 0 || start == 1 && self.item(group, 0).is_some_and(|item| item.is_name("async"));
        let (outer, at) = self.parents.get(group).copied().flatten().filter(|_| is_first)?;
        let method = at.checked_sub(1).and_then(|at| self.item(outer, at)).and_then(CodeItem::name)?;
        let goes_over = matches!(
            method,
            "every" | "filter" | "find" | "findIndex" | "flatMap" | "forEach" | "map" | "some"
        );
        let dot = at.checked_sub(2).filter(|dot| goes_over && self.is_member_mark(outer, *dot))?;
        let mut start = dot;
        loop {
            // A link of the chain, from behind: its calls and subscripts, then its name.
            start = start.checked_sub(1)?;
            while matches!(self.item(outer, start), Some(CodeItem::Group('(' | '[', _)))
                && start
                    .checked_sub(1)
                    .and_then(|at| self.item(outer, at))
                    .is_some_and(|item| matches!(item, CodeItem::Name(_) | CodeItem::Group('(' | '[', _)))
            {
                start -= 1;
            }
            match start.checked_sub(1) {
                Some(before) if self.is_member_mark(outer, before) => start = before,
                _ => break,
            }
        }
        Some(NameMeaning::Element(GroupSpan { group: outer, start, end: dot }))
    }

    fn is_member_mark(&self, group: usize, at: usize) -> bool {
        self.item(group, at).is_some_and(|item| item.is_mark(".") || item.is_mark("?."))
    }

    /// Makes parameters names that nothing is known of yet.
    fn open_parameters(&mut self, inner: usize) {
        for parameter in self.parameters(inner) {
            self.scope.bounds.entry(parameter).or_default();
        }
    }

    /// Binds `|a, b|` of Ruby.
    fn bind_block_parameters(&mut self, group: usize, mark: usize) {
        let before = mark.checked_sub(1).and_then(|at| self.item(group, at));
        let opens = before.is_none_or(|item| item.is_name("do"));
        if self.cutter.profile.language != Language::Ruby || !opens {
            return;
        }
        let end = (mark + 1..mark + 16).find(|at| self.item(group, *at).is_none_or(|item| item.is_mark("|")));
        let names: Vec<String> =
            (mark + 1..end.unwrap_or(mark + 16)).filter_map(|at| self.name(group, at)).collect();
        let bound =
            self.block_source(group, mark).filter(|_| names.len() == 1).unwrap_or(NameMeaning::Unknown);
        for name in names {
            self.scope.bind(&name, bound.clone());
        }
    }

    /// Returns what the only parameter of a block stands for: what the call before it gives, or its elements.
    fn block_source(&self, group: usize, mark: usize) -> Option<NameMeaning> {
        let (group, end) = match mark.checked_sub(1) {
            Some(word) => (group, word),
            None => self.parents.get(group).copied().flatten()?,
        };
        let nearby = (end.saturating_sub(32)..end).rev();
        let start = nearby
            .take_while(|at| {
                !matches!(self.item(group, *at), Some(CodeItem::Line | CodeItem::Mark(";" | "=")))
            })
            .last()?;
        let method = end.checked_sub(1).and_then(|at| self.item(group, at)).and_then(CodeItem::name);
        match method {
            Some("each" | "map" | "select" | "reject" | "filter" | "find" | "any?" | "all?") => {
                Some(NameMeaning::Element(GroupSpan { group, start, end: end.checked_sub(2)? }))
            }
            Some(_) => None,
            None => Some(NameMeaning::Value(GroupSpan { group, start, end })),
        }
    }

    fn bind_word(&mut self, group: usize, at: usize, word: &str) {
        if at
            .checked_sub(1)
            .and_then(|before| self.item(group, before))
            .is_some_and(|item| item.is_mark(".") || item.is_mark("->"))
        {
            return;
        }
        match (self.cutter.profile.language, word) {
            (Language::Python | Language::Ruby, "def")
            | (Language::Perl, "sub")
            | (Language::JavaScript | Language::Php, "function") => {
                self.bind_function(group, at + 1);
            }
            (Language::Perl, _) | (Language::Ruby, "module") if word == "module" => {
                self.bind_class(group, at + 1);
            }
            (_, "class") => self.bind_class(group, at + 1),
            (Language::Python, "lambda") => self.bind_lambda(group, at + 1),
            (Language::Python, "import") => self.bind_import(group, at),
            (Language::Python, "from") => self.bind_from(group, at),
            (Language::Python | Language::Ruby, "for") => self.bind_loop(group, at + 1),
            (Language::Python, "as") => self.bind_as(group, at),
            (Language::Php, "as") => self.bind_php_loop(group, at),
            (Language::JavaScript, "of") => self.bind_of(group, at),
            (Language::JavaScript, "import") => self.bind_js_import(group, at),
            (Language::JavaScript, _) => self.bind_method(group, at, word),
            (Language::Perl, "foreach" | "for") => self.bind_perl_loop(group, at),
            (Language::Perl, "use" | "require" | "no") => self.bind_use(group, at + 1),
            (Language::Ruby, "require_relative") => {
                if let Some(CodeItem::Text(pieces)) = self.item(group, at + 1)
                    && let [StringPiece::Plain(file)] = pieces.as_slice()
                {
                    self.scope.own_file = Some(relative_file(file));
                }
            }
            (Language::Perl, "my") if self.cutter.tree.items(group).get(at + 1).is_some() => {
                self.bind_my(group, at);
            }
            _ => {}
        }
    }

    /// Notes a class of the program. What it inherits is not followed: its methods are read as the program's own.
    fn bind_class(&mut self, group: usize, at: usize) {
        if let Some(name) = self.name(group, at) {
            self.scope.bind(&name, NameMeaning::Own);
            self.scope.classes.insert(name);
        }
    }

    /// Notes a function and what its parameters are called, so that calls can bind them.
    fn bind_function(&mut self, group: usize, at: usize) {
        self.scope.skips.insert((group, at));
        let Some(mut name) = self.name(group, at) else {
            if let Some(CodeItem::Group('(', inner)) = self.item(group, at) {
                let inner = *inner;
                self.open_parameters(inner);
            }
            return;
        };
        let mut next = at + 1;
        // `def self.name` of Ruby.
        if self.item(group, next).is_some_and(|item| item.is_mark("."))
            && let Some(member) = self.name(group, next + 1)
        {
            name = member;
            next += 2;
        }
        let parameters = match self.item(group, next) {
            Some(CodeItem::Group('(', inner)) => {
                let inner = *inner;
                self.parameters(inner)
            }
            Some(CodeItem::Group('{', inner)) => self.perl_parameters(*inner),
            Some(CodeItem::Name(_)) if self.cutter.profile.language == Language::Ruby => {
                let line = self.statement(group, next);
                self.cutter
                    .items(line)
                    .iter()
                    .filter_map(|token| token.item.name().map(str::to_owned))
                    .collect()
            }
            _ => Vec::new(),
        };
        self.scope.define(&name, parameters);
    }

    /// Returns the names of parameters in brackets, and binds their defaults.
    fn parameters(&mut self, inner: usize) -> Vec<String> {
        let mut names = Vec::new();
        for part in self.cutter.split(self.cutter.whole(inner)) {
            let items = self.cutter.items(part);
            let default = items.iter().position(|token| token.item.is_mark("="));
            let head = items.iter().take(default.unwrap_or(items.len()));
            let is_typed_before = self.cutter.profile.language == Language::Php;
            let mut candidates = head.filter_map(|token| token.item.name());
            let name = if is_typed_before { candidates.next_back() } else { candidates.next() };
            let name = name.unwrap_or_default().to_owned();
            if let Some(place) = default {
                self.scope
                    .bind(&name, NameMeaning::Value(GroupSpan { start: part.start + place + 1, ..part }));
            }
            let inner_groups: Vec<usize> = items
                .iter()
                .filter_map(|token| match token.item {
                    CodeItem::Group('{' | '[', inner) => Some(inner),
                    _ => None,
                })
                .collect();
            for group in inner_groups {
                let own: Vec<String> = self
                    .cutter
                    .tree
                    .items(group)
                    .iter()
                    .filter_map(|token| token.item.name().map(str::to_owned))
                    .collect();
                for name in own {
                    self.scope.bind(&name, NameMeaning::Unknown);
                }
            }
            names.push(name);
        }
        names
    }

    /// Returns the names of `my ($a, $b) = @_;` at the beginning of a body.
    fn perl_parameters(&self, body: usize) -> Vec<String> {
        let items = self.cutter.tree.items(body);
        let Some(my) = items.iter().position(|token| token.item.is_name("my")) else { return Vec::new() };
        let takes_all =
            items.iter().take(my + 6).any(|token| token.item.is_name("$_") || token.item.is_name("shift"));
        match items.get(my + 1).map(|token| &token.item) {
            Some(CodeItem::Group('(', inner)) if takes_all => self
                .cutter
                .tree
                .items(*inner)
                .iter()
                .filter_map(|token| token.item.name().map(str::to_owned))
                .collect(),
            Some(CodeItem::Name(name)) if takes_all => vec![name.clone()],
            _ => Vec::new(),
        }
    }

    /// Notes the parameters of a lambda as names without a meaning: whoever calls it decides.
    fn bind_lambda(&mut self, group: usize, start: usize) {
        let mut at = start;
        while at < start + 32 && !self.item(group, at).is_none_or(|item| item.is_mark(":")) {
            if let Some(name) = self.name(group, at) {
                self.scope.bounds.entry(name).or_default();
            }
            at += 1;
        }
    }

    /// Binds `name(parameters) {` of classes and objects, and `catch (error) {`.
    fn bind_method(&mut self, group: usize, at: usize, word: &str) {
        let (Some(CodeItem::Group('(', inner)), Some(CodeItem::Group('{', _))) =
            (self.item(group, at + 1), self.item(group, at + 2))
        else {
            return;
        };
        let inner = *inner;
        if word == "catch" {
            self.open_parameters(inner);
        } else if !self.cutter.profile.is_keyword(word) {
            self.scope.skips.insert((group, at));
            let parameters = self.parameters(inner);
            self.scope.define(word, parameters);
        }
    }

    /// Notes `my $name;` as a name without a meaning, so that it is not taken for something of a library.
    fn bind_my(&mut self, group: usize, at: usize) {
        if let Some(name) = self.name(group, at + 1)
            && !self.item(group, at + 2).is_some_and(|item| item.is_mark("="))
        {
            self.scope.bounds.entry(name).or_default();
        }
    }

    /// Notes `use Module::Name`; a version such as `use v5` loads nothing.
    fn bind_use(&mut self, group: usize, start: usize) {
        let Some(mut module) = self.name(group, start) else { return };
        let mut at = start + 1;
        while self.item(group, at).is_some_and(|item| item.is_mark("::")) {
            module.push_str("::");
            module.push_str(&self.name(group, at + 1).unwrap_or_default());
            at += 2;
        }
        if !module.starts_with('v') || module.len() > 3 {
            self.scope.loads.push(LoadedModule { module, takes_all: false });
        }
    }

    /// Returns the rest of a statement.
    pub(super) fn statement(&self, group: usize, start: usize) -> GroupSpan {
        let length = self.cutter.tree.items(group).len();
        let is_list = self.lists.get(group).copied().unwrap_or_default();
        let limit = length.min(start + STATEMENT_LIMIT);
        let end = (start..limit).find(|at| match self.item(group, *at) {
            Some(CodeItem::Line) => *at > start && !self.is_continued(group, *at),
            Some(CodeItem::Mark(";")) => true,
            Some(CodeItem::Mark(",")) => is_list,
            _ => false,
        });
        // A statement without end in sight stands for nothing, which is unknown.
        let rest = if limit < length { start } else { length };
        GroupSpan { group, start, end: end.unwrap_or(rest) }
    }

    /// Says whether a line goes on in the next one, by the operator at its end or at the beginning of the next.
    fn is_continued(&self, group: usize, line: usize) -> bool {
        let next =
            (line + 1..line + 4).find_map(|at| self.item(group, at).filter(|item| **item != CodeItem::Line));
        let before = line.checked_sub(1).and_then(|at| self.item(group, at));
        matches!(before, Some(CodeItem::Mark("+" | "." | "=" | "||" | "&&" | "?" | ",")))
            || matches!(next, Some(CodeItem::Mark("." | "?." | "->" | "+")))
    }

    /// Says whether commas in a group part expressions rather than targets; lists have no line ends in them.
    fn is_list(&self, group: usize) -> bool {
        let is_declaration = self.cutter.profile.language == Language::JavaScript;
        is_declaration
            || (group != crate::code::tree::WHOLE
                && !self
                    .cutter
                    .tree
                    .items(group)
                    .iter()
                    .any(|token| token.item == CodeItem::Line || token.item.is_mark(";")))
    }
}
