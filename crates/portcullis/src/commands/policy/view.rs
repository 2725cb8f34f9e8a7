//! What was published: the list, one version, and whether the signatures fit.

use std::fmt::Write as _;

use clap::Args;
use portcullis_core::visible;
use portcullis_settings::PublicKey;
use portcullis_store::PolicyVersion;
use serde_json::{Value, json};

use super::Fleet;
use crate::exit_code::ExitCode;
use portcullis_daemon::policy::{of_store, trusted_keys};
use portcullis_gate::Failure;
use portcullis_output::calendar;
use portcullis_output::terminal::{BOLD, DIM, ERROR, Painted, print, printable};

/// How many versions are listed.
const MOST: u64 = 1_000;

#[derive(Debug, Args)]
pub(super) struct ListArgs {
    /// How many versions
    #[arg(long, value_name = "NUMBER", default_value_t = 20)]
    limit: u64,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
pub(super) struct ShowArgs {
    /// The version; the newest if none is named
    #[arg(value_name = "VERSION")]
    version: Option<u64>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
pub(super) struct VerifyArgs {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Lists versions.
pub(super) fn list(arguments: &ListArgs) -> Result<ExitCode, Failure> {
    let fleet = Fleet::open()?;
    let versions = versions(&fleet, arguments.limit)?;
    let in_force = fleet.session.loaded.pushed.as_ref().map(|stamp| stamp.version);
    if arguments.json {
        let list: Vec<Value> = versions.iter().map(version_json).collect();
        let object = json!({"policies": list, "inForce": in_force});
        print(&printable(&format!("{object:#}\n")))?;
    } else if versions.is_empty() {
        print("no policy was published\n")?;
    } else {
        let line = |version: &PolicyVersion| {
            let mark = if in_force == Some(version.version) { "  in force here" } else { "" };
            format!("{}{}\n", version_text(version), Painted(BOLD, mark))
        };
        print(&versions.iter().map(line).collect::<String>())?;
    }
    Ok(ExitCode::Success)
}

/// Shows one version.
pub(super) fn show(arguments: &ShowArgs) -> Result<ExitCode, Failure> {
    let fleet = Fleet::open()?;
    let backend = fleet.store.backend();
    let found = match arguments.version {
        Some(version) => backend.policy(version),
        None => backend.latest_policy(),
    };
    let policy = found.map_err(|error| Failure::from(&error))?.map(of_store).ok_or_else(|| {
        Failure::usage("there is no such policy").with_hint("`portcullis policy list` lists them")
    })?;
    let trouble = check(&fleet, &policy)?;
    if arguments.json {
        let object = json!({
            "version": policy.version,
            "signedAtMs": policy.signed_at_ms,
            "key": policy.key,
            "note": policy.note,
            "settings": policy.settings,
            "signature": policy.signature,
            "trouble": trouble,
        });
        print(&printable(&format!("{object:#}\n")))?;
        return Ok(ExitCode::Success);
    }
    let stamp = PolicyVersion {
        version: policy.version,
        signed_at_ms: policy.signed_at_ms,
        note: policy.note,
        key: policy.key,
    };
    let mut out = format!("{}\n", version_text(&stamp));
    if let Some(trouble) = trouble {
        let _ = writeln!(out, "{}", Painted(ERROR, visible(&trouble)));
    }
    for line in policy.settings.lines() {
        let _ = writeln!(out, "{}", visible(line));
    }
    print(&out)?;
    Ok(ExitCode::Success)
}

/// Checks every version.
pub(super) fn verify(arguments: &VerifyArgs) -> Result<ExitCode, Failure> {
    let fleet = Fleet::open()?;
    if keys(&fleet)?.is_empty() {
        return Err(Failure::usage("`store.policyKeys` names no key that can be used to check").with_hint(
            "write the line that `portcullis policy keygen` printed into the user or managed settings",
        ));
    }
    let mut checked: Vec<(u64, Option<String>)> = Vec::new();
    for listed in versions(&fleet, MOST)? {
        let found = fleet.store.backend().policy(listed.version).map_err(|error| Failure::from(&error))?;
        let trouble = match found.map(of_store) {
            Some(policy) if policy.version == listed.version => check(&fleet, &policy)?,
            Some(_) | None => Some("the store has another policy, or none, under this number".to_owned()),
        };
        checked.push((listed.version, trouble));
    }
    let wrong = checked.iter().filter(|(_, trouble)| trouble.is_some()).count();
    if arguments.json {
        let one =
            |(version, trouble): &(u64, Option<String>)| json!({"version": version, "trouble": trouble});
        let list: Vec<Value> = checked.iter().map(one).collect();
        print(&printable(&format!("{:#}\n", json!({"policies": list, "wrong": wrong}))))?;
    } else {
        let mut out = String::new();
        for (version, trouble) in checked.iter().filter(|(_, trouble)| trouble.is_some()) {
            let trouble = trouble.as_deref().unwrap_or_default();
            let _ = writeln!(out, "{version}  {}", Painted(ERROR, visible(trouble)));
        }
        let _ = writeln!(
            out,
            "{} of {} are signed by a key that is trusted",
            checked.len() - wrong,
            checked.len()
        );
        print(&out)?;
    }
    Ok(if wrong == 0 { ExitCode::Success } else { ExitCode::Findings })
}

fn versions(fleet: &Fleet, most: u64) -> Result<Vec<PolicyVersion>, Failure> {
    fleet.store.backend().policies(most.min(MOST)).map_err(|error| Failure::from(&error))
}

fn keys(fleet: &Fleet) -> Result<Vec<PublicKey>, Failure> {
    trusted_keys(&fleet.session.loaded).map_err(Failure::usage)
}

/// Says what is wrong with a signature; without keys nothing is said.
fn check(fleet: &Fleet, policy: &portcullis_settings::PushedPolicy) -> Result<Option<String>, Failure> {
    let keys = keys(fleet)?;
    Ok(policy.verify(&keys).err().filter(|_| !keys.is_empty()).map(|refusal| refusal.to_string()))
}

fn version_text(version: &PolicyVersion) -> String {
    let PolicyVersion { version, signed_at_ms, note, key } = version;
    let when = Painted(DIM, format!("{} by {}", calendar::time(*signed_at_ms), visible(key)));
    let head = format!("{}  {when}", Painted(BOLD, version));
    if note.is_empty() { head } else { format!("{head}  {}", visible(note)) }
}

fn version_json(version: &PolicyVersion) -> Value {
    let PolicyVersion { version, signed_at_ms, note, key } = version;
    json!({"version": version, "signedAtMs": signed_at_ms, "note": note, "key": key})
}
