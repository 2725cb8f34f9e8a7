//! The report as sections of tables, the same for the terminal and for HTML.

use portcullis_classifier::transcript::{CallResult, TranscriptFormat};
use portcullis_core::findings::with_code;

use super::cover::{Need, Step, choose};
use super::tally::{Answer, Counts, Example, Group, Groups, Tally};
use crate::commands::eval::percent;

/// A part of the report. All texts of it are fit for a terminal.
#[derive(Debug, Default)]
pub(super) struct Section {
    pub(super) title: String,
    /// What it says, where the table alone does not; a sentence each.
    pub(super) notes: Vec<String>,
    /// The heads of the columns; the first is for names.
    pub(super) columns: Vec<&'static str>,
    pub(super) rows: Vec<Row>,
    /// How many more rows there are.
    pub(super) more: usize,
}

/// A row of a table.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) name: String,
    /// As many as there are columns after the first.
    pub(super) cells: Vec<String>,
    /// What the bar shows, if there is one.
    pub(super) bar: Option<Counts>,
    pub(super) examples: Vec<Example>,
}

/// The heads of a table of answers.
const ANSWERS: [&str; 5] = ["calls", "allow", "model", "ask", "deny"];

/// Makes the sections of a report; `limit` is how many rows a list has.
pub(super) fn sections(tally: &Tally, limit: usize, has_other: bool) -> Vec<Section> {
    let mut sections =
        vec![totals(tally), by_host(tally), by_mode(tally), by_step(tally), by_tool(tally, limit)];
    sections.extend([
        prompts(tally, limit),
        stubborn(tally, limit),
        denied(tally, limit),
        findings(tally, limit),
    ]);
    sections.push(fates(tally));
    sections.retain(|section| !section.rows.is_empty());
    if has_other {
        sections.push(changes(tally));
    }
    sections.push(files(tally));
    sections
}

/// Returns the name of a host as people know it.
pub(super) const fn host_name(format: TranscriptFormat) -> &'static str {
    match format {
        TranscriptFormat::Claude => "Claude Code",
        TranscriptFormat::Codex => "Codex",
        TranscriptFormat::Gemini => "Gemini CLI",
        TranscriptFormat::Plain => "plain",
    }
}

/// What became of a call, in the order of the columns; `None` is what is not on record.
pub(super) const FATES: [(Option<CallResult>, &str); 6] = [
    (Some(CallResult::Ran), "ran"),
    (Some(CallResult::Failed), "failed"),
    (Some(CallResult::Rejected), "rejected"),
    (Some(CallResult::DeniedByRule), "denied"),
    (Some(CallResult::Blocked), "blocked"),
    (None, "unknown"),
];

fn share(part: usize, whole: usize) -> String {
    format!("{part} ({})", percent(part, whole))
}

fn counts_row(name: String, counts: Counts, examples: Vec<Example>) -> Row {
    let mut cells = vec![counts.all().to_string()];
    cells.extend(Answer::ALL.map(|answer| share(counts.of(answer), counts.all())));
    Row { name, cells, bar: Some(counts), examples }
}

fn counts_section(title: &str, head: &'static str, rows: Vec<Row>) -> Section {
    let columns = std::iter::once(head).chain(ANSWERS).collect();
    Section { title: title.to_owned(), columns, rows, ..Section::default() }
}

fn totals(tally: &Tally) -> Section {
    let row = counts_row("all calls".to_owned(), tally.total, Vec::new());
    let mut section = counts_section("What today's policy answers", "what", vec![row]);
    let mut note = |count: usize, words: &str| {
        if count > 0 {
            section.notes.push(format!("{count} {words}"));
        }
    };
    note(tally.total.of(Answer::Model), "calls are left to the model, which was not asked");
    note(tally.left_out, "calls are left out by --since and --until");
    note(tally.unjudged, "calls could not be judged, because their settings cannot be used");
    section
}

fn by_host(tally: &Tally) -> Section {
    let rows = tally
        .by_host
        .iter()
        .map(|(host, counts)| counts_row(host_name(*host).to_owned(), *counts, Vec::new()));
    counts_section("By agent", "agent", rows.collect())
}

fn by_mode(tally: &Tally) -> Section {
    let rows = tally.by_mode.iter().map(|(mode, counts)| counts_row(mode.to_string(), *counts, Vec::new()));
    counts_section("By mode", "mode", rows.collect())
}

fn by_step(tally: &Tally) -> Section {
    let rows = tally
        .by_step
        .iter()
        .map(|(step, counts)| counts_row(format!("{step} {}", step.name()), *counts, Vec::new()));
    counts_section("By what decided it", "step", rows.collect())
}

fn by_tool(tally: &Tally, limit: usize) -> Section {
    let all = tally.by_tool.by_size();
    let rows = all.iter().take(limit).map(|(tool, counts)| counts_row(shown(tool), *counts, Vec::new()));
    let section = counts_section("By tool", "tool", rows.collect());
    let notes = cut(tally.by_tool.left_out).into_iter().collect();
    Section { more: all.len().saturating_sub(limit), notes, ..section }
}

fn shown(text: &str) -> String {
    portcullis_core::visible(text).into_owned()
}

/// Says that a list could not hold everything.
fn cut(left_out: usize) -> Option<String> {
    (left_out > 0).then(|| format!("{left_out} calls found no room in the list"))
}

/// Makes a list of groups with examples, the largest first.
fn list<K: Ord + Clone>(
    title: &str,
    head: &'static str,
    groups: &Groups<K>,
    limit: usize,
    name: impl Fn(&K) -> String,
) -> Section {
    let all = groups.by_size();
    let rows = all.iter().take(limit).map(|(key, group)| Row {
        name: name(key),
        cells: vec![group.counts.all().to_string()],
        bar: None,
        examples: group.examples.clone(),
    });
    Section {
        title: title.to_owned(),
        notes: cut(groups.left_out).into_iter().collect(),
        columns: vec![head, "calls"],
        rows: rows.collect(),
        more: all.len().saturating_sub(limit),
    }
}

