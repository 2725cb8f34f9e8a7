//! The other end of the daemon's unix socket: what hooks and commands of the same user ask it.
//!
//! One connection a request, blocking, without a runtime. Whoever answers there is believed to be the daemon because the
//! directory of the socket is the user's alone; a hook does not even need that, because it judges a call again that the
//! daemon says was allowed.

mod events;
mod hand_over;
mod places;
mod reach;
mod role;
mod running;
mod wire;

use std::fmt::Write as _;
use std::io::Write as _;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, PermissionsExt as _};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::Value;

pub use events::{Events, ServerEvent};
pub use hand_over::{HandedOver, header_of};
pub use places::Places;
pub use role::Role;
pub use running::Running;
pub use wire::Response;

use self::reach::{find_socket, open, read_token};
use crate::Failure;

/// How long an answer may take that nobody has to wait for.
const USUAL: Duration = Duration::from_secs(10);

/// Asks the daemon of this user.
#[derive(Debug, Clone)]
pub struct Client {
    socket: PathBuf,
    token: Option<String>,
}

impl Client {
    /// Finds the daemon that keeps its files below a state directory; `None` if none runs. What the caller may do goes by
    /// the token that is read for the role; looking needs none.
    pub fn connect(state: &Path, role: Role) -> Result<Option<Self>, Failure> {
        let Some(client) = Self::prepare(state, role)? else { return Ok(None) };
        Ok(open(&client.socket)?.map(|_| client))
    }

    /// Makes a client of the files that a daemon left there, whether it runs now or not; `None` if there are none.
    pub fn prepare(state: &Path, role: Role) -> Result<Option<Self>, Failure> {
        let places = Places::new(state);
        let Some((socket, found)) = find_socket(&places) else { return Ok(None) };
        if !found.file_type().is_socket() {
            return Err(Failure::internal(format!("`{}` is not a socket", socket.display()))
                .with_hint("move it away, then start `portcullis serve` again"));
        }
        let others = std::fs::symlink_metadata(places.root())
            .map(|directory| !directory.is_dir() || directory.permissions().mode() & 0o077 != 0);
        if others.unwrap_or(true) {
            let root = places.root().display().to_string();
            return Err(Failure::internal(format!("`{root}` is open to others, so its daemon is not asked"))
                .with_hint(format!("run `chmod 700 {root}`")));
        }
        // A socket may be elsewhere, where others can put one of their own once ours is gone.
        let owner = std::fs::symlink_metadata(places.root()).ok().map(|directory| directory.uid());
        if found.uid() != 0 && Some(found.uid()) != owner {
            return Err(Failure::internal(format!("`{}` is the socket of another user", socket.display()))
                .with_hint("start `portcullis serve` again, without --socket or with another one"));
        }
        let token = match role {
            Role::Read => None,
            Role::Decide => Some(read_token(&places.hook_token())?),
            Role::Person => Some(read_token(&places.person_token())?),
        };
        Ok(Some(Self { socket, token }))
    }

    /// Asks for something. The path is percent-encoded already.
    pub fn get(&self, path: &str) -> Result<Response, Failure> {
        self.get_within(path, USUAL)
    }

    /// Asks for something that may take a while.
    pub fn get_within(&self, path: &str, time: Duration) -> Result<Response, Failure> {
        self.ask(("GET", path), &[], None, time)
    }

    /// Sends a value.
    pub fn post(&self, path: &str, body: &Value) -> Result<Response, Failure> {
        self.ask(("POST", path), &[], Some(body.to_string().as_bytes()), USUAL)
    }

    /// Has something removed.
    pub fn delete(&self, path: &str) -> Result<Response, Failure> {
        self.ask(("DELETE", path), &[], None, USUAL)
    }

    /// Sends bytes with headers of their own, and waits so long for what comes back.
    pub fn post_bytes(
        &self,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
        time: Duration,
    ) -> Result<Response, Failure> {
        self.ask(("POST", path), headers, Some(body), time)
    }

