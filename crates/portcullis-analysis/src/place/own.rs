//! Our own places: settings, state, tokens, the program, what hosts read to start it, and their session files.
//!
//! A path is held against one list, whoever touches it and however it is written: it lies inside of such a place, or a
//! directory above one, and both may be a pattern that only could.

use std::borrow::Cow;

use super::Scope;
use super::pattern::{any_ending, spelled_parts};
use crate::lists::places::own::{
    ABSOLUTE, ANY_KEPT, ANY_SECRETS, ANYWHERE, ANYWHERE_FOLDERS, INSTALLED, KEPT, KEPT_NAMES, PROGRAMS,
    SECRET_NAMES, SECRETS, SESSION_NAMES,
};
use crate::path::{below, components, may_name_component};

/// Where our own places lie, besides their usual paths below the home directory.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OwnLocations {
    /// Directories that a variable moved: the usual path below the home directory, and where it is now.
    pub moved: Vec<(String, String)>,
    /// The files of the registered program, absolute.
    pub programs: Vec<String>,
    /// Files that settings name, absolute: programs they have started, what a judge is told, where the record is kept.
    /// They may be looked at and not changed.
    pub files: Vec<String>,
    /// The ports that settings have the daemon listen at, besides the usual ones.
    pub ports: Vec<u16>,
}

/// Which kinds of our places are meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct OwnKinds {
    /// What may be looked at and not changed.
    pub(crate) kept: bool,
    /// What may not even be read.
    pub(crate) secret: bool,
    /// The program.
    pub(crate) program: bool,
}

impl OwnKinds {
    /// Says whether any kind is.
    pub(crate) fn is_any(self) -> bool {
        self.kept || self.secret || self.program
    }

    /// Adds other kinds.
    pub(crate) fn add(&mut self, other: Self) {
        self.kept |= other.kept;
        self.secret |= other.secret;
        self.program |= other.program;
    }
}

/// How a path lies to our places.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts about one path")]
pub(crate) struct OwnTouch {
    /// It is one, or lies inside of one.
    pub(crate) inside: OwnKinds,
    /// It is a directory above one.
    pub(crate) above: OwnKinds,
    /// It is a directory above a secret, and no hidden directory lies between.
    pub(crate) above_plain_secret: bool,
    /// It is the home directory or one above it, in which much else lies.
    pub(crate) is_broad: bool,
    /// The file of the registered program is known to lie below it.
    pub(crate) above_known_program: bool,
    /// A file that settings name lies below it. People keep such files among their own.
    pub(crate) above_named_file: bool,
}

/// How a path lies to one entry of a list.
enum Relation {
    Apart,
    Inside,
    /// With what is left of the entry below it.
    Above {
        is_plain: bool,
    },
}

/// The places of one user.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OwnPlaces<'a> {
    pub(crate) scope: &'a Scope,
    pub(crate) locations: &'a OwnLocations,
}

impl OwnPlaces<'_> {
    /// Says how an absolute path, or all that an absolute pattern names, lies to our places.
    pub(crate) fn touch(self, path: &str, is_pattern: bool) -> OwnTouch {
        let path = plain(path);
        let mut touch = OwnTouch::default();
        if let Some(home) = self.scope.home.as_deref().filter(|home| *home != "/") {
            touch_below(&mut touch, home, "", &path, is_pattern);
            let is_above = || matches!(pattern_below(&path, home).as_deref(), Some("" | "*"));
            touch.is_broad = below(home, &path).is_some() || is_pattern && is_above();
        }
        for (usual, moved) in &self.locations.moved {
            touch_below(&mut touch, moved, usual, &path, is_pattern);
        }
        for program in &self.locations.programs {
            match relate(&path, program, &[]) {
                Relation::Inside => touch.inside.program = true,
                Relation::Above { .. } => {
                    touch.above.program = true;
                    touch.above_known_program = true;
                }
                Relation::Apart => {}
            }
        }
        for file in &self.locations.files {
            match relate(&path, file, &[]) {
                Relation::Inside => touch.inside.kept = true,
                Relation::Above { .. } => touch.above_named_file = true,
                Relation::Apart => {}
            }
        }
        for entry in ABSOLUTE {
            match relate(&path, entry, KEPT_NAMES) {
                Relation::Inside => touch.inside.kept = true,
                // What holds the settings of the whole system is judged as that.
                Relation::Above { .. } => touch.above.kept |= components(&path).count() > 1,
                Relation::Apart => {}
            }
        }
        if !self.scope.is_temporary(&path) {
            touch.inside.kept |=
                any_ending(ANYWHERE, &path) || any_ending(ANY_KEPT, &path) || is_pattern && may_end(&path);
            touch.above.kept |= any_ending(ANYWHERE_FOLDERS, &path);
            touch.inside.secret |= any_ending(ANY_SECRETS, &path);
            let is_built = self.scope.is_in_project(&path);
            touch.inside.program |= any_ending(INSTALLED, &path) && !is_built;
        }
        touch
    }
}

