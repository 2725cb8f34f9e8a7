//! What a script does, in words that are the same for every agent.

use portcullis_testkit::{AgentCall, AgentTurn};
use serde_json::json;

use super::client::Client;
use super::place::Place;
use super::setup::ECHO_SERVER;

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
            Client::Opencode => AgentCall::new(label, "bash", described),
        })
    }

    /// Writes a new file: in the repository, or at an absolute path.
    pub(crate) fn write(self, label: &str, path: &str) -> AgentTurn {
        let absolute = self.place.repository.join(path);
        AgentTurn::call(match self.client {
            Client::Claude => {
                AgentCall::new(label, "Write", json!({"file_path": absolute, "content": "text\n"}))
            }
            Client::Codex => {
                let text = format!("*** Begin Patch\n*** Add File: {path}\n+text\n*** End Patch");
                AgentCall::with_text(label, "apply_patch", &text)
            }
            Client::Gemini => {
                AgentCall::new(label, "write_file", json!({"file_path": path, "content": "text\n"}))
            }
            Client::Opencode => {
                AgentCall::new(label, "write", json!({"filePath": absolute, "content": "text\n"}))
            }
        })
    }

    /// Calls a tool of the MCP server, which leaves a file of this name.
    pub(crate) fn mcp(self, label: &str, tool: &str, file: &str) -> AgentTurn {
        let input = json!({"text": file});
        AgentTurn::call(match self.client {
            Client::Claude => AgentCall::new(label, &format!("mcp__{ECHO_SERVER}__{tool}"), input),
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
        })
    }

    /// Writes a new file outside of the workspace.
    pub(crate) fn write_outside(self, label: &str, name: &str) -> AgentTurn {
        let path = self.place.elsewhere.join(name);
        self.write(label, path.to_str().expect("a path of text"))
    }
}
