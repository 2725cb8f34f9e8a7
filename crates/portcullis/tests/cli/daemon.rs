//! The built program's daemon in a sandbox: started at a free port with the sandbox's own home, talked to over real
//! sockets, killed when the test ends.

use std::fmt::{self, Write as _};
use std::fs;
use std::io::{BufRead as _, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command};
use std::time::Duration;

use serde_json::Value;

use super::sandbox::Sandbox;

/// How long a test waits for an answer before it gives up.
const PATIENCE: Duration = Duration::from_mins(1);

/// A daemon that listens.
pub(crate) struct Daemon {
    child: Child,
    _stdout: BufReader<ChildStdout>,
    /// What it printed: where it listens.
    pub(crate) greeting: Value,
    /// `ADDRESS:PORT`; empty if it listens at its unix socket alone.
    pub(crate) address: String,
    pub(crate) socket: PathBuf,
    home: PathBuf,
}

/// Which road a request takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Road {
    Network,
    Local,
}

/// An answer as it came.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

/// A request that is being put together.
pub(crate) struct Asking<'a> {
    daemon: &'a Daemon,
    road: Road,
    method: String,
    path: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

impl Daemon {
    /// Starts it at a free port of loopback.
    pub(crate) fn start(sandbox: &Sandbox) -> Self {
        Self::start_with(sandbox, &[])
    }

    /// Starts it with further flags; where they say nothing of listening, at a free port of loopback.
    pub(crate) fn start_with(sandbox: &Sandbox, flags: &[&str]) -> Self {
        Self::run(sandbox, serve(sandbox, flags))
    }

    /// Starts it by a command made by [`serve`], perhaps with variables of its own.
    pub(crate) fn run(sandbox: &Sandbox, mut command: Command) -> Self {
        let mut child = command.spawn().unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        stdout.read_line(&mut line).unwrap();
        let Ok(greeting) = serde_json::from_str::<Value>(&line) else {
            let mut stderr = String::new();
            child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
            panic!("the daemon did not start: {line}{stderr}");
        };
        Self {
            child,
            _stdout: stdout,
            address: greeting["address"].as_str().unwrap_or_default().to_owned(),
            socket: PathBuf::from(greeting["socket"].as_str().unwrap()),
            greeting,
            home: sandbox.home.clone(),
        }
    }

    /// Returns the state directory.
    pub(crate) fn state(&self) -> PathBuf {
        self.home.join(".local/state/portcullis")
    }

    /// Returns the token that may do everything.
    pub(crate) fn person_token(&self) -> String {
        self.token("person.token")
    }

    /// Returns the token of hooks, which may have calls judged and answer nothing.
    pub(crate) fn hook_token(&self) -> String {
        self.token("hook.token")
    }

    fn token(&self, name: &str) -> String {
        fs::read_to_string(self.state().join("daemon").join(name)).unwrap().trim().to_owned()
    }

