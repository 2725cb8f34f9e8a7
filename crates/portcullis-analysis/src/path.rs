//! Paths as text: pure, lexical, `/`-separated. Nothing here looks at a disk.

use std::borrow::Cow;

/// Collapses `.`, `..` and repeated slashes, and drops a trailing slash.
///
/// `..` at the root of an absolute path stays at the root; a relative path keeps the `..` it cannot resolve.
pub fn normalize(path: &str) -> String {
    // Nearly every path is written as it should be.
    if is_normal(path) {
        return path.to_owned();
    }
    let absolute = path.starts_with('/');
    let mut kept: Vec<&str> = Vec::new();
    for component in components(path) {
        if component != ".." {
            kept.push(component);
        } else if kept.last().is_some_and(|last| *last != "..") {
            kept.pop();
        } else if !absolute {
            kept.push(component);
        }
    }
    let joined = kept.join("/");
    match (absolute, joined.is_empty()) {
        (true, _) => format!("/{joined}"),
        (false, true) => ".".to_owned(),
        (false, false) => joined,
    }
}

/// Resolves a path against a base directory and normalizes it; an absolute path ignores the base.
pub fn join(base: &str, path: &str) -> String {
    if path.starts_with('/') {
        return normalize(path);
    }
    let mut whole = String::with_capacity(base.len() + 1 + path.len());
    whole.push_str(base);
    if !base.ends_with('/') {
        whole.push('/');
    }
    whole.push_str(path);
    if is_normal(&whole) { whole } else { normalize(&whole) }
}

/// Says whether a path is a directory or lies anywhere below it, component by component.
///
/// `/home/me/app-evil` is not inside `/home/me/app`.
pub fn is_inside(path: &str, directory: &str) -> bool {
    below(&normal(path), &normal(directory)).is_some()
}

/// Returns the rest of a path below a directory: empty for the directory itself, `None` if it lies elsewhere.
pub fn relative_to(path: &str, directory: &str) -> Option<String> {
    below(&normal(path), &normal(directory)).map(str::to_owned)
}

/// Returns the rest of a path below a directory, both of them normal.
pub fn below<'a>(path: &'a str, directory: &str) -> Option<&'a str> {
    if directory == "/" {
        return path.strip_prefix('/');
    }
    let rest = path.strip_prefix(directory)?;
    if rest.is_empty() { Some(rest) } else { rest.strip_prefix('/') }
}

/// Returns a path as [`normalize`] does, and as it is where that changes nothing.
pub(crate) fn normal(path: &str) -> Cow<'_, str> {
    if is_normal(path) { Cow::Borrowed(path) } else { Cow::Owned(normalize(path)) }
}

/// Says whether [`normalize`] would leave a path as it is. Every path is asked about many times, so its bytes are passed
/// over once.
fn is_normal(path: &str) -> bool {
    const NAME: u8 = 3;
    let body = path.strip_prefix('/').unwrap_or(path);
    if body.is_empty() {
        return path == "/";
    }
    // How many dots a component has so far, as long as it has nothing else: at most two are no name.
    let mut dots = 0;
    for byte in body.bytes() {
        dots = match byte {
            b'/' if dots < NAME => return false,
            b'/' => 0,
            b'.' if dots < NAME => dots + 1,
            _ => NAME,
        };
    }
    dots == NAME
}

/// Returns the last component; `None` for the root, and where the last component is `..`.
pub fn file_name(path: &str) -> Option<&str> {
    components(path).last().filter(|name| *name != "..")
}

/// Returns the directory a path is in, normalized; `None` for the root and for a path of one relative component.
pub fn parent(path: &str) -> Option<String> {
    let whole = normalize(path);
    let (directory, name) = whole.rsplit_once('/')?;
    match (directory.is_empty(), name.is_empty()) {
        (true, true) => None,
        (true, false) => Some("/".to_owned()),
        (false, _) => Some(directory.to_owned()),
    }
}

/// Returns the components of a path as they are written, without empty ones and `.`.
pub fn components(path: &str) -> impl DoubleEndedIterator<Item = &str> {
    path.split('/').filter(|component| !matches!(*component, "" | "."))
}

