//! The mounts of the fence: the whole tree read-only, and over it what the command may write and what it must not see.
//!
//! Granted places are taken out of the tree as detached copies before anything is sealed or hidden, and put back last.
//! So a place keeps the attributes it had, and may lie below a directory that is hidden.

use std::fs::{self, File};
use std::io;
use std::os::fd::{AsFd as _, AsRawFd as _, OwnedFd};
use std::path::{Path, PathBuf};

use libc::{MOUNT_ATTR_NODEV, MOUNT_ATTR_NOSUID, MOUNT_ATTR_RDONLY};
use rustix::fs::{CWD, Mode, OFlags};
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, MountPropagationFlags, MoveMountFlags, OpenTreeFlags,
    fsconfig_create, fsconfig_set_flag, fsconfig_set_string, fsmount, fsopen, mount_change, move_mount,
    open_tree,
};

use super::kernel::{MountDepth, set_mount_attributes};
use crate::error::FenceError;
use crate::policy::OverlayLayer;

/// A mount that hangs nowhere yet.
pub(super) struct DetachedMount(OwnedFd);

impl std::fmt::Debug for DetachedMount {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("DetachedMount")
    }
}

impl DetachedMount {
    /// Copies a part of the tree with all mounts below it.
    pub(super) fn copy_of(path: &Path) -> io::Result<Self> {
        let flags = OpenTreeFlags::OPEN_TREE_CLONE
            | OpenTreeFlags::OPEN_TREE_CLOEXEC
            | OpenTreeFlags::AT_RECURSIVE
            | OpenTreeFlags::AT_SYMLINK_NOFOLLOW;
        Ok(Self(open_tree(CWD, path, flags)?))
    }

    /// Makes an empty file system in memory; `options` are those of `tmpfs`.
    pub(super) fn empty(options: &[(&str, &str)]) -> io::Result<Self> {
        let context = fsopen("tmpfs", FsOpenFlags::FSOPEN_CLOEXEC)?;
        for (key, value) in options {
            fsconfig_set_string(context.as_fd(), *key, *value)?;
        }
        Self::made(&context, MountAttrFlags::MOUNT_ATTR_NODEV | MountAttrFlags::MOUNT_ATTR_NOSUID)
    }

    /// Makes a file system that the kernel fills, such as `proc`.
    pub(super) fn of_kernel(
        kind: &str,
        attributes: MountAttrFlags,
        options: &[(&str, &str)],
    ) -> io::Result<Self> {
        let context = fsopen(kind, FsOpenFlags::FSOPEN_CLOEXEC)?;
        for (key, value) in options {
            fsconfig_set_string(context.as_fd(), *key, *value)?;
        }
        Self::made(&context, attributes)
    }

    /// Lays a layer over a place: the place is read through it, and all writes stay in it.
    pub(super) fn overlay(layer: &OverlayLayer) -> io::Result<Self> {
        let context = fsopen("overlay", FsOpenFlags::FSOPEN_CLOEXEC)?;
        fsconfig_set_string(context.as_fd(), "lowerdir", escaped(&layer.place))?;
        fsconfig_set_string(context.as_fd(), "upperdir", layer.upper.as_path())?;
        fsconfig_set_string(context.as_fd(), "workdir", layer.work.as_path())?;
        fsconfig_set_flag(context.as_fd(), "userxattr")?;
        // Nothing of a layer outlives the machine by itself: what is kept is committed, and the commit syncs it.
        fsconfig_set_flag(context.as_fd(), "volatile")?;
        Self::made(&context, MountAttrFlags::MOUNT_ATTR_NODEV | MountAttrFlags::MOUNT_ATTR_NOSUID)
    }

    fn made(context: &OwnedFd, attributes: MountAttrFlags) -> io::Result<Self> {
        fsconfig_create(context.as_fd())?;
        Ok(Self(fsmount(context.as_fd(), FsMountFlags::FSMOUNT_CLOEXEC, attributes)?))
    }

    /// Takes rights away: `MOUNT_ATTR_…`.
    pub(super) fn restrict(&self, attributes: u64, depth: MountDepth) -> io::Result<()> {
        set_mount_attributes(self.0.as_fd(), attributes, depth)
    }

    /// Opens the file that it is a copy of.
    pub(super) fn open(&self, flags: OFlags) -> io::Result<File> {
        let path = Path::new("/proc/self/fd").join(self.0.as_raw_fd().to_string());
        Ok(File::from(rustix::fs::open(path, flags | OFlags::CLOEXEC | OFlags::NOCTTY, Mode::empty())?))
    }

    /// Hangs it into the tree.
    pub(super) fn attach(&self, path: &Path) -> io::Result<()> {
        let flags = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH;
        Ok(move_mount(self.0.as_fd(), "", CWD, path, flags)?)
    }
}

/// The first character with a meaning in a list of lower directories is the colon; the escape itself is the other.
fn escaped(path: &Path) -> String {
    path.to_string_lossy().replace('\\', "\\\\").replace(':', "\\:")
}

/// Keeps what is mounted here from showing outside, and what is mounted outside from showing here.
pub(super) fn make_private() -> Result<(), FenceError> {
    mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)
        .map_err(|error| FenceError::set_up("take the mounts apart from the machine's", &error.into()))
}

/// Makes everything that is mounted now read-only, without devices and without programs that change the user.
pub(super) fn seal_tree() -> Result<(), FenceError> {
    let seal = || {
        let root = rustix::fs::open("/", OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?;
        set_mount_attributes(
            root.as_fd(),
            MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV,
            MountDepth::Tree,
        )
    };
    seal().map_err(|error| {
        FenceError::set_up("make the file system read-only", &error).with_hint("it takes Linux 5.12 or newer")
    })
}

/// Takes the granted places out of the tree.
pub(super) fn take_grants(
    places: &mut dyn Iterator<Item = &Path>,
    layers: &[OverlayLayer],
) -> Result<Vec<(PathBuf, DetachedMount)>, FenceError> {
    let mut grants = Vec::new();
    for place in places {
        let layer = layers.iter().find(|layer| layer.place == place);
        let mount = match layer {
            Some(layer) => DetachedMount::overlay(layer).map_err(|error| {
                FenceError::set_up_at("lay a layer over", place, &error)
                    .with_hint("this file system takes no overlay; run it with `--direct`")
            })?,
            None => DetachedMount::copy_of(place)
                .map_err(|error| FenceError::set_up_at("grant", place, &error))?,
        };
        mount
            .restrict(MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV, MountDepth::Tree)
            .map_err(|error| FenceError::set_up_at("restrict", place, &error))?;
        grants.push((place.to_path_buf(), mount));
    }
    Ok(grants)
}

/// Puts the granted places back, with the way to them where that is hidden now.
pub(super) fn attach_grants(grants: &[(PathBuf, DetachedMount)]) -> Result<(), FenceError> {
    for (place, mount) in grants {
        let attach = || {
            if fs::symlink_metadata(place).is_err() {
                fs::create_dir_all(place)?;
            }
            mount.attach(place)
        };
        attach().map_err(|error| FenceError::set_up_at("grant", place, &error))?;
    }
    Ok(())
}

/// Mounts a path on itself, so that it can be neither renamed nor removed, and restricts it.
pub(super) fn pin(path: &Path, attributes: u64) -> io::Result<()> {
    let mount = DetachedMount::copy_of(path)?;
    mount.restrict(attributes, MountDepth::Tree)?;
    mount.attach(path)
}
