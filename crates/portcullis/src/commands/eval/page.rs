//! The report page: one file of Markdown with what was run, what came out, and what was missed.

use std::fmt::Write as _;

use portcullis_core::{Decision, visible};

use super::action::{Action, Label};
use super::arguments::EvalArgs;
use super::evaluation::{Evaluation, Miss};
use super::figures::Figures;
use super::report::percent;
use super::tally::Counts;

/// The most actions of a kind that are listed.
const MOST_LISTED: usize = 100;

/// Makes the page.
pub(super) fn page(arguments: &EvalArgs, evaluation: &Evaluation) -> String {
    let mut out = String::from("# Evaluation\n\n");
    let files: Vec<String> = evaluation.files.iter().map(|(name, _)| code(name)).collect();
    // Writing to a String cannot fail.
    let _ = writeln!(out, "Portcullis {} on {}.", env!("CARGO_PKG_VERSION"), files.join(", "));
    let _ = writeln!(
        out,
        "Mode {}, {}; nothing was run.\n",
        code(arguments.mode.as_str()),
        if arguments.with_settings {
            "with the settings and the disk of this machine"
        } else {
            "without settings and disk"
        }
    );
    decisions(&mut out, evaluation);
    if let Some(figures) = &evaluation.model {
        model(&mut out, figures, evaluation.total.plain);
    }
    misses(&mut out, evaluation);
    out
}

fn decisions(out: &mut String, evaluation: &Evaluation) {
    heading(out, "Decisions", &["label", "actions", "allowed", "asked", "denied", "need a model"]);
    for (label, tally) in &evaluation.by_label {
        let counts = tally.plain;
        let share = |decision| {
            let count = counts.of(decision);
            format!("{count} ({})", percent(count, counts.all()))
        };
        row(
            out,
            &[
                label.as_str().to_owned(),
                counts.all().to_string(),
                share(Decision::Allow),
                share(Decision::Ask),
                share(Decision::Deny),
                counts.needs_model.to_string(),
            ],
        );
    }
    out.push('\n');
}

fn model(out: &mut String, figures: &Figures, all: Counts) {
    heading(out, "The model", &["what", "figure"]);
    for (name, value) in figures.lines(all) {
        row(out, &[name.to_owned(), value]);
    }
    out.push('\n');
    heading(
        out,
        "What the model said, by category",
        &["category", "label", "allowed", "blocked", "nothing", "wrong"],
    );
    for (name, label, counts) in figures.confusion.rows() {
        let wrong = counts.wrong(label).map_or_else(|| "-".to_owned(), |wrong| percent(wrong, counts.all()));
        let numbers = [counts.allowed, counts.blocked, counts.other].map(|count| count.to_string());
        let cells = [cell(name), label.as_str().to_owned()].into_iter().chain(numbers).chain([wrong]);
        row(out, &cells.collect::<Vec<_>>());
    }
    out.push('\n');
    if figures.pairs.is_empty() {
        return;
    }
    let apart = figures.pairs.iter().filter(|pair| pair.is_told_apart()).count();
    let count = figures.pairs.len();
    heading(out, "Calls that depend on what the user said", &["call", "what went wrong"]);
    for pair in &figures.pairs {
        let account = if pair.is_told_apart() { "nothing".to_owned() } else { pair.account() };
        row(out, &[code(&pair.title), account]);
    }
    let _ = writeln!(out, "\nTold apart: {apart} of {count} ({}).\n", percent(apart, count));
}

fn misses(out: &mut String, evaluation: &Evaluation) {
    for miss in Miss::ALL {
        let is_missed = |action: &&Action| Miss::of(action) == Some(miss);
        let missed: Vec<&Action> = evaluation.actions.iter().filter(is_missed).collect();
        if missed.is_empty() {
            continue;
        }
        let title = format!("{}: {}", capital(miss.title()), missed.len());
        heading(out, &title, &["id", "category", "call", "reason"]);
        for action in missed.iter().take(MOST_LISTED) {
            let category = action.labels.category.as_deref().unwrap_or("-");
            row(out, &[cell(&action.id), cell(category), code(&action.title), cell(&action.reason)]);
        }
        out.push('\n');
    }
    let unknown = evaluation.by_label.get(&Label::Unknown).map_or(0, |tally| tally.plain.all());
    if unknown > 0 {
        let _ = writeln!(out, "Nobody says what is right for {unknown} actions, so none of them is missed.");
    }
}

fn heading(out: &mut String, title: &str, columns: &[&str]) {
    let _ = writeln!(out, "## {title}\n\n| {} |\n|{}", columns.join(" | "), "---|".repeat(columns.len()));
}

fn row(out: &mut String, cells: &[String]) {
    let _ = writeln!(out, "| {} |", cells.join(" | "));
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

/// Writes a text of somebody else's so that it stays one cell of a table and is neither link nor tag.
fn cell(text: &str) -> String {
    let text = visible(text);
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        if matches!(letter, '|' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '&' | '\\' | '#' | '!' | '~') {
            let _ = write!(out, "&#{};", u32::from(letter));
        } else {
            out.push(if letter == '\n' { ' ' } else { letter });
        }
    }
    out
}

/// Writes a text of somebody else's as code.
fn code(text: &str) -> String {
    format!("<code>{}</code>", cell(text))
}
