//! The command-line reference: what `--help` of every command prints.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use super::NOTICE;
use crate::process;

pub(super) fn page(root: &Path) -> Result<String> {
    let binary = build(root)?;
    let mut page = format!("{NOTICE}\n\n# Command line\n\nWhat `--help` of every command prints.\n");
    add_command(&binary, &[], &mut page)?;
    Ok(page)
}

fn build(root: &Path) -> Result<PathBuf> {
    process::run(process::cargo(root).args(["build", "--quiet", "--locked", "--package", "portcullis"]))?;
    let metadata = process::capture(process::cargo(root).args([
        "metadata",
        "--no-deps",
        "--offline",
        "--format-version",
        "1",
    ]))?;
    let metadata: serde_json::Value = serde_json::from_str(&metadata)?;
    let target = metadata.get("target_directory").and_then(serde_json::Value::as_str);
    Ok(Path::new(target.context("cargo names no target directory")?).join("debug").join("portcullis"))
}

/// Adds the help of one command, then that of its subcommands.
fn add_command(binary: &Path, words: &[&str], page: &mut String) -> Result<()> {
    let mut command = Command::new(binary);
    // The width and the colours of the terminal must not matter.
    command.args(words).arg("--help").env("COLUMNS", "100").env("NO_COLOR", "1");
    let help = process::capture(&mut command)?;
    let help: Vec<&str> = help.lines().map(str::trim_end).collect();
    let title = [&["portcullis"], words].concat().join(" ");
    // Writing to a string cannot fail.
    let _ = write!(page, "\n## `{title}`\n\n```text\n{}\n```\n", help.join("\n").trim_end());
    for name in subcommands(&help) {
        add_command(binary, &[words, &[name]].concat(), page)?;
    }
    Ok(())
}

/// Reads the names below the headings of commands, of which there may be several; `help` is left out.
fn subcommands<'a>(help: &[&'a str]) -> Vec<&'a str> {
    let is_heading = |line: &str| line.to_lowercase().contains("commands") && line.ends_with(':');
    let sections = help.split(|line| line.is_empty());
    let entries = sections.filter_map(<[&str]>::split_first).filter(|(first, _)| is_heading(first));
    let names = entries.flat_map(|(_, entries)| entries).filter_map(|line| {
        let entry = line.strip_prefix("  ").filter(|entry| !entry.starts_with(' '))?;
        entry.split_whitespace().next()
    });
    names.filter(|name| *name != "help").collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subcommands_are_read_from_the_help_text() {
        let help = [
            "Usage: x",
            "",
            "Commands:",
            "  check  Decides",
            "         and more",
            "  help   Prints",
            "",
            "Commands for rules:",
            "  rules  Lists",
            "",
            "Options:",
            "  -h",
        ];
        assert_eq!(subcommands(&help), ["check", "rules"]);
        assert_eq!(subcommands(&["Options:", "  -h"]), Vec::<&str>::new());
    }
}
