//! How a host is told to call us: which files of its settings get which pieces. Pure data; `portcullis init` writes it.

use serde_json::Value;

use crate::shell_word::joined;

/// Where a host keeps its settings, and what is put there.
#[derive(Debug, Clone, Copy)]
pub struct Registration {
    /// The programs that show that the agent is installed, by name.
    pub programs: &'static [&'static str],
    /// Where its settings are.
    pub folder: SettingsFolder,
    /// The oldest version that heeds what our hook says, where older ones are known not to: major, minor, patch.
    pub oldest: Option<(u32, u32, u32)>,
    /// What is put there.
    pub pieces: fn(&HookCommand) -> Vec<RegistrationPiece>,
    /// Says why the host would not take a settings file of this text, as a clause: it would then call no hook of it.
    pub refusal: fn(&str) -> Option<String>,
    /// What a person must still do, one sentence; empty if nothing.
    pub afterwards: &'static str,
}

/// The folder of a host's settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SettingsFolder {
    /// The variable that names it, if one may.
    pub variable: Option<&'static str>,
    /// Where it is otherwise.
    pub base: FolderBase,
    /// The path below the base; may be empty.
    pub path: &'static str,
}

/// What a folder's path is relative to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FolderBase {
    /// The home directory.
    Home,
    /// The directory that this variable names, or the home directory.
    HomeOr(&'static str),
    /// `$XDG_CONFIG_HOME`, or `.config` below the home directory.
    Config,
}

/// The command that a host starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookCommand {
    /// The absolute path of the program.
    pub program: String,
    /// Its arguments: `hook`, the host, and flags.
    pub arguments: Vec<String>,
    /// The version of the host, if it could be found out: major, minor, patch.
    pub host_version: Option<(u32, u32, u32)>,
}

/// One thing that is put into a host's settings.
#[derive(Debug, Clone, PartialEq)]
pub enum RegistrationPiece {
    /// An element of a list in a JSON file. The list and what it stands in are made if they are missing.
    Element {
        /// The file, relative to the folder.
        file: &'static str,
        /// The names that lead to the list.
        at: &'static [&'static str],
        /// The element.
        value: Value,
        /// Whether it must come before all others, because the first match counts.
        is_first: bool,
    },
    /// A field of a JSON file that must be there, with this value if it is missing.
    Field {
        /// The file, relative to the folder.
        file: &'static str,
        /// The names that lead to it.
        at: &'static [&'static str],
        /// The value if it is missing.
        value: Value,
    },
    /// A file that is all ours.
    File {
        /// The file, relative to the folder.
        file: &'static str,
        /// Its content.
        text: String,
    },
    /// A further name of our program, for a host that starts programs by name and without arguments.
    ProgramName {
        /// The name.
        name: &'static str,
    },
}

/// Follows a line that a host hands to a shell where only this exit code stops a call: one that cannot be started, or
/// breaks off, stops it too. The words are needed: Qwen Code runs the call if nothing stands on standard error.
const OR_BLOCK: &str =
    " || { echo 'portcullis: the permission check could not be run; blocked to be safe' >&2; exit 2; }";

/// What followed it in earlier versions.
const FORMER_OR_BLOCK: &str = " || exit 2";

/// Takes off a line what makes it stop a call by itself.
pub fn without_guard(line: &str) -> &str {
    let bare = line.strip_suffix(OR_BLOCK).or_else(|| line.strip_suffix(FORMER_OR_BLOCK));
    bare.unwrap_or(line)
}

impl HookCommand {
    /// Writes it as [`Self::line`] does, so that the call is stopped too if the program is not there or breaks off. For
    /// hosts that let a call run after every exit code but 2.
    pub fn guarded_line(&self) -> String {
        format!("{}{OR_BLOCK}", self.line())
    }

    /// Writes it as one line for a host that hands commands to a shell; every word is quoted where it must be.
    pub fn line(&self) -> String {
        joined(std::iter::once(self.program.as_str()).chain(self.arguments.iter().map(String::as_str)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_quoted_where_it_must_be() {
        let command = HookCommand {
            program: "/opt/my tools/it's/portcullis".to_owned(),
            arguments: vec!["hook".to_owned(), "codex".to_owned(), String::new()],
            host_version: None,
        };
        let line = r"'/opt/my tools/it'\''s/portcullis' hook codex ''";
        assert_eq!(command.line(), line);
        assert_eq!(without_guard(&command.guarded_line()), line);
        assert_eq!(without_guard(&format!("{line} || exit 2")), line);
    }
}
