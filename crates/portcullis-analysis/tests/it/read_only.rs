//! Which commands change nothing.

use crate::survey::{HERE, look};
use portcullis_analysis::command_effects::{effects, is_looking};
use portcullis_analysis::profile::Profiles;

#[test]
fn what_only_looks_is_read_only() {
    let refused: Vec<&&str> = LOOKING.iter().filter(|command| !all_read_only(command)).collect();
    assert!(refused.is_empty(), "{refused:#?}");
}

#[test]
fn what_writes_runs_or_sends_is_not() {
    let taken: Vec<&&str> = ACTING.iter().filter(|command| all_read_only(command)).collect();
    assert!(taken.is_empty(), "{taken:#?}");
}

fn all_read_only(command: &str) -> bool {
    let found = look(command);
    let all = effects(&found, HERE);
    let of = |index: usize| {
        all.iter().filter(move |effect| effect.invocation == Some(index)).cloned().collect::<Vec<_>>()
    };
    let is_looking_at = |(index, invocation)| is_looking(Profiles::BUILT_IN, invocation, &of(index));
    found.opacities.is_empty() && found.invocations.iter().enumerate().all(is_looking_at)
}

const LOOKING: &[&str] = &[
    "cat x",
    "wc -l *.rs",
    "du -sh .",
    "jq .a x",
    "jq -r --arg x y '.a[$x]' f",
    "git status",
    "git log --oneline -5",
    "git log -p",
    "git diff HEAD~3..HEAD -- '*.rs'",
    "git diff --stat origin/main...HEAD",
    "git show HEAD:x",
    "git branch --list 'x*'",
    "git tag -l",
    "git remote -v",
    "git remote show origin",
    "git config --get user.name",
    "git config --global --list",
    "git diff-index HEAD",
    "git cherry main",
    "gh pr view 5",
    "gh pr view https://github.com/x/y/pull/1",
    "gh api repos/x/y --jq .a",
    "docker ps -a",
    "docker logs --tail 5 x",
    "find . -name '*.rs' -not -path './x/*'",
    "sed -n 1,5p x",
    "sort -u x",
    "rg -n foo src",
    "fd -e xml",
    "date +%s",
    "test -n \"$X\"",
    "[ \"$a\" = b ]",
    "[ ! -f \"$a\" ]",
    "[ -d src ]",
    "set -euo pipefail",
    "ifconfig -a",
    "ifconfig eth0",
];

const ACTING: &[&str] = &[
    "ifconfig eth0 up",
    "ifconfig eth0 -promisc",
    "wc --files0-from=x",
    "wc --files0 x",
    "du --files0-from=x",
    "sort -o x y",
    "jq 'import \"/etc/x\" as $d; $d' f",
    "jq 'include \"../../x\"; .' f",
    "git log --output=x",
    "git log --outpu=x",
    "git log --show-signature",
    "git log --pretty=%GK",
    "git grep --open-files=rm foo",
    "git grep -Orm foo",
    "git remote show 'ext::sh -c rm'",
    "git remote show https://example.com/x",
    "git config --get x --add y z",
    "git config --get x --unset",
    "git config list --edit",
    "git config -l -e",
    "git branch foo",
    "git branch --list --delete x",
    "git tag foo",
    "git stash",
    "gh api https://example.com/x",
    "gh api --hostname example.com x",
    "gh api x -f a=b",
    "gh pr view https://example.com/x/y/pull/1",
    "gh pr view -w",
    "docker ps -H tcp://x",
    "docker ps --host=tcp://x",
    "docker ps --context x",
    "podman images --url=x",
    "find . -delete",
    "sed -i s/a/b/ x",
    "sed 'w out' x",
    "fd -x rm",
    "rg --pre cat x",
    "date -s x",
    "PATH=/x ls",
    "test -v x",
    "[ $a = b ]",
    "[ \"$a\" \"$b\" ]",
    "[ \"$a\" \"$b\" c ]",
    "[ -n \"$@\" ]",
    "[ -f a -o -v b ]",
    "set -- a",
    "set -o physical",
    "./ls",
];
