//! The daemon under load: killed again and again it loses nothing that it acknowledged, and a thousand questions wait at
//! once. The same for files and for PostgreSQL.

use std::collections::hash_map::RandomState;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::hash::{BuildHasher as _, Hasher as _};
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::SystemTime;

use portcullis_postgres::{PostgresOptions, PostgresStore};
use portcullis_store::{NewApprovalRequest, Store};
use portcullis_testkit::PostgresServer;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::approvals::{answer, id, open_questions, question, sandbox as home, until};
use super::daemon::{Answer, Daemon, serve};
use super::log::state;
use super::sandbox::{Sandbox, stand_ins};

const CALLERS: usize = 8;
const CALLS_EACH: usize = 200;
const KILLS: usize = 5;

/// How many questions wait at once.
const QUESTIONS: usize = 1_000;

/// How many questions one session asks: it remembers its last denied calls, and not all of them.
const QUESTIONS_EACH: usize = 20;

/// The most threads that a daemon may have, whatever it does.
const MOST_THREADS: u64 = 100;

/// The most memory that a daemon may ever have had, in kilobytes.
const MOST_MEMORY: u64 = 512 * 1024;

/// A connection that is used for call after call, and made anew when the daemon went away.
pub(crate) struct Caller {
    address: String,
    token: String,
    stream: Option<BufReader<TcpStream>>,
}

impl Caller {
    pub(crate) fn new(daemon: &Daemon) -> Self {
        Self { address: daemon.address.clone(), token: daemon.hook_token(), stream: None }
    }

    /// Has a call judged; `None` if the daemon went away before it had answered.
    pub(crate) fn decide(&mut self, call: &Value) -> Option<Value> {
        let (status, body) = self.exchange(call).inspect_err(|_| self.stream = None).ok()?;
        assert_eq!(status, 200, "{body}");
        Some(body)
    }

    fn exchange(&mut self, call: &Value) -> io::Result<(u16, Value)> {
        let mut stream = match self.stream.take() {
            Some(stream) => stream,
            None => BufReader::new(TcpStream::connect(&self.address)?),
        };
        stream.get_mut().write_all(request(&self.address, &self.token, call).as_bytes())?;
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            if stream.read_line(&mut head)? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap();
        let mut body = vec![0; length.parse().unwrap()];
        stream.read_exact(&mut body)?;
        self.stream = Some(stream);
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        Ok((status, serde_json::from_slice(&body).unwrap()))
    }
}

fn request(address: &str, token: &str, call: &Value) -> String {
    let body = call.to_string();
    let length = body.len();
    format!(
        "POST /v1/decide HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {token}\r\ncontent-length: {length}\r\n\r\n{body}"
    )
}

/// Returns everything that is on the trail, the newest first.
pub(crate) fn trail(daemon: &Daemon) -> Vec<Value> {
    let (mut records, mut path) = (Vec::new(), "/v1/decisions?limit=500".to_owned());
    loop {
        let page = daemon.get(&path).as_json();
        records.extend(page["records"].as_array().unwrap_or_else(|| panic!("{page}")).iter().cloned());
        let Some(next) = page["next"].as_str() else { return records };
        path = format!("/v1/decisions?limit=500&before={next}");
    }
}

/// Every record that was acknowledged is there, once.
pub(crate) fn assert_on_trail(records: &[Value], acknowledged: &[String]) {
    let mut times = BTreeMap::<&str, usize>::new();
    for record in records {
        *times.entry(record["id"].as_str().unwrap()).or_default() += 1;
    }
    let wrong: Vec<&String> = acknowledged.iter().filter(|id| times.get(id.as_str()) != Some(&1)).collect();
    assert!(wrong.is_empty(), "{} of {} are not there once: {wrong:?}", wrong.len(), acknowledged.len());
    let different: BTreeSet<&String> = acknowledged.iter().collect();
    assert_eq!(different.len(), acknowledged.len(), "an id was given twice");
}

/// Returns a number below a limit that nobody knows before.
fn random_below(limit: usize) -> usize {
    let random = RandomState::new().build_hasher().finish();
    usize::try_from(random % u64::try_from(limit).unwrap()).unwrap()
}

/// Returns settings with an empty database of the server that all tests share.
fn database(name: &str) -> Value {
    json!({"store": {"url": PostgresServer::shared().database(name)}})
}

fn assert_trail_is_whole(sandbox: &Sandbox) {
    let verified = sandbox.run(&["log", "verify"]);
    assert_eq!(verified.code, Some(0), "{verified:?}");
}

