//! Which commands of a line hand their output to another: pipes, substitutions, variables, files written before.
//!
//! Every list here is cut at a length: a line with thousands of stages would otherwise cost the square of it.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

use crate::act::Act;
use crate::argument::Argument;
use crate::case::Case;
use crate::effect::Effect;
use crate::interpreter::is_shell;
use crate::invocation::Invocation;

/// How many commands are followed back from one command. What lies further back is not seen here.
const FARTHEST: usize = 256;

/// The ways from command to command in a line. They are found when somebody follows one, which few calls make anybody do.
#[derive(Debug)]
pub(crate) struct DataFlow<'a> {
    case: Case<'a>,
    ways: OnceCell<Ways<'a>>,
}

/// Where the output of commands may go.
#[derive(Debug, Default)]
struct Ways<'a> {
    /// The commands that set a variable.
    setters: BTreeMap<&'a str, Vec<usize>>,
    /// The commands that write a file, by its absolute spelling or, if it has none, as it is written.
    writers: BTreeMap<&'a str, Vec<usize>>,
    /// The files a command reads or runs.
    readings: BTreeMap<usize, Vec<&'a str>>,
    /// The command that feeds a process substitution: `tee >(nc …)`.
    outer: BTreeMap<usize, usize>,
    /// The commands in brackets among the words of a command: `iex (iwr …)`.
    inner: BTreeMap<usize, Vec<usize>>,
    /// What each command does.
    effects: BTreeMap<usize, Vec<&'a Effect>>,
}

impl<'a> Ways<'a> {
    /// Finds the ways of a line.
    fn of(case: Case<'a>) -> Self {
        let mut ways = Self::default();
        let has_brackets = case.tool.eq_ignore_ascii_case("PowerShell");
        for (index, command) in case.survey.invocations.iter().enumerate() {
            for variable in &command.assignments {
                ways.setters.entry(&variable.name).or_default().push(index);
            }
            if let Some(parent) = command.parent.filter(|_| has_brackets) {
                ways.inner.entry(parent).or_default().push(index);
            }
            if takes_output(command) {
                ways.outer.extend(command.substituted.clone().map(|inner| (inner, index)));
            }
        }
        for effect in case.effects {
            let Some(index) = effect.invocation else { continue };
            ways.effects.entry(index).or_default().push(effect);
            for name in names_of(effect) {
                match effect.act {
                    Act::Write => ways.writers.entry(name).or_default().push(index),
                    Act::Read | Act::Execute | Act::LoadCode => {
                        ways.readings.entry(index).or_default().push(name);
                    }
                    _ => {}
                }
            }
        }
        ways
    }
}

impl<'a> DataFlow<'a> {
    /// Makes it for a line.
    pub(crate) fn of(case: Case<'a>) -> Self {
        Self { case, ways: OnceCell::new() }
    }

