//! Services of one's own on this machine: asked, changed, waited for and offered while a project is worked on.

use crate::act::{Access, Act};
use crate::case::Case;
use crate::effect::Effect;
use crate::effect::target::host_in;
use crate::invocation::{Invocation, Redirection};
use crate::place::is_loopback;

/// Programs that send requests.
const CLIENTS: &[&str] = &["curl", "curlie", "http", "https", "wget", "xh", "xhs"];

/// Cmdlets that do.
const CMDLETS: &[&str] = &["invoke-restmethod", "invoke-webrequest"];

/// What the parameters of a cmdlet begin with that make a request go elsewhere: a proxy, a socket, a session that may have
/// one. Shorter beginnings stand for several parameters, which PowerShell does not take.
const CMDLET_DETOURS: &[&str] = &["-prox", "-un", "-we"];

/// Programs that put load on a server.
const LOADERS: &[&str] = &["ab", "autocannon", "bombardier", "hey", "oha", "wrk", "wrk2"];

/// Programs that open a socket of a page and show what comes.
const VIEWERS: &[&str] = &["websocat", "wscat"];

/// Programs that can see whether a port is open.
const PROBES: &[&str] = &["nc", "nc.openbsd", "nc.traditional", "ncat", "netcat"];

/// Ports of services that run commands, hold secrets or data of others, or answer for people.
const WEIGHTY_PORTS: &[u16] = &[
    2375, 2376, 2379, 2380, 4040, 4243, 4444, 4646, 5601, 5984, 6443, 7317, 7318, 7319, 7320, 7321, 7322,
    7323, 7324, 7325, 7326, 7474, 8001, 8086, 8200, 8300, 8500, 8888, 8983, 9090, 9092, 9093, 9200, 9222,
    9229, 10250, 10255, 15672,
];

/// Says whether a request changes something in a service of this machine that is none of those others depend on.
pub(crate) fn is_changed(case: Case<'_>, effect: &Effect) -> bool {
    let written = effect.target.written().trim_matches(['"', '\'']);
    let address = written.split_once("://").map_or(written, |(_, rest)| rest);
    let place = address.split(['/', '?', '#']).next().unwrap_or_default();
    let port: Option<u16> = place.rsplit_once(':').and_then(|(_, port)| port.parse().ok());
    let words = case.command(effect).map(Invocation::operands).unwrap_or_default();
    let is_removal = |word: &str| word.to_ascii_uppercase().ends_with("DELETE");
    let path = address.split_once('/').map_or("", |(_, path)| path);
    let is_answer = |part: &str| matches!(part, "approvals" | "answer" | "grants");
    // What is read elsewhere in the line may be what is sent.
    let is_secret = |other: &Effect| other.shows_secret(case.scope);
    let is_cmdlet = CMDLETS.contains(&case.program(effect));
    let goes_elsewhere = |word: &str| {
        let lower = word.to_ascii_lowercase();
        is_detour(word) || is_cmdlet && CMDLET_DETOURS.iter().any(|detour| lower.starts_with(detour))
    };
    // Code that opens a socket of a page talks to the service that it names as a whole.
    let is_of_code = is_page_socket(case, effect);
    let is_fixed = || effect.word.as_ref().is_some_and(|word| word.fixed().is_some());
    let program = case.program(effect);
    (is_cmdlet || is_of_code || [CLIENTS, LOADERS, VIEWERS].iter().any(|list| list.contains(&program)))
        && !case.effects.iter().any(is_secret)
        && (is_of_code || is_fixed())
        && effect.target.host().is_some_and(is_loopback)
        && port.is_some_and(|port| port > 1023 && !WEIGHTY_PORTS.contains(&port))
        && !path.split(['/', '?']).any(is_answer)
        && !path.starts_with("login")
        && !words.iter().any(|word| is_removal(&word.text) || goes_elsewhere(&word.text))
}

