//! A list of patterns over paths, sorted into groups when the program is built.
//!
//! Every path of every call is held against hundreds of patterns, of which nearly none fits. A path is only compared with
//! the groups that its components can belong to: those of the same first letter, of the same letter behind the dot of a
//! hidden name, and those that begin with a star and end in the last letter of the path.

use super::pattern::{Beginning, Endings, holds_more};

/// Groups by the first letter, by the letter behind a dot, by the last letter, and one for what has none of them.
const GROUPS: usize = 3 * LETTERS + 1;

/// Letters that a group is told by; some share one.
const LETTERS: usize = 64;

/// The patterns that begin and end with a star.
const OPEN_GROUP: usize = 3 * LETTERS;

/// Patterns, group by group.
#[derive(Debug)]
pub(super) struct PatternIndex<const COUNT: usize> {
    patterns: [&'static str; COUNT],
    /// Where each group begins, and the end of the last one.
    starts: [usize; GROUPS + 1],
}

impl<const COUNT: usize> PatternIndex<COUNT> {
    /// Sorts a list. No pattern may hold `**` but at its end.
    #[expect(clippy::indexing_slicing, reason = "an index out of range is an error of the build")]
    pub(super) const fn of(list: &[&'static str]) -> Self {
        let mut index = Self { patterns: [""; COUNT], starts: [0; GROUPS + 1] };
        let (mut group, mut filled) = (0, 0);
        while group < GROUPS {
            index.starts[group] = filled;
            let mut at = 0;
            while at < list.len() {
                if group_of(list[at].as_bytes()) == group {
                    index.patterns[filled] = list[at];
                    filled += 1;
                }
                at += 1;
            }
            group += 1;
        }
        index.starts[GROUPS] = filled;
        index
    }

    fn group(&self, group: usize) -> &[&'static str] {
        match self.starts.get(group..=group + 1) {
            Some(&[start, end]) => self.patterns.get(start..end).unwrap_or_default(),
            _ => &[],
        }
    }

    /// Returns the patterns that begin with a star and may fit a path.
    fn starred(&self, path: &str) -> impl Iterator<Item = &'static str> {
        let last = path.as_bytes().last().map_or(OPEN_GROUP, |last| 2 * LETTERS + letter_of(*last));
        let same_end = self.group(last).iter().filter(move |_| last != OPEN_GROUP);
        same_end.chain(self.group(OPEN_GROUP)).copied()
    }

    /// Says whether a path has the form of one of the patterns.
    pub(super) fn fits(&self, path: &str) -> bool {
        let beginning = Beginning::of(path);
        let rest = path.strip_prefix('/').unwrap_or(path);
        let same_start = first_group(rest.as_bytes()).map(|group| self.group(group)).unwrap_or_default();
        same_start.iter().copied().chain(self.starred(path)).any(|pattern| beginning.fits(pattern))
    }

