//! Whether a call does what the user said not to do.

use std::collections::BTreeSet;

use portcullis_analysis::effect::{Act, Effect};
use portcullis_analysis::{Invocation, Survey, pushed_branches};
use portcullis_shell::Span;

use super::forbidden_action::{ActionKind, ActionObject, ForbiddenAction};
use super::objects::ENVIRONMENTS;
use super::reading::{SentenceMeaning, read};
use super::words::words;
use crate::case::CaseView;
use crate::path;
use crate::verdict::Reason;
use crate::wording::clause_of;

/// Finds the first thing that a call does and the user forbade, unless it was permitted again.
pub(crate) fn crossing(view: &CaseView<'_>) -> Option<(Reason, Span)> {
    let sentences = &view.case.context().session.boundaries;
    if sentences.is_empty() {
        return None;
    }
    let said: Vec<(&String, SentenceMeaning)> =
        sentences.iter().map(|sentence| (sentence, read(sentence))).collect();
    view.sources().find_map(|source| {
        let is_script = source.script.is_some();
        ComparedWork { view, effects: &source.effects, survey: source.survey, is_script }.crossing(&said)
    })
}

/// Finds a sentence that forbids something nobody can tell for sure, and has a word in common with what the call changes.
pub(crate) fn possible_crossing(view: &CaseView<'_>) -> Option<String> {
    let sentences = &view.case.context().session.boundaries;
    let is_open = |sentence: &&String| matches!(read(sentence), SentenceMeaning::Warns);
    let changes = || view.case.effects().iter().any(|effect| !effect.act.is_observing());
    let mut open = sentences.iter().filter(is_open).peekable();
    open.peek().filter(|_| changes())?;
    let named = named_in(view);
    let is_about = |sentence: &&String| {
        words(sentence).iter().any(|word| is_telling_word(&word.lower) && named.contains(word.lower.as_str()))
    };
    open.find(is_about).cloned()
}

/// Returns the names in a call by which a sentence could mean it: programs, plain words, parts of paths.
fn named_in<'a>(view: &'a CaseView<'_>) -> BTreeSet<&'a str> {
    let is_option = |word: &&portcullis_analysis::Argument| word.is_option();
    let commands = view.case.survey().invocations.iter();
    let arguments = commands.flat_map(|command| command.arguments.iter().filter(|word| !is_option(word)));
    let texts = arguments.map(|word| word.text.as_str());
    let targets = view.case.effects().iter().map(|effect| effect.target.written());
    texts.chain(targets).flat_map(|text| text.split(['/', ':', '=', ' '])).collect()
}

/// Says whether a word can stand for something: short ones and those every sentence has cannot.
fn is_telling_word(word: &str) -> bool {
    const COMMON: &[&str] = &[
        "all", "and", "any", "are", "but", "don't", "for", "from", "not", "run", "test", "tests", "that",
        "the", "this", "use", "with", "you",
    ];
    word.len() > 2 && !COMMON.contains(&word)
}

/// Says whether a permission has something to do with what was forbidden.
pub(super) fn lifts(permitted: &[ForbiddenAction], forbidden: &[ForbiddenAction]) -> bool {
    permitted.iter().any(|may| forbidden.iter().any(|not| is_related(may.kind, not.kind)))
}

fn is_related(may: ActionKind, not: ActionKind) -> bool {
    may.includes(not) || not.includes(may)
}

/// What a command line does.
struct ComparedWork<'v, 'a> {
    view: &'v CaseView<'a>,
    effects: &'v [Effect],
    survey: &'v Survey,
    is_script: bool,
}

impl ComparedWork<'_, '_> {
    fn crossing(&self, said: &[(&String, SentenceMeaning)]) -> Option<(Reason, Span)> {
        for effect in self.effects {
            let mut standing: Option<&String> = None;
            for (sentence, says) in said {
                match says {
                    SentenceMeaning::Forbids(actions)
                        if actions.iter().any(|action| self.does(effect, action)) =>
                    {
                        standing = Some(sentence);
                    }
                    SentenceMeaning::Permits(actions)
                        if actions.iter().any(|action| self.is_permitted(effect, action)) =>
                    {
                        standing = None;
                    }
                    SentenceMeaning::Forbids(_)
                    | SentenceMeaning::Permits(_)
                    | SentenceMeaning::Warns
                    | SentenceMeaning::Nothing => {}
                }
            }
            if let Some(sentence) = standing {
                let action = clause_of(effect);
                let span = if self.is_script { Span::default() } else { effect.span };
                return Some((Reason::Boundary { sentence: sentence.clone(), action }, span));
            }
        }
        None
    }

    /// Says whether an effect is what an action is about.
    fn does(&self, effect: &Effect, action: &ForbiddenAction) -> bool {
        self.is_kind(effect, action.kind)
            && (action.objects.is_empty()
                || action.objects.iter().any(|object| self.is_done_to(effect, object)))
    }

