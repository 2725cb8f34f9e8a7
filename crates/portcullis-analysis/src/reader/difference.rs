//! `git apply`: the files that a difference names which stands on the line itself.

use std::collections::BTreeSet;

use super::CommandContext;
use super::{certain, has};
use crate::act::Act;
use crate::argument::{Argument, Knowledge};
use crate::profile::{Match, Use};

/// What stands in the place of a file that is not there.
const NO_FILE: &str = "/dev/null";

/// Reads the arguments of `git apply`. A difference that comes from elsewhere, or is not read to its end, changes files that
/// nobody knows, as the table says.
pub(super) fn apply(context: &CommandContext<'_>, found: &Match<'_>) -> Vec<Use> {
    let mut uses = found.uses.clone();
    let is_given = found.wanted.operands.iter().all(|word| word.text == "-") && !has(found, &["-p"]);
    let text = context.invocation.input.as_deref().filter(|_| is_given && !found.is_idle);
    let (Some(changes), Some(program)) = (text.and_then(Changes::read), context.invocation.program()) else {
        return uses;
    };
    uses.retain(|found| found.act != Act::Write && !matches!(&found.word, Some(word) if word.text == "-"));
    let named = |act: Act, path: &&str| {
        let word = Argument { knowledge: Knowledge::Fixed, ..program.piece(path) };
        certain(act, &word)
    };
    uses.extend(changes.written.iter().map(|path| named(Act::Write, path)));
    uses.extend(changes.removed.iter().map(|path| named(Act::Delete, path)));
    uses
}

/// The files that a difference changes.
#[derive(Debug, Default)]
struct Changes<'a> {
    written: BTreeSet<&'a str>,
    removed: BTreeSet<&'a str>,
}

impl<'a> Changes<'a> {
    /// Reads a difference; `None` if a line between its parts is none that is known, a name in it is odd, or there is none.
    /// git reads more forms than it writes, and takes a name apart in more than one way.
    fn read(text: &'a str) -> Option<Self> {
        let mut changes = Self::default();
        let mut lines = text.lines();
        let mut old = None;
        while let Some(line) = lines.next() {
            if let Some(counts) = line.strip_prefix("@@ ") {
                skip_hunk(counts, &mut lines)?;
            } else if let Some(names) = line.strip_prefix("diff --git ") {
                let (one, other) = names.split_once(' ')?;
                changes.written.extend([inner(one)?, inner(other)?]);
            } else if let Some(name) = line.strip_prefix("--- ") {
                old = Some(file_name(name));
            } else if let Some(name) = line.strip_prefix("+++ ") {
                changes.add(old.take()?, file_name(name))?;
            } else if let Some(name) = MOVES.iter().find_map(|start| line.strip_prefix(start)) {
                changes.written.insert(plain(name)?);
            } else if !is_plain_header(line) {
                return None;
            }
        }
        (!changes.written.is_empty()).then_some(changes)
    }

    fn add(&mut self, old: &'a str, new: &'a str) -> Option<()> {
        for name in [old, new].into_iter().filter(|name| *name != NO_FILE) {
            self.written.insert(inner(name)?);
        }
        // Backwards, what is new is taken away.
        let gone = [(old, new), (new, old)].into_iter().find(|(_, other)| *other == NO_FILE);
        self.removed.extend(gone.and_then(|(name, _)| inner(name)));
        Some(())
    }
}

/// What stands before names without a leading directory.
const MOVES: [&str; 4] = ["rename from ", "rename to ", "copy from ", "copy to "];

/// Modes of ordinary files, as git writes them. A link may lead anywhere.
const FILE_MODES: [&str; 2] = ["100644", "100755"];

/// Says whether a line between parts names no file: a note of git about modes, likeness or contents, or an empty line.
fn is_plain_header(line: &str) -> bool {
    let is_mode = |start: &str| line.strip_prefix(start).is_some_and(|mode| FILE_MODES.contains(&mode));
    let is_likeness = |start: &str| {
        let number = line.strip_prefix(start).and_then(|rest| rest.strip_suffix('%'));
        number.is_some_and(|number| number.parse::<u8>().is_ok())
    };
    let is_index = || {
        let mut words = line.strip_prefix("index ").into_iter().flat_map(|rest| rest.split(' '));
        let hashes = words.next().is_some_and(|word| {
            !word.is_empty() && word.chars().all(|letter| letter.is_ascii_hexdigit() || letter == '.')
        });
        hashes && words.next().is_none_or(|mode| FILE_MODES.contains(&mode)) && words.next().is_none()
    };
    line.is_empty()
        || line.starts_with("\\ ")
        || ["new file mode ", "deleted file mode ", "old mode ", "new mode "].into_iter().any(is_mode)
        || ["similarity index ", "dissimilarity index "].into_iter().any(is_likeness)
        || is_index()
}

