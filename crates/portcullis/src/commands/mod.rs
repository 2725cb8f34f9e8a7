//! The commands, one file or folder each.

pub(crate) mod allow;
pub(crate) mod auto_mode;
pub(crate) mod check;
pub(crate) mod completions;
pub(crate) mod deny;
pub(crate) mod doctor;
pub(crate) mod eval;
pub(crate) mod explain;
mod grant;
pub(crate) mod grants;
pub(crate) mod hook;
pub(crate) mod init;
pub(crate) mod log;
pub(crate) mod man;
pub(crate) mod mcp;
pub(crate) mod mcp_proxy;
pub(crate) mod modes;
pub(crate) mod replay;
pub(crate) mod retry;
pub(crate) mod rules;
pub(crate) mod schema;
pub(crate) mod settings;
pub(crate) mod stats;
pub(crate) mod trust;
pub(crate) mod uninstall;
