//! Suggested rules: few, general, and never a secret, a here-document or a prefix that allows anything.

use portcullis_core::rule::{Behavior, Rule};
use portcullis_core::{
    Context, Decision, Mode, Origin, Person, Policy, Source, ToolCall, ToolInput, Verdict,
};

use crate::support::{context, decide_bash, decide_call};

fn allowed(verdict: &Verdict) -> Vec<&str> {
    let allow = verdict.suggestions.iter().filter(|suggestion| suggestion.behavior == Behavior::Allow);
    allow.map(|suggestion| suggestion.rule.as_str()).collect()
}

#[test]
fn a_suggestion_names_the_program_and_its_subcommand() {
    let cases: &[(&str, &[&str])] = &[
        ("git push --force origin main", &["Bash(git push *)"]),
        ("npm run build:prod --silent", &["Bash(npm run build:prod *)"]),
        ("cargo test --all && git push", &["Bash(cargo test *)", "Bash(git push *)"]),
        ("gh pr create --title x", &["Bash(gh pr create *)"]),
        ("touch a", &["Bash(touch *)"]),
        ("./build.sh --fast", &["Bash(./build.sh *)"]),
        ("echo x > out.txt", &["Edit(//code/app/out.txt)"]),
        ("cat /var/log/app/x.log", &["Read(//var/log/app/**)"]),
        ("cat /etc/passwd", &["Read(//etc/passwd)"]),
        // Nobody who reads one file there means all that a home holds.
        ("cat ~/notes.txt", &["Read(//home/me/notes.txt)"]),
        ("cat ~/.config/app/settings.txt", &["Read(//home/me/.config/app/settings.txt)"]),
        ("cat ~/code/other/a.txt", &["Read(//home/me/code/other/**)"]),
    ];
    for (command, expected) in cases {
        let verdict = decide_bash(&Policy::default(), command, Mode::Default);
        assert_eq!(allowed(&verdict), *expected, "{command}");
    }
}

#[test]
fn a_suggestion_of_an_allow_rule_would_allow_the_call() {
    for command in [
        "git push origin",
        "npm run x",
        "touch a",
        "echo x > out.txt",
        "cat /var/log/app/x.log",
        "make all && cargo test",
    ] {
        let verdict = decide_bash(&Policy::default(), command, Mode::Default);
        let rules = allowed(&verdict);
        let compile =
            |text: &&str| Rule::compile(text, Behavior::Allow, Origin::bare(Source::User)).expect(text);
        let policy = Policy::of_rules(rules.iter().map(compile).collect());
        assert_eq!(
            decide_bash(&policy, command, Mode::Default).decision,
            Decision::Allow,
            "{command}: {rules:?}"
        );
    }
}

#[test]
fn dangerous_prefixes_secrets_and_bodies_are_never_suggested() {
    let commands = [
        "python -c 'import os'",
        "node x.js",
        "bash build.sh",
        "sudo apt install x",
        "ssh host ls",
        "npx cowsay",
        "psql -c 'select 1'",
        "vim x",
        "eval \"$x\"",
        "env X=1 y",
        "xargs rm",
        "ghp_0123456789abcdef0123456789abcdef0123",
        "git sk-0123456789",
        "rm -rf ~",
        "echo x > .git/config",
        "$X",
        "deploy-0123456789abcdef0123456789abcdef",
    ];
    for command in commands {
        let verdict = decide_bash(&Policy::default(), command, Mode::Default);
        assert_eq!(allowed(&verdict), Vec::<&str>::new(), "{command}");
    }
    let body = "mail -s hi bob <<EOF\nthe password is hunter2\nEOF";
    let verdict = decide_bash(&Policy::default(), body, Mode::Default);
    assert!(verdict.suggestions.iter().all(|suggestion| !suggestion.rule.contains("hunter2")));
    let token = "curl -H 'Authorization: Bearer abc' https://x";
    let verdict = decide_bash(&Policy::default(), token, Mode::Default);
    assert!(verdict.suggestions.iter().all(|suggestion| !suggestion.rule.contains("Bearer")));
}

