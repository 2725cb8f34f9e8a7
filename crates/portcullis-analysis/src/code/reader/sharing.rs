//! Names that may stand for the same list, or for one that holds another: what changes one of them changes the others.

use std::collections::{BTreeMap, BTreeSet};

use super::chain::{Chain, ChainCutter, ChainStep, GroupSpan};
use super::growth::has;
use super::scope::{NameMeaning, ProgramNames};
use crate::code::Language;
use crate::code::tree::CodeItem;

/// How deep groups are searched for names.
const DEEPEST: usize = 8;

/// Calls that give something that shares nothing with what they are given.
const FRESH: &str = "Path basename chr dirname exists expand_path extname float gsub int isfile join len listdir load \
    loads lstrip open ord parse range read readFileSync read_text readdirSync readlines resolve round rstrip \
    safe_load split splitlines str strftime strip sub sum trim";

/// What gives anything that the program holds.
const NAMESPACES: &str = "$ $GLOBALS $_ _1 _2 arguments binding eval globals it locals vars";

/// Types whose methods take what they change as an argument.
const TYPES: &str = "Array Object Reflect bytearray deque dict list operator set";

/// What an object calls itself.
const SELVES: &str = "$self $this cls self this";

/// Stands for what the functions of a program return.
const RETURNED: &str = "return";

/// Stands for anything at all.
const ANYTHING: &str = "*";

/// Farther inside of something than anybody counts.
pub(super) const DEEP: usize = 8;

/// How what one name stands for lies to what another does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum SharingWay {
    /// It may be the same.
    Same,
    /// It may lie inside of it.
    Inside,
    /// It may hold it, so far inside.
    Around(usize),
}

/// Which names share what they stand for.
#[derive(Debug)]
pub(super) struct NameSharing {
    language: Language,
    ways: BTreeMap<String, BTreeSet<(String, SharingWay)>>,
}

/// Says whether it counts when something is changed that a name stands for. The words that a program of Ruby is started
/// with are texts that may be changed in place.
fn is_known(scope: &ProgramNames, language: Language, name: &str) -> bool {
    let is_given = matches!((language, name), (Language::Ruby, "ARGV") | (Language::Perl, "$_"));
    is_given || scope.bounds.contains_key(name)
}

impl NameSharing {
    pub(super) fn of(cutter: ChainCutter<'_>, scope: &ProgramNames) -> Self {
        let mut sharing = Self { language: cutter.profile.language, ways: BTreeMap::new() };
        for (name, bounds) in &scope.bounds {
            for bound in bounds {
                sharing.note_meaning(cutter, scope, name, bound);
            }
        }
        for group in 0..cutter.tree.groups.len() {
            sharing.note_words(cutter, scope, group);
        }
        for function in scope.functions.keys() {
            sharing.note(function, RETURNED, SharingWay::Same);
        }
        sharing
    }

    fn note(&mut self, from: &str, to: &str, way: SharingWay) {
        self.ways.entry(from.to_owned()).or_default().insert((to.to_owned(), way));
    }

    /// Notes what a name is set to. PHP and Perl copy lists, and only the names of loops stand for what they hold.
    fn note_meaning(
        &mut self,
        cutter: ChainCutter<'_>,
        scope: &ProgramNames,
        name: &str,
        bound: &NameMeaning,
    ) {
        let is_copied = matches!(self.language, Language::Perl | Language::Php);
        let (span, is_whole) = match bound {
            NameMeaning::Value(span) if !is_copied => (*span, true),
            NameMeaning::Member(span, _) if !is_copied => (*span, false),
            NameMeaning::Element(span) | NameMeaning::ElementPart(span, _) => (*span, false),
            _ => return,
        };
        // `a = b = []` gives both names the same.
        let items = cutter.items(span);
        let set = items.iter().rposition(|token| token.item.is_mark("=")).unwrap_or(0);
        for other in items.iter().take(set).filter_map(|token| token.item.name()) {
            self.note(name, other, SharingWay::Same);
            self.note(other, name, SharingWay::Same);
        }
        let rest = GroupSpan { start: span.start + set, ..span };
        if is_fresh(cutter, scope, rest) {
            return;
        }
        let is_plain = is_whole && items.iter().skip(set).all(|token| is_of_choice(&token.item));
        for other in names_known(cutter, scope, rest) {
            if is_plain {
                self.note(name, &other, SharingWay::Same);
                self.note(&other, name, SharingWay::Same);
            } else if is_whole && is_display(cutter, rest) {
                self.note(name, &other, SharingWay::Around(1));
            } else {
                self.note(name, &other, SharingWay::Inside);
                self.note(&other, name, SharingWay::Around(1));
            }
        }
    }

