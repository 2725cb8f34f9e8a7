//! Patterns over paths: `/etc/cron*/**`, `.ssh/id_*`, one `*` a component, `**` for the rest.
//!
//! Letters match in any case. Nothing is allocated for a pattern, because every path of every call is held against all.
//!
//! The comparisons look at one letter first where they can, because nearly every pattern fits nearly no path.

/// Says whether a path has the form of one of these patterns, component by component.
pub(super) fn any(patterns: &[&str], path: &str) -> bool {
    let beginning = Beginning::of(path);
    patterns.iter().any(|pattern| beginning.fits(pattern))
}

/// A path with its first letters, which tell most patterns apart from it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Beginning<'a> {
    path: &'a str,
    /// In lower case; zero behind the end of the path.
    letters: [u8; 4],
}

impl<'a> Beginning<'a> {
    pub(super) fn of(path: &'a str) -> Self {
        let mut letters = [0; 4];
        for (letter, found) in letters.iter_mut().zip(path.bytes()) {
            *letter = found.to_ascii_lowercase();
        }
        Self { path, letters }
    }

    /// Says whether the path has the form of a pattern.
    pub(super) fn fits(self, pattern: &str) -> bool {
        self.may_fit(pattern.as_bytes()) && matches(pattern, self.path)
    }

    /// Says whether nothing in the first letters speaks against a pattern.
    pub(super) fn may_fit(self, pattern: &[u8]) -> bool {
        for (wanted, found) in pattern.iter().zip(&self.letters) {
            if *wanted == b'*' || wanted.to_ascii_lowercase() != *found {
                return *wanted == b'*';
            }
        }
        true
    }
}

fn matches(pattern: &str, path: &str) -> bool {
    let mut components = path.split('/');
    for wanted in pattern.split('/') {
        if wanted == "**" {
            return components.next().is_some();
        }
        match components.next() {
            Some(component) if is_component(wanted, component) => {}
            _ => return false,
        }
    }
    components.next().is_none()
}

/// Says whether a path with wildcards of the shell may name a file of the form of one of these patterns.
///
/// Only hidden files count, and only where the wildcards do not stand first: `*` names no hidden file.
pub(super) fn any_named(patterns: &[&str], path: &str) -> bool {
    let is_wild = |component: &str| component.contains(['*', '?', '[']);
    let first = path.split('/').next().unwrap_or(path);
    is_wild(first) && first.starts_with('.') && patterns.iter().any(|pattern| names(path, pattern))
}

fn names(path: &str, pattern: &str) -> bool {
    let mut components = path.split('/');
    for wanted in pattern.split('/') {
        if wanted.contains('*') {
            return components.next().is_some();
        }
        match components.next() {
            Some(component) if is_named(component, wanted) => {}
            _ => return false,
        }
    }
    components.next().is_none()
}

/// Says whether a wildcard of the shell may stand for one of these names; patterns among them do not count.
pub(super) fn names_any(names: &[&str], wildcard: &str) -> bool {
    names.iter().filter(|name| !name.contains(['/', '*'])).any(|name| is_named(wildcard, name))
}

/// Says whether a wildcard of the shell stands for a name. A list in brackets counts as any letter.
fn is_named(wildcard: &str, name: &str) -> bool {
    let name = name.as_bytes();
    // The places in the name that the part of the wildcard read so far can end at.
    let mut ends: Vec<bool> = std::iter::once(true).chain(name.iter().map(|_| false)).collect();
    let mut letters = wildcard.bytes();
    while let Some(letter) = letters.next() {
        let is_any = letter == b'?' || letter == b'[' && letters.by_ref().any(|letter| letter == b']');
        if letter == b'*' {
            let reached = ends.iter().position(|end| *end);
            ends.iter_mut().enumerate().for_each(|(at, end)| *end = reached.is_some_and(|from| at >= from));
        } else {
            let steps = ends
                .iter()
                .zip(name)
                .map(|(end, found)| *end && (is_any || letter.eq_ignore_ascii_case(found)));
            ends = std::iter::once(false).chain(steps).collect();
        }
    }
    ends.last().is_some_and(|end| *end)
}

/// Returns which parts of an entry a pattern of paths spells out, if it could name a file of that form at its end: two
/// stars of the pattern stand for any number of directories, hidden ones too.
///
/// A pattern that spells out nothing of an entry is about something else, though it may name everything.
pub(super) fn spelled_parts<'e>(entry: &'e str, pattern: &str) -> Option<Vec<&'e str>> {
    let wanted: Vec<&str> = entry.split('/').collect();
    let mut found: Vec<&str> = pattern.split('/').filter(|component| !component.is_empty()).collect();
    // Each of a row of two stars could stand for each component, and a pattern may be as long as a line.
    found.dedup_by(|next, last| *next == "**" && *last == "**");
    let alignments = (0..found.len()).filter_map(|start| spelled(&wanted, found.get(start..)?));
    alignments.max_by_key(Vec::len)
}

