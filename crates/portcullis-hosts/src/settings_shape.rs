//! Which settings files an agent takes: it passes over a whole file, and every hook in it, for one value of a wrong type.
//!
//! The tables are the agents' own: Claude Code 2.1.325 and Droid 0.215.0 check their files by such a list, of which only what
//! makes them drop the file stands here, and Codex 0.166.0 was asked what it makes of each.

use serde_json::Value;

/// Values that must be of one kind, by the names that lead to them, with blanks between; `*` stands for every element of a list or an object.
type SettingRows = &'static [(SettingKind, &'static str)];

/// What a value of a settings file must be.
#[derive(Debug, Clone, Copy)]
enum SettingKind {
    Text,
    Switch,
    /// A number of at least this.
    Number(f64),
    /// A whole number of at least this.
    Whole(u64),
    /// A number from the first to the second.
    Share(f64, f64),
    /// A number above zero.
    Positive,
    /// One of these words.
    Word(&'static [&'static str]),
    Texts,
    TextOrTexts,
    /// A plugin's versions, or whether it is on.
    TextsOrSwitch,
    SwitchOrObject,
    Object,
    List,
    /// An object with these fields.
    With(&'static [&'static str]),
    /// An object whose `type` is one of these, with the fields that each needs.
    Typed(&'static [(&'static str, &'static [&'static str])]),
}

