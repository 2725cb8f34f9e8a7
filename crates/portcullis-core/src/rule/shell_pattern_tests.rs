//! One-line tables for patterns of shell commands.

use proptest::prelude::*;

use super::*;
use PatternPiece::{Known, Unknown};

#[track_caller]
fn check(pattern: &str, matching: &[&str], others: &[&str]) {
    let read = ShellPattern::parse(pattern);
    for command in matching {
        assert!(read.matches(command), "{pattern} must match {command:?}");
        assert!(read.may_match(&[Known(command)]), "{pattern} may match {command:?}");
    }
    for command in others {
        assert!(!read.matches(command), "{pattern} must not match {command:?}");
    }
}

#[test]
fn the_documented_table_holds() {
    check("npm run build", &["npm run build", " npm run build "], &["npm run build --watch", "npm run"]);
    check("npm run *", &["npm run build", "npm run test --watch", "npm run"], &["npm install", "npm runx"]);
    check(
        "git log * main",
        &["git log --oneline main", "git log -5 main"],
        &["git log main", "git push origin main"],
    );
    check(
        "git * main",
        &["git merge main", "git push origin main", "git -c core.fsmonitor=x diff main"],
        &["git log", "git main"],
    );
    check("* --version", &["node --version", "bash -c 'echo hi' --version"], &["node -v", "--version"]);
    check("ls *", &["ls -la", "ls"], &["lsof"]);
    check("ls*", &["ls -la", "ls", "lsof"], &["als"]);
    check("* --help *", &["npm --help x"], &["npm --help"]);
    check("git:* push", &["git:x push"], &["git push", "git x push"]);
}

#[test]
fn the_three_shapes_of_rules_are_told_apart() {
    check("npm install", &["npm install"], &["npm install x", "npm"]);
    check("npm:*", &["npm", "npm install", "npm run build", "npm\tinstall"], &["npmx", "npx", "xnpm"]);
    check("git add *", &["git add", "git add .", "git add\na\nb"], &["git addx"]);
    check(r"git ad\* file", &["git ad* file"], &["git add file"]);
    check("git * --dry-run", &["git add . --dry-run", "git clean\n--dry-run --dry-run"], &["git --dry-run"]);
    check("git *", &["git add", "git"], &["gita"]);
    check("* run *", &["npm run x"], &["npm run", "run x"]);
    check("npm run test:*", &["npm run test", "npm run test x"], &["npm run test:unit"]);
    check("npm run test:unit", &["npm run test:unit"], &["npm run test"]);
    check(":*", &[":", ":x"], &["ls"]);
    check("*", &["", "anything"], &[]);
    check("*:*", &["ls", "ls -l"], &[]);
    check("git * push:*", &["git -C x push y", "git -C x push --force"], &["git push"]);
    check(r"echo \*:*", &["echo * x", "echo *"], &["echo a"]);
}

#[test]
fn runs_of_blanks_count_as_one_but_not_in_exact_rules() {
    check("git  push   *", &["git push", "git   push\t origin"], &[]);
    check("git   push:*", &["git push", "git  push x"], &[]);
    check("git push * main", &["git  push \n x   main"], &[]);
    check("git push", &["git push\n"], &["git  push"]);
}

#[test]
fn backslashes_belong_to_the_shell_unless_a_star_follows() {
    check(r"printf 'a\nb\\c'", &[r"printf 'a\nb\\c'"], &[r"printf 'a\nb\c'"]);
    check(r"echo \\\*", &[r"echo \*"], &["echo *", r"echo \x"]);
    check(r"echo \\*", &[r"echo \", r"echo \x"], &["echo *"]);
}

/// Pattern, program, words, and whether it is open-ended.
type WordsTable<'a> = &'a [(&'a str, Option<&'a str>, Option<&'a [&'a str]>, bool)];

#[test]
fn programs_and_words_are_given_only_where_they_are_certain() {
    let table: WordsTable<'_> = &[
        ("npm run build", Some("npm"), Some(&["npm", "run", "build"]), false),
        ("npm:*", Some("npm"), Some(&["npm"]), true),
        ("npm run *", Some("npm"), Some(&["npm", "run"]), true),
        ("ls*", None, None, true),
        ("git * main", Some("git"), None, false),
        ("git log --*", Some("git"), None, true),
        ("* --version", None, None, false),
        ("*", None, None, true),
        ("/bin/rm *", Some("/bin/rm"), Some(&["/bin/rm"]), true),
        ("A=1 npm test", None, Some(&["A=1", "npm", "test"]), false),
        ("\"my tool\" x", None, None, false),
        ("git commit -m \"a b\"", Some("git"), None, false),
        ("$TOOL x", None, None, false),
        ("cat a | sh", Some("cat"), None, false),
    ];
    for (pattern, program, words, open) in table {
        let read = ShellPattern::parse(pattern);
        assert_eq!(read.program(), *program, "{pattern}");
        assert_eq!(read.literal_words().as_deref(), *words, "{pattern}");
        assert_eq!(read.is_open_ended(), *open, "{pattern}");
    }
}

