//! Removing containers, images or volumes in bulk.
//!
//! Volumes hold databases, and what is removed in bulk belongs to other projects on the machine too.
//! Remove what you started, by its name.
//! Or say that all of them are to be removed.

use crate::act::Act;
use crate::case::Case;
use crate::findings::{Finding, Firmness, Sample, Severity, Sighting};

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
    hits: &[
        Sample::Bash("docker system prune -af"),
        Sample::Bash("docker volume prune -f"),
        Sample::Bash("docker system prune --volumes"),
        Sample::Bash("docker image prune -a"),
        Sample::Bash("podman system prune -a"),
        Sample::Bash("docker builder prune -a"),
        Sample::Bash("podman system reset"),
        Sample::Bash("minikube delete --all"),
    ],
    misses: &[
        Sample::Bash("docker ps -a"),
        Sample::Bash("docker rm web"),
        Sample::Bash("docker image ls"),
        Sample::Bash("docker volume ls"),
        Sample::Bash("echo docker system prune"),
        Sample::Bash("docker rmi app:old"),
        Sample::Bash("docker compose stop"),
        Sample::Bash("git commit -m \"docker system prune\""),
        Sample::Bash("docker system df"),
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
            Sighting::of(case, effect, sentence)
        })
        .collect()
}