/// Settings of Claude Code.
const CLAUDE: SettingRows = &[
    (
        SettingKind::Switch,
        "agentPushNotifEnabled allowAllClaudeAiMcps allowClaudeInChromeWithManagedMcp allowManagedHooksOnly \
         allowManagedMcpServersOnly allowManagedPermissionRulesOnly alwaysThinkingEnabled \
         attribution.sessionUrl autoCompactEnabled autoContinueAtUsageLimit autoDreamEnabled \
         autoMemoryEnabled autoMode.classifyAllShell autoScrollEnabled autoUploadSessions awaySummaryEnabled \
         axScreenReader bashEditDiffEnabled breakReminder.enabled channelsEnabled clawdFileProgressEnabled \
         disableAgentView disableAllHooks disableArtifact disableBundledSkills disableClaudeAiConnectors \
         disableCommandPluginSources disableRemoteControl disableReplyCheck disableSideloadFlags \
         disableSkillShellExecution disableWindowsBashCommandSplit disableWorkflows doneMeansMerged \
         emojiCompletionEnabled enableAllProjectMcpServers enableArtifact enableWorkflows \
         enforceAvailableModels fastMode fastModePerSessionOptIn fileCheckpointingEnabled \
         forceRemoteSettingsRefresh idleCompaction includeCoAuthoredBy includeGitInstructions \
         inputNeededNotifEnabled isolatePeerMachines permissions.blockReadsOutsideWorkingDirectories \
         permissions.blockWritesOutsideWorkingDirectories permissions.denyInsteadOfPrompting \
         precomputeCompactionEnabled prefersReducedMotion promptSuggestionEnabled quietHours.enabled \
         remoteControlAtStartup remoteTools.allowUnattendedServing respectGitignore respondToBashCommands \
         responseComparisonEnabled sandbox.allowUnsandboxedCommands sandbox.autoAllowBashIfSandboxed \
         sandbox.enableWeakerNestedSandbox sandbox.enabled sandbox.failIfUnavailable \
         sandbox.network.allowLocalBinding showClearContextOnPlanAccept showMessageTimestamps \
         showThinkingSummaries showTurnDuration skipAutoPermissionPrompt skipDangerousModePermissionPrompt \
         skipWebFetchPreflight skipWorkflowUsageWarning spinnerTipsEnabled statusLine.hideVimModeIndicator \
         switchModelsOnFlag syncClaudeAiPlugins syncClaudeAiSkills syntaxHighlightingDisabled \
         terminalProgressBarEnabled terminalTitleFromRename todoFeatureEnabled \
         totalTokensReminderAfterUserTurn useAutoModeDuringPlan verbose voice.autoSubmit voice.enabled \
         voiceEnabled wheelScrollAccelerationEnabled workflowKeywordTriggerEnabled wslInheritsWindowsSettings",
    ),
    (
        SettingKind::Text,
        "$schema advisorModel agent apiKeyHelper attribution.commit attribution.pr attributionProject \
         autoMemoryDirectory awsAuthRefresh awsCredentialExport breakReminder.message claudeMd \
         fileSuggestion.command gcpAuthRefresh language minimumVersion model modelOverrides.* \
         otelHeadersHelper outputStyle plansDirectory pluginTrustMessage prUrlTemplate processWrapper \
         proxyAuthHelper remote.defaultEnvironmentId requiredMaximumVersion requiredMinimumVersion \
         statusLine.command timeFormat timeZone",
    ),
    (
        SettingKind::Texts,
        "allowedHttpHookUrls autoMode.allow autoMode.environment autoMode.hard_deny autoMode.soft_deny \
         availableModels claudeMdExcludes companyAnnouncements disabledMcpjsonServers enabledMcpjsonServers \
         fallbackModel httpHookAllowedEnvVars permissions.additionalDirectories permissions.allow \
         permissions.ask permissions.deny pluginSuggestionMarketplaces sandbox.excludedCommands \
         sandbox.filesystem.allowWrite sandbox.filesystem.denyRead sandbox.filesystem.denyWrite \
         sandbox.network.allowedDomains spinnerVerbs.verbs worktree.sparsePaths worktree.symlinkDirectories",
    ),
    (
        SettingKind::Object,
        "autoMode breakReminder env hooks modelOverrides permissions pluginConfigs pluginConfigs.* quietHours \
         remote remoteControl remoteTools sandbox sandbox.filesystem sandbox.network skillOverrides \
         enabledPlugins voice worktree",
    ),
    (
        SettingKind::List,
        "allowedChannelPlugins allowedMarketplaces blockedMarketplaces sshConfigs strictKnownMarketplaces",
    ),
    (SettingKind::With(&["marketplace", "plugin"]), "allowedChannelPlugins.*"),
    (SettingKind::With(&["id", "name", "sshHost"]), "sshConfigs.*"),
    (SettingKind::With(&["source"]), "allowedMarketplaces.* blockedMarketplaces.* strictKnownMarketplaces.*"),
    (SettingKind::With(&["mode", "verbs"]), "spinnerVerbs"),
    (SettingKind::Typed(&[("command", &["command"])]), "fileSuggestion statusLine"),
    (SettingKind::SwitchOrObject, "attribution"),
    (SettingKind::TextsOrSwitch, "enabledPlugins.*"),
    (SettingKind::TextOrTexts, "forceLoginOrgUUID"),
    (
        SettingKind::Whole(1),
        "breakReminder.breakThresholdMinutes breakReminder.intervalMinutes cleanupPeriodDays \
         skillListingMaxDescChars totalTokensReminderBudget",
    ),
    (SettingKind::Whole(0), "desktopSessionCleanupPeriodDays"),
    (SettingKind::Number(f64::MIN), "statusLine.padding"),
    (SettingKind::Share(0.0, 1.0), "feedbackSurveyRate skillListingBudgetFraction"),
    (
        SettingKind::Word(&["disable"]),
        "disableAutoMode disableDeepLinkRegistration permissions.disableAutoMode \
         permissions.disableBypassPermissionsMode",
    ),
    (
        SettingKind::Word(&[
            "acceptEdits",
            "auto",
            "bypassPermissions",
            "default",
            "dontAsk",
            "manual",
            "plan",
        ]),
        "permissions.defaultMode",
    ),
    (SettingKind::Word(&["bash", "powershell"]), "defaultShell"),
    (SettingKind::Word(&["latest", "stable", "rc"]), "autoUpdatesChannel"),
    (SettingKind::Word(&["chat", "transcript"]), "defaultView"),
    (SettingKind::Word(&["default", "fullscreen"]), "tui"),
    (SettingKind::Word(&["first-wins", "merge"]), "managedSourcesBehavior parentSettingsBehavior"),
    (SettingKind::Word(&["fresh", "head"]), "worktree.baseRef"),
    (SettingKind::Word(&["hold", "tap"]), "voice.mode"),
    (SettingKind::Word(&["append", "replace"]), "spinnerVerbs.mode"),
    (SettingKind::Word(&["notify", "quiet", "off"]), "feedbackDrafts"),
    (SettingKind::Word(&["name-only", "off", "on", "user-invocable-only"]), "skillOverrides.*"),
    (SettingKind::Word(&["ask", "transient"]), "daemonColdStart"),
    (SettingKind::Word(&["large", "medium", "small", "unrestricted"]), "workflowSizeGuideline"),
    (
        SettingKind::Word(&["countdown", "fixed", "infinite", "off", "padded-countdown"]),
        "totalTokensReminder",
    ),
];

