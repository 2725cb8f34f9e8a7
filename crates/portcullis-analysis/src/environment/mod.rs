//! Which variables may be set without changing what a program does in ways that matter.
//!
//! The lists are in `data/lists/environment.toml`. Two questions are told apart: whether a rule may look past a variable
//! before a command (only a short list of safe ones), and whether setting one is an effect by itself. The latter is a
//! closed world: a name that no list has is harmless only with a value that cannot steer anything.

mod command;
mod line;
mod meaning;
mod options;
mod secret;
mod table;
mod value;

pub(crate) use line::LineVariables;
pub(crate) use meaning::{Assignment, VariableReach, VariableUse};
pub(crate) use secret::{is_plain_search, is_secret_name, shows_some_variable};
pub(crate) use table::reading_program;
use table::{ValueKind, kind_of};
pub(crate) use value::place as place_in;

use crate::lists::environment::{SAFE, STEERING_ENDS, STEERING_STARTS};

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
    !matches!(kind_of(name), ValueKind::Harmless | ValueKind::Plain | ValueKind::Name | ValueKind::Address)
        && table::listed(name).is_some()
}

/// Says whether programs run the value of this variable as a command, and it is none of the usual ones.
pub(crate) fn runs_value(name: &str, value: &str) -> bool {
    let kind = kind_of(name);
    let is_run = kind.is_run() || name == "PROMPT_COMMAND";
    is_run && !value.is_empty() && !command::is_usual(kind, value)
}

/// Says whether a command only shows or edits a text, by a program that is usual for it.
pub(crate) fn is_usual_viewer(command: &str) -> bool {
    command::is_usual(ValueKind::Command, command)
}

#[cfg(test)]
mod tests {
    use super::*;

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
