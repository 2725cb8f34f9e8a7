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
        variables.into_iter().filter(|(name, value)| is_let_through(policy, name, value)).collect();
    kept.retain(|(name, _)| name != "TMPDIR");
    // The command sees a `/tmp` of its own, and the place of the old one is not writable.
    kept.push(("TMPDIR".into(), "/tmp".into()));
    kept
}

fn is_let_through(policy: &FencePolicy, name: &OsStr, value: &OsStr) -> bool {
    let Some(name) = name.to_str() else {
        return false;
    };
    if policy.environment.iter().any(|named| named == name) {
        return true;
    }
    let value = value.to_string_lossy();
    !is_secret_name(name)
        && !names_a_user(&value)
        && !has_form_of_secret(&value)
        && !sets_a_secret(&value)
        && lines().any(|line| match line.strip_suffix('*') {
            Some(start) => name.starts_with(start),
            None => name == line,
        })
}

fn lines() -> impl Iterator<Item = &'static str> {
    TABLE.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'))
}

fn is_secret_name(name: &str) -> bool {
    // Whoever made a commit is no secret, though the word begins like one. The end counts as the end of a word.
    let upper = format!("{}_", name.to_ascii_uppercase().replace("AUTHOR_", ""));
    lines().filter_map(|line| line.strip_prefix('!')).any(|part| upper.contains(part))
}

/// Says whether a value begins as keys of well-known services do.
fn has_form_of_secret(value: &str) -> bool {
    let is_long = value.len() >= SHORTEST_KEY && !value.contains(char::is_whitespace);
    value.starts_with("-----BEGIN")
        || is_long && lines().filter_map(|line| line.strip_prefix('=')).any(|start| value.starts_with(start))
}

/// No key of a service is shorter.
const SHORTEST_KEY: usize = 16;

/// Says whether options in a value hold a secret by name: `-Drepository.password=word`.
fn sets_a_secret(value: &str) -> bool {
    value.split(|letter: char| letter.is_whitespace() || "&;,".contains(letter)).any(|word| {
        let pair = word.split_once('=').filter(|(_, set)| !set.is_empty());
        pair.is_some_and(|(name, _)| {
            let upper = name.to_ascii_uppercase();
            lines().filter_map(|line| line.strip_prefix('?')).any(|part| upper.contains(part))
        })
    })
}

/// Says whether an address in a value names a user, and so perhaps a password: `https://me:word@example.com`.
fn names_a_user(value: &str) -> bool {
    value.split("://").skip(1).any(|address| {
        let authority = address.split(|letter: char| "/?#".contains(letter) || letter.is_whitespace()).next();
        authority.is_some_and(|authority| authority.contains('@'))
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
    fn addresses_with_a_password_stay_outside() {
        let policy = FencePolicy::for_workspace("/w".into());
        let is_kept = |name: &str, value: &str| {
            let kept = fenced_environment(&policy, [(OsString::from(name), OsString::from(value))]);
            kept.iter().any(|(kept, _)| kept == name)
        };
        for (name, value) in [
            ("PIP_INDEX_URL", "https://me:word@example.com/simple"),
            ("PIP_EXTRA_INDEX_URL", "https://example.com/simple https://token@example.com/simple"),
            ("GOVCS", "x https://me@proxy.example.com"),
            ("npm_config_registry", "http://me:word@localhost:4873"),
            ("BUNDLE_GEMS__CONTRIBSYS__COM", "me:word"),
            ("BUNDLE_RUBYGEMS__PKG__GITHUB__COM", "me:word"),
            ("MAVEN_REPO_PASS", "word"),
            ("UV_INDEX_CORP_PWD", "word"),
            ("COMPOSER_GITHUB_PAT", "word"),
            ("npm_config_otp", "123456"),
            ("GOOGLE_OAUTH_CLIENT", "word"),
            ("MAVEN_OPTS", "-Xmx1g -Drepository.password=word"),
            ("PYTEST_ADDOPTS", "-q --api-token=word"),
            ("DEBUG", "ghp_0123456789abcdef0123456789abcdef0123"),
            ("CARGO_NOTE", "-----BEGIN OPENSSH PRIVATE"),
        ] {
            assert!(!is_kept(name, value), "{name}={value}");
        }
        for (name, value) in [
            ("PIP_INDEX_URL", "https://example.com/simple"),
            ("npm_config_registry", "http://localhost:4873/@acme"),
            ("GIT_AUTHOR_EMAIL", "me@example.com"),
            ("BUNDLE_PATH", "vendor/bundle"),
            ("BUNDLE_BUILD__NOKOGIRI", "--use-system-libraries"),
            ("PWD", "/w"),
            ("RUSTFLAGS", "-C target-cpu=native --cfg=feature"),
            ("GOFLAGS", "-mod=mod"),
            ("COMPOSER_HOME", "/h/.composer"),
        ] {
            assert!(is_kept(name, value), "{name}={value}");
        }
    }

    #[test]
    fn a_policy_names_more() {
        let mut policy = FencePolicy::for_workspace("/w".into());
        policy.environment.push("DATABASE_URL".to_owned());
        assert_eq!(names(&policy, &["DATABASE_URL", "OTHER_URL"]), ["DATABASE_URL", "TMPDIR"]);
    }
}
