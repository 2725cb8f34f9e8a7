//! Removing containers, images or volumes in bulk.
//!
//! Volumes hold databases, and what is removed in bulk belongs to other projects on the machine too.
//! Remove what you started, by its name.
//! A person is asked about what the program itself calls unused; what is picked by other commands is refused.
//! Or say that all of them are to be removed.

use crate::act::Act;
use crate::case::Case;
use crate::findings::{ExampleCall, Finding, Firmness, Severity, Sighting};

pub(super) static FINDING: Finding = Finding {
    code: "PC056",
    name: "container-purge",
    title: "removes containers, images or volumes in bulk",
    category: "irreversible_local",
    severity: Severity::Medium,
    firmness: Firmness::Soft {
        verbs: &["prune", "clean", "remove all", "delete", "purge", "free"],
        must_name: "what is to be removed",
    },
    instead: "List what is there, as in `docker ps -a`, and leave what others started alone",
    hits: &[
        ExampleCall::Bash("docker system prune -af"),
        ExampleCall::Bash("docker volume prune -f"),
        ExampleCall::Bash("docker system prune --volumes"),
        ExampleCall::Bash("docker image prune -a"),
        ExampleCall::Bash("podman system prune -a"),
        ExampleCall::Bash("docker builder prune -a"),
        ExampleCall::Bash("podman system reset"),
        ExampleCall::Bash("minikube delete --all"),
    ],
    misses: &[
        ExampleCall::Bash("docker ps -a"),
        ExampleCall::Bash("docker rm web"),
        ExampleCall::Bash("docker image ls"),
        ExampleCall::Bash("docker volume ls"),
        ExampleCall::Bash("echo docker system prune"),
        ExampleCall::Bash("docker rmi app:old"),
        ExampleCall::Bash("docker compose stop"),
        ExampleCall::Bash("git commit -m \"docker system prune\""),
        ExampleCall::Bash("docker system df"),
    ],
    filter,
};

fn filter(case: Case<'_>) -> Vec<Sighting> {
    case.of(&[Act::ContainerPurge])
        .map(|effect| {
            let sentence = match effect.target.written() {
                "" => "it removes containers, images or volumes in bulk".to_owned(),
                written => format!("it removes containers, images or volumes in bulk: `{written}`"),
            };
            let is_ordinary = case.has_word(effect, &["prune"]) && !case.names_production(effect);
            Sighting::of(case, effect, sentence).ordinary_if(is_ordinary)
        })
        .collect()
}
