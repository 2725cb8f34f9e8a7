//! Command lines made from a seed that set variables in many ways and start stub programs with their values.

/// Values in many spellings.
const VALUES: &[&str] = &[
    "a",
    "c1",
    "'c2 a'",
    "\"c3\"",
    "''",
    "/",
    "'a  b '",
    "*",
    "'f?'",
    "~",
    "~/hb",
    "$x",
    "$y",
    "\"$x b\"",
    "${y}c",
    "$x$y",
    "$(echo c4)",
    "$(echo c5 b)",
    "`echo a`",
    "$(printf 'c%s' 6)",
    "$(c1)",
    "$HOME",
    "$PWD",
    "$(pwd)",
    "$((1+1))",
    "{a,b}",
    "$(echo YzEgYQ== | base64 -d)",
    "$'a\\tb'",
    "a=b",
    "'x=c9'",
    "x",
    "\"$(echo '' )\"",
    "$1",
    "$(echo a; echo b)",
    "$(printf '\\x63\\061')",
    "$(echo 1c | rev)",
    "$(echo p1 | tr p c)",
    "'a\\b'",
    "${x:-c7}",
    "[f]",
];

/// Words with values in them.
const USES: &[&str] = &[
    "$x",
    "\"$x\"",
    "${x}",
    "a$x",
    "\"a${x}b\"",
    "$x$y",
    "$x/$y",
    "\"$x $y\"",
    "$y",
    "\"$y\"",
    "a",
    "$HOME",
    "~/$x",
    "\"$HOME/$x\"",
    "$PWD",
    "$z",
    "\"$z\"",
    "{a,$x}",
    "{a,b}$x",
    "{a,b}",
    "x{,y}{1,2}",
    "{'a b',c}",
    "a${IFS}b",
    "\"$IFS\"",
    "$IFS",
    "$(echo $x)",
    "\"$(echo \"$y\")\"",
    "$(echo a b)",
    "'$x'",
    "\\$x",
    "$(pwd)",
    "~$x",
    "=$x",
    "x=$x",
    "x=~/$y",
    "{~,a}",
    "{a,*}",
    "${x}*",
    "$(echo -n a)",
    "$(echo -e 'a\\tb')",
    "$(printf '%s-%s\\n' a b c)",
    "\"$@\"",
];

/// Ways to set `x` or `y` to something.
const SETTINGS: &[&str] = &[
    "@n=@v",
    "@n=@v",
    "@n=@v",
    "@n=@v",
    "@n=@v",
    "export @n=@v",
    "readonly q=@v",
    "export @n",
    "read @n <<< @v",
    "printf -v @n %s @v",
    "printf -v@n %s @v",
    "unset @n",
    "declare @n=@v",
    "declare -u @n",
    "typeset -i @n",
    "(@n=@v)",
    "@n=@v &",
    "true && @n=@v",
    "false && @n=@v",
    "true || @n=@v",
    "c9 || @n=@v",
    "@n=@v true",
    "@n=@v > f_out",
    "@n=@v > missing/f",
    "{ @n=@v; }",
    "{ @n=@v; } > missing/f",
    "if c1; then @n=@v; fi",
    "if @n=@v; then c1 $@n; fi",
    "while c9; do @n=@v; done",
    "for @n in @v c1; do c2 $@n; done",
    "for i in 1 2; do c3 $@n; @n=@v; done",
    "case a in b) @n=@v;; esac",
    "g() { @n=@v; }",
    "g() { @n=@v; }; g",
    "g() { local @n=@v; c1 $@n; }; g",
    "g() { c4 \"$@n\"; }; export -f g; bash -c g",
    "eval '@n=c3'",
    "eval \"@n=\\$z\"",
    "eval '@n+=b'",
    "@n+=@v",
    ": ${@n:=@v}",
    "(( @n = 5 ))",
    "let @n=4",
    "z='@n=6'; (( z ))",
    "z=@n; read $z <<< q",
    "z=@n; read \"$z\" <<< q",
    "z='read @n'; $z <<< q",
    "command read @n <<< @v",
    "echo b | read @n",
    "mapfile @n < f",
    "trap '@n=c8' DEBUG",
    "echo '@n=c7' > f_set; . ./f_set",
    "source f",
    "IFS=a",
    "IFS=, read @n <<< a,b",
    "IFS=/",
    "cd a",
    "cd b && @n=$PWD",
    "cd missing; @n=$PWD",
    "HOME=/x",
    "set -- c1 c2",
    "set -f",
    "wait -p @n",
    "getopts a @n -a",
    "exec {@n}< f",
    "bash -c '@n=c4; $@n a'",
    "@n=@v; bash -c '$@n b'",
    "z=\"$@n\"; z=b",
    "declare -n z=@n; z=q",
    "[[ '@n=3' -eq 3 ]]",
];

