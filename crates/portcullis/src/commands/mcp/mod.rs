//! `portcullis mcp`: a server of the Model Context Protocol on standard input and output.
//!
//! ```text
//! line ──► transport ──► rmcp ──► server ──► approve ──► gate ──► {"behavior":…}
//!              └─► error          └─► check ──► judge, no model, nothing written
//! ```
//!
//! Two tools: `approve` answers where Claude Code would ask its user (`--permission-prompt-tool`), `check` says what
//! would be answered. The client takes anything but a well-formed allow for a denial, so no guard is needed: a server
//! that dies allows nothing.

mod approve;
mod check;
pub(crate) mod json_rpc;
mod server;
mod transport;

use clap::Args;
use portcullis_hosts::HookSession;

use crate::exit_code::ExitCode;
use crate::flags::GateArgs;
use portcullis_gate::Failure;
use portcullis_gate::SessionSettings;
use portcullis_gate::gate::own_session;
use portcullis_gate::presence::note_agent_of;
use portcullis_output::settings_notes;

/// What the audit trail calls a client of this server.
const HOST: &str = "mcp";

/// Serve over MCP the permission prompt of Claude Code, and a tool that checks calls
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  portcullis mcp
  portcullis mcp --mode auto --headless
  claude -p --mcp-config '{\"mcpServers\":{\"portcullis\":{\"command\":\"portcullis\",\"args\":[\"mcp\"]}}}' \\
    --permission-prompt-tool mcp__portcullis__approve 'run the tests'

`approve` takes {tool_name, input, tool_use_id?}.
`check` takes {command} or {tool, input, cwd?, mode?}.

Exit codes: 0 the client has closed standard input, 64 wrong usage, 70 internal failure")]
pub(crate) struct McpArgs {
    #[command(flatten)]
    gate: GateArgs,
}

/// What the tools work with.
#[derive(Debug)]
struct McpToolContext {
    gate: GateArgs,
    /// The session that all calls are counted in: this process.
    place: HookSession,
}

/// Serves until the client closes standard input.
pub(crate) fn run(arguments: &McpArgs) -> Result<ExitCode, Failure> {
    let tools = McpToolContext { gate: arguments.gate.clone(), place: own_session(HOST)? };
    note_agent_of(&tools.place)?;
    // Settings that cannot be used are told now and not call by call.
    settings_notes::warn(&tools.session(&tools.place.cwd)?);
    server::serve(tools)?;
    Ok(ExitCode::Success)
}

impl McpToolContext {
    /// Loads the settings for a directory.
    fn session(&self, cwd: &str) -> Result<SessionSettings, Failure> {
        let project = self.place.project.as_ref().map(std::path::PathBuf::from);
        SessionSettings::open_for_session(&self.gate.session(), cwd, project, &self.place.id)
    }
}
