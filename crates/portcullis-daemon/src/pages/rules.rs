//! The rules in force, what is wrong with them, a call to try, and changing the user's and a project's rules.

use axum::Form;
use axum::extract::{Query, State};
use axum::response::Response;
use portcullis_core::rule::{Behavior, Rule};
use portcullis_core::{MODES, Person, RuleReference};
use portcullis_settings::{EditReport, LineSide, ProblemSeverity, SettingsOwner, SettingsProblem};
use portcullis_web::VisibleText;
use portcullis_web::pages::{RulesPage, TrialView};
use portcullis_web::views::{FormChoice, PageNotice, ProblemView, RuleView, Tone};
use serde::Deserialize;

use super::visitor::{Answerer, Visitor, notice};
use super::words::choice;
use super::{PageError, capital, respond, verdict};
use crate::api::blocking;
use crate::api::rules::{Edit, RuleEdit, call_of, mode, open};
use crate::{ApiError, Daemon, Shared};
use portcullis_gate::SessionSettings;
use portcullis_gate::judge::Trial;
use portcullis_output::rules::{lints, rows};

/// What the page shows, as it stands in its address.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct RulesQuery {
    cwd: String,
    tool: String,
    call: String,
    mode: String,
}

/// Shows the page.
pub(super) async fn show(
    State(daemon): State<Shared>,
    visitor: Visitor,
    Query(query): Query<RulesQuery>,
) -> Result<Response, PageError> {
    page(daemon, visitor, query, None).await
}

/// What a form sends.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ChangeForm {
    #[serde(rename = "do")]
    what: String,
    behavior: String,
    rule: String,
    source: String,
    cwd: String,
}

/// Writes a rule or takes one out, and shows the page with what came of it.
pub(super) async fn change(
    State(daemon): State<Shared>,
    Answerer(caller): Answerer,
    Form(form): Form<ChangeForm>,
) -> Result<Response, PageError> {
    let what = match form.what.as_str() {
        "add" => Edit::Add,
        "remove" => Edit::Remove,
        _ => return Err(ApiError::bad_request("the form does not say what to do").into()),
    };
    let query = RulesQuery { cwd: form.cwd.clone(), ..RulesQuery::default() };
    let edit = RuleEdit {
        behavior: form.behavior,
        rule: form.rule.trim().to_owned(),
        source: form.source,
        cwd: form.cwd,
    };
    let done = blocking(move || edit.apply(what).map(|report| told(what, &report))).await;
    let visitor = Visitor::new(&daemon, caller);
    page(daemon, visitor, query, Some(notice(done.map_err(PageError::from)))).await
}

/// Words an edit: the file and the lines that differ.
fn told(what: Edit, report: &EditReport) -> String {
    let file = report.file.display();
    if !report.changed {
        return format!("Nothing had to be changed in {file}.");
    }
    let lines: Vec<String> = report
        .lines
        .iter()
        .map(|line| {
            let sign = if line.side == LineSide::Before { '-' } else { '+' };
            format!("{sign} {}", line.text.trim())
        })
        .collect();
    let done = if what == Edit::Add { "Written to" } else { "Taken out of" };
    format!("{done} {file}\n{}", lines.join("\n"))
}

async fn page(
    daemon: Shared,
    visitor: Visitor,
    query: RulesQuery,
    notice: Option<PageNotice>,
) -> Result<Response, PageError> {
    let mut frame = visitor.frame("rules", "Rules");
    frame.notice = notice;
    let page = blocking(move || {
        let session = open(&daemon, &query.cwd, "")?;
        Ok(RulesPage {
            groups: groups(&session),
            problems: session.loaded.problems.iter().map(problem).collect(),
            lints: lint_views(&session),
            ignored: session.loaded.ignored.iter().map(|one| VisibleText::from(one.to_string())).collect(),
            sources: sources(&query.cwd),
            trial: trial(&session, &query),
            policy: policy(&daemon),
            cwd: query.cwd,
            frame,
        })
    });
    respond(&page.await?)
}

fn groups(session: &SessionSettings) -> Vec<(&'static str, Tone, Vec<RuleView>)> {
    let all = rows(session);
    let titles = [
        (Behavior::Deny, "Deny", Tone::Deny),
        (Behavior::Ask, "Ask", Tone::Ask),
        (Behavior::Allow, "Allow", Tone::Allow),
    ];
    let group = |(behavior, title, tone)| {
        let rules = all.iter().filter(|row| row.rule.behavior == behavior);
        let view = |row: &portcullis_output::rules::RuleRow<'_>| RuleView {
            note: VisibleText::from(if row.suspended_in_auto { "not in auto mode" } else { "" }),
            ..rule_view(session, row.rule)
        };
        (title, tone, rules.map(view).collect())
    };
    titles.map(group).into()
}

