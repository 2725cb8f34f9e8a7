//! Places that get a value: the names of loops and blocks (`for`, `foreach`, `of`, `with … as`), and whatever else a
//! program assigns to, element by element and in whichever form.

use super::binder::{Binder, STATEMENT_LIMIT};
use super::chain::{ChainCutter, GroupSpan};
use super::scope::NameMeaning;
use crate::code::Language;
use crate::code::tree::{CodeItem, WHOLE};

/// Marks behind a place that give it another value.
const SETTING: &[&str] = &[
    "=", ":=", "+=", "-=", "*=", "/=", "%=", ".=", "|=", "&=", "^=", "**=", "//=", ">>=", "<<=", ">>>=",
    "||=", "&&=", "??=", "++", "--",
];

/// Words after which brackets hold places and no arguments.
const BEFORE_PLACES: &[&str] = &[
    "as", "await", "begin", "const", "del", "delete", "do", "else", "for", "foreach", "let", "list", "local",
    "my", "our", "rescue", "state", "then", "undef", "unset", "var",
];

/// Words before a condition in brackets, behind which a statement may begin.
const BEFORE_CONDITIONS: &[&str] =
    &["catch", "elseif", "elsif", "for", "foreach", "if", "switch", "unless", "until", "while", "with"];

/// How far a statement is followed back to the word it begins with.
const FARTHEST: usize = 128;

/// How deep patterns are followed outwards.
const DEEPEST: usize = 16;

/// Tells which places of a program are given another value where they stand.
#[derive(Debug)]
pub(super) struct SetPlaces<'a> {
    cutter: ChainCutter<'a>,
    /// Where each group stands.
    parents: Vec<Option<(usize, usize)>>,
}

impl<'a> SetPlaces<'a> {
    pub(super) fn of(cutter: ChainCutter<'a>) -> Self {
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
        Self { cutter, parents }
    }

    /// Returns where a group stands; nothing for the whole program and for the code inside a string.
    pub(super) fn parent(&self, group: usize) -> Option<(usize, usize)> {
        self.parents.get(group).copied().flatten()
    }

