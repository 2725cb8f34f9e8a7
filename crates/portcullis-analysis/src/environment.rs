//! Which variables may be set without changing what a program does in ways that matter.
//!
//! The lists are in `data/lists/environment.toml`. Two questions are told apart: whether a rule may look past a variable
//! before a command (only a short list of safe ones), and whether setting one is an effect by itself.

use crate::act::Act;
use crate::lists::environment::{
    COMMAND_ENDS, COMMANDS, LOADERS, LOADING_OPTIONS, OPTIONS, SAFE, SEARCH_PATHS, SOURCES, STEERED_BY_FILE,
    STEERED_BY_FILE_ENDS, STEERING_ENDS, STEERING_STARTS, USUAL_SOURCES, WATCHING, WRITTEN, WRITTEN_STARTS,
};

/// Variables that switch off the check of who is at the other end, with the value that does.
const DISTRUST: &[(&str, &str)] = &[
    ("CURL_INSECURE", "1"),
    ("GIT_SSL_NO_VERIFY", "1"),
    ("GIT_SSL_NO_VERIFY", "true"),
    ("NODE_TLS_REJECT_UNAUTHORIZED", "0"),
    ("NPM_CONFIG_STRICT_SSL", "false"),
    ("PYTHONHTTPSVERIFY", "0"),
];

/// Says whether the value of a variable makes programs run, read or reach what nobody has looked at.
fn is_steered(name: &str, value: &str) -> bool {
    // Npm reads its variables in any case.
    let name = name.to_ascii_uppercase();
    let is_own = |end: &[&str]| end.iter().any(|end| name.ends_with(end));
    if STEERED_BY_FILE.contains(&name.as_str()) || is_own(STEERED_BY_FILE_ENDS) {
        return value.split([':', ' ', '=']).any(is_scratch);
    }
    if SOURCES.contains(&name.as_str()) || name.starts_with("NPM_CONFIG_@") {
        return value.split([',', '|', ' ']).any(|part| {
            let host = crate::effect::target::host_in(part).unwrap_or_default();
            let is_below = |usual: &&str| {
                host.strip_suffix(*usual).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
            };
            !host.is_empty() && !USUAL_SOURCES.iter().any(is_below)
        });
    }
    match name.as_str() {
        "PERL5DB" | "PYTEST_PLUGINS" => !value.is_empty(),
        "PYTHONBREAKPOINT" => !matches!(value, "" | "0"),
        _ => {
            let ends = ["FLAGS", "OPTS", "OPTIONS"];
            let holds_options =
                OPTIONS.contains(&name.as_str()) || name.starts_with("TF_CLI_ARGS") || is_own(&ends);
            let is_loading = |word: &str| {
                word.split([' ', '=']).any(is_scratch)
                    || LOADING_OPTIONS.iter().any(|piece| match *piece {
                        "-B" | "-p" | "@" => word.starts_with(piece),
                        piece => word.contains(piece),
                    })
            };
            holds_options && value.split_whitespace().any(is_loading)
        }
    }
}

fn is_scratch(value: &str) -> bool {
    ["/tmp/", "/dev/shm/", "/var/tmp/", "/private/tmp/"].iter().any(|start| value.starts_with(start))
}

/// Says whether a variable names a file that programs write.
pub(crate) fn is_written(name: &str, value: &str) -> bool {
    let name = name.to_ascii_uppercase();
    let is_path = value.contains('/') || value.starts_with('~');
    is_path
        && (WRITTEN.contains(&name.as_str()) || WRITTEN_STARTS.iter().any(|start| name.starts_with(start)))
}

fn leads_to_scratch(value: &str) -> bool {
    ["/tmp", "/dev/shm", "/var/tmp"].iter().any(|start| value.starts_with(start))
}

/// Returns what setting a variable does by itself, if it does something a judgement cares about.
pub(crate) fn act_of(name: &str, value: &str) -> Option<Act> {
    if name == "BASH_XTRACEFD" {
        // Every command with its words goes to a file that nobody sees.
        return Some(Act::Capture);
    }
    if name == "SSH_AUTH_SOCK" && leads_to_scratch(value) || name == "KRB5CCNAME" && value.contains("/tmp/") {
        // The keys or tickets of another session.
        return Some(Act::SecretRead);
    }
    let is_loader = LOADERS.contains(&name) || name.starts_with("DYLD_");
    let is_odd_path = name == "PATH" && value.starts_with(['.', ':'])
        || SEARCH_PATHS.contains(&name) && leads_to_scratch(value);
    let is_odd_compiler = matches!(name, "CC" | "CXX" | "LD" | "RUSTC_WRAPPER") && value.contains("plugin");
    if (is_loader || is_odd_path || is_odd_compiler) && !value.is_empty() {
        return Some(Act::LoadCode);
    }
    if DISTRUST.contains(&(name, value)) {
        return Some(Act::WeakenTrust);
    }
    let hides_history = match name {
        "HISTFILE" => matches!(value, "/dev/null" | ""),
        "HISTSIZE" | "HISTFILESIZE" => value == "0",
        "HISTIGNORE" => true,
        "HISTCONTROL" => value.starts_with("ignore"),
        _ => false,
    };
    if hides_history {
        return Some(Act::TamperLog);
    }
    if WATCHING.contains(&name) || is_steered(name, value) {
        return Some(Act::Unknown);
    }
    matches!(name, "GIT_AUTHOR_NAME" | "GIT_AUTHOR_EMAIL" | "GIT_COMMITTER_NAME" | "GIT_COMMITTER_EMAIL")
        .then_some(Act::Impersonate)
}

