//! Every settings key, once: type, who may set it, how several settings combine, default, meaning.
//!
//! The reader of settings, the unknown-key check, the JSON Schema and the reference documentation all come from
//! [`KEYS`]. A new key is a row here, a variant of [`KeyId`] and its use in `merge`.

pub use crate::kind::{KeyKind, KeyMerge, KeyScope};

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
    Containment,
    ContainmentEnabled,
    ContainmentProjectCode,
    Audit,
    AuditEnabled,
    AuditRetention,
    AuditHead,
    AuditHeadEvery,
    AuditHeadFile,
    AuditHeadCommand,
    AuditHeadSyslog,
    AuditHeadWebhook,
    Redaction,
    RedactionForms,
    Store,
    StoreUrl,
    StorePolicyKeys,
    Memory,
    MemoryEnabled,
    MemoryExpire,
    Daemon,
    DaemonPort,
    Approvals,
    ApprovalsEnabled,
    ApprovalsWait,
    ApprovalsExpire,
    ApprovalsWebhook,
    ApprovalsDesktop,
}

/// Who can serve the model that judges.
const PROVIDERS: KeyKind = KeyKind::Choice(&["anthropic", "openai", "chat", "ollama", "gemini", "none"]);

/// How a key can be sent.
const AUTHS: KeyKind = KeyKind::Choice(&["key", "bearer"]);

/// A row of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SettingsKey {
    /// Its name in code.
    pub id: KeyId,
    /// Its path in a settings file, with dots between the names.
    pub path: &'static str,
    /// What the value must look like.
    pub kind: KeyKind,
    /// Who may set it.
    pub scope: KeyScope,
    /// How several settings combine.
    pub merge: KeyMerge,
    /// The value when nobody sets it, as JSON.
    pub default: &'static str,
    /// What it does.
    pub description: &'static str,
}

const fn row(
    id: KeyId,
    path: &'static str,
    (kind, scope, merge): (KeyKind, KeyScope, KeyMerge),
    default: &'static str,
    description: &'static str,
) -> SettingsKey {
    SettingsKey { id, path, kind, scope, merge, default, description }
}

