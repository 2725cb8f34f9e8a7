//! What fenced commands changed and nobody has answered: the difference, and keeping or dropping it.
//!
//! INVARIANT: what keeps changes asks for the same presence as every other yes.

use std::path::PathBuf;

use axum::Form;
use axum::extract::rejection::FormRejection;
use axum::extract::{Path, State};
use axum::response::Response;
use portcullis_gate::containment::{HeldRun, HeldRunChange, HeldRuns};
use portcullis_gate::daemon_client::Role;
use portcullis_gate::text_difference::{DifferenceKind, DifferenceLimit, DifferenceLine};
use portcullis_output::human::counted;
use portcullis_web::VisibleText;
use portcullis_web::pages::HeldRunPage;
use portcullis_web::views::{DifferenceLineView, HeldChangeView, HeldRunRow, Tone};

use super::visitor::Visitor;
use super::words::{LONGEST_IN_LIST, LONGEST_SESSION, moment, session_link};
use super::{PageError, respond, see_other};
use crate::access::{Anyone, Stakes};
use crate::api::blocking;
use crate::{ApiError, Shared};

/// How many changes can be ticked, and how much of the difference is shown.
const MOST_CHANGES: usize = 500;
const SHOWN: DifferenceLimit = DifferenceLimit { lines: 2_000, columns: 1_000 };

/// Lists the runs whose changes wait.
pub(super) async fn rows(daemon: &Shared) -> Result<Vec<HeldRunRow>, PageError> {
    let runs = held_runs(daemon);
    let listed = blocking(move || Ok(runs.list()?)).await?;
    Ok(listed.iter().map(row).collect())
}

/// Shows one run.
pub(super) async fn show(
    State(daemon): State<Shared>,
    visitor: Visitor,
    Path(id): Path<String>,
) -> Result<Response, PageError> {
    let runs = held_runs(&daemon);
    let (run, lines) = blocking(move || {
        let run = find(&runs, &id)?;
        let lines = runs.difference(&run.id, SHOWN)?;
        Ok((run, lines))
    })
    .await?;
    respond(&HeldRunPage {
        frame: visitor.frame("approvals", "Keep what this changed?"),
        row: row(&run),
        is_answerable: visitor.is_person(),
        changes: run.changes.iter().take(MOST_CHANGES).map(change).collect(),
        more: run.changes.len().saturating_sub(MOST_CHANGES),
        lines: lines.iter().map(line).collect(),
    })
}

/// Keeps the changes of a run or a part of them, or throws them away.
pub(super) async fn answer(
    State(daemon): State<Shared>,
    Anyone(caller): Anyone,
    Path(id): Path<String>,
    form: Result<Form<Vec<(String, String)>>, FormRejection>,
) -> Result<Response, PageError> {
    match caller.role {
        Some(Role::Person) => {}
        Some(_) => return Err(ApiError::forbidden().into()),
        None => return Err(ApiError::unauthenticated().into()),
    }
    let Form(fields) = form.map_err(|wrong| ApiError::bad_request(wrong.body_text()))?;
    let answer = HeldRunAnswer::read(&fields)?;
    let runs = held_runs(&daemon);
    let finder = runs.clone();
    let run = blocking(move || find(&finder, &id)).await?;
    if let HeldRunAnswer::Keep(_) = answer {
        let stakes = if run.is_grave() { Stakes::High } else { Stakes::Usual };
        match caller.require_presence(&daemon, stakes).await {
            Ok(()) => {}
            // The run is shown again once they did.
            Err(_) if caller.is_signed_in() => {
                return Ok(see_other(&format!("/presence?next=/runs/{}", run.id)));
            }
            Err(absent) => return Err(absent.into()),
        }
    }
    let left = blocking(move || {
        Ok(match answer {
            HeldRunAnswer::Keep(paths) => (runs.keep(&run.id, &paths)?, run.id),
            HeldRunAnswer::Drop => {
                runs.discard(&run.id)?;
                (0, run.id)
            }
        })
    })
    .await?;
    Ok(match left {
        (0, _) => see_other("/approvals"),
        (_, id) => see_other(&format!("/runs/{id}")),
    })
}

