//! A case under one policy: what every step of the pipeline reads.

use std::cell::OnceCell;
use std::collections::BTreeSet;

use portcullis_analysis::effect::{Act, Effect, Target};
use portcullis_analysis::place::is_free;

use super::Case;
use super::judgement::Judgement;
use super::script::CalledScript;
use crate::context::Context;
use crate::disk::{DiskAnswer, DiskQuestion};
use crate::mode::Mode;
use crate::path;
use crate::path_use::{self, PathUse};
use crate::policy::Policy;
use crate::repository_config;

/// A case under a policy.
#[derive(Debug)]
pub(crate) struct CaseView<'a> {
    pub(crate) policy: &'a Policy,
    pub(crate) case: &'a Case,
    /// The mode in force.
    pub(crate) mode: Mode,
    /// The working directories, absolute and normal.
    pub(crate) roots: Vec<String>,
    /// The judgement, where the case keeps one for other working directories.
    judgement: OnceCell<Judgement>,
}

impl<'a> CaseView<'a> {
    pub(crate) fn new(case: &'a Case, policy: &'a Policy) -> Self {
        Self {
            policy,
            case,
            mode: policy.mode_in_force(case.context().mode),
            roots: working_directories(policy, case.context()),
            judgement: OnceCell::new(),
        }
    }

    /// Returns what the analysis makes of the call. Of a policy only its working directories matter to that.
    pub(crate) fn judgement(&self) -> &Judgement {
        let kept = self.case.judged.get_or_init(|| (self.roots.clone(), Judgement::of(self)));
        match kept {
            (roots, judgement) if *roots == self.roots => judgement,
            _ => self.judgement.get_or_init(|| Judgement::of(self)),
        }
    }

    /// Returns the scripts of the project that the call runs.
    pub(crate) fn scripts(&self) -> impl Iterator<Item = &'a CalledScript> {
        self.case.scripts.iter().filter(|called| self.is_in_project(&called.script.file))
    }

    /// Says whether a file lies in the working directories, as it is written.
    pub(crate) fn is_in_project(&self, file: &str) -> bool {
        self.roots.iter().any(|root| path::is_inside(file, root))
    }

    /// Returns the branch that is checked out, if somebody looked.
    pub(crate) fn branch(&self) -> Option<String> {
        self.roots.iter().find_map(|root| {
            let head = self.case.answers.text(&format!("{root}/.git/HEAD"))?;
            head.trim().strip_prefix("ref: refs/heads/").map(str::to_owned)
        })
    }

    /// Returns the working directories and where they lead.
    pub(crate) fn spellings_of_roots(&self) -> impl Iterator<Item = &str> {
        self.roots.iter().flat_map(|root| {
            let leads = match self.case.answers.path(root) {
                Some(DiskAnswer::Leads(leads)) => leads.as_slice(),
                Some(DiskAnswer::Text(_) | DiskAnswer::Absent | DiskAnswer::Broken) | None => &[],
            };
            std::iter::once(root.as_str()).chain(leads.iter().map(String::as_str))
        })
    }

    /// Lists what must be known of the disk, answered or not.
    pub(super) fn questions(&self) -> BTreeSet<DiskQuestion> {
        let case = self.case;
        let mut questions: BTreeSet<DiskQuestion> =
            case.path_uses().chain(self.possible_paths()).flat_map(PathUse::questions).collect();
        questions.extend(case.effects().iter().flat_map(questions_of));
        questions.extend(case.survey().invocations.iter().flat_map(repository_config::questions));
        questions.extend(self.scripts().map(|called| DiskQuestion::Text(called.script.file.clone())));
        if case.effects().iter().any(|effect| effect.act == Act::GitPush) {
            questions.extend(self.roots.iter().map(|root| DiskQuestion::Text(format!("{root}/.git/HEAD"))));
        }
        if !questions.is_empty() {
            questions.extend(self.roots.iter().cloned().map(DiskQuestion::RealPath));
        }
        questions
    }

    /// Returns the paths the call may touch.
    fn possible_paths(&self) -> impl Iterator<Item = &'a PathUse> {
        let shell = self.case.subject.shell();
        let implied = shell.into_iter().flat_map(|shell| &shell.paths).flat_map(|paths| &paths.implied);
        // Looking up every word that could be a file takes time, so it is done only if a rule wants to know.
        let restrained = shell.filter(|_| self.policy.rules.has_path_restraint());
        implied.chain(restrained.into_iter().flat_map(super::subject::Shell::mentions).flatten())
    }
}

/// Returns what must be looked up about the target of an effect.
fn questions_of(effect: &Effect) -> Vec<DiskQuestion> {
    let Target::Path(path) = &effect.target else {
        return Vec::new();
    };
    let question = if path.is_pattern { DiskQuestion::Pattern } else { DiskQuestion::RealPath };
    let known = path.paths.iter().filter(|path| !is_free(path)).cloned().map(question);
    known.chain(path.windings.iter().cloned().map(DiskQuestion::RealPath)).collect()
}

/// Returns the working directories: where the call runs, the session's own, and those added.
fn working_directories(policy: &Policy, context: &Context) -> Vec<String> {
    let mut roots: Vec<String> = Vec::new();
    let own = [&context.cwd, &context.project];
    let added = context.added_directories.iter().chain(&policy.additional_directories);
    for directory in own.into_iter().chain(added) {
        let expanded = path_use::expand_home(directory, context.home.as_deref());
        let root = path::join(&context.project, expanded.as_deref().unwrap_or(directory));
        if !roots.contains(&root) {
            roots.push(root);
        }
    }
    roots
}