/// Every key there is.
#[rustfmt::skip]
pub const KEYS: &[SettingsKey] = &[
    row(KeyId::Schema, "$schema", (KeyKind::Text, KeyScope::Everywhere, KeyMerge::None), "null",
        "Address of the JSON Schema, for editors. Portcullis does not read it."),
    row(KeyId::Permissions, "permissions", (KeyKind::Object, KeyScope::Everywhere, KeyMerge::None), "{}",
        "Rules and switches that decide calls without a model."),
    row(KeyId::Allow, "permissions.allow", (KeyKind::Rules, KeyScope::TrustedRepository, KeyMerge::Joined), "[]",
        "Rules whose calls run without asking. A shell command runs only when rules cover every part of it."),
    row(KeyId::Ask, "permissions.ask", (KeyKind::Rules, KeyScope::Everywhere, KeyMerge::Joined), "[]",
        "Rules whose calls always need a person, whatever allow rules say."),
    row(KeyId::Deny, "permissions.deny", (KeyKind::Rules, KeyScope::Everywhere, KeyMerge::Joined), "[]",
        "Rules whose calls never run, in any mode."),
    row(KeyId::AdditionalDirectories, "permissions.additionalDirectories",
        (KeyKind::Directories, KeyScope::TrustedRepository, KeyMerge::Joined), "[]",
        "Directories that count as working directories: absolute, under `~/`, or relative to the project."),
    row(KeyId::DefaultMode, "permissions.defaultMode", (KeyKind::Mode, KeyScope::SafeInRepository, KeyMerge::Strongest), "\"default\"",
        "The permission mode a session starts in. `auto` and `bypassPermissions` are not taken from files inside the repository."),
    row(KeyId::DisableBypass, "permissions.disableBypassPermissionsMode",
        (KeyKind::Disable, KeyScope::Everywhere, KeyMerge::Strictest), "null",
        "The word `disable` takes the mode `bypassPermissions` away."),
    row(KeyId::DisableAutoInPermissions, "permissions.disableAutoMode",
        (KeyKind::Disable, KeyScope::Everywhere, KeyMerge::Strictest), "null",
        "The word `disable` takes the mode `auto` away. Also accepted at the top level."),
    row(KeyId::BlockReadsOutside, "permissions.blockReadsOutsideWorkingDirectories",
        (KeyKind::Boolean, KeyScope::Everywhere, KeyMerge::Strictest), "false",
        "Whether reads outside the working directories are stopped in every mode: file tools are denied, shell commands need a person. `true` from any source wins."),
    row(KeyId::BypassProtectedPaths, "permissions.bypassProtectedPaths",
        (KeyKind::Boolean, KeyScope::OutsideRepository, KeyMerge::Strongest), "false",
        "Whether `bypassPermissions` also lifts the safety check for protected paths; critical removals always ask."),
    row(KeyId::DisableAuto, "disableAutoMode", (KeyKind::Disable, KeyScope::Everywhere, KeyMerge::Strictest), "null",
        "The word `disable` takes the mode `auto` away."),
    row(KeyId::AutoDuringPlan, "useAutoModeDuringPlan", (KeyKind::Boolean, KeyScope::NotProject, KeyMerge::Strictest), "true",
        "Whether the classifier reviews shell commands in plan mode. `false` from any source but the shared project file wins."),
    row(KeyId::ManagedRulesOnly, "allowManagedPermissionRulesOnly", (KeyKind::Boolean, KeyScope::Managed, KeyMerge::Strictest), "false",
        "Whether only the rules of managed settings count; those of every other source are ignored."),
    row(KeyId::ManagedHooksOnly, "allowManagedHooksOnly", (KeyKind::Boolean, KeyScope::Managed, KeyMerge::Strictest), "false",
        "Whether only the hooks of managed settings count."),
    row(KeyId::DisableAllHooks, "disableAllHooks", (KeyKind::Boolean, KeyScope::Everywhere, KeyMerge::Strictest), "false",
        "Whether hooks are off. Hooks of managed settings can only be turned off there."),
    row(KeyId::AutoMode, "autoMode", (KeyKind::Object, KeyScope::OutsideRepository, KeyMerge::None), "{}",
        "Instructions for the classifier of auto mode. Not read from files inside the repository."),
    row(KeyId::AutoEnvironment, "autoMode.environment", (KeyKind::Sentences, KeyScope::OutsideRepository, KeyMerge::Joined), "[\"$defaults\"]",
        "Sentences about the environment the agent works in. Without `$defaults` in it, the list replaces the built-in one."),
    row(KeyId::AutoAllow, "autoMode.allow", (KeyKind::Sentences, KeyScope::OutsideRepository, KeyMerge::Joined), "[\"$defaults\"]",
        "What the classifier may let pass. Without `$defaults` in it, the list replaces the built-in one."),
    row(KeyId::AutoSoftDeny, "autoMode.soft_deny", (KeyKind::Sentences, KeyScope::OutsideRepository, KeyMerge::Joined), "[\"$defaults\"]",
        "What the classifier blocks unless the user clearly asked for it. Without `$defaults` in it, the list replaces the built-in one."),
    row(KeyId::AutoHardDeny, "autoMode.hard_deny", (KeyKind::Sentences, KeyScope::OutsideRepository, KeyMerge::Joined), "[\"$defaults\"]",
        "What the classifier always blocks. Without `$defaults` in it, the list replaces the built-in one."),
    row(KeyId::AutoClassifyAllShell, "autoMode.classifyAllShell", (KeyKind::Boolean, KeyScope::OutsideRepository, KeyMerge::Strongest), "false",
        "Whether auto mode has every shell command judged that changes something, whatever allow rules and proofs say."),
    row(KeyId::AutoPowerShell, "autoMode.powerShell", (KeyKind::Boolean, KeyScope::OutsideRepository, KeyMerge::Strongest), "false",
        "Whether PowerShell commands that nothing proves harmless may go to the classifier instead of a person."),
    row(KeyId::SandboxObject, "sandbox", (KeyKind::FreeObject, KeyScope::Everywhere, KeyMerge::None), "{}",
        "What is known about the sandbox the host runs shell commands in. Keys Portcullis does not use are left to the host."),
    row(KeyId::SandboxEnabled, "sandbox.enabled", (KeyKind::Boolean, KeyScope::TrustedRepository, KeyMerge::Strongest), "false",
        "Whether the host runs shell commands in a sandbox."),
    row(KeyId::SandboxAutoAllow, "sandbox.autoAllowBashIfSandboxed",
        (KeyKind::Boolean, KeyScope::TrustedRepository, KeyMerge::Strongest), "true",
        "Whether a command that runs sandboxed runs without asking."),
    row(KeyId::Hooks, "hooks", (KeyKind::FreeObject, KeyScope::OutsideRepository, KeyMerge::None), "{}",
        "Hooks in the form of Claude Code. In our own files, `PermissionRequest` hooks of the types `command` and `http` are asked when nobody is there to answer; all others are the host's business."),
    row(KeyId::SkipBypassPrompt, "skipDangerousModePermissionPrompt",
        (KeyKind::Boolean, KeyScope::OutsideRepository, KeyMerge::None), "false",
        "Accepted for the host's sake; Portcullis shows no such prompt."),
    row(KeyId::SkipAutoPrompt, "skipAutoPermissionPrompt", (KeyKind::Boolean, KeyScope::OutsideRepository, KeyMerge::None), "false",
        "Accepted for the host's sake; Portcullis shows no such prompt."),
    row(KeyId::Classifier, "classifier", (KeyKind::Object, KeyScope::OutsideRepository, KeyMerge::None), "{}",
        "The model that judges in auto mode. Without a provider the embedded judge decides alone. Not read from files inside the repository."),
    row(KeyId::ClassifierProvider, "classifier.provider",
        (PROVIDERS, KeyScope::OutsideRepository, KeyMerge::Strongest), "\"none\"",
        "Who serves the model: Anthropic's Messages API or a gateway that speaks it, OpenAI's Responses API, any server of chat completions, Ollama, Gemini, or nobody. Whoever sets it decides about the model, its address, the key, the certificates, the proxy and the fallback; weaker sources cannot change any of these."),
    row(KeyId::ClassifierModel, "classifier.model", (KeyKind::Text, KeyScope::OutsideRepository, KeyMerge::Strongest), "null",
        "The id of the model, as its provider spells it. The provider's default when not set."),
    row(KeyId::ClassifierBaseUrl, "classifier.baseUrl",
        (KeyKind::Address, KeyScope::OutsideRepository, KeyMerge::Strongest), "null",
        "The address of the provider or of a gateway before it, without a password in it. The provider's own when not set."),
    row(KeyId::ClassifierAuth, "classifier.auth", (AUTHS, KeyScope::OutsideRepository, KeyMerge::Strongest), "\"key\"",
        "How the key is sent to an Anthropic address: in the header for keys, or as a bearer token."),
    row(KeyId::ClassifierKeyVariable, "classifier.keyVariable",
        (KeyKind::Variable, KeyScope::OutsideRepository, KeyMerge::Strongest), "null",
        "The environment variable that holds the key. The provider's usual one when not set. The key itself is never read from settings."),
    row(KeyId::ClassifierKeyCommand, "classifier.keyCommand",
        (KeyKind::Words, KeyScope::OutsideRepository, KeyMerge::Strongest), "[]",
        "A program that prints the key, with its arguments, run without a shell. A path in place of its name is absolute, under `~/`, or relative to the directory of the settings file; a bare name is looked up outside of the workspace."),
    row(KeyId::ClassifierCaFile, "classifier.caFile",
        (KeyKind::Path, KeyScope::OutsideRepository, KeyMerge::Strongest), "null",
        "A PEM file with certificate authorities to trust besides the usual ones, as behind a corporate proxy."),
    row(KeyId::ClassifierProxy, "classifier.proxy",
        (KeyKind::Address, KeyScope::OutsideRepository, KeyMerge::Strongest), "null",
        "The address of the proxy that requests to the model go through."),
    row(KeyId::ClassifierModelsFile, "classifier.modelsFile",
        (KeyKind::Path, KeyScope::OutsideRepository, KeyMerge::Strongest), "null",
        "Your own file that says what models accept and cost, besides those that are known. Where managed settings set the provider, only theirs counts."),
    row(KeyId::ClassifierStages, "classifier.stages",
        (KeyKind::Choice(&["both", "fast", "thinking"]), KeyScope::OutsideRepository, KeyMerge::Strongest), "\"both\"",
        "Which stages judge: the fast one and, when it does not clear the action, the thinking one; only the fast one; or only the thinking one."),
    row(KeyId::ClassifierVerdict, "classifier.verdict",
        (KeyKind::Choice(&["auto", "block", "severity", "tool", "schema"]), KeyScope::OutsideRepository, KeyMerge::Strongest), "\"auto\"",
        "The form in which the model answers: what suits it best, a word in a tag, a severity, a tool call, or JSON that follows a schema."),
    row(KeyId::ClassifierSeverityThreshold, "classifier.severityThreshold",
        (KeyKind::Number { least: 1, most: 100 }, KeyScope::OutsideRepository, KeyMerge::Strongest), "50",
        "From which severity on an action is blocked, when the model answers with one. Lower is stricter."),
    row(KeyId::ClassifierTimeout, "classifier.timeoutSeconds",
        (KeyKind::Number { least: 1, most: 60 }, KeyScope::OutsideRepository, KeyMerge::Strongest), "25",
        "How long one judgement may take in seconds, all stages and repetitions together. Where nothing is set, the first answer of a server on this machine has 70 seconds."),
    row(KeyId::ClassifierOnFailure, "classifier.onFailure",
        (KeyKind::Choice(&["deny", "ask"]), KeyScope::OutsideRepository, KeyMerge::Strongest), "\"deny\"",
        "What happens to an action when the model cannot be asked: it is denied, or a person decides."),
    row(KeyId::ClassifierOnLimit, "classifier.onLimit",
        (KeyKind::Choice(&["abort", "deny"]), KeyScope::OutsideRepository, KeyMerge::Strongest), "\"abort\"",
        "What happens when too many actions were denied and nobody is there to ask: the session ends with an error, or the action is denied like the others."),
    row(KeyId::ClassifierTranscript, "classifier.transcript",
        (KeyKind::Choice(&["jsonl", "text", "compact"]), KeyScope::OutsideRepository, KeyMerge::Strongest), "\"jsonl\"",
        "The form in which the model sees the session: a JSON line for each entry, plain text, or only the last entries cut short."),
    row(KeyId::ClassifierTranscriptTokens, "classifier.transcriptTokens",
        (KeyKind::Number { least: 500, most: 200_000 }, KeyScope::OutsideRepository, KeyMerge::Strongest), "12000",
        "How many tokens of the session the model sees at most. The oldest entries go first, the user's own words last."),
    row(KeyId::ClassifierProjectInstructions, "classifier.projectInstructions",
        (KeyKind::Boolean, KeyScope::OutsideRepository, KeyMerge::Strongest), "true",
        "Whether the model sees `CLAUDE.md`, `AGENTS.md` and `GEMINI.md` of the project, and the notes of the user in `~/.claude/CLAUDE.md` and `CLAUDE.local.md`, quoted as data."),
    row(KeyId::ClassifierReviewFindings, "classifier.reviewFindings",
        (KeyKind::Boolean, KeyScope::OutsideRepository, KeyMerge::Strongest), "false",
        "Whether the model weighs what the static analysis found against the user's words. Otherwise such an action is denied unless the user named it; what nothing clears is denied either way."),
    row(KeyId::ClassifierDump, "classifier.dump",
        (KeyKind::Boolean, KeyScope::OutsideRepository, KeyMerge::Strongest), "false",
        "Whether every request and answer is written to a private directory, secrets blacked out."),
    row(KeyId::Fallback, "classifier.fallback", (KeyKind::Object, KeyScope::OutsideRepository, KeyMerge::None), "{}",
        "Another model that is asked when the first one is unavailable. It shares certificates and proxy with the first."),
    row(KeyId::FallbackProvider, "classifier.fallback.provider",
        (PROVIDERS, KeyScope::OutsideRepository, KeyMerge::Strongest), "\"none\"",
        "Who serves the other model. Whoever sets it decides about all of `classifier.fallback`."),
    row(KeyId::FallbackModel, "classifier.fallback.model",
        (KeyKind::Text, KeyScope::OutsideRepository, KeyMerge::Strongest), "null",
        "The id of the other model. The provider's default when not set."),
    row(KeyId::FallbackBaseUrl, "classifier.fallback.baseUrl",
        (KeyKind::Address, KeyScope::OutsideRepository, KeyMerge::Strongest), "null",
        "The address of its provider. The provider's own when not set."),
    row(KeyId::FallbackAuth, "classifier.fallback.auth",
        (AUTHS, KeyScope::OutsideRepository, KeyMerge::Strongest), "\"key\"",
        "How its key is sent to an Anthropic address."),
    row(KeyId::FallbackKeyVariable, "classifier.fallback.keyVariable",
        (KeyKind::Variable, KeyScope::OutsideRepository, KeyMerge::Strongest), "null",
        "The environment variable that holds its key. The provider's usual one when not set."),
    row(KeyId::FallbackKeyCommand, "classifier.fallback.keyCommand",
        (KeyKind::Words, KeyScope::OutsideRepository, KeyMerge::Strongest), "[]",
        "A program that prints its key, with its arguments, run without a shell."),
    row(KeyId::Templates, "classifier.templates", (KeyKind::Object, KeyScope::UserOrManaged, KeyMerge::None), "{}",
        "Files in place of the built-in parts of the prompt. Where managed settings set the provider, only theirs count."),
    row(KeyId::TemplateBase, "classifier.templates.base",
        (KeyKind::Path, KeyScope::UserOrManaged, KeyMerge::Strongest), "null",
        "The part that says who the model is and what it looks at."),
    row(KeyId::TemplateIntent, "classifier.templates.intent",
        (KeyKind::Path, KeyScope::UserOrManaged, KeyMerge::Strongest), "null",
        "The part about what the user wants and what counts as consent."),
    row(KeyId::TemplatePermissions, "classifier.templates.permissions",
        (KeyKind::Path, KeyScope::UserOrManaged, KeyMerge::Strongest), "null",
        "The part with what is blocked and what may pass."),
    row(KeyId::Explainer, "explainer",
        (KeyKind::Choice(&["offline", "model", "off"]), KeyScope::OutsideRepository, KeyMerge::Strongest), "\"offline\"",
        "Who explains a command to the person who is asked: the static analysis, the model of `classifier`, or nobody."),
    row(KeyId::Containment, "containment", (KeyKind::Object, KeyScope::OutsideRepository, KeyMerge::None), "{}",
        "Running a command inside a fence instead of asking about it, where only local things are unknown. It takes Linux and an agent that runs another command in place of its own."),
    row(KeyId::ContainmentEnabled, "containment.enabled",
        (KeyKind::Boolean, KeyScope::OutsideRepository, KeyMerge::Strongest), "true",
        "Whether commands are contained in auto mode, in `dontAsk` mode and where nobody can be asked. Without it they are asked about, or denied."),
    row(KeyId::ContainmentProjectCode, "containment.projectCode",
        (KeyKind::Choice(&["allow", "contain"]), KeyScope::OutsideRepository, KeyMerge::Strongest), "\"allow\"",
        "What becomes of tests, builds and scripts of the project that auto mode would allow: they run as they are, or inside a fence too. Calls that a rule allows run as they are."),
    row(KeyId::Audit, "audit", (KeyKind::Object, KeyScope::OutsideRepository, KeyMerge::None), "{}",
        "The audit trail that `portcullis log` and `portcullis stats` read."),
    row(KeyId::AuditEnabled, "audit.enabled",
        (KeyKind::Boolean, KeyScope::OutsideRepository, KeyMerge::Strongest), "true",
        "Whether decisions for agents are recorded. While they are, a call whose record cannot be written is blocked."),
    row(KeyId::AuditRetention, "audit.retentionDays",
        (KeyKind::Number { least: 0, most: 36_500 }, KeyScope::OutsideRepository, KeyMerge::Strongest), "90",
        "How many days records are kept; 0 keeps them for ever. Whole files are removed, so that some stay a week longer."),
    row(KeyId::AuditHead, "audit.head", (KeyKind::Object, KeyScope::UserOrManaged, KeyMerge::None), "{}",
        "Where the number and hash of the last record are sent, so that a record that was cut or made anew is found. Nowhere when no place is named."),
    row(KeyId::AuditHeadEvery, "audit.head.every",
        (KeyKind::Number { least: 1, most: 1_000_000 }, KeyScope::UserOrManaged, KeyMerge::Strongest), "100",
        "After how many records they are sent."),
    row(KeyId::AuditHeadFile, "audit.head.file",
        (KeyKind::Path, KeyScope::UserOrManaged, KeyMerge::Strongest), "null",
        "A file they are appended to, a line each. `log verify` compares all of them with the record."),
    row(KeyId::AuditHeadCommand, "audit.head.command",
        (KeyKind::Words, KeyScope::UserOrManaged, KeyMerge::Strongest), "[]",
        "A program that gets them as a line on standard input, with its arguments, run without a shell."),
    row(KeyId::AuditHeadSyslog, "audit.head.syslog",
        (KeyKind::Boolean, KeyScope::UserOrManaged, KeyMerge::Strongest), "false",
        "Whether they are sent to the system log of this machine."),
    row(KeyId::AuditHeadWebhook, "audit.head.webhook",
        (KeyKind::Webhook, KeyScope::UserOrManaged, KeyMerge::Strongest), "null",
        "An address they are posted to as JSON, with the same fields as `approvals.webhook`."),
    row(KeyId::Redaction, "redaction", (KeyKind::Object, KeyScope::UserOrManaged, KeyMerge::None), "{}",
        "Secrets that are blacked out before anything is kept, shown or sent, besides the many that are known."),
    row(KeyId::RedactionForms, "redaction.forms", (KeyKind::SecretForms, KeyScope::UserOrManaged, KeyMerge::Joined), "[]",
        "What further secrets look like: text with classes of bytes in brackets, such as `acme_[key 20+]` or `AC[hex 32]`. Classes are `plain`, `key`, `dotted`, `capitals`, `digits`, `hex`, `base64` and `path`; a number is exact, one with `+` is the least."),
    row(KeyId::Store, "store", (KeyKind::Object, KeyScope::UserOrManaged, KeyMerge::None), "{}",
        "Where sessions, grants, approvals and the audit trail are kept, and whose policies are taken from there."),
    row(KeyId::StoreUrl, "store.url", (KeyKind::StoreAddress, KeyScope::UserOrManaged, KeyMerge::Strongest), "null",
        "The PostgreSQL database that many daemons share. Files of this machine when not set. A password in it is never shown; the variable `PGPASSWORD` can hold it instead."),
    row(KeyId::StorePolicyKeys, "store.policyKeys", (KeyKind::PublicKeys, KeyScope::UserOrManaged, KeyMerge::Strongest), "[]",
        "The keys whose policies are taken from the store as managed settings, each written as its name, a colon and the public key. Where there are managed settings files, only theirs count. While it is set and no policy is in force, nothing outside managed settings allows."),
    row(KeyId::Memory, "memory", (KeyKind::Object, KeyScope::UserOrManaged, KeyMerge::None), "{}",
        "What people allowed in a repository, by the shape of the command. `portcullis memory` lists it."),
    row(KeyId::MemoryEnabled, "memory.enabled", (KeyKind::Boolean, KeyScope::UserOrManaged, KeyMerge::Strongest), "true",
        "Whether a command runs without a question after a person allowed one of the same shape in the repository. While it is off, nothing is remembered and nothing that was remembered counts."),
    row(KeyId::MemoryExpire, "memory.expireDays",
        (KeyKind::Number { least: 1, most: 3_650 }, KeyScope::UserOrManaged, KeyMerge::Strongest), "90",
        "After how many days without a use it is forgotten."),
    row(KeyId::Daemon, "daemon", (KeyKind::Object, KeyScope::UserOrManaged, KeyMerge::None), "{}",
        "The daemon that `portcullis serve` starts."),
    row(KeyId::DaemonPort, "daemon.port",
        (KeyKind::Number { least: 0, most: 65_535 }, KeyScope::UserOrManaged, KeyMerge::Strongest), "7317",
        "The port of this machine that it listens at, unless `--listen` names another; 0 takes a free one. When not set, it is the first one up to 7326 that is free."),
    row(KeyId::Approvals, "approvals", (KeyKind::Object, KeyScope::UserOrManaged, KeyMerge::None), "{}",
        "Questions that wait for a person while a daemon runs."),
    row(KeyId::ApprovalsEnabled, "approvals.enabled", (KeyKind::Boolean, KeyScope::UserOrManaged, KeyMerge::Strongest), "true",
        "Whether a call that only a person can allow waits for one when nobody is there. Otherwise it is denied at once."),
    row(KeyId::ApprovalsWait, "approvals.waitSeconds",
        (KeyKind::Number { least: 0, most: 75 }, KeyScope::UserOrManaged, KeyMerge::Strongest), "60",
        "How long a call waits for an answer. Afterwards it is denied, and the question stays open for its next try."),
    row(KeyId::ApprovalsExpire, "approvals.expireMinutes",
        (KeyKind::Number { least: 1, most: 10_080 }, KeyScope::UserOrManaged, KeyMerge::Strongest), "60",
        "How long a question can be answered. Afterwards it counts as denied."),
    row(KeyId::ApprovalsWebhook, "approvals.webhook",
        (KeyKind::Webhook, KeyScope::UserOrManaged, KeyMerge::Strongest), "null",
        "Where questions are posted to: `url`, `headers`, and in `allowedEnvVars` the variables that headers may name as `$NAME`. Without TLS only an address of this machine is taken."),
    row(KeyId::ApprovalsDesktop, "approvals.desktop",
        (KeyKind::Boolean, KeyScope::UserOrManaged, KeyMerge::Strongest), "false",
        "Whether questions are shown as notifications of the desktop."),
];

