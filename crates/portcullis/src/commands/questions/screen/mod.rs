//! The queue as a full screen in a terminal: what waits on the left, everything about one question on the right.

mod details;
mod dialog;
mod palette;
mod run;
mod state;
#[cfg(test)]
mod tests;
mod view;

pub(super) use run::run;
