//! A case under one policy: what every step of the pipeline reads.

use std::cell::OnceCell;
use std::collections::BTreeSet;

use portcullis_analysis::Naming;
use portcullis_analysis::effect::Act;
use portcullis_analysis::place::is_rebuilt;

use super::Case;
use super::judgement::Judgement;
use super::script::CalledScript;
use super::source::{EffectSource, own_source, questions_about, questions_of, script_sources};
use super::{declared_images, own_processes, session_files, unsaved};
use crate::context::Context;
use crate::disk::{DiskAnswer, DiskQuestion};
use crate::guarded_file::guarded_files;
use crate::mode::Mode;
use crate::path;
use crate::path_use;
use crate::policy::Policy;
use crate::repository_config;
use crate::rule::Behavior;

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
    /// What the call does, by each text that is known of it.
    sources: OnceCell<(EffectSource<'a>, Vec<EffectSource<'a>>)>,
}

impl<'a> CaseView<'a> {
    pub(crate) fn new(case: &'a Case, policy: &'a Policy) -> Self {
        Self {
            policy,
            case,
            mode: policy.mode_in_force(case.context().mode),
            roots: working_directories(policy, case.context()),
            judgement: OnceCell::new(),
            sources: OnceCell::new(),
        }
    }

    /// Returns what the call does by each text that is known of it, its own first.
    pub(crate) fn sources(&self) -> impl Iterator<Item = &EffectSource<'a>> {
        let (own, scripts) = self.all_sources();
        std::iter::once(own).chain(scripts)
    }

    /// Returns what the call itself does, the scripts that it runs left aside.
    pub(crate) fn own_source(&self) -> &EffectSource<'a> {
        &self.all_sources().0
    }

    fn all_sources(&self) -> &(EffectSource<'a>, Vec<EffectSource<'a>>) {
        self.sources.get_or_init(|| (own_source(self), script_sources(self)))
    }

    /// Returns what the analysis makes of the call. Of a policy only its working directories matter to that.
    pub(crate) fn judgement(&self) -> &Judgement {
        let kept = self.case.judged.get_or_init(|| (self.roots.clone(), Judgement::of(self)));
        match kept {
            (roots, judgement) if *roots == self.roots => judgement,
            _ => self.judgement.get_or_init(|| Judgement::of(self)),
        }
    }

    /// Returns the scripts that the call runs, of the project or of the agent's own.
    pub(crate) fn scripts(&self) -> impl Iterator<Item = &'a CalledScript> {
        let case = self.case;
        let is_read = move |file: &str| self.is_in_project(file) || case.own_text(file).is_some();
        case.scripts.iter().filter(move |called| is_read(&called.script.file))
    }

    /// Says whether a file lies in the working directories, as it is written.
    pub(crate) fn is_in_project(&self, file: &str) -> bool {
        self.roots.iter().any(|root| path::is_inside(file, root))
    }

    /// Says whether a file of the project is one that a build makes again. Only the folders below the project count: the
    /// project itself may lie in one that is called `build` or `tmp`.
    pub(crate) fn is_rebuilt(&self, file: &str) -> bool {
        let below = self.roots.iter().find_map(|root| path::relative_to(file, root));
        below.is_some_and(|below| is_rebuilt(&below))
    }

    /// Returns the branch that is checked out, if somebody looked.
    pub(crate) fn branch(&self) -> Option<String> {
        // Few calls make anybody look.
        let roots = if self.case.answers.has_texts() { self.roots.as_slice() } else { &[] };
        roots.iter().find_map(|root| {
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
        let mut questions: BTreeSet<DiskQuestion> = case.effects().iter().flat_map(questions_of).collect();
        // What a script does is known once somebody has told its text.
        let layouts = self.scripts().flat_map(|called| case.readings(called)).flatten();
        questions.extend(layouts.flat_map(|layout| &layout.effects).flat_map(questions_of));
        questions.extend(self.possible_questions());
        questions.extend(self.tree_questions());
        questions.extend(case.survey().invocations.iter().flat_map(repository_config::questions));
        questions.extend(self.scripts().map(|called| DiskQuestion::Text(called.script.file.clone())));
        questions.extend(session_files::questions(self));
        questions.extend(unsaved::questions(self));
        questions.extend(own_processes::questions(self));
        questions.extend(declared_images::questions(self));
        if case.effects().iter().any(|effect| effect.act == Act::GitPush) {
            questions.extend(self.roots.iter().map(|root| DiskQuestion::Text(format!("{root}/.git/HEAD"))));
        }
        if !questions.is_empty() {
            questions.extend(self.roots.iter().cloned().map(DiskQuestion::RealPath));
        }
        questions
    }

    /// Asks whether the files are there that rules guard below a directory which the call takes as a whole.
    fn tree_questions(&self) -> impl Iterator<Item = DiskQuestion> {
        let (case, policy) = (self.case, self.policy);
        let behaviors = [Behavior::Deny, Behavior::Ask].into_iter();
        let guarded = behaviors.flat_map(|behavior| {
            guarded_files(policy, case.context(), behavior, (case.survey(), case.effects()))
        });
        guarded.map(|guarded| DiskQuestion::Text(guarded.file))
    }

    /// Returns what must be looked up about files that the call may touch. That takes time, so it is done only if a rule
    /// wants to know.
    fn possible_questions(&self) -> impl Iterator<Item = DiskQuestion> {
        let shell = self.case.subject.shell().filter(|_| self.policy.rules.has_path_restraint());
        let files = shell.into_iter().flat_map(super::subject::Shell::possible_files).flatten();
        files.filter(|file| file.naming != Naming::Text).flat_map(|file| questions_about(&file.target))
    }
}

/// Returns the working directories: where the call runs, the session's own, and those added.
fn working_directories(policy: &Policy, context: &Context) -> Vec<String> {
    let mut roots: Vec<String> = Vec::new();
    let own = [&context.cwd, &context.project];
    let added = context.added_directories.iter().chain(&policy.additional_directories);
    for (place, directory) in own.into_iter().chain(added).enumerate() {
        // A session mostly works in its own project.
        if place == 1 && directory == &context.cwd {
            continue;
        }
        let expanded = path_use::expand_home(directory, context.home.as_deref());
        let root = path::join(&context.project, expanded.as_deref().unwrap_or(directory));
        if !roots.contains(&root) {
            roots.push(root);
        }
    }
    roots
}
