//! Programs that a program runs: shell commands, words, code of its own language, SQL.

use super::CodeReader;
use super::chain::GroupSpan;
use super::names::shown;
use super::options::StartSetting;
use super::scope::NameMeaning;
use super::value::CodeValue;
use crate::act::Act;
use crate::code::table::Does;
use crate::code::{CodeTarget, DEPTH_LIMIT, Language, ProgramArguments, lexer, read_at};

/// Stands in a shell command for what is only known at run time.
pub(super) const HOLE: &str = "$UNKNOWN";

impl CodeReader<'_> {
    /// Runs what a row says an argument holds.
    pub(super) fn run(&mut self, does: Does, own: Option<&str>, arguments: Option<GroupSpan>, name: &str) {
        let Some(span) = arguments else {
            self.gap(format!("hands `{}` over, so that anybody may call it", shown(name)));
            return;
        };
        self.setting = self.start_setting(does, span);
        match does {
            Does::Shell(place) => {
                for value in self.one(arguments, place, &["command", "cmd"]) {
                    self.run_shell(&value);
                }
            }
            Does::Command => self.run_command(span),
            Does::Words(place) => self.run_words(span, place),
            Does::Spawn => self.run_spawn(span),
            Does::System => self.run_system(span),
            Does::Terminal => {
                self.signs.redirects = true;
                self.run_command(span);
            }
            // The statement that is measured, and the one before it, wherever they stand.
            Does::Code(_) if name.starts_with("timeit.") => self.run_timed(span),
            Does::Code(place) => {
                let values = if place == usize::MAX {
                    self.last_argument(arguments)
                } else {
                    self.argument(arguments, place, &["source"])
                };
                // Without an argument Perl evaluates what `$_` holds.
                let none = match self.profile().language {
                    Language::Perl => CodeValue::Unknown,
                    _ => CodeValue::Plain(String::new()),
                };
                for value in values.unwrap_or_else(|| vec![none]) {
                    self.run_code(&value);
                }
            }
            Does::Sql(place) => {
                // A connection to a file takes one statement at a time, so that what is filled in begins no other.
                let is_single = own.is_some() && name != "executescript";
                for value in self.one(arguments, place, &["sql", "query"]) {
                    self.run_sql(&value, is_single);
                }
            }
            _ => {}
        }
        self.setting = StartSetting::default();
    }

    /// Runs every argument that is no number as code: they are one program.
    fn run_timed(&mut self, arguments: GroupSpan) {
        let mut whole = Vec::new();
        for part in self.cutter().split(arguments) {
            let (_, value) = super::scope::named_argument(self.cutter(), part);
            for value in self.evaluator.values(value) {
                match value {
                    CodeValue::Text(text) => whole.push(text),
                    value => self.run_code(&value),
                }
            }
        }
        self.run_code(&CodeValue::Text(whole.join("\n")));
    }

    /// Returns what an argument may be; a missing one is unknown.
    fn one(&self, arguments: Option<GroupSpan>, place: usize, names: &[&str]) -> Vec<CodeValue> {
        self.argument(arguments, place, names).unwrap_or_else(|| vec![CodeValue::Unknown])
    }

    /// Runs a text in a shell.
    pub(super) fn run_shell(&mut self, value: &CodeValue) {
        match value {
            CodeValue::Text(text) => self.push_shell(text.clone()),
            CodeValue::Partial(pieces) => {
                // What is known of the command is still read: a deny rule may speak of it.
                let text: String = pieces.iter().map(|piece| piece.as_deref().unwrap_or(HOLE)).collect();
                self.push_shell(text);
                self.gap("runs a shell command that is partly computed".to_owned());
            }
            CodeValue::Decoded(text) => {
                self.out.add(Act::Obfuscate, CodeTarget::None);
                self.push_shell(text.clone());
            }
            CodeValue::List(words) => self.start(words.clone()),
            _ => {
                self.note_foreign(value);
                self.gap("runs a shell command that is only known at run time".to_owned());
            }
        }
    }

    /// Lists a command line for the survey, and notes whether it hands a shell to somebody.
    fn push_shell(&mut self, text: String) {
        let first = text.split_whitespace().next().unwrap_or_default();
        self.signs.shell |= is_shell(first);
        self.signs.redirects |=
            is_shell(first) && (text.contains(" -i") || text.contains("<&") || text.contains(">&"));
        if !self.setting.is_plain() {
            let words = ["sh".to_owned(), "-c".to_owned(), text];
            self.push_command(words.into_iter().map(Some).collect());
        } else if !self.out.shell_texts.contains(&text) && self.out.shell_texts.len() < 64 {
            self.out.shell_texts.push(text);
        } else if self.out.shell_texts.len() >= 64 {
            self.gap("runs very many shell commands".to_owned());
        }
    }

    /// Notes that foreign text is run, which hides what runs.
    fn note_foreign(&mut self, value: &CodeValue) {
        match value.foreign() {
            Some("received") => self.signs.runs_received = true,
            Some(_) => self.out.add(Act::Obfuscate, CodeTarget::None),
            None => {}
        }
    }

    /// Starts a program by its words.
    fn start(&mut self, words: Vec<CodeValue>) {
        let words: Vec<Option<String>> = words
            .into_iter()
            .map(|word| match word {
                CodeValue::Text(text)
                | CodeValue::Plain(text)
                | CodeValue::Kind("path", Some(text))
                | CodeValue::Decoded(text) => Some(text),
                // The interpreter that runs the program is the one that a script starts most.
                CodeValue::Named(name) if name == "sys.executable" => Some("python3".to_owned()),
                CodeValue::Named(name) if name == "process.execPath" => Some("node".to_owned()),
                _ => None,
            })
            .collect();
        let Some(program) = words.first() else { return };
        match program {
            Some(program) => {
                self.signs.shell |= is_shell(program);
                self.signs.redirects |=
                    is_shell(program) && words.iter().any(|word| word.as_deref() == Some("-i"));
            }
            None => self.gap("starts a program that is only known at run time".to_owned()),
        }
        self.push_command(words);
    }

    /// Lists a command for the survey, in the setting that the call gives it.
    fn push_command(&mut self, words: Vec<Option<String>>) {
        let words = self.setting.around(words);
        if !self.out.commands.contains(&words) && self.out.commands.len() < 64 {
            self.out.commands.push(words);
        } else if self.out.commands.len() >= 64 {
            self.gap("starts very many programs".to_owned());
        }
    }

    /// Starts what `subprocess` of Python starts.
    fn run_command(&mut self, arguments: GroupSpan) {
        let in_shell = self.setting.in_shell;
        for value in self.one(Some(arguments), 0, &["args", "cmd"]) {
            match value {
                CodeValue::List(words) if in_shell => {
                    let first = words.into_iter().next().unwrap_or(CodeValue::Unknown);
                    self.run_shell(&first);
                }
                CodeValue::List(words) => self.start(words),
                // A single text without a shell is the name of a program; with blanks in it the call fails on one system and
                // runs on another, so that it is read as a command line.
                CodeValue::Text(text) if !in_shell && !text.contains(char::is_whitespace) => {
                    self.start(vec![CodeValue::Text(text)]);
                }
                CodeValue::Text(_) | CodeValue::Partial(_) | CodeValue::Decoded(_) => self.run_shell(&value),
                _ if in_shell => self.run_shell(&value),
                _ => {
                    self.note_foreign(&value);
                    self.gap("starts a program that is only known at run time".to_owned());
                    self.out.add(Act::Execute, CodeTarget::SomePath);
                }
            }
        }
    }

    /// Starts a program whose words are arguments; a list among them holds all words, its own name too.
    fn run_words(&mut self, arguments: GroupSpan, place: usize) {
        let parts = self.cutter().split(arguments);
        let mut words = Vec::new();
        for part in parts.iter().skip(place) {
            match self.evaluator.values(*part).as_slice() {
                [CodeValue::List(list)] if words.is_empty() => words.extend(list.clone()),
                [CodeValue::List(list)] => words.extend(list.iter().skip(1).cloned()),
                [value] => words.push(value.clone()),
                _ => words.push(CodeValue::Unknown),
            }
        }
        if words.is_empty() {
            words.push(CodeValue::Unknown);
        }
        self.start(words);
    }

    /// Starts what `spawn` of Node starts.
    fn run_spawn(&mut self, arguments: GroupSpan) {
        let parts = self.cutter().split(arguments);
        let rest = parts.get(1).map(|part| self.evaluator.values(*part));
        let list = match rest.as_deref() {
            Some([CodeValue::List(list)]) => list.clone(),
            None | Some([CodeValue::Kind("table", _) | CodeValue::Own]) => Vec::new(),
            Some(_) => vec![CodeValue::Unknown],
        };
        for program in self.one(Some(arguments), 0, &[]) {
            if self.setting.in_shell {
                let mut pieces = vec![program];
                pieces.extend(list.clone());
                let text: Vec<String> = pieces
                    .iter()
                    .map(
                        |piece| {
                            if let CodeValue::Text(text) = piece { text.clone() } else { HOLE.to_owned() }
                        },
                    )
                    .collect();
                if pieces.iter().any(|piece| !matches!(piece, CodeValue::Text(_))) {
                    self.gap("runs a shell command that is partly computed".to_owned());
                }
                self.push_shell(text.join(" "));
            } else {
                self.note_foreign(&program);
                let mut words = vec![program];
                words.extend(list.clone());
                self.start(words);
            }
        }
    }

    /// Starts what `system` of Ruby and Perl starts: one text in a shell, several as words.
    fn run_system(&mut self, arguments: GroupSpan) {
        let parts: Vec<GroupSpan> = self
            .cutter()
            .split(arguments)
            .into_iter()
            .filter(|part| super::scope::named_argument(self.cutter(), *part).0.is_none())
            .filter(|part| self.evaluator.values(*part) != [CodeValue::Kind("table", None)])
            .collect();
        match parts.as_slice() {
            [] => self.gap("runs a shell command that is only known at run time".to_owned()),
            [only] => {
                for value in self.evaluator.values(*only) {
                    self.run_shell(&value);
                }
            }
            [first, .., last] => self.run_words(GroupSpan { start: first.start, end: last.end, ..*first }, 0),
        }
    }

    /// Runs a text as code of the same language.
    pub(super) fn run_code(&mut self, value: &CodeValue) {
        match value {
            CodeValue::Text(text) => self.read_own(text),
            CodeValue::Decoded(text) => {
                self.out.add(Act::Obfuscate, CodeTarget::None);
                self.read_own(text);
            }
            // A block of code is read where it stands.
            CodeValue::Kind("table", _) | CodeValue::Plain(_) | CodeValue::Own => {}
            _ => {
                self.note_foreign(value);
                self.gap("evaluates code that is only known at run time".to_owned());
            }
        }
    }

    /// Reads code of the same language. What it does to the names of this program is not followed.
    fn read_own(&mut self, text: &str) {
        let language = self.profile().language;
        let tree = lexer::lex(language, text);
        let is_fixed = |meaning: &NameMeaning| {
            matches!(meaning, NameMeaning::Library(_) | NameMeaning::Module(..) | NameMeaning::Own)
        };
        let bounds = &self.evaluator.scope.bounds;
        let is_shared = |name: &str| bounds.get(name).is_some_and(|known| !known.iter().all(is_fixed));
        let mut names = tree.groups.iter().flatten().filter_map(|token| token.item.name());
        if names.any(is_shared) {
            self.gap("evaluates code that may change what its names stand for".to_owned());
        }
        self.read_inside(language, text);
    }

    /// Reads code inside code, to a depth that nobody needs who means well.
    fn read_inside(&mut self, language: Language, text: &str) {
        if self.depth >= DEPTH_LIMIT {
            self.gap("evaluates code inside code inside code".to_owned());
            return;
        }
        let inner = read_at(language, text, &ProgramArguments::Unknown, self.depth + 1);
        self.out.merge(inner);
    }

    /// Reads SQL. A hole in it stands as a name, which is enough to tell the kind of statement.
    fn run_sql(&mut self, value: &CodeValue, is_single: bool) {
        match value {
            CodeValue::Text(text) => self.read_inside(Language::Sql, text),
            CodeValue::Partial(pieces) => {
                let text: String = pieces.iter().map(|piece| piece.as_deref().unwrap_or("unknown")).collect();
                self.read_inside(Language::Sql, &text);
                let asks =
                    text.trim_start().get(..7).is_some_and(|verb| verb.eq_ignore_ascii_case("select "));
                if !(asks && is_single) {
                    self.gap("sends SQL that is partly computed".to_owned());
                }
            }
            _ => self.gap("sends SQL that is only known at run time".to_owned()),
        }
    }

    /// Opens a file or a command the way of Perl.
    pub(super) fn open_perl(&mut self, arguments: Option<GroupSpan>) {
        let Some(span) = arguments else {
            self.gap("opens something that is only known at run time".to_owned());
            return;
        };
        let parts = self.cutter().split(span);
        let modes = self.one(arguments, 1, &[]);
        let targets = (parts.len() > 2).then(|| self.one(arguments, 2, &[]));
        for mode in modes {
            match (&mode, &targets) {
                (CodeValue::Text(mode), Some(targets)) if mode.contains('|') => {
                    if parts.len() > 3 {
                        self.run_words(span, 2);
                    } else {
                        for target in targets {
                            self.run_shell(target);
                        }
                    }
                }
                (CodeValue::Text(mode), Some(_)) => {
                    self.open_paths(mode.contains('<'), mode.contains(['>', '+']), arguments);
                }
                (CodeValue::Text(spec), None) => self.open_spec(spec),
                _ => self.gap("opens something that is only known at run time".to_owned()),
            }
        }
    }

    /// Adds what opening the third argument in a mode does.
    fn open_paths(&mut self, reads: bool, writes: bool, arguments: Option<GroupSpan>) {
        for path in self.paths(arguments, 2) {
            if writes {
                self.out.add(Act::Write, path);
            } else if reads {
                self.out.add(Act::Read, path);
            }
        }
    }

    /// Reads `<file`, `>file`, `|command` and `command|`.
    fn open_spec(&mut self, spec: &str) {
        let spec = spec.trim();
        if let Some(command) = spec.strip_prefix('|').or_else(|| spec.strip_suffix('|')) {
            self.run_shell(&CodeValue::Text(command.trim().to_owned()));
        } else if spec.contains(">&") || spec.contains("<&") {
            self.signs.redirects = true;
        } else if spec.contains('>') {
            self.out
                .add(Act::Write, CodeTarget::Path(spec.trim_start_matches(['+', '>', '<', ' ']).to_owned()));
        } else {
            self.out.add(Act::Read, CodeTarget::Path(spec.trim_start_matches(['<', ' ']).to_owned()));
        }
    }
}

pub(super) fn is_shell(program: &str) -> bool {
    let name = program.rsplit(['/', '\\']).next().unwrap_or(program);
    matches!(
        name,
        "sh" | "bash"
            | "zsh"
            | "dash"
            | "ksh"
            | "ash"
            | "fish"
            | "cmd"
            | "cmd.exe"
            | "powershell"
            | "powershell.exe"
            | "pwsh"
    )
}
