//! The decisive test: bash runs generated programs, and every command it runs must be one that the parser listed.
//!
//! The programs consist of stubs that exist nowhere, with a `PATH` that leads nowhere; bash hands each to
//! `command_not_found_handle`, which logs it. Nothing else is ever run. What the parser refuses is not run at all.

use portcullis_shell::ast::Word;
use portcullis_shell::{ParsedScript, parse};

use crate::commands::simple_commands;
use crate::programs::Programs;
use crate::{bash, contexts};

/// What each program begins with. A newline in an argument would let two stubs' lines mix in the log.
const PRELUDE: &str = r#"
PATH=/nonexistent
ulimit -t 1
command_not_found_handle() {
    local IFS=$'\x1f'
    local line="$STUB_PROGRAM$IFS$*"
    printf '%s\x1e' "${line//$'\n'/$'\x1c'}" >&9
    return "$STUB_STATUS"
}
"#;

/// Runs each NUL-ended program twice, with stubs that succeed and stubs that fail.
const RUN: &str = r#"
cd "$1" || exit 1
export STUB_PROGRAM=0 STUB_STATUS
while IFS= read -r -d '' program; do
    for STUB_STATUS in 0 1; do
        "$BASH" --norc --noprofile -c "$2$program" 9>&1 >/dev/null 2>&1 </dev/null
    done
    STUB_PROGRAM=$((STUB_PROGRAM + 1))
done
"#;

/// Runs the programs that the parser takes; returns how many it took and how many commands bash ran.
fn check(programs: &[String]) -> (usize, usize) {
    let taken: Vec<(&String, ParsedScript)> = programs
        .iter()
        .map(|program| (program, parse(program)))
        .filter(|(_, script)| script.is_clear())
        .collect();
    let mut input = Vec::new();
    for (program, _) in &taken {
        input.extend_from_slice(program.as_bytes());
        input.push(0);
    }
    let log = bash::run(&["--norc", "-c", RUN, "run", env!("CARGO_TARGET_TMPDIR"), PRELUDE], &input);
    let mut executed = 0;
    for line in log.split_terminator('\x1e') {
        let line = line.replace('\x1c', "\n");
        let (number, arguments) = line.split_once('\x1f').expect("a line begins with the program's number");
        let (program, script) = &taken[number.parse::<usize>().expect("a number")];
        let arguments: Vec<&str> = arguments.split('\x1f').collect();
        let covered = simple_commands(script).iter().any(|simple| matches(&simple.words, &arguments));
        assert!(covered, "bash ran {arguments:?}, which is not listed, in\n{program}");
        executed += 1;
    }
    println!("{} programs, {} taken, {executed} commands run", programs.len(), taken.len());
    (taken.len(), executed)
}

/// A fixed word stands for itself, any other for any number of arguments.
fn matches(words: &[Word], arguments: &[&str]) -> bool {
    let Some((word, rest)) = words.split_first() else { return arguments.is_empty() };
    match word.fixed() {
        Some(text) => {
            arguments.split_first().is_some_and(|(first, after)| *first == text && matches(rest, after))
        }
        None => (0..=arguments.len()).any(|taken| matches(rest, &arguments[taken..])),
    }
}

#[test]
fn every_command_that_a_program_runs_was_listed() {
    let programs: Vec<String> = (0..250).map(Programs::program).collect();
    let (taken, executed) = check(&programs);
    assert!(taken * 10 >= programs.len() * 9, "only {taken} programs were taken");
    assert!(executed > 1000, "only {executed} commands were run");
}

#[test]
fn every_command_that_an_expansion_runs_was_listed() {
    let programs: Vec<String> = (0..2500).map(contexts::text).collect();
    let (taken, executed) = check(&programs);
    assert!(taken * 5 >= programs.len(), "only {taken} programs were taken");
    assert!(executed > 100, "only {executed} commands were run");
}
