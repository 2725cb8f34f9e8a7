//! What decisions add up to, as charts.

use axum::extract::{Query, State};
use axum::response::Response;
use portcullis_store::audit::index::{LatencyBin, Slot};
use portcullis_web::VisibleText;
use portcullis_web::charts::{BarChart, ChartBar, ChartLine, ChartSeries, ColumnChart, ColumnChartData};
use portcullis_web::pages::StatsPage;
use serde::Deserialize;

use super::live::tiles;
use super::visitor::Visitor;
use super::words::choice;
use super::{PageError, respond};
use crate::Shared;
use crate::api::blocking;
use crate::api::stats::Figures;
use portcullis_gate::clock::now_ms;
use portcullis_output::calendar;
use portcullis_output::exchange::dollars;

const MINUTE_MS: u64 = 60_000;
const HOUR_MS: u64 = 60 * MINUTE_MS;
const DAY_MS: u64 = 24 * HOUR_MS;

/// A span of time up to now.
struct Range {
    name: &'static str,
    label: &'static str,
    length_ms: u64,
    slot_ms: u64,
}

const RANGES: [Range; 4] = [
    Range { name: "hour", label: "Hour", length_ms: HOUR_MS, slot_ms: 2 * MINUTE_MS },
    Range { name: "day", label: "Day", length_ms: DAY_MS, slot_ms: HOUR_MS },
    Range { name: "week", label: "Week", length_ms: 7 * DAY_MS, slot_ms: 6 * HOUR_MS },
    Range { name: "month", label: "Month", length_ms: 30 * DAY_MS, slot_ms: DAY_MS },
];

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct StatsQuery {
    range: String,
}

/// Shows the page.
pub(super) async fn show(
    State(daemon): State<Shared>,
    visitor: Visitor,
    Query(query): Query<StatsQuery>,
) -> Result<Response, PageError> {
    let [_, day, ..] = &RANGES;
    let range = RANGES.iter().find(|range| range.name == query.range).unwrap_or(day);
    let until = (now_ms() / range.slot_ms + 1) * range.slot_ms;
    let since = until.saturating_sub(range.length_ms);
    let figures = blocking(move || Figures::of(&daemon, since, until, range.slot_ms)).await?;
    let slots = whole(&figures.slots, since, until, range.slot_ms);
    let labels: Vec<String> = slots.iter().map(|slot| label(slot.at_ms, range.slot_ms)).collect();
    respond(&StatsPage {
        frame: visitor.frame("stats", "Statistics"),
        ranges: RANGES.iter().map(|one| choice(one.name, one.label, range.name)).collect(),
        tiles: tiles(&figures.totals),
        decisions: decisions(&slots, labels.clone()),
        models: models(&slots, labels),
        latencies: latencies(&figures.latencies),
        asked: asked(&figures),
        denied: denied(&figures),
    })
}

/// Puts empty slots where nothing happened.
fn whole(slots: &[Slot], since: u64, until: u64, slot_ms: u64) -> Vec<Slot> {
    let first = since / slot_ms;
    let last = until.div_ceil(slot_ms);
    (first..last)
        .map(|number| {
            let at_ms = number * slot_ms;
            let known = slots.iter().find(|slot| slot.at_ms == at_ms);
            known.copied().unwrap_or(Slot { at_ms, ..Slot::default() })
        })
        .collect()
}

/// Names a slot: its day if it lasts one, else its day and time where slots span days, else its time.
fn label(at_ms: u64, slot_ms: u64) -> String {
    let time = calendar::time(at_ms);
    let (day, clock) = time.split_once(' ').unwrap_or((&time, ""));
    let day = day.get(5..).unwrap_or(day);
    let clock = clock.get(..5).unwrap_or(clock);
    match slot_ms {
        DAY_MS.. => day.to_owned(),
        long if long > HOUR_MS => format!("{day} {clock}"),
        _ => clock.to_owned(),
    }
}

