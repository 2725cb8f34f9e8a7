//! Explicit consent: whether the user's own words name what a soft finding is about (spec D17).
//!
//! Only a human turn counts, and only one that says to do it: it uses a word for the action and names the dangerous
//! specific, or repeats the command. A question, a condition or a prohibition is no consent.

use portcullis_analysis::findings::{Firmness, Found};

/// Says whether one of the turns clears a finding. `command` is the command line the finding stands in.
pub(crate) fn clears(turns: &[String], found: &Found, command: &str) -> bool {
    let Firmness::Soft { verbs, .. } = found.finding.firmness else {
        return false;
    };
    let subject = found.sighting.subject.trim_matches(['"', '\'']);
    let command = squeezed(&command.to_lowercase());
    turns.iter().map(|turn| marked(&turn.to_lowercase(), &command)).any(|turn| {
        sentences(&turn).iter().any(|sentence| {
            is_instruction(sentence, verbs)
                && (sentence.contains(REPEATED) || names(sentence, subject) && says(sentence, verbs))
        })
    })
}

/// Returns the sentences that are the user's own: not what is quoted, and nothing of a block.
pub(crate) fn own_sentences(turn: &str) -> Vec<String> {
    let mut is_block = false;
    let mut own = String::with_capacity(turn.len());
    for line in turn.lines() {
        let is_fence = ["```", "~~~"].iter().any(|fence| line.trim_start().starts_with(fence));
        is_block ^= is_fence;
        if !is_block && !is_fence {
            own.push_str(line);
            own.push('\n');
        }
    }
    sentences(&marked(&own, ""))
}

/// Says whether a sentence tells to do something or lets it be done, and neither forbids, doubts nor only tells.
pub(crate) fn tells_to_act(sentence: &str) -> bool {
    is_instruction(&sentence.to_lowercase().replace('\u{2019}', "'"), &[])
}

/// Stands for the command where a turn repeats it, so that its own words and full stops are not taken for the user's.
const REPEATED: char = '\u{1}';

/// Puts a mark in the place of every repetition of a command.
fn marked(turn: &str, command: &str) -> String {
    let turn = turn.replace(REPEATED, " ").replace('\u{2019}', "'");
    let mut marked = String::with_capacity(turn.len());
    for line in turn.lines().map(squeezed).filter(|line| !is_quoted(line)) {
        // What is announced belongs to what announces it: `never do this:`.
        marked.push(if marked.ends_with([':', ',']) { ' ' } else { '\n' });
        marked.push_str(&marked_line(&line, command));
    }
    marked
}

/// Says whether a line is somebody else's words or none at all: a quotation, a terminal, the fence of a block.
fn is_quoted(line: &str) -> bool {
    line.is_empty() || ["> ", ">", "$ ", "% ", "+ ", "```", "~~~"].iter().any(|start| line.starts_with(start))
}

fn marked_line(line: &str, command: &str) -> String {
    const QUOTES: &[char] = &['`', '"', '\''];
    let mut result = String::with_capacity(line.len());
    let mut rest = line;
    while let Some((before, after)) = rest.split_once(command).filter(|_| command.len() > 3) {
        let starts = before.is_empty() || before.ends_with([' ', ':', '(']) || before.ends_with(QUOTES);
        let end = after.trim_start_matches(QUOTES).trim_start_matches(['.', ',', ':', ';', '!', '?', ')']);
        // Another path or a further option would make it another command.
        let ends = end.is_empty() || end.starts_with(' ') && !after.starts_with(" -");
        result.push_str(before);
        if starts && ends {
            result.push(REPEATED);
        } else {
            result.push_str(command);
        }
        rest = after;
    }
    result.push_str(rest);
    result
}

