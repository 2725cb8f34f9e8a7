//! What a program does without calling: members it reaches for, functions it hands over, libraries it changes.

use super::chain::{Chain, ChainStep, GroupSpan};
use super::names::shown;
use super::value::{CodeValue, PACKAGE, PROJECT};
use super::{CodeReader, signs};
use crate::act::Act;
use crate::code::table::Does;
use crate::code::tree::{CodeItem, WHOLE};
use crate::code::{CodeTarget, Language};

impl CodeReader<'_> {
    /// Reads what is no chain: commands in backquotes, loops without end.
    pub(super) fn read_item(&mut self, group: usize, at: usize) {
        match self.cutter().tree.item(group, at) {
            Some(CodeItem::Shell(pieces)) => {
                for value in self.evaluator.text(pieces, 0) {
                    self.run_shell(&value);
                }
            }
            Some(CodeItem::Name(name)) if name == "while" || name == "loop" || name == "for" => {
                self.signs.loops |= signs::is_endless(self.cutter().tree, group, at);
            }
            Some(CodeItem::Name(name)) if name == "do" && self.profile().language == Language::Perl => {
                self.read_perl_do(group, at + 1);
            }
            Some(CodeItem::Mark("@")) if self.profile().language == Language::Python => {
                self.read_decorator(group, at + 1);
            }
            Some(CodeItem::Mark("<")) if self.profile().language == Language::Perl => {
                self.read_angle(group, at);
            }
            _ => {}
        }
    }

    /// Reads `do 'file'` of Perl, which runs a script; `do {…}` is a block.
    fn read_perl_do(&mut self, group: usize, at: usize) {
        match self.cutter().tree.item(group, at) {
            Some(CodeItem::Group('{', _)) => return,
            Some(CodeItem::Text(pieces)) => match self.evaluator.text(pieces, 0).as_slice() {
                [CodeValue::Text(path)] => self.out.add(Act::Execute, CodeTarget::Path(path.clone())),
                _ => self.out.add(Act::Execute, CodeTarget::SomePath),
            },
            _ => {}
        }
        self.gap("runs a script that is not read".to_owned());
    }

    /// Reads the decorator of a function, which is called with it.
    pub(super) fn read_decorator(&mut self, group: usize, at: usize) {
        let Some(chain) = self.cutter().chain(group, at, at + 16) else { return };
        if matches!(chain.steps.last(), Some(ChainStep::Call(_))) {
            return;
        }
        let mut values = self.evaluator.base(group, at, 0);
        for step in &chain.steps {
            values = self.evaluator.step_all(&values, step, 0);
        }
        let nothing = GroupSpan { group, start: at, end: at };
        for value in &values {
            self.read_call(value, nothing, &chain, chain.steps.len());
        }
    }

    /// Reads `<*.txt>` of Perl, which lists files; `<STDIN>` and `<$file>` read what is open.
    pub(super) fn read_angle(&mut self, group: usize, at: usize) {
        if self.cutter().tree.item(group, at + 1).is_some_and(|item| item.is_mark("*")) {
            self.out.add(Act::List, CodeTarget::SomePath);
        }
    }

    /// Says whether a chain names something rather than uses it.
    pub(super) fn is_definition(&self, chain: &Chain) -> bool {
        let GroupSpan { group, start, .. } = chain.span;
        let tree = self.cutter().tree;
        let before = start.checked_sub(1).and_then(|at| tree.item(group, at));
        let Some(CodeItem::Name(_)) = tree.item(group, start) else { return false };
        if before.and_then(CodeItem::name).is_some_and(|word| {
            matches!(
                word,
                "def" | "function" | "sub" | "class" | "module" | "use" | "no" | "package" | "alias"
            )
        }) {
            return true;
        }
        if self.evaluator.scope.skips.contains(&(group, start)) {
            return true;
        }
        let next = tree.item(group, start + 1);
        let is_key = match self.profile().language {
            Language::JavaScript => {
                next.is_some_and(|item| item.is_mark(":")) && !before.is_some_and(|item| item.is_mark("?"))
            }
            Language::Ruby => {
                tree.items(group)
                    .get(start + 1)
                    .is_some_and(|token| token.item.is_mark(":") && !token.is_spaced)
                    || next.is_some_and(|item| item.is_mark("=>"))
            }
            Language::Perl => {
                // `{unlink}` may be a block as well as a key.
                let is_key_alone = group != WHOLE && tree.items(group).len() == 1 && chain.steps.is_empty();
                next.is_some_and(|item| item.is_mark("=>")) || is_key_alone && !self.acts_alone(group, start)
            }
            Language::Python => group != WHOLE && next.is_some_and(|item| item.is_mark("=")),
            _ => false,
        };
        let is_method = self.profile().language == Language::JavaScript
            && matches!(next, Some(CodeItem::Group('(', _)))
            && matches!(tree.item(group, start + 2), Some(CodeItem::Group('{', _)));
        is_key
            || is_method
            || before.is_some_and(|item| item.is_mark("\\") && self.profile().language == Language::Perl)
    }

    /// Says whether a name is one of a function that does something without being given anything.
    fn acts_alone(&self, group: usize, at: usize) -> bool {
        let name = self.cutter().tree.item(group, at).and_then(CodeItem::name).unwrap_or_default();
        self.profile().row(name).is_some_and(|row| row.does != Does::Nothing)
    }

    /// Reads a member that leads out of what is known, and variables of the environment.
    pub(super) fn read_member(&mut self, values: &[CodeValue], name: &str) {
        const KNOWN: &[&str] = &[
            "__add__",
            "__call__",
            "__class__",
            "__contains__",
            "__dict__",
            "__doc__",
            "__enter__",
            "__eq__",
            "__exit__",
            "__file__",
            "__getitem__",
            "__hash__",
            "__init__",
            "__iter__",
            "__len__",
            "__lt__",
            "__name__",
            "__next__",
            "__path__",
            "__post_init__",
            "__qualname__",
            "__repr__",
            "__setitem__",
            "__str__",
            "__traceback__",
            "__version__",
        ];
        if self.profile().language == Language::Python
            && name.starts_with("__")
            && KNOWN.binary_search(&name).is_err()
        {
            self.gap(format!("reaches for `{}`", shown(name)));
        }
        let is_of_module = |value: &CodeValue| {
            matches!(value, CodeValue::Kind(PROJECT | PACKAGE, _) | CodeValue::Member(PROJECT | PACKAGE, ..))
        };
        if values.iter().any(is_of_module) {
            self.read_module_member(name);
        }
        for value in values {
            self.read_request_member(value, name);
            if let CodeValue::Named(owner) = value
                && (name == "__dict__" || name == "__proto__")
            {
                self.gap(format!("reaches into `{}`", shown(owner)));
            }
            if self.is_environment(value) && self.profile().row(&member_name(value, name)).is_none() {
                self.out.add(Act::Environment, CodeTarget::Name(name.to_owned()));
            }
        }
    }

    pub(super) fn read_index(&mut self, values: &[CodeValue], inner: GroupSpan) {
        for value in values {
            if self.is_environment(value) {
                for name in self.evaluator.values(inner) {
                    let object = match name {
                        CodeValue::Text(name) | CodeValue::Named(name) => CodeTarget::Name(name),
                        _ => CodeTarget::None,
                    };
                    self.out.add(Act::Environment, object);
                }
            }
        }
    }

    pub(super) fn is_environment(&self, value: &CodeValue) -> bool {
        matches!(value, CodeValue::Named(name) if self.profile().row(name).is_some_and(|row| row.does == Does::Variables))
    }

    /// Reads a function that is named without being called: whoever gets it may call it.
    pub(super) fn read_mention(&mut self, value: &CodeValue, chain: &Chain) {
        if let CodeValue::Member(kind @ (PROJECT | PACKAGE), Some(of), name) = value {
            if self.is_argument(chain) {
                self.read_module_mention(kind, of, name);
            }
            return;
        }
        let CodeValue::Named(name) = value else { return };
        let Some(row) = self.profile().row(name) else { return };
        if row.does == Does::Nothing || self.is_alias(chain) {
            return;
        }
        self.apply(row, None, None, name);
    }

    /// Says whether a chain is a whole argument or element, so that it goes to whoever takes it.
    fn is_argument(&self, chain: &Chain) -> bool {
        let GroupSpan { group, start, end } = chain.span;
        let tree = self.cutter().tree;
        let is_end = |item: Option<&CodeItem>| item.is_none_or(|item| item.is_mark(","));
        let before = start.checked_sub(1).and_then(|at| tree.item(group, at));
        let is_begin = is_end(before) || before.is_some_and(|item| item.is_mark("=") || item.is_mark(":"));
        group != WHOLE && is_begin && is_end(tree.item(group, end))
    }

    /// Says whether a chain is only given another name, which the calls of that name tell.
    pub(super) fn is_alias(&self, chain: &Chain) -> bool {
        let GroupSpan { group, start, end } = chain.span;
        let tree = self.cutter().tree;
        let follows = tree
            .item(group, end)
            .is_none_or(|item| matches!(item, CodeItem::Line | CodeItem::Mark(";" | ",")));
        let Some(target) = start.checked_sub(2).and_then(|at| tree.item(group, at)).and_then(CodeItem::name)
        else {
            return false;
        };
        let is_assigned =
            start.checked_sub(1).and_then(|at| tree.item(group, at)).is_some_and(|item| item.is_mark("="));
        let is_member =
            start.checked_sub(3).and_then(|at| tree.item(group, at)).is_some_and(|item| item.is_mark("."));
        let is_hidden = target.starts_with("__") || self.profile().is_harmless_method(target) || is_member;
        let is_outermost = group == WHOLE || self.profile().language != Language::Python;
        is_assigned && follows && !is_hidden && is_outermost
    }

    /// Reads an assignment that changes a library.
    pub(super) fn read_change(&mut self, chain: &Chain) {
        let GroupSpan { group, start, end } = chain.span;
        let is_assigned = self.cutter().tree.item(group, end).is_some_and(|item| item.is_mark("="));
        if !is_assigned || chain.steps.is_empty() {
            return;
        }
        let mut values = self.evaluator.base(group, start, 0);
        for step in &chain.steps {
            if let ChainStep::Member(_) = step {
                values = self.evaluator.step_all(&values, step, 0);
            }
        }
        for value in values {
            if let CodeValue::Named(name) = value
                && self.knows_root(&name)
                && !self.profile().may_change(&name)
            {
                self.gap(format!("changes `{}`", shown(&name)));
            }
        }
    }

    /// Reads a chain that leads through a harmless module to one that is not: `collections.abc.sys.modules`.
    pub(super) fn read_inner(&mut self, chain: &Chain) {
        let GroupSpan { group, start, .. } = chain.span;
        let mut values = self.evaluator.base(group, start, 0);
        for step in &chain.steps {
            let ChainStep::Member(_) = step else { return };
            values = self.evaluator.step_all(&values, step, 0);
            for value in &values {
                if let CodeValue::Named(name) = value
                    && self.profile().leads_on(name)
                {
                    self.gap(format!("reaches `{}`", shown(name)));
                    return;
                }
            }
        }
    }

    /// Says whether a full name begins with something the tables know.
    pub(super) fn knows_root(&self, name: &str) -> bool {
        let root = name.split('.').next().unwrap_or(name);
        let profile = self.profile();
        profile.is_known_module(root)
            || profile.is_harmless(root)
            || profile.row(root).is_some()
            || profile.has_members(root)
    }
}

fn member_name(value: &CodeValue, name: &str) -> String {
    match value {
        CodeValue::Named(owner) => format!("{owner}.{name}"),
        _ => name.to_owned(),
    }
}
