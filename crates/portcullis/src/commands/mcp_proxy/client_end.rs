//! The end towards the client: what the server writes goes through as it is, and answers of the proxy fit between its
//! lines.

use std::io::{self, Write};
use std::sync::{Mutex, PoisonError};

/// How many bytes of answers wait at most for the server to end its line.
const MOST_HELD: usize = 4 << 20;

/// An output shared by the server and the proxy.
pub(super) struct ClientEnd<W> {
    state: Mutex<State<W>>,
}

struct State<W> {
    out: W,
    /// Whether the server has begun a line and not ended it.
    is_mid_line: bool,
    /// Answers that wait for the end of that line.
    held: Vec<u8>,
}

impl<W: Write> ClientEnd<W> {
    /// Begins with an empty line.
    pub(super) const fn new(out: W) -> Self {
        Self { state: Mutex::new(State { out, is_mid_line: false, held: Vec::new() }) }
    }

    /// Passes on what the server wrote.
    pub(super) fn pass(&self, chunk: &[u8]) -> io::Result<()> {
        self.with(|state| {
            let ended = chunk.iter().rposition(|byte| *byte == b'\n').map_or(0, |newline| newline + 1);
            let (lines, rest) = chunk.split_at_checked(ended).unwrap_or((&[], chunk));
            if !lines.is_empty() {
                state.out.write_all(lines)?;
                state.out.write_all(&std::mem::take(&mut state.held))?;
                state.is_mid_line = false;
            }
            state.is_mid_line |= !rest.is_empty();
            state.out.write_all(rest)
        })
    }

    /// Writes an answer of the proxy, which is a whole line. It fails if the server keeps too many of them waiting: an
    /// answer that is dropped would leave the client waiting for ever.
    pub(super) fn answer(&self, line: &str) -> io::Result<()> {
        self.with(|state| {
            if state.is_mid_line {
                if state.held.len() + line.len() > MOST_HELD {
                    return Err(io::Error::other(
                        "the server does not end its line, and too many answers wait",
                    ));
                }
                state.held.extend_from_slice(line.as_bytes());
                return Ok(());
            }
            state.out.write_all(line.as_bytes())
        })
    }

    /// Writes the answers that still wait: the server will not end its line any more.
    pub(super) fn finish(&self) -> io::Result<()> {
        self.with(|state| {
            let held = std::mem::take(&mut state.held);
            if !held.is_empty() {
                state.out.write_all(b"\n")?;
            }
            state.is_mid_line = false;
            state.out.write_all(&held)
        })
    }

    fn with(&self, write: impl FnOnce(&mut State<W>) -> io::Result<()>) -> io::Result<()> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        write(&mut state)?;
        state.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn written(end: ClientEnd<Vec<u8>>) -> String {
        String::from_utf8(end.state.into_inner().unwrap().out).unwrap()
    }

    #[test]
    fn answers_do_not_wait_without_limit() {
        let end = ClientEnd::new(Vec::new());
        end.pass(b"half").unwrap();
        let line = format!("{}\n", "x".repeat((1 << 20) - 1));
        for _ in 0..4 {
            end.answer(&line).unwrap();
        }
        assert!(end.answer("\n").unwrap_err().to_string().contains("does not end its line"));
        end.pass(b"\n").unwrap();
        end.answer("last\n").unwrap();
        assert_eq!(written(end), format!("half\n{}last\n", line.repeat(4)));
    }

    #[test]
    fn an_answer_waits_for_the_end_of_the_servers_line() {
        let end = ClientEnd::new(Vec::new());
        end.answer("1\n").unwrap();
        end.pass(b"ab").unwrap();
        end.answer("2\n").unwrap();
        end.pass(b"").unwrap();
        end.answer("3\n").unwrap();
        end.pass(b"c\nd").unwrap();
        end.answer("4\n").unwrap();
        end.pass(b"e\nf\n").unwrap();
        end.answer("5\n").unwrap();
        end.pass(b"half").unwrap();
        end.answer("6\n").unwrap();
        end.finish().unwrap();
        assert_eq!(written(end), "1\nabc\n2\n3\nde\nf\n4\n5\nhalf\n6\n");
    }
}
