//! The report for the terminal.

use std::fmt::Write as _;

use super::section::{Row, Section};
use portcullis_output::terminal::{BOLD, DIM, Painted};

/// The most columns that a name takes before the numbers move to the right.
const WIDEST_NAME: usize = 60;

/// Writes the sections.
pub(super) fn report(sections: &[Section]) -> String {
    let mut out = String::new();
    for (index, section) in sections.iter().enumerate() {
        if index > 0 {
            out.push('\n');
        }
        write_section(&mut out, section);
    }
    out
}

fn write_section(out: &mut String, section: &Section) {
    let _ = writeln!(out, "{}", Painted(BOLD, &section.title));
    for note in &section.notes {
        let _ = writeln!(out, "  {}", Painted(DIM, note));
    }
    if section.rows.is_empty() {
        return;
    }
    let widths = widths(section);
    let mut heads = section.columns.iter().map(|head| (*head).to_owned());
    let name = heads.next().unwrap_or_default();
    let heads = line(&name, &heads.collect::<Vec<_>>(), &widths);
    let _ = writeln!(out, "  {}", Painted(DIM, heads));
    for row in &section.rows {
        let _ = writeln!(out, "  {}", line(&row.name, &row.cells, &widths));
        write_examples(out, row);
    }
    if section.more > 0 {
        let more = format_args!("… {} more; --limit shows them", section.more);
        let _ = writeln!(out, "  {}", Painted(DIM, more));
    }
}

/// Returns how wide each column is.
fn widths(section: &Section) -> Vec<usize> {
    let width = |column: usize| {
        let head = section.columns.get(column).map_or(0, |head| head.chars().count());
        let cells = section.rows.iter().map(|row| match column.checked_sub(1) {
            None => row.name.chars().count().min(WIDEST_NAME),
            Some(cell) => row.cells.get(cell).map_or(0, |cell| cell.chars().count()),
        });
        cells.fold(head, usize::max)
    };
    (0..section.columns.len()).map(width).collect()
}

fn line(name: &str, cells: &[String], widths: &[usize]) -> String {
    let mut out = format!("{name:<width$}", width = widths.first().copied().unwrap_or_default());
    for (cell, width) in cells.iter().zip(widths.iter().skip(1)) {
        let _ = write!(out, "  {cell:>width$}");
    }
    out
}

fn write_examples(out: &mut String, row: &Row) {
    for example in &row.examples {
        let _ = writeln!(out, "      {}", example.title);
        let _ =
            writeln!(out, "        {}", Painted(DIM, format_args!("{}; {}", example.reason, example.place)));
    }
}
