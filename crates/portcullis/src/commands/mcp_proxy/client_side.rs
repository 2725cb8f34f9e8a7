//! From the client to the server: line by line, calls of tools judged, the rest as it came.

use std::io::{self, BufRead, Read};
use std::sync::Arc;
use std::thread;

use portcullis_core::Value;
use portcullis_gate::gate::QuestionWithdrawal;
use portcullis_hosts::json::write_value;

use super::Shared;
use super::frame::{Frame, Message, Refusal, read};
use super::judging::{Judging, Progress};
use crate::commands::mcp::json_rpc::{ErrorCode, LONGEST_FRAME, error_line};

/// What of a line goes on to the server.
enum Passage {
    /// The line as it is.
    Whole,
    /// What is left of it, written anew.
    Rest(Vec<u8>),
    Nothing,
}

/// What stands between the client and the server.
pub(super) struct ClientSide {
    shared: Arc<Shared>,
    judging: Judging,
}

impl ClientSide {
    pub(super) fn new(shared: &Arc<Shared>) -> Self {
        Self { shared: Arc::clone(shared), judging: Judging::new(Arc::clone(shared)) }
    }

    /// Passes lines on until the client ends, or one of both is gone.
    pub(super) fn run(&mut self, client: &mut impl BufRead) -> io::Result<()> {
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
                self.shared.client.answer(&error_line(&Value::Null, ErrorCode::InvalidRequest, &message))?;
                continue;
            }
            match self.judge_line(&line)? {
                Passage::Whole => self.shared.server.pass(&line)?,
                Passage::Rest(rest) => self.shared.server.pass(&rest)?,
                Passage::Nothing => {}
            }
        }
    }

    /// Judges what a line calls, answers what is refused, and says what goes on.
    fn judge_line(&mut self, line: &[u8]) -> io::Result<Passage> {
        let content = line.strip_suffix(b"\n").unwrap_or(line);
        if content.trim_ascii().is_empty() {
            return Ok(Passage::Whole);
        }
        match read(content) {
            Ok(Frame::One(message)) => {
                Ok(if self.goes_on(message, || line.to_vec())? { Passage::Whole } else { Passage::Nothing })
            }
            Ok(Frame::Batch(parts)) => self.judge_batch(parts),
            Err(Refusal { ids, code, message }) => {
                for id in ids {
                    let message = format!("portcullis: {message}; the message was not forwarded");
                    self.shared.client.answer(&error_line(&id, code, &message))?;
                }
                Ok(Passage::Nothing)
            }
        }
    }

    /// What is settled of a batch goes on together; a call that waits goes on alone.
    fn judge_batch(&mut self, parts: Vec<(Value, Message)>) -> io::Result<Passage> {
        let all = parts.len();
        let mut left = Vec::new();
        for (member, message) in parts {
            if self.goes_on(message, || line_of(&member))? {
                left.push(member);
            }
        }
        if left.len() == all {
            return Ok(Passage::Whole);
        }
        if left.is_empty() {
            return Ok(Passage::Nothing);
        }
        Ok(Passage::Rest(line_of(&Value::List(left))))
    }

    /// Says whether a message goes on now; `line` is what goes on if it does later.
    fn goes_on(&mut self, message: Message, line: impl FnOnce() -> Vec<u8>) -> io::Result<bool> {
        match message {
            Message::Other => Ok(true),
            Message::Call(call) => Ok(self.judging.judge(call, line())? == Progress::Allowed),
            Message::Cancellation(id) => {
                let cancelled = self.shared.server.cancel(&id);
                // The server has never heard of a call that is held.
                let is_held = !cancelled.is_empty();
                cancelled.into_iter().try_for_each(withdraw)?;
                Ok(!is_held)
            }
        }
    }
}

/// Takes a question back without keeping whoever reads.
fn withdraw(withdrawal: Arc<QuestionWithdrawal>) -> io::Result<()> {
    let withdrawing = move || {
        // A question that cannot be taken back ends when its time is over.
        let _ = withdrawal.withdraw();
    };
    thread::Builder::new().name("withdraw".to_owned()).spawn(withdrawing).map(|_| ())
}

fn line_of(value: &Value) -> Vec<u8> {
    let mut text = String::new();
    write_value(&mut text, value);
    text.push('\n');
    text.into_bytes()
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