/// What a person says to the changes of a run.
#[derive(Debug, PartialEq, Eq)]
enum HeldRunAnswer {
    /// They land: those at these paths, or all if there are none.
    Keep(Vec<PathBuf>),
    /// They are thrown away.
    Drop,
}

impl HeldRunAnswer {
    /// Reads a form. Whatever is not one of the three choices is none.
    fn read(fields: &[(String, String)]) -> Result<Self, ApiError> {
        let values = |name: &'static str| {
            fields.iter().filter(move |(key, _)| key == name).map(|(_, value)| value.as_str())
        };
        let choices: Vec<&str> = values("choice").collect();
        let paths: Vec<PathBuf> = values("path").map(PathBuf::from).collect();
        match choices.as_slice() {
            ["keep"] => Ok(Self::Keep(Vec::new())),
            ["part"] if paths.is_empty() => {
                Err(ApiError::bad_request("nothing is ticked").with_hint("tick the changes that are to land"))
            }
            ["part"] => Ok(Self::Keep(paths)),
            ["drop"] => Ok(Self::Drop),
            _ => Err(ApiError::bad_request("the form does not say what the answer is")),
        }
    }
}

fn held_runs(daemon: &Shared) -> HeldRuns {
    HeldRuns::below(daemon.store.root())
}

fn find(runs: &HeldRuns, id: &str) -> Result<HeldRun, ApiError> {
    let unknown = || {
        ApiError::not_found("no changes wait under this name")
            .with_hint("they may have been kept or dropped meanwhile")
    };
    runs.find(id)?.filter(|run| run.id == id).ok_or_else(unknown)
}

fn row(run: &HeldRun) -> HeldRunRow {
    HeldRunRow {
        id: run.id.clone(),
        when: moment(run.started_at_ms),
        command: VisibleText::cut(&run.command, LONGEST_IN_LIST),
        reason: VisibleText::cut(&run.reason, LONGEST_IN_LIST),
        count: counted(run.changes.len(), "change"),
        workspace: VisibleText::from(run.workspace.as_str()),
        host: VisibleText::from(run.host.as_str()),
        session: VisibleText::cut(&run.session, LONGEST_SESSION),
        session_link: session_link(&run.session),
    }
}

fn change(change: &HeldRunChange) -> HeldChangeView {
    HeldChangeView {
        path: VisibleText::from(change.path.as_str()),
        value: change.path.clone(),
        kind: change.kind,
        tone: match change.kind {
            "added" => Tone::Allow,
            "removed" => Tone::Deny,
            _ => Tone::Ask,
        },
        warnings: change.warnings.clone(),
    }
}

fn line(line: &DifferenceLine) -> DifferenceLineView {
    let class = match line.kind {
        DifferenceKind::File => "file",
        DifferenceKind::Place | DifferenceKind::Note => "place",
        DifferenceKind::Same => "same",
        DifferenceKind::Removed => "removed",
        DifferenceKind::Added => "added",
    };
    DifferenceLineView { class, text: VisibleText::from(line.text.as_str()) }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn only_one_choice_is_an_answer_and_a_part_names_something() {
        let read = |fields: &[(&str, &str)]| {
            let owned = |(key, value): &(&str, &str)| ((*key).to_owned(), (*value).to_owned());
            HeldRunAnswer::read(&fields.iter().map(owned).collect::<Vec<_>>()).ok()
        };
        assert_eq!(read(&[("choice", "keep"), ("path", "a")]), Some(HeldRunAnswer::Keep(Vec::new())));
        assert_eq!(read(&[("choice", "drop"), ("path", "a")]), Some(HeldRunAnswer::Drop));
        let part = [("path", "a"), ("path", "b c"), ("choice", "part")];
        assert_eq!(read(&part), Some(HeldRunAnswer::Keep(vec!["a".into(), "b c".into()])));
        for wrong in
            [&[][..], &[("choice", "part")], &[("choice", "yes")], &[("choice", "keep"), ("choice", "drop")]]
        {
            assert_eq!(read(wrong), None, "{wrong:?}");
        }
    }
}
