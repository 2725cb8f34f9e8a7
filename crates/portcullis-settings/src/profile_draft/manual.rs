//! What a manual page says of options, in either set of macros.

use super::{Draft, option_of};

/// Sections in which a line that begins with a dash describes no option.
const OTHER_SECTIONS: &[&str] = &["SYNOPSIS", "EXAMPLE", "EXAMPLES", "NAME", "SEE ALSO", "HISTORY"];

/// Reads a page.
pub fn of_page(text: &str) -> Draft {
    let mut draft = Draft::default();
    let mut section = String::new();
    // The last option still waits for the line that describes it.
    let mut is_waiting = false;
    for line in text.lines() {
        let Some(line) = plain_line(line) else { continue };
        match line {
            Line::Section(name) => {
                section = name;
                is_waiting = false;
            }
            Line::Summary(text) => draft.summary = draft.summary.take().or(Some(text)),
            Line::Text(text) if section.eq_ignore_ascii_case("NAME") => {
                let summary = text.split_once(" - ").map(|(_, summary)| summary.to_owned());
                draft.summary = draft.summary.take().or(summary);
            }
            Line::Text(text) if text.starts_with('-') && !is_other(&section) => {
                if let Some(option) = option_of(&text) {
                    draft.options.push(option);
                    is_waiting = true;
                }
            }
            Line::Text(text) => {
                if is_waiting && let Some(option) = draft.options.last_mut() {
                    option.about = text;
                }
                is_waiting = false;
            }
        }
    }
    draft
}

fn is_other(section: &str) -> bool {
    OTHER_SECTIONS.iter().any(|other| section.eq_ignore_ascii_case(other))
}

/// A line of a page without its markup.
enum Line {
    Section(String),
    Summary(String),
    Text(String),
}

/// Takes the markup off a line; `None` if nothing is left to read.
fn plain_line(line: &str) -> Option<Line> {
    let Some(request) = line.strip_prefix(['.', '\'']) else {
        return Some(unescaped(line)).filter(|text| !text.is_empty()).map(Line::Text);
    };
    let mut words = arguments(request.trim_start());
    if words.is_empty() {
        return None;
    }
    let name = words.remove(0);
    let text = match name.as_str() {
        "SH" | "Sh" | "SS" | "Ss" => return Some(Line::Section(unescaped(&words.join(" ")))),
        "Nd" => return Some(Line::Summary(unescaped(&words.join(" ")))),
        "B" | "I" | "SM" | "SB" => words.join(" "),
        "BR" | "BI" | "IB" | "IR" | "RB" | "RI" => words.concat(),
        "IP" => words.into_iter().next()?,
        "It" | "Fl" | "Op" => mandoc(&words),
        _ => return None,
    };
    Some(unescaped(&text)).filter(|text| !text.is_empty()).map(Line::Text)
}

/// Joins the words of a list item: `Fl o Ns = Ns Ar file`.
fn mandoc(words: &[String]) -> String {
    let (mut out, mut is_flag, mut is_joined) = (String::new(), false, true);
    for word in words {
        match word.as_str() {
            "Fl" => is_flag = true,
            "Ns" => is_joined = true,
            "Ar" | "Cm" | "Ic" | "Pa" | "Sy" | "Em" | "Li" | "Xo" | "Op" | "Oo" | "Oc" => {}
            word => {
                let is_sign = matches!(word, "," | "|" | "]" | ")");
                if !is_joined && !is_sign {
                    out.push(' ');
                }
                if is_flag {
                    out.push('-');
                }
                out.push_str(word);
                (is_flag, is_joined) = (false, false);
            }
        }
    }
    out
}

/// Splits the arguments of a request; a quoted one may hold blanks.
fn arguments(request: &str) -> Vec<String> {
    let (mut all, mut word, mut is_quoted, mut is_begun) = (Vec::new(), String::new(), false, false);
    for letter in request.chars() {
        match letter {
            '"' => (is_quoted, is_begun) = (!is_quoted, true),
            ' ' | '\t' if !is_quoted => {
                if is_begun {
                    all.push(std::mem::take(&mut word));
                }
                is_begun = false;
            }
            letter => {
                word.push(letter);
                is_begun = true;
            }
        }
    }
    if is_begun {
        all.push(word);
    }
    all
}

/// Takes out what changes the look of letters.
fn unescaped(text: &str) -> String {
    let mut out = String::new();
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        if letter != '\\' {
            out.push(letter);
            continue;
        }
        match letters.next() {
            Some('-') => out.push('-'),
            Some(' ' | '~' | '0') => out.push(' '),
            Some('e' | '\\') => out.push('\\'),
            Some('"' | '#') | None => break,
            Some('f' | '*' | 'F' | 'm' | 'n') => skip_name(&mut letters),
            Some('s') => {
                letters.nth(1);
            }
            Some('(') => {
                let name: String = letters.by_ref().take(2).collect();
                out.push_str(sign(&name));
            }
            Some('[') => {
                let name: String = letters.by_ref().take_while(|letter| *letter != ']').collect();
                out.push_str(sign(&name));
            }
            Some(_) => {}
        }
    }
    out.trim().to_owned()
}

/// Skips the name behind an escape: one letter, two behind `(`, any number in brackets.
fn skip_name(letters: &mut std::str::Chars<'_>) {
    match letters.next() {
        Some('(') => letters.nth(1),
        Some('[') => letters.find(|letter| *letter == ']'),
        other => other,
    };
}

fn sign(name: &str) -> &'static str {
    match name {
        "aq" | "cq" | "oq" | "dq" | "lq" | "rq" => "'",
        "hy" | "en" | "em" | "mi" => "-",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile_draft::DraftOption;

    fn shown(page: &str) -> Vec<String> {
        let option = |option: &DraftOption| {
            format!("{} {:?} {}", option.spellings.join(" "), option.value, option.about)
        };
        of_page(page).options.iter().map(option).collect()
    }

    #[test]
    fn both_sets_of_macros_are_read() {
        let man = ".SH NAME\nacme \\- checks things\n.SH SYNOPSIS\n.B acme\n\\-x\n.SH OPTIONS\n.TP\n\\fB\\-a\\fR, \\fB\\-\\-all\\fR\ntake all\n.TP\n.BR \\-o \", \" \\-\\-output =\\fIFILE\\fR\nwrite to\n.IP \"\\fB\\-\\-color\\fR[=WHEN]\" 4\nin color\n";
        assert_eq!(
            shown(man),
            ["-a --all None take all", "-o --output Required write to", "--color Attached in color"]
        );
        assert_eq!(of_page(man).summary.as_deref(), Some("checks things"));
        let mandoc = ".Sh NAME\n.Nm acme\n.Nd checks things\n.Sh DESCRIPTION\n.It Fl o Ar file , Fl -output Ns = Ns Ar file\nwrite to\n.It Fl v\nsay more\n";
        assert_eq!(shown(mandoc), ["-o --output Required write to", "-v None say more"]);
        assert_eq!(of_page(mandoc).summary.as_deref(), Some("checks things"));
    }

    #[test]
    fn odd_pages_end_well() {
        for page in
            ["", ".", ".TP", "\\", "\\f", "\\(", "\\[", "-", "--", ".SH\n-", ".IP", "\\fB\\-", ".It Fl"]
        {
            let _ = of_page(page);
        }
    }
}
