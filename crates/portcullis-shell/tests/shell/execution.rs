//! The decisive test: bash runs generated programs, and every command it runs must be one that the parser listed.
//!
//! The programs consist of stubs that exist nowhere, with a `PATH` that leads nowhere; bash hands each to
//! `command_not_found_handle`, which logs it. Nothing else is ever run.

use portcullis_shell::ast::Word;
use portcullis_shell::parse;

use crate::bash;
use crate::commands::simple_commands;
use crate::programs::Programs;

const PROGRAMS: usize = 250;

/// What each program begins with. A newline in an argument would let two stubs' lines mix in the log.
const PRELUDE: &str = r#"
PATH=/nonexistent
ulimit -t 1
command_not_found_handle() {
    local IFS=$'\x1f'
    local line="$*"
    printf '%s\x1e' "${line//$'\n'/$'\x1c'}" >&9
    return "$STUB_STATUS"
}
"#;

/// Runs each NUL-ended program twice, with stubs that succeed and stubs that fail.
const RUN: &str = r#"
cd "$1" || exit 1
while IFS= read -r -d '' program; do
    for status in 0 1; do
        STUB_STATUS=$status "$BASH" --norc --noprofile -c "$2$program" 9>&1 >/dev/null 2>&1 </dev/null
    done
done
"#;

#[test]
fn every_command_bash_runs_was_listed() {
    let programs: Vec<String> = (0..PROGRAMS).map(|seed| Programs::program(seed as u64)).collect();
    let scripts: Vec<_> = programs.iter().map(|program| parse(program)).collect();
    let mut input = Vec::new();
    for program in &programs {
        input.extend_from_slice(program.as_bytes());
        input.push(0);
    }
    let log = bash::run(&["--norc", "-c", RUN, "run", env!("CARGO_TARGET_TMPDIR"), PRELUDE], &input);
    let mut executed = 0;
    for arguments in log.split_terminator('\x1e') {
        let arguments = arguments.replace('\x1c', "\n");
        let arguments: Vec<&str> = arguments.split('\x1f').collect();
        let seed = seed_of(&arguments);
        if scripts[seed].is_clear() {
            executed += 1;
            let covered =
                simple_commands(&scripts[seed]).iter().any(|simple| matches(&simple.words, &arguments));
            assert!(covered, "bash ran {arguments:?}, which is not listed, in\n{}", programs[seed]);
        }
    }
    let refused = scripts.iter().filter(|script| !script.is_clear()).count();
    println!("{PROGRAMS} programs, {refused} refused, {executed} commands run");
    assert!(refused * 10 <= PROGRAMS, "{refused} programs were refused");
    assert!(executed > PROGRAMS, "only {executed} commands were run");
}

/// Returns which program a stub belongs to. Background jobs of one may end while the next one runs.
fn seed_of(arguments: &[&str]) -> usize {
    let name = arguments[0];
    let seed = name
        .strip_prefix(['k', 'f', 'a'])
        .and_then(|rest| rest.split_once('_'))
        .and_then(|(seed, _)| seed.parse().ok());
    seed.unwrap_or_else(|| panic!("bash ran {arguments:?}, whose name is no stub"))
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
