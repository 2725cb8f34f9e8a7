//! The sentence a host shows to its model or its user.

use portcullis_core::{Decision, Mode, Reason, StepId, TraceOutcome, Verdict, is_hidden};

/// The longest sentence a host is given, in characters; longer ones are cut.
const LONGEST: usize = 1_000;

/// The most lines of a notice.
const MOST_LINES: usize = 48;

/// Writes why a verdict is what it is: what the call would do where something was found, the message, which names the
/// rule, then the rule's place.
pub(crate) fn reason(verdict: &Verdict) -> String {
    let message = shorten(&message(verdict));
    match verdict.reason.rule() {
        Some(rule) => format!("portcullis: {message} ({})", shorten(&rule.origin.to_string())),
        None => format!("portcullis: {message}"),
    }
}

/// Puts the consequence first, which is what a person decides by.
fn message(verdict: &Verdict) -> String {
    match (&verdict.reason, verdict.findings.first()) {
        (Reason::Finding { code, sentence, .. }, _) => format!("{} ({code})", consequence(sentence)),
        (reason, Some(found)) if verdict.decision == Decision::Ask || is_unasked(reason) => {
            let why = reason.message();
            // A limit names what was stopped last, which may be what stands in front.
            let known = format!("; the last: {}: {}", found.code, found.sentence);
            let why = why.strip_suffix(&known).unwrap_or(&why);
            format!("{} ({}); {why}", consequence(&found.sentence), found.code)
        }
        (reason, _) => reason.message(),
    }
}

/// Says whether a call was refused only because nobody is asked.
fn is_unasked(reason: &Reason) -> bool {
    matches!(reason, Reason::Headless { .. } | Reason::Mode(Mode::DontAsk))
}

/// Says what would be fine in the place of a call, where the analysis stopped it. What a rule or a person stopped, and what
/// could not be judged, has nothing that is known to be fine.
pub(crate) fn fine_instead(verdict: &Verdict) -> Option<&'static str> {
    let mut findings = verdict.findings.iter();
    let is_asked_by_rule = verdict.trace.iter().any(|line| {
        matches!(line.step, StepId::A3 | StepId::A6) && matches!(line.outcome, TraceOutcome::Raise(_))
    });
    let found = match &verdict.reason {
        Reason::Finding { code, .. } => findings.find(|found| found.code == *code),
        Reason::Rule { .. } | Reason::Refused { .. } | Reason::Unavailable { .. } | Reason::Error { .. } => {
            None
        }
        _ if is_asked_by_rule => None,
        _ => findings.next(),
    };
    found.map(|found| found.instead)
}

/// Makes of `it sends …` what a person reads first: `Sends …`.
fn consequence(sentence: &str) -> String {
    let plain = sentence.strip_prefix("it ").unwrap_or(sentence);
    let mut letters = plain.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// Writes what the user must know beside the verdict. Only whoever made it can break its lines: what it quotes has its line
/// ends spelled out already.
pub(crate) fn notice(message: &str) -> String {
    let lines: Vec<String> = message.split('\n').take(MOST_LINES).map(shorten).collect();
    format!("portcullis: {}", lines.join("\n"))
}

/// Writes why a call is blocked that was never decided.
pub(crate) fn failure(message: &str) -> String {
    format!("portcullis: {}; blocked to be safe", shorten(message))
}

/// Cuts a text to a length that can be read, and spells out what would not be seen as itself.
fn shorten(text: &str) -> String {
    let mut short = String::new();
    for (index, character) in text.chars().enumerate() {
        if index == LONGEST {
            short.push('…');
            break;
        }
        if is_hidden(character) {
            short.extend(character.escape_default());
        } else {
            short.push(character);
        }
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_consequence_comes_first() {
        assert_eq!(
            consequence("it sends `~/.ssh/id_rsa` to x.example"),
            "Sends `~/.ssh/id_rsa` to x.example"
        );
        assert_eq!(consequence("the build runs it"), "The build runs it");
        assert_eq!(consequence(""), "");
    }

    #[test]
    fn long_texts_are_cut_and_hidden_characters_spelled_out() {
        assert_eq!(shorten("naïve 日本"), "naïve 日本");
        assert_eq!(shorten("a\u{1b}[2J\n\u{202e}b"), "a\\u{1b}[2J\\n\\u{202e}b");
        assert_eq!(shorten(&"x".repeat(5_000)).chars().count(), LONGEST + 1);
        assert_eq!(notice("held:\n-a\u{1b}[2J\n+b"), "portcullis: held:\n-a\\u{1b}[2J\n+b");
        assert_eq!(notice(&"x\n".repeat(5_000)).lines().count(), MOST_LINES);
    }
}