    /// Listens to what happens; the iterator ends when the daemon does.
    pub fn events(&self, path: &str) -> Result<Events, Failure> {
        let deadline = Instant::now() + USUAL;
        let mut stream = self.open()?;
        self.send(&mut stream, ("GET", path), &[("Accept", "text/event-stream")], None, deadline)?;
        let (head, body) = wire::begin(stream, deadline)?;
        if head.status != 200 {
            let response = wire::finish(head, body)?;
            return Err(response
                .failure()
                .unwrap_or_else(|| Failure::internal("the daemon sends no events")));
        }
        Ok(Events::new(body.without_deadline()?))
    }

    fn ask(
        &self,
        request: (&str, &str),
        headers: &[(&str, &str)],
        body: Option<&[u8]>,
        time: Duration,
    ) -> Result<Response, Failure> {
        let deadline = Instant::now() + time;
        let mut stream = self.open()?;
        self.send(&mut stream, request, headers, body, deadline)?;
        let (head, body) = wire::begin(stream, deadline)?;
        wire::finish(head, body)
    }

    fn open(&self) -> Result<UnixStream, Failure> {
        open(&self.socket)?.ok_or_else(|| {
            Failure::internal("the daemon does not run").with_hint("start it with `portcullis serve`")
        })
    }

    fn send(
        &self,
        stream: &mut UnixStream,
        (method, path): (&str, &str),
        headers: &[(&str, &str)],
        body: Option<&[u8]>,
        deadline: Instant,
    ) -> Result<(), Failure> {
        let is_plain = |text: &str| text.bytes().all(|byte| matches!(byte, 0x21..=0x7e));
        if !path.starts_with('/') || !is_plain(path) {
            return Err(Failure::internal("the path of a request is not plain"));
        }
        let mut head = format!(
            "{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nUser-Agent: portcullis\r\n"
        );
        let token = self.token.as_ref().map(|token| format!("Bearer {token}"));
        let own = token.as_deref().map(|token| ("Authorization", token));
        for (name, value) in headers.iter().copied().chain(own) {
            if value.bytes().any(|byte| byte.is_ascii_control()) {
                return Err(Failure::internal("the header of a request is not plain"));
            }
            head.extend([name, ": ", value, "\r\n"]);
        }
        if let Some(body) = body {
            if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-type")) {
                head.push_str("Content-Type: application/json\r\n");
            }
            // Writing to a String cannot fail.
            let _ = write!(head, "Content-Length: {}\r\n", body.len());
        }
        head.push_str("\r\n");
        let left = deadline.saturating_duration_since(Instant::now()).max(Duration::from_millis(1));
        // In one write: whoever answers after the head alone does not make the rest fail.
        let request = [head.as_bytes(), body.unwrap_or_default()].concat();
        let sent = stream
            .set_write_timeout(Some(left))
            .and_then(|()| stream.write_all(&request))
            .and_then(|()| stream.flush());
        sent.map_err(|error| wire::lost(&error))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::{Read as _, Write as _};
    use std::os::unix::net::UnixListener;
    use std::thread;

    use serde_json::json;
    use tempfile::TempDir;

    use super::events::ServerEvent;
    use super::*;

    /// A state directory with a listener that says one thing to whoever connects, and what it was told.
    fn daemon(answers: Vec<Vec<u8>>) -> (TempDir, thread::JoinHandle<Vec<String>>) {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("daemon");
        fs::create_dir(&root).unwrap();
        fs::set_permissions(&root, fs::Permissions::from_mode(0o700)).unwrap();
        fs::write(root.join("hook.token"), "secret-1\n").unwrap();
        let listener = UnixListener::bind(root.join("socket")).unwrap();
        let serving = thread::spawn(move || {
            let told = answers.into_iter().map(|answer| {
                let (mut stream, _) = listener.accept().unwrap();
                let mut told = vec![0; 4096];
                let length = stream.read(&mut told).unwrap();
                stream.write_all(&answer).unwrap();
                String::from_utf8_lossy(&told[..length]).into_owned()
            });
            told.collect()
        });
        (folder, serving)
    }

    fn client(folder: &TempDir, role: Role) -> Client {
        Client::prepare(folder.path(), role).unwrap().unwrap()
    }

