//! Hostile shapes: long, deep and half open. The parse must return, on a small stack, within its step budget.

use portcullis_shell::{ParseLimits, ParsedScript, TokenKind, parse, parse_counted};

const MANY: usize = 100_000;

/// Units repeated as they are; most leave something open.
const REPEATED: &[&str] = &[
    "a;",
    "a&&",
    "a||",
    "a|",
    "a|&",
    "a&",
    "a\n",
    ";",
    "&&",
    "|",
    "&",
    "$(",
    "(",
    "((",
    "{ ",
    "{",
    "}",
    "\"$(",
    "<(",
    ">(",
    "${a:-",
    "${",
    "${ ",
    "${| ",
    "$((",
    "((a) ",
    "(( ( ",
    "$[",
    "x=(",
    "a[",
    "a[$(",
    "x=",
    "declare x=(",
    "`",
    "a$(a`a",
    "`\\`",
    "\"`",
    "$(`",
    "time ",
    "time -p ",
    "! ",
    "coproc ",
    "coproc a ",
    "[[ ( ",
    "[[ ! ",
    "[[ a && ",
    "[[ a =~ (",
    "[[ a == @(",
    "if ",
    "if a; then ",
    "while ",
    "until a; do ",
    "for x in ",
    "for x do ",
    "for ((",
    "select x ",
    "case x in ",
    "case x in a) ",
    "case $(",
    "function f { ",
    "f() { ",
    "f() ",
    "f(",
    "cat <<E ",
    "<<E",
    "<<-E ",
    "<<'E' ",
    "<",
    ">",
    "<<",
    "<<<a ",
    ">a ",
    "2>",
    "{a}>",
    "&>a ",
    ">&-",
    "'",
    "\"",
    "'a'",
    "\"a\"",
    "$'",
    "$'a'",
    "$\"",
    "\\",
    "\\\n",
    "a\\\n",
    "\\\n$",
    "$",
    "$a",
    "$1",
    "${a}",
    "${a",
    "${#",
    "${!a",
    "${a[",
    "*",
    "?",
    "[",
    "]",
    "[a]",
    "{a,",
    "{a..",
    ",",
    "..",
    "~",
    ":~",
    "#",
    "# a\n",
    "é",
    "\u{10ffff}",
    "{\u{10ffff}",
    "\t",
    "1",
    "a ",
    "é ",
    "'$(",
    "\"${x:-'",
    "\"${x:-'$(",
    "${x:-\"",
    "$((1))",
    "$(a)",
    "`a`",
    "<(a)",
    "((1));",
    "(a);",
    "{ a; };",
    "[[ a ]];",
    "if a; then b; fi;",
    "a <<E\nE\n",
    "a <<E\n$(b)\nE\n",
    "$(a <<E\nE\n)",
    "EOF)\n",
    "${a:-$(",
    "$(( $(",
    "$(($(",
    "$(((",
    "\"$((",
    "a=([",
    "a[${",
    "\\`",
    "\\\\",
    "!a",
    "{a,b}",
    "a=~",
    "esac;",
    "fi ",
    "done ",
];

fn check(text: &str, what: &str) -> ParsedScript {
    let (script, steps) = parse_counted(text, ParseLimits::default());
    assert!(steps <= 16 * text.len() + 4096, "{what}: {steps} steps for {} bytes", text.len());
    let covered = script.tokens.iter().fold(0, |position, token| {
        assert_eq!(token.span.start, position, "{what}: a gap between tokens");
        token.span.end
    });
    assert_eq!(covered, text.len(), "{what}: tokens do not reach the end");
    let opaque = script.tokens.iter().filter(|token| token.kind == TokenKind::Opaque).count();
    assert!(opaque <= 1, "{what}: more than one opaque token");
    assert!(opaque == 0 || !script.is_clear(), "{what}: opaque without an error");
    script
}

#[test]
fn repeated_units_stay_within_the_step_budget() {
    for unit in REPEATED {
        for count in [1, 10, 99, 100, 101, 1000, MANY.min((1 << 19) / unit.len())] {
            check(&unit.repeat(count), &format!("{unit:?} x {count}"));
        }
    }
}