    /// Notes that a container holds something that is put so far inside of it.
    pub(super) fn hold(&mut self, holder: &str, held: &str, depth: usize) {
        self.note(holder, held, SharingWay::Around(if depth == DEEP { 1 } else { depth + 1 }));
    }

    /// Notes what functions return, and what `$_` of Perl goes over.
    fn note_words(&mut self, cutter: ChainCutter<'_>, scope: &ProgramNames, group: usize) {
        for (at, token) in cutter.tree.items(group).iter().enumerate() {
            let name = match (token.item.name(), self.language) {
                (Some("for" | "foreach" | "grep" | "map"), Language::Perl) => "$_",
                (Some("return" | "yield"), _) => RETURNED,
                _ => continue,
            };
            let rest = rest_of_statement(cutter, group, at + 1);
            for other in names_known(cutter, scope, rest) {
                self.note(name, &other, SharingWay::Inside);
            }
            if name == "$_" && goes_over_arguments(cutter, rest) {
                self.note(name, ANYTHING, SharingWay::Inside);
            }
        }
    }

    /// Returns all names that may stand for what some stand for, or for something so far inside of it; `None` if one of
    /// them may stand for anything.
    pub(super) fn reached(
        &self,
        scope: &ProgramNames,
        names: &BTreeSet<String>,
        depth: usize,
    ) -> Option<BTreeSet<String>> {
        let mut open: Vec<(&str, usize)> = names.iter().map(|name| (name.as_str(), depth)).collect();
        let mut reached: BTreeMap<&str, usize> = BTreeMap::new();
        while let Some((name, depth)) = open.pop() {
            if reached.get(name).is_some_and(|known| *known >= depth) {
                continue;
            }
            for (next, way) in self.ways.get(name).into_iter().flatten() {
                match way {
                    SharingWay::Same => open.push((next, depth)),
                    SharingWay::Inside => open.push((next, DEEP)),
                    SharingWay::Around(far) => {
                        open.extend(depth.checked_sub(*far).map(|depth| (next.as_str(), depth)));
                    }
                }
            }
            reached.insert(name, depth);
        }
        let is_open = reached.keys().any(|name| *name == ANYTHING || self.may_be_anything(scope, name));
        let all = reached.into_keys().filter(|name| *name != RETURNED).map(str::to_owned);
        (!is_open).then(|| all.collect())
    }

    /// Says whether a name may stand for anything that the program holds.
    fn may_be_anything(&self, scope: &ProgramNames, name: &str) -> bool {
        let is_copied = matches!(self.language, Language::Perl | Language::Php);
        let is_function = self.language == Language::Ruby && scope.functions.contains_key(name);
        scope.bounds.get(name).filter(|_| !is_copied).is_some_and(|bounds| {
            let is_given = bounds.iter().any(|bound| *bound != NameMeaning::Changed);
            !is_given || bounds.contains(&NameMeaning::Unknown) || is_function
        })
    }

    /// Returns all names.
    pub(super) fn everything(&self, scope: &ProgramNames) -> BTreeSet<String> {
        let mut all: BTreeSet<String> = scope.bounds.keys().cloned().collect();
        if self.language == Language::Ruby {
            all.insert("ARGV".to_owned());
        }
        all
    }
}

/// What the steps of a chain have come to, as far as it matters what they change.
#[derive(Debug, Clone)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts, not a state")]
pub(super) struct ChainOwner {
    /// The names that may stand for it, or for something around it; `None` if nobody knows them.
    pub(super) names: Option<BTreeSet<String>>,
    /// How far it lies inside of what the names stand for.
    pub(super) depth: usize,
    /// Whether it comes out of a library.
    pub(super) is_foreign: bool,
    is_itself: bool,
    /// Whether it is a variable of PHP, by which a function may be called.
    pub(super) is_variable: bool,
    /// Whether it is a type whose methods take what they change as an argument.
    pub(super) is_type: bool,
    /// What a call that follows calls.
    pub(super) called: Option<String>,
}

