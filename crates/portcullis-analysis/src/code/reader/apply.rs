//! What calls do: finds the row of what is called and makes deeds of it.

use super::chain::{Chain, Span};
use super::scope::named_argument;
use super::value::Value;
use super::{Reader, shown};
use crate::act::Act;
use crate::code::table::{Does, On, Row};
use crate::code::tree::Item;
use crate::code::{Language, Object};

/// The names arguments have when they are given by name.
const PATH_NAMES: &[&str] = &["path", "file", "filename", "src", "name", "fd"];

impl Reader<'_> {
    /// Reads a call of one value.
    pub(super) fn read_call(&mut self, callee: &Value, arguments: Span, chain: &Chain, place: usize) {
        match callee {
            Value::Named(name) => self.read_named_call(name, arguments, chain, place),
            Value::Member(kind, own, method) => {
                let is_own = self.is_own_method(chain, place, method);
                self.read_method_call(kind, own.as_deref(), method, Some(arguments), is_own);
            }
            Value::Text(name) if self.profile().language == Language::Php => {
                let name = name.to_ascii_lowercase();
                self.read_named_call(&name, arguments, chain, place);
            }
            Value::Own | Value::Plain(_) | Value::Decoded(_) => {}
            Value::Kind(..) if self.profile().language == Language::Perl => {}
            _ => {
                let name = self.written(chain, place);
                self.gap(format!("calls `{name}`, which is only known at run time"));
            }
        }
    }

    fn read_named_call(&mut self, name: &str, arguments: Span, chain: &Chain, place: usize) {
        self.signs.note_call(name);
        if let Some(row) = self.profile().row(name) {
            self.apply(row, None, Some(arguments), name);
        } else if !self.profile().is_harmless(name) {
            match name.rsplit_once('.') {
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
        let base = self.cutter().tree.item(chain.span.group, chain.span.start).and_then(Item::name);
        place == 1
            && base.is_some_and(|base| matches!(base, "self" | "this" | "cls" | "$this" | "$self"))
            && self.evaluator.scope.defines(method)
    }

    fn read_method_call(
        &mut self,
        kind: &str,
        own: Option<&str>,
        method: &str,
        arguments: Option<Span>,
        is_own: bool,
    ) {
        self.signs.note_call(method);
        if is_own {
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
            Some(Item::Name(name)) => shown(name),
            _ => "…".to_owned(),
        };
        for step in chain.steps.iter().take(place) {
            match step {
                super::Step::Member(member) => {
                    name.push('.');
                    name.push_str(&shown(member));
                }
                super::Step::Call(_) => name.push_str("()"),
                super::Step::Index(_) => name.push_str("[]"),
            }
        }
        name.chars().take(60).collect()
    }

    /// Makes deeds of a row; without arguments, of one that is called elsewhere.
    pub(super) fn apply(&mut self, row: &Row, own: Option<&str>, arguments: Option<Span>, name: &str) {
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
                    self.out.add(Act::Environment, Object::None);
                }
            }
            Does::Fork => self.signs.forks = true,
            Does::Redirect => self.signs.redirects = true,
            Does::Import => self.import(arguments),
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
                self.run(row.does, arguments, name);
            }
        }
    }

    /// Says whether an argument is only known at run time, wholly or in part.
    fn is_computed(&self, arguments: Option<Span>) -> bool {
        let Some(arguments) = arguments else { return false };
        let parts = self.cutter().split(arguments);
        let spans = parts.iter().map(|part| named_argument(self.cutter(), *part).1);
        spans
            .flat_map(|span| self.evaluator.values(span))
            .any(|value| matches!(value, Value::Unknown | Value::Partial(_) | Value::Kind(_, None)))
    }

    fn act(&mut self, act: Act, on: On, own: Option<&str>, arguments: Option<Span>) {
        self.signs.carries |= act == Act::Fetch && self.is_computed(arguments);
        self.signs.connects |= matches!(act, Act::Connect | Act::Listen);
        let objects = match on {
            On::Nowhere => vec![Object::None],
            On::Fixed(name) => vec![Object::Name(name.to_owned())],
            On::Own => vec![own_object(act, own)],
            On::Path(place) => self.paths(arguments, place),
            On::Paths => self.all_paths(arguments),
            On::PathIfNamed => match self.argument(arguments, usize::MAX, PATH_NAMES) {
                Some(values) => values.iter().flat_map(path_objects).collect(),
                None => Vec::new(),
            },
            On::Host(place) => self.hosts(arguments, place),
            On::Name(place) => self.names(arguments, place),
        };
        for object in objects {
            match (act, object) {
                (Act::Read, Object::Path(path)) if is_url(&path) => {
                    self.out.add(Act::Fetch, Object::Host(path));
                }
                (Act::Read | Act::Write, Object::Path(path)) if path.starts_with("php://") => {}
                (Act::Read, Object::Path(path)) if path.starts_with('|') => {
                    self.run_shell(&Value::Text(path.trim_start_matches('|').to_owned()));
                }
                (Act::Write, Object::Path(path)) if is_url(&path) => {
                    self.out.add(Act::Send, Object::Host(path));
                }
                (act, object) => self.out.add(act, object),
            }
        }
    }

    /// Returns what an argument may stand for, by its place or one of its names.
    pub(super) fn argument(
        &self,
        arguments: Option<Span>,
        place: usize,
        names: &[&str],
    ) -> Option<Vec<Value>> {
        let parts: Vec<(Option<String>, Span)> =
            self.cutter().split(arguments?).iter().map(|part| named_argument(self.cutter(), *part)).collect();
        let by_name =
            parts.iter().find(|(name, _)| name.as_deref().is_some_and(|name| names.contains(&name)));
        let by_place = || parts.get(place).filter(|(name, _)| name.is_none());
        let (_, span) = by_name.or_else(by_place)?;
        Some(self.evaluator.values(*span))
    }

    /// Returns the last argument that has no name.
    pub(super) fn last_argument(&self, arguments: Option<Span>) -> Option<Vec<Value>> {
        let parts = self.cutter().split(arguments?);
        Some(self.evaluator.values(*parts.last()?))
    }

    pub(super) fn paths(&self, arguments: Option<Span>, place: usize) -> Vec<Object> {
        match self.argument(arguments, place, PATH_NAMES) {
            Some(values) => values.iter().flat_map(path_objects).collect(),
            None => vec![Object::SomePath],
        }
    }

    fn all_paths(&self, arguments: Option<Span>) -> Vec<Object> {
        let Some(arguments) = arguments else { return vec![Object::SomePath] };
        let parts = self.cutter().split(arguments);
        let values =
            parts.iter().map(|part| named_argument(self.cutter(), *part)).filter(|(name, _)| name.is_none());
        let objects: Vec<Object> = values
            .flat_map(|(_, span)| self.evaluator.values(span))
            .flat_map(|value| path_objects(&value))
            .collect();
        if objects.is_empty() { vec![Object::SomePath] } else { objects }
    }

    pub(super) fn hosts(&self, arguments: Option<Span>, place: usize) -> Vec<Object> {
        let Some(values) = self.argument(arguments, place, &["url", "host", "address", "hostname"]) else {
            return vec![Object::SomeHost];
        };
        let port = self.argument(arguments, place + 1, &["port"]);
        values.iter().map(|value| host_object(value, port.as_deref())).collect()
    }

    fn names(&self, arguments: Option<Span>, place: usize) -> Vec<Object> {
        let Some(values) = self.argument(arguments, place, &["name", "pid"]) else {
            return vec![Object::None];
        };
        let objects = values.iter().map(|value| match value {
            Value::Text(name) | Value::Plain(name) | Value::Kind(_, Some(name)) => Object::Name(name.clone()),
            Value::List(values) => match values.as_slice() {
                [.., Value::Plain(port)] => Object::Name(port.clone()),
                _ => Object::None,
            },
            _ => Object::None,
        });
        objects.collect()
    }

    /// Reads the mode a file is opened in.
    fn open(&mut self, place: usize, own: Option<&str>, arguments: Option<Span>) {
        let paths = match (own, place) {
            (Some(own), 0) => vec![Object::Path(own.to_owned())],
            (None, 0) => vec![Object::SomePath],
            _ => self.paths(arguments, 0),
        };
        let modes = match arguments {
            None => vec![Value::Unknown],
            Some(_) => self
                .argument(arguments, place, &["mode"])
                .unwrap_or_else(|| vec![Value::Text("r".to_owned())]),
        };
        for mode in modes {
            let (reads, writes) = match &mode {
                Value::Text(mode) => (mode.contains(['r', '+']), mode.contains(['w', 'a', 'x', '+', 'c'])),
                Value::Plain(_) | Value::Kind(..) => (true, false),
                _ => (true, true),
            };
            for path in &paths {
                match path {
                    Object::Path(path) if path.starts_with('|') => {
                        self.run_shell(&Value::Text(path.trim_start_matches('|').to_owned()));
                    }
                    Object::Path(path) if is_url(path) => {
                        self.out.add(Act::Fetch, Object::Host(path.clone()));
                    }
                    Object::Path(path) if path.starts_with("php://") => {}
                    _ => {
                        if writes {
                            self.out.add(Act::Write, path.clone());
                        }
                        if reads && !(writes && matches!(&mode, Value::Text(_))) {
                            self.out.add(Act::Read, path.clone());
                        }
                    }
                }
            }
        }
    }

    /// Tells a request that sends data from one that fetches.
    fn request(&mut self, place: usize, own: Option<&str>, arguments: Option<Span>) {
        let hosts = match own {
            Some(own) => vec![Object::Host(own.to_owned())],
            None => self.hosts(arguments, place),
        };
        let act =
            if arguments.is_none_or(|arguments| self.has_data(arguments)) { Act::Send } else { Act::Fetch };
        self.signs.carries |= act == Act::Fetch && self.is_computed(arguments);
        for host in hosts {
            self.out.add(act, host);
        }
    }

    fn has_data(&self, arguments: Span) -> bool {
        let is_data = |item: &Item| match item {
            Item::Name(name) => {
                matches!(name.as_str(), "data" | "body" | "json" | "files" | "method" | "form")
            }
            Item::Text(pieces) => {
                matches!(pieces.as_slice(), [crate::code::tree::Piece::Plain(text)] if matches!(text.as_str(), "POST" | "PUT" | "DELETE" | "PATCH" | "body" | "method"))
            }
            _ => false,
        };
        let items = self.cutter().items(arguments);
        items.iter().any(|token| match token.item {
            Item::Group('{', inner) => {
                self.cutter().tree.items(inner).iter().any(|token| is_data(&token.item))
            }
            ref item => is_data(item),
        })
    }

    fn import(&mut self, arguments: Option<Span>) {
        for value in self.argument(arguments, 0, &["name"]).unwrap_or_else(|| vec![Value::Unknown]) {
            match value {
                Value::Text(module)
                    if self.profile().language == Language::JavaScript
                        && module.strip_suffix(".json").is_some() =>
                {
                    self.out.add(Act::Read, Object::Path(module));
                }
                Value::Text(module) => {
                    let name = super::evaluator::module_name(&module);
                    if !self.profile().is_known_module(&name) {
                        self.gap(format!("loads `{}`, which is not known", shown(&module)));
                    }
                    super::signs::note_load(&name, &mut self.out);
                }
                _ => self.gap("loads something that is only known at run time".to_owned()),
            }
        }
    }

    /// Reads functions that are handed over by their names.
    fn call_back(&mut self, arguments: Option<Span>) {
        let Some(arguments) = arguments else {
            self.gap("hands a function over that is only known at run time".to_owned());
            return;
        };
        for part in self.cutter().split(arguments) {
            for value in self.evaluator.values(part) {
                if let Value::Text(name) = value
                    && let Some(row) = self.profile().row(&name.to_ascii_lowercase())
                {
                    self.apply(row, None, None, &name);
                }
            }
        }
        if self.argument(Some(arguments), 0, &[]).is_some_and(|values| values.contains(&Value::Unknown))
            && self.argument(Some(arguments), 1, &[]).is_none_or(|values| values.contains(&Value::Unknown))
        {
            self.gap("hands a function over that is only known at run time".to_owned());
        }
    }

    fn member_by_name(&mut self, arguments: Option<Span>) {
        let owners = self.argument(arguments, 0, &[]).unwrap_or_else(|| vec![Value::Unknown]);
        let names = self.argument(arguments, 1, &[]).unwrap_or_else(|| vec![Value::Unknown]);
        let is_library = owners.iter().any(|owner| matches!(owner, Value::Named(_)));
        if is_library && !names.iter().all(|name| matches!(name, Value::Text(_))) {
            self.gap("takes a member of a library whose name is computed".to_owned());
        }
        for owner in &owners {
            for name in &names {
                if let (Value::Named(owner), Value::Text(name)) = (owner, name)
                    && name.starts_with("__")
                {
                    self.gap(format!("reaches into `{}`", shown(owner)));
                }
            }
        }
    }
}

