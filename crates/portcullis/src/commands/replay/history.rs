//! What is known of a session before a call: the user's words, the files the agent wrote. Bounded; what does not fit
//! makes the history a partial one, which the core takes for the unsafe answer.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use portcullis_core::{Case, SessionKnowledge, ToolCall, path, state_boundaries};

/// How many bytes of the user's words are kept, the latest.
const MOST_WORDS: usize = 256 << 10;
/// How many of the user's turns are kept, the latest.
const MOST_TURNS: usize = 1_000;
/// How many files are kept in mind.
const MOST_FILES: usize = 4_096;
/// How many bytes of what was written into them.
const MOST_CONTENTS: usize = 512 << 10;

/// The past of a session.
#[derive(Debug, Default)]
pub(super) struct History {
    turns: VecDeque<String>,
    /// What the user forbade, and permitted again.
    boundaries: Vec<String>,
    words: usize,
    written: BTreeMap<String, Option<String>>,
    contents: usize,
    touched: BTreeSet<String>,
    reads_secrets: bool,
    is_partial: bool,
}

impl History {
    /// Notes what the user said.
    pub(super) fn say(&mut self, text: String) {
        state_boundaries(&mut self.boundaries, &text);
        self.words += text.len();
        self.turns.push_back(text);
        while self.words > MOST_WORDS || self.turns.len() > MOST_TURNS {
            let Some(oldest) = self.turns.pop_front() else { break };
            self.words -= oldest.len();
            self.is_partial = true;
        }
    }

    /// Forgets the user's last turns. What they forbade stays, as it does in the hook, which never hears of this.
    pub(super) fn take_back(&mut self, turns: u64) {
        for _ in 0..turns.min(self.turns.len() as u64) {
            self.words -= self.turns.pop_back().map_or(0, |turn| turn.len());
        }
    }

    /// Notes that more happened than is told.
    pub(super) fn sum_up(&mut self) {
        self.is_partial = true;
    }

    /// Notes what a call may have written.
    pub(super) fn note(&mut self, case: &Case) {
        self.note_file(case.call(), &case.context().cwd);
        self.is_partial |= case.writes_unnamed();
        self.reads_secrets |= case.reads_secrets();
        for path in case.written_paths() {
            if self.touched.len() < MOST_FILES {
                self.touched.insert(path);
            } else {
                self.is_partial = true;
            }
        }
    }

    fn note_file(&mut self, call: &ToolCall, cwd: &str) {
        let (field, whole) = match call.tool() {
            "Write" => ("file_path", call.input().text("content")),
            "Edit" | "MultiEdit" => ("file_path", None),
            "NotebookEdit" => ("notebook_path", None),
            _ => return,
        };
        let Some(file) = call.input().text(field).filter(|file| !file.is_empty()) else { return };
        let whole = whole.filter(|text| self.contents + text.len() <= MOST_CONTENTS);
        self.contents += whole.map_or(0, str::len);
        let file = path::join(cwd, file);
        if self.written.len() < MOST_FILES || self.written.contains_key(&file) {
            let old = self.written.insert(file, whole.map(str::to_owned));
            self.contents -= old.flatten().map_or(0, |text| text.len());
        } else {
            self.contents -= whole.map_or(0, str::len);
            self.is_partial = true;
        }
    }

    /// Returns what the user forbade, which counts in every mode.
    pub(super) fn boundaries(&self) -> &[String] {
        &self.boundaries
    }

    /// Returns the past as the core takes it.
    pub(super) fn session(&self) -> SessionKnowledge {
        SessionKnowledge {
            turns: self.turns.iter().cloned().collect(),
            written: self.written.clone(),
            touched: self.touched.clone(),
            reads_secrets: self.reads_secrets,
            is_partial: self.is_partial,
            boundaries: self.boundaries.clone(),
            ..SessionKnowledge::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use portcullis_core::{Context, Mode, ToolInput, Value};

    use super::*;

    fn write(file: &str, content: &str) -> Case {
        let text = |text: &str| Value::Text(text.to_owned());
        let input: ToolInput = [("file_path".to_owned(), text(file)), ("content".to_owned(), text(content))]
            .into_iter()
            .collect();
        Case::new(ToolCall::new("Write", input), Context::new(Mode::Auto, "/p"))
    }

    #[test]
    fn words_that_do_not_fit_are_forgotten_from_the_oldest_on() {
        let mut history = History::default();
        history.say("first".to_owned());
        history.say("second".to_owned());
        history.take_back(1);
        assert_eq!(
            (history.session().turns, history.session().is_partial),
            (vec!["first".to_owned()], false)
        );
        history.say("x".repeat(MOST_WORDS));
        assert_eq!((history.session().turns.len(), history.session().is_partial), (1, true));
        history.say("y".repeat(MOST_WORDS + 1));
        assert_eq!((history.session().turns.len(), history.words), (0, 0));
        history.take_back(u64::MAX);
    }

    #[test]
    fn what_was_forbidden_outlives_the_words() {
        let mut history = History::default();
        history.say("fix the tests, but don't push".to_owned());
        history.take_back(1);
        history.say("x".repeat(MOST_WORDS + 1));
        assert_eq!(history.session().turns, Vec::<String>::new());
        assert_eq!(history.boundaries().len(), 1, "{:?}", history.boundaries());
        assert_eq!(history.session().boundaries, history.boundaries());
    }

    #[test]
    fn files_are_kept_with_what_was_written_as_long_as_it_fits() {
        let mut history = History::default();
        history.note(&write("a.sh", "echo"));
        history.note(&write("/p/a.sh", "true"));
        assert_eq!(
            history.session().written,
            BTreeMap::from([("/p/a.sh".to_owned(), Some("true".to_owned()))])
        );
        history.note(&write("b.sh", &"x".repeat(MOST_CONTENTS)));
        assert_eq!(history.session().written.get("/p/b.sh"), Some(&None));
        assert_eq!(history.contents, 4);
        for number in 0..MOST_FILES {
            history.note(&write(&format!("{number}"), "z"));
        }
        assert_eq!((history.written.len(), history.is_partial), (MOST_FILES, true));
    }
}