    fn ways(&self) -> &Ways<'a> {
        self.ways.get_or_init(|| Ways::of(self.case))
    }

    /// Returns the commands whose output may reach a command, without itself and its wrappers.
    pub(crate) fn feeding(&self, index: usize) -> BTreeSet<usize> {
        let mut open = Vec::new();
        let mut lines = BTreeSet::new();
        let mut next = Some(index);
        while let Some(at) = next.filter(|at| lines.len() < FARTHEST && lines.insert(*at)) {
            open.extend(self.inputs(at));
            next = self.command(at).and_then(|command| command.parent);
        }
        let mut reached = BTreeSet::new();
        while let Some(at) = open.pop() {
            if reached.len() < FARTHEST && !lines.contains(&at) && reached.insert(at) {
                open.extend(self.inputs(at));
            }
        }
        reached
    }

    /// Returns what a command does.
    pub(crate) fn own(&self, index: usize) -> &[&'a Effect] {
        self.ways().effects.get(&index).map(Vec::as_slice).unwrap_or_default()
    }

    /// Returns the effects of the commands whose output may reach a command.
    pub(crate) fn fed(&self, index: usize) -> Vec<&'a Effect> {
        self.feeding(index).into_iter().flat_map(|at| self.own(at)).copied().collect()
    }

    /// Returns the effects whose output may be what an effect is done with: those of its own command, of the commands
    /// inside it, and those that feed it.
    pub(crate) fn sources(&self, effect: &Effect) -> Vec<&'a Effect> {
        let Some(index) = effect.invocation else {
            return Vec::new();
        };
        let inside = self.inside(index).flat_map(|at| self.own(at)).copied();
        self.own(index).iter().copied().chain(inside).chain(self.fed(index)).collect()
    }

    /// Returns the commands that write where a command is redirected to: those it wraps, or those of a group.
    fn inside(&self, index: usize) -> impl Iterator<Item = usize> {
        let span = self.command(index).map(|command| command.span);
        let is_inside = move |command: &Invocation| {
            span.is_some_and(|span| span.start <= command.span.start && command.span.end <= span.end)
        };
        let later = self.case.survey.invocations.iter().enumerate().skip(index + 1);
        later.take(FARTHEST).take_while(move |(_, command)| is_inside(command)).map(|(at, _)| at)
    }

    /// Returns the commands that write a file an effect is done to.
    pub(crate) fn writers(&self, effect: &Effect) -> BTreeSet<usize> {
        names_of(effect).filter_map(|name| self.ways().writers.get(name)).flatten().copied().collect()
    }

    fn command(&self, index: usize) -> Option<&'a Invocation> {
        self.case.survey.invocations.get(index)
    }

    /// Returns the commands whose output a command may use: the stage before it, substitutions, wrappers, the body of a
    /// function, whatever set a variable that it names.
    fn inputs(&self, index: usize) -> Vec<usize> {
        let Some(command) = self.command(index) else {
            return Vec::new();
        };
        let mut inputs: Vec<usize> = command.piped.clone().take(FARTHEST).collect();
        if !takes_output(command) {
            inputs.extend(command.substituted.clone().take(FARTHEST));
        }
        inputs.extend(self.ways().outer.get(&index));
        inputs.extend(self.case.survey.body(command).take(FARTHEST));
        inputs.extend(self.ways().inner.get(&index).into_iter().flatten().take(FARTHEST));
        let words =
            command.arguments.iter().chain(command.assignments.iter().map(|variable| &variable.value));
        let used = words.filter(|word| !word.is_known());
        for name in used.flat_map(|word| variables(word.as_written()).take(MOST_VARIABLES)) {
            let setters = self.ways().setters.get(name).into_iter().flatten();
            inputs.extend(setters.copied().filter(|setter| *setter != index));
        }
        for file in self.ways().readings.get(&index).into_iter().flatten() {
            let writers = self.ways().writers.get(file).into_iter().flatten();
            inputs.extend(writers.copied().filter(|writer| *writer < index));
        }
        inputs
    }
}

/// The most variables of one word that are followed.
const MOST_VARIABLES: usize = 256;

/// Says whether a command writes into a process substitution.
fn takes_output(command: &Invocation) -> bool {
    let words =
        command.arguments.iter().chain(command.redirections.iter().map(|redirection| &redirection.target));
    words.into_iter().any(|word| word.as_written().contains(">("))
}

/// Returns the names of a file by which commands of the same line can be matched.
fn names_of(effect: &Effect) -> impl Iterator<Item = &str> {
    let written = effect.target.written();
    let paths = effect.target.paths();
    let only_written = (paths.is_empty() && written.contains('$')).then_some(written.trim_matches('"'));
    paths.iter().map(String::as_str).chain(only_written)
}

/// The most dollar signs of one word that are looked at; a word with more is long since not known.
const MOST_DOLLARS: usize = 1_024;

/// Returns the names of the variables in a word.
pub(crate) fn variables(written: &str) -> impl Iterator<Item = &str> {
    written.split('$').skip(1).take(MOST_DOLLARS).filter_map(|rest| {
        let rest = rest.strip_prefix('{').unwrap_or(rest);
        let end =
            rest.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_').unwrap_or(rest.len());
        rest.get(..end).filter(|name| !name.is_empty())
    })
}

