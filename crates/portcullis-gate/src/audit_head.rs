//! Keeps the end of the audit trail elsewhere, after every so many records, so that nobody has to remember it.
//!
//! ```text
//! record appended ──► due? ──► file, system log        here, before the host is answered
//!                        └───► program, webhook        by a process of our own, which nobody waits for
//! ```
//!
//! What came of each place is kept in the state directory, for `doctor` and `log verify`. A head that cannot be sent blocks
//! nothing: the trail itself has the record.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::os::unix::net::UnixDatagram;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use portcullis_settings::{HeadSettings, WebhookSettings};
use portcullis_store::Store;
use portcullis_store::audit::{Head, number_of_id};
use serde_json::json;

use crate::clock::now_ms;
use crate::{posting, process};

/// Sockets of the system log.
const SYSLOG: [&str; 2] = ["/dev/log", "/var/run/syslog"];

/// Facility `authpriv`, severity `info`.
const PRIORITY: u32 = 10 * 8 + 6;

/// How long the system log may take to take a line.
const SYSLOG_PATIENCE: Duration = Duration::from_millis(200);

/// How long a program or an address may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// The largest file of kept heads that is read.
const MOST_KEPT: u64 = 64 << 20;

/// The argument with which our own program sends what may take long.
pub const SEND_ELSEWHERE: &str = "--send-elsewhere";

/// A place that heads are sent to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeadPlace {
    /// A file that grows by a line.
    File,
    /// The system log of this machine.
    Syslog,
    /// A program of the user's choice.
    Command,
    /// An address.
    Webhook,
}

impl HeadPlace {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::File, Self::Syslog, Self::Command, Self::Webhook];

    /// Returns its name in settings.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Syslog => "syslog",
            Self::Command => "command",
            Self::Webhook => "webhook",
        }
    }

    /// Says whether settings name it.
    pub const fn is_named(self, settings: &HeadSettings) -> bool {
        match self {
            Self::File => settings.file.is_some(),
            Self::Syslog => settings.is_syslog,
            Self::Command => !settings.command.is_empty(),
            Self::Webhook => settings.webhook.is_some(),
        }
    }

    const fn is_near(self) -> bool {
        matches!(self, Self::File | Self::Syslog)
    }
}

/// What came of sending to a place the last time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeadDelivery {
    /// The place.
    pub place: HeadPlace,
    /// The number of the record.
    pub number: u64,
    /// When, in unix milliseconds.
    pub at_ms: u64,
    /// What went wrong, a clause that follows the name of the place.
    pub problem: Option<String>,
}

/// Says whether the end is to be sent after a record with this id.
pub fn is_due(settings: &HeadSettings, id: &str) -> bool {
    let every = u64::from(settings.every.max(1));
    settings.has_place() && number_of_id(id).is_some_and(|number| number > 0 && number % every == 0)
}

/// Sends the end of the trail after a record that was just appended, if it is due.
pub fn send_if_due(settings: &HeadSettings, store: &Store, id: &str) {
    if !is_due(settings, id) {
        return;
    }
    let near = HeadPlace::ALL.into_iter().filter(|place| place.is_near());
    send(settings, store, &near.collect::<Vec<_>>(), &|_, _| Ok(()));
    if settings.needs_program() {
        start_sender();
    }
}

/// Sends the end of the trail to every place that settings name, now.
pub fn send_everywhere(settings: &HeadSettings, store: &Store) -> Vec<HeadDelivery> {
    send(settings, store, &HeadPlace::ALL, &|place, head| send_far(settings, place, head))
}

/// Sends the end of the trail to the places that may take long.
pub fn send_elsewhere(settings: &HeadSettings, store: &Store) -> Vec<HeadDelivery> {
    let far: Vec<HeadPlace> = HeadPlace::ALL.into_iter().filter(|place| !place.is_near()).collect();
    send(settings, store, &far, &|place, head| send_far(settings, place, head))
}

