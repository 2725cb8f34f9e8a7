//! What a sentence forbids or permits, as far as that is beyond doubt.

use super::forbidden_action::{ActionKind, ActionObject, ForbiddenAction, VerbForm};
use super::objects::{actions, places};
use super::words::{self, SentenceWord};
use crate::consent;

/// What a sentence says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum SentenceMeaning {
    /// These are not to be done.
    Forbids(Vec<ForbiddenAction>),
    /// Something is not to be done, and a reader must tell what.
    Warns,
    /// These may be done.
    Permits(Vec<ForbiddenAction>),
    /// Nothing of the kind.
    Nothing,
}

/// Reads a sentence. What it forbids counts before what it permits.
pub(super) fn read(sentence: &str) -> SentenceMeaning {
    if sentence.trim_end().ends_with('?') {
        return SentenceMeaning::Nothing;
    }
    let words = words::words(sentence);
    let mut forbidden = Vec::new();
    let mut warns = false;
    for clause in words.split(|word| word.is_one_of(&["but", "however"])) {
        match prohibition(clause) {
            Some(actions) if actions.is_empty() => warns = true,
            Some(actions) => forbidden.extend(actions),
            None => {}
        }
    }
    if !forbidden.is_empty() {
        return SentenceMeaning::Forbids(forbidden);
    }
    if warns {
        return SentenceMeaning::Warns;
    }
    let own = without_quotations(sentence);
    let permitted = permission(&own, &words::words(&own));
    if permitted.is_empty() { SentenceMeaning::Nothing } else { SentenceMeaning::Permits(permitted) }
}

/// Words before an instruction that change nothing about it.
const LEADS: &[&str] = &[
    ",",
    "again",
    "also",
    "alright",
    "and",
    "btw",
    "careful",
    "fine",
    "for",
    "hey",
    "hi",
    "important",
    "just",
    "note",
    "now",
    "ok",
    "okay",
    "please",
    "reminder",
    "so",
    "sure",
    "then",
    "thanks",
    "well",
    "yes",
    "yep",
    "great",
    "good",
    "perfect",
    "lgtm",
    "looks",
    "nice",
];

/// Words that make what follows hold only under a condition.
const CONDITIONAL: &[&str] =
    &["after", "before", "if", "in", "once", "unless", "until", "when", "whenever", "while", "assuming"];

/// Returns what a clause forbids; empty if it forbids something that is not understood.
fn prohibition(clause: &[SentenceWord]) -> Option<Vec<ForbiddenAction>> {
    if clause.first().is_some_and(|word| word.is_one_of(CONDITIONAL)) {
        return negated(clause).map(|_| Vec::new());
    }
    let by_phrase = [left_alone(clause), none_of(clause), without(clause)];
    let mut all: Vec<Vec<ForbiddenAction>> = by_phrase.into_iter().flatten().collect();
    let mut rest = clause;
    while let Some(NegatedVerb { form, behind }) = negated(rest) {
        all.extend(forbidden(form, behind));
        rest = behind;
    }
    if all.is_empty() { None } else { Some(all.concat()) }
}

/// Returns what a negated verb forbids; empty if that is not understood, nothing if it is a turn of speech.
fn forbidden(form: VerbForm, behind: &[SentenceWord]) -> Option<Vec<ForbiddenAction>> {
    const HARMLESS: &[&str] = &[
        "be",
        "bother",
        "care",
        "forget",
        "get",
        "have",
        "hesitate",
        "know",
        "matter",
        "mind",
        "need",
        "see",
        "think",
        "understand",
        "want",
        "work",
        "worry",
    ];
    let (kinds, rest) = verbs(behind, form);
    if kinds.is_empty() {
        let is_telling = behind.first().is_some_and(|word| !word.is_one_of(HARMLESS));
        return is_telling.then(Vec::new);
    }
    Some(actions(&kinds, rest).unwrap_or_default())
}

