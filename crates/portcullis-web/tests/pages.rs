//! Pages with hostile values: what comes from outside stays text, and no page names another host or runs anything inline.
#![cfg(test)]

use portcullis_web::charts::{BarChart, ChartBar, ChartLine, ChartSeries, ColumnChart, ColumnChartData};
use portcullis_web::pages::{
    ApprovalPage, ApprovalsPage, DecisionPage, DecisionsPage, DonePage, ErrorPage, FindingPage, HeldRunPage,
    LivePage, LoginPage, PresencePage, RulesPage, SessionPage, SessionsPage, StatsPage, TodayView, TrialView,
};
use portcullis_web::views::{
    ApprovalRow, CommandLine, CommandPart, DecisionRow, DifferenceLineView, EffectView, ExplanationView,
    FigureTile, FindingView, FormChoice, GrantView, HeldChangeView, HeldRunRow, ModelView, PageFrame,
    PageNotice, ProblemView, Property, RuleView, SessionRow, SuggestionView, TimeView, Tone, TraceView,
    VerdictView,
};
use portcullis_web::{Template, VisibleText, link};

/// What an attacker writes into a command, a name, a reason.
const HOSTILE: &str =
    "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>&amp;\u{202e}\u{1b}[2J{{ 7 * 7 }}";

/// What stands where only our own words do, and is escaped all the same.
const MARKUP: &str = "<script>alert(1)</script>\"'>";

fn text() -> VisibleText {
    VisibleText::from(HOSTILE)
}

fn frame() -> PageFrame {
    PageFrame {
        title: text(),
        section: "live",
        caller: text(),
        is_person: true,
        open_approvals: 3,
        notice: Some(PageNotice { is_good: false, text: text(), hint: text() }),
    }
}

fn moment() -> TimeView {
    TimeView { at_ms: 1_760_000_000_000, utc: "2025-10-09 08:53:20 UTC".to_owned() }
}

fn decision_row() -> DecisionRow {
    DecisionRow {
        id: "01ABC".to_owned(),
        when: moment(),
        decision: text(),
        told: Some(text()),
        tool: text(),
        summary: text(),
        reason: text(),
        host: text(),
        step: text(),
        session: text(),
        session_link: link(&format!("/sessions/{}", portcullis_web::segment(HOSTILE)), &[]),
        tone: Tone::Deny,
    }
}

fn rule() -> RuleView {
    RuleView {
        text: text(),
        exact: HOSTILE.to_owned(),
        behavior: text(),
        tone: Tone::Allow,
        origin: text(),
        removable: HOSTILE.to_owned(),
        note: text(),
    }
}

fn verdict() -> VerdictView {
    VerdictView {
        decision: text(),
        tone: Tone::Ask,
        reason: text(),
        tool: text(),
        lines: vec![
            CommandLine {
                number: 1,
                parts: vec![
                    CommandPart { text: text(), is_marked: true },
                    CommandPart { text: text(), is_marked: false },
                ],
            },
            CommandLine { number: 2, parts: Vec::new() },
        ],
        note: text(),
        rule: Some(rule()),
        step: text(),
        effects: vec![EffectView { act: text(), clause: text(), is_possible: true }],
        has_more_effects: true,
        findings: vec![FindingView {
            code: text(),
            link: "/findings/PC007".to_owned(),
            sentence: text(),
            severity: text(),
            is_requested: true,
        }],
        trace: vec![TraceView {
            step: text(),
            name: "safety check",
            outcome: text(),
            tone: Tone::Deny,
            detail: text(),
        }],
        models: vec![ModelView { model: text(), stage: text(), outcome: text(), ..ModelView::default() }],
        suggestions: vec![SuggestionView {
            behavior: text(),
            tone: Tone::Allow,
            rule: HOSTILE.to_owned(),
            text: text(),
            is_addable: true,
        }],
    }
}

fn approval_row(state: &'static str) -> ApprovalRow {
    ApprovalRow {
        id: "a1".to_owned(),
        state,
        summary: text(),
        reason: text(),
        level: VisibleText::from("HIGH"),
        cwd: text(),
        host: text(),
        session: text(),
        session_link: "/sessions/x".to_owned(),
        answered: text(),
        ..ApprovalRow::default()
    }
}

