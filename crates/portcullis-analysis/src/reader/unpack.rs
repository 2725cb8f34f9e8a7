//! Programs that unpack archives into the directory they run in, or only show what is inside.

use super::CommandContext;
use super::{certain_here, has, nameless};
use crate::act::Act;
use crate::profile::{Match, Use};

/// Reads `unzip`: it writes unless an option only looks.
pub(super) fn unzip(context: &CommandContext<'_>, found: &Match<'_>) -> Vec<Use> {
    let mut uses = found.uses.clone();
    let looks = has(found, &["-l", "-t", "-v", "-z", "-Z", "-p", "-c"]);
    let is_named = has(found, &["-d"]);
    if !looks && !is_named && !found.wanted.operands.is_empty() && !found.is_idle {
        uses.extend(certain_here(context, Act::Write));
    }
    uses
}

/// Reads `cpio`: `-i` unpacks here, `-t` only looks. Names in the archive may lead anywhere unless an option forbids it.
pub(super) fn cpio(context: &CommandContext<'_>, found: &Match<'_>) -> Vec<Use> {
    let mut uses = found.uses.clone();
    let unpacks = has(found, &["-i"]) && !has(found, &["-t", "--to-stdout"]);
    if unpacks && !has(found, &["-D"]) {
        uses.extend(certain_here(context, Act::Write));
    }
    if unpacks && !has(found, &["--no-absolute-filenames"]) {
        uses.push(nameless(Act::Write));
    }
    uses
}

#[cfg(test)]
mod tests {
    use crate::reader::testing::effects;

    #[test]
    fn unpacking_writes_where_it_is_told_or_here() {
        assert_eq!(effects("unzip a.zip"), ["read a.zip", "write ."]);
        assert_eq!(effects("unzip -qo a.zip -d out"), ["read a.zip", "write out"]);
        assert_eq!(effects("unzip -l a.zip"), ["read a.zip"]);
        assert_eq!(effects("cpio -idm"), ["write", "write ."]);
        assert_eq!(effects("cpio -idm --no-absolute-filenames"), ["write ."]);
        assert_eq!(effects("cpio -i -D out"), ["write", "write out"]);
        assert!(effects("cpio -it").is_empty());
    }
}