    fn item(&self, group: usize, at: usize) -> Option<&'a CodeItem> {
        self.cutter.tree.item(group, at)
    }

    fn language(&self) -> Language {
        self.cutter.profile.language
    }

    /// Returns what stands right before a place.
    pub(super) fn before(&self, place: GroupSpan) -> Option<&'a CodeItem> {
        place.start.checked_sub(1).and_then(|at| self.item(place.group, at))
    }

    /// Returns where the item behind a place is; a line may end between them where that does not end the statement.
    fn next(&self, place: GroupSpan) -> usize {
        let may_go_on = !matches!(self.language(), Language::Python | Language::Ruby);
        let rest = self.cutter.tree.items(place.group).iter().skip(place.end);
        place.end + rest.take_while(|token| may_go_on && token.item == CodeItem::Line).count()
    }

    /// Says whether a place is given another value, or is taken away: by the mark behind it, the word before it, or as a
    /// part of a pattern or of a list of places. What cannot be told apart from that counts as well.
    pub(super) fn is_set(&self, place: GroupSpan) -> bool {
        let mut place = place;
        for _ in 0..DEEPEST {
            if self.is_set_behind(place) || self.is_set_before(place) || self.is_in_list(place) {
                return true;
            }
            let next = self.item(place.group, self.next(place));
            let is_part = next.is_none_or(|item| item.is_mark(","));
            match self.parent(place.group) {
                Some((group, at)) if is_part && !self.is_taken(group, at) => {
                    place = GroupSpan { group, start: at, end: at + 1 };
                }
                _ => return false,
            }
        }
        true
    }

    fn is_set_behind(&self, place: GroupSpan) -> bool {
        let at = self.next(place);
        let next_is_equal = || {
            let next = self.cutter.tree.items(place.group).get(at + 1);
            next.is_some_and(|token| token.item.is_mark("=") && !token.is_spaced)
        };
        match self.item(place.group, at) {
            // An operator may be called like a method: `x.<<(y)`.
            Some(CodeItem::Mark("." | "&." | "::")) if self.language() == Language::Ruby => true,
            Some(CodeItem::Mark("<<")) if self.language() == Language::Ruby => true,
            Some(CodeItem::Mark("=~")) => {
                matches!(self.item(place.group, at + 1), Some(CodeItem::Replacement(_)))
            }
            Some(CodeItem::Mark(":")) if self.language() == Language::Python => {
                place.group == WHOLE && self.begins_statement(place)
            }
            Some(CodeItem::Mark(mark)) => SETTING.contains(mark) || next_is_equal(),
            Some(CodeItem::Name(name)) if name == "x" => self.language() == Language::Perl && next_is_equal(),
            Some(CodeItem::Name(name)) if matches!(name.as_str(), "in" | "of") => self.is_loop(place.group),
            _ => false,
        }
    }

    /// Says whether a group is the head of a `for`.
    fn is_loop(&self, group: usize) -> bool {
        let word = self.parent(group).and_then(|(outer, at)| self.item(outer, at.checked_sub(1)?));
        word.and_then(CodeItem::name).is_some_and(|word| matches!(word, "for" | "await"))
    }

    fn begins_statement(&self, place: GroupSpan) -> bool {
        self.before(place).is_none_or(|item| matches!(item, CodeItem::Line | CodeItem::Mark(";" | ":")))
    }

    /// Says whether what stands before a place takes it away or hands it over to be set.
    fn is_set_before(&self, place: GroupSpan) -> bool {
        let is_close = self.cutter.items(place).first().is_some_and(|token| !token.is_spaced);
        match (self.language(), self.before(place)) {
            (_, Some(CodeItem::Mark("++" | "--"))) | (Language::Perl, Some(CodeItem::Mark("\\"))) => true,
            (Language::Php, Some(CodeItem::Mark("&"))) if is_close => true,
            (Language::Python, Some(CodeItem::Name(word))) if word == "as" => true,
            _ => self.follows_setting_word(place),
        }
    }

    /// Says whether the statement up to a place makes it one that is taken away or gone through: `del`, `for`.
    fn follows_setting_word(&self, place: GroupSpan) -> bool {
        let language = self.language();
        let is_ruled = matches!(language, Language::Python | Language::Ruby);
        for at in (place.start.saturating_sub(FARTHEST)..place.start).rev() {
            let before = at.checked_sub(1).and_then(|at| self.item(place.group, at));
            match self.item(place.group, at) {
                Some(CodeItem::Line) if !before.is_some_and(|item| item.is_mark(",")) => return false,
                Some(CodeItem::Mark(";")) => return false,
                Some(CodeItem::Name(_)) if before.is_some_and(|item| item.is_mark(".")) => {}
                Some(CodeItem::Name(word)) => match (word.as_str(), language) {
                    ("in", _) if is_ruled => return false,
                    ("for", _) if is_ruled => return true,
                    ("del", Language::Python)
                    | ("delete", Language::JavaScript)
                    | ("rescue", Language::Ruby)
                    | ("as" | "unset", Language::Php)
                    | ("local" | "undef", Language::Perl) => return true,
                    _ => {}
                },
                _ => {}
            }
        }
        place.start > FARTHEST
    }

    /// Says whether a place is one of several that are set together: `x[0], y = …`.
    fn is_in_list(&self, place: GroupSpan) -> bool {
        let may_list = matches!(self.language(), Language::Python | Language::Ruby);
        if !may_list
            || self.is_argument(place.group)
            || !self.item(place.group, place.end).is_some_and(|item| item.is_mark(","))
        {
            return false;
        }
        let mut is_behind_comma = false;
        for token in self.cutter.tree.items(place.group).iter().skip(place.end) {
            match token.item {
                CodeItem::Mark("=") => return true,
                CodeItem::Mark(";" | ":") => return false,
                CodeItem::Line if !is_behind_comma => return false,
                _ => is_behind_comma = token.item.is_mark(","),
            }
        }
        false
    }

    /// Says whether a group holds the arguments of a call or a subscript.
    pub(super) fn is_argument(&self, group: usize) -> bool {
        self.parent(group).is_some_and(|(outer, at)| self.is_taken(outer, at))
    }

    /// Says whether brackets are the arguments of a call or a subscript, so that what is in them is only read.
    fn is_taken(&self, group: usize, at: usize) -> bool {
        let items = self.cutter.tree.items(group);
        let Some(token) = items.get(at) else { return false };
        let before = at.checked_sub(1).and_then(|at| items.get(at)).map(|token| &token.item);
        let CodeItem::Group(open, _) = token.item else { return false };
        match before {
            Some(CodeItem::Mark("." | "?." | "->" | "&." | "::")) => true,
            Some(CodeItem::Name(name)) if open == '{' => {
                self.language() == Language::Perl && !token.is_spaced && name.starts_with('$')
            }
            Some(CodeItem::Name(name)) => !BEFORE_PLACES.contains(&name.as_str()),
            Some(CodeItem::Group('(', _)) => {
                let word = at.checked_sub(2).and_then(|at| items.get(at)).and_then(|token| token.item.name());
                !token.is_spaced && open != '{' && !word.is_some_and(|word| BEFORE_CONDITIONS.contains(&word))
            }
            Some(CodeItem::Group('[', _) | CodeItem::Text(_)) => !token.is_spaced && open != '{',
            _ => false,
        }
    }
}

