//! A call laid out for judgement: its effects, the commands they come from, and the places that matter.

use std::collections::{BTreeMap, BTreeSet};

use crate::act::Act;
use crate::effect::{Effect, Target};
use crate::invocation::{Invocation, Survey};
use crate::place::{OwnLocations, OwnPlaces, Scope, Secrecy};

/// What findings and allowances look at.
#[derive(Debug, Clone, Copy)]
pub struct Case<'a> {
    /// The tool that is called.
    pub tool: &'a str,
    /// What the call would do.
    pub effects: &'a [Effect],
    /// The commands of a command line; empty for other tools.
    pub survey: &'a Survey,
    /// The places that matter.
    pub scope: &'a Scope,
    /// What else is known of the surroundings.
    pub background: &'a Background,
}

/// What is known of the surroundings besides the call itself.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Background {
    /// The branch that is checked out, if somebody looked.
    pub branch: Option<String>,
    /// Files the agent wrote in this session, absolute.
    pub written: BTreeSet<String>,
    /// The remotes of the repository with their addresses, if somebody looked.
    pub remotes: BTreeMap<String, String>,
    /// Files and directories that the session changed by other means than whole texts, absolute.
    pub touched: BTreeSet<String>,
    /// Whether the session may have put more anywhere than is known.
    pub is_partial: bool,
    /// Whether a secret was read earlier in this session.
    pub reads_secrets: bool,
    /// Processes that an agent started in the working directories, by their numbers.
    pub own_processes: BTreeSet<String>,
    /// Where our own places lie.
    pub locations: OwnLocations,
}

impl Background {
    /// Says whether the session put something at a path, or around it, as far as anybody knows.
    pub(crate) fn touches(&self, path: &str) -> bool {
        let is_around = |touched: &String| crate::path::is_inside(path, touched);
        self.is_partial || self.written.contains(path) || self.touched.iter().any(is_around)
    }

    /// Says whether the session put something into a directory.
    pub(crate) fn fills(&self, directory: &str) -> bool {
        self.written.iter().chain(&self.touched).any(|path| crate::path::is_inside(path, directory))
    }
}

