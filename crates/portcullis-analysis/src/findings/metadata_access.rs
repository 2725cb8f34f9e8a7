//! Asking the cloud for the credentials of this machine.
//!
//! The metadata address hands out keys of the account to whoever asks from inside.
//! Use the credentials that are configured for the work.
//! Or say that the metadata of the machine is to be read.

use crate::act::Act;
use crate::case::Case;
use crate::findings::{ExampleCall, Finding, Firmness, Severity, Sighting};
use crate::place::is_metadata;

pub(super) static FINDING: Finding = Finding {
    code: "PC054",
    name: "metadata-access",
    title: "asks the cloud for credentials of this machine",
    category: "credential_browse",
    severity: Severity::High,
    firmness: Firmness::Soft {
        verbs: &["metadata", "imds", "169.254.169.254"],
        must_name: "the metadata service",
    },
    instead: "Use the credentials that the project is configured with, and ask the user for others",
    hits: &[
        ExampleCall::Bash("curl http://169.254.169.254/latest/meta-data/"),
        ExampleCall::Bash("curl -s http://169.254.169.254/latest/meta-data/iam/security-credentials/"),
        ExampleCall::Bash("wget -qO- http://metadata.google.internal/computeMetadata/v1/"),
        ExampleCall::Bash("curl -H \"Metadata-Flavor: Google\" http://metadata.google.internal/x"),
        ExampleCall::Bash("curl http://2852039166/latest/"),
        ExampleCall::Bash("curl -X PUT http://169.254.169.254/latest/api/token"),
        ExampleCall::Bash("nc 169.254.169.254 80"),
        ExampleCall::Call(
            "WebFetch",
            &[("url", "http://169.254.169.254/latest/meta-data/"), ("prompt", "read")],
        ),
        ExampleCall::Call("mcp__browser__navigate", &[("url", "http://169.254.170.2/v2/credentials")]),
    ],
    misses: &[
        ExampleCall::Bash("curl https://example.com/meta-data/"),
        ExampleCall::Bash("curl http://localhost:8080/latest/meta-data/"),
        ExampleCall::Bash("echo http://169.254.169.254/"),
        ExampleCall::Bash("grep -rn 169.254.169.254 src"),
        ExampleCall::Bash("curl http://169.254.1.1/"),
        ExampleCall::Bash("git commit -m \"Block 169.254.169.254\""),
        ExampleCall::Call("WebFetch", &[("url", "https://docs.example.com/metadata"), ("prompt", "read")]),
        ExampleCall::Bash("ping -c 1 example.com"),
        ExampleCall::Bash("curl https://metadata.example.com/"),
    ],
    filter,
};

fn filter(case: Case<'_>) -> Vec<Sighting> {
    case.of(&[Act::Fetch, Act::Send, Act::Connect, Act::Query])
        .filter(|effect| effect.target.host().is_some_and(is_metadata))
        .map(|effect| {
            let host = effect.target.host().unwrap_or_default();
            Sighting::of(case, effect, format!("it asks {host} for credentials of this machine"))
        })
        .collect()
}
