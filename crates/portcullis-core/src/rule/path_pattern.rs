//! Path patterns of `Read(…)` and `Edit(…)` rules: an anchor and a gitignore pattern below it (spec C5).
//!
//! An allow pattern errs towards not matching, a deny or ask pattern errs towards matching. No pattern ever matches a
//! path outside its anchor.

use std::borrow::Cow;

use super::anchor::{PathAnchor, PathAnchors, absolute, split_anchor, split_rise};
use super::gitignore::{EntryKind, Gitignore, LetterCase, trim_trailing_spaces};
use super::{Behavior, RuleProblem};
use crate::path;

/// A compiled path pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathPattern {
    anchor: PathAnchor,
    /// How many directories above the anchor the pattern begins; only in deny and ask rules.
    rise: usize,
    is_negated: bool,
    is_guard: bool,
    meaning: PathMeaning,
    /// The pattern without its anchor.
    below: String,
    required_name: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum PathMeaning {
    Glob {
        glob: Gitignore,
        /// For `x/**` in a guard: `x`, which then is guarded itself.
        root: Option<Gitignore>,
    },
    /// The anchor itself and everything below.
    Everything,
    /// Not a usable pattern: this path, with the anchor for its root, and everything below.
    Exact(String),
}

impl PathPattern {
    /// Reads the content of a path rule, case-sensitively.
    pub fn parse(content: &str, behavior: Behavior) -> Result<Self, RuleProblem> {
        Self::parse_with_case(content, behavior, LetterCase::Sensitive)
    }

    /// Reads the content of a path rule.
    pub fn parse_with_case(content: &str, behavior: Behavior, case: LetterCase) -> Result<Self, RuleProblem> {
        let is_guard = behavior != Behavior::Allow;
        let (is_negated, written) = content.strip_prefix('!').map_or((false, content), |rest| (true, rest));
        let written = trim_trailing_spaces(written);
        if is_negated && !is_guard {
            return Err(useless(content, "`!` works in deny and ask rules only"));
        }
        let (anchor, rise, below) = if is_negated {
            (PathAnchor::Cwd, 0, written.strip_prefix("./").unwrap_or(written).to_owned())
        } else {
            let (anchor, below) = split_anchor(written);
            let (rise, below) =
                if is_guard && anchor == PathAnchor::Cwd { split_rise(below) } else { (0, below) };
            (anchor, rise, below)
        };
        let below = if is_guard { tidy(&below) } else { below };
        let stance = if is_guard && !is_negated { Stance::Guard } else { Stance::Exempt };
        let meaning = read_meaning(&below, anchor, stance, case).ok_or_else(|| useless(content, UNUSABLE))?;
        let required_name = required_name(&meaning, &below, case);
        Ok(Self { anchor, rise, is_negated, is_guard, meaning, below, required_name })
    }

    /// Returns the directory the pattern is relative to.
    pub const fn anchor(&self) -> PathAnchor {
        self.anchor
    }

    /// Says whether the pattern begins with `!` and so takes paths out of the relative patterns before it.
    pub const fn is_negated(&self) -> bool {
        self.is_negated
    }

    /// Says whether the pattern is not usable and only guards the path it spells.
    pub const fn is_exact_only(&self) -> bool {
        matches!(self.meaning, PathMeaning::Exact(_))
    }

    /// Says whether the pattern matches every path of the file system or of the home.
    pub fn is_system_wide(&self) -> bool {
        let is_far = matches!(self.anchor, PathAnchor::Root | PathAnchor::Home);
        is_far && path::components(&self.below).all(|component| matches!(component, "*" | "**"))
    }

    /// Returns a component that every matching absolute path has, if there is an obvious one: a key to index rules by.
    pub fn required_name(&self) -> Option<&str> {
        self.required_name.as_deref()
    }

    /// Returns the one path a pattern without wildcards is about; `None` if it matches at any depth.
    pub(super) fn only_path(&self, anchors: &PathAnchors<'_>) -> Option<String> {
        let is_anchored = self.is_anchored();
        let is_literal = !self.below.contains(['*', '?', '[', '\\', ' ']) && self.rise == 0;
        let directory = self.directory(anchors).filter(|_| is_anchored && is_literal)?;
        Some(path::normalize(&format!("{directory}/{}", self.below)))
    }

    /// Says whether the pattern names the directory of what it matches, and does not match at any depth.
    pub(crate) fn is_anchored(&self) -> bool {
        self.below.trim_end_matches('/').contains('/')
    }

