//! Protected paths, critical removals, links and scope (spec A7, C5, B).

use crate::support::{Rules, context, decide_bash, decide_on_disk, short};
use portcullis_core::{Case, Decision, DiskAnswer, DiskQuestion, Mode, Policy, ToolCall, ToolInput};

#[test]
fn critical_removals_ask_even_under_bypass_and_ordinary_ones_do_not() {
    let policy = Rules { allow: &["Bash"], ..Rules::default() }.policy();
    let critical = [
        "rm -rf /",
        "rm -rf /*",
        "rm -rf / --no-preserve-root",
        "rm -rf /usr",
        "rm -rf /usr/",
        "rm -rf /etc/../usr",
        "rm -rf ~",
        "rm -rf ~/",
        "rm -rf ~/*",
        "rm -rf $HOME",
        "rm -rf \"$HOME\"/",
        "rm -rf ${HOME}",
        "rm -rf .",
        "rm -rf ./",
        "rm -rf ..",
        "rm -rf ../..",
        "rm -rf /code/app",
        "rm -rf /code",
        "rm -rf *",
        "rm -rf ./*",
        "rmdir /code",
        "rm -rf \"$DIR\"/*",
        "rm -rf $DIR/",
        "rm -rf $DIR/usr",
        "rm -rf $(cmd)",
        "rm -rf ~/$(cmd)",
        "rm -rf /$X",
        "d=/; rm -rf $d",
        "sudo rm -rf /",
        "bash -c 'rm -rf ~'",
        "(cd x; rm -rf /)",
        "echo $(rm -rf /)",
        "cd /code && rm -rf app",
        "cd .. && rm -rf app",
        "find / -delete",
        "find ~ -delete",
        "rm -rf ~root",
        "rm -r -f -- /",
        "\\rm -rf /",
        "rm -rf \"/\"",
        "xargs rm -rf /",
        "timeout 5 rm -rf ~",
        "rm -rf $PWD",
        "rm -rf /home/me",
        "rm -rf /u*",
        "rm -rf /us?",
        "rm -rf /[u]sr",
        "rm -rf {/usr,x}",
        "rm -rf /{usr,x}",
        "rm -rf /code/{app,x}",
        "rm -rf /code/a*",
        "rm -rf /c*/app",
        "rm -rf ../a*",
        "rm -rf /home/m*",
        "rm -rf */..",
        "rm -rf s*/../..",
        "find -delete",
        "find -L -delete",
        "find / -name '*' -delete",
        "command cd / && rm -rf *",
        "builtin cd /; rm -rf ./*",
        "eval 'cd /'; rm -rf *",
        "f() { cd /; }; f; rm -rf *",
        "cd() { builtin cd /; }; cd src; rm -rf *",
        "CDPATH=/; cd usr; rm -rf *",
        "pushd -n /tmp/x/y && rm -rf *",
        "true | cd / && rm -rf *",
        "env -- A=1 rm -rf /",
        "flock --timeout 5 l rm -rf /",
        "git bisect run rm -rf /",
        "bash -c \"rm -rf $X/\"",
        "rm -rf ${HOME:?}",
        "rm -rf \"${HOME:-/tmp/x}\"",
        "export d=/; rm -rf $d",
        "X=/; rm -rf $X; X=build",
        "rm -rf /$(true :?)",
        "rm -rf ${X:-/}",
        "rm -rf ${X-/}",
        "rm -rf \"${X:-$HOME}\"",
        "rm -rf ${X:=/usr}",
        "rm -rf ${HOME%/}",
        "for d in build /; do rm -rf $d; done",
        "for d in ~ x; do rm -rf \"$d\"; done",
    ];
    for command in critical {
        for mode in [Mode::BypassPermissions, Mode::Default, Mode::AcceptEdits] {
            let verdict = decide_bash(&policy, command, mode);
            assert_eq!(short(&verdict), "ask A7", "{command} in {mode}: {}", verdict.reason.message());
        }
        let verdict = decide_bash(&policy, command, Mode::Auto);
        assert_ne!(verdict.decision, Decision::Allow, "{command} in auto: {}", verdict.reason.message());
    }
    let ordinary = [
        "rm -rf build",
        "rm -rf ./node_modules",
        "rm x.txt",
        "rm -rf /code/app/target",
        "rm -rf build/*",
        "rm *.o",
        "rm -rf \"${DIR:?}\"/*",
        "find . -name '*.o' -delete",
        "rm -rf \"$DIR\"",
        "rm -f $FILE",
        "echo rm -rf /",
        "rm -rf /tmp/x/y",
        "rm -rf /tmp/x/y*",
        "rm -rf build/{a,b}",
        "rm -rf src/*.o",
        "rm -f *.log",
        "for d in build dist; do rm -rf $d; done",
    ];
    for command in ordinary {
        let verdict = decide_bash(&policy, command, Mode::BypassPermissions);
        assert_eq!(verdict.decision, Decision::Allow, "{command}: {}", verdict.reason.message());
    }
}

