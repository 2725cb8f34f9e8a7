//! Paths in settings. Directories are relative to the project, files to the directory of the settings; both can be
//! absolute or under `~/`.

use std::path::Path;

use portcullis_core::path;

/// Makes a directory of settings absolute, or says what is wrong with it and what to write instead.
pub(crate) fn resolve(
    text: &str,
    project: &Path,
    home: Option<&Path>,
) -> Result<String, (String, &'static str)> {
    let problem = |message: &str, hint| Err((message.to_owned(), hint));
    if text.trim().is_empty() {
        return problem("this directory is empty", "name a directory, or `.` for the project");
    }
    if text.contains('\0') {
        return problem("this directory contains a NUL character", "remove it");
    }
    if text.starts_with("\\\\") {
        return problem(
            "network paths are not taken as working directories",
            "mount it and name the mount point",
        );
    }
    match text.strip_prefix('~') {
        None => Ok(path::join(&project.to_string_lossy(), text)),
        Some(rest) => under_home(rest, home),
    }
}

/// Makes the path of a file absolute that stands in settings, which lie in `directory` unless they are no file.
pub(crate) fn resolve_file(
    text: &str,
    directory: Option<&Path>,
    home: Option<&Path>,
) -> Result<String, (String, &'static str)> {
    let problem = |message: &str, hint| Err((message.to_owned(), hint));
    if text.trim().is_empty() {
        return problem("this path is empty", "name a file, or leave the key out");
    }
    if text.contains('\0') {
        return problem("this path contains a NUL character", "remove it");
    }
    match (text.strip_prefix('~'), directory) {
        (Some(rest), _) => under_home(rest, home),
        (None, Some(directory)) => Ok(path::join(&directory.to_string_lossy(), text)),
        (None, None) if text.starts_with('/') => Ok(path::join("/", text)),
        // Not relative to where the agent works: the file would be whatever the repository put there.
        (None, None) => problem(
            "a relative path means nothing in settings that are no file",
            "write the whole path, or begin it with `~/`",
        ),
    }
}

fn under_home(rest: &str, home: Option<&Path>) -> Result<String, (String, &'static str)> {
    let problem = |message: &str| Err((message.to_owned(), "write the whole path"));
    match home {
        Some(home) if rest.is_empty() || rest.starts_with('/') => {
            Ok(path::join(&home.to_string_lossy(), rest.trim_start_matches('/')))
        }
        Some(_) => problem("`~` stands for your own home only"),
        None => problem("the home directory is not known"),
    }
}
