//! Paths that a path rule matches and paths near by that it does not, told apart by the pattern itself.

use portcullis_core::path;
use portcullis_core::rule::{PathAnchor, PathAnchors, PathPattern};

const HOME: &str = "/home/you";
const PROJECT: &str = "/home/you/project";

/// The most examples of a kind.
const MOST: usize = 2;

/// Returns paths that match and paths that do not, as a person in the project would write them.
pub(super) fn path_examples(pattern: &PathPattern, content: &str) -> (Vec<String>, Vec<String>) {
    let Some(whole) = fill(pattern.anchor(), content) else { return (Vec::new(), Vec::new()) };
    let anchors = PathAnchors { cwd: PROJECT, project: PROJECT, home: Some(HOME), base: None };
    let (mut hits, mut misses) = (Vec::new(), Vec::new());
    for candidate in neighbours(&whole) {
        let list = if pattern.matches(&candidate, &anchors) { &mut hits } else { &mut misses };
        let shown = as_written(&candidate);
        if list.len() < MOST && !list.contains(&shown) {
            list.push(shown);
        }
    }
    (hits, misses)
}

/// Makes an absolute path of a pattern by filling its wildcards; `None` for one that is too clever for that.
fn fill(anchor: PathAnchor, content: &str) -> Option<String> {
    if content.contains(['[', '\\', '?']) {
        return None;
    }
    let filled = content.replace("**", "some/thing").replace('*', "any");
    Some(match anchor {
        PathAnchor::Root => path::normalize(&filled),
        PathAnchor::Home => path::join(HOME, filled.trim_start_matches('~').trim_start_matches('/')),
        PathAnchor::Source => path::join(PROJECT, filled.trim_start_matches('/')),
        PathAnchor::Cwd => path::join(PROJECT, &filled),
    })
}

/// Returns the path, what lies below it, the same name deeper down and elsewhere, and a name that begins alike.
fn neighbours(whole: &str) -> Vec<String> {
    let below_project = path::relative_to(whole, PROJECT);
    let deeper = below_project.map(|below| format!("{PROJECT}/deep/{below}"));
    let elsewhere = path::file_name(whole).map(|name| format!("/elsewhere/{name}"));
    let mut paths = vec![whole.to_owned()];
    paths.extend(deeper);
    paths.extend([path::join(whole, "below"), format!("{whole}2")]);
    paths.extend(elsewhere);
    paths
}

fn as_written(absolute: &str) -> String {
    if let Some(below) = path::relative_to(absolute, PROJECT) {
        return below;
    }
    path::relative_to(absolute, HOME).map_or_else(|| absolute.to_owned(), |below| format!("~/{below}"))
}

#[cfg(test)]
mod tests {
    use portcullis_core::rule::Behavior;
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn examples_are_told_apart_by_the_pattern() {
        let table: &[(&str, &[&str], &[&str])] = &[
            ("~/.ssh/**", &["~/.ssh/some/thing", "~/.ssh/some/thing/below"], &["/elsewhere/thing"]),
            ("//etc/passwd", &["/etc/passwd", "/etc/passwd/below"], &["/etc/passwd2", "/elsewhere/passwd"]),
            (".env", &[".env", "deep/.env"], &[".env2", "/elsewhere/.env"]),
            (
                "/docs/**",
                &["docs/some/thing", "docs/some/thing/below"],
                &["deep/docs/some/thing", "/elsewhere/thing"],
            ),
            ("*.rs", &["any.rs", "deep/any.rs"], &["any.rs2", "/elsewhere/any.rs"]),
            ("src/[ab]", &[], &[]),
        ];
        for (content, hits, misses) in table {
            let pattern = PathPattern::parse(content, Behavior::Deny).unwrap();
            let found = path_examples(&pattern, content);
            let owned = |paths: &[&str]| paths.iter().map(|path| (*path).to_owned()).collect::<Vec<_>>();
            assert_eq!(found, (owned(hits), owned(misses)), "{content}");
        }
    }
}
