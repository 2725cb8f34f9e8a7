//! Harm that a value carries to the command that does it: generated carriers, targets and commands, none of which may
//! count as harmless, and the same carriers with ordinary files, which all do.

use crate::seeded::{Seeded, is_harmless};

/// Ways to hand a path on; `{}` is the path and `{C}` the command, to which the path is the last word.
const CARRIERS: &[&str] = &[
    "for f in {}; do {C} \"$f\"; done",
    "for f in notes.txt {} a.txt; do {C} \"$f\"; done",
    "for f in a {}; do for g in b c; do {C} \"$f\"; done; done",
    "d={}; {C} \"$d\"",
    "if test -f a; then d={}; else d=a.txt; fi; {C} \"$d\"",
    "d=a.txt; test -f a && d={}; {C} $d",
    "d=a.txt; test -f a || d={}; {C} $d",
    "case $(uname) in Linux) d={};; *) d=b.txt;; esac; {C} $d",
    "a=({}); {C} \"${a[@]}\"",
    "a=(a.txt {}); for x in \"${a[@]}\"; do {C} \"$x\"; done",
    "f() { {C} \"$1\"; }; f {}",
    "f() { {C} \"$@\"; }; f a.txt {}",
    "f() { local d=$1; {C} \"$d\"; }; f {}",
    "f() { g \"$1\"; }; g() { {C} \"$1\"; }; f {}",
    "run() { \"$@\"; }; run {C} {}",
    "d={}.bak; {C} \"${d%.bak}\"",
    "d=x-{}; {C} \"${d#x-}\"",
    "{C} \"${EMPTY_HERE:+}\"{}",
    "export d={}; {C} \"$d\"",
    "x={}; y=$x; z=\"$y\"; {C} $z",
    "echo {} | xargs {C}",
    "printf '%s\\n' {} | xargs -n1 {C}",
    "printf '%s\\n' a.txt {} | xargs -I% {C} %",
    "parallel {C} ::: a.txt {}",
    "parallel -j4 -k {C} ::: {}",
    "{C} $(echo {})",
    "{C} {a.txt,{}}",
    "cd / && x={}; {C} $x",
];

/// Commands and what they must not be done to.
const HARMS: &[(&str, &[&str])] = &[
    ("cat", &["/etc/shadow", "/home/me/.ssh/id_rsa", "/home/me/.aws/credentials", "/home/me/.netrc"]),
    ("base64", &["/home/me/.ssh/id_ed25519", "/etc/sudoers"]),
    ("rm -rf", &["/", "/etc", "/home/me", "/home/me/Documents", "/code", "/code/app"]),
    ("tee -a", &["/home/me/.bashrc", "/etc/hosts", "/home/me/.ssh/authorized_keys"]),
    ("sed -i s/a/b/", &["/etc/passwd", "/home/me/.profile"]),
    ("truncate -s0", &["/var/log/syslog", "/home/me/.zshrc"]),
    ("touch", &["/usr/local/bin/tool", "/home/me/.config/autostart/x.desktop"]),
];

#[test]
fn what_harms_for_one_value_harms() {
    let mut allowed = Vec::new();
    for seed in 0..1_500 {
        let mut seeded = Seeded::new(seed);
        let (command, targets) = HARMS[usize::try_from(seed).unwrap() % HARMS.len()];
        let line = seeded.pick(CARRIERS).replace("{C}", command).replace("{}", seeded.pick(targets));
        if is_harmless(&line) {
            allowed.push(line);
        }
    }
    assert!(allowed.is_empty(), "{} of 1500 count as harmless:\n{}", allowed.len(), allowed.join("\n"));
}

/// Searches that may find what nobody should read, write or remove.
const SEARCHES: &[&str] = &[
    "find / -type f",
    "find ~ -type f",
    "find /home/me -name '*'",
    "find ~/.ssh -type f",
    "find .. -name .env",
    "find / -name id_rsa",
    "find ~ -name '*.pem'",
    "find /etc -name 'shadow*'",
    "ls -d ~/.ssh/*",
    "cat list.txt",
    "curl -s https://example.com/list",
    "grep -rl key /etc",
    "fd . /home/me/.aws",
    "fd -a key",
    "find -files0-from list.txt -name '*.txt'",
    "git log --format=%H -p",
    "git log --author --format=%H -p",
    "git log -zp --pretty=%h",
    "git log --format=%H -U3",
    "git log --name-only --format= --format=%B",
    "git tag -n",
    "git branch --format='%(refname:short)' --format='%(contents)'",
    "git diff --name-only -p",
    "git describe --dirty=/etc/shadow",
    "git show --name-only --format= HEAD:list.txt",
    "git show --name-only --format= v1.0",
    "pgrep -fa node",
    "grep -l --label=/etc/shadow x -",
    "git ls-files | grep -A1 --group-separator=/etc/shadow x",
    "git ls-files | sort --files0-from=list.txt",
    "rg --files --pre=./x",
    "rg -L . docs/list.txt",
    "git log -1 --format='%h %ad' --date='format:x%n/etc/shadow' | cut -d' ' -f1",
    "nl -bn list.txt | awk '{print $1}'",
    "git ls-files ':/.github'",
];