fn spelled<'e>(wanted: &[&'e str], found: &[&str]) -> Option<Vec<&'e str>> {
    let Some((next, wanted_rest)) = wanted.split_first() else {
        return found.iter().all(|component| *component == "**").then(Vec::new);
    };
    if *next == "**" {
        return (!found.is_empty()).then(Vec::new);
    }
    let (component, found_rest) = found.split_first()?;
    if *component == "**" {
        return spelled(wanted, found_rest).or_else(|| spelled(wanted_rest, found));
    }
    let is_same = component.eq_ignore_ascii_case(next);
    let is_wild = component.contains(['*', '?', '[']);
    let may_be = is_same || is_wild && is_likely(component, next);
    if !may_be {
        return None;
    }
    let mut rest = spelled(wanted_rest, found_rest)?;
    rest.extend((is_same || is_wild && !next.contains('*') && spells_stem(component)).then_some(*next));
    Some(rest)
}

/// Says whether a component with wildcards spells out more than how a name ends: `AGENTS.m?`, `.clau?e`, but not `*.md`.
fn spells_stem(component: &str) -> bool {
    let stem = component.rsplit_once('.').map(|(stem, _)| stem).filter(|stem| !stem.is_empty());
    // What stands in brackets is one of many letters.
    let mut is_choice = false;
    stem.unwrap_or(component).chars().any(|letter| {
        is_choice = letter == '[' || is_choice && letter != ']';
        !is_choice && letter.is_alphanumeric()
    })
}

/// Says whether a wildcard could stand for what a component of an entry does. One that begins with a star names nothing
/// hidden.
fn is_likely(wildcard: &str, wanted: &str) -> bool {
    if wildcard.starts_with(['*', '?']) && wanted.starts_with('.') {
        return false;
    }
    match wanted.split_once('*') {
        None => is_named(wildcard, wanted),
        // Two wildcards share a name unless their ends contradict each other.
        Some((_, end)) => match wildcard.rsplit_once('*') {
            Some((_, other)) => other.ends_with(end) || end.ends_with(other),
            None => true,
        },
    }
}

/// Says whether an ending of a path has the form of one of these patterns: `app/.env` has the form `.env`.
pub(crate) fn any_ending(patterns: &[&str], path: &str) -> bool {
    let endings = Endings::of(path);
    patterns.iter().any(|pattern| endings.fit(pattern))
}

/// The endings of a path, with what tells most patterns apart from all of them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Endings<'a> {
    path: &'a str,
    last: Option<u8>,
    /// What components begin with, a bit each; some share one.
    letters: u128,
}

impl<'a> Endings<'a> {
    pub(super) fn of(path: &'a str) -> Self {
        let (mut letters, mut before) = (0, [b'/', b'/']);
        for byte in path.bytes() {
            match before {
                [_, b'/'] if byte != b'.' => letters |= bit_of(byte),
                [b'/', b'.'] => letters |= hidden_bit_of(byte),
                _ => {}
            }
            before = [before[1], byte];
        }
        Self { path, last: path.as_bytes().last().copied(), letters }
    }

    /// Says whether one of them has the form of a pattern.
    pub(super) fn fit(self, pattern: &str) -> bool {
        if !self.may_hold(pattern) {
            return false;
        }
        match (pattern.as_bytes().last(), self.last) {
            (Some(b'*'), _) => match pattern.strip_suffix("/**") {
                None => ends_with(pattern, self.path),
                Some(directory) => lies_in(directory, self.path),
            },
            // Most are told apart by their last letter.
            (Some(wanted), Some(found)) => {
                wanted.eq_ignore_ascii_case(&found) && ends_with(pattern, self.path)
            }
            _ => false,
        }
    }

    /// Says whether a component may be like the first of a pattern.
    fn may_hold(self, pattern: &str) -> bool {
        match pattern.as_bytes() {
            [] | [b'*' | b'/', ..] | [b'.'] | [b'.', b'*' | b'/', ..] => true,
            [b'.', letter, ..] => self.letters & hidden_bit_of(*letter) != 0,
            [letter, ..] => self.letters & bit_of(*letter) != 0,
        }
    }
}

const fn bit_of(letter: u8) -> u128 {
    1 << (letter.to_ascii_lowercase() & 63)
}

/// Returns the bit of the letter behind the dot of a hidden name.
const fn hidden_bit_of(letter: u8) -> u128 {
    bit_of(letter) << 64
}

