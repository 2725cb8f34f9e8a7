//! Which commands have a shape: all of them known, nothing elsewhere, no act that is not to be remembered.

use std::collections::BTreeSet;

use crate::act::Act;
use crate::argument::{Argument, Knowledge};
use crate::effect::{Effect, Target};
use crate::environment::is_safe_prefix;
use crate::invocation::{Invocation, Survey, Wrapping, base_name};
use crate::lists::memory::{BUILTINS, SETTINGS_FORMS, TASK_FILES};
use crate::path;
use crate::place::{Scope, is_free, is_loopback};
use crate::profile::{Profiles, read};
use crate::script::scripts;

use super::word::{ShapedWords, is_heavy};
use super::{CommandShape, ShapedCommand, TargetKind};

/// A longer command has no shape.
const MOST_WORDS: usize = 40;
/// A command with a longer word has no shape, in bytes.
const LONGEST_WORD: usize = 400;

/// Programs that start another one as it would start without them: in the same place, with the same variables.
const PLAIN_WRAPPERS: &[&str] = &["ionice", "nice", "nohup", "stdbuf", "time", "timeout"];

/// What a shape is made with.
#[derive(Clone, Copy)]
pub struct ShapeGrounds<'a> {
    /// All commands of the line.
    pub survey: &'a Survey,
    /// What is known of programs.
    pub profiles: &'a Profiles,
    /// The working directories and the home.
    pub scope: &'a Scope,
    /// Says whether a path is one that nobody's yes is remembered for.
    pub is_barred: &'a dyn Fn(&str) -> bool,
}

impl std::fmt::Debug for ShapeGrounds<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("ShapeGrounds").field("scope", &self.scope).finish_non_exhaustive()
    }
}

impl ShapeGrounds<'_> {
    /// Returns the shape of a command with its own effects, links followed; `None` if a yes to it is not to be kept.
    pub fn shape(&self, invocation: &Invocation, effects: &[Effect]) -> Option<ShapedCommand> {
        let program = invocation.program()?.fixed()?;
        let [directory] = invocation.directories.alternatives()? else { return None };
        let may_be_shaped = self.scope.is_in_project(directory)
            && invocation.wrapping == Wrapping::Nothing
            && self.survey.functions.is_empty()
            && !BUILTINS.contains(&base_name(program))
            && is_plain(invocation)
            && self.is_wrapped_plainly(invocation);
        if !may_be_shaped {
            return None;
        }
        let own: Vec<Effect> = effects.iter().filter(|effect| !effect.is_redirection).cloned().collect();
        let acts: BTreeSet<Act> = own.iter().map(|effect| effect.act).collect();
        let targets = self.targets(&own)?;
        let mut scripts: Vec<String> =
            scripts(self.survey, &own).into_iter().map(|script| script.file).collect();
        scripts.extend(settings_files(base_name(program), directory));
        let profile = self.profiles.find(base_name(program));
        let chosen = match profile {
            Some(profile) if !acts.is_empty() && !acts.contains(&Act::Unknown) => {
                if !invocation.operands().iter().all(|word| self.stays_inside(word, directory)) {
                    return None;
                }
                let matched = read(profile, invocation.operands());
                let mut words = chosen_words(&matched.wanted.operands, &acts)?;
                words.extend(written_files(base_name(program), &own));
                let subcommand = matched.path.iter().map(|word| (*word).to_owned()).collect();
                let (paths, loaded) = (Vec::new(), Vec::new());
                ShapedWords { subcommand, words, paths, targets: BTreeSet::new(), loaded }
            }
            // Whoever is fed may run what it is fed.
            _ if is_fed(invocation) => return None,
            _ => ShapedWords::of(invocation, directory, self)?,
        };
        scripts.extend(chosen.loaded);
        let may_be_remembered = !acts.is_empty() && acts.iter().all(|act| is_rememberable(*act));
        let shape = CommandShape {
            program: program.to_owned(),
            subcommand: chosen.subcommand,
            words: chosen.words,
            acts,
            targets: targets.union(&chosen.targets).copied().collect(),
        };
        may_be_remembered.then(|| ShapedCommand {
            shape,
            directory: directory.clone(),
            paths: chosen.paths,
            scripts,
        })
    }

    /// Returns where a path lies, if a yes to it may be remembered.
    pub(super) fn place(&self, path: &str) -> Option<TargetKind> {
        if (self.is_barred)(path) {
            return None;
        }
        // A workspace may itself be temporary.
        if self.scope.is_in_project(path) {
            return Some(TargetKind::Workspace);
        }
        self.scope.is_temporary(path).then_some(TargetKind::Temporary)
    }

    /// Says whether a word of a known program names nothing elsewhere, whatever the program takes it for: another
    /// repository, another directory to work in.
    fn stays_inside(&self, word: &Argument, directory: &str) -> bool {
        let value = if word.is_option() { word.text.split_once('=').map(|(_, value)| value) } else { None };
        let text = value.unwrap_or(&word.text);
        let leads_away = text.starts_with(['/', '~']) || text.split('/').any(|part| part == "..");
        word.knowledge != Knowledge::Tilde
            && (!leads_away || self.place(&path::join(directory, text)).is_some())
    }

    /// Returns the kinds of everything that effects touch; `None` if something lies elsewhere.
    fn targets(&self, effects: &[Effect]) -> Option<BTreeSet<TargetKind>> {
        let mut kinds = BTreeSet::new();
        for effect in effects {
            match &effect.target {
                Target::None | Target::Name(_) => {}
                Target::Host { host, .. } if is_loopback(host) => {
                    kinds.insert(TargetKind::OwnService);
                }
                Target::Host { .. } => return None,
                Target::Path(target) => {
                    if target.is_lost || target.paths.is_empty() {
                        return None;
                    }
                    for path in target.paths.iter().filter(|path| !is_free(path)) {
                        kinds.insert(self.place(path)?);
                    }
                }
            }
        }
        Some(kinds)
    }

    /// Says whether nothing stands before a command that changes who runs it, where or how often.
    fn is_wrapped_plainly(&self, invocation: &Invocation) -> bool {
        let mut parent = invocation.parent;
        while let Some(wrapper) = parent.and_then(|place| self.survey.invocations.get(place)) {
            let is_known = wrapper.program_name().is_some_and(|name| PLAIN_WRAPPERS.contains(&name));
            if wrapper.wrapping != Wrapping::Transparent || !is_known || !is_plain(wrapper) {
                return false;
            }
            parent = wrapper.parent;
        }
        true
    }
}