fn decisions(slots: &[Slot], labels: Vec<String>) -> ColumnChart {
    let series = |name, class, value: fn(&Slot) -> u64| ChartSeries {
        name,
        class,
        values: slots.iter().map(value).collect(),
    };
    let all = [
        series("denied", "deny", |slot| slot.deny),
        series("asked", "ask", |slot| slot.ask),
        series("allowed", "allow", |slot| slot.allow),
    ];
    let sum = |one: &ChartSeries| one.values.iter().sum::<u64>();
    let words: Vec<String> = all.iter().map(|one| format!("{} {}", sum(one), one.name)).collect();
    let of = ColumnChartData {
        title: "Decisions",
        description: format!("decisions over time by outcome, in all {}", words.join(", ")),
        axis: "time, UTC",
        labels,
        series: all.into(),
    };
    ColumnChart::new(of, None)
}

fn models(slots: &[Slot], labels: Vec<String>) -> ColumnChart {
    let calls = ChartSeries {
        name: "requests",
        class: "accent",
        values: slots.iter().map(|slot| slot.model_calls).collect(),
    };
    let cost = ChartLine {
        name: "cost",
        class: "ask",
        values: slots.iter().map(|slot| millionths(slot.usd)).collect(),
        words: slots.iter().map(|slot| dollars(slot.usd)).collect(),
    };
    let usd: f64 = slots.iter().map(|slot| slot.usd).sum();
    let count: u64 = calls.values.iter().sum();
    let of = ColumnChartData {
        title: "Models",
        description: format!("requests to models over time, in all {count} for {}", dollars(usd)),
        axis: "time, UTC",
        labels,
        series: vec![calls],
    };
    ColumnChart::new(of, Some(cost))
}

/// Returns an amount in millionths of a dollar; what is none or less is nothing.
fn millionths(usd: f64) -> u64 {
    format!("{:.0}", usd * 1_000_000.0).parse().unwrap_or(0)
}

fn latencies(bins: &[LatencyBin]) -> ColumnChart {
    let series = |name, class, value: fn(&LatencyBin) -> u64| ChartSeries {
        name,
        class,
        values: bins.iter().map(value).collect(),
    };
    let of = ColumnChartData {
        title: "Time to decide",
        description: "how many decisions took less than a time, and not less than half of it".to_owned(),
        axis: "less than",
        labels: bins.iter().map(|bin| calendar::span(bin.below_us)).collect(),
        series: vec![
            series("without a model", "accent", |bin| bin.alone),
            series("with a model", "ask", |bin| bin.with_model),
        ],
    };
    ColumnChart::new(of, None)
}

fn asked(figures: &Figures) -> BarChart {
    let bars = figures.totals.asked.iter().map(|asked| ChartBar {
        name: VisibleText::from(asked.example.as_str()),
        count: asked.count,
        detail: VisibleText::from(asked.rule.as_deref().unwrap_or("no rule would decide it")),
    });
    BarChart::new(
        "Asked most",
        "calls that a person was asked about most",
        "rule that would decide it",
        "ask",
        bars.collect(),
    )
}

fn denied(figures: &Figures) -> BarChart {
    let bars = figures.totals.denied.iter().map(|denied| ChartBar {
        name: VisibleText::from(denied.example.as_str()),
        count: denied.count,
        detail: VisibleText::from(denied.code.as_str()),
    });
    BarChart::new("Denied most", "calls that were denied most", "why", "deny", bars.collect())
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn empty_slots_are_filled_in() {
        let known = Slot { at_ms: 200, deny: 3, ..Slot::default() };
        let all = whole(&[known], 100, 400, 100);
        assert_eq!(
            all.iter().map(|slot| (slot.at_ms, slot.deny)).collect::<Vec<_>>(),
            [(100, 0), (200, 3), (300, 0)]
        );
    }

    #[test]
    fn a_slot_is_named_by_what_tells_it_from_others() {
        let at = calendar::parse("2026-01-31T18:00:00Z").unwrap();
        assert_eq!(
            [MINUTE_MS, 6 * HOUR_MS, DAY_MS].map(|slot| label(at, slot)),
            ["18:00", "01-31 18:00", "01-31"]
        );
    }

    #[test]
    fn money_is_counted_in_whole_numbers() {
        assert_eq!([0.0, 0.000_25, 1.5, -1.0, f64::NAN].map(millionths), [0, 250, 1_500_000, 0, 0]);
    }
}
