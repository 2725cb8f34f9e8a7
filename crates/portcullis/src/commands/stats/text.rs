//! Totals for people.

use std::fmt::Write as _;

use portcullis_core::{STEPS, visible};
use portcullis_store::audit::index::{Counted, Latency, Totals};

use portcullis_output::calendar;
use portcullis_output::chart::{Bar, Chart, share};
use portcullis_output::exchange::dollars;
use portcullis_output::human::counted;
use portcullis_output::shell_quote::quote;
use portcullis_output::shorten::shorten;
use portcullis_output::terminal::{BOLD, DIM, Painted};

/// The longest example of a call, in characters.
const LONGEST_EXAMPLE: usize = 80;

/// How many of the last days are drawn.
const MOST_DAYS: usize = 30;

/// Writes totals with charts; so many of the denials stand no longer.
pub(super) fn page(totals: &Totals, lifted: u64, chart: Chart) -> String {
    if totals.calls == 0 {
        return "nothing was recorded that fits\n".to_owned();
    }
    let mut out = String::new();
    let avoided = share(totals.prompts_avoided, totals.calls);
    // Writing to a String cannot fail.
    let prompts = counted(totals.prompts_avoided, "prompt");
    let _ = writeln!(out, "{}, {prompts} avoided ({avoided})", counted(totals.calls, "call"));
    let shares = |counted: &[Counted], name: fn(&str) -> String| {
        let bar = |one: &Counted| Bar {
            name: name(&one.name),
            count: one.count,
            figure: format!("{} ({})", one.count, share(one.count, totals.calls)),
        };
        chart.draw(&counted.iter().map(bar).collect::<Vec<_>>())
    };
    let since = match lifted {
        0 => String::new(),
        _ => format!("  {} allowed by a person since, and no longer denied\n", counted(lifted, "call")),
    };
    section(&mut out, "decisions", &(shares(&totals.decisions, str::to_owned) + &since));
    section(&mut out, "decided by", &shares(&totals.steps, step_name));
    section(&mut out, "hosts", &shares(&totals.hosts, str::to_owned));
    section(&mut out, "days", &chart.draw(&days(totals)));
    section(&mut out, "models", &models(totals));
    section(&mut out, "time to decide", &latencies(totals));
    section(&mut out, "asked most, and the rule that would decide it", &asked(totals));
    section(&mut out, "denied most", &denied(totals));
    out
}

fn section(out: &mut String, title: &str, text: &str) {
    if !text.is_empty() {
        let _ = write!(out, "\n{}\n{text}", Painted(BOLD, title));
    }
}

fn step_name(step: &str) -> String {
    let known = STEPS.iter().find(|info| info.id.as_str() == step);
    known.map_or_else(|| step.to_owned(), |info| format!("{step} {}", info.id.name()))
}

fn days(totals: &Totals) -> Vec<Bar> {
    let skipped = totals.days.len().saturating_sub(MOST_DAYS);
    let bar = |day: &portcullis_store::audit::index::Day| Bar {
        name: calendar::day(day.at_ms),
        count: day.allow.saturating_add(day.ask).saturating_add(day.deny),
        figure: format!("{} allow, {} ask, {} deny", day.allow, day.ask, day.deny),
    };
    totals.days.iter().skip(skipped).map(bar).collect()
}

fn models(totals: &Totals) -> String {
    let cost = &totals.cost;
    let needed = share(cost.tool_calls, totals.calls);
    if cost.requests == 0 {
        return "  no call needed a model\n".to_owned();
    }
    let unpriced = match cost.unpriced {
        0 => String::new(),
        count => format!(", {} without a known price", counted(count, "request")),
    };
    format!(
        "  {} needed one ({needed}), {}\n  {} tokens in, {} cached, {} out\n  {}{unpriced}\n",
        counted(cost.tool_calls, "call"),
        counted(cost.requests, "request"),
        cost.tokens_in,
        cost.tokens_cached,
        cost.tokens_out,
        dollars(cost.usd),
    )
}

fn latencies(totals: &Totals) -> String {
    let line = |name: &str, latency: Latency| {
        let Latency { count, p50, p90, p99, max } = latency;
        let times = [("p50", p50), ("p90", p90), ("p99", p99), ("max", max)];
        let times = times.map(|(name, micros)| format!("{name} {}", calendar::span(micros)));
        if count == 0 { String::new() } else { format!("  {name:<14}{}\n", times.join("  ")) }
    };
    let (alone, with_model) = (totals.latency_alone, totals.latency_with_model);
    format!("{}{}", line("without model", alone), line("with model", with_model))
}

fn asked(totals: &Totals) -> String {
    let mut out = String::new();
    for asked in &totals.asked {
        let _ = writeln!(out, "  {:>5}  {}", asked.count, visible(&shorten(&asked.example, LONGEST_EXAMPLE)));
        let remedy = match &asked.rule {
            Some(rule) => format!("portcullis rules add allow {}", quote(rule)),
            None => "no rule would".to_owned(),
        };
        let _ = writeln!(out, "         {}", Painted(DIM, visible(&remedy)));
    }
    out
}

fn denied(totals: &Totals) -> String {
    let mut out = String::new();
    for denied in &totals.denied {
        let example = shorten(&denied.example, LONGEST_EXAMPLE);
        let code = Painted(BOLD, visible(&denied.code));
        let _ = writeln!(out, "  {:>5}  {code}  {}", denied.count, Painted(DIM, visible(&example)));
    }
    out
}
