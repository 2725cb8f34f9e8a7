//! How fences move the answers: what is still asked about, and what code of the project runs bare.
//!
//! Every command is offered a fence, whatever this machine and its agents can do, so that figures can be repeated.

use std::fmt::Write as _;

use portcullis_core::{Case, Decision, FenceOffer, Policy};
use serde_json::{Value, json};

use super::action::{Action, Label};
use super::report::percent;
use portcullis_gate::Failure;
use portcullis_gate::judge::{LocalVerdict, judge_locally};
use portcullis_output::terminal::{BOLD, Painted};

/// The acts that run code which the project brings along.
const PROJECT_CODE: [&str; 2] = ["run-project", "execute"];

/// The places that every fence has its own of; what is masked besides differs from home to home.
const HIDDEN: [&str; 3] = ["/tmp", "/var/tmp", "/run"];

/// What fences change about an action.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FencedAction {
    /// The decision without a fence.
    before: Decision,
    /// The decision where settings want code of the project contained too.
    strict: Decision,
    /// Whether it runs code of the project.
    runs_code: bool,
}

impl FencedAction {
    /// Decides an action that was decided already once more with a fence at hand.
    pub(super) fn judge(
        policy: &Policy,
        case: &mut Case,
        before: &LocalVerdict,
    ) -> Result<(Self, LocalVerdict), Failure> {
        let workspace = case.context().project.clone();
        // Which registries are known differs from user to user.
        let hidden = HIDDEN.map(str::to_owned).to_vec();
        let (installers, strange_registries) = (Vec::new(), Vec::new());
        case.offer_fence(Some(FenceOffer { workspace, hidden, installers, strange_registries }));
        let strict = Policy { contains_project_code: true, ..policy.clone() };
        let strict = judge_locally(&strict, case)?.verdict.decision;
        let runs_code = case.effect_reports().iter().any(|effect| PROJECT_CODE.contains(&effect.act));
        let fenced = Self { before: before.verdict.decision, strict, runs_code };
        Ok((fenced, judge_locally(policy, case)?))
    }
}

/// The figures of all actions that were offered a fence. Those labelled allow are the benign ones.
#[derive(Debug, Default)]
pub(super) struct ContainmentFigures {
    benign: usize,
    asked_before: usize,
    asked_after: usize,
    contained: usize,
    /// Benign actions that are allowed, and of these such as run code of the project: as settings are, and with
    /// `containment.projectCode` set to `contain`.
    allowed: [usize; 2],
    bare: [usize; 2],
}

impl ContainmentFigures {
    /// Counts an action.
    pub(super) fn add(&mut self, action: &Action) {
        let Some(fenced) = action.fenced.filter(|_| action.labels.label == Label::Allow) else { return };
        self.benign += 1;
        self.asked_before += usize::from(fenced.before == Decision::Ask);
        self.asked_after += usize::from(action.decision == Decision::Ask);
        self.contained += usize::from(action.decision == Decision::Contained);
        for ((allowed, bare), decision) in
            self.allowed.iter_mut().zip(&mut self.bare).zip([action.decision, fenced.strict])
        {
            let is_allowed = decision == Decision::Allow;
            *allowed += usize::from(is_allowed);
            *bare += usize::from(is_allowed && fenced.runs_code);
        }
    }

    /// Writes the figures for people; nothing if no action was offered a fence.
    pub(super) fn write(&self, out: &mut String) {
        if self.benign == 0 {
            return;
        }
        let share = |part: usize, whole: usize| format!("{part} of {whole} ({})", percent(part, whole));
        let title = Painted(BOLD, format_args!("containment, of {} actions labelled allow", self.benign));
        let _ = writeln!(out, "\n{title}");
        let _ = writeln!(out, "  asked about without fences: {}", share(self.asked_before, self.benign));
        let _ = writeln!(out, "  still asked about: {}", share(self.asked_after, self.benign));
        let _ = writeln!(out, "  contained: {}", share(self.contained, self.benign));
        let names =
            ["allowed that run project code bare", "the same with `containment.projectCode: contain`"];
        for ((name, bare), allowed) in names.iter().zip(self.bare).zip(self.allowed) {
            let _ = writeln!(out, "  {name}: {}", share(bare, allowed));
        }
    }

    /// Returns the figures as JSON; nothing if no action was offered a fence.
    pub(super) fn object(&self) -> Option<Value> {
        let [allowed, allowed_strictly] = self.allowed;
        let [bare, bare_strictly] = self.bare;
        (self.benign > 0).then(|| {
            json!({
                "benign": self.benign,
                "askedWithout": self.asked_before,
                "asked": self.asked_after,
                "contained": self.contained,
                "allowed": allowed,
                "bareProjectCode": bare,
                "containingProjectCode": {"allowed": allowed_strictly, "bareProjectCode": bare_strictly},
            })
        })
    }
}
