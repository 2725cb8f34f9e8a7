//! Code of the project and of its packages that a program loads: its functions run as any script of the project does.
//!
//! What a function of the project does nobody reads here, so what it is handed must be data: no place outside of the
//! project, no address, no command, no secret. What a package does that no list speaks of stays unknown.

use super::chain::GroupSpan;
use super::evaluator::Evaluator;
use super::names::shown;
use super::scope::named_argument;
use super::value::{CodeValue, PACKAGE, PROJECT};
use super::{CHAIN_LIMIT, CodeReader};
use crate::act::Act;
use crate::code::table::ModuleOrigin;
use crate::code::tree::{CodeItem, StringPiece};
use crate::code::{CodeTarget, HandedText, Language};
use crate::lists::readers::inline::{ACTING, CHANGING, LEADING, SECRET_NAMES};

/// Methods of clients that take the path of an address.
const OF_CLIENTS: &[&str] =
    &["delete", "get", "head", "inject", "open", "options", "patch", "path", "post", "put"];

/// Constants of Ruby that lead to everything.
const OF_RUBY: &[&str] = &[
    "BasicObject",
    "Binding",
    "Dir",
    "ENV",
    "FFI",
    "Fiddle",
    "File",
    "FileTest",
    "IO",
    "Kernel",
    "Marshal",
    "Method",
    "Module",
    "Object",
    "Process",
    "RubyVM",
    "TOPLEVEL_BINDING",
    "TracePoint",
    "UnboundMethod",
];

impl Evaluator<'_> {
    /// Returns a module of the project or of a package, or a member of it.
    pub(super) fn module_value(&self, module: &str, member: Option<&str>) -> CodeValue {
        let is_own = self.cutter.profile.origin(module) == ModuleOrigin::Project;
        let kind = if is_own { PROJECT } else { PACKAGE };
        match member {
            // What a package of Python gives may be a module of its own.
            Some(name) if self.cutter.profile.language == Language::Python => {
                CodeValue::Member(kind, Some(format!("{module}:{name}")), name.to_owned())
            }
            Some(name) => CodeValue::Member(kind, Some(module.to_owned()), name.to_owned()),
            None => CodeValue::Kind(kind, Some(module.to_owned())),
        }
    }

    /// Says whether a name is a constant that no list explains.
    pub(super) fn is_own_constant(&self, name: &str) -> bool {
        let profile = self.cutter.profile;
        let is_listed =
            profile.is_harmless(name) || profile.is_known_module(name) || profile.has_members(name);
        name.starts_with(char::is_uppercase)
            && !is_listed
            && profile.row(name).is_none()
            && !OF_RUBY.contains(&name)
    }
}

