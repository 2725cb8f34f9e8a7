//! How each agent is set up and started: no questions at its start, the scripted server for a model, nothing sent home.

use std::process::Command;

use serde_json::json;

use super::client::{Client, portcullis};
use super::place::Place;

/// The name the agents know the MCP server by.
pub(super) const ECHO_SERVER: &str = "scripted";

/// What an agent is asked to do. The scripted model does not read it.
pub(super) const PROMPT: &str = "Do what the script says.";

/// What a run of an agent is made of, beside its place.
#[derive(Debug)]
pub(super) struct Setup<'a> {
    pub(super) place: &'a Place,
    /// The address of the scripted model.
    pub(super) model: String,
    /// Further arguments.
    pub(super) arguments: &'a [String],
    /// Whether Claude Code puts its questions to our tool.
    pub(super) has_prompt_tool: bool,
    /// The user who can be asked, if there is one.
    pub(super) user: Option<ScriptedUser>,
}

/// What the user of an agent says to every question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ScriptedUser {
    Accepts,
    Declines,
}

impl Setup<'_> {
    /// Writes the agent's own settings and returns the command that starts it.
    pub(super) fn prepare(&self, client: Client) -> Command {
        let own = self.place.root.join("programs").join(client.name());
        let mut command = Command::new(if own.exists() { own } else { client.program() });
        self.place.confine(&mut command);
        match client {
            Client::Claude => self.prepare_claude(&mut command),
            Client::Cline => self.prepare_cline(&mut command),
            Client::Codex => self.prepare_codex(&mut command),
            Client::Copilot => self.prepare_copilot(&mut command),
            Client::Droid => self.prepare_droid(&mut command),
            Client::Gemini => self.prepare_gemini(&mut command),
            Client::Kimi => self.prepare_kimi(&mut command),
            Client::Opencode => self.prepare_opencode(&mut command),
            Client::Pi => self.prepare_pi(&mut command),
            Client::Qwen => self.prepare_qwen(&mut command),
        }
        command
    }

    pub(super) fn echo_server(&self) -> [String; 2] {
        let directory = self.place.repository.to_str().expect("a path of text");
        [env!("CARGO_BIN_EXE_portcullis-echo-server").to_owned(), directory.to_owned()]
    }

    fn prepare_claude(&self, command: &mut Command) {
        let [program, directory] = self.echo_server();
        self.place.write_settings(".claude.json", &json!({"hasCompletedOnboarding": true}));
        let mut servers = json!({ECHO_SERVER: {"type": "stdio", "command": program, "args": [directory]}});
        if self.has_prompt_tool {
            servers["portcullis"] = json!({"type": "stdio", "command": portcullis(), "args": ["mcp"]});
            command.args(["--permission-prompt-tool", "mcp__portcullis__approve"]);
        }
        self.place.write_settings("mcp.json", &json!({"mcpServers": servers}));
        if self.user.is_some() {
            command.args(["-p", "--input-format", "stream-json", "--permission-prompt-tool", "stdio"]);
        } else {
            command.args(["-p", PROMPT]);
        }
        command
            .args(["--output-format", "stream-json", "--verbose", "--strict-mcp-config"])
            .arg("--mcp-config")
            .arg(self.place.home.join("mcp.json"))
            .args(self.arguments)
            .env("ANTHROPIC_BASE_URL", &self.model)
            .env("ANTHROPIC_API_KEY", "dummy")
            .env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")
            // It refuses to bypass permissions when the super-user runs it outside of a sandbox.
            .env("IS_SANDBOX", "1")
            .env("DISABLE_AUTOUPDATER", "1")
            .env("DISABLE_ERROR_REPORTING", "1")
            .env("DISABLE_TELEMETRY", "1");
    }

    fn prepare_codex(&self, command: &mut Command) {
        let [program, directory] = self.echo_server();
        let repository = &directory;
        let settings = format!(
            "model = \"gpt-5.5\"\nmodel_provider = \"scripted\"\ncheck_for_update_on_startup = false\n\n\
             [model_providers.scripted]\nname = \"scripted\"\nbase_url = \"{}/v1\"\nwire_api = \"responses\"\n\
             env_key = \"SCRIPTED_KEY\"\nrequest_max_retries = 0\nstream_max_retries = 0\nsupports_websockets = false\n\n\
             [projects.\"{repository}\"]\ntrust_level = \"trusted\"\n\n[analytics]\nenabled = false\n\n\
             [mcp_servers.{ECHO_SERVER}]\ncommand = \"{program}\"\nargs = [\"{directory}\"]\n",
            self.model
        );
        let folder = self.place.home.join(".codex");
        self.place.write(&folder.join("config.toml"), &settings);
        command.env("CODEX_HOME", folder).env("SCRIPTED_KEY", "dummy");
        if self.user.is_some() {
            command.arg("app-server");
        } else {
            // What a sandbox of its own stops proves nothing of ours.
            let names_sandbox = self.arguments.iter().any(|argument| argument == "--sandbox");
            let sandbox = ["--sandbox", "danger-full-access"].into_iter().filter(|_| !names_sandbox);
            command.args(["exec", "--json"]).args(sandbox).args(self.arguments).arg(PROMPT);
        }
    }

    fn prepare_gemini(&self, command: &mut Command) {
        let [program, directory] = self.echo_server();
        let settings = json!({
            "security": {"auth": {"selectedType": "gemini-api-key"}},
            "privacy": {"usageStatisticsEnabled": false},
            "telemetry": {"enabled": false},
            "general": {"enableAutoUpdate": false, "enableAutoUpdateNotification": false},
            "mcpServers": {ECHO_SERVER: {"command": program, "args": [directory]}},
        });
        self.place.add_settings(".gemini/settings.json", &settings);
        command
            .args(["-p", PROMPT, "-o", "stream-json", "-m", "gemini-2.5-flash"])
            .args(["--skip-trust", "--approval-mode", "yolo"])
            // It refuses by itself what lies outside of its workspace; that proves nothing of ours.
            .arg("--include-directories")
            .arg(&self.place.elsewhere)
            .args(self.arguments)
            .env("GEMINI_API_KEY", "dummy")
            .env("GOOGLE_GEMINI_BASE_URL", &self.model)
            // It would start itself anew with more memory.
            .env("GEMINI_CLI_NO_RELAUNCH", "true");
    }

    fn prepare_opencode(&self, command: &mut Command) {
        let [program, directory] = self.echo_server();
        let model =
            json!({"name": "scripted", "tool_call": true, "limit": {"context": 100_000, "output": 8_000}});
        let provider = json!({
            "npm": "@ai-sdk/openai-compatible", "name": "scripted", "models": {"scripted": model},
            "options": {"baseURL": format!("{}/v1", self.model), "apiKey": "dummy"},
        });
        let settings = json!({
            "model": "scripted/scripted", "small_model": "scripted/scripted",
            "autoupdate": false, "share": "disabled", "snapshot": false, "provider": {"scripted": provider},
            // What it would refuse by itself proves nothing of ours.
            "permission": {"edit": "allow", "bash": "allow", "external_directory": "allow"},
            "mcp": {ECHO_SERVER: {"type": "local", "command": [program, directory], "enabled": true}},
        });
        self.place.add_settings(".config/opencode/opencode.json", &settings);
        // It wants to install something at its start that it does not need; this makes it give up at once.
        self.place.write(&self.place.home.join(".npmrc"), "fetch-retries=0\n");
        command
            .args(["run", "--format", "json", "--title", "scripted"])
            .args(self.arguments)
            .arg(PROMPT)
            .env("OPENCODE_DISABLE_AUTOUPDATE", "1")
            .env("OPENCODE_DISABLE_LSP_DOWNLOAD", "1")
            .env("OPENCODE_DISABLE_MODELS_FETCH", "1")
            .env("OPENCODE_DISABLE_SHARE", "1");
    }
}
