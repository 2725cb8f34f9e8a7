//! Scripts that a command runs: files of the project, package scripts, make targets, recipes.
//!
//! [`scripts`] lists the files somebody must read, [`Script::layout`] says what the part of the file does that is run.

mod package;
mod recipe;
mod whole;

use std::collections::BTreeSet;

use crate::act::Act;
use crate::argument::Argument;
use crate::command_effects::Layout;
use crate::command_effects::effects;
use crate::effect::{Effect, ModuleUse, Target};
use crate::invocation::{Invocation, Survey};
use crate::path;
use crate::survey::{Surroundings, survey};

/// A part of a file that a command runs.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Script {
    /// The file that somebody must read to know what runs, absolute.
    pub file: String,
    /// Which part of it.
    pub entry: Entry,
    /// The words that it is started with, each `None` if it is only known at run time; `None` if nobody knows them.
    pub arguments: Option<Vec<Option<String>>>,
}

/// Which part of a file is run.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Entry {
    /// All of it.
    Whole,
    /// All of it, if a module lies in it that code loads by its name.
    Module {
        /// As it is written.
        name: String,
        /// Whether what is in it is called, so that it must lie in one of its places.
        is_called: bool,
    },
    /// A script of `package.json`, with those that run before and after it.
    Package(String),
    /// The scripts of `package.json` that an installation runs, if there are any.
    Lifecycle,
    /// A target of a makefile, the first one if it is not named.
    Target(Option<String>),
    /// A recipe of a justfile, the first one if it is not named.
    Recipe(Option<String>),
}

/// The most scripts of one command line that are followed.
const MOST: usize = 64;

/// Names a makefile may have, in the order make looks for them.
const MAKEFILES: &[&str] = &["GNUmakefile", "makefile", "Makefile"];

/// Names a justfile may have.
const JUSTFILES: &[&str] = &["justfile", "Justfile", ".justfile"];

/// Lists the scripts that the commands of a line run.
pub fn scripts(survey: &Survey, effects: &[Effect]) -> Vec<Script> {
    let mut all = BTreeSet::new();
    for effect in effects {
        let Some(command) = effect.invocation.and_then(|index| survey.invocations.get(index)) else {
            continue;
        };
        match effect.act {
            Act::Execute => {
                let entry = entry_of(&effect.target);
                let arguments = arguments_of(command, effect).filter(|_| entry == Entry::Whole);
                let files = effect.target.paths().iter().cloned();
                all.extend(files.map(|file| Script {
                    file,
                    entry: entry.clone(),
                    arguments: arguments.clone(),
                }));
            }
            Act::RunProject => all.extend(declared(command)),
            Act::InstallDeclared => all.extend(package::installed(command)),
            _ => {}
        }
    }
    all.into_iter().take(MOST).collect()
}

/// Returns the words that a script is started with: those behind it, unless code on the line starts it.
fn arguments_of(command: &Invocation, effect: &Effect) -> Option<Vec<Option<String>>> {
    let script = effect.word.as_ref().filter(|_| command.code.is_none())?;
    let is_it = |word: &Argument| word.span == script.span && word.text == script.text;
    let at = command.arguments.iter().position(is_it)?;
    let words = command.arguments.get(at + 1..)?;
    let is_one = |word: &Argument| word.fixed().is_some() || word.is_one_word();
    words.iter().all(is_one).then(|| words.iter().map(|word| word.fixed().map(str::to_owned)).collect())
}

/// Says which part of a file is run that a command names, or that code loads.
fn entry_of(target: &Target) -> Entry {
    match target {
        Target::Path(path) if path.module != ModuleUse::None => {
            // The members that are taken of it may be modules, so they share its places.
            let name = path.written.split(':').next().unwrap_or_default().to_owned();
            Entry::Module { name, is_called: path.module == ModuleUse::Called }
        }
        _ => Entry::Whole,
    }
}