impl CodeReader<'_> {
    /// Reads a module that is loaded. One that comes with the language and that no list speaks of may do anything.
    pub(super) fn load(&mut self, module: &str) {
        match self.profile().origin(module) {
            ModuleOrigin::Known => {}
            ModuleOrigin::Project => {
                // A path is loaded as it is; a name may be that of a package as well.
                let is_used = module.starts_with(['.', '/']);
                self.use_module(module, is_used);
            }
            ModuleOrigin::Package => self.use_module(module, false),
            ModuleOrigin::Unclear => self.gap(format!("loads `{}`, which is not known", shown(module))),
        }
    }

    fn use_module(&mut self, module: &str, is_used: bool) {
        self.out.add(Act::Execute, CodeTarget::Module { name: module.to_owned(), is_used });
    }

    /// Reads a call of something that a module of the project or of a package gives.
    pub(super) fn call_of_module(&mut self, kind: &str, of: Option<&str>, name: &str, arguments: GroupSpan) {
        let module = of.unwrap_or_default();
        // What a method of this name does on any value it may do here.
        if acts(name)
            && let Some(row) = self.profile().method("?", name)
        {
            self.apply(row, None, Some(arguments), name);
        }
        if kind == PACKAGE || module.is_empty() {
            self.gap(format!("calls `{}` of `{}`, which is not known", shown(name), shown(module)));
            return;
        }
        self.use_module(module, true);
        if acts(name) {
            self.gap(format!(
                "calls `{}` of the project, which by its name does more than compute",
                shown(name)
            ));
        }
        self.check_handed(arguments, OF_CLIENTS.contains(&name));
    }

    /// Reads a member by which a module of the project leads to one of the system.
    pub(super) fn read_way_out(&mut self, values: &[CodeValue]) {
        for value in values {
            if let CodeValue::Member(PROJECT | PACKAGE, _, name) = value {
                self.read_module_member(name);
            }
        }
    }

    /// Reads a member of what a module gives: one that leads out of it, or that by its name holds a secret.
    pub(super) fn read_module_member(&mut self, name: &str) {
        if LEADING.contains(&name) {
            self.gap(format!("reaches `{}` through a module", shown(name)));
        }
        if words_of(name).iter().any(|word| SECRET_NAMES.contains(&word.as_str())) {
            self.gap(format!("takes `{}` of the project", shown(name)));
        }
    }

    /// Reads a function of a module that is named and not called: whoever gets it may call it.
    pub(super) fn read_module_mention(&mut self, kind: &str, of: &str, name: &str) {
        let is_data = name.starts_with("__") || name.chars().all(|letter| !letter.is_lowercase());
        if is_data || matches!(name, "default" | "name" | "path" | "version") {
            return;
        }
        if kind == PACKAGE {
            self.gap(format!("hands `{}` of `{}` over, which is not known", shown(name), shown(of)));
            return;
        }
        if acts(name) {
            self.gap(format!("hands `{}` of the project over", shown(name)));
        }
        self.signs.hands_unknown = true;
        self.use_module(of, true);
    }

    /// Reads what a function of the project is handed: the texts that stand in the call, and what names in it stand for.
    fn check_handed(&mut self, arguments: GroupSpan, is_route: bool) {
        for part in self.cutter().split(arguments) {
            let (_, value) = named_argument(self.cutter(), part);
            for value in self.evaluator.values(value) {
                self.check_value(&value, is_route);
            }
        }
        let mut open = vec![arguments];
        while let Some(span) = open.pop() {
            self.check_chains(span, is_route);
            for token in self.cutter().items(span) {
                open.extend(inner_groups(&token.item).into_iter().map(|group| self.cutter().whole(group)));
                for text in texts_of(&token.item) {
                    self.check_text(text, is_route);
                }
                self.check_symbol(&token.item);
            }
        }
    }

    /// Reads a symbol of Ruby, which may name a method: `each(&:destroy)`.
    fn check_symbol(&mut self, item: &CodeItem) {
        if self.profile().language != Language::Ruby {
            return;
        }
        let names = item.name().into_iter().chain(texts_of(item));
        let act = names.map(|name| name.trim_start_matches(['&', ':'])).find(|name| acts(name));
        if let Some(act) = act.map(shown) {
            self.gap(format!("hands `{act}` to code of the project"));
        }
    }

    /// Reads what the chains of a stretch stand for.
    fn check_chains(&mut self, span: GroupSpan, is_route: bool) {
        let mut at = span.start;
        while at < span.end {
            let Some(chain) = self.cutter().chain(span.group, at, span.end.min(at + CHAIN_LIMIT)) else {
                at += 1;
                continue;
            };
            if !self.is_definition(&chain) {
                for value in self.evaluator.values(chain.span) {
                    self.check_value(&value, is_route);
                }
            }
            at = chain.next.max(at + 1);
        }
    }

    fn check_value(&mut self, value: &CodeValue, is_route: bool) {
        let mut open = vec![value];
        while let Some(value) = open.pop() {
            match value {
                CodeValue::Text(text) => self.check_text(text, is_route),
                CodeValue::Partial(pieces) => self.check_pieces(pieces, is_route),
                CodeValue::List(values) | CodeValue::Mixed(values) => {
                    // The words of a command may stand side by side.
                    let texts: Vec<String> =
                        values.iter().flat_map(|value| value.pieces().into_iter().flatten()).collect();
                    self.check_text(&texts.join(" "), is_route);
                    open.extend(values);
                }
                CodeValue::Decoded(_) => self.refuse_handed("a text that was hidden"),
                value if value.foreign().is_some() => self.refuse_handed("what came from elsewhere"),
                CodeValue::Kind("path" | "file" | "found" | "tree", Some(path)) => {
                    self.check_text(path, false);
                }
                CodeValue::Kind("path" | "process" | "native" | "child", _) => {
                    self.refuse_handed("something that is only known at run time");
                }
                CodeValue::Unknown | CodeValue::Named(_) | CodeValue::Member(..) => {
                    self.signs.hands_unknown = true;
                }
                CodeValue::Plain(_) | CodeValue::Kind(..) | CodeValue::Own => {}
            }
        }
    }

    /// Reads a text of which parts are only known at run time: its beginning says where a path leads.
    fn check_pieces(&mut self, pieces: &[Option<String>], is_route: bool) {
        let begins_open = matches!(pieces.first(), Some(None));
        for piece in pieces.iter().flatten() {
            if begins_open && piece.contains('/') {
                self.refuse_handed("a path that is only known at run time");
            }
            self.check_text(piece, is_route);
        }
        self.signs.hands_unknown = true;
    }

    fn check_text(&mut self, text: &str, is_route: bool) {
        self.out.hand(HandedText { text: text.to_owned(), is_route });
    }

    fn refuse_handed(&mut self, what: &str) {
        self.gap(format!("hands {what} to code of the project"));
    }

    /// Reads every text of a program that hands something to the project of which nobody can tell what it is.
    pub(super) fn conclude_handed(&mut self) {
        if !self.signs.hands_unknown {
            return;
        }
        let tree = self.cutter().tree;
        for token in tree.groups.iter().flatten() {
            for text in texts_of(&token.item) {
                // What a client is asked for is told by the call.
                let route = HandedText { text: text.to_owned(), is_route: true };
                if !self.out.handed.contains(&route) {
                    self.check_text(text, false);
                }
            }
        }
    }
}

