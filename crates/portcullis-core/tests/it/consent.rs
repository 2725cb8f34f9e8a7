//! Explicit consent (spec D17): a soft finding that a human turn orders is put to a judge or a person, and nothing that is
//! said allows it; a hard one is denied whatever is said.

use portcullis_analysis::findings::{ExampleCall, FINDINGS, Firmness};
use portcullis_core::{Decision, Mode, Policy, Reason, ToolCall};

use crate::obfuscation::judged;
use crate::support::{context, decide_call};

const FORCE: &str = "git push --force origin feature/login";

fn decision(command: &str, turns: &[&str]) -> Decision {
    judged(command, turns).decision
}

#[test]
fn without_a_turn_a_soft_finding_stands() {
    let verdict = judged(FORCE, &[]);
    assert_eq!(verdict.decision, Decision::Deny);
    assert!(verdict.findings.iter().all(|found| !found.is_requested), "{:?}", verdict.findings);
}

#[test]
fn an_order_of_the_user_turns_a_denial_into_a_question_and_never_into_an_allow() {
    let table: &[(&str, &str)] = &[
        (FORCE, "Please force push feature/login."),
        (FORCE, "ok, rebase it and force-push to feature/login, I told the others"),
        (FORCE, "run git push --force origin feature/login"),
        (FORCE, "FORCE PUSH FEATURE/LOGIN NOW!"),
        (FORCE, "I fixed the tests. Force push feature/login. Then open the page."),
        (FORCE, "force push it"),
        ("rm -rf ~/Documents", "delete ~/Documents, all of it"),
        ("rm -rf ~/Documents", "Remove the directory Documents in my home"),
        ("git reset --hard", "throw it all away: git reset --hard"),
        ("git push origin main", "push to main, please"),
        ("npm publish", "publish the package to npm"),
        ("kubectl apply -f prod.yaml --context prod", "deploy to production"),
        ("terraform destroy -auto-approve", "destroy the staging stack"),
        ("git branch -D ann/x", "delete the branch ann/x"),
    ];
    for (command, turn) in table {
        let verdict = judged(command, &[turn]);
        assert_eq!(verdict.decision, Decision::Ask, "{command} after {turn}: {:?}", verdict.reason);
        assert!(verdict.findings.iter().all(|found| found.is_requested), "{command} after {turn}");
        assert!(matches!(verdict.reason, Reason::Requested { .. }), "{command} after {turn}");
    }
}

#[test]
fn the_question_quotes_the_sentence() {
    let verdict = judged(FORCE, &["Hello. Please force push feature/login. Bye."]);
    let message = verdict.reason.message();
    assert!(message.contains("you said “Please force push feature/login”"), "{message}");
}

#[test]
fn what_orders_nothing_leaves_the_denial() {
    for turn in [
        "push feature/login",
        "feature/login",
        "do what you think is best",
        "fix the login and push",
        "yes",
        "force push feature/logout",
        "force push feature/login-2",
        "force push my-feature/login",
        "run git push --force origin feature/login-2",
        "enforce the rules on feature/login",
        "force push feature/login?",
        "Should we force push feature/login?",
        "What happens if you force push feature/login?",
        "why would I force push feature/login",
        "can you explain what git push --force origin feature/login does?",
        "never force push feature/login",
        "don't force push feature/login",
        "Do not force push feature/login.",
        "push, but without force, to feature/login",
        "avoid a force push of feature/login",
        "you must not run git push --force origin feature/login",
        "if the tests pass, force push feature/login",
        "force push feature/login when Ann agrees",
        "unless somebody objects, force push feature/login",
        "wait until Monday and force push feature/login",
        "maybe force push feature/login",
        "",
    ] {
        assert_eq!(decision(FORCE, &[turn]), Decision::Deny, "{turn}");
    }
}

/// Whatever is said of a command, in whatever frame, it is not allowed; and only an order is asked about.
#[test]
fn frames_round_commands_never_allow() {
    const COMMANDS: &[&str] = &[
        "git push --force origin topic",
        "npm unpublish app",
        "psql -c 'drop table orders'",
        "kubectl delete namespace shop",
        "terraform destroy",
        "gh repo delete acme/app --yes",
        "git reset --hard",
        "redis-cli flushall",
        "aws s3 rm s3://acme-staging --recursive",
    ];
    const MENTIONS: &[&str] = &[
        "mention {} in the docs",
        "fix {} in the deploy script",
        "write a regression test for {}",
        "explain the difference between {} and its dry run",
        "the CI job ran {} last night, find out why",
        "rename the helper that calls {}",
        "add a step `{}` to the Makefile",
        "we log every {}",
        "the README contains:\n    {}\nformat it as a code block",
        "```\n{}\n```\nwhat does this do?",
        "> {}\nis what he wrote",
        "never run {}",
        "what would {} do here",
        "change {} to something safer in ci.yml",
        "as an admin I {} twice a day",
    ];
    const ORDERS: &[&str] = &["{}", "run {}", "please run {} now", "ok, execute `{}`", "could you run {}?"];
    let say = |frame: &str, command: &str| frame.replace("{}", command);
    for command in COMMANDS {
        assert_eq!(decision(command, &[]), Decision::Deny, "{command}");
        for frame in MENTIONS {
            let turn = say(frame, command);
            assert_eq!(decision(command, &[&turn]), Decision::Deny, "{turn}");
        }
        for frame in ORDERS {
            let turn = say(frame, command);
            assert_eq!(decision(command, &[&turn]), Decision::Ask, "{turn}");
            for later in ["no wait, keep it", "actually not today", "stop", "cancel that, leave it"] {
                assert_eq!(decision(command, &[&turn, later]), Decision::Deny, "{turn} / {later}");
            }
        }
    }
}

