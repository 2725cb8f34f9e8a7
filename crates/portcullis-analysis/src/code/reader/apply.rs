//! What calls do: finds the row of what is called and makes actions of it.

use super::CodeReader;
use super::chain::{Chain, GroupSpan};
use super::names::shown;
use super::scope::named_argument;
use super::value::{ANY_NAME, CodeValue, PACKAGE, PROJECT};
use crate::act::Act;
use crate::code::table::{Does, LibraryRow, On, module_name};
use crate::code::tree::CodeItem;
use crate::code::{CodeTarget, Language};

/// The names arguments have when they are given by name.
const PATH_NAMES: &[&str] = &[
    "path",
    "file",
    "filename",
    "src",
    "name",
    "fd",
    "path_or_buf",
    "buf",
    "filepath_or_buffer",
    "fname",
    "io",
];

impl CodeReader<'_> {
    /// Reads a call of one value.
    pub(super) fn read_call(
        &mut self,
        callee: &CodeValue,
        arguments: GroupSpan,
        chain: &Chain,
        place: usize,
    ) {
        match callee {
            CodeValue::Named(name) => self.read_named_call(name, arguments, chain, place),
            CodeValue::Member(kind, own, method) => {
                let is_own = self.is_own_method(chain, place, method);
                self.read_method_call(kind, own.as_deref(), method, Some(arguments), is_own);
            }
            // A text is called as the function of that name, as in `$f = "system"; $f("id")`.
            CodeValue::Text(name) if self.profile().language == Language::Php => {
                let name = name.to_ascii_lowercase();
                self.read_named_call(&name, arguments, chain, place);
            }
            CodeValue::Kind(kind @ (PROJECT | PACKAGE), of) => {
                self.call_of_module(kind, of.as_deref(), "", arguments);
            }
            CodeValue::Kind("document", _) => {}
            // Functions of the program itself are read where they stand.
            CodeValue::Own | CodeValue::Plain(_) | CodeValue::Decoded(_) => {}
            CodeValue::Kind(..) if self.profile().language == Language::Perl => {}
            _ => {
                let name = self.written(chain, place);
                self.gap(format!("calls `{name}`, which is only known at run time"));
            }
        }
    }

    /// Reads a call of something that has a full name: its row, the lists of harmless things, or else a gap.
    fn read_named_call(&mut self, name: &str, arguments: GroupSpan, chain: &Chain, place: usize) {
        self.signs.note_call(name);
        if let Some(row) = self.profile().row(name) {
            self.apply(row, None, Some(arguments), name);
        } else if !self.profile().is_harmless(name) {
            match name.rsplit_once('.') {
                // The words that the program is started with are a list like any other.
                Some((list, method))
                    if self.evaluator.given_words(&CodeValue::Named(list.to_owned())).is_some() =>
                {
                    self.read_method_call("list", None, method, Some(arguments), false);
                }
                // `x.unlink()` of a value nobody knows: what the method does on any value counts.
                Some((_, method)) if !self.knows_root(name) => {
                    let is_own = self.is_own_method(chain, place, method);
                    self.read_method_call("?", None, method, Some(arguments), is_own);
                }
                _ => self.gap(format!("calls `{}`, which is not known", shown(name))),
            }
        }
    }

    /// Says whether a method is called on the object itself and the program defines it.
    fn is_own_method(&self, chain: &Chain, place: usize, method: &str) -> bool {
        let base = self.cutter().tree.item(chain.span.group, chain.span.start).and_then(CodeItem::name);
        place == 1
            && base.is_some_and(|base| matches!(base, "self" | "this" | "cls" | "$this" | "$self"))
            && self.evaluator.scope.defines(method)
    }

    /// Reads a call of a method: the row for this kind of value first, what is harmless on all, then the row for any.
    fn read_method_call(
        &mut self,
        kind: &str,
        own: Option<&str>,
        method: &str,
        arguments: Option<GroupSpan>,
        is_own: bool,
    ) {
        self.signs.note_call(method);
        if is_own {
            return;
        }
        if let (PROJECT | PACKAGE, Some(arguments)) = (kind, arguments) {
            self.call_of_module(kind, own, method, arguments);
            return;
        }
        let profile = self.profile();
        if let Some(row) = profile.method(kind, method) {
            self.apply(row, own, arguments, method);
            return;
        }
        if kind == "plain" || profile.is_harmless_method(method) {
            return;
        }
        if let Some(row) = profile.method("?", method) {
            self.apply(row, own, arguments, method);
        } else if !self.evaluator.scope.defines(method) && !matches!(kind, "text" | "list") {
            self.gap(format!("calls `.{}`, which is not known", shown(method)));
        }
    }

    /// Returns a chain up to a step as it is written.
    fn written(&self, chain: &Chain, place: usize) -> String {
        let mut name = match self.cutter().tree.item(chain.span.group, chain.span.start) {
            Some(CodeItem::Name(name)) => shown(name),
            _ => "…".to_owned(),
        };
        for step in chain.steps.iter().take(place) {
            match step {
                super::ChainStep::Member(member) => {
                    name.push('.');
                    name.push_str(&shown(member));
                }
                super::ChainStep::Call(_) => name.push_str("()"),
                super::ChainStep::Index(_) => name.push_str("[]"),
            }
        }
        name.chars().take(60).collect()
    }

    /// Makes actions of a row; without arguments, of one that is called elsewhere.
    pub(super) fn apply(
        &mut self,
        row: &LibraryRow,
        own: Option<&str>,
        arguments: Option<GroupSpan>,
        name: &str,
    ) {
        match row.does {
            Does::Nothing => {}
            Does::Act(act, on) => self.act(act, on, own, arguments),
            Does::Both(first, first_on, second, second_on) => {
                self.act(first, first_on, own, arguments);
                self.act(second, second_on, own, arguments);
            }
            Does::Open(place) => self.open(place, own, arguments),
            Does::PerlOpen => self.open_perl(arguments),
            Does::Request(place) => self.request(place, own, arguments),
            Does::Variables => {
                self.signs.takes_variables = true;
                if arguments.is_none() {
                    self.out.add(Act::Environment, CodeTarget::None);
                }
            }
            Does::Fork => self.signs.forks = true,
            Does::Redirect => self.redirect(arguments),
            Does::Import => self.import(arguments, name),
            Does::Callback => self.call_back(arguments),
            Does::Member => self.member_by_name(arguments),
            Does::Gap => self.gap(format!("calls `{}`, which nobody can follow", shown(name))),
            Does::Code(_)
            | Does::Sql(_)
            | Does::Shell(_)
            | Does::Command
            | Does::Words(_)
            | Does::Spawn
            | Does::System
            | Does::Terminal => {
                self.run(row.does, own, arguments, name);
            }
        }
    }

    /// Says whether an argument is only known at run time, wholly or in part.
    pub(super) fn is_computed(&self, arguments: Option<GroupSpan>) -> bool {
        let Some(arguments) = arguments else { return false };
        let parts = self.cutter().split(arguments);
        let spans = parts.iter().map(|part| named_argument(self.cutter(), *part).1);
        spans.flat_map(|span| self.evaluator.values(span)).any(|value| {
            matches!(value, CodeValue::Unknown | CodeValue::Partial(_) | CodeValue::Kind(_, None))
        })
    }

    /// Adds an act of a row, done to what its arguments name.
    fn act(&mut self, act: Act, on: On, own: Option<&str>, arguments: Option<GroupSpan>) {
        self.signs.carries |= act == Act::Fetch && self.is_computed(arguments);
        self.signs.connects |= matches!(act, Act::Connect | Act::Listen);
        let objects = match on {
            On::Nowhere => vec![CodeTarget::None],
            On::Fixed(name) => vec![CodeTarget::Name(name.to_owned())],
            On::Own => vec![own_object(act, own)],
            On::Path(place) => self.paths(arguments, place),
            On::Paths => self.all_paths(arguments),
            On::PathIfGiven(place) => match self.argument(arguments, place, PATH_NAMES) {
                Some(values) => values.iter().flat_map(path_objects).collect(),
                None if arguments.is_some() => Vec::new(),
                None => vec![CodeTarget::SomePath],
            },
            On::PathIfNamed => match self.argument(arguments, usize::MAX, PATH_NAMES) {
                Some(values) => values.iter().flat_map(path_objects).collect(),
                None => Vec::new(),
            },
            On::Host(place) => self.hosts(arguments, place),
            On::Name(place) => self.names(arguments, place),
        };
        for object in objects {
            match (act, object) {
                // Functions that take a file often take an address too, and Perl and Ruby a command after a bar.
                (Act::Read, CodeTarget::Path(path)) if is_url(&path) => {
                    // What stands beside the address may be a body.
                    let is_alone = arguments.is_some_and(|span| self.cutter().split(span).len() < 3);
                    let act = if is_alone { Act::Fetch } else { Act::Send };
                    self.out.add(act, CodeTarget::Host(path));
                }
                (Act::Read | Act::Write, CodeTarget::Path(path)) if path.starts_with("php://") => {}
                (Act::Read, CodeTarget::Path(path)) if path.starts_with('|') => {
                    self.run_shell(&CodeValue::Text(path.trim_start_matches('|').to_owned()));
                }
                (Act::Write, CodeTarget::Path(path)) if is_url(&path) => {
                    self.out.add(Act::Send, CodeTarget::Host(path));
                }
                (act, object) => self.out.add(act, object),
            }
        }
    }

    /// Returns what an argument may stand for, by its place or one of its names.
    pub(super) fn argument(
        &self,
        arguments: Option<GroupSpan>,
        place: usize,
        names: &[&str],
    ) -> Option<Vec<CodeValue>> {
        let parts: Vec<(Option<String>, GroupSpan)> =
            self.cutter().split(arguments?).iter().map(|part| named_argument(self.cutter(), *part)).collect();
        let by_name =
            parts.iter().find(|(name, _)| name.as_deref().is_some_and(|name| names.contains(&name)));
        let by_place = || parts.get(place).filter(|(name, _)| name.is_none());
        let (_, span) = by_name.or_else(by_place)?;
        Some(self.evaluator.values(*span))
    }

    /// Returns the last argument that has no name.
    pub(super) fn last_argument(&self, arguments: Option<GroupSpan>) -> Option<Vec<CodeValue>> {
        let parts = self.cutter().split(arguments?);
        Some(self.evaluator.values(*parts.last()?))
    }

    /// Returns the paths that an argument names; an argument that is missing or computed is some path.
    pub(super) fn paths(&self, arguments: Option<GroupSpan>, place: usize) -> Vec<CodeTarget> {
        match self.argument(arguments, place, PATH_NAMES) {
            Some(values) => values.iter().flat_map(path_objects).collect(),
            None => vec![CodeTarget::SomePath],
        }
    }

    /// Returns the paths that all arguments without a name are.
    fn all_paths(&self, arguments: Option<GroupSpan>) -> Vec<CodeTarget> {
        let Some(arguments) = arguments else { return vec![CodeTarget::SomePath] };
        let parts = self.cutter().split(arguments);
        let values =
            parts.iter().map(|part| named_argument(self.cutter(), *part)).filter(|(name, _)| name.is_none());
        let objects: Vec<CodeTarget> = values
            .flat_map(|(_, span)| self.evaluator.values(span))
            .flat_map(|value| path_objects(&value))
            .collect();
        if objects.is_empty() { vec![CodeTarget::SomePath] } else { objects }
    }

    /// Returns the hosts that an argument names, with the port if the next one tells it.
    pub(super) fn hosts(&self, arguments: Option<GroupSpan>, place: usize) -> Vec<CodeTarget> {
        let Some(values) = self.argument(arguments, place, &["url", "host", "address", "hostname"]) else {
            return vec![CodeTarget::SomeHost];
        };
        let port = self.argument(arguments, place + 1, &["port"]);
        values.iter().map(|value| host_object(value, port.as_deref())).collect()
    }

    /// Returns the names that an argument holds: a process, a variable, the port of a pair.
    fn names(&self, arguments: Option<GroupSpan>, place: usize) -> Vec<CodeTarget> {
        let Some(values) = self.argument(arguments, place, &["name", "pid"]) else {
            return vec![CodeTarget::None];
        };
        let objects = values.iter().map(|value| match value {
            CodeValue::Text(name) | CodeValue::Plain(name) | CodeValue::Kind(_, Some(name)) => {
                CodeTarget::Name(name.clone())
            }
            CodeValue::List(values) => match values.as_slice() {
                [.., CodeValue::Plain(port)] => CodeTarget::Name(port.clone()),
                _ => CodeTarget::None,
            },
            _ => CodeTarget::None,
        });
        objects.collect()
    }

    /// Reads the mode a file is opened in.
    fn open(&mut self, place: usize, own: Option<&str>, arguments: Option<GroupSpan>) {
        let paths = match (own, place) {
            (Some(own), 0) => vec![CodeTarget::Path(own.to_owned())],
            (None, 0) => vec![CodeTarget::SomePath],
            _ => self.paths(arguments, 0),
        };
        let modes = match arguments {
            // Called elsewhere by somebody: any mode.
            None => vec![CodeValue::Unknown],
            Some(_) => self
                .argument(arguments, place, &["mode"])
                .unwrap_or_else(|| vec![CodeValue::Text("r".to_owned())]),
        };
        for mode in modes {
            // A mode that is computed may be any; without one a file is only read.
            let (reads, writes) = match &mode {
                CodeValue::Text(mode) => {
                    (mode.contains(['r', '+']), mode.contains(['w', 'a', 'x', '+', 'c']))
                }
                CodeValue::Plain(_) | CodeValue::Kind(..) => (true, false),
                _ => (true, true),
            };
            for path in &paths {
                match path {
                    CodeTarget::Path(path) if path.starts_with('|') => {
                        self.run_shell(&CodeValue::Text(path.trim_start_matches('|').to_owned()));
                    }
                    CodeTarget::Path(path) if is_url(path) => {
                        self.out.add(Act::Fetch, CodeTarget::Host(path.clone()));
                    }
                    CodeTarget::Path(path) if path.starts_with("php://") => {}
                    _ => {
                        if writes {
                            self.out.add(Act::Write, path.clone());
                        }
                        if reads && !(writes && matches!(&mode, CodeValue::Text(_))) {
                            self.out.add(Act::Read, path.clone());
                        }
                    }
                }
            }
        }
    }

    /// Reads a standard stream that is joined to something else: a connection, or a file that is named.
    fn redirect(&mut self, arguments: Option<GroupSpan>) {
        self.signs.redirects = true;
        if self.profile().language != Language::Ruby {
            return;
        }
        for value in self.argument(arguments, 0, &[]).unwrap_or_default() {
            if let CodeValue::Text(path) = value {
                self.out.add(Act::Write, CodeTarget::Path(path));
            }
        }
    }

    /// Reads a module that is loaded by a call: `__import__("os")`, `require("fs")`.
    fn import(&mut self, arguments: Option<GroupSpan>, name: &str) {
        for value in self.argument(arguments, 0, &["name"]).unwrap_or_else(|| vec![CodeValue::Unknown]) {
            match value {
                CodeValue::Text(module)
                    if self.profile().language == Language::JavaScript
                        && module.strip_suffix(".json").is_some() =>
                {
                    self.out.add(Act::Read, CodeTarget::Path(module));
                }
                CodeValue::Text(module) if name == "require_relative" => {
                    self.load(&super::binder::relative_file(&module));
                }
                CodeValue::Text(module) => {
                    self.load(&module);
                    super::signs::note_load(&module_name(&module), &mut self.out);
                }
                _ => self.gap("loads something that is only known at run time".to_owned()),
            }
        }
    }

    /// Reads functions that are handed over by their names.
    fn call_back(&mut self, arguments: Option<GroupSpan>) {
        let Some(arguments) = arguments else {
            self.gap("hands a function over that is only known at run time".to_owned());
            return;
        };
        for part in self.cutter().split(arguments) {
            for value in self.evaluator.values(part) {
                if let CodeValue::Text(name) = value
                    && let Some(row) = self.profile().row(&name.to_ascii_lowercase())
                {
                    self.apply(row, None, None, &name);
                }
            }
        }
        if self.argument(Some(arguments), 0, &[]).is_some_and(|values| values.contains(&CodeValue::Unknown))
            && self
                .argument(Some(arguments), 1, &[])
                .is_none_or(|values| values.contains(&CodeValue::Unknown))
        {
            self.gap("hands a function over that is only known at run time".to_owned());
        }
    }

    /// Reads `getattr(os, "system")`: with a computed name it is any member, and `__…` leads out of every list.
    fn member_by_name(&mut self, arguments: Option<GroupSpan>) {
        let owners = self.argument(arguments, 0, &[]).unwrap_or_else(|| vec![CodeValue::Unknown]);
        let names = self.argument(arguments, 1, &[]).unwrap_or_else(|| vec![CodeValue::Unknown]);
        let is_library = owners.iter().any(|owner| matches!(owner, CodeValue::Named(_)));
        if is_library && !names.iter().all(|name| matches!(name, CodeValue::Text(_))) {
            self.gap("takes a member of a library whose name is computed".to_owned());
        }
        for owner in &owners {
            for name in &names {
                if let (CodeValue::Named(owner), CodeValue::Text(name)) = (owner, name)
                    && name.starts_with("__")
                {
                    self.gap(format!("reaches into `{}`", shown(owner)));
                }
            }
        }
    }
}