impl ChainOwner {
    /// Returns what the first part of a chain stands for.
    pub(super) fn of(cutter: ChainCutter<'_>, scope: &ProgramNames, chain: &Chain) -> Self {
        let mut owner = Self {
            names: Some(BTreeSet::new()),
            depth: 0,
            is_foreign: true,
            is_itself: false,
            is_variable: false,
            is_type: false,
            called: None,
        };
        match cutter.tree.item(chain.span.group, chain.span.start) {
            // What functions of Perl are given they may change for whoever calls them.
            Some(CodeItem::Name(name))
                if name == "$_" && matches!(chain.steps.first(), Some(ChainStep::Index(_))) =>
            {
                owner.names = None;
            }
            Some(CodeItem::Name(name)) => owner.begin(cutter, scope, name),
            Some(CodeItem::Group(_, inner)) => {
                let names = names_in(cutter, cutter.whole(*inner));
                let is_open = names.iter().any(|name| has(NAMESPACES, name));
                owner.names = Some(names_known(cutter, scope, cutter.whole(*inner))).filter(|_| !is_open);
                owner.depth = DEEP;
                owner.is_foreign = false;
            }
            _ => {}
        }
        owner
    }

    fn begin(&mut self, cutter: ChainCutter<'_>, scope: &ProgramNames, name: &str) {
        self.is_itself = has(SELVES, name);
        self.is_variable = name.starts_with('$') && cutter.profile.language == Language::Php;
        self.is_type = has(TYPES, name);
        self.called = Some(name.to_owned());
        match scope.bounds.get(name).map(Vec::as_slice) {
            Some([NameMeaning::Library(library)]) => {
                let library = library.rsplit('.').next().unwrap_or(library);
                self.is_type = has(TYPES, library);
                self.called = Some(library.to_owned());
            }
            Some([NameMeaning::Module(..)]) => {}
            Some(bounds) if is_fixed(cutter, bounds) && !bounds.contains(&NameMeaning::Own) => {}
            None if !is_known(scope, cutter.profile.language, name) => {
                if !self.is_itself && (has(NAMESPACES, name) || !is_listed(cutter, name)) {
                    self.names = None;
                }
            }
            _ => {
                self.is_foreign = false;
                self.called = None;
                self.names = Some(BTreeSet::from([name.to_owned()]));
            }
        }
    }

    pub(super) fn enter_member(&mut self, scope: &ProgramNames, name: &str) {
        let member = format!(".{name}");
        let is_own = self.is_itself || scope.functions.contains_key(name);
        let own = Some(name.to_owned()).filter(|name| is_own && scope.bounds.contains_key(name));
        // What a class sets in its body is a member too.
        if !is_own && !scope.classes.is_empty() && scope.bounds.contains_key(name) {
            self.names.iter_mut().for_each(|names| _ = names.insert(name.to_owned()));
        }
        let is_set = |bounds: &Vec<NameMeaning>| bounds.iter().any(|bound| *bound != NameMeaning::Changed);
        let set = Some(member).filter(|member| scope.bounds.get(member).is_some_and(is_set));
        let names: BTreeSet<String> = own.into_iter().chain(set).collect();
        if !names.is_empty() {
            self.names = Some(names);
            self.depth = 0;
        } else if self.is_itself {
            self.names = Some(BTreeSet::new());
        } else {
            self.depth = DEEP.min(self.depth + 1);
        }
        self.is_itself = false;
        self.is_variable = false;
        self.called = Some(name.to_owned());
    }

    pub(super) fn enter_element(&mut self) {
        self.is_variable = false;
        self.depth = DEEP.min(self.depth + 1);
        self.called = None;
    }

    /// What a library gives may be, or hold, what it is given; what a table gives may be the last argument.
    pub(super) fn enter_call(&mut self, cutter: ChainCutter<'_>, scope: &ProgramNames, arguments: GroupSpan) {
        let parts = cutter.split(arguments);
        let taken = if self.is_foreign { Some(arguments) } else { parts.get(1).copied() };
        if let (Some(names), Some(taken)) = (&mut self.names, taken) {
            names.extend(names_known(cutter, scope, taken));
        }
        self.is_variable = false;
        self.called = None;
        if self.is_foreign {
            self.depth = DEEP;
        }
    }
}

/// Says whether a name begins something that the tables of the language speak of.
fn is_listed(cutter: ChainCutter<'_>, name: &str) -> bool {
    let profile = cutter.profile;
    profile.is_known_module(name)
        || profile.is_harmless(name)
        || profile.row(name).is_some()
        || profile.has_members(name)
}

/// Returns the names in a stretch for which it counts what is changed.
pub(super) fn names_known(
    cutter: ChainCutter<'_>,
    scope: &ProgramNames,
    span: GroupSpan,
) -> BTreeSet<String> {
    let names = names_in(cutter, span).into_iter();
    names.filter(|name| is_known(scope, cutter.profile.language, name)).collect()
}

