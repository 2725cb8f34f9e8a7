//! How the daemon is reached: where its socket is, whether somebody listens there, and what to show it.

use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use super::places::Places;
use super::running::Running;
use super::wire;
use crate::Failure;

/// How long a daemon may take to accept a connection.
const CONNECTING: Duration = Duration::from_secs(2);

/// The longest token.
const LONGEST_TOKEN: usize = 512;

/// Looks for the socket where it usually is, and then where a running daemon says.
pub(super) fn find_socket(places: &Places) -> Option<(PathBuf, std::fs::Metadata)> {
    let look = |socket: PathBuf| std::fs::symlink_metadata(&socket).ok().map(|found| (socket, found));
    look(places.socket()).or_else(|| look(Running::find(places)?.socket))
}

/// Connects; `None` if nobody listens there.
pub(super) fn open(socket: &Path) -> Result<Option<UnixStream>, Failure> {
    let (sender, receiver) = mpsc::channel();
    let place = socket.to_path_buf();
    // A daemon that hangs with a full queue of connections would keep the caller for ever.
    let connecting = thread::Builder::new().name("connect".to_owned()).spawn(move || {
        let _ = sender.send(UnixStream::connect(place));
    });
    connecting.map_err(|error| wire::lost(&error))?;
    match receiver.recv_timeout(CONNECTING) {
        Ok(Ok(stream)) => Ok(Some(stream)),
        Ok(Err(error)) => match error.kind() {
            std::io::ErrorKind::NotFound | std::io::ErrorKind::ConnectionRefused => Ok(None),
            _ => Err(wire::lost(&error)),
        },
        Err(_) => Err(Failure::internal("the daemon does not answer").with_hint("end it and start it again")),
    }
}

/// Reads the token of a file.
pub(super) fn read_token(file: &Path) -> Result<String, Failure> {
    let failed = |what: &str| {
        Failure::internal(format!("the token in `{}` {what}", file.display()))
            .with_hint("start `portcullis serve` again, which makes a new one")
    };
    let text = std::fs::read_to_string(file).map_err(|error| failed(&format!("cannot be read: {error}")))?;
    let token = text.trim();
    let is_token = !token.is_empty()
        && token.len() <= LONGEST_TOKEN
        && token.bytes().all(|byte| matches!(byte, 0x21..=0x7e));
    if is_token { Ok(token.to_owned()) } else { Err(failed("is not one")) }
}