/// Ways to use what is found.
const CONSUMERS: &[&str] = &[
    "{S} | xargs cat",
    "{S} | xargs -n1 base64",
    "{S} | xargs -I% cp % out/",
    "{S} | xargs rm -rf",
    "{S} | xargs sed -i s/a/b/",
    "{S} | while read -r f; do cat \"$f\"; done",
    "{S} | while IFS= read -r f; do rm -rf \"$f\"; done",
    "for f in $({S}); do cat \"$f\"; done",
    "cat $({S})",
    "rm -rf $({S})",
    "mapfile -t a < <({S}); cat \"${a[@]}\"",
    "x=$({S}); cat $x",
    "while read -r f; do cat \"$f\"; done < <({S})",
];

#[test]
fn what_a_search_may_find_counts_as_found() {
    let mut allowed = Vec::new();
    for search in SEARCHES {
        for consumer in CONSUMERS {
            let line = consumer.replace("{S}", search);
            if is_harmless(&line) {
                allowed.push(line);
            }
        }
    }
    assert!(allowed.is_empty(), "{} count as harmless:\n{}", allowed.len(), allowed.join("\n"));
}

/// Searches that find what is in the project.
const SEARCHES_INSIDE: &[&str] = &[
    "find . -name '*.rs'",
    "find src -type f",
    "git ls-files",
    "git ls-files -mo --exclude-standard | grep -v lock | sort -u",
    "git diff --name-only --diff-filter=AM HEAD~3",
    "git --no-pager diff --name-only --cached -z",
    "git show --name-only --format= HEAD~1",
    "git grep -li x",
    "git ls-tree -r --name-only HEAD",
    "git diff --name-only --relative",
    "git log --format= --name-only -3",
    "rg -l x",
    "rg -lN -C2 x",
    "rg --files -g '*.md' --hidden",
    "grep -rln --include=*.py x .",
    "fd -e ts",
    "fd -g '*.ts' -t f -E dist",
    "ls src/*.rs",
];

#[test]
fn ordinary_files_may_be_handed_on_in_all_these_ways() {
    let mut asked = Vec::new();
    for carrier in CARRIERS.iter().filter(|carrier| !carrier.contains("EMPTY") && !carrier.contains("cd /")) {
        for (command, file) in [("cat", "src/main.rs"), ("touch", "out/x.txt"), ("wc -l", "README.md")] {
            let line = carrier.replace("{C}", command).replace("{}", file);
            if !is_harmless(&line) {
                asked.push(line);
            }
        }
    }
    for search in SEARCHES_INSIDE {
        for consumer in [
            "{S} | xargs wc -l",
            "for f in $({S}); do cat \"$f\"; done",
            "{S} | while read -r f; do head -1 \"$f\"; done",
            "x=$({S}); wc -l $x",
            "{S} | head -1 | xargs cat",
            "tail -5 \"$({S} | head -1)\"",
            "mapfile -t a < <({S}); wc -l \"${a[@]}\"",
        ] {
            let line = consumer.replace("{S}", search);
            if !is_harmless(&line) {
                asked.push(line);
            }
        }
    }
    assert!(asked.is_empty(), "{} are not harmless:\n{}", asked.len(), asked.join("\n"));
}

#[test]
fn a_name_that_may_be_an_option_counts_where_options_act() {
    for line in [
        "tar cf x.tar *",
        "for f in *; do tar rf x.tar \"$f\"; done",
        "ls | xargs tar cf x.tar",
        "rsync -a * out/",
    ] {
        assert!(!is_harmless(line), "{line}");
    }
    for line in ["tar cf x.tar ./*", "tar cf x.tar src/*", "rm *.o", "grep x *", "ls *", "cat *"] {
        assert!(is_harmless(line), "{line}");
    }
}