fn approval(state: &'static str) -> ApprovalPage {
    ApprovalPage {
        frame: frame(),
        row: approval_row(state),
        is_answerable: true,
        key: HOSTILE.to_owned(),
        verdict: verdict(),
        explanation: Some(ExplanationView { explanation: text(), reasoning: text(), risk: text() }),
        rules: vec![FormChoice { value: HOSTILE.to_owned(), label: text(), is_chosen: true }],
        message: text(),
        rule: text(),
        properties: properties(),
    }
}

fn properties() -> Vec<Property> {
    vec![Property { name: "directory", value: text(), link: String::new() }]
}

fn columns() -> ColumnChart {
    let of = ColumnChartData {
        title: "Decisions",
        description: MARKUP.to_owned(),
        axis: "time",
        labels: vec![MARKUP.to_owned(), "b".to_owned()],
        series: vec![ChartSeries { name: "allowed", class: "allow", values: vec![3, 0] }],
    };
    let line = ChartLine {
        name: "cost",
        class: "ask",
        values: vec![1, 2_000_000],
        words: vec![MARKUP.to_owned(), "$2".to_owned()],
    };
    ColumnChart::new(of, Some(line))
}

fn bars() -> BarChart {
    let bar = ChartBar { name: text(), count: 7, detail: text() };
    BarChart::new("Asked most", "calls", "rule", "ask", vec![bar])
}

fn tiles() -> Vec<FigureTile> {
    vec![FigureTile {
        name: "Allowed",
        figure: MARKUP.to_owned(),
        detail: MARKUP.to_owned(),
        ..FigureTile::default()
    }]
}

fn rules() -> RulesPage {
    RulesPage {
        frame: frame(),
        cwd: HOSTILE.to_owned(),
        groups: vec![("Allow", Tone::Allow, vec![rule()])],
        problems: vec![problem()],
        lints: vec![problem()],
        ignored: vec![text()],
        sources: vec![FormChoice { value: "user".to_owned(), label: text(), is_chosen: true }],
        trial: TrialView {
            tool: HOSTILE.to_owned(),
            call: HOSTILE.to_owned(),
            modes: Vec::new(),
            problem: text(),
            verdict: Some(verdict()),
            matching: vec![(rule(), text())],
        },
        policy: text(),
    }
}

fn problem() -> ProblemView {
    ProblemView { kind: text(), tone: Tone::Ask, message: text(), place: text(), fix: text() }
}

fn lists() -> Vec<(&'static str, String)> {
    let rows = || vec![decision_row()];
    vec![
        ("live", LivePage { frame: frame(), tiles: tiles(), rows: rows() }.render().unwrap()),
        ("decisions", {
            let page = DecisionsPage {
                frame: frame(),
                problem: text(),
                choices: vec![(
                    "decision",
                    "Decision",
                    vec![FormChoice { label: text(), ..FormChoice::default() }],
                )],
                texts: vec![
                    ("text", "Search", HOSTILE.to_owned(), "x"),
                    ("host", "Host", HOSTILE.to_owned(), "y"),
                ],
                has_more_filters: true,
                rows: rows(),
                count: "1".to_owned(),
                older: link("/decisions", &[("text", HOSTILE)]),
                newest: "/decisions".to_owned(),
            };
            page.render().unwrap()
        }),
        ("sessions", {
            let row =
                SessionRow { name: text(), host: text(), cwd: text(), mode: text(), ..SessionRow::default() };
            SessionsPage { frame: frame(), rows: vec![row], cut_at: None }.render().unwrap()
        }),
        ("approvals", {
            let page = ApprovalsPage {
                cut_at: None,
                frame: frame(),
                open: vec![approval_row("open")],
                done: vec![approval_row("denied")],
                held: vec![held_run_row()],
            };
            page.render().unwrap()
        }),
        ("held run", {
            let change = HeldChangeView {
                path: text(),
                value: HOSTILE.to_owned(),
                kind: "modified",
                tone: Tone::Ask,
                warnings: vec![MARKUP],
            };
            let page = HeldRunPage {
                frame: frame(),
                row: held_run_row(),
                is_answerable: true,
                changes: vec![change],
                more: 3,
                lines: vec![DifferenceLineView { class: "added", text: text() }],
            };
            page.render().unwrap()
        }),
    ]
}

