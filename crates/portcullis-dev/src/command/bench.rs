//! `cargo dev bench`: the time benchmarks of every crate that has some.

use anyhow::Result;

use crate::{process, repository};

pub(super) fn run(arguments: &[String]) -> Result<()> {
    let root = repository::root();
    let mut command = process::cargo(&root);
    command
        .args(["bench", "--profile", "dist", "--workspace", "--locked", "--bench", "*", "--"])
        .args(arguments);
    process::run(&mut command)
}