    #[test]
    fn answers_are_read_however_they_are_framed() {
        let whole = b"HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\n{\"a\": 1}".to_vec();
        let pieces =
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n{\"a\r\n5;x=y\r\n\": 2}\r\n0\r\n\r\n"
                .to_vec();
        let rest = b"HTTP/1.1 409 Conflict\r\n\r\n{\"a\": 3}".to_vec();
        let (folder, serving) = daemon(vec![whole, pieces, rest]);
        let client = client(&folder, Role::Decide);
        assert_eq!(client.get("/v1/x?y=1").unwrap().value().unwrap(), json!({"a": 1}));
        assert_eq!(client.post("/v1/x", &json!({"b": 1})).unwrap().value().unwrap(), json!({"a": 2}));
        let late = client.get("/v1/z").unwrap();
        assert_eq!((late.status, late.value().unwrap()), (409, json!({"a": 3})));
        let told = serving.join().unwrap();
        assert!(told[0].starts_with("GET /v1/x?y=1 HTTP/1.1\r\n"), "{}", told[0]);
        assert!(told[0].contains("\r\nAuthorization: Bearer secret-1\r\n"), "{}", told[0]);
        assert!(told[1].ends_with("\r\n\r\n{\"b\":1}"), "{}", told[1]);
    }

    #[test]
    fn what_is_no_answer_is_a_failure() {
        let wrong: [&[u8]; 6] = [
            b"",
            b"SSH-2.0-x\r\n\r\n",
            b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{}",
            b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n{}",
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{}\r\n",
        ];
        let (folder, serving) = daemon(wrong.iter().map(|text| text.to_vec()).collect());
        let client = client(&folder, Role::Read);
        for text in wrong {
            assert!(client.get("/v1/x").is_err(), "{}", String::from_utf8_lossy(text));
        }
        serving.join().unwrap();
    }

    #[test]
    fn events_come_one_by_one() {
        let stream = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\
            1e\r\n: hello\n\nevent: approval\ndata: \r\n\
            d\r\n{\ndata: }\n\nid\r\n\
            13\r\n: 7\ndata:x\n\ndata: y\r\n0\r\n\r\n"
            .to_vec();
        let (folder, serving) = daemon(vec![stream]);
        let events: Vec<ServerEvent> =
            client(&folder, Role::Read).events("/v1/events").unwrap().map(Result::unwrap).collect();
        serving.join().unwrap();
        let told: Vec<(&str, &str)> =
            events.iter().map(|event| (event.name.as_str(), event.data.as_str())).collect();
        assert_eq!(told, [("approval", "{\n}"), ("message", "x")]);
    }

    #[test]
    fn without_a_daemon_there_is_no_client() {
        let folder = tempfile::tempdir().unwrap();
        assert!(Client::connect(folder.path(), Role::Read).unwrap().is_none());
        let (folder, serving) = daemon(Vec::new());
        serving.join().unwrap();
        // The listener is gone, and its file is left. A program that another test starts meanwhile holds the listener until
        // it has begun.
        let is_gone = || Client::connect(folder.path(), Role::Decide).unwrap().is_none();
        assert!((0..500).any(|_| is_gone() || {
            std::thread::sleep(Duration::from_millis(10));
            false
        }));
        assert!(Client::connect(folder.path(), Role::Person).is_err(), "there is no token of a person");
        fs::set_permissions(folder.path().join("daemon"), fs::Permissions::from_mode(0o755)).unwrap();
        let failure = Client::connect(folder.path(), Role::Decide).unwrap_err();
        assert!(failure.message.contains("open to others"), "{failure}");
    }

    #[test]
    fn the_socket_of_another_user_is_not_asked() {
        let (folder, serving) = daemon(Vec::new());
        serving.join().unwrap();
        let nobody = Some(65_534);
        // Only root can give a file away; for anybody else there is nothing to try.
        if std::os::unix::fs::chown(folder.path().join("daemon/socket"), nobody, None).is_ok() {
            let failure = Client::prepare(folder.path(), Role::Decide).unwrap_err();
            assert!(failure.message.contains("another user"), "{failure}");
        }
    }

    #[test]
    fn a_request_has_no_line_breaks_in_it() {
        let (folder, _) = daemon(vec![Vec::new(); 2]);
        let client = client(&folder, Role::Read);
        assert!(client.get("/v1/x HTTP/1.1\r\nA: b").is_err());
        assert!(client.post_bytes("/v1/x", &[("A", "b\r\nC: d")], b"", USUAL).is_err());
    }
}
