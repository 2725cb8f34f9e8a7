//! Stopping: told once, heard by everything that waits for long.

use tokio::sync::watch;

/// Tells and hears that the daemon stops. Whoever holds a connection for long (a live view, a long poll) waits for this
/// as well.
#[derive(Debug, Clone)]
pub struct Stopping {
    sender: watch::Sender<bool>,
}

impl Stopping {
    /// Begins with nobody stopping.
    pub(crate) fn new() -> Self {
        Self { sender: watch::Sender::new(false) }
    }

    /// Tells everybody.
    pub fn tell(&self) {
        self.sender.send_replace(true);
    }

    /// Waits until it is told.
    pub async fn wait(&self) {
        // The sender is held here, so it is not gone.
        let _ = self.sender.subscribe().wait_for(|is_told| *is_told).await;
    }
}
