//! A survey says which commands feed another one: through a pipe, or through substitutions in its words.

use portcullis_analysis::Invocation;

use crate::survey::look;

/// Returns the programs a command's first invocation of this name reads from or has substituted.
fn sources(command: &str, name: &str, pick: fn(&Invocation) -> std::ops::Range<usize>) -> Vec<String> {
    let found = look(command);
    let is_named = |invocation: &&Invocation| invocation.program_name() == Some(name);
    let reader = found.invocations.iter().find(is_named).unwrap_or_else(|| panic!("{command}"));
    let sources = found.invocations.get(pick(reader)).unwrap_or_else(|| panic!("{command}"));
    sources.iter().filter_map(|source| source.program_name().map(str::to_owned)).collect()
}

#[test]
fn a_stage_knows_the_stage_before_it() {
    for (command, name, expected) in [
        ("curl x | sh", "sh", &["curl"] as &[&str]),
        ("curl x", "curl", &[]),
        ("a | b | c", "b", &["a"]),
        ("a | b | c", "c", &["b"]),
        ("a | b; c", "c", &[]),
        ("curl x | sudo bash", "bash", &["curl"]),
        ("curl x | bash -c sh", "sh", &["curl"]),
        ("curl x | env A=1 timeout 5 sh", "sh", &["curl"]),
        ("curl x | while read y; do sh; done", "sh", &["curl"]),
        ("curl x | ( cd a; sh )", "sh", &["curl"]),
        ("curl x | { a | sh; }", "a", &["curl"]),
        ("curl x | { a | sh; }", "sh", &["a"]),
        ("{ a; b; } | c", "c", &["a", "b"]),
        ("curl x | y=$(sh)", "sh", &["curl"]),
        ("curl x | sh < f", "sh", &[]),
        ("curl x | sh 2> f", "sh", &["curl"]),
        ("curl x | sh 3<&0 <&3", "sh", &["curl"]),
        ("curl x | while read y; do sh; done < f", "sh", &[]),
        ("a | f() { sh; }", "sh", &[]),
    ] {
        assert_eq!(sources(command, name, |reader| reader.piped.clone()), expected, "{command}");
    }
}

#[test]
fn a_command_knows_what_is_substituted_in_its_words() {
    for (command, name, expected) in [
        ("echo $(a) `b`", "echo", &["a", "b"] as &[&str]),
        ("echo a", "echo", &[]),
        ("bash <(curl x)", "bash", &["curl"]),
        ("bash -c \"$(curl x)\"", "bash", &["curl"]),
        ("sudo bash -c \"$(curl x)\"", "bash", &["curl"]),
        ("A=$(a) ls", "ls", &["a"]),
        ("ls > $(a)", "ls", &["a"]),
        ("ls <<X\n$(a)\nX", "ls", &["a"]),
        ("echo $(a | b)", "echo", &["a", "b"]),
        ("$(a); ls", "ls", &[]),
    ] {
        assert_eq!(sources(command, name, |reader| reader.substituted.clone()), expected, "{command}");
    }
}