/// Says whether the last components of a path have the form of a pattern.
pub(super) fn ends_with(pattern: &str, path: &str) -> bool {
    // What stands behind the last star must end the path, and nearly never does.
    let end = pattern.rsplit_once('*').map_or(pattern, |(_, end)| end);
    let Some(start) = path.len().checked_sub(end.len()) else { return false };
    if !path.as_bytes().get(start..).is_some_and(|ending| ending.eq_ignore_ascii_case(end.as_bytes())) {
        return false;
    }
    if end.len() == pattern.len() {
        return start == 0 || path.as_bytes().get(start - 1) == Some(&b'/');
    }
    let mut components = path.rsplit('/');
    pattern
        .rsplit('/')
        .all(|wanted| components.next().is_some_and(|component| is_component(wanted, component)))
}

/// Says whether a path lies below a directory that ends in the form of a pattern.
pub(super) fn lies_in(directory: &str, path: &str) -> bool {
    let wanted = directory.as_bytes().first();
    let mut before = b'/';
    for (at, byte) in path.bytes().enumerate() {
        let is_start = std::mem::replace(&mut before, byte) == b'/';
        let may_be = match wanted {
            None | Some(b'*') => true,
            Some(wanted) => wanted.eq_ignore_ascii_case(&byte),
        };
        if is_start && may_be && holds_more(directory, path.get(at..).unwrap_or_default()) {
            return true;
        }
    }
    false
}

/// Says whether the first components of a path have the form of a pattern, and something follows them.
pub(super) fn holds_more(directory: &str, path: &str) -> bool {
    let mut rest = path;
    for wanted in directory.split('/') {
        let Some((component, more)) = rest.split_once('/') else { return false };
        if !is_component(wanted, component) {
            return false;
        }
        rest = more;
    }
    !rest.is_empty()
}

/// Says whether a component has the form of a pattern with at most one `*`.
fn is_component(pattern: &str, component: &str) -> bool {
    // Most are told apart by their first letter.
    match (pattern.as_bytes().first(), component.as_bytes().first()) {
        (Some(b'*') | None, _) => {}
        (Some(wanted), Some(found)) if wanted.eq_ignore_ascii_case(found) => {}
        _ => return false,
    }
    match pattern.split_once('*') {
        None => pattern.eq_ignore_ascii_case(component),
        Some((start, end)) => {
            let (whole, start, end) = (component.as_bytes(), start.as_bytes(), end.as_bytes());
            whole.len() >= start.len() + end.len()
                && whole.get(..start.len()).is_some_and(|beginning| beginning.eq_ignore_ascii_case(start))
                && whole.get(whole.len() - end.len()..).is_some_and(|ending| ending.eq_ignore_ascii_case(end))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_is_held_against_whole_components_in_any_case() {
        for (pattern, path, expected) in [
            ("/etc/cron*/**", "/etc/cron.d/x", true),
            ("/etc/cron*/**", "/etc/cron.d", false),
            ("/etc/shadow", "/etc/Shadow", true),
            ("/etc/shadow", "/etc/shadow/x", false),
            (".ssh/**", ".ssh/a/b", true),
            ("a*c", "abbc", true),
            ("a*c", "ac", true),
            ("ab*bc", "abc", false),
            ("a*c", "a*bc", true),
            ("a*c", "a", false),
        ] {
            assert_eq!(any(&[pattern], path), expected, "{pattern} {path}");
        }
    }

    #[test]
    fn wildcards_that_may_name_a_hidden_file_count() {
        for (path, expected) in [
            (".s?h/*", true),
            (".*/id*", true),
            (".ss[gh]/id_rsa", true),
            (".a*/cred*", true),
            (".aw?/config", false),
            (".net*", true),
            (".ca*/x", false),
            ("*/id_rsa", false),
            ("code/*.rs", false),
        ] {
            assert_eq!(any_named(&[".ssh/**", ".aws/credentials", ".netrc"], path), expected, "{path}");
        }
    }

    #[test]
    fn an_ending_begins_at_a_component() {
        for (pattern, path, expected) in [
            (".env", "/code/app/.env", true),
            (".env", "/code/app/x.env", false),
            (".aws/credentials", "/home/me/.aws/credentials", true),
            (".ssh/**", "/home/me/.ssh/id", true),
            (".ssh/**", "/home/me/.ssh", false),
            (".ssh/**", "/home/me/.ssh/", false),
            (".git/hooks/**", "/code/.git/hooks/x/y", true),
            (".git/hooks/**", "/code/git/hooks/x", false),
            ("*.pem", "/x/KEY.PEM", true),
            ("*.pem", "/x.pem/key", false),
            (".ssh/*.pub", "/home/me/.SSH/id.pub", true),
            (".ssh/*.pub", "/home/me/.ssh/keys/id.pub", false),
            (".env.*", "/code/.env.local", true),
            (".env.*", "/code/.envrc", false),
            ("notes/**", "/code/notes/.x", true),
            (".a/**", "/.n/.a", false),
        ] {
            assert_eq!(any_ending(&[pattern], path), expected, "{pattern} {path}");
        }
    }
}
