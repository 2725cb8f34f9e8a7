//! The Markdown of a page as plain text for a terminal. It knows what the generator writes, not all of Markdown.

use std::fmt::Write as _;

use super::entry::PageEntry;
use crate::terminal::{BOLD, DIM, Painted};

/// The columns that the names of properties take.
const NAME_WIDTH: usize = 10;

/// Returns what explains a code, as plain text with its heading; `None` if there is no such code.
pub fn plain_page(code: &str) -> Option<(&'static str, String)> {
    let entry = PageEntry::find(code)?;
    let text = text(entry.page());
    Some((entry.code(), anstream::adapter::strip_str(&text).to_string()))
}

/// Turns a page into text: no notice, no rules of tables, no fences, no targets of links.
pub fn text(page: &str) -> String {
    let mut out = String::new();
    let mut is_example = false;
    let mut is_table = false;
    for line in page.lines().skip_while(|line| line.is_empty() || line.starts_with("<!--")) {
        if line.starts_with("```") {
            is_example = !is_example;
            continue;
        }
        let is_row = !is_example && line.starts_with('|');
        if is_row && !is_table {
            // The header of a table says nothing that its rows do not.
            is_table = true;
            continue;
        }
        is_table = is_row;
        // Writing to a string cannot fail.
        let _ = match line.strip_prefix("# ").or_else(|| line.strip_prefix("## ")) {
            _ if is_example => writeln!(out, "    {line}"),
            Some(heading) => writeln!(out, "{}", Painted(BOLD, heading)),
            None if line.starts_with("|-") => Ok(()),
            None if is_row => writeln!(out, "  {}", row(line)),
            None if line.is_empty() => writeln!(out),
            None => writeln!(out, "  {}", without_targets(line)),
        };
    }
    out
}

/// Lays out a row of two cells.
fn row(line: &str) -> String {
    let inner = line.trim_start_matches("| ").trim_end_matches(" |");
    let (name, value) = inner.split_once(" | ").unwrap_or((inner, ""));
    let value = without_targets(value).replace("\\|", "|");
    format!("{} {value}", Painted(DIM, format_args!("{name:<NAME_WIDTH$}")))
}

/// Leaves the text of links and drops where they lead.
fn without_targets(line: &str) -> String {
    let mut parts = line.split("](");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        if let Some(start) = out.rfind('[') {
            out.remove(start);
        }
        out.push_str(part.split_once(')').map_or(part, |(_, rest)| rest));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markdown_becomes_plain_text() {
        let page = "<!-- Generated. -->\n\n# PC000 name\n\nOne.\n\n| property | value |\n|---|---|\n| code | `PC000` |\n\
                    | cleared by | a\\|b; [PA01 x](PA01-x.md), [PA02 y](PA02-y.md) |\n\n## Examples\n\n\
                    ```console\n$ # [a](b)\n| x |\n```\n";
        let plain = anstream::adapter::strip_str(&text(page)).to_string();
        assert_eq!(
            plain,
            "PC000 name\n\n  One.\n\n  code       `PC000`\n  cleared by a|b; PA01 x, PA02 y\n\nExamples\n\n    \
             $ # [a](b)\n    | x |\n"
        );
    }
}
