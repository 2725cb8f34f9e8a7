//! Code of other languages in a command: which argument holds it, or whether it arrives on standard input.

use portcullis_shell::Span;

use super::{queries, tool_code};
use crate::argument::{Argument, Knowledge};
use crate::code::{Code, Language, ProgramArguments};
use crate::standard_input::StandardInput;
use crate::wrapper::{Unwrapped, WrappedPart, program_name};

/// How an interpreter's arguments are laid out.
struct InterpreterLayout {
    language: Language,
    /// Short options whose value is code.
    code: &'static str,
    /// Long options whose value is code.
    code_long: &'static [&'static str],
    /// Short options whose value is attached or the next word.
    valued: &'static str,
    /// Short options that take the rest of their word, if there is any.
    attached: &'static str,
    /// Short options that digits may follow.
    numbered: &'static str,
    /// Long options whose value is the next word unless given with `=`.
    valued_long: &'static [&'static str],
    /// Short and long options after which the code comes from a file or module.
    elsewhere: &'static [&'static str],
    /// Whether the first operand is the code.
    is_operand: bool,
    /// Options that load a module before the code runs, with how that is written in the language.
    loading: &'static [(&'static str, Load)],
}

/// How loading a module is written.
#[derive(Debug, Clone, Copy)]
enum Load {
    /// `use Module` of Perl; a dash before the name takes it away, what follows `=` is a list of names.
    Use,
    /// `require "module"` of Ruby.
    Require,
    /// `require("module")` of JavaScript.
    RequireCall,
    /// A place that modules are looked for in first, which may hold any.
    Place,
}

const PYTHON: InterpreterLayout = InterpreterLayout {
    language: Language::Python,
    code: "c",
    code_long: &[],
    valued: "WX",
    attached: "",
    numbered: "",
    valued_long: &["--check-hash-based-pycs"],
    elsewhere: &["-m"],
    is_operand: false,
    loading: &[("-W", Load::Place)],
};

const NODE: InterpreterLayout = InterpreterLayout {
    language: Language::JavaScript,
    code: "ep",
    code_long: &["--eval", "--print"],
    valued: "rC",
    attached: "",
    numbered: "",
    valued_long: &[
        "--require",
        "--import",
        "--loader",
        "--experimental-loader",
        "--conditions",
        "--env-file",
        "--title",
    ],
    elsewhere: &[],
    is_operand: false,
    loading: &[
        ("-r", Load::RequireCall),
        ("--require", Load::RequireCall),
        ("--import", Load::RequireCall),
        ("--loader", Load::RequireCall),
        ("--experimental-loader", Load::RequireCall),
    ],
};

const RUBY: InterpreterLayout = InterpreterLayout {
    language: Language::Ruby,
    code: "e",
    code_long: &[],
    valued: "rICE",
    attached: "iFKTWx",
    numbered: "0",
    valued_long: &["--encoding", "--external-encoding", "--internal-encoding"],
    elsewhere: &["-S"],
    is_operand: false,
    loading: &[("-r", Load::Require), ("-I", Load::Place)],
};

const PERL: InterpreterLayout = InterpreterLayout {
    language: Language::Perl,
    code: "eE",
    code_long: &[],
    valued: "I",
    attached: "iFMmxDdCV",
    numbered: "0l",
    valued_long: &[],
    elsewhere: &["-S"],
    is_operand: false,
    loading: &[("-M", Load::Use), ("-m", Load::Use), ("-I", Load::Place), ("-d", Load::Place)],
};

const PHP: InterpreterLayout = InterpreterLayout {
    language: Language::Php,
    code: "rBRE",
    code_long: &["--run", "--process-begin", "--process-code", "--process-end"],
    valued: "dczt",
    attached: "",
    numbered: "",
    valued_long: &["--define", "--php-ini", "--zend-extension", "--docroot"],
    elsewhere: &["-f", "--file", "-F", "--process-file", "-S", "--server"],
    is_operand: false,
    loading: &[
        ("-d", Load::Place),
        ("--define", Load::Place),
        ("-z", Load::Place),
        ("--zend-extension", Load::Place),
    ],
};

const AWK: InterpreterLayout = InterpreterLayout {
    language: Language::Awk,
    code: "e",
    code_long: &["--source"],
    valued: "FvilW",
    attached: "dDLop",
    numbered: "",
    valued_long: &["--field-separator", "--assign", "--include", "--load"],
    elsewhere: &["-f", "--file", "-E", "--exec"],
    is_operand: true,
    loading: &[("-i", Load::Place), ("--include", Load::Place), ("-l", Load::Place), ("--load", Load::Place)],
};

