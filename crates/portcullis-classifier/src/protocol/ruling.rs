//! What came of a judgement, and what it means for the pipeline.

use portcullis_core::{FailureAction, PendingAnswer};

use super::exchange::ModelExchange;
use super::stage::JudgeStage;
use crate::transport::{FaultKind, ModelFault};

/// A judgement with everything that was said on the way.
#[derive(Debug, Clone, PartialEq)]
pub struct Classification {
    /// What came of it.
    pub outcome: ClassifierVerdict,
    /// Every exchange with a model, in order.
    pub exchanges: Vec<ModelExchange>,
    /// Parameters a model refused, with the name of its endpoint, to be left out from now on.
    pub learned: Vec<(String, String)>,
}

/// What came of a judgement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClassifierVerdict {
    /// The action may run.
    Allow {
        /// The stage that said so.
        stage: JudgeStage,
    },
    /// The action is blocked.
    Block {
        /// The stage that said so.
        stage: JudgeStage,
        /// The rule it breaks, if one was named.
        category: Option<String>,
        /// One sentence.
        reason: String,
    },
    /// What the model said is no verdict.
    Unclear {
        /// The stage that said it.
        stage: JudgeStage,
        /// Why it is none.
        why: String,
    },
    /// No model could be asked.
    Failed(ModelFault),
}

impl Classification {
    /// Returns what the pipeline is told. In no failure is the action allowed (spec D13).
    pub fn answer(&self, on_failure: FailureAction) -> PendingAnswer {
        match &self.outcome {
            ClassifierVerdict::Allow { stage } => PendingAnswer::Allow { by: stage.as_str().to_owned() },
            ClassifierVerdict::Block { stage, category, reason } => PendingAnswer::Deny {
                by: stage.as_str().to_owned(),
                category: category.clone(),
                sentence: reason.clone(),
            },
            ClassifierVerdict::Unclear { stage, why } => {
                let detail = format!(
                    "the {} classifier gave no verdict ({why}), so it is blocked to be safe",
                    stage.as_str()
                );
                PendingAnswer::Unavailable { detail, on_failure: FailureAction::Deny }
            }
            ClassifierVerdict::Failed(fault) => failed(fault, on_failure),
        }
    }
}

fn failed(fault: &ModelFault, on_failure: FailureAction) -> PendingAnswer {
    let phrase = fault.kind.phrase();
    match fault.kind {
        FaultKind::TooLong => PendingAnswer::TooLong {
            detail: format!("the session is too long for the classifier ({})", fault.message),
        },
        // Whoever gave up does not want to be asked now.
        FaultKind::Aborted => PendingAnswer::Unavailable {
            detail: "the classifier was interrupted".to_owned(),
            on_failure: FailureAction::Deny,
        },
        _ => {
            let detail = format!(
                "the classifier is unavailable ({phrase}: {}), so it cannot say whether this is safe",
                fault.message
            );
            PendingAnswer::Unavailable { detail, on_failure }
        }
    }
}