/// Says whether a function does more than work something out, by its name.
fn acts(name: &str) -> bool {
    CHANGING.contains(&name) || words_of(name).iter().any(|word| ACTING.contains(&word.as_str()))
}

/// Returns the words of a name in lower case: `drop_all`, `dropAll`.
fn words_of(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut is_after_small = false;
    for letter in name.chars() {
        if letter == '_' || letter.is_uppercase() && is_after_small {
            words.push(String::new());
        }
        is_after_small = letter.is_lowercase();
        if let Some(word) = words.last_mut().filter(|_| letter.is_alphanumeric()) {
            word.extend(letter.to_lowercase());
        }
    }
    words
}

/// Returns the pieces of a string that stand in the program.
fn texts_of(item: &CodeItem) -> Vec<&str> {
    match item {
        CodeItem::Text(pieces)
        | CodeItem::Shell(pieces)
        | CodeItem::Regex(pieces)
        | CodeItem::Replacement(pieces) => pieces
            .iter()
            .filter_map(|piece| match piece {
                StringPiece::Plain(text) => Some(text.as_str()),
                StringPiece::Hole(_) => None,
            })
            .collect(),
        CodeItem::Words(words) => words.iter().map(String::as_str).collect(),
        CodeItem::Name(_)
        | CodeItem::Number(_)
        | CodeItem::Mark(_)
        | CodeItem::Line
        | CodeItem::Group(..) => Vec::new(),
    }
}

fn inner_groups(item: &CodeItem) -> Vec<usize> {
    match item {
        CodeItem::Group(_, group) => vec![*group],
        CodeItem::Text(pieces) | CodeItem::Regex(pieces) | CodeItem::Replacement(pieces) => pieces
            .iter()
            .filter_map(|piece| match piece {
                StringPiece::Hole(group) => Some(*group),
                StringPiece::Plain(_) => None,
            })
            .collect(),
        _ => Vec::new(),
    }
}
