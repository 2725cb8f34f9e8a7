//! From the client to the server: line by line, calls of tools judged, the rest as it came.

use std::io::{self, BufRead, Read, Write};

use portcullis_core::{ToolCall, Value};
use portcullis_hosts::json::write_value;
use portcullis_hosts::{BlockingReply, HookCall, HookMoment, HookSession, HostAnswer, HostDecision};

use super::HOST;
use super::client_end::ClientEnd;
use super::frame::{Call, Frame, Refusal, read};
use super::name::{ServerName, rule_name};
use crate::commands::mcp::json_rpc::{ErrorCode, LONGEST_FRAME, error_line, refusal_line};
use crate::flags::{GateArgs, print_notice};
use portcullis_gate::gate::{HostGate, UNATTENDED};
use portcullis_gate::judge::ConfiguredConsultants;

/// The one moment at which a call is judged.
static MOMENT: HookMoment = HookMoment {
    event: "tools/call",
    capabilities: UNATTENDED,
    blocking: BlockingReply { stdout: "", stderr: "", exit_code: 70 },
};

/// What of a line goes on to the server.
enum Passage {
    /// The line as it is.
    Whole,
    /// What is left of it, written anew.
    Rest(Vec<u8>),
    Nothing,
}

/// What stands between the client and the server.
pub(super) struct ClientSide<'a, W> {
    pub(super) gate: &'a GateArgs,
    pub(super) place: &'a HookSession,
    pub(super) name: &'a ServerName,
    pub(super) client: &'a ClientEnd<W>,
}

impl<W: Write> ClientSide<'_, W> {
    /// Passes lines on until the client ends, or one of both is gone.
    pub(super) fn run(&self, client: &mut impl BufRead, server: &mut impl Write) -> io::Result<()> {
        let mut line = Vec::new();
        loop {
            line.clear();
            let longest = u64::try_from(LONGEST_FRAME).unwrap_or(u64::MAX);
            let length = client.by_ref().take(longest + 1).read_until(b'\n', &mut line)?;
            if length == 0 {
                return Ok(());
            }
            if length > LONGEST_FRAME && line.last() != Some(&b'\n') {
                skip_line(client)?;
                let message = format!("the message is longer than {} MiB", LONGEST_FRAME >> 20);
                self.client.answer(&error_line(&Value::Null, ErrorCode::InvalidRequest, &message))?;
                continue;
            }
            match self.judge_line(&line)? {
                Passage::Whole => server.write_all(&line)?,
                Passage::Rest(rest) => server.write_all(&rest)?,
                Passage::Nothing => continue,
            }
            server.flush()?;
        }
    }

    /// Judges what a line calls, answers what is refused, and says what goes on.
    fn judge_line(&self, line: &[u8]) -> io::Result<Passage> {
        let content = line.strip_suffix(b"\n").unwrap_or(line);
        if content.trim_ascii().is_empty() {
            return Ok(Passage::Whole);
        }
        match read(content) {
            Ok(Frame::Other) => Ok(Passage::Whole),
            Ok(Frame::Call(call)) => {
                Ok(if self.is_allowed(&call)? { Passage::Whole } else { Passage::Nothing })
            }
            Ok(Frame::Batch(parts)) => self.judge_batch(parts),
            Err(Refusal { ids, code, message }) => {
                for id in ids {
                    let message = format!("portcullis: {message}; the message was not forwarded");
                    self.client.answer(&error_line(&id, code, &message))?;
                }
                Ok(Passage::Nothing)
            }
        }
    }

    fn judge_batch(&self, parts: Vec<(Value, Option<Call>)>) -> io::Result<Passage> {
        let all = parts.len();
        let mut left = Vec::new();
        for (member, call) in parts {
            let is_allowed = match call {
                Some(call) => self.is_allowed(&call)?,
                None => true,
            };
            if is_allowed {
                left.push(member);
            }
        }
        if left.len() == all {
            return Ok(Passage::Whole);
        }
        if left.is_empty() {
            return Ok(Passage::Nothing);
        }
        let mut text = String::new();
        write_value(&mut text, &Value::List(left));
        text.push('\n');
        Ok(Passage::Rest(text.into_bytes()))
    }

    /// Judges a call; one that is refused is answered, if somebody waits for an answer.
    fn is_allowed(&self, call: &Call) -> io::Result<bool> {
        let answer = self.judge(call);
        print_notice(&answer);
        if answer.said == HostDecision::Allow {
            return Ok(true);
        }
        if let Some(id) = &call.id {
            self.client.answer(&refusal_line(id, &answer.reason))?;
        }
        Ok(false)
    }

    fn judge(&self, call: &Call) -> HostAnswer {
        let Some(server) = self.name.get() else {
            return HostAnswer::failure(
                "the server has not said its name yet, by which rules know its tools (start the proxy with --name)",
            );
        };
        let Some(tool) = rule_name(server, &call.tool) else {
            return HostAnswer::failure(
                "the tool's name is empty, too long, or holds characters that are not seen",
            );
        };
        let call_id = call.id.as_ref().map(|id| match id {
            Value::Text(text) => text.clone(),
            other => {
                let mut text = String::new();
                write_value(&mut text, other);
                text
            }
        });
        let asked = HookCall {
            moment: &MOMENT,
            calls: vec![ToolCall::new(&tool, call.arguments.clone())],
            mode: self.gate.mode,
            person: Some(self.gate.person()),
            session: self.place.clone(),
            call_id,
        };
        let session = self.gate.session();
        let gate = HostGate {
            arguments: &session,
            host: HOST,
            format: None,
            known: None,
            consultants: Some(&ConfiguredConsultants),
            before_asking: &|time| time,
        };
        gate.answer_or_block(&asked)
    }
}

/// Skips the rest of a line.
fn skip_line(reader: &mut impl BufRead) -> io::Result<()> {
    loop {
        let chunk = match reader.fill_buf() {
            Ok(chunk) => chunk,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        let newline = chunk.iter().position(|byte| *byte == b'\n');
        let length = newline.map_or(chunk.len(), |newline| newline + 1);
        let is_done = newline.is_some() || chunk.is_empty();
        reader.consume(length);
        if is_done {
            return Ok(());
        }
    }
}
