//! `PermissionRequest` hooks: one that cannot work is reported and not asked, which never allows.

use super::{ExtractScope, LayerExtractor};
use crate::hooks::{HookHandler, PermissionHook, ToolMatcher, WebhookSettings};
use crate::json::{JsonMember, JsonNode, JsonValue, TextPosition};
use crate::keys::SettingsKey;
use crate::layer::SettingValue;
use crate::location::SettingsOwner;
use crate::problem::ProblemSeverity;

/// How long a hook may take if it does not say so itself, in seconds.
const USUAL_TIMEOUT: u32 = 60;
const LONGEST_TIMEOUT: u32 = 600;

impl LayerExtractor<'_> {
    /// Takes the hooks of our own files; other events and other programs' files are not our business.
    pub(super) fn hooks(
        &mut self,
        key: &'static SettingsKey,
        members: &[JsonMember<'_>],
        taking: ExtractScope,
    ) {
        if taking != ExtractScope::Everything || self.input.owner != SettingsOwner::Portcullis {
            return;
        }
        for member in members.iter().filter(|member| member.name == "PermissionRequest") {
            let JsonValue::Array(groups) = &member.node.value else {
                self.unusable("must be a list", member.node.position);
                continue;
            };
            for group in groups {
                self.hook_group(key, group);
            }
        }
    }

    fn hook_group(&mut self, key: &'static SettingsKey, group: &JsonNode<'_>) {
        let JsonValue::Object(members) = &group.value else {
            return self.unusable("must be an object", group.position);
        };
        let matcher = find(members, "matcher").map_or(Some(""), text);
        let Some(tools) = matcher.and_then(ToolMatcher::parse) else {
            let what = "has a matcher that is no list of tool names, write `Bash|Write` or `mcp__server__*`";
            return self.unusable(what, group.position);
        };
        let Some(JsonValue::Array(handlers)) = find(members, "hooks").map(|node| &node.value) else {
            return self.unusable("names no `hooks`", group.position);
        };
        for node in handlers {
            match handler(node) {
                Ok((handler, timeout_seconds)) => {
                    let origin = self.origin(node.position);
                    let hook = PermissionHook { tools: tools.clone(), handler, timeout_seconds, origin };
                    self.set(key, SettingValue::Hook(Box::new(hook)), node.position);
                }
                Err(what) => self.unusable(what, node.position),
            }
        }
    }

    /// The line is not shown: it may hold a token.
    fn unusable(&mut self, what: &str, position: TextPosition) {
        let message = format!("a `PermissionRequest` hook {what}; it is not asked");
        self.problem_without_excerpt(ProblemSeverity::Warning, message, position, None);
    }
}

fn handler(node: &JsonNode<'_>) -> Result<(HookHandler, u32), &'static str> {
    let JsonValue::Object(members) = &node.value else { return Err("must be an object") };
    let timeout = match find(members, "timeout").map(|node| &node.value) {
        None => USUAL_TIMEOUT,
        Some(JsonValue::Number(seconds)) if (1.0..=f64::from(LONGEST_TIMEOUT)).contains(seconds) => {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "between 1 and 600; a fraction of a second is dropped"
            )]
            let whole = *seconds as u32;
            whole
        }
        Some(_) => return Err("has a timeout that is no number of seconds from 1 to 600"),
    };
    let handler = match find(members, "type").and_then(text) {
        Some("command") => command(members)?,
        Some("http") => http(members)?,
        Some(_) | None => return Err("has a type other than `command` and `http`"),
    };
    Ok((handler, timeout))
}

fn command(members: &[JsonMember<'_>]) -> Result<HookHandler, &'static str> {
    let program = find(members, "command").and_then(text).filter(|program| !program.trim().is_empty());
    let program = program.ok_or("names no `command`")?;
    match find(members, "args") {
        None => Ok(HookHandler::ShellCommand { line: program.to_owned() }),
        Some(arguments) => {
            let arguments = texts(arguments).ok_or("has `args` that are no list of texts")?;
            Ok(HookHandler::Command { words: std::iter::once(program.to_owned()).chain(arguments).collect() })
        }
    }
}

fn http(members: &[JsonMember<'_>]) -> Result<HookHandler, &'static str> {
    let WebhookSettings { url, headers, variables } = read_webhook(members)?;
    Ok(HookHandler::Http { url, headers, variables })
}

/// Reads where something is posted to and how, or says what is wrong; the address is not looked at.
pub(super) fn read_webhook(members: &[JsonMember<'_>]) -> Result<WebhookSettings, &'static str> {
    let url = find(members, "url").and_then(text).ok_or("names no `url`")?.to_owned();
    let headers = match find(members, "headers").map(|node| &node.value) {
        None => Vec::new(),
        Some(JsonValue::Object(headers)) => {
            let header =
                |member: &JsonMember<'_>| Some((member.name.to_string(), text(&member.node)?.to_owned()));
            headers.iter().map(header).collect::<Option<_>>().ok_or("has a header that is no text")?
        }
        Some(_) => return Err("has `headers` that are no object"),
    };
    let variables = find(members, "allowedEnvVars").map_or(Some(Vec::new()), texts);
    let variables = variables.ok_or("has `allowedEnvVars` that are no list of texts")?;
    Ok(WebhookSettings { url, headers, variables })
}

/// Finds the last member of a name, which is the one that counts.
fn find<'a, 'text>(members: &'a [JsonMember<'text>], name: &str) -> Option<&'a JsonNode<'text>> {
    members.iter().rfind(|member| member.name == name).map(|member| &member.node)
}

fn text<'a>(node: &'a JsonNode<'_>) -> Option<&'a str> {
    match &node.value {
        JsonValue::String(text) => Some(text),
        _ => None,
    }
}

fn texts(node: &JsonNode<'_>) -> Option<Vec<String>> {
    match &node.value {
        JsonValue::Array(items) => items.iter().map(|item| text(item).map(str::to_owned)).collect(),
        _ => None,
    }
}