/// Files that are the standard input.
const INPUT: &[&str] = &["-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"];

/// Finds the code of another language that a command runs.
pub(super) fn code_of(arguments: &[Argument], stdin: &StandardInput) -> Option<Code> {
    let (program, rest) = arguments.split_first()?;
    let name = program_name(program.fixed()?);
    let code = code_of_program(&name, rest, stdin);
    if matches!(name.as_str(), "ipython" | "ipython3" | "ptipython") {
        code.as_ref().map(tool_code::plain)
    } else {
        code
    }
}

fn code_of_program(name: &str, rest: &[Argument], stdin: &StandardInput) -> Option<Code> {
    let first = rest.first().map(|word| word.text.as_str());
    match (name, first) {
        ("deno", Some("eval")) => NODE.read(&without_options(rest.get(1..)?), stdin),
        ("deno", Some("run")) => NODE.read(rest.get(1..)?, stdin).filter(|_| has_input(rest)),
        ("bun", Some("run")) => NODE.read(rest.get(1..)?, stdin).filter(|_| has_input(rest)),
        ("bun", _) if !rest.iter().any(Argument::is_option) => None,
        ("deno", _) => None,
        ("rails", Some("runner" | "r")) => tool_code::rails_runner(rest.get(1..)?),
        (name, _) => match interpreter(name) {
            Some(interpreter) if interpreter.language == Language::Python => {
                tool_code::python_tool(rest).or_else(|| interpreter.read(rest, stdin))
            }
            Some(interpreter) => interpreter.read(rest, stdin),
            None => queries::code_of(name, rest, stdin),
        },
    }
}

/// Says whether the standard input is named among the words.
fn has_input(words: &[Argument]) -> bool {
    words.iter().any(|word| INPUT.contains(&word.text.as_str()))
}

/// Makes the operands of `deno eval` look like the code of an option.
fn without_options(rest: &[Argument]) -> Vec<Argument> {
    let code = rest.iter().filter(|word| !word.is_option()).take(1);
    code.flat_map(|word| [Argument { knowledge: Knowledge::Fixed, ..word.piece("-e") }, word.clone()])
        .collect()
}

fn interpreter(written: &str) -> Option<&'static InterpreterLayout> {
    let is_digit = |letter: char| letter.is_ascii_digit();
    let name = written.strip_suffix("-dbg").unwrap_or(written);
    // `python3.13t` is the one without a lock.
    let name = name.strip_suffix('t').filter(|rest| rest.ends_with(is_digit)).unwrap_or(name);
    let plain = name.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '.');
    match plain.trim_end_matches('-') {
        "python" | "pypy" | "pythonw" | "ipython" | "py" | "bpython" | "ptpython" | "ptipython"
        | "jython" | "micropython" | "graalpy" => Some(&PYTHON),
        "node" | "nodejs" | "bun" | "tsx" | "ts-node" => Some(&NODE),
        "ruby" | "jruby" => Some(&RUBY),
        "perl" => Some(&PERL),
        "php" => Some(&PHP),
        "awk" | "gawk" | "mawk" | "nawk" | "goawk" => Some(&AWK),
        _ => None,
    }
}

/// Returns what a command's code starts: shell texts and programs.
pub(super) fn peel(code: &Code, span: Span) -> Option<Unwrapped> {
    let reading = code.read();
    let word = |text: String| Argument { text, source: None, knowledge: Knowledge::Fixed, span, bound: None };
    let texts = reading.shell_texts.into_iter().map(|text| WrappedPart::Text(vec![word(text)]));
    // Code that puts the home directory before a name has it filled in before the program starts.
    let of_home = |text: &str| text == "~" || text.starts_with("~/");
    let filled = |text: String| {
        let knowledge = if of_home(&text) { Knowledge::Tilde } else { Knowledge::Fixed };
        Argument { knowledge, ..word(text) }
    };
    let commands = reading.commands.into_iter().map(|words| {
        let words = words.into_iter().map(|text| text.map_or_else(|| Argument::unknown(span), filled));
        WrappedPart::Command(words.collect())
    });
    let parts: Vec<WrappedPart> = texts.chain(commands).collect();
    (!parts.is_empty()).then(|| Unwrapped::changing(parts))
}

/// Returns the code that arrives on standard input.
pub(super) fn fed(language: Language, stdin: &StandardInput) -> Option<Code> {
    let (text, is_whole) = match stdin {
        StandardInput::Nothing => return None,
        StandardInput::Text(text) | StandardInput::Decoded(text) => (text.clone(), true),
        StandardInput::Partly(text) => (text.clone(), false),
        StandardInput::Lines { .. } | StandardInput::Columns(_) | StandardInput::Unknown => {
            (String::new(), false)
        }
    };
    Some(Code { language, text, is_whole, arguments: ProgramArguments::Unknown })
}

