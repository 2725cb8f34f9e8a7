//! The end towards the server, and the calls on their way to it.
//!
//! Both are behind one lock, so that a cancellation comes either before its call, which is then never forwarded, or after
//! it, and never in between.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use portcullis_core::Value;
use portcullis_gate::gate::QuestionWithdrawal;

/// How many calls are held at most, and how many bytes of them.
const MOST_HELD: usize = 1024;
const MOST_BYTES: usize = 64 << 20;

/// The server, and the calls that are being judged.
pub(super) struct ServerEnd<W> {
    state: Mutex<State<W>>,
    released: Condvar,
}

struct State<W> {
    /// `None` once nothing more goes to the server.
    out: Option<W>,
    /// Whether the last line that went out was not ended.
    is_mid_line: bool,
    held: BTreeMap<u64, HeldCall>,
    /// How many calls are no longer held and not yet answered.
    unanswered: usize,
    bytes: usize,
    next: u64,
}

struct HeldCall {
    id: Option<Value>,
    withdrawal: Arc<QuestionWithdrawal>,
    is_cancelled: bool,
    bytes: usize,
}

/// What a held call is known by.
#[derive(Debug, Clone)]
pub(super) struct Ticket {
    number: u64,
    pub(super) withdrawal: Arc<QuestionWithdrawal>,
}

/// A call that is held no longer; its client is answered before this is dropped.
#[must_use]
pub(super) struct ReleasedCall<'a, W> {
    end: &'a ServerEnd<W>,
    /// Whether somebody still wants it: one that was cancelled is dropped.
    pub(super) is_wanted: bool,
}

impl<W> Drop for ReleasedCall<'_, W> {
    fn drop(&mut self) {
        self.end.state().unanswered -= 1;
        self.end.released.notify_all();
    }
}

impl<W: Write> ServerEnd<W> {
    /// Begins with nothing held.
    pub(super) const fn new(out: W) -> Self {
        let state = State {
            out: Some(out),
            is_mid_line: false,
            held: BTreeMap::new(),
            unanswered: 0,
            bytes: 0,
            next: 0,
        };
        Self { state: Mutex::new(state), released: Condvar::new() }
    }

    /// Passes bytes on.
    pub(super) fn pass(&self, bytes: &[u8]) -> io::Result<()> {
        self.state().write(bytes)
    }

    /// Holds a call of so many bytes while it is judged; `None` if too many are held.
    pub(super) fn hold(&self, id: Option<&Value>, bytes: usize) -> Option<Ticket> {
        let mut state = self.state();
        if state.held.len() >= MOST_HELD || state.bytes.saturating_add(bytes) > MOST_BYTES {
            return None;
        }
        let (number, withdrawal) = (state.next, Arc::new(QuestionWithdrawal::default()));
        state.next += 1;
        state.bytes += bytes;
        let held =
            HeldCall { id: id.cloned(), withdrawal: Arc::clone(&withdrawal), is_cancelled: false, bytes };
        state.held.insert(number, held);
        Some(Ticket { number, withdrawal })
    }

    /// Ends the holding of a call and forwards its line, if it has one and somebody still wants it.
    pub(super) fn release(&self, ticket: &Ticket, line: Option<&[u8]>) -> io::Result<ReleasedCall<'_, W>> {
        // Before the lock, which it needs itself when it is dropped.
        let mut released = ReleasedCall { end: self, is_wanted: false };
        let mut state = self.state();
        let held = state.held.remove(&ticket.number);
        state.bytes = state.bytes.saturating_sub(held.as_ref().map_or(0, |held| held.bytes));
        state.unanswered += 1;
        self.released.notify_all();
        released.is_wanted = held.is_some_and(|held| !held.is_cancelled);
        if let Some(line) = line.filter(|_| released.is_wanted) {
            if state.is_mid_line {
                state.write(b"\n")?;
            }
            state.write(line)?;
            if !line.ends_with(b"\n") {
                state.write(b"\n")?;
            }
        }
        drop(state);
        Ok(released)
    }

    /// Cancels the calls with an id, and returns how their questions are taken back; empty if none is held.
    pub(super) fn cancel(&self, id: &Value) -> Vec<Arc<QuestionWithdrawal>> {
        let mut state = self.state();
        let cancelled = state.held.values_mut().filter(|held| held.id.as_ref() == Some(id));
        let withdrawals = cancelled.map(|held| {
            held.is_cancelled = true;
            Arc::clone(&held.withdrawal)
        });
        withdrawals.collect()
    }

    /// Takes back the question of every call that is held: whoever would hear the answer is gone.
    pub(super) fn withdraw_all(&self) {
        let held: Vec<_> = self.state().held.values().map(|held| Arc::clone(&held.withdrawal)).collect();
        for withdrawal in held {
            // A question that cannot be taken back ends when its time is over.
            let _ = withdrawal.withdraw();
        }
    }

    /// Waits for the calls that somebody still wants, and tells the server that nothing more comes.
    pub(super) fn close(&self) {
        let is_wanted = |state: &mut State<W>| state.held.values().any(|held| !held.is_cancelled);
        let state = self.released.wait_while(self.state(), is_wanted);
        state.unwrap_or_else(PoisonError::into_inner).out = None;
    }

    /// Waits until nothing is held any more and all that was is answered, but no longer than so.
    pub(super) fn wait_until_settled(&self, most: Duration) {
        let is_open = |state: &mut State<W>| !state.held.is_empty() || state.unanswered > 0;
        drop(self.released.wait_timeout_while(self.state(), most, is_open));
    }
}

