//! A survey puts in what is known: variables of one value, the home directory, brace lists, plain output.

use portcullis_analysis::{Argument, Invocation, Knowledge};

use crate::survey::look;

/// Returns the texts of the invocation of this program, those that are not exact in angle brackets.
fn words(command: &str, name: &str) -> String {
    let found = look(command);
    let is_named = |invocation: &&Invocation| invocation.program_name() == Some(name);
    let Some(invocation) = found.invocations.iter().rfind(is_named) else {
        return String::new();
    };
    let shown = |word: &Argument| match word.knowledge {
        Knowledge::Fixed => format!("{:?}", word.text).trim_matches('"').to_owned(),
        Knowledge::Tilde => format!("~<{}>", word.text),
        Knowledge::Glob => format!("*<{}>", word.text),
        Knowledge::Dynamic => format!("?<{}>", word.text),
    };
    shown_words(&invocation.arguments).map(shown).collect::<Vec<_>>().join("|")
}

/// Leaves out what stands for the further words that a word may be split into.
fn shown_words(words: &[Argument]) -> impl Iterator<Item = &Argument> {
    words.iter().filter(|word| !word.is_further())
}

fn is_opaque(command: &str) -> bool {
    !look(command).opacities.is_empty()
}

#[test]
fn a_variable_of_one_value_is_put_in() {
    for (command, expected) in [
        ("X=rm; $X -rf /", "rm|-rf|/"),
        ("X=rm && ${X} a", "rm|a"),
        ("X='rm -rf'; $X /", "rm|-rf|/"),
        ("D=/etc; F=$D/passwd; rm \"$F\"", "rm|/etc/passwd"),
        ("D=/etc\nrm pre${D}post", "rm|pre/etcpost"),
        ("D='a b'; rm \"$D\"/c $D/c", "rm|a b/c|a|b/c"),
        ("D=*.txt; rm $D \"$D\"", "rm|*<*.txt>|*.txt"),
        ("D=; rm a$D $D \"$D\" b", "rm|a||b"),
        ("D=~/x; rm $D", "rm|/home/me/x"),
        ("D='~/x'; rm $D", "rm|~/x"),
        ("export D=/etc; rm $D", "rm|/etc"),
        ("readonly D='/e c'; rm \"$D\"", "rm|/e c"),
        ("D=/etc; rm $D/$y", "rm|?</etc/$y>"),
        ("D=/etc; rm ~/$D", "rm|~<~//etc>"),
        ("D=/etc; (rm $D)", "rm|/etc"),
        ("D=/etc; echo $(rm $D)", "rm|/etc"),
        ("D=/etc; if true; then rm $D; fi", "rm|/etc"),
        ("D=/etc; f() { rm $D; }; f", "rm|/etc"),
        ("D=/etc; eval 'rm $D'", "rm|/etc"),
        ("D=/etc; eval \"rm $D\"", "rm|/etc"),
        ("D='rm /etc'; eval \"$D\"", "rm|/etc"),
        ("D='rm /etc'; bash -c \"$D\"", "rm|/etc"),
        ("bash -c 'D=/etc; rm $D'", "rm|/etc"),
        ("cd /x && D=/etc && rm $D", "rm|/etc"),
        ("D=$(echo /etc); rm $D", "rm|/etc"),
        ("D=/etc; bash <<X\nrm $D\nX", "rm|/etc"),
        ("D=/etc; bash <<< \"rm $D\"", "rm|/etc"),
        ("D=/etc; sudo rm $D", "rm|/etc"),
        ("D=/etc; for f in $D; do rm $D; done", "rm|/etc"),
    ] {
        assert_eq!(words(command, "rm"), expected, "{command}");
        assert!(!is_opaque(command), "{command}");
    }
}

