//! The process of the server: how it is started, and how the proxy ends as it did.

use std::ffi::OsString;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitStatus, Stdio};

use portcullis_core::visible;
use portcullis_guard::relay_signals;

use crate::exit_code::ExitCode;
use portcullis_gate::Failure;

/// Starts the server, and passes on to it what asks the proxy to end.
pub(super) fn start(command: &[OsString]) -> Result<Child, Failure> {
    let (program, words) =
        command.split_first().ok_or_else(|| Failure::usage("there is no server to start"))?;
    let child = Command::new(program).args(words).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    let child = child.map_err(|error| {
        Failure::usage(format!("the server `{}` cannot be started: {error}", program.to_string_lossy()))
            .with_hint("name its command after --, as you would start it in a shell")
    })?;
    relay_signals(child.id()).map_err(|_| Failure::internal("signals cannot be passed on to the server"))?;
    Ok(child)
}

/// Ends the process as the server ended.
pub(super) fn end_like(status: ExitStatus) -> Result<ExitCode, Failure> {
    let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal));
    let Some(code) = code else {
        return Err(Failure::internal(format!(
            "the server ended in a way that is not known: {}",
            visible(&status.to_string())
        )));
    };
    #[expect(clippy::exit, reason = "the server's code need not be one of ours")]
    std::process::exit(code)
}
