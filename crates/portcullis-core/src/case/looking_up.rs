//! What a case asks of the disk, and how it takes the answers.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use super::{Case, CaseView};
use crate::disk::{DiskAnswer, DiskQuestion};
use crate::policy::Policy;

/// How often the disk is asked about one call. What is still open then counts as the unsafe answer.
const MOST_LOOKS: usize = 4;

impl Case {
    /// Lists what must be known of the disk before a policy can decide, without what was answered already.
    pub fn questions(&self, policy: &Policy) -> BTreeSet<DiskQuestion> {
        let mut questions = CaseView::new(self, policy).questions();
        questions.retain(|question| !self.answers.contain(question));
        questions
    }

    /// Asks about the disk until nothing is open: what a script turns out to do may raise more questions.
    pub fn look_up<Answers>(
        &mut self,
        policy: &Policy,
        mut look: impl FnMut(BTreeSet<DiskQuestion>) -> Answers,
    ) where
        Answers: IntoIterator<Item = (DiskQuestion, DiskAnswer)>,
    {
        for _ in 0..MOST_LOOKS {
            let questions = self.questions(policy);
            if questions.is_empty() {
                return;
            }
            self.answer(look(questions));
        }
    }

    /// Adds answers of the disk. The first answer to a question stands.
    pub fn answer(&mut self, answers: impl IntoIterator<Item = (DiskQuestion, DiskAnswer)>) {
        for (question, answer) in answers {
            self.answers.insert(question, answer);
            self.judged = OnceLock::new();
        }
    }

    /// Answers every open question as if the disk held nothing; see [`DiskQuestion::on_empty_disk`].
    pub fn assume_empty_disk(&mut self, policy: &Policy) {
        self.look_up(policy, |questions| {
            let answer = |question: DiskQuestion| {
                let answer = question.on_empty_disk();
                (question, answer)
            };
            questions.into_iter().map(answer)
        });
    }
}
