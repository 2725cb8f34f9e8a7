//! Files that say what agents may do, and files that tell them what to do.

use super::Scope;
use super::index::PatternIndex;
use super::pattern::{Endings, any_ending, lies_in};
use crate::lists::places::agents::{DIRECTORIES, INSTRUCTIONS, SETTINGS, SHELTERS};

static INDEX_SETTINGS: PatternIndex<{ SETTINGS.len() }> = PatternIndex::of(SETTINGS);
static INDEX_INSTRUCTIONS: PatternIndex<{ INSTRUCTIONS.len() }> = PatternIndex::of(INSTRUCTIONS);

/// Says whether a file decides what agents may do.
pub fn is_agent_setting(path: &str) -> bool {
    INDEX_SETTINGS.fits_ending(path)
}

/// Says whether everything in a directory decides what agents may do.
pub fn is_agent_hold(path: &str) -> bool {
    let endings = Endings::of(path);
    let holds = SETTINGS.iter().filter_map(|pattern| pattern.strip_suffix("/**"));
    holds.into_iter().any(|directory| endings.fit(directory))
}

/// Says whether a directory holds settings or the state of an agent.
pub fn is_agent_directory(path: &str) -> bool {
    is_agent_hold(path) || any_ending(DIRECTORIES, path)
}

/// Says whether a path is such a directory or lies in one.
pub fn is_among_agent_files(path: &str) -> bool {
    is_agent_directory(path)
        || is_agent_setting(path)
        || DIRECTORIES.iter().any(|directory| lies_in(directory, path))
}

/// Says whether a directory of a home holds the directories of agents, so that these go where it goes.
pub fn is_agent_shelter(path: &str, scope: &Scope) -> bool {
    scope.below_home(path).is_some_and(|below| SHELTERS.contains(&below))
}

/// Says whether a text that is no path of a file names the socket of our daemon: an address, or a word of a program.
pub fn names_daemon_socket(text: &str) -> bool {
    text.contains("portcullis/daemon/socket")
}

/// Says whether agents read a file as instructions.
pub fn is_agent_instruction(path: &str) -> bool {
    INDEX_INSTRUCTIONS.fits_ending(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directories_of_agents_are_told_from_those_around_them() {
        let scope = Scope { roots: vec!["/code/app".to_owned()], home: Some("/data/me".to_owned()) };
        for (path, is_hold, is_directory, is_shelter) in [
            ("/data/me/.local/state/portcullis", true, true, false),
            ("/code/app/.portcullis", true, true, false),
            ("/home/other/.codex", true, true, false),
            ("/code/app/.claude/hooks", true, true, false),
            ("/code/app/.claude", false, true, false),
            ("/code/app/.claude/skills", false, false, false),
            ("/data/me/.local/state", false, false, true),
            ("/data/me/.config", false, false, true),
            ("/home/other/.local", false, false, true),
            ("/code/app/.config", false, false, false),
            ("/code/portcullis", false, false, false),
        ] {
            assert_eq!(is_agent_hold(path), is_hold, "{path}");
            assert_eq!(is_agent_directory(path), is_directory, "{path}");
            assert_eq!(is_agent_shelter(path, &scope), is_shelter, "{path}");
        }
        assert!(is_among_agent_files("/data/me/.claude/plugins/x"));
        assert!(is_among_agent_files("/data/me/.codex/x"));
        assert!(!is_among_agent_files("/data/me/.config/nvim"));
    }
}
