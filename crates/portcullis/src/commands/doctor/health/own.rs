//! Checks of ourselves: program, settings, state, clock, classifier.

use std::fs;
use std::net::{TcpStream, ToSocketAddrs as _};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, SystemTime};

use portcullis_classifier::KeySource;
use portcullis_classifier::protocol::ModelEndpoint;
use portcullis_settings::{ProblemSeverity, SettingsLocations};
use portcullis_store::Store;

use super::fence::check_fence;
use super::fleet::check_fleet;
use super::heads::check_heads;
use super::{Check, Checks};
use portcullis_gate::classifier::{ClassifierFlags, Resting, VoteStanding, assemble, has_classifier};
use portcullis_gate::clock::now_ms;
use portcullis_gate::env_vars;
use portcullis_gate::mode_in_force::{usual_mode, who_decides};
use portcullis_gate::process;
use portcullis_gate::{SessionSettings, SettingsFlags};
use portcullis_install::program;

/// What lies further in the future than this shows that a clock is or was wrong.
const FUTURE: Duration = Duration::from_hours(24);

/// How long a model's host may take to take a connection.
const REACH: Duration = Duration::from_secs(10);

/// The most files of the state that are looked at.
const MOST_FILES: usize = 10_000;

/// Checks ourselves. The network is touched only where that is asked for.
pub(crate) fn check_own(locations: &SettingsLocations, is_online: bool) -> Vec<Check> {
    let mut checks = Checks::new(None);
    check_program(&mut checks, locations);
    let session = check_settings(&mut checks);
    let is_shared = session.as_ref().is_some_and(|session| session.loaded.store.is_shared());
    check_state(&mut checks, locations, is_shared);
    if let Some(session) = &session {
        checks.fine("mode", format!("{}; {}", usual_mode(session), who_decides(session)));
        check_fleet(&mut checks, session);
        check_heads(&mut checks, session);
        check_fence(&mut checks, &session.locations);
        check_classifier(&mut checks, session, is_online);
    }
    checks.list
}

fn check_program(checks: &mut Checks, locations: &SettingsLocations) {
    let version = env!("CARGO_PKG_VERSION");
    match program::find(None, locations) {
        Err(failure) => checks.problem("program", failure.message, failure.hint.unwrap_or_default()),
        Ok(program) if program.doubts.is_empty() => {
            checks.fine("program", format!("`{}`, version {version}", program.text));
        }
        Ok(program) => {
            let message = format!("`{}`, version {version}, {}", program.text, program.doubts.join("; it "));
            let remedy =
                "install it where only you or the administrator write, and run `portcullis init` again";
            checks.warning("program", message, remedy);
        }
    }
}

fn check_settings(checks: &mut Checks) -> Option<SessionSettings> {
    let session = match SessionSettings::open(&SettingsFlags::default()) {
        Ok(session) => session,
        Err(failure) => {
            checks.problem("settings", failure.message, failure.hint.unwrap_or_default());
            return None;
        }
    };
    let worst = session.loaded.problems.iter().max_by_key(|problem| problem.severity);
    let count = session.loaded.problems.len();
    match worst {
        Some(problem) if problem.severity >= ProblemSeverity::Warning => {
            let file = problem.file.as_deref().unwrap_or("settings");
            let more = if count > 1 { format!(" (and {} more)", count - 1) } else { String::new() };
            let message = format!("{file}: {}{more}", problem.message);
            let remedy = "see `portcullis settings show` and repair the file";
            if problem.severity == ProblemSeverity::Error {
                checks.problem("settings", message, remedy);
            } else {
                checks.warning("settings", message, remedy);
            }
        }
        _ => checks.fine("settings", "they load without problems"),
    }
    Some(session)
}

/// Checks what is kept on this machine; sessions and the audit trail are not, where the store is shared.
fn check_state(checks: &mut Checks, locations: &SettingsLocations, is_shared: bool) {
    let Some(state) = &locations.state else {
        checks.problem("state", "there is no place for it: the home directory is not known", "set HOME");
        return;
    };
    if fs::symlink_metadata(state).is_err() {
        checks.fine("state", format!("`{}` is made when it is first needed", state.display()));
        return;
    }
    let place = state.display();
    if let Err(why) = look_at_state(state) {
        checks.problem("state", format!("`{place}` {why}"), "repair it: what cannot be recorded is blocked");
        return;
    }
    checks.fine("state", format!("`{place}` is private and can be written"));
    check_space(checks, state);
    check_clock(checks, state);
    if !is_shared {
        check_kept(checks, &Store::new(state.clone()));
    }
}

fn check_kept(checks: &mut Checks, store: &Store) {
    match store.audit().head() {
        Ok(Some(head)) => checks.fine("audit", format!("its last record is number {}", head.number)),
        Ok(None) => checks.fine("audit", "it has no records yet"),
        Err(error) => {
            checks.problem(
                "audit",
                error.to_string(),
                "see `portcullis log verify`; calls are blocked until then",
            );
        }
    }
    match store.recently_denied(0, now_ms()) {
        Ok(recent) => match recent.problems.first() {
            Some(problem) => {
                checks.warning(
                    "sessions",
                    problem.to_string(),
                    "remove the file: that session's counts are lost",
                );
            }
            None => checks.fine("sessions", "all of them can be read"),
        },
        Err(error) => checks.problem("sessions", error.to_string(), "repair or remove it"),
    }
}

