//! Charts, laid out: every place is a whole number of a drawing of fixed size, which the page scales.
//!
//! Colours are classes of the style sheet, and every figure also stands in a table below its chart.

use std::fmt::Write as _;

use crate::VisibleText;

/// The drawing of columns, in tenths of a pixel.
pub(crate) const WIDTH: u64 = 5_600;
pub(crate) const HEIGHT: u64 = 2_400;
pub(crate) const LEFT: u64 = 600;
const TOP: u64 = 120;
const BOTTOM: u64 = 430;

/// How much stays free on the right: little, or enough for a second scale.
const MARGIN: u64 = 80;
const SCALE: u64 = 760;

/// How wide a character of a label is.
const CHARACTER: usize = 88;

/// How many lines the scale has above its foot.
const TICKS: u64 = 4;

/// The drawing of bars.
const BAR_ROW: u64 = 450;

/// Values by category, one upon another.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ChartSeries {
    /// What is counted.
    pub name: &'static str,
    /// Its class in the style sheet.
    pub class: &'static str,
    /// How many, by category.
    pub values: Vec<u64>,
}

/// A line over the columns, with a scale of its own on the right.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ChartLine {
    /// What it shows.
    pub name: &'static str,
    /// Its class in the style sheet.
    pub class: &'static str,
    /// The values, by category, in millionths of a dollar.
    pub values: Vec<u64>,
    /// The same in words.
    pub words: Vec<String>,
}

/// What a chart of columns is made of.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ColumnChartData {
    /// Its heading.
    pub title: &'static str,
    /// What it shows, for whoever does not see it.
    pub description: String,
    /// What the categories are.
    pub axis: &'static str,
    /// The categories.
    pub labels: Vec<String>,
    /// What is counted.
    pub series: Vec<ChartSeries>,
}

/// A chart of columns, laid out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ColumnChart {
    pub(crate) of: ColumnChartData,
    pub(crate) line: Option<ChartLine>,
    pub(crate) rects: Vec<ChartRect>,
    pub(crate) ticks: Vec<ScaleTick>,
    pub(crate) right_ticks: Vec<ScaleTick>,
    pub(crate) marks: Vec<ChartLabel>,
    pub(crate) path: String,
    pub(crate) dots: Vec<LineDot>,
    /// Where the columns end.
    pub(crate) right: u64,
}

/// A part of a column, or a bar.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ChartRect {
    pub(crate) class: &'static str,
    pub(crate) x: u64,
    pub(crate) y: u64,
    pub(crate) width: u64,
    pub(crate) height: u64,
    pub(crate) title: VisibleText,
}

/// A line of the scale.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ScaleTick {
    pub(crate) y: u64,
    pub(crate) label: String,
}

/// A label of a category.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ChartLabel {
    pub(crate) x: u64,
    pub(crate) text: String,
}

/// A point of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LineDot {
    pub(crate) x: u64,
    pub(crate) y: u64,
    pub(crate) title: String,
}

/// Scales a value to a room.
fn scaled(value: u64, most: u64, room: u64) -> u64 {
    let length = (u128::from(value) * u128::from(room)).checked_div(u128::from(most)).unwrap_or(0);
    u64::try_from(length).unwrap_or(room).min(room)
}

/// Returns the end of a scale: not below a value, and easy to part.
fn scale_end(most: u64) -> u64 {
    let mut step: u64 = 1;
    loop {
        for factor in [1, 2, 5] {
            let end = step.saturating_mul(factor).saturating_mul(TICKS);
            if end >= most {
                return end;
            }
        }
        let Some(next) = step.checked_mul(10) else { return u64::MAX };
        step = next;
    }
}

/// Writes a figure with a space between thousands.
pub fn figure(value: u64) -> String {
    let digits = value.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push('\u{202f}');
        }
        out.push(digit);
    }
    out
}

/// Writes a figure of a scale: thousands and millions in short.
fn short(value: u64) -> String {
    let (unit, letter) = match value {
        0..1_000 => return value.to_string(),
        1_000..1_000_000 => (1_000, "k"),
        1_000_000..1_000_000_000 => (1_000_000, "M"),
        _ => (1_000_000_000, "G"),
    };
    match value % unit * 10 / unit {
        0 => format!("{}{letter}", value / unit),
        tenth => format!("{}.{tenth}{letter}", value / unit),
    }
}

