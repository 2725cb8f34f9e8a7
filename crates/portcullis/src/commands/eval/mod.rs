//! `portcullis eval`: how well the policy does on labelled actions.
//!
//! ```text
//! files ──► lines, a chunk at a time ──► workers: parse, filter, decide ──► tallies, misses
//!                                                   a sample for the model, if asked ◄┤        │
//!                                                                    report, JSON, comparison ◄┘
//! ```
//!
//! Nothing that is read is ever run. What comes out depends on the files and the flags alone, also on their order but
//! not on the number of workers.

mod action;
mod arguments;
mod compare;
mod confusion;
mod containment;
mod evaluation;
mod figures;
mod filter;
mod json;
mod kept;
mod page;
mod pairs;
mod progress;
mod report;
mod sample;
mod stream;
mod tally;
mod worker;

pub(crate) use arguments::EvalArgs;
pub(crate) use progress::Progress;
pub(crate) use report::percent;

use std::fs;
use std::io::{self, BufWriter};

use portcullis_core::visible;

use self::arguments::Limit;
use self::compare::{Comparison, Old};
use self::evaluation::{Evaluation, Keep};
use self::sample::Sample;
use crate::exit_code::ExitCode;
use portcullis_gate::Failure;
use portcullis_output::terminal::{print, print_error, unwritten};

/// How many of each list are shown unless the flags say otherwise.
const USUAL_LIMIT: Limit = Limit::Of(20);

/// Runs the command.
pub(crate) fn run(arguments: &EvalArgs) -> Result<ExitCode, Failure> {
    let mut sample = Sample::wanted(arguments)?;
    let old = arguments.compare.as_deref().map(|file| Old::read(file, &arguments.only)).transpose()?;
    let keep = if arguments.json || arguments.out.is_some() || arguments.report.is_some() || old.is_some() {
        Keep::Everything
    } else {
        Keep::Misses(arguments.misses.unwrap_or(USUAL_LIMIT))
    };
    let mut evaluation = stream::evaluate(arguments, keep, sample.as_mut())?;
    if let Some(sample) = sample {
        sample.judge(&mut evaluation)?;
    }
    let comparison = old.map(|old| Comparison::new(old, &evaluation.actions));
    if let Some(file) = arguments.out.as_deref() {
        write_file(file, &evaluation, comparison.as_ref())?;
    }
    if let Some(file) = arguments.report.as_deref() {
        let page = page::page(arguments, &evaluation);
        fs::write(file, page)
            .map_err(|error| Failure::internal(format!("`{file}` could not be written: {error}")))?;
    }
    if arguments.json {
        let stdout = BufWriter::new(io::stdout().lock());
        json::write(stdout, &evaluation, comparison.as_ref()).map_err(|error| unwritten(&error))?;
    } else {
        print(&text(arguments, &evaluation, comparison.as_ref()))?;
    }
    complain(&evaluation);
    let got_worse = comparison.is_some_and(|comparison| comparison.has_regressions());
    Ok(match (evaluation.skipped, got_worse) {
        (0, false) => ExitCode::Success,
        (0, true) => ExitCode::Findings,
        _ => ExitCode::Usage,
    })
}

/// Makes the report for people; a comparison takes the place of the misses unless both were asked for.
fn text(arguments: &EvalArgs, evaluation: &Evaluation, comparison: Option<&Comparison>) -> String {
    let limit = arguments.misses.unwrap_or(USUAL_LIMIT);
    let mut out = String::new();
    report::write_tables(&mut out, evaluation);
    if comparison.is_none() || arguments.misses.is_some() {
        report::write_misses(&mut out, evaluation, limit);
    }
    if let Some(comparison) = comparison {
        report::write_comparison(&mut out, comparison, &evaluation.actions, limit);
    }
    out
}

fn write_file(file: &str, evaluation: &Evaluation, comparison: Option<&Comparison>) -> Result<(), Failure> {
    let written =
        fs::File::create(file).and_then(|handle| json::write(BufWriter::new(handle), evaluation, comparison));
    written.map_err(|error| Failure::internal(format!("`{file}` could not be written: {error}")))
}

/// Says on standard error which lines were not understood.
fn complain(evaluation: &Evaluation) {
    for problem in &evaluation.problems {
        print_error(&format!("{}\n", visible(problem)));
    }
    let more = evaluation.skipped.saturating_sub(evaluation.problems.len());
    if more > 0 {
        print_error(&format!("and {more} more lines that were not understood\n"));
    }
}
