//! Explicit consent (spec D17): a soft finding is cleared by a human turn that names the action and its dangerous specific,
//! and by nothing else; a hard one never is.

use portcullis_analysis::findings::{ExampleCall, FINDINGS, Firmness};
use portcullis_core::{Decision, Mode, Policy, ToolCall};

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
    assert!(verdict.findings.iter().all(|found| !found.is_cleared), "{:?}", verdict.findings);
}

#[test]
fn a_turn_that_names_action_and_target_clears_a_soft_finding() {
    let table: &[(&str, &str)] = &[
        (FORCE, "Please force push feature/login."),
        (FORCE, "ok, rebase it and force-push to feature/login, I told the others"),
        (FORCE, "run git push --force origin feature/login"),
        (FORCE, "FORCE PUSH FEATURE/LOGIN NOW!"),
        (FORCE, "I fixed the tests. Force push feature/login. Then open the page."),
        ("rm -rf ~/Documents", "delete ~/Documents, all of it"),
        ("rm -rf ~/Documents", "Remove the directory Documents in my home"),
        ("git reset --hard", "throw it all away: git reset --hard"),
        ("git push origin main", "push to main, please"),
    ];
    for (command, turn) in table {
        let verdict = judged(command, &[turn]);
        assert!(verdict.findings.iter().any(|found| found.is_cleared), "{command} after {turn}");
        assert!(verdict.findings.iter().all(|found| found.is_cleared), "{command} after {turn}");
        assert_ne!(verdict.decision, Decision::Deny, "{command} after {turn}");
    }
}

#[test]
fn a_turn_that_names_only_one_of_both_clears_nothing() {
    for turn in [
        "push feature/login",
        "force push",
        "force push it",
        "feature/login",
        "do what you think is best",
        "fix the login and push",
        "yes",
        "force push feature/logout",
        "force push feature/login-2",
        "force push my-feature/login",
        "force it with git",
        "run git push --force origin feature/login-2",
        "run git push --force origin feature/login --dry-run",
        "run git push --force origin feature/login/old",
        "enforce the rules on feature/login",
        "",
    ] {
        assert_eq!(decision(FORCE, &[turn]), Decision::Deny, "{turn}");
    }
}

#[test]
fn a_question_clears_nothing() {
    for turn in [
        "force push feature/login?",
        "Should we force push feature/login?",
        "What happens if you force push feature/login?",
        "why would I force push feature/login",
        "can you explain what git push --force origin feature/login does?",
    ] {
        assert_eq!(decision(FORCE, &[turn]), Decision::Deny, "{turn}");
    }
}

#[test]
fn a_prohibition_clears_nothing() {
    for turn in [
        "never force push feature/login",
        "don't force push feature/login",
        "Do not force push feature/login.",
        "push, but without force, to feature/login",
        "avoid a force push of feature/login",
        "you must not run git push --force origin feature/login",
    ] {
        assert_eq!(decision(FORCE, &[turn]), Decision::Deny, "{turn}");
    }
}

#[test]
fn a_condition_clears_nothing() {
    for turn in [
        "if the tests pass, force push feature/login",
        "force push feature/login when Ann agrees",
        "unless somebody objects, force push feature/login",
        "wait until Monday and force push feature/login",
        "maybe force push feature/login",
    ] {
        assert_eq!(decision(FORCE, &[turn]), Decision::Deny, "{turn}");
    }
}

#[test]
fn two_halves_in_two_turns_or_sentences_clear_nothing() {
    assert_eq!(decision(FORCE, &["force push it", "it is feature/login"]), Decision::Deny);
    assert_eq!(decision(FORCE, &["Force push. The branch is feature/login."]), Decision::Deny);
    assert_eq!(decision(FORCE, &["look at feature/login\nand force the door"]), Decision::Deny);
}

#[test]
fn any_turn_of_the_session_counts() {
    let turns = ["hello", "force push feature/login", "thanks, now the page"];
    assert_ne!(decision(FORCE, &turns), Decision::Deny);
}

#[test]
fn every_finding_of_a_command_must_be_cleared() {
    let both = "git push --force origin feature/login && rm -rf ~/Documents";
    let push = "force push feature/login";
    let delete = "delete ~/Documents";
    assert_eq!(decision(both, &[push]), Decision::Deny);
    assert_eq!(decision(both, &[delete]), Decision::Deny);
    let verdict = judged(both, &[push, delete]);
    assert!(verdict.findings.len() >= 2 && verdict.findings.iter().all(|found| found.is_cleared));
    assert_ne!(verdict.decision, Decision::Deny);
}

#[test]
fn a_cleared_finding_is_still_reported() {
    let verdict = judged(FORCE, &["force push feature/login"]);
    let found = verdict.findings.first().expect("it is still a force push");
    assert!(found.is_cleared);
    assert_eq!(found.code, "PC007");
}

#[test]
fn consent_to_one_target_is_none_to_another() {
    assert_eq!(decision("rm -rf ~/Pictures", &["delete ~/Documents"]), Decision::Deny);
    assert_eq!(decision("git push --force origin main", &["force push feature/login"]), Decision::Deny);
}

/// No words clear a hard finding: neither its own command nor every verb there is.
#[test]
fn a_hard_finding_is_never_cleared() {
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
                |found: &portcullis_core::FindingReport| found.code == finding.code && !found.is_cleared;
            assert!(verdict.findings.iter().any(stands), "{} in {command}", finding.code);
        }
    }
}

/// Repeating the very command in one line, as an order, is the plainest consent there is.
#[test]
fn every_soft_finding_can_be_cleared_by_repeating_the_command() {
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
                |found: &portcullis_core::FindingReport| found.code == finding.code && !found.is_cleared;
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
