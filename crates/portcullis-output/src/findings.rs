//! What the analysis found, for people: each finding with what would clear it and where to read on.

use portcullis_core::{FindingReport, visible};

use super::shorten::shorten;
use crate::terminal::{BOLD, DIM, Painted};

/// The most findings that are shown.
const MOST: usize = 8;

/// The longest sentence that is shown, in characters; the names in it may be of any length.
const LONGEST_SENTENCE: usize = 300;

/// Returns the lines about findings, those of one code together.
pub(super) fn finding_lines(findings: &[FindingReport]) -> Vec<String> {
    let mut distinct: Vec<&FindingReport> = Vec::new();
    let mut left_out: usize = 0;
    for found in findings {
        if distinct.iter().any(|known| is_same(known, found)) {
            continue;
        }
        if distinct.len() < MOST {
            distinct.push(found);
        } else {
            left_out += 1;
        }
    }
    let mut lines = Vec::new();
    for group in distinct.chunk_by(|one, other| has_same_title(one, other)) {
        add_group(&mut lines, group);
    }
    if left_out > 0 {
        lines.push(Painted(DIM, format_args!("… {left_out} more")).to_string());
    }
    lines
}

fn has_same_title(one: &FindingReport, other: &FindingReport) -> bool {
    one.code == other.code && one.is_requested == other.is_requested
}

fn is_same(one: &FindingReport, other: &FindingReport) -> bool {
    has_same_title(one, other) && one.sentence == other.sentence
}

/// Adds the sentences about one finding, then what is to be said for it and where to read on.
fn add_group(lines: &mut Vec<String>, group: &[&FindingReport]) {
    let Some(first) = group.first() else {
        return;
    };
    let severity = first.severity.as_str();
    for found in group {
        let sentence = shorten(&found.sentence, LONGEST_SENTENCE);
        lines.push(format!("{} {severity:<8}  {}", Painted(BOLD, first.code), visible(&sentence)));
    }
    let clearance = match first.must_name {
        _ if first.is_requested => "the user seems to have asked for it".to_owned(),
        Some(name) => format!("the user may ask for it and name {name}"),
        None => "nothing the user says lifts it".to_owned(),
    };
    let indent = " ".repeat(first.code.len() + 11);
    lines.push(format!("{indent}{}", Painted(DIM, format_args!("instead: {}", first.instead))));
    lines.push(format!("{indent}{}", Painted(DIM, clearance)));
    lines.push(format!(
        "{indent}{}",
        Painted(DIM, format_args!("explain: portcullis explain {}", first.code))
    ));
}

#[cfg(test)]
mod tests {
    use portcullis_core::{Case, Context, Mode, Policy, ToolCall};
    use pretty_assertions::assert_eq;

    use super::*;

    /// Makes a soft finding of high severity.
    fn report(code: &'static str, sentence: &str) -> FindingReport {
        let policy = Policy::of_rules(Vec::new());
        let call = ToolCall::bash("git push --force origin topic");
        let case = Case::new(call, Context::new(Mode::Default, "/code/app"));
        let verdict = case.decide(&policy).unwrap().into_verdict();
        let found = verdict.findings.into_iter().next().unwrap();
        FindingReport { code, sentence: sentence.to_owned(), must_name: Some("the branch"), ..found }
    }

    fn plain(findings: &[FindingReport]) -> Vec<String> {
        let lines = finding_lines(findings);
        lines.iter().map(|line| anstream::adapter::strip_str(line).to_string()).collect()
    }

    #[test]
    fn sightings_of_one_finding_share_what_is_said_of_it() {
        let findings =
            [report("PC007", "it does a"), report("PC007", "it does b"), report("PC007", "it does a")];
        assert_eq!(
            plain(&findings),
            [
                "PC007 high      it does a",
                "PC007 high      it does b",
                "                instead: Push the commits to a new branch, as in `git push origin HEAD:topic-2`",
                "                the user may ask for it and name the branch",
                "                explain: portcullis explain PC007",
            ]
        );
    }

    #[test]
    fn hard_and_requested_findings_say_so() {
        let hard = FindingReport { must_name: None, ..report("PC031", "it opens a shell") };
        let requested = FindingReport { is_requested: true, ..report("PC007", "it does a") };
        let lines = plain(&[hard, requested]);
        assert_eq!(lines.get(2).map(|line| line.trim()), Some("nothing the user says lifts it"));
        assert_eq!(lines.get(6).map(|line| line.trim()), Some("the user seems to have asked for it"));
    }

    #[test]
    fn many_findings_are_cut_and_hidden_characters_are_shown() {
        let findings: Vec<_> = (0..20).map(|number| report("PC007", &format!("\u{1b}{number}"))).collect();
        let lines = finding_lines(&findings);
        assert!(lines.first().is_some_and(|line| line.contains("\\u{1b}0")), "{lines:?}");
        assert_eq!(plain(&findings).last().map(String::as_str), Some("… 12 more"));
    }
}