/// Joins pieces of code, which all must be known for the whole to be.
pub(super) fn joined(
    language: Language,
    pieces: &[Argument],
    separator: &str,
    is_sure: bool,
) -> Option<Code> {
    let is_whole = is_sure && pieces.iter().all(|piece| piece.fixed().is_some());
    let texts: Vec<&str> = pieces.iter().map(|piece| piece.text.as_str()).collect();
    (!pieces.is_empty()).then(|| Code {
        language,
        text: texts.join(separator),
        is_whole,
        arguments: ProgramArguments::Unknown,
    })
}

/// What the arguments say, read so far.
#[derive(Default)]
struct CodeArguments {
    code: Vec<Argument>,
    /// Statements that load what options name.
    loads: Vec<Argument>,
    /// Whether the code is in a file or module.
    is_elsewhere: bool,
    /// Whether that file is the standard input.
    is_input: bool,
    /// Whether a word nobody knows may have changed the meaning of the others.
    is_open: bool,
}

impl InterpreterLayout {
    fn read(&self, rest: &[Argument], stdin: &StandardInput) -> Option<Code> {
        let mut found = CodeArguments::default();
        let mut words = rest.iter();
        let mut operand = None;
        while let Some(word) = words.next() {
            if self.language == Language::Python && !found.code.is_empty() {
                operand = Some(word);
                break;
            }
            let is_unsure = word.knowledge == Knowledge::Dynamic && !word.is_option();
            if !self.is_operand && is_unsure && found.code.is_empty() {
                // It may be options or nothing, so that what follows may still be code.
                found.is_open = true;
                operand = operand.or(Some(word));
                continue;
            }
            let is_done = !word.is_option() || word.text == "--";
            if is_done {
                operand = if word.text == "--" { words.next() } else { Some(word) };
                // A word before the code that may be anything, or nothing.
                found.is_open |= operand.is_some_and(|word| word.fixed().is_none()) && found.code.is_empty();
                break;
            }
            found.is_open |= word.fixed().is_none();
            if let Some(long) = word.text.strip_prefix("--") {
                self.read_long(long, word, &mut words, &mut found);
            } else {
                self.read_cluster(word, &mut words, &mut found);
            }
        }
        let code = self.conclude(&found, operand, stdin)?;
        let arguments = if self.reads_words(rest) {
            ProgramArguments::Unknown
        } else {
            self.arguments(&found, operand, words.as_slice())
        };
        Some(Code { arguments, ..code })
    }

    /// Says whether the program reads its words as files one by one, and takes each from their list: `-n`, `-p`.
    fn reads_words(&self, rest: &[Argument]) -> bool {
        const VALUED: [&str; 6] = ["-r", "-I", "-M", "-m", "-E", "-W"];
        let loops = |word: &Argument| {
            let is_cluster =
                !word.text.starts_with("--") && !VALUED.iter().any(|option| word.text.starts_with(option));
            is_cluster && word.text.contains(['n', 'p'])
        };
        matches!(self.language, Language::Ruby | Language::Perl)
            && rest.iter().take_while(|word| word.is_option()).any(loops)
    }

    /// Returns the words that code of the line, or of the standard input, is started with.
    fn arguments(
        &self,
        found: &CodeArguments,
        operand: Option<&Argument>,
        rest: &[Argument],
    ) -> ProgramArguments {
        let is_on_line = !found.code.is_empty();
        let before = match self.language {
            Language::Python | Language::Php => 1,
            Language::JavaScript if is_on_line => 1,
            Language::JavaScript => 2,
            _ => 0,
        };
        if found.is_open || found.is_elsewhere {
            return ProgramArguments::Unknown;
        }
        let first = operand.filter(|_| is_on_line).into_iter();
        let words: Vec<Argument> = first.chain(rest).cloned().collect();
        ProgramArguments::of(before, &words)
    }

    fn conclude(
        &self,
        found: &CodeArguments,
        operand: Option<&Argument>,
        stdin: &StandardInput,
    ) -> Option<Code> {
        if !found.code.is_empty() {
            let pieces: Vec<Argument> = found.loads.iter().chain(&found.code).cloned().collect();
            return joined(self.language, &pieces, "\n", !found.is_open);
        }
        let is_input = |word: &Argument| INPUT.contains(&word.text.as_str());
        match operand {
            _ if found.is_input => fed(self.language, stdin),
            _ if found.is_elsewhere => None,
            Some(code) if self.is_operand => joined(self.language, std::slice::from_ref(code), "", true),
            Some(file) if !is_input(file) => None,
            None if self.is_operand => None,
            Some(_) | None => fed(self.language, stdin),
        }
    }