/// Says what is wrong with the state directory, a clause that follows its name.
fn look_at_state(state: &Path) -> Result<(), String> {
    let metadata = fs::symlink_metadata(state).map_err(|error| format!("cannot be looked at: {error}"))?;
    if !metadata.is_dir() {
        return Err("is not a directory".to_owned());
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = metadata.permissions().mode() & 0o777;
        if mode & 0o077 != 0 {
            return Err(format!("can be used by others (mode {mode:o}): `chmod 700` it"));
        }
    }
    let trial = state.join(format!(".doctor-{}.tmp", std::process::id()));
    fs::write(&trial, b"portcullis").map_err(|error| format!("cannot be written: {error}"))?;
    fs::remove_file(&trial).map_err(|error| format!("cannot be cleaned: {error}"))
}

/// Checks that there is room. Where the system's `df` does not say, nothing is said.
fn check_space(checks: &mut Checks, state: &Path) {
    let mut command = Command::new("df");
    command.arg("-Pk").arg(state).env("LC_ALL", "C");
    let Ok(finished) = process::run(command, "", REACH) else { return };
    let line = finished.stdout.lines().nth(1).unwrap_or_default();
    let Some(kibibytes) = line.split_whitespace().nth(3).and_then(|word| word.parse::<u64>().ok()) else {
        return;
    };
    let mebibytes = kibibytes / 1024;
    let message = format!("{mebibytes} MiB are free where the state is");
    match mebibytes {
        0..10 => checks.problem("space", message, "make room: a call that cannot be recorded is blocked"),
        10..200 => checks.warning("space", message, "make room soon"),
        _ => checks.fine("space", message),
    }
}

/// Checks that no file of the state is from the future, the audit trail among them: grants and pauses go by the clock.
fn check_clock(checks: &mut Checks, state: &Path) {
    let latest = SystemTime::now() + FUTURE;
    let mut folders = vec![state.to_path_buf()];
    let mut seen = 0;
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            seen += 1;
            let Ok(metadata) = entry.metadata() else { continue };
            if metadata.is_dir() && seen < MOST_FILES {
                folders.push(entry.path());
            } else if metadata.modified().is_ok_and(|time| time > latest) {
                let message = format!("`{}` is from the future", entry.path().display());
                checks.warning("clock", message, "set the clock; if it is right now, it was wrong then");
                return;
            }
        }
    }
    checks.fine("clock", "nothing in the state is from the future");
}

fn check_classifier(checks: &mut Checks, session: &SessionSettings, is_online: bool) {
    let arguments = ClassifierFlags::default();
    if !has_classifier(&session.loaded, &arguments) {
        checks.fine(
            "classifier",
            "none is set up: auto mode asks a person where neither rules nor the analysis decide",
        );
        return;
    }
    let setup = match assemble(session, &arguments, session.store().as_ref(), Resting::Ignored) {
        Ok(setup) => setup,
        Err(problem) => {
            checks.problem("classifier", problem, "see `portcullis auto-mode config`");
            return;
        }
    };
    for endpoint in &setup.judge.endpoints {
        let standing = VoteStanding::of(&setup, endpoint, session.store().as_ref());
        check_endpoint(checks, endpoint, is_online);
        if let Some(objection) = standing.objection(&endpoint.model.id) {
            let why = objection.split("; ").next().unwrap_or(&objection).to_owned();
            checks.warning("classifier", why, "run `portcullis auto-mode test`");
        }
    }
}

fn check_endpoint(checks: &mut Checks, endpoint: &ModelEndpoint, is_online: bool) {
    let name = format!("{} at {}", endpoint.model.id, endpoint.connection.base().as_str());
    match &endpoint.key {
        KeySource::Variable { name: variable, value }
            if value.as_deref().is_none_or(|value| value.trim().is_empty()) =>
        {
            let message = format!("{name}: its key is not there, the variable `{variable}` is not set");
            checks.problem("classifier", message, "set it where the agent is started");
            return;
        }
        KeySource::Variable { name: variable, .. } => {
            checks.fine("classifier", format!("{name}: its key is in the variable `{variable}`"));
        }
        KeySource::Command(_) => checks.fine("classifier", format!("{name}: a program prints its key")),
        KeySource::None => checks.fine("classifier", format!("{name}: it needs no key")),
    }
    if is_online {
        check_reach(checks, endpoint, &name);
    }
}

/// Checks that a connection can be made. Nothing is sent, so no key leaves and nothing is paid.
fn check_reach(checks: &mut Checks, endpoint: &ModelEndpoint, name: &str) {
    if env_vars::proxy().is_some() {
        checks.fine(
            "network",
            format!("{name} is reached through a proxy; `portcullis auto-mode test` asks it"),
        );
        return;
    }
    let base = endpoint.connection.base();
    let addresses = (base.host().trim_matches(['[', ']']), base.port()).to_socket_addrs();
    let reached =
        addresses.map(|mut list| list.any(|address| TcpStream::connect_timeout(&address, REACH).is_ok()));
    if matches!(reached, Ok(true)) {
        checks.fine("network", format!("{name} takes connections"));
    } else {
        checks.problem("network", format!("{name} cannot be reached"), "check the network and the address");
    }
}
