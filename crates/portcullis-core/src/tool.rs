//! The tools agents have: canonical names, legacy names, and what the pipeline must know of each (spec C3).

/// What kind of thing a tool does, as far as the pipeline cares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolKind {
    /// Runs a bash command line.
    Shell,
    /// Runs a PowerShell command line.
    PowerShell,
    /// Reads files.
    Read,
    /// Writes files.
    Edit,
    /// Fetches a URL.
    Fetch,
    /// Starts another agent.
    Agent,
    /// Talks to the person or is only bookkeeping.
    Internal,
    /// A tool of an MCP server.
    Mcp,
    /// Anything else, known or not.
    Other,
}

/// One row of the tool table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ToolInfo {
    /// The name that rules and traces use, whatever a host calls it.
    pub name: &'static str,
    /// What kind of thing it does, which says how its input is read.
    pub kind: ToolKind,
    /// The input field that a parameter rule may not name, because it has rules of its own.
    pub primary_field: Option<&'static str>,
    /// Whether only a person can answer it.
    pub needs_person: bool,
    /// Whether auto mode may run it without a judge.
    pub is_harmless: bool,
}

const fn tool(name: &'static str, kind: ToolKind, primary_field: Option<&'static str>) -> ToolInfo {
    ToolInfo { name, kind, primary_field, needs_person: false, is_harmless: false }
}

const fn harmless(info: ToolInfo) -> ToolInfo {
    ToolInfo { is_harmless: true, ..info }
}

const fn for_person(info: ToolInfo) -> ToolInfo {
    ToolInfo { needs_person: true, ..info }
}

/// Every tool with a name of its own. MCP tools and unknown ones are not listed.
pub(crate) const TOOLS: &[ToolInfo] = &[
    tool("Bash", ToolKind::Shell, Some("command")),
    tool("Monitor", ToolKind::Shell, Some("command")),
    tool("PowerShell", ToolKind::PowerShell, Some("command")),
    harmless(tool("Read", ToolKind::Read, Some("file_path"))),
    harmless(tool("Glob", ToolKind::Read, Some("path"))),
    harmless(tool("Grep", ToolKind::Read, Some("path"))),
    harmless(tool("LSP", ToolKind::Read, Some("file_path"))),
    tool("Edit", ToolKind::Edit, Some("file_path")),
    tool("Write", ToolKind::Edit, Some("file_path")),
    tool("MultiEdit", ToolKind::Edit, Some("file_path")),
    tool("NotebookEdit", ToolKind::Edit, Some("notebook_path")),
    tool("WebFetch", ToolKind::Fetch, Some("url")),
    tool("WebSearch", ToolKind::Other, None),
    tool("Agent", ToolKind::Agent, None),
    tool("Skill", ToolKind::Other, None),
    tool("Artifact", ToolKind::Other, None),
    tool("Cd", ToolKind::Other, None),
    tool("Config", ToolKind::Other, None),
    tool("REPL", ToolKind::Other, None),
    tool("SendMessage", ToolKind::Other, None),
    tool("SendUserMessage", ToolKind::Other, None),
    tool("RemoteTrigger", ToolKind::Other, None),
    tool("CronCreate", ToolKind::Other, None),
    tool("CronDelete", ToolKind::Other, None),
    tool("EnterWorktree", ToolKind::Other, None),
    tool("ExitWorktree", ToolKind::Other, None),
    tool("ListAgents", ToolKind::Other, None),
    tool("TeamCreate", ToolKind::Other, None),
    tool("TeamDelete", ToolKind::Other, None),
    harmless(tool("CronList", ToolKind::Internal, None)),
    harmless(tool("TodoWrite", ToolKind::Internal, None)),
    harmless(tool("TaskCreate", ToolKind::Internal, None)),
    harmless(tool("TaskGet", ToolKind::Internal, None)),
    harmless(tool("TaskUpdate", ToolKind::Internal, None)),
    harmless(tool("TaskList", ToolKind::Internal, None)),
    harmless(tool("TaskStop", ToolKind::Internal, None)),
    harmless(tool("TaskOutput", ToolKind::Internal, None)),
    harmless(tool("ToolSearch", ToolKind::Internal, None)),
    harmless(tool("ListMcpResourcesTool", ToolKind::Internal, None)),
    harmless(tool("ReadMcpResourceTool", ToolKind::Internal, None)),
    harmless(tool("Sleep", ToolKind::Internal, None)),
    harmless(tool("EnterPlanMode", ToolKind::Internal, None)),
    harmless(tool("EndConversation", ToolKind::Internal, None)),
    for_person(tool("ExitPlanMode", ToolKind::Internal, None)),
    for_person(tool("AskUserQuestion", ToolKind::Internal, None)),
    for_person(tool("ReviewArtifact", ToolKind::Internal, None)),
];

/// Names that settings files and hosts used before, with today's (spec C3).
const LEGACY_NAMES: &[(&str, &str)] = &[
    ("Task", "Agent"),
    ("KillShell", "TaskStop"),
    ("KillBash", "TaskStop"),
    ("AgentOutputTool", "TaskOutput"),
    ("BashOutputTool", "TaskOutput"),
    ("AgentOutput", "TaskOutput"),
    ("BashOutput", "TaskOutput"),
    ("ListPeers", "ListAgents"),
    ("Brief", "SendUserMessage"),
    ("ListMcpResources", "ListMcpResourcesTool"),
    ("ReadMcpResource", "ReadMcpResourceTool"),
];

/// Returns today's name of a tool.
pub fn canonical_name(name: &str) -> &str {
    LEGACY_NAMES.iter().find(|(old, _)| *old == name).map_or(name, |(_, new)| new)
}

/// Finds the row of a tool by its canonical name.
pub fn find_tool(name: &str) -> Option<&'static ToolInfo> {
    TOOLS.iter().find(|info| info.name == name)
}

/// Returns the kind of a tool by its canonical name.
pub(crate) fn kind_of(name: &str) -> ToolKind {
    match find_tool(name) {
        Some(info) => info.kind,
        None if name.starts_with("mcp__") => ToolKind::Mcp,
        None => ToolKind::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_legacy_names_lead_to_listed_tools() {
        for (index, info) in TOOLS.iter().enumerate() {
            assert!(TOOLS.iter().skip(index + 1).all(|other| other.name != info.name), "{}", info.name);
        }
        for (old, new) in LEGACY_NAMES {
            assert!(find_tool(new).is_some(), "{new}");
            assert!(find_tool(old).is_none(), "{old}");
            assert_eq!(canonical_name(old), *new);
        }
    }

    #[test]
    fn a_tool_that_runs_something_is_never_harmless() {
        for info in TOOLS.iter().filter(|info| info.is_harmless) {
            assert!(matches!(info.kind, ToolKind::Read | ToolKind::Internal), "{}", info.name);
        }
    }
}
