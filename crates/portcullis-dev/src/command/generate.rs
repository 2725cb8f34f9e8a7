//! `cargo dev generate-all`: writes the reference pages, or says which of them are out of date.

use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::generated::{self, GenerateMode};
use crate::{output, repository};

pub(super) fn run(arguments: &[String]) -> Result<()> {
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let mode = match words.as_slice() {
        [] | ["--mode", "write"] | ["--mode=write"] => GenerateMode::Write,
        ["--mode", "check"] | ["--mode=check"] => GenerateMode::Check,
        _ => bail!("usage: cargo dev generate-all [--mode check|write]"),
    };
    generate_all(mode)
}

pub(super) fn generate_all(mode: GenerateMode) -> Result<()> {
    let root = repository::root();
    let static_pages = generated::static_pages(&root)?;
    let mut outdated = settle(mode, &root, &static_pages)?;
    for path in generated::stale_pages(&root, &static_pages)? {
        match mode {
            GenerateMode::Check => outdated.push(path),
            GenerateMode::Write => {
                std::fs::remove_file(root.join(&path)).with_context(|| format!("cannot remove `{path}`"))?;
                output::say(&format!("removed {path}"));
            }
        }
    }
    // The binary holds pages that were just written.
    outdated.extend(settle(mode, &root, &generated::pages_of_binary(&root)?)?);
    if !outdated.is_empty() {
        bail!("out of date: {}; run `cargo dev generate-all`", outdated.join(", "));
    }
    Ok(())
}

/// Writes the pages that differ from what is on disk.
pub(super) fn write_pages(root: &Path, pages: &[(String, String)]) -> Result<()> {
    settle(GenerateMode::Write, root, pages).map(|_| ())
}

/// Writes the pages that differ from what is on disk, or returns their paths.
fn settle(mode: GenerateMode, root: &Path, pages: &[(String, String)]) -> Result<Vec<String>> {
    let mut outdated = Vec::new();
    for (path, text) in pages {
        let file = root.join(path);
        if std::fs::read_to_string(&file).unwrap_or_default() == *text {
            continue;
        }
        match mode {
            GenerateMode::Check => outdated.push(path.clone()),
            GenerateMode::Write => {
                let directory = file.parent().context("a generated file has a directory")?;
                std::fs::create_dir_all(directory)?;
                std::fs::write(&file, text).with_context(|| format!("cannot write `{path}`"))?;
                output::say(&format!("wrote {path}"));
            }
        }
    }
    Ok(outdated)
}