/// Says whether an absolute pattern could name this path.
pub fn may_name(pattern: &str, path: &str) -> bool {
    let pattern: Vec<&str> = components(pattern).collect();
    let path: Vec<&str> = components(path).collect();
    pattern.len() == path.len()
        && pattern.iter().zip(&path).all(|(pattern, name)| may_name_component(pattern, name))
}

/// Says whether a component of a shell pattern could name this file: its fixed beginning and end are compared, what
/// stands between may be anything.
pub fn may_name_component(pattern: &str, name: &str) -> bool {
    // What stands before a parenthesis belongs to it: `@(a|b)`.
    if pattern.contains('(') {
        return true;
    }
    let special = ['*', '?', '[', '(', '{'];
    let Some(first) = pattern.find(special) else {
        return pattern == name;
    };
    let last = pattern.rfind(['*', '?', ']', ')', '}']).unwrap_or(first);
    let before = pattern.get(..first).unwrap_or_default();
    let after = pattern.get(last + 1..).unwrap_or_default();
    name.len() >= before.len() + after.len() && name.starts_with(before) && name.ends_with(after)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dots_and_doubled_slashes_collapse_and_never_rise_above_the_root() {
        for (written, normal) in [
            ("/", "/"),
            ("", "."),
            (".", "."),
            ("//a///b//", "/a/b"),
            ("/a/./b/.", "/a/b"),
            ("/a/b/../c", "/a/c"),
            ("/../../etc/passwd", "/etc/passwd"),
            ("/a/../../b", "/b"),
            ("a/../..", ".."),
            ("../../a/..", "../.."),
            ("./a", "a"),
            ("/...", "/..."),
            ("/a/..b", "/a/..b"),
        ] {
            assert_eq!(normalize(written), normal, "{written}");
            assert_eq!(
                is_normal(written),
                written == normal && !matches!(written, "." | ".." | "../.."),
                "{written}"
            );
        }
    }

    #[test]
    fn joining_resolves_against_the_base_unless_the_path_is_absolute() {
        for (base, path, joined) in [
            ("/a", "b", "/a/b"),
            ("/a", "/b", "/b"),
            ("/a/b", "../c", "/a/c"),
            ("/a", "../../../c", "/c"),
            ("/", "x", "/x"),
            ("/a", "", "/a"),
            ("/a", ".", "/a"),
        ] {
            assert_eq!(join(base, path), joined, "{base} + {path}");
        }
    }

    #[test]
    fn containment_goes_by_components_after_dots_are_resolved() {
        for (path, directory, inside) in [
            ("/home/me/app", "/home/me/app", true),
            ("/home/me/app/", "/home/me/app", true),
            ("/home/me/app/x", "/home/me/app/", true),
            ("/home/me/app-evil", "/home/me/app", false),
            ("/home/me/app/../x", "/home/me/app", false),
            ("/home/me", "/home/me/app", false),
            ("/etc", "/", true),
            ("/", "/", true),
            ("etc", "/", false),
            ("a/b", "a", true),
            ("/a/b", "a", false),
        ] {
            assert_eq!(is_inside(path, directory), inside, "{path} in {directory}");
        }
    }

    #[test]
    fn names_and_parents_are_found() {
        for (path, name, directory) in [
            ("/", None, None),
            ("/a", Some("a"), Some("/")),
            ("/a/b/", Some("b"), Some("/a")),
            ("a", Some("a"), None),
            ("a/b", Some("b"), Some("a")),
            ("/a/..", None, None),
        ] {
            assert_eq!(file_name(path), name, "{path}");
            assert_eq!(parent(path).as_deref(), directory, "{path}");
        }
        assert_eq!(components("/a//./b/").collect::<Vec<_>>(), ["a", "b"]);
        assert_eq!(relative_to("/a/b/c", "/a").as_deref(), Some("b/c"));
    }

    #[test]
    fn a_pattern_is_compared_by_its_fixed_ends() {
        for (pattern, path, may) in [
            ("/code/a*", "/code/app", true),
            ("/code/a?p", "/code/app", true),
            ("/code/[a]pp", "/code/app", true),
            ("/c*/app", "/code/app", true),
            ("/code/b*", "/code/app", false),
            ("/code/*.o", "/code/app", false),
            ("/code/*", "/code/app/x", false),
        ] {
            assert_eq!(may_name(pattern, path), may, "{pattern} {path}");
        }
    }
}
