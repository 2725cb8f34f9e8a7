//! Which commands of a line hand their output to another: pipes, substitutions, variables, files written before.
//!
//! Every list here is cut at a length: a line with thousands of stages would otherwise cost the square of it.

use std::cell::{Cell, OnceCell};
use std::collections::{BTreeMap, BTreeSet};

use crate::act::Act;
use crate::argument::Argument;
use crate::case::Case;
use crate::effect::Effect;
use crate::interpreter::is_shell;
use crate::invocation::Invocation;

/// How many commands are followed back from one command. What lies further back is not seen here.
const FARTHEST: usize = 256;

/// How many steps from command to command are taken for one line: as many as 200 commands can need that all feed each
/// other and are all asked about. A longer line is never proven harmless, so that what is not seen is at worst a question.
const MOST_STEPS: usize = 8_000_000;

/// The ways from command to command in a line. They are found when somebody follows one, which few calls make anybody do.
#[derive(Debug)]
pub(crate) struct DataFlow<'a> {
    case: Case<'a>,
    ways: OnceCell<Ways<'a>>,
    /// How many steps were taken.
    steps: Cell<usize>,
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
        Self { case, ways: OnceCell::new(), steps: Cell::new(0) }
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

    /// Says whether a command of the line writes a file an effect is done to.
    pub(crate) fn has_writer(&self, effect: &Effect) -> bool {
        names_of(effect).any(|name| self.ways().writers.contains_key(name))
    }

    /// Returns, for every file that the line writes, the first command that writes it with something of a kind of effects
    /// in its hands, and that effect.
    pub(crate) fn first_writers(
        &self,
        test: impl Fn(&Effect) -> bool,
    ) -> BTreeMap<&'a str, (usize, &'a Effect)> {
        if !self.case.effects.iter().any(&test) {
            return BTreeMap::new();
        }
        let mut known: BTreeMap<usize, Option<&'a Effect>> = BTreeMap::new();
        let mut hands = |writer: usize| {
            let find =
                || self.own(writer).iter().copied().chain(self.fed(writer)).find(|effect| test(effect));
            *known.entry(writer).or_insert_with(find)
        };
        let writers = self.ways().writers.iter();
        let first = writers.filter_map(|(name, writers)| {
            writers.iter().find_map(|writer| hands(*writer).map(|effect| (*name, (*writer, effect))))
        });
        first.collect()
    }

    /// Returns the names by which a file of an effect is known to [`Self::first_writers`].
    pub(crate) fn names(effect: &Effect) -> impl Iterator<Item = &str> {
        names_of(effect)
    }

    fn command(&self, index: usize) -> Option<&'a Invocation> {
        self.case.survey.invocations.get(index)
    }

    /// Returns the commands whose output a command may use, as long as steps are left.
    fn inputs(&self, index: usize) -> Vec<usize> {
        if self.steps.get() > MOST_STEPS {
            return Vec::new();
        }
        let inputs = self.find_inputs(index);
        self.steps.set(self.steps.get() + inputs.len() + 1);
        inputs
    }

    /// Finds the commands whose output a command may use: the stage before it, substitutions, wrappers, the body of a
    /// function, whatever set a variable that it names.
    fn find_inputs(&self, index: usize) -> Vec<usize> {
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
            let setters = self.ways().setters.get(name).map(Vec::as_slice).unwrap_or_default();
            inputs.extend(nearest(setters, index).filter(|setter| *setter != index));
        }
        for file in self.ways().readings.get(&index).into_iter().flatten() {
            let writers = self.ways().writers.get(file).map(Vec::as_slice).unwrap_or_default();
            inputs.extend(nearest(writers, index).filter(|writer| *writer < index));
        }
        inputs
    }
}

/// Returns the commands of an ascending list that stand nearest to a command, those before it first.
fn nearest(commands: &[usize], index: usize) -> impl Iterator<Item = usize> {
    let (before, after) = commands.split_at(commands.partition_point(|at| *at < index));
    before.iter().rev().chain(after).take(FARTHEST).copied()
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

    /// Counts the steps it takes to follow every command of a line back.
    fn steps_of(line: &str) -> usize {
        let surroundings = Surroundings {
            directory: "/code/app",
            home: Some("/home/me"),
            profiles: crate::profile::Profiles::BUILT_IN,
        };
        let survey = survey(line, surroundings);
        let effects = crate::command_effects::effects(&survey, surroundings);
        let scope = crate::place::Scope::default();
        let background = crate::case::Background::default();
        let case =
            Case { tool: "Bash", effects: &effects, survey: &survey, scope: &scope, background: &background };
        let flow = DataFlow::of(case);
        for index in 0..survey.invocations.len() {
            flow.feeding(index);
        }
        flow.steps.get()
    }

    #[test]
    fn a_line_that_feeds_itself_over_and_over_is_followed_within_bounds() {
        for unit in [
            "echo x > f; sh f; ",
            "x=$(cat f); echo $x > f; ",
            "cat f | tee f | ",
            "f() { cat f > f; }; f; ",
            "curl https://example.com/f > f; ",
        ] {
            let counts = [50, 100, 1_000, 4_000].map(|count| steps_of(&(unit.repeat(count) + "true")));
            assert!(counts.iter().all(|steps| *steps <= MOST_STEPS + FARTHEST * 8), "{unit}: {counts:?}");
        }
        // What hangs together by nothing takes as many steps as it has commands.
        let counts = [100, 200, 400].map(|count| steps_of(&"cat a; ".repeat(count)));
        assert_eq!(counts, [100, 200, 400]);
    }

    #[test]
    fn names_of_variables_are_found_in_words() {
        assert_eq!(variables("a$b/${c:-d}\"$e\"").collect::<Vec<_>>(), ["b", "c", "e"]);
        assert_eq!(variables("$(x) $").count(), 0);
    }
}
