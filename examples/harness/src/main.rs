//! A tiny agent harness that asks the library before every tool call.
//!
//! ```text
//! portcullis-example-harness [--mode MODE] [--session ID] [--person FILE] DIRECTORY
//! ```
//!
//! Calls come on standard input, one JSON object a line with `tool` and `input`, as a model would send them. For each,
//! one JSON object goes to standard output: the decision, the step and reason, rules that would settle such calls, and
//! what an allowed Bash command printed. Questions go to standard error, and the person's answers come from the file
//! that `--person` names, such as `/dev/tty`: never from where the model writes. Without it nobody is there.

mod gate;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Write as _};
use std::process::{Command, ExitCode, Stdio};

use portcullis_core::{Answer, Decision, Input, Mode, Person, ToolCall, Value, Verdict, visible};
use portcullis_hosts::json::{self, write_input, write_value};

use crate::gate::{Askers, Gate, Judged};

/// What the command line says.
struct Arguments {
    directory: String,
    mode: Option<Mode>,
    session: String,
    /// Where the person's answers are read from.
    person: Option<String>,
}

fn main() -> ExitCode {
    match serve() {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            let _ = writeln!(io::stderr(), "error: {}", visible(&problem));
            ExitCode::FAILURE
        }
    }
}

/// Judges and runs calls until there are no more, or until the run is over.
fn serve() -> Result<(), String> {
    let arguments = parse_arguments(std::env::args().skip(1))?;
    let mut answers = match &arguments.person {
        Some(file) => Some(BufReader::new(File::open(file).map_err(|error| format!("`{file}`: {error}"))?)),
        None => None,
    };
    let person = if answers.is_some() { Person::Present } else { Person::Absent };
    let mut gate = Gate::open(arguments.directory.as_ref(), arguments.mode, person, &arguments.session)?;
    for problem in gate.problems() {
        tell(problem.lines())?;
    }
    for line in io::stdin().lock().split(b'\n') {
        let line = line.map_err(|error| format!("standard input: {error}"))?;
        let mut askers = Askers {
            // The embedded judge alone. A harness with a model puts its answer here.
            judge: &|_, _| Answer::None,
            person: &mut |call, question| ask(call, question, answers.as_mut()),
        };
        let judged = read_call(&line).and_then(|call| gate.judge(call, &mut askers));
        let mut report = report(&judged);
        if let Ok(judged) = &judged
            && judged.verdict.decision == Decision::Allow
        {
            let printed = run(judged.case.call(), gate.directory());
            gate.note_run(&judged.case);
            report.insert("output".to_owned(), Value::Text(printed));
        }
        print(report)?;
        if judged.is_ok_and(|judged| judged.verdict.ends_run) {
            return Err("too many calls were denied, and nobody is there to ask".to_owned());
        }
    }
    Ok(())
}

fn parse_arguments(mut words: impl Iterator<Item = String>) -> Result<Arguments, String> {
    let (mut directory, mut mode, mut person) = (None, None, None);
    let mut session = format!("harness-{}", std::process::id());
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or_else(|| format!("`{word}` needs a value"));
        match word.as_str() {
            "--mode" => {
                let name = value()?;
                mode = Some(Mode::find(&name).ok_or_else(|| format!("there is no mode `{name}`"))?);
            }
            "--session" => session = value()?,
            "--person" => person = Some(value()?),
            _ if directory.is_none() && !word.starts_with('-') => directory = Some(word),
            _ => return Err(format!("`{word}` is not understood")),
        }
    }
    Ok(Arguments { directory: directory.ok_or("name the directory to work in")?, mode, session, person })
}

/// Reads a call. A name that stands twice in an object is an error, since two readers could disagree on which counts.
fn read_call(line: &[u8]) -> Result<ToolCall, String> {
    let call: Input = json::parse_input(line).map_err(|error| error.message)?;
    let tool = call.text("tool").ok_or("`tool` is missing or no string")?;
    match call.field("input") {
        Some(Value::Object(fields)) => Ok(ToolCall::new(tool, fields.clone().into_iter().collect())),
        _ => Err("`input` is missing or no object".to_owned()),
    }
}

/// Puts a question to the person. Only a clear yes is one; no answer and a failure are a no.
fn ask(call: &ToolCall, question: &Verdict, answers: Option<&mut BufReader<File>>) -> Answer {
    let mut input = String::new();
    write_input(&mut input, call.input());
    let mut lines = vec![format!("{} {input}", call.tool()), format!("  {}", question.reason.message())];
    lines.extend(
        question.suggestions.iter().map(|one| format!("  a rule for it: {} {}", one.behavior, one.rule)),
    );
    lines.push("Run it? [y/N]".to_owned());
    let mut answer = String::new();
    let is_told = tell(lines.iter().map(String::as_str)).is_ok();
    if let Some(answers) = answers.filter(|_| is_told)
        && answers.read_line(&mut answer).is_ok()
        && matches!(answer.trim(), "y" | "yes")
    {
        return Answer::Allow { by: "person".to_owned() };
    }
    Answer::Deny { by: "person".to_owned(), category: None, sentence: "the person said no".to_owned() }
}

/// Runs the very call that was judged: the same text, in the same directory, in the shell it was judged for.
fn run(call: &ToolCall, directory: &str) -> String {
    let (true, Some(command)) = (call.tool() == "Bash", call.command()) else {
        return "this harness runs Bash alone".to_owned();
    };
    let mut shell = Command::new("bash");
    shell.args(["--noprofile", "--norc", "-c", command]).current_dir(directory);
    // What a shell reads before the command was not judged.
    shell.env_remove("BASH_ENV").stdin(Stdio::null());
    match shell.output() {
        Ok(output) => String::from_utf8_lossy(&output.stdout).into_owned(),
        Err(error) => format!("bash cannot be started: {error}"),
    }
}

/// Makes the answer to one call.
fn report(judged: &Result<Judged, String>) -> BTreeMap<String, Value> {
    let mut fields = BTreeMap::new();
    let mut set = |name: &str, text: String| fields.insert(name.to_owned(), Value::Text(text));
    match judged {
        Ok(Judged { verdict, .. }) => {
            set("decision", verdict.decision.to_string());
            set("step", verdict.step.to_string());
            set("reason", verdict.reason.message());
            let rules = verdict.suggestions.iter();
            let rules = rules.map(|one| Value::Text(format!("{} {}", one.behavior, one.rule))).collect();
            fields.insert("suggestions".to_owned(), Value::List(rules));
        }
        Err(problem) => {
            set("decision", Decision::Deny.to_string());
            set("reason", problem.clone());
        }
    }
    fields
}

fn print(fields: BTreeMap<String, Value>) -> Result<(), String> {
    let mut line = String::new();
    write_value(&mut line, &Value::Object(fields));
    writeln!(io::stdout(), "{line}").map_err(|error| format!("standard output: {error}"))
}

/// Says something to the person. What could steer the terminal, or feign a line of its own, is made visible.
fn tell<'a>(lines: impl Iterator<Item = &'a str>) -> Result<(), String> {
    let lines: Vec<_> = lines.map(visible).collect();
    writeln!(io::stderr(), "{}", lines.join("\n")).map_err(|error| format!("standard error: {error}"))
}
