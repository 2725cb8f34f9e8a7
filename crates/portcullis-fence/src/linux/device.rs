//! The places of the system that a fence replaces: devices, temporary files, sockets of services, processes.
//!
//! Directories of devices are not merely sealed, since a device can be written on a read-only mount: only the harmless
//! ones are there. They are the machine's own, so each is on a mount by which its mode and owner stay as they are.

use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::Path;

use libc::MOUNT_ATTR_RDONLY;
use rustix::mount::MountAttrFlags;

use super::doors::RESOLVER_SETTINGS;
use super::kernel::MountDepth;
use super::mount::DetachedMount;
use crate::error::FenceError;
use crate::policy::{FencePolicy, SERVICES, TEMPORARY};

/// The devices that do nothing to the machine.
const DEVICES: [&str; 6] = ["null", "zero", "full", "random", "urandom", "tty"];

/// The settings of resolvers, before they are put over those of the system.
const RESOLVER_FILE: &str = "/dev/resolv.conf";

/// The devices, taken out of the tree before it is sealed: the seal would make them unusable.
pub(super) struct HarmlessDevices(Vec<(&'static str, DetachedMount)>);

impl HarmlessDevices {
    /// Takes them out of the tree.
    pub(super) fn take() -> Result<Self, FenceError> {
        let mut devices = Vec::new();
        for name in DEVICES {
            let path = Path::new("/dev").join(name);
            let mount = DetachedMount::copy_of(&path)
                .and_then(|mount| mount.restrict(MOUNT_ATTR_RDONLY, MountDepth::One).map(|()| mount))
                .map_err(|error| FenceError::set_up_at("keep the device", &path, &error))?;
            devices.push((name, mount));
        }
        Ok(Self(devices))
    }

    /// Makes a new `/dev` of them.
    pub(super) fn attach(&self, policy: &FencePolicy) -> Result<(), FenceError> {
        let attach = || -> io::Result<()> {
            let root = DetachedMount::empty(&[("mode", "0755"), ("size", "64k")])?;
            root.attach(Path::new("/dev"))?;
            for (name, mount) in &self.0 {
                let path = Path::new("/dev").join(name);
                fs::File::create(&path)?;
                mount.attach(&path)?;
            }
            for (name, target) in [("fd", "fd"), ("stdin", "fd/0"), ("stdout", "fd/1"), ("stderr", "fd/2")] {
                symlink(Path::new("/proc/self").join(target), Path::new("/dev").join(name))?;
            }
            attach_terminals()?;
            fs::create_dir("/dev/shm")?;
            shared_memory(policy)?.attach(Path::new("/dev/shm"))?;
            fs::write(RESOLVER_FILE, RESOLVER_SETTINGS)?;
            root.restrict(MOUNT_ATTR_RDONLY, MountDepth::One)
        };
        attach().map_err(|error| FenceError::set_up("make a `/dev` of its own", &error))
    }
}

/// Shows resolvers where names are asked for inside. Where their settings lie in a place that is hidden now, they take
/// what is right without any.
pub(super) fn show_name_server() -> Result<(), FenceError> {
    let show = || -> io::Result<()> {
        let Ok(settings) = fs::canonicalize("/etc/resolv.conf") else {
            return Ok(());
        };
        let mount = DetachedMount::copy_of(Path::new(RESOLVER_FILE))?;
        mount.restrict(MOUNT_ATTR_RDONLY, MountDepth::One)?;
        mount.attach(&settings)
    };
    show().map_err(|error| FenceError::set_up("show its name server", &error))
}

fn attach_terminals() -> io::Result<()> {
    fs::create_dir("/dev/pts")?;
    let attributes = MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NOEXEC;
    let terminals =
        DetachedMount::of_kernel("devpts", attributes, &[("ptmxmode", "0666"), ("mode", "0620")])?;
    terminals.attach(Path::new("/dev/pts"))?;
    symlink("pts/ptmx", "/dev/ptmx")
}

fn shared_memory(policy: &FencePolicy) -> io::Result<DetachedMount> {
    let size = policy.limits.temporary_bytes.to_string();
    DetachedMount::empty(&[("mode", "1777"), ("size", &size)])
}

/// Hides the places of services and of other programs' temporary files.
pub(super) fn hide_shared_places(
    policy: &FencePolicy,
    temporary: Option<DetachedMount>,
) -> Result<Vec<DetachedMount>, FenceError> {
    let mut sealed_later = Vec::new();
    for place in SERVICES.iter().map(Path::new).filter(|place| is_directory(place)) {
        let mount = DetachedMount::empty(&[("mode", "0755"), ("size", "1m")])
            .and_then(|mount| mount.attach(place).map(|()| mount))
            .map_err(|error| FenceError::set_up_at("hide", place, &error))?;
        sealed_later.push(mount);
    }
    let mut temporary = temporary;
    for place in TEMPORARY.iter().map(Path::new).filter(|place| is_directory(place)) {
        let mount = temporary.take().map_or_else(|| shared_memory(policy), Ok);
        mount
            .and_then(|mount| mount.attach(place))
            .map_err(|error| FenceError::set_up_at("give it its own", place, &error))?;
    }
    Ok(sealed_later)
}

/// Says whether the fence replaces the place that a path lies in.
pub(super) fn is_replaced(path: &Path) -> bool {
    let places = SERVICES.iter().chain(&TEMPORARY).chain(&["/dev", "/proc", "/var/run"]);
    places.into_iter().any(|place| path.starts_with(place))
}

/// A link (`/var/run` as a rule) leads to a place that is hidden by its own name.
fn is_directory(place: &Path) -> bool {
    fs::symlink_metadata(place).is_ok_and(|metadata| metadata.is_dir())
}

/// Shows the fence's own processes and no others, and lets nothing be set.
pub(super) fn attach_processes() -> Result<(), FenceError> {
    let attributes = MountAttrFlags::MOUNT_ATTR_NOSUID
        | MountAttrFlags::MOUNT_ATTR_NODEV
        | MountAttrFlags::MOUNT_ATTR_NOEXEC
        | MountAttrFlags::MOUNT_ATTR_RDONLY;
    DetachedMount::of_kernel("proc", attributes, &[])
        .and_then(|mount| mount.attach(Path::new("/proc")))
        .map_err(|error| {
            FenceError::set_up("show its own processes", &error)
                .with_hint("a container that masks parts of `/proc` does not allow it")
        })
}
