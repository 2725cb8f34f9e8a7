//! The project's instruction files and its branch, as far as the classifier may see them.
//!
//! They are the repository's words, and whoever wrote the repository may have written them for the classifier. They are
//! shown to it as data. A link in the place of such a file could name any file of the user's, so only what lies in the
//! project itself is read.

use std::fs;
use std::io::Read;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

/// The names agents look for, in the order they are shown.
const NAMES: &[&str] = &["CLAUDE.md", ".claude/CLAUDE.md", "AGENTS.md", "GEMINI.md"];

/// How much of one file is read, in bytes; the prompt cuts it further.
const LONGEST: u64 = 64 << 10;

/// Reads the instruction files of a project: name and text. What cannot be read is left out.
pub(super) fn read_instructions(project: &Path) -> Vec<(String, String)> {
    let Ok(root) = project.canonicalize() else { return Vec::new() };
    let mut found: Vec<(String, String)> = Vec::new();
    for name in NAMES {
        let Some(text) = read_inside(&root, name) else { continue };
        let is_new = found.iter().all(|(_, known)| *known != text);
        if is_new && !text.trim().is_empty() {
            found.push(((*name).to_owned(), text));
        }
    }
    found
}

/// Reads the name of the branch that is checked out, where the repository is in the project itself.
pub(super) fn read_branch(project: &Path) -> Option<String> {
    let root = project.canonicalize().ok()?;
    let head = read_inside(&root, ".git/HEAD")?;
    head.trim().strip_prefix("ref: refs/heads/").map(str::to_owned)
}

/// Reads a file of the project. A link may lead to another instruction file of it, and nowhere else.
fn read_inside(root: &Path, name: &str) -> Option<String> {
    let path = root.join(name).canonicalize().ok()?;
    let is_itself = path == root.join(name);
    let is_instruction = || NAMES.iter().any(|name| path.file_name() == Path::new(name).file_name());
    let metadata = fs::metadata(&path).ok()?;
    // A file with a second name may be any file of the user's.
    if !path.starts_with(root)
        || !(is_itself || is_instruction())
        || !metadata.is_file()
        || metadata.nlink() > 1
    {
        return None;
    }
    let mut bytes = Vec::new();
    fs::File::open(&path).ok()?.take(LONGEST).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn files_of_the_project_are_read_once_each() {
        let project = tempfile::tempdir().unwrap();
        assert_eq!(read_instructions(project.path()), []);
        fs::write(project.path().join("CLAUDE.md"), "use tabs").unwrap();
        fs::write(project.path().join("GEMINI.md"), " \n").unwrap();
        std::os::unix::fs::symlink("CLAUDE.md", project.path().join("AGENTS.md")).unwrap();
        assert_eq!(read_instructions(project.path()), [("CLAUDE.md".to_owned(), "use tabs".to_owned())]);
    }

    #[test]
    fn a_link_that_leaves_the_project_and_what_is_no_file_are_not_read() {
        let home = tempfile::tempdir().unwrap();
        let secret = home.path().join("id_rsa");
        fs::write(&secret, "PRIVATE").unwrap();
        let project = home.path().join("project");
        fs::create_dir_all(project.join("AGENTS.md")).unwrap();
        std::os::unix::fs::symlink(&secret, project.join("CLAUDE.md")).unwrap();
        std::os::unix::fs::symlink("../id_rsa", project.join("GEMINI.md")).unwrap();
        assert_eq!(read_instructions(&project), []);
        fs::remove_dir(project.join("AGENTS.md")).unwrap();
        fs::write(project.join(".env"), "TOKEN=1").unwrap();
        std::os::unix::fs::symlink(".env", project.join("AGENTS.md")).unwrap();
        fs::create_dir(project.join(".claude")).unwrap();
        fs::hard_link(project.join(".env"), project.join(".claude/CLAUDE.md")).unwrap();
        assert_eq!(read_instructions(&project), []);
    }

    #[test]
    fn the_branch_is_that_of_the_project() {
        let project = tempfile::tempdir().unwrap();
        assert_eq!(read_branch(project.path()), None);
        fs::create_dir(project.path().join(".git")).unwrap();
        fs::write(project.path().join(".git/HEAD"), "ref: refs/heads/topic\n").unwrap();
        assert_eq!(read_branch(project.path()), Some("topic".to_owned()));
        fs::write(project.path().join(".git/HEAD"), "0123456789abcdef\n").unwrap();
        assert_eq!(read_branch(project.path()), None);
    }

    #[test]
    fn a_long_file_is_read_in_part() {
        let project = tempfile::tempdir().unwrap();
        fs::write(project.path().join("AGENTS.md"), "é".repeat(100_000)).unwrap();
        let found = read_instructions(project.path());
        assert!(found[0].1.len() <= 70_000, "{}", found[0].1.len());
    }
}