/// A negated instruction: the form its verb stands in, and all that follows.
struct NegatedVerb<'a> {
    form: VerbForm,
    behind: &'a [SentenceWord],
}

/// Finds a negated instruction: “don't …”, “you must not …”, “avoid …”.
fn negated(clause: &[SentenceWord]) -> Option<NegatedVerb<'_>> {
    const BARE: &[&str] = &["don't", "dont", "never"];
    const MODAL: &[&str] = &["mustn't", "shouldn't", "cannot", "can't", "never", "must", "should"];
    const GOING_ON: &[&str] = &["avoid", "stop", "refrain"];
    const BETWEEN: &[&str] = &[
        "also",
        "attempt",
        "automatically",
        "dare",
        "ever",
        "from",
        "on",
        "please",
        "start",
        "to",
        "try",
        "yet",
        "accidentally",
    ];
    const BEFORE: &[&str] = &[",", "also", "and", "or", "please", "then", "so"];
    let leads = clause.iter().take_while(|word| word.is_one_of(LEADS)).count();
    for (at, word) in clause.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|before| clause.get(before));
        let is_start = at == leads || before.is_some_and(|before| before.is_one_of(BEFORE));
        let is_told = before.is_some_and(|before| before.is_one_of(&["are", "you", "must", "should"]));
        let rest = clause.get(at + 1..).unwrap_or_default();
        let wants = matches!(rest, [want, you, to, ..]
            if want.is_one_of(&["want"]) && you.is_one_of(&["you"]) && to.is_one_of(&["to"]));
        if word.is_one_of(BARE) && before.is_some_and(|before| before.is_one_of(&["i", "we"])) && wants {
            return Some(NegatedVerb {
                form: VerbForm::Instruction,
                behind: rest.get(3..).unwrap_or_default(),
            });
        }
        let form = match () {
            () if is_start && word.is_one_of(BARE) => VerbForm::Instruction,
            () if is_told && word.is_one_of(MODAL) && !word.is_one_of(&["must", "should"]) => {
                VerbForm::Instruction
            }
            () if is_start && word.is_one_of(GOING_ON) => VerbForm::GoingOn,
            () => continue,
        };
        let skipped = rest.iter().take_while(|word| word.is_one_of(BETWEEN)).count();
        let behind = rest.get(skipped..).unwrap_or_default();
        return Some(match command(behind) {
            Some(command) => NegatedVerb { form: VerbForm::Instruction, behind: command },
            None => NegatedVerb { form, behind },
        });
    }
    None
}

/// “run git push”: what is run is the action, and its program says nothing of it.
fn command(words: &[SentenceWord]) -> Option<&[SentenceWord]> {
    const RUNNING: &[&str] = &["execute", "executing", "issue", "issuing", "run", "running", "use", "using"];
    const PROGRAMS: &[&str] =
        &["cargo", "docker", "gh", "git", "glab", "helm", "kubectl", "npm", "pnpm", "terraform", "yarn"];
    let (first, rest) = words.split_first()?;
    let programs = rest.iter().take_while(|word| PROGRAMS.contains(&word.lower.as_str())).count();
    let command = rest.get(programs..)?;
    (first.is_one_of(RUNNING) && programs > 0 && !command.is_empty()).then_some(command)
}

/// Reads one verb or a list of them, and returns what follows. A list of commas alone is none.
fn verbs(words: &[SentenceWord], form: VerbForm) -> (Vec<ActionKind>, &[SentenceWord]) {
    let kind = |word: &SentenceWord| ActionKind::find(&word.lower, form).filter(|_| !word.is_quoted);
    let Some((first, mut rest)) = words.split_first().and_then(|(first, rest)| Some((kind(first)?, rest)))
    else {
        return (Vec::new(), words);
    };
    let after_first = rest;
    let mut kinds = vec![first];
    let mut is_joined = false;
    loop {
        let joints = rest.iter().take_while(|word| word.is_one_of(&[",", "or", "nor", "and"])).count();
        let Some((joint, behind)) = rest.split_at_checked(joints).filter(|_| joints > 0) else { break };
        let Some((next, behind)) = behind.split_first().and_then(|(next, rest)| Some((kind(next)?, rest)))
        else {
            break;
        };
        is_joined |= joint.iter().any(|word| !word.is_one_of(&[","]));
        kinds.push(next);
        rest = behind;
    }
    let is_replaced = rest.iter().any(|word| word.is_one_of(&["instead", "rather"]));
    if is_joined && !is_replaced { (kinds, rest) } else { (vec![first], after_first) }
}

