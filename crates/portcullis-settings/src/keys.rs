//! Every settings key, once: type, who may set it, how several settings combine, default, meaning.
//!
//! The reader of settings, the unknown-key check, the JSON Schema and the reference documentation all come from
//! [`KEYS`]. A new key is a row here, a variant of [`KeyId`] and its use in `merge`.

pub use crate::kind::{Kind, Merge, Scope};

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
    Classifier,
    ClassifierProvider,
    ClassifierModel,
    ClassifierBaseUrl,
    ClassifierAuth,
    ClassifierKeyVariable,
    ClassifierKeyCommand,
    ClassifierCaFile,
    ClassifierProxy,
    ClassifierModelsFile,
    ClassifierStages,
    ClassifierVerdict,
    ClassifierSeverityThreshold,
    ClassifierTimeout,
    ClassifierOnFailure,
    ClassifierOnLimit,
    ClassifierTranscript,
    ClassifierTranscriptTokens,
    ClassifierProjectInstructions,
    ClassifierReviewFindings,
    ClassifierDump,
    Fallback,
    FallbackProvider,
    FallbackModel,
    FallbackBaseUrl,
    FallbackAuth,
    FallbackKeyVariable,
    FallbackKeyCommand,
    Templates,
    TemplateBase,
    TemplateIntent,
    TemplatePermissions,
    Explainer,
    Audit,
    AuditEnabled,
    AuditRetention,
    Store,
    StoreUrl,
    StorePolicyKeys,
    Approvals,
    ApprovalsEnabled,
    ApprovalsWait,
    ApprovalsExpire,
    ApprovalsWebhook,
    ApprovalsDesktop,
}

/// Who can serve the model that judges.
const PROVIDERS: Kind = Kind::Choice(&["anthropic", "openai", "chat", "ollama", "gemini", "none"]);

