//! One-line tables for path patterns. Agreement with git itself is tested in `tests/rule_gitignore.rs`.

use Behavior::{Allow, Ask, Deny};

use super::*;

const ANCHORS: PathAnchors<'static> = PathAnchors {
    cwd: "/code/app",
    project: "/code/app",
    home: Some("/home/me"),
    base: Some("/home/me/.claude"),
};

#[track_caller]
fn check(content: &str, behavior: Behavior, path: &str, expected: bool) {
    let pattern = PathPattern::parse(content, behavior).unwrap();
    assert_eq!(pattern.matches(path, &ANCHORS), expected, "{behavior} {content} on {path}");
    if let Some(name) = pattern.required_name().filter(|_| expected) {
        assert!(
            path::components(path).any(|component| component == name),
            "{content} needs {name} in {path}"
        );
    }
}

#[track_caller]
fn check_all(content: &str, path: &str, expected: bool) {
    for behavior in [Allow, Ask, Deny] {
        check(content, behavior, path, expected);
    }
}

#[test]
fn the_four_anchors_stand_for_their_directories() {
    check_all("//etc/passwd", "/etc/passwd", true);
    check_all("//etc/passwd", "/code/app/etc/passwd", false);
    check_all("//**/.env", "/anywhere/at/all/.env", true);
    check_all("~/.ssh/**", "/home/me/.ssh/id", true);
    check_all("~/.ssh/**", "/home/you/.ssh/id", false);
    check_all("~/.zshrc", "/home/me/.zshrc", true);
    check_all("~/.zshrc", "/home/me/x/.zshrc", false);
    check_all("/secrets/**", "/home/me/.claude/secrets/x", true);
    check_all("/secrets/**", "/code/app/secrets/x", false);
    check_all("/secrets/**", "/secrets/x", false);
    check_all("*.md", "/code/app/a/b.md", true);
    check_all("*.md", "/code/b.md", false);
    check_all("./src/*.rs", "/code/app/src/a.rs", true);
    check_all("src/*.rs", "/code/app/x/src/a.rs", false);
    check_all("/Users/me/**", "/Users/me/x", false);
}

#[test]
fn a_source_without_directory_of_its_own_speaks_for_the_project() {
    let anchors = PathAnchors { base: None, ..ANCHORS };
    let pattern = PathPattern::parse("/src/**", Allow).unwrap();
    assert!(pattern.matches("/code/app/src/x", &anchors));
    assert!(!pattern.matches("/home/me/.claude/src/x", &anchors));
}

#[test]
fn a_single_directory_is_guarded_at_any_depth_but_allowed_at_one() {
    let table = [
        ("src/**", [true, false], [true, true]),
        ("/src/**", [true, false], [true, false]),
        ("**/src/**", [true, true], [true, true]),
        ("./src/**", [true, false], [true, true]),
        ("src", [true, true], [true, true]),
        ("src/", [true, true], [true, true]),
    ];
    let anchors = PathAnchors { base: None, ..ANCHORS };
    for (content, allowed, guarded) in table {
        for (path, allow, guard) in
            [("/code/app/src/app.ts", 0, 0), ("/code/app/vendor/pkg/src/lib.js", 1, 1)]
                .map(|(p, a, g)| (p, allowed[a], guarded[g]))
        {
            assert_eq!(
                PathPattern::parse(content, Allow).unwrap().matches(path, &anchors),
                allow,
                "{content} {path}"
            );
            for behavior in [Deny, Ask] {
                let pattern = PathPattern::parse(content, behavior).unwrap();
                assert_eq!(pattern.matches(path, &anchors), guard, "{behavior} {content} {path}");
            }
        }
    }
}