/// Returns the name in the line of a file, without the time that may stand behind a tab.
fn file_name(line: &str) -> &str {
    line.split('\t').next().unwrap_or(line)
}

/// Takes the first directory away, as is done unless something else is asked for.
fn inner(name: &str) -> Option<&str> {
    plain(name)?.split_once('/').map(|(_, rest)| rest).filter(|rest| !rest.is_empty())
}

/// A name that is quoted, absolute or climbs is not read, nor one with blanks: git takes what looks like a time for none of
/// the name.
fn plain(name: &str) -> Option<&str> {
    let is_odd = name.split('/').any(|part| matches!(part, "" | "." | ".."));
    (!name.starts_with('"') && !is_odd && !name.contains(char::is_whitespace)).then_some(name)
}

/// Goes past the lines of a part, which may look like anything.
fn skip_hunk<'a>(counts: &str, lines: &mut impl Iterator<Item = &'a str>) -> Option<()> {
    let mut parts = counts.split(' ');
    let count = |part: Option<&str>, sign: char| -> Option<usize> {
        let numbers = part?.strip_prefix(sign)?;
        numbers.split_once(',').map_or(Some(1), |(_, count)| count.parse().ok())
    };
    let (mut old, mut new) = (count(parts.next(), '-')?, count(parts.next(), '+')?);
    while old > 0 || new > 0 {
        match lines.next()?.as_bytes().first() {
            Some(b' ' | b'\t') | None => {
                old = old.checked_sub(1)?;
                new = new.checked_sub(1)?;
            }
            Some(b'-') => old = old.checked_sub(1)?,
            Some(b'+') => new = new.checked_sub(1)?,
            Some(b'\\') => {}
            Some(_) => return None,
        }
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::super::testing::effects;

    fn of(difference: &str) -> Vec<String> {
        effects(&format!("git apply <<'EOF'\n{difference}\nEOF"))
    }

    #[test]
    fn a_difference_on_the_line_names_its_files() {
        for (difference, expected) in [
            (
                "--- a/src/x.py\n+++ b/src/x.py\n@@ -1 +1 @@\n-a\n+b",
                &["git-local", "write src/x.py"] as &[&str],
            ),
            (
                "diff --git a/a.md b/b.md\nsimilarity index 90%\nrename from a.md\nrename to b.md",
                &["git-local", "write a.md", "write b.md"],
            ),
            (
                "diff --git a/x b/x\ndeleted file mode 100644\n--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-a",
                &["delete x", "git-local", "write x"],
            ),
            // What stands in a part is no name.
            ("--- a/x\n+++ b/x\n@@ -1,2 +1 @@\n a\n--- a/.git/hooks/y", &["git-local", "write x"]),
        ] {
            assert_eq!(of(difference), expected, "{difference}");
        }
    }

    #[test]
    fn what_is_odd_is_not_read() {
        for difference in [
            "no difference",
            "--- a/x\n+++ b/../../x\n@@ -1 +1 @@\n-a\n+b",
            "--- a/x\n+++ \"b/\\056git/x\"\n@@ -1 +1 @@\n-a\n+b",
            "diff --git a/x b/x\nnew file mode 120000\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+/etc",
            "--- a/x\n+++ b/x\n@@ -1,9 +1 @@\n-a\n+b",
            "--- a/x 2024-07-05 19:41:17 -0500\n+++ b/x 2024-07-05 19:41:17 -0500\n@@ -1 +1 @@\n-a\n+b",
            "diff --git a/x b/x\nsimilarity index 100%\nrename old x\nrename new CLAUDE.md",
            "diff --git a/x b/x\nnew file mode 0120000\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+/etc",
            "diff --git a/x b/x\nnew file mode 120000 \n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+/etc",
            "GIT binary patch\nliteral 3\nKcmZ",
            "Index: x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b",
        ] {
            assert_eq!(of(difference), ["git-local", "write"], "{difference}");
        }
    }
}
