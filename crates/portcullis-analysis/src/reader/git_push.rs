//! `git push`: refspecs that overwrite or delete.

use super::CommandContext;
use super::{certain, is_idle};
use crate::act::Act;
use crate::git::GitPush;
use crate::profile::{Match, Use};

/// Adds what the refspecs say to what the options do.
pub(super) fn read(context: &CommandContext<'_>, found: &Match<'_>) -> Vec<Use> {
    let mut uses = found.uses.clone();
    if is_idle(context, found) {
        return uses;
    }
    let push = GitPush::of(context.invocation.operands());
    uses.extend(push.forced.iter().map(|refspec| certain(Act::GitPushForce, refspec)));
    uses.extend(push.deleted.iter().map(|refspec| certain(Act::GitDeleteRemote, refspec)));
    uses
}

#[cfg(test)]
mod tests {
    use crate::reader::testing::effects;

    #[test]
    fn a_plus_overwrites_and_a_colon_in_front_deletes() {
        assert_eq!(
            effects("git push origin +a:b"),
            ["git-push +a:b", "git-push origin", "git-push-force +a:b"]
        );
        assert_eq!(effects("git push origin :b"), ["git-delete-remote :b", "git-push :b", "git-push origin"]);
        assert_eq!(effects("git push origin a:b"), ["git-push a:b", "git-push origin"]);
    }

    #[test]
    fn a_trial_does_nothing() {
        assert!(effects("git push -n origin +a :b").iter().all(|effect| !effect.starts_with("git-")));
    }
}
