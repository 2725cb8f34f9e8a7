//! How many tokens the system prompt has by a real tokenizer. The figures are kept beside the prompt with what was counted,
//! and a test of the classifier fails for a prompt that nobody has counted.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Result, ensure};
use portcullis_classifier::prompt::{PromptLists, PromptTemplates, fingerprint};
use portcullis_classifier::transcript::EntryForm;
use serde_json::json;

use super::install::RunningServer;

/// The most tokens the system prompt may have.
const MOST: usize = 5_000;

/// Where the figures are kept.
const FILE: &str = "crates/portcullis-classifier/data/prompts/tokens.json";

/// Counts the prompt in every form and keeps the figures; says what was counted.
pub(super) fn record(root: &Path, server: &RunningServer) -> Result<String> {
    let mut counted = BTreeMap::new();
    for form in [EntryForm::Jsonl, EntryForm::Text, EntryForm::Compact] {
        let prompt = PromptTemplates::built_in().with_form(form).fill(&PromptLists::built_in());
        counted.insert(fingerprint(&prompt), server.count_tokens(&prompt)?);
    }
    let most = counted.values().copied().max().unwrap_or_default();
    ensure!(most <= MOST, "the system prompt has {most} tokens, more than {MOST}");
    let figures = json!({"tokenizer": "SmolLM2-135M-Instruct", "counted": counted});
    fs::write(root.join(FILE), format!("{figures:#}\n"))?;
    Ok(format!("the system prompt has {most} tokens at most, by the tokenizer of SmolLM2"))
}
