//! Files that say what agents may do, and files that tell them what to do.

use super::pattern::any_ending;

const SETTINGS: &[&str] = &[
    ".claude/settings.json",
    ".claude/settings.local.json",
    ".claude/hooks/**",
    ".claude.json",
    ".mcp.json",
    ".portcullis/**",
    "portcullis/settings.json",
    ".codex/**",
    ".gemini/settings.json",
    ".qwen/settings.json",
    ".cursor/mcp.json",
    ".cursor/hooks.json",
    ".cursor/cli.json",
    ".vscode/mcp.json",
    ".aider.conf.yml",
    ".config/opencode/**",
    "opencode.json",
    ".config/goose/config.yaml",
    ".config/crush/crush.json",
    ".config/amp/settings.json",
    ".continue/config.json",
    ".continue/config.yaml",
    ".factory/settings.json",
    ".opencode/plugin/**",
    ".opencode/plugins/**",
    ".opencode/opencode.json",
    ".kiro/hooks/**",
    ".kiro/settings/**",
    "claude_desktop_config.json",
    "managed-settings.json",
    "cline_mcp_settings.json",
];

const INSTRUCTIONS: &[&str] = &[
    "CLAUDE.md",
    "CLAUDE.local.md",
    "AGENTS.md",
    "AGENT.md",
    "GEMINI.md",
    "QWEN.md",
    "CONVENTIONS.md",
    ".cursorrules",
    ".windsurfrules",
    ".clinerules",
    ".clinerules/**",
    ".cursor/rules/**",
    ".roo/**",
    ".kiro/steering/**",
    ".windsurf/rules/**",
    ".opencode/agent/**",
    ".opencode/command/**",
    ".amazonq/rules/**",
    ".claude/agents/**",
    ".claude/commands/**",
    ".claude/skills/**",
    ".github/copilot-instructions.md",
    "SOUL.md",
    "MEMORY.md",
];

/// Says whether a file decides what agents may do.
pub fn is_agent_setting(path: &str) -> bool {
    any_ending(SETTINGS, path)
}

/// Says whether agents read a file as instructions.
pub fn is_agent_instruction(path: &str) -> bool {
    any_ending(INSTRUCTIONS, path)
}