#[test]
fn names_match_at_any_depth_and_directories_cover_their_children() {
    check_all(".env", "/code/app/.env", true);
    check_all(".env", "/code/app/a/b/.env", true);
    check_all(".env", "/code/app/.env/x", true);
    check_all(".env", "/code/app/.env.local", false);
    check_all("**/.env", "/code/app/.env", true);
    check_all("build/", "/code/app/build/x", true);
    check_all("a/*/c", "/code/app/a/b/c/d", true);
    check_all("./Finance (2024)/**", "/code/app/Finance (2024)/x", true);
    check_all("{a,b}.txt", "/code/app/a.txt", false);
    check_all("{a,b}.txt", "/code/app/{a,b}.txt", true);
    check_all(r"\[id\].tsx", "/code/app/[id].tsx", true);
    check_all("[id].tsx", "/code/app/i.tsx", true);
    check_all("**", "/code/app/x", true);
    check_all("**", "/code/x", false);
}

#[test]
fn what_may_be_a_directory_is_guarded_but_not_allowed() {
    check("build/", Allow, "/code/app/build", false);
    check("build/", Allow, "/code/app/build/", true);
    check("build/", Deny, "/code/app/build", true);
    check("secrets/**", Deny, "/code/app/secrets", true);
    check("secrets/**", Deny, "/code/app/x/secrets", true);
    check("secrets/**", Allow, "/code/app/secrets", false);
    check("//**", Deny, "/", true);
    check("~", Deny, "/home/me/x", true);
    check("~/", Ask, "/home/me", true);
    check(".", Deny, "/code/app/x", true);
    check("/", Deny, "/home/me/.claude/x", true);
}

#[test]
fn no_path_outside_the_anchor_ever_matches() {
    for content in ["**", "*", "/**", "~/**", "src/**", "**/*.rs", "a/../**", "[!x]*"] {
        let Ok(pattern) = PathPattern::parse(content, Allow) else { continue };
        for path in
            ["/code/app-evil/x", "/code/app/../x", "/code/x.rs", "/", "/home/me2/x", "/etc/passwd", "../x"]
        {
            assert!(!pattern.matches(path, &ANCHORS), "{content} on {path}");
        }
    }
    check_all("src/**", "/code/app/src/../../../etc/passwd", false);
    check_all("src/**", "/code/app/./x/../src//a", true);
    check("src/**", Allow, "src/a", true);
}

#[test]
fn a_guard_may_rise_above_the_current_directory_but_an_allow_may_not() {
    check("../secrets/**", Deny, "/code/secrets/x", true);
    check("../../secrets", Ask, "/secrets/x", true);
    check("../secrets/**", Deny, "/code/app/secrets/x", false);
    check("..", Deny, "/code/x", true);
    check("../**", Deny, "/code/x/y", true);
    assert!(PathPattern::parse("../x", Allow).is_err());
}

