//! Boundaries that the user stated in the session, and took back.

use portcullis_core::{Context, Decision, Mode, Person, Policy, ToolCall, ToolInput, state_boundaries};

use crate::support::{Rules, context, decide_call, short};

fn after(prompts: &[&str]) -> Vec<String> {
    let mut sentences = Vec::new();
    for prompt in prompts {
        state_boundaries(&mut sentences, prompt);
    }
    sentences
}

fn bounded(mode: Mode, prompts: &[&str]) -> Context {
    let mut context = context(mode);
    context.session.boundaries = after(prompts);
    context
}

/// Says whether a command crosses what was said, in default mode with everything allowed by a rule.
fn crosses(prompts: &[&str], command: &str) -> bool {
    let allowing = Rules { allow: &["Bash"], ..Rules::default() }.policy();
    let verdict = decide_call(&allowing, ToolCall::bash(command), bounded(Mode::Default, prompts));
    match verdict.reason.kind() {
        "boundary" => {
            assert_eq!(short(&verdict), "ask A6", "{prompts:?} {command}");
            true
        }
        _ => false,
    }
}

#[test]
fn what_the_user_forbids_is_recognised_in_many_words() {
    let table = [
        ("don't push", "git push"),
        ("Don\u{2019}t push yet, I want to look at it first.", "git push origin topic"),
        ("Please do not push anything.", "git -C . push --force"),
        ("fix the tests and don't push", "cd x && git push"),
        ("Fix it. You must not push!", "git push"),
        ("I don't want you to push", "git push"),
        ("Never deploy.", "fly deploy"),
        ("never deploy", "kubectl apply -f x.yaml"),
        ("never deploy to production", "kubectl --context prod apply -f x.yaml"),
        ("no commits please", "git commit -am wip"),
        ("Refactor this, no commits or pushes.", "git commit -m x"),
        ("ok but don't commit", "git -c a=b commit -m x"),
        ("don't commit or push", "git push"),
        ("do not commit, push or publish", "npm publish"),
        ("avoid pushing for now", "git push"),
        ("don't push until I say so", "git push"),
        ("don't push without asking me", "git push"),
        ("don't push to main", "git push origin main"),
        ("don't push to main", "git push origin HEAD:main"),
        ("don't push to main", "git push --all"),
        ("don't push to the release/1.0 branch", "git push origin release/1.0"),
        ("do not touch infra/", "echo x > infra/main.tf"),
        ("do not touch infra/", "sed -i s/a/b/ ./infra/main.tf"),
        ("do not touch infra/ or docs/", "rm docs/a.md"),
        ("don't edit infra/main.tf and ci/a.yml", "touch ci/a.yml"),
        ("don't modify `infra`", "rm -rf infra"),
        ("don't change anything in the infra folder", "mv infra old"),
        ("leave the tests alone", "echo x > src/foo_test.go"),
        ("leave the tests alone", "rm tests/a.rs"),
        ("leave config/app.toml as it is", "echo x >> config/app.toml"),
        ("fix the bug without touching infra/", "touch infra/x"),
        ("stay out of infra/", "touch infra/x"),
        ("don't delete any files", "rm a.txt"),
        ("don't delete src/a.rs", "rm -rf src"),
        ("don't install anything", "npm install left-pad"),
        ("no new dependencies", "cargo add serde"),
        ("do not run any migrations", "python manage.py migrate"),
        ("do not run migrations", "npx knex migrate:latest"),
        ("don't merge", "gh pr merge 5"),
        ("don't open a pull request", "gh pr create --fill"),
        ("don't rebase", "git rebase main"),
        ("don't amend", "git commit --amend --no-edit"),
        ("never deploy", "make deploy"),
        ("never deploy, and do not touch infra/", "touch infra/x"),
        ("never deploy, and do not touch infra/", "fly deploy"),
        ("don't break the API, don't push", "git push"),
        ("never deploy, no commits", "fly deploy"),
        ("never deploy, no commits", "git commit -m x"),
        ("don't push", "git send-pack origin main"),
        ("don't push", "docker push registry.example.com/app"),
        ("looks good, but don't push", "git push"),
        ("    - don't push", "git push"),
        ("<notes>\ndon't push\n</notes>", "git push"),
    ];
    let missed: Vec<_> = table.iter().filter(|(prompt, command)| !crosses(&[prompt], command)).collect();
    assert!(missed.is_empty(), "{missed:#?}");
}

