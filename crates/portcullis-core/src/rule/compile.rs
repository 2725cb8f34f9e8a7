//! From the text of a rule to what it matches (spec C1–C6).

use super::{
    Behavior, DomainPattern, Matcher, PathAccess, PathPattern, Rule, RuleProblem, RuleText, ShellPattern,
    ToolPattern, Wildcard,
};
use crate::origin::Origin;
use crate::tool::find_tool;

/// Input fields beside the primary one, of tools whose content also has a form of its own. Only these make a content
/// like `word:value` a parameter rule there.
const KNOWN_FIELDS: &[(&str, &[&str])] = &[
    ("Bash", SHELL_FIELDS),
    ("PowerShell", SHELL_FIELDS),
    ("Monitor", SHELL_FIELDS),
    ("Read", &["offset", "limit", "pages"]),
    ("Edit", &["old_string", "new_string", "replace_all"]),
    ("WebFetch", &["prompt"]),
    ("Agent", AGENT_FIELDS),
    ("Skill", &["skill", "args"]),
];

const SHELL_FIELDS: &[&str] = &["run_in_background", "dangerouslyDisableSandbox", "timeout", "description"];

const AGENT_FIELDS: &[&str] = &[
    "model",
    "isolation",
    "run_in_background",
    "subagent_type",
    "description",
    "prompt",
    "name",
    "team_name",
    "mode",
    "cwd",
];

impl Rule {
    /// Compiles a rule. A text that could never do what its author meant is a problem, and the rule is to be skipped.
    pub fn compile(text: &str, behavior: Behavior, origin: Origin) -> Result<Self, RuleProblem> {
        let is_plain = text.bytes().all(|byte| matches!(byte, b' '..=b'~'));
        if !is_plain && text.chars().any(is_forbidden) {
            return Err(problem("the rule contains a control character", None));
        }
        let parsed = RuleText::parse(text.trim())?;
        let matcher = match &parsed.content {
            None => Matcher::Tool(tool_pattern(&parsed.tool, behavior)?),
            Some(content) => content_matcher(&parsed.tool, content, behavior)?,
        };
        Ok(Self { behavior, source_text: text.to_owned(), text: parsed, matcher, origin })
    }
}

fn is_forbidden(character: char) -> bool {
    character.is_control() && !matches!(character, '\n' | '\r' | '\t')
}

fn problem(message: &str, hint: Option<&str>) -> RuleProblem {
    RuleProblem { message: message.to_owned(), hint: hint.map(str::to_owned) }
}

fn check_tool_name(tool: &str) -> Result<(), RuleProblem> {
    let is_fine = |character: char| {
        !character.is_whitespace() && !matches!(character, '(' | ')' | '\\' | '"' | '\'' | ',' | ';')
    };
    if !tool.is_empty() && tool.chars().all(is_fine) {
        return Ok(());
    }
    let message = format!("`{tool}` is not the name of a tool");
    Err(problem(&message, Some("write `Tool` or `Tool(content)` without blanks before the parenthesis")))
}

fn tool_pattern(tool: &str, behavior: Behavior) -> Result<ToolPattern, RuleProblem> {
    check_tool_name(tool)?;
    if let Some(server) = tool.strip_prefix("mcp__") {
        let server = server.strip_suffix("__*").unwrap_or(server);
        if server.is_empty() {
            return Err(problem(
                "the rule names no MCP server",
                Some("write `mcp__server` or `mcp__server__tool`"),
            ));
        }
        if !server.contains('*') && !server.contains("__") {
            return Ok(ToolPattern::Server(server.to_owned()));
        }
    }
    let Some((before_star, _)) = tool.split_once('*') else { return Ok(ToolPattern::Name(tool.to_owned())) };
    if behavior == Behavior::Allow && !names_server(before_star) {
        return Err(problem(
            &format!("the tool glob `{tool}` approves nothing in an allow rule"),
            Some("name the MCP server in full, as in `mcp__server__*`, or list the tools one by one"),
        ));
    }
    Ok(ToolPattern::Glob(Wildcard::new(tool)))
}

/// Says whether a text begins with `mcp__<server>__`.
fn names_server(text: &str) -> bool {
    let rest = text.strip_prefix("mcp__").and_then(|rest| rest.split_once("__"));
    rest.is_some_and(|(server, _)| !server.is_empty())
}