fn is_url(path: &str) -> bool {
    ["http://", "https://", "ftp://"].iter().any(|scheme| path.starts_with(scheme))
}

fn own_object(act: Act, own: Option<&str>) -> Object {
    let is_host = matches!(act, Act::Send | Act::Fetch | Act::Connect | Act::RemoteRun | Act::Message);
    match (own, is_host) {
        (Some(own), true) => Object::Host(own.to_owned()),
        (None, true) => Object::SomeHost,
        (Some(own), false) => Object::Path(own.to_owned()),
        (None, false) => Object::SomePath,
    }
}

/// Returns the paths a value stands for; a number is an open file and no path.
fn path_objects(value: &Value) -> Vec<Object> {
    match value {
        Value::Text(path) | Value::Decoded(path) | Value::Kind("path" | "file", Some(path)) => {
            vec![Object::Path(path.clone())]
        }
        Value::Plain(_) | Value::Kind("file" | "stream", None) => Vec::new(),
        Value::List(values) => values
            .iter()
            .map(|value| match value {
                Value::Text(path) | Value::Kind("path", Some(path)) => Object::Path(path.clone()),
                _ => Object::SomePath,
            })
            .collect(),
        _ => vec![Object::SomePath],
    }
}

fn host_object(value: &Value, port: Option<&[Value]>) -> Object {
    match value {
        Value::Text(host) | Value::Kind(_, Some(host)) => match port {
            Some([Value::Plain(port)]) if !host.contains("://") && port.parse::<u16>().is_ok() => {
                Object::Host(format!("{host}:{port}"))
            }
            _ => Object::Host(host.clone()),
        },
        Value::List(values) => match values.as_slice() {
            [Value::Text(host), Value::Plain(port), ..] => Object::Host(format!("{host}:{port}")),
            [Value::Text(host), ..] => Object::Host(host.clone()),
            _ => Object::SomeHost,
        },
        Value::Partial(pieces) => match pieces.first() {
            Some(Some(prefix)) if prefix.split_once("://").is_some_and(|(_, rest)| rest.contains('/')) => {
                Object::Host(prefix.clone())
            }
            _ => Object::SomeHost,
        },
        _ => Object::SomeHost,
    }
}