/// Writes millionths of a dollar, as short as a scale needs.
fn dollars(millionths: u64) -> String {
    let (whole, rest) = (millionths / 1_000_000, millionths % 1_000_000);
    let digits = format!("{rest:06}");
    let digits = digits.trim_end_matches('0');
    if digits.is_empty() { format!("${whole}") } else { format!("${whole}.{digits:0<2}") }
}

fn count(items: &[String]) -> u64 {
    u64::try_from(items.len()).unwrap_or(u64::MAX)
}

fn at(index: usize) -> u64 {
    u64::try_from(index).unwrap_or(u64::MAX)
}

/// Where columns stand.
struct ChartFloor {
    slot: u64,
    column: u64,
    end: u64,
}

impl ChartFloor {
    fn of(of: &ColumnChartData, right: u64) -> Self {
        let slot = (right - LEFT).checked_div(count(&of.labels)).unwrap_or(0).max(1);
        let column = (slot * 7 / 10).clamp(1, 640);
        let totals = (0..of.labels.len())
            .map(|place| of.series.iter().filter_map(|one| one.values.get(place)).sum::<u64>());
        Self { slot, column, end: scale_end(totals.max().unwrap_or(0)) }
    }

    fn middle(&self, place: usize) -> u64 {
        LEFT + self.slot * at(place) + self.slot / 2
    }
}

const fn room() -> u64 {
    HEIGHT - TOP - BOTTOM
}

impl ColumnChart {
    /// Lays out a chart.
    pub fn new(of: ColumnChartData, line: Option<ChartLine>) -> Self {
        let right = WIDTH - if line.is_some() { SCALE } else { MARGIN };
        let floor = ChartFloor::of(&of, right);
        let mut chart = Self {
            right,
            rects: rects(&of, &floor),
            ticks: ticks(floor.end, short),
            marks: marks(&of, &floor),
            ..Self::default()
        };
        if let Some(line) = &line {
            let end = scale_end(line.values.iter().copied().max().unwrap_or(0));
            chart.right_ticks = ticks(end, dollars);
            for (place, value) in line.values.iter().enumerate() {
                let (x, y) = (floor.middle(place), HEIGHT - BOTTOM - scaled(*value, end, room()));
                let sign = if chart.path.is_empty() { 'M' } else { 'L' };
                // Writing to a `String` cannot fail.
                let _ = write!(chart.path, "{sign}{x} {y}");
                let label = of.labels.get(place).map(String::as_str).unwrap_or_default();
                let words = line.words.get(place).map(String::as_str).unwrap_or_default();
                chart.dots.push(LineDot { x, y, title: format!("{label}: {words}") });
            }
        }
        Self { of, line, ..chart }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rects.is_empty()
    }

    /// The rows of the table: a category, and what is counted there.
    pub(crate) fn table(&self) -> Vec<(String, Vec<String>)> {
        let row = |(place, label): (usize, &String)| {
            let cell = |one: &ChartSeries| figure(one.values.get(place).copied().unwrap_or(0));
            let mut cells: Vec<String> = self.of.series.iter().map(cell).collect();
            cells.extend(self.line.iter().map(|line| line.words.get(place).cloned().unwrap_or_default()));
            (label.clone(), cells)
        };
        self.of.labels.iter().enumerate().map(row).collect()
    }
}

fn rects(of: &ColumnChartData, floor: &ChartFloor) -> Vec<ChartRect> {
    let mut rects = Vec::new();
    for (place, label) in of.labels.iter().enumerate() {
        let mut foot = HEIGHT - BOTTOM;
        for one in &of.series {
            let value = one.values.get(place).copied().unwrap_or(0);
            if value == 0 {
                continue;
            }
            // A thing that was counted is seen, however many there are of another.
            let height = scaled(value, floor.end, room()).max(14);
            foot = foot.saturating_sub(height);
            rects.push(ChartRect {
                class: one.class,
                x: floor.middle(place) - floor.column / 2,
                y: foot,
                width: floor.column,
                height,
                title: VisibleText::from(format!("{label}: {} {}", figure(value), one.name)),
            });
        }
    }
    rects
}

fn ticks(end: u64, label: impl Fn(u64) -> String) -> Vec<ScaleTick> {
    (0..=TICKS)
        .map(|step| ScaleTick {
            y: HEIGHT - BOTTOM - scaled(step, TICKS, room()),
            label: label(scaled(step, TICKS, end)),
        })
        .collect()
}

