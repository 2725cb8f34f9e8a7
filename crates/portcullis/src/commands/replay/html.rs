//! The report as one HTML page: no script, nothing fetched, every text escaped.

use std::fmt::Write as _;

use super::section::{Row, Section};
use super::tally::{Answer, Counts};

/// The page around the sections. The marks in it stand once each.
const PAGE: &str = include_str!("report.html");
const CONTENTS_MARK: &str = "<!-- contents -->";
const SECTIONS_MARK: &str = "<!-- sections -->";
/// How many units the longest bar has.
const BAR: usize = 200;

/// Makes the page.
pub(super) fn report(sections: &[Section]) -> String {
    let mut contents = String::new();
    let mut body = String::new();
    for (index, section) in sections.iter().enumerate() {
        let _ = writeln!(contents, "<li><a href=\"#s{index}\">{}</a></li>", escape(&section.title));
        write_section(&mut body, index, section);
    }
    // The contents hold titles of ours alone, so the second mark is still the template's.
    PAGE.replacen(CONTENTS_MARK, &contents, 1).replacen(SECTIONS_MARK, &body, 1)
}

fn write_section(out: &mut String, index: usize, section: &Section) {
    let title = escape(&section.title);
    let _ = writeln!(out, "<section aria-labelledby=\"s{index}\">\n<h2 id=\"s{index}\">{title}</h2>");
    for note in &section.notes {
        let _ = writeln!(out, "<p class=\"note\">{}</p>", escape(note));
    }
    if !section.rows.is_empty() {
        write_table(out, &title, section);
    }
    if section.more > 0 {
        let _ = writeln!(out, "<p class=\"note\">… {} more; --limit shows them</p>", section.more);
    }
    out.push_str("</section>\n");
}

fn write_table(out: &mut String, title: &str, section: &Section) {
    // A table that is too wide scrolls in its own box, which the keyboard can reach.
    let _ = writeln!(out, "<div class=\"wide\" role=\"region\" aria-label=\"{title}\" tabindex=\"0\">");
    let _ = writeln!(out, "<table>\n<caption>{title}</caption>\n<thead><tr>");
    for head in &section.columns {
        let _ = writeln!(out, "<th scope=\"col\">{}</th>", escape(head));
    }
    let has_bars = section.rows.iter().any(|row| row.bar.is_some());
    if has_bars {
        out.push_str("<th scope=\"col\">share</th>\n");
    }
    out.push_str("</tr></thead>\n<tbody>\n");
    for row in &section.rows {
        write_row(out, row, section.columns.len() + usize::from(has_bars));
    }
    out.push_str("</tbody>\n</table>\n</div>\n");
}

fn write_row(out: &mut String, row: &Row, columns: usize) {
    let _ = write!(out, "<tr><th scope=\"row\">{}</th>", escape(&row.name));
    for cell in &row.cells {
        let _ = write!(out, "<td>{}</td>", escape(cell));
    }
    if let Some(counts) = row.bar {
        let _ = write!(out, "<td>{}</td>", bar(counts));
    }
    out.push_str("</tr>\n");
    if row.examples.is_empty() {
        return;
    }
    let _ = writeln!(
        out,
        "<tr class=\"examples\"><td colspan=\"{columns}\"><details><summary>Examples</summary><ul>"
    );
    for example in &row.examples {
        let _ = writeln!(
            out,
            "<li><code>{}</code><br><span>{}</span><br><small>{}</small></li>",
            escape(&example.title),
            escape(&example.reason),
            escape(&example.place),
        );
    }
    out.push_str("</ul></details></td></tr>\n");
}

/// Draws the shares of the answers beside each other.
fn bar(counts: Counts) -> String {
    let all = counts.all().max(1);
    let words = Answer::ALL.map(|answer| format!("{} {}", answer.as_str(), counts.of(answer))).join(", ");
    let mut out = format!(
        "<svg role=\"img\" aria-label=\"{words}\" viewBox=\"0 0 {BAR} 12\" width=\"{BAR}\" height=\"12\"><title>{words}</title>"
    );
    let mut before = 0;
    for answer in Answer::ALL {
        let start = before * BAR / all;
        before += counts.of(answer);
        let width = before * BAR / all - start;
        if width > 0 {
            let name = answer.as_str();
            let _ = write!(out, "<rect class=\"{name}\" x=\"{start}\" width=\"{width}\" height=\"12\"/>");
        }
    }
    out.push_str("</svg>");
    out
}

/// Writes a text so that it is nothing but text, between tags and in quotes.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '`' => out.push_str("&#96;"),
            _ => out.push(letter),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_template_has_each_mark_once_and_fetches_nothing() {
        for mark in [CONTENTS_MARK, SECTIONS_MARK] {
            assert_eq!(PAGE.matches(mark).count(), 1, "{mark}");
        }
        for word in ["<script", "http:", "https:", "//", "url(", "@import", "<link", "<img"] {
            assert!(!PAGE.contains(word), "{word}");
        }
    }

    #[test]
    fn text_stays_text() {
        assert_eq!(escape("<a href=\"x\" y='z'>&`"), "&lt;a href=&quot;x&quot; y=&#39;z&#39;&gt;&amp;&#96;");
    }

    #[test]
    fn a_mark_in_a_text_is_not_filled_in() {
        let section =
            Section { title: "t".to_owned(), notes: vec![SECTIONS_MARK.to_owned()], ..Section::default() };
        let page = report(&[section]);
        assert!(page.contains("&lt;!-- sections --&gt;") && !page.contains(SECTIONS_MARK));
    }

    #[test]
    fn the_parts_of_a_bar_fill_it() {
        let mut counts = Counts::default();
        for answer in [Answer::Allow, Answer::Allow, Answer::Deny] {
            counts.count(answer);
        }
        let drawn = bar(counts);
        assert!(drawn.contains("class=\"allow\" x=\"0\" width=\"133\""), "{drawn}");
        assert!(drawn.contains("class=\"deny\" x=\"133\" width=\"67\""), "{drawn}");
        assert!(!bar(Counts::default()).contains("<rect"));
    }
}
