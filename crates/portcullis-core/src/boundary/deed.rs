//! The deeds that a boundary can be about, and the words for them.

/// Something that is not to be done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Deed {
    /// What is done.
    pub(super) kind: Kind,
    /// To what; empty for anything.
    pub(super) objects: Vec<Object>,
}

/// What is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
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

/// What a deed is done to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Object {
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
struct Verb(&'static str, &'static str, &'static [&'static str], Kind);

const VERBS: &[Verb] = &[
    Verb("push", "pushing", &["push", "pushes", "pushing"], Kind::Push),
    Verb("force-push", "force-pushing", &["force-push", "force-pushes", "force-pushing"], Kind::ForcePush),
    Verb("commit", "committing", &["commit", "commits", "committing"], Kind::Commit),
    Verb(
        "deploy",
        "deploying",
        &["deploy", "deploys", "deploying", "deployment", "deployments"],
        Kind::Deploy,
    ),
    Verb("ship", "shipping", &["shipping"], Kind::Deploy),
    Verb("publish", "publishing", &["publishing", "publication"], Kind::Publish),
    Verb("release", "releasing", &["release", "releases", "releasing"], Kind::Release),
    Verb("delete", "deleting", &["deletion", "deletions", "deleting"], Kind::Delete),
    Verb("remove", "removing", &["removals", "removing"], Kind::Delete),
    Verb("erase", "erasing", &["erasing"], Kind::Delete),
    Verb("install", "installing", &["installs", "installing"], Kind::Install),
    Verb("add", "adding", &[], Kind::InstallNew),
    Verb("merge", "merging", &["merge", "merges", "merging"], Kind::Merge),
    Verb("migrate", "migrating", &["migrations", "migrating"], Kind::Migrate),
    Verb("run", "running", &[], Kind::Migrate),
    Verb("apply", "applying", &[], Kind::Migrate),
    Verb("rebase", "rebasing", &["rebase", "rebases", "rebasing"], Kind::Rebase),
    Verb("amend", "amending", &["amending"], Kind::Amend),
    Verb("stash", "stashing", &["stashing"], Kind::Stash),
    Verb("open", "opening", &["pr", "prs"], Kind::PullRequest),
    Verb("create", "creating", &[], Kind::PullRequest),
    Verb("submit", "submitting", &[], Kind::PullRequest),
    Verb("raise", "raising", &[], Kind::PullRequest),
    Verb("touch", "touching", &[], Kind::Touch),
    Verb("edit", "editing", &[], Kind::Touch),
    Verb("modify", "modifying", &[], Kind::Touch),
    Verb("change", "changing", &[], Kind::Touch),
    Verb("alter", "altering", &[], Kind::Touch),
    Verb("overwrite", "overwriting", &[], Kind::Touch),
    Verb("update", "updating", &[], Kind::Touch),
    Verb("rewrite", "rewriting", &[], Kind::Touch),
    Verb("write", "writing", &[], Kind::Touch),
    Verb("refactor", "refactoring", &[], Kind::Touch),
    Verb("format", "formatting", &[], Kind::Touch),
    Verb("reformat", "reformatting", &[], Kind::Touch),
    Verb("rename", "renaming", &[], Kind::Touch),
    Verb("move", "moving", &[], Kind::Touch),
    Verb("fix", "fixing", &[], Kind::Touch),
];

/// The form a verb stands in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// “push”.
    Instruction,
    /// “pushing”.
    GoingOn,
    /// “pushes”.
    Thing,
}

impl Kind {
    /// Finds what a word means in a form.
    pub(super) fn find(word: &str, form: Form) -> Option<Self> {
        let is_meant = |Verb(instruction, going_on, things, _): &&Verb| match form {
            Form::Instruction => *instruction == word,
            Form::GoingOn => *going_on == word,
            Form::Thing => things.contains(&word),
        };
        VERBS.iter().find(is_meant).map(|Verb(_, _, _, kind)| *kind)
    }

    /// Says whether whoever permits this permits another deed as well.
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
