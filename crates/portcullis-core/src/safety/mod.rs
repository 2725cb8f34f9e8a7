//! What no mode lifts: writes that steer tools, removals that cannot be made good (spec A7).

mod critical;
mod protected;
mod removal;
mod variable;

pub(crate) use critical::find_critical_removal;
pub(crate) use protected::{find_protected_write, is_protected};