    /// Says whether a permission covers an effect, all of it: whoever may push one branch may not push another.
    fn is_permitted(&self, effect: &Effect, action: &ForbiddenAction) -> bool {
        let is_covered = |object: &ActionObject| match object {
            ActionObject::Place(_) | ActionObject::Tests => {
                let paths = effect.target.paths();
                !paths.is_empty() && paths.iter().all(|path| self.lies_in(path, object))
            }
            ActionObject::Branch(branch) => {
                self.branches(effect).is_some_and(|all| all.iter().all(|one| one == branch))
            }
            ActionObject::Environment(name) => self.is_named(effect, name) || !self.names_environment(effect),
        };
        self.is_kind(effect, action.kind)
            && (action.objects.is_empty() || action.objects.iter().any(is_covered))
    }

    fn command(&self, effect: &Effect) -> Option<&Invocation> {
        effect.invocation.and_then(|place| self.survey.invocations.get(place))
    }

    fn is_kind(&self, effect: &Effect, kind: ActionKind) -> bool {
        let is_git =
            |verbs: &[&str]| self.command(effect).is_some_and(|command| is_version_control(command, verbs));
        let is_task = |words: &[&str]| {
            matches!(effect.act, Act::RunProject | Act::Execute)
                && self.command(effect).is_some_and(|command| has_part(command, words))
        };
        match kind {
            ActionKind::Push => {
                matches!(effect.act, Act::GitPush | Act::GitPushForce | Act::GitDeleteRemote)
                    || is_task(&["push"])
                    || is_git(&["send-pack", "http-push"])
                    || self.pushes_elsewhere(effect)
            }
            ActionKind::ForcePush => effect.act == Act::GitPushForce,
            ActionKind::Commit => is_git(&["commit", "ci"]),
            ActionKind::Deploy => is_deployment(effect.act) || is_task(&["deploy"]),
            ActionKind::Publish => effect.act == Act::Publish || is_task(&["publish"]),
            ActionKind::Release => {
                effect.act == Act::Publish
                    || is_deployment(effect.act)
                    || is_task(&["release", "publish", "deploy"])
            }
            ActionKind::Delete => matches!(effect.act, Act::Delete | Act::DeleteTree | Act::Wipe),
            ActionKind::Install => {
                matches!(effect.act, Act::InstallPackage | Act::InstallGlobal | Act::InstallDeclared)
            }
            ActionKind::InstallNew => matches!(effect.act, Act::InstallPackage | Act::InstallGlobal),
            ActionKind::Merge => effect.act == Act::Merge || is_git(&["merge"]),
            ActionKind::Migrate => self.migrates(effect),
            ActionKind::Rebase => is_git(&["rebase"]),
            ActionKind::Amend => is_git(&["commit"]) && self.has_word(effect, "--amend"),
            ActionKind::Stash => is_git(&["stash"]),
            ActionKind::PullRequest => self.opens_pull_request(effect),
            ActionKind::Touch => changes_file(effect.act),
        }
    }

    fn has_word(&self, effect: &Effect, word: &str) -> bool {
        self.command(effect)
            .is_some_and(|command| command.arguments.iter().any(|argument| argument.text == word))
    }

    fn migrates(&self, effect: &Effect) -> bool {
        let Some(command) = self.command(effect).filter(|_| !effect.act.is_observing()) else { return false };
        let is_alembic = command.program_name() == Some("alembic")
            && command.operands().iter().any(|word| matches!(word.text.as_str(), "upgrade" | "downgrade"));
        is_alembic || has_part(command, &["migrate", "migration", "migrations"])
    }

    /// Says whether an image or data is pushed, or a tool of a server is named after it.
    fn pushes_elsewhere(&self, effect: &Effect) -> bool {
        let Some(command) = self.command(effect) else {
            let tool = self.view.case.call().tool();
            let has = |name: &str| tool.split('_').any(|part| part == name);
            return tool.starts_with("mcp__") && has("push") && !has("notification");
        };
        matches!(command.program_name(), Some("buildah" | "docker" | "dvc" | "podman"))
            && !effect.act.is_observing()
            && command.operands().iter().take(2).any(|word| word.text == "push")
    }

    fn opens_pull_request(&self, effect: &Effect) -> bool {
        let Some(command) = self.command(effect) else {
            return self.view.case.call().tool().ends_with("create_pull_request");
        };
        let words: Vec<&str> = command.operands().iter().map(|word| word.text.as_str()).collect();
        matches!(command.program_name(), Some("gh" | "glab" | "hub"))
            && words.iter().any(|word| matches!(*word, "pr" | "mr" | "pull-request"))
            && (words.contains(&"create") || words.contains(&"pull-request"))
    }