/// Puts calls one after the other, each until it is answered; returns the ids of their records.
fn run_caller(sandbox: &Sandbox, mut caller: Caller, name: usize, count: &AtomicUsize) -> Vec<String> {
    let run = |number: usize| {
        // Some change the session as well, and so write twice.
        let command = if number % 10 == 3 { "git push --force origin main" } else { "ls" };
        let call = json!({
            "tool": "Bash", "input": {"command": command}, "cwd": sandbox.project, "mode": "auto",
            "session": format!("session-{name}"), "callId": format!("call-{name}-{number}"),
        });
        let answer = until("an answer", || caller.decide(&call));
        count.fetch_add(1, Ordering::SeqCst);
        answer["record"].as_str().unwrap().to_owned()
    };
    (0..CALLS_EACH).map(run).collect()
}

fn check_killed(settings: &Value) {
    let sandbox = home(settings);
    let daemon = Daemon::start(&sandbox);
    let address = daemon.address.clone();
    let count = AtomicUsize::new(0);
    let (daemon, acknowledged) = thread::scope(|scope| {
        let mut daemon = daemon;
        let callers: Vec<_> = (0..CALLERS)
            .map(|name| {
                let (sandbox, count, caller) = (&sandbox, &count, Caller::new(&daemon));
                scope.spawn(move || run_caller(sandbox, caller, name, count))
            })
            .collect();
        let between = CALLERS * CALLS_EACH / (KILLS + 1);
        for kill in 0..KILLS {
            let moment = kill * between + random_below(between);
            until("so many answers", || (count.load(Ordering::SeqCst) >= moment).then_some(()));
            daemon.kill();
            daemon = Daemon::start_with(&sandbox, &["--listen", &address]);
        }
        let told: Vec<String> = callers.into_iter().flat_map(|caller| caller.join().unwrap()).collect();
        (daemon, told)
    });
    assert_eq!(acknowledged.len(), CALLERS * CALLS_EACH);
    let records = trail(&daemon);
    assert_on_trail(&records, &acknowledged);
    assert_trail_is_whole(&sandbox);
}

#[test]
fn nothing_acknowledged_is_lost_in_files_when_the_daemon_is_killed() {
    check_killed(&json!({}));
}

#[test]
fn nothing_acknowledged_is_lost_in_postgres_when_the_daemon_is_killed() {
    check_killed(&database("load_killed"));
}

/// Reads what the system knows of a process: how many threads it has, and how many kilobytes it ever had.
fn usage(daemon: &Daemon) -> (u64, u64) {
    let status = fs::read_to_string(format!("/proc/{}/status", daemon.pid())).unwrap();
    let number = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
        line.split_whitespace().next().unwrap().parse().unwrap()
    };
    (number("Threads:"), number("VmHWM:"))
}

fn assert_bounded(daemon: &Daemon) {
    let (threads, memory) = usage(daemon);
    assert!(threads < MOST_THREADS, "{threads} threads");
    assert!(memory < MOST_MEMORY, "{memory} kB");
}

/// Makes a call that is asked about.
fn asked(sandbox: &Sandbox, number: usize) -> Value {
    json!({
        "tool": "Bash", "input": {"command": format!("make target-{number}")}, "cwd": sandbox.project,
        "session": format!("session-{}", number / QUESTIONS_EACH), "person": "absent", "waitSeconds": 600,
    })
}

fn number_of(question: &Value) -> usize {
    let summary = question["question"]["summary"].as_str().unwrap();
    summary.strip_prefix("make target-").unwrap().parse().unwrap()
}

/// Answers all of these questions, half of them with yes.
fn answer_all(daemon: &Daemon, questions: &[Value]) {
    thread::scope(|scope| {
        for part in questions.chunks(questions.len().div_ceil(CALLERS)) {
            scope.spawn(move || {
                for question in part {
                    let number = number_of(question);
                    let body = match number % 2 {
                        0 => json!({"decision": "allow"}),
                        _ => json!({"decision": "deny", "message": format!("not target {number}.")}),
                    };
                    let said = answer(daemon, question, &body);
                    assert_eq!(said.status, 200, "{}", said.text());
                }
            });
        }
    });
}

/// Starts a daemon that may open few files, as most systems say at first.
fn start_with_few_files(sandbox: &Sandbox) -> Daemon {
    let served = serve(sandbox, &[]);
    let mut command = Command::new("/bin/sh");
    command
        .args(["-c", "ulimit -S -n 256 && exec \"$@\"", "sh"])
        .arg(served.get_program())
        .args(served.get_args());
    command.env_clear().env("HOME", &sandbox.home).envs(stand_ins()).current_dir(&sandbox.project);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    Daemon::run(sandbox, command)
}

