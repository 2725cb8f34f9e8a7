//! Our own program and daemon as a lever: who runs or asks them in a person's place, however the program is started.

use std::cell::{Cell, OnceCell};

use super::{Trespass, texts};
use crate::act::Act;
use crate::case::Case;
use crate::effect::target::host_in;
use crate::effect::{Effect, Target};
use crate::invocation::Invocation;
use crate::lists::places::own::{
    GRANTING, GRANTING_PAIRS, HOST_CONFIGURING, HOSTS, LOG_READERS, MOVING, OWN_NAMES,
};
use crate::place::{is_loopback, names_daemon_socket};

/// What our program is called.
const NAMES: &[&str] = &["portcullis", "portcullis-full", "portcullis-amp"];

/// How many words behind the program its command may stand, options between.
const REACH: usize = 8;

/// The ports that the daemon listens at unless it is told another: the first of them that is free.
const PORTS: std::ops::RangeInclusive<u16> = 7317..=7326;

/// Says whether a word is a port at which the daemon may listen.
fn is_port(case: Case<'_>, word: &str) -> bool {
    word.parse().is_ok_and(|port| PORTS.contains(&port) || case.own_places().locations.ports.contains(&port))
}

/// Says what an effect does through our own program or daemon.
pub(super) fn pulled(case: Case<'_>, effect: &Effect, search: &GrantSearch) -> Option<Trespass> {
    let command = case.command(effect);
    let program = command.and_then(Invocation::program_name).unwrap_or_default();
    let is_answer = match effect.act {
        Act::AgentConfig if HOSTS.contains(&program) => {
            return case.has_word(effect, HOST_CONFIGURING).then_some(Trespass::Change);
        }
        Act::AgentConfig => NAMES.contains(&program),
        // Whoever reaches into the daemon has what it holds.
        Act::Inject if case.survey.text.contains("portcullis") => return Some(Trespass::Read),
        // A server that somebody started shows what lies where it runs.
        Act::Fetch if names_secret(effect) => return Some(Trespass::Read),
        Act::Send | Act::Fetch | Act::Connect | Act::Tunnel => asks_daemon(case, effect),
        Act::Read | Act::Write if effect.target.paths().iter().any(|path| is_daemon_stream(case, path)) => {
            true
        }
        Act::Observe | Act::Query | Act::Unknown if LOG_READERS.contains(&program) => {
            return command.is_some_and(names_us).then_some(Trespass::Read);
        }
        Act::Unknown
        | Act::Execute
        | Act::RunProject
        | Act::RemoteShell
        | Act::RemoteRun
        | Act::Persist
        | Act::SystemConfig
        | Act::DriveTerminal
        | Act::Obfuscate => {
            // What starts a command may hand it variables that run something.
            search.runs(case, command)
                || command.is_some_and(|command| names_daemon(case, command))
                || case.wrappers(effect).any(|wrapper| search.is_spent(wrapper) || runs_us(wrapper))
        }
        _ => false,
    };
    let is_answer = is_answer || NAMES.contains(&program) && is_moved(case, effect);
    let is_socket = !effect.act.is_observing() && names_daemon_socket(effect.target.written());
    (is_answer || is_socket).then_some(Trespass::Answer)
}

/// Says whether an address names a file of a name that only we have.
fn names_secret(effect: &Effect) -> bool {
    let path = effect.target.written().split(['?', '#']).next().unwrap_or_default();
    path.rsplit('/').next().is_some_and(|name| OWN_NAMES.contains(&name))
}

/// The most text of one line that is searched for our program. A word may hold all that is nested in it, so that the whole
/// grows with the square of the line.
const MOST_SEARCHED: usize = 4 << 20;

/// A search of the commands of one line for our program.
#[derive(Default)]
pub(super) struct GrantSearch {
    /// Whether a command whose program is only known at run time runs it, once that was asked.
    unknown: OnceCell<bool>,
    /// Whether the line has our words run together and splits them, once that was asked.
    split: OnceCell<bool>,
    /// How many bytes were searched.
    searched: Cell<usize>,
}

impl GrantSearch {
    /// Says whether a command runs our program, or is given text that does. What belongs to no command may be any whose
    /// program is only known at run time, and what is too long to be searched may be anything.
    fn runs(&self, case: Case<'_>, command: Option<&Invocation>) -> bool {
        let all = &case.survey.invocations;
        if *self.split.get_or_init(|| splits_anew(all) && all.iter().flat_map(texts).any(holds_our_words)) {
            return true;
        }
        let Some(command) = command else {
            let is_unknown =
                |command: &&Invocation| command.program().is_some_and(|word| word.fixed().is_none());
            let search =
                || all.iter().filter(is_unknown).any(|command| self.is_spent(command) || runs_us(command));
            return *self.unknown.get_or_init(search);
        };
        let given = all.get(command.piped.clone()).unwrap_or_default();
        self.is_spent(command)
            || runs_us(command)
            || given.iter().any(|command| self.is_spent(command) || texts(command).any(names_grant))
    }

    /// Counts the text of a command, and says whether it is more than is searched.
    fn is_spent(&self, command: &Invocation) -> bool {
        let length: usize = command.arguments.iter().map(|word| word.text.len()).sum();
        self.searched.set(self.searched.get().saturating_add(length));
        self.searched.get() > MOST_SEARCHED
    }
}

