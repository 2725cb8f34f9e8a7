//! What goes into a prompt beside the call: templates, rules in prose, the form of the transcript; and the prompt itself.

use std::fs;
use std::path::{Path, PathBuf};

use portcullis_classifier::prompt::{
    CustomLists, Prompt, PromptLists, PromptSession, PromptTemplates, build,
};
use portcullis_classifier::selftest::SelfTestAction;
use portcullis_classifier::transcript::{EntryForm, TokenBudget, Transcript, TranscriptStyle, render};
use portcullis_core::rule::{Behavior, Rule};
use portcullis_core::{Case, EffectReport, FindingReport, Mode};
use portcullis_settings::{
    self as settings, AutoModeSettings, ClassifierSettings, LoadedSettings, SettingSentence,
};

use super::git_index::changed_files;
use super::instructions::{
    read_branch, read_default_branch, read_instructions, read_remotes, read_user_instructions,
};
use crate::session_settings::SessionSettings;

/// The longest file of templates or model rows that is read, in bytes.
const LONGEST_FILE: u64 = 1 << 20;

/// How prompts are made; no model is needed for it.
#[derive(Debug)]
pub struct Recipe {
    templates: PromptTemplates,
    sections: PromptLists,
    style: TranscriptStyle,
    shows_instructions: bool,
}

impl Recipe {
    /// Reads what settings say. An error says what cannot be used.
    pub fn of(loaded: &LoadedSettings) -> Result<Self, String> {
        Ok(Self {
            templates: templates(&loaded.classifier)?,
            sections: sections(&loaded.auto_mode),
            style: style(&loaded.classifier),
            shows_instructions: loaded.classifier.project_instructions,
        })
    }

    /// Returns the labels of the rules.
    pub fn labels(&self) -> Vec<String> {
        self.sections.labels()
    }

    /// Returns the version of the prompt, which records keep.
    pub fn version(&self) -> String {
        self.templates.version(&self.sections)
    }

    /// Returns everything that prompts of all calls have in common, for telling whether it changed.
    pub(super) fn fixed_text(&self) -> String {
        let system = self.templates.fill(&self.sections);
        format!("{system}\n{:?} {}", self.style, self.shows_instructions)
    }

    /// Makes the prompt of an action of the self-test, or says what is too long.
    pub(super) fn self_test_prompt(&self, action: &SelfTestAction) -> Result<Prompt, String> {
        let rendered =
            render(&action.transcript(), &action.call(), &self.style).map_err(|error| error.to_string())?;
        let (history, call) = (rendered.history, rendered.action);
        Ok(build(&self.templates, &self.sections, &action.session(), &[], history, call))
    }

    /// Makes the prompt of a call, or says what is too long.
    pub fn prompt(
        &self,
        session: &SessionSettings,
        case: &Case,
        findings: &[FindingReport],
        transcript: &Transcript,
    ) -> Result<Prompt, String> {
        let context = case.context();
        let rendered = render(transcript, case.call(), &self.style).map_err(|error| error.to_string())?;
        let denying = session.policy().rules.rules().iter().filter(|rule| rule.behavior == Behavior::Deny);
        let (of_repository, own): (Vec<&Rule>, Vec<&Rule>) =
            denying.partition(|rule| rule.origin.source.is_in_repository());
        let texts = |rules: Vec<&Rule>| rules.into_iter().map(|rule| rule.source_text.clone()).collect();
        let project = &session.locations.project;
        let mode = session.policy().mode_in_force(context.mode);
        let facts = PromptSession {
            project: context.project.clone(),
            cwd: context.cwd.clone(),
            deny_rules: texts(own),
            repository_rules: texts(of_repository),
            is_planning: mode == Mode::Plan,
            mode: Some(mode.as_str().to_owned()),
            branch: read_branch(project),
            default_branch: read_default_branch(project),
            remotes: read_remotes(project),
            user_instructions: read_if(self.shows_instructions, || {
                read_user_instructions(session.locations.home.as_deref(), project)
            }),
            instructions: read_if(self.shows_instructions, || read_instructions(project)),
            effects: case.effect_reports().iter().map(EffectReport::clause).collect(),
            files: changed_files(&case.effect_reports(), context, project),
        };
        Ok(build(&self.templates, &self.sections, &facts, findings, rendered.history, rendered.action))
    }
}

fn read_if<T: Default>(is_wanted: bool, read: impl FnOnce() -> T) -> T {
    if is_wanted { read() } else { T::default() }
}

/// Returns the lists of prose; one that nobody set is not there.
pub fn custom_lists(auto_mode: &AutoModeSettings) -> [Option<Vec<String>>; 4] {
    let texts = |sentences: &Vec<SettingSentence>| -> Vec<String> {
        sentences.iter().map(|sentence| sentence.text.clone()).collect()
    };
    [&auto_mode.environment, &auto_mode.hard_deny, &auto_mode.soft_deny, &auto_mode.allow]
        .map(|list| list.as_ref().map(texts))
}

/// Resolves the prose of settings against the built-in one.
pub fn sections(auto_mode: &AutoModeSettings) -> PromptLists {
    let [environment, hard_deny, soft_deny, allow] = custom_lists(auto_mode);
    PromptLists::resolve(CustomLists {
        environment: environment.as_deref(),
        hard_deny: hard_deny.as_deref(),
        soft_deny: soft_deny.as_deref(),
        allow: allow.as_deref(),
    })
}

/// Reads the templates: the user's own files where settings name them.
pub fn templates(classifier: &ClassifierSettings) -> Result<PromptTemplates, String> {
    let read = |path: &Option<PathBuf>| path.as_deref().map(read_file).transpose();
    let files = &classifier.templates;
    let (base, intent, permissions) = (read(&files.base)?, read(&files.intent)?, read(&files.permissions)?);
    let templates =
        PromptTemplates::from_texts(base, intent, permissions).map_err(|error| error.to_string())?;
    Ok(templates.with_form(style(classifier).form))
}

/// Reads a file that settings name.
pub(crate) fn read_file(path: &Path) -> Result<String, String> {
    let failed = |detail: String| format!("`{}` cannot be used: {detail}", path.display());
    let metadata = fs::metadata(path).map_err(|error| failed(error.to_string()))?;
    if !metadata.is_file() {
        return Err(failed("it is not a regular file".to_owned()));
    }
    if metadata.len() > LONGEST_FILE {
        return Err(failed(format!("it is longer than {} KiB", LONGEST_FILE >> 10)));
    }
    fs::read_to_string(path).map_err(|error| failed(error.to_string()))
}

fn style(classifier: &ClassifierSettings) -> TranscriptStyle {
    TranscriptStyle {
        form: match classifier.transcript {
            settings::TranscriptForm::Jsonl => EntryForm::Jsonl,
            settings::TranscriptForm::Text => EntryForm::Text,
            settings::TranscriptForm::Compact => EntryForm::Compact,
        },
        budget: TokenBudget {
            total: usize::try_from(classifier.transcript_tokens).unwrap_or(usize::MAX),
            ..TokenBudget::default()
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_none_or_too_long_is_not_read() {
        let directory = tempfile::tempdir().unwrap();
        let long = directory.path().join("long");
        fs::File::create(&long).unwrap().set_len(LONGEST_FILE + 1).unwrap();
        let broken = directory.path().join("broken");
        fs::write(&broken, [0xff]).unwrap();
        let missing = directory.path().join("missing");
        let device = Path::new("/dev/zero");
        for path in [directory.path(), &long, &broken, &missing, device] {
            let error = read_file(path).unwrap_err();
            assert!(error.contains("cannot be used"), "{}: {error}", path.display());
        }
    }
}
