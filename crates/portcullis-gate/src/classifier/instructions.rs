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

/// Reads the name of the branch that others build on, as the clone noted it.
pub(super) fn read_default_branch(project: &Path) -> Option<String> {
    let root = project.canonicalize().ok()?;
    let head = read_inside(&root, ".git/refs/remotes/origin/HEAD")?;
    head.trim().strip_prefix("ref: refs/remotes/origin/").map(str::to_owned)
}

/// Reads the remotes of the repository with their addresses, without keys or passwords in them.
pub(super) fn read_remotes(project: &Path) -> Vec<(String, String)> {
    let text =
        project.canonicalize().ok().and_then(|root| read_inside(&root, ".git/config")).unwrap_or_default();
    let mut remotes: Vec<(String, String)> = Vec::new();
    let mut remote: Option<String> = None;
    for line in text.lines().map(str::trim) {
        if let Some(section) = line.strip_prefix('[') {
            let name = section.strip_prefix("remote \"").and_then(|rest| rest.split_once('"'));
            remote = name.map(|(name, _)| name.to_owned());
        } else if let (Some(name), Some(("url", address))) =
            (&remote, line.split_once('=').map(|(key, value)| (key.trim(), value.trim())))
        {
            remotes.push((name.clone(), without_password(address)));
        }
    }
    remotes
}

/// Leaves out what stands before the host of an address that has a scheme.
fn without_password(address: &str) -> String {
    let Some((scheme, rest)) = address.split_once("://") else { return address.to_owned() };
    let (place, path) = rest.split_once('/').unwrap_or((rest, ""));
    let host = place.rsplit_once('@').map_or(place, |(_, host)| host);
    format!("{scheme}://{host}/{path}")
}

/// Reads the user's own notes for agents: those of the home, and those of the project that git does not hold.
pub(super) fn read_user_instructions(home: Option<&Path>, project: &Path) -> Vec<(String, String)> {
    let in_home = home.and_then(|home| home.join(".claude").canonicalize().ok());
    let of_home = in_home.and_then(|folder| read_inside(&folder, "CLAUDE.md"));
    let of_project = project.canonicalize().ok().and_then(|root| read_inside(&root, "CLAUDE.local.md"));
    let named = [("~/.claude/CLAUDE.md", of_home), ("CLAUDE.local.md", of_project)];
    let found = named.into_iter().filter_map(|(name, text)| Some((name.to_owned(), text?)));
    found.filter(|(_, text)| !text.trim().is_empty()).collect()
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
    fn remotes_are_read_without_passwords_and_the_default_branch_as_the_clone_noted_it() {
        let project = tempfile::tempdir().unwrap();
        assert_eq!((read_remotes(project.path()), read_default_branch(project.path())), (Vec::new(), None));
        fs::create_dir_all(project.path().join(".git/refs/remotes/origin")).unwrap();
        let head = project.path().join(".git/refs/remotes/origin/HEAD");
        fs::write(head, "ref: refs/remotes/origin/trunk\n").unwrap();
        let config = "[core]\n\turl = no\n[remote \"origin\"]\n\turl = https://ada:s3cret@git.example/a/app.git\n\
                      [remote \"fork\"]\n\tfetch = x\n\turl = git@git.example:b/app.git\n[branch \"main\"]\n\turl = no\n";
        fs::write(project.path().join(".git/config"), config).unwrap();
        let expected = [("origin", "https://git.example/a/app.git"), ("fork", "git@git.example:b/app.git")];
        let expected = expected.map(|(name, address)| (name.to_owned(), address.to_owned()));
        assert_eq!(read_remotes(project.path()), expected);
        assert_eq!(read_default_branch(project.path()).as_deref(), Some("trunk"));
    }

    #[test]
    fn notes_of_the_user_are_those_of_the_home_and_of_the_file_git_does_not_hold() {
        let home = tempfile::tempdir().unwrap();
        let project = home.path().join("app");
        fs::create_dir_all(home.path().join(".claude")).unwrap();
        fs::create_dir(&project).unwrap();
        assert_eq!(read_user_instructions(Some(home.path()), &project), []);
        fs::write(home.path().join(".claude/CLAUDE.md"), "never push on Fridays").unwrap();
        fs::write(project.join("CLAUDE.local.md"), "use tabs").unwrap();
        let names: Vec<String> =
            read_user_instructions(Some(home.path()), &project).into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["~/.claude/CLAUDE.md", "CLAUDE.local.md"]);
        assert_eq!(read_user_instructions(None, &project).len(), 1);
    }

    #[test]
    fn a_long_file_is_read_in_part() {
        let project = tempfile::tempdir().unwrap();
        fs::write(project.path().join("AGENTS.md"), "é".repeat(100_000)).unwrap();
        let found = read_instructions(project.path());
        assert!(found[0].1.len() <= 70_000, "{}", found[0].1.len());
    }
}