impl SettingsKey {
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
            || matches!(self.merge, KeyMerge::Strictest)
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
                | KeyId::MemoryEnabled
                | KeyId::ContainmentEnabled
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
            KeyId::ContainmentProjectCode => Some("contain"),
            _ => None,
        }
    }

    /// Returns the number that stands for a wrong one without widening.
    pub(crate) fn strict_number(&self) -> Option<u32> {
        match self.kind {
            // The lower, the more is blocked.
            KeyKind::Number { least, .. } if self.id == KeyId::ClassifierSeverityThreshold => Some(least),
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
            assert_eq!(SettingsKey::find(key.path), Some(key));
            assert_eq!(SettingsKey::of(key.id), Some(key), "{} repeats an id", key.path);
            assert!(key.description.ends_with('.'), "{}", key.path);
            serde_json::from_str::<serde_json::Value>(key.default).expect(key.path);
            if let Some(parent) = key.parent() {
                let place = KEYS.iter().position(|other| other.path == parent).expect(key.path);
                assert!(place < index, "{} stands before its object", key.path);
                assert!(matches!(KEYS[place].kind, KeyKind::Object | KeyKind::FreeObject), "{parent}");
            }
        }
    }
    #[test]
    fn defaults_and_strict_values_are_values_the_key_takes() {
        for key in KEYS {
            match key.kind {
                KeyKind::Choice(words) => {
                    let default: String = serde_json::from_str(key.default).expect(key.path);
                    assert!(words.contains(&default.as_str()), "{}", key.path);
                    assert!(key.strict_choice().is_none_or(|word| words.contains(&word)), "{}", key.path);
                }
                KeyKind::Number { least, most } => {
                    let default: u32 = key.default.parse().expect(key.path);
                    let strict = key.strict_number().expect(key.path);
                    assert!(
                        (least..=most).contains(&default) && (least..=most).contains(&strict),
                        "{}",
                        key.path
                    );
                }
                KeyKind::Words | KeyKind::PublicKeys | KeyKind::SecretForms => {
                    assert_eq!(key.default, "[]", "{}", key.path);
                }
                KeyKind::Variable
                | KeyKind::Address
                | KeyKind::Path
                | KeyKind::Text
                | KeyKind::StoreAddress
                | KeyKind::Webhook => {
                    assert_eq!(key.default, "null", "{}", key.path);
                }
                _ => assert_eq!((key.strict_choice(), key.strict_number()), (None, None), "{}", key.path),
            }
        }
    }
}
