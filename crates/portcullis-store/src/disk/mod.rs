//! The disk below the store: private files, and the locks that processes take turns with.

mod file;
mod lock;

pub(crate) use file::{
    FileIdentity, has_directory, has_file, identity, is_at, look, make_directory, open_existing,
    open_or_create, read, remove, replace,
};
pub(crate) use lock::FileLock;
