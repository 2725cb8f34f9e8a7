//! A daemon that an agent posts its hooks to, without a program of ours in between.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use super::client::portcullis;
use super::place::Place;

/// The variable that the agent takes the token from.
pub(super) const TOKEN: &str = "PORTCULLIS_TOKEN";

/// A daemon that runs, until it is dropped.
#[derive(Debug)]
pub(super) struct Daemon {
    child: Child,
    url: String,
    /// What it takes from hooks.
    pub(super) token: String,
}

impl Daemon {
    /// Starts the daemon of a place.
    pub(super) fn start(place: &Place) -> Self {
        let mut command = Command::new(portcullis());
        command.args(["serve", "--listen", "127.0.0.1:0", "--json"]);
        let mut child =
            place.confine(&mut command).stdout(Stdio::piped()).spawn().expect("the daemon starts");
        let mut line = String::new();
        let said = child.stdout.take().expect("its standard output");
        BufReader::new(said).read_line(&mut line).expect("it says where it listens");
        let said: Value = serde_json::from_str(&line).expect("JSON");
        let token = place.home.join(".local/state/portcullis/daemon/hook.token");
        let token = fs::read_to_string(token).expect("the token of hooks").trim().to_owned();
        Self { child, url: said["url"].as_str().expect("an address").to_owned(), token }
    }

    /// Tells Claude Code to post its hooks here, as the guide says.
    pub(super) fn register(&self, place: &Place) {
        let hook = json!({
            "type": "http",
            "url": format!("{}/v1/hook/claude", self.url),
            "headers": {"Authorization": format!("Bearer ${TOKEN}")},
            "allowedEnvVars": [TOKEN],
            "timeout": 90,
        });
        let hooks = json!({"PreToolUse": [{"matcher": "*", "hooks": [hook]}]});
        place.write_settings(".claude/settings.json", &json!({"hooks": hooks}));
    }

    /// Ends it.
    pub(super) fn end(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        self.end();
    }
}
