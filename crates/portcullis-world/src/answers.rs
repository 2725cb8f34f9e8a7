//! Answers questions about the disk, each once.

use std::collections::{BTreeMap, BTreeSet};

use portcullis_core::{Facts, Question, Resolution, path};

use crate::path::resolve;
use crate::pattern::resolve_pattern;
use crate::settings::{cargo_settings, git_settings};
use crate::text::read_text;

/// The most answers that are kept in mind.
const MOST_KNOWN: usize = 100_000;

/// Answers questions, each once.
#[derive(Debug, Default)]
pub struct World {
    known: BTreeMap<Question, Resolution>,
    /// Whether the disk plays no part, and every path is taken for a real one.
    is_empty: bool,
}

impl World {
    /// Makes a world without a disk, the same on every machine.
    pub fn without_disk() -> Self {
        Self { is_empty: true, ..Self::default() }
    }

    /// Answers all questions.
    pub fn answer(&mut self, questions: &BTreeSet<Question>) -> Facts {
        if self.is_empty {
            return Facts::of_empty_disk(questions);
        }
        let mut facts = Facts::default();
        for question in questions {
            facts.insert(question.clone(), self.look_up(question));
        }
        facts
    }

    /// Answers all questions; the disk plays a part only below a directory, if one is given.
    pub fn answer_below(&mut self, directory: Option<&str>, questions: &BTreeSet<Question>) -> Facts {
        let mut facts = Facts::of_empty_disk(questions);
        for question in questions {
            if directory.is_some_and(|directory| path::is_inside(place_of(question), directory)) {
                facts.insert(question.clone(), self.look_up(question));
            }
        }
        facts
    }

    fn look_up(&mut self, question: &Question) -> Resolution {
        if let Some(resolution) = self.known.get(question) {
            return resolution.clone();
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
        resolution
    }
}

/// Returns the path a question is about.
fn place_of(question: &Question) -> &str {
    match question {
        Question::RealPath(path)
        | Question::Pattern(path)
        | Question::Text(path)
        | Question::GitSettings(path)
        | Question::CargoSettings(path) => path,
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

    #[test]
    fn the_disk_is_looked_at_below_the_directory_only() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let root = root.to_str().unwrap();
        fs::create_dir(format!("{root}/in")).unwrap();
        let [inside, outside] = ["in/link", "link"].map(|name| format!("{root}/{name}"));
        for link in [&inside, &outside] {
            symlink("/etc/passwd", link).unwrap();
        }
        let questions = BTreeSet::from([Question::RealPath(inside.clone()), Question::RealPath(outside)]);
        let mut expected = Facts::of_empty_disk(&questions);
        assert_eq!(World::default().answer_below(None, &questions), expected);
        expected.insert(Question::RealPath(inside), Resolution::Leads(vec!["/etc/passwd".to_owned()]));
        assert_eq!(World::default().answer_below(Some(&format!("{root}/in")), &questions), expected);
    }
}
