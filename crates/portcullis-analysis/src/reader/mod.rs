//! Readers of arguments that are small languages of their own, where a table cannot say what a program does.
//!
//! A profile names its reader: `reader = "find"`. The reader gets what the profile's tables found and adds to it.
//!
//! A reader only adds or replaces acts on words; what a word resolves to is the business of the maker of effects, so that
//! all readers share one notion of directories and homes. An argument that a reader does not understand is an unknown act.

mod awk;
mod condition;
mod container;
mod copy;
mod date;
mod dd;
mod debugger;
mod difference;
mod download;
mod editor;
mod engine;
mod files;
mod find;
mod forge;
mod git_checkout;
mod git_look;
mod git_push;
mod git_settings;
mod here;
mod inline;
mod jq;
mod kill;
mod mode;
mod msbuild;
mod pager;
mod pictures;
mod registry;
mod remote;
mod response;
mod script;
mod sed;
mod settings;
mod shell;
mod socat;
mod tar;
mod transfer;
mod trap;
mod unpack;
mod variables;

use crate::act::Act;
use crate::argument::Argument;
use crate::effect::Certainty;
use crate::environment::LineVariables;
use crate::invocation::{Invocation, Survey};
use crate::package_runner::PackageRunner;
use crate::profile::{Match, Use};

/// One command among the others of its line.
pub(crate) struct CommandContext<'a> {
    pub(crate) survey: &'a Survey,
    /// Its place among the invocations of the survey.
    pub(crate) index: usize,
    pub(crate) invocation: &'a Invocation,
    /// What the line as a whole does with variables.
    pub(crate) variables: &'a LineVariables<'a>,
    /// The user's home directory, if the line leaves it alone.
    pub(crate) home: Option<&'a str>,
}

impl CommandContext<'_> {
    /// Returns the runner of packages that starts this command, if one does.
    pub(crate) fn runner(&self) -> Option<PackageRunner> {
        let wrapper = self.invocation.parent.and_then(|parent| self.survey.invocations.get(parent));
        wrapper.and_then(PackageRunner::of)
    }
}

/// A reader: what the tables found of a command in, its effects out.
type ArgumentReader = fn(&CommandContext<'_>, &Match<'_>) -> Vec<Use>;

/// The readers by the name profiles use, sorted.
const READERS: &[(&str, ArgumentReader)] = &[
    ("agent", settings::agent),
    ("awk", awk::read),
    ("chmod", mode::chmod),
    ("condition", condition::read),
    ("container-copy", container::copy),
    ("container-images", container::images),
    ("container-inspect", container::inspect),
    ("container-names", container::names),
    ("copy", copy::copy),
    ("copy-remote", remote::copy),
    ("cpio", unpack::cpio),
    ("date", date::read),
    ("dd", dd::read),
    ("debugger", debugger::read),
    ("declare", variables::declare),
    ("docker-mounts", container::read),
    ("download", download::read),
    ("editor", editor::read),
    ("engine-filter", engine::filter),
    ("engine-java", engine::java),
    ("engine-php", engine::php),
    ("env", shell::env),
    ("files", files::read),
    ("files-or-input", files::or_input),
    ("find", find::read),
    ("getopts", variables::getopts),
    ("gh-api", forge::api),
    ("git-apply", difference::apply),
    ("git-branch", git_push::branch),
    ("git-checkout", git_checkout::read),
    ("git-config", git_settings::config),
    ("git-fetch", git_push::fetch),
    ("git-look", git_look::read),
    ("git-push", git_push::read),
    ("grep", here::grep),
    ("here-list", here::list),
    ("here-write", here::write),
    ("install", copy::install),
    ("jq", jq::jq),
    ("kill", kill::read),
    ("let", variables::calculate),
    ("link", copy::link),
    ("manual", pager::manual),
    ("move", copy::rename),
    ("msbuild", msbuild::read),
    ("msbuild-switches", msbuild::handed_on),
    ("names", variables::names),
    ("names-from", here::from_list),
    ("pager", pager::read),
    ("pictures", pictures::read),
    ("processes", variables::processes),
    ("python-m", script::python_module),
    ("redis", settings::redis),
    ("registry", registry::read),
    ("response-file", response::read),
    ("script", script::script),
    ("search", here::search),
    ("search-names", here::names),
    ("sed", sed::read),
    ("set", shell::set),
    ("shell", shell::run),
    ("socat", socat::read),
    ("ssh", remote::shell),
    ("sysctl", settings::sysctl),
    ("tar", tar::read),
    ("transfer", transfer::read),
    ("trap", trap::read),
    ("unzip", unpack::unzip),
    ("wait", variables::wait),
    ("yq", jq::yq),
];

pub(crate) use git_settings::read as git_settings;

/// Reads a command. A reader nobody knows makes its effects unknown.
pub(crate) fn read(name: &str, context: &CommandContext<'_>, found: &Match<'_>) -> Vec<Use> {
    let known = READERS.iter().find(|(listed, _)| *listed == name);
    match known {
        Some((_, reader)) => reader(context, found),
        None => vec![nameless(Act::Unknown)],
    }
}

/// Says whether profiles may name a reader.
pub fn is_known(name: &str) -> bool {
    READERS.iter().any(|(listed, _)| *listed == name)
}

fn certain(act: Act, word: &Argument) -> Use {
    Use { act, word: Some(word.clone()), certainty: Certainty::Certain }
}

fn possible(act: Act, word: &Argument) -> Use {
    Use { act, word: Some(word.clone()), certainty: Certainty::Possible }
}

fn nameless(act: Act) -> Use {
    Use { act, word: None, certainty: Certainty::Certain }
}

/// Does an act to the directory the command runs in.
fn certain_here(context: &CommandContext<'_>, act: Act) -> Option<Use> {
    let program = context.invocation.program()?;
    let here = Argument { knowledge: crate::argument::Knowledge::Fixed, ..program.piece(".") };
    Some(certain(act, &here))
}

/// Says whether an option was given, by its first spelling.
fn has(found: &Match<'_>, options: &[&str]) -> bool {
    found.wanted.options.iter().any(|(option, _)| options.contains(option))
}

#[cfg(test)]
mod testing {
    use crate::{Surroundings, survey};

    /// Returns the effects of a command line as examples of profiles write them.
    pub(super) fn effects(command: &str) -> Vec<String> {
        let here = Surroundings {
            directory: "/code/app",
            home: Some("/home/me"),
            profiles: crate::profile::Profiles::BUILT_IN,
        };
        crate::command_effects::listed_effects(&crate::command_effects::effects(&survey(command, here), here))
    }
}

#[cfg(test)]
mod tests {
    use super::READERS;

    #[test]
    fn the_readers_are_sorted_by_name() {
        assert!(READERS.is_sorted_by_key(|(name, _)| name));
    }
}