    /// Says whether an ending of a path has the form of one of the patterns: `app/.env` has the form `.env`.
    pub(super) fn fits_ending(&self, path: &str) -> bool {
        let mut before = b'/';
        for (at, byte) in path.bytes().enumerate() {
            if std::mem::replace(&mut before, byte) == b'/' {
                let ending = path.get(at..).unwrap_or_default();
                let group = first_group(ending.as_bytes()).map(|group| self.group(group)).unwrap_or_default();
                if group.iter().any(|pattern| is_ending(pattern, ending)) {
                    return true;
                }
            }
        }
        let endings = Endings::of(path);
        self.starred(path).any(|pattern| endings.fit(pattern))
    }
}

/// Says whether an ending of a path, from a component on, has the form of a pattern.
fn is_ending(pattern: &str, ending: &str) -> bool {
    let beginning = Beginning::of(ending);
    match pattern.strip_suffix("/**") {
        Some(directory) => beginning.may_fit(directory.as_bytes()) && holds_more(directory, ending),
        None => beginning.fits(pattern),
    }
}

/// Returns the patterns of a list that says what each of them stands for.
#[expect(clippy::indexing_slicing, reason = "an index out of range is an error of the build")]
pub(super) const fn first_words<const COUNT: usize>(
    pairs: &[(&'static str, &'static str)],
) -> [&'static str; COUNT] {
    let mut words = [""; COUNT];
    let mut at = 0;
    while at < COUNT {
        words[at] = pairs[at].0;
        at += 1;
    }
    words
}

const fn letter_of(letter: u8) -> usize {
    letter.to_ascii_lowercase() as usize % LETTERS
}

/// Returns the group of the patterns that a text can have the form of by its first letters.
const fn first_group(text: &[u8]) -> Option<usize> {
    match text {
        [] | [b'.'] | [b'.', b'/', ..] => None,
        [b'.', letter, ..] => Some(LETTERS + letter_of(*letter)),
        [letter, ..] => Some(letter_of(*letter)),
    }
}

/// Returns the group that a pattern belongs to. The slash of an absolute one tells nothing.
const fn group_of(pattern: &[u8]) -> usize {
    match pattern {
        [b'/', rest @ ..] => group_of(rest),
        [b'*', ..] | [b'.', b'*', ..] => match pattern.last() {
            Some(b'*') | None => OPEN_GROUP,
            Some(last) => 2 * LETTERS + letter_of(*last),
        },
        _ => match first_group(pattern) {
            Some(group) => group,
            None => OPEN_GROUP,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lists::places::{agents, later, logs, secrets};
    use crate::place::pattern::{any, any_ending};

    /// Paths that fit patterns of a list or nearly do.
    fn paths_of(list: &[&str]) -> Vec<String> {
        let mut paths = Vec::new();
        for pattern in list {
            for (stars, star) in [("a/b", "x"), ("c", ""), ("", "Y.z")] {
                let path = pattern.replace("**", stars).replace('*', star);
                for front in ["", "/", "/home/me/", "/code/.app/", "x", "."] {
                    paths.extend([
                        format!("{front}{path}"),
                        format!("{front}{}", path.to_uppercase()),
                        format!("{front}{path}/more"),
                        format!("{front}{path}x"),
                    ]);
                }
            }
        }
        paths
    }

    fn agrees<const COUNT: usize>(index: &PatternIndex<COUNT>, list: &[&str]) {
        for path in paths_of(list) {
            assert_eq!(index.fits(&path), any(list, &path), "{path}");
            assert_eq!(index.fits_ending(&path), any_ending(list, &path), "{path}");
        }
    }

    #[test]
    fn an_index_says_what_its_patterns_say_one_by_one() {
        const IN_HOME: PatternIndex<{ secrets::IN_HOME.len() }> = PatternIndex::of(secrets::IN_HOME);
        const ANYWHERE: PatternIndex<{ secrets::ANYWHERE.len() }> = PatternIndex::of(secrets::ANYWHERE);
        const HARMLESS: PatternIndex<{ secrets::HARMLESS.len() }> = PatternIndex::of(secrets::HARMLESS);
        const PROJECT: PatternIndex<{ secrets::OF_PROJECT.len() }> = PatternIndex::of(secrets::OF_PROJECT);
        const SETTINGS: PatternIndex<{ agents::SETTINGS.len() }> = PatternIndex::of(agents::SETTINGS);
        const LATER_COUNT: usize = later::WRITTEN.len();
        const LATER_LIST: [&str; LATER_COUNT] = first_words(later::WRITTEN);
        const LATER: PatternIndex<LATER_COUNT> = PatternIndex::of(&LATER_LIST);
        const LOGS: PatternIndex<{ logs::ANYWHERE.len() }> = PatternIndex::of(logs::ANYWHERE);
        agrees(&IN_HOME, secrets::IN_HOME);
        agrees(&ANYWHERE, secrets::ANYWHERE);
        agrees(&HARMLESS, secrets::HARMLESS);
        agrees(&PROJECT, secrets::OF_PROJECT);
        agrees(&SETTINGS, agents::SETTINGS);
        agrees(&LATER, &LATER_LIST);
        agrees(&LOGS, logs::ANYWHERE);
    }

    #[test]
    fn absolute_patterns_are_found_by_what_follows_the_slash() {
        const INDEX: PatternIndex<{ secrets::ABSOLUTE.len() }> = PatternIndex::of(secrets::ABSOLUTE);
        for path in paths_of(secrets::ABSOLUTE) {
            assert_eq!(INDEX.fits(&path), any(secrets::ABSOLUTE, &path), "{path}");
        }
    }
}
