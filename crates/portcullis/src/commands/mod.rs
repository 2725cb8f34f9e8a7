//! The commands, one file or folder each.

pub(crate) mod allow;
mod answer;
pub(crate) mod auto_mode;
pub(crate) mod check;
pub(crate) mod completions;
pub(crate) mod deny;
pub(crate) mod doctor;
pub(crate) mod eval;
pub(crate) mod explain;
pub(crate) mod grants;
pub(crate) mod hook;
pub(crate) mod init;
pub(crate) mod log;
pub(crate) mod man;
pub(crate) mod mcp;
pub(crate) mod mcp_proxy;
pub(crate) mod memory;
pub(crate) mod modes;
pub(crate) mod policy;
pub(crate) mod profiles;
pub(crate) mod questions;
pub(crate) mod replay;
pub(crate) mod retry;
pub(crate) mod rules;
#[cfg(target_os = "linux")]
pub(crate) mod run;
#[cfg(target_os = "linux")]
pub(crate) mod runs;
pub(crate) mod schema;
pub(crate) mod serve;
pub(crate) mod settings;
pub(crate) mod stats;
pub(crate) mod store;
pub(crate) mod tokens;
pub(crate) mod trust;
pub(crate) mod uninstall;