/// Sends to places what stands at the end of the trail, and keeps what came of it. A trail without records has no end.
fn send(
    settings: &HeadSettings,
    store: &Store,
    places: &[HeadPlace],
    far: &dyn Fn(HeadPlace, &Head) -> Result<(), String>,
) -> Vec<HeadDelivery> {
    let Ok(Some(head)) = store.audit().head() else { return Vec::new() };
    let named = places.iter().copied().filter(|place| place.is_named(settings));
    let deliveries: Vec<HeadDelivery> = named
        .map(|place| {
            let sent = match (place, &settings.file) {
                (HeadPlace::File, Some(file)) => append_line(file, &head),
                (HeadPlace::Syslog, _) => tell_syslog(&SYSLOG.map(Path::new), &head),
                _ => far(place, &head),
            };
            HeadDelivery { place, number: head.number, at_ms: now_ms(), problem: sent.err() }
        })
        .collect();
    for delivery in &deliveries {
        // What cannot be kept of it is missing in `doctor`, which says so.
        let _ = keep(store.root(), delivery);
    }
    deliveries
}

fn line(head: &Head) -> String {
    format!("{} {} {}\n", head.number, head.hash, now_ms())
}

fn append_line(path: &Path, head: &Head) -> Result<(), String> {
    let failed = |error: &io::Error| format!("`{}` cannot be written: {error}", path.display());
    // A pipe that nobody reads would keep whoever waits for the decision.
    match fs::metadata(path) {
        Ok(found) if !found.is_file() => return Err(format!("`{}` is no file", path.display())),
        _ => {}
    }
    let file = OpenOptions::new().append(true).create(true).mode(0o600).open(path);
    file.and_then(|mut file| file.write_all(line(head).as_bytes())).map_err(|error| failed(&error))
}

fn tell_syslog(sockets: &[&Path], head: &Head) -> Result<(), String> {
    let message = format!("<{PRIORITY}>portcullis: audit head {} {}", head.number, head.hash);
    let socket = sockets.iter().find(|socket| socket.exists()).ok_or("there is no socket of a system log")?;
    let told = UnixDatagram::unbound().and_then(|sender| {
        sender.set_write_timeout(Some(SYSLOG_PATIENCE))?;
        sender.send_to(message.as_bytes(), socket)
    });
    told.map(|_| ()).map_err(|error| format!("`{}` does not take it: {error}", socket.display()))
}

fn send_far(settings: &HeadSettings, place: HeadPlace, head: &Head) -> Result<(), String> {
    match (place, settings.command.as_slice(), &settings.webhook) {
        (HeadPlace::Command, [program, arguments @ ..], _) => run(program, arguments, head),
        (HeadPlace::Webhook, _, Some(WebhookSettings { url, headers, variables })) => {
            let body = json!({"number": head.number, "hash": head.hash, "atMs": now_ms()});
            posting::post((url, headers, variables), body, Instant::now() + PATIENCE)
                .map(|_| ())
                .map_err(|what| format!("the address {what}"))
        }
        _ => Ok(()),
    }
}

fn run(program: &str, arguments: &[String], head: &Head) -> Result<(), String> {
    let mut command = Command::new(program);
    command.args(arguments).current_dir("/");
    match process::run(command, &line(head), PATIENCE) {
        Ok(finished) if finished.code == Some(0) => Ok(()),
        Ok(finished) => Err(format!("`{program}` ended with {:?}", finished.code)),
        Err(what) => Err(format!("`{program}` {what}")),
    }
}

/// Starts our own program to send what may take long. A program that embeds the engine is not ours to start.
fn start_sender() {
    let Ok(program) = std::env::current_exe() else { return };
    let name = program.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    if !matches!(name, "portcullis" | "portcullis-full") {
        return;
    }
    let mut command = Command::new(program);
    command.args(["log", "head", SEND_ELSEWHERE]).current_dir("/").process_group(0);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    if let Ok(mut child) = command.spawn() {
        // In a process that lives on, whoever has ended must be waited for.
        thread::spawn(move || child.wait());
    }
}

