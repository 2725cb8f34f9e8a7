//! The places outside the workspace that the text of a command names.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use portcullis_fence::FencePolicy;

/// Returns the hidden places that a command names, and the read-only ones. A program that it starts is none of them.
pub(super) fn named_outside(words: &[OsString], policy: &FencePolicy) -> (Vec<String>, Vec<String>) {
    let home = std::env::var_os("HOME").map(PathBuf::from);
    let (mut hidden, mut sealed) = (Vec::new(), Vec::new());
    for token in words.iter().filter_map(|word| word.to_str()).flat_map(|word| word.split(ends_path)) {
        let path = match (token.strip_prefix("~/"), &home) {
            (Some(below), Some(home)) => home.join(below),
            _ if token.len() > 1 && token.starts_with('/') => PathBuf::from(token),
            _ => continue,
        };
        let is_below = |place: &Path| path.starts_with(place);
        let list = if is_below(&policy.workspace) || policy.writable.iter().any(|place| is_below(place)) {
            continue;
        } else if policy.masked.iter().any(|place| is_below(place)) {
            &mut hidden
        } else if is_sealed(&path, policy) {
            &mut sealed
        } else {
            continue;
        };
        if !list.iter().any(|known| known == token) {
            list.push(token.to_owned());
        }
    }
    (hidden, sealed)
}

fn ends_path(letter: char) -> bool {
    letter.is_whitespace() || "'\"`=:;,()<>|&{}$".contains(letter)
}

/// Says whether a place is there and cannot be written inside. What the fence has its own of can be.
fn is_sealed(path: &Path, policy: &FencePolicy) -> bool {
    let is_own = ["/dev", "/proc"].map(Path::new).into_iter().chain(policy.hidden());
    let is_program =
        fs::metadata(path).is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0);
    let is_there =
        path.exists() || path.parent().is_some_and(|parent| parent != Path::new("/") && parent.exists());
    is_there && !is_program && !is_own.into_iter().any(|place| path.starts_with(place))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_command_names_outside_is_told_apart() {
        let policy = FencePolicy {
            masked: vec!["/home/ann/.aws".into()],
            ..FencePolicy::for_workspace("/home/ann/app".into())
        };
        let named = |command: &str| {
            let words = ["bash", "-c", command].map(OsString::from);
            named_outside(&words, &policy)
        };
        let texts = |texts: &[&str]| texts.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        assert_eq!(
            named("frobnicate --to=/etc/frob.conf </home/ann/.aws/config '/etc/frob.conf'"),
            (texts(&["/home/ann/.aws/config"]), texts(&["/etc/frob.conf"]))
        );
        for command in [
            "/usr/bin/env frobnicate",
            "frobnicate /home/ann/app/x /tmp/x /dev/null",
            "a/b .. /",
            "/nowhere/at/all",
        ] {
            assert_eq!(named(command), (Vec::new(), Vec::new()), "{command}");
        }
    }
}