/// Rules that end prompts, with what they end.
#[derive(Debug)]
pub(super) struct Bundle<'a> {
    pub(super) rules: Vec<&'a str>,
    /// How many prompts they end, given the rules before.
    pub(super) ends: usize,
    /// How many prompts have ended with them and the rules before.
    pub(super) ended: usize,
    pub(super) examples: Vec<Example>,
}

/// Chooses the rules that end the most prompts.
pub(super) fn bundles<'a>(tally: &'a Tally, limit: usize) -> Vec<Bundle<'a>> {
    let groups: Vec<(&'a Vec<String>, &Group)> = tally.prompts.iter().collect();
    let needs: Vec<Need<'a>> =
        groups.iter().map(|(rules, group)| Need { rules, prompts: group.counts.all() }).collect();
    let mut ended = 0;
    let bundle = |step: Step<'a>| {
        ended += step.ends;
        let mut all = Group::default();
        for (_, group) in step.needs.iter().filter_map(|index| groups.get(*index)) {
            all.take_examples(group);
        }
        Bundle { rules: step.rules, ends: step.ends, ended, examples: all.examples }
    };
    choose(&needs, limit).into_iter().map(bundle).collect()
}

fn prompts(tally: &Tally, limit: usize) -> Section {
    let asked = tally.total.of(Answer::Ask);
    let chosen = bundles(tally, limit);
    let rows = chosen.iter().map(|bundle| Row {
        name: shown(&bundle.rules.join("  ")),
        cells: vec![bundle.ends.to_string(), share(bundle.ended, asked)],
        bar: None,
        examples: bundle.examples.clone(),
    });
    let mut notes = vec![format!(
        "{asked} prompts: each row names allow rules, how many prompts they end after the rows before, and the sum"
    )];
    if tally.run_by_edits > 0 {
        notes.push(format!("mode acceptEdits would answer {}", share(tally.run_by_edits, asked)));
    }
    notes.extend(cut(tally.prompts.left_out));
    Section {
        title: "The most annoying prompts and the rules that end them".to_owned(),
        notes,
        columns: vec!["allow rules", "ends", "so far"],
        rows: rows.collect(),
        more: 0,
    }
}

fn stubborn(tally: &Tally, limit: usize) -> Section {
    list("Prompts that no rule should end", "why", &tally.stubborn, limit, |why| titled(why))
}

fn denied(tally: &Tally, limit: usize) -> Section {
    list("Denied", "why", &tally.denied, limit, |why| titled(why))
}

/// Adds to the code of a finding what it is about.
fn titled(why: &str) -> String {
    match with_code(why) {
        Some(finding) => format!("{why} {}", finding.title),
        None => shown(why),
    }
}

fn findings(tally: &Tally, limit: usize) -> Section {
    let all = tally.findings.by_size();
    let rows = all
        .iter()
        .take(limit)
        .map(|(code, group)| counts_row(titled(code), group.counts, group.examples.clone()));
    let section = counts_section("What the analysis found", "finding", rows.collect());
    let notes = cut(tally.findings.left_out).into_iter().collect();
    Section { more: all.len().saturating_sub(limit), notes, ..section }
}

fn fates(tally: &Tally) -> Section {
    let row = |answer: Answer| {
        let number = |fate| tally.fates.get(&(fate, answer)).copied().unwrap_or_default();
        let cells = FATES.map(|(fate, _)| number(fate).to_string()).to_vec();
        Row { name: answer.as_str().to_owned(), cells, bar: None, examples: Vec::new() }
    };
    let rows = if tally.fates.keys().any(|(fate, _)| fate.is_some()) {
        Answer::ALL.map(row).into_iter().collect()
    } else {
        Vec::new()
    };
    Section {
        title: "What happened then".to_owned(),
        notes: vec![
            "rejected: by the user; denied: by a rule; blocked: by the agent's own auto mode; unknown: not on record"
                .to_owned(),
        ],
        columns: std::iter::once("today").chain(FATES.map(|(_, name)| name)).collect(),
        rows,
        more: 0,
    }
}

fn changes(tally: &Tally) -> Section {
    let rows = tally.changes.iter().map(|((before, after), group)| Row {
        name: format!("{} → {}", before.as_str(), after.as_str()),
        cells: vec![group.counts.all().to_string()],
        bar: None,
        examples: group.examples.clone(),
    });
    let changed: usize = tally.changes.values().map(|group| group.counts.all()).sum();
    Section {
        title: "What would change with the compared settings".to_owned(),
        notes: vec![format!("{} calls would be answered differently", share(changed, tally.total.all()))],
        columns: vec!["change", "calls"],
        rows: rows.collect(),
        more: 0,
    }
}

fn files(tally: &Tally) -> Section {
    let row = |(name, count): (&str, usize)| Row {
        name: name.to_owned(),
        cells: vec![count.to_string()],
        bar: None,
        examples: Vec::new(),
    };
    let rows = [
        ("sessions read", tally.sessions),
        ("other files", tally.others),
        ("files that could not be read as sessions", tally.failed),
        ("lines not understood", tally.skipped),
        ("lines too long to be read", tally.too_long),
    ];
    let rows = rows.into_iter().enumerate().filter(|(index, (_, count))| *index == 0 || *count > 0);
    Section {
        title: "Files".to_owned(),
        notes: tally.problems.clone(),
        columns: vec!["what", "how many"],
        rows: rows.map(|(_, named)| row(named)).collect(),
        more: 0,
    }
}