fn directory(root: &Path) -> PathBuf {
    root.join("heads")
}

fn keep(root: &Path, delivery: &HeadDelivery) -> io::Result<()> {
    let directory = directory(root);
    match DirBuilder::new().mode(0o700).create(&directory) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    let problem = delivery.problem.as_deref().unwrap_or_default().replace('\n', " ");
    let text = format!("{} {} {problem}\n", delivery.number, delivery.at_ms);
    let name = delivery.place.as_str();
    let fresh = directory.join(format!("{name}.{}", std::process::id()));
    OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(&fresh)?
        .write_all(text.as_bytes())?;
    fs::rename(fresh, directory.join(name))
}

/// Returns what came of sending the last time, for each place that anything was sent to.
pub fn deliveries(root: &Path) -> Vec<HeadDelivery> {
    let read = |place: HeadPlace| {
        let text = fs::read_to_string(directory(root).join(place.as_str())).ok()?;
        let mut words = text.trim_end().splitn(3, ' ');
        let (number, at_ms) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
        let problem = words.next().filter(|problem| !problem.is_empty()).map(str::to_owned);
        Some(HeadDelivery { place, number, at_ms, problem })
    };
    HeadPlace::ALL.into_iter().filter_map(read).collect()
}

/// Reads the heads that the file of settings keeps. The error says what is wrong with that file: also if a head that was
/// sent there is missing.
pub fn kept_heads(settings: &HeadSettings, root: &Path) -> Result<Vec<Head>, String> {
    let Some(path) = &settings.file else { return Ok(Vec::new()) };
    let sent =
        deliveries(root).into_iter().find(|sent| sent.place == HeadPlace::File && sent.problem.is_none());
    let shown = path.display();
    let text = match fs::metadata(path) {
        Ok(found) if found.len() > MOST_KEPT => return Err(format!("`{shown}` is too large")),
        Ok(_) => fs::read_to_string(path).map_err(|error| format!("`{shown}` cannot be read: {error}"))?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(format!("`{shown}` cannot be read: {error}")),
    };
    let heads = text.lines().enumerate().map(|(place, line)| {
        read_head(line).ok_or_else(|| format!("line {} of `{shown}` is no head", place + 1))
    });
    let heads = heads.collect::<Result<Vec<Head>, String>>()?;
    match sent {
        Some(sent) if !heads.iter().any(|head| head.number == sent.number) => {
            Err(format!("`{shown}` has lost the head of record {}, which was kept there", sent.number))
        }
        _ => Ok(heads),
    }
}

fn read_head(line: &str) -> Option<Head> {
    let mut words = line.split(' ');
    let (number, hash) = (words.next()?.parse().ok()?, words.next()?);
    let is_hash = hash.len() == 64 && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_hash.then(|| Head { number, hash: hash.to_owned() })
}

#[cfg(test)]
mod tests {
    use portcullis_store::audit::Entry;
    use pretty_assertions::assert_eq;

    use super::*;

    fn entry() -> Entry {
        serde_json::from_value(json!({
            "at_ms": 1, "host": "claude", "event": "e", "session": "s", "cwd": "/", "mode": "default",
            "headless": true, "tool": "Bash", "summary": "ls", "input": "{}", "decision": "deny", "said": "deny",
            "step": "A11", "kind": "headless", "reason": "r", "trace": [], "micros": 1,
        }))
        .unwrap()
    }

    /// A store with so many records, each of which was sent if it was due.
    fn recorded(folder: &Path, settings: &HeadSettings, count: u64) -> Store {
        let store = Store::new(folder.join("state"));
        for _ in 0..count {
            let id = store.audit().append(&entry()).unwrap();
            send_if_due(settings, &store, &id);
        }
        store
    }

