//! What is not analysed: broken texts, and texts whose meaning depends on a shell's version or defects.

use portcullis_shell::ast::CommandKind;
use portcullis_shell::parse;

use crate::commands::argument_lists;

const REFUSED: &[&str] = &[
    // Broken.
    ";",
    "a ;; b",
    "a & ; b",
    "&& a",
    "a &&",
    "a |",
    "a | | b",
    "| a",
    "a || && b",
    ")",
    "a )",
    "(",
    "( )",
    "(a",
    "{ a",
    "{ }",
    "{ a; } b",
    "} a",
    "fi",
    "then",
    "in a",
    "]] a",
    "do",
    "done",
    "esac",
    "if",
    "if a",
    "if a; then",
    "if a; then fi",
    "if a; fi",
    "if ; then b; fi",
    "if { a; } >x then b; fi",
    "while a; { b; }",
    "while a; do done",
    "for",
    "for x in a; b",
    "for x { a; }",
    "for ((a;b)); do c; done",
    "for x in a do b; done",
    "case",
    "case x in a b) c;; esac",
    "case x in a)",
    "case x in ) a;; esac",
    "case x in esac) a;; esac",
    "function f a",
    "f() a",
    "f( a",
    "a=b() { c; }",
    "f() time x",
    "coproc ! a",
    "coproc coproc a",
    "coproc f() { a; }",
    "coproc a ! b",
    "a | ! b",
    "(!)",
    "time &",
    "echo (a)",
    "a(b)",
    "echo a=(b)",
    "a=(b | c)",
    "a=(b",
    "a=([k]=(x))",
    ">",
    "a > ;",
    "a <<",
    "a <<<",
    "a >2>x",
    "a &>(x)",
    ">>(x)",
    "'",
    "\"",
    "`",
    "$(",
    "${",
    "$((",
    "((",
    "$[",
    "$'",
    "a\\",
    "\"$(\"",
    "[[ a b ]]",
    "[[ -f ]]",
    "[[ ]]",
    "[[ a && ]]",
    "[[ a",
    "[[ @(a) == b ]]",
    "[[ a\n]]",
    "a[1",
    "!(a|b) c",
    "ls *(x)",
    "echo `a )`",
    "echo `if`",
    "echo \"`'`\"",
    // Refused on purpose.
    "echo $(x=(\\; b) c)",
    "echo $(time { a; })",
    "echo $(time ! a)",
    "echo $(! time { a; })",
    "((a\nb) || (c))",
    "((a <<E) || (b))\nE",
    "echo $(coproc a)",
    "echo \"${x:-\"a$\"(b)}\"",
    "echo \"${x:-'$\"(b)'}\"",
    "echo \"${x:-$\"(b)\"}\"",
    "cat <<E\n${x:-\"$\"(b)}\nE",
    "echo \"${x#<(b)}\"",
    "x=([<(b)]=1)",
    "x=([\\$(b)]=1)",
    "echo ${a[$'\\x24(b)']}",
    "echo ${a[}`b`]}",
    "echo $(a <<E | b; c\nE\n)",
    "a[$$(]=1",
    "echo \"$$(a)\"",
    "a\0b",
    "echo $(while a; do b; done <<E\nE\n)",
    "echo $(if a; then cat <<E\nE\nfi)",
    "echo $( (cat <<E\nE\n) )",
    "echo <(for x in a; do cat <<E\nE\ndone)",
    "echo $(( $(cat <<E\n1\nE\n) ))",
    "echo $((cat <<E) ; a\nE\n)",
    "echo $(cat <<E)\nbody\nE",
    "cat <<$x\n$x",
    "cat <<`a`",
    "cat <<$(a)\nx\n$(a)",
    "cat <<$'E'\nE",
    "cat <<$\"E\"\nE",
    "cat <<\"E\\\"\"\nE",
    "$x() { a; }",
    "\"f\"() { a; }",
    "for $x in a; do b; done",
    "for \"x\" in a; do b; done",
    "coproc $x { a; }",
    "a\\\nb=1",
    "a[1] b",
    "{a[1]}>x b",
    "99999999999>x a",
    "echo \"${x:-$'$(a)'}\"",
    "echo \"${x:-$'\\x24(a)'}\"",
    "echo ${x:-<(a)}",
    "[[ a =~ (<(b)) ]]",
    "echo \"${x:-'$(echo 'a')'}\"",
    "echo $(( $(case x in a) b;; esac) ))",
    "echo $((a); case x in b) c;; esac)",
    "echo \"${x:-`a \\\"b\\\"`}\"",
    "echo $'\\xff'",
    "echo $'\\udc00'",
    "echo $'\\U00110000'",
    "echo ${ a }",
    "echo ${ a; ${x}; }",
    "x=(a)b",
    // Only zsh.
    "echo ${(f)x}",
    "ls *(e:'a':)",
    "a =(b)",
    "foreach x (a b) c; end",
    "() { a }",
    "for x (a b) c",
    "if a { b }",
    "a &! b |",
];

#[test]
fn what_is_broken_or_ambiguous_is_an_error() {
    for text in REFUSED {
        let script = parse(text);
        assert!(!script.is_clear(), "{text:?} was taken as {:?}", argument_lists(&script));
        assert_eq!(script.errors.len(), 1, "{text:?}");
        let message = &script.errors[0].message;
        assert!(!message.ends_with('.') && message.chars().next().is_some_and(|first| !first.is_uppercase()));
    }
}

#[test]
fn commands_before_an_error_stay_and_the_rest_is_opaque() {
    let table: &[(&str, &[&str])] = &[
        ("rm x; )", &["rm·x"]),
        ("rm x; if y; then z; ;", &["rm·x", "y", "z"]),
        ("a && { b; (c", &["a", "b", "c"]),
        ("a $(b 'c", &["a·$(b 'c", "b·"]),
        ("a\nb `c )`\nd", &["a", "b·`c )`\nd", "c"]),
        ("for x in $(a); do b; <<$c", &["a", "b"]),
    ];
    for (text, expected) in table {
        let script = parse(text);
        assert!(!script.is_clear(), "{text:?}");
        let found: Vec<String> = argument_lists(&script).into_iter().map(|words| words.join("·")).collect();
        assert_eq!(found, *expected, "{text:?}");
    }
}

#[test]
fn a_top_level_error_leaves_an_opaque_command_to_the_end() {
    let text = "a; b; ) c; d";
    let script = parse(text);
    let last = script.body.items.last().expect("the opaque rest");
    let command = &last.pipelines[0].1.stages[0];
    assert_eq!(command.kind, CommandKind::Opaque);
    assert_eq!(command.span.of(text), ") c; d");
    assert_eq!(script.body.items.len(), 3);
}