/// Ways to start something with a value.
const STARTS: &[&str] = &[
    "c1 @u @u",
    "c2 @u",
    "c3 \"$x\" @u",
    "c4 @u > f_out",
    "$x @u",
    "$y a",
    "\"$x\" a",
    "${x} @u",
    "eval \"$x a\"",
    "eval 'c5 $x'",
    "eval c6 @u",
    "bash -c \"$x\"",
    "bash -c \"c1 $x\"",
    "bash <<< \"$x\"",
    "echo $x | bash",
    "echo \"$x b\" | sh",
    "bash <<E\nc1 $x\n$y\nE\n",
    "bash <<'E'\nx=c2; $x $y\nE\n",
    "$(echo c7 @u)",
    "$(echo $x) b",
    "`echo c8` @u",
    "c9${IFS}a${IFS}@u",
    "{c1,a,b}",
    "{c2,$x}",
    "env $x c3",
    "env A=$x c4 @u",
    "timeout 5 $x a",
    "(c5 @u)",
    "c6 $(c7 @u)",
    "if c1 @u; then c2 $x; else c3 $x; fi",
    "for i in $x @u; do c4 $i $x; done",
    "c5 @u | c6 @u",
    "c5 @u &",
    "h() { c7 $x @u; }; h",
    "xargs c8 @u <<< b",
    "printf '\\143\\061 a' | bash",
    "echo YzIgYiBj | base64 -d | sh",
    "echo 'b 3c' | rev | bash",
    "echo 'p4 p' | tr p c | bash",
    "bash -c \"$(echo YzUgYQ== | base64 -d)\"",
    "echo \"$y\" | base64 -d | sh",
    "cd \"$x\"; c1 $PWD",
    "cd $y && c2 \"$(pwd)\"",
    "sh -c 'x=c3; $x {a,b} $HOME'",
    "env -i bash -c 'c4 $HOME'",
    "x=c9 c1 $x",
];

/// Makes the line of a seed.
pub(crate) fn values_line(seed: u64) -> String {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x1234_5678_9abc_def1;
    let mut below = |limit: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).expect("31 bits fit") % limit
    };
    let mut line = String::new();
    for name in ["x", "y"] {
        if below(4) > 0 {
            line.extend([name, "=", VALUES[below(VALUES.len())], "; "]);
        }
    }
    for _ in 0..3 + below(4) {
        let chosen =
            if below(3) == 0 { SETTINGS[below(SETTINGS.len())] } else { STARTS[below(STARTS.len())] };
        let name = if below(3) == 0 { "y" } else { "x" };
        let mut text = chosen.replace("@n", name);
        while let Some(at) = text.find("@v") {
            text.replace_range(at..at + 2, VALUES[below(VALUES.len())]);
        }
        while let Some(at) = text.find("@u") {
            text.replace_range(at..at + 2, USES[below(USES.len())]);
        }
        line.push_str(&text);
        let is_closed = text.ends_with('&') || text.ends_with('\n');
        line.push_str(if is_closed { "\n" } else { ["; ", "; ", "\n", " && "][below(4)] });
    }
    line.push_str("c1 $x \"$y\"");
    line
}
