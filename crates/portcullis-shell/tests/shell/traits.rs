//! What is known of a word as a whole, and the kinds of its parts.

use portcullis_shell::ast::{AssignmentValue, Word, WordPart};
use portcullis_shell::parse;

use crate::commands::simple_commands;

/// Letters: q quoted, d dynamic, g glob, b brace, t tilde.
const TRAITS: &[(&str, &str)] = &[
    ("plain", ""),
    ("'a'", "q"),
    ("a\\ b", "q"),
    ("$'a'", "q"),
    ("\"a\"", "q"),
    ("\"\"", "q"),
    ("$x", "d"),
    ("\"$x\"", "qd"),
    ("${x}", "d"),
    ("$(a)", "d"),
    ("`a`", "d"),
    ("$((1))", "d"),
    ("<(a)", "d"),
    ("'$x'", "q"),
    ("\\$x", "q"),
    ("$", ""),
    ("a$", ""),
    ("*", "g"),
    ("a?b", "g"),
    ("\"*\"", "q"),
    ("\\*", "q"),
    ("[", ""),
    ("]", ""),
    ("[a]", "g"),
    ("x[1]", "g"),
    ("[a", ""),
    ("a]", ""),
    ("[a\"]\"", "q"),
    ("'['a]", "q"),
    ("[$x]", "dg"),
    ("a*$x", "dg"),
    ("{a,b}", "b"),
    ("{1..3}", "b"),
    ("{a..z..2}", "b"),
    ("{-1..+3}", "b"),
    ("{}", ""),
    ("{a}", ""),
    ("{a..}", ""),
    ("{..}", ""),
    ("{foo..bar}", ""),
    ("{1..a}", ""),
    ("a{,}b", "b"),
    ("{a,{b}", ""),
    ("{a{b,c}", "b"),
    ("{{a,b}", "b"),
    ("{a\\,b}", "q"),
    ("{a\",\"b}", "q"),
    ("'{'a,b}", "q"),
    ("{a,'b'}", "qb"),
    ("{a,$x}", "db"),
    ("{$x..3}", "db"),
    ("{a,*}", "gb"),
    ("a,b}", ""),
    ("{a,b", ""),
    ("@{u}..HEAD", ""),
    ("stash@{0}", ""),
    ("${x},{y}", "d"),
    ("~", "t"),
    ("~/x", "t"),
    ("~user", "t"),
    ("\"~\"/x", "q"),
    ("a~", ""),
    ("\\~", "q"),
    ("--x=~/y", ""),
    ("x=~/y", "t"),
    ("x=a:~/y", "t"),
    ("x[1]=~/y", "tg"),
    ("x+=~/y", "t"),
    ("b:~/y", ""),
    ("x='~/y'", "q"),
    ("1x=~/y", ""),
];

fn letters(word: &Word) -> String {
    let traits = word.traits;
    let all = [
        ('q', traits.quoted),
        ('d', traits.dynamic),
        ('g', traits.glob),
        ('b', traits.brace),
        ('t', traits.tilde),
    ];
    all.into_iter().filter(|(_, set)| *set).map(|(letter, _)| letter).collect()
}

fn sorted(letters: &str) -> String {
    let mut sorted: Vec<char> = letters.chars().collect();
    sorted.sort_unstable();
    sorted.into_iter().collect()
}

#[test]
fn a_word_knows_what_bash_will_do_to_it() {
    for (text, expected) in TRAITS {
        let script = parse(&format!("c {text}"));
        assert!(script.is_clear(), "{text:?}: {:?}", script.errors);
        let simple = simple_commands(&script)[0];
        assert_eq!(simple.words.len(), 2, "{text:?}");
        let word = &simple.words[1];
        assert_eq!(sorted(&letters(word)), sorted(expected), "{text:?}");
        let fixed = !expected.contains(['d', 'g', 'b', 't']);
        assert_eq!(word.fixed().is_some(), fixed, "{text:?}");
    }
}

#[test]
fn the_value_of_an_assignment_may_have_a_tilde_after_a_colon() {
    for (text, tilde) in [("x=~", true), ("x=a:~/b", true), ("x=a~", false), ("x='~'", false)] {
        let script = parse(text);
        let AssignmentValue::Word(value) = &simple_commands(&script)[0].assignments[0].value else {
            panic!("{text:?} has a word for a value");
        };
        assert_eq!(value.traits.tilde, tilde, "{text:?}");
    }
}

#[test]
fn parts_say_what_each_piece_is() {
    let script = parse(r#"a\b'c'"d$e"$'f'*${g:-h}$(i)<(j)$((k))"#);
    let word = &simple_commands(&script)[0].words[0];
    let kinds: Vec<&str> = word
        .parts
        .iter()
        .map(|part| match part {
            WordPart::Literal { .. } => "literal",
            WordPart::Escaped { .. } => "escaped",
            WordPart::Single { .. } => "single",
            WordPart::AnsiC { .. } => "ansi",
            WordPart::Double { .. } => "double",
            WordPart::Glob { .. } => "glob",
            WordPart::Parameter { .. } => "parameter",
            WordPart::Command { .. } => "command",
            WordPart::Process { .. } => "process",
            WordPart::Arithmetic { .. } => "arithmetic",
        })
        .collect();
    let expected = [
        "literal",
        "escaped",
        "single",
        "double",
        "ansi",
        "glob",
        "parameter",
        "command",
        "process",
        "arithmetic",
    ];
    assert_eq!(kinds, expected);
}

#[test]
fn a_parameter_knows_its_name_and_whether_it_is_plain() {
    let table = [
        ("$x", "x", true),
        ("${x}", "x", true),
        ("${x:-y}", "x", false),
        ("${#x}", "x", false),
        ("${!x}", "x", false),
        ("${x[1]}", "x", false),
        ("$1", "1", true),
        ("$12", "1", true),
        ("${12}", "12", true),
        ("$@", "@", true),
        ("${#}", "#", true),
        ("$?", "?", true),
        ("${@}", "@", true),
        ("${!}", "!", true),
        ("$$", "$", true),
        ("${$}", "$", true),
        ("$_x", "_x", true),
        ("${}", "", false),
        ("${x@P}", "x", false),
        ("${#@}", "@", false),
        ("${!x*}", "x", false),
    ];
    for (text, expected, simple) in table {
        let script = parse(&format!("c {text}"));
        assert!(script.is_clear(), "{text:?}");
        let WordPart::Parameter { name, plain, .. } = &simple_commands(&script)[0].words[1].parts[0] else {
            panic!("{text:?} is a parameter");
        };
        assert_eq!((name.as_str(), *plain), (expected, simple), "{text:?}");
    }
}
