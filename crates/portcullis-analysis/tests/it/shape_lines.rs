//! Programs made from a seed that hand values on in every way that is followed: loops over lists of files, `read`, arrays,
//! functions with arguments, branches, `find -exec`, `xargs`, expansions that cut, calculations.

/// Commands that write lists.
const LISTS: &[&str] = &[
    "find a -name '*.ts'",
    "find . -type f",
    "find . -name g",
    "find a b -type f -name '*.ts'",
    "find . -name '*.ts' -o -name g",
    "find a -not -name '*.ts'",
    "find . -maxdepth 1 -type d",
    "find a/",
    "find \"$x\" -name g",
    "ls",
    "ls a",
    "ls a/*.ts",
    "ls -d */",
    "ls -d a/*",
    "grep -rl a .",
    "grep -l a f a/g",
    "grep -rl a a b",
    "git ls-files",
    "git diff --name-only",
    "git rev-list HEAD",
    "seq 1 3",
    "printf '%s\\n' a b",
    "echo a b",
    "cat f",
    "mktemp ./t.XXXXXX",
    "grep -n a f | cut -d: -f1",
    "grep -n . f a/g | cut -d: -f1",
    "nl f | awk '{print $1}'",
    "wc -l f | awk '{ print $1; }'",
    "awk 'END{print NR}' f",
    "git log --oneline | cut -d' ' -f1",
    "git ls-tree -r HEAD | awk '{print $3}'",
    "git show-ref | awk '{print $2}'",
    "git ls-files -s | awk '{print $2}'",
    "git status --porcelain | awk '{print $2}'",
    "echo \"$x\"",
];

/// What may follow a list.
const FILTERS: &[&str] = &[
    "",
    "",
    "",
    " | sort",
    " | head -1",
    " | grep g",
    " | grep -v b | head -n 1",
    " | tail -n 1",
    " | uniq",
];

/// Values in many spellings.
const VALUES: &[&str] = &[
    "a",
    "b",
    "a/b",
    "a/x.ts",
    "f",
    "'a b'",
    "''",
    "$x",
    "\"$y\"",
    "\"$x/$y\"",
    "$x.o",
    "${x%.ts}",
    "${x%.ts}.js",
    "${x##*/}",
    "${x%/*}",
    "${x#a/}",
    "${x#./}",
    "${y%%.*}",
    "${x/a/b}",
    "${y:-b}",
    "${x^^}",
    "${x:0:1}",
    "${y:1}",
    "${x%%:*}",
    "${#x}",
    "$((n+1))",
    "$((n*2-3))",
    "f$((n))",
    "$#",
    "$?",
    "c$n",
    "$(basename \"$x\")",
    "$(basename \"$x\" .ts)",
    "$(dirname \"$x\")",
    "$(git rev-parse HEAD)",
    "$(git branch --show-current)",
    "$(git rev-parse --show-toplevel)",
    "$(mktemp ./t.XXXXXX)",
    "$(wc -l < f)",
    "$(uname)",
    "$(date +%F)",
    "\"$1\"",
    "$(@l)",
    "\"$(@l)\"",
    "$(pwd)",
];

/// Words that a loop or an array goes through.
const WORDS: &[&str] = &[
    "a b",
    "a/*",
    "*",
    "a/*.ts b/*.ts",
    "*/g",
    "./*",
    "{1..3}",
    "{a,b}/g",
    "$(@l)",
    "$(@l)",
    "$x $y",
    "\"$x\" b",
    "\"${r[@]}\"",
    "\"$@\"",
    "f 'a b' a",
    "missing/*",
];

/// Words of a command.
const USES: &[&str] = &[
    "$x",
    "\"$x\"",
    "\"$y\"",
    "\"$x/$y\"",
    "a/$x",
    "\"$x\".o",
    "\"${x%.ts}.js\"",
    "\"${x##*/}\"",
    "\"${y%/*}\"",
    "\"${r[@]}\"",
    "\"${r[0]}\"",
    "$r",
    "\"$@\"",
    "\"$1\"",
    "$2",
    "$n",
    "$((n + 2))",
    "$(basename \"$y\")",
    "\"$(dirname \"$x\")\"/z",
    "$(@l)",
    "a",
    "\"$x\"/*",
    "$x*",
    "${x:-a}",
    "-$n",
];

