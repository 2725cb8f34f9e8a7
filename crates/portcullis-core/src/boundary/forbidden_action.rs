//! The actions that a boundary can be about, and the words for them.

/// Something that is not to be done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ForbiddenAction {
    /// What is done.
    pub(super) kind: ActionKind,
    /// To what; empty for anything.
    pub(super) objects: Vec<ActionObject>,
}

/// What is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ActionKind {
    /// Commits are pushed.
    Push,
    /// History of a remote is overwritten.
    ForcePush,
    /// A commit is made.
    Commit,
    /// Something is deployed.
    Deploy,
    /// Something is published.
    Publish,
    /// Something is released: published or deployed.
    Release,
    /// Files are removed.
    Delete,
    /// Software is installed.
    Install,
    /// Software is installed that the project does not declare.
    InstallNew,
    /// A change or a branch is merged.
    Merge,
    /// A database is migrated.
    Migrate,
    /// Commits are moved.
    Rebase,
    /// The last commit is changed.
    Amend,
    /// Work is put aside.
    Stash,
    /// A pull request is opened.
    PullRequest,
    /// Files are changed, in whatever way.
    Touch,
}

/// What an action is done to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ActionObject {
    /// A file or directory, as the user wrote it.
    Place(String),
    /// The tests of the project.
    Tests,
    /// A branch.
    Branch(String),
    /// An environment that is deployed to.
    Environment(String),
}

/// A verb: as an instruction, as what is going on, as a thing; and what it means.
struct VerbForms(&'static str, &'static str, &'static [&'static str], ActionKind);

const VERBS: &[VerbForms] = &[
    VerbForms("push", "pushing", &["push", "pushes", "pushing"], ActionKind::Push),
    VerbForms(
        "force-push",
        "force-pushing",
        &["force-push", "force-pushes", "force-pushing"],
        ActionKind::ForcePush,
    ),
    VerbForms("commit", "committing", &["commit", "commits", "committing"], ActionKind::Commit),
    VerbForms(
        "deploy",
        "deploying",
        &["deploy", "deploys", "deploying", "deployment", "deployments"],
        ActionKind::Deploy,
    ),
    VerbForms("ship", "shipping", &["shipping"], ActionKind::Deploy),
    VerbForms("publish", "publishing", &["publishing", "publication"], ActionKind::Publish),
    VerbForms("release", "releasing", &["release", "releases", "releasing"], ActionKind::Release),
    VerbForms("delete", "deleting", &["deletion", "deletions", "deleting"], ActionKind::Delete),
    VerbForms("remove", "removing", &["removals", "removing"], ActionKind::Delete),
    VerbForms("erase", "erasing", &["erasing"], ActionKind::Delete),
    VerbForms("install", "installing", &["installs", "installing"], ActionKind::Install),
    VerbForms("add", "adding", &[], ActionKind::InstallNew),
    VerbForms("merge", "merging", &["merge", "merges", "merging"], ActionKind::Merge),
    VerbForms("migrate", "migrating", &["migrations", "migrating"], ActionKind::Migrate),
    VerbForms("run", "running", &[], ActionKind::Migrate),
    VerbForms("apply", "applying", &[], ActionKind::Migrate),
    VerbForms("rebase", "rebasing", &["rebase", "rebases", "rebasing"], ActionKind::Rebase),
    VerbForms("amend", "amending", &["amending"], ActionKind::Amend),
    VerbForms("stash", "stashing", &["stashing"], ActionKind::Stash),
    VerbForms("open", "opening", &["pr", "prs"], ActionKind::PullRequest),
    VerbForms("create", "creating", &[], ActionKind::PullRequest),
    VerbForms("submit", "submitting", &[], ActionKind::PullRequest),
    VerbForms("raise", "raising", &[], ActionKind::PullRequest),
    VerbForms("touch", "touching", &[], ActionKind::Touch),
    VerbForms("edit", "editing", &[], ActionKind::Touch),
    VerbForms("modify", "modifying", &[], ActionKind::Touch),
    VerbForms("change", "changing", &[], ActionKind::Touch),
    VerbForms("alter", "altering", &[], ActionKind::Touch),
    VerbForms("overwrite", "overwriting", &[], ActionKind::Touch),
    VerbForms("update", "updating", &[], ActionKind::Touch),
    VerbForms("rewrite", "rewriting", &[], ActionKind::Touch),
    VerbForms("write", "writing", &[], ActionKind::Touch),
    VerbForms("refactor", "refactoring", &[], ActionKind::Touch),
    VerbForms("format", "formatting", &[], ActionKind::Touch),
    VerbForms("reformat", "reformatting", &[], ActionKind::Touch),
    VerbForms("rename", "renaming", &[], ActionKind::Touch),
    VerbForms("move", "moving", &[], ActionKind::Touch),
    VerbForms("fix", "fixing", &[], ActionKind::Touch),
];

/// The form a verb stands in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum VerbForm {
    /// “push”.
    Instruction,
    /// “pushing”.
    GoingOn,
    /// “pushes”.
    Thing,
}

impl ActionKind {
    /// Finds what a word means in a form.
    pub(super) fn find(word: &str, form: VerbForm) -> Option<Self> {
        let is_meant = |VerbForms(instruction, going_on, things, _): &&VerbForms| match form {
            VerbForm::Instruction => *instruction == word,
            VerbForm::GoingOn => *going_on == word,
            VerbForm::Thing => things.contains(&word),
        };
        VERBS.iter().find(is_meant).map(|VerbForms(_, _, _, kind)| *kind)
    }

    /// Says whether whoever permits this permits another action as well.
    pub(super) fn includes(self, other: Self) -> bool {
        self == other
            || matches!(
                (self, other),
                (Self::Release, Self::Publish | Self::Deploy)
                    | (Self::Install, Self::InstallNew)
                    | (Self::Touch, Self::Delete)
            )
    }
}