/// “leave src/ alone”, “stay out of infra/”, “hands off infra/”.
fn left_alone(clause: &[SentenceWord]) -> Option<Vec<ForbiddenAction>> {
    let lead = clause.iter().take_while(|word| word.is_one_of(LEADS)).count();
    let own = clause.get(lead..)?;
    let named = match own {
        [leave, rest @ ..] if leave.is_one_of(&["leave"]) => {
            let end =
                rest.iter().position(|word| word.is_one_of(&["alone", "untouched", "unchanged", "as"]))?;
            if rest.get(end + 1).is_some_and(|word| word.is_one_of(CONDITIONAL)) {
                return Some(Vec::new());
            }
            rest.get(..end)?
        }
        [stay, out, of, rest @ ..]
            if stay.is_one_of(&["stay", "keep"])
                && out.is_one_of(&["out", "away"])
                && of.is_one_of(&["of", "from"]) =>
        {
            rest
        }
        [hands, off, rest @ ..] if hands.is_one_of(&["hands"]) && off.is_one_of(&["off"]) => rest,
        _ => return None,
    };
    Some(touching(places(named)))
}

fn touching(objects: Vec<ActionObject>) -> Vec<ForbiddenAction> {
    if objects.is_empty() { Vec::new() } else { vec![ForbiddenAction { kind: ActionKind::Touch, objects }] }
}

/// “no commits please”. A statement such as “no commits found” is none.
fn none_of(clause: &[SentenceWord]) -> Option<Vec<ForbiddenAction>> {
    let lead = clause.iter().take_while(|word| word.is_one_of(LEADS)).count();
    let follows_comma =
        |at: usize| at.checked_sub(1).and_then(|at| clause.get(at)).is_some_and(|it| it.is_one_of(&[","]));
    let is_no =
        |(at, word): (usize, &SentenceWord)| word.is_one_of(&["no"]) && (at == lead || follows_comma(at));
    let at = clause.iter().enumerate().position(is_no)?;
    let rest = clause.get(at + 1..)?;
    let is_new = rest.first().is_some_and(|word| word.is_one_of(&["new", "additional"]));
    if is_new && rest.get(1).is_some_and(|word| word.is_one_of(&["dependencies", "packages", "deps"])) {
        let is_all = rest.get(2).is_none_or(|word| word.is_one_of(&[",", "please"]));
        return is_all.then(|| vec![ForbiddenAction { kind: ActionKind::InstallNew, objects: Vec::new() }]);
    }
    let (kinds, behind) = verbs(rest, VerbForm::Thing);
    let is_order = match behind.first() {
        None => true,
        Some(next) => {
            const ORDERLY: &[&str] =
                &["please", "yet", "at", "to", "until", "without", "unless", ",", "today", "allowed"];
            next.is_one_of(ORDERLY)
                || next.is_one_of(&["for"]) && behind.get(1).is_some_and(|now| now.is_one_of(&["now"]))
        }
    };
    if kinds.is_empty() || !is_order {
        return None;
    }
    let behind: Vec<SentenceWord> =
        behind.iter().filter(|word| !word.is_one_of(&["allowed"])).cloned().collect();
    let found: Option<Vec<ForbiddenAction>> = kinds
        .iter()
        .map(|kind| match kind {
            ActionKind::PullRequest | ActionKind::Delete => {
                Some(vec![ForbiddenAction { kind: *kind, objects: Vec::new() }])
            }
            other => actions(&[*other], &behind),
        })
        .collect::<Option<Vec<_>>>()
        .map(|all| all.concat());
    Some(found.unwrap_or_default())
}

