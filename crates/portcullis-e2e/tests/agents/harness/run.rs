//! One run of an agent, and what came of it.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use portcullis_testkit::{AgentScript, AgentServer};
use serde_json::Value;

use super::client::{Client, installed, portcullis};
use super::control_protocol::Question;
use super::daemon::TOKEN;
use super::place::Place;
use super::registration::Registration;
use super::setup::{ScriptedUser, Setup};
use super::stage::Stage;
use super::{app_server, control_protocol};

/// How long an agent may take. It needs a few seconds; a busy machine may need many times that.
const LONGEST_RUN: Duration = Duration::from_mins(3);

/// How many lines of an agent's output are shown when a test fails.
const SHOWN: usize = 40;

/// A run that is yet to come.
#[derive(Debug)]
pub(crate) struct Session {
    client: Client,
    place: Place,
    registration: Registration,
    mode: Option<&'static str>,
    patience: Duration,
    arguments: Vec<String>,
    has_prompt_tool: bool,
    user: Option<ScriptedUser>,
}

/// A run that is over.
#[derive(Debug)]
pub(crate) struct Finished {
    pub(crate) model: AgentServer,
    /// What the agent printed.
    pub(crate) output: String,
    /// What the user was asked.
    pub(crate) questions: Vec<String>,
    /// Those of them after which they might say that they do not want to be asked again.
    pub(crate) maybe_last: Vec<String>,
    /// What the record of decisions says: the agent, what it wanted, and what was decided.
    pub(crate) record: Vec<[String; 3]>,
    /// The names of the files that are in the repository, and of those that are elsewhere.
    files: BTreeSet<String>,
    place: Place,
    pub(crate) client: Client,
    status: Option<ExitStatus>,
    time: Duration,
}

impl Session {
    /// Begins a session of an agent whose hook is registered and whose user has this policy.
    pub(crate) fn new(client: Client, policy: &Value) -> Self {
        Self::with_policy_text(client, &policy.to_string())
    }

    /// Begins a session whose policy may be no policy.
    pub(crate) fn with_policy_text(client: Client, policy: &str) -> Self {
        let place = Place::new();
        place.write(&place.home.join(".config/portcullis/settings.json"), policy);
        let registration = Registration::ByInit;
        Self {
            client,
            place,
            registration,
            mode: None,
            patience: LONGEST_RUN,
            arguments: Vec::new(),
            has_prompt_tool: false,
            user: None,
        }
    }

    /// Changes how the agent comes to ask us.
    pub(crate) const fn registered(mut self, registration: Registration) -> Self {
        self.registration = registration;
        self
    }

    /// Has `init` set the mode.
    pub(crate) const fn in_mode(mut self, mode: &'static str) -> Self {
        self.mode = Some(mode);
        self
    }

    /// Has the agent ended earlier than usual, for a run that does not end by itself.
    pub(crate) const fn with_patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// Adds a file to the repository.
    pub(crate) fn with_file(self, path: &str, text: &str) -> Self {
        self.place.write(&self.place.repository.join(path), text);
        self
    }

    /// Adds a file to the home of the user.
    pub(crate) fn with_home_file(self, path: &str, text: &str) -> Self {
        self.place.write(&self.place.home.join(path), text);
        self
    }

    /// Has Claude Code put its questions to our tool.
    pub(crate) const fn with_prompt_tool(mut self) -> Self {
        self.has_prompt_tool = true;
        self
    }

    /// Gives Claude Code, Codex or Qwen Code a user who can be asked.
    pub(crate) const fn with_user(mut self, user: ScriptedUser) -> Self {
        self.user = Some(user);
        self
    }

    /// Adds a program that the agent can call by its name, as a script for a shell.
    pub(crate) fn with_program(self, name: &str, script: &str) -> Self {
        self.place.write_program(name, script);
        self
    }

    /// Takes another installed version of the agent.
    pub(crate) fn of_version(self, version: &str) -> Self {
        let program = installed(&format!("{}-{version}", self.client.name()));
        let name = self.client.name();
        self.with_program(name, &format!("exec {} \"$@\"", program.display()))
    }

