//! Which variables may be set without changing what a program does in ways that matter.

/// Variables that only touch locale, colour, logging or the kind of build.
const SAFE: &[&str] = &[
    "ANTHROPIC_API_KEY",
    "BLOCKSIZE",
    "BLOCK_SIZE",
    "CGO_ENABLED",
    "CHARSET",
    "CI",
    "CLICOLOR",
    "CLICOLOR_FORCE",
    "COLORTERM",
    "COLUMNS",
    "DEBIAN_FRONTEND",
    "FORCE_COLOR",
    "GCC_COLORS",
    "GIT_TERMINAL_PROMPT",
    "GO111MODULE",
    "GOARCH",
    "GOEXPERIMENT",
    "GOOS",
    "GREP_COLOR",
    "GREP_COLORS",
    "LANG",
    "LANGUAGE",
    "LC_ALL",
    "LC_CTYPE",
    "LC_TIME",
    "LINES",
    "LSCOLORS",
    "LS_COLORS",
    "NODE_ENV",
    "NO_COLOR",
    "PYTEST_DEBUG",
    "PYTEST_DISABLE_PLUGIN_AUTOLOAD",
    "PYTHONDONTWRITEBYTECODE",
    "PYTHONUNBUFFERED",
    "RUST_BACKTRACE",
    "RUST_LOG",
    "TERM",
    "TIME_STYLE",
    "TZ",
];

/// Beginnings of variables that choose programs, libraries, configuration or credentials.
const STEERING_STARTS: &[&str] = &[
    "AWS_",
    "AZURE_",
    "BASH",
    "BROWSER",
    "CARGO",
    "CC",
    "CDPATH",
    "CLAUDE",
    "CMAKE",
    "CXX",
    "DOCKER",
    "DYLD_",
    "EDITOR",
    "ENV",
    "FPATH",
    "GCLOUD",
    "GIT",
    "GLOBIGNORE",
    "GOOGLE_",
    "GRADLE",
    "HIST",
    "HOME",
    "IFS",
    "JAVA",
    "JDK",
    "KUBE",
    "LD_",
    "LESS",
    "MAKE",
    "MANPAGER",
    "MAVEN",
    "NODE_",
    "NPM_",
    "OLDPWD",
    "PAGER",
    "PATH",
    "PERL",
    "PORTCULLIS",
    "PROMPT_COMMAND",
    "PS",
    "PWD",
    "PYTHON",
    "RIPGREP",
    "RUBY",
    "RUSTC",
    "RUSTFLAGS",
    "RUSTUP",
    "SHELL",
    "SSH_",
    "SSL_",
    "SUDO_",
    "TMPDIR",
    "VISUAL",
    "XDG_",
    "ZDOTDIR",
    "_JAVA",
    "http",
    "npm_",
];

/// Endings of variables that choose programs, libraries, configuration or credentials.
const STEERING_ENDS: &[&str] = &[
    "ASKPASS", "EDITOR", "FLAGS", "OPTIONS", "OPTS", "PAGER", "PATH", "TERMINFO", "_COMMAND", "_CONF",
    "_CONFIG", "_DIR", "_ENV", "_HOME", "_LIBRARY", "_PRELOAD", "_PROXY", "_RC", "_ROOT", "_URL", "_proxy",
];

/// Variables whose value is run as a command or expanded as shell text.
const COMMANDS: &[&str] = &[
    "GIT_EXTERNAL_DIFF",
    "GIT_SSH",
    "LESSCLOSE",
    "LESSOPEN",
    "PS0",
    "PS1",
    "PS2",
    "PS4",
    "RSYNC_RSH",
    "VISUAL",
];

/// Endings of such variables.
const COMMAND_ENDS: &[&str] = &["ASKPASS", "BROWSER", "EDITOR", "PAGER", "_COMMAND"];

/// Says whether an allow rule may look past this variable in front of a command.
pub fn is_safe_prefix(name: &str) -> bool {
    SAFE.binary_search(&name).is_ok()
}

/// Says whether a plain assignment, with no command after it, leaves later commands what they are.
///
/// Such a variable reaches a program only if it was exported before, so names that no program is known to obey pass.
pub fn is_harmless_assignment(name: &str) -> bool {
    is_safe_prefix(name)
        || !(STEERING_STARTS.iter().any(|start| name.starts_with(start))
            || STEERING_ENDS.iter().any(|end| name.ends_with(end)))
}

/// Says whether programs run the value of this variable as a command.
pub(crate) fn is_command_variable(name: &str) -> bool {
    COMMANDS.contains(&name) || COMMAND_ENDS.iter().any(|end| name.ends_with(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_sorted_for_binary_search() {
        assert!(SAFE.is_sorted());
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
