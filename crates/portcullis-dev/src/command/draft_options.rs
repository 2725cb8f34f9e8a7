//! `cargo dev draft-options`: what packages say of the options of programs, held against our profiles.

use std::path::PathBuf;

use anyhow::{Context, Result, ensure};

use crate::option_draft::{MissingOption, ProgramName, missing, read_sources, report, table};
use crate::output;

/// Reads the texts about each program and tells which options its profile does not list, or drafts a table.
pub(super) fn run(arguments: &[String]) -> Result<()> {
    let (mut roots, mut help, mut is_draft, mut names) = (Vec::new(), None, false, Vec::new());
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        let mut value = || rest.next().with_context(|| format!("`{argument}` needs a folder"));
        match argument.as_str() {
            "--root" => roots.push(PathBuf::from(value()?)),
            "--help-texts" => help = Some(PathBuf::from(value()?)),
            "--draft" => is_draft = true,
            name => names.push(ProgramName::of(name)?),
        }
    }
    ensure!(!names.is_empty(), "name programs, and subcommands as in `git/commit`");
    if roots.is_empty() {
        roots.push(PathBuf::from("/"));
    }
    for name in &names {
        let (draft, count) = read_sources(name, &roots, help.as_deref())?;
        let title = format!("{} {}", name.program, name.subcommand.join(" ")).trim_end().to_owned();
        if is_draft {
            output::say(&table(name, &draft));
            continue;
        }
        let known = draft.options.len();
        match missing(name, &draft) {
            None => output::say(&format!("{title}: no profile; {known} options in {count} texts\n")),
            Some(missing) => {
                let urgent = missing.iter().filter(|one| MissingOption::is_urgent(one)).count();
                let title = format!("{title} ({known} options in {count} texts, {urgent} to look at first)");
                output::say(&report(&title, &missing));
            }
        }
    }
    Ok(())
}
