//! Patterns over paths: `/etc/cron*/**`, `.ssh/id_*`, one `*` a component, `**` for the rest.
//!
//! Letters match in any case. Nothing is allocated for a pattern, because every path of every call is held against all.
//!
//! The comparisons look at one letter first where they can, because nearly every pattern fits nearly no path.

/// Says whether a path has the form of one of these patterns, component by component.
pub(super) fn any(patterns: &[&str], path: &str) -> bool {
    patterns.iter().any(|pattern| may_begin(pattern, path) && matches(pattern, path))
}

/// Says whether the first letters of a path are those of a pattern: most are told apart by these.
fn may_begin(pattern: &str, path: &str) -> bool {
    for (wanted, found) in pattern.bytes().zip(path.bytes()).take(4) {
        if wanted == b'*' {
            return true;
        }
        if !wanted.eq_ignore_ascii_case(&found) {
            return false;
        }
    }
    true
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

/// Says whether an ending of a path has the form of one of these patterns: `app/.env` has the form `.env`.
pub(super) fn any_ending(patterns: &[&str], path: &str) -> bool {
    let last = path.as_bytes().last();
    let letters = first_letters(path);
    let mut likely = patterns.iter().filter(|pattern| may_hold(letters, pattern));
    likely.any(|pattern| match (pattern.as_bytes().last(), last) {
        (Some(b'*'), _) => match pattern.strip_suffix("/**") {
            None => ends_with(pattern, path),
            Some(directory) => lies_in(directory, path),
        },
        // Most are told apart by their last letter.
        (Some(wanted), Some(found)) => wanted.eq_ignore_ascii_case(found) && ends_with(pattern, path),
        _ => false,
    })
}

/// Returns the letters that the components of a path begin with, a bit each; some letters share one.
fn first_letters(path: &str) -> u64 {
    let (mut letters, mut is_first) = (0, true);
    for byte in path.bytes() {
        if is_first {
            letters |= bit_of(byte);
        }
        is_first = byte == b'/';
    }
    letters
}

const fn bit_of(letter: u8) -> u64 {
    1 << (letter.to_ascii_lowercase() & 63)
}

/// Says whether a path whose components begin with these letters may hold one like the first of a pattern.
fn may_hold(letters: u64, pattern: &str) -> bool {
    match pattern.as_bytes().first() {
        None | Some(b'*' | b'/') => true,
        Some(letter) => letters & bit_of(*letter) != 0,
    }
}

/// Says whether the last components of a path have the form of a pattern.
pub(super) fn ends_with(pattern: &str, path: &str) -> bool {
    let mut components = path.rsplit('/');
    pattern
        .rsplit('/')
        .all(|wanted| components.next().is_some_and(|component| is_component(wanted, component)))
}

/// Says whether a path lies below a directory that ends in the form of a pattern.
pub(super) fn lies_in(directory: &str, path: &str) -> bool {
    let last = directory.rsplit('/').next().unwrap_or(directory);
    let mut end = 0;
    for component in path.split('/') {
        end += component.len();
        let rest = path.get(end..).unwrap_or_default();
        if is_component(last, component)
            && rest.len() > 1
            && ends_with(directory, path.get(..end).unwrap_or_default())
        {
            return true;
        }
        end += 1;
    }
    false
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
        ] {
            assert_eq!(any_ending(&[pattern], path), expected, "{pattern} {path}");
        }
    }
}
