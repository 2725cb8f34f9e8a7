//! Reads a program of one of the dynamic languages: every call, member and import, against what is known of them.
//!
//! The way of a program through here:
//!
//! 1. the lexer makes a tree of brackets, strings and words ([`super::lexer`]); it never fails, what it cannot read is a
//!    problem of the tree and becomes a gap;
//! 2. the binder notes what every name of the program may stand for, wherever it is set ([`binder`], [`import`]);
//! 3. the reader goes over every chain of members, calls and subscripts; the evaluator says what the values in it may
//!    be ([`evaluator`], [`given`]), the table of the language what a call of them does ([`apply`], [`run`]).
//!
//! The order of statements does not count: a name stands for everything it is ever set to. That is more than can happen
//! and never less, so that nothing is hidden by the way a program flows. Whatever is not on a list is a gap, and a
//! program with a gap is not understood.

mod apply;
mod binder;
mod chain;
mod element;
mod evaluator;
mod given;
mod given_words;
mod growth;
mod import;
mod module_call;
mod names;
mod options;
mod reference;
mod request;
mod run;
mod scope;
mod sharing;
mod signs;
mod targets;
mod value;

use chain::{Chain, ChainCutter, ChainStep, GroupSpan};
use evaluator::Evaluator;
use names::shown;
use options::StartSetting;
use scope::ProgramNames;
use signs::Signs;
use value::CodeValue;

use super::table::LanguageTable;
use super::{CodeReading, Language, ProgramArguments, lexer};

/// How far a chain may reach.
pub(super) const CHAIN_LIMIT: usize = 512;

/// How many items a program may have.
const TOKEN_LIMIT: usize = 50_000;

/// Reads a program; `depth` says how many programs it stands in.
pub(super) fn read(
    profile: &'static LanguageTable,
    text: &str,
    arguments: &ProgramArguments,
    depth: usize,
) -> CodeReading {
    let tree = lexer::lex(profile.language, text);
    let tokens: usize = tree.groups.iter().map(Vec::len).sum();
    if tokens > TOKEN_LIMIT {
        return CodeReading { gaps: vec!["is too long to be read".to_owned()], ..CodeReading::default() };
    }
    let cutter = ChainCutter { tree: &tree, profile };
    let scope = binder::bind(cutter);
    // Names may stand for names that stand for names: fuel bounds all looking up together.
    let words = given_words::of(cutter, &scope, text, arguments);
    let evaluator = Evaluator::new(cutter, &scope, tokens * 40 + 20_000, words);
    let mut reader = CodeReader {
        evaluator,
        out: CodeReading::default(),
        signs: Signs::default(),
        setting: StartSetting::default(),
        depth,
    };
    for problem in &tree.problems {
        reader.gap(problem.clone());
    }
    reader.read_loads(&scope);
    for group in 0..tree.groups.len() {
        reader.read_group(group);
    }
    reader.conclude();
    reader.conclude_handed();
    reader.out
}

/// Goes over a program and notes what it does.
#[derive(Debug)]
struct CodeReader<'a> {
    evaluator: Evaluator<'a>,
    out: CodeReading,
    signs: Signs,
    /// How the program is started that is being read.
    setting: StartSetting,
    depth: usize,
}

impl<'a> CodeReader<'a> {
    fn cutter(&self) -> ChainCutter<'a> {
        self.evaluator.cutter
    }

    fn profile(&self) -> &'a LanguageTable {
        self.evaluator.cutter.profile
    }

    fn gap(&mut self, clause: String) {
        self.out.add_gap(clause);
    }

    /// Reads what is imported. A module that nobody knows may do anything as soon as it is loaded.
    fn read_loads(&mut self, scope: &ProgramNames) {
        for load in &scope.loads {
            self.load(&load.module);
            if load.takes_all && !self.profile().is_harmless(&load.module) {
                self.gap(format!("takes over every name of `{}`", shown(&load.module)));
            }
            signs::note_load(&load.module, &mut self.out);
        }
    }

    /// Reads one group of the tree. Groups lie side by side, so that no nesting of a program makes this recurse.
    fn read_group(&mut self, group: usize) {
        let length = self.cutter().tree.items(group).len();
        let mut at = 0;
        while at < length {
            self.read_item(group, at);
            let limit = length.min(at + CHAIN_LIMIT);
            let Some(chain) = self.cutter().chain(group, at, limit) else {
                at += 1;
                continue;
            };
            if chain.span.end == limit && limit < length {
                self.gap("has a statement that is too long".to_owned());
            }
            if !self.is_definition(&chain) {
                self.read_chain(&chain);
            }
            at = chain.next.max(at + 1);
        }
    }

    /// Reads every step of a chain.
    fn read_chain(&mut self, chain: &Chain) {
        let GroupSpan { group, start, .. } = chain.span;
        let mut values = self.evaluator.base(group, start, 0);
        self.read_way_out(&values);
        self.read_bare_name(chain, &values);
        self.read_stray_name(chain, &values);
        for (place, step) in chain.steps.iter().enumerate() {
            match step {
                ChainStep::Call(arguments) => {
                    for value in &values {
                        self.read_call(value, *arguments, chain, place);
                    }
                }
                ChainStep::Member(name) => self.read_member(&values, name),
                ChainStep::Index(inner) => self.read_index(&values, *inner),
            }
            values = self.evaluator.step_all(&values, step, 0);
            let is_called = matches!(chain.steps.get(place + 1), Some(ChainStep::Call(_)));
            // `File.read` without brackets is a call in Ruby, and only what follows can say that it is not.
            if self.profile().language == Language::Ruby && matches!(step, ChainStep::Member(_)) && !is_called
            {
                let nothing = GroupSpan { group, start, end: start };
                for value in values.clone() {
                    self.read_ruby_member(&value, nothing, chain, place);
                }
                values = self.evaluator.bare_call(values, nothing, 0);
            }
        }
        // A function that is named and not called may be handed to something that calls it.
        if !matches!(chain.steps.last(), Some(ChainStep::Call(_)))
            && self.profile().language != Language::Ruby
        {
            for value in &values {
                self.read_mention(value, chain);
            }
        }
        self.read_change(chain);
        self.read_inner(chain);
        if self.evaluator.fuel.get() == 0 {
            self.gap("is too tangled to follow".to_owned());
        }
    }

    /// A constant of Ruby is no call; everything else after a dot is.
    fn read_ruby_member(&mut self, value: &CodeValue, nothing: GroupSpan, chain: &Chain, place: usize) {
        let is_constant = matches!(value, CodeValue::Named(name) if value::is_constant(name));
        let is_assigned =
            self.cutter().tree.item(chain.span.group, chain.span.end).is_some_and(|item| item.is_mark("="));
        if !is_constant && !is_assigned {
            self.read_call(value, nothing, chain, place + 1);
        }
    }
}