/// Says whether a name stands for nothing but functions, classes and libraries, which are no lists.
pub(super) fn is_fixed(cutter: ChainCutter<'_>, bounds: &[NameMeaning]) -> bool {
    let is_loaded = |span: GroupSpan| {
        let first = cutter.items(span).iter().map(|token| &token.item).find(|item| !item.is_name("await"));
        cutter.profile.language == Language::JavaScript
            && first.is_some_and(|item| item.is_name("require") || item.is_name("import"))
    };
    !bounds.is_empty()
        && bounds.iter().all(|bound| match bound {
            NameMeaning::Library(_) | NameMeaning::Module(..) | NameMeaning::Own => true,
            NameMeaning::Value(span) | NameMeaning::Member(span, _) => is_loaded(*span),
            _ => false,
        })
}

/// Returns what follows in a statement.
pub(super) fn rest_of_statement(cutter: ChainCutter<'_>, group: usize, start: usize) -> GroupSpan {
    let rest = cutter.tree.items(group).iter().skip(start);
    let length = rest.take_while(|token| token.item != CodeItem::Line && !token.item.is_mark(";")).count();
    GroupSpan { group, start, end: start + length }
}

/// Says whether a loop of Perl goes over `@_`, which are the variables that a function is given.
fn goes_over_arguments(cutter: ChainCutter<'_>, rest: GroupSpan) -> bool {
    let is_given = |item: &CodeItem| item.is_name("$_");
    cutter.items(rest).windows(2).any(|pair| match pair {
        [block, given] => matches!(block.item, CodeItem::Group('{', _)) && is_given(&given.item),
        _ => false,
    }) || cutter.items(rest).iter().enumerate().any(|(at, token)| match &token.item {
        CodeItem::Group('(', inner) => matches!(cutter.tree.items(*inner), [only] if is_given(&only.item)),
        item => at == 0 && is_given(item),
    })
}

/// Says whether an item belongs to a choice between names: `a or b`, `c ? a : b`.
fn is_of_choice(item: &CodeItem) -> bool {
    matches!(
        item,
        CodeItem::Name(_) | CodeItem::Line | CodeItem::Mark("=" | "||" | "&&" | "??" | "?" | ":" | "//")
    )
}

/// Says whether an expression is a list or a table that is written out.
fn is_display(cutter: ChainCutter<'_>, span: GroupSpan) -> bool {
    matches!(cutter.items(cutter.trim(span)), [token] if matches!(token.item, CodeItem::Group('[' | '{', _)))
}

/// Says whether an expression is one call that gives something new.
fn is_fresh(cutter: ChainCutter<'_>, scope: &ProgramNames, span: GroupSpan) -> bool {
    let span = cutter.trim(span);
    let Some(chain) =
        cutter.chain(span.group, span.start, span.end).filter(|chain| chain.span.end == span.end)
    else {
        return false;
    };
    let base = cutter.tree.item(span.group, span.start).and_then(CodeItem::name);
    let called = match chain.steps.as_slice() {
        [.., ChainStep::Member(name), ChainStep::Call(_)] => Some(name.as_str()),
        [ChainStep::Call(_)] => base,
        [.., ChainStep::Member(name)] if cutter.profile.language == Language::Ruby => Some(name.as_str()),
        _ => None,
    };
    called.is_some_and(|name| has(FRESH, name) && !scope.functions.contains_key(name))
}

/// Returns every name in a stretch, whatever it is there for; members as members too.
fn names_in(cutter: ChainCutter<'_>, span: GroupSpan) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut open = vec![(span, 0)];
    while let Some((span, depth)) = open.pop() {
        let items = cutter.items(span);
        for (at, token) in items.iter().enumerate() {
            let before = at.checked_sub(1).and_then(|at| items.get(at)).and_then(|token| token.item.name());
            match &token.item {
                CodeItem::Name(name)
                    if !matches!(name.as_str(), "self" | "this" | "cls" | "$this" | "$self") =>
                {
                    names.insert(name.clone());
                    names.insert(format!(".{name}"));
                }
                CodeItem::Group('(', _) if before.is_some_and(|name| has(FRESH, name)) => {}
                CodeItem::Group(_, inner) if depth < DEEPEST => open.push((cutter.whole(*inner), depth + 1)),
                _ => {}
            }
        }
    }
    names
}
