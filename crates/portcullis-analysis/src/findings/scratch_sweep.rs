//! Sweeping directories that everybody on the machine keeps temporary files or caches in.
//!
//! Sockets, locks and working files of other programs and other sessions lie there too, and their age or ending says nothing of whose they are.
//! Remove what you made, by its name.
//! Or say that the whole directory is to be emptied.

use crate::act::Act;
use crate::case::Case;
use crate::effect::Effect;
use crate::findings::{ExampleCall, Finding, Firmness, Severity, Sighting};
use crate::removal::{RemovedPlace, RemovedShare, places};

pub(super) static FINDING: Finding = Finding {
    code: "PC003",
    name: "scratch-sweep",
    title: "sweeps a directory that other programs keep files in",
    category: "irreversible_local",
    severity: Severity::Medium,
    firmness: Firmness::Soft {
        verbs: &["clean", "clear", "empty", "delete", "remove", "wipe"],
        must_name: "the directory that is to be emptied",
    },
    instead: "Remove only what you made there, by its name, as in `rm -rf /tmp/app-build`",
    hits: &[
        ExampleCall::Bash("rm -rf /tmp/*"),
        ExampleCall::Bash("rm -rf /tmp"),
        ExampleCall::Bash("rm -rf /var/tmp/*"),
        ExampleCall::Bash("find /tmp -mtime +1 -delete"),
        ExampleCall::Bash("find /tmp -type f -exec rm -f {} +"),
        ExampleCall::Bash("cd /tmp && rm -rf ./*"),
        ExampleCall::Bash("rm -rf ~/.cache"),
        ExampleCall::Bash("rm -rf ~/.cache/*"),
        ExampleCall::Bash("find /tmp -name '*.sock' -delete"),
        ExampleCall::Bash("rm -rf /dev/shm/*"),
    ],
    misses: &[
        ExampleCall::Bash("rm -rf /tmp/app-build"),
        ExampleCall::Bash("rm -rf /tmp/app-*"),
        ExampleCall::Bash("find /tmp -name 'app-test*' -delete"),
        ExampleCall::Bash("rm -rf /tmp/job/*"),
        ExampleCall::Bash("ls /tmp/*"),
        ExampleCall::Bash("find /tmp -mtime +1"),
        ExampleCall::Bash("rm -rf ~/.cache/app"),
        ExampleCall::Bash("rm -rf tmp/*"),
        ExampleCall::Bash("rm -f /tmp/*.log"),
        ExampleCall::Bash("docker exec web rm -rf /tmp/cache"),
    ],
    filter,
};

/// Directories everybody writes to.
const SHARED: &[&str] = &["/dev/shm", "/private/tmp", "/private/var/tmp", "/tmp", "/var/folders", "/var/tmp"];

fn filter(case: Case<'_>) -> Vec<Sighting> {
    case.of(&[Act::Delete, Act::DeleteTree, Act::Move])
        .filter(|effect| is_sweep(case, effect))
        .map(|effect| {
            let sentence =
                format!("it sweeps `{}`, where other programs keep files", effect.target.written());
            Sighting::of(case, effect, sentence)
        })
        .collect()
}

/// Says whether a removal sweeps a shared directory.
pub(super) fn is_sweep<'a>(case: Case<'a>, effect: &'a Effect) -> bool {
    !case.is_in_container(effect) && places(case, effect).iter().any(|place| sweeps(case, effect, place))
}

fn sweeps(case: Case<'_>, effect: &Effect, place: &RemovedPlace) -> bool {
    let path = place.path.as_str();
    if case.scope.roots.iter().any(|root| root == path) {
        return false;
    }
    if SHARED.contains(&path) {
        let is_searched = effect.target.paths().is_empty() || case.program(effect) == "find";
        return match place.share {
            RemovedShare::Itself => effect.act != Act::Delete,
            RemovedShare::Contents => true,
            RemovedShare::Chosen => is_searched || effect.act == Act::DeleteTree,
            RemovedShare::Named => false,
        };
    }
    effect.act == Act::DeleteTree && place.share.is_all() && is_cache(case, path)
}

/// Says whether a directory holds the caches of all programs.
fn is_cache(case: Case<'_>, path: &str) -> bool {
    let below = case.scope.home.as_deref().and_then(|home| path.strip_prefix(home));
    path == "/var/cache" || matches!(below, Some("/.cache" | "/Library/Caches"))
}
