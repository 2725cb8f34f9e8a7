//! Where the daemon listens: an address of the loopback interface, another one if it is encrypted or that is wanted, and
//! a unix socket that only this user can open.

use std::fs;
use std::io::ErrorKind;
use std::net::{Ipv4Addr, SocketAddr};
use std::ops::RangeInclusive;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, PermissionsExt as _};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

use portcullis_settings::disk::{FilePrivacy, create_directory, plain};
use tokio::net::{TcpListener, UnixListener};

use portcullis_gate::Failure;
use portcullis_output::terminal::print_notes;

/// Listens at an address. Without encryption it must be of the loopback interface, unless plain text is accepted.
pub(super) async fn listen_at(
    address: SocketAddr,
    is_secure: bool,
    is_plain_accepted: bool,
) -> Result<TcpListener, Failure> {
    if !address.ip().to_canonical().is_loopback() && !is_secure && !is_plain_accepted {
        return Err(Failure::usage(format!("{address} can be reached from elsewhere, and nothing is encrypted"))
            .with_hint(
                "use --tls-cert and --tls-key, or an address of loopback; --insecure-plain-http if something that \
                 encrypts stands before it",
            ));
    }
    TcpListener::bind(address).await.map_err(|error| {
        let failure = Failure::usage(format!("cannot listen at {address}: {}", plain(&error)));
        match error.kind() {
            ErrorKind::AddrInUse => failure.with_hint(
                "another program or user has it; name another with --listen, where port 0 takes a free one",
            ),
            _ => failure.with_hint("use an address of this machine: --listen ADDRESS:PORT"),
        }
    })
}

/// Listens at the first port of the loopback interface that is free. What is there instead is somebody else's, which a
/// person must be told: they could sign in there.
pub(super) async fn listen_at_usual(ports: RangeInclusive<u16>) -> Result<TcpListener, Failure> {
    let (first, last) = (*ports.start(), *ports.end());
    for port in ports {
        match TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await {
            Ok(listener) => {
                let taken = (port != first).then(|| {
                    format!("another program or user has port {first}, so do not sign in there; this is port {port}")
                });
                print_notes(taken);
                return Ok(listener);
            }
            Err(error) if error.kind() == ErrorKind::AddrInUse => {}
            Err(error) => {
                return Err(Failure::usage(format!("cannot listen at port {port}: {}", plain(&error)))
                    .with_hint("name an address: --listen ADDRESS:PORT; --no-tcp does without one"));
            }
        }
    }
    Err(Failure::usage(format!("other programs have all ports from {first} to {last}"))
        .with_hint("name another with `daemon.port` in your settings or --listen 127.0.0.1:PORT; port 0 takes a free one"))
}

/// A unix socket that is listened at; its file goes when this is dropped.
#[derive(Debug)]
pub(super) struct LocalListener {
    pub(super) listener: UnixListener,
    owner: u32,
    path: PathBuf,
    inode: u64,
}

impl LocalListener {
    /// Listens at a unix socket. What a daemon that was killed left there is replaced.
    pub(super) fn bind(path: &Path) -> Result<Self, Failure> {
        let failed = |what: &str, error: &std::io::Error| {
            Failure::usage(format!("{what} `{}`: {}", path.display(), plain(error)))
        };
        std::os::unix::net::SocketAddr::from_pathname(path).map_err(|_| {
            Failure::usage(format!("the path of the unix socket is too long: `{}`", path.display()))
                .with_hint("name a shorter one with --socket PATH, such as one below /run/user")
        })?;
        let directory = path.parent().unwrap_or(Path::new("/"));
        create_directory(directory, FilePrivacy::Private)
            .map_err(|error| failed("cannot make the directory of", &error))?;
        refuse_open_directory(directory)?;
        remove_left_over(path)?;
        let listener = UnixListener::bind(path).map_err(|error| failed("cannot listen at", &error))?;
        fs::set_permissions(path, fs::Permissions::from_mode(0o600))
            .map_err(|error| failed("cannot make private", &error))?;
        let seen = fs::symlink_metadata(path).map_err(|error| failed("cannot look at", &error))?;
        Ok(Self { listener, owner: seen.uid(), path: path.to_path_buf(), inode: seen.ino() })
    }

    /// Says whether a user's processes may connect: those of whoever runs the daemon, and root's.
    pub(super) const fn welcomes(&self, user: u32) -> bool {
        user == self.owner || user == 0
    }
}

impl Drop for LocalListener {
    fn drop(&mut self) {
        let is_ours = fs::symlink_metadata(&self.path).is_ok_and(|seen| seen.ino() == self.inode);
        if is_ours {
            // A file that stays is replaced by the next daemon.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Where others may write, they could put a socket of their own in the place of ours.
fn refuse_open_directory(directory: &Path) -> Result<(), Failure> {
    let mode = fs::metadata(directory).map_or(0o777, |seen| seen.mode());
    let is_sticky = mode & 0o1000 != 0;
    if mode & 0o022 == 0 || is_sticky {
        return Ok(());
    }
    Err(Failure::usage(format!(
        "others may write into `{}`, so no socket is made there",
        directory.display()
    ))
    .with_hint("`chmod go-w` it, or name another place with --socket PATH"))
}

/// Removes a socket that nobody listens at any more.
fn remove_left_over(path: &Path) -> Result<(), Failure> {
    let Ok(seen) = fs::symlink_metadata(path) else { return Ok(()) };
    if !seen.file_type().is_socket() {
        return Err(Failure::usage(format!("`{}` is there already and is no socket", path.display()))
            .with_hint("remove it, or name another place with --socket PATH"));
    }
    match UnixStream::connect(path) {
        Err(error) if matches!(error.kind(), ErrorKind::ConnectionRefused | ErrorKind::NotFound) => {
            let removed = fs::remove_file(path);
            removed.map_err(|error| {
                Failure::usage(format!("cannot remove `{}`: {}", path.display(), plain(&error)))
            })
        }
        Ok(_) | Err(_) => Err(Failure::usage(format!("somebody listens at `{}` already", path.display()))
            .with_hint("stop that process, or name another place with --socket PATH")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_first_free_port_is_taken_and_no_other_ones() {
        // Whatever else runs here has ports too, so some in a row are looked for first.
        let (held, first) = loop {
            let one = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
            let port = one.local_addr().unwrap().port();
            if let Some(next) = port.checked_add(1)
                && let Ok(two) = TcpListener::bind((Ipv4Addr::LOCALHOST, next)).await
            {
                break ((one, two), port);
            }
        };
        let refused = listen_at_usual(first..=first + 1).await.unwrap_err();
        assert!(refused.message.contains(&format!("all ports from {first} to {}", first + 1)), "{refused}");
        drop(held.1);
        let found = listen_at_usual(first..=first + 1).await.unwrap();
        assert_eq!(found.local_addr().unwrap().port(), first + 1);
        let fixed = listen_at((Ipv4Addr::LOCALHOST, first).into(), false, false).await.unwrap_err();
        assert!(fixed.message.contains(&first.to_string()), "what is named is taken or nothing: {fixed}");
    }

    #[tokio::test]
    async fn the_socket_is_for_one_user_and_goes_with_its_listener() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("daemon/socket");
        let local = LocalListener::bind(&path).unwrap();
        assert!(local.welcomes(local.owner) && local.welcomes(0));
        assert!(!local.welcomes(local.owner.wrapping_add(1)));
        drop(local);
        assert!(!path.exists());
    }
}