impl Binder<'_> {
    /// Binds `for a in value` of loops and comprehensions.
    pub(super) fn bind_loop(&mut self, group: usize, start: usize) {
        let names_end =
            (start..start + FARTHEST).find(|at| self.item(group, *at).is_none_or(|item| item.is_name("in")));
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
                Some(CodeItem::Mark(".")) => {
                    let member = self.name(group, at + 1).unwrap_or_default();
                    self.scope.bind(&format!(".{member}"), NameMeaning::Element(value));
                }
                Some(CodeItem::Group('(' | '[', inner)) => {
                    names.extend(self.names_of(*inner));
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
        let names = match self.item(group, at + 1) {
            Some(CodeItem::Name(name)) => vec![name.clone()],
            Some(CodeItem::Group('(' | '[', inner)) => self.names_of(*inner),
            _ => return,
        };
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
        // `as owner.name` sets a member.
        if self.item(group, at + 2).is_some_and(|item| item.is_mark(".")) {
            let member = self.name(group, at + 3).unwrap_or_default();
            self.scope.bind(&format!(".{member}"), NameMeaning::Unknown);
        }
        let is_one = names.len() == 1;
        for name in names {
            let bound = if is_exception || !is_one {
                NameMeaning::Unknown
            } else {
                NameMeaning::Value(GroupSpan { group, start, end: at })
            };
            self.scope.bind(&name, bound);
        }
    }

    /// Returns all names that stand in a group, or in one inside.
    fn names_of(&self, group: usize) -> Vec<String> {
        let mut names = Vec::new();
        let mut open = vec![group];
        while let Some(group) = open.pop() {
            for token in self.cutter.tree.items(group) {
                match &token.item {
                    CodeItem::Name(name) => names.push(name.clone()),
                    CodeItem::Group(_, inner) => open.push(*inner),
                    _ => {}
                }
            }
        }
        names
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
        let length = self.cutter.tree.items(group).len();
        let patterns: Vec<usize> = (at + 1..length)
            .filter_map(|at| match self.item(group, at) {
                Some(CodeItem::Group(_, inner)) => Some(*inner),
                _ => None,
            })
            .collect();
        let name = (at + 1..length).rev().find_map(|at| self.name(group, at));
        if let Some(name) = name.filter(|_| patterns.is_empty()) {
            self.scope.bind(&name, NameMeaning::Element(value));
        }
        let names: Vec<String> = patterns.into_iter().flat_map(|inner| self.names_of(inner)).collect();
        for name in names {
            self.scope.bind(&name, NameMeaning::Unknown);
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
                for name in self.names_of(*inner) {
                    self.scope.bind(&name, NameMeaning::Unknown);
                }
            }
            _ => {}
        }
    }

    /// Binds `for (name in value)` of JavaScript to a key that nobody knows.
    pub(super) fn bind_keys(&mut self, group: usize, at: usize) {
        if let Some(name) = at.checked_sub(1).and_then(|before| self.name(group, before))
            && self.places.is_loop(group)
        {
            self.scope.bind(&name, NameMeaning::Unknown);
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

    /// Binds the parameters before `=>`.
    pub(super) fn bind_arrow(&mut self, group: usize, mark: usize) {
        let Some(before) = mark.checked_sub(1) else { return };
        if self.cutter.profile.language != Language::JavaScript {
            return;
        }
        match self.item(group, before) {
            Some(CodeItem::Name(name)) => {
                let name = name.clone();
                match self.element_source(group, before) {
                    Some(element) => self.scope.bind(&name, element),
                    None if self.has_name(group, before) => _ = self.scope.bounds.entry(name).or_default(),
                    None => self.scope.bind(&name, NameMeaning::Unknown),
                }
            }
            Some(CodeItem::Group('(', inner)) => {
                let inner = *inner;
                if self.has_name(group, before) {
                    self.parameters(inner);
                    return;
                }
                // Whoever gets the list as well may change it.
                let gets_list = self.cutter.split(self.cutter.whole(inner)).len() > 2
                    || self.cutter.tree.items(inner).iter().any(|token| token.item.is_mark("..."));
                let element = self.element_source(group, before).filter(|_| !gets_list);
                self.open_parameters(inner, element);
            }
            _ => {}
        }
    }

    /// Says whether the function whose parameters stand here is given a name, by which its calls are found.
    fn has_name(&self, group: usize, parameters: usize) -> bool {
        let before = |back: usize| parameters.checked_sub(back).and_then(|at| self.item(group, at));
        let is_async = before(1).is_some_and(|item| item.is_name("async"));
        let (mark, name) = if is_async { (before(2), before(3)) } else { (before(1), before(2)) };
        mark.is_some_and(|item| item.is_mark("=")) && matches!(name, Some(CodeItem::Name(_)))
    }

    /// Returns what the first parameter of an arrow function stands for that a method of a list is given: its elements.
    fn element_source(&self, group: usize, start: usize) -> Option<NameMeaning> {
        let is_first =
            start == 0 || start == 1 && self.item(group, 0).is_some_and(|item| item.is_name("async"));
        let (outer, at) = self.places.parent(group).filter(|_| is_first)?;
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

    pub(super) fn is_member_mark(&self, group: usize, at: usize) -> bool {
        self.item(group, at).is_some_and(|item| item.is_mark(".") || item.is_mark("?."))
    }

    /// Binds `|a, b|` of Ruby.
    pub(super) fn bind_block_parameters(&mut self, group: usize, mark: usize) {
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
            None => self.places.parent(group)?,
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
}
