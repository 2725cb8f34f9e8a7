//! awk programs: what they run, write and read besides their input.

use std::collections::{BTreeMap, BTreeSet};

use super::tree::{CodeItem, CodeToken, CodeTree, StringPiece};
use super::{CodeReading, CodeTarget, Language, lexer};
use crate::act::Act;
use crate::lists::code::awk::{FUNCTIONS, KEYWORDS};

/// Stands for what is only known at run time.
const HOLE: &str = "$UNKNOWN";

/// Reads an awk program.
pub(super) fn read(text: &str) -> CodeReading {
    let tree = lexer::lex(Language::Awk, text);
    let mut reader = AwkReader {
        tree: &tree,
        out: CodeReading::default(),
        texts: BTreeMap::new(),
        functions: BTreeSet::new(),
    };
    for problem in &tree.problems {
        reader.out.add_gap(problem.clone());
    }
    for group in 0..tree.groups.len() {
        reader.bind(group);
    }
    for group in 0..tree.groups.len() {
        reader.read_group(group);
    }
    reader.out
}

struct AwkReader<'a> {
    tree: &'a CodeTree,
    out: CodeReading,
    /// What is assigned to variables; `None` if it is computed.
    texts: BTreeMap<&'a str, Option<String>>,
    functions: BTreeSet<&'a str>,
}