    /// Returns a path below a directory that the pattern surely matches; `None` if there is none, or wildcards leave open
    /// which it is.
    pub(crate) fn path_below(&self, directory: &str, anchors: &PathAnchors<'_>) -> Option<String> {
        let own = self.directory(anchors)?;
        let below = self.below.strip_suffix("/**").unwrap_or(&self.below);
        if self.is_negated || self.rise > 0 || below.contains(['*', '?', '[', '\\']) {
            return None;
        }
        // A name without a slash is matched at any depth, so also where the directory begins.
        let start = if self.is_anchored() || path::is_inside(own, directory) { own } else { directory };
        let path = path::normalize(&format!("{start}/{below}"));
        (path != directory && path::is_inside(&path, directory) && self.matches(&path, anchors))
            .then_some(path)
    }

    /// Returns the directory below which the pattern matches every path; `None` if it leaves any out.
    pub(crate) fn tree(&self, anchors: &PathAnchors<'_>) -> Option<String> {
        let below = self.below.strip_suffix("**")?;
        let is_literal =
            !below.contains(['*', '?', '[', '\\', ' ']) && (below.is_empty() || below.ends_with('/'));
        let directory =
            self.directory(anchors).filter(|_| is_literal && self.rise == 0 && !self.is_negated)?;
        Some(path::normalize(&format!("{directory}/{below}")))
    }

    /// Says whether the pattern matches an absolute path. A negated pattern matches nothing by itself.
    ///
    /// A trailing slash says that the path is a directory; without it a guard takes it for one, an allow does not.
    pub fn matches(&self, path: &str, anchors: &PathAnchors<'_>) -> bool {
        let matches_below = |below: &String| match &self.meaning {
            PathMeaning::Everything => true,
            PathMeaning::Exact(exact) => path::is_inside(&format!("/{below}"), exact),
            PathMeaning::Glob { .. } if below.is_empty() => false,
            PathMeaning::Glob { glob, root } => {
                glob.matches(below, self.kind_of(path)) || matches_root(root.as_ref(), below)
            }
        };
        !self.is_negated && self.paths_below(path, anchors).iter().any(matches_below)
    }

    fn kind_of(&self, path: &str) -> EntryKind {
        let may_be_directory = path.ends_with('/') || (self.is_guard && !self.is_negated);
        if may_be_directory { EntryKind::Directory } else { EntryKind::File }
    }

    /// Returns the anchor's directory; `None` for a home that is not known.
    fn directory<'a>(&self, anchors: &PathAnchors<'a>) -> Option<&'a str> {
        match self.anchor {
            PathAnchor::Root => Some("/"),
            PathAnchor::Home => anchors.home,
            PathAnchor::Source => anchors.base.or(Some(anchors.project)),
            PathAnchor::Cwd => Some(anchors.cwd),
        }
    }

    /// Returns the path below the anchor: none if it lies elsewhere, several if the anchor is not known.
    fn paths_below(&self, path: &str, anchors: &PathAnchors<'_>) -> Vec<String> {
        let path = absolute(path, anchors);
        let Some(directory) = self.directory(anchors) else {
            // Any directory may be the home nobody told us of.
            return if self.is_guard { every_tail(&path) } else { Vec::new() };
        };
        let directory: Cow<'_, str> = match self.rise {
            0 => Cow::Borrowed(directory),
            rise => Cow::Owned(path::normalize(&format!("{directory}{}", "/..".repeat(rise)))),
        };
        path::relative_to(&path, &directory).into_iter().collect()
    }

    /// Says whether the pattern is one line of the list that is relative to the current directory.
    fn is_in_list(&self) -> bool {
        self.anchor == PathAnchor::Cwd && self.rise == 0 && matches!(self.meaning, PathMeaning::Glob { .. })
    }

    /// Says whether a pattern of the list, negated or not, matches this very entry.
    fn matches_entry(&self, entry: &str, place: EntryPlace, path: &str) -> bool {
        let PathMeaning::Glob { glob, root } = &self.meaning else { return false };
        let is_last = place == EntryPlace::Last;
        let kind = if is_last { self.kind_of(path) } else { EntryKind::Directory };
        glob.matches_entry(entry, kind) || (is_last && matches_root(root.as_ref(), entry))
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum EntryPlace {
    Above,
    Last,
}

/// Returns which of the patterns of one list guards a path. The list is one source's, in the order it was written.
///
/// A negated pattern takes paths out of the relative ones before it, as in a `.gitignore` file: the last match counts,
/// and nothing is taken out of a directory that is guarded as a whole.
pub fn guarding_pattern(patterns: &[&PathPattern], path: &str, anchors: &PathAnchors<'_>) -> Option<usize> {
    let has_negated = patterns.iter().any(|pattern| pattern.is_negated);
    let stands_alone = |pattern: &PathPattern| !has_negated || !pattern.is_in_list();
    let found = patterns.iter().position(|pattern| stands_alone(pattern) && pattern.matches(path, anchors));
    if found.is_some() || !has_negated {
        return found;
    }
    let below = path::relative_to(&absolute(path, anchors), anchors.cwd).filter(|below| !below.is_empty())?;
    let ends = below.match_indices('/').map(|(end, _)| end).chain([below.len()]);
    ends.filter_map(|end| below.get(..end)).find_map(|entry| {
        let place = if entry.len() == below.len() { EntryPlace::Last } else { EntryPlace::Above };
        let matches =
            |pattern: &&PathPattern| pattern.is_in_list() && pattern.matches_entry(entry, place, path);
        let last_match = patterns.iter().rposition(matches);
        last_match.filter(|index| patterns.get(*index).is_some_and(|pattern| !pattern.is_negated))
    })
}

fn matches_root(root: Option<&Gitignore>, below: &str) -> bool {
    root.is_some_and(|root| root.matches_entry(below, EntryKind::Directory))
}

const UNUSABLE: &str = "check for unclosed brackets, a backslash at the end, `//` or `..` inside, and write `dir/**` \
    for everything below a directory";

fn useless(content: &str, hint: &str) -> RuleProblem {
    RuleProblem {
        message: format!("the path pattern `{content}` approves nothing"),
        hint: Some(hint.to_owned()),
    }
}

/// Takes out what git never finds in a path, so that a guard written that way still guards.
fn tidy(below: &str) -> String {
    let mut text = below.replace("/./", "/");
    while text.contains("//") {
        text = text.replace("//", "/");
    }
    text
}

/// Whether a pattern stops calls or lets them go: in doubt the one matches and the other does not.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stance {
    Guard,
    Exempt,
}

