//! Changing something at a service of somebody else, or sending data to a host that nobody declared.
//!
//! What was posted, changed or deleted over there is not undone by git, and what was sent cannot be called back.
//! Ask the service with a request that only reads, try it against a server on this machine, or let a person send it.
//! Or name the host and say what is to be sent.

use crate::act::Act;
use crate::case::Case;
use crate::effect::{Certainty, Effect};
use crate::findings::{ExampleCall, Finding, Firmness, Severity, Sighting};
use crate::place::{is_internal_host, is_loopback, is_one_label};

pub(super) static FINDING: Finding = Finding {
    code: "PC059",
    name: "remote-change",
    title: "changes something at a remote service",
    category: "external_api_write",
    severity: Severity::Medium,
    firmness: Firmness::Soft {
        verbs: &[
            "post", "put", "patch", "delete", "send", "upload", "submit", "create", "update", "call", "curl",
        ],
        must_name: "the host",
    },
    instead: "Send only requests that read, as in `curl -s https://api.example.com/items`",
    hits: &[
        ExampleCall::Bash("curl -X POST https://api.example.com/items -d '{}'"),
        ExampleCall::Bash("curl -X DELETE https://api.example.com/items/1"),
        ExampleCall::Bash("curl -d @payload.json https://api.example.com/items"),
        ExampleCall::Bash("curl -T dist.tgz https://files.example.com/"),
        ExampleCall::Bash("wget --post-data=a=b https://api.example.com/items"),
        ExampleCall::Bash("http PUT https://api.example.com/items/1 name=x"),
        ExampleCall::Bash(
            "python3 -c \"import requests; requests.post('https://api.example.com/x', json={'a': 1})\"",
        ),
        ExampleCall::Bash("node -e \"fetch('https://api.example.com/x', {method: 'PATCH', body: 'a'})\""),
        ExampleCall::Call("mcp__web__fetch", &[("url", "https://api.example.com/x"), ("method", "DELETE")]),
    ],
    misses: &[
        ExampleCall::Bash("curl -s https://api.example.com/items"),
        ExampleCall::Bash("curl -X POST http://localhost:3000/items -d '{}'"),
        ExampleCall::Bash("curl -X DELETE http://127.0.0.1:8080/items/1"),
        ExampleCall::Bash("curl -I https://example.com"),
        ExampleCall::Bash("curl -d a=b http://10.0.0.5/items"),
        ExampleCall::Bash("echo curl -X POST https://api.example.com"),
        ExampleCall::Bash("python3 -c \"import requests; requests.get('https://api.example.com/x')\""),
        ExampleCall::Bash("git push origin topic"),
        ExampleCall::Bash("scp dist.tgz me@example.com:/srv/"),
    ],
    filter,
};

/// Programs that make requests of the web.
const CLIENTS: &[&str] =
    &["curl", "http", "https", "invoke-restmethod", "invoke-webrequest", "irm", "iwr", "wget", "xh", "xhs"];

fn filter(case: Case<'_>) -> Vec<Sighting> {
    case.of(&[Act::Send, Act::CloudWrite])
        .filter(|effect| effect.act == Act::CloudWrite || is_remote_request(case, effect))
        .map(|effect| {
            let sentence = match (effect.act, effect.target.host().unwrap_or_default()) {
                (Act::CloudWrite, _) | (_, "") => "it changes resources of a cloud".to_owned(),
                (_, host) => format!("it changes something at {host}, or sends data there"),
            };
            Sighting::of(case, effect, sentence)
        })
        .collect()
}

/// Says whether a request certainly has a body or a changing method, and goes to a host of the open network.
fn is_remote_request(case: Case<'_>, effect: &Effect) -> bool {
    let host = effect.target.host().unwrap_or_default();
    let is_web =
        effect.target.written().split_once("://").is_none_or(|(scheme, _)| scheme.starts_with("http"));
    let is_client = case.command(effect).is_none_or(|command| {
        command.code.is_some() || command.program_name().is_some_and(|name| CLIENTS.contains(&name))
    });
    is_client
        && effect.certainty == Certainty::Certain
        && is_web
        && host.contains('.')
        && !is_loopback(host)
        && !is_internal_host(host)
        && !is_one_label(host)
}