/// Statements; `@s` is one more, `@l` a list, `@v` a value, `@w` words of a loop, `@u` a word.
const STATEMENTS: &[&str] = &[
    "c1 @u @u",
    "c2 @u",
    "c3 @u > f_out",
    "@n=@v",
    "@n=@v",
    "@n=@v",
    "n=@v",
    "n=2",
    "export @n=@v",
    "r=(@w)",
    "mapfile -t r < <(@l)",
    "for @n in @w; do @s; done",
    "for @n in @w; do @s; @s; done",
    "for @n in @w; do @m=@v; @s; done",
    "while read -r @n; do @s; done < <(@l)",
    "@l | while read -r @n; do @s; done",
    "while IFS= read -r @n; do c3 \"$@n\"; done < <(@l)",
    "@l | { read -r @n; c4 \"$@n\"; }",
    "grep -n a f | while IFS=: read -r @n @m; do @s; done",
    "while read -r @n @m; do @s; done < <(nl f)",
    "git log --oneline | while read -r @n @m; do c1 \"$@n\" @u; done",
    "@n=$(git log --oneline); @s; c1 $(echo \"$@n\" | awk '{print $1}')",
    "@n=$(@l); echo \"$@n\" | xargs c1",
    "@n=$(@l); while read -r @m; do @s; done <<< \"$@n\"",
    "grep -n a f | while read -r @n; do c2 \"${@n%%:*}\"; done",
    "mapfile -t r < <(@l | grep \"$y\"); c1 \"${r[@]}\"",
    "[[ -n $x ]] && c5 @u",
    "find @p -name '*.ts' -exec c5 {} \\;",
    "find @p -type f -exec c1 a {} +",
    "find @p -name g -exec c2 x{}y {} \\;",
    "@l | xargs c1 @u",
    "@l | xargs -n1 c2",
    "@l | xargs -I{} c3 {} a/{}",
    "@l | xargs -I% c3 %.o @u",
    "@l | xargs -r c4",
    "if c1; then @s; else @s; fi",
    "if c9; then @n=@v; else @n=@v; fi",
    "if [ -f f ]; then @n=@v; fi",
    "case $@n in a*) @n=@v;; *) @n=@v;; esac",
    "case a in b) @s;; a) @n=@v;; esac",
    "c9 && @n=@v",
    "c1 && @n=@v && c9 && @n=@v",
    "c9 || @n=@v",
    "g() { c1 \"$1\" @u; }",
    "g() { local @n=$1; @s; }",
    "g() { @n=@v; }",
    "g() { for @n in \"$@\"; do c6 \"$@n\"; done; }",
    "g @u @u",
    "g a \"$x\"",
    "(cd @d && @s)",
    "cd @d",
    "(@n=@v; @s)",
    "{ @s; @s; }",
    "n=0; while [ $n -lt 2 ]; do c4 f$n; n=$((n+1)); done",
    "n=$((n+1))",
    "c1 $n",
    "bash -c 'x=c1; $x \"$0\"' @u",
    "eval 'c5 $x'",
    "trap 'c7 \"$x\"' EXIT",
    "timeout $((n+5)) c1 @u",
];

/// Directories.
const PLACES: &[&str] = &["a", "b", "a/b", "\"$x\"", "$y", "a/../b", ".", "\"$(dirname \"$x\")\"", "/"];

struct Generator {
    state: u64,
    depth: usize,
    /// How many more statements are made.
    budget: usize,
}

impl Generator {
    fn below(&mut self, limit: usize) -> usize {
        self.state =
            self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.state >> 33).expect("31 bits fit") % limit
    }

    fn pick(&mut self, from: &[&'static str]) -> &'static str {
        from[self.below(from.len())]
    }

    fn list(&mut self) -> String {
        format!("{}{}", self.pick(LISTS), self.pick(FILTERS))
    }

    fn statement(&mut self) -> String {
        self.depth += 1;
        self.budget = self.budget.saturating_sub(1);
        let is_leaf = self.depth > 3 || self.budget == 0;
        let text = if is_leaf { self.pick(&STATEMENTS[..6]) } else { self.pick(STATEMENTS) };
        let (name, other) = if self.below(3) == 0 { ("y", "x") } else { ("x", "y") };
        let text = text.replace("@n", name).replace("@m", other);
        let filled = self.fill(text);
        self.depth -= 1;
        filled
    }

    /// Fills the places of a statement in, from left to right.
    fn fill(&mut self, mut text: String) -> String {
        for _ in 0..40 {
            let Some(at) = text.find('@').and_then(|_| find_place(&text)) else { break };
            let piece = match text.as_bytes()[at + 1] {
                b's' => self.statement(),
                b'l' => self.list(),
                b'v' => self.pick(VALUES).to_owned(),
                b'w' => self.pick(WORDS).to_owned(),
                b'u' => self.pick(USES).to_owned(),
                b'd' => self.pick(PLACES).to_owned(),
                _ => ["a", ".", "a b", "\"$x\""][self.below(4)].to_owned(),
            };
            text.replace_range(at..at + 2, &piece);
        }
        text
    }
}

/// Returns where a place to fill in stands; `$@` and `[@]` are none.
fn find_place(text: &str) -> Option<usize> {
    text.match_indices('@').map(|(at, _)| at).find(|at| {
        let before = at.checked_sub(1).map(|before| text.as_bytes()[before]);
        let after = text.as_bytes().get(at + 1);
        !matches!(before, Some(b'$' | b'[')) && after.is_some_and(|letter| b"slvwudp".contains(letter))
    })
}

/// Makes the program of a seed.
pub(crate) fn shape_line(seed: u64) -> String {
    let state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x0f0f_1234_5678_9abc;
    let mut generator = Generator { state, depth: 0, budget: 12 };
    let mut line = String::from("n=1; x=a; y=g; ");
    for _ in 0..3 + generator.below(4) {
        line.push_str(&generator.statement());
        line.push_str(["; ", "; ", "\n"][generator.below(3)]);
    }
    line.push_str("c1 $x \"$y\"");
    line
}