#[test]
fn what_cannot_be_undone_is_allowed_word_for_word_or_not_at_all() {
    let cases: &[(&str, Option<&str>, &str)] = &[
        ("rm -rf node_modules", Some("Bash(rm -rf node_modules)"), "Bash(rm *)"),
        ("rm a.log", Some("Bash(rm a.log)"), "Bash(rm *)"),
        ("rm -rf dist/*", None, "Bash(rm *)"),
        ("git clean -fdx .", None, "Bash(git clean *)"),
        ("rm -rf 'a b'", None, "Bash(rm *)"),
        ("rm -rf \"$X\"", None, "Bash(rm *)"),
        ("git clean -fdx", Some("Bash(git clean -fdx)"), "Bash(git clean *)"),
        ("git branch -D topic", Some("Bash(git branch -D topic)"), "Bash(git branch *)"),
        ("git reset --hard HEAD~1", None, "Bash(git reset *)"),
        ("docker system prune", Some("Bash(docker system prune)"), "Bash(docker system *)"),
        ("docker volume rm data", Some("Bash(docker volume rm data)"), "Bash(docker volume *)"),
        ("kill -9 4711", Some("Bash(kill -9 4711)"), "Bash(kill *)"),
        ("pkill node", Some("Bash(pkill node)"), "Bash(pkill *)"),
        ("chmod -R 755 dist", Some("Bash(chmod -R 755 dist)"), "Bash(chmod *)"),
        ("dd if=a.img of=b.img", None, "Bash(dd *)"),
        ("mkfs.ext4 disk.img", Some("Bash(mkfs.ext4 disk.img)"), "Bash(mkfs.ext4 *)"),
        ("truncate --size=0 a.log", Some("Bash(truncate --size=0 a.log)"), "Bash(truncate *)"),
        ("find . -name x -delete", None, "Bash(find *)"),
        ("kubectl delete pod web", Some("Bash(kubectl delete pod web)"), "Bash(kubectl delete *)"),
        ("terraform destroy", Some("Bash(terraform destroy)"), "Bash(terraform destroy *)"),
    ];
    for (command, allow, deny) in cases {
        let verdict = decide_bash(&Policy::default(), command, Mode::Default);
        let denied = verdict.suggestions.iter().find(|suggestion| suggestion.behavior == Behavior::Deny);
        assert_eq!(allowed(&verdict), allow.as_slice(), "{command}");
        assert_eq!(denied.map(|suggestion| suggestion.rule.as_str()), Some(*deny), "{command}");
        let Some(rule) = allow else { continue };
        let rule = Rule::compile(rule, Behavior::Allow, Origin::bare(Source::User)).expect(rule);
        let decision = |command: &str| {
            decide_bash(&Policy::of_rules(vec![rule.clone()]), command, Mode::Default).decision
        };
        assert_eq!(decision(command), Decision::Allow, "{command}");
        assert_eq!(decision(&format!("{command} other")), Decision::Ask, "{command}");
    }
    for command in ["sudo rm -rf build", "sudo systemctl stop db", "find . | xargs rm"] {
        let verdict = decide_bash(&Policy::default(), command, Mode::Default);
        assert_eq!(allowed(&verdict), Vec::<&str>::new(), "{command}");
    }
    for tool in ["mcp__github__delete_repository", "mcp__db__drop_table"] {
        let call = ToolCall::new(tool, ToolInput::default());
        let verdict = decide_call(&Policy::default(), call, context(Mode::Default));
        let told: Vec<_> = verdict.suggestions.iter().map(|one| (one.behavior, one.rule.as_str())).collect();
        assert_eq!(told, [(Behavior::Deny, tool)]);
    }
}

#[test]
fn there_are_at_most_five() {
    let many = ["a", "b", "c", "d", "e", "f", "g"].join(" && ");
    assert_eq!(decide_bash(&Policy::default(), &many, Mode::Default).suggestions.len(), 5);
}

#[test]
fn other_tools_get_their_own_rule_and_headless_denials_too() {
    let fetch = ToolCall::new("WebFetch", ToolInput::of_text("url", "https://docs.rs/x"));
    let verdict = decide_call(&Policy::default(), fetch, context(Mode::Default));
    assert_eq!(allowed(&verdict), ["WebFetch(domain:docs.rs)"]);
    let mcp = ToolCall::new("mcp__s__t", ToolInput::default());
    let absent = Context { person: Person::Absent, ..context(Mode::Default) };
    assert_eq!(allowed(&decide_call(&Policy::default(), mcp, absent)), ["mcp__s__t"]);
}

#[test]
fn in_auto_mode_only_what_is_not_known_to_be_harmless_needs_a_rule() {
    let verdict = decide_bash(&Policy::default(), "npm test && acme-lint --fix", Mode::Auto);
    assert_eq!(
        verdict.reason.message(),
        "it runs `acme-lint`, and what that does is not known; no rule covers `acme-lint --fix`"
    );
    assert_eq!(allowed(&verdict), ["Bash(acme-lint *)"]);
    let underlined: Vec<_> = verdict.highlights.iter().map(|span| span.range()).collect();
    assert!(matches!(underlined.as_slice(), [only] if *only == (12..27)), "{underlined:?}");
}