#[test]
fn closed_nests_are_read_up_to_the_depth_limit() {
    let nests = [
        ("$(", "a", ")"),
        ("(", "a", " )"),
        ("{ ", "a", "; }"),
        ("<(", "a", ")"),
        ("\"$(", "a", ")\""),
        ("${a:-", "b", "}"),
        ("\"${a:-", "b", "}\""),
        ("$(( ", "1", " ))"),
        ("$[", "1", "]"),
        ("if a; then ", "b", "; fi"),
        ("while a; do ", "b", "; done"),
        ("for x in a; do ", "b", "; done"),
        ("case x in a) ", "b", " ;; esac"),
        ("f() { ", "b", "; }"),
        ("coproc { ", "b", "; }"),
        ("[[ ( ", "a", " ) ]]"),
        ("x=($(", "a", "))"),
    ];
    for (open, middle, close) in nests {
        let shallow = if open.starts_with("[[") { 1 } else { 7 };
        let script = parse(&format!("{}{middle}{}", open.repeat(shallow), close.repeat(shallow)));
        assert!(script.is_clear(), "{open:?} x {shallow}: {:?}", script.errors);
        for count in [101, 1000, 20_000] {
            let text = format!("{}{middle}{}", open.repeat(count), close.repeat(count));
            assert!(!check(&text, open).is_clear(), "{open:?} x {count} is too deep");
        }
    }
}

#[test]
fn long_flat_texts_are_understood() {
    let megabyte = 1 << 20;
    let texts = [
        ("one word", "a".repeat(megabyte)),
        ("one line", "word ".repeat(megabyte / 5)),
        ("semicolons", "a;".repeat(MANY)),
        ("conjunctions", format!("{}a", "a && ".repeat(MANY))),
        ("pipes", format!("{}a", "a | ".repeat(MANY))),
        ("here-documents on one line", format!("cat {}", "<<E ".repeat(MANY))),
        (
            "here-documents with bodies",
            format!("cat {}\n{}", "<<E ".repeat(10_000), "$(a)\nE\n".repeat(10_000)),
        ),
        ("braces", "{".repeat(MANY)),
        ("quotes", "''\"\"".repeat(MANY)),
        ("times", format!("{}a", "time ".repeat(MANY))),
        ("negations", format!("{}a", "! ".repeat(MANY))),
        ("redirections", ">a ".repeat(MANY)),
        ("assignments", "x=1 ".repeat(MANY)),
        ("array elements", format!("x=({})", "a ".repeat(MANY))),
        ("conditions", format!("[[ {}a ]]", "! a && ".repeat(MANY))),
        ("arms", format!("case x in {}esac", "a) b;; ".repeat(MANY))),
        ("branches", format!("if a; then b; {}fi", "elif a; then b; ".repeat(MANY))),
        ("substitutions", "$(a)`b`".repeat(MANY)),
        ("line continuations", "\\\n".repeat(MANY)),
        ("comment", format!("# {}", "$(".repeat(MANY))),
    ];
    for (what, text) in &texts {
        let script = check(text, what);
        assert!(script.is_clear(), "{what}: {:?}", script.errors);
    }
}

#[test]
fn texts_past_the_limits_are_opaque() {
    let limits = ParseLimits { bytes: 10, depth: 100 };
    let (script, _) = parse_counted("echo a; echo b", limits);
    assert!(!script.is_clear());
    assert_eq!(script.tokens.len(), 1);
    let limits = ParseLimits { bytes: 100, depth: 2 };
    assert!(parse_counted("a $(b $(c))", limits).0.is_clear());
    assert!(!parse_counted("a $(b $(c $(d)))", limits).0.is_clear());
}

/// The frame-hungriest mixtures, each at the depth limit, on a stack of one megabyte.
#[test]
fn the_deepest_nests_fit_in_half_the_stack_of_a_test_thread() {
    let mixtures = [
        "$(",
        "\"$(",
        "(",
        "{ ",
        "if ",
        "if a; then ",
        "while ",
        "for x in a; do ",
        "case x in a) ",
        "f() { ",
        "coproc { ",
        "\"${x:-",
        "${x:-",
        "$(( ",
        "$[",
        "x=($(",
        "a[$(",
        "declare x=($(",
        "<(",
        "[[ a =~ ($(",
        "[[ a == @($(",
        "\"${x:-'$(",
        "function f { coproc { \"$(",
        ">$(",
        "cat <<E\n$(",
        "$((a) ",
        "x=$(",
        "for ((;;$(",
        "[[ ( $(",
    ];
    let worker = std::thread::Builder::new().stack_size(1 << 20).spawn(move || {
        for unit in mixtures {
            let script = parse(&unit.repeat(400));
            assert!(!script.is_clear(), "{unit:?}");
            let copy = script.clone();
            assert_eq!(copy, script);
        }
    });
    worker.expect("a thread starts").join().expect("no stack overflow");
}