impl<'a> Case<'a> {
    /// Returns our own places.
    pub(crate) fn own_places(self) -> OwnPlaces<'a> {
        OwnPlaces { scope: self.scope, locations: &self.background.locations }
    }

    /// Returns the effects of one of these kinds.
    pub fn of(self, acts: &'a [Act]) -> impl Iterator<Item = &'a Effect> {
        self.effects.iter().filter(|effect| acts.contains(&effect.act))
    }

    /// Returns the command an effect comes from.
    pub fn command(self, effect: &Effect) -> Option<&'a Invocation> {
        effect.invocation.and_then(|index| self.survey.invocations.get(index))
    }

    /// Returns the program an effect comes from, without its directory; empty if there is none.
    pub fn program(self, effect: &Effect) -> &'a str {
        self.command(effect).and_then(Invocation::program_name).unwrap_or_default()
    }

    /// Says whether a command has one of these words, as fixed text.
    pub fn has_word(self, effect: &Effect, words: &[&str]) -> bool {
        let command = self.command(effect);
        command
            .is_some_and(|command| command.operands().iter().any(|word| words.contains(&word.text.as_str())))
    }

    /// Returns the effects whose output may reach the command of an effect: earlier stages of its pipeline,
    /// substitutions in its words, the same command, and files that were written before.
    pub fn sources(self, effect: &'a Effect) -> impl Iterator<Item = &'a Effect> {
        let reached = effect.invocation.map(|index| self.reaching(index)).unwrap_or_default();
        self.effects
            .iter()
            .filter(move |other| other.invocation.is_some_and(|index| reached.contains(&index)))
    }

    /// Returns the commands whose output may reach a command, itself included.
    pub(crate) fn reaching(self, index: usize) -> BTreeSet<usize> {
        let mut reached = BTreeSet::new();
        let mut open = vec![index];
        while let Some(next) = open.pop() {
            let Some(command) = self.survey.invocations.get(next).filter(|_| reached.insert(next)) else {
                continue;
            };
            open.extend(command.piped.clone().chain(command.substituted.clone()));
            open.extend(command.parent);
        }
        reached
    }

    /// Returns the commands that wrap the command of an effect, the innermost first.
    pub fn wrappers(self, effect: &Effect) -> impl Iterator<Item = &'a Invocation> {
        let parent = move |command: &&'a Invocation| {
            command.parent.and_then(|index| self.survey.invocations.get(index))
        };
        std::iter::successors(self.command(effect).and_then(|command| parent(&command)), parent)
    }

    /// Says whether a command runs with the rights of another user.
    pub fn is_raised(self, effect: &Effect) -> bool {
        self.wrappers(effect).any(|command| {
            command.program_name().is_some_and(|name| matches!(name, "sudo" | "doas" | "pkexec" | "run0"))
        })
    }

    /// Says whether an effect happens in a container, so that its paths are not those of this machine.
    pub fn is_in_container(self, effect: &Effect) -> bool {
        effect.invocation.is_some_and(|place| self.runs_in_container(place))
    }

    /// Says whether the command at a place runs in a container.
    pub(crate) fn runs_in_container(self, place: usize) -> bool {
        const CONTAINERS: &[&str] = &["docker", "docker-compose", "kubectl", "nerdctl", "oc", "podman"];
        let all = &self.survey.invocations;
        let parent = |command: &&'a Invocation| command.parent.and_then(|index| all.get(index));
        let first = all.get(place).and_then(|command| parent(&command));
        std::iter::successors(first, parent)
            .any(|command| command.program_name().is_some_and(|name| CONTAINERS.contains(&name)))
    }

    /// Says whether an effect reads a key, token or password, by its path or by its nature.
    pub fn is_secret(self, effect: &Effect) -> bool {
        match effect.act {
            Act::SecretRead => true,
            Act::Read | Act::Move | Act::Link => self.secrecy(effect) == Some(Secrecy::Key),
            _ => false,
        }
    }

    /// Returns how secret the file of an effect is.
    pub fn secrecy(self, effect: &Effect) -> Option<Secrecy> {
        match &effect.target {
            Target::Path(path) => path.secrecy_in(self.scope),
            Target::None | Target::Host { .. } | Target::Name(_) => None,
        }
    }

    /// Says whether a remote is given the very address that it has already.
    pub fn keeps_remote(self, effect: &Effect) -> bool {
        let words = self.command(effect).map(Invocation::operands).unwrap_or_default();
        match words {
            [remote, act, name, address] if remote.text == "remote" && act.text == "set-url" => {
                let known = self.background.remotes.get(&name.text);
                effect.act == Act::GitRemote && address.fixed().is_some() && known == Some(&address.text)
            }
            _ => false,
        }
    }

    /// Says whether a word or variable of the command names production, as a whole part of it: `--stage prod`,
    /// `RAILS_ENV=production`.
    pub(crate) fn names_production(self, effect: &Effect) -> bool {
        let Some(command) = self.command(effect) else { return false };
        let words = command.operands().iter().map(|word| word.text.as_str());
        let words = words.filter(|word| !word.contains(char::is_whitespace));
        let values = command.assignments.iter().map(|variable| variable.value.text.as_str());
        words.chain(values).any(is_production)
    }

    /// Says whether an effect ends a process that an agent started in the working directories.
    pub fn ends_own_process(self, effect: &Effect) -> bool {
        ended_process(self.survey, effect)
            .is_some_and(|number| self.background.own_processes.contains(number))
    }

    /// Says whether every spelling of the target lies in the project.
    pub fn is_in_project(self, effect: &Effect) -> bool {
        effect.target.is_path_with(|path| self.scope.is_in_project(path))
    }

    /// Says whether every spelling of the target lies in the project or among temporary files.
    pub fn is_own_place(self, effect: &Effect) -> bool {
        effect.target.is_path_with(|path| self.scope.is_in_project(path) || self.scope.is_temporary(path))
    }
}

fn is_production(word: &str) -> bool {
    let mut before = "";
    let lower = word.to_ascii_lowercase();
    for part in lower.split(|letter: char| !letter.is_ascii_alphanumeric()) {
        if matches!(part, "prod" | "production" | "prd" | "live")
            && !matches!(before, "non" | "not" | "no" | "pre")
        {
            return true;
        }
        before = part;
    }
    false
}

/// Returns the number of the process that an effect ends, if it is one of this machine that is named by its number.
pub fn ended_process<'a>(survey: &Survey, effect: &'a Effect) -> Option<&'a str> {
    let command = effect.invocation.and_then(|index| survey.invocations.get(index))?;
    // Within another command it may be a process of a container or of another machine.
    let is_ended =
        effect.act == Act::Kill && command.parent.is_none() && command.program_name() == Some("kill");
    let number = effect.word.as_ref().filter(|_| is_ended)?.fixed()?;
    let is_number = !number.starts_with('0') && number.bytes().all(|byte| byte.is_ascii_digit());
    (is_number && !number.is_empty()).then_some(number)
}
