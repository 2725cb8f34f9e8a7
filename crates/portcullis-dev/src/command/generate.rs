//! `cargo dev generate-all`: writes the reference pages, or says which of them are out of date.

use anyhow::{Context, Result, bail};

use crate::generated::{self, Mode};
use crate::{output, repository};

pub(super) fn run(arguments: &[String]) -> Result<()> {
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let mode = match words.as_slice() {
        [] | ["--mode", "write"] | ["--mode=write"] => Mode::Write,
        ["--mode", "check"] | ["--mode=check"] => Mode::Check,
        _ => bail!("usage: cargo dev generate-all [--mode check|write]"),
    };
    generate_all(mode)
}

pub(super) fn generate_all(mode: Mode) -> Result<()> {
    let root = repository::root();
    let mut outdated = Vec::new();
    for (path, text) in generated::pages(&root)? {
        let file = root.join(path);
        let committed = std::fs::read_to_string(&file).unwrap_or_default();
        if committed == text {
            continue;
        }
        match mode {
            Mode::Check => outdated.push(path),
            Mode::Write => {
                let directory = file.parent().context("a generated file has a directory")?;
                std::fs::create_dir_all(directory)?;
                std::fs::write(&file, text).with_context(|| format!("cannot write `{path}`"))?;
                output::say(&format!("wrote {path}"));
            }
        }
    }
    if !outdated.is_empty() {
        bail!("out of date: {}; run `cargo dev generate-all`", outdated.join(", "));
    }
    Ok(())
}
