//! Command lines made from a seed, out of stub programs `c1` … `c9`, harmless wrappers and the shell's own words.
//!
//! `@W@` stands for the directory a line starts in, `@B@` for the directory of the programs.

/// Arguments in many spellings.
const WORDS: &[&str] = &[
    "a",
    "b",
    "f",
    "-n",
    "--",
    "'a b'",
    "\"a b\"",
    "a\\ b",
    "$'a\\tb'",
    "''",
    "\"\"",
    "a'b'\"c\"",
    "@W@/a",
    "..",
    "x=y",
    "$x",
    "\"$x\"",
    "{a,b}",
    "f{1..3}",
    "*",
    "f?",
    "~",
    "~/a",
    "$((1+2))",
    "\"$@\"",
    "$1",
    "${x:-d}",
    "'$(c1)'",
    "\\$x",
    "\"it's\"",
    "#a",
    "a#b",
    "!",
    "%",
    "=c1",
    "$'\\''",
    "{}",
    "[a",
    "x=~/a",
    "x=b:~",
    "--x=~",
    "~+",
    "\\~",
    "a~",
    "$\"a b\"",
    "a\\\nb",
    "\"a\\\nb\"",
    "\"\\a\\$\\\"\"",
    "$'\\u0041\\101\\x41z'",
    "$'a\\0b'c",
    "$'\\cA\\e'",
    "{a",
    "{a}",
    "{a,}",
    "\\{a,b}",
    "\"{a,b}\"",
    "a{b,c}d",
    "[!a]",
    "x[0]",
    "^a",
    "é",
    "-c",
];

/// Beginnings of commands that start the command after them.
const PREFIXES: &[&str] = &[
    "env",
    "env A=1",
    "env -i",
    "env -C a",
    "env -C @W@/b",
    "env --chdir=a",
    "env --chd=b",
    "env --chd b",
    "env --c=a",
    "env -u x -C a -C b",
    "env -iC a",
    "env --chdir a",
    "env -",
    "env -i A=1 B=2",
    "timeout 5",
    "timeout -k 1 5",
    "timeout -s KILL 5",
    "timeout --signal=KILL 5",
    "timeout --sig KILL 5",
    "nice",
    "nice -n 1",
    "nice -1",
    "nice --adjustment=1",
    "nohup",
    "nohup --",
    "stdbuf -oL",
    "stdbuf -o L -e0",
    "setsid -w",
    "setsid --wait",
    "flock f_lock",
    "flock -n f_lock",
    "flock -w 1 @W@/f_lock",
    "command",
    "command -p",
    "command --",
    "exec",
    "exec -a q",
    "echo a | xargs --max-a 1 --max-p 1",
    "timeout --sig KILL --kill 1 5",
    "env -u $x",
    "env -u \"$x\"",
    "env --uns q -C b",
    "nice -n $((1+1))",
    "xargs",
    "xargs -n1",
    "xargs -I{}",
    "xargs -r",
    "echo a b | xargs",
    "echo a b | xargs -n 1",
    "echo a | xargs -I{}",
    "echo a | xargs -I{} -n1",
    "echo a | xargs --replace",
    "echo a | xargs -i",
    "echo a | xargs -I f -I b",
    "builtin command",
    "find . -maxdepth 1 -name f -exec",
    "find a b -maxdepth 1 -name g -execdir",
    "find . -maxdepth 1 -name f -ok",
    "find @W@ -maxdepth 0 -exec",
];

/// A generator of command lines.
pub(crate) struct Lines {
    state: u64,
    /// How many more constructs may be made.
    budget: usize,
    /// Bodies of here-documents that wait for the end of the line.
    pending: Vec<String>,
    documents: usize,
    /// Functions below this number may be called.
    functions: usize,
    loops: usize,
    climbs: usize,
}