/// How a key can be sent.
const AUTHS: Kind = Kind::Choice(&["key", "bearer"]);

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
        "Rules and switches that decide calls without a model."),
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
        "Hooks in the form of Claude Code. In our own files, `PermissionRequest` hooks of the types `command` and `http` are asked when nobody is there to answer; all others are the host's business."),
    row(KeyId::SkipBypassPrompt, "skipDangerousModePermissionPrompt",
        (Kind::Boolean, Scope::OutsideRepository, Merge::None), "false",
        "Accepted for the host's sake; Portcullis shows no such prompt."),
    row(KeyId::SkipAutoPrompt, "skipAutoPermissionPrompt", (Kind::Boolean, Scope::OutsideRepository, Merge::None), "false",
        "Accepted for the host's sake; Portcullis shows no such prompt."),
    row(KeyId::Classifier, "classifier", (Kind::Object, Scope::OutsideRepository, Merge::None), "{}",
        "The model that judges in auto mode. Without a provider the embedded judge decides alone. Not read from files inside the repository."),
    row(KeyId::ClassifierProvider, "classifier.provider",
        (PROVIDERS, Scope::OutsideRepository, Merge::Strongest), "\"none\"",
        "Who serves the model: Anthropic's Messages API or a gateway that speaks it, OpenAI's Responses API, any server of chat completions, Ollama, Gemini, or nobody. Whoever sets it decides about the model, its address, the key, the certificates, the proxy and the fallback; weaker sources cannot change any of these."),
    row(KeyId::ClassifierModel, "classifier.model", (Kind::Text, Scope::OutsideRepository, Merge::Strongest), "null",
        "The id of the model, as its provider spells it. The provider's default when not set."),
    row(KeyId::ClassifierBaseUrl, "classifier.baseUrl",
        (Kind::Address, Scope::OutsideRepository, Merge::Strongest), "null",
        "The address of the provider or of a gateway before it, without a password in it. The provider's own when not set."),
    row(KeyId::ClassifierAuth, "classifier.auth", (AUTHS, Scope::OutsideRepository, Merge::Strongest), "\"key\"",
        "How the key is sent to an Anthropic address: in the header for keys, or as a bearer token."),
    row(KeyId::ClassifierKeyVariable, "classifier.keyVariable",
        (Kind::Variable, Scope::OutsideRepository, Merge::Strongest), "null",
        "The environment variable that holds the key. The provider's usual one when not set. The key itself is never read from settings."),
    row(KeyId::ClassifierKeyCommand, "classifier.keyCommand",
        (Kind::Words, Scope::OutsideRepository, Merge::Strongest), "[]",
        "A program that prints the key, with its arguments, run without a shell. A path in place of its name is absolute, under `~/`, or relative to the directory of the settings file; a bare name is looked up outside of the workspace."),
    row(KeyId::ClassifierCaFile, "classifier.caFile",
        (Kind::Path, Scope::OutsideRepository, Merge::Strongest), "null",
        "A PEM file with certificate authorities to trust besides the usual ones, as behind a corporate proxy."),
    row(KeyId::ClassifierProxy, "classifier.proxy",
        (Kind::Address, Scope::OutsideRepository, Merge::Strongest), "null",
        "The address of the proxy that requests to the model go through."),
    row(KeyId::ClassifierModelsFile, "classifier.modelsFile",
        (Kind::Path, Scope::OutsideRepository, Merge::Strongest), "null",
        "Your own file that says what models accept and cost, besides those that are known. Where managed settings set the provider, only theirs counts."),
    row(KeyId::ClassifierStages, "classifier.stages",
        (Kind::Choice(&["both", "fast", "thinking"]), Scope::OutsideRepository, Merge::Strongest), "\"both\"",
        "Which stages judge: the fast one and, when it does not clear the action, the thinking one; only the fast one; or only the thinking one."),
    row(KeyId::ClassifierVerdict, "classifier.verdict",
        (Kind::Choice(&["auto", "block", "severity", "tool", "schema"]), Scope::OutsideRepository, Merge::Strongest), "\"auto\"",
        "The form in which the model answers: what suits it best, a word in a tag, a severity, a tool call, or JSON that follows a schema."),
    row(KeyId::ClassifierSeverityThreshold, "classifier.severityThreshold",
        (Kind::Number { least: 1, most: 100 }, Scope::OutsideRepository, Merge::Strongest), "50",
        "From which severity on an action is blocked, when the model answers with one. Lower is stricter."),
    row(KeyId::ClassifierTimeout, "classifier.timeoutSeconds",
        (Kind::Number { least: 1, most: 60 }, Scope::OutsideRepository, Merge::Strongest), "25",
        "How long one judgement may take in seconds, all stages and repetitions together."),
    row(KeyId::ClassifierOnFailure, "classifier.onFailure",
        (Kind::Choice(&["deny", "ask"]), Scope::OutsideRepository, Merge::Strongest), "\"deny\"",
        "What happens to an action when the model cannot be asked: it is denied, or a person decides."),
    row(KeyId::ClassifierOnLimit, "classifier.onLimit",
        (Kind::Choice(&["abort", "deny"]), Scope::OutsideRepository, Merge::Strongest), "\"abort\"",
        "What happens when too many actions were denied and nobody is there to ask: the session ends with an error, or the action is denied like the others."),
    row(KeyId::ClassifierTranscript, "classifier.transcript",
        (Kind::Choice(&["jsonl", "text", "compact"]), Scope::OutsideRepository, Merge::Strongest), "\"jsonl\"",
        "The form in which the model sees the session: a JSON line for each entry, plain text, or only the last entries cut short."),
    row(KeyId::ClassifierTranscriptTokens, "classifier.transcriptTokens",
        (Kind::Number { least: 500, most: 200_000 }, Scope::OutsideRepository, Merge::Strongest), "12000",
        "How many tokens of the session the model sees at most. The oldest entries go first, the user's own words last."),
    row(KeyId::ClassifierProjectInstructions, "classifier.projectInstructions",
        (Kind::Boolean, Scope::OutsideRepository, Merge::Strongest), "true",
        "Whether the model sees `CLAUDE.md`, `AGENTS.md` and `GEMINI.md` of the project, quoted as data."),
    row(KeyId::ClassifierReviewFindings, "classifier.reviewFindings",
        (Kind::Boolean, Scope::OutsideRepository, Merge::Strongest), "false",
        "Whether the model weighs what the static analysis found against the user's words. Otherwise such an action is denied unless the user named it; what nothing clears is denied either way."),
    row(KeyId::ClassifierDump, "classifier.dump",
        (Kind::Boolean, Scope::OutsideRepository, Merge::Strongest), "false",
        "Whether every request and answer is written to a private directory, secrets blacked out."),
    row(KeyId::Fallback, "classifier.fallback", (Kind::Object, Scope::OutsideRepository, Merge::None), "{}",
        "Another model that is asked when the first one is unavailable. It shares certificates and proxy with the first."),
    row(KeyId::FallbackProvider, "classifier.fallback.provider",
        (PROVIDERS, Scope::OutsideRepository, Merge::Strongest), "\"none\"",
        "Who serves the other model. Whoever sets it decides about all of `classifier.fallback`."),
    row(KeyId::FallbackModel, "classifier.fallback.model",
        (Kind::Text, Scope::OutsideRepository, Merge::Strongest), "null",
        "The id of the other model. The provider's default when not set."),
    row(KeyId::FallbackBaseUrl, "classifier.fallback.baseUrl",
        (Kind::Address, Scope::OutsideRepository, Merge::Strongest), "null",
        "The address of its provider. The provider's own when not set."),
    row(KeyId::FallbackAuth, "classifier.fallback.auth",
        (AUTHS, Scope::OutsideRepository, Merge::Strongest), "\"key\"",
        "How its key is sent to an Anthropic address."),
    row(KeyId::FallbackKeyVariable, "classifier.fallback.keyVariable",
        (Kind::Variable, Scope::OutsideRepository, Merge::Strongest), "null",
        "The environment variable that holds its key. The provider's usual one when not set."),
    row(KeyId::FallbackKeyCommand, "classifier.fallback.keyCommand",
        (Kind::Words, Scope::OutsideRepository, Merge::Strongest), "[]",
        "A program that prints its key, with its arguments, run without a shell."),
    row(KeyId::Templates, "classifier.templates", (Kind::Object, Scope::UserOrManaged, Merge::None), "{}",
        "Files in place of the built-in parts of the prompt. Where managed settings set the provider, only theirs count."),
    row(KeyId::TemplateBase, "classifier.templates.base",
        (Kind::Path, Scope::UserOrManaged, Merge::Strongest), "null",
        "The part that says who the model is and what it looks at."),
    row(KeyId::TemplateIntent, "classifier.templates.intent",
        (Kind::Path, Scope::UserOrManaged, Merge::Strongest), "null",
        "The part about what the user wants and what counts as consent."),
    row(KeyId::TemplatePermissions, "classifier.templates.permissions",
        (Kind::Path, Scope::UserOrManaged, Merge::Strongest), "null",
        "The part with what is blocked and what may pass."),
    row(KeyId::Explainer, "explainer",
        (Kind::Choice(&["offline", "model", "off"]), Scope::OutsideRepository, Merge::Strongest), "\"offline\"",
        "Who explains a command to the person who is asked: the static analysis, the model of `classifier`, or nobody."),
    row(KeyId::Audit, "audit", (Kind::Object, Scope::OutsideRepository, Merge::None), "{}",
        "The audit trail that `portcullis log` and `portcullis stats` read."),
    row(KeyId::AuditEnabled, "audit.enabled",
        (Kind::Boolean, Scope::OutsideRepository, Merge::Strongest), "true",
        "Whether decisions for agents are recorded. While they are, a call whose record cannot be written is blocked."),
    row(KeyId::AuditRetention, "audit.retentionDays",
        (Kind::Number { least: 0, most: 36_500 }, Scope::OutsideRepository, Merge::Strongest), "90",
        "How many days records are kept; 0 keeps them for ever. Whole files are removed, so that some stay a week longer."),
    row(KeyId::Store, "store", (Kind::Object, Scope::UserOrManaged, Merge::None), "{}",
        "Where sessions, grants, approvals and the audit trail are kept, and whose policies are taken from there."),
    row(KeyId::StoreUrl, "store.url", (Kind::StoreAddress, Scope::UserOrManaged, Merge::Strongest), "null",
        "The PostgreSQL database that many daemons share. Files of this machine when not set. A password in it is never shown; the variable `PGPASSWORD` can hold it instead."),
    row(KeyId::StorePolicyKeys, "store.policyKeys", (Kind::PublicKeys, Scope::UserOrManaged, Merge::Strongest), "[]",
        "The keys whose policies are taken from the store as managed settings, each written as its name, a colon and the public key. Where there are managed settings files, only theirs count. While it is set and no policy is in force, nothing outside managed settings allows."),
    row(KeyId::Approvals, "approvals", (Kind::Object, Scope::UserOrManaged, Merge::None), "{}",
        "Questions that wait for a person while a daemon runs."),
    row(KeyId::ApprovalsEnabled, "approvals.enabled", (Kind::Boolean, Scope::UserOrManaged, Merge::Strongest), "true",
        "Whether a call that only a person can allow waits for one when nobody is there. Otherwise it is denied at once."),
    row(KeyId::ApprovalsWait, "approvals.waitSeconds",
        (Kind::Number { least: 0, most: 75 }, Scope::UserOrManaged, Merge::Strongest), "60",
        "How long a call waits for an answer. Afterwards it is denied, and the question stays open for its next try."),
    row(KeyId::ApprovalsExpire, "approvals.expireMinutes",
        (Kind::Number { least: 1, most: 10_080 }, Scope::UserOrManaged, Merge::Strongest), "60",
        "How long a question can be answered. Afterwards it counts as denied."),
    row(KeyId::ApprovalsWebhook, "approvals.webhook",
        (Kind::Webhook, Scope::UserOrManaged, Merge::Strongest), "null",
        "Where questions are posted to: `url`, `headers`, and in `allowedEnvVars` the variables that headers may name as `$NAME`. Without TLS only an address of this machine is taken."),
    row(KeyId::ApprovalsDesktop, "approvals.desktop",
        (Kind::Boolean, Scope::UserOrManaged, Merge::Strongest), "false",
        "Whether questions are shown as notifications of the desktop."),
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
        // A policy that is pushed may forbid, so that the keys that bring it in must not get lost.
        matches!(self.id, KeyId::Ask | KeyId::Deny | KeyId::StorePolicyKeys)
            || matches!(self.merge, Merge::Strictest)
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
                | KeyId::ClassifierProjectInstructions
                | KeyId::ClassifierDump
                | KeyId::ClassifierReviewFindings
                | KeyId::ApprovalsEnabled
                | KeyId::ApprovalsDesktop
        )
    }

    /// Returns the word that stands for a wrong one without widening; `None` if every guess could widen.
    pub(crate) const fn strict_choice(&self) -> Option<&'static str> {
        match self.id {
            KeyId::ClassifierOnFailure => Some("deny"),
            KeyId::ClassifierOnLimit => Some("abort"),
            // Both stages clear what either of them clears; the thinking one looks closer than the fast one.
            KeyId::ClassifierStages => Some("thinking"),
            KeyId::ClassifierVerdict => Some("auto"),
            KeyId::ClassifierTranscript => Some("jsonl"),
            KeyId::Explainer => Some("offline"),
            _ => None,
        }
    }

    /// Returns the number that stands for a wrong one without widening.
    pub(crate) fn strict_number(&self) -> Option<u32> {
        match self.kind {
            // The lower, the more is blocked.
            Kind::Number { least, .. } if self.id == KeyId::ClassifierSeverityThreshold => Some(least),
            _ => self.default.parse().ok(),
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
    #[test]
    fn defaults_and_strict_values_are_values_the_key_takes() {
        for key in KEYS {
            match key.kind {
                Kind::Choice(words) => {
                    let default: String = serde_json::from_str(key.default).expect(key.path);
                    assert!(words.contains(&default.as_str()), "{}", key.path);
                    assert!(key.strict_choice().is_none_or(|word| words.contains(&word)), "{}", key.path);
                }
                Kind::Number { least, most } => {
                    let default: u32 = key.default.parse().expect(key.path);
                    let strict = key.strict_number().expect(key.path);
                    assert!(
                        (least..=most).contains(&default) && (least..=most).contains(&strict),
                        "{}",
                        key.path
                    );
                }
                Kind::Words | Kind::PublicKeys => assert_eq!(key.default, "[]", "{}", key.path),
                Kind::Variable
                | Kind::Address
                | Kind::Path
                | Kind::Text
                | Kind::StoreAddress
                | Kind::Webhook => {
                    assert_eq!(key.default, "null", "{}", key.path);
                }
                _ => assert_eq!((key.strict_choice(), key.strict_number()), (None, None), "{}", key.path),
            }
        }
    }
}