#[test]
fn any_turn_of_the_session_counts() {
    let turns = ["hello", "force push feature/login", "thanks, now the page"];
    assert_eq!(decision(FORCE, &turns), Decision::Ask);
}

#[test]
fn every_command_of_a_line_needs_an_order() {
    let both = "git push --force origin feature/login && rm -rf ~/Documents";
    let push = "force push feature/login";
    let delete = "delete ~/Documents";
    assert_eq!(decision(both, &[push]), Decision::Deny);
    assert_eq!(decision(both, &[delete]), Decision::Deny);
    let verdict = judged(both, &[push, delete]);
    assert!(verdict.findings.len() >= 2 && verdict.findings.iter().all(|found| found.is_requested));
    assert_eq!(verdict.decision, Decision::Ask);
}

#[test]
fn consent_to_one_target_is_none_to_another() {
    assert_eq!(decision("rm -rf ~/Pictures", &["delete ~/Documents"]), Decision::Deny);
    assert_eq!(decision("git push --force origin main", &["force push feature/login"]), Decision::Deny);
}

/// No words lift a hard finding: neither its own command nor every verb there is.
#[test]
fn a_hard_finding_is_never_lifted() {
    let verbs: Vec<&str> = FINDINGS
        .iter()
        .filter_map(|finding| match finding.firmness {
            Firmness::Soft { verbs, .. } => Some(verbs),
            Firmness::Hard => None,
        })
        .flatten()
        .copied()
        .collect();
    let hard: Vec<_> = FINDINGS.iter().filter(|finding| finding.firmness == Firmness::Hard).collect();
    assert!(!hard.is_empty());
    for finding in hard {
        for hit in finding.hits {
            let ExampleCall::Bash(command) = *hit else {
                continue;
            };
            let named = format!("{} {command}", verbs.join(" "));
            let run = format!("run {command}");
            let verdict = judged(command, &[command, &named, &run]);
            assert_eq!(verdict.decision, Decision::Deny, "{command}");
            let stands =
                |found: &portcullis_core::FindingReport| found.code == finding.code && !found.is_requested;
            assert!(verdict.findings.iter().any(stands), "{} in {command}", finding.code);
        }
    }
}

/// Repeating the very command in one line, as an order, is the plainest consent there is.
#[test]
fn every_soft_finding_can_be_asked_for_by_repeating_the_command() {
    let mut kept = Vec::new();
    for finding in FINDINGS.iter().filter(|finding| finding.firmness != Firmness::Hard) {
        let is_one_sentence =
            |command: &str| !command.contains(['\n', ';', '?', '!']) && !command.contains(". ");
        let commands = finding.hits.iter().filter_map(|hit| match *hit {
            ExampleCall::Bash(command) => Some(command).filter(|command| is_one_sentence(command)),
            ExampleCall::PowerShell(_) | ExampleCall::Call(..) => None,
        });
        for command in commands {
            let verdict = judged(command, &[&format!("run {command}")]);
            let stands =
                |found: &portcullis_core::FindingReport| found.code == finding.code && !found.is_requested;
            if verdict.findings.iter().any(stands) {
                kept.push(format!("{} {command}", finding.code));
            }
        }
    }
    assert!(kept.is_empty(), "{}", kept.join("\n"));
}

#[test]
fn consent_does_not_lift_a_deny_rule() {
    use portcullis_core::rule::{Behavior, Rule};
    use portcullis_core::{Context, Origin, SessionKnowledge, Source};
    let rule = Rule::compile("Bash(git push:*)", Behavior::Deny, Origin::bare(Source::User)).expect("a rule");
    let session = SessionKnowledge {
        turns: vec!["force push feature/login".to_owned()],
        ..SessionKnowledge::default()
    };
    let context = Context { session, ..context(Mode::Auto) };
    let verdict = decide_call(&Policy::of_rules(vec![rule]), ToolCall::bash(FORCE), context);
    assert_eq!((verdict.decision, verdict.step.as_str()), (Decision::Deny, "A2"));
}
