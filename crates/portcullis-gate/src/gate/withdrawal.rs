//! Takes a question back: whoever asked it does not want the call any more, and no person needs to read it.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::Failure;
use crate::daemon_client::Client;

/// How long the daemon may take to take a question back.
const PATIENCE: Duration = Duration::from_secs(2);

/// The way back for the question of one call, held by the thread that waits for it and by whoever may cancel the call.
#[derive(Debug, Default)]
pub struct QuestionWithdrawal {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    is_withdrawn: bool,
    /// The question that waits, and whom to tell.
    waiting: Option<(Client, String)>,
}

impl QuestionWithdrawal {
    /// Takes the question back. One that does not wait yet is not put any more; an answer that came first stays.
    pub fn withdraw(&self) -> Result<(), Failure> {
        let waiting = {
            let mut state = self.state();
            state.is_withdrawn = true;
            state.waiting.take()
        };
        waiting.map_or(Ok(()), |(client, id)| tell_daemon(&client, &id))
    }

    /// Says whether the question was taken back.
    pub fn is_withdrawn(&self) -> bool {
        self.state().is_withdrawn
    }

    /// Notes that a question waits now. If it was taken back while it was put, it is taken back here.
    pub(super) fn question_waits(&self, client: &Client, id: &str) {
        let is_withdrawn = {
            let mut state = self.state();
            if !state.is_withdrawn {
                state.waiting = Some((client.clone(), id.to_owned()));
            }
            state.is_withdrawn
        };
        if is_withdrawn {
            // If that fails the question ends when its time is over, and the call is dropped either way.
            let _ = tell_daemon(client, id);
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn tell_daemon(client: &Client, id: &str) -> Result<(), Failure> {
    let path = format!("/v1/approvals/{id}/withdraw");
    let response = client.post_bytes(&path, &[], b"{}", PATIENCE)?;
    response.failure().map_or(Ok(()), Err)
}