/// Returns a path in lower case, as file systems may take it, and without a detour over the files of a process.
fn plain(path: &str) -> Cow<'_, str> {
    let direct = path.strip_prefix("/proc/").and_then(|rest| rest.split_once("/root/")).map(|(_, rest)| rest);
    match direct {
        Some(rest) => Cow::Owned(format!("/{rest}")),
        None => Cow::Borrowed(path),
    }
}

/// Holds a path against the places below a directory, which stands for `usual` below the home directory.
fn touch_below(touch: &mut OwnTouch, base: &str, usual: &str, path: &str, is_pattern: bool) {
    let rest = match below(path, base) {
        Some(rest) => Cow::Borrowed(rest),
        None if below(base, path).is_some() => Cow::Borrowed(""),
        None if is_pattern => match pattern_below(path, base) {
            Some(rest) => Cow::Owned(rest),
            None => return,
        },
        None => return,
    };
    let relative = match (usual, rest.as_ref()) {
        ("", rest) => Cow::Borrowed(rest),
        (usual, "") => Cow::Borrowed(usual),
        (usual, rest) => Cow::Owned(format!("{usual}/{rest}")),
    };
    add_entries(touch, &relative);
}

fn add_entries(touch: &mut OwnTouch, relative: &str) {
    // Below a directory that holds little else, any name may be that of a session.
    let is_near = !relative.starts_with("**");
    for entry in SECRETS {
        let is_session = || matches!(relate(relative, entry, SESSION_NAMES), Relation::Inside);
        touch.inside.secret |= is_near && is_session();
        match relate(relative, entry, SECRET_NAMES) {
            Relation::Inside => touch.inside.secret = true,
            Relation::Above { is_plain } => {
                touch.above.secret = true;
                touch.above_plain_secret |= is_plain;
            }
            Relation::Apart => {}
        }
    }
    for entry in KEPT {
        match relate(relative, entry, KEPT_NAMES) {
            Relation::Inside => touch.inside.kept = true,
            Relation::Above { .. } => touch.above.kept = true,
            Relation::Apart => {}
        }
    }
    for entry in PROGRAMS {
        match relate(relative, entry, &[]) {
            Relation::Inside => touch.inside.program = true,
            Relation::Above { .. } => touch.above.program = true,
            Relation::Apart => {}
        }
    }
}

/// Returns what of a pattern is left below a directory, `None` if it cannot name anything there.
fn pattern_below(pattern: &str, base: &str) -> Option<String> {
    let mut wanted = components(base);
    let mut found = components(pattern);
    loop {
        let Some(name) = wanted.next() else {
            return Some(found.collect::<Vec<_>>().join("/"));
        };
        match found.next() {
            None => return Some(String::new()),
            Some("**") => {
                let rest: Vec<&str> = std::iter::once("**").chain(found).collect();
                return Some(rest.join("/"));
            }
            Some(component) if fits(component, name) => {}
            Some(_) => return None,
        }
    }
}

