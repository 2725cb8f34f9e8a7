//! Files that make something run later without being asked: start-up files, schedules, hooks, keys that let people in.

use super::Scope;
use super::pattern::{any, any_ending};
use crate::lists::places::startup::{ABSOLUTE, ANYWHERE, IN_HOME};

/// Says what a file makes run later or lets in, if it does.
pub fn startup_file(path: &str, scope: &Scope) -> Option<&'static str> {
    let below = scope.below_home(path);
    let in_home = IN_HOME.iter().find(|(pattern, _)| below.is_some_and(|below| any(&[*pattern], below)));
    let absolute = ABSOLUTE.iter().find(|(pattern, _)| any(&[*pattern], path));
    let anywhere = ANYWHERE.iter().find(|(pattern, _)| any_ending(&[*pattern], path));
    in_home.or(absolute).or(anywhere).map(|(_, what)| *what)
}