    /// Adds arguments to the agent's command line.
    pub(crate) fn with_arguments(mut self, arguments: &[&str]) -> Self {
        self.arguments.extend(arguments.iter().map(|argument| (*argument).to_owned()));
        self
    }

    /// Puts the model of the policy to the self-test, which it must pass.
    pub(crate) fn with_tested_model(self) -> Self {
        let mut command = Command::new(portcullis());
        self.place.confine(command.args(["auto-mode", "test"])).env("ANTHROPIC_API_KEY", "dummy");
        let output = command.output().expect("it runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
        self
    }

    /// Has `doctor` look at the agent, and returns what it says.
    pub(crate) fn ask_doctor(self, arguments: &[&str]) -> Value {
        let Self { client, place, registration, mode, .. } = self;
        let daemon = registration.register(client, &place, mode);
        let mut command = Command::new(portcullis());
        command.args(["doctor", client.name(), "--json"]).args(arguments);
        let output = place.confine(&mut command).output().expect("it runs");
        drop(daemon);
        serde_json::from_slice(&output.stdout).expect("JSON")
    }

    /// Runs the agent to its end.
    pub(crate) fn play(self, script: impl FnOnce(Stage<'_>) -> AgentScript) -> Finished {
        let Self { client, place, registration, mode, patience, arguments, has_prompt_tool, user } = self;
        let script = script(Stage { client, place: &place });
        let model = AgentServer::start(script).expect("a port of loopback");
        let setup = Setup { place: &place, model: model.url(), arguments: &arguments, has_prompt_tool, user };
        let mut command = setup.prepare(client);
        let daemon = registration.register(client, &place, mode);
        if let Some(daemon) = &daemon {
            command.env(TOKEN, &daemon.token);
        }
        let (output, errors) = (place.root.join("output"), place.root.join("errors"));
        command.stdout(File::create(&output).expect("a file")).stderr(File::create(&errors).expect("a file"));
        let start = Instant::now();
        let (status, questions) = match (user, client) {
            (None, _) => (run_to_its_end(&mut command, patience), Vec::new()),
            (Some(user), Client::Codex) => (None, app_server::run_a_turn(&mut command, &place, user)),
            (Some(user), _) => (None, control_protocol::run_a_turn(&mut command, user)),
        };
        let last = questions.iter().filter(|question| question.may_be_last);
        let maybe_last = last.map(|question| question.subject.clone()).collect();
        let questions = questions.into_iter().map(|question: Question| question.subject).collect();
        if client == Client::Cline {
            end_left_over(&place);
        }
        let time = start.elapsed();
        drop(daemon);
        // To be seen with `--nocapture`.
        eprintln!("{} took {time:.1?}", client.name());
        let read = |path| String::from_utf8_lossy(&fs::read(path).unwrap_or_default()).into_owned();
        let output = format!("{}\n{}", read(&output), read(&errors));
        let files =
            [&place.repository, &place.elsewhere].into_iter().flat_map(|folder| names_in(folder)).collect();
        let record = read_record(&place);
        Finished { model, output, questions, maybe_last, record, files, place, client, status, time }
    }
}

/// Runs a command in a process group of its own and leaves nothing of the group behind. Returns nothing if the time
/// was not enough.
fn run_to_its_end(command: &mut Command, patience: Duration) -> Option<ExitStatus> {
    let mut child: Child = command.process_group(0).spawn().expect("the agent starts");
    let group = child.id();
    let (sender, receiver) = mpsc::channel();
    let waiter = thread::spawn(move || sender.send(child.wait()));
    let status = receiver.recv_timeout(patience).ok();
    end_group(group);
    let _ = waiter.join();
    status.map(|waited| waited.expect("the agent can be waited for"))
}

/// Ends what an agent left behind in a session of its own: the home of the run in its environment says that it is ours.
fn end_left_over(place: &Place) {
    let mark = format!("HOME={}\0", place.home.display());
    for entry in fs::read_dir("/proc").expect("processes").filter_map(Result::ok) {
        let Ok(environment) = fs::read(entry.path().join("environ")) else { continue };
        if environment.windows(mark.len()).any(|part| part == mark.as_bytes()) {
            let kill = format!("kill -KILL {}", entry.file_name().to_string_lossy());
            let _ = Command::new("sh").args(["-c", &kill]).stderr(Stdio::null()).status();
        }
    }
}

/// Ends what is left of a process group that we started.
pub(super) fn end_group(group: u32) {
    let kill = format!("kill -s KILL -- -{group}");
    // There is nothing to kill when all of it has ended.
    let _ = Command::new("sh").args(["-c", &kill]).stderr(Stdio::null()).status();
}

/// Reads the record of decisions; empty if our settings cannot be read.
fn read_record(place: &Place) -> Vec<[String; 3]> {
    let mut command = Command::new(portcullis());
    let output = place.confine(command.args(["log", "--limit", "100", "--json"])).output().expect("it runs");
    let Ok(listed) = serde_json::from_slice::<Value>(&output.stdout) else { return Vec::new() };
    let records = listed["records"].as_array().expect("records").iter();
    records.map(|record| ["host", "summary", "decision"].map(|name| text(&record[name]))).collect()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn names_in(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry"));
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

impl Finished {
    /// Says whether a file of this name was left, in the repository or elsewhere.
    pub(crate) fn has_file(&self, name: &str) -> bool {
        self.files.contains(name)
    }

    /// Says whether a file is in the home of the user.
    pub(crate) fn has_home_file(&self, path: &str) -> bool {
        self.place.home.join(path).exists()
    }

    /// Runs a command of our program as the user would afterwards, and returns what it prints.
    pub(crate) fn ask(&self, arguments: &[&str]) -> String {
        let mut command = Command::new(portcullis());
        let output = self.place.confine(command.args(arguments)).output().expect("it runs");
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Returns what the model was told a call came to.
    pub(crate) fn told(&self, label: &str) -> String {
        self.model.told(label).unwrap_or_else(|| panic!("nothing was told of `{label}`: {}", self.describe()))
    }

    /// Checks that a call ran: the file it leaves is there.
    pub(crate) fn assert_ran(&self, label: &str, file: &str) {
        assert!(self.has_file(file), "`{label}` did not run, it left no {file}: {}", self.describe());
    }

    /// Checks that a call did not run, and that the model was told why.
    pub(crate) fn assert_stopped(&self, label: &str, file: &str, reason: &str) {
        assert!(!self.has_file(file), "`{label}` ran, it left {file}: {}", self.describe());
        let told = self.told(label);
        assert!(told.contains(reason), "of `{label}` the model was told {told:?}: {}", self.describe());
    }

    /// Checks that a call is in the record of decisions once.
    pub(crate) fn assert_recorded(&self, summary: &str, decision: &str) {
        let own: Vec<_> = self.record.iter().filter(|[_, wanted, _]| wanted == summary).collect();
        let expected = [self.client.name(), summary, decision].map(ToOwned::to_owned);
        assert_eq!(own, [&expected], "the record is {:?}: {}", self.record, self.describe());
    }

    /// Tells everything about the run, for a test that fails.
    pub(crate) fn describe(&self) -> String {
        let requests = self.model.requests();
        let asked: Vec<String> = requests
            .iter()
            .map(|request| format!("{} {} {:?}", request.method, request.path, self.model.asking(request)))
            .collect();
        let lines: Vec<&str> = self.output.lines().collect();
        let lines = lines.get(lines.len().saturating_sub(SHOWN)..).unwrap_or_default();
        format!(
            "{} ended with {:?} after {:?}\nfiles: {:?}\nrequests:\n  {}\noutput:\n{}",
            self.client.name(),
            self.status,
            self.time,
            self.files,
            asked.join("\n  "),
            lines.join("\n")
        )
    }
}