/// Holds a path against an entry, both relative to the same directory or both absolute. `names` are what files below an
/// entry may be called.
fn relate(path: &str, entry: &str, names: &[&str]) -> Relation {
    if part_at_once(path, entry) {
        return Relation::Apart;
    }
    let (entry, is_tree) = entry.strip_suffix("/**").map_or((entry, false), |entry| (entry, true));
    let mut wanted = components(entry);
    let mut found = components(path);
    loop {
        match (found.next(), wanted.next()) {
            (None, Some(next)) => {
                let is_plain = !next.starts_with('.') && wanted.all(|name| !name.starts_with('.'));
                return Relation::Above { is_plain };
            }
            (None, None) => return Relation::Inside,
            (Some(_), None) => return if is_tree { Relation::Inside } else { Relation::Apart },
            (Some("**"), Some(next)) => {
                let left: Vec<&str> = std::iter::once(next).chain(wanted).collect();
                return deep(found.last(), &left, if is_tree { names } else { &[] });
            }
            (Some(component), Some(name)) if fits(component, name) => {}
            (Some(_), Some(_)) => return Relation::Apart,
        }
    }
}

/// Says that a path and an entry part at their first letter, which nearly all of them do. Of a pattern this is said only
/// where its first letter stands for itself.
fn part_at_once(path: &str, entry: &str) -> bool {
    let first = |text: &str| text.trim_start_matches('/').bytes().next();
    let Some((found, wanted)) = first(path).zip(first(entry)) else { return false };
    found.is_ascii_alphanumeric()
        && (wanted.is_ascii_alphanumeric() || wanted == b'.')
        && !found.eq_ignore_ascii_case(&wanted)
        && !path.contains('(')
}

/// Holds the last component of a pattern, which stands at any depth, against what is left of an entry.
fn deep(last: Option<&str>, left: &[&str], names: &[&str]) -> Relation {
    let Some(last) = last else { return Relation::Inside };
    let Some((end, between)) = left.split_last() else { return Relation::Inside };
    if fits_any(last, end) || names.iter().any(|name| fits_any(last, name)) {
        Relation::Inside
    } else if between.iter().any(|name| fits_any(last, name)) {
        Relation::Above { is_plain: true }
    } else {
        Relation::Apart
    }
}

/// Says whether a component could name this one. A wildcard at its beginning names nothing hidden.
fn fits(component: &str, name: &str) -> bool {
    let names_hidden = !component.starts_with(['*', '?']) || !name.starts_with('.');
    names_hidden && fits_any(component, name)
}

/// The same, where hidden files are not left out.
fn fits_any(component: &str, name: &str) -> bool {
    if is_wild(name) {
        return if is_wild(component) {
            may_share(component, name)
        } else {
            may_name_component(name, component)
        };
    }
    component.eq_ignore_ascii_case(name) || is_wild(component) && may_name_component(component, name)
}

/// Says whether two wildcards could name the same file: neither end of one contradicts the other's.
fn may_share(one: &str, other: &str) -> bool {
    let start = |text: &str| text.split(WILD).next().unwrap_or_default().to_owned();
    let end = |text: &str| text.rsplit(WILD).next().unwrap_or_default().to_owned();
    let (one_start, other_start, one_end, other_end) = (start(one), start(other), end(one), end(other));
    (one_start.starts_with(&other_start) || other_start.starts_with(&one_start))
        && (one_end.ends_with(&other_end) || other_end.ends_with(&one_end))
}

/// Signs of a pattern.
const WILD: [char; 8] = ['*', '?', '[', ']', '{', '}', '(', ')'];

fn is_wild(component: &str) -> bool {
    component.bytes().any(|byte| matches!(byte, b'*' | b'?' | b'[' | b'{' | b'('))
}

