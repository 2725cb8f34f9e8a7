//! `portcullis auto-mode critique`: a model reads the user's own rules and says what is wrong with them.

use clap::Args;
use portcullis_classifier::prompt::{CustomLists, Prompt, critique_prompt};
use portcullis_classifier::protocol::{AuxiliaryAnswer, AuxiliaryRequest, ExchangePurpose};
use portcullis_classifier::transport::CancelFlag;
use portcullis_core::visible;

use crate::exit_code::ExitCode;
use portcullis_gate::Failure;
use portcullis_gate::classifier::{
    ClassifierFlags, Keeping, ModelUse, Resting, assemble, custom_lists, keep,
};
use portcullis_gate::{SessionSettings, SettingsFlags};
use portcullis_output::settings_notes;
use portcullis_output::terminal::{print, print_notes};

/// Let a model review your own rules for the classifier: clarity, gaps, conflicts
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  portcullis auto-mode critique
  portcullis auto-mode critique --provider openai

Exit codes: 0 done, 64 no rules of your own or no model, 70 the model could not be asked")]
pub(crate) struct CritiqueArgs {
    #[command(flatten)]
    session: SettingsFlags,
    #[command(flatten)]
    classifier: ClassifierFlags,
}

/// The most a critique may say, in tokens.
const LONGEST: u32 = 2_048;

pub(super) fn run(arguments: &CritiqueArgs) -> Result<ExitCode, Failure> {
    let session = SessionSettings::open(&arguments.session)?;
    settings_notes::warn(&session);
    let [environment, hard_deny, soft_deny, allow] = custom_lists(&session.loaded.auto_mode);
    let lists = CustomLists {
        environment: environment.as_deref(),
        hard_deny: hard_deny.as_deref(),
        soft_deny: soft_deny.as_deref(),
        allow: allow.as_deref(),
    };
    let Some((system, rules)) = critique_prompt(lists) else {
        return Err(Failure::usage("there are no rules of your own to review")
            .with_hint("add some under `autoMode` in your user settings"));
    };
    if !portcullis_gate::classifier::has_classifier(&session.loaded, &arguments.classifier) {
        return Err(Failure::usage("no model is configured")
            .with_hint("set `classifier.provider` in your user settings, or name one with --provider"));
    }
    let store = session.store();
    let mut setup = assemble(&session, &arguments.classifier, store.as_ref(), Resting::Ignored)
        .map_err(Failure::usage)?;
    let prompt = Prompt {
        system,
        session: String::new(),
        history: Vec::new(),
        action: String::new(),
        facts: String::new(),
    };
    let errand = AuxiliaryRequest {
        talk: ExchangePurpose::Critique,
        prompt: &prompt,
        suffix: &rules,
        max_tokens: LONGEST,
        spec: None,
    };
    let AuxiliaryAnswer { answered, exchanges, learned } = setup.judge.run_errand(errand, &CancelFlag::new());
    if let Some(store) = &store {
        let keeping = Keeping { store, session: "", setup: &setup, model_use: ModelUse::Test };
        print_notes(keep(&keeping, &exchanges, &learned));
    }
    let reply = answered.map_err(|fault| {
        Failure::internal(format!("the model could not be asked ({}: {fault})", fault.kind.phrase()))
    })?;
    let lines: Vec<_> = reply.text.lines().map(visible).collect();
    print(&format!("{}\n", lines.join("\n").trim_end()))?;
    Ok(ExitCode::Success)
}
