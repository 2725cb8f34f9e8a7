//! What stands behind a verb: whether the action is meant as a whole, or what it is done to.

use super::forbidden_action::{ActionKind, ActionObject, ForbiddenAction};
use super::words::SentenceWord;

/// Words that add nothing to what is meant.
const FILLERS: &[&str] = &[
    "again",
    "all",
    "any",
    "anything",
    "at",
    "changes",
    "code",
    "ever",
    "everything",
    "for",
    "here",
    "it",
    "just",
    "my",
    "now",
    "of",
    "or",
    "our",
    "own",
    "please",
    "right",
    "stuff",
    "that",
    "the",
    "them",
    "then",
    "there",
    "these",
    "this",
    "those",
    "to",
    "today",
    "work",
    "yet",
    "your",
    "yourself",
];

/// Words behind which something else begins.
const ENDS: &[&str] = &[
    ",", "and", "as", "because", "either", "even", "i", "i'd", "i'll", "i'm", "i've", "it's", "since", "so",
    "that's", "they", "we", "we'll", "we're", "you",
];

/// Words that make a prohibition hold only under a condition.
const CONDITIONS: &[&str] = &[
    "after", "before", "besides", "during", "except", "if", "more", "once", "only", "other", "outside",
    "than", "too", "unless", "until", "when", "where", "while", "without",
];

/// Words that, behind a condition, make it the user's own consent.
const CONSENT: &[&str] = &[
    "a",
    "approval",
    "approved",
    "asked",
    "asking",
    "checking",
    "confirmation",
    "confirming",
    "explicit",
    "i",
    "i'm",
    "i've",
    "instructed",
    "me",
    "my",
    "permission",
    "told",
    "you're",
];

/// Places that commits are pushed to by nature.
const REMOTES: &[&str] = &["github", "gitlab", "origin", "remote", "remotes", "upstream"];

/// Environments that are deployed to.
pub(super) const ENVIRONMENTS: &[&str] = &[
    "canary",
    "dev",
    "development",
    "live",
    "local",
    "preview",
    "prod",
    "production",
    "qa",
    "sandbox",
    "stage",
    "staging",
    "test",
];

/// Returns the words that belong to a verb; `None` if they hold under a condition that only a reader can judge.
fn tail(words: &[SentenceWord]) -> Option<&[SentenceWord]> {
    let goes_on = |at: usize| words.get(at + 1).is_some_and(is_place);
    let ends = |(at, word): (usize, &SentenceWord)| {
        word.is_one_of(CONDITIONS) || word.is_one_of(ENDS) && !(word.is_one_of(&[",", "and"]) && goes_on(at))
    };
    let end = words.iter().enumerate().position(ends);
    let (own, rest) = words.split_at_checked(end.unwrap_or(words.len()))?;
    // “anything you didn't create”: some of them, and only a reader can tell which.
    if own.last().is_some_and(|word| word.is_one_of(&["anything", "everything", "files", "stuff"]))
        && rest.first().is_some_and(|word| word.is_one_of(&["that's", "they", "we", "you"]))
    {
        return None;
    }
    let is_plain = match rest {
        [condition, next, ..] if condition.is_one_of(CONDITIONS) => {
            condition.is_one_of(&["before", "unless", "until", "without"]) && next.is_one_of(CONSENT)
        }
        [condition] => !condition.is_one_of(CONDITIONS),
        _ => true,
    };
    is_plain.then_some(own)
}

/// Makes actions of verbs and what stands behind them; `None` if that is not understood for sure.
pub(super) fn actions(kinds: &[ActionKind], behind: &[SentenceWord]) -> Option<Vec<ForbiddenAction>> {
    let own = tail(behind)?;
    let is_about_files = kinds.iter().any(|kind| matches!(kind, ActionKind::Touch | ActionKind::Delete));
    let objects = if is_about_files { places(own) } else { Vec::new() };
    if is_about_files && !objects.is_empty() {
        let only_removes = kinds.iter().all(|kind| *kind == ActionKind::Delete);
        let kind = if only_removes { ActionKind::Delete } else { ActionKind::Touch };
        return Some(vec![ForbiddenAction { kind, objects }]);
    }
    kinds.iter().map(|kind| action(*kind, own)).collect()
}

