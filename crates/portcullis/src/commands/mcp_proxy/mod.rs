//! `portcullis mcp-proxy`: stands in front of a server of the Model Context Protocol and judges the calls of its tools.
//!
//! ```text
//!            ┌ judged line by line ┐
//! client ────┤                     ├──► server        every other line as it came, byte for byte
//!        ◄───┴── bytes as they are ┴───               answers to what was refused fit in between
//! ```
//!
//! Threads and two pipes, no runtime: what the server says never waits for a judgement, and a call that waits for a person
//! keeps no other message. If the proxy dies, both pipes close and nothing is called any more.

mod client_end;
mod client_side;
mod frame;
mod judging;
mod name;
mod server_end;
mod server_process;

use std::ffi::OsString;
use std::io::{self, BufReader, Read};
use std::process::{ChildStdin, ChildStdout};
use std::sync::mpsc;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use clap::Args;
use portcullis_guard::relay_ended;
use portcullis_hosts::HookSession;

use self::client_end::ClientEnd;
use self::client_side::ClientSide;
use self::judging::Backlog;
use self::name::{Search, ServerName, server_name};
use self::server_end::ServerEnd;
use self::server_process::{end_like, start};
use crate::exit_code::ExitCode;
use crate::flags::GateArgs;
use portcullis_gate::Failure;
use portcullis_gate::SessionSettings;
use portcullis_gate::gate::own_session;
use portcullis_gate::presence::note_agent_of;
use portcullis_output::settings_notes;
use portcullis_output::terminal::print_notes;

/// What the audit trail calls a client of the proxy.
const HOST: &str = "mcp-proxy";

/// How much is read at once, in bytes.
const CHUNK: usize = 64 << 10;

/// The stack of a thread that judges: that of a main thread.
const STACK: usize = 8 << 20;

/// How long the last words of a server are waited for, once it has ended; a process it left behind may keep the pipe.
/// The client has as long again to take them.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// Judge the tool calls of an MCP server before it gets them
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  portcullis mcp-proxy --name github -- github-mcp-server stdio
  portcullis mcp-proxy --name files -- npx -y @modelcontextprotocol/server-filesystem .
  claude mcp add github -- portcullis mcp-proxy --name github -- github-mcp-server stdio

A call of the tool T is judged as mcp__NAME__T.
What is not allowed is not forwarded; its result says why.

Exit codes: those of the server, or 128 and the signal's number if a signal ended it;
64 wrong usage, 70 internal failure")]
pub(crate) struct McpProxyArgs {
    /// The server's name in rules; without it the name that the server gives itself
    #[arg(long, value_name = "SERVER", value_parser = parse_name)]
    name: Option<String>,
    #[command(flatten)]
    gate: GateArgs,
    /// The server's command and its arguments
    #[arg(required = true, last = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

fn parse_name(text: &str) -> Result<String, String> {
    let usable = server_name(text).filter(|name| name == text);
    usable.ok_or_else(|| {
        "a server's name is made of letters, digits, `-` and single `_` between them".to_owned()
    })
}

/// Everything the threads share.
struct Shared {
    gate: GateArgs,
    place: HookSession,
    name: ServerName,
    client: ClientEnd<io::Stdout>,
    server: ServerEnd<ChildStdin>,
    backlog: Mutex<Backlog>,
}

/// Runs the server behind the gate until it ends, and ends as it did.
pub(crate) fn run(arguments: &McpProxyArgs) -> Result<ExitCode, Failure> {
    let place = own_session(HOST)?;
    note_agent_of(&place)?;
    let project = place.project.as_ref().map(std::path::PathBuf::from);
    // Settings that cannot be used are told now and not call by call.
    settings_notes::warn(&SessionSettings::open_for_hook(&arguments.gate.session(), &place.cwd, project)?);
    let name = ServerName::new();
    if let Some(given) = &arguments.name {
        // It is new, so nobody has set it.
        let _ = name.set(given.clone());
    }
    let client = ClientEnd::new(io::stdout());
    let mut server = start(&arguments.command)?;
    let (Some(stdin), Some(stdout)) = (server.stdin.take(), server.stdout.take()) else {
        return Err(Failure::internal("the server has no pipes"));
    };
    let shared = Arc::new(Shared {
        gate: arguments.gate.clone(),
        place,
        name,
        client,
        server: ServerEnd::new(stdin),
        backlog: Mutex::default(),
    });
    let ended = connect(&shared, stdout)
        .map_err(|error| Failure::internal(format!("the proxy cannot start a thread: {error}")))?;
    let status = server.wait().map_err(|error| Failure::internal(format!("the server is lost: {error}")))?;
    relay_ended();
    withdraw_questions(&shared);
    let _ = ended.recv_timeout(LAST_WORDS);
    finish(shared);
    end_like(status)
}

/// Takes back what people are asked for a server that is gone.
fn withdraw_questions(shared: &Shared) {
    shared.server.withdraw_all();
    shared.server.wait_until_settled(LAST_WORDS);
}

/// Writes the answers that still wait, if the client takes them: one that reads nothing must not keep the proxy.
fn finish(shared: Arc<Shared>) {
    let (sender, finished) = mpsc::channel();
    let finishing = move || {
        let _ = shared.client.finish();
        let _ = sender.send(());
    };
    if thread::Builder::new().name("last words".to_owned()).spawn(finishing).is_ok() {
        let _ = finished.recv_timeout(LAST_WORDS);
    }
}

/// Starts both directions. The receiver hears when the server has said its last.
fn connect(shared: &Arc<Shared>, mut stdout: ChildStdout) -> io::Result<mpsc::Receiver<()>> {
    let (sender, ended) = mpsc::channel();
    let one = Arc::clone(shared);
    thread::Builder::new().name("client".to_owned()).stack_size(STACK).spawn(move || {
        let mut client = BufReader::with_capacity(CHUNK, io::stdin().lock());
        if let Err(error) = ClientSide::new(&one).run(&mut client) {
            print_notes([format!("nothing more is forwarded to the server: {error}")]);
        }
        // A client that is gone hears no answer, so nobody is asked on its behalf.
        one.server.withdraw_all();
        one.server.close();
    })?;
    let other = Arc::clone(shared);
    thread::Builder::new().name("server".to_owned()).spawn(move || {
        if let Err(error) = pass_on(&other, &mut stdout) {
            print_notes([format!("nothing more is read from the server: {error}")]);
        }
        // Nobody waits for it any more if that fails.
        let _ = sender.send(());
    })?;
    Ok(ended)
}

/// Passes on what the server writes, as it is.
fn pass_on(shared: &Shared, server: &mut impl Read) -> io::Result<()> {
    let mut search = Search::new(&shared.name);
    let mut buffer = vec![0; CHUNK];
    loop {
        let length = match server.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(length) => length,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        let chunk = buffer.get(..length).unwrap_or_default();
        search.look_at(chunk);
        shared.client.pass(chunk)?;
    }
}
