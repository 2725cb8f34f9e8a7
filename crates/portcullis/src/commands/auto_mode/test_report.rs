//! What the self-test found: a table for people, an object for programs.

use std::fmt::Write as _;

use portcullis_classifier::protocol::ClassifierVerdict;
use portcullis_classifier::selftest::{ActionKind, SelfTestScore};
use portcullis_classifier::transcript::encode;
use portcullis_core::visible;
use portcullis_gate::classifier::{SelfTestReport, SelfTestRow};
use portcullis_output::exchange::dollars;
use portcullis_output::shorten::shorten;
use portcullis_output::terminal::{BOLD, DIM, Painted, printable};
use serde_json::{Value, json};

use super::test::Tested;

/// How many characters of an action are shown.
const LONGEST_ACTION: usize = 100;

/// Writes the table of each model, and what it got wrong.
pub(super) fn as_text(tested: &[Tested]) -> String {
    let mut out = String::new();
    for Tested { provider, model, report, is_accepted } in tested {
        let model = visible(model);
        let accepted = "it may decide, because you accepted the risk, which is recorded";
        // Writing to a String cannot fail.
        let _ = match report {
            Some(Ok(report)) => {
                let is_passed = report.score.is_passed();
                let word = if is_passed { "passed" } else { "did not pass" };
                let mark = if is_passed { "✓" } else { "✗" };
                let _ =
                    writeln!(out, "{}", Painted(BOLD, format_args!("{mark} {model} ({provider}) {word}")));
                let consequence = match (is_passed, is_accepted) {
                    (true, _) => "it may decide",
                    (false, true) => accepted,
                    (false, false) => {
                        "it may deny and never allow; a person is asked instead, or nobody is and the call is denied"
                    }
                };
                let _ = writeln!(out, "  {consequence}\n");
                write_table(&mut out, report);
                writeln!(out)
            }
            Some(Err(problem)) => {
                let title = Painted(BOLD, format_args!("✗ {model} ({provider}) could not be tested"));
                writeln!(out, "{title}\n  {}\n", visible(problem))
            }
            None if *is_accepted => writeln!(out, "{model} ({provider}): {accepted}\n"),
            None => writeln!(out, "{model} ({provider}): nothing was changed\n"),
        };
    }
    out.truncate(out.trim_end().len());
    out.push('\n');
    out
}

fn write_table(out: &mut String, report: &SelfTestReport) {
    let score = &report.score;
    // Writing to a String cannot fail.
    let _ = writeln!(out, "  {:<28}{:>7}{:>7}{:>9}", "actions", "number", "wrong", "at most");
    for (kind, name) in [
        (ActionKind::Hard, "dangers that nothing permits"),
        (ActionKind::Soft, "other dangers"),
        (ActionKind::Ordinary, "ordinary work"),
    ] {
        let counted = score.kind(kind);
        let bar = SelfTestScore::whole_bar(kind);
        let _ = writeln!(out, "  {name:<28}{:>7}{:>7}{bar:>9}", counted.total, counted.wrong);
    }
    write_unclear(out, report);
    for (title, is_danger) in [("let run:", true), ("blocked:", false)] {
        let wrong = |row: &&SelfTestRow| !row.is_right && row.action.kind.is_danger() == is_danger;
        let rows: Vec<&SelfTestRow> = report.rows.iter().filter(wrong).collect();
        if !rows.is_empty() {
            let _ = writeln!(out, "\n  {title}");
        }
        for row in rows {
            let _ = writeln!(out, "    {}: {}", row.action.rule, row.action.name);
            let action = format!("{}: {}", row.action.call().tool(), encode(&row.action.call()));
            let shown = shorten(&action, LONGEST_ACTION);
            let _ = writeln!(out, "      {} {}", Painted(DIM, "│"), visible(&shown));
        }
    }
    if report.rows.len() < report.actions {
        let (asked, all) = (report.rows.len(), report.actions);
        let _ = writeln!(out, "\n  it failed after {asked} of {all} actions; --all asks about the rest too");
    }
    let _ = writeln!(out, "\n  {}", spent(report));
}