    /// Begins a request over the network, without a token.
    pub(crate) fn ask(&self, method: &str, path: &str) -> Asking<'_> {
        Asking {
            daemon: self,
            road: Road::Network,
            method: method.to_owned(),
            path: path.to_owned(),
            headers: vec![("host".to_owned(), self.address.clone())],
            body: Vec::new(),
        }
    }

    /// Gets something as a person, over the network.
    pub(crate) fn get(&self, path: &str) -> Answer {
        self.ask("GET", path).token(&self.person_token()).send()
    }

    /// Posts JSON as a person who is there, over the unix socket.
    pub(crate) fn post(&self, path: &str, body: &Value) -> Answer {
        self.ask("POST", path).locally().token(&self.person_token()).json(body).send()
    }

    /// Signs in with a fresh link, as a browser would; returns the cookie.
    pub(crate) fn sign_in(&self) -> String {
        self.sign_in_to_change().0
    }

    /// Signs in with a fresh link; returns the cookie, and what the script of the page puts into every form.
    pub(crate) fn sign_in_to_change(&self) -> (String, String) {
        let link = self.post("/v1/login-links", &Value::Null).as_json();
        let code = link["url"].as_str().unwrap().split_once("code=").unwrap().1.to_owned();
        let presence = link["code"].as_str().unwrap();
        let signed_in = self.ask("POST", "/login").form(&format!("code={code}&presence={presence}")).send();
        assert_eq!(signed_in.status, 303, "{signed_in:?}");
        let cookie = signed_in.header("set-cookie").unwrap().split(';').next().unwrap().to_owned();
        let csrf = signed_in.header("location").unwrap().strip_prefix("/#csrf=").unwrap().to_owned();
        (cookie, csrf)
    }

    /// Opens a connection over the network and sends these bytes as they are.
    pub(crate) fn raw(&self, bytes: &[u8]) -> TcpStream {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        // The daemon may close before it has read everything.
        let _ = stream.write_all(bytes);
        stream
    }

    /// Sends these bytes over the unix socket as they are, and returns all that comes back.
    pub(crate) fn raw_locally(&self, bytes: &[u8]) -> Vec<u8> {
        let mut stream = UnixStream::connect(&self.socket).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.write_all(bytes).unwrap();
        let mut heard = Vec::new();
        // The daemon may end while it is heard.
        let _ = stream.read_to_end(&mut heard);
        heard
    }

    /// Returns its process.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Kills it without a warning, as a crash would, and waits until it is gone.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Asks it to stop; returns its exit code and what it wrote to standard error.
    pub(crate) fn stop(mut self) -> (Option<i32>, String) {
        signal("TERM", self.pid());
        let code = self.child.wait().unwrap().code();
        let mut stderr = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
        (code, stderr)
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns the command that serves; where the flags say nothing of listening, at a free port of loopback.
pub(crate) fn serve(sandbox: &Sandbox, flags: &[&str]) -> Command {
    let mut arguments = vec!["serve", "--json"];
    arguments.extend(flags);
    if !flags.iter().any(|flag| ["--listen", "--no-tcp"].contains(flag)) {
        arguments.extend(["--listen", "127.0.0.1:0"]);
    }
    sandbox.command(&arguments)
}

/// Sends a signal to a process that the test started.
pub(crate) fn signal(name: &str, pid: u32) {
    let sent = Command::new("kill").args([format!("-{name}"), pid.to_string()]).status().unwrap();
    assert!(sent.success());
}

impl Asking<'_> {
    /// Goes over the unix socket.
    pub(crate) fn locally(mut self) -> Self {
        self.road = Road::Local;
        self
    }

    pub(crate) fn token(self, token: &str) -> Self {
        self.header("authorization", &format!("Bearer {token}"))
    }

    /// Adds a header.
    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Takes a header away, such as `host`.
    pub(crate) fn without(mut self, name: &str) -> Self {
        self.headers.retain(|(known, _)| known != name);
        self
    }

    pub(crate) fn json(mut self, body: &Value) -> Self {
        self.body = body.to_string().into_bytes();
        self.header("content-type", "application/json")
    }

    pub(crate) fn form(mut self, body: &str) -> Self {
        self.body = body.as_bytes().to_vec();
        self.header("content-type", "application/x-www-form-urlencoded")
    }

    pub(crate) fn body(mut self, body: &[u8]) -> Self {
        self.body = body.to_vec();
        self
    }

    /// Sends it and waits for the whole answer.
    pub(crate) fn send(self) -> Answer {
        match self.road {
            Road::Network => self.over(TcpStream::connect(&self.daemon.address).unwrap()),
            Road::Local => self.over(UnixStream::connect(&self.daemon.socket).unwrap()),
        }
    }

    /// Sends it over a connection of one's own, such as an encrypted one.
    pub(crate) fn over(&self, mut stream: impl Read + Write) -> Answer {
        let mut head = format!("{} {} HTTP/1.1\r\n", self.method, self.path);
        for (name, value) in &self.headers {
            let _ = write!(head, "{name}: {value}\r\n");
        }
        if !self.body.is_empty() || self.method == "POST" {
            let _ = write!(head, "content-length: {}\r\n", self.body.len());
        }
        head.push_str("connection: close\r\n\r\n");
        let mut bytes = head.into_bytes();
        bytes.extend(&self.body);
        // The daemon may answer before it has read everything.
        let _ = stream.write_all(&bytes);
        Answer::read(&mut stream)
    }
}

impl fmt::Debug for Answer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {:?} {}", self.status, self.headers, String::from_utf8_lossy(&self.body))
    }
}

impl Answer {
    /// Reads one answer from a connection.
    pub(crate) fn read(stream: &mut impl Read) -> Self {
        let mut reader = BufReader::new(stream);
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        let status = line.split(' ').nth(1).and_then(|status| status.parse().ok());
        let status = status.unwrap_or_else(|| panic!("no answer but {line:?}"));
        let mut headers = Vec::new();
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).unwrap();
            let Some((name, value)) = line.trim_end().split_once(':') else { break };
            headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
        let mut answer = Self { status, headers, body: Vec::new() };
        answer.read_body(&mut reader);
        answer
    }

    fn read_body(&mut self, reader: &mut impl std::io::BufRead) {
        if let Some(length) = self.header("content-length") {
            let length = length.parse().unwrap();
            reader.take(length).read_to_end(&mut self.body).unwrap();
        } else if self.header("transfer-encoding").is_some() {
            loop {
                let mut size = String::new();
                reader.read_line(&mut size).unwrap();
                let size = u64::from_str_radix(size.trim(), 16).unwrap();
                reader.take(size).read_to_end(&mut self.body).unwrap();
                reader.read_line(&mut String::new()).unwrap();
                if size == 0 {
                    break;
                }
            }
        }
    }

    /// Returns the first header of a name.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.body.clone()).unwrap()
    }

    pub(crate) fn as_json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|error| panic!("{error}: {} {}", self.status, self.text()))
    }

    /// Returns the word for programs in an error.
    pub(crate) fn error_code(&self) -> String {
        self.as_json()["error"]["code"].as_str().unwrap_or_default().to_owned()
    }
}