impl AwkReader<'_> {
    /// Finds the program's own functions and the texts its variables stand for.
    fn bind(&mut self, group: usize) {
        let items = self.tree.items(group);
        for (at, token) in items.iter().enumerate() {
            let CodeItem::Name(name) = &token.item else { continue };
            let next = |ahead: usize| items.get(at + ahead).map(|token| &token.item);
            if name == "function" || name == "func" {
                self.functions.extend(next(1).and_then(CodeItem::name));
            }
            let is_set = matches!(next(1), Some(CodeItem::Mark("=")));
            let is_changed = matches!(
                next(1),
                Some(CodeItem::Mark("+=" | "++" | "--" | "-=" | "*=" | "/=" | "%=" | "^="))
            );
            if is_set || is_changed {
                let is_alone =
                    next(3).is_none_or(|item| matches!(item, CodeItem::Line | CodeItem::Mark(";")));
                let text = match next(2) {
                    Some(CodeItem::Text(pieces)) if is_set && is_alone => Some(plain(pieces)),
                    _ => None,
                };
                match self.texts.get(name.as_str()) {
                    Some(known) if *known != text => self.texts.insert(name, None),
                    _ => self.texts.insert(name, text),
                };
            }
        }
    }

    /// Reads the statements of a group, each from the place where it begins.
    fn read_group(&mut self, group: usize) {
        let tree = self.tree;
        let items = tree.items(group);
        let mut start = 0;
        for (at, token) in items.iter().enumerate() {
            match &token.item {
                CodeItem::Line | CodeItem::Mark(";") => start = at + 1,
                CodeItem::Group('{', _) => start = at + 1,
                CodeItem::Mark("|" | "|&") => self.read_pipe(items, start, at),
                CodeItem::Mark(">" | ">>") => self.read_output(items, start, at),
                CodeItem::Mark("<") => self.read_input(items, start, at),
                CodeItem::Mark("@") => self.read_directive(items, at),
                CodeItem::Name(name) => self.read_name(items, at, name),
                _ => {}
            }
        }
    }

    /// Reads a function or variable that reaches out of the program.
    fn read_name(&mut self, items: &[CodeToken], at: usize, name: &str) {
        let next = items.get(at + 1);
        match (name, next.map(|token| &token.item)) {
            ("system", Some(CodeItem::Group('(', inner))) => {
                let tree = self.tree;
                let text = self.text(tree.items(*inner));
                self.run(&text);
            }
            ("ENVIRON", Some(CodeItem::Group('[', inner))) => {
                let object = match self.tree.items(*inner) {
                    [token] => match &token.item {
                        CodeItem::Text(pieces) => CodeTarget::Name(plain(pieces)),
                        _ => CodeTarget::None,
                    },
                    _ => CodeTarget::None,
                };
                self.out.add(Act::Environment, object);
            }
            ("ENVIRON" | "PROCINFO", _) => self.out.add(Act::Environment, CodeTarget::None),
            ("ARGV" | "ARGC", _) if is_assigned(items, at) => {
                self.out.add_gap("changes which files it reads".to_owned());
            }
            (_, Some(CodeItem::Group('(', _))) => {
                let is_spaced = next.is_some_and(|token| token.is_spaced);
                let is_known =
                    FUNCTIONS.contains(&name) || KEYWORDS.contains(&name) || self.functions.contains(name);
                if !is_known && !is_spaced {
                    self.out.add_gap(format!(
                        "calls `{}`, which is not known",
                        name.chars().take(60).collect::<String>()
                    ));
                }
            }
            _ => {}
        }
    }

    /// Reads `print | "command"` and `"command" | getline`.
    fn read_pipe(&mut self, items: &[CodeToken], start: usize, at: usize) {
        let feeds_getline = items.get(at + 1).is_some_and(|token| token.item.is_name("getline"));
        let words = if feeds_getline {
            let before = items.get(start..at).unwrap_or(&[]);
            let skipped = before
                .iter()
                .rposition(|token| matches!(token.item, CodeItem::Mark("=" | "&&" | "||" | "!" | "?" | ":")))
                .map_or(0, |last| last + 1);
            before.get(skipped..).unwrap_or(&[])
        } else {
            let rest = items.get(at + 1..).unwrap_or(&[]);
            let end = rest
                .iter()
                .position(|token| {
                    matches!(
                        token.item,
                        CodeItem::Line | CodeItem::Mark(";" | "|" | "|&") | CodeItem::Group('{', _)
                    )
                })
                .unwrap_or(rest.len());
            rest.get(..end).unwrap_or(&[])
        };
        let text = self.text(words);
        match text.as_slice() {
            [Some(text)] if text.starts_with("/inet") => self.connect(text),
            _ => self.run(&text),
        }
    }

    /// Reads `print > file`; elsewhere the mark compares.
    fn read_output(&mut self, items: &[CodeToken], start: usize, at: usize) {
        let prints = items
            .get(start..at)
            .unwrap_or(&[])
            .iter()
            .any(|token| token.item.is_name("print") || token.item.is_name("printf"));
        if !prints {
            return;
        }
        let rest = items.get(at + 1..).unwrap_or(&[]);
        let end = rest
            .iter()
            .position(|token| {
                matches!(token.item, CodeItem::Line | CodeItem::Mark(";") | CodeItem::Group('{', _))
            })
            .unwrap_or(rest.len());
        let text = self.text(rest.get(..end).unwrap_or(&[]));
        match text.as_slice() {
            [Some(text)] if matches!(text.as_str(), "/dev/stdout" | "/dev/stderr" | "-") => {}
            [Some(text)] if text.starts_with("/inet") => self.connect(text),
            [Some(text)] => self.out.add(Act::Write, CodeTarget::Path(text.clone())),
            _ => self.out.add(Act::Write, CodeTarget::SomePath),
        }
    }

    /// Reads `getline < file`; elsewhere the mark compares.
    fn read_input(&mut self, items: &[CodeToken], start: usize, at: usize) {
        let before = items.get(start..at).unwrap_or(&[]);
        let Some(place) = before.iter().rposition(|token| token.item.is_name("getline")) else { return };
        if before.len() - place > 3 {
            return;
        }
        let text = self.text(items.get(at + 1..at + 2).unwrap_or(&[]));
        match text.as_slice() {
            [Some(text)] if text == "-" || text == "/dev/stdin" => {}
            [Some(text)] if text.starts_with("/inet") => self.connect(text),
            [Some(text)] => self.out.add(Act::Read, CodeTarget::Path(text.clone())),
            _ => self.out.add(Act::Read, CodeTarget::SomePath),
        }
    }

    /// Reads `@load`, `@include` and calls through a variable.
    fn read_directive(&mut self, items: &[CodeToken], at: usize) {
        let word = items.get(at + 1).and_then(|token| token.item.name());
        match (word, items.get(at + 2).map(|token| &token.item)) {
            (Some("load" | "include"), Some(CodeItem::Text(pieces))) => {
                self.out.add(Act::LoadCode, CodeTarget::Path(plain(pieces)));
            }
            (Some("namespace"), _) => {}
            _ => self.out.add_gap("calls a function that is only known at run time".to_owned()),
        }
    }

    /// Puts a text together from what stands side by side; `None` for what is computed.
    fn text(&self, items: &[CodeToken]) -> Vec<Option<String>> {
        let mut pieces: Vec<Option<String>> = Vec::new();
        for token in items {
            let piece = match &token.item {
                CodeItem::Line => continue,
                CodeItem::Text(text) => Some(plain(text)),
                CodeItem::Name(name) => self.texts.get(name.as_str()).cloned().flatten(),
                CodeItem::Group('(', inner) => match self.tree.items(*inner) {
                    [CodeToken { item: CodeItem::Text(text), .. }] => Some(plain(text)),
                    _ => None,
                },
                _ => None,
            };
            match (pieces.last_mut(), piece) {
                (Some(Some(last)), Some(text)) => last.push_str(&text),
                (Some(None), None) => {}
                (_, piece) => pieces.push(piece),
            }
        }
        if pieces.is_empty() { vec![None] } else { pieces }
    }

    /// Lists a command line; what is only known at run time stands as a hole, and is a gap.
    fn run(&mut self, text: &[Option<String>]) {
        match text {
            [Some(text)] => self.out.shell_texts.push(text.clone()),
            [None] => self.out.add_gap("runs a shell command that is only known at run time".to_owned()),
            pieces => {
                self.out
                    .shell_texts
                    .push(pieces.iter().map(|piece| piece.as_deref().unwrap_or(HOLE)).collect());
                self.out.add_gap("runs a shell command that is partly computed".to_owned());
            }
        }
    }

    /// Reads `/inet/tcp/0/host/port`.
    fn connect(&mut self, text: &str) {
        let mut parts = text.split('/').skip(4);
        match (parts.next(), parts.next()) {
            (Some("0" | "") | None, _) => self.out.add(Act::Listen, CodeTarget::None),
            (Some(host), Some(port)) => {
                self.out.add(Act::Connect, CodeTarget::Host(format!("{host}:{port}")));
            }
            (Some(host), None) => self.out.add(Act::Connect, CodeTarget::Host(host.to_owned())),
        }
    }
}

fn plain(pieces: &[StringPiece]) -> String {
    pieces
        .iter()
        .filter_map(|piece| if let StringPiece::Plain(text) = piece { Some(text.as_str()) } else { None })
        .collect()
}

/// Says whether what stands at a place is assigned to.
fn is_assigned(items: &[CodeToken], at: usize) -> bool {
    items.iter().skip(at + 1).take(2).any(|token| token.item.is_mark("="))
}
