//! Messages on standard input and output, a line each.
//!
//! Stricter than the library's own transport, and never silent: a line that is too long, nests too deep, names a field
//! twice or is no request gets an error with its id, if one can be found. Only requests go on; nothing a client tells
//! beside them changes an answer.

use std::future::{Future, ready};
use std::io::{self, BufReader, Write};
use std::thread;

use portcullis_core::Value;
use portcullis_hosts::json::parse;
use rmcp::RoleServer;
use rmcp::model::{ClientJsonRpcMessage, JsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::sync::mpsc;

use super::json_rpc::{ErrorCode, LONGEST_FRAME, error_line, find_id};
use crate::commands::check::{Reading, read_line};

/// How many messages wait for the server at most; a client that sends more has to wait itself.
const MOST_WAITING: usize = 64;

/// How much is read at once, in bytes.
const CHUNK: usize = 64 << 10;

/// Standard input and output.
pub(super) struct StandardStreams {
    incoming: mpsc::Receiver<ClientJsonRpcMessage>,
}

impl StandardStreams {
    /// Starts to read.
    pub(super) fn open() -> io::Result<Self> {
        let (sender, incoming) = mpsc::channel(MOST_WAITING);
        thread::Builder::new().name("standard input".to_owned()).spawn(move || read_all(&sender))?;
        Ok(Self { incoming })
    }
}

impl Transport<RoleServer> for StandardStreams {
    type Error = io::Error;

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let line = serde_json::to_vec(&message).map_err(io::Error::from);
        ready(line.and_then(|mut line| {
            line.push(b'\n');
            write_line(&line)
        }))
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        self.incoming.recv().await
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.incoming.close();
        Ok(())
    }
}

/// Reads standard input to its end, or until nobody wants it any more.
fn read_all(sender: &mpsc::Sender<ClientJsonRpcMessage>) {
    let mut reader = BufReader::with_capacity(CHUNK, io::stdin().lock());
    let mut line = Vec::new();
    loop {
        let understood = match read_line(&mut reader, LONGEST_FRAME, &mut line, || Ok(())) {
            Ok(Reading::Line) => understand(&line),
            Ok(Reading::TooLong) => Err(too_long()),
            Ok(Reading::End) | Err(_) => return,
        };
        let is_listened_to = match understood {
            Ok(Some(message)) => sender.blocking_send(message).is_ok(),
            Ok(None) => true,
            Err(answer) => write_line(answer.as_bytes()).is_ok(),
        };
        if !is_listened_to {
            return;
        }
    }
}

fn too_long() -> String {
    let message = format!("the message is longer than {} MiB", LONGEST_FRAME >> 20);
    error_line(&Value::Null, ErrorCode::InvalidRequest, &message)
}

/// Reads a request; what is not one, and needs no answer, is nothing. The error is the line that answers.
fn understand(line: &[u8]) -> Result<Option<ClientJsonRpcMessage>, String> {
    if line.trim_ascii().is_empty() {
        return Ok(None);
    }
    parse(line).map_err(|error| error_line(&find_id(line), ErrorCode::Parse, &error.message))?;
    match serde_json::from_slice::<ClientJsonRpcMessage>(line) {
        Ok(message @ JsonRpcMessage::Request(_)) => Ok(Some(message)),
        Ok(_) => Ok(None),
        Err(_) => {
            let message = "the message is no request that this server knows";
            Err(error_line(&find_id(line), ErrorCode::InvalidRequest, message))
        }
    }
}

/// Writes a line whole: whoever writes holds the lock for all of it.
fn write_line(line: &[u8]) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(line)?;
    stdout.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_requests_go_on_and_what_is_unclear_is_answered() {
        let request = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
        assert!(matches!(understand(request.as_bytes()), Ok(Some(_))));
        for nothing in ["", " \r", r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#] {
            assert!(matches!(understand(nothing.as_bytes()), Ok(None)), "{nothing}");
        }
        let table = [
            (r#"{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/list"}"#, "-32700"),
            (r#"{"jsonrpc":"2.0","id":1,"#, "-32700"),
            (r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, "-32600"),
            ("17", "-32600"),
        ];
        for (line, code) in table {
            let answer = understand(line.as_bytes()).unwrap_err();
            assert!(answer.contains(code), "{line}: {answer}");
        }
    }
}
