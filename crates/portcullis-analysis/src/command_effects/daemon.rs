//! Effects that reach for our own daemon: whoever has its tokens, or speaks to it, may answer in a person's place.

use crate::act::Act;
use crate::effect::{Effect, Target};
use crate::invocation::Invocation;
use crate::lists::places::agents::DAEMON_FILES;
use crate::path::{components, is_inside, may_name, normal};
use crate::place::{is_daemon_file, names_daemon_socket};

/// Where the daemon keeps its files, below the home directory.
const DIRECTORY: &str = ".local/state/portcullis/daemon";

/// Says whether an effect reads what lets somebody speak to the daemon, or speaks to it. Looking at names does not.
pub fn reaches_daemon(effect: &Effect, invocations: &[Invocation], home: Option<&str>) -> bool {
    if matches!(effect.act, Act::Observe | Act::List) {
        return false;
    }
    if effect.target.paths().iter().any(|path| is_daemon_file(path))
        || names_daemon_socket(effect.target.written())
    {
        return true;
    }
    let invocation = effect.invocation.and_then(|place| invocations.get(place));
    let directories = invocation.and_then(|invocation| invocation.directories.alternatives());
    // Whatever runs there may name a file by its name alone, and not every program says that it is one.
    directories.is_some_and(|all| all.iter().any(|directory| is_daemon_file(&normal(directory))))
        || home.is_some_and(|home| reads_around(effect, directories.unwrap_or_default(), home))
}

/// Says whether an effect reads the files of the daemon among others: by a pattern, or with a directory above them. A
/// command that reads all of the directory it runs in is taken for one about the project.
fn reads_around(effect: &Effect, directories: &[String], home: &str) -> bool {
    let Target::Path(target) = &effect.target else { return false };
    let home = home.trim_end_matches('/');
    if !target.is_pattern {
        let is_whole_tree = |path: &String| is_above(path, home) && !directories.contains(path);
        return effect.act == Act::Read && target.paths.iter().any(is_whole_tree);
    }
    let daemon = format!("{home}/{DIRECTORY}");
    target.paths.iter().any(|path| {
        DAEMON_FILES.iter().any(|name| may_expand_to(path, &format!("{daemon}/{name}")))
            || effect.act == Act::Read && may_name_above(path, &daemon, home)
    })
}

/// Says whether the directory of the daemon lies below a path. Nothing is put together for it, because every path that is
/// read is asked about.
fn is_above(path: &str, home: &str) -> bool {
    match path.strip_prefix(home) {
        Some("") => true,
        Some(rest) => rest.strip_prefix('/').is_some_and(|rest| is_inside(DIRECTORY, rest)),
        None => is_inside(home, path),
    }
}

/// Says whether a pattern could name a directory between the home directory and the files of the daemon. A pattern that
/// does not begin with a dot names no hidden directory.
fn may_name_above(pattern: &str, daemon: &str, home: &str) -> bool {
    let depth = components(home).count();
    let names_hidden = components(pattern).nth(depth).is_some_and(|component| component.starts_with('.'));
    let mut above = Some(daemon);
    while names_hidden && let Some(directory) = above.filter(|directory| directory.len() > home.len()) {
        if may_name(pattern, directory) {
            return true;
        }
        above = directory.rsplit_once('/').map(|(parent, _)| parent);
    }
    false
}

/// Says whether a pattern could name a path. Two stars may stand for any number of directories.
fn may_expand_to(pattern: &str, path: &str) -> bool {
    let Some((before, after)) = pattern.split_once("**") else { return may_name(pattern, path) };
    let before = before.rsplit_once('/').map_or("", |(above, _)| above);
    let last = components(after).last().unwrap_or("*");
    let name = components(path).last().unwrap_or_default();
    let depth = components(before).count();
    let above: Vec<&str> = components(path).take(depth).collect();
    may_name(before, &above.join("/")) && may_name(last, name)
}