#[test]
fn a_variable_of_unsure_value_is_not() {
    for command in [
        "rm $D",
        "rm $D; D=a",
        "false && D=a; rm $D",
        "true || D=a; rm $D",
        "(D=a); rm $D",
        "D=a & rm $D",
        "D=a | x; rm $D",
        "D=a x; rm $D",
        "D=a > f; rm $D",
        "{ D=a; } > f; rm $D",
        "if x; then D=a; fi; rm $D",
        "while x; do D=a; done; rm $D",
        "for i in 1; do D=a; done; rm $D",
        "case x in x) D=a;; esac; rm $D",
        "f() { D=a; }; f; rm $D",
        "f() { D=a; }; rm $D",
        "D=a; read D; rm $D",
        "D=a; read -r 'D'; rm $D",
        "AB=a; read A''B; rm $AB",
        "D=a; read $x; rm $D",
        "D=a; printf -v D %s b; rm $D",
        "D=a; printf -vD %s b; rm $D",
        "D=a; unset D; rm $D",
        "D=a; declare -n x=D; x=b; rm $D",
        "D=a; declare -n x; x=D; x=b; rm $D",
        "D=a; command read D; rm $D",
        "D=a; mapfile D; rm $D",
        "D=a; declare -u D; rm $D",
        "D=a; let D=1; rm $D",
        "D=a; ((D=1)); rm $D",
        "D=a; : ${D:=b}; rm $D",
        "D=a; source f; rm $D",
        "D=a; . ./f; rm $D",
        "D=a; eval 'D=b'; rm $D",
        "D=a; eval 'for D in b; do :; done'; rm $D",
        "D=~\"/x\"; rm $D",
        "rm ${| echo a; }",
        "D=a; trap 'D=b' DEBUG; rm $D",
        "D=a; x='D=b'; eval \"$x\"; rm $D",
        "D=a; export $x=b; rm $D",
        "D=a; exec {D}> f; rm $D",
        "D+=a; rm $D",
        "D=$(x); rm $D",
        "D=$x; rm $D",
        "D=a; bash -c 'rm $D'",
        "D=a; f() { rm $D; }; export -f f; bash -c f",
        "D='a b'; IFS=,; rm $D",
        "zsh -c 'D=\"a b\"; rm $D'",
    ] {
        assert!(words(command, "rm").contains("?<"), "{command}: {}", words(command, "rm"));
    }
}

/// Returns the words after every start of `rm`, those that are not exact with what they may be.
fn removals(command: &str) -> Vec<String> {
    let found = look(command);
    let is_removal = |invocation: &&Invocation| invocation.program_name() == Some("rm");
    let shown = |word: &Argument| match (word.fixed(), word.patterns()) {
        (Some(text), _) => text.to_owned(),
        (None, Some(patterns)) => format!("<{}>", patterns.join("|")),
        (None, None) => "?".to_owned(),
    };
    let words =
        |invocation: &Invocation| shown_words(invocation.operands()).map(shown).collect::<Vec<_>>().join(" ");
    found.invocations.iter().filter(is_removal).map(words).collect()
}

#[test]
fn a_command_is_listed_once_for_each_value() {
    for (command, expected) in [
        ("D=a; D=b; rm $D", &["b"] as &[&str]),
        ("D=a || x; y && D=b; rm $D", &["a", "b"]),
        ("D=a; x && D=b && z && D=c; rm $D", &["a", "b", "c"]),
        ("if x; then D=a; else D=b; fi; rm $D", &["a", "b"]),
        ("D=a; if x; then D=b; fi; rm $D", &["a", "b"]),
        ("if x; then D=a; elif y; then D=b; fi; rm $D", &["?"]),
        ("case x in a) D=1;; *) D=2;; esac; rm $D", &["1", "2"]),
        ("case x in a) D=1;; b) D=2;; esac; rm $D", &["?"]),
        ("D=a; (D=b); rm $D", &["a"]),
        ("D=a; D=b & rm $D", &["a"]),
        ("for D in a 'b c'; do rm \"$D\"; done", &["a", "b c"]),
        ("for D in a b; do rm $D $D.o; done", &["a a.o", "b b.o"]),
        ("for D in a b; do E=$D.o; rm $E; done", &["a.o", "b.o"]),
        ("D=a; for i in 1 2; do rm $D; D=b; done", &["?"]),
        ("D=a; while x; do rm $D; D=b; done", &["?"]),
        ("D=a; f() { rm $D; }; D=b; f", &["b"]),
        ("D=a; f() { rm $D; }; D=b; trap f EXIT", &["?"]),
        ("D=a; trap 'rm $D' EXIT; D=b", &["?"]),
        ("f() { rm \"$1\" x; }; f a; f 'b c'", &["a x", "b c x"]),
        ("f() { rm \"$@\"; }; f a b", &["a b"]),
        ("f() { local d=$1; rm $d; }; f a", &["a"]),
        ("f() { shift; rm $1; }; f a b", &["?"]),
        ("D=(a 'b c'); rm \"${D[@]}\" ${D[1]} $D", &["a b c b c a"]),
        ("rm ${D:-x}; D=a; rm ${D:-x} ${D%a}b", &["?", "a b"]),
        ("D=src/a.ts; rm ${D%.ts}.js ${D##*/} ${D%/*} ${D/a/b}", &["src/a.js a.ts src src/b.ts"]),
        ("n=3; rm f$((n + 1)) $((n-5))", &["f4 -2"]),
        ("echo a b | xargs rm", &["a b"]),
        ("printf 'a\\nb\\n' | xargs -I{} rm x/{}", &["x/a", "x/b"]),
    ] {
        let mut all = removals(command);
        all.sort();
        assert_eq!(all, expected, "{command}");
    }
}