/// Hooks of Claude Code. Of most events a newer one passes over the hook alone, an older one over the file.
const CLAUDE_HOOKS: SettingRows = &[
    (SettingKind::List, "hooks.* hooks.*.*.hooks"),
    (SettingKind::With(&["hooks"]), "hooks.*.*"),
    (
        SettingKind::Typed(&[
            ("agent", &["prompt"]),
            ("command", &["command"]),
            ("http", &["url"]),
            ("mcp_tool", &["server", "tool"]),
            ("prompt", &["prompt"]),
        ]),
        "hooks.*.*.hooks.*",
    ),
    (
        SettingKind::Text,
        "hooks.*.*.hooks.*.command hooks.*.*.hooks.*.if hooks.*.*.hooks.*.model hooks.*.*.hooks.*.prompt \
         hooks.*.*.hooks.*.server hooks.*.*.hooks.*.statusMessage hooks.*.*.hooks.*.tool \
         hooks.*.*.hooks.*.url hooks.*.*.hooks.*.headers.* hooks.*.*.matcher",
    ),
    (SettingKind::Texts, "hooks.*.*.hooks.*.allowedEnvVars hooks.*.*.hooks.*.args"),
    (SettingKind::Switch, "hooks.*.*.hooks.*.async hooks.*.*.hooks.*.asyncRewake hooks.*.*.hooks.*.once"),
    (SettingKind::Positive, "hooks.*.*.hooks.*.timeout"),
    (SettingKind::Word(&["bash", "powershell"]), "hooks.*.*.hooks.*.shell"),
    (SettingKind::Word(&["block", "continue"]), "hooks.*.*.hooks.*.onFailure"),
];

/// Hooks of Codex. What stands under an event that it does not have it does not look at.
const CODEX: SettingRows = &[
    (SettingKind::Object, "hooks"),
    (
        SettingKind::Text,
        "description hooks.*.*.hooks.*.command hooks.*.*.hooks.*.statusMessage hooks.*.*.matcher",
    ),
    (SettingKind::List, "hooks.* hooks.*.*.hooks"),
    (SettingKind::Object, "hooks.*.*"),
    (
        SettingKind::Typed(&[("agent", &[]), ("command", &["command"]), ("mcp_tool", &[]), ("prompt", &[])]),
        "hooks.*.*.hooks.*",
    ),
    (SettingKind::Switch, "hooks.*.*.hooks.*.async"),
    (SettingKind::Whole(0), "hooks.*.*.hooks.*.timeout"),
];

/// Hooks of Droid, whose events stand at the top.
const DROID: SettingRows =
    &[(SettingKind::Switch, "hooksDisabled showHookOutput"), (SettingKind::List, DROID_EVENTS)];

const DROID_EVENTS: &str = "Notification PostToolUse PreCompact PreToolUse SessionEnd SessionStart Stop SubagentStop \
     UserPromptSubmit";

/// What stands below each of its events.
const DROID_HOOKS: SettingRows = &[
    (SettingKind::With(&["hooks"]), "*"),
    (SettingKind::Text, "*.commandRegex *.hooks.*.command *.matcher"),
    (SettingKind::List, "*.hooks"),
    (SettingKind::Typed(&[("command", &["command"])]), "*.hooks.*"),
    (SettingKind::Number(f64::MIN), "*.hooks.*.timeout"),
];

/// The events of Codex.
const CODEX_EVENTS: &str = "PermissionRequest PostToolUse PreCompact PostCompact PreToolUse SessionEnd SessionStart Stop \
     SubagentStart SubagentStop UserPromptSubmit";

/// Says why Claude Code would pass over a settings file: it reads strict JSON, and one value of a wrong type makes it pass
/// over all of them, without a word.
pub(crate) fn claude_refusal(text: &str) -> Option<String> {
    let settings = match strict(text) {
        Ok(settings) => settings?,
        Err(why) => return Some(why),
    };
    wrong_value(&settings, "", CLAUDE).or_else(|| wrong_value(&settings, "", CLAUDE_HOOKS))
}

