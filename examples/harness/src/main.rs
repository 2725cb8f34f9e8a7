//! A tiny agent harness that asks the engine before every tool call.
//!
//! ```text
//! portcullis-example-harness [--mode MODE] [--session ID] [--person FILE] DIRECTORY
//! ```
//!
//! Calls come on standard input, one JSON object a line with `tool` and `input`, as a model would send them. For each,
//! one JSON object goes to standard output: the decision, the reason, rules that would decide such calls, and what an
//! allowed Bash command printed. Questions go to standard error, and the person's answers come from the file that
//! `--person` names, such as `/dev/tty`: never from where the model writes. Without it nobody is there.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Write as _};
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

use portcullis_core::{Decision, Mode, ToolCall, ToolInput, Value, visible};
use portcullis_gate::{Gate, GateDecision};
use portcullis_hosts::json::{self, write_input, write_value};

fn main() -> ExitCode {
    match serve(std::env::args().skip(1)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            let _ = writeln!(io::stderr(), "error: {}", visible(&problem));
            ExitCode::FAILURE
        }
    }
}

/// Judges and runs calls until there are no more, or until the run is over.
fn serve(mut words: impl Iterator<Item = String>) -> Result<(), String> {
    let (mut directory, mut mode, mut session, mut person) = (None, None, None, None);
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or_else(|| format!("`{word}` needs a value"));
        match word.as_str() {
            "--mode" => mode = Some(value()?),
            "--session" => session = Some(value()?),
            "--person" => person = Some(value()?),
            _ if directory.is_none() && !word.starts_with('-') => directory = Some(word),
            _ => return Err(format!("`{word}` is not understood")),
        }
    }
    let directory = directory.ok_or("name the directory to work in")?;
    let mut gate = Gate::new("example-harness", Path::new(&directory)).map_err(|failure| failure.message)?;
    if let Some(name) = mode {
        gate = gate.in_mode(Mode::find(&name).ok_or_else(|| format!("there is no mode `{name}`"))?);
    }
    if let Some(id) = session {
        gate = gate.in_session(&id);
    }
    let mut answers = match person {
        Some(file) => Some(BufReader::new(File::open(&file).map_err(|error| format!("`{file}`: {error}"))?)),
        None => None,
    };
    if answers.is_some() {
        gate = gate.asking_user();
    }
    for line in io::stdin().lock().split(b'\n') {
        let call = read_call(&line.map_err(|error| format!("standard input: {error}"))?);
        let judged = call.and_then(|call| Ok((gate.judge(&call).map_err(|failure| failure.message)?, call)));
        let mut report = BTreeMap::new();
        let mut ends_run = false;
        match judged {
            Ok((mut judged, call)) => {
                if judged.decision == Decision::Ask {
                    judged.decision = ask(&call, &judged, answers.as_mut());
                }
                if judged.decision == Decision::Allow {
                    report.insert("output".to_owned(), Value::Text(run(&call, &directory)));
                }
                ends_run = judged.ends_run;
                describe(&mut report, &judged)?;
            }
            // Whatever fails is a denial.
            Err(problem) => {
                report.insert("decision".to_owned(), Value::Text("deny".to_owned()));
                report.insert("reason".to_owned(), Value::Text(problem));
            }
        }
        let mut line = String::new();
        write_value(&mut line, &Value::Object(report));
        writeln!(io::stdout(), "{line}").map_err(|error| format!("standard output: {error}"))?;
        if ends_run {
            return Err("too many calls were denied, and nobody is there to ask".to_owned());
        }
    }
    Ok(())
}

/// Reads a call. A name that stands twice in an object is an error, since two readers could disagree on which counts.
fn read_call(line: &[u8]) -> Result<ToolCall, String> {
    let call: ToolInput = json::parse_input(line).map_err(|error| error.message)?;
    let tool = call.text("tool").ok_or("`tool` is missing or no string")?;
    match call.field("input") {
        Some(Value::Object(fields)) => Ok(ToolCall::new(tool, fields.clone().into_iter().collect())),
        _ => Err("`input` is missing or no object".to_owned()),
    }
}

/// Puts a question to the person. Only a clear yes is one; no answer and a failure are a no.
fn ask(call: &ToolCall, question: &GateDecision, answers: Option<&mut BufReader<File>>) -> Decision {
    let mut input = String::new();
    write_input(&mut input, call.input());
    let mut lines = vec![format!("{} {input}", call.tool()), format!("  {}", question.reason)];
    lines.extend(
        question.suggestions.iter().map(|one| format!("  a rule for it: {} {}", one.behavior, one.rule)),
    );
    lines.push("Run it? [y/N]".to_owned());
    let mut answer = String::new();
    if let Some(answers) = answers.filter(|_| tell(&lines).is_ok())
        && answers.read_line(&mut answer).is_ok()
        && matches!(answer.trim(), "y" | "yes")
    {
        return Decision::Allow;
    }
    Decision::Deny
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

/// Adds to a report what was decided; what the user should know goes to standard error.
fn describe(report: &mut BTreeMap<String, Value>, judged: &GateDecision) -> Result<(), String> {
    let rules = judged.suggestions.iter();
    let rules = rules.map(|one| Value::Text(format!("{} {}", one.behavior, one.rule))).collect();
    report.insert("decision".to_owned(), Value::Text(judged.decision.to_string()));
    report.insert("reason".to_owned(), Value::Text(judged.reason.clone()));
    report.insert("suggestions".to_owned(), Value::List(rules));
    judged.notice.as_ref().map_or(Ok(()), |notice| tell(std::slice::from_ref(notice)))
}

/// Says something to the person. What could steer the terminal, or feign a line of its own, is made visible.
fn tell(lines: &[String]) -> Result<(), String> {
    let lines: Vec<_> = lines.iter().map(|line| visible(line)).collect();
    writeln!(io::stderr(), "{}", lines.join("\n")).map_err(|error| format!("standard error: {error}"))
}
