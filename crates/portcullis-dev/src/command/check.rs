//! `cargo dev check`: everything that can be checked without running a test.

use anyhow::{Result, ensure};

use super::generate;
use crate::generated::GenerateMode;
use crate::{output, process, repository};

pub(super) fn run(arguments: &[String]) -> Result<()> {
    ensure!(arguments.is_empty(), "`check` takes no arguments");
    let root = repository::root();
    process::run(process::cargo(&root).args(["fmt", "--all", "--check"]))?;
    process::run(process::cargo(&root).args([
        "clippy",
        "--workspace",
        "--all-targets",
        "--locked",
        "--quiet",
        "--",
        "-D",
        "warnings",
    ]))?;
    generate::generate_all(GenerateMode::Check)?;
    output::say("check: formatting, lints and generated files are in order");
    Ok(())
}
