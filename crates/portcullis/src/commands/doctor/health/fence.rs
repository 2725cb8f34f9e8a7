//! Whether commands can be contained: what this machine offers, and which agents lost a rewrite.
//!
//! A machine without fences is no problem: what would be contained is asked about there.

use std::fs;
use std::path::Path;

use portcullis_gate::containment::ContainmentLedger;
use portcullis_hosts::Host;
use portcullis_settings::SettingsLocations;

use super::{Checks, State};

/// Says whether a fence goes up over the workspace of the current directory, and what to do where none does.
#[cfg(target_os = "linux")]
pub(super) fn check_fence(checks: &mut Checks, locations: &SettingsLocations) {
    let Some(program) = portcullis_gate::containment::fence_program() else { return };
    let offers = offers();
    let (message, remedy) = match portcullis_gate::containment::probe(&program, locations.workspace()) {
        Ok(()) => (format!("one goes up here ({offers}), so that commands can be contained"), None),
        Err(why) => (
            format!("none goes up here ({offers}), so that nothing is contained: {why}"),
            Some(remedy().to_owned()),
        ),
    };
    checks.push("fence", State::Fine, message, remedy);
}

/// Says that only Linux has fences.
#[cfg(not(target_os = "linux"))]
pub(super) fn check_fence(checks: &mut Checks, _locations: &SettingsLocations) {
    checks.fine("fence", "only Linux has them, so that nothing is contained");
}

/// Says whether an agent ran a command without the fence it was told to run it in.
pub(super) fn check_rewrites(checks: &mut Checks, state: &Path, host: Host) {
    let Some(off) = ContainmentLedger::below(state).off(host.name()) else { return };
    let again = format!(
        "look for another hook that rewrites commands, then run `portcullis doctor --prove {}`",
        host.name()
    );
    checks.problem("containment", format!("its commands are not contained any more: {}", off.reason), again);
}

/// Returns what the kernel offers, in a few words.
#[cfg(target_os = "linux")]
fn offers() -> String {
    let has = |is_there: bool, what: &str| if is_there { what.to_owned() } else { format!("no {what}") };
    let is_limited = number("/proc/sys/user/max_user_namespaces") == Some(0)
        || number("/proc/sys/kernel/unprivileged_userns_clone") == Some(0)
        || is_restricted();
    let overlay = lists("/proc/filesystems", "overlay");
    let landlock = lists("/sys/kernel/security/lsm", "landlock");
    [has(!is_limited, "user namespaces"), has(overlay, "overlay"), has(landlock, "Landlock")].join(", ")
}

/// Returns what makes a fence go up on this machine, as far as that can be seen.
#[cfg(target_os = "linux")]
fn remedy() -> &'static str {
    if is_restricted() {
        "install the AppArmor profile `packaging/apparmor/portcullis` of the release, which lets our program make user namespaces"
    } else if number("/proc/sys/user/max_user_namespaces") == Some(0) {
        "set `sysctl user.max_user_namespaces` to more than 0"
    } else if number("/proc/sys/kernel/unprivileged_userns_clone") == Some(0) {
        "set `sysctl kernel.unprivileged_userns_clone` to 1"
    } else {
        "see `docs/guides/run.md`: containers and some file systems do not let a fence go up"
    }
}

/// Says whether `AppArmor` lets only programs with a profile make user namespaces.
#[cfg(target_os = "linux")]
fn is_restricted() -> bool {
    number("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") == Some(1)
}

#[cfg(target_os = "linux")]
fn number(file: &str) -> Option<u64> {
    fs::read_to_string(file).ok()?.trim().parse().ok()
}

#[cfg(target_os = "linux")]
fn lists(file: &str, word: &str) -> bool {
    let text = fs::read_to_string(file).unwrap_or_default();
    text.split([',', '\t', '\n', ' ']).any(|listed| listed == word)
}
