//! The fence as macOS could make it: a profile for `sandbox-exec`.
//!
//! Experimental and used by nothing yet: it was written without a Mac, and whether it holds has to be tried on one. It knows
//! direct writes and no network but the loopback; layers and hosts by name have no counterpart there. A parent of a
//! protected path cannot be moved away, but a directory that was filled elsewhere can be moved to where none is yet.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use crate::error::FenceError;
use crate::policy::{FencePolicy, NetworkAccess, ProtectedName, WriteMode};

/// What every program needs, before anything is said about files and networks. The last rule that fits decides.
const HEAD: &str = r#"(version 1)
; Made by Portcullis. Experimental.
(deny default)
(allow process-exec)
(allow process-fork)
(allow process-info* (target same-sandbox))
(allow signal (target same-sandbox))
(allow sysctl-read)
(allow user-preference-read)
(allow ipc-posix-sem)
(allow pseudo-tty)
(allow mach-lookup
  (global-name "com.apple.system.logger")
  (global-name "com.apple.system.opendirectoryd.libinfo")
  (global-name "com.apple.system.opendirectoryd.membership"))
(allow file-read*)
(allow file-ioctl (regex #"^/dev/(tty|ttys[0-9]+|ptmx)$"))
(allow file-write*
  (literal "/dev/null")
  (literal "/dev/zero")
  (literal "/dev/tty")
  (literal "/dev/ptmx")
  (regex #"^/dev/ttys[0-9]+$"))
"#;

/// The loopback, which is the machine's own there: services that listen on it can be reached.
const LOOPBACK: &str = r#"(allow network-bind (local ip "localhost:*"))
(allow network-inbound (local ip "localhost:*"))
(allow network-outbound (remote ip "localhost:*"))
"#;

/// Returns the profile for a policy, or why there is none.
pub fn seatbelt_profile(policy: &FencePolicy) -> Result<String, FenceError> {
    policy.check()?;
    if policy.mode != WriteMode::Direct {
        return Err(FenceError::Policy("macOS has no layers, only direct runs".to_owned()));
    }
    if policy.network != NetworkAccess::None {
        return Err(FenceError::Policy("macOS has no network by name".to_owned()));
    }
    let mut profile = HEAD.to_owned();
    let writable: Vec<PathBuf> =
        policy.places().map(Path::to_path_buf).chain(policy.temporary.clone()).collect();
    rule(&mut profile, "allow file-write*", writable.iter().map(|place| within(place)));
    let workspace = &policy.workspace;
    let protected = policy.protected.iter().map(ProtectedName::components);
    let whole = protected.clone().map(|parts| format!("(regex #\"{}(/.*)?$\")", below(workspace, parts)));
    rule(&mut profile, "deny file-write*", whole);
    let parents: BTreeSet<String> = protected
        .flat_map(|parts| (1..parts.len()).filter_map(|length| parts.get(..length)))
        .map(|parts| format!("(regex #\"{}$\")", below(workspace, parts)))
        .collect();
    rule(&mut profile, "deny file-write-unlink", parents.into_iter());
    // What is hidden comes last, so that no grant shows it.
    rule(&mut profile, "deny file-read* file-write*", policy.masked.iter().map(|place| within(place)));
    rule(&mut profile, "deny network-outbound", policy.masked.iter().map(|place| within(place)));
    profile.push_str(LOOPBACK);
    Ok(profile)
}

/// Adds a rule about places; a rule about none would be one about all.
fn rule(profile: &mut String, head: &str, places: impl Iterator<Item = String>) {
    let places: Vec<String> = places.map(|place| format!("\n  {place}")).collect();
    if !places.is_empty() {
        let _ = writeln!(profile, "({head}{})", places.concat());
    }
}

fn within(place: &Path) -> String {
    format!("(subpath {})", quoted(&place.to_string_lossy()))
}

/// A protected name at every depth, whether it exists or not: rules there go by paths.
fn below(workspace: &Path, parts: &[String]) -> String {
    let part = |part: &String| if part == "*" { "[^/]+".to_owned() } else { literally(part) };
    let parts: Vec<String> = parts.iter().map(part).collect();
    format!("^{}/(.*/)?{}", literally(&workspace.to_string_lossy()), parts.join("/"))
}

/// A text inside quotes.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// A text inside an expression, where every character stands for itself, in whatever case the file system takes for the
/// same.
fn literally(text: &str) -> String {
    let mut expression = String::new();
    for character in text.chars() {
        if character.is_ascii_alphabetic() {
            let (lower, upper) = (character.to_ascii_lowercase(), character.to_ascii_uppercase());
            let _ = write!(expression, "[{lower}{upper}]");
        } else if character.is_ascii_alphanumeric()
            || matches!(character, '/' | '_' | '-' | ' ')
            || !character.is_ascii()
        {
            expression.push(character);
        } else if character == '"' {
            // It would end the expression; any character is wider, and this is a refusal.
            expression.push('.');
        } else {
            let _ = write!(expression, "\\{character}");
        }
    }
    expression
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOLDEN: &str = include_str!("../tests/golden/seatbelt.sb");

    fn policy() -> FencePolicy {
        let mut policy = FencePolicy::for_workspace("/Users/ann/src/app".into());
        policy.writable = vec!["/Users/ann/.npm/_cacache".into()];
        policy.masked = vec!["/Users/ann/.ssh".into(), "/Users/ann/a \"b\" \\c".into()];
        policy.temporary = Some("/private/tmp/portcullis-1".into());
        let names = [".git/hooks", ".git/modules/*/config", ".envrc"];
        let names = names.map(|name| ProtectedName::try_from(name.to_owned()).expect("a name"));
        policy.protected = names.to_vec();
        policy
    }

    #[test]
    fn the_profile_is_as_it_was() {
        let profile = seatbelt_profile(&policy()).expect("a profile");
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/seatbelt.sb");
            std::fs::write(path, profile).expect("it is written");
        } else {
            assert_eq!(profile, GOLDEN);
        }
    }

    #[test]
    fn what_it_cannot_say_is_refused() {
        let mut layered = policy();
        layered.mode = WriteMode::Observe(Vec::new());
        assert!(seatbelt_profile(&layered).is_err());
        let mut listed = policy();
        listed.network = NetworkAccess::Hosts(vec!["example.org".parse().expect("a host")]);
        assert!(seatbelt_profile(&listed).is_err());
    }

    /// Whatever a path holds, it ends no string and begins no rule.
    #[test]
    fn a_path_stays_a_path() {
        let paths = ["/w/\")(allow default)(\"", "/w/\\\")(allow default)", "/w/a(b)c.d*e+f?[g]|h^i$j{k}"];
        for path in paths {
            let mut hostile = FencePolicy::for_workspace(path.into());
            hostile.masked = vec![format!("{path}/secret").into()];
            hostile.protected = policy().protected;
            let profile = seatbelt_profile(&hostile).expect("a profile");
            let mut depth = 0_i32;
            let mut is_quoted = false;
            let mut is_escaped = false;
            for character in profile.lines().filter(|line| !line.starts_with(';')).flat_map(str::chars) {
                match character {
                    _ if is_escaped => is_escaped = false,
                    '\\' if is_quoted => is_escaped = true,
                    '"' => is_quoted = !is_quoted,
                    '(' if !is_quoted => depth += 1,
                    ')' if !is_quoted => depth -= 1,
                    _ => {}
                }
                assert!(depth >= 0, "{path}");
            }
            assert_eq!((depth, is_quoted), (0, false), "{path}");
            let rules = profile.lines().filter(|line| line.starts_with("(allow default"));
            assert_eq!(rules.count(), 0, "{path}");
        }
    }
}
