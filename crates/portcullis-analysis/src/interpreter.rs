//! Commands whose arguments or standard input are shell text: `bash -c`, `eval`, `trap`, a shell that reads a pipe.

use crate::argument::Argument;
use crate::invocation::{Wrapping, base_name};
use crate::lists::programs::shells::{FOREIGN, SHELLS};
use crate::wrapper::{Unwrapped, WrappedPart, program_name};

/// Long options of a shell whose value is the next word.
const VALUED_LONG: &[&str] = &["--rcfile", "--init-file"];

/// Short options that leave what `-c` runs as it is.
const PLAIN: &str = "ceuxvnfBo";

/// Options beside which `-n` still keeps a script from running, and names that may stand behind `-o` there.
const STEADY: &str = "euxvnfBoO";
const STEADY_LONG: &[&str] =
    &["--no-config", "--no-execute", "--noprofile", "--norc", "--posix", "--verbose"];
const STEADY_NAMES: &[&str] = &["errexit", "noexec", "nounset", "pipefail", "posix", "verbose", "xtrace"];

/// Finds the shell text a command runs; `None` if it runs none.
pub(crate) fn peel(arguments: &[Argument]) -> Option<Unwrapped> {
    let (program, rest) = arguments.split_first()?;
    let name = program_name(program.fixed()?);
    match name.as_str() {
        "eval" => peel_eval(rest),
        "trap" => peel_trap(rest),
        "source" | "." => peel_source(rest),
        "at" | "batch" => Some(Unwrapped::changing(vec![WrappedPart::Input])),
        "crontab" => {
            rest.iter().all(|word| word.text == "-").then(|| Unwrapped::changing(vec![WrappedPart::Input]))
        }
        name if is_foreign(name) => peel_shell(rest).map(as_foreign),
        name if is_shell(name) => peel_shell(rest),
        _ => None,
    }
}

/// Keeps what a foreign shell's text says in bash, for rules that deny it, and adds that it may say something else.
fn as_foreign(mut unwrapped: Unwrapped) -> Unwrapped {
    if !unwrapped.parts.is_empty() {
        unwrapped.parts.push(WrappedPart::Unknown("another shell than bash reads the text"));
    }
    Unwrapped { wrapping: Wrapping::Changing, ..unwrapped }
}

/// Says whether a name is a shell's, a version after it ignored: `ksh93`, `bash-5.2`.
pub(crate) fn is_shell(name: &str) -> bool {
    SHELLS.contains(&without_version(name))
}

fn is_foreign(name: &str) -> bool {
    FOREIGN.contains(&without_version(name))
}

fn without_version(name: &str) -> &str {
    name.trim_end_matches(|letter: char| letter.is_ascii_digit() || matches!(letter, '.' | '-'))
}

fn text(words: Vec<Argument>) -> Option<Unwrapped> {
    (!words.is_empty()).then(|| Unwrapped {
        wrapping: Wrapping::Transparent,
        ..Unwrapped::changing(vec![WrappedPart::Text(words)])
    })
}

fn peel_eval(rest: &[Argument]) -> Option<Unwrapped> {
    let skipped = usize::from(rest.first().is_some_and(|word| word.text == "--"));
    text(rest.get(skipped..).unwrap_or_default().to_vec())
}

fn peel_trap(rest: &[Argument]) -> Option<Unwrapped> {
    let action = rest.iter().find(|argument| argument.text != "--")?;
    if action.is_option() || rest.len() < 2 || action.text.is_empty() {
        return None;
    }
    // It runs later, wherever the shell is by then.
    text(vec![action.clone()])
        .map(|unwrapped| Unwrapped { directory: Some(Argument::unknown(action.span)), ..unwrapped })
}

fn peel_source(rest: &[Argument]) -> Option<Unwrapped> {
    let file = rest.iter().find(|argument| argument.text != "--")?;
    if !file.is_known() {
        return Some(Unwrapped::changing(vec![WrappedPart::Unknown(
            "the file it runs is only known at run time",
        )]));
    }
    descriptor(&file.text).map(Unwrapped::changing)
}

/// Returns what is run if a script is named by a descriptor.
fn descriptor(file: &str) -> Option<Vec<WrappedPart>> {
    let name = base_name(file);
    let is_number = name.chars().all(|letter| letter.is_ascii_digit());
    match file {
        "/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0" => Some(vec![WrappedPart::Input]),
        // However the way to it is written, and wherever it begins.
        _ if name == "stdin" || is_number || file.contains("/fd/") => {
            Some(vec![WrappedPart::Input, WrappedPart::Unknown("the script it runs comes from a descriptor")])
        }
        _ => None,
    }
}