/// Says why Codex would pass over its file of hooks: strict JSON with nothing else in it.
pub(crate) fn codex_refusal(text: &str) -> Option<String> {
    let mut file = match strict(text) {
        Ok(file) => file?,
        Err(why) => return Some(why),
    };
    let object = file.as_object_mut()?;
    if let Some(foreign) = object.keys().find(|key| !matches!(key.as_str(), "description" | "hooks")) {
        return Some(format!("`{foreign}` is no key of this file, which has `hooks` alone; take it out"));
    }
    if let Some(hooks) = object.get_mut("hooks").and_then(Value::as_object_mut) {
        hooks.retain(|event, _| CODEX_EVENTS.split(' ').any(|known| known == event));
    }
    wrong_value(&file, "", CODEX)
}

/// Says why Droid would pass over its file of hooks: it takes comments, but no mark at the start and no comma too many.
pub(crate) fn droid_refusal(text: &str) -> Option<String> {
    let file = match commented(text) {
        Ok(file) => file?,
        Err(why) => return Some(why),
    };
    let below = |event: &str| wrong_value(file.get(event)?, event, DROID_HOOKS);
    wrong_value(&file, "", DROID).or_else(|| DROID_EVENTS.split(' ').find_map(below))
}

/// Says why Gemini CLI or Qwen Code would not start with a settings file: they take comments, but no mark at the start and
/// no comma too many.
pub(crate) fn gemini_refusal(text: &str) -> Option<String> {
    commented(text).err()
}

/// Reads an object of strict JSON; none from a file that is empty.
fn strict(text: &str) -> Result<Option<Value>, String> {
    if text.trim().is_empty() {
        return Ok(None);
    }
    if text.starts_with('\u{feff}') {
        return Err(
            "it begins with a byte order mark; take it off, since only strict JSON is read".to_owned()
        );
    }
    object(text).map_err(|error| format!("it takes strict JSON only, without comments: {error}"))
}

/// Reads an object of JSON with comments; none from a file that is empty.
fn commented(text: &str) -> Result<Option<Value>, String> {
    if text.starts_with('\u{feff}') {
        return Err("it begins with a byte order mark; take it off".to_owned());
    }
    let plain = without_comments(text);
    if plain.trim().is_empty() {
        return Ok(None);
    }
    object(&plain)
}

