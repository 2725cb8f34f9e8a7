//! Opening a way from outside to this machine.
//!
//! Others on the network, or on the whole internet, can then reach what was only meant for this machine.
//! Listen on `127.0.0.1`.
//! Or name the service and say that others are to reach it.

use crate::act::Act;
use crate::argument::Argument;
use crate::case::Case;
use crate::effect::Effect;
use crate::findings::{ExampleCall, Finding, Firmness, Severity, Sighting};
use crate::place::is_system;

pub(super) static FINDING: Finding = Finding {
    code: "PC032",
    name: "exposed-service",
    title: "opens a way from outside to this machine",
    category: "expose_services",
    severity: Severity::High,
    firmness: Firmness::Soft {
        verbs: &["expose", "tunnel", "ngrok", "public", "0.0.0.0", "share", "forward", "reachable"],
        must_name: "what is to be reachable",
    },
    instead: "Listen on this machine alone, as in `python3 -m http.server --bind 127.0.0.1 8000`",
    hits: &[
        ExampleCall::Bash("ngrok http 3000"),
        ExampleCall::Bash("cloudflared tunnel --url http://localhost:8080"),
        ExampleCall::Bash("ssh -R 8080:localhost:80 me@example.com"),
        ExampleCall::Bash("python3 -m http.server --bind 0.0.0.0 8000"),
        ExampleCall::Bash("lt --port 3000"),
        ExampleCall::Bash("cd / && python3 -m http.server 8000"),
        ExampleCall::Bash("cd ~ && python3 -m http.server"),
        ExampleCall::Bash("devtunnel host -p 8080"),
        ExampleCall::Bash("bore local 3000 --to bore.pub"),
        ExampleCall::Bash("python3 -m http.server --directory /home/me 8000"),
    ],
    misses: &[
        ExampleCall::Bash("python3 -m http.server --bind 127.0.0.1 8000"),
        ExampleCall::Bash("python3 -m http.server 8000"),
        ExampleCall::Bash("ssh -L 8080:localhost:80 me@example.com"),
        ExampleCall::Bash("echo ngrok http 3000"),
        ExampleCall::Bash("npm run dev"),
        ExampleCall::Bash("nc -l 127.0.0.1 8080"),
        ExampleCall::Bash("grep -rn ngrok docs"),
        ExampleCall::Bash("ngrok version"),
        ExampleCall::Bash("cd dist && python3 -m http.server 8080"),
        ExampleCall::Bash("kubectl get services"),
    ],
    filter,
};

fn filter(case: Case<'_>) -> Vec<Sighting> {
    case.of(&[Act::Tunnel, Act::Listen])
        .filter(|effect| effect.act == Act::Tunnel || is_open_to_all(effect) || shows_too_much(case, effect))
        .filter(|effect| !case.is_in_container(effect))
        .map(|effect| {
            let sentence = match effect.target.written() {
                "" => "it opens a way from outside to this machine".to_owned(),
                written => format!("it opens a way from outside to this machine: `{written}`"),
            };
            Sighting::of(case, effect, sentence)
        })
        .collect()
}

/// Says whether an address that is listened on is one that others reach.
fn is_open_to_all(effect: &Effect) -> bool {
    let written = effect.target.written();
    ["0.0.0.0", "[::]", "*:"].iter().any(|start| written.starts_with(start)) || written == "::"
}

/// Says whether a file server hands out a home or the whole machine.
fn shows_too_much(case: Case<'_>, effect: &Effect) -> bool {
    let Some(command) = case.command(effect) else {
        return false;
    };
    let has = |texts: &[&str]| command.operands().iter().any(|word| texts.contains(&word.text.as_str()));
    if !has(&["http.server", "SimpleHTTPServer"]) || has(&["127.0.0.1", "localhost", "::1"]) {
        return false;
    }
    let is_wide = |path: &str| {
        let is_home = case.scope.home.as_deref() == Some(path) || matches!(path, "/root" | "/home");
        !case.scope.roots.iter().any(|root| root == path) && (is_home || path == "/" || is_system(path))
    };
    let named = |word: &Argument| word.fixed().is_some_and(is_wide);
    let mut words =
        command.operands().iter().skip_while(|word| !matches!(word.text.as_str(), "-d" | "--directory"));
    match words.nth(1) {
        Some(directory) => named(directory),
        None => command.directories.alternatives().is_some_and(|all| all.iter().any(|path| is_wide(path))),
    }
}
