//! What must hold for every policy and every command.

use crate::support::decide_bash;
use portcullis_core::rule::{Behavior, Rule};
use portcullis_core::{Decision, MODES, Mode, Origin, Policy, Source};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

const RULES: &[&str] = &[
    "Bash(git push:*)",
    "Bash(git *)",
    "Bash(git status)",
    "Bash(rm:*)",
    "Bash(rm -rf *)",
    "Bash(npm run *)",
    "Bash(npm test)",
    "Bash(ls*)",
    "Bash(echo *)",
    "Bash(* --help)",
    "Bash(touch a)",
    "Read(.env)",
    "Read(//etc/**)",
    "Edit(out/**)",
    "Edit(/src/**)",
    "Edit(*.log)",
    "Bash(cat *)",
    "Bash(make:*)",
    "Bash(git * main)",
    "Bash(cd *)",
];

const COMMANDS: &[&str] = &[
    "git push",
    "git push origin main",
    "git -C x push",
    "git status",
    "git $X",
    "rm a",
    "rm -rf build",
    "rm -rf /",
    "npm run build",
    "npm test",
    "ls -la",
    "lsof",
    "echo hi",
    "echo $X",
    "npm --help",
    "touch a",
    "cat .env",
    "cat /etc/hosts",
    "cat src/x",
    "$CMD x",
    "make all",
    "cd src",
    "cd /tmp",
    "echo x > out/a",
    "echo x > a.log",
    "echo x > /etc/y",
    "cat < .env",
    "touch .git/x",
    "true",
    "pwd",
    "X=1 git push",
    "PATH=x ls",
    "eval ls",
    "curl x | sh",
    "find . -delete",
    "sed -i s/a/b/ x",
    "git merge main",
    "node x.js",
    "'unclosed",
];

fn behavior() -> impl Strategy<Value = Behavior> {
    prop_oneof![Just(Behavior::Allow), Just(Behavior::Ask), Just(Behavior::Deny)]
}

fn rules() -> impl Strategy<Value = Vec<(Behavior, &'static str)>> {
    prop::collection::vec((behavior(), prop::sample::select(RULES)), 0..6)
}

fn command() -> impl Strategy<Value = String> {
    let leaf = prop::sample::select(COMMANDS).prop_map(str::to_owned);
    leaf.prop_recursive(2, 6, 2, |inner| {
        prop_oneof![
            (inner.clone(), prop::sample::select(&[" && ", "; ", " | ", " || ", "\n", " & "]), inner.clone())
                .prop_map(|(left, link, right)| format!("{left}{link}{right}")),
            inner.clone().prop_map(|inner| format!("({inner})")),
            inner.prop_map(|inner| format!("echo $({inner})")),
        ]
    })
}

fn mode() -> impl Strategy<Value = Mode> {
    (0..MODES.len()).prop_map(|place| MODES[place].mode)
}

fn policy(rules: &[(Behavior, &str)]) -> Policy {
    let compile =
        |(behavior, text): &(Behavior, &str)| Rule::compile(text, *behavior, Origin::bare(Source::User));
    Policy::of_rules(rules.iter().map(|rule| compile(rule).expect(rule.1)).collect())
}

fn answer(rules: &[(Behavior, &str)], command: &str, mode: Mode) -> Decision {
    decide_bash(&policy(rules), command, mode).decision
}

/// Commands whose parts stand on their own: joining a text that does not end would change what it is.
fn is_whole(command: &str) -> bool {
    !command.contains("'unclosed")
}

/// The same cases in every run.
fn configuration() -> ProptestConfig {
    ProptestConfig {
        cases: 2_000,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(1),
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(configuration())]

    #[test]
    fn adding_a_deny_rule_never_makes_a_verdict_milder(mut rules in rules(), extra in prop::sample::select(RULES), command in command(), mode in mode()) {
        let before = answer(&rules, &command, mode);
        rules.push((Behavior::Deny, extra));
        prop_assert!(answer(&rules, &command, mode) >= before);
    }

    #[test]
    fn adding_an_ask_rule_never_makes_a_verdict_milder_than_ask(mut rules in rules(), extra in prop::sample::select(RULES), command in command(), mode in mode()) {
        let before = answer(&rules, &command, mode);
        rules.push((Behavior::Ask, extra));
        prop_assert!(answer(&rules, &command, mode) >= before.min(Decision::Ask));
    }

    #[test]
    fn adding_an_allow_rule_never_makes_a_verdict_stricter(mut rules in rules(), extra in prop::sample::select(RULES), command in command(), mode in mode()) {
        let before = answer(&rules, &command, mode);
        rules.push((Behavior::Allow, extra));
        prop_assert!(answer(&rules, &command, mode) <= before);
    }

    #[test]
    fn a_compound_is_at_least_as_strict_as_its_strictest_part(rules in rules(), left in command(), right in command(), link in prop::sample::select(&[" && ", " || ", "; ", " | ", "\n"]), mode in mode()) {
        prop_assume!(is_whole(&left) && !left.contains("cd "));
        let strictest = answer(&rules, &left, mode).max(answer(&rules, &right, mode));
        let joined = [left.as_str(), link, right.as_str()].concat();
        prop_assert!(answer(&rules, &joined, mode) >= strictest);
    }

    #[test]
    fn wrapping_a_command_never_makes_it_milder(rules in rules(), command in command(), place in 0..11_usize, mode in mode()) {
        prop_assume!(is_whole(&command) && !command.contains(['\'', '"']));
        // Without the blanks, two parentheses in a row would be arithmetic.
        let is_simple = !command.contains(['&', '|', ';', '\n', '(', '>', '<', '=']);
        let wrapped = match place {
            0 => format!("bash -c '{command}'"),
            1 => format!("sh -c \"{}\"", command.replace('$', "\\$")),
            2 => format!("( {command} )"),
            3 => format!("echo $( {command} )"),
            4 => format!("if {command}\nthen true; fi"),
            5 => format!("{{ {command}\n}}"),
            6 if is_simple => format!("env {command}"),
            7 if is_simple => format!("sudo {command}"),
            8 if is_simple => format!("timeout 5 {command}"),
            9 if is_simple => format!("xargs {command}"),
            10 => format!("while {command}\ndo break; done"),
            _ => format!("! {command}"),
        };
        prop_assert!(answer(&rules, &wrapped, mode) >= answer(&rules, &command, mode), "{wrapped}");
    }

    #[test]
    fn the_order_of_rules_does_not_matter(rules in rules(), command in command(), mode in mode(), turn in 0..6_usize) {
        let mut turned = rules.clone();
        if !turned.is_empty() {
            let turn = turn % turned.len();
            turned.rotate_left(turn);
        }
        prop_assert_eq!(answer(&rules, &command, mode), answer(&turned, &command, mode));
        turned.reverse();
        prop_assert_eq!(answer(&rules, &command, mode), answer(&turned, &command, mode));
    }

    #[test]
    fn the_same_question_gets_the_same_verdict(rules in rules(), command in command(), mode in mode()) {
        let policy = policy(&rules);
        prop_assert_eq!(decide_bash(&policy, &command, mode), decide_bash(&policy, &command, mode));
    }

    #[test]
    fn any_text_gets_a_verdict(rules in rules(), command in "[ -~\n]{0,80}", mode in mode()) {
        let verdict = decide_bash(&policy(&rules), &command, mode);
        prop_assert!(!verdict.trace.is_empty());
        prop_assert!(verdict.suggestions.len() <= 5);
    }
}
