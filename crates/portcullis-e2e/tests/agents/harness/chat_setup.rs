//! The agents whose model speaks chat completions: how each is set up and started.

use std::process::Command;

use serde_json::json;

use super::client::Client;
use super::setup::{ECHO_SERVER, PROMPT, Setup};

impl Setup<'_> {
    pub(super) fn prepare_qwen(&self, command: &mut Command) {
        let [program, directory] = self.echo_server();
        let settings = json!({
            "security": {"auth": {"selectedType": "openai"}},
            "privacy": {"usageStatisticsEnabled": false},
            "telemetry": {"enabled": false},
            "general": {"enableAutoUpdate": false},
            "mcpServers": {ECHO_SERVER: {"command": program, "args": [directory]}},
        });
        self.place.add_settings(".qwen/settings.json", &settings);
        match self.user {
            Some(_) => command.args(["--input-format", "stream-json", "--output-format", "stream-json"]),
            None => command.args(["-p", PROMPT, "--approval-mode", "yolo"]),
        };
        command
            .args(self.arguments)
            .env("OPENAI_API_KEY", "dummy")
            .env("OPENAI_BASE_URL", format!("{}/v1", self.model))
            .env("OPENAI_MODEL", "scripted");
    }

    pub(super) fn prepare_copilot(&self, command: &mut Command) {
        let [program, directory] = self.echo_server();
        let server = json!({"type": "local", "command": program, "args": [directory], "tools": ["*"]});
        self.place.write_settings(".copilot/mcp-config.json", &json!({"mcpServers": {ECHO_SERVER: server}}));
        command
            .args(["-p", PROMPT, "--allow-all-tools", "--allow-all-paths", "--no-color"])
            .args(self.arguments)
            .env("COPILOT_OFFLINE", "true")
            .env("COPILOT_PROVIDER_BASE_URL", format!("{}/v1", self.model))
            .env("COPILOT_PROVIDER_API_KEY", "dummy")
            .env("COPILOT_MODEL", "scripted")
            .env("COPILOT_AUTO_UPDATE", "false");
    }

    pub(super) fn prepare_droid(&self, command: &mut Command) {
        let [program, directory] = self.echo_server();
        let model = json!({
            "model": "scripted", "id": "custom:scripted-0", "index": 0, "displayName": "scripted",
            "baseUrl": format!("{}/v1", self.model), "apiKey": "dummy",
            "provider": "generic-chat-completion-api", "maxOutputTokens": 4000,
        });
        self.place.write_settings(".factory/settings.json", &json!({"customModels": [model]}));
        let server = json!({"type": "stdio", "command": program, "args": [directory]});
        self.place.write_settings(".factory/mcp.json", &json!({"mcpServers": {ECHO_SERVER: server}}));
        command
            .args(["exec", "--auto", "high", "-m", "custom:scripted-0"])
            .args(self.arguments)
            .arg(PROMPT)
            .env("FACTORY_API_KEY", "fk-dummy")
            .env("FACTORY_DISABLE_KEYRING", "1")
            .env("DROID_DISABLE_AUTO_UPDATE", "true");
    }

    pub(super) fn prepare_kimi(&self, command: &mut Command) {
        let [program, directory] = self.echo_server();
        let settings = format!(
            "default_model = \"scripted\"\n\n[providers.scripted]\ntype = \"openai\"\nbase_url = \"{}/v1\"\n\
             api_key = \"dummy\"\n\n[models.scripted]\nprovider = \"scripted\"\nmodel = \"scripted\"\n\
             max_context_size = 100000\n",
            self.model
        );
        self.place.write(&self.place.home.join(".kimi-code/config.toml"), &settings);
        let server = json!({"command": program, "args": [directory]});
        self.place.write_settings(".kimi-code/mcp.json", &json!({"mcpServers": {ECHO_SERVER: server}}));
        command.args(["-p", PROMPT]).args(self.arguments).env("KIMI_CODE_NO_AUTO_UPDATE", "1");
    }

    pub(super) fn prepare_pi(&self, command: &mut Command) {
        let model = json!({
            "id": "scripted", "name": "scripted", "reasoning": false, "input": ["text"],
            "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0},
            "contextWindow": 100_000, "maxTokens": 4000,
        });
        let provider = json!({
            "baseUrl": format!("{}/v1", self.model), "api": "openai-completions", "apiKey": "dummy", "models": [model],
        });
        self.place.write_settings(".pi/agent/models.json", &json!({"providers": {"scripted": provider}}));
        command
            .args(["--provider", "scripted", "--model", "scripted", "--offline"])
            .args(self.arguments)
            .args(["-p", PROMPT])
            .env("PI_OFFLINE", "1")
            .env("PI_TELEMETRY", "0");
    }

    pub(super) fn prepare_cline(&self, command: &mut Command) {
        // It keeps what it is told of its model in a form of its own.
        let mut login = Command::new(Client::Cline.program());
        self.place.confine(&mut login).args(["auth", "--provider", "openai-compatible", "--apikey", "dummy"]);
        login.args(["--modelid", "scripted", "--baseurl", &format!("{}/v1", self.model)]);
        let told = login.output().expect("Cline runs");
        assert!(told.status.success(), "`cline auth` failed: {}", String::from_utf8_lossy(&told.stderr));
        command.args(["--json", "-t", "120"]).args(self.arguments).arg(PROMPT);
    }
}
