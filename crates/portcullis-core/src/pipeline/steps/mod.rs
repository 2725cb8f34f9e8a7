//! The steps, one file each, in the order of `STEPS`.

pub(super) mod aborted;
pub(super) mod allow;
pub(super) mod bypass;
mod containment;
pub(super) mod content_ask;
pub(super) mod content_deny;
pub(super) mod interaction;
pub(super) mod mode;
pub(super) mod safety;
pub(super) mod tool_ask;
pub(super) mod tool_check;
pub(super) mod tool_deny;
pub(super) mod unsettled;