/// Splits a turn into sentences. A line end is an end; a full stop only before white space.
fn sentences(turn: &str) -> Vec<String> {
    let mut all = Vec::new();
    let mut sentence = String::new();
    let mut letters = turn.chars().peekable();
    while let Some(letter) = letters.next() {
        let is_before_blank = letters.peek().is_none_or(|next| next.is_whitespace());
        match letter {
            '\n' | ';' => all.push(std::mem::take(&mut sentence)),
            '.' | '!' if is_before_blank => all.push(std::mem::take(&mut sentence)),
            '?' if is_before_blank => {
                sentence.push('?');
                all.push(std::mem::take(&mut sentence));
            }
            other => sentence.push(other),
        }
    }
    all.push(sentence);
    all
}

/// Words that forbid, doubt, postpone or only tell, in the languages people most often write to agents in.
const REFUSALS: &[&str] = &[
    "after",
    "against",
    "aldrig",
    "aren't",
    "as long as",
    "as soon as",
    "ask",
    "assuming",
    "aucun",
    "avoid",
    "before",
    "bez",
    "block",
    "blocked",
    "blocks",
    "can't",
    "cannot",
    "could",
    "dangerous",
    "denied",
    "denies",
    "deny",
    "describe",
    "didn't",
    "didnt",
    "disable",
    "disables",
    "document",
    "doesn't",
    "doesnt",
    "don't",
    "dont",
    "ensure",
    "error",
    "erst",
    "except",
    "explain",
    "fail",
    "failed",
    "fails",
    "falls",
    "forbid",
    "forbidden",
    "forbids",
    "geen",
    "haven't",
    "hold",
    "how",
    "if",
    "ikke",
    "in case",
    "instead",
    "inte",
    "isn't",
    "isnt",
    "jamais",
    "kein",
    "keine",
    "keinem",
    "keinen",
    "later",
    "mai",
    "make sure",
    "maybe",
    "might",
    "must not",
    "mustn't",
    "nao",
    "neither",
    "never",
    "nicht",
    "nie",
    "niemals",
    "niet",
    "ningún",
    "no",
    "nobody",
    "non",
    "none",
    "nooit",
    "nor",
    "not",
    "nothing",
    "nunca",
    "não",
    "ohne",
    "once",
    "only",
    "otherwise",
    "pas",
    "prevent",
    "prevents",
    "prohibit",
    "prohibited",
    "protect",
    "protects",
    "provided",
    "rather",
    "refuse",
    "refused",
    "refuses",
    "refusing",
    "reject",
    "rejected",
    "rejects",
    "revert",
    "review",
    "said",
    "sans",
    "says",
    "sem",
    "senza",
    "should",
    "shouldn't",
    "si",
    "sin",
    "stop",
    "test that",
    "tests that",
    "tomorrow",
    "undid",
    "undo",
    "unless",
    "unlike",
    "until",
    "verify",
    "wait",
    "wanted",
    "wants",
    "wasn't",
    "wenn",
    "what",
    "when",
    "whether",
    "which",
    "who",
    "why",
    "without",
    "won't",
    "wont",
    "would",
    "wouldn't",
    "zonder",
    "без",
    "если",
    "не",
    "нет",
    "никогда",
];

/// Signs of languages without blanks between words that forbid or ask.
const REFUSING_SIGNS: &[&str] = &[
    "不",
    "别",
    "別",
    "勿",
    "禁",
    "没",
    "沒",
    "如果",
    "吗",
    "嗎",
    "ない",
    "禁止",
    "もし",
    "지 마",
    "하지마",
    "？",
];

/// Says whether a sentence tells to do something; a word for the very action, such as `disable`, refuses nothing.
fn is_instruction(sentence: &str, verbs: &[&str]) -> bool {
    let is_action = |word: &str| verbs.iter().any(|verb| has_words(verb, word));
    !sentence.ends_with('?')
        && !REFUSALS.iter().any(|word| has_words(sentence, word) && !is_action(word))
        && !REFUSING_SIGNS.iter().any(|sign| sentence.contains(sign))
}