impl<W> ServerEnd<W> {
    fn state(&self) -> MutexGuard<'_, State<W>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<W: Write> State<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        let Some(out) = &mut self.out else { return Err(io::ErrorKind::BrokenPipe.into()) };
        if let Some(last) = bytes.last() {
            self.is_mid_line = *last != b'\n';
        }
        out.write_all(bytes)?;
        out.flush()
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn number(id: &str) -> Value {
        Value::Number(id.to_owned())
    }

    fn written(end: &ServerEnd<Vec<u8>>) -> String {
        String::from_utf8(end.state().out.clone().unwrap()).unwrap()
    }

    #[test]
    fn a_cancelled_call_is_dropped_and_a_forwarded_one_is_not_held() {
        let end = ServerEnd::new(Vec::new());
        let [one, two] = ["1", "2"].map(|id| end.hold(Some(&number(id)), 10).unwrap());
        assert_eq!(end.cancel(&number("3")).len(), 0);
        assert_eq!(end.cancel(&number("1")).len(), 1);
        assert!(!end.release(&one, Some(b"one\n")).unwrap().is_wanted);
        assert!(end.release(&two, Some(b"two\n")).unwrap().is_wanted);
        assert_eq!(end.cancel(&number("2")).len(), 0, "the server has it");
        assert_eq!(written(&end), "two\n");
    }

    #[test]
    fn lines_stay_apart() {
        let end = ServerEnd::new(Vec::new());
        let call = end.hold(None, 4).unwrap();
        end.pass(b"the last line without an end").unwrap();
        drop(end.release(&call, Some(b"call")).unwrap());
        assert_eq!(written(&end), "the last line without an end\ncall\n");
    }

    #[test]
    fn what_is_held_has_a_limit() {
        let end = ServerEnd::new(Vec::new());
        assert!(end.hold(None, MOST_BYTES + 1).is_none());
        let held: Vec<Ticket> = (0..MOST_HELD).map(|_| end.hold(None, 1).unwrap()).collect();
        assert!(end.hold(None, 1).is_none());
        drop(end.release(&held[0], None).unwrap());
        assert!(end.hold(None, 1).is_some());
    }

    #[test]
    fn nothing_more_comes_only_after_what_is_still_wanted() {
        let end = ServerEnd::new(Vec::new());
        let [one, two] = ["1", "2"].map(|id| end.hold(Some(&number(id)), 1).unwrap());
        end.cancel(&number("2"));
        std::thread::scope(|scope| {
            let closing = scope.spawn(|| end.close());
            assert!(end.release(&one, Some(b"one\n")).unwrap().is_wanted);
            closing.join().unwrap();
        });
        assert!(end.pass(b"late").is_err());
        assert!(!end.release(&two, None).unwrap().is_wanted);
        end.wait_until_settled(Duration::from_mins(1));
    }

    #[test]
    fn what_is_not_answered_is_not_settled() {
        let end = ServerEnd::new(Vec::new());
        let call = end.hold(None, 1).unwrap();
        let released = end.release(&call, None).unwrap();
        end.wait_until_settled(Duration::ZERO);
        assert_eq!(end.state().unanswered, 1);
        std::thread::scope(|scope| {
            let settled = scope.spawn(|| {
                end.wait_until_settled(Duration::from_mins(1));
                end.state().unanswered
            });
            drop(released);
            assert_eq!(settled.join().unwrap(), 0);
        });
    }
}
