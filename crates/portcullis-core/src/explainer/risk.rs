//! What could go wrong, and how much there is to lose.

use portcullis_analysis::effect::{Act, Effect, Weight};
use portcullis_analysis::findings::Severity;

use super::RiskLevel;
use super::reasoning::worst;
use crate::verdict::FindingReport;

/// Says what could go wrong, in one clause: by the worst finding, else by the heaviest act.
pub(super) fn of(effects: &[Effect], reports: &[FindingReport], open: &[&Effect]) -> String {
    if let Some(worst) = worst(reports) {
        let consequence = match worst.severity {
            Severity::Low => "a nuisance that is soon put right",
            Severity::Medium => "which costs work or bothers others",
            Severity::High => "which is hard to put right",
            Severity::Critical => "which cannot be put right",
        };
        return format!("it {}, {consequence}", worst.title);
    }
    let is_open_change =
        |effect: &&Effect| effect.act.weight() == Weight::Local && effect.act.access().is_some();
    let heaviest = heaviest(effects);
    match heaviest.map(|act| (act.weight(), act)) {
        None => "nothing changes",
        Some((Weight::Observing, _)) => "nothing changes; at most it shows what was not meant to be shown",
        Some((Weight::Local, _)) if open.iter().any(is_open_change) => {
            "files outside the project may change, which git does not undo"
        }
        Some((Weight::Local, act)) => local(act),
        Some((Weight::Outward, act)) => outward(act),
        Some((Weight::Grave, _)) => "something changes that is hard to put right",
        Some((Weight::Unknown, _)) => "it may do anything that the user may do",
    }
    .to_owned()
}

/// Says how much there is to lose. What is not proven harmless is never low.
pub(super) fn level(effects: &[Effect], reports: &[FindingReport], is_proven: bool) -> RiskLevel {
    let is_weighty = heaviest(effects).is_some_and(|act| act.weight() >= Weight::Outward);
    match worst(reports).map(|report| report.severity) {
        Some(Severity::High | Severity::Critical) => RiskLevel::High,
        Some(Severity::Low | Severity::Medium) => RiskLevel::Medium,
        None if is_weighty || !is_proven => RiskLevel::Medium,
        None => RiskLevel::Low,
    }
}

/// Returns the heaviest act, the first of several that weigh the same.
fn heaviest(effects: &[Effect]) -> Option<Act> {
    effects.iter().map(|effect| effect.act).rev().max_by_key(|act| act.weight())
}

fn local(act: Act) -> &'static str {
    match act {
        Act::Fetch => "what it fetches may be wrong or try to instruct the agent",
        Act::RunProject | Act::Execute => "code of the project runs with the rights of the user",
        Act::InstallDeclared => "install scripts of the declared packages run with the rights of the user",
        Act::GitLocal | Act::GitRewrite => "the local repository changes, which git can undo",
        Act::GitPush => "others see the commits",
        Act::KillOwn => "a process of its own ends before its work is done",
        Act::ContainerLocal => "containers use up space and time of this machine",
        _ => "files in the project change, which git can undo",
    }
}

fn outward(act: Act) -> &'static str {
    match act {
        Act::InstallPackage | Act::InstallGlobal => "software that nobody checked runs its install scripts",
        Act::PullImage => "an image of somebody else lies ready to be started",
        Act::Uninstall | Act::ContainerDelete => "something that is still needed is removed",
        Act::Send | Act::Connect => "data leaves this machine and cannot be called back",
        Act::RemoteRun => "another machine may change, and nothing here undoes that",
        Act::Elevate => "no file permission holds back a mistake made with these rights",
        Act::Listen => "others may reach what this machine serves",
        Act::Post => "others see what is written under the user's name",
        Act::DatabaseWrite => "rows change that no repository keeps",
        Act::CloudWrite | Act::InfraApply | Act::ClusterWrite => {
            "systems that others use change and may cost money"
        }
        Act::SpawnAgent => "another agent acts, and what it does is judged call by call",
        _ => "something outside the project changes, which git does not undo",
    }
}
