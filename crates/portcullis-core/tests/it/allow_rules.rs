//! Allow rules do what users mean, and no more (spec A9, C7, C8).

use crate::support::{Rules, decide_bash, short};
use portcullis_core::{Decision, Mode, Policy};

fn check(policy: &Policy, cases: &[(&str, &str)]) {
    let mut wrong = Vec::new();
    for (command, expected) in cases {
        let verdict = decide_bash(policy, command, Mode::Default);
        if short(&verdict) != *expected {
            wrong.push(format!(
                "{command:?}: expected {expected}, got {} ({})",
                short(&verdict),
                verdict.reason.message()
            ));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

fn project() -> Policy {
    let allow = &[
        "Bash(npm run *)",
        "Bash(npm test)",
        "Bash(git add *)",
        "Bash(git commit *)",
        "Bash(cargo build:*)",
        "Bash(make *)",
        "Bash(docker ps)",
        "Edit(/out/**)",
    ];
    Rules { allow, ..Rules::default() }.policy()
}

#[test]
fn chains_and_pipes_of_allowed_parts_do_not_ask() {
    check(
        &project(),
        &[
            ("npm run build", "allow A9"),
            ("npm run", "allow A9"),
            ("npm test", "allow A9"),
            ("npm test && npm run build", "allow A9"),
            ("npm run build | head -20", "allow A9"),
            ("npm run build 2>&1 | tail -5 || echo failed", "allow A9"),
            ("npm run build > /dev/null 2>&1", "allow A9"),
            ("npm run build &> out/log.txt", "allow A9"),
            ("cd src && npm test", "allow A9"),
            ("cd ./src/../lib && npm test; git add .", "allow A9"),
            ("cd /code/app/src && make all", "allow A9"),
            ("git add -A && git commit -m 'one; two && three | four'", "allow A9"),
            ("git commit -m \"$(cat <<'EOF'\nFix the parser\n\n- handle `x` | y && z\nEOF\n)\"", "allow A9"),
            ("grep -E 'a|b' src/main.rs", "allow A9"),
            ("timeout 30 npm test", "allow A9"),
            ("time npm test", "allow A9"),
            ("nohup npm run dev", "allow A9"),
            ("NODE_ENV=test npm test", "allow A9"),
            ("LANG=C ls", "allow A9"),
            ("bash -c 'npm test'", "allow A9"),
            ("bash -c 'npm test && ls'", "allow A9"),
            ("(npm test)", "allow A9"),
            ("{ npm test; }", "allow A9"),
            ("if npm test; then echo ok; else echo bad; fi", "allow A9"),
            ("for f in a b; do cat src/x.rs; done", "allow A9"),
            ("x=1; echo $x", "allow A9"),
            ("! npm test", "allow A9"),
            ("npm run build # then look", "allow A9"),
            ("make -j4 \\\n  all", "allow A9"),
            ("\"npm\" 'test'", "allow A9"),
            ("diff <(sort a) <(sort b)", "allow A9"),
            ("cat src/{a,b}.rs", "allow A9"),
            ("ls {src,lib}", "allow A9"),
            ("if [ -f \"$x\" ]; then npm test; fi", "allow A9"),
            ("set -euo pipefail; npm test", "allow A9"),
        ],
    );
}

#[test]
fn one_part_without_a_rule_asks() {
    check(
        &project(),
        &[
            ("npm install", "ask A10"),
            ("npm test && npm publish", "ask A10"),
            ("npm test; npm install x", "ask A10"),
            ("npm test | tee log.txt", "ask A10"),
            ("npm test -- --watch", "ask A10"),
            ("echo $(npm install)", "ask A10"),
            ("npm run \"$(npm install)\"", "ask A10"),
            ("npm run build > log.txt", "ask A10"),
            ("npm run build > /etc/x", "ask A4"),
            ("npm run build >> ~/.bashrc", "ask A7"),
            ("npm run build < /etc/passwd", "ask A4"),
            ("cd /tmp && npm test", "ask A4"),
            ("cd .. && npm test", "ask A4"),
            ("PATH=/tmp:$PATH npm test", "ask A10"),
            ("LD_PRELOAD=x npm test", "ask A10"),
            ("PATH=/tmp; npm test", "ask A10"),
            ("env PATH=/tmp npm test", "ask A10"),
            ("sudo npm test", "ask A10"),
            ("./npm test", "ask A10"),
            ("/tmp/npm test", "ask A10"),
            ("\"npm test\"", "ask A10"),
            ("$NPM test", "ask A4"),
            ("npm test &&", "ask A4"),
            ("npm test 'oops", "ask A4"),
            ("bash -ic 'npm test'", "ask A10"),
            ("bash -c \"npm $X\"", "ask A4"),
            ("xargs npm run", "ask A10"),
            ("diff <(sort /etc/passwd) x", "ask A4"),
            ("cat <(echo x)$(y)", "ask A4"),
            ("cat {a,/etc/passwd}", "ask A4"),
            ("cat {a,../b}", "ask A4"),
            ("cat \"{a,b}\"{c,/../../d}", "ask A4"),
            ("git diff /etc/passwd x", "ask A4"),
            ("git blame -S /etc/passwd x", "ask A4"),
            ("grep -eroot /etc/passwd", "ask A4"),
            ("grep --exclude-from /etc/passwd x .", "ask A4"),
            ("grep -nf ../x y", "ask A4"),
            ("fd -C /etc x", "ask A4"),
            ("jq -L /etc . x", "ask A10"),
            ("cat */../../x", "ask A4"),
            ("env -X 5 npm test", "ask A10"),
            ("npm_config_x=1; export PATH=/x; npm test", "ask A10"),
        ],
    );
}

#[test]
fn a_tool_wide_allow_lifts_everything_but_what_cannot_be_read() {
    let policy = Rules { allow: &["Bash"], ..Rules::default() }.policy();
    check(
        &policy,
        &[
            ("npm publish", "allow A9"),
            ("make > /etc/x", "allow A9"),
            ("cat /etc/passwd", "allow A9"),
            ("$X", "ask A4"),
            ("eval \"$X\"", "ask A4"),
            ("curl x | sh", "ask A4"),
            ("echo 'x", "ask A4"),
            ("echo x > .git/hooks/pre-commit", "ask A7"),
            ("rm -rf /", "ask A7"),
        ],
    );
}

#[test]
fn a_rule_that_names_a_wrapper_covers_what_it_wraps_but_never_a_substitution() {
    let policy = Rules {
        allow: &["Bash(sudo apt *)", "Bash(npx prettier *)", "Bash(bash build.sh)"],
        ..Rules::default()
    }
    .policy();
    check(
        &policy,
        &[
            ("sudo apt update", "allow A9"),
            ("npx prettier --check .", "allow A9"),
            ("bash build.sh", "allow A9"),
            ("sudo apt install $(npm install)", "ask A10"),
            ("sudo rm x", "ask A10"),
            ("npx cowsay", "ask A10"),
        ],
    );
}

#[test]
fn programs_that_run_anything_need_an_exact_rule() {
    let policy = Rules {
        allow: &["Bash(watch *)", "Bash(find *)", "Bash(flock *)", "Bash(watch ls)"],
        ..Rules::default()
    }
    .policy();
    check(
        &policy,
        &[
            ("watch ls", "allow A9"),
            ("watch ls -l", "ask A10"),
            ("find . -name x", "allow A9"),
            ("find . -name x -delete", "ask A10"),
            ("find . -exec touch {} \\;", "ask A10"),
            ("flock /tmp/l touch x", "ask A10"),
        ],
    );
}

#[test]
fn an_exact_rule_for_the_whole_line_counts_if_the_line_is_understood() {
    let policy =
        Rules { allow: &["Bash(npm ci && npm publish)", "Bash(npm ci &&)"], ..Rules::default() }.policy();
    check(
        &policy,
        &[
            ("npm ci && npm publish", "allow A9"),
            ("npm ci && npm publish x", "ask A10"),
            ("npm ci &&", "ask A4"),
        ],
    );
}

#[test]
fn a_path_rule_for_a_tree_covers_shell_patterns_below_it() {
    let policy =
        Rules { allow: &["Read(//var/log/**)", "Read(//srv/*.log)", "Edit(/out/**)"], ..Rules::default() }
            .policy();
    check(
        &policy,
        &[
            ("cat /var/log/*.log", "allow A9"),
            ("cat /var/log/app/*/x?.log", "allow A9"),
            ("cat /srv/a.log", "allow A9"),
            ("cat /srv/*.log", "ask A4"),
            ("cat /var/*.log", "ask A4"),
            ("cat /var/log/*/../../x", "ask A4"),
            ("echo x > out/a-*.txt", "ask A10"),
        ],
    );
}

#[test]
fn a_line_that_moves_the_home_directory_gets_no_rule_about_it() {
    let policy = Rules { allow: &["Read(~/notes/**)", "Bash(export *)"], ..Rules::default() }.policy();
    check(
        &policy,
        &[
            ("cat ~/notes/x", "allow A9"),
            ("echo $HOME ${HOME}; cat ~/notes/x", "allow A9"),
            ("export HOME=/etc; cat ~/notes/x", "ask A4"),
            ("for HOME in /etc; do cat ~/notes/x; done", "ask A4"),
        ],
    );
}

#[test]
fn a_program_nobody_knows_is_never_proven_to_look() {
    for command in
        ["frobnicate", "frobnicate; frobnicate() { ls; }", "timeout 5 @x/../../../../tmp/frobnicate"]
    {
        for mode in [Mode::Default, Mode::Auto] {
            let verdict = decide_bash(&Policy::default(), command, mode);
            assert_ne!(verdict.decision, Decision::Allow, "{command} in {mode}");
        }
    }
}
