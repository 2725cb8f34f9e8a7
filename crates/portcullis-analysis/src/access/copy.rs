//! `cp`, `mv`, `ln` and `install`: what they read, remove and write.

use super::{FileUse, Likelihood, each};
use crate::argument::{Argument, Knowledge};
use crate::invocation::{Access, base_name};

/// Returns the sources and the destination, unless `-t` names it.
pub(super) fn files(name: &str, operands: &[Argument]) -> Vec<FileUse> {
    let from = if name == "mv" { Access::Remove } else { Access::Read };
    let mut sources = Vec::new();
    let mut words = operands.iter();
    let mut named = None;
    let mut wandering = Vec::new();
    while let Some(word) = words.next() {
        match target_directory(word) {
            Some("") => named = words.next().cloned(),
            Some(attached) => named = Some(word.piece(attached)),
            // A suffix with a slash in it moves the copy that is kept elsewhere.
            None if has_wandering_suffix(word, words.as_slice().first()) => wandering.push(unknown(word)),
            None if word.text == "--" => sources.extend(words.by_ref().cloned()),
            None if !word.is_option() => sources.push(word.clone()),
            None => {}
        }
    }
    let Some(destination) = named.or_else(|| sources.pop()) else {
        return Vec::new();
    };
    let inside = sources.iter().filter_map(|source| inside(&destination, source));
    let mut uses: Vec<FileUse> = inside
        .map(|file| FileUse { access: Access::Write, file, likelihood: Likelihood::Possible })
        .collect();
    uses.push(FileUse { access: Access::Write, file: destination, likelihood: Likelihood::Sure });
    uses.extend(each(sources, from));
    uses.extend(each(wandering, Access::Write));
    uses
}

/// Returns the value attached to an option that names the target directory; empty if the next word is the value.
fn target_directory(word: &Argument) -> Option<&str> {
    if let Some(long) = word.text.strip_prefix("--") {
        let (name, value) = long.split_once('=').unwrap_or((long, ""));
        return (!name.is_empty() && "target-directory".starts_with(name)).then_some(value);
    }
    let cluster = word.text.strip_prefix('-')?;
    cluster.split_once('t').map(|(_, attached)| attached)
}

/// Returns the file that results if the destination is a directory.
fn inside(destination: &Argument, source: &Argument) -> Option<Argument> {
    let name = base_name(source.text.trim_end_matches('/'));
    let text = format!("{}/{name}", destination.text.trim_end_matches('/'));
    let knowledge = destination.knowledge.max(source.knowledge);
    let is_name = !matches!(name, "" | "." | "..");
    is_name.then(|| Argument {
        text,
        source: Some(destination.as_written().to_owned()),
        knowledge,
        span: destination.span,
    })
}

/// Says whether an option gives the suffix of backups, and the suffix leads to another directory.
fn has_wandering_suffix(word: &Argument, next: Option<&Argument>) -> bool {
    if let Some(long) = word.text.strip_prefix("--") {
        let name = long.split('=').next().unwrap_or(long);
        let is_suffix = !name.is_empty() && "suffix".starts_with(name);
        return is_suffix && (long.contains('/') || next.is_some_and(|next| next.text.contains('/')));
    }
    let Some((_, attached)) = word.text.strip_prefix('-').and_then(|cluster| cluster.split_once('S')) else {
        return false;
    };
    attached.contains('/') || (attached.is_empty() && next.is_some_and(|next| next.text.contains('/')))
}

fn unknown(word: &Argument) -> Argument {
    Argument { knowledge: Knowledge::Dynamic, ..word.clone() }
}
