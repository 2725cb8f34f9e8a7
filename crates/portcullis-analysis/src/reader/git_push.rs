//! `git push`, `fetch`, `pull` and `branch`: refspecs and branches that are overwritten or deleted.

use super::CommandContext;
use super::{certain, has, nameless};
use crate::act::Act;
use crate::argument::Argument;
use crate::git::GitPush;
use crate::lists::programs::git::PUSH_OPTIONS;
use crate::profile::{Match, Use};

/// Adds what the refspecs say to what the options do.
pub(super) fn read(context: &CommandContext<'_>, found: &Match<'_>) -> Vec<Use> {
    let mut uses = found.uses.clone();
    if found.is_idle {
        return uses;
    }
    let push = GitPush::of(context.invocation.operands());
    uses.extend(push.forced.iter().map(|refspec| certain(Act::GitPushForce, refspec)));
    // What is deleted is named by itself; only what is gone here may be anything there.
    if !push.deleted.is_empty() && !has(found, &["--prune"]) {
        uses.retain(|used| used.act != Act::GitDeleteRemote);
    }
    uses.extend(push.deleted.iter().map(|refspec| certain(Act::GitDeleteRemote, refspec)));
    // What a server makes of a wish it is sent is its own affair: some merge at once.
    let is_plain = |wish: &Argument| {
        PUSH_OPTIONS
            .iter()
            .any(|plain| wish.text == *plain || plain.ends_with('=') && wish.text.starts_with(plain))
    };
    let wishes = found.wanted.options.iter().filter(|(option, _)| *option == "-o");
    let odd = wishes.filter_map(|(_, wish)| wish.as_ref()).filter(|wish| !is_plain(wish));
    uses.extend(odd.map(|wish| certain(Act::Unknown, wish)));
    uses
}

/// Reads `git fetch` and `git pull`: branches of one's own that are overwritten, and code that is merged from an address.
pub(super) fn fetch(_: &CommandContext<'_>, found: &Match<'_>) -> Vec<Use> {
    let mut uses = found.uses.clone();
    if found.is_idle {
        return uses;
    }
    let operands = &found.wanted.operands;
    let is_pull = found.path.first() == Some(&"pull");
    let is_forced = has(found, &["-f"]);
    let overwrites = |refspec: &&Argument| {
        let plain = refspec.text.trim_start_matches('+');
        let to = plain.split_once(':').map_or("", |(_, to)| to);
        let is_own = !to.is_empty() && !to.starts_with("refs/remotes/") && !to.starts_with("refs/tags/");
        is_own && (is_forced || refspec.text.starts_with('+') || to.contains('*'))
    };
    uses.extend(operands.iter().skip(1).filter(overwrites).map(|refspec| certain(Act::Unknown, refspec)));
    let address = operands.first().filter(|first| is_pull && first.text.contains([':', '/']));
    uses.extend(address.map(|address| certain(Act::Unknown, address)));
    uses
}

/// Reads `git branch`: a branch that is deleted by force takes its commits along.
pub(super) fn branch(_: &CommandContext<'_>, found: &Match<'_>) -> Vec<Use> {
    let mut uses = found.uses.clone();
    if has(found, &["-d"]) && has(found, &["-f"]) && !found.is_idle {
        uses.push(nameless(Act::GitErase));
    }
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
    fn wishes_and_foreign_addresses_are_unknown() {
        assert!(
            effects("git push -o merge_request.create origin a")
                .iter()
                .all(|effect| !effect.starts_with("unknown"))
        );
        assert!(effects("git push --push-opt=submit origin a").contains(&"unknown submit".to_owned()));
        assert!(effects("git fetch origin +a:b").contains(&"unknown +a:b".to_owned()));
        assert!(
            effects("git pull https://example.com/x a").contains(&"unknown https://example.com/x".to_owned())
        );
        assert!(effects("git branch --del --forc a").contains(&"git-erase".to_owned()));
        for plain in ["git fetch origin main:main", "git pull origin main", "git branch -d a"] {
            let is_plain =
                |effect: &String| !effect.starts_with("unknown") && !effect.starts_with("git-erase");
            assert!(effects(plain).iter().all(is_plain), "{plain}");
        }
    }

    #[test]
    fn a_trial_does_nothing() {
        assert!(effects("git push -n origin +a :b").iter().all(|effect| !effect.starts_with("git-")));
    }
}