/// Says whether a shell is told to read its script and not to run it, by options of which none takes that back.
pub(crate) fn is_trial(rest: &[Argument]) -> bool {
    let mut options = ShellOptions::default();
    let mut words = rest.iter();
    while let Some(word) = words.next() {
        if !word.is_known() || !word.text.starts_with(['-', '+']) || matches!(word.text.as_str(), "-" | "--")
        {
            break;
        }
        options.take(word, &mut words);
    }
    options.is_trial()
}

/// Reads a shell's options up to its script or script file.
fn peel_shell(rest: &[Argument]) -> Option<Unwrapped> {
    let mut options = ShellOptions::default();
    let mut words = rest.iter();
    let mut script = None;
    let mut is_open = false;
    while let Some(word) = words.next() {
        if !word.is_known() && options.source == ScriptSource::Word {
            // What is written of it is still read.
            script = Some(word);
            break;
        }
        // The last word has nothing behind it that it could take as a value.
        if options.is_trial() && word.shape().is_some() && words.len() == 0 {
            return None;
        }
        if !word.is_known() {
            let why = "the shell's script is only known at run time";
            return Some(Unwrapped::changing(vec![WrappedPart::Unknown(why)]));
        }
        if word.text == "--" || word.text == "-" {
            script = words.next();
            break;
        }
        if !word.text.starts_with(['-', '+']) {
            script = Some(word);
            break;
        }
        is_open |= options.take(word, &mut words);
    }
    let mut unwrapped = options.peel(script);
    if is_open {
        let why = "a file the shell runs is only known at run time";
        unwrapped
            .get_or_insert_with(|| Unwrapped::changing(Vec::new()))
            .parts
            .push(WrappedPart::Unknown(why));
    }
    unwrapped
}

/// What the options of a shell say.
#[derive(Default)]
struct ShellOptions {
    source: ScriptSource,
    /// Whether the script is only checked.
    is_only_read: bool,
    /// Whether an option may take that back: `-n +n`, `-n +o noexec`, `-n -o exec`.
    may_run: bool,
    is_changing: bool,
}

/// Where a shell has its script from; of several that are asked for, the last one here counts.
#[derive(Default, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum ScriptSource {
    #[default]
    File,
    Input,
    Word,
}

impl ShellOptions {
    fn is_trial(&self) -> bool {
        self.is_only_read && !self.may_run
    }

    /// Notes an option and the next words that are its values; says whether one of these is only known at run time.
    fn take(&mut self, option: &Argument, words: &mut std::slice::Iter<'_, Argument>) -> bool {
        let mut is_open = false;
        for value in words.by_ref().take(self.read(&option.text)) {
            is_open |= !value.is_known();
            self.may_run |= option.text != "-O" && !STEADY_NAMES.contains(&value.text.as_str());
        }
        is_open
    }

    /// Notes an option; returns how many of the next words are its values.
    fn read(&mut self, text: &str) -> usize {
        if text.starts_with("--") {
            self.is_only_read |= text == "--no-execute";
            self.may_run |= !STEADY_LONG.contains(&text);
            self.is_changing = true;
            return usize::from(VALUED_LONG.contains(&text));
        }
        let letters = text.trim_start_matches(['-', '+']);
        self.may_run |= text.starts_with('+') || !letters.chars().all(|letter| STEADY.contains(letter));
        if text.starts_with('-') {
            self.is_only_read |= letters.contains('n');
            for letter in letters.chars() {
                self.source = self.source.max(match letter {
                    'c' => ScriptSource::Word,
                    's' => ScriptSource::Input,
                    _ => ScriptSource::File,
                });
            }
        }
        self.is_changing |= !letters.chars().all(|letter| PLAIN.contains(letter));
        letters.chars().filter(|letter| matches!(letter, 'o' | 'O')).count()
    }

    fn peel(self, script: Option<&Argument>) -> Option<Unwrapped> {
        let parts = match script {
            Some(script) if self.source == ScriptSource::Word => {
                vec![WrappedPart::Text(vec![script.clone()])]
            }
            None if self.source == ScriptSource::Word => Vec::new(),
            Some(_) if self.source == ScriptSource::Input => vec![WrappedPart::Input],
            // A script file is an ordinary operand; there is nothing to look into here.
            Some(file) if !file.is_known() => {
                vec![WrappedPart::Unknown("the script it runs is only known at run time")]
            }
            Some(file) => descriptor(&file.text)?,
            None => vec![WrappedPart::Input],
        };
        let is_transparent = self.source == ScriptSource::Word && !self.is_changing;
        let wrapping = if is_transparent { Wrapping::Transparent } else { Wrapping::Changing };
        Some(Unwrapped { wrapping, ..Unwrapped::changing(parts) })
    }
}
