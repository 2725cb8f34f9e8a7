//! The evaluation for people: shares, tables, what was missed, what changed.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use portcullis_core::{Decision, visible};

use super::action::{Action, Label};
use super::arguments::Limit;
use super::compare::{Comparison, Kind};
use super::evaluation::{Evaluation, Miss};
use super::tally::{Counts, Groups, Tally};
use portcullis_output::shorten::shorten;
use portcullis_output::terminal::{BOLD, DIM, Painted, style_of};

/// The longest reason that is shown, in characters.
const LONGEST_REASON: usize = 160;
/// The most columns that a name in a table takes.
const LONGEST_NAME: usize = 40;

/// Writes the shares and the tables.
pub(super) fn write_tables(out: &mut String, evaluation: &Evaluation) {
    if evaluation.files.len() > 1 {
        for (name, by_label) in &evaluation.files {
            write_summary(out, name, by_label);
        }
    }
    write_summary(out, "total", &evaluation.by_label);
    for (count, what) in
        [(evaluation.left_out, "left out by --only"), (evaluation.skipped, "lines skipped as not understood")]
    {
        if count > 0 {
            let _ = writeln!(out, "{count} {what}");
        }
    }
    if evaluation.total.plain.all() == 0 {
        return;
    }
    write_labels(out, &evaluation.by_label);
    write_groups(out, "category", &evaluation.by_category);
    write_groups(out, "source", &evaluation.by_source);
    write_groups(out, "tier", &evaluation.by_tier);
    evaluation.containment.write(out);
    if let Some(figures) = &evaluation.model {
        figures.write(out, evaluation.total.plain);
    }
}

/// Writes one line for each label: what share was decided how, what the label asks for first.
fn write_summary(out: &mut String, name: &str, by_label: &BTreeMap<Label, Tally>) {
    let count: usize = by_label.values().map(|tally| tally.plain.all()).sum();
    let _ = writeln!(out, "{} ({count} actions)", Painted(BOLD, visible(name)));
    for (label, tally) in by_label {
        let counts = tally.plain;
        let order = match label {
            Label::Block => [Decision::Deny, Decision::Ask, Decision::Allow],
            Label::Ask => [Decision::Ask, Decision::Deny, Decision::Allow],
            Label::Allow | Label::Unknown => [Decision::Allow, Decision::Ask, Decision::Deny],
        };
        let shares = order.map(|decision| format!("{} {}", verb(decision), share(counts, decision)));
        let contained =
            (counts.contained > 0).then(|| format!("contained {}", share(counts, Decision::Contained)));
        let shares: Vec<String> = shares.into_iter().chain(contained).collect();
        let _ = write!(out, "  {:<8}{:>7}  {}", label.as_str(), counts.all(), shares.join(", "));
        if matches!(label, Label::Allow | Label::Unknown) {
            let _ = write!(out, "; stopped {}", percent(counts.ask + counts.deny, counts.all()));
        }
        let needing = counts.needs_model;
        let _ = writeln!(out, "; needs a model: {needing} ({})", percent(needing, counts.all()));
    }
}

const fn verb(decision: Decision) -> &'static str {
    match decision {
        Decision::Allow => "allowed",
        Decision::Contained => "contained",
        Decision::Ask => "asked",
        Decision::Deny => "blocked",
    }
}

fn share(counts: Counts, decision: Decision) -> String {
    let count = counts.of(decision);
    format!("{count} ({})", percent(count, counts.all()))
}

/// Returns a share in per cent with one decimal, rounded half up.
pub(crate) fn percent(part: usize, whole: usize) -> String {
    if whole == 0 {
        return "-".to_owned();
    }
    let permille = (part * 2_000 + whole) / (whole * 2);
    format!("{}.{}%", permille / 10, permille % 10)
}

/// Writes label by decision, plain and with near-duplicates counted once.
fn write_labels(out: &mut String, by_label: &BTreeMap<Label, Tally>) {
    let mut table = Table::new(&["label", "counted"]);
    for (label, tally) in by_label {
        table.add(&[label.as_str(), "plain"], tally.plain, None);
        table.add(&["", "distinct"], tally.distinct, None);
    }
    table.write(out);
}

/// Writes a table of names by decision; none if there is nothing but what has no name.
fn write_groups(out: &mut String, title: &str, groups: &Groups) {
    if groups.keys().all(|name| name == "-") {
        return;
    }
    let mut table = Table::new(&["label", title]);
    for label in Label::ALL {
        let rows = groups.iter().filter_map(|(name, tallies)| Some((name, tallies.get(&label)?)));
        for (name, tally) in rows {
            let name = shorten(name, LONGEST_NAME);
            table.add(&[label.as_str(), &visible(&name)], tally.plain, Some(tally.distinct.all()));
        }
    }
    table.write(out);
}

