//! What a process has that a fenced command must not: capabilities, privileges of programs, open files, no limits.

use std::fs::File;
use std::io::{self, Seek as _, SeekFrom};
use std::os::fd::AsFd;

use rustix::fs::{FileType, MemfdFlags, OFlags};
use rustix::process::{Resource, Rlimit, setrlimit};
use rustix::thread::{
    CapabilitySet, CapabilitySets, clear_ambient_capability_set, remove_capability_from_bounding_set,
    set_capabilities, set_no_new_privs,
};

use super::kernel::MountDepth;
use super::mount::DetachedMount;
use crate::error::FenceError;
use crate::policy::RunLimits;

/// Drops every capability for good; the new user namespace gave them all.
pub(super) fn drop_capabilities() -> Result<(), FenceError> {
    let drop = || -> io::Result<()> {
        set_no_new_privs(true)?;
        clear_ambient_capability_set()?;
        for bit in 0..u64::BITS {
            let capability = CapabilitySet::from_bits_retain(1 << bit);
            match remove_capability_from_bounding_set(capability) {
                Ok(()) => {}
                // The kernel does not know the number, so nobody can have it.
                Err(rustix::io::Errno::INVAL) => break,
                Err(error) => return Err(error.into()),
            }
        }
        let none = CapabilitySet::empty();
        Ok(set_capabilities(None, CapabilitySets { effective: none, permitted: none, inheritable: none })?)
    };
    drop().map_err(|error| FenceError::set_up("drop its privileges", &error))
}

/// How much of a crashed program's memory is kept. With no bytes at all, a program of the machine would still be handed
/// the memory; with one byte nobody is.
const CORE_BYTES: u64 = 1;

/// Sets the limits that a user may set for himself.
pub(super) fn set_limits(limits: &RunLimits) -> Result<(), FenceError> {
    let table = [
        (Resource::Nproc, limits.processes),
        (Resource::Fsize, limits.file_bytes),
        (Resource::Core, CORE_BYTES),
    ];
    for (resource, most) in table {
        let now = rustix::process::getrlimit(resource);
        let most = now.maximum.map_or(most, |maximum| maximum.min(most));
        setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) })
            .map_err(|error| FenceError::set_up("limit what it uses", &error.into()))?;
    }
    Ok(())
}

/// Makes standard input safe to hand on, and refuses outputs that would be a way out.
///
/// A directory as a descriptor leads to the tree as it was before it was sealed; a file that is open for writing as
/// standard input can be written by whoever reads it.
pub(super) fn clean_standard_files() -> Result<(), FenceError> {
    let clean = || -> io::Result<()> {
        match standard_file(io::stdin())? {
            StandardFile::Safe => {}
            StandardFile::Unsafe => rustix::stdio::dup2_stdin(File::open("/dev/null")?)?,
            StandardFile::WritableInput => {
                let position = rustix::fs::tell(io::stdin())?;
                let mut readable = File::open("/proc/self/fd/0")?;
                readable.seek(SeekFrom::Start(position))?;
                rustix::stdio::dup2_stdin(readable)?;
            }
        }
        let null = || File::options().write(true).open("/dev/null");
        if standard_file(io::stdout())? == StandardFile::Unsafe {
            rustix::stdio::dup2_stdout(null()?)?;
        }
        if standard_file(io::stderr())? == StandardFile::Unsafe {
            rustix::stdio::dup2_stderr(null()?)?;
        }
        Ok(())
    };
    clean().map_err(|error| FenceError::set_up("clean its standard files", &error))
}

/// Opens a file that is standard input anew, through a mount that nothing can be changed by. The one that came from outside
/// is on a mount of the machine: by it, whoever reads could still set the file's mode, times and attributes.
pub(super) fn seal_standard_input() -> Result<(), FenceError> {
    let seal = || -> io::Result<()> {
        let given = rustix::fs::fstat(io::stdin())?;
        // What has no name any more is nobody else's.
        if FileType::from_raw_mode(given.st_mode) != FileType::RegularFile || given.st_nlink == 0 {
            return Ok(());
        }
        let position = rustix::fs::tell(io::stdin())?;
        let mut sealed = match sealed_copy(&given) {
            Ok(file) => file,
            Err(_) => copy_in_memory()?,
        };
        sealed.seek(SeekFrom::Start(position))?;
        Ok(rustix::stdio::dup2_stdin(sealed)?)
    };
    seal().map_err(|error| FenceError::set_up("seal its standard input", &error))
}

/// Opens standard input by its name on a mount of its own, which goes away with the file.
fn sealed_copy(given: &rustix::fs::Stat) -> io::Result<File> {
    let mount = DetachedMount::copy_of(&std::fs::read_link("/proc/self/fd/0")?)?;
    mount.restrict(libc::MOUNT_ATTR_RDONLY, MountDepth::One)?;
    let file = mount.open()?;
    let found = rustix::fs::fstat(&file)?;
    let is_same = (found.st_dev, found.st_ino) == (given.st_dev, given.st_ino);
    if is_same { Ok(file) } else { Err(io::ErrorKind::NotFound.into()) }
}

/// Copies standard input where no name leads to it, or where it may not be opened again.
fn copy_in_memory() -> io::Result<File> {
    let mut copy = File::from(rustix::fs::memfd_create("stdin", MemfdFlags::CLOEXEC)?);
    rustix::fs::seek(io::stdin(), rustix::fs::SeekFrom::Start(0))?;
    let given = rustix::io::dup(io::stdin())?;
    io::copy(&mut File::from(given), &mut copy)?;
    Ok(copy)
}

/// Throws away what was typed into the terminal and nobody has read: it answers nothing that is asked from now on.
pub fn forget_typed_input() -> io::Result<()> {
    Ok(rustix::termios::tcflush(io::stdin(), rustix::termios::QueueSelector::IFlush)?)
}

/// Lets go of what the command was given: whoever reads its output waits for the end of the last one that holds it.
pub(super) fn let_standard_files_go() -> io::Result<()> {
    let null = File::options().read(true).write(true).open("/dev/null")?;
    rustix::stdio::dup2_stdin(&null)?;
    rustix::stdio::dup2_stdout(&null)?;
    Ok(rustix::stdio::dup2_stderr(&null)?)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StandardFile {
    Safe,
    /// Closed, a directory or a disk.
    Unsafe,
    /// A file that can be written.
    WritableInput,
}

fn standard_file(file: impl AsFd) -> io::Result<StandardFile> {
    let stat = match rustix::fs::fstat(&file) {
        Ok(stat) => stat,
        Err(rustix::io::Errno::BADF) => return Ok(StandardFile::Unsafe),
        Err(error) => return Err(error.into()),
    };
    Ok(match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => {
            let flags = rustix::fs::fcntl_getfl(&file)?;
            if flags.contains(OFlags::PATH) {
                StandardFile::Unsafe
            } else if flags.intersects(OFlags::WRONLY | OFlags::RDWR) {
                StandardFile::WritableInput
            } else {
                StandardFile::Safe
            }
        }
        FileType::Fifo | FileType::Socket | FileType::CharacterDevice => StandardFile::Safe,
        FileType::Directory | FileType::BlockDevice | FileType::Symlink | FileType::Unknown => {
            StandardFile::Unsafe
        }
    })
}
