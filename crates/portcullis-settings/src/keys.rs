//! Every settings key, once: type, who may set it, how several settings combine, default, meaning.
//!
//! The reader of settings, the unknown-key check, the JSON Schema and the reference documentation all come from
//! [`KEYS`]. A new key is a row here, a variant of [`KeyId`] and its use in `merge`.

use portcullis_core::Source;

/// Names a key in code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "each variant is documented by its row in KEYS")]
pub enum KeyId {
    Schema,
    Permissions,
    Allow,
    Ask,
    Deny,
    AdditionalDirectories,
    DefaultMode,
    DisableBypass,
    DisableAutoInPermissions,
    BlockReadsOutside,
    BypassProtectedPaths,
    DisableAuto,
    AutoDuringPlan,
    ManagedRulesOnly,
    ManagedHooksOnly,
    DisableAllHooks,
    AutoMode,
    AutoEnvironment,
    AutoAllow,
    AutoSoftDeny,
    AutoHardDeny,
    AutoClassifyAllShell,
    AutoPowerShell,
    SandboxObject,
    SandboxEnabled,
    SandboxAutoAllow,
    Hooks,
    SkipBypassPrompt,
    SkipAutoPrompt,
}

/// What a key's value must look like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// An object whose own keys have rows here.
    Object,
    /// An object nobody looks into closely.
    FreeObject,
    /// A list of permission rules.
    Rules,
    /// A list of directories.
    Directories,
    /// A list of sentences.
    Sentences,
    /// A permission mode.
    Mode,
    /// The word `disable`.
    Disable,
    /// True or false.
    Boolean,
    /// A string.
    Text,
}

/// Which sources may set a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// Every source.
    Everywhere,
    /// Every source; from files inside the repository only when the workspace is trusted.
    /// `false` counts even then, since it takes away.
    TrustedRepository,
    /// Every source; a mode that is risky is not taken from files inside the repository.
    SafeInRepository,
    /// Every source but the shared project file.
    NotProject,
    /// User, managed and flag settings.
    OutsideRepository,
    /// Managed settings.
    Managed,
}

/// How several settings of one key combine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Merge {
    /// The strongest source decides.
    Strongest,
    /// The restrictive value of any source decides.
    Strictest,
    /// The lists of all sources are joined.
    Joined,
    /// The key has no value of its own.
    None,
}

/// A row of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Key {
    /// Its name in code.
    pub id: KeyId,
    /// Its path in a settings file, with dots between the names.
    pub path: &'static str,
    /// What the value must look like.
    pub kind: Kind,
    /// Who may set it.
    pub scope: Scope,
    /// How several settings combine.
    pub merge: Merge,
    /// The value when nobody sets it, as JSON.
    pub default: &'static str,
    /// What it does.
    pub description: &'static str,
}

const fn row(
    id: KeyId,
    path: &'static str,
    (kind, scope, merge): (Kind, Scope, Merge),
    default: &'static str,
    description: &'static str,
) -> Key {
    Key { id, path, kind, scope, merge, default, description }
}

