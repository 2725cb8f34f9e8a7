//! What setting a variable does: what the programs that obey it will load, run, write or reach.

use super::table::{ValueKind, kind_of, listed};
use super::value::{
    is_itself, is_path, is_plain_expansion, is_plain_name, is_plain_word, is_scratch, is_switch, is_usual,
    place, places,
};
use super::{command, options};
use crate::act::Act;
use crate::argument::{Argument, Knowledge};
use crate::effect::target::host_in;
use crate::lists::environment::USUAL_SOURCES;
use crate::place::is_loopback;

/// One thing that setting a variable does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct VariableUse {
    pub(crate) act: Act,
    /// The place in its value; `None` if it is the setting as a whole.
    pub(crate) place: Option<Argument>,
}

/// Whom a variable reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum VariableReach {
    /// A program: it stands before one or is exported.
    Programs,
    /// The shell, and programs only if somebody exported it before.
    Shell,
}

/// What surrounds an assignment.
#[derive(Clone, Copy)]
pub(crate) struct Assignment<'a> {
    pub(crate) name: &'a str,
    pub(crate) value: &'a Argument,
    pub(crate) reach: VariableReach,
    pub(crate) home: Option<&'a str>,
    /// Says whether the line itself sets a variable.
    pub(crate) is_set_here: &'a dyn Fn(&str) -> bool,
}

/// Variables that switch off the check of who is at the other end, with the value that does.
const DISTRUST: &[(&str, &str)] = &[
    ("CURL_INSECURE", "1"),
    ("GIT_SSL_NO_VERIFY", "1"),
    ("GIT_SSL_NO_VERIFY", "true"),
    ("NODE_TLS_REJECT_UNAUTHORIZED", "0"),
    ("NPM_CONFIG_STRICT_SSL", "false"),
    ("PYTHONHTTPSVERIFY", "0"),
];