fn check_thousand(settings: &Value) {
    // Those who wait are all in this process.
    portcullis_guard::raise_open_files();
    let sandbox = home(settings);
    let daemon = start_with_few_files(&sandbox);
    let token = daemon.hook_token();
    let ask = |number| daemon.raw(request(&daemon.address, &token, &asked(&sandbox, number)).as_bytes());
    let waiting: Vec<TcpStream> = (0..QUESTIONS).map(ask).collect();
    until("a thousand who wait", || {
        assert_bounded(&daemon);
        let metrics = daemon.get("/metrics").text();
        metrics.lines().any(|line| line == format!("portcullis_approvals_waiting {QUESTIONS}")).then_some(())
    });
    let listed = daemon.get("/v1/approvals?limit=1000").as_json();
    let open = listed["approvals"].as_array().unwrap();
    let numbers: BTreeSet<usize> = open.iter().map(number_of).collect();
    assert_eq!(numbers, (0..QUESTIONS).collect());
    // Whoever asks something else meanwhile is answered.
    let list = json!({"tool": "Bash", "input": {"command": "ls"}, "cwd": sandbox.project});
    assert_eq!(Caller::new(&daemon).decide(&list).unwrap()["decision"], "allow");
    assert_bounded(&daemon);
    answer_all(&daemon, open);
    for (number, mut stream) in waiting.into_iter().enumerate() {
        let told = Answer::read(&mut stream);
        assert_eq!(told.status, 200, "{}", told.text());
        let (told, expected) = (told.as_json(), ["allow", "deny"][number % 2]);
        assert_eq!(told["decision"], expected, "{number}: {told}");
        let message = format!("not target {number}.");
        assert!(expected == "allow" || told.to_string().contains(&message), "{number}: {told}");
    }
    assert!(open_questions(&daemon).is_empty());
    assert_bounded(&daemon);
    assert_eq!(trail(&daemon).len(), QUESTIONS + 1);
    assert_trail_is_whole(&sandbox);
}

#[test]
fn a_thousand_questions_wait_in_files_and_each_gets_its_own_answer() {
    check_thousand(&json!({}));
}

#[test]
fn a_thousand_questions_wait_in_postgres_and_each_gets_its_own_answer() {
    check_thousand(&database("load_thousand"));
}

fn now_ms() -> u64 {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
    u64::try_from(now.as_millis()).unwrap()
}

fn check_expiry(settings: &Value, open: impl Fn(&Sandbox) -> Store) {
    let sandbox = home(settings);
    let daemon = Daemon::start(&sandbox);
    let store = open(&sandbox);
    // Somebody waits when the time of the question is over.
    let stream = daemon.raw(request(&daemon.address, &daemon.hook_token(), &asked(&sandbox, 1)).as_bytes());
    let first = question(&daemon);
    let tomorrow = now_ms() + 24 * 60 * 60 * 1_000;
    assert_eq!(store.backend().expire_approvals(tomorrow), Ok(1));
    let told = Answer::read(&mut { stream }).as_json();
    assert_eq!(told["decision"], "deny", "{told}");
    assert!(told.to_string().contains("nobody answered while the question was open"), "{told}");
    assert_late(&daemon, id(&first));
    // Questions that nobody waits for, and whose time was over long ago: one is answered, one is left alone.
    let approval = store.backend().approval(id(&first)).unwrap().unwrap();
    let late = |digit: &str| NewApprovalRequest {
        id: digit.repeat(32),
        created_at_ms: 1_000,
        expires_at_ms: 2_000,
        session: approval.session.clone(),
        call: approval.call.clone(),
        question: approval.question.clone(),
        explanation: None,
    };
    let (answered, left) = (late("a"), late("b"));
    store.backend().open_approval(&answered).unwrap();
    assert_late(&daemon, &answered.id);
    store.backend().open_approval(&left).unwrap();
    let state = || daemon.get(&format!("/v1/approvals/{}", left.id)).as_json()["state"].clone();
    until("the end of it", || (state() == "expired").then_some(()));
    assert!(open_questions(&daemon).is_empty());
    // Neither lets the call pass.
    let mut again = asked(&sandbox, 1);
    again["waitSeconds"] = json!(0);
    let told = Caller::new(&daemon).decide(&again).unwrap();
    assert_eq!(told["decision"], "deny", "{told}");
}

/// Nobody can allow it any more.
fn assert_late(daemon: &Daemon, id: &str) {
    let said = daemon.post(&format!("/v1/approvals/{id}/answer"), &json!({"decision": "allow"}));
    assert_eq!((said.status, said.error_code().as_str()), (409, "late"), "{}", said.text());
    assert_eq!(said.as_json()["approval"]["state"], "expired", "{}", said.text());
}

#[test]
fn a_question_in_files_whose_time_is_over_is_denied() {
    check_expiry(&json!({}), |sandbox| Store::new(state(sandbox)));
}

#[test]
fn a_question_in_postgres_whose_time_is_over_is_denied() {
    let settings = database("load_expiry");
    check_expiry(&settings, |sandbox| {
        let fleet =
            PostgresStore::open(settings["store"]["url"].as_str().unwrap(), PostgresOptions::default())
                .unwrap();
        Store::with_backend(state(sandbox), Arc::new(fleet))
    });
}
