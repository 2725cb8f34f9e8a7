//! What a file holds, read with care: only a regular file of moderate size, only text.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use portcullis_core::DiskAnswer;

/// The longest file that is read, in bytes.
const LONGEST: u64 = 256 * 1024;

/// Reads a file. A pipe or device is never opened, because that could wait for ever.
pub(crate) fn read_text(path: &str) -> DiskAnswer {
    let found = match fs::metadata(path) {
        Ok(found) => found,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return DiskAnswer::Absent;
        }
        Err(_) => return DiskAnswer::Broken,
    };
    if !found.is_file() || found.len() > LONGEST {
        return DiskAnswer::Broken;
    }
    let mut text = String::new();
    // The file may grow while it is read.
    let read = open_file(Path::new(path)).and_then(|file| file.take(LONGEST + 1).read_to_string(&mut text));
    match read {
        Ok(length) if length as u64 <= LONGEST => DiskAnswer::Text(text),
        Ok(_) | Err(_) => DiskAnswer::Broken,
    }
}

/// Opens a regular file. What took its place after it was looked at is not waited for.
pub(crate) fn open_file(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new().read(true).custom_flags(DOES_NOT_WAIT).open(path)?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(ErrorKind::InvalidInput.into()) }
}

/// `O_NONBLOCK`, which is a matter of the system.
const DOES_NOT_WAIT: i32 = if cfg!(target_os = "linux") { 0o4000 } else { 4 };

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_text_of_moderate_size_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
        fs::write(path("text"), "all: test\n").unwrap();
        fs::write(path("binary"), [0xff, 0xfe, 0x00]).unwrap();
        fs::write(path("long"), "x".repeat(300 * 1024)).unwrap();
        assert_eq!(read_text(&path("text")), DiskAnswer::Text("all: test\n".to_owned()));
        assert_eq!(read_text(&path("nothing")), DiskAnswer::Absent);
        assert_eq!(read_text(&path("text/below")), DiskAnswer::Absent);
        for broken in [path("binary"), path("long"), folder.path().to_str().unwrap().to_owned()] {
            assert_eq!(read_text(&broken), DiskAnswer::Broken, "{broken}");
        }
        let pipe = folder.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        assert!(open_file(&pipe).is_err());
    }
}
