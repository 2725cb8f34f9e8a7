//! Commands whose arguments or standard input are shell text: `bash -c`, `eval`, `trap`, a shell that reads a pipe.

use crate::argument::Argument;
use crate::invocation::{Wrapping, base_name};
use crate::lists::shells::{FOREIGN, SHELLS};
use crate::wrapper::{Inside, Peeled, program_name};

/// Long options of a shell whose value is the next word.
const VALUED_LONG: &[&str] = &["--rcfile", "--init-file"];

/// Short options that leave what `-c` runs as it is.
const PLAIN: &str = "ceuxvnfBo";

/// Finds the shell text a command runs; `None` if it runs none.
pub(crate) fn peel(arguments: &[Argument]) -> Option<Peeled> {
    let (program, rest) = arguments.split_first()?;
    let name = program_name(program.fixed()?);
    match name.as_str() {
        "eval" => peel_eval(rest),
        "trap" => peel_trap(rest),
        "source" | "." => peel_source(rest),
        "at" | "batch" => Some(Peeled::changing(vec![Inside::Input])),
        "crontab" => rest.iter().all(|word| word.text == "-").then(|| Peeled::changing(vec![Inside::Input])),
        name if is_foreign(name) => peel_shell(rest).map(as_foreign),
        name if is_shell(name) => peel_shell(rest),
        _ => None,
    }
}

/// Keeps what a foreign shell's text says in bash, for rules that deny it, and adds that it may say something else.
fn as_foreign(mut peeled: Peeled) -> Peeled {
    if !peeled.insides.is_empty() {
        peeled.insides.push(Inside::Unknown("another shell than bash reads the text"));
    }
    Peeled { wrapping: Wrapping::Changing, ..peeled }
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

fn text(words: Vec<Argument>) -> Option<Peeled> {
    (!words.is_empty())
        .then(|| Peeled { wrapping: Wrapping::Transparent, ..Peeled::changing(vec![Inside::Text(words)]) })
}

fn peel_eval(rest: &[Argument]) -> Option<Peeled> {
    let skipped = usize::from(rest.first().is_some_and(|word| word.text == "--"));
    text(rest.get(skipped..).unwrap_or_default().to_vec())
}

fn peel_trap(rest: &[Argument]) -> Option<Peeled> {
    let action = rest.iter().find(|argument| argument.text != "--")?;
    if action.is_option() || rest.len() < 2 || action.text.is_empty() {
        return None;
    }
    // It runs later, wherever the shell is by then.
    text(vec![action.clone()])
        .map(|peeled| Peeled { directory: Some(Argument::unknown(action.span)), ..peeled })
}

fn peel_source(rest: &[Argument]) -> Option<Peeled> {
    let file = rest.iter().find(|argument| argument.text != "--")?;
    if !file.is_known() {
        return Some(Peeled::changing(vec![Inside::Unknown("the file it runs is only known at run time")]));
    }
    descriptor(&file.text).map(Peeled::changing)
}

/// Returns what is run if a script is named by a descriptor.
fn descriptor(file: &str) -> Option<Vec<Inside>> {
    let name = base_name(file);
    let is_number = name.chars().all(|letter| letter.is_ascii_digit());
    match file {
        "/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0" => Some(vec![Inside::Input]),
        // However the way to it is written, and wherever it begins.
        _ if name == "stdin" || is_number || file.contains("/fd/") => {
            Some(vec![Inside::Input, Inside::Unknown("the script it runs comes from a descriptor")])
        }
        _ => None,
    }
}

/// Reads a shell's options up to its script or script file.
fn peel_shell(rest: &[Argument]) -> Option<Peeled> {
    let mut options = Options::default();
    let mut words = rest.iter();
    let mut script = None;
    let mut is_open = false;
    while let Some(word) = words.next() {
        if !word.is_known() && options.has_command {
            // What is written of it is still read.
            script = Some(word);
            break;
        }
        if !word.is_known() {
            let why = "the shell's script is only known at run time";
            return Some(Peeled::changing(vec![Inside::Unknown(why)]));
        }
        if word.text == "--" || word.text == "-" {
            script = words.next();
            break;
        }
        if !word.text.starts_with(['-', '+']) {
            script = Some(word);
            break;
        }
        for _ in 0..options.read(&word.text) {
            is_open |= words.next().is_some_and(|value| !value.is_known());
        }
    }
    let mut peeled = options.peel(script);
    if is_open {
        let why = "a file the shell runs is only known at run time";
        peeled.get_or_insert_with(|| Peeled::changing(Vec::new())).insides.push(Inside::Unknown(why));
    }
    peeled
}

/// What the options of a shell say.
#[derive(Default)]
struct Options {
    has_command: bool,
    reads_input: bool,
    is_changing: bool,
}

impl Options {
    /// Notes an option; returns how many of the next words are its values.
    fn read(&mut self, text: &str) -> usize {
        if text.starts_with("--") {
            self.is_changing = true;
            return usize::from(VALUED_LONG.contains(&text));
        }
        let letters = text.trim_start_matches(['-', '+']);
        if text.starts_with('-') {
            self.has_command |= letters.contains('c');
            self.reads_input |= letters.contains('s');
        }
        self.is_changing |= !letters.chars().all(|letter| PLAIN.contains(letter));
        letters.chars().filter(|letter| matches!(letter, 'o' | 'O')).count()
    }

    fn peel(self, script: Option<&Argument>) -> Option<Peeled> {
        let insides = match script {
            Some(script) if self.has_command => vec![Inside::Text(vec![script.clone()])],
            None if self.has_command => Vec::new(),
            Some(_) if self.reads_input => vec![Inside::Input],
            // A script file is an ordinary operand; there is nothing to look into here.
            Some(file) if !file.is_known() => {
                vec![Inside::Unknown("the script it runs is only known at run time")]
            }
            Some(file) => descriptor(&file.text)?,
            None => vec![Inside::Input],
        };
        let is_transparent = self.has_command && !self.is_changing;
        let wrapping = if is_transparent { Wrapping::Transparent } else { Wrapping::Changing };
        Some(Peeled { wrapping, ..Peeled::changing(insides) })
    }
}