#[test]
fn an_unusable_pattern_guards_its_own_path_and_allows_nothing() {
    for (content, path) in [
        ("data[1", "/code/app/data[1"),
        ("//srv/data[1", "/srv/data[1/x"),
        (r"trailing\", r"/code/app/trailing\"),
        ("#notes", "/code/app/#notes"),
        ("a/../b", "/code/app/b"),
        ("a//b", "/code/app/a/b"),
        ("a/./b", "/code/app/a/b/c"),
        ("x[[:nope:]]", "/code/app/x[[:nope:]]"),
    ] {
        check(content, Deny, path, true);
        check(content, Ask, path, true);
        check(content, Deny, "/code/app/other", false);
        assert!(PathPattern::parse(content, Allow).is_err(), "{content}");
    }
    for content in ["", "/", "//", "~", "~/", ".", "./", "!x", "   "] {
        assert!(PathPattern::parse(content, Allow).is_err(), "{content:?}");
    }
    assert!(PathPattern::parse("![", Deny).is_err());
    assert!(PathPattern::parse("data[1", Deny).unwrap().is_exact_only());
}

#[test]
fn an_unknown_home_may_be_anywhere_for_a_guard_and_nowhere_for_an_allow() {
    let anchors = PathAnchors { home: None, ..ANCHORS };
    for (behavior, expected) in [(Deny, true), (Ask, true), (Allow, false)] {
        let pattern = PathPattern::parse("~/.ssh/**", behavior).unwrap();
        assert_eq!(pattern.matches("/somewhere/me/.ssh/id", &anchors), expected, "{behavior}");
        assert!(!pattern.matches("/somewhere/me/ssh/id", &anchors), "{behavior}");
    }
}

#[test]
fn case_counts_unless_told_otherwise() {
    for (content, path) in [
        (".ENV", "/code/app/.env"),
        ("[A-C].txt", "/code/app/b.TXT"),
        ("É", "/code/app/é"),
        ("[[:upper:]]", "/code/app/x"),
    ] {
        assert!(!PathPattern::parse(content, Deny).unwrap().matches(path, &ANCHORS), "{content}");
        let folded = PathPattern::parse_with_case(content, Deny, LetterCase::Insensitive).unwrap();
        assert!(folded.matches(path, &ANCHORS), "{content}");
        assert_eq!(folded.required_name(), None);
    }
}

#[test]
fn names_every_match_must_have_are_known() {
    for (content, name) in [
        (".env", Some(".env")),
        ("src/**", Some("src")),
        ("//etc/ssh/*", Some("ssh")),
        ("**/node_modules/*.js", Some("node_modules")),
        ("*.rs", None),
        ("**", None),
        ("[a]/b?", None),
        ("data[1", None),
    ] {
        assert_eq!(PathPattern::parse(content, Deny).unwrap().required_name(), name, "{content}");
    }
}

#[test]
fn negated_patterns_take_paths_out_of_the_relative_ones_before_them() {
    let table: &[(&[&str], &str, Option<usize>)] = &[
        (&["*.env", "!test.env"], "/code/app/a.env", Some(0)),
        (&["*.env", "!test.env"], "/code/app/x/test.env", None),
        (&["!test.env", "*.env"], "/code/app/test.env", Some(1)),
        (&["secrets/**", "!secrets/public.txt"], "/code/app/secrets/public.txt", None),
        (&["secrets/**", "!secrets/public.txt"], "/code/app/secrets/x", Some(0)),
        (&["secrets/**", "!secrets/public.txt"], "/code/app/secrets", Some(0)),
        (&["secrets", "!secrets/public.txt"], "/code/app/secrets/public.txt", Some(0)),
        (&["//code/app/*.env", "!test.env"], "/code/app/test.env", Some(0)),
        (&["*.env", "!/test.env"], "/code/app/x/test.env", Some(0)),
        (&["*.env", "!/test.env"], "/code/app/test.env", None),
        (&["!test.env"], "/code/app/test.env", None),
        (&["a", "b"], "/code/app/b", Some(1)),
        (&["a", "!b"], "/elsewhere/a", None),
    ];
    for (contents, path, expected) in table {
        let patterns: Vec<PathPattern> =
            contents.iter().map(|content| PathPattern::parse(content, Deny).unwrap()).collect();
        let references: Vec<&PathPattern> = patterns.iter().collect();
        assert_eq!(guarding_pattern(&references, path, &ANCHORS), *expected, "{contents:?} on {path}");
    }
    let negated = PathPattern::parse("!x", Deny).unwrap();
    assert!(negated.is_negated());
    assert!(!negated.matches("/code/app/x", &ANCHORS));
}

#[test]
fn patterns_full_of_stars_stay_cheap() {
    let pattern = PathPattern::parse(&format!("{}b", "a*".repeat(60)), Allow).unwrap();
    assert!(!pattern.matches(&format!("/code/app/{}", "a".repeat(4_000)), &ANCHORS));
    let deep = PathPattern::parse(&format!("{}b", "**/a/".repeat(60)), Allow).unwrap();
    assert!(!deep.matches(&format!("/code/app/{}", "a/".repeat(2_000)), &ANCHORS));
}