/// Says whether a sentence names what a finding is about, by its whole name or by the last part of it.
fn names(sentence: &str, subject: &str) -> bool {
    let subject = subject.to_lowercase();
    let last = subject.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    let is_telling = |name: &str| name.len() > 2 && name.chars().any(char::is_alphanumeric);
    // In `delete the button from src` something else is meant to go.
    let is_place = |before: &str| {
        const PLACES: &[&str] = &["for", "from", "in", "inside", "into", "of", "within"];
        let words = before.split_whitespace().rev().find(|word| !matches!(*word, "a" | "my" | "our" | "the"));
        words.is_some_and(|word| PLACES.contains(&word))
    };
    is_telling(&subject) && has_words(sentence, &subject)
        || is_telling(last) && finds_words(sentence, last, |before| !is_place(before))
}

fn says(sentence: &str, verbs: &[&str]) -> bool {
    verbs.iter().any(|verb| has_words(sentence, verb))
}

/// Says whether words stand in a sentence, not as part of longer ones.
fn has_words(sentence: &str, words: &str) -> bool {
    finds_words(sentence, words, |_| true)
}

/// Says whether words stand in a sentence behind something that passes a test.
fn finds_words(sentence: &str, words: &str, test: impl Fn(&str) -> bool) -> bool {
    let is_part = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '-' | '/' | '\'');
    sentence.match_indices(words).any(|(at, _)| {
        let before = sentence.get(..at).unwrap_or_default();
        let after = sentence.get(at + words.len()..).and_then(|text| text.chars().next());
        !before.chars().next_back().is_some_and(is_part) && !after.is_some_and(is_part) && test(before)
    })
}

fn squeezed(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use portcullis_analysis::findings::{Sighting, with_code};
    use portcullis_shell::Span;

    use super::*;

    fn is_cleared(turn: &str, subject: &str, command: &str) -> bool {
        is_cleared_of("PC007", turn, subject, command)
    }

    fn is_cleared_of(code: &str, turn: &str, subject: &str, command: &str) -> bool {
        let sighting = Sighting {
            effect: None,
            span: Span::default(),
            subject: subject.to_owned(),
            sentence: String::new(),
        };
        let found = Found { finding: with_code(code).unwrap(), sighting };
        clears(&[turn.to_owned()], &found, command)
    }

    #[test]
    fn a_turn_that_names_action_and_target_clears() {
        for turn in [
            "Please force push to feature/login now.",
            "force-push feature/login",
            "Rebase it and then overwrite feature/login on the remote",
            "run git push --force origin feature/login",
            "ok. force push login",
        ] {
            assert!(is_cleared(turn, "feature/login", "git push --force origin feature/login"), "{turn}");
        }
    }

    #[test]
    fn a_turn_that_names_only_one_of_both_or_forbids_does_not_clear() {
        for turn in [
            "push feature/login",
            "force push it",
            "fix the login",
            "never force push feature/login",
            "don't force push feature/login",
            "should we force push feature/login?",
            "force push feature/login?",
            "if the tests pass, force push feature/login",
            "enforce feature/login",
            "no force push to feature/login",
            "bitte kein force push auf feature/login",
            "ask me before you force push feature/login",
            "once CI is green force push feature/login",
            "explain how force push works on feature/login",
            "undo the force push to feature/login",
            "don\u{2019}t force push feature/login",
            "> force push feature/login",
            "$ git push --force origin feature/login",
            "Never do this:\ngit push --force origin feature/login",
            "Never do this:\n\n```\ngit push --force origin feature/login\n```",
            "make sure git push --force origin feature/login is rejected",
            "force push the docs of login",
            "不要 force push feature/login",
            "force feature/login-2",
            "",
        ] {
            assert!(!is_cleared(turn, "feature/login", "git push --force origin feature/login"), "{turn}");
        }
    }

    #[test]
    fn a_word_for_the_action_itself_refuses_nothing() {
        use portcullis_analysis::findings::FINDINGS;
        for finding in FINDINGS {
            let Firmness::Soft { verbs, .. } = finding.firmness else {
                continue;
            };
            for verb in verbs.iter().filter(|verb| !verb.contains("no ")) {
                let turn = format!("Please {verb} example-thing now.");
                assert!(is_cleared_of(finding.code, &turn, "example-thing", "x y z"), "{turn}");
            }
        }
    }
}
