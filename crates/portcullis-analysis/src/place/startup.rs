//! Files that make something run later without being asked: start-up files, schedules, hooks, keys that let people in.

use super::Scope;
use super::pattern::{Beginning, Endings};
use crate::lists::places::startup::{ABSOLUTE, ANYWHERE, IN_HOME};

/// Says what a file makes run later or lets in, if it does.
pub fn startup_file(path: &str, scope: &Scope) -> Option<&'static str> {
    let below = scope.below_home(path);
    let in_home = below.map(Beginning::of).and_then(|below| find(IN_HOME, |pattern| below.fits(pattern)));
    let (beginning, endings) = (Beginning::of(path), Endings::of(path));
    let absolute = || find(ABSOLUTE, |pattern| beginning.fits(pattern));
    in_home.or_else(absolute).or_else(|| find(ANYWHERE, |pattern| endings.fit(pattern)))
}

/// Returns what the first pattern stands for that passes a test.
fn find(patterns: &[(&str, &'static str)], test: impl Fn(&str) -> bool) -> Option<&'static str> {
    patterns.iter().find(|(pattern, _)| test(pattern)).map(|(_, what)| *what)
}
