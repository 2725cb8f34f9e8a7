//! What a script does, in words that are the same for every agent.

use portcullis_testkit::{AgentCall, AgentTurn};
use serde_json::json;

use super::client::Client;
use super::place::Place;
use super::setup::ECHO_SERVER;

/// What stands in the secret file.
pub(crate) const SECRET: &str = "scripted-secret-key\n";

/// Makes calls as one agent's model makes them, for one place.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stage<'a> {
    pub(super) client: Client,
    pub(super) place: &'a Place,
}

impl Stage<'_> {
    /// Runs a command in a shell.
    pub(crate) fn shell(self, label: &str, command: &str) -> AgentTurn {
        let described = json!({"command": command, "description": "Run a command"});
        AgentTurn::call(match self.client {
            Client::Claude => AgentCall::new(label, "Bash", described),
            Client::Codex => AgentCall::new(label, "exec_command", json!({"cmd": command})),
            Client::Gemini => AgentCall::new(label, "run_shell_command", described),
            Client::Opencode | Client::Copilot => AgentCall::new(label, "bash", described),
            Client::Cline => AgentCall::new(label, "run_commands", json!({"commands": [command]})),
            Client::Droid => {
                let risk =
                    json!({"command": command, "summary": "s", "riskLevel": "low", "riskLevelReason": "r"});
                AgentCall::new(label, "Execute", risk)
            }
            Client::Kimi => AgentCall::new(label, "Bash", json!({"command": command})),
            Client::Pi => AgentCall::new(label, "bash", json!({"command": command})),
            Client::Qwen => {
                let input = json!({"command": command, "description": "Run", "is_background": false});
                AgentCall::new(label, "run_shell_command", input)
            }
        })
    }

    /// Writes a new file: in the repository, or at an absolute path.
    pub(crate) fn write(self, label: &str, path: &str) -> AgentTurn {
        self.write_text(label, path, "text\n")
    }

    /// Writes a new file of these lines.
    pub(crate) fn write_text(self, label: &str, path: &str, text: &str) -> AgentTurn {
        let absolute = self.place.repository.join(path);
        AgentTurn::call(match self.client {
            Client::Claude => AgentCall::new(label, "Write", json!({"file_path": absolute, "content": text})),
            Client::Codex => {
                let added = text.trim_end_matches('\n').replace('\n', "\n+");
                let change = format!("*** Begin Patch\n*** Add File: {path}\n+{added}\n*** End Patch");
                AgentCall::with_text(label, "apply_patch", &change)
            }
            Client::Gemini => {
                AgentCall::new(label, "write_file", json!({"file_path": path, "content": text}))
            }
            Client::Opencode => {
                AgentCall::new(label, "write", json!({"filePath": absolute, "content": text}))
            }
            Client::Cline => AgentCall::new(label, "editor", json!({"path": absolute, "new_text": text})),
            Client::Copilot => AgentCall::new(label, "create", json!({"path": absolute, "file_text": text})),
            Client::Droid => AgentCall::new(label, "Create", json!({"file_path": absolute, "content": text})),
            Client::Kimi => AgentCall::new(label, "Write", json!({"path": absolute, "content": text})),
            Client::Pi => AgentCall::new(label, "write", json!({"path": absolute, "content": text})),
            Client::Qwen => {
                AgentCall::new(label, "write_file", json!({"file_path": absolute, "content": text}))
            }
        })
    }

    /// Calls a tool of the MCP server, which leaves a file of this name.
    pub(crate) fn mcp(self, label: &str, tool: &str, file: &str) -> AgentTurn {
        let input = json!({"text": file});
        AgentTurn::call(match self.client {
            Client::Claude | Client::Kimi | Client::Qwen | Client::Pi | Client::Cline => {
                AgentCall::new(label, &format!("mcp__{ECHO_SERVER}__{tool}"), input)
            }
            Client::Copilot => AgentCall::new(label, &format!("{ECHO_SERVER}-{tool}"), input),
            Client::Droid => AgentCall::new(label, &format!("{ECHO_SERVER}___{tool}"), input),
            Client::Codex => AgentCall::new(label, tool, input).within(&format!("mcp__{ECHO_SERVER}")),
            Client::Gemini => AgentCall::new(label, &format!("mcp_{ECHO_SERVER}_{tool}"), input),
            Client::Opencode => AgentCall::new(label, &format!("{ECHO_SERVER}_{tool}"), input),
        })
    }

    /// Has a subagent do something.
    pub(crate) fn delegate(self, label: &str, task: &str) -> AgentTurn {
        let described = |kind: &str| json!({"description": "A part", "prompt": task, "subagent_type": kind});
        AgentTurn::call(match self.client {
            Client::Claude => AgentCall::new(label, "Agent", described("general-purpose")),
            Client::Codex => {
                AgentCall::new(label, "spawn_agent", json!({"message": task})).within("multi_agent_v1")
            }
            Client::Gemini => {
                AgentCall::new(label, "invoke_agent", json!({"agent_name": "generalist", "prompt": task}))
            }
            Client::Opencode => AgentCall::new(label, "task", described("general")),
            Client::Cline => {
                AgentCall::new(label, "spawn_agent", json!({"systemPrompt": "Work.", "task": task}))
            }
            Client::Copilot => {
                let input = json!({
                    "description": "A part", "prompt": task, "agent_type": "general-purpose", "name": "part", "mode": "sync",
                });
                AgentCall::new(label, "task", input)
            }
            Client::Droid => {
                let mut input = described("worker");
                input["await"] = true.into();
                AgentCall::new(label, "Task", input)
            }
            Client::Kimi => AgentCall::new(label, "Agent", described("coder")),
            Client::Qwen => AgentCall::new(label, "agent", described("general-purpose")),
            Client::Pi => panic!("Pi has no subagents"),
        })
    }

    /// Calls a tool by its name, with the input that its model gives it.
    #[expect(clippy::unused_self, reason = "written like the calls beside it")]
    pub(crate) fn tool(self, label: &str, name: &str, input: serde_json::Value) -> AgentTurn {
        AgentTurn::call(AgentCall::new(label, name, input))
    }

    /// Returns the path of a file of the user that holds a secret, which is outside of the workspace.
    pub(crate) fn secret(self) -> String {
        let path = self.place.home.join("private/notes.txt");
        self.place.write(&path, SECRET);
        path.to_str().expect("a path of text").to_owned()
    }

    /// Writes a new file outside of the workspace.
    pub(crate) fn write_outside(self, label: &str, name: &str) -> AgentTurn {
        let path = self.place.elsewhere.join(name);
        self.write(label, path.to_str().expect("a path of text"))
    }
}
