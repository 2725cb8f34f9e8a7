//! What stands behind a verb: whether the deed is meant as a whole, or what it is done to.

use super::deed::{Deed, Kind, Object};
use super::words::Word;

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
fn tail(words: &[Word]) -> Option<&[Word]> {
    let goes_on = |at: usize| words.get(at + 1).is_some_and(is_place);
    let ends = |(at, word): (usize, &Word)| {
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

/// Makes deeds of verbs and what stands behind them; `None` if that is not understood for sure.
pub(super) fn deeds(kinds: &[Kind], behind: &[Word]) -> Option<Vec<Deed>> {
    let own = tail(behind)?;
    let is_about_files = kinds.iter().any(|kind| matches!(kind, Kind::Touch | Kind::Delete));
    let objects = if is_about_files { places(own) } else { Vec::new() };
    if is_about_files && !objects.is_empty() {
        let only_removes = kinds.iter().all(|kind| *kind == Kind::Delete);
        let kind = if only_removes { Kind::Delete } else { Kind::Touch };
        return Some(vec![Deed { kind, objects }]);
    }
    kinds.iter().map(|kind| deed(*kind, own)).collect()
}

/// Makes a deed that is not about named files.
fn deed(kind: Kind, own: &[Word]) -> Option<Deed> {
    let telling: Vec<&Word> = own.iter().filter(|word| !word.is_one_of(FILLERS)).collect();
    let is_all = |words: &[&str]| telling.iter().all(|word| word.is_one_of(words));
    let whole = |is_understood: bool| is_understood.then(|| Deed { kind, objects: Vec::new() });
    match kind {
        Kind::Push | Kind::ForcePush => pushed(kind, &telling),
        Kind::Deploy | Kind::Release => match telling.as_slice() {
            [place] if place.is_one_of(ENVIRONMENTS) => {
                Some(Deed { kind, objects: vec![Object::Environment(place.lower.clone())] })
            }
            _ => whole(telling.is_empty()),
        },
        Kind::Delete => {
            whole(!own.is_empty() && is_all(&["file", "files", "folder", "folders"]) && names_all(own))
        }
        Kind::Install | Kind::InstallNew => {
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
            let is_named =
                kind == Kind::Install || telling.iter().any(|word| !word.is_one_of(&["new", "additional"]));
            let is_new =
                kind == Kind::InstallNew || telling.iter().any(|word| word.is_one_of(&["new", "additional"]));
            let kind = if is_new { Kind::InstallNew } else { Kind::Install };
            (is_ware && is_named).then_some(Deed { kind, objects: Vec::new() })
        }
        Kind::PullRequest => whole(!telling.is_empty() && is_all(&["a", "another", "new", "pr", "prs"])),
        Kind::Migrate => whole(is_all(&["database", "db", "migration", "migrations", "schema"])),
        Kind::Commit | Kind::Publish | Kind::Merge | Kind::Rebase | Kind::Amend | Kind::Stash => {
            whole(telling.is_empty())
        }
        Kind::Touch => None,
    }
}

/// “anything”, “any files”: all of them, not particular ones.
fn names_all(own: &[Word]) -> bool {
    let is_bare =
        own.iter().all(|word| !word.is_one_of(&["the", "this", "that", "these", "those", "it", "them"]));
    is_bare && own.iter().any(|word| word.is_one_of(&["anything", "any", "files", "everything", "stuff"]))
}

fn pushed(kind: Kind, telling: &[&Word]) -> Option<Deed> {
    let rest: Vec<&&Word> =
        telling.iter().filter(|word| !word.is_one_of(&["branch", "directly", "straight"])).collect();
    match rest.as_slice() {
        [] => Some(Deed { kind, objects: Vec::new() }),
        [place] if place.is_one_of(REMOTES) => Some(Deed { kind, objects: Vec::new() }),
        [place] if place.is_one_of(&["live", "prod", "production", "staging"]) => {
            Some(Deed { kind: Kind::Deploy, objects: vec![Object::Environment(place.lower.clone())] })
        }
        [branch] if is_branch(branch, telling.len() > rest.len()) => {
            Some(Deed { kind, objects: vec![Object::Branch(branch.written.clone())] })
        }
        _ => None,
    }
}

/// Says whether a word is a branch: one everybody knows, one in quotes, or one that is called so.
fn is_branch(word: &Word, is_called_so: bool) -> bool {
    word.is_quoted
        || is_called_so
        || word.written.contains('/')
        || word.is_one_of(&["dev", "develop", "main", "master", "trunk"])
}

/// Returns the places that are named, if nothing else is.
pub(super) fn places(own: &[Word]) -> Vec<Object> {
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
    let is_around = |word: &Word| word.is_one_of(AROUND) || word.is_one_of(FILLERS);
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
            objects.push(Object::Place(word.written.clone()));
        } else if word.is_one_of(&["tests", "test"]) && words.peek().is_none_or(|next| is_around(next)) {
            objects.push(Object::Tests);
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
fn is_place(word: &Word) -> bool {
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
