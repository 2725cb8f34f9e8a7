//! Explicit consent: whether the user's own words ask for what a soft finding is about (spec D17).
//!
//! ```text
//! turn ── sentences ──► what the user says himself, without quotations and blocks
//! sentence ── clauses ──► an order, a question, a tale, work on text
//! order + finding ──► a request, until a later sentence takes it back
//! ```
//!
//! Words allow nothing. A request sends what was found to the judge together with the sentence; without a judge a person
//! is asked, and sees the sentence. So the grammar decides between a question and a denial, never between yes and no:
//!
//! - an order begins with its verb, behind words of politeness: “please force push topic”, “could you drop the table?”;
//! - it asks for a finding if it says a word for the action, or holds the command itself;
//! - orders to work on text (“mention …”, “fix … in the docs”, “write a test for …”) ask for nothing they mention, and
//!   neither do tales, questions, conditions and prohibitions;
//! - an order that names another thing (“force push topic-2”) asks for that one alone;
//! - “no wait”, “not today” and a later “don't …” of the same action take it back.

mod sentences;
mod words;

use portcullis_analysis::findings::{Firmness, Found};

use sentences::{
    REPEATED, clauses, has_words, is_instruction, own_lines, sentences_of, squeezed, without_quotes,
};
use words::{POLITE, TELLING, WITHDRAWALS, WORKING, WRITINGS};

/// What the user said in a session, laid out once for all findings of a call.
#[derive(Debug)]
pub(crate) struct UserWords {
    /// Every sentence of every turn, in order.
    sentences: Vec<SaidSentence>,
    /// The command line that is judged, in lower case.
    command: String,
}

#[derive(Debug)]
struct SaidSentence {
    /// As the user wrote it.
    written: String,
    /// In lower case, with marks for the command and for quotations, and without the politeness before it.
    plain: String,
    /// Its parts that may be orders of their own; none if it is a question.
    orders: Vec<String>,
}

impl UserWords {
    /// Lays out turns; `command` is the command line that is judged.
    pub(crate) fn of(turns: &[String], command: &str) -> Self {
        let command = squeezed(command);
        let sentences = turns.iter().flat_map(|turn| sentences_of(turn, &command));
        Self {
            sentences: sentences.map(|marked| SaidSentence::new(&marked, &command)).collect(),
            command: command.to_lowercase(),
        }
    }

    /// Returns the sentence that asks for what was found, if one does and none after it takes it back.
    pub(crate) fn request_for(&self, found: &Found) -> Option<&str> {
        let Firmness::Soft { verbs, .. } = found.finding.firmness else {
            return None;
        };
        let subject = found.sighting.subject.trim_matches(['"', '\'']).to_lowercase();
        let asks = |sentence: &SaidSentence| {
            is_instruction(&sentence.plain, verbs)
                && sentence.orders.iter().any(|order| self.asks_for(order, verbs, &subject))
        };
        let last = self.sentences.iter().rposition(asks)?;
        let (before, after) = self.sentences.split_at(last + 1);
        let is_withdrawn = after.iter().any(|sentence| sentence.withdraws(verbs, &subject));
        before.last().filter(|_| !is_withdrawn).map(|sentence| sentence.written.as_str())
    }
}

impl UserWords {
    /// Says whether an order asks for an action on what the command names, or on nothing by name.
    fn asks_for(&self, order: &str, verbs: &[&str], subject: &str) -> bool {
        let first = order.split_whitespace().next().unwrap_or_default().trim_end_matches([',', ':']);
        let is_action = verbs.iter().any(|verb| order.strip_prefix(verb).is_some_and(is_end_of_word));
        let is_work = WORKING.contains(&first);
        if is_work && !is_action || TELLING.contains(&first) || is_about_writing(order) {
            return false;
        }
        let is_repeated = order.contains(REPEATED) && !is_work;
        is_repeated || says(order, verbs) && (names(order, subject) || !self.names_another(order))
    }

    /// Says whether an order names a thing that the command does not, by a word that no prose has: a path, a branch.
    fn names_another(&self, order: &str) -> bool {
        let is_odd = |letter: char| matches!(letter, '/' | '_' | '-' | '~' | '.') || letter.is_ascii_digit();
        order.split_whitespace().skip(1).any(|word| {
            let word = word.trim_matches(|letter: char| letter.is_ascii_punctuation() && letter != '~');
            word.contains(is_odd) && !has_words(&self.command, word)
        })
    }
}

impl SaidSentence {
    fn new(marked: &str, command: &str) -> Self {
        let text = without_quotes(&marked.to_lowercase());
        let order = without_politeness(&text);
        // “Could you …?” is an order all the same.
        let plain = if order.len() < text.trim().len() { order.trim_end_matches('?') } else { order };
        let is_question = plain.ends_with('?');
        let orders = std::iter::once(plain)
            .chain(clauses(plain))
            .filter(|_| !is_question)
            .map(|clause| without_politeness(clause).to_owned());
        Self {
            written: marked.replace(REPEATED, command).trim().to_owned(),
            orders: orders.collect(),
            plain: plain.to_owned(),
        }
    }

    /// Says whether it takes back what was asked for before.
    fn withdraws(&self, verbs: &[&str], subject: &str) -> bool {
        let is_about = says(&self.plain, verbs) || names(&self.plain, subject);
        let is_short = WITHDRAWALS.iter().any(|words| has_words(&self.plain, words));
        is_short || is_about && !is_instruction(&self.plain, verbs)
    }
}

fn without_politeness(text: &str) -> &str {
    let mut rest = text.trim();
    while let Some(shorter) = POLITE.iter().find_map(|words| {
        let after = rest.strip_prefix(words)?;
        after.starts_with([' ', ',', ':', '!']).then(|| after.trim_start_matches([' ', ',', ':', '!']))
    }) {
        rest = shorter;
    }
    rest
}

fn is_end_of_word(rest: &str) -> bool {
    !rest.starts_with(|letter: char| letter.is_alphanumeric() || letter == '_')
}

/// Says whether the thing an order is about is a piece of writing: “remove the sentence about …”.
fn is_about_writing(order: &str) -> bool {
    const BETWEEN: &[&str] = &["a", "an", "any", "every", "my", "our", "that", "the", "this"];
    let mut words = order.split_whitespace().skip(1).skip_while(|word| BETWEEN.contains(word));
    words
        .next()
        .is_some_and(|word| WRITINGS.contains(&word.trim_end_matches('s')) || WRITINGS.contains(&word))
}

/// Says whether an order names what a finding is about, by its whole name or by the last part of it.
fn names(order: &str, subject: &str) -> bool {
    let last = subject.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    let is_telling = |name: &str| name.len() > 2 && name.chars().any(char::is_alphanumeric);
    [subject, last].iter().any(|name| is_telling(name) && has_words(order, name))
}

/// Says whether a text has a word for an action; an option may be one.
fn says(text: &str, verbs: &[&str]) -> bool {
    verbs.iter().any(|verb| has_words(text, verb) || has_words(&text.replace(" --", " "), verb))
}

/// Returns the sentences that are the user's own: not what is quoted, and nothing of a block.
pub(crate) fn own_sentences(turn: &str) -> Vec<String> {
    sentences_of(&own_lines(turn), "")
}

/// Says whether a sentence tells to do something or lets it be done, and neither forbids, doubts nor only tells.
pub(crate) fn tells_to_act(sentence: &str) -> bool {
    is_instruction(&sentence.to_lowercase().replace('\u{2019}', "'"), &[])
}

#[cfg(test)]
mod tests;