    fn read_long<'a>(
        &self,
        long: &str,
        word: &Argument,
        words: &mut impl Iterator<Item = &'a Argument>,
        found: &mut CodeArguments,
    ) {
        let (name, value) = match long.split_once('=') {
            Some((name, value)) => (format!("--{name}"), Some(word.piece(value))),
            None => (word.text.clone(), None),
        };
        let is_one_of = |options: &[&str]| options.contains(&name.as_str());
        if is_one_of(self.code_long) {
            found.code.extend(value.or_else(|| words.next().cloned()));
        } else if is_one_of(self.elsewhere) {
            found.note_file(value.or_else(|| words.next().cloned()));
        } else if is_one_of(self.valued_long) {
            let value = value.or_else(|| words.next().cloned());
            found.is_open |= value.as_ref().is_some_and(|value| value.fixed().is_none());
            self.note_load(&name, value, found);
        }
    }

    fn read_cluster<'a>(
        &self,
        word: &Argument,
        words: &mut impl Iterator<Item = &'a Argument>,
        found: &mut CodeArguments,
    ) {
        let mut cluster = word.text.strip_prefix('-').unwrap_or_default();
        while let Some(letter) = cluster.chars().next() {
            let rest = cluster.get(letter.len_utf8()..).unwrap_or_default();
            // The rest of `-pe` is another option, not what `-p` of node prints.
            let is_flag = self.language == Language::JavaScript && letter == 'p' && rest == "e";
            let mut value = || {
                let attached = (!rest.is_empty()).then(|| word.piece(rest));
                attached.or_else(|| words.next().cloned())
            };
            if self.code.contains(letter) && !is_flag {
                found.code.extend(value());
                return;
            }
            if self
                .elsewhere
                .iter()
                .any(|option| option.strip_prefix('-').is_some_and(|one| one.starts_with(letter)))
            {
                found.note_file(value());
                return;
            }
            if self.valued.contains(letter) {
                let value = value();
                found.is_open |= value.as_ref().is_some_and(|value| value.fixed().is_none());
                self.note_load(&format!("-{letter}"), value, found);
                return;
            }
            if self.attached.contains(letter) {
                self.note_load(&format!("-{letter}"), Some(word.piece(rest)), found);
                return;
            }
            cluster = rest;
            if self.numbered.contains(letter) {
                cluster = rest.trim_start_matches(|digit: char| {
                    digit.is_ascii_hexdigit() && digit != 'e' && digit != 'a'
                });
            }
        }
    }
}

impl InterpreterLayout {
    /// Notes what an option loads as a statement of the language, so that the reader judges it like any other.
    fn note_load(&self, option: &str, value: Option<Argument>, found: &mut CodeArguments) {
        let load = self.loading.iter().find(|(name, _)| *name == option).map(|(_, load)| *load);
        let (Some(load), Some(value)) = (load, value) else { return };
        let is_name = |text: &str| {
            text.chars().all(|letter| letter.is_ascii_alphanumeric() || "_-:./@".contains(letter))
        };
        let (module, taken) = value.text.split_once(['=', ' ']).unwrap_or((&value.text, ""));
        let is_list = !taken.contains([';', '{', '`', '$', '&']);
        let statement = match load {
            Load::Use if module.starts_with('-') => return,
            Load::Use if is_name(module) && is_list => format!("use {module};"),
            Load::Require if is_name(&value.text) => format!("require '{}'", value.text),
            Load::RequireCall if is_name(&value.text) => format!("require('{}');", value.text),
            Load::Place if option == "-d" && value.text.is_empty() => return,
            Load::Place if self.is_plain_setting(&value.text) => return,
            _ => {
                found.is_open = true;
                return;
            }
        };
        found.loads.push(value.piece(&statement));
    }

    /// Says whether a setting given on the line loads nothing.
    fn is_plain_setting(&self, text: &str) -> bool {
        const PLAIN: &[&str] =
            &["memory_limit", "max_execution_time", "display_errors", "error_reporting", "date.timezone"];
        let (name, _) = text.split_once('=').unwrap_or((text, ""));
        match self.language {
            Language::Php => PLAIN.contains(&name),
            // The kind of a warning may be one of a module, which is loaded for it.
            Language::Python => !text.contains('.'),
            _ => false,
        }
    }
}

impl CodeArguments {
    fn note_file(&mut self, file: Option<Argument>) {
        self.is_elsewhere = true;
        self.is_input |= file.is_some_and(|file| INPUT.contains(&file.text.as_str()));
    }
}
