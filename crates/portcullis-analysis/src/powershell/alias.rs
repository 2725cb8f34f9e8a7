//! PowerShell's own aliases and the canonical names of commands.

use crate::lists::code::powershell::{ACCELERATORS, ALIASES, PLAIN_TYPES, SYSTEM};

/// Returns what an alias of PowerShell stands for. The name is in lower case.
pub(super) fn alias_of(name: &str) -> Option<&'static str> {
    ALIASES.iter().find(|(alias, _)| *alias == name).map(|(_, command)| *command)
}

/// Returns every name that a command can be called by: as it is written, its canonical name, and the aliases of that.
pub fn spellings(written: &str) -> Vec<String> {
    let canonical = canonical_name(written);
    let aliases =
        ALIASES.iter().filter(|(_, command)| *command == canonical).map(|(alias, _)| (*alias).to_owned());
    let mut all: Vec<String> = aliases.collect();
    all.extend([written.to_owned(), canonical]);
    all
}

/// Returns a command's canonical name: lower case, no directory or module, no extension of a program, no
/// alias.
pub(super) fn canonical_name(written: &str) -> String {
    let lower = written.trim().to_lowercase();
    let bare = without_extension(base(&lower));
    // A path or an extension names a program, and a program has no alias: `curl.exe` is curl.
    if bare.len() != lower.len() {
        return bare.to_owned();
    }
    alias_of(bare).unwrap_or(bare).to_owned()
}

/// Says whether a name is that of a script of PowerShell.
pub(crate) fn is_script(name: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(_, ending)| ending.eq_ignore_ascii_case("ps1"))
}

/// Returns a file's name without its directory, whichever slash is used.
pub(super) fn base(path: &str) -> &str {
    path.rsplit(['\\', '/']).find(|part| !part.is_empty()).unwrap_or(path)
}

/// Drops the extension of a program.
pub(super) fn without_extension(name: &str) -> &str {
    [".exe", ".cmd", ".bat", ".com"]
        .iter()
        .find_map(|extension| name.strip_suffix(extension))
        .filter(|bare| !bare.is_empty())
        .unwrap_or(name)
}

/// Returns a type's canonical name: lower case, no blanks, with its namespace.
pub(super) fn canonical_type(written: &str) -> String {
    let lower: String = written.chars().filter(|letter| !letter.is_whitespace()).collect();
    let lower = lower.to_lowercase();
    let lower = without_plain_arguments(&lower).unwrap_or(lower);
    if let Some((_, full)) = ACCELERATORS.iter().find(|(short, _)| *short == lower) {
        return (*full).to_owned();
    }
    let first = lower.split(['.', '[']).next().unwrap_or_default();
    if SYSTEM.contains(&first) { format!("system.{lower}") } else { lower }
}

/// Drops the types that a collection holds, if all of them are plain.
fn without_plain_arguments(lower: &str) -> Option<String> {
    let (name, rest) = lower.split_once('[')?;
    let arguments = rest.strip_suffix(']')?;
    let is_plain = |argument: &str| {
        let bare = argument.trim_matches(['[', ']']).trim_start_matches("system.");
        PLAIN_TYPES.contains(&bare)
    };
    let is_collection = name.trim_start_matches("system.").starts_with("collections.");
    (is_collection && !arguments.is_empty() && arguments.split(',').all(is_plain)).then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_aliases_have_no_alias_themselves() {
        for (alias, command) in ALIASES {
            assert_eq!(alias_of(command), None, "{alias}");
        }
    }

    #[test]
    fn a_program_with_extension_is_no_alias() {
        assert_eq!(canonical_name("curl"), "invoke-webrequest");
        assert_eq!(canonical_name("CURL.EXE"), "curl");
        assert_eq!(canonical_name(r"C:\Windows\System32\sc.exe"), "sc");
        assert_eq!(canonical_name(r"Microsoft.PowerShell.Management\Remove-Item"), "remove-item");
    }

    #[test]
    fn a_type_is_named_with_its_namespace() {
        assert_eq!(canonical_type("Net.WebClient"), "system.net.webclient");
        assert_eq!(canonical_type("System.Net.WebClient"), "system.net.webclient");
        assert_eq!(canonical_type("Convert"), "system.convert");
        assert_eq!(canonical_type("char[]"), "char[]");
    }
}