#[test]
fn a_partly_unknown_command_may_match_what_it_could_become() {
    let table: &[(&str, &[PatternPiece<'_>], bool)] = &[
        ("rm:*", &[Known("rm "), Unknown], true),
        ("rm:*", &[Unknown], true),
        ("rm:*", &[Known("r"), Unknown], true),
        ("rm:*", &[Known("ls "), Unknown], false),
        ("rm:*", &[Known("rmdir "), Unknown], false),
        ("git push", &[Known("git "), Unknown, Known(" push")], true),
        ("git push", &[Known("git push "), Unknown], true),
        ("git push", &[Known("git pushx "), Unknown], false),
        ("git push *", &[Known("git push "), Unknown], true),
        ("git push --force", &[Known("git push "), Unknown], true),
        ("git push --force", &[Known("git "), Unknown, Known(" origin")], false),
        ("lsof", &[Known("ls "), Unknown], false),
        ("ls", &[Known("ls "), Unknown], true),
        ("ls *", &[Unknown, Known(" ls")], true),
        ("push", &[Unknown, Known(" push")], true),
        ("npm run *", &[Known("npm "), Unknown, Unknown, Known(" x")], true),
        ("* --force *", &[Known("git  push "), Unknown, Known("  x")], true),
    ];
    for (pattern, pieces, expected) in table {
        assert_eq!(ShellPattern::parse(pattern).may_match(pieces), *expected, "{pattern} on {pieces:?}");
    }
}

#[test]
fn power_shell_commands_match_in_any_case() {
    for pattern in ["Remove-Item x", "remove-item:*", "REMOVE-*"] {
        assert!(ShellPattern::parse(pattern).matches_ignoring_case("Remove-Item X"), "{pattern}");
    }
    assert!(!ShellPattern::parse("Remove-Item:*").matches_ignoring_case("Remove-ItemX"));
}

#[test]
fn a_pattern_covers_the_commands_of_a_narrower_one() {
    for (wide, narrow, expected) in [
        ("git:*", "git push:*", true),
        ("git *", "git push:*", true),
        ("git *", "git", true),
        ("git:*", "git *", true),
        ("git push:*", "git:*", false),
        ("git push *", "git push origin main", true),
        ("git * main", "git push * main", true),
        ("git push", "git push", true),
        ("git push", "git push *", false),
        ("git push x*", "git push *", false),
        ("git*", "git push", true),
        ("git:*", "gitx *", false),
    ] {
        assert_eq!(
            ShellPattern::parse(wide).covers(&ShellPattern::parse(narrow)),
            expected,
            "{wide} over {narrow}"
        );
    }
}

proptest! {
    #[test]
    fn an_escaped_command_is_matched_and_nothing_else(command in r"[a*\\: ]{1,10}", other in r"[a*\\: ]{1,10}") {
        let command = command.trim();
        let read = ShellPattern::parse(&ShellPattern::escape(command));
        prop_assert_eq!(&read, &ShellPattern::Exact(command.to_owned()));
        prop_assert_eq!(read.matches(&other), other.trim() == command);
    }

    #[test]
    fn a_match_is_always_a_possible_match(
        pattern in "[ab *]{1,7}(:\\*)?", left in "[ab ]{0,4}", hidden in "[ab ]{0,4}", right in "[ab ]{0,4}",
    ) {
        let read = ShellPattern::parse(&pattern);
        if read.matches(&format!("{left}{hidden}{right}")) {
            prop_assert!(read.may_match(&[Known(&left), Unknown, Known(&right)]), "{:?}", read);
        }
    }

    #[test]
    fn a_covered_pattern_matches_nothing_more(wide in "[ab *]{1,6}(:\\*)?", narrow in "[ab *]{1,6}(:\\*)?", command in "[ab ]{0,7}") {
        let (wide, narrow) = (ShellPattern::parse(&wide), ShellPattern::parse(&narrow));
        if wide.covers(&narrow) && narrow.matches(&command) {
            prop_assert!(wide.matches(&command), "{:?} over {:?}", wide, narrow);
        }
    }
}