#[test]
fn protected_paths_ask_however_they_are_reached() {
    let policy = Rules { allow: &["Bash", "Edit(//**)"], ..Rules::default() }.policy();
    let commands = [
        "echo x > .git/config",
        "echo x >> .git/hooks/pre-commit",
        "tee .git/config",
        "cp x .git/config",
        "mv x .vscode/settings.json",
        "touch .claude/commands/x.md",
        "mkdir -p .husky",
        "rm -rf .git",
        "sed -i s/a/b/ .npmrc",
        "cd .git && touch x",
        "cat x | tee ~/.zshrc",
        "cp -t .git/hooks x",
        "ln -s x .git/hooks/y",
        "echo x &> .mcp.json",
        "echo x >| .envrc",
        "chmod +x .git/hooks/x",
        "touch src/../.git/x",
        "bash -c 'echo x > .git/config'",
        "echo x > .GIT/config",
        "cp -rt .git/hooks x",
        "cp --target=.git/hooks x",
        "dd if=x of=.git/config",
        "curl -o .bashrc http://x",
        "curl -fsSLo .bashrc http://x",
        "wget -O .git/hooks/pre-commit http://x",
        "tar -xf x -C .git/hooks",
        "install -D x .git/hooks/pre-commit",
        "f() { echo x > .git/config; }; f",
        "cd \"$X\" && echo x > .git/config",
        "echo x > \"$D/.git/config\"",
        "echo x > .g*/config",
        "touch .[g]it/x",
        "cp x \"$D\"/.git/hooks/pre-commit",
        "tee ~other/.bashrc",
    ];
    for command in commands {
        let verdict = decide_bash(&policy, command, Mode::BypassPermissions);
        assert_eq!(short(&verdict), "ask A7", "{command}: {}", verdict.reason.message());
    }
    for command in ["cat .git/config", "ls .claude", "touch .gitignore", "cp .git/config x", "grep x .npmrc"]
    {
        let verdict = decide_bash(&policy, command, Mode::BypassPermissions);
        assert_eq!(verdict.decision, Decision::Allow, "{command}: {}", verdict.reason.message());
    }
}

/// Decides with `/code/app/link` leading to `target`.
fn with_link(policy: &Policy, call: ToolCall, mode: Mode, target: &DiskAnswer) -> String {
    let disk = |question: &DiskQuestion| {
        let is_link = match question {
            DiskQuestion::RealPath(path) => path.starts_with("/code/app/link"),
            DiskQuestion::Pattern(pattern) => pattern.starts_with("/code/app/l"),
            DiskQuestion::Text(_)
            | DiskQuestion::GitSettings(_)
            | DiskQuestion::CargoSettings(_)
            | DiskQuestion::Unheld(_)
            | DiskQuestion::AgentProcess(_) => false,
        };
        is_link.then(|| target.clone())
    };
    short(&decide_on_disk(policy, call, context(mode), disk))
}

