//! A draft as a table of a command profile.

use std::fmt::Write as _;

use portcullis_settings::profile_draft::{Draft, DraftOption, DraftValue};

use super::acting::hints;
use super::sources::ProgramName;

/// How long a line of words becomes.
const WIDTH: usize = 110;

/// Writes a draft in the format of the profiles. What may act is unknown until a person marks it; what only says how
/// stands among switches and values, where a person reads over it.
pub(crate) fn table(name: &ProgramName, draft: &Draft) -> String {
    let (acting, plain): (Vec<&DraftOption>, Vec<&DraftOption>) =
        draft.options.iter().partition(|option| !hints(option).is_empty());
    let mut out = String::new();
    if name.subcommand.is_empty() {
        let _ = writeln!(out, "names = [\"{}\"]", name.program);
        let _ = writeln!(out, "summary = \"{}\"", quoted(draft.summary.as_deref().unwrap_or_default()));
    } else {
        let _ = writeln!(out, "[sub.\"{}\"]", name.subcommand.join(" "));
    }
    for (key, value) in [
        ("switches", DraftValue::None),
        ("values", DraftValue::Required),
        ("optional-values", DraftValue::Attached),
    ] {
        let words = plain.iter().filter(|option| option.value == value).flat_map(|option| &option.spellings);
        write_words(&mut out, key, words.map(String::as_str));
    }
    if !acting.is_empty() {
        out.push_str("options = [\n");
        for option in acting {
            let _ = writeln!(out, "    # {}? {}", hints(option).join(", "), quoted(&option.about));
            let meaning = match option.value {
                DraftValue::None => "!unknown",
                DraftValue::Required => "=unknown",
                DraftValue::Attached => "=?unknown",
            };
            let _ = writeln!(out, "    \"{} {meaning}\",", option.spellings.join(" "));
        }
        out.push_str("]\n");
    }
    out
}

/// Writes words as one text over several lines; nothing if there are none.
fn write_words<'a>(out: &mut String, key: &str, words: impl Iterator<Item = &'a str>) {
    let mut lines = vec![String::new()];
    for word in words {
        if let Some(line) = lines.last_mut().filter(|line| line.len() + word.len() < WIDTH) {
            line.push_str(if line.is_empty() { "" } else { " " });
            line.push_str(word);
        } else {
            lines.push(word.to_owned());
        }
    }
    if lines.iter().any(|line| !line.is_empty()) {
        let _ = writeln!(out, "{key} = \"\"\"\n{}\n\"\"\"", lines.join("\n"));
    }
}

/// Makes the inside of a comment or text of words that somebody else wrote.
fn quoted(text: &str) -> String {
    let is_odd = |letter: char| letter.is_control() || matches!(letter, '"' | '\\');
    let short: String = text.chars().take(80).collect();
    short.replace(is_odd, "'")
}

#[cfg(test)]
mod tests {
    use super::*;
    use portcullis_core::profile::compile;
    use portcullis_settings::profile_draft::of_page;

    #[test]
    fn a_draft_is_a_table_that_compiles() {
        let page = ".SH NAME\nacme \\- does \"things\"\n.SH OPTIONS\n.TP\n-o, --output=FILE\nwrite to FILE\n.TP\n-w, --width=N\ncolumns\n.TP\n--wide\nuse all columns\n.TP\n--color[=WHEN]\nin colour\n.TP\n--force\ndo it\n";
        let text = table(&ProgramName::of("acme").unwrap(), &of_page(page));
        assert_eq!(
            text,
            "names = [\"acme\"]\nsummary = \"does 'things'\"\nswitches = \"\"\"\n--wide\n\"\"\"\nvalues = \"\"\"\n-w --width\n\"\"\"\noptional-values = \"\"\"\n--color\n\"\"\"\noptions = [\n    # write? write to FILE\n    \"-o --output =unknown\",\n    # weaken? do it\n    \"--force !unknown\",\n]\n"
        );
        let whole = format!(
            "{text}does = [\"observe\"]\n\n[[example]]\ncommand = \"acme\"\neffects = [\"observe\"]\n"
        );
        assert!(compile(&whole).is_ok(), "{whole}");
    }
}
