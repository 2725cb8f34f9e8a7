//! Removing directories outside the project.
//!
//! What lies beside the project is another project or somebody's data, and no repository of this one brings it back.
//! Work inside the project or among temporary files.
//! Or name the path and say that it is to be removed.

use crate::act::Act;
use crate::case::Case;
use crate::effect::Effect;
use crate::findings::{ExampleCall, Finding, Firmness, Severity, Sighting, critical_removal, scratch_sweep};
use crate::path::components;
use crate::removal::{RemovedPlace, places};

pub(super) static FINDING: Finding = Finding {
    code: "PC057",
    name: "foreign-deletion",
    title: "removes a directory outside the project",
    category: "irreversible_local",
    severity: Severity::High,
    firmness: Firmness::Soft {
        verbs: &["delete", "remove", "wipe", "erase", "rm", "clean"],
        must_name: "the path that is to be removed",
    },
    instead: "Remove only folders inside the project, as in `rm -rf build`",
    hits: &[
        ExampleCall::Bash("rm -rf ../other"),
        ExampleCall::Bash("rm -rf /data/reports"),
        ExampleCall::Bash("rm -r /code/library"),
        ExampleCall::Bash("cd .. && rm -rf library"),
        ExampleCall::Bash("rm -rf ~/src/other/lib"),
        ExampleCall::Bash("rm -rf /tmp/../data/x"),
        ExampleCall::Bash("bash -c 'rm -fr /mnt/backup/2024'"),
        ExampleCall::Bash("rm -rf /code/library/*"),
        ExampleCall::Call("mcp__files__delete_directory", &[("path", "/data/reports")]),
    ],
    misses: &[
        ExampleCall::Bash("rm -rf build"),
        ExampleCall::Bash("rm -rf /code/app/dist"),
        ExampleCall::Bash("rm -rf /tmp/checkout"),
        ExampleCall::Bash("rm -rf ~/.cache/pip"),
        ExampleCall::Bash("rm -rf ../library/node_modules"),
        ExampleCall::Bash("ls -R ../other"),
        ExampleCall::Bash("echo rm -rf ../other"),
        ExampleCall::Bash("rm -f ../notes.txt"),
        ExampleCall::Bash("docker run --rm app rm -rf /data/x"),
    ],
    filter,
};

/// Directories that tools make again.
const MADE_AGAIN: &[&str] = &[
    ".mypy_cache",
    ".next",
    ".pytest_cache",
    ".ruff_cache",
    ".turbo",
    ".venv",
    "__pycache__",
    "node_modules",
];

fn filter(case: Case<'_>) -> Vec<Sighting> {
    case.of(&[Act::DeleteTree])
        .filter(|effect| is_foreign(case, effect))
        .map(|effect| {
            let sentence =
                format!("it removes `{}`, which lies outside the project", effect.target.written());
            Sighting::of(case, effect, sentence)
        })
        .collect()
}

fn is_foreign<'a>(case: Case<'a>, effect: &'a Effect) -> bool {
    // What other findings say more of is left to them.
    !effect.target.paths().is_empty()
        && !case.is_in_container(effect)
        && !critical_removal::is_critical(case, effect)
        && !scratch_sweep::is_sweep(case, effect)
        && places(case, effect).iter().any(|place| is_foreign_place(case, place))
}

fn is_foreign_place(case: Case<'_>, place: &RemovedPlace) -> bool {
    let path = place.path.as_str();
    let is_spare = |part: &str| {
        let part = part.to_ascii_lowercase();
        part.contains("cache") || matches!(part.as_str(), "tmp" | "temp" | ".tmp" | "scratch" | ".trash")
    };
    let own = case.scope.below_own_home(path).unwrap_or(path);
    let is_made_again = components(own).any(|part| MADE_AGAIN.contains(&part) || is_spare(part));
    let is_system_scratch =
        ["/run/", "/var/lib/apt/lists", "/dev/shm/"].iter().any(|start| path.starts_with(start));
    place.share.is_all()
        && !case.scope.is_in_project(path)
        && !case.scope.is_temporary(path)
        && !is_made_again
        && !is_system_scratch
}