/// Says how many answers could not be read: the model may do better in another form.
fn write_unclear(out: &mut String, report: &SelfTestReport) {
    let mut unclear = report.rows.iter().filter_map(|row| match &row.outcome {
        ClassifierVerdict::Unclear { why, .. } => Some(why),
        _ => None,
    });
    if let Some(why) = unclear.next() {
        let count = 1 + unclear.count();
        let answers = if count == 1 { "answer was" } else { "answers were" };
        // Writing to a String cannot fail.
        let _ = writeln!(
            out,
            "\n  {count} {answers} no verdict, which counts as blocked ({}); another `classifier.verdict` may suit the model",
            visible(why)
        );
    }
}

/// Says what the test took.
fn spent(report: &SelfTestReport) -> String {
    let costs: Option<Vec<f64>> = report.exchanges.iter().map(|exchange| exchange.cost).collect();
    let cost = costs.map_or_else(|| "cost not known".to_owned(), |costs| dollars(costs.iter().sum()));
    let tokens: u64 = report.exchanges.iter().map(|exchange| exchange.usage.output).sum();
    let loading = report.warm_up.map(|time| format!(", {} s of them to load", time.as_secs()));
    format!(
        "{} requests, {tokens} tokens of answers, {} s{}, {cost}",
        report.exchanges.len(),
        report.elapsed.as_secs(),
        loading.unwrap_or_default(),
    )
}

/// Makes the object: every model with its score and every action.
pub(super) fn as_json(tested: &[Tested]) -> String {
    let models: Vec<Value> = tested
        .iter()
        .map(|Tested { provider, model, report, .. }| match report {
            Some(Ok(report)) => json!({
                "provider": provider,
                "model": model,
                "passed": report.score.is_passed(),
                "problem": null,
                "score": score_json(report),
                "actions": report.rows.iter().map(row_json).collect::<Vec<_>>(),
                "requests": report.exchanges.len(),
                "outputTokens": report.exchanges.iter().map(|exchange| exchange.usage.output).sum::<u64>(),
                "costUsd": report.exchanges.iter().map(|exchange| exchange.cost).sum::<Option<f64>>(),
                "elapsedMs": u64::try_from(report.elapsed.as_millis()).unwrap_or(u64::MAX),
            }),
            Some(Err(problem)) => {
                json!({"provider": provider, "model": model, "passed": false, "problem": problem})
            }
            None => {
                json!({"provider": provider, "model": model, "passed": false, "problem": "not tested again"})
            }
        })
        .collect();
    printable(&format!("{:#}\n", json!({"models": models})))
}

fn score_json(report: &SelfTestReport) -> Value {
    let kinds = ActionKind::ALL.into_iter().map(|kind| {
        let counted = report.score.kind(kind);
        let value = json!({"total": counted.total, "wrong": counted.wrong, "most": report.score.bar(kind)});
        (kind.as_str().to_owned(), value)
    });
    Value::Object(kinds.collect())
}

fn row_json(row: &SelfTestRow) -> Value {
    json!({
        "name": row.action.name,
        "kind": row.action.kind.as_str(),
        "rule": row.action.rule,
        "pair": row.action.pair,
        "action": encode(&row.action.call()),
        "verdict": verdict_text(&row.outcome),
        "right": row.is_right,
    })
}

fn verdict_text(outcome: &ClassifierVerdict) -> String {
    match outcome {
        ClassifierVerdict::Allow { stage } => format!("allowed in the {} stage", stage.as_str()),
        ClassifierVerdict::Block { stage, category, reason } => {
            let category = category.as_ref().map(|category| format!("[{category}] ")).unwrap_or_default();
            format!("blocked in the {} stage: {category}{reason}", stage.as_str())
        }
        ClassifierVerdict::Unclear { stage, why } => {
            format!("no verdict in the {} stage: {why}", stage.as_str())
        }
        ClassifierVerdict::Failed(fault) => format!("{}: {}", fault.kind.phrase(), fault.message),
    }
}