/// Says whether a variable of the line moves our settings or state for our program, where it would follow others.
fn is_moved(case: Case<'_>, effect: &Effect) -> bool {
    let own = case.command(effect).into_iter().flat_map(|command| &command.assignments);
    let before = case.survey.invocations.iter().take(effect.invocation.unwrap_or_default());
    let set = before
        .clone()
        .filter(|command| command.arguments.is_empty())
        .flat_map(|command| &command.assignments);
    let exported =
        before.filter(|command| matches!(command.program_name(), Some("export" | "declare" | "typeset")));
    let words = exported.flat_map(Invocation::operands).filter_map(|word| word.text.split_once('='));
    let mut names = own.chain(set).map(|variable| variable.name.as_str()).chain(words.map(|(name, _)| name));
    names.any(|name| MOVING.contains(&name) || name.starts_with("PORTCULLIS_"))
}

/// Says whether a command speaks to the daemon: by an address with its port, in any spelling of the machine itself, or by
/// the port as a word of its own.
fn asks_daemon(case: Case<'_>, effect: &Effect) -> bool {
    let command = case.command(effect);
    let written = effect.target.written();
    let is_here = match &effect.target {
        Target::Host { host, .. } => is_loopback(host) || is_unnamed(host),
        Target::None | Target::Path(_) | Target::Name(_) => true,
    };
    let names_port =
        |command: &Invocation| texts(command).any(|text| words(text).iter().any(|word| is_port(case, word)));
    let asks = || match port_of(written) {
        Some(port) => is_port(case, port),
        None => command.is_some_and(names_port),
    };
    is_daemon_stream(case, written) || is_here && asks()
}

/// Returns the port of an address.
fn port_of(address: &str) -> Option<&str> {
    let after_scheme = address.split_once("://").map_or(address, |(_, rest)| rest);
    let authority = after_scheme.split(['/', '?', '#']).next().unwrap_or_default();
    let (_, port) = authority.rsplit_once(':')?;
    port.chars().all(|digit| digit.is_ascii_digit()).then_some(port)
}

/// Says whether a word of a command is an address of the daemon.
fn names_daemon(case: Case<'_>, command: &Invocation) -> bool {
    command.operands().iter().any(|word| {
        let is_here = host_in(&word.text).is_some_and(|host| is_loopback(&host) || is_unnamed(&host));
        is_here && port_of(&word.text).is_some_and(|port| is_port(case, port))
    })
}

/// Says whether a host is written as one number, or not known: nobody who asks a service of their own writes it so.
fn is_unnamed(host: &str) -> bool {
    host.is_empty() || host.starts_with("0x") || host.chars().all(|letter| letter.is_ascii_digit())
}

/// Says whether a path is a connection of the shell to the daemon: `/dev/tcp/127.0.0.1/7317`.
fn is_daemon_stream(case: Case<'_>, path: &str) -> bool {
    let port = path.strip_prefix("/dev/tcp/").and_then(|rest| rest.rsplit('/').next());
    port.is_some_and(|port| is_port(case, port))
}

fn names_us(command: &Invocation) -> bool {
    command.operands().iter().any(|word| word.text.to_ascii_lowercase().contains("portcullis"))
}

/// Says whether a command that nobody knows, or that runs others, runs our program: a text of it names the program and
/// behind it a word by which it grants, or its words are such as no other program takes.
fn runs_us(command: &Invocation) -> bool {
    texts(command).any(names_grant) || is_apart(command) || takes_our_words(command)
}

/// Says whether a text names our program and behind it a word by which it grants.
fn names_grant(text: &str) -> bool {
    let words = words(text);
    words.iter().enumerate().any(|(place, word)| {
        NAMES.contains(word) && words.iter().skip(place + 1).take(REACH).any(|next| GRANTING.contains(next))
    })
}

/// Says whether the name and the word stand in different words of a command, as for a loader or a list of arguments.
fn is_apart(command: &Invocation) -> bool {
    let mut rest = command
        .arguments
        .iter()
        .skip_while(|word| !words(&word.text).iter().any(|word| NAMES.contains(word)));
    rest.next().is_some() && rest.take(REACH).any(|word| GRANTING.contains(&word.text.as_str()))
}

/// Says whether a line changes where the shell splits words, so that one word of it may be several.
fn splits_anew(all: &[Invocation]) -> bool {
    all.iter().flat_map(|command| &command.assignments).any(|variable| variable.name == "IFS")
}

/// Says whether a text holds two words in a row by which our program grants, whatever splits them.
fn holds_our_words(text: &str) -> bool {
    let words = words(text);
    let is_pair = |pair: &[&str]| {
        let granting = GRANTING_PAIRS.iter().filter_map(|known| known.split_once(','));
        matches!(pair, [first, second] if granting.into_iter().any(|known| known == (*first, *second)))
    };
    words.windows(2).any(is_pair)
}

/// Says whether words of a command are those by which our program grants, whatever it is called here.
fn takes_our_words(command: &Invocation) -> bool {
    let words = command.operands();
    words.iter().zip(words.iter().skip(1)).any(|(first, second)| {
        GRANTING_PAIRS
            .iter()
            .any(|pair| pair.split_once(',') == Some((first.text.as_str(), second.text.as_str())))
    })
}

/// Splits a text into words as a shell or a list of arguments would have them; a path is known by its last component. Ends
/// of lines and tabs may be spelled out.
fn words(text: &str) -> Vec<&str> {
    let lines = text.split("\\n").flat_map(|line| line.split("\\t")).flat_map(|line| line.split("\\0"));
    let is_between = |letter: char| !(letter.is_ascii_alphanumeric() || "-_.".contains(letter));
    lines.flat_map(|line| line.split(is_between)).filter(|word| !word.is_empty()).collect()
}
