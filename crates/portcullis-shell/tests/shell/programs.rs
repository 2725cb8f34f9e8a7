//! Valid programs made at random, from stub commands only: `k7_1 a7_2 …`, where 7 is the seed that makes them again.

/// A generator of programs.
pub(crate) struct Programs {
    seed: u64,
    state: u64,
    out: String,
    /// Bodies of here-documents that wait for a newline.
    pending: Vec<String>,
    count: usize,
    /// How many more constructs may be made.
    budget: usize,
    /// Inside `$( … )`, and in how many compounds there.
    substitution: bool,
    compounds: usize,
}

impl Programs {
    /// Makes the program of `seed`.
    pub(crate) fn program(seed: u64) -> String {
        let state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let mut programs = Self {
            seed,
            state,
            out: String::new(),
            pending: Vec::new(),
            count: 0,
            budget: 40,
            substitution: false,
            compounds: 0,
        };
        programs.list();
        programs.newline();
        programs.out
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        (self.state >> 11) % limit
    }

    fn pick<'a>(&mut self, choices: &[&'a str]) -> &'a str {
        let index = usize::try_from(self.below(choices.len() as u64)).expect("a small number");
        choices[index]
    }

    fn put(&mut self, text: &str) {
        self.out.push_str(text);
    }

    fn may_grow(&mut self) -> bool {
        self.budget = self.budget.saturating_sub(1);
        self.budget > 0
    }

    fn newline(&mut self) {
        if self.below(8) == 0 {
            self.put(" # it's a $(");
            self.stub("k");
            self.put(")");
        }
        self.put("\n");
        for body in std::mem::take(&mut self.pending) {
            self.put(&body);
        }
    }

    /// `;` or a newline, wherever either may stand.
    fn separator(&mut self) {
        if self.below(3) == 0 {
            self.newline();
        } else {
            self.put("; ");
        }
    }

    fn blank(&mut self) {
        let blank = self.pick(&[" ", " ", " ", " ", "  ", "\t", " \\\n", "\\\n "]);
        self.put(blank);
    }

    fn list(&mut self) {
        self.chain();
        while self.may_grow() && self.below(3) == 0 {
            match self.below(5) {
                0 if !self.out.ends_with('\n') => self.put(" & "),
                _ => self.separator(),
            }
            self.chain();
        }
    }

    fn chain(&mut self) {
        self.pipeline();
        while self.may_grow() && self.below(5) == 0 {
            let link = self.pick(&["&&", "||"]);
            self.put(" ");
            self.put(link);
            if self.below(4) == 0 {
                self.newline();
            } else {
                self.put(" ");
            }
            self.pipeline();
        }
    }

    fn pipeline(&mut self) {
        let prefix = self.pick(&["", "", "", "", "", "", "! ", "time ", "time -p ", "! time "]);
        // Where bash reads `$(time …)` it takes `time` for a word, where it runs it for a reserved one.
        if !(prefix.contains("time") && self.out.trim_end().ends_with("$(")) {
            self.put(prefix);
        }
        self.command();
        while self.may_grow() && self.below(6) == 0 {
            let pipe = self.pick(&[" | ", " |& ", "|", " | \\\n"]);
            self.put(pipe);
            self.command();
        }
    }

    fn command(&mut self) {
        if !self.may_grow() || self.below(3) != 0 {
            return self.simple();
        }
        self.compounds += 1;
        match self.below(13) {
            0 => self.wrapped("(", ")"),
            1 => {
                self.put("{ ");
                self.list();
                self.separator();
                self.put("}");
            }
            2 => self.if_clause(),
            3 => self.while_clause(),
            4 => self.for_clause(),
            5 => self.case_clause(),
            6 => self.conditional(),
            7 => self.arithmetic_command(),
            8 => self.function(),
            9 => self.arithmetic_for(),
            10 => self.wrapped("( ", " )"),
            11 => {
                self.put("((");
                self.stub("k");
                self.put(" ");
                self.stub("a");
                self.put(") || (");
                self.list();
                self.put("))");
            }
            _ => self.simple(),
        }
        while self.below(6) == 0 {
            self.put(" ");
            self.redirect();
        }
        self.compounds -= 1;
    }

    fn wrapped(&mut self, open: &str, close: &str) {
        self.put(open);
        self.list();
        self.put(close);
    }

    fn if_clause(&mut self) {
        self.put("if ");
        self.list();
        self.separator();
        self.put("then ");
        self.list();
        self.separator();
        if self.below(2) == 0 {
            self.put("elif ");
            self.list();
            self.separator();
            self.put("then\n");
            self.list_after_newline();
            self.separator();
        }
        if self.below(2) == 0 {
            self.put("else ");
            self.list();
            self.separator();
        }
        self.put("fi");
    }

    /// A list where the newline has been written by hand: bodies that wait go first.
    fn list_after_newline(&mut self) {
        for body in std::mem::take(&mut self.pending) {
            self.put(&body);
        }
        self.list();
    }

    fn while_clause(&mut self) {
        let word = self.pick(&["while ", "until "]);
        self.put(word);
        self.list();
        self.separator();
        self.put("do ");
        self.list();
        self.separator();
        self.put("break");
        self.separator();
        self.put("done");
    }

    fn for_clause(&mut self) {
        self.put("for v in");
        for _ in 0..=self.below(2) {
            self.blank();
            self.word();
        }
        self.separator();
        self.put("do ");
        self.list();
        self.separator();
        self.put("done");
    }

    fn arithmetic_for(&mut self) {
        self.put("for ((i = 0; i < 1; i++))");
        self.separator();
        self.put("do ");
        self.list();
        self.separator();
        self.put("done");
    }

    fn case_clause(&mut self) {
        self.put("case ");
        self.word();
        self.put(" in ");
        for _ in 0..=self.below(2) {
            let open = self.pick(&["", "("]);
            self.put(open);
            self.word();
            if self.below(3) == 0 {
                self.put(" | *");
            }
            self.put(") ");
            self.list();
            let end = self.pick(&[" ;; ", " ;& ", " ;;& "]);
            self.put(end);
        }
        self.put("esac");
    }

    fn conditional(&mut self) {
        self.put("[[ ");
        match self.below(4) {
            0 => {
                self.put("-n ");
                self.word();
            }
            1 => {
                self.word();
                self.put(" == ");
                self.word();
                self.put(" && ! ( ");
                self.word();
                self.put(" )");
            }
            2 => {
                self.word();
                self.put(" =~ ^(a|b c)+");
                self.substitution_word();
            }
            _ => self.word(),
        }
        self.put(" ]]");
    }

    fn arithmetic_command(&mut self) {
        self.put("(( 1 + (2) ");
        if self.below(2) == 0 {
            self.put("+ 0");
            self.substitution_word();
        }
        self.put("))");
    }

    fn function(&mut self) {
        self.count += 1;
        let name = format!("f{}_{}", self.seed, self.count);
        let open = if self.below(2) == 0 { format!("{name}() {{ ") } else { format!("function {name} {{ ") };
        self.put(&open);
        self.list();
        self.separator();
        self.put("}");
        self.separator();
        self.put(&name);
    }

    fn simple(&mut self) {
        for _ in 0..self.below(3) / 2 {
            self.assignment();
            self.put(" ");
        }
        if self.below(8) == 0 {
            self.redirect();
            self.put(" ");
        }
        self.stub("k");
        for _ in 0..self.below(4) {
            self.blank();
            if self.below(6) == 0 {
                self.redirect();
            } else {
                self.word();
            }
        }
    }

    /// A word that no other stub shares.
    fn stub(&mut self, letter: &str) {
        self.count += 1;
        let stub = format!("{letter}{}_{}", self.seed, self.count);
        self.put(&stub);
    }

    fn assignment(&mut self) {
        match self.below(5) {
            0 => {
                self.put("y=(");
                self.stub("a");
                self.put(" ");
                self.substitution_word();
                self.put(")");
            }
            1 => {
                // Deeper nests in a subscript make bash 5.2 itself crash.
                self.put("z[0");
                self.simple_substitution();
                self.put("]=1");
            }
            2 => {
                self.put("w+=");
                self.word();
            }
            _ => {
                self.put("v=");
                self.word();
            }
        }
    }

    fn redirect(&mut self) {
        let plain = self.pick(&[
            ">/dev/null",
            "2>/dev/null",
            "2>&1",
            "</dev/null",
            "&>/dev/null",
            "3<&0",
            "3>&-",
            "<<<text",
            "{fd}>/dev/null",
            "< <(:)",
            "heredoc",
        ]);
        if plain != "heredoc" {
            return self.put(plain);
        }
        if self.substitution && self.compounds > 0 {
            return;
        }
        self.heredoc();
    }

    fn heredoc(&mut self) {
        self.count += 1;
        let delimiter = format!("k{}_{}E", self.seed, self.count);
        let (operator, end) = match self.below(4) {
            0 => (format!("<<'{delimiter}'"), format!("{delimiter}\n")),
            1 => (format!("<<-{delimiter}"), format!("\t{delimiter}\n")),
            2 => (format!("<< \\{delimiter}"), format!("{delimiter}\n")),
            _ => (format!("<<{delimiter}"), format!("{delimiter}\n")),
        };
        let command = std::mem::take(&mut self.out);
        let waiting = std::mem::take(&mut self.pending);
        self.stub("k");
        self.put(" is \"text\" ");
        self.substitution_word();
        self.put(" '");
        self.substitution_word();
        self.put("'\n");
        let body = std::mem::replace(&mut self.out, command) + &end;
        self.pending = waiting;
        self.put(&operator);
        self.pending.push(body);
    }

    fn word(&mut self) {
        for _ in 0..=self.below(5) / 4 {
            self.word_piece();
        }
    }

    fn word_piece(&mut self) {
        if !self.may_grow() {
            return self.stub("a");
        }
        match self.below(16) {
            0 => self.put("'single ( quoted'"),
            1 => self.put("\"double $HOME ' quoted\""),
            2 => self.put("$'\\x61\\'\\n'"),
            3 => self.put("\\$\\;"),
            4 => self.put("{p,q}"),
            5 => self.put("$((1 + (2)))"),
            6 => self.put("${v:-w}"),
            7..=9 => self.substitution_word(),
            10 => {
                self.put("\"");
                self.substitution_word();
                self.put("\"");
            }
            11 => self.put("\"${v#'x'}\""),
            _ => self.stub("a"),
        }
    }

    fn substitution_word(&mut self) {
        if !self.may_grow() {
            return self.put("7");
        }
        match self.below(10) {
            0 => self.backquoted(),
            1 => {
                self.put("${u:-");
                self.substituted();
                self.put("}");
            }
            2 => {
                self.put("\"${u:-'");
                self.simple_substitution();
                self.put("'}\"");
            }
            3 => {
                self.put("$((0 + 0");
                self.simple_substitution();
                self.put("))");
            }
            4 => {
                self.put("$(( ");
                self.stub("k");
                self.put("); (");
                self.stub("k");
                self.put("))");
            }
            _ => self.substituted(),
        }
    }

    fn simple_substitution(&mut self) {
        self.put("$(");
        self.stub("k");
        self.put(" ");
        self.stub("a");
        self.put(")");
    }

    fn backquoted(&mut self) {
        self.put("`");
        self.stub("k");
        self.put(" \\`");
        self.stub("k");
        self.put(" \\$(");
        self.stub("k");
        self.put(")\\``");
    }

    fn substituted(&mut self) {
        let waiting = std::mem::take(&mut self.pending);
        let outer = (self.substitution, self.compounds);
        (self.substitution, self.compounds) = (true, 0);
        self.put("$(");
        let space = self.pick(&["", " "]);
        self.put(if self.out.ends_with("$(") { space } else { "" });
        let before = self.out.len();
        self.list();
        // `$((` would be read as arithmetic first.
        if self.out.as_bytes().get(before) == Some(&b'(') {
            self.out.insert(before, ' ');
        }
        if self.pending.is_empty() {
            self.put(space);
        } else {
            self.newline();
        }
        self.put(")");
        (self.substitution, self.compounds) = outer;
        self.pending = waiting;
    }
}
