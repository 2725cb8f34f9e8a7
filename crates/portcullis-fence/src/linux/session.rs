//! Runs of one session share a network, so that the next command finds the server that the last one started.
//!
//! Each run that goes on listens on a socket in the directory of its session, and hands what makes up the network to the
//! next one: the namespaces, and the sockets that a supervisor serves. So the network lives as long as one of them does,
//! whichever began it.

use std::fs::{self, File};
use std::io;
use std::os::fd::AsRawFd as _;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

use sha2::{Digest as _, Sha256};

use super::doors::{NetworkSockets, receive};
use crate::hexadecimal::hexadecimal;
use crate::policy::{FencePolicy, NetworkAccess};
use crate::runs::create_private;

/// How long another run may take to hand over its network; it does nothing else.
const PATIENCE: Duration = Duration::from_millis(500);

/// Where other runs of the session find this one; gone when this goes.
#[derive(Debug)]
pub(super) struct SessionSocket {
    path: PathBuf,
}

impl Drop for SessionSocket {
    fn drop(&mut self) {
        // One that is left behind is removed by whoever finds nobody there.
        let _ = fs::remove_file(&self.path);
    }
}

/// Returns the network of another run of the session that may reach the same hosts, if one goes on.
pub(super) fn join(policy: &FencePolicy) -> Option<NetworkSockets> {
    let place = policy.session.as_ref()?;
    let directory = File::open(place).ok()?;
    let start = kind(&policy.network);
    let names = fs::read_dir(place).ok()?.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    names.filter(|name| name.starts_with(&start)).find_map(|name| ask(&short_path(&directory, &name)))
}

fn ask(path: &Path) -> Option<NetworkSockets> {
    let stream = match UnixStream::connect(path) {
        Ok(stream) => stream,
        Err(error) => {
            if error.kind() == io::ErrorKind::ConnectionRefused {
                let _ = fs::remove_file(path);
            }
            return None;
        }
    };
    stream.set_read_timeout(Some(PATIENCE)).ok()?;
    receive(&stream).ok()
}

/// Lets other runs of the session find this one.
pub(super) fn publish(policy: &FencePolicy) -> io::Result<Option<(UnixListener, SessionSocket)>> {
    let Some(directory) = &policy.session else {
        return Ok(None);
    };
    create_private(directory)?;
    let name = format!("{}{}", kind(&policy.network), std::process::id());
    let path = directory.join(&name);
    // A process with this number has died, and its socket was left.
    let _ = fs::remove_file(&path);
    let listener = UnixListener::bind(short_path(&File::open(directory)?, &name))?;
    listener.set_nonblocking(true)?;
    Ok(Some((listener, SessionSocket { path })))
}

/// The address of a socket takes a hundred bytes, and a path may be longer.
fn short_path(directory: &File, name: &str) -> PathBuf {
    Path::new("/proc/self/fd").join(directory.as_raw_fd().to_string()).join(name)
}

/// Names what may be reached, since whoever joins a network can reach all that it reaches.
fn kind(network: &NetworkAccess) -> String {
    let hosts = match network {
        NetworkAccess::None => &[][..],
        NetworkAccess::Hosts(hosts) => hosts,
    };
    let names: Vec<String> = hosts.iter().map(ToString::to_string).collect();
    let hash = hexadecimal(&Sha256::digest(names.join("\n")));
    format!("{}-", hash.get(..32).unwrap_or_default())
}