fn rule_view(session: &SessionSettings, rule: &Rule) -> RuleView {
    let shown = reference_view(&RuleReference::from(rule));
    RuleView { exact: rule.source_text.clone(), removable: removable(session, rule), ..shown }
}

fn reference_view(rule: &RuleReference) -> RuleView {
    RuleView {
        text: VisibleText::from(rule.text.as_str()),
        behavior: VisibleText::from(rule.behavior.as_str()),
        tone: Tone::of(rule.behavior.as_str()),
        origin: VisibleText::from(format!("{}, {}", rule.origin.source, rule.origin)),
        ..RuleView::default()
    }
}

/// Returns the source a rule can be removed from; empty if none of its files is where the rule stands.
fn removable(session: &SessionSettings, rule: &Rule) -> String {
    let source = rule.origin.source;
    if !source.is_editable() {
        return String::new();
    }
    let stands_in = |owner| {
        let file = session.locations.file(source, owner);
        file.is_some_and(|file| file.path.to_str() == rule.origin.file.as_deref())
    };
    if stands_in(SettingsOwner::Portcullis) {
        source.as_str().to_owned()
    } else if stands_in(SettingsOwner::ClaudeCode) {
        format!("{source}:claude")
    } else {
        String::new()
    }
}

fn problem(problem: &SettingsProblem) -> ProblemView {
    let place = problem.place.as_ref().map(|place| format!(":{}:{}", place.line, place.column));
    let file = problem.file.as_deref().unwrap_or_default();
    ProblemView {
        kind: VisibleText::from(problem.severity.as_str()),
        tone: match problem.severity {
            ProblemSeverity::Error => Tone::Deny,
            ProblemSeverity::Warning => Tone::Ask,
            ProblemSeverity::Note => Tone::Plain,
        },
        message: VisibleText::from(problem.message.as_str()),
        place: VisibleText::from(format!("{file}{}", place.unwrap_or_default())),
        fix: VisibleText::from(problem.hint.as_deref().unwrap_or_default()),
    }
}

fn lint_views(session: &SessionSettings) -> Vec<ProblemView> {
    let rules = session.policy().rules.rules();
    let view = |lint: portcullis_core::rule::Lint| {
        let named = [Some(lint.rule), lint.other].into_iter().flatten().filter_map(|index| rules.get(index));
        let places = named.map(|rule| format!("{} ({}, {})", rule.source_text, rule.behavior, rule.origin));
        ProblemView {
            kind: VisibleText::from(lint.kind.as_str()),
            tone: Tone::Ask,
            message: VisibleText::from(lint.message),
            place: VisibleText::from(places.collect::<Vec<_>>().join(" · ")),
            fix: VisibleText::from(format!("Fix: {}", lint.fix)),
        }
    };
    lints(session).into_iter().map(view).collect()
}

fn sources(cwd: &str) -> Vec<FormChoice> {
    let mut all = vec![choice("user", "my settings", "user")];
    if !cwd.is_empty() {
        all.push(choice("project", "the project’s settings", "user"));
        all.push(choice("local", "the project’s local settings", "user"));
    }
    all
}

fn trial(session: &SessionSettings, query: &RulesQuery) -> TrialView {
    let own = std::iter::once(choice("", "as settings say", &query.mode));
    let modes = own.chain(MODES.iter().map(|info| choice(info.name, info.name, &query.mode))).collect();
    let shown =
        TrialView { tool: query.tool.clone(), call: query.call.clone(), modes, ..TrialView::default() };
    if query.call.trim().is_empty() {
        return shown;
    }
    let tried = call_of(&query.tool, &query.call)
        .and_then(|call| Ok(Trial::new(session, call, mode(&query.mode)?, Person::Present)?));
    match tried {
        Err(error) => TrialView { problem: VisibleText::from(capital(&error.message)), ..shown },
        Ok(tried) => TrialView {
            matching: tried
                .rules(session)
                .iter()
                .filter(|one| one.matches)
                .map(|one| (reference_view(&one.rule), VisibleText::from(one.detail.as_str())))
                .collect(),
            verdict: Some(verdict::of_trial(&tried)),
            ..shown
        },
    }
}

/// Words the policy that was pushed to the fleet.
fn policy(daemon: &Daemon) -> VisibleText {
    match daemon.store.backend().latest_policy() {
        Ok(Some(policy)) => {
            let note = if policy.note.is_empty() { String::new() } else { format!(": {}", policy.note) };
            VisibleText::from(format!("Managed policy, version {}{note}", policy.version))
        }
        // Without a policy there is nothing to say, and a store that fails says so on every other page.
        Ok(None) | Err(_) => VisibleText::default(),
    }
}
