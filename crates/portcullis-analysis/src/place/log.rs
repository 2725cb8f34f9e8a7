//! Records of what happened.

use super::Scope;
use super::pattern::{any, any_ending};
use crate::lists::places::logs::{ABSOLUTE, ANYWHERE, IN_HOME};

/// Says whether a file records what happened on the machine or in a session.
pub fn is_log(path: &str, scope: &Scope) -> bool {
    any(ABSOLUTE, path)
        || any_ending(ANYWHERE, path)
        || scope.below_home(path).is_some_and(|below| any(IN_HOME, below))
}