    #[test]
    fn a_file_gets_a_line_after_every_so_many_records() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("heads.txt");
        let settings = HeadSettings { every: 3, file: Some(file.clone()), ..HeadSettings::default() };
        let store = recorded(folder.path(), &settings, 10);
        let kept = kept_heads(&settings, store.root()).unwrap();
        assert_eq!(kept.iter().map(|head| head.number).collect::<Vec<_>>(), [3, 6, 9]);
        assert!(store.audit().verify(&kept, None).unwrap().is_whole());
        let [sent] = deliveries(store.root()).try_into().unwrap();
        assert_eq!((sent.place, sent.number, sent.problem), (HeadPlace::File, 9, None));
        // Whoever cuts the trail and removes the index is found by the file alone.
        let trail = store.root().join("audit/current.jsonl");
        let whole = fs::read_to_string(&trail).unwrap();
        let cut: String = whole.split_inclusive('\n').take(5).collect();
        fs::write(&trail, cut).unwrap();
        assert!(!store.audit().verify(&kept, None).unwrap().is_whole());
        fs::remove_dir_all(store.root().join("audit")).unwrap();
        assert!(!store.audit().verify(&kept, None).unwrap().is_whole());
        // Whoever cuts the file as well leaves what the state knows of it.
        let lines: String = fs::read_to_string(&file).unwrap().split_inclusive('\n').take(2).collect();
        fs::write(&file, lines).unwrap();
        assert!(kept_heads(&settings, store.root()).unwrap_err().contains("record 9"));
        fs::write(&file, "hello\n").unwrap();
        assert!(kept_heads(&settings, store.root()).unwrap_err().contains("line 1"));
        fs::remove_file(&file).unwrap();
        assert!(kept_heads(&settings, store.root()).is_err());
    }

    #[test]
    fn what_cannot_be_sent_is_remembered_and_stops_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let settings =
            HeadSettings { every: 1, file: Some(folder.path().join("no/such")), ..HeadSettings::default() };
        let store = recorded(folder.path(), &settings, 2);
        let [sent] = deliveries(store.root()).try_into().unwrap();
        assert!(sent.problem.unwrap().contains("cannot be written"));
        // A directory, as a pipe, is no file.
        let settings = HeadSettings { file: Some(folder.path().to_path_buf()), ..settings };
        let [sent] = send_everywhere(&settings, &store).try_into().unwrap();
        assert!(sent.problem.unwrap().contains("is no file"));
        assert_eq!(
            recorded(folder.path(), &HeadSettings::default(), 1).audit().head().unwrap().unwrap().number,
            3
        );
    }

    #[test]
    fn programs_and_the_system_log_are_told_a_line() {
        let folder = tempfile::tempdir().unwrap();
        let told = folder.path().join("told");
        let script = format!("cat >> '{}'", told.display());
        let command = ["/bin/sh", "-c", &script].map(str::to_owned).to_vec();
        let settings = HeadSettings { every: 2, command, ..HeadSettings::default() };
        let store = recorded(folder.path(), &settings, 2);
        assert!(!told.exists(), "a program that is not ours starts nothing");
        let [sent] = send_elsewhere(&settings, &store).try_into().unwrap();
        assert_eq!((sent.place, sent.problem), (HeadPlace::Command, None));
        let head = store.audit().head().unwrap().unwrap();
        assert!(fs::read_to_string(&told).unwrap().starts_with(&format!("2 {} ", head.hash)));
        let socket = folder.path().join("log");
        let log = UnixDatagram::bind(&socket).unwrap();
        tell_syslog(&[Path::new("/no/such/socket"), &socket], &head).unwrap();
        let mut buffer = [0; 512];
        let length = log.recv(&mut buffer).unwrap();
        let line = String::from_utf8_lossy(&buffer[..length]);
        assert_eq!(line, format!("<86>portcullis: audit head 2 {}", head.hash));
        assert!(tell_syslog(&[Path::new("/no/such/socket")], &head).is_err());
    }
}