#[test]
fn other_words_and_other_commands_are_left_alone() {
    for (prompt, command) in [
        ("don't push", "git commit -m push"),
        ("don't push", "git push --dry-run"),
        ("don't push", "git status"),
        ("don't push", "git log -- push"),
        ("don't push", "echo git push"),
        ("don't forget to push", "git push"),
        ("why don't we push?", "git push"),
        ("I don't push often", "git push"),
        ("users don't push to main", "git push origin main"),
        ("if the tests fail, don't push", "git push"),
        ("don't push if the tests fail", "git push"),
        ("don't push before the tests pass", "git push"),
        ("don't push to main", "git push origin topic"),
        ("don't just commit, also push", "git push"),
        ("no commits were found", "git commit -m x"),
        ("there are no commits", "git commit -m x"),
        ("don't commit secrets", "git commit -m x"),
        ("don't commit .env", "git commit -m x"),
        ("don't remove comments", "rm a.txt"),
        ("don't change the API", "touch src/a.rs"),
        ("don't change anything outside src/", "touch src/a.rs"),
        ("don't change anything else", "touch src/a.rs"),
        ("do not touch infra/", "cat infra/main.tf"),
        ("do not touch infra/", "ls infra"),
        ("do not touch infra/", "touch infrastructure/a"),
        ("do not touch infra/", "touch src/a"),
        ("don't push, commit instead", "git commit -m x"),
        ("don't worry about the push", "git push"),
        ("don't delete it", "rm a.txt"),
        ("no new dependencies", "npm ci"),
        ("never deploy to production", "kubectl --context staging apply -f x.yaml"),
        ("leave the tests alone", "cargo test"),
        ("don't run the tests", "cargo test"),
        ("> don't push", "git push"),
        ("```\ndon't push\n```", "git push"),
        ("don't push", "git stash push"),
        ("don't push", "docker images push"),
        ("don't delete anything you didn't create", "rm a.txt"),
        ("leave the tests alone if they pass", "rm tests/a.rs"),
        ("don't worry about pushing", "git push"),
        ("why don't you push this", "git push"),
        ("I don't want you to stop until tests pass", "cargo test"),
        ("don't hesitate to push", "git push"),
        ("don't push too hard on performance", "git push"),
        ("no need to ask, just push", "git push"),
        ("users cannot push, fix the permission bug", "git push"),
        ("add a check so that people never push to main", "git push origin main"),
        ("don't publish the event before commit", "npm publish"),
        ("no push notifications please", "git push"),
    ] {
        assert!(!crosses(&[prompt], command), "{prompt:?} stops `{command}`");
    }
}

#[test]
fn a_later_word_lifts_a_boundary() {
    for (forbidding, permitting, command) in [
        ("don't push", "ok, push now", "git push"),
        ("don't push", "you can push", "git push"),
        ("don't push", "Go ahead and push.", "git push"),
        ("don't push", "fix the tests and push", "git push"),
        ("don't push", "commit and push it", "git push"),
        ("don't push", "run git push", "git push"),
        ("don't push", "push to main", "git push origin main"),
        ("no commits", "please commit", "git commit -m x"),
        ("never deploy", "deploy to production now", "fly deploy"),
        ("do not touch infra/", "edit infra/main.tf", "touch infra/main.tf"),
        ("do not touch infra/", "now update infra/ for the new region", "touch infra/main.tf"),
        ("don't delete any files", "delete old.txt", "rm old.txt"),
        ("don't install anything", "ok install it", "npm install left-pad"),
        ("don't push", "lgtm, push it", "git push"),
        ("don't push", "looks good, push", "git push"),
        ("don't push", "go ahead and run `git push`", "git push"),
    ] {
        assert!(crosses(&[forbidding], command), "{forbidding} / {command}");
        assert!(!crosses(&[forbidding, permitting], command), "{permitting:?} does not lift {forbidding:?}");
        assert!(crosses(&[forbidding, permitting, forbidding], command), "{forbidding:?} said again");
    }
}

#[test]
fn what_is_no_word_of_the_user_lifts_nothing() {
    for words in [
        "the README says: you may push",
        "README:\n> you may push",
        "```\npush now\n```",
        "\"push now\" is written in the README",
        "did you push?",
        "can you push?",
        "why did you not push",
        "the last push broke the build",
        "I saw you push yesterday",
        "commit it",
        "push the button to the left in the layout",
        "if it works push",
        "once CI is green, push",
        "maybe push later",
        "deploy",
        "    ok, push now",
        "\tpush now",
        "`push now`",
        "Error output:\n    push now",
        "<task-notification>\npush now\n</task-notification>",
        "<pasted kind=\"log\">you may push\npush now",
        "<local-command-stdout>push now</local-command-stdout>",
        &format!("{}\nYou may push.", "A long document that was pasted. ".repeat(40)),
    ] {
        assert!(crosses(&["don't push", words], "git push"), "{words:?}");
    }
    assert!(crosses(&["do not touch infra/", "edit infra/main.tf"], "touch infra/other.tf"));
    assert!(crosses(&["do not touch infra/", "edit src/main.tf"], "touch infra/main.tf"));
    assert!(crosses(&["don't push", "push to topic"], "git push origin main"));
}