fn marks(of: &ColumnChartData, floor: &ChartFloor) -> Vec<ChartLabel> {
    // As many as stand beside each other with a gap between them.
    let longest = of.labels.iter().map(|label| label.chars().count() + 1).max().unwrap_or(1) * CHARACTER;
    let slot = usize::try_from(floor.slot).unwrap_or(usize::MAX);
    let every = longest.div_ceil(slot).max(1);
    let labels = of.labels.iter().enumerate().step_by(every);
    labels.map(|(place, text)| ChartLabel { x: floor.middle(place), text: text.clone() }).collect()
}

/// A bar with a name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ChartBar {
    /// What is counted.
    pub name: VisibleText,
    /// How many.
    pub count: u64,
    /// More about it, for the table; may be empty.
    pub detail: VisibleText,
}

/// Bars below each other, laid out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BarChart {
    pub(crate) title: &'static str,
    pub(crate) description: &'static str,
    /// What the further column of the table is; empty if there is none.
    pub(crate) detail: &'static str,
    pub(crate) class: &'static str,
    pub(crate) rows: Vec<BarRow>,
}

/// A bar, laid out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BarRow {
    pub(crate) bar: ChartBar,
    pub(crate) text_y: u64,
    pub(crate) y: u64,
    pub(crate) width: u64,
}

impl BarRow {
    pub(crate) fn figure(&self) -> String {
        figure(self.bar.count)
    }

    /// Returns the name as far as it fits.
    pub(crate) fn short(&self) -> VisibleText {
        VisibleText::cut(&self.bar.name.as_str().replace(['\n', '\t'], " "), 56)
    }
}

impl BarChart {
    /// Lays out bars; `detail` is what the further column of the table is called.
    pub fn new(
        title: &'static str,
        description: &'static str,
        detail: &'static str,
        class: &'static str,
        bars: Vec<ChartBar>,
    ) -> Self {
        let most = bars.iter().map(|bar| bar.count).max().unwrap_or(0);
        let rows = bars.into_iter().enumerate().map(|(place, bar)| {
            let top = BAR_ROW * at(place);
            let width = scaled(bar.count, most, WIDTH - 700).max(20);
            BarRow { text_y: top + 170, y: top + 220, width, bar }
        });
        Self { title, description, detail, class, rows: rows.collect() }
    }

    pub(crate) fn height(&self) -> u64 {
        BAR_ROW * u64::try_from(self.rows.len()).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn a_scale_ends_at_a_round_figure_above_everything() {
        let ends = [0, 1, 4, 5, 9, 21, 100, 999, 1_000_001].map(scale_end);
        assert_eq!(ends, [4, 4, 4, 8, 20, 40, 200, 2_000, 2_000_000]);
        assert_eq!(scale_end(u64::MAX), u64::MAX);
    }

    #[test]
    fn thousands_are_parted() {
        assert_eq!(
            ["0", "999", "1\u{202f}000", "1\u{202f}234\u{202f}567"],
            [0, 999, 1_000, 1_234_567].map(figure)
        );
    }

    #[test]
    fn columns_stand_upon_each_other_and_stay_in_the_drawing() {
        let series = vec![
            ChartSeries { name: "allowed", class: "allow", values: vec![3, u64::MAX / 4, 0] },
            ChartSeries { name: "denied", class: "deny", values: vec![1, u64::MAX / 4, 0] },
        ];
        let labels = ["a", "b", "c"].map(str::to_owned).to_vec();
        let chart = ColumnChart::new(ColumnChartData { labels, series, ..ColumnChartData::default() }, None);
        assert_eq!(chart.rects.len(), 4);
        for pair in chart.rects.chunks(2) {
            assert_eq!(pair[0].y, pair[1].y + pair[1].height);
        }
        assert!(
            chart.rects.iter().all(|rect| rect.x + rect.width <= WIDTH && rect.y + rect.height <= HEIGHT)
        );
        assert_eq!(chart.table().len(), 3);
    }

    #[test]
    fn a_scale_writes_thousands_in_short() {
        assert_eq!(
            [0, 999, 1_000, 1_500, 2_000_000, 5_000_000_000].map(short),
            ["0", "999", "1k", "1.5k", "2M", "5G"]
        );
    }

    #[test]
    fn a_scale_of_money_is_short() {
        assert_eq!(
            [0, 20_000, 1_500_000, 2_000_000, 250].map(dollars),
            ["$0", "$0.02", "$1.50", "$2", "$0.00025"]
        );
    }

    #[test]
    fn nothing_is_no_panic() {
        assert!(ColumnChart::new(ColumnChartData::default(), None).is_empty());
        assert_eq!(BarChart::new("a", "b", "", "ask", Vec::new()).height(), 0);
    }
}
