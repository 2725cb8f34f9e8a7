//! Answers questions about the disk, each once.

use std::collections::{BTreeMap, BTreeSet};

use portcullis_core::{Facts, Question, Resolution};

use super::path::resolve;
use super::pattern::resolve_pattern;
use super::settings::{cargo_settings, git_settings};
use super::text::read_text;

/// The most answers that are kept in mind.
const MOST_KNOWN: usize = 100_000;

/// Answers questions, each once.
#[derive(Debug, Default)]
pub(crate) struct World {
    known: BTreeMap<Question, Resolution>,
    /// Whether the disk plays no part, and every path is taken for a real one.
    is_empty: bool,
}

impl World {
    /// Makes a world without a disk, the same on every machine.
    pub(crate) fn without_disk() -> Self {
        Self { is_empty: true, ..Self::default() }
    }

    /// Answers all questions.
    pub(crate) fn answer(&mut self, questions: &BTreeSet<Question>) -> Facts {
        if self.is_empty {
            return Facts::of_empty_disk(questions);
        }
        let mut facts = Facts::default();
        for question in questions {
            if let Some(resolution) = self.known.get(question) {
                facts.insert(question.clone(), resolution.clone());
                continue;
            }
            if self.known.len() >= MOST_KNOWN {
                self.known.clear();
            }
            let resolution = match question {
                Question::RealPath(path) => resolve(path),
                Question::Pattern(pattern) => resolve_pattern(pattern),
                Question::Text(path) => read_text(path),
                Question::GitSettings(directory) => git_settings(directory),
                Question::CargoSettings(directory) => cargo_settings(directory),
            };
            self.known.insert(question.clone(), resolution.clone());
            facts.insert(question.clone(), resolution);
        }
        facts
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn each_question_is_looked_up_once() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let root = root.to_str().unwrap();
        symlink("/etc/passwd", format!("{root}/link")).unwrap();
        let questions = BTreeSet::from([
            Question::RealPath(format!("{root}/link")),
            Question::Pattern(format!("{root}/l*")),
        ]);
        let mut world = World::default();
        let before = world.answer(&questions);
        fs::remove_file(format!("{root}/link")).unwrap();
        assert_eq!(world.answer(&questions), before);
        assert_ne!(World::default().answer(&questions), before);
    }
}