#[test]
fn a_value_that_is_not_known_is_of_a_shape() {
    for (command, expected) in [
        ("for f in src/*.ts; do rm $f ${f%.ts}.js ${f##*/}; done", "<src/*.ts> <src/*.js> <*.ts>"),
        ("find src -name '*.o' | xargs rm", "<src/**/*.o>"),
        ("find . -type f -name '*.o' -exec rm {} +", "<./*.o|./**/*.o>"),
        ("find . -exec rm {} \\;", "<.|./**/*>"),
        ("find . -name a -o -name b | xargs rm", "<./**/a> <./**/b>"),
        ("find / | xargs rm", "</|/**/*>"),
        ("rm $(git ls-files)", "<*|**/*>"),
        ("git ls-files | while read -r f; do rm $f; done", "<*|**/*>"),
        ("while read -r f; do rm $f; done < <(fd -e o)", "<*.o|**/*.o>"),
        ("git ls-files | { read f; rm $f; }", "?"),
        ("while read -r f; do rm $f; done < list", "?"),
        ("mapfile -t a < <(ls); rm \"${a[@]}\"", "<*>"),
        ("t=$(mktemp); rm $t", "</tmp/tmp.[0-9A-Za-z]*>"),
        ("rm log.$$ log.$(date +%F)", "<log.[0-9]*> <log.[0-9A-Za-z]*>"),
        ("i=0; while x; do rm f$i; i=$((i+1)); done", "<f[-0-9]*>"),
        ("rm $(basename \"$x\") $(cat f)", "? ?"),
        ("for f in src/*; do rm \"$f/../x\"; done", "?"),
        ("for d in src/*/; do rm $(dirname \"$d\")/x; done", "src/x"),
        ("cat list | xargs rm", "?"),
        ("find . | xargs -a list rm", "?"),
        ("find . -printf '%f' | xargs rm", "?"),
    ] {
        let all = removals(command);
        assert!(all.iter().any(|words| words == expected), "{command}: {all:?}");
    }
}

#[test]
fn the_home_directory_and_the_place_are_put_in() {
    for (command, expected) in [
        ("rm $HOME", "rm|/home/me"),
        ("rm \"${HOME}/x\"", "rm|/home/me/x"),
        ("rm $PWD/x", "rm|/code/app/x"),
        ("cd ../x && rm $PWD", "rm|/code/x"),
        ("rm $(pwd)/x", "rm|/code/app/x"),
        ("cd $x; rm $PWD", "rm|?<$PWD>"),
        ("HOME=/x; rm $HOME", "rm|?<$HOME>"),
        ("PWD=/x; rm $PWD", "rm|?<$PWD>"),
        ("sudo sh -c 'rm $HOME'", "rm|?<$HOME>"),
        ("ssh host 'rm $HOME'", "rm|?<$HOME>"),
        ("env -i bash -c 'rm $HOME'", "rm|?<$HOME>"),
        ("bash -c 'rm $HOME'", "rm|/home/me"),
        ("rm${IFS}-rf${IFS}/", "rm|-rf|/"),
        ("rm${IFS}-rf$IFS/", "rm|-rf|/"),
        ("rm \"$IFS\"", "rm| \\t\\n"),
        ("IFS=x; rm a${IFS}b", "rm|?<a${IFS}b>"),
    ] {
        assert_eq!(words(command, "rm"), expected, "{command}");
    }
}

#[test]
fn brace_lists_become_words() {
    for (command, expected) in [
        ("{rm,-rf,/etc}", "rm|-rf|/etc"),
        ("rm /{etc,usr}/x", "rm|/etc/x|/usr/x"),
        ("rm {~,a}/x", "rm|~<~/x>|a/x"),
        ("rm {a,b*}", "rm|a|*<b*>"),
        ("rm {a,$x}", "rm|?<{a,$x}>"),
        ("rm {1..3}", "rm|1|2|3"),
        ("rm {1..300}", "rm|?<{1..300}>"),
        ("sh -c 'rm {a,b}'", "rm|?<{a,b}>"),
        ("bash -c 'rm {a,b}'", "rm|a|b"),
    ] {
        assert_eq!(words(command, "rm"), expected, "{command}");
    }
    let found = look("rm -v {a,b} \"c\"");
    assert_eq!(found.invocations[0].as_written(), "rm -v {a,b} \"c\"");
    let found = look("bash -c 'rm \"a\" \"a\"'");
    assert_eq!(found.invocations[1].as_written(), "rm \"a\" \"a\"");
}