#[test]
fn auto_mode_denies_and_no_mode_allows() {
    let prompts = ["don't commit"];
    let call = || ToolCall::bash("git commit -m wip");
    for (mode, expected) in [
        (Mode::Default, "ask A6"),
        (Mode::AcceptEdits, "ask A6"),
        (Mode::BypassPermissions, "ask A6"),
        (Mode::DontAsk, "deny A11"),
        (Mode::Auto, "deny A11"),
    ] {
        let verdict = decide_call(&Policy::default(), call(), bounded(mode, &prompts));
        assert_eq!(short(&verdict), expected, "{mode:?}");
    }
    let free = decide_call(&Policy::default(), call(), context(Mode::Auto));
    assert_eq!(short(&free), "allow A11", "a proof allows it where nobody forbade it");
    let verdict = decide_call(&Policy::default(), call(), bounded(Mode::Auto, &prompts));
    assert_eq!(verdict.reason.kind(), "boundary");
    assert!(
        verdict.reason.message().ends_with("and the user said: `don't commit`"),
        "{}",
        verdict.reason.message()
    );
    assert!(verdict.is_retryable());
    let headless = Context { person: Person::Absent, ..bounded(Mode::Default, &prompts) };
    assert_eq!(short(&decide_call(&Policy::default(), call(), headless)), "deny A11");
}

#[test]
fn file_tools_are_held_to_a_boundary_too() {
    let edit = |path: &str| ToolCall::new("Write", ToolInput::of_text("file_path", path));
    let decide = |path: &str| {
        decide_call(&Policy::default(), edit(path), bounded(Mode::Auto, &["Do not touch infra/, please."]))
    };
    assert_eq!(short(&decide("/code/app/infra/main.tf")), "deny A11");
    assert_eq!(decide("/code/app/infra/main.tf").reason.kind(), "boundary");
    assert_eq!(short(&decide("/code/app/src/main.rs")), "allow A11");
}

#[test]
fn a_servers_tool_that_pushes_is_held_to_it_and_one_that_notifies_is_not() {
    let allowing = Rules { allow: &["mcp__forge", "mcp__phone"], ..Rules::default() }.policy();
    for (tool, expected) in [
        ("mcp__forge__git_push", "ask A6"),
        ("mcp__forge__push_files", "ask A6"),
        ("mcp__phone__push_notification", "allow A9"),
        ("mcp__forge__list_commits", "allow A9"),
    ] {
        let call = ToolCall::new(tool, ToolInput::default());
        let verdict = decide_call(&allowing, call, bounded(Mode::Default, &["don't push"]));
        assert_eq!(short(&verdict), expected, "{tool}");
    }
}

#[test]
fn a_deny_rule_is_still_the_reason_where_there_is_one() {
    let denying = Rules { deny: &["Bash(git push:*)"], ..Rules::default() }.policy();
    let verdict = decide_call(&denying, ToolCall::bash("git push"), bounded(Mode::Auto, &["don't push"]));
    assert_eq!(short(&verdict), "deny A2");
}

#[test]
fn what_is_not_understood_is_kept_for_a_reader_and_the_rest_is_not() {
    assert_eq!(
        after(&["Build it. Don't break the API. Never mind the docs. No problem! Don't push, ok?", "Thanks"]),
        ["Don't break the API"]
    );
    assert_eq!(after(&["don't push", "ok, push"]), ["don't push", "ok, push"]);
    assert_eq!(after(&["ok, push"]), Vec::<String>::new(), "nothing was forbidden");
    let many: Vec<String> = (0..80).map(|number| format!("don't touch src/{number}.rs")).collect();
    let kept = after(&many.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(
        (kept.len(), kept[0].as_str(), kept[49].as_str()),
        (50, "don't touch src/30.rs", "don't touch src/79.rs")
    );
    let flood = many.join("\n");
    assert_eq!(after(&["don't push", &flood])[0], "don't push", "a document does not push it out");
    assert!(after(&[&format!("don't {}", "x".repeat(5_000))])[0].len() <= 400);
}

#[test]
fn what_may_be_forbidden_goes_to_the_judge_or_a_person_despite_a_proof() {
    let table = [
        ("don't frobnicate the Makefile or anything like cargo build", "cargo build"),
        ("never ever let migrations happen here", "python manage.py migrations"),
    ];
    for (prompt, command) in table {
        let verdict =
            decide_call(&Policy::default(), ToolCall::bash(command), bounded(Mode::Auto, &[prompt]));
        assert_eq!(verdict.decision, Decision::Ask, "{prompt} {command}: {:?}", verdict.reason);
        assert_eq!(verdict.reason.kind(), "prose", "{prompt} {command}: {:?}", verdict.reason);
    }
    for command in ["cargo test", "git commit -m x", "git status"] {
        let bounded = bounded(Mode::Auto, &["don't add semicolons", "never nest ternaries"]);
        let verdict = decide_call(&Policy::default(), ToolCall::bash(command), bounded);
        assert_eq!(verdict.decision, Decision::Allow, "{command}: {:?}", verdict.reason);
    }
}

#[test]
fn commands_and_roundabout_words_are_understood_too() {
    for (prompt, command) in [
        ("hold off on pushing until I am back", "git push"),
        ("please hold off pushing", "git push origin topic"),
        ("you must not run git push", "git push"),
        ("don't run `git commit`", "git commit -m x"),
        ("you are not allowed to push", "git push"),
        ("never use npm publish", "npm publish"),
    ] {
        assert!(crosses(&[prompt], command), "{prompt} {command}");
    }
}
