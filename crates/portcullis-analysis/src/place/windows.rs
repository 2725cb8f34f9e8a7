//! Directories of a Windows machine that belong to the system, by the text of a path.

use crate::lists::places::windows::{DIRECTORIES, VARIABLES};

/// Says whether a path is a whole drive, a directory of Windows or its programs, or lies in one; of the users only
/// their home directories themselves.
pub fn is_windows_system(path: &str) -> bool {
    let path = path.trim_matches(['"', '\'']).to_ascii_lowercase().replace('/', "\\");
    let mut parts = path.split('\\').filter(|part| !part.is_empty() && *part != "*");
    let Some(first) = parts.next() else {
        return false;
    };
    if VARIABLES.contains(&first) {
        return true;
    }
    // Shares of a whole drive or of Windows itself, which only administrators reach.
    let is_share = path.starts_with("\\\\");
    if is_share && parts.clone().next().is_some_and(|share| share.ends_with('$')) {
        return true;
    }
    let is_drive = matches!(first.as_bytes(), [letter, b':'] if letter.is_ascii_alphabetic());
    let below = parts.next();
    match below {
        _ if !is_drive => false,
        None => true,
        Some("users") => parts.count() < 2,
        Some(name) => DIRECTORIES.contains(&name),
    }
}

#[cfg(test)]
mod tests {
    use super::is_windows_system;

    #[test]
    fn drives_and_directories_of_windows_are_the_systems() {
        for path in
            [r"C:\", "d:", r"C:\*", r"C:\Windows\System32\drivers", "c:/Program Files/App", r"%SystemRoot%\x"]
        {
            assert!(is_windows_system(path), "{path}");
        }
        assert!(is_windows_system(r"C:\Users\me"));
        assert!(is_windows_system(r"C:\inetpub\wwwroot"));
        assert!(is_windows_system(r"\\server\ADMIN$\out.txt"));
        assert!(is_windows_system(r"\\server\c$\Windows"));
    }

    #[test]
    fn files_of_a_user_and_relative_paths_are_not() {
        for path in [
            r"C:\Users\me\code\app",
            r"build\windows",
            "/code/app",
            "",
            r"C:\code\app",
            "windows",
            r"\\server\share\x",
        ] {
            assert!(!is_windows_system(path), "{path}");
        }
    }
}