/// Makes an action that is not about named files.
fn action(kind: ActionKind, own: &[SentenceWord]) -> Option<ForbiddenAction> {
    let telling: Vec<&SentenceWord> = own.iter().filter(|word| !word.is_one_of(FILLERS)).collect();
    let is_all = |words: &[&str]| telling.iter().all(|word| word.is_one_of(words));
    let whole = |is_understood: bool| is_understood.then(|| ForbiddenAction { kind, objects: Vec::new() });
    match kind {
        ActionKind::Push | ActionKind::ForcePush => pushed(kind, &telling),
        ActionKind::Deploy | ActionKind::Release => match telling.as_slice() {
            [place] if place.is_one_of(ENVIRONMENTS) => {
                Some(ForbiddenAction { kind, objects: vec![ActionObject::Environment(place.lower.clone())] })
            }
            _ => whole(telling.is_empty()),
        },
        ActionKind::Delete => {
            whole(!own.is_empty() && is_all(&["file", "files", "folder", "folders"]) && names_all(own))
        }
        ActionKind::Install | ActionKind::InstallNew => {
            const WARES: &[&str] = &[
                "additional",
                "dependencies",
                "dependency",
                "deps",
                "libraries",
                "library",
                "new",
                "package",
            ];
            let is_ware = is_all(&[WARES, &["packages", "software", "tools"]].concat());
            let is_named = kind == ActionKind::Install
                || telling.iter().any(|word| !word.is_one_of(&["new", "additional"]));
            let is_new = kind == ActionKind::InstallNew
                || telling.iter().any(|word| word.is_one_of(&["new", "additional"]));
            let kind = if is_new { ActionKind::InstallNew } else { ActionKind::Install };
            (is_ware && is_named).then_some(ForbiddenAction { kind, objects: Vec::new() })
        }
        ActionKind::PullRequest => {
            whole(!telling.is_empty() && is_all(&["a", "another", "new", "pr", "prs"]))
        }
        ActionKind::Migrate => whole(is_all(&["database", "db", "migration", "migrations", "schema"])),
        ActionKind::Commit
        | ActionKind::Publish
        | ActionKind::Merge
        | ActionKind::Rebase
        | ActionKind::Amend
        | ActionKind::Stash => whole(telling.is_empty()),
        ActionKind::Touch => None,
    }
}

/// “anything”, “any files”: all of them, not particular ones.
fn names_all(own: &[SentenceWord]) -> bool {
    let is_bare =
        own.iter().all(|word| !word.is_one_of(&["the", "this", "that", "these", "those", "it", "them"]));
    is_bare && own.iter().any(|word| word.is_one_of(&["anything", "any", "files", "everything", "stuff"]))
}

fn pushed(kind: ActionKind, telling: &[&SentenceWord]) -> Option<ForbiddenAction> {
    let rest: Vec<&&SentenceWord> =
        telling.iter().filter(|word| !word.is_one_of(&["branch", "directly", "straight"])).collect();
    match rest.as_slice() {
        [] => Some(ForbiddenAction { kind, objects: Vec::new() }),
        [place] if place.is_one_of(REMOTES) => Some(ForbiddenAction { kind, objects: Vec::new() }),
        [place] if place.is_one_of(&["live", "prod", "production", "staging"]) => Some(ForbiddenAction {
            kind: ActionKind::Deploy,
            objects: vec![ActionObject::Environment(place.lower.clone())],
        }),
        [branch] if is_branch(branch, telling.len() > rest.len()) => {
            Some(ForbiddenAction { kind, objects: vec![ActionObject::Branch(branch.written.clone())] })
        }
        _ => None,
    }
}

/// Says whether a word is a branch: one everybody knows, one in quotes, or one that is called so.
fn is_branch(word: &SentenceWord, is_called_so: bool) -> bool {
    word.is_quoted
        || is_called_so
        || word.written.contains('/')
        || word.is_one_of(&["dev", "develop", "main", "master", "trunk"])
}

/// Returns the places that are named, if nothing else is.
pub(super) fn places(own: &[SentenceWord]) -> Vec<ActionObject> {
    const AROUND: &[&str] = &[
        "anything",
        "directory",
        "file",
        "files",
        "folder",
        "folders",
        "in",
        "inside",
        "under",
        "within",
        "from",
        "into",
        "or",
        "nor",
        "contents",
        "directories",
        "dir",
        "a",
        ",",
        "and",
    ];
    let is_around = |word: &SentenceWord| word.is_one_of(AROUND) || word.is_one_of(FILLERS);
    let mut objects = Vec::new();
    let mut words = own.iter().peekable();
    while let Some(word) = words.next() {
        let is_called_so = words
            .peek()
            .is_some_and(|next| next.is_one_of(&["folder", "directory", "dir", "file", "folders"]));
        if is_around(word) {
            continue;
        }
        if is_place(word) || is_called_so && is_name(&word.written) {
            objects.push(ActionObject::Place(word.written.clone()));
        } else if word.is_one_of(&["tests", "test"]) && words.peek().is_none_or(|next| is_around(next)) {
            objects.push(ActionObject::Tests);
        } else {
            return Vec::new();
        }
    }
    objects
}

fn is_name(text: &str) -> bool {
    text.chars().all(|letter| letter.is_alphanumeric() || "-_./~@+".contains(letter))
}

/// Says whether a word can only be a file or a directory.
fn is_place(word: &SentenceWord) -> bool {
    let text = word.written.as_str();
    let has_ending = text.rsplit_once('.').is_some_and(|(_, ending)| {
        (1..=8).contains(&ending.len()) && ending.chars().all(|letter| letter.is_ascii_alphanumeric())
    });
    let is_address =
        text.contains("://") || text.starts_with('@') || matches!(text, "and/or" | "e.g" | "i.e");
    is_name(text)
        && text.chars().any(char::is_alphanumeric)
        && !is_address
        && (text.contains('/') || has_ending || word.is_quoted)
}