#[test]
fn c5_a_link_that_leaves_the_workspace_is_outside_and_a_deny_fires_on_any_spelling() {
    let leads = |path: &str| DiskAnswer::Leads(vec![path.to_owned()]);
    let read = || ToolCall::new("Read", ToolInput::of_text("file_path", "/code/app/link"));
    let write = || ToolCall::new("Write", ToolInput::of_text("file_path", "/code/app/link"));
    let none = Policy::default();
    assert_eq!(with_link(&none, read(), Mode::Default, &leads("/code/app/real")), "allow A9");
    assert_eq!(with_link(&none, read(), Mode::Default, &leads("/etc/shadow")), "ask A4");
    assert_eq!(with_link(&none, read(), Mode::Default, &DiskAnswer::Broken), "ask A4");
    assert_eq!(with_link(&none, write(), Mode::AcceptEdits, &leads("/code/app/real")), "allow A9");
    assert_eq!(with_link(&none, write(), Mode::AcceptEdits, &leads("/etc/cron.d/x")), "ask A7");
    assert_eq!(with_link(&none, write(), Mode::BypassPermissions, &leads("/code/app/.git/config")), "ask A7");
    assert_eq!(with_link(&none, ToolCall::bash("cat link"), Mode::Default, &leads("/etc/shadow")), "ask A4");
    let allow = Rules { allow: &["Edit(/**)"], ..Rules::default() }.policy();
    assert_eq!(with_link(&allow, write(), Mode::Default, &leads("/tmp/x")), "ask A7");
    let deny = Rules { allow: &["Read", "Bash"], deny: &["Read(//etc/**)"], ..Rules::default() }.policy();
    assert_eq!(with_link(&deny, read(), Mode::BypassPermissions, &leads("/etc/shadow")), "deny A2");
    assert_eq!(with_link(&deny, ToolCall::bash("cat link"), Mode::Default, &leads("/etc/shadow")), "deny A2");
}

#[test]
fn c5_two_dots_after_a_link_lead_to_where_the_link_leads() {
    let elsewhere = DiskAnswer::Leads(vec!["/etc/shadow".to_owned()]);
    let policy = Policy::default();
    for command in ["cat link/../shadow", "cd link && cat ../shadow", "cat link/x/../../shadow"] {
        let verdict = with_link(&policy, ToolCall::bash(command), Mode::Default, &elsewhere);
        assert_eq!(verdict, "ask A4", "{command}");
    }
    let read = || ToolCall::new("Read", ToolInput::of_text("file_path", "/code/app/link/../shadow"));
    assert_eq!(with_link(&policy, read(), Mode::Default, &elsewhere), "ask A4");
    let deny = Rules { allow: &["Read", "Bash"], deny: &["Read(//etc/**)"], ..Rules::default() }.policy();
    assert_eq!(with_link(&deny, read(), Mode::BypassPermissions, &elsewhere), "deny A2");
    let cat = ToolCall::bash("cat link/../shadow");
    assert_eq!(with_link(&deny, cat, Mode::BypassPermissions, &elsewhere), "deny A2");
}

#[test]
fn c5_a_program_that_works_where_it_runs_may_not_be_led_out_through_a_link() {
    let policy = Rules { allow: &["Bash(cd *)"], ..Rules::default() }.policy();
    let outside = DiskAnswer::Leads(vec!["/etc".to_owned()]);
    let inside = DiskAnswer::Leads(vec!["/code/app/real".to_owned()]);
    for command in ["cd link && ls", "cd link && git status", "cd link/sub; grep -r x", "cd link && find ."] {
        assert_eq!(
            with_link(&policy, ToolCall::bash(command), Mode::Default, &outside),
            "ask A4",
            "{command}"
        );
        assert_eq!(
            with_link(&policy, ToolCall::bash(command), Mode::Default, &inside),
            "allow A9",
            "{command}"
        );
    }
}

#[test]
fn c5_links_behind_a_shell_pattern_count_like_any_other() {
    let leads = |path: &str| DiskAnswer::Leads(vec![path.to_owned()]);
    let none = Policy::default();
    let decided = |command: &str, mode: Mode, target: &DiskAnswer| {
        with_link(&none, ToolCall::bash(command), mode, target)
    };
    assert_eq!(decided("cat l*", Mode::Default, &leads("/code/app/real")), "allow A9");
    assert_eq!(decided("cat l*", Mode::Default, &leads("/etc/passwd")), "ask A4");
    assert_eq!(decided("cat l*", Mode::Default, &DiskAnswer::Broken), "ask A4");
    assert_eq!(decided("cat m*", Mode::Default, &leads("/etc/passwd")), "allow A9");
    assert_eq!(decided("touch ./l*", Mode::AcceptEdits, &leads("/etc/cron.d/x")), "ask A7");
    assert_eq!(decided("cp x l*", Mode::BypassPermissions, &leads("/code/app/.git/config")), "ask A7");
    let deny = Rules { allow: &["Bash"], deny: &["Read(//etc/**)"], ..Rules::default() }.policy();
    assert_eq!(with_link(&deny, ToolCall::bash("cat l*"), Mode::Default, &leads("/etc/shadow")), "deny A2");
    let tree = Rules { allow: &["Read(/**)"], ..Rules::default() }.policy();
    assert_eq!(with_link(&tree, ToolCall::bash("cat l*"), Mode::Default, &leads("/tmp/x")), "ask A4");
}

