//! What is remembered, for terminals and programs.

use std::fmt::Write as _;

use portcullis_core::visible;
use portcullis_gate::recollection::read_shape;
use portcullis_output::human::{age, counted};
use portcullis_output::terminal::{BOLD, DIM, Painted};
use portcullis_store::RememberedYes;
use serde_json::{Value, json};

use super::KnownYes;

/// Returns the program with its subcommand.
pub(super) fn title(yes: &RememberedYes) -> String {
    read_shape(yes).map_or_else(|| yes.program.clone(), |shape| shape.title())
}

/// Returns the content of a rule for it: the very command, where its words are known to the last one.
pub(super) fn rule(yes: &RememberedYes) -> String {
    let spelled = read_shape(yes).and_then(|shape| shape.spelled());
    spelled.unwrap_or_else(|| format!("{}:*", title(yes)))
}

/// Returns the list, by repository.
pub(super) fn table(known: &[KnownYes], now: u64) -> String {
    let mut repositories: Vec<&str> = known.iter().map(|(_, yes)| yes.repository.as_str()).collect();
    repositories.sort_unstable();
    repositories.dedup();
    let mut out = String::new();
    for repository in repositories {
        // Writing to a String cannot fail.
        let _ = writeln!(out, "{}", Painted(DIM, format!("in {}", visible(repository))));
        for (id, yes) in known.iter().filter(|(_, yes)| yes.repository == repository) {
            let used = if yes.uses == 0 { "not used yet".to_owned() } else { counted(yes.uses, "use") };
            let when = format!("allowed {} ago, {used}", age(now.saturating_sub(yes.allowed_at_ms)));
            let name = Painted(BOLD, visible(id));
            let _ = writeln!(out, "  {name}  {}  {}", visible(&title(yes)), Painted(DIM, when));
        }
    }
    out
}

/// Returns all that is known of one.
pub(super) fn details((id, yes): &KnownYes, now: u64) -> String {
    let mut out = format!("{}  {}\n", Painted(BOLD, visible(id)), visible(&title(yes)));
    let mut line = |name: &str, value: &str| {
        if !value.is_empty() {
            let _ = writeln!(out, "  {:<12} {}", name, visible(value));
        }
    };
    let ago = |at_ms: u64| format!("{} ago", age(now.saturating_sub(at_ms)));
    line("you allowed", &yes.example);
    line("when", &ago(yes.allowed_at_ms));
    line("last used", &if yes.uses == 0 { String::new() } else { ago(yes.used_at_ms) });
    line("repository", &yes.repository);
    line("remote", yes.remote.as_deref().unwrap_or_default());
    line("program", &yes.file);
    line("hash", yes.digest.as_deref().unwrap_or_default());
    line("other words", &yes.words.join(" "));
    line("it may", &yes.acts.join(", "));
    line("touching", &yes.targets.join(", "));
    for (script, hash) in yes.scripts.iter().filter(|(_, hash)| !hash.is_empty()) {
        line("script", &format!("{script} {hash}"));
    }
    out
}

/// Says of one that it is forgotten.
pub(super) fn forgotten((id, yes): &KnownYes) -> String {
    format!("{}  forgot {} in {}\n", visible(id), visible(&title(yes)), visible(&yes.repository))
}

/// Returns one for programs.
pub(super) fn to_json((id, yes): &KnownYes) -> Value {
    json!({
        "id": id,
        "title": title(yes),
        "repository": yes.repository,
        "remote": yes.remote,
        "program": yes.program,
        "file": yes.file,
        "digest": yes.digest,
        "subcommand": yes.subcommand,
        "words": yes.words,
        "acts": yes.acts,
        "targets": yes.targets,
        "scripts": yes.scripts,
        "example": yes.example,
        "allowedAtMs": yes.allowed_at_ms,
        "usedAtMs": yes.used_at_ms,
        "uses": yes.uses,
    })
}