/// Every key there is.
#[rustfmt::skip]
pub const KEYS: &[Key] = &[
    row(KeyId::Schema, "$schema", (Kind::Text, Scope::Everywhere, Merge::None), "null",
        "Address of the JSON Schema, for editors. Portcullis does not read it."),
    row(KeyId::Permissions, "permissions", (Kind::Object, Scope::Everywhere, Merge::None), "{}",
        "Rules and switches that settle calls without a model."),
    row(KeyId::Allow, "permissions.allow", (Kind::Rules, Scope::TrustedRepository, Merge::Joined), "[]",
        "Rules whose calls run without asking. A shell command runs only when rules cover every part of it."),
    row(KeyId::Ask, "permissions.ask", (Kind::Rules, Scope::Everywhere, Merge::Joined), "[]",
        "Rules whose calls always need a person, whatever allow rules say."),
    row(KeyId::Deny, "permissions.deny", (Kind::Rules, Scope::Everywhere, Merge::Joined), "[]",
        "Rules whose calls never run, in any mode."),
    row(KeyId::AdditionalDirectories, "permissions.additionalDirectories",
        (Kind::Directories, Scope::TrustedRepository, Merge::Joined), "[]",
        "Directories that count as working directories: absolute, under `~/`, or relative to the project."),
    row(KeyId::DefaultMode, "permissions.defaultMode", (Kind::Mode, Scope::SafeInRepository, Merge::Strongest), "\"default\"",
        "The permission mode a session starts in. `auto` and `bypassPermissions` are not taken from files inside the repository."),
    row(KeyId::DisableBypass, "permissions.disableBypassPermissionsMode",
        (Kind::Disable, Scope::Everywhere, Merge::Strictest), "null",
        "The word `disable` takes the mode `bypassPermissions` away."),
    row(KeyId::DisableAutoInPermissions, "permissions.disableAutoMode",
        (Kind::Disable, Scope::Everywhere, Merge::Strictest), "null",
        "The word `disable` takes the mode `auto` away. Also accepted at the top level."),
    row(KeyId::BlockReadsOutside, "permissions.blockReadsOutsideWorkingDirectories",
        (Kind::Boolean, Scope::Everywhere, Merge::Strictest), "false",
        "Whether reads outside the working directories are stopped in every mode: file tools are denied, shell commands need a person. `true` from any source wins."),
    row(KeyId::BypassProtectedPaths, "permissions.bypassProtectedPaths",
        (Kind::Boolean, Scope::OutsideRepository, Merge::Strongest), "false",
        "Whether `bypassPermissions` also lifts the safety check for protected paths; critical removals always ask."),
    row(KeyId::DisableAuto, "disableAutoMode", (Kind::Disable, Scope::Everywhere, Merge::Strictest), "null",
        "The word `disable` takes the mode `auto` away."),
    row(KeyId::AutoDuringPlan, "useAutoModeDuringPlan", (Kind::Boolean, Scope::NotProject, Merge::Strictest), "true",
        "Whether the classifier reviews shell commands in plan mode. `false` from any source but the shared project file wins."),
    row(KeyId::ManagedRulesOnly, "allowManagedPermissionRulesOnly", (Kind::Boolean, Scope::Managed, Merge::Strictest), "false",
        "Whether only the rules of managed settings count; those of every other source are ignored."),
    row(KeyId::ManagedHooksOnly, "allowManagedHooksOnly", (Kind::Boolean, Scope::Managed, Merge::Strictest), "false",
        "Whether only the hooks of managed settings count."),
    row(KeyId::DisableAllHooks, "disableAllHooks", (Kind::Boolean, Scope::Everywhere, Merge::Strictest), "false",
        "Whether hooks are off. Hooks of managed settings can only be turned off there."),
    row(KeyId::AutoMode, "autoMode", (Kind::Object, Scope::OutsideRepository, Merge::None), "{}",
        "Instructions for the classifier of auto mode. Not read from files inside the repository."),
    row(KeyId::AutoEnvironment, "autoMode.environment", (Kind::Sentences, Scope::OutsideRepository, Merge::Joined), "[\"$defaults\"]",
        "Sentences about the environment the agent works in. Without `$defaults` in it, the list replaces the built-in one."),
    row(KeyId::AutoAllow, "autoMode.allow", (Kind::Sentences, Scope::OutsideRepository, Merge::Joined), "[\"$defaults\"]",
        "What the classifier may let pass. Without `$defaults` in it, the list replaces the built-in one."),
    row(KeyId::AutoSoftDeny, "autoMode.soft_deny", (Kind::Sentences, Scope::OutsideRepository, Merge::Joined), "[\"$defaults\"]",
        "What the classifier blocks unless the user clearly asked for it. Without `$defaults` in it, the list replaces the built-in one."),
    row(KeyId::AutoHardDeny, "autoMode.hard_deny", (Kind::Sentences, Scope::OutsideRepository, Merge::Joined), "[\"$defaults\"]",
        "What the classifier always blocks. Without `$defaults` in it, the list replaces the built-in one."),
    row(KeyId::AutoClassifyAllShell, "autoMode.classifyAllShell", (Kind::Boolean, Scope::OutsideRepository, Merge::Strongest), "false",
        "Whether auto mode suspends every allow rule for a shell command, so that the classifier sees all but the read-only ones."),
    row(KeyId::AutoPowerShell, "autoMode.powerShell", (Kind::Boolean, Scope::OutsideRepository, Merge::Strongest), "false",
        "Whether PowerShell commands may go to the classifier instead of a person."),
    row(KeyId::SandboxObject, "sandbox", (Kind::FreeObject, Scope::Everywhere, Merge::None), "{}",
        "What is known about the sandbox the host runs shell commands in. Keys Portcullis does not use are left to the host."),
    row(KeyId::SandboxEnabled, "sandbox.enabled", (Kind::Boolean, Scope::TrustedRepository, Merge::Strongest), "false",
        "Whether the host runs shell commands in a sandbox."),
    row(KeyId::SandboxAutoAllow, "sandbox.autoAllowBashIfSandboxed",
        (Kind::Boolean, Scope::TrustedRepository, Merge::Strongest), "true",
        "Whether a command that runs sandboxed runs without asking."),
    row(KeyId::Hooks, "hooks", (Kind::FreeObject, Scope::OutsideRepository, Merge::None), "{}",
        "Hooks of the host. `PermissionRequest` hooks are asked when nobody is there to answer."),
    row(KeyId::SkipBypassPrompt, "skipDangerousModePermissionPrompt",
        (Kind::Boolean, Scope::OutsideRepository, Merge::None), "false",
        "Accepted for the host's sake; Portcullis shows no such prompt."),
    row(KeyId::SkipAutoPrompt, "skipAutoPermissionPrompt", (Kind::Boolean, Scope::OutsideRepository, Merge::None), "false",
        "Accepted for the host's sake; Portcullis shows no such prompt."),
];