impl Lines {
    /// Makes the line of a seed.
    pub(crate) fn line(seed: u64) -> String {
        let mut lines = Self {
            state: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5851_f42d_4c95_7f2d,
            budget: 0,
            pending: Vec::new(),
            documents: 0,
            functions: 4,
            loops: 0,
            climbs: 0,
        };
        lines.below(2);
        lines.budget = 5 + lines.below(16);
        lines.list()
    }

    fn below(&mut self, limit: usize) -> usize {
        self.state =
            self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.state >> 33).expect("31 bits fit") % limit
    }

    fn pick(&mut self, choices: &[&str]) -> String {
        let chosen = self.below(choices.len());
        choices[chosen].to_owned()
    }

    fn may_grow(&mut self) -> bool {
        self.budget = self.budget.saturating_sub(1);
        self.budget > 0
    }

    /// One or more chains; ends in a newline if a here-document had to be closed.
    fn list(&mut self) -> String {
        let outer = std::mem::take(&mut self.pending);
        let mut text = self.chain();
        while self.may_grow() && self.below(5) < 3 {
            let separator = match self.below(8) {
                0 => "\n",
                1 if self.pending.is_empty() => " & ",
                _ => "; ",
            };
            if separator == "\n" {
                self.end_line(&mut text);
            } else {
                text.push_str(separator);
            }
            let next = self.chain();
            text.push_str(&next);
        }
        if !self.pending.is_empty() {
            self.end_line(&mut text);
        }
        self.pending = outer;
        text
    }

    fn end_line(&mut self, text: &mut String) {
        text.push('\n');
        for body in std::mem::take(&mut self.pending) {
            text.push_str(&body);
        }
    }

    /// A list with what must stand before a closing word.
    fn body(&mut self) -> String {
        let mut text = self.list();
        text.push_str(if text.ends_with('\n') { "" } else { "; " });
        text
    }

    fn chain(&mut self) -> String {
        let mut text = self.pipeline();
        while self.may_grow() && self.below(5) < 2 {
            text.push_str(&self.pick(&[" && ", " || "]));
            text.push_str(&self.pipeline());
        }
        text
    }

    fn pipeline(&mut self) -> String {
        let mut text = match self.below(30) {
            0 => "! ".to_owned(),
            1 => self.pick(&["time ", "time -p "]),
            _ => String::new(),
        };
        text.push_str(&self.command());
        while self.may_grow() && self.below(8) == 0 {
            text.push_str(&self.pick(&[" | ", " | ", " |& "]));
            text.push_str(&self.command());
        }
        text
    }

    fn command(&mut self) -> String {
        if !self.may_grow() {
            return self.simple();
        }
        match self.below(34) {
            0..=8 => self.simple(),
            9..=15 => self.movement(),
            16..=20 => self.compound(),
            21..=23 => self.wrapped(),
            24..=27 => self.shell_text(),
            28 | 29 => self.function(),
            30 | 31 => self.fed(),
            32 => self.setting(),
            _ if self.below(3) == 0 => self.odd(),
            _ => self.simple(),
        }
    }

    fn simple(&mut self) -> String {
        let mut text = match self.below(12) {
            0 => format!("x={} ", self.word()),
            1 => self.pick(&["A=1 ", "y=$(c1) ", "z='c2' ", "x[0]=1 ", "x+=b "]),
            _ => String::new(),
        };
        text.push_str(&self.stub());
        for _ in 0..self.below(3) {
            text.push(' ');
            text.push_str(&self.word());
        }
        if self.below(6) == 0 {
            text.push_str(&self.redirection());
        }
        text
    }

    fn stub(&mut self) -> String {
        let number = self.below(9) + 1;
        match self.below(20) {
            0 => format!("'c{number}'"),
            1 => format!("\"c\"{number}"),
            2 => format!("\\c{number}"),
            3 => format!("$'\\x63{number}'"),
            4 => format!("@B@/c{number}"),
            _ => format!("c{number}"),
        }
    }

    fn word(&mut self) -> String {
        if self.below(9) == 0 && self.may_grow() {
            let list = self.list();
            return match self.below(9) {
                0 => format!("$({list})"),
                1 => format!("\"$({list})\""),
                2 if !list.contains(['`', '\\', '$', '\'']) => format!("`{list}`"),
                3 => format!("<({list})"),
                4 => format!("\"${{x:-$({list})}}\""),
                5 => format!("$(({list_or_one}+1))", list_or_one = format_args!("$({list}; echo 1)")),
                6 => format!("${{x[$({list}; echo 0)]}}"),
                7 => format!("a\"b$({list})\"'c'"),
                _ => format!("${{x/$({list})/b}}"),
            };
        }
        self.pick(WORDS)
    }

    fn redirection(&mut self) -> String {
        match self.below(12) {
            0 => format!(" > >({})", self.simple_stub()),
            1 => format!(" < <({})", self.simple_stub()),
            2 => format!(" <<< {}", self.word()),
            3 => format!(" > \"$({}; echo f_out)\"", self.simple_stub()),
            4 => {
                let text = self.quoted_stub();
                format!(" {}", self.document(&format!("{text}\n")))
            }
            _ => self.pick(&[
                " > f_out",
                " >> f_out",
                " 2>/dev/null",
                " 2>&1",
                " < f",
                " &> f_out",
                " >@W@/f_out",
                " 3<f",
            ]),
        }
    }

    fn simple_stub(&mut self) -> String {
        format!("c{} {}", self.below(9) + 1, self.pick(&["", "a", "'a b'"]))
    }

    fn quoted_stub(&mut self) -> String {
        let stub = self.simple_stub();
        match self.below(4) {
            0 => format!("$({stub})"),
            1 => format!("x `{stub}` y"),
            _ => stub,
        }
    }

    /// Opens a here-document whose text follows at the end of the line.
    fn document(&mut self, text: &str) -> String {
        self.documents += 1;
        let end = format!("E{}", self.documents);
        let (mark, body) = match self.below(4) {
            0 => (format!("<<{end}"), text.to_owned()),
            1 => (
                format!("<<-'{end}'"),
                text.lines().fold(String::new(), |all, line| all + "\t" + line + "\n"),
            ),
            _ => (format!("<<'{end}'"), text.to_owned()),
        };
        let newline = if body.ends_with('\n') { "" } else { "\n" };
        self.pending.push(format!("{body}{newline}{end}\n"));
        mark
    }

    fn movement(&mut self) -> String {
        let target = match self.below(4) {
            0 if self.climbs < 2 => {
                self.climbs += 1;
                self.pick(&["..", "../b", "a/.."])
            }
            _ => self
                .pick(&["a", "b", "a/b", "missing", ".", "@W@/a", "@W@", "@W@/b/a", "'a'", "./b", "\"a\"/b"]),
        };
        match self.below(34) {
            0 => "cd -".to_owned(),
            1 => "cd".to_owned(),
            2 => self.pick(&["cd ~", "cd ~/hb", "cd \"$HOME\"", "cd ~+", "cd ~-"]),
            3 => format!("cd {} {target}", self.pick(&["-P", "-L", "--", "-e", "-LP", "-Pe"])),
            4 | 5 => format!("pushd {target}"),
            6 => self.pick(&["pushd", "popd", "pushd +1", "popd +0", "popd -n", "pushd -n a"]),
            7 => format!("CDPATH=@W@/{} cd {target}", self.pick(&["a", "b"])),
            8 => format!(
                "{} cd {target}",
                self.pick(&["builtin", "command", "command -p", "builtin --", "command --"])
            ),
            9 => format!("eval 'cd {}'", target.replace('\'', "")),
            10 => self.pick(&["HOME=@W@/a", "export HOME=@W@/b", "CDPATH=@W@/a", "export CDPATH=@W@/b"]),
            11 => format!("\\cd {target}"),
            12 => format!("'cd' {target} > f_out"),
            13 => self.pick(&[
                "for HOME in @W@/a; do :; done",
                "read CDPATH <<< @W@/b",
                "printf -v HOME %s @W@/b",
            ]),
            14 => format!("{}={target} cd a", self.pick(&["HOME", "OLDPWD", "PWD", "x"])),
            15 => format!("x={target} && cd $x"),
            16 => format!("cd {target} 2>/dev/null"),
            17 => format!("time cd {target}"),
            18 => format!("cd \"$({}; echo {target})\"", self.simple_stub()),
            _ => format!("cd {target}"),
        }
    }

    fn compound(&mut self) -> String {
        let text = match self.below(14) {
            0 | 1 => format!("({})", self.list()),
            2 | 3 => format!("{{ {}}}", self.body()),
            4 => format!("if {}then {}fi", self.body(), self.body()),
            5 => format!("if {}then {}else {}fi", self.body(), self.body(), self.body()),
            6 => format!("if {}then {}elif {}then {}fi", self.body(), self.body(), self.body(), self.body()),
            7..=9 => self.repeated(),
            10 => self.case(),
            11 => format!("[[ {} == {} ]]", self.word(), self.word()),
            12 => format!("(( i++, {} ))", self.pick(&["1", "$(c1; echo 2)", "x", "i<3"])),
            _ => format!("[ {} = \"$({})\" ]", self.pick(&["a", "\"$x\""]), self.list()),
        };
        if self.below(10) == 0 { text + &self.redirection() } else { text }
    }

    fn repeated(&mut self) -> String {
        if self.loops >= 2 {
            return format!("{{ {}}}", self.body());
        }
        self.loops += 1;
        let text = match self.below(6) {
            0 => format!("for i in {} {}; do {}done", self.word(), self.word(), self.body()),
            1 => format!("for i in 1 2; do {}done", self.body()),
            2 => format!("for ((i=0; i<2; i++)); do {}done", self.body()),
            3 | 4 => {
                self.documents += 1;
                let count = format!("n{}", self.documents);
                let (condition, body) = (self.body(), self.body());
                if self.below(2) == 0 {
                    format!("{count}=0; while {condition}[ $(({count}+=1)) -lt 3 ]; do {body}done")
                } else {
                    format!("{count}=0; until {condition}[ $(({count}+=1)) -gt 2 ]; do {body}done")
                }
            }
            _ => format!("while {}do {}break; done", self.body(), self.body()),
        };
        self.loops -= 1;
        text
    }

    fn case(&mut self) -> String {
        let end = self.pick(&[";;", ";&", ";;&"]);
        let subject = self.pick(&["a", "b", "$x", "\"$(c1)\""]);
        let first = self.body();
        let second = self.list();
        format!("case {subject} in a|$(c2)) {first}{end} (b) c3 {end} *) {second}\nesac")
            .replace(&format!("; {end}"), end.as_str())
    }

    fn wrapped(&mut self) -> String {
        let prefix = self.pick(PREFIXES);
        let inner = match self.below(4) {
            0 if self.may_grow() => self.wrapped(),
            1 if self.may_grow() => self.shell_command(),
            _ if prefix.starts_with("builtin") => self.simple_stub(),
            _ => format!("c{} {}", self.below(9) + 1, self.word()),
        };
        let inner =
            if prefix.ends_with("exec") && inner.starts_with("echo") { self.simple_stub() } else { inner };
        if prefix.starts_with("find") {
            let end = self.pick(&["{} \\;", "\\;", "{} +", "x{} ';'", "a \";\""]);
            return format!("{prefix} {inner} {end}");
        }
        let end = self.pick(&["", "", "", " {}"]);
        format!("{prefix} {inner}{end}")
    }

    /// Text in quotes, as one word.
    fn quote(&mut self, text: &str) -> String {
        match self.below(3) {
            0 => {
                let escaped =
                    text.replace('\\', "\\\\").replace('\'', "\\'").replace('\n', "\\n").replace('\t', "\\t");
                format!("$'{escaped}'")
            }
            1 => {
                let mut escaped = String::new();
                for letter in text.chars() {
                    if matches!(letter, '"' | '$' | '`' | '\\') {
                        escaped.push('\\');
                    }
                    escaped.push(letter);
                }
                format!("\"{escaped}\"")
            }
            _ => format!("'{}'", text.replace('\'', "'\\''")),
        }
    }

    fn shell(&mut self) -> String {
        self.pick(&["bash", "bash", "bash", "sh", "dash", "bash -e", "bash --norc", "sh -u"])
    }

    fn shell_command(&mut self) -> String {
        let shell = self.shell();
        let flag = self.pick(&["-c", "-c", "-ec", "-c --", "-c -e", "+e -c", "-o noglob -c"]);
        let list = self.list();
        let quoted = self.quote(&list);
        let arguments = self.pick(&["", "", " _ a b", " c1 c2"]);
        format!("{shell} {flag} {quoted}{arguments}")
    }

    fn shell_text(&mut self) -> String {
        match self.below(10) {
            0..=4 => self.shell_command(),
            5 | 6 => {
                let list = self.list();
                format!("eval {}{}", self.pick(&["", "-- ", "c1 \\; "]), self.quote(&list))
            }
            7 => format!("eval {}", self.simple_stub()),
            8 => {
                let list = self.list();
                format!(
                    "trap {}{} {}",
                    self.pick(&["", "-- "]),
                    self.quote(&list),
                    self.pick(&["EXIT", "0", "ERR", "DEBUG", "RETURN"])
                )
            }
            _ => {
                let list = self.list();
                if self.below(2) == 0 {
                    let split = self.pick(&[
                        "c1 a", "-C a c1", "A=1 c2 b", "c3\\_a", "c4 a;c5", "-i c1", "c6 'a b'", "c1 $A",
                    ]);
                    format!("env -S {} b", self.quote(&split))
                } else {
                    format!("env -S {}", self.quote(&format!("bash -c {}", plainly_quoted(&list))))
                }
            }
        }
    }

    /// A shell that reads what it runs.
    fn fed(&mut self) -> String {
        let list = self.list();
        let shell = self.shell();
        match self.below(16) {
            0 | 1 => format!("{shell} {}", self.document(&list)),
            2 => format!("cat {} | {shell}", self.document(&list)),
            3 | 4 => format!("{shell} <<< {}", self.quote(&list)),
            5 => format!("echo {} | {shell}", self.quote(&list)),
            6 => format!("printf '%s\\n' {} | {shell}", self.quote(&list)),
            7 => format!("printf 'c1 %s %s\\n' {} | {shell}", self.pick(&["a", "'a b'", "a b c"])),
            8 => format!(
                "echo {} > f_out; {shell} {}",
                self.quote(&list),
                self.pick(&["f_out", "./f_out", "@W@/f_out"])
            ),
            9 => format!("echo {} | tee f_out | {shell}", self.quote(&list)),
            10 => format!(
                "echo {} | {{ {}{shell}; }}",
                self.quote(&list),
                self.pick(&["", "read x; ", "cd a; "])
            ),
            11 => format!("echo {} | c1 \"$({shell})\"", self.quote(&list)),
            12 => format!("echo {} > >({shell})", self.quote(&list)),
            13 => {
                let quoted = self.quote(&list);
                match self.below(3) {
                    0 => format!("{{ exec <<< {quoted}; }}; {shell}"),
                    1 => format!("if true; then exec <<< {quoted}; fi; {shell}"),
                    _ => format!("for i in 1 2; do {shell}; exec <<< {quoted}; done"),
                }
            }
            14 => format!("echo {} | tee >({shell}) f_out", self.quote(&list)),
            _ => format!("{shell} -s a b {}", self.document(&list)),
        }
    }

    fn function(&mut self) -> String {
        let number = self.below(4);
        if self.below(2) == 0 || number >= self.functions {
            let callable = self.below(self.functions.max(1));
            return if callable < self.functions {
                format!("fn{callable} {}", self.word())
            } else {
                self.simple()
            };
        }
        let outer = std::mem::replace(&mut self.functions, number);
        let body = self.body();
        self.functions = outer;
        match self.below(5) {
            0 => format!("function fn{number} {{ {body}}}"),
            1 => format!("fn{number}() ({body})"),
            2 => format!("fn{number}() {{ {body}}}; export -f fn{number}; bash -c fn{number}"),
            _ => format!("fn{number}() {{ {body}}}; fn{number} {}", self.word()),
        }
    }

    fn setting(&mut self) -> String {
        let quoted = self.simple_stub();
        match self.below(8) {
            0 => format!("x=({} \"$({quoted})\" [3]=c)", self.word()),
            1 => format!("declare y=$({quoted})"),
            2 => format!("export A={} B=2", self.word()),
            3 => format!("local z=`{quoted}`"),
            4 => format!("x={}", self.word()),
            5 => "set -- a b".to_owned(),
            6 => format!("read y <<< \"$({quoted})\""),
            _ => self.pick(&[
                "set -e", "set +e", "set -f", "true", "false", ":", "return", "shift", "wait", "unset x",
            ]),
        }
    }

    /// What is rare, and odd.
    fn odd(&mut self) -> String {
        let stub = self.simple_stub();
        match self.below(30) {
            0 => format!("x='a[$({stub})]'; (( x ))"),
            1 => format!("let 'x[$({stub})]=1'"),
            2 => format!("[[ -v 'x[$({stub})]' ]]"),
            3 => format!("PS4='+$({stub})'; set -x; c1; set +x"),
            4 => format!("sh -c '(({stub}))'"),
            5 => format!("sh -c '[[ a || {stub} ]]'"),
            6 => format!("echo() {{ printf '%s' '{stub}'; }}; echo c1 | sh"),
            7 => format!("env 'BASH_FUNC_q%%=() {{ {stub}; }}' bash -c q"),
            8 => format!("echo '{stub}' > f_env; BASH_ENV=f_env; export BASH_ENV; bash -c :"),
            9 => format!("printf 'read x\\ncat <<Y\\n{stub}\\nY\\n' | sh"),
            10 => format!("cd a; echo '{stub}' > f_out; cd ..; sh a/f_out"),
            11 => format!("sh -c 'cd a &> f_out && {stub}'"),
            12 => format!("trap 'cd @W@/a' DEBUG; cd @W@ && {stub}"),
            13 => format!("CDPATH=@W@/a sh -c 'cd b && {stub}'"),
            14 => format!("env HOME=@W@/b bash -c 'cd && {stub}'"),
            15 => format!("eval 'fn2() {{ cd a; }}'; cd @W@; eval fn2; {stub}"),
            16 => format!("fn2() {{ fn0; }}; fn0() {{ cd b; }}; fn2; {stub}"),
            17 => format!("for i in 1 2; do sh f_out; echo '{stub}' > f_out; done"),
            18 => format!("sh -c 'echo $[ 1; {stub} ]'"),
            19 => format!("command exec <<< '{stub}'; sh"),
            20 => format!("case a in a) cd a ;& b) {stub} ;; esac"),
            21 => format!("sh -c 'a[0;{stub};]=1'"),
            23 => format!("echo '{stub}' | cat 3<<E9 | sh\nc3\nE9\n"),
            24 => format!("cd /dev/fd; bash 0 <<< '{stub}'"),
            25 => format!("bash /dev/./stdin <<< '{stub}'"),
            26 => format!("echo '{stub}' > f_rc; bash --rcfile f_rc -i -c :"),
            27 => format!("x='A {stub}'; env -u $x c9"),
            28 => format!("echo ${{ cd a; }}; {stub}"),
            22 => format!("mapfile -C '{stub}' -c 1 x < f"),
            _ => format!("printf 'x=(\\n{stub}\\n)' | {{ read x; sh; }}"),
        }
    }
}

/// Puts in quotes what needs no more of them.
fn plainly_quoted(text: &str) -> String {
    let plain: String = text.chars().filter(|letter| !"'\\\"$\n".contains(*letter)).collect();
    format!("'{plain}'")
}
