//! The stages of a judgement, how verdicts are read, and what becomes of failures (spec D6–D9, D13).

mod ask;
mod echo;
mod exchange;
mod ruling;
mod run;
mod stage;
mod verdict;

pub use exchange::{Exchange, ExchangeOutcome, Talk};
pub use ruling::{Ruling, RulingOutcome};
pub use run::{Endpoint, Errand, ErrandResult, Judge};
pub use stage::{Stage, Stages, answer_spec, last_words};
pub use verdict::StageVerdict;
