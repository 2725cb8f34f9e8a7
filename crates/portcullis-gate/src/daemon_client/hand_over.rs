//! A hook that the daemon answers in the place of the process that an agent started.

use std::path::Path;
use std::time::Duration;

use portcullis_hosts::HostReply;

use super::role::Role;
use super::{Client, Response};
use crate::Failure;

/// How long the answer may take beyond what the daemon waits for a person.
const MARGIN: Duration = Duration::from_secs(5);

/// What an agent told its hook, on its way to the daemon.
#[derive(Debug)]
pub struct HandedOver<'a> {
    /// The agent.
    pub host: &'a str,
    /// What it wrote.
    pub input: &'a [u8],
    /// Whether nobody can be asked.
    pub is_headless: bool,
    /// What it said in variables, by their names.
    pub variables: &'a [(String, String)],
    /// How long a person may take.
    pub wait: Duration,
    /// How long the whole answer may take.
    pub time: Duration,
}

impl HandedOver<'_> {
    /// Sends it to the daemon below a state directory and returns the answer for the agent. Without a daemon there is none.
    pub fn send(&self, state: Option<&Path>) -> Result<HostReply, Failure> {
        let client = match state {
            Some(state) => Client::connect(state, Role::Decide)?,
            None => None,
        };
        let client = client.ok_or_else(|| {
            Failure::internal(
                "settings say that decisions are kept in a shared store, and no daemon runs here that keeps them",
            )
            .with_hint("start `portcullis serve`")
        })?;
        let directory = std::env::current_dir().ok();
        let directory = directory.as_deref().and_then(Path::to_str).unwrap_or_default().to_owned();
        let wait = self.wait.min(self.time.saturating_sub(MARGIN)).as_secs().to_string();
        let mut headers = vec![("portcullis-directory", directory.as_str()), ("portcullis-wait", &wait)];
        if self.is_headless {
            headers.push(("portcullis-headless", "1"));
        }
        for (variable, value) in self.variables {
            headers.push((carrier(variable, value)?, value));
        }
        let path = format!("/v1/hook/{}", self.host);
        read(&client.post_bytes(&path, &headers, self.input, self.time)?)
    }
}

/// Returns the header that carries what an agent says in a variable; `None` if none does.
pub fn header_of(variable: &str) -> Option<&'static str> {
    match variable {
        "CLAUDE_PROJECT_DIR" | "GEMINI_PROJECT_DIR" => Some("portcullis-project"),
        "AGENT_TOOL_NAME" => Some("portcullis-tool"),
        "AMP_THREAD_ID" => Some("portcullis-thread"),
        _ => None,
    }
}

/// Returns the header for a variable. One that would get lost or changed on the way is a failure: the daemon would judge
/// another call, or without what a project forbids.
fn carrier(variable: &str, value: &str) -> Result<&'static str, Failure> {
    // Spaces around the value of a header do not count.
    header_of(variable)
        .filter(|_| value.trim() == value)
        .ok_or_else(|| Failure::internal(format!("the variable `{variable}` cannot be handed to the daemon")))
}

fn read(response: &Response) -> Result<HostReply, Failure> {
    if let Some(failure) = response.failure() {
        return Err(failure);
    }
    let wrong = || Failure::internal("the daemon said something that is no answer for an agent");
    let exit_code = response.header("portcullis-exit-code").and_then(|code| code.parse().ok());
    let stdout = String::from_utf8(response.body.clone()).map_err(|_| wrong())?;
    let stderr = response.header("portcullis-stderr").map(unescaped).unwrap_or_default();
    Ok(HostReply { stdout, stderr, exit_code: exit_code.ok_or_else(wrong)? })
}

/// Reads a text that was written so that it may stand in a header.
fn unescaped(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('%') {
        bytes.extend(before.as_bytes());
        rest = after;
        if let Some(byte) = after.get(..2).and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            bytes.push(byte);
            rest = after.get(2..).unwrap_or_default();
        } else {
            bytes.push(b'%');
        }
    }
    bytes.extend(rest.as_bytes());
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn response(status: u16, headers: &[(&str, &str)], body: &[u8]) -> Response {
        let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        Response { status, headers, body: body.to_vec() }
    }

    #[test]
    fn no_variable_gets_lost_on_the_way() {
        assert_eq!(carrier("GEMINI_PROJECT_DIR", "/srv/jörg"), Ok("portcullis-project"));
        assert!(carrier("CLAUDE_PROJECT_DIR", "/srv/app ").is_err());
        assert!(carrier("ANOTHER", "x").is_err());
    }

    #[test]
    fn an_answer_is_taken_whole_or_not_at_all() {
        let headers =
            [("portcullis-exit-code", "2"), ("portcullis-stderr", "portcullis: no%0A100%25%C3%A4%")];
        let reply = read(&response(200, &headers, b"{}")).unwrap();
        assert_eq!((reply.stdout.as_str(), reply.exit_code), ("{}", 2));
        assert_eq!(reply.stderr, "portcullis: no\n100%ä%");
        for wrong in [
            response(500, &headers, b"{}"),
            response(200, &[], b"{}"),
            response(200, &[("portcullis-exit-code", "zero")], b"{}"),
            response(200, &headers, b"\xff"),
        ] {
            assert!(read(&wrong).is_err(), "{wrong:?}");
        }
    }
}
