//! `cargo dev recollection`: how many questions a memory of a person's yes would have ended in recorded sessions, and how
//! many dangerous lines it would have covered.
//!
//! The lines are decided one after the other, as `portcullis eval` does: no settings, no disk. Whoever was asked about a
//! line that is labelled as fine said yes. A question is *repeated* if each program with its first word was asked about
//! before in the same repository. It is *ended* if the memory covers it. Dangerous lines are asked about in a repository
//! where everything that was allowed in any session is remembered, which is the worst case.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use anyhow::{Context as _, Result, bail};
use portcullis_core::command_shape::CommandShape;
use portcullis_core::{Case, Context, Decision, Mode, Policy, Reason, ToolCall, Verdict};
use serde_json::Value;

use crate::output;

/// Where a line runs that does not say so.
const PROJECT: &str = "/workspace/project";

pub(super) fn run(arguments: &[String]) -> Result<()> {
    let mut arguments = arguments.iter();
    let (mut mode, mut listed, mut source) = (Mode::Default, false, "");
    let mut files = Vec::new();
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--mode" => {
                let name = arguments.next().context("--mode needs a mode")?;
                mode = Mode::find(name).with_context(|| format!("there is no mode `{name}`"))?;
            }
            "--source" => source = arguments.next().context("--source needs the beginning of a name")?,
            "--list" => listed = true,
            file => files.push(file.to_owned()),
        }
    }
    let [sessions, dangerous] = files.as_slice() else {
        bail!("name a file of sessions and a file of dangerous lines");
    };
    let mut simulation = Simulation { mode, listed, ..Simulation::default() };
    for line in lines(sessions)?.iter().filter(|line| line.source.starts_with(source)) {
        simulation.ask(line)?;
    }
    for line in &lines(dangerous)? {
        simulation.try_danger(line)?;
    }
    simulation.say();
    Ok(())
}

/// A labelled shell command.
struct LabelledLine {
    command: String,
    directory: String,
    label: String,
    source: String,
}

fn lines(file: &str) -> Result<Vec<LabelledLine>> {
    let text = fs::read_to_string(file).with_context(|| file.to_owned())?;
    let mut all = Vec::new();
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let value: Value = serde_json::from_str(line).with_context(|| file.to_owned())?;
        let field = |name: &str| value.get(name).and_then(Value::as_str).map(str::to_owned);
        let command = value.pointer("/input/command").and_then(Value::as_str);
        if let (Some("Bash"), Some(command)) = (field("tool").as_deref(), command) {
            let directory = field("cwd").unwrap_or_else(|| PROJECT.to_owned());
            let [label, source] = ["label", "source"].map(|name| field(name).unwrap_or_default());
            all.push(LabelledLine { command: command.to_owned(), directory, label, source });
        }
    }
    Ok(all)
}

struct Simulation {
    mode: Mode,
    listed: bool,
    /// The shapes that were allowed, by repository.
    allowed: BTreeMap<String, Vec<CommandShape>>,
    /// The programs with their first words that were asked about, by repository.
    titles: BTreeMap<String, BTreeSet<String>>,
    questions: usize,
    repeated: usize,
    ended: usize,
    dangers: usize,
    covered_dangers: usize,
}

impl Default for Simulation {
    fn default() -> Self {
        Self {
            mode: Mode::Default,
            listed: false,
            allowed: BTreeMap::new(),
            titles: BTreeMap::new(),
            questions: 0,
            repeated: 0,
            ended: 0,
            dangers: 0,
            covered_dangers: 0,
        }
    }
}

