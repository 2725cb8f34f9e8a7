//! Additional working directories: absolute, under `~/`, or relative to the project.

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
    let Some(rest) = text.strip_prefix('~') else {
        return Ok(path::join(&project.to_string_lossy(), text));
    };
    match home {
        Some(home) if rest.is_empty() || rest.starts_with('/') => {
            Ok(path::join(&home.to_string_lossy(), rest.trim_start_matches('/')))
        }
        Some(_) => problem("only one's own home can be written with `~`", "write the whole path"),
        None => problem("the home directory is not known", "write the whole path"),
    }
}