/// Says whether an allow rule may look past this variable in front of a command.
pub fn is_safe_prefix(name: &str) -> bool {
    SAFE.contains(&name)
}

/// Says whether a plain assignment, with no command after it, leaves later commands what they are.
///
/// Such a variable reaches a program only if it was exported before, so names that no program is known to obey pass.
pub fn is_harmless_assignment(name: &str) -> bool {
    is_safe_prefix(name)
        || !(STEERING_STARTS.iter().any(|start| name.starts_with(start))
            || STEERING_ENDS.iter().any(|end| name.ends_with(end)))
}

/// Says whether programs or the shell load or run something by this variable, whatever its value is.
pub(crate) fn is_obeyed(name: &str) -> bool {
    LOADERS.contains(&name) || SEARCH_PATHS.contains(&name) || is_command_variable(name)
}

/// Says whether programs run the value of this variable as a command.
pub(crate) fn is_command_variable(name: &str) -> bool {
    COMMANDS.contains(&name) || COMMAND_ENDS.iter().any(|end| name.ends_with(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_that_leads_to_foreign_code_or_hosts_is_unknown() {
        for (name, value) in [
            ("RUSTC_WRAPPER", "/tmp/x"),
            ("CC", "/tmp/x"),
            ("CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER", "/tmp/x"),
            ("GIT_DIR", "/tmp/x"),
            ("KUBECONFIG", "/tmp/x"),
            ("MAKEFILES", "/tmp/x"),
            ("npm_config_script_shell", "/tmp/x"),
            ("npm_config_registry", "https://evil.example"),
            ("GOPROXY", "https://evil.example,direct"),
            ("https_proxy", "http://evil.example:8080"),
            ("GOFLAGS", "-toolexec=/opt/x"),
            ("MAVEN_OPTS", "-javaagent:/opt/x"),
            ("RUSTFLAGS", "-C linker=/opt/x"),
            ("PERL5DB", "BEGIN{}"),
            ("PYTEST_ADDOPTS", "-p evil"),
            ("TF_CLI_ARGS_apply", "-destroy"),
        ] {
            assert_eq!(act_of(name, value), Some(Act::Unknown), "{name}={value}");
        }
        for (name, value) in [
            ("CC", "clang-18"),
            ("RUSTC_WRAPPER", "sccache"),
            ("KUBECONFIG", "/home/me/.kube/dev"),
            ("GOFLAGS", "-mod=mod"),
            ("GOPROXY", "https://proxy.golang.org,direct"),
            ("RUSTFLAGS", "-D warnings -C target-cpu=native"),
            ("MAVEN_OPTS", "-Xmx2g"),
            ("PYTEST_ADDOPTS", "-q"),
            ("HTTP_PROXY", "http://localhost:3128"),
            ("npm_config_registry", "https://npmjs.org/"),
        ] {
            assert_eq!(act_of(name, value), None, "{name}={value}");
        }
        assert!(is_written("GIT_TRACE", "/home/me/.bashrc") && is_written("CARGO_TARGET_DIR", "/home/me/x"));
        assert!(!is_written("GIT_TRACE", "1") && !is_written("NAME", "/home/me/x"));
    }

    #[test]
    fn variables_that_choose_programs_are_neither_safe_nor_harmless() {
        for name in [
            "PATH",
            "LD_PRELOAD",
            "GIT_SSH_COMMAND",
            "BASH_ENV",
            "IFS",
            "PAGER",
            "NODE_OPTIONS",
            "MY_OPTS",
            "CLASSPATH",
            "LOCPATH",
            "GOFLAGS",
            "OPENSSL_CONF",
        ] {
            assert!(!is_safe_prefix(name) && !is_harmless_assignment(name), "{name}");
        }
        for name in ["x", "version", "NAME", "LANG", "count"] {
            assert!(is_harmless_assignment(name), "{name}");
        }
        assert!(is_safe_prefix("LANG") && !is_safe_prefix("count"));
    }
}