#[test]
fn an_unanswered_question_counts_as_the_unsafe_answer() {
    let policy = Policy::default();
    let case = Case::new(ToolCall::bash("cat src/x.rs"), context(Mode::Default));
    assert!(!case.questions(&policy).is_empty());
    let verdict = case.decide(&policy).expect("not aborted").into_verdict();
    assert_eq!(short(&verdict), "ask A4");
}

#[test]
fn a_sibling_whose_name_begins_like_the_workspace_is_outside() {
    let call = ToolCall::new("Read", ToolInput::of_text("file_path", "/code/app-evil/x"));
    assert_eq!(
        short(&crate::support::decide_call(&Policy::default(), call, context(Mode::Default))),
        "ask A4"
    );
}

#[test]
fn accept_edits_runs_its_seven_commands_only_inside_the_workspace() {
    let inside = [
        "mkdir a",
        "touch a b",
        "rm a",
        "rmdir a",
        "mv a b",
        "cp a b",
        "sed -i 's/x/y/' a",
        "LANG=C touch a",
        "timeout 5 rm a",
        "touch src/*.rs",
        "echo x > a",
        "cat a > b",
        "rm -rf build",
    ];
    for command in inside {
        let verdict = decide_bash(&Policy::default(), command, Mode::AcceptEdits);
        assert_eq!(short(&verdict), "allow A9", "{command}: {}", verdict.reason.message());
    }
    let outside = [
        "touch /tmp/x",
        "mv a /tmp",
        "cp /etc/passwd a",
        "rm ../x",
        "touch \"$X\"",
        "mkdir $(x)",
        "PATH=. touch a",
        "dd of=a",
        "ln -s a b",
        "tee a",
        "sed -i 's/x/y/w /tmp/z' a",
        "sed -n '1e id' a",
        "touch a; npm test",
        "cp -t /tmp a",
        "echo x > /tmp/a",
        "cd /tmp && touch a",
        "sudo touch a",
        "touch ~/a",
        "./touch a",
        "echo x > $OUT",
        "cp {a,/etc/b} c",
        "cp --target=/etc a",
        "cp --t=/etc a",
        "cp -at/etc a b",
        "cp -bS/../../x a b",
        "mv --suffix=/../../x -b a b",
        "cp s*/../../x y",
        "cp x */../../y",
        "touch s*/../../x",
        "rm /dev/null",
        "mv a /dev/null",
        "cd src; command cd /tmp; touch a",
        "true | cd /tmp; touch a",
    ];
    for command in outside {
        let verdict = decide_bash(&Policy::default(), command, Mode::AcceptEdits);
        assert_eq!(verdict.decision, Decision::Ask, "{command}: {}", verdict.reason.message());
    }
}

#[test]
fn reads_outside_ask_by_default_are_judged_in_auto_and_can_be_blocked() {
    let mut policy = Policy::default();
    assert_eq!(short(&decide_bash(&policy, "cat /etc/hosts", Mode::Default)), "ask A4");
    assert_eq!(short(&decide_bash(&policy, "cat /etc/hosts", Mode::Auto)), "allow A11");
    assert_eq!(short(&decide_bash(&policy, "cat /etc/fstab", Mode::Auto)), "ask A11");
    policy.block_reads_outside = true;
    assert_eq!(short(&decide_bash(&policy, "cat /etc/hosts", Mode::Auto)), "ask A4");
    assert_eq!(short(&decide_bash(&policy, "cat /etc/hosts", Mode::BypassPermissions)), "ask A4");
    let read = ToolCall::new("Read", ToolInput::of_text("file_path", "/etc/hosts"));
    assert_eq!(
        short(&crate::support::decide_call(&policy, read, context(Mode::BypassPermissions))),
        "deny A4"
    );
}
