//! What a judge asks of whoever puts fences up.

use portcullis_core::{Case, FenceOffer};

/// Says for a call whether a fence goes up.
pub trait FenceBuilder {
    /// Returns what can be offered, before anything of the machine is looked at.
    fn offer(&self) -> Option<FenceOffer>;

    /// Says whether a fence goes up for this very call, here and now.
    fn goes_up(&self, case: &Case) -> bool;

    /// Says what the same command changed inside a fence that a person has not answered yet, in one clause.
    fn held_changes(&self) -> Option<String>;
}
