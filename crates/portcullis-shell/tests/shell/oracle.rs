//! Validity against `bash -n`: a corpus of everyday command lines, broken ones, and generated programs.

use portcullis_shell::parse;

use crate::bash;
use crate::programs::Programs;

const VALID: &str = include_str!("../../test_data/oracle/valid.txt");
const INVALID: &str = include_str!("../../test_data/oracle/invalid.txt");

/// Returns the entries of a corpus file, which stand between lines of `%%`.
fn entries(corpus: &str) -> Vec<&str> {
    corpus
        .split("\n%%\n")
        .map(|entry| entry.strip_suffix("\n%%").unwrap_or(entry))
        .filter(|entry| !entry.is_empty())
        .collect()
}

/// Compares with bash and returns the number of agreements; what bash takes and we do not is only counted.
fn agreements(scripts: &[&str], what: &str) -> usize {
    let mut agreed = 0;
    for (script, taken) in scripts.iter().zip(bash::validity(scripts)) {
        let parsed = parse(script);
        assert!(taken || !parsed.is_clear(), "{what}: bash refuses what we take: {script:?}");
        if taken == parsed.is_clear() {
            agreed += 1;
        } else {
            println!("{what}: we refuse what bash takes: {script:?}: {:?}", parsed.errors);
        }
    }
    agreed
}

#[test]
fn everyday_command_lines_are_valid_where_bash_says_so() {
    let scripts = entries(VALID);
    assert!(scripts.len() >= 600, "the corpus has {} entries", scripts.len());
    let answers = bash::validity(&scripts);
    for (script, valid) in scripts.iter().zip(answers) {
        assert!(valid, "bash refuses an entry of the corpus: {script:?}");
    }
    let agreed = agreements(&scripts, "everyday");
    assert!(agreed * 1000 >= scripts.len() * 995, "{agreed} of {} agree", scripts.len());
}

#[test]
fn broken_command_lines_are_refused_where_bash_refuses_them() {
    let scripts = entries(INVALID);
    assert!(scripts.len() >= 120, "the corpus has {} entries", scripts.len());
    assert_eq!(agreements(&scripts, "broken"), scripts.len());
}

#[test]
fn generated_programs_are_valid_where_bash_says_so() {
    let programs: Vec<String> = (1_000_001..=1_000_600).map(Programs::program).collect();
    let scripts: Vec<&str> = programs.iter().map(String::as_str).collect();
    let agreed = agreements(&scripts, "generated");
    assert!(agreed * 100 >= scripts.len() * 97, "{agreed} of {} agree", scripts.len());
}