/// “fix it without touching infra/”.
fn without(clause: &[SentenceWord]) -> Option<Vec<ForbiddenAction>> {
    let at = clause.iter().position(|word| word.is_one_of(&["without"]))?;
    let (before, behind) = (clause.get(..at)?, clause.get(at + 1..)?);
    // “don't push without asking” is another matter.
    if negated(before).is_some() || none_of(before).is_some() {
        return None;
    }
    let (kinds, rest) = verbs(behind, VerbForm::GoingOn);
    if kinds.is_empty() { None } else { Some(actions(&kinds, rest).unwrap_or_default()) }
}

/// Takes out what stands in double quotes or backticks: those are somebody else's words, but for a name or a command.
fn without_quotations(sentence: &str) -> String {
    let plain = sentence.replace(['“', '”'], "\"");
    let kept = |text: &str, mark: char| {
        let pieces = text.split(mark).enumerate();
        let is_kept = |(at, piece): &(usize, &str)| {
            let piece = piece.trim();
            at % 2 == 0 || !piece.contains(char::is_whitespace) || mark == '`' && piece.starts_with("git ")
        };
        pieces.filter(is_kept).map(|(_, piece)| piece).collect::<Vec<_>>().join(" ")
    };
    kept(&kept(&plain, '"'), '`')
}

/// Returns what a sentence tells the agent to do, or lets it do.
fn permission(sentence: &str, words: &[SentenceWord]) -> Vec<ForbiddenAction> {
    if !consent::tells_to_act(sentence) {
        return Vec::new();
    }
    let mut all = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let Some(kind) = ActionKind::find(&word.lower, VerbForm::Instruction).filter(|_| !word.is_quoted)
        else {
            continue;
        };
        if !words.get(..at).is_some_and(is_instruction) {
            continue;
        }
        let behind = words.get(at + 1..).unwrap_or_default();
        // What is permitted of a file is permitted of what is named, however it is put.
        let named = named_places(behind);
        if matches!(kind, ActionKind::Touch | ActionKind::Delete) && !named.is_empty() {
            all.push(ForbiddenAction { kind, objects: named });
        } else {
            all.extend(actions(&[kind], behind).unwrap_or_default());
        }
    }
    all
}

/// Says whether words before a verb make it an instruction: nothing but courtesy, a permission, or a first instruction.
fn is_instruction(before: &[SentenceWord]) -> bool {
    const PERMISSION: &[&str] = &[
        "ahead",
        "allowed",
        "and",
        "are",
        "can",
        "feel",
        "free",
        "go",
        "i",
        "is",
        "it",
        "it's",
        "let's",
        "may",
        "ok",
        "to",
        "want",
        "you",
        "you're",
        "everything",
        "all",
        "need",
        "run",
        "do",
        "git",
    ];
    let is_courtesy = |word: &SentenceWord| word.is_one_of(LEADS) || word.is_one_of(PERMISSION);
    if before.iter().all(is_courtesy) {
        return true;
    }
    // “fix the tests and push”: the sentence begins with an instruction, and this one is joined to it.
    let lead = before.iter().take_while(|word| word.is_one_of(LEADS)).count();
    let begins = before.get(lead).is_some_and(|word| {
        const DOING: &[&str] = &["build", "do", "finish", "implement", "make", "rerun", "squash", "test"];
        word.is_one_of(DOING) || ActionKind::find(&word.lower, VerbForm::Instruction).is_some()
    });
    let is_joined = before.last().is_some_and(|word| word.is_one_of(&["and", "then"]));
    begins && is_joined
}

fn named_places(behind: &[SentenceWord]) -> Vec<ActionObject> {
    let place = |word: &SentenceWord| places(std::slice::from_ref(word)).into_iter().next();
    behind.iter().filter(|word| !word.is_one_of(&["test"])).filter_map(place).collect()
}