/// Returns the files that say what a program does here: those it is known to read, and any called after it. Few of them are
/// there.
fn settings_files(program: &str, directory: &str) -> Vec<String> {
    let entries = TASK_FILES.iter().filter_map(|entry| entry.split_once(':'));
    let known = entries.filter(|(runner, _)| *runner == program).map(|(_, file)| file.to_owned());
    let stem = program.split_once('.').map_or(program, |(stem, _)| stem);
    let mut letters = stem.chars();
    let capital: String =
        letters.next().map(|first| first.to_ascii_uppercase()).into_iter().chain(letters).collect();
    let named = |form: &&str| [form.replace('*', stem), form.replace('*', &capital)];
    let own = SETTINGS_FORMS.iter().flat_map(named);
    known.chain(own).map(|file| path::join(directory, &file)).collect()
}

/// Says whether all of a command stands in its words, and they are known.
fn is_plain(invocation: &Invocation) -> bool {
    let is_known = |word: &Argument| {
        matches!(word.knowledge, Knowledge::Fixed | Knowledge::Glob | Knowledge::Tilde)
            && word.text.len() <= LONGEST_WORD
            && !word.text.contains(|letter: char| letter.is_control() && letter != '\n' && letter != '\t')
    };
    invocation.arguments.len() <= MOST_WORDS
        && invocation.arguments.iter().all(is_known)
        && invocation.assignments.iter().all(|variable| is_safe_prefix(&variable.name))
        && invocation.substituted.is_empty()
        && invocation.code.is_none()
        && !invocation.decoded
        && !invocation.background
}

/// Says whether a command is given something on its standard input.
fn is_fed(invocation: &Invocation) -> bool {
    let reads = |redirection: &crate::invocation::Redirection| {
        redirection.access == crate::act::Access::Read
            && redirection.target.fixed().is_none_or(|file| file != "/dev/null")
    };
    !invocation.piped.is_empty()
        || invocation.given.is_some()
        || invocation.input.is_some()
        || invocation.redirections.iter().any(reads)
}

/// Returns the operands that choose what a program of the project runs: `build` of `make build`. Of other programs the
/// acts and targets say it all.
fn chosen_words(operands: &[Argument], acts: &BTreeSet<Act>) -> Option<Vec<String>> {
    if !acts.iter().any(|act| matches!(act, Act::RunProject | Act::Execute)) {
        return Some(Vec::new());
    }
    let is_path = |word: &&str| word.contains('/') || *word == ".";
    let words: Option<Vec<&str>> = operands.iter().map(Argument::fixed).collect();
    let chosen: Vec<String> = words?.into_iter().filter(|word| !is_path(word)).map(str::to_owned).collect();
    (!chosen.iter().any(|word| is_heavy(word))).then_some(chosen)
}

/// Returns the files that a command writes, as they are named: a yes to one is none to another, which may hold work. Of a
/// folder that is made nothing is lost.
fn written_files(program: &str, effects: &[Effect]) -> Vec<String> {
    if matches!(program, "mkdir" | "touch") {
        return Vec::new();
    }
    let written = effects.iter().filter(|effect| effect.act == Act::Write);
    written.map(|effect| effect.target.written().to_owned()).collect()
}

/// Says whether a yes to an act is remembered: it stays on the machine and in the project, and takes nothing away.
fn is_rememberable(act: Act) -> bool {
    matches!(
        act,
        Act::Observe
            | Act::Read
            | Act::List
            | Act::Write
            | Act::RunProject
            | Act::Execute
            | Act::GitLocal
            | Act::KillOwn
            | Act::Unknown
    )
}
