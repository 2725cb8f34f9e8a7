//! What a path pattern is relative to: `//root`, `~/home`, `/source` or the current directory.

use std::borrow::Cow;

use crate::path;

/// The directory a path pattern is relative to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PathAnchor {
    /// `//x`: the root of the file system.
    Root,
    /// `~/x`: the user's home.
    Home,
    /// `/x`: the directory the settings file speaks for.
    Source,
    /// `x` and `./x`: the current directory.
    Cwd,
}

/// What the anchors of path patterns stand for. All are absolute paths.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PathAnchors<'a> {
    /// The current directory.
    pub cwd: &'a str,
    /// The session's primary working directory.
    pub project: &'a str,
    /// The user's home, if known.
    pub home: Option<&'a str>,
    /// The directory that the rule's own source speaks for; `None` is the project.
    pub base: Option<&'a str>,
}

/// Splits a written pattern into its anchor and the gitignore pattern below it.
pub(super) fn split_anchor(written: &str) -> (PathAnchor, String) {
    if let Some(below) = written.strip_prefix("//") {
        return (PathAnchor::Root, format!("/{below}"));
    }
    if written == "~" {
        return (PathAnchor::Home, "/".to_owned());
    }
    if let Some(below) = written.strip_prefix("~/") {
        return (PathAnchor::Home, format!("/{below}"));
    }
    if written.starts_with('/') {
        return (PathAnchor::Source, written.to_owned());
    }
    (PathAnchor::Cwd, written.strip_prefix("./").unwrap_or(written).to_owned())
}

/// Counts the leading `../` and returns the rest, which then is anchored.
pub(super) fn split_rise(below: String) -> (usize, String) {
    let mut rest = below.as_str();
    let mut rise = 0;
    while let Some(above) = rest.strip_prefix("..").filter(|above| above.is_empty() || above.starts_with('/'))
    {
        rise += 1;
        rest = above.trim_start_matches('/');
    }
    if rise == 0 { (0, below) } else { (rise, format!("/{rest}")) }
}

/// Resolves a path against the current directory.
pub(super) fn absolute<'a>(path: &'a str, anchors: &PathAnchors<'_>) -> Cow<'a, str> {
    if path.starts_with('/') { Cow::Borrowed(path) } else { Cow::Owned(path::join(anchors.cwd, path)) }
}