/// Says whether load is put on such a service, or a connection to it shown. An address of `websocat` may be a command.
pub(crate) fn is_loaded(case: Case<'_>, effect: &Effect) -> bool {
    let written = effect.target.written().trim_matches(['"', '\'']);
    let is_socket = written.starts_with("ws://") || written.starts_with("wss://");
    let is_viewed = is_socket && VIEWERS.contains(&case.program(effect));
    (is_viewed || LOADERS.contains(&case.program(effect))) && is_changed(case, effect)
}

/// Says whether code opens or uses a socket as pages do, by an address that is known.
fn is_page_socket(case: Case<'_>, effect: &Effect) -> bool {
    let is_code = case.command(effect).is_some_and(|command| command.code.is_some());
    is_code && effect.word.is_none() && effect.target.written().starts_with("ws://")
}

/// Says whether a request that asks for no proof of who answers goes to services of this machine alone.
pub(crate) fn is_trusted(case: Case<'_>, effect: &Effect) -> bool {
    let talks = |other: &&Effect| {
        matches!(other.act, Act::Fetch | Act::Send | Act::Connect) && other.invocation == effect.invocation
    };
    let mut hosts = case.effects.iter().filter(talks).map(|other| other.target.host()).peekable();
    let words = case.command(effect).map(Invocation::operands).unwrap_or_default();
    CLIENTS.contains(&case.program(effect))
        && hosts.peek().is_some()
        && hosts.all(|host| host.is_some_and(is_loopback))
        && !words.iter().any(|word| is_detour(&word.text))
}

/// Says whether an option makes a request go elsewhere than its address says.
fn is_detour(word: &str) -> bool {
    const DETOURS: &[&str] = &[
        "--connect-to",
        "--resolve",
        "--proxy",
        "--unix-socket",
        "--abstract-unix-socket",
        "--preproxy",
        "--socks",
    ];
    DETOURS.iter().any(|detour| word.starts_with(detour)) || word.starts_with("-x") || word.starts_with("-K")
}

/// Says whether a command only sees whether a port of this machine is open.
pub(crate) fn is_probed(case: Case<'_>, effect: &Effect) -> bool {
    if is_page_socket(case, effect) {
        return is_changed(case, effect);
    }
    let words = case.command(effect).map(Invocation::operands).unwrap_or_default();
    let looks = |word: &str| {
        word.strip_prefix('-').is_some_and(|letters| letters.contains('z') && is_letters(letters))
    };
    let is_plain = |word: &str| !word.starts_with('-') || is_letters(word.trim_start_matches('-'));
    let is_secret = |other: &Effect| other.shows_secret(case.scope);
    let shows_certificate = case.program(effect) == "openssl" && case.has_word(effect, &["s_client"]);
    if shows_certificate && !case.effects.iter().any(is_secret) {
        return names_loopback(effect.target.written()) && case.command(effect).is_some_and(says_nothing);
    }
    PROBES.contains(&case.program(effect))
        && names_loopback(effect.target.written())
        && words.iter().filter_map(|word| word.fixed()).any(looks)
        && words.iter().all(|word| word.fixed().is_some_and(is_plain))
}

/// Says whether a command is fed nothing that it would pass on: no more than a line end, or the letter that ends it.
fn says_nothing(command: &Invocation) -> bool {
    let is_input = |redirection: &Redirection| {
        redirection.access == Access::Read && redirection.target.text != "/dev/null"
    };
    match &command.input {
        Some(text) => matches!(text.trim(), "" | "Q"),
        None => command.piped.is_empty() && !command.redirections.iter().any(is_input),
    }
}

/// Says whether letters behind a dash are those that only look, wait or tell: no program, no file, no listening.
fn is_letters(letters: &str) -> bool {
    letters.chars().all(|letter| "zvwnu46G".contains(letter) || letter.is_ascii_digit())
}

/// Says whether connections are accepted from this machine alone.
pub(crate) fn is_offered(effect: &Effect) -> bool {
    names_loopback(effect.target.written())
}

fn names_loopback(written: &str) -> bool {
    let written = written.trim_matches(['"', '\'']);
    is_loopback(written) || host_in(&format!("x://{written}/")).is_some_and(|host| is_loopback(&host))
}