fn held_run_row() -> HeldRunRow {
    HeldRunRow {
        id: "3fa9".to_owned(),
        when: moment(),
        command: text(),
        reason: text(),
        count: MARKUP.to_owned(),
        workspace: text(),
        host: text(),
        session: text(),
        session_link: link(&format!("/sessions/{}", portcullis_web::segment(HOSTILE)), &[]),
    }
}

fn all() -> Vec<(&'static str, String)> {
    let mut pages = lists();
    let decision = DecisionPage {
        frame: frame(),
        id: text(),
        when: moment(),
        told: Some(text()),
        verdict: verdict(),
        today: Some(TodayView { verdict: Some(verdict()), problem: text() }),
        properties: properties(),
        cwd: HOSTILE.to_owned(),
        raw: text(),
        hash: text(),
        previous: text(),
    };
    let session = SessionPage {
        frame: frame(),
        id: text(),
        tiles: tiles(),
        properties: properties(),
        approvals: vec![approval_row("open")],
        grants: vec![GrantView { rule: text(), terms: text(), behavior: text(), ..GrantView::default() }],
        boundaries: vec![text()],
        rows: vec![decision_row()],
        all: "/decisions".to_owned(),
        here: HOSTILE.to_owned(),
    };
    let stats = StatsPage {
        frame: frame(),
        ranges: vec![FormChoice { value: "day".to_owned(), label: text(), is_chosen: true }],
        tiles: tiles(),
        decisions: columns(),
        models: columns(),
        latencies: columns(),
        asked: bars(),
        denied: bars(),
    };
    pages.extend([
        ("decision", decision.render().unwrap()),
        ("session", session.render().unwrap()),
        ("approval", approval("open").render().unwrap()),
        ("answered", approval("denied").render().unwrap()),
        ("stats", stats.render().unwrap()),
        ("rules", rules().render().unwrap()),
        ("finding", FindingPage { frame: frame(), heading: text(), text: text() }.render().unwrap()),
        ("login", LoginPage { frame: frame(), problem: text(), code: HOSTILE.to_owned() }.render().unwrap()),
        (
            "presence",
            PresencePage { frame: frame(), problem: text(), next: HOSTILE.to_owned(), is_proven: true }
                .render()
                .unwrap(),
        ),
        ("error", ErrorPage { frame: frame(), status: 404, message: text(), hint: text() }.render().unwrap()),
        ("done", DonePage { frame: frame(), tone: Tone::Allow, message: text() }.render().unwrap()),
    ]);
    pages
}

/// Returns the tags of a page, so that what stands in text is left out.
fn tags(html: &str) -> Vec<&str> {
    html.split('<').skip(1).map(|rest| rest.split('>').next().unwrap_or_default()).collect()
}

/// Returns a page without the values of attributes and without the text of fields, which a form sends back as they were.
fn without_values(html: &str) -> String {
    let mut out = String::new();
    let mut is_quoted = false;
    let mut is_tag = false;
    for character in html.chars() {
        match character {
            '<' if !is_quoted => is_tag = true,
            '>' if !is_quoted => is_tag = false,
            '"' if is_tag => is_quoted = !is_quoted,
            _ if is_quoted => continue,
            _ => {}
        }
        out.push(character);
    }
    let parts = out.split("<textarea").enumerate();
    parts
        .map(
            |(at, part)| {
                if at == 0 { part } else { part.split_once("</textarea>").map_or("", |(_, rest)| rest) }
            },
        )
        .collect()
}