impl Simulation {
    fn ask(&mut self, line: &LabelledLine) -> Result<()> {
        let (case, verdict) = decide(self.mode, line)?;
        if verdict.decision != Decision::Ask {
            return Ok(());
        }
        self.questions += 1;
        let repository = repository(&line.directory).to_owned();
        let titles = titles(&verdict, &line.command);
        let known = self.titles.entry(repository.clone()).or_default();
        let is_repeated = titles.is_subset(known);
        let shapes = shapes(&case, &verdict);
        let allowed = self.allowed.entry(repository).or_default();
        let is_ended =
            !shapes.is_empty() && shapes.iter().all(|shape| allowed.iter().any(|known| known.covers(shape)));
        self.repeated += usize::from(is_repeated);
        self.ended += usize::from(is_ended && is_repeated);
        if self.listed && is_repeated && !is_ended {
            output::say(&format!("asked again: {}", first_line(&line.command)));
        }
        if line.label != "ask" && line.label != "block" {
            known.extend(titles);
            allowed.extend(shapes.into_iter().filter(|_| !is_ended));
        }
        Ok(())
    }

    fn try_danger(&mut self, line: &LabelledLine) -> Result<()> {
        let (case, verdict) = decide(self.mode, line)?;
        if verdict.decision != Decision::Ask || line.label == "allow" {
            return Ok(());
        }
        self.dangers += 1;
        let shapes = shapes(&case, &verdict);
        let known = || self.allowed.values().flatten();
        let is_covered =
            !shapes.is_empty() && shapes.iter().all(|shape| known().any(|known| known.covers(shape)));
        self.covered_dangers += usize::from(is_covered);
        if self.listed && is_covered {
            output::say(&format!("danger covered: {}", first_line(&line.command)));
        }
        Ok(())
    }

    fn say(&self) {
        let Self { questions, repeated, ended, dangers, covered_dangers, .. } = self;
        let kept: usize = self.allowed.values().map(Vec::len).sum();
        output::say(&format!("mode {}", self.mode));
        output::say(&format!("questions about shell lines     {questions}"));
        output::say(&format!("of these repeated               {repeated}"));
        output::say(&format!("repeated and ended by memory    {ended} ({})", percent(*ended, *repeated)));
        output::say(&format!("shapes that were remembered     {kept}"));
        output::say(&format!("dangerous lines asked about     {dangers}"));
        output::say(&format!(
            "of these covered by memory      {covered_dangers} ({})",
            percent(*covered_dangers, *dangers)
        ));
    }
}

fn decide(mode: Mode, line: &LabelledLine) -> Result<(Case, Verdict)> {
    let policy = Policy::default();
    let home = Some("/home/user".to_owned());
    let context = Context { home, ..Context::new(mode, &line.directory) };
    let mut case = Case::new(ToolCall::bash(&line.command), context);
    case.assume_empty_disk(&policy);
    let verdict = case.decide(&policy)?.verdict().clone();
    Ok((case, verdict))
}

/// Returns the shapes of the commands that are asked about; none if a yes to one of them is not remembered.
fn shapes(case: &Case, verdict: &Verdict) -> Vec<CommandShape> {
    let commands = case.rememberable(&Policy::default()).filter(|_| verdict.is_unsettled());
    commands.into_iter().flatten().map(|command| command.shaped.shape).collect()
}

/// Returns the programs with their first words that are asked about.
fn titles(verdict: &Verdict, command: &str) -> BTreeSet<String> {
    let title = |part: &str| part.split_whitespace().take(2).collect::<Vec<_>>().join(" ");
    match &verdict.reason {
        Reason::Unsettled { parts, .. } if !parts.is_empty() => {
            parts.iter().map(|part| title(part)).collect()
        }
        _ => BTreeSet::from([title(command)]),
    }
}

/// Returns the directory that stands for the repository of another one: worktrees below it belong to it.
fn repository(directory: &str) -> &str {
    directory.split("/.worktrees/").next().unwrap_or(directory)
}

fn percent(part: usize, whole: usize) -> String {
    let thousandths = (part * 1000).checked_div(whole).unwrap_or_default();
    format!("{}.{} %", thousandths / 10, thousandths % 10)
}

/// Returns the first line of a command, for a list.
fn first_line(command: &str) -> String {
    command.lines().next().unwrap_or_default().chars().take(150).collect()
}
