//! `portcullis log verify` and `portcullis log head`: whether the record is what was written.

use std::fmt::Write as _;

use clap::Args;
use portcullis_core::visible;
use portcullis_store::audit::{Break, Head, TornLine, Verification};
use serde_json::{Value, json};

use super::Trail;
use crate::exit_code::ExitCode;
use portcullis_gate::Failure;
use portcullis_gate::audit_head::HeadDelivery;
use portcullis_output::human::counted;
use portcullis_output::terminal::{DIM, ERROR, Painted, print, printable};

/// Walk the whole record and say whether it is what was written
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  portcullis log verify
  portcullis log verify --expect \"$(cut -d' ' -f2 head.txt)\"

Every line names the hash of the one before it, so a line that was changed, removed, added or moved
is found. Lines that were cut off at the end, or a record that was made anew, are found by the ends
which the index has seen, by those in the file of the setting `audit.head.file`, or by a hash that
was kept elsewhere (`portcullis log head`).
Whoever may write the files can make all of it anew, and the index with it: only a hash that is out
of their reach proves that they did not.
A line that a killed process left unfinished is told, and is no damage; a whole line that Portcullis
did not write is forged.

Exit codes: 0 whole, 1 changed or the expected hash is missing, 70 internal failure")]
pub(crate) struct VerifyArgs {
    /// A hash that must be in the chain
    #[arg(long, value_name = "HASH", value_parser = hash)]
    expect: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Print how many records there are and the hash of the last, to be kept elsewhere
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  portcullis log head
  portcullis log head >> /media/stick/head.txt
  portcullis log head --send

With the setting `audit.head` it is sent to places of your choice after every so many records.

Exit codes: 0 done, 1 it could not be sent everywhere, 64 wrong usage, 70 internal failure")]
pub(crate) struct HeadArgs {
    /// Send it to the places that the setting `audit.head` names, now
    #[arg(long)]
    send: bool,
    /// Send it to those that may take long: what a hook starts and does not wait for
    #[arg(long, hide = true, conflicts_with = "send")]
    send_elsewhere: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

fn hash(text: &str) -> Result<String, String> {
    let is_hash = text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    if is_hash { Ok(text.to_owned()) } else { Err("expected 64 hexadecimal digits".to_owned()) }
}

/// Runs `log verify`.
pub(super) fn verify(arguments: &VerifyArgs) -> Result<ExitCode, Failure> {
    let trail = Trail::open()?;
    let kept = trail.kept_heads();
    let mut seen = trail.audit.seen_heads().map_err(|error| Failure::from(&error))?;
    seen.extend(kept.iter().flatten().cloned());
    let found =
        trail.audit.verify(&seen, arguments.expect.as_deref()).map_err(|error| Failure::from(&error))?;
    let lost = kept.err();
    print(&if arguments.json {
        printable(&format!("{:#}\n", object(&found, lost.as_deref())))
    } else {
        text(&found, lost.as_deref())
    })?;
    Ok(if found.is_whole() && lost.is_none() { ExitCode::Success } else { ExitCode::Findings })
}

/// Runs `log head`.
pub(super) fn head(arguments: &HeadArgs) -> Result<ExitCode, Failure> {
    let trail = Trail::open()?;
    if arguments.send || arguments.send_elsewhere {
        return send(&trail, arguments);
    }
    let head = trail.audit.head().map_err(|error| Failure::from(&error))?;
    let head = head.unwrap_or_else(|| Head { number: 0, hash: "0".repeat(64) });
    print(&if arguments.json {
        format!("{:#}\n", head_object(&head))
    } else {
        format!("{} {}\n", head.number, head.hash)
    })?;
    Ok(ExitCode::Success)
}

/// Sends the head, and says what came of each place.
fn send(trail: &Trail, arguments: &HeadArgs) -> Result<ExitCode, Failure> {
    let deliveries = if arguments.send { trail.send_everywhere() } else { trail.send_elsewhere() };
    if arguments.send && deliveries.is_empty() {
        return Err(Failure::usage("there is no record, or settings name no place for heads")
            .with_hint("set `audit.head.file`, `command`, `syslog` or `webhook`"));
    }
    let mut out = String::new();
    for HeadDelivery { place, number, problem, .. } in &deliveries {
        let outcome =
            problem.as_deref().map_or_else(|| format!("has the head of record {number}"), str::to_owned);
        // Writing to a String cannot fail.
        let _ = writeln!(out, "{}: {}", place.as_str(), visible(&outcome));
    }
    print(&out)?;
    let has_failed = deliveries.iter().any(|delivery| delivery.problem.is_some());
    Ok(if has_failed { ExitCode::Findings } else { ExitCode::Success })
}

/// Writes what was found; `lost` says what is wrong with the heads that were kept elsewhere.
fn text(found: &Verification, lost: Option<&str>) -> String {
    let mut out = String::new();
    if let Some(lost) = lost {
        // Writing to a String cannot fail.
        let _ = writeln!(out, "{} {}", Painted(ERROR, "kept heads:"), visible(lost));
    }
    for torn in &found.torn {
        let place = format!("{}:{}", torn.file.display(), torn.line);
        let told = format!("{}: a process was killed while it wrote this line", visible(&place));
        // Writing to a String cannot fail.
        let _ = writeln!(out, "{} {told}", Painted(DIM, "torn:"));
    }
    for broken in &found.breaks {
        let place = if broken.line > 0 { format!(":{}", broken.line) } else { String::new() };
        let told = format!("{}{place}: {}", broken.file.display(), broken.what);
        let label = if broken.is_forged { "forged:" } else { "changed:" };
        let _ = writeln!(out, "{} {}", Painted(ERROR, label), visible(&told));
    }
    if found.has_expected == Some(false) {
        let _ = writeln!(out, "{} the expected hash is not in the chain", Painted(ERROR, "missing:"));
    }
    let more = found.break_count.saturating_sub(u64::try_from(found.breaks.len()).unwrap_or(u64::MAX));
    if more > 0 {
        let _ = writeln!(out, "and {}", counted(more, "more place"));
    }
    let removed = match found.removed {
        0 => String::new(),
        removed => format!(", after {removed} that retention removed"),
    };
    let verdict = if found.is_whole() && lost.is_none() {
        "the record is whole"
    } else {
        "the record is not what was written"
    };
    let _ = writeln!(out, "{verdict}: {}{removed}", counted(found.records, "record"));
    if let Some(head) = &found.head {
        let _ = writeln!(out, "head: {} {}", head.number, head.hash);
    }
    out
}

fn object(found: &Verification, lost: Option<&str>) -> Value {
    let breaks = found.breaks.iter().map(|Break { file, line, what, is_forged }| {
        json!({"file": file.to_string_lossy(), "line": line, "what": what, "forged": is_forged})
    });
    let torn = found
        .torn
        .iter()
        .map(|TornLine { file, line }| json!({"file": file.to_string_lossy(), "line": line}));
    json!({
        "whole": found.is_whole() && lost.is_none(),
        "records": found.records,
        "removed": found.removed,
        "head": found.head.as_ref().map(head_object),
        "breaks": breaks.collect::<Vec<_>>(),
        "breakCount": found.break_count,
        "torn": torn.collect::<Vec<_>>(),
        "hasExpected": found.has_expected,
        "keptHeads": lost,
    })
}

fn head_object(head: &Head) -> Value {
    json!({"number": head.number, "hash": head.hash})
}
