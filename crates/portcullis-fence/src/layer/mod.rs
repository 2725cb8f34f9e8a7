//! What a command wrote into a layer: read, compared with what is below, and brought down.

mod change;
mod commit;
mod conflict;
mod tree;

pub use change::{ChangeKind, ChangedEntry, LayerChange, find_changes};
pub(crate) use commit::LayerCommit;
pub(crate) use conflict::ConflictCheck;
pub use conflict::{ChangeConflict, FileStamp};
pub use tree::open_regular;
pub(crate) use tree::remove_tree;