impl Assignment<'_> {
    /// Returns what setting the variable does; nothing if no program obeys the value in a way that matters.
    pub(crate) fn uses(self) -> Vec<VariableUse> {
        if let Some(act) = self.special() {
            return vec![VariableUse { act, place: None }];
        }
        let kind = match self.reach {
            VariableReach::Programs => kind_of(self.name),
            VariableReach::Shell => match listed(self.name).filter(|kind| reaches_programs(*kind)) {
                Some(kind) => kind,
                None => return Vec::new(),
            },
        };
        self.by_kind(kind)
    }

    /// Acts that go by the very name and value.
    fn special(self) -> Option<Act> {
        let (name, value) = (self.name, self.value.text.as_str());
        if name == "BASH_XTRACEFD" {
            // Every command with its words goes to a file that nobody sees.
            return Some(Act::Capture);
        }
        if name == "SSH_AUTH_SOCK" && is_scratch(value) || name == "KRB5CCNAME" && value.contains("/tmp/") {
            // The keys or tickets of another session.
            return Some(Act::SecretRead);
        }
        if DISTRUST.contains(&(name, value)) {
            return Some(Act::WeakenTrust);
        }
        let hides_history = match name {
            "HISTFILE" => matches!(value, "/dev/null" | ""),
            "HISTSIZE" | "HISTFILESIZE" => value == "0",
            "HISTIGNORE" => true,
            "HISTCONTROL" => value.starts_with("ignore"),
            _ => false,
        };
        if hides_history {
            return Some(Act::TamperLog);
        }
        matches!(name, "GIT_AUTHOR_NAME" | "GIT_AUTHOR_EMAIL" | "GIT_COMMITTER_NAME" | "GIT_COMMITTER_EMAIL")
            .then_some(Act::Impersonate)
    }

    fn by_kind(self, kind: ValueKind) -> Vec<VariableUse> {
        let text = self.value.text.as_str();
        let unless = |is_fine: bool, act: Act| {
            if is_fine { Vec::new() } else { vec![VariableUse { act, place: None }] }
        };
        let is_known = self.value.is_known() || self.value.knowledge == Knowledge::Glob;
        match kind {
            // Make and its like expand what looks like an expansion.
            ValueKind::Harmless => {
                unless(!is_known || !text.contains("$(") && !text.contains('`'), Act::Unknown)
            }
            ValueKind::Plain => self.of_any_kind(),
            ValueKind::Name => unless(is_known && is_plain_name(text), Act::Unknown),
            ValueKind::Command | ValueKind::Toolchain | ValueKind::Shell => {
                let is_off = is_switch(text) && self.value.is_known();
                unless(is_off || command::is_usual(kind, text), Act::Unknown)
            }
            ValueKind::Loaded => self.loaded(),
            ValueKind::Settings => unless(self.is_usual_list(), Act::Unknown),
            // Many projects name their stage so; only a path is a file that shells read.
            ValueKind::Searched if self.name == "ENV" && is_plain_word(text) => Vec::new(),
            ValueKind::Searched => {
                let act = if places(text).into_iter().any(is_scratch) { Act::LoadCode } else { Act::Unknown };
                unless(self.is_usual_list(), act)
            }
            ValueKind::Preloaded => unless(self.is_usual_list(), Act::LoadCode),
            ValueKind::Programs => self.programs(),
            ValueKind::Written => self.written(),
            ValueKind::Address => self.address(),
            ValueKind::Options => unless(options::are_plain(self.name, text), Act::Unknown),
            ValueKind::CodeOptions => unless(options::are_plain(self.name, text), Act::LoadCode),
            ValueKind::Steering => unless(is_known && is_switch(text), Act::Unknown),
            ValueKind::Weakening | ValueKind::Watching => unless(text.is_empty(), Act::Unknown),
        }
    }

    fn unknown() -> Vec<VariableUse> {
        vec![VariableUse { act: Act::Unknown, place: None }]
    }

    /// Says whether every place of a list is a usual one, or the list is switched off.
    fn is_usual_list(self) -> bool {
        is_switch(&self.value.text)
            || places(&self.value.text)
                .into_iter()
                .all(|piece| piece.is_empty() || is_itself(self.name, piece) || is_usual(piece, self.home))
    }

    /// A value whose name says nothing: a plain word steers nothing, a path may be anything of the place it leads to.
    fn of_any_kind(self) -> Vec<VariableUse> {
        let text = self.value.text.as_str();
        if !self.value.is_known() && self.value.knowledge != Knowledge::Glob {
            let is_fine = is_plain_expansion(text, self.is_set_here) || place(self.value, text).is_some();
            return if is_fine { Vec::new() } else { Self::unknown() };
        }
        if is_plain_word(text) || is_local_address(text) {
            return Vec::new();
        }
        self.used(Act::Execute, text)
    }

    /// Returns an act on a place of the value, which is unknown if the place is or if anybody could have put it there.
    fn used(self, act: Act, piece: &str) -> Vec<VariableUse> {
        match place(self.value, piece)
            .filter(|_| is_path(piece) && (act != Act::Execute || !is_scratch(piece)))
        {
            Some(place) => vec![VariableUse { act, place: Some(place) }],
            None => Self::unknown(),
        }
    }

    /// Places that code is loaded from.
    fn loaded(self) -> Vec<VariableUse> {
        let text = self.value.text.as_str();
        if is_switch(text) {
            return Vec::new();
        }
        let pieces = places(text);
        if pieces.iter().any(|piece| is_scratch(piece)) && listed(self.name) == Some(ValueKind::Loaded) {
            let act = if self.name == "KUBECONFIG" { Act::Unknown } else { Act::LoadCode };
            return vec![VariableUse { act, place: None }];
        }
        // Settings of a program's own kind, such as `fast:True`, are no places.
        let is_named = listed(self.name).is_some();
        if !is_named && pieces.len() > 1 && pieces.iter().all(|piece| is_plain_word(piece)) {
            return Vec::new();
        }
        let odd = pieces
            .into_iter()
            .filter(|piece| !piece.is_empty() && !is_itself(self.name, piece) && !is_usual(piece, self.home));
        odd.flat_map(|piece| self.used(Act::Execute, piece)).collect()
    }

    /// The directories of programs: what stands before the old ones takes the place of every program.
    fn programs(self) -> Vec<VariableUse> {
        let text = self.value.text.trim_matches('"');
        let pieces = places(text);
        if text.starts_with(['.', ':']) || pieces.iter().any(|piece| is_scratch(piece)) {
            return vec![VariableUse { act: Act::LoadCode, place: None }];
        }
        let mut uses = Vec::new();
        let mut is_after = false;
        for piece in pieces {
            if is_itself(self.name, piece) {
                is_after = true;
            } else if !is_usual(piece, self.home) && !piece.is_empty() {
                uses.extend(if is_after { self.used(Act::Execute, piece) } else { Self::unknown() });
            }
        }
        uses
    }

    fn written(self) -> Vec<VariableUse> {
        let text = self.value.text.as_str();
        let is_fresh = text.trim_matches('"').starts_with("$(mktemp") && !text.contains([';', '|', '&']);
        if is_switch(text) || is_fresh {
            return Vec::new();
        }
        self.used(Act::Write, text)
    }

    fn address(self) -> Vec<VariableUse> {
        let text = self.value.text.trim_matches('"');
        // A database in a file.
        let file = ["sqlite:///", "sqlite:", "sqlite3:", "file:"]
            .iter()
            .find_map(|scheme| text.strip_prefix(scheme));
        if let Some(file) = file.map(|file| file.trim_start_matches("//").split('?').next().unwrap_or(file)) {
            return if matches!(file, "" | ":memory:") { Vec::new() } else { self.used(Act::Write, file) };
        }
        let is_fine = |part: &str| {
            let host = host_in(part).unwrap_or_default();
            let is_below = |usual: &&str| {
                host.strip_suffix(*usual).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
            };
            is_switch(part)
                || super::value::variable_in(part) == Some(self.name)
                || is_local_address(part)
                || is_plain_host(&host) && USUAL_SOURCES.iter().any(is_below)
        };
        let parts = text.split([',', '|', ' ']);
        if parts.into_iter().all(is_fine) { Vec::new() } else { Self::unknown() }
    }
}

/// Says whether a kind of variable is one that sessions export, so that a plain assignment reaches programs too.
fn reaches_programs(kind: ValueKind) -> bool {
    !matches!(
        kind,
        ValueKind::Harmless
            | ValueKind::Plain
            | ValueKind::Name
            | ValueKind::Command
            | ValueKind::Toolchain
            | ValueKind::Loaded
            | ValueKind::Address
            | ValueKind::Options
    )
}

fn is_plain_host(host: &str) -> bool {
    !host.is_empty() && host.chars().all(|letter| letter.is_ascii_alphanumeric() || ".-:".contains(letter))
}

/// Says whether an address is one of this machine: a loopback host with a port and a path, or a socket of its own.
fn is_local_address(text: &str) -> bool {
    const SOCKETS: &[&str] =
        &["unix:///var/run/docker.sock", "unix:///run/docker.sock", "/var/run/postgresql", "/tmp"];
    let is_clean = !text.contains(|letter: char| letter.is_whitespace() || ";|&<>`$'\"".contains(letter));
    let host = host_in(text).unwrap_or_default();
    let is_loopback = is_loopback(&host)
        || matches!(host.as_str(), "0.0.0.0" | "host.docker.internal")
        || host.ends_with(".localhost");
    is_clean && (is_loopback || SOCKETS.contains(&text))
}