fn read_meaning(below: &str, anchor: PathAnchor, stance: Stance, case: LetterCase) -> Option<PathMeaning> {
    let is_guard = stance == Stance::Guard;
    match below {
        "" | "/" | "." | "./" | "/." => is_guard.then_some(PathMeaning::Everything),
        "**" | "/**" | "**/" | "/**/" if is_guard => Some(PathMeaning::Everything),
        _ => compile(below, anchor, stance, case)
            .or_else(|| is_guard.then(|| PathMeaning::Exact(format!("/{}", below.trim_start_matches('/'))))),
    }
}

fn compile(below: &str, anchor: PathAnchor, stance: Stance, case: LetterCase) -> Option<PathMeaning> {
    let components = below.strip_prefix('/').unwrap_or(below);
    let components = components.strip_suffix('/').unwrap_or(components);
    if components.split('/').any(|component| matches!(component, "" | "." | "..")) {
        return None;
    }
    // `dir/**` guards such a directory at any depth but allows only the one in the current directory.
    let is_at_any_depth = stance == Stance::Guard
        && anchor == PathAnchor::Cwd
        && below.strip_suffix("/**").is_some_and(|directory| !directory.contains('/'));
    let pattern = if is_at_any_depth { Cow::Owned(format!("**/{below}")) } else { Cow::Borrowed(below) };
    let glob = Gitignore::parse(&pattern, case)?;
    let root = pattern.strip_suffix("/**").filter(|_| stance == Stance::Guard);
    Some(PathMeaning::Glob { glob, root: root.and_then(|directory| Gitignore::parse(directory, case)) })
}

fn required_name(meaning: &PathMeaning, below: &str, case: LetterCase) -> Option<String> {
    let is_plain = |name: &&str| !name.is_empty() && !name.contains(['*', '?', '[', '\\', ' ']);
    match meaning {
        PathMeaning::Glob { .. } if case == LetterCase::Sensitive => {
            below.split('/').filter(is_plain).max_by_key(|name| name.len()).map(str::to_owned)
        }
        PathMeaning::Glob { .. } | PathMeaning::Everything | PathMeaning::Exact(_) => None,
    }
}

/// Returns what remains of a path below each directory above it.
fn every_tail(path: &str) -> Vec<String> {
    let whole = path::normalize(path);
    whole.match_indices('/').filter_map(|(slash, _)| whole.get(slash + 1..)).map(str::to_owned).collect()
}

#[cfg(test)]
#[path = "path_pattern_tests.rs"]
mod tests;