impl Key {
    /// Finds a key by its path.
    pub fn find(path: &str) -> Option<&'static Self> {
        KEYS.iter().find(|key| key.path == path)
    }

    /// Finds the key `name` inside `parent`, or at the top level.
    pub(crate) fn find_in(parent: Option<&Self>, name: &str) -> Option<&'static Self> {
        KEYS.iter().find(|key| key.parent() == parent.map(|parent| parent.path) && key.name() == name)
    }

    /// Returns its row.
    pub fn of(id: KeyId) -> Option<&'static Self> {
        KEYS.iter().find(|key| key.id == id)
    }

    /// Returns the last name of its path.
    pub fn name(&self) -> &'static str {
        self.path.rsplit_once('.').map_or(self.path, |(_, name)| name)
    }

    /// Returns the path of the object it stands in, if it is not at the top level.
    pub fn parent(&self) -> Option<&'static str> {
        self.path.rsplit_once('.').map(|(parent, _)| parent)
    }

    /// Says whether a mistake in it, or a value that was overwritten, is still taken in its restrictive meaning.
    pub(crate) const fn restricts(&self) -> bool {
        matches!(self.id, KeyId::Ask | KeyId::Deny) || matches!(self.merge, Merge::Strictest)
    }

    /// Returns the restrictive value of a switch.
    pub(crate) const fn strict_value(&self) -> bool {
        !matches!(
            self.id,
            KeyId::AutoDuringPlan
                | KeyId::BypassProtectedPaths
                | KeyId::SandboxEnabled
                | KeyId::SandboxAutoAllow
                | KeyId::AutoPowerShell
                | KeyId::SkipBypassPrompt
                | KeyId::SkipAutoPrompt
        )
    }
}

impl Scope {
    /// Says whether a source may set the key at all, trust left aside.
    pub const fn contains(self, source: Source) -> bool {
        match self {
            Self::Everywhere | Self::TrustedRepository | Self::SafeInRepository => true,
            Self::NotProject => !matches!(source, Source::Project),
            Self::OutsideRepository => !source.is_in_repository(),
            Self::Managed => matches!(source, Source::Policy),
        }
    }

    /// Describes it for the reference.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Everywhere => "every source",
            Self::TrustedRepository => {
                "every source; files inside the repository when the workspace is trusted"
            }
            Self::SafeInRepository => "every source; risky modes not from files inside the repository",
            Self::NotProject => "every source but the shared project file",
            Self::OutsideRepository => "user, managed and flag settings",
            Self::Managed => "managed settings",
        }
    }
}

impl Kind {
    /// Describes it for messages and the reference, with its article.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Object | Self::FreeObject => "an object",
            Self::Rules => "a list of rules",
            Self::Directories => "a list of directories",
            Self::Sentences => "a list of sentences",
            Self::Mode => "the name of a mode",
            Self::Disable => "the word `disable`",
            Self::Boolean => "true or false",
            Self::Text => "a string",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_whole_and_found_by_its_path() {
        for (index, key) in KEYS.iter().enumerate() {
            assert_eq!(Key::find(key.path), Some(key));
            assert_eq!(Key::of(key.id), Some(key), "{} repeats an id", key.path);
            assert!(key.description.ends_with('.'), "{}", key.path);
            serde_json::from_str::<serde_json::Value>(key.default).expect(key.path);
            if let Some(parent) = key.parent() {
                let place = KEYS.iter().position(|other| other.path == parent).expect(key.path);
                assert!(place < index, "{} stands before its object", key.path);
                assert!(matches!(KEYS[place].kind, Kind::Object | Kind::FreeObject), "{parent}");
            }
        }
    }
}
