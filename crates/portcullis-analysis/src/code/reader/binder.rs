//! Finds the places where a program gives names their meaning: assignments, loops, functions and imports.

use super::chain::{ChainCutter, GroupSpan};
use super::growth;
use super::scope::{LoadedModule, NameMeaning, ProgramNames};
use super::targets::SetPlaces;
use crate::code::Language;
use crate::code::tree::{CodeItem, StringPiece, WHOLE};

/// Marks that make something else of what stands before them.
const CHANGING: &[&str] =
    &["+=", "-=", "*=", "/=", "%=", ".=", "|=", "&=", "^=", "**=", "//=", ">>=", "<<=", ">>>=", "<<"];

/// How many items a statement may have.
pub(super) const STATEMENT_LIMIT: usize = 1024;

/// Binds the names of a whole program.
pub(super) fn bind(cutter: ChainCutter<'_>) -> ProgramNames {
    let places = SetPlaces::of(cutter);
    let mut binder = Binder { cutter, scope: ProgramNames::default(), lists: Vec::new(), places };
    binder.lists = (0..cutter.tree.groups.len()).map(|group| binder.is_list(group)).collect();
    for group in 0..cutter.tree.groups.len() {
        binder.bind_group(group);
    }
    let Binder { mut scope, places, .. } = binder;
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
    growth::bind(cutter, &places, &mut scope);
    scope
}

/// Returns a file that is named from where the program stands, as it is written elsewhere.
pub(super) fn relative_file(file: &str) -> String {
    if file.starts_with(['.', '/']) { file.to_owned() } else { format!("./{file}") }
}

pub(super) struct Binder<'a> {
    pub(super) cutter: ChainCutter<'a>,
    pub(super) scope: ProgramNames,
    /// For each group, whether commas part expressions in it.
    lists: Vec<bool>,
    pub(super) places: SetPlaces<'a>,
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
                Some(CodeItem::Mark("=" | ":=" | "||=" | "??=" | "&&=")) => {
                    self.bind_assignment(group, at);
                }
                Some(CodeItem::Mark(mark)) if CHANGING.contains(mark) => self.bind_changed(group, at),
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

    /// Makes a name, or a member, unknown that is made of what it was.
    fn bind_changed(&mut self, group: usize, mark: usize) {
        let Some(name) = mark.checked_sub(1).and_then(|at| self.name(group, at)) else { return };
        if mark.checked_sub(2).is_some_and(|dot| self.is_member_mark(group, dot)) {
            self.scope.bind(&format!(".{name}"), NameMeaning::Changed);
        } else {
            self.scope.bind(&name, NameMeaning::Changed);
        }
    }

    fn bind_assignment(&mut self, group: usize, mark: usize) {
        let value = self.statement(group, mark + 1);
        let operator = mark.checked_sub(1).and_then(|at| self.item(group, at));
        let is_of_perl = self.cutter.profile.language == Language::Perl;
        match operator {
            // `@=` of Python and `x=` of Perl are operators too.
            Some(CodeItem::Mark(_)) => self.bind_changed(group, mark - 1),
            Some(CodeItem::Name(name)) if name == "x" && is_of_perl => self.bind_changed(group, mark - 1),
            _ => {}
        }
        let targets = self.targets(group, mark);
        if self.cutter.items(targets).iter().any(|token| matches!(token.item, CodeItem::Mark("," | "*"))) {
            self.scope.bind_targets(self.cutter, targets, value);
            return;
        }
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

    /// Returns the targets before a mark, where a language sets several that commas part.
    fn targets(&self, group: usize, mark: usize) -> GroupSpan {
        let may_be_several = match self.cutter.profile.language {
            Language::Python => group == WHOLE,
            Language::Ruby => !self.places.is_argument(group),
            _ => false,
        };
        let is_of_target = |at: &usize| match self.item(group, *at) {
            Some(CodeItem::Name(name)) => !self.cutter.profile.is_keyword(name),
            Some(CodeItem::Group(..) | CodeItem::Mark("," | "." | "*" | "&.")) => true,
            Some(CodeItem::Line) => at
                .checked_sub(1)
                .and_then(|before| self.item(group, before))
                .is_some_and(|item| item.is_mark(",")),
            _ => false,
        };
        let before = (mark.saturating_sub(STATEMENT_LIMIT)..mark).rev().take_while(is_of_target);
        let length = if may_be_several { before.count() } else { 0 };
        GroupSpan { group, start: mark - length, end: mark }
    }

    /// Makes parameters names that may stand for anything, but for the first if it is told what that stands for.
    pub(super) fn open_parameters(&mut self, inner: usize, first: Option<NameMeaning>) {
        let mut first = first;
        for parameter in self.parameters(inner) {
            self.scope.bind(&parameter, first.take().unwrap_or(NameMeaning::Unknown));
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
            (Language::JavaScript, "in") => self.bind_keys(group, at),
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
            // What stands in the brackets behind it is no argument.
            self.scope.skips.insert((group, at));
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
                self.open_parameters(inner, None);
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
    pub(super) fn parameters(&mut self, inner: usize) -> Vec<String> {
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

    /// Makes the parameters of a lambda unknown, for whoever calls it decides; but for the first one where the call that
    /// it is given to goes over a list.
    pub(super) fn bind_lambda(&mut self, group: usize, start: usize) {
        let mut first = self.lambda_source(group, start);
        let mut at = start;
        while at < start + 32 && !self.item(group, at).is_none_or(|item| item.is_mark(":")) {
            let before = at.checked_sub(1).filter(|_| at > start).and_then(|before| self.item(group, before));
            let is_parameter = before.is_none_or(|item| matches!(item, CodeItem::Mark("," | "*" | "**")));
            if let Some(name) = self.name(group, at).filter(|_| is_parameter) {
                self.scope.bind(&name, first.take().unwrap_or(NameMeaning::Unknown));
            }
            at += 1;
        }
    }

    /// Returns what the parameter of a lambda stands for that is given to `sorted`, `map` and the like: the elements of
    /// the list beside it, or of what the method is called on.
    fn lambda_source(&self, group: usize, start: usize) -> Option<NameMeaning> {
        let (outer, at) = self.places.parent(group)?;
        let method = at.checked_sub(1).and_then(|at| self.item(outer, at)).and_then(CodeItem::name)?;
        let is_member = at.checked_sub(2).is_some_and(|dot| self.is_member_mark(outer, dot));
        if is_member && method == "sort" {
            let owner = at.checked_sub(3).filter(|owner| self.name(outer, *owner).is_some())?;
            return Some(NameMeaning::Element(GroupSpan { group: outer, start: owner, end: owner + 1 }));
        }
        let parts = self.cutter.split(self.cutter.whole(group));
        let list = match (method, parts.as_slice()) {
            ("max" | "min" | "sorted", [list, other]) if other.start < start => list,
            ("filter" | "map", [other, list]) if other.end > start => list,
            _ => return None,
        };
        (!is_member).then_some(NameMeaning::Element(*list))
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
            self.open_parameters(inner, None);
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
            || (group != WHOLE
                && !self
                    .cutter
                    .tree
                    .items(group)
                    .iter()
                    .any(|token| token.item == CodeItem::Line || token.item.is_mark(";")))
    }
}
