//! Giving a container power over this machine.
//!
//! A container that is privileged, sees the root directory or the socket of the container engine is no container: what runs in it is root here.
//! Mount only directories of the project, and add no capabilities.
//! Or name the power and say that the container is to have it.

use crate::act::Act;
use crate::case::Case;
use crate::findings::{ExampleCall, Finding, Firmness, Severity, Sighting};

pub(super) static FINDING: Finding = Finding {
    code: "PC053",
    name: "container-power",
    title: "gives a container power over this machine",
    category: "priv_escalation",
    severity: Severity::High,
    firmness: Firmness::Soft {
        verbs: &["privileged", "mount", "docker socket", "host network", "cap-add", "device"],
        must_name: "the power the container gets",
    },
    instead: "Give the container folders of the project alone, as in `docker run --rm -v ./data:/data app`",
    hits: &[
        ExampleCall::Bash("chmod 666 /var/run/docker.sock"),
        ExampleCall::Call("mcp__files__write_file", &[("path", "/var/run/docker.sock"), ("content", "x")]),
        ExampleCall::Bash("docker run --privileged app"),
        ExampleCall::Bash("docker run -v /:/host app"),
        ExampleCall::Bash("docker run -v /var/run/docker.sock:/var/run/docker.sock app"),
        ExampleCall::Bash("docker run --pid=host app"),
        ExampleCall::Bash("docker run --cap-add SYS_ADMIN app"),
        ExampleCall::Bash("podman run --privileged app sh"),
        ExampleCall::Bash("docker run --device /dev/sda app"),
        ExampleCall::Bash("docker run --security-opt seccomp=unconfined app"),
    ],
    misses: &[
        ExampleCall::Bash("ls -l /var/run/docker.sock"),
        ExampleCall::Bash("docker run --rm app"),
        ExampleCall::Bash("docker run -v ./data:/data app"),
        ExampleCall::Bash("docker build -t app ."),
        ExampleCall::Bash("docker ps"),
        ExampleCall::Bash("echo docker run --privileged app"),
        ExampleCall::Bash("docker compose up -d"),
        ExampleCall::Bash("docker run -p 8080:80 app"),
        ExampleCall::Bash("git commit -m \"docker run --privileged\""),
        ExampleCall::Bash("docker run -v /code/app:/app app npm test"),
    ],
    filter,
};

fn filter(case: Case<'_>) -> Vec<Sighting> {
    let is_socket = |path: &String| {
        ["/docker.sock", "/containerd.sock", "/podman.sock"].iter().any(|end| path.ends_with(end))
    };
    case.of(&[Act::ContainerPower, Act::Write, Act::SetMode])
        .filter(|effect| effect.act == Act::ContainerPower || effect.target.paths().iter().any(is_socket))
        .map(|effect| {
            let sentence = match effect.target.written() {
                "" => "it gives a container power over this machine".to_owned(),
                written => format!("it gives a container power over this machine: `{written}`"),
            };
            Sighting::of(case, effect, sentence)
        })
        .collect()
}