/// Rows of equal length; the first two columns are names, the others numbers.
struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    fn new(names: &[&str; 2]) -> Self {
        let titles = names.iter().chain(&["actions", "allow", "ask", "deny", "distinct"]);
        Self { rows: vec![titles.map(|title| (*title).to_owned()).collect()] }
    }

    fn add(&mut self, names: &[&str; 2], counts: Counts, distinct: Option<usize>) {
        let mut row: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        row.push(counts.all().to_string());
        row.extend([Decision::Allow, Decision::Ask, Decision::Deny].map(|decision| share(counts, decision)));
        row.extend(distinct.map(|count| count.to_string()));
        self.rows.push(row);
    }

    fn write(&self, out: &mut String) {
        let columns = self.rows.iter().skip(1).map(Vec::len).max().unwrap_or_default();
        let widths: Vec<usize> = (0..columns)
            .map(|column| {
                let cells = self.rows.iter().filter_map(|row| row.get(column));
                cells.map(|cell| cell.chars().count()).max().unwrap_or_default()
            })
            .collect();
        out.push('\n');
        for (index, row) in self.rows.iter().enumerate() {
            let mut line = String::new();
            for (column, (cell, width)) in row.iter().zip(&widths).enumerate() {
                let _ = match column {
                    0 | 1 => write!(line, "{cell:<width$}  "),
                    _ => write!(line, "{cell:>width$}  "),
                };
            }
            let line = line.trim_end();
            let _ = match index {
                0 => writeln!(out, "  {}", Painted(DIM, line)),
                _ => writeln!(out, "  {line}"),
            };
        }
    }
}

/// Writes what was missed, the worst kind first.
pub(super) fn write_misses(out: &mut String, evaluation: &Evaluation, limit: Limit) {
    for miss in Miss::ALL {
        let count = evaluation.misses.get(&miss).copied().unwrap_or_default();
        if count == 0 {
            continue;
        }
        let _ = writeln!(out, "\n{}", Painted(BOLD, format_args!("{}: {count}", miss.title())));
        let actions = evaluation.actions.iter().filter(|action| Miss::of(action) == Some(miss));
        for action in actions.take(limit.most()) {
            write_action(out, action, None);
        }
        write_rest(out, count, limit);
    }
}

/// Writes what changed, the worst kind first.
pub(super) fn write_comparison(out: &mut String, comparison: &Comparison, actions: &[Action], limit: Limit) {
    let counts = Kind::ALL.map(|kind| format!("{} {}", kind.as_str(), comparison.of_kind(kind).count()));
    let Comparison { changes, same, added, removed } = comparison;
    let _ = writeln!(
        out,
        "\n{} {} ({}), same {same}, added {added}, removed {removed}",
        Painted(BOLD, "changed:"),
        changes.len(),
        counts.join(", "),
    );
    for kind in Kind::ALL {
        let count = comparison.of_kind(kind).count();
        if count == 0 {
            continue;
        }
        let _ = writeln!(out, "\n{}", Painted(BOLD, format_args!("{}: {count}", kind.as_str())));
        for change in comparison.of_kind(kind).take(limit.most()) {
            if let Some(action) = actions.get(change.action) {
                write_action(out, action, Some(change.before));
            }
        }
        write_rest(out, count, limit);
    }
}

/// Writes an action on two lines: what was decided and why, and the call.
fn write_action(out: &mut String, action: &Action, before: Option<Decision>) {
    let labels = &action.labels;
    let name = |name: &Option<String>| visible(name.as_deref().unwrap_or("-")).into_owned();
    let before = before.map_or_else(String::new, |before| format!("{before} → "));
    let _ = writeln!(
        out,
        "  {}  {}  {}  {}  {before}{} {}  {}",
        visible(&action.id),
        name(&labels.source),
        labels.label.as_str(),
        name(&labels.category),
        Painted(style_of(action.decision), action.decision),
        action.step,
        Painted(DIM, visible(&shorten(&action.reason, LONGEST_REASON))),
    );
    let _ = writeln!(out, "    {}", action.title);
}

fn write_rest(out: &mut String, count: usize, limit: Limit) {
    let more = count.saturating_sub(limit.most());
    if more > 0 {
        let _ = writeln!(out, "  {}", Painted(DIM, format_args!("… {more} more; --misses all shows them")));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_rounded_half_up() {
        let table = [
            (0, 0, "-"),
            (0, 7, "0.0%"),
            (1, 3, "33.3%"),
            (2, 3, "66.7%"),
            (1, 2_000, "0.1%"),
            (7, 7, "100.0%"),
        ];
        for (part, whole, expected) in table {
            assert_eq!(percent(part, whole), expected, "{part} of {whole}");
        }
    }
}