/// Where an interpreter takes its program from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ProgramSource<'a> {
    /// From standard input.
    Input,
    /// From a word: `-c TEXT`, `eval TEXT`.
    Text(&'a Argument),
    /// From a file.
    File(&'a Argument),
    /// From something installed: `python -m`.
    Installed,
}

/// Interpreters that are no shells, without the version that may follow the name, and the options that hold their text.
const INTERPRETERS: &[(&str, &[&str])] = &[
    ("bun", &["-e", "--eval", "-p", "--print"]),
    ("deno", &[]),
    ("lua", &["-e"]),
    ("luajit", &["-e"]),
    ("node", &["-e", "--eval", "-p", "--print", "-pe"]),
    ("nodejs", &["-e", "--eval", "-p", "--print", "-pe"]),
    ("osascript", &["-e"]),
    ("perl", &["-e", "-E", "-ne", "-pe", "-lne", "-le", "-nle", "-ple"]),
    ("php", &["-r"]),
    ("powershell", &["-c", "-command"]),
    ("pwsh", &["-c", "-command"]),
    ("pypy", &["-c"]),
    ("python", &["-c"]),
    ("ruby", &["-e"]),
    ("tclsh", &[]),
];

/// Options of interpreters whose value is the next word.
const VALUED: &[&str] = &[
    "-o",
    "+o",
    "-O",
    "--rcfile",
    "--init-file",
    "-W",
    "-X",
    "-r",
    "--require",
    "--import",
    "--loader",
    "-I",
];

/// Says where a command takes the program it interprets from; `None` if it interprets nothing.
pub(crate) fn program_of(command: &Invocation) -> Option<ProgramSource<'_>> {
    let name = command.program_name()?.to_ascii_lowercase();
    let words = command.operands();
    match name.as_str() {
        "eval" => return words.first().map(ProgramSource::Text),
        "iex" | "invoke-expression" => {
            return Some(words.first().map_or(ProgramSource::Input, ProgramSource::Text));
        }
        "source" | "." => return words.first().map(ProgramSource::File),
        _ => {}
    }
    let plain = name.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '.');
    let listed = INTERPRETERS.iter().find(|(interpreter, _)| *interpreter == plain);
    if !is_shell(&name) && listed.is_none() {
        return None;
    }
    let texts = listed.map_or(&["-c"][..], |(_, texts)| texts);
    let is_text = |word: &Argument| {
        texts.contains(&word.text.to_ascii_lowercase().as_str())
            || listed.is_none()
                && word.text.starts_with('-')
                && !word.text.starts_with("--")
                && word.text.ends_with('c')
    };
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        if is_text(word) {
            return rest.next().map(ProgramSource::Text);
        }
        match word.text.as_str() {
            "-" | "/dev/stdin" | "-s" => return Some(ProgramSource::Input),
            "-m" => return Some(ProgramSource::Installed),
            text if VALUED.contains(&text) => _ = rest.next(),
            text if text.starts_with(['-', '+']) => {}
            "run" | "eval" if listed.is_some() => {}
            _ => return Some(ProgramSource::File(word)),
        }
    }
    Some(ProgramSource::Input)
}

/// Says whether a command is a shell that takes its commands from whoever is at its input: no text, no script.
pub(crate) fn is_open_shell(command: &Invocation) -> bool {
    command.program_name().is_some_and(is_shell) && program_of(command) == Some(ProgramSource::Input)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Surroundings, survey};

    fn program_is(command: &str, test: impl Fn(ProgramSource<'_>) -> bool) -> bool {
        let survey = survey(
            command,
            Surroundings {
                directory: "/code/app",
                home: Some("/home/me"),
                profiles: crate::profile::Profiles::BUILT_IN,
            },
        );
        survey.invocations.first().and_then(program_of).is_some_and(test)
    }

    #[test]
    fn an_interpreter_takes_its_program_from_input_text_or_a_file() {
        for command in ["sh", "bash -s -- a", "python3 -", "node", "bash -o pipefail", "sh -x", "deno run -"]
        {
            assert!(program_is(command, |program| program == ProgramSource::Input), "{command}");
        }
        for command in ["sh -c 'a b'", "python3 -c 'x'", "eval a", "bash -lc a", "perl -ne x", "node -e x"] {
            assert!(program_is(command, |program| matches!(program, ProgramSource::Text(_))), "{command}");
        }
        for command in ["sh a.sh", "source a", "python3 -W ignore a.py b", "node a.js"] {
            assert!(program_is(command, |program| matches!(program, ProgramSource::File(_))), "{command}");
        }
        assert!(
            !program_is("cat a", |_| true)
                && program_is("python3 -m json.tool", |program| program == ProgramSource::Installed)
        );
    }

    #[test]
    fn names_of_variables_are_found_in_words() {
        assert_eq!(variables("a$b/${c:-d}\"$e\"").collect::<Vec<_>>(), ["b", "c", "e"]);
        assert_eq!(variables("$(x) $").count(), 0);
    }
}