#[test]
fn plain_output_is_put_in() {
    for (command, expected) in [
        ("$(echo rm) -rf /", "rm|-rf|/"),
        ("$(echo rm -rf /)", "rm|-rf|/"),
        ("`echo rm` a", "rm|a"),
        ("$(printf 'r%s' m) a", "rm|a"),
        ("$(printf '\\x72\\x6d') a", "rm|a"),
        ("$(printf '\\162\\155') a", "rm|a"),
        ("$(echo -e '\\x72m') a", "rm|a"),
        ("rm \"$(echo a b)\"", "rm|a b"),
        ("$(echo mr | rev) a", "rm|a"),
        ("$(echo ez | tr a-z n-za-m) a", "rm|a"),
        ("$(echo cm0K | base64 -d) a", "rm|a"),
        ("rm $(echo a; echo b)", "rm|?<$(echo a; echo b)>"),
        ("rm $(echo a > f)", "rm|?<$(echo a > f)>"),
        ("rm $(echo a || b)", "rm|?<$(echo a || b)>"),
        ("rm $(echo \"$x\")", "rm|?<$(echo \"$x\")>"),
        ("rm $(echo 'a\\nb')", "rm|?<$(echo 'a\\nb')>"),
        ("rm $(date)", "rm|?<$(date)>"),
        ("rm $(echo a 2>/dev/null)", "rm|a"),
        ("rm $(base64 -d f)", "rm|?<$(base64 -d f)>"),
    ] {
        assert_eq!(words(command, "rm"), expected, "{command}");
    }
}

#[test]
fn encoded_commands_are_read_and_marked() {
    for command in [
        "echo cm0gLXJmIC8= | base64 -d | sh",
        "echo cm0gLXJmIC8= | base64 --decode | bash",
        "base64 -d <<< cm0gLXJmIC8= | sh",
        "base64 -D <<X | sh\ncm0gLXJmIC8=\nX",
        "echo cm0gLXJmIC8= | openssl base64 -d | sh",
        "echo cm0gLXJmIC8= | openssl enc -d -base64 | sh",
        "echo 726d202d7266202f | xxd -r -p | sh",
        "printf '\\x72\\x6d -rf /' | sh",
        "echo '/ fr- mr' | rev | sh",
        "echo 'ez -es /' | tr 'A-Za-z' 'N-ZA-Mn-za-m' | sh",
        "bash -c \"$(echo cm0gLXJmIC8= | base64 -d)\"",
        "eval \"$(echo cm0gLXJmIC8= | base64 -d)\"",
        "eval $(echo cm0gLXJmIC8= | base64 -d)",
        "X=$(echo cm0gLXJmIC8= | base64 -d); eval \"$X\"",
        "X=cm0gLXJmIC8=; echo $X | base64 -d | sh",
        "bash <<< \"$(base64 -d <<< cm0gLXJmIC8=)\"",
        "$(echo cm0gLXJmIC8= | base64 -d)",
    ] {
        let found = look(command);
        let removal = found.invocations.iter().find(|found| found.program_name() == Some("rm"));
        let removal = removal.unwrap_or_else(|| panic!("{command}: {found:?}"));
        assert_eq!(words(command, "rm"), "rm|-rf|/", "{command}");
        assert!(removal.decoded, "{command}");
        assert!(found.opacities.is_empty(), "{command}: {:?}", found.opacities);
    }
    assert!(!look("echo 'rm x' | sh").invocations.iter().any(|found| found.decoded));
    for command in
        ["cat f | base64 -d | sh", "echo \"$x\" | base64 -d | sh", "echo aGk= | base64 -d | gunzip | sh"]
    {
        assert!(is_opaque(command), "{command}");
    }
}

#[test]
fn aliases_are_followed() {
    for command in ["alias x='rm -rf'; x /", "alias x='cd a; rm -rf'\nx /", "alias x=rm; alias y=x; y -rf /"]
    {
        assert!(words(command, "rm").ends_with("-rf|/"), "{command}: {}", words(command, "rm"));
        assert!(is_opaque(command), "{command}");
    }
    assert!(!is_opaque("alias ll='ls -l'; ls"));
    assert!(is_opaque("alias ls='ls -l'; ls"));
    assert!(is_opaque("alias if='rm x'; ls"));
    assert!(is_opaque("alias x=\"$y\"; ls"));
    assert!(is_opaque("alias -g x=y; ls"));
}

#[test]
fn values_of_values_do_not_grow_without_end() {
    let mut command = String::from("a0=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa; ");
    for number in 1..200 {
        let before = number - 1;
        let value = format!("$a{before}").repeat(3);
        command.extend(["a", &number.to_string(), "=", &value, "; "]);
    }
    command.push_str("rm $a199");
    assert_eq!(words(&command, "rm"), "rm|?<$a199>");
    let many = format!("x={}; rm{}", "a ".repeat(10_000), " $x".repeat(10_000));
    let total: usize = look(&many).invocations.iter().map(|found| found.arguments.len()).sum();
    assert!(total < 2_000_000, "{total}");
}
