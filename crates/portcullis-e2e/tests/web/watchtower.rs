//! The built program's daemon in a home of its own, and agents that ask it.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::JoinHandle;

use serde_json::{Value, json};

use super::browser::Browser;

/// A daemon that listens.
pub(crate) struct Watchtower {
    folder: tempfile::TempDir,
    child: Child,
    pub(crate) url: String,
}

impl Watchtower {
    /// Starts it, with settings of Claude Code for the user.
    pub(crate) fn start(settings: &Value) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().join("home");
        fs::create_dir_all(home.join(".claude")).unwrap();
        fs::create_dir_all(home.join("project/.git")).unwrap();
        fs::write(home.join(".claude/settings.json"), settings.to_string()).unwrap();
        let mut child = Command::new(portcullis())
            .args(["serve", "--json", "--listen", "127.0.0.1:0"])
            .env_clear()
            .env("HOME", &home)
            .envs(stand_in())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let greeting: Value =
            serde_json::from_str(&line).unwrap_or_else(|_| panic!("the daemon said `{line}`"));
        let url = format!("http://{}", greeting["address"].as_str().unwrap());
        Self { folder, child, url }
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    pub(crate) fn project(&self) -> PathBuf {
        self.home().join("project")
    }

    /// Signs a browser in as the person whose machine it is, who is there.
    pub(crate) fn sign_in(&self, browser: &Browser) {
        let (link, code) = self.link();
        browser.open(&link);
        browser.find("input[name=presence]").write(&code);
        browser.find("main button.primary").click();
        browser.wait_for_text("Latest decisions");
    }

    /// Signs a browser in with the token that any program of the person can read.
    pub(crate) fn sign_in_to_look(&self, browser: &Browser) {
        browser.open(&format!("{}/login", self.url));
        let token = fs::read_to_string(self.state().join("daemon/person.token")).unwrap();
        browser.find("input[name=token]").write(token.trim());
        browser.find("main button.primary").click();
        browser.wait_for_text("Latest decisions");
    }

    /// Returns a link that signs in and a code, as `portcullis tokens link` prints them for a person in a terminal.
    pub(crate) fn link(&self) -> (String, String) {
        let token = fs::read_to_string(self.state().join("daemon/person.token")).unwrap();
        let mut stream = UnixStream::connect(self.state().join("daemon/socket")).unwrap();
        let request =
            "POST /v1/login-links HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-length: 0\r\n";
        stream
            .write_all(format!("{request}authorization: Bearer {}\r\n\r\n", token.trim()).as_bytes())
            .unwrap();
        let mut heard = String::new();
        stream.read_to_string(&mut heard).unwrap();
        let body = heard.split_once("\r\n\r\n").unwrap().1;
        let body = body.get(body.find('{').unwrap()..=body.rfind('}').unwrap()).unwrap();
        let link: Value = serde_json::from_str(body).unwrap_or_else(|_| panic!("{heard}"));
        (link["url"].as_str().unwrap().to_owned(), link["code"].as_str().unwrap().to_owned())
    }

    /// Runs a command inside a fence in the project, so that what it changes is held.
    pub(crate) fn run_fenced(&self, script: &str) {
        let mut command = Command::new(portcullis());
        command.args(["run", "--", "bash", "-c", script]).env_clear().env("HOME", self.home());
        command.envs(std::env::var_os("PATH").map(|path| ("PATH", path))).envs(stand_in());
        let output = command.current_dir(self.project()).stdin(Stdio::null()).output().unwrap();
        assert!(output.status.success(), "no fence goes up here: {output:?}");
    }

    /// Runs the hook of Claude Code in a process of its own, as the agent does, with nobody there to ask.
    pub(crate) fn hook(&self, session: &str, command: &str) -> JoinHandle<Value> {
        let input = json!({
            "session_id": session,
            "transcript_path": self.home().join("none.jsonl"),
            "cwd": self.project(),
            "permission_mode": "default",
            "hook_event_name": "PreToolUse",
            "tool_name": "Bash",
            "tool_input": {"command": command, "description": "Part of the work"},
            "tool_use_id": "toolu_01",
        });
        let (home, project) = (self.home(), self.project());
        std::thread::spawn(move || {
            let mut child = Command::new(portcullis())
                .args(["hook", "claude", "--headless"])
                .env_clear()
                .env("HOME", home)
                .envs(stand_in())
                .current_dir(project)
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .spawn()
                .unwrap();
            child.stdin.take().unwrap().write_all(input.to_string().as_bytes()).unwrap();
            let output = child.wait_with_output().unwrap();
            let text = String::from_utf8(output.stdout).unwrap();
            serde_json::from_str(&text).unwrap_or_else(|_| panic!("the hook said `{text}`"))
        })
    }

    fn state(&self) -> PathBuf {
        self.home().join(".local/state/portcullis")
    }
}

impl Drop for Watchtower {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns what a hook told Claude Code: the decision and the reason.
pub(crate) fn told(answer: &Value) -> (String, String) {
    let said = &answer["hookSpecificOutput"];
    let text = |name: &str| said[name].as_str().unwrap_or_default().to_owned();
    (text("permissionDecision"), text("permissionDecisionReason"))
}

/// Returns the variables by which a test stands in for the machine: who runs the test is nobody's business, and what
/// could run inside a fence is to be a question here.
fn stand_in() -> [(&'static str, String); 2] {
    [
        ("PORTCULLIS_TEST_FIRST_PROCESS", std::process::id().to_string()),
        ("PORTCULLIS_TEST_WITHOUT_FENCES", "1".to_owned()),
    ]
}

/// Returns our own program, which the build of the workspace leaves beside the tests.
fn portcullis() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let found = test.ancestors().skip(1).take(2).map(|directory: &Path| directory.join("portcullis"));
    found.into_iter().find(|program| program.is_file()).unwrap_or_else(|| {
        panic!("portcullis is not built beside {}: run `cargo build -p portcullis`", test.display())
    })
}