/// Returns what a runner runs of what the project declares.
fn declared(command: &Invocation) -> Vec<Script> {
    let words: Vec<&str> =
        command.operands().iter().filter(|word| !word.is_option()).filter_map(|word| word.fixed()).collect();
    let directories = command.directories.alternatives().unwrap_or_default();
    let elsewhere = value_of(command, &["-C", "--prefix", "--cwd", "--dir", "--directory", "-d"]);
    let chosen = value_of(command, &["-f", "--file", "--makefile", "--justfile"]);
    let words: Vec<&str> =
        words.into_iter().filter(|word| Some(*word) != elsewhere && Some(*word) != chosen).collect();
    let at = |names: &[&str], entry: Entry| -> Vec<Script> {
        let names: Vec<&str> = chosen.map_or_else(|| names.to_vec(), |file| vec![file]);
        let directories = directories.iter().map(|directory| match elsewhere {
            Some(elsewhere) => path::join(directory, elsewhere),
            None => directory.clone(),
        });
        let files = directories
            .flat_map(|directory| names.iter().map(|name| path::join(&directory, name)).collect::<Vec<_>>());
        files.map(|file| Script { file, entry: entry.clone(), arguments: None }).collect()
    };
    let each = |names: &[&str], words: &[&str], make: fn(Option<String>) -> Entry| -> Vec<Script> {
        let entries: Vec<_> = words.iter().filter(|word| !word.contains('=')).collect();
        if entries.is_empty() {
            return at(names, make(None));
        }
        entries.iter().flat_map(|name| at(names, make(Some((**name).to_owned())))).collect()
    };
    let package = |name: &str| at(&["package.json"], Entry::Package(name.to_owned()));
    match (command.program_name().unwrap_or_default(), words.as_slice()) {
        ("npm" | "pnpm" | "yarn" | "bun", ["run" | "run-script" | "rum" | "urn" | "r", name, ..]) => {
            package(name)
        }
        ("npm" | "pnpm" | "yarn", [name @ ("test" | "start" | "stop" | "restart"), ..]) => package(name),
        ("npm", ["t" | "tst", ..]) => package("test"),
        ("yarn" | "pnpm", [name, ..]) => package(name),
        ("make" | "gmake", words) => each(MAKEFILES, words, Entry::Target),
        ("just", words) => each(JUSTFILES, words, Entry::Recipe),
        _ => Vec::new(),
    }
}

/// Returns the value of the first of these options that is given: `-C dir`, `--file=x`.
fn value_of<'a>(command: &'a Invocation, options: &[&str]) -> Option<&'a str> {
    let mut words = command.operands().iter().filter_map(|word| word.fixed());
    while let Some(word) = words.next() {
        if options.contains(&word) {
            return words.next();
        }
        let (option, value) = word.split_once('=').unwrap_or((word, ""));
        if !value.is_empty() && options.contains(&option) {
            return Some(value);
        }
    }
    None
}

impl Script {
    /// Returns the name people know it by.
    pub fn name(&self) -> String {
        let file = path::file_name(&self.file).unwrap_or(&self.file);
        match &self.entry {
            Entry::Whole | Entry::Lifecycle | Entry::Target(None) | Entry::Recipe(None) => file.to_owned(),
            Entry::Module { name, .. } => name.clone(),
            Entry::Package(name) | Entry::Target(Some(name)) | Entry::Recipe(Some(name)) => {
                format!("{name} of {file}")
            }
        }
    }

    /// Works out what it does, given the text of its file; `None` if the file is in no language that is read.
    pub fn layout(&self, text: &str, surroundings: Surroundings<'_>) -> Option<Layout> {
        let lines = match &self.entry {
            Entry::Whole | Entry::Module { .. } => {
                whole::command_line(&self.file, text, self.arguments.as_deref())?
            }
            Entry::Package(name) => package::commands(text, name)?,
            Entry::Lifecycle => package::lifecycle(text)?,
            Entry::Target(name) => recipe::of_makefile(text, name.as_deref())?,
            Entry::Recipe(name) => recipe::of_justfile(text, name.as_deref())?,
        };
        let survey = survey(&lines, surroundings);
        let effects = effects(&survey, surroundings);
        Some(Layout { effects, survey })
    }
}
