//! Runs the verdict specifications in `specs/verdicts`.
#![cfg(test)]

use portcullis_dev::repository::{self, TrackedTree};
use portcullis_dev::verdict_spec::{CallText, Runner, parse};

/// Runs every specification and returns what differs, and how many calls there were.
fn run_all() -> (Vec<String>, usize) {
    let tree = TrackedTree::read(&repository::root()).expect("the repository can be read");
    let mut differences = Vec::new();
    let mut count = 0;
    for file in tree.with_extension("md").filter(|file| file.path.starts_with("specs/verdicts/")) {
        let (cases, problems) = parse(&file.text);
        for problem in problems {
            differences.push(format!("{}:{}: {}", file.path, problem.line, problem.message));
        }
        count += cases.len();
        let mut runner = Runner::default();
        for case in &cases {
            let difference = runner.run(case).unwrap_or_else(|error| Some(format!("{error:#}")));
            if let Some(difference) = difference {
                let call = match &case.call {
                    CallText::Bash(command) => command.clone(),
                    CallText::Tool { name, input } => format!("@{name} {input}"),
                };
                differences.push(format!("{}:{}: {call}\n    {difference}", file.path, case.line));
            }
        }
    }
    (differences, count)
}

#[test]
fn every_call_in_the_verdict_specifications_gets_its_verdict() {
    let (differences, count) = run_all();
    assert!(count > 500, "only {count} calls were found");
    assert!(
        differences.is_empty(),
        "{} of {count} calls differ:\n{}",
        differences.len(),
        differences.join("\n")
    );
}
