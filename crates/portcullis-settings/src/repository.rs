//! Which repository a directory belongs to, worktrees followed to their main checkout.
//!
//! Trust is kept by repository, so a directory must not be able to claim another one's. A `.git` file only leads to a
//! main checkout when that checkout lists the worktree: the administrative directory must lie in the common directory's
//! `worktrees`, and its `gitdir` file must point back here.

use std::fs;
use std::path::{Path, PathBuf};

/// A repository on disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GitRepository {
    /// The top of the checkout the directory lies in.
    pub checkout: PathBuf,
    /// The top of the main checkout: the same, unless the directory lies in a linked worktree.
    pub main: PathBuf,
}

impl GitRepository {
    /// Finds the repository around a directory, whose symbolic links must be resolved already.
    pub fn find(directory: &Path) -> Option<Self> {
        directory.ancestors().find_map(|candidate| {
            let metadata = fs::symlink_metadata(candidate.join(".git")).ok()?;
            let main = if metadata.is_file() { find_main_checkout(candidate) } else { None };
            let checkout = candidate.to_path_buf();
            Some(Self { main: main.unwrap_or_else(|| checkout.clone()), checkout })
        })
    }
}

/// The longest administrative file that is read.
const LONGEST_POINTER: u64 = 16 * 1024;

/// Follows the `.git` file of a linked worktree; `None` for a submodule, a bare repository or a false claim.
fn find_main_checkout(checkout: &Path) -> Option<PathBuf> {
    let git_file = checkout.join(".git");
    let pointer = read_pointer(&git_file)?;
    let administrative = checkout.join(pointer.strip_prefix("gitdir:")?.trim()).canonicalize().ok()?;
    let common = administrative.join(read_pointer(&administrative.join("commondir"))?).canonicalize().ok()?;
    let back = administrative.join(read_pointer(&administrative.join("gitdir"))?).canonicalize().ok()?;

    let is_listed = administrative.parent() == Some(common.join("worktrees").as_path());
    let points_back = back == git_file.canonicalize().ok()?;
    let is_checkout = common.file_name()? == ".git";
    (is_listed && points_back && is_checkout).then(|| common.parent().map(Path::to_path_buf))?
}

fn read_pointer(path: &Path) -> Option<String> {
    let metadata = fs::symlink_metadata(path).ok()?;
    if !metadata.is_file() || metadata.len() > LONGEST_POINTER {
        return None;
    }
    let text = fs::read_to_string(path).ok()?;
    let line = text.trim_end_matches(['\n', '\r']);
    (!line.is_empty() && !line.contains('\n')).then(|| line.to_owned())
}