/// Returns the path of an address of a file, as databases take it: `file:dev.db?mode=ro`.
fn without_scheme(path: &str) -> &str {
    match path.strip_prefix("file:") {
        Some(rest) => rest.strip_prefix("//").unwrap_or(rest).split('?').next().unwrap_or(rest),
        None => path,
    }
}

fn is_url(path: &str) -> bool {
    ["http://", "https://", "ftp://"].iter().any(|scheme| path.starts_with(scheme))
}

/// Returns what a value itself stands for, as a host or a path by the nature of the act.
fn own_object(act: Act, own: Option<&str>) -> CodeTarget {
    let is_host = matches!(act, Act::Send | Act::Fetch | Act::Connect | Act::RemoteRun | Act::Message);
    match (own, is_host) {
        (Some(own), true) => CodeTarget::Host(own.to_owned()),
        (None, true) => CodeTarget::SomeHost,
        (Some(own), false) => CodeTarget::Path(own.to_owned()),
        (None, false) => CodeTarget::SomePath,
    }
}

/// Returns the paths a value stands for; a number is an open file and no path.
fn path_objects(value: &CodeValue) -> Vec<CodeTarget> {
    match value {
        CodeValue::Text(path) | CodeValue::Decoded(path) | CodeValue::Kind("path" | "file", Some(path)) => {
            vec![CodeTarget::Path(without_scheme(path).to_owned())]
        }
        CodeValue::Kind("name", _) => vec![CodeTarget::Path(ANY_NAME.to_owned())],
        CodeValue::Plain(_) | CodeValue::Kind("file" | "stream", None) => Vec::new(),
        CodeValue::List(values) | CodeValue::Mixed(values) => values
            .iter()
            .map(|value| match value {
                CodeValue::Text(path) | CodeValue::Kind("path", Some(path)) => CodeTarget::Path(path.clone()),
                _ => CodeTarget::SomePath,
            })
            .collect(),
        _ => vec![CodeTarget::SomePath],
    }
}

/// Returns the host that a value names: a text, an address with its port, or the known beginning of a URL.
fn host_object(value: &CodeValue, port: Option<&[CodeValue]>) -> CodeTarget {
    match value {
        CodeValue::Text(host) | CodeValue::Kind(_, Some(host)) => match port {
            Some([CodeValue::Plain(port)]) if !host.contains("://") && port.parse::<u16>().is_ok() => {
                CodeTarget::Host(format!("{host}:{port}"))
            }
            _ => CodeTarget::Host(host.clone()),
        },
        CodeValue::List(values) => match values.as_slice() {
            [CodeValue::Text(host), CodeValue::Plain(port), ..] => CodeTarget::Host(format!("{host}:{port}")),
            [CodeValue::Text(host), ..] => CodeTarget::Host(host.clone()),
            _ => CodeTarget::SomeHost,
        },
        CodeValue::Partial(pieces) => match pieces.first() {
            Some(Some(prefix)) if prefix.split_once("://").is_some_and(|(_, rest)| rest.contains('/')) => {
                CodeTarget::Host(prefix.clone())
            }
            _ => CodeTarget::SomeHost,
        },
        _ => CodeTarget::SomeHost,
    }
}
