//! Which variables reach a fenced command.
//!
//! A list of names, because an agent's environment holds its keys under names that nobody can foresee. Sockets of agents
//! and desktops are not on it, and what sounds like a secret is taken out again.

use std::ffi::{OsStr, OsString};

use crate::policy::FencePolicy;

const TABLE: &str = include_str!("../data/environment.txt");

/// Returns the variables that a command gets of those that are there.
pub fn fenced_environment(
    policy: &FencePolicy,
    variables: impl IntoIterator<Item = (OsString, OsString)>,
) -> Vec<(OsString, OsString)> {
    let mut kept: Vec<(OsString, OsString)> =
        variables.into_iter().filter(|(name, _)| is_let_through(policy, name)).collect();
    kept.retain(|(name, _)| name != "TMPDIR");
    // The command sees a `/tmp` of its own, and the place of the old one is not writable.
    kept.push(("TMPDIR".into(), "/tmp".into()));
    kept
}

fn is_let_through(policy: &FencePolicy, name: &OsStr) -> bool {
    let Some(name) = name.to_str() else {
        return false;
    };
    if policy.environment.iter().any(|named| named == name) {
        return true;
    }
    let upper = name.to_ascii_uppercase();
    let lines = || TABLE.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let is_secret = lines().filter_map(|line| line.strip_prefix('!')).any(|part| upper.contains(part));
    !is_secret
        && lines().any(|line| match line.strip_suffix('*') {
            Some(start) => name.starts_with(start),
            None => name == line,
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(policy: &FencePolicy, variables: &[&str]) -> Vec<String> {
        let variables = variables.iter().map(|name| (OsString::from(name), OsString::from("value")));
        let kept = fenced_environment(policy, variables);
        kept.into_iter().filter_map(|(name, _)| name.into_string().ok()).collect()
    }

    #[test]
    fn keys_and_sockets_stay_outside() {
        let policy = FencePolicy::for_workspace("/w".into());
        let variables = [
            "PATH",
            "LC_ALL",
            "CARGO_HOME",
            "CARGO_REGISTRY_TOKEN",
            "ANTHROPIC_API_KEY",
            "npm_config__authToken",
            "SSH_AUTH_SOCK",
            "DBUS_SESSION_BUS_ADDRESS",
            "DOCKER_HOST",
            "DISPLAY",
            "WAYLAND_DISPLAY",
            "XDG_RUNTIME_DIR",
            "LD_PRELOAD",
            "BASH_ENV",
            "HTTPS_PROXY",
            "TMPDIR",
        ];
        assert_eq!(names(&policy, &variables), ["PATH", "LC_ALL", "CARGO_HOME", "TMPDIR"]);
    }

    #[test]
    fn a_policy_names_more() {
        let mut policy = FencePolicy::for_workspace("/w".into());
        policy.environment.push("DATABASE_URL".to_owned());
        assert_eq!(names(&policy, &["DATABASE_URL", "OTHER_URL"]), ["DATABASE_URL", "TMPDIR"]);
    }
}
