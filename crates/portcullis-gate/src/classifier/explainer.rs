//! The explanation for people: by a model where settings or flags ask for one, offline otherwise (spec F).

use portcullis_classifier::prompt::{EXPLAINER_SUFFIX, explainer_answer, explainer_prompt, read_explanation};
use portcullis_classifier::protocol::{AuxiliaryAnswer, AuxiliaryRequest, ExchangePurpose};
use portcullis_classifier::transcript::encode;
use portcullis_classifier::transport::CancelFlag;
use portcullis_core::{CallExplanation, ToolCall};
use portcullis_store::Store;

use super::assemble::{ClassifierFlags, Resting, assemble, has_classifier};
use super::record::{Keeping, ModelUse, keep};
use crate::clock::now_ms;
use crate::session_settings::SessionSettings;

/// The most an explanation may say, in tokens.
const LONGEST: u32 = 512;

/// Asks the model to explain a call. `turns` are the user's words, oldest first.
///
/// What the call does is known from the analysis, so the worse of the two risk levels is told: the model reads what an
/// attacker may have written. What could not be kept of the talk is added to `problems`.
pub fn explain_by_model(
    session: &SessionSettings,
    arguments: &ClassifierFlags,
    store: Option<&Store>,
    call: &ToolCall,
    turns: &[String],
    offline: &CallExplanation,
    problems: &mut Vec<String>,
) -> Result<CallExplanation, String> {
    if !has_classifier(&session.loaded, arguments) {
        return Err("no model is configured".to_owned());
    }
    let mut setup = assemble(session, arguments, store, Resting::Honoured(now_ms()))?;
    let prompt = explainer_prompt(&format!("{}: {}", call.tool(), encode(call)), &turns.join("\n"));
    let spec = explainer_answer();
    let errand = AuxiliaryRequest {
        talk: ExchangePurpose::Explainer,
        prompt: &prompt,
        suffix: EXPLAINER_SUFFIX,
        max_tokens: LONGEST,
        spec: Some(&spec),
    };
    let AuxiliaryAnswer { answered, exchanges, learned } = setup.judge.run_errand(errand, &CancelFlag::new());
    if let Some(store) = store {
        let keeping = Keeping { store, session: "", setup: &setup, model_use: ModelUse::Work };
        problems.extend(keep(&keeping, &exchanges, &learned));
    }
    let reply = answered.map_err(|fault| format!("{}: {fault}", fault.kind.phrase()))?;
    let value = match reply.tool {
        Some((name, value)) if name == spec.name => value,
        Some(_) => return Err("it called another tool".to_owned()),
        None => serde_json::from_str(&reply.text).map_err(|_| "its answer is not JSON".to_owned())?,
    };
    let told = read_explanation(&value).ok_or("its answer is no explanation")?;
    let risk_level = told.risk_level.max(offline.risk_level);
    Ok(CallExplanation { risk_level, ..told })
}
