//! Changing files of the system.
//!
//! Everything on the machine depends on them, and no project brings them back.
//! Work inside the project, or install into the home directory.
//! Or name the file and say that it is to be changed.

use crate::act::Act;
use crate::case::Case;
use crate::effect::{Effect, Target};
use crate::findings::{ExampleCall, Finding, Firmness, Severity, Sighting};
use crate::path::is_inside;
use crate::place::{is_log, is_system, is_windows_system, startup_file};

pub(super) static FINDING: Finding = Finding {
    code: "PC030",
    name: "system-modification",
    title: "changes files of the system",
    category: "modify_shared",
    severity: Severity::High,
    firmness: Firmness::Soft {
        verbs: &["write", "install", "change", "edit", "copy", "replace", "chmod", "chown"],
        must_name: "the file of the system",
    },
    instead: "Write inside the project, and tell the user which file of the system needs a change",
    hits: &[
        ExampleCall::Bash("echo '127.0.0.1 x' >> /etc/hosts"),
        ExampleCall::Bash("cp app /usr/bin/app"),
        ExampleCall::Bash("chmod 777 /etc"),
        ExampleCall::Bash("ln -sf /code/app/x /usr/bin/python3"),
        ExampleCall::Bash("sudo tee /etc/resolv.conf < x"),
        ExampleCall::Bash("chown -R me /usr"),
        ExampleCall::Bash("chmod -R 777 ~"),
        ExampleCall::Bash("sed -i s/a/b/ /etc/nginx/nginx.conf"),
        ExampleCall::Bash("mv app.conf /etc/app.conf"),
        ExampleCall::Bash("echo x > /proc/sys/kernel/core_pattern"),
        ExampleCall::Call("Write", &[("file_path", "/etc/hosts"), ("content", "x")]),
        ExampleCall::Call("mcp__files__create_file", &[("path", "/etc/app.conf"), ("content", "x")]),
        ExampleCall::Bash("> /usr/bin/env"),
    ],
    misses: &[
        ExampleCall::Bash("cp app build/app"),
        ExampleCall::Bash("cat /etc/hosts"),
        ExampleCall::Bash("echo x > /dev/null"),
        ExampleCall::Bash("cp /etc/hosts hosts.txt"),
        ExampleCall::Bash("ls -l /usr/bin"),
        ExampleCall::Bash("echo x > /tmp/etc"),
        ExampleCall::Bash("chmod 755 scripts/run.sh"),
        ExampleCall::Bash("echo 'cp app /usr/bin'"),
        ExampleCall::Bash("docker run --rm app cp a /etc/a"),
        ExampleCall::Bash("ln -s /usr/bin/python3 bin/python"),
        ExampleCall::Call("Write", &[("file_path", "/code/app/etc/hosts"), ("content", "x")]),
    ],
    filter,
};

fn filter(case: Case<'_>) -> Vec<Sighting> {
    case.of(&[Act::Write, Act::SetMode, Act::SystemConfig])
        .filter(|effect| !case.is_in_container(effect))
        .filter(|effect| match effect.act {
            Act::SystemConfig => names_registry(effect.target.written()),
            _ => changes_system(case, effect),
        })
        .map(|effect| {
            let sentence = format!("it changes `{}`, which belongs to the system", effect.target.written());
            Sighting::of(case, effect, sentence)
        })
        .collect()
}

/// Says whether a setting is one of the registry of Windows, or a file of such settings.
fn names_registry(written: &str) -> bool {
    let name = written.trim_matches(['"', '\'']).to_ascii_lowercase();
    let is_hive = ["hklm", "hkcu", "hkcr", "hku", "hkey_"].iter().any(|hive| name.starts_with(hive));
    is_hive || name.rsplit_once('.').is_some_and(|(_, ending)| ending == "reg")
}

/// Directories in which programs keep what they have in hand.
const PASSING: &[&str] = &["/dev", "/proc/self", "/run", "/var/cache", "/var/lock", "/var/run"];

fn changes_system(case: Case<'_>, effect: &Effect) -> bool {
    let Target::Path(target) = &effect.target else {
        return false;
    };
    let is_system_file = |path: &String| {
        let is_home = case.scope.home.as_deref().is_some_and(|home| is_inside(path, home));
        is_system(path)
            && !is_home
            && !case.scope.is_in_project(path)
            && !case.scope.is_temporary(path)
            && !PASSING.iter().any(|directory| is_inside(path, directory))
            && startup_file(path, case.scope).is_none()
            && !is_log(path, case.scope)
    };
    let is_home = |path: &String| effect.act == Act::SetMode && case.scope.home.as_ref() == Some(path);
    is_windows_system(&target.written)
        || target.paths.iter().any(|path| is_system_file(path) || is_home(path))
}