fn content_matcher(tool: &str, content: &str, behavior: Behavior) -> Result<Matcher, RuleProblem> {
    check_tool_name(tool)?;
    if content.trim().is_empty() {
        return Err(problem(
            "the content of the rule is blank",
            Some("leave the parentheses out to mean every call"),
        ));
    }
    if tool.contains('*') {
        return Err(problem(
            &format!("the tool glob `{tool}` cannot have content"),
            Some("name one tool, or leave the parentheses out"),
        ));
    }
    if tool.starts_with("mcp__") {
        let hint = format!("write `{tool}`");
        return Err(problem("rules for MCP tools cannot have content", Some(&hint)));
    }
    if let Some(parameter) = parameter_matcher(tool, content, behavior)? {
        return Ok(parameter);
    }
    match tool {
        "Bash" | "PowerShell" | "Monitor" => {
            Ok(Matcher::Shell { tool: tool.to_owned(), pattern: ShellPattern::parse(content) })
        }
        "Read" => path_matcher(PathAccess::Read, content, behavior),
        "Edit" => path_matcher(PathAccess::Edit, content, behavior),
        "Write" | "MultiEdit" | "NotebookEdit" => Err(never_matched(tool, "Edit", content)),
        "Glob" | "Grep" | "LSP" => Err(never_matched(tool, "Read", content)),
        "WebFetch" => DomainPattern::parse(content).map(Matcher::Domain),
        "Agent" | "Skill" => Ok(name_matcher(tool, content)),
        "Cd" => Err(problem(
            "rules `Cd(path)` are about the directory a person changes to, never about a call",
            Some("use `Read(path)` and `Edit(path)` for what calls may touch"),
        )),
        _ => Err(problem(
            &format!("content `{content}` has no meaning for the tool `{tool}`"),
            Some(&format!("write `{tool}`, or `{tool}(field:value)` in a deny or ask rule")),
        )),
    }
}

fn path_matcher(access: PathAccess, content: &str, behavior: Behavior) -> Result<Matcher, RuleProblem> {
    Ok(Matcher::Path { access, pattern: PathPattern::parse(content, behavior)? })
}

fn never_matched(tool: &str, instead: &str, content: &str) -> RuleProblem {
    let better = RuleText::new(instead, Some(content));
    problem(
        &format!("a path in a `{tool}` rule is never matched"),
        Some(&format!("write `{better}`, which covers `{tool}` too")),
    )
}

fn name_matcher(tool: &str, content: &str) -> Matcher {
    let content = content.trim();
    let pattern = match content.strip_suffix(":*").map(str::trim_end).filter(|name| !name.is_empty()) {
        Some(name) => Wildcard::new(&format!("{name} *")),
        None => Wildcard::new(content),
    };
    Matcher::Name { tool: tool.to_owned(), pattern }
}

/// Reads `field:value`; `None` if the content is something else.
fn parameter_matcher(tool: &str, content: &str, behavior: Behavior) -> Result<Option<Matcher>, RuleProblem> {
    let Some((field, value)) = split_parameter(content) else { return Ok(None) };
    // `timeout:*` and `command:*` are prefixes of commands, and older than parameters.
    let is_shell = matches!(tool, "Bash" | "PowerShell" | "Monitor");
    if is_shell && value == "*" && matches!(field, "timeout" | "command") {
        return Ok(None);
    }
    if find_tool(tool).and_then(|info| info.primary_field) == Some(field) {
        return Err(problem(
            &format!("a parameter rule cannot name `{field}`, which rules for `{tool}` are about anyway"),
            Some(&primary_hint(tool, value)),
        ));
    }
    let known = KNOWN_FIELDS.iter().find(|(name, _)| *name == tool);
    if known.is_some_and(|(_, fields)| !fields.contains(&field)) {
        return Ok(None);
    }
    if behavior == Behavior::Allow {
        let message =
            format!("`{field}:{value}` is a parameter rule, which works in deny and ask rules only");
        return Err(problem(&message, Some("leave the parameter out, or deny its other values")));
    }
    if value.is_empty() {
        return Err(problem(
            &format!("the parameter `{field}` has no value"),
            Some("write `*` for any value"),
        ));
    }
    Ok(Some(Matcher::Parameter {
        tool: tool.to_owned(),
        field: field.to_owned(),
        value: Wildcard::new(value),
    }))
}

fn primary_hint(tool: &str, value: &str) -> String {
    let better = match tool {
        "Write" | "MultiEdit" | "NotebookEdit" => RuleText::new("Edit", Some(value)),
        "Glob" | "Grep" | "LSP" => RuleText::new("Read", Some(value)),
        "WebFetch" => return "write `WebFetch(domain:host)`".to_owned(),
        _ => RuleText::new(tool, Some(value)),
    };
    format!("write `{better}`")
}

/// Splits `field:value` if the field looks like one; a drive letter and a URL scheme do not.
fn split_parameter(content: &str) -> Option<(&str, &str)> {
    let (field, value) = content.split_once(':')?;
    let (field, value) = (field.trim(), value.trim());
    let is_field = field.len() > 1
        && field.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && field.chars().all(|character| character.is_ascii_alphanumeric() || character == '_');
    (is_field && !value.starts_with("//")).then_some((field, value))
}

#[cfg(test)]
#[path = "compile_tests.rs"]
mod tests;