/// Says whether a pattern could end like a file that a project brings along: it spells out the folder, or the file.
fn may_end(pattern: &str) -> bool {
    let last = components(pattern).last().unwrap_or_default();
    ANYWHERE.iter().any(|entry| {
        let Some(parts) = spelled_parts(entry, pattern) else { return false };
        let folder = ANYWHERE_FOLDERS.iter().find(|folder| below(entry, folder).is_some());
        let names_folder = folder.is_some_and(|folder| folder.split('/').all(|part| parts.contains(&part)));
        let name = entry.split('/').rfind(|part| *part != "**").unwrap_or(entry);
        names_folder || parts.contains(&name) || !parts.is_empty() && KEPT_NAMES.contains(&last)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_first_letter_tells_paths_apart_only_where_it_stands_for_itself() {
        for (path, entry, expected) in [
            ("src/main.rs", ".config/portcullis/**", true),
            ("/srv/app", "/etc/portcullis/**", true),
            ("Src", "bin/portcullis", true),
            ("Bin/portcullis", "bin/portcullis", false),
            ("/Etc", "/etc/portcullis/**", false),
            ("", "bin/portcullis", false),
            ("./bin", "bin/portcullis", false),
            ("//etc", "/etc/portcullis/**", false),
            ("*", "bin/portcullis", false),
            ("{src,bin}", "bin/portcullis", false),
            ("[ab]in", "bin/portcullis", false),
            ("x(y|z)/portcullis", "bin/portcullis", false),
            ("src", "*/portcullis", false),
        ] {
            assert_eq!(part_at_once(path, entry), expected, "{path} and {entry}");
        }
    }

    fn touch_of(path: &str) -> OwnTouch {
        let scope = Scope { roots: vec!["/home/me/app".to_owned()], home: Some("/home/me".to_owned()) };
        let locations = OwnLocations {
            moved: vec![(".local/state".to_owned(), "/data/state".to_owned())],
            programs: vec!["/opt/tools/portcullis".to_owned()],
            ..OwnLocations::default()
        };
        OwnPlaces { scope: &scope, locations: &locations }.touch(path, path.contains(['*', '?', '[']))
    }

    #[test]
    fn what_lies_inside_is_told_by_its_kind() {
        for (path, kept, secret, program) in [
            ("/home/me/.local/state/portcullis/daemon/person.token", true, true, false),
            ("/data/state/portcullis/sessions/a.json", true, true, false),
            ("/home/me/.config/portcullis", true, false, false),
            ("/home/me/.local/state/portcullis/audit/current.jsonl", true, false, false),
            ("/home/me/.Claude/Settings.json", true, false, false),
            ("/home/me/.claude/projects/x/s.jsonl", true, false, false),
            ("/srv/web/.claude/settings.local.json", true, false, false),
            ("/etc/portcullis/managed-settings.json", true, false, false),
            ("/home/me/bin/portcullis", false, false, true),
            ("/usr/local/bin/portcullis", false, false, true),
            ("/opt/tools/portcullis", false, false, true),
            ("/proc/self/root/home/me/.config/portcullis/settings.json", true, false, false),
            ("/home/*/.local/state/p*/daemon/person.token", true, true, false),
            ("/home/me/**/*.token", false, true, false),
            ("/home/me/.config/*/settings.json", true, false, false),
            ("/home/me/app/.claude/*.json", true, false, false),
            ("/home/me/.claude/projects/x/memory/notes.md", false, false, false),
            ("/home/me/app/bin/portcullis", false, false, false),
            ("/home/me/.config/nvim/init.lua", false, false, false),
            ("/home/me/**/*.md", false, false, false),
            ("/home/me/app/src/*", false, false, false),
            ("/tmp/x/.claude/settings.json", false, false, false),
        ] {
            assert_eq!(touch_of(path).inside, OwnKinds { kept, secret, program }, "{path}");
        }
    }

    #[test]
    fn directories_above_are_told_by_what_lies_below() {
        for (path, kept, secret, plain) in [
            ("/", true, true, true),
            ("/home", true, true, false),
            ("/home/me", true, true, false),
            ("/home/me/.local", true, true, true),
            ("/home/me/.local/state", true, true, true),
            ("/data", true, true, true),
            ("/home/me/.config", true, false, false),
            ("/home/me/.*", true, true, true),
            ("/home/me/*", true, false, false),
            ("/home/me/app", false, false, false),
            ("/home/other", false, false, false),
        ] {
            let touch = touch_of(path);
            let found = (touch.above.kept, touch.above.secret, touch.above_plain_secret);
            assert_eq!(found, (kept, secret, plain), "{path}");
        }
    }
}