    fn is_done_to(&self, effect: &Effect, object: &ActionObject) -> bool {
        match object {
            ActionObject::Place(_) | ActionObject::Tests => {
                let takes_all = matches!(effect.act, Act::DeleteTree | Act::Move | Act::Wipe);
                let is_above = |path: &String| {
                    takes_all && self.bases(object).iter().any(|base| path::is_inside(base, path))
                };
                effect.target.paths().iter().any(|path| self.lies_in(path, object) || is_above(path))
            }
            // A push whose branch nobody knows may be to any.
            ActionObject::Branch(branch) => self.branches(effect).is_none_or(|all| all.contains(branch)),
            ActionObject::Environment(name) => self.is_named(effect, name) || !self.names_environment(effect),
        }
    }

    /// Says whether a path is what the user named, or lies in it.
    fn lies_in(&self, path: &str, object: &ActionObject) -> bool {
        let below = self
            .view
            .roots
            .iter()
            .filter_map(|root| path.strip_prefix(root.as_str()))
            .min_by_key(|it| it.len());
        match object {
            ActionObject::Place(name) => {
                let bare = name.trim_start_matches("./").trim_end_matches('/');
                let is_component = !bare.contains('/') && !bare.starts_with('~');
                let is_part = below.is_some_and(|below| below.split('/').any(|part| part == bare));
                is_component && is_part || self.bases(object).iter().any(|base| path::is_inside(path, base))
            }
            ActionObject::Tests => below.is_some_and(is_test),
            ActionObject::Branch(_) | ActionObject::Environment(_) => false,
        }
    }

    /// Returns the absolute paths a name may stand for.
    fn bases(&self, object: &ActionObject) -> Vec<String> {
        let ActionObject::Place(name) = object else { return Vec::new() };
        let context = self.view.case.context();
        let name = name.trim_end_matches('/');
        match (name.strip_prefix("~/"), &context.home) {
            (Some(below), Some(home)) => vec![path::join(home, below)],
            _ => self.view.roots.iter().map(|root| path::join(root, name)).collect(),
        }
    }

    /// Returns the branches that are pushed; `None` if they are not known.
    fn branches(&self, effect: &Effect) -> Option<Vec<String>> {
        let named = pushed_branches(self.command(effect)?)?;
        if !named.is_empty() && !named.iter().any(|branch| matches!(branch.as_str(), "HEAD" | "@")) {
            return Some(named);
        }
        let head = self.view.branch()?;
        Some(
            named
                .into_iter()
                .filter(|branch| !matches!(branch.as_str(), "HEAD" | "@"))
                .chain([head])
                .collect(),
        )
    }

    fn is_named(&self, effect: &Effect, environment: &str) -> bool {
        let spellings: &[&str] = match environment {
            "prod" | "production" | "live" => &["prod", "production", "live", "prd"],
            "stage" | "staging" => &["stage", "staging", "stg"],
            other => &[other],
        };
        self.command(effect).is_some_and(|command| has_part(command, spellings))
    }

    fn names_environment(&self, effect: &Effect) -> bool {
        self.command(effect).is_some_and(|command| has_part(command, ENVIRONMENTS))
    }
}

fn is_deployment(act: Act) -> bool {
    matches!(act, Act::Deploy | Act::InfraApply | Act::InfraBlind | Act::ClusterWrite)
}

fn changes_file(act: Act) -> bool {
    matches!(
        act,
        Act::Write
            | Act::Delete
            | Act::DeleteTree
            | Act::Move
            | Act::Wipe
            | Act::SetMode
            | Act::Link
            | Act::GitDiscard
    )
}

/// Says whether a path below a working directory belongs to the tests.
fn is_test(below: &str) -> bool {
    let name = below.rsplit('/').next().unwrap_or_default();
    let stem = name.split_once('.').map_or(name, |(stem, _)| stem);
    below.split('/').any(|part| matches!(part, "test" | "tests" | "__tests__" | "spec"))
        || stem.starts_with("test_")
        || stem.ends_with("_test")
        || name.contains(".test.")
        || name.contains(".spec.")
}

/// Says whether a command is one of these of a version control program.
fn is_version_control(command: &Invocation, verbs: &[&str]) -> bool {
    const GLOBAL_VALUED: &[&str] = &["-C", "-c", "--git-dir", "--work-tree", "-R"];
    if !matches!(command.program_name(), Some("git" | "hg" | "jj" | "svn")) {
        return false;
    }
    let mut words = command.operands().iter().map(|word| word.text.as_str());
    while let Some(word) = words.next() {
        if GLOBAL_VALUED.contains(&word) {
            let _ = words.next();
        } else if !word.starts_with('-') {
            return verbs.contains(&word);
        }
    }
    false
}

/// Says whether one of the words of a command has a part of this name: `db:migrate`, `deploy-web`.
fn has_part(command: &Invocation, names: &[&str]) -> bool {
    let is_part = |word: &str| {
        word.split(|letter: char| !letter.is_ascii_alphanumeric()).any(|part| names.contains(&part))
    };
    let words = command.arguments.iter().skip(1).map(|word| word.text.as_str());
    words.filter(|word| !word.contains(char::is_whitespace)).any(is_part)
}
