//! What kind of file a path names, as far as a tool that works in the project is concerned.

use crate::lists::session_code::{DATA, ENDINGS, NAMES, SETTINGS};
use crate::path;
use crate::place::any_ending;

/// What a file is to the tools of a project.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileKind {
    /// Text, pictures, results: no tool runs it.
    Data,
    /// Settings of something; they matter where a tool is told to take them.
    Settings,
    /// Code of a language that is known by this name.
    Code(&'static str),
    /// It runs or steers something, and nobody reads it.
    Unread,
}

/// Files known by their name that are not searched for words.
const UNREAD: &str = "tasks";

/// Says what kind of file a path names.
pub fn kind_of(file: &str) -> FileKind {
    let named = NAMES.iter().find(|(_, names)| any_ending(names, file)).map(|(language, _)| *language);
    if let Some(language) = named {
        return if language == UNREAD { FileKind::Unread } else { FileKind::Code(language) };
    }
    let name = path::file_name(file).unwrap_or(file);
    let Some((start, ending)) = name.rsplit_once('.') else {
        return FileKind::Settings;
    };
    let of_code = ENDINGS.iter().find(|(_, endings)| endings.contains(&ending));
    match of_code {
        Some((language, _)) => FileKind::Code(language),
        None if SETTINGS.contains(&ending) || start.is_empty() => FileKind::Settings,
        None if DATA.contains(&ending.to_ascii_lowercase().as_str()) => FileKind::Data,
        None => FileKind::Unread,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_told_by_name_and_ending() {
        for (file, kind) in [
            ("/p/src/a.py", FileKind::Code("python")),
            ("/p/a.test.tsx", FileKind::Code("javascript")),
            ("/p/Rakefile", FileKind::Code("ruby")),
            ("/p/CMakeLists.txt", FileKind::Code("cmake")),
            ("/p/README.md", FileKind::Data),
            ("/p/data.json", FileKind::Settings),
            ("/p/Makefile", FileKind::Unread),
            ("/p/lib/x.so", FileKind::Unread),
            ("/p/evil", FileKind::Settings),
            ("/p/SConstruct", FileKind::Unread),
            ("/p/lib/SConscript", FileKind::Unread),
            ("/p/wscript", FileKind::Unread),
            ("/p/wscript_build", FileKind::Unread),
            ("/p/conanfile", FileKind::Code("python")),
            ("/p/Jenkinsfile", FileKind::Code("jvm")),
            ("/p/Brewfile", FileKind::Code("ruby")),
            ("/p/Vagrantfile", FileKind::Code("ruby")),
            ("/p/Berksfile", FileKind::Code("ruby")),
            ("/p/Dangerfile", FileKind::Code("ruby")),
            ("/p/Puppetfile", FileKind::Code("ruby")),
            ("/p/Cakefile", FileKind::Code("javascript")),
            ("/p/Tiltfile", FileKind::Unread),
            ("/p/Snakefile", FileKind::Unread),
            ("/p/Jamfile", FileKind::Unread),
            ("/p/.gdbinit", FileKind::Unread),
            ("/p/.cargo/config.toml", FileKind::Code("cargo-settings")),
            ("/p/x.weird", FileKind::Unread),
        ] {
            assert_eq!(kind_of(file), kind, "{file}");
        }
    }
}
