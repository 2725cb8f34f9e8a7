//! The stages of a judgement, how verdicts are read, and what becomes of failures (spec D6–D9, D13).

mod ask;
mod exchange;
mod mark;
mod ruling;
mod run;
mod stage;
mod verdict;

pub use exchange::{ExchangeOutcome, ExchangePurpose, ModelExchange};
pub use mark::VerdictMark;
pub use ruling::{Classification, ClassifierVerdict};
pub use run::{AuxiliaryAnswer, AuxiliaryRequest, ClassifierJudge, ModelEndpoint};
pub use stage::{JudgeStage, StagePlan, answer_spec, last_words, stage_shape};
pub use verdict::StageVerdict;