#[test]
fn what_comes_from_outside_stays_text() {
    for (name, html) in all() {
        assert!(!html.contains("<script>alert"), "{name}");
        assert!(!html.contains("<img src=x"), "{name}");
        assert!(html.contains("{{ 7 * 7 }}"), "{name}: a text was taken for a template");
        assert!(!without_values(&html).contains(['\u{1b}', '\u{202e}']), "{name}: a hidden character");
        assert!(html.contains("\\u{202e}"), "{name}: hidden characters are shown");
        assert!(html.contains("&#60;script&#62;alert(1)"), "{name}");
    }
}

#[test]
fn attributes_cannot_be_left() {
    for (name, html) in all() {
        for tag in tags(&html) {
            // A quote of the attacker's would end an attribute, and what follows would be one of its own.
            assert!(!without_values(&format!("<{tag}>")).contains("onerror"), "{name}: {tag}");
            assert_eq!(tag.matches('"').count() % 2, 0, "{name}: {tag}");
        }
    }
}

#[test]
fn no_page_runs_or_styles_anything_inline_or_names_another_host() {
    for (name, html) in all() {
        for tag in tags(&html) {
            let element = tag.split([' ', '/']).next().unwrap_or_default();
            assert_ne!(element, "style", "{name}");
            assert!(element != "script" || tag.contains("src=\"/assets/app.js"), "{name}: {tag}");
            for attribute in [" style=", " onclick=", " onload=", " onsubmit=", " srcdoc="] {
                assert!(!tag.contains(attribute), "{name}: {tag}");
            }
            for address in [" href=\"", " src=\"", " action=\""] {
                for rest in tag.split(address).skip(1) {
                    let is_ours = rest.starts_with('/') && !rest.starts_with("//") || rest.starts_with('#');
                    assert!(is_ours || rest.starts_with('"'), "{name}: {tag}");
                }
            }
        }
    }
}

#[test]
fn every_form_that_changes_something_shows_where_it_comes_from() {
    for (name, html) in all() {
        for form in html.split("<form").skip(1) {
            let form = form.split("</form>").next().unwrap_or_default();
            // Whoever signs in has nothing yet that others could use.
            if form.contains("method=\"post\"") && !form.contains("action=\"/login\"") {
                assert!(form.contains("name=\"csrf\""), "{name}: {form}");
            }
        }
    }
}

#[test]
fn a_page_is_a_document_with_landmarks_and_one_heading() {
    for (name, html) in all() {
        assert!(html.starts_with("<!doctype html>"), "{name}");
        for part in
            ["<html lang=\"en\">", "<main id=\"main\"", "class=\"skip\"", "<header", "name=\"viewport\""]
        {
            assert!(html.contains(part), "{name}: {part}");
        }
        assert_eq!(html.matches("<h1").count(), 1, "{name}");
        for block in ["section", "div", "form", "details", "aside", "ol", "ul", "figure", "svg", "table"] {
            let opened =
                tags(&html).iter().filter(|tag| tag.split([' ', '\n']).next() == Some(block)).count();
            assert_eq!(opened, html.matches(&format!("</{block}>")).count(), "{name}: {block}");
        }
    }
}

#[test]
fn a_question_that_is_over_has_no_buttons() {
    let html = approval("denied").render().unwrap();
    assert!(!html.contains("name=\"choice\""));
    let reader = ApprovalPage { is_answerable: false, ..approval("open") };
    assert!(!reader.render().unwrap().contains("name=\"choice\""));
}

#[test]
fn the_return_key_answers_nothing() {
    let html = approval("open").render().unwrap();
    let form = html.split("id=\"answer\"").nth(1).unwrap();
    // A browser takes the first button of a form for the return key; a disabled one does nothing.
    let first = form.split("<button").nth(1).unwrap();
    assert!(first.starts_with(" disabled"), "{first}");
}

#[test]
fn charts_are_told_in_words_and_figures_too() {
    let (_, html) = all().into_iter().find(|(name, _)| *name == "stats").unwrap();
    assert_eq!(html.matches("<svg").count(), 5);
    assert_eq!(html.matches("<desc>").count(), 5);
    assert_eq!(html.matches("<table>").count(), 5);
    assert!(html.contains("role=\"img\""));
}