fn object(text: &str) -> Result<Option<Value>, String> {
    match serde_json::from_str::<Value>(text) {
        Ok(value) if value.is_object() => Ok(Some(value)),
        Ok(_) => Err("it is not an object".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

/// Puts blanks in the place of comments, so that lines and columns stay what they are.
fn without_comments(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(letter) = rest.next() {
        match letter {
            '"' => {
                plain.push(letter);
                while let Some(inner) = rest.next() {
                    plain.push(inner);
                    match inner {
                        '"' => break,
                        '\\' => plain.extend(rest.next()),
                        _ => {}
                    }
                }
            }
            '/' if rest.peek() == Some(&'/') => while rest.next_if(|inner| *inner != '\n').is_some() {},
            '/' if rest.peek() == Some(&'*') => {
                let mut before = ' ';
                for inner in rest.by_ref().skip(1) {
                    if inner == '\n' {
                        plain.push(inner);
                    }
                    if before == '*' && inner == '/' {
                        break;
                    }
                    before = inner;
                }
            }
            letter => plain.push(letter),
        }
    }
    plain
}

/// Finds the first value that is not what a table says, and says what it must be.
fn wrong_value(document: &Value, place: &str, rows: SettingRows) -> Option<String> {
    let one = |kind: SettingKind, path: &str| {
        let path: Vec<&str> = path.split('.').collect();
        wrong_below(document, place, &path, kind)
    };
    rows.iter().find_map(|(kind, paths)| paths.split(' ').find_map(|path| one(*kind, path)))
}

fn wrong_below(value: &Value, place: &str, path: &[&str], kind: SettingKind) -> Option<String> {
    let Some((name, rest)) = path.split_first() else {
        return (!kind.takes(value)).then(|| format!("`{place}` must be {}", kind.words()));
    };
    let within = |name: &str| if place.is_empty() { name.to_owned() } else { format!("{place}.{name}") };
    match (value, *name) {
        (Value::Object(fields), "*") => {
            fields.iter().find_map(|(name, value)| wrong_below(value, &within(name), rest, kind))
        }
        (Value::Array(elements), "*") => elements
            .iter()
            .enumerate()
            .find_map(|(at, value)| wrong_below(value, &format!("{place}[{at}]"), rest, kind)),
        (Value::Object(fields), name) => wrong_below(fields.get(name)?, &within(name), rest, kind),
        _ => None,
    }
}

impl SettingKind {
    /// Says what such a value is.
    fn words(self) -> String {
        let plain = match self {
            Self::Text => "a text",
            Self::Switch => "`true` or `false`",
            Self::Texts => "a list of texts",
            Self::TextOrTexts => "a text or a list of texts",
            Self::TextsOrSwitch => "a list of texts, `true` or `false`",
            Self::SwitchOrObject => "`true`, `false` or an object",
            Self::Object => "an object",
            Self::List => "a list",
            Self::Positive => "a number above 0",
            Self::Number(_) => "a number",
            Self::Whole(least) => return format!("a whole number of at least {least}"),
            Self::Share(from, to) => return format!("a number from {from} to {to}"),
            Self::Word(words) => return format!("one of {}", quoted(words.iter())),
            Self::With(fields) => return format!("an object with {}", quoted(fields.iter())),
            Self::Typed([(name, fields)]) => {
                return format!("an object with `\"type\": \"{name}\"` and {}", quoted(fields.iter()));
            }
            Self::Typed(kinds) => {
                let kinds = quoted(kinds.iter().map(|(name, _)| name));
                return format!("an object whose `type` is one of {kinds}, with what that needs");
            }
        };
        plain.to_owned()
    }

    fn takes(self, value: &Value) -> bool {
        let has = |fields: &[&str]| fields.iter().all(|field| value.get(*field).is_some());
        let number = value.as_f64();
        match self {
            Self::Text => value.is_string(),
            Self::Switch => value.is_boolean(),
            Self::Number(least) => number.is_some_and(|number| number >= least),
            Self::Whole(least) => value.as_u64().is_some_and(|number| number >= least),
            Self::Share(from, to) => number.is_some_and(|number| (from..=to).contains(&number)),
            Self::Positive => number.is_some_and(|number| number > 0.0),
            Self::Word(words) => value.as_str().is_some_and(|word| words.contains(&word)),
            Self::Texts => value.as_array().is_some_and(|list| list.iter().all(Value::is_string)),
            Self::TextOrTexts => Self::Text.takes(value) || Self::Texts.takes(value),
            Self::TextsOrSwitch => value.is_boolean() || Self::Texts.takes(value),
            Self::SwitchOrObject => value.is_boolean() || value.is_object(),
            Self::Object => value.is_object(),
            Self::List => value.is_array(),
            Self::With(fields) => value.is_object() && has(fields),
            Self::Typed(kinds) => {
                let known = value.get("type").and_then(Value::as_str);
                kinds.iter().any(|(name, fields)| known == Some(name) && has(fields))
            }
        }
    }
}

fn quoted<'a>(words: impl Iterator<Item = &'a &'static str>) -> String {
    let words: Vec<String> = words.map(|word| format!("`{word}`")).collect();
    words.join(", ")
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn assert_refused(refusal: fn(&str) -> Option<String>, text: &str, part: &str) {
        let why = refusal(text).unwrap_or_default();
        assert!(why.contains(part), "{text}: {why}");
    }

    #[test]
    fn a_file_that_claude_code_passes_over_is_known() {
        for (text, part) in [
            (
                "{\n  // why\n  \"model\": \"x\"\n}",
                "strict JSON only, without comments: key must be a string at line 2",
            ),
            ("{\"model\": \"x\",}", "trailing comma at line 1"),
            ("\u{feff}{}", "byte order mark"),
            ("[]", "not an object"),
        ] {
            assert_refused(claude_refusal, text, part);
        }
        for text in ["", "{}", "{\"hooks\": {\"NoSuchEvent\": [{\"hooks\": []}]}}"] {
            assert_eq!(claude_refusal(text), None, "{text}");
        }
    }

    /// Each was written into the settings of the real Claude Code 2.1.325, which then called no hook of the file.
    #[test]
    fn a_value_that_claude_code_does_not_take_is_named() {
        for (text, part) in [
            (r#"{"permissions":{"allow":"Bash"}}"#, "`permissions.allow` must be a list of texts"),
            (
                r#"{"permissions":{"defaultMode":"bogus"}}"#,
                "`permissions.defaultMode` must be one of `acceptEdits`",
            ),
            (r#"{"permissions":{"disableBypassPermissionsMode":"x"}}"#, "must be one of `disable`"),
            (
                r#"{"statusLine":"x"}"#,
                "`statusLine` must be an object with `\"type\": \"command\"` and `command`",
            ),
            (r#"{"statusLine":{"type":"x"}}"#, "`statusLine`"),
            (r#"{"fileSuggestion":5}"#, "`fileSuggestion`"),
            (r#"{"enabledPlugins":{"a@b":5}}"#, "`enabledPlugins.a@b`"),
            (r#"{"pluginConfigs":{"a":5}}"#, "`pluginConfigs.a`"),
            (r#"{"strictKnownMarketplaces":5}"#, "`strictKnownMarketplaces`"),
            (r#"{"modelOverrides":{"a":5}}"#, "`modelOverrides.a` must be a text"),
            (r#"{"availableModels":"x"}"#, "`availableModels`"),
            (r#"{"sandbox":"x"}"#, "`sandbox` must be an object"),
            (r#"{"sandbox":{"enabled":"x"}}"#, "`sandbox.enabled` must be `true` or `false`"),
            (r#"{"worktree":{"baseRef":"x"}}"#, "`worktree.baseRef`"),
            (r#"{"autoMode":"x"}"#, "`autoMode`"),
            (r#"{"agent":5}"#, "`agent`"),
            (r#"{"attribution":"x"}"#, "`attribution`"),
            (r#"{"alwaysThinkingEnabled":"true"}"#, "`alwaysThinkingEnabled`"),
            (r#"{"language":5}"#, "`language`"),
            (r#"{"spinnerVerbs":{"mode":"append"}}"#, "`spinnerVerbs`"),
            (r#"{"prefersReducedMotion":"x"}"#, "`prefersReducedMotion`"),
            (r#"{"companyAnnouncements":"x"}"#, "`companyAnnouncements`"),
            (r#"{"cleanupPeriodDays":-1}"#, "`cleanupPeriodDays` must be a whole number of at least 1"),
            (r#"{"cleanupPeriodDays":1.5}"#, "`cleanupPeriodDays`"),
            (r#"{"$schema":5}"#, "`$schema`"),
            (r#"{"awsAuthRefresh":5}"#, "`awsAuthRefresh`"),
            (r#"{"otelHeadersHelper":5}"#, "`otelHeadersHelper`"),
            (r#"{"allowedHttpHookUrls":"x"}"#, "`allowedHttpHookUrls`"),
            (r#"{"autoUpdatesChannel":"x"}"#, "`autoUpdatesChannel`"),
            (r#"{"plansDirectory":5}"#, "`plansDirectory`"),
            (r#"{"model":null}"#, "`model` must be a text"),
            (r#"{"env":[]}"#, "`env` must be an object"),
        ] {
            assert_refused(claude_refusal, text, part);
        }
        let taken = json!({
            "permissions": {"allow": ["Bash"], "defaultMode": "manual", "other": 7}, "mine": {"x": 1}, "theme": 5,
            "env": {"A": 5}, "attribution": true, "enabledPlugins": {"a@b": true}, "effortLevel": "x",
            "statusLine": {"type": "command", "command": "date", "padding": 0}, "cleanupPeriodDays": 30,
            "extraKnownMarketplaces": "x", "viewMode": "x",
        });
        assert_eq!(claude_refusal(&taken.to_string()), None);
    }

    #[test]
    fn a_hook_that_claude_code_does_not_take_is_named() {
        let with =
            |hook: Value| json!({"hooks": {"PreToolUse": [{"matcher": "*", "hooks": [hook]}]}}).to_string();
        let place = "`hooks.PreToolUse[0].hooks[0]";
        for (hook, rest) in [
            (json!({"type": "bogus"}), "` must be an object whose `type` is one of `agent`, `command`"),
            (json!({"command": "x"}), "`"),
            (json!({"type": "command"}), "`"),
            (json!({"type": "command", "command": 5}), ".command`"),
            (
                json!({"type": "command", "command": "x", "timeout": "x"}),
                ".timeout` must be a number above 0",
            ),
            (json!({"type": "command", "command": "x", "timeout": 0}), ".timeout`"),
            (json!({"type": "command", "command": "x", "args": [5]}), ".args`"),
            (json!({"type": "command", "command": "x", "shell": "fish"}), ".shell`"),
        ] {
            assert_refused(claude_refusal, &with(hook), &format!("{place}{rest}"));
        }
        assert_eq!(claude_refusal(&with(json!({"type": "command", "command": "x", "mine": 5}))), None);
        assert_refused(claude_refusal, r#"{"hooks":{"Stop":{}}}"#, "`hooks.Stop` must be a list");
        assert_refused(
            claude_refusal,
            r#"{"hooks":{"PreToolUse":[{"matcher":5,"hooks":[]}]}}"#,
            "`hooks.PreToolUse[0].matcher` must be a text",
        );
    }

    /// Each was put before the real Codex 0.166.0, which listed no hook of the file, or did.
    #[test]
    fn a_file_of_hooks_that_codex_passes_over_is_known() {
        let with = |hook: Value| json!({"hooks": {"PreToolUse": [{"hooks": [hook]}]}}).to_string();
        for (text, part) in [
            ("// x\n{}".to_owned(), "line 1"),
            ("{\"hooks\": {},\n}".to_owned(), "trailing comma at line 2"),
            ("\u{feff}{}".to_owned(), "byte order mark"),
            (json!({"hooks": {}, "mine": 1}).to_string(), "`mine` is no key of this file"),
            (json!({"hooks": {"Stop": {}}}).to_string(), "`hooks.Stop` must be a list"),
            (json!({"hooks": {"Stop": [{"matcher": 5}]}}).to_string(), "`hooks.Stop[0].matcher`"),
            (with(json!({"type": "http", "url": "x"})), "`hooks.PreToolUse[0].hooks[0]`"),
            (with(json!({"command": "x"})), "`hooks.PreToolUse[0].hooks[0]`"),
            (with(json!({"type": "command", "command": "x", "timeout": 1.5})), ".timeout`"),
            (with(json!({"type": "command", "command": "x", "timeout": -1})), ".timeout`"),
            (with(json!({"type": "command", "command": "x", "async": "x"})), ".async`"),
        ] {
            assert_refused(codex_refusal, &text, part);
        }
        for text in [
            String::new(),
            "{}".to_owned(),
            json!({"hooks": {"Nope": {}}, "description": "mine"}).to_string(),
            json!({"hooks": {"Stop": [{"matcher": "x", "mine": 1}]}}).to_string(),
            with(json!({"type": "prompt"})),
            with(json!({"type": "command", "command": "x", "timeout": 0, "mine": 1})),
        ] {
            assert_eq!(codex_refusal(&text), None, "{text}");
        }
    }

    #[test]
    fn a_file_of_hooks_that_droid_passes_over_is_known() {
        for (text, part) in [
            ("\u{feff}{}", "byte order mark"),
            ("{\"Stop\": [],\n}", "trailing comma at line 2"),
            (
                r#"{"Stop":[{"hooks":[{"type":"prompt","command":"x"}]}]}"#,
                "`Stop[0].hooks[0]` must be an object",
            ),
            (
                r#"{"Stop":[{"hooks":[{"type":"command","command":"x","timeout":"5"}]}]}"#,
                "`Stop[0].hooks[0].timeout`",
            ),
            (r#"{"Stop":{}}"#, "`Stop` must be a list"),
            (r#"{"hooksDisabled":"x"}"#, "`hooksDisabled`"),
        ] {
            assert_refused(droid_refusal, text, part);
        }
        for text in ["", "// mine\n{\"Stop\": [/* none */], \"Nope\": 5}"] {
            assert_eq!(droid_refusal(text), None, "{text}");
        }
    }

    #[test]
    fn comments_are_taken_by_gemini_and_qwen_and_a_comma_too_many_is_not() {
        for (text, part) in [
            ("\u{feff}{}", "byte order mark"),
            ("{\"a\": 1,\n // b\n}", "trailing comma at line 3"),
            ("{\"a\": [1, /* b */ ]}", "trailing comma at line 1"),
        ] {
            assert_refused(gemini_refusal, text, part);
        }
        for text in ["", "// a\n", "{ // a,\n \"b\": \"/* ,} */\" /* , */ }", r#"{"a": "\",}"}"#] {
            assert_eq!(gemini_refusal(text), None, "{text}");
        }
    }
}
