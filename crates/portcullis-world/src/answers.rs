//! Answers questions about the disk, each once.

use std::collections::{BTreeMap, BTreeSet};

use portcullis_core::{DiskAnswer, DiskQuestion, path};

use crate::git::{KnownIndexes, unheld};
use crate::path::{KnownLinks, resolve};
use crate::pattern::resolve_pattern;
use crate::process::agent_process;
use crate::settings::{cargo_settings, git_settings};
use crate::text::read_text;

/// The most answers that are kept in mind.
const MOST_KNOWN: usize = 100_000;

/// Answers questions, each once.
#[derive(Debug, Default)]
pub struct World {
    known: BTreeMap<DiskQuestion, DiskAnswer>,
    links: KnownLinks,
    indexes: KnownIndexes,
    /// Whether the disk plays no part, and every path is taken for a real one.
    is_empty: bool,
}

impl World {
    /// Makes a world without a disk, the same on every machine.
    pub fn without_disk() -> Self {
        Self { is_empty: true, ..Self::default() }
    }

    /// Answers all questions.
    pub fn answer(&mut self, questions: BTreeSet<DiskQuestion>) -> Vec<(DiskQuestion, DiskAnswer)> {
        let answer = |question: DiskQuestion| {
            let answer = if self.is_empty { question.on_empty_disk() } else { self.look_up(&question) };
            (question, answer)
        };
        questions.into_iter().map(answer).collect()
    }

    /// Answers all questions; the disk plays a part only below a directory, if one is given.
    pub fn answer_below(
        &mut self,
        directory: Option<&str>,
        questions: BTreeSet<DiskQuestion>,
    ) -> Vec<(DiskQuestion, DiskAnswer)> {
        let answer = |question: DiskQuestion| {
            let is_below = directory.is_some_and(|directory| path::is_inside(place_of(&question), directory));
            let answer = if is_below { self.look_up(&question) } else { question.on_empty_disk() };
            (question, answer)
        };
        questions.into_iter().map(answer).collect()
    }

    fn look_up(&mut self, question: &DiskQuestion) -> DiskAnswer {
        if let Some(resolution) = self.known.get(question) {
            return resolution.clone();
        }
        if self.known.len() >= MOST_KNOWN {
            self.known.clear();
        }
        let resolution = match question {
            DiskQuestion::RealPath(path) => resolve(path, &mut self.links),
            DiskQuestion::Pattern(pattern) => resolve_pattern(pattern, &mut self.links),
            DiskQuestion::Text(path) => read_text(path),
            DiskQuestion::GitSettings(directory) => git_settings(directory),
            DiskQuestion::CargoSettings(directory) => cargo_settings(directory),
            DiskQuestion::Unheld(path) => unheld(path, &mut self.indexes),
            DiskQuestion::AgentProcess(number) => agent_process(number),
        };
        self.known.insert(question.clone(), resolution.clone());
        resolution
    }
}

/// Returns the path a question is about.
fn place_of(question: &DiskQuestion) -> &str {
    match question {
        DiskQuestion::RealPath(path)
        | DiskQuestion::Pattern(path)
        | DiskQuestion::Text(path)
        | DiskQuestion::GitSettings(path)
        | DiskQuestion::CargoSettings(path)
        | DiskQuestion::Unheld(path) => path,
        // It is no file.
        DiskQuestion::AgentProcess(_) => "",
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
            DiskQuestion::RealPath(format!("{root}/link")),
            DiskQuestion::Pattern(format!("{root}/l*")),
        ]);
        let mut world = World::default();
        let before = world.answer(questions.clone());
        fs::remove_file(format!("{root}/link")).unwrap();
        assert_eq!(world.answer(questions.clone()), before);
        assert_ne!(World::default().answer(questions), before);
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
        let questions = BTreeSet::from([DiskQuestion::RealPath(inside), DiskQuestion::RealPath(outside)]);
        let answers = |directory: Option<&str>| {
            let found = World::default().answer_below(directory, questions.clone());
            found.into_iter().map(|(_, answer)| answer).collect::<Vec<_>>()
        };
        let [real, led] = [vec![], vec!["/etc/passwd".to_owned()]].map(DiskAnswer::Leads);
        assert_eq!(answers(None), [real.clone(), real.clone()]);
        assert_eq!(answers(Some(&format!("{root}/in"))), [led, real]);
    }
}
