//! What a judge asks of whoever puts fences up.

use std::cell::LazyCell;

use portcullis_core::{Case, FenceOffer};

/// How [`FenceBuilder::held_changes`] begins. Nothing else that the user is told does.
pub(crate) const HELD_CHANGES: &str = "inside a fence it ";

/// Says for a call whether a fence goes up.
pub trait FenceBuilder {
    /// Returns what can be offered, before anything of the machine is looked at.
    fn offer(&self) -> Option<FenceOffer>;

    /// Says whether a fence goes up for this very call, here and now.
    fn goes_up(&self, case: &Case) -> bool;

    /// Says what the same command changed inside a fence that a person has not answered yet: a clause, and the lines of the
    /// difference below it.
    fn held_changes(&self) -> Option<String>;
}

/// Most calls need no fence, so whoever builds one is made when first asked.
impl<T: FenceBuilder, F: FnOnce() -> Option<T>> FenceBuilder for LazyCell<Option<T>, F> {
    fn offer(&self) -> Option<FenceOffer> {
        self.as_ref()?.offer()
    }

    fn goes_up(&self, case: &Case) -> bool {
        self.as_ref().is_some_and(|builder| builder.goes_up(case))
    }

    fn held_changes(&self) -> Option<String> {
        self.as_ref()?.held_changes()
    }
}
