//! `portcullis serve`: the daemon, in the foreground, until it is stopped.

use std::io::{IsTerminal as _, stdout};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use portcullis_core::visible;
use serde_json::json;

use crate::exit_code::ExitCode;
use portcullis_daemon::server::{ListenAddress, ListenOptions, TlsFiles, asked_to_stop};
use portcullis_daemon::start::{SignIn, StartOptions, Started};
use portcullis_daemon::{Daemon, MOST_WAITING_THREADS};
use portcullis_gate::Failure;
use portcullis_gate::daemon_client::Running;
use portcullis_gate::presence::require_presence;
use portcullis_gate::session_settings::{SettingsFlags, absolute_path};
use portcullis_output::terminal::{print, printable};

/// How long threads may take to end when everything is done.
const LAST_MOMENTS: Duration = Duration::from_secs(1);
/// How long a thread without work is kept. Each has memory of its own, which goes back when it ends, and looking at the
/// store now and then would keep many of them for good.
const IDLE_THREAD: Duration = Duration::from_secs(1);

const AFTER_HELP: &str = "\
Examples:
  portcullis serve
  portcullis serve --listen 127.0.0.1:0 --json
  portcullis serve --no-tcp
  portcullis serve --listen 0.0.0.0:7317 --tls-cert c.pem --tls-key k.pem --allow-host gate.lan

The daemon listens at the loopback interface and at a unix socket that only you can open.
In your terminal it prints a link that signs you in to its page, and a code to answer there.
Each works once; `portcullis tokens link` prints others.
Programs need a token for everything but reading at the unix socket: see `portcullis tokens`.

Exit codes: 0 stopped as asked, 64 wrong usage or one runs already, 70 internal failure";

/// Serve the web page, the approval queue and the HTTP API
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct ServeArgs {
    /// Where to listen; port 0 takes a free one [default: 127.0.0.1 and `daemon.port`, or the first free port from 7317]
    #[arg(long, value_name = "ADDRESS:PORT")]
    listen: Option<SocketAddr>,
    /// Listen at the unix socket alone
    #[arg(long, conflicts_with_all = ["listen", "tls_cert", "tls_key", "insecure_plain_http"])]
    no_tcp: bool,
    /// The unix socket, instead of the one in the state directory
    #[arg(long, value_name = "PATH")]
    socket: Option<String>,
    /// The certificate chain, a PEM file
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    tls_cert: Option<PathBuf>,
    /// The key of the certificate, a PEM file
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,
    /// Listen outside of loopback without encryption: whoever sees the traffic sees the tokens
    #[arg(long)]
    insecure_plain_http: bool,
    /// A further name that requests may be sent to
    #[arg(long, value_name = "NAME")]
    allow_host: Vec<String>,
    /// A further settings file, or settings as JSON
    #[arg(long, value_name = "FILE|JSON")]
    settings: Option<String>,
    /// Print where it listens as one line of JSON
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub(crate) fn run(arguments: ServeArgs) -> Result<ExitCode, Failure> {
    let is_json = arguments.json;
    let options = arguments.into_options()?;
    portcullis_guard::raise_open_files();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .max_blocking_threads(MOST_WAITING_THREADS)
        .thread_keep_alive(IDLE_THREAD)
        .build()
        .map_err(|error| Failure::internal(format!("the daemon cannot be started: {error}")))?;
    let outcome = runtime.block_on(serve(options, is_json));
    runtime.shutdown_timeout(LAST_MOMENTS);
    outcome.map(|()| ExitCode::Success)
}

async fn serve(options: StartOptions, is_json: bool) -> Result<(), Failure> {
    // Signals are caught before anybody can learn that the daemon runs.
    let asked = asked_to_stop()?;
    let started = Daemon::start(options).await?;
    print(&greeting(&started, is_json)?)?;
    let stopping = started.stopping();
    tokio::spawn(async move {
        asked.await;
        stopping.tell();
    });
    started.serve().await;
    Ok(())
}

fn greeting(started: &Started, is_json: bool) -> Result<String, Failure> {
    // Whatever else takes this, such as a journal, others may read.
    let is_shown = stdout().is_terminal() && require_presence("see the code of the page").is_ok();
    let sign_in = if is_shown { started.sign_in()? } else { None };
    let (link, code) = sign_in.map(|SignIn { url, code }| (url, code)).unzip();
    let Running { pid, url, address, socket, .. } = started.running();
    let socket = socket.display().to_string();
    if is_json {
        let value =
            json!({"pid": pid, "url": url, "address": address, "socket": socket, "link": link, "code": code});
        return Ok(printable(&format!("{value}\n")));
    }
    let page = url.as_ref().map(|url| format!("listening at {url}\n")).unwrap_or_default();
    let link = link.map(|link| format!("sign in: {link}\n")).unwrap_or_default();
    let code = code.map(|code| format!("code: {code}\n")).unwrap_or_default();
    Ok(format!("{page}listening at {}\n{link}{code}", visible(&socket)))
}

impl ServeArgs {
    fn into_options(self) -> Result<StartOptions, Failure> {
        let tls = self.tls_cert.zip(self.tls_key).map(|(certificate, key)| TlsFiles { certificate, key });
        let listen = ListenOptions {
            address: match self.listen {
                _ if self.no_tcp => ListenAddress::Nowhere,
                Some(address) => ListenAddress::Fixed(address),
                None => ListenAddress::Usual { port: None },
            },
            tls,
            is_plain_accepted: self.insecure_plain_http,
        };
        Ok(StartOptions {
            listen,
            socket: self.socket.as_deref().map(absolute_path).transpose()?,
            allowed_hosts: self.allow_host,
            arguments: SettingsFlags { settings: self.settings, ..SettingsFlags::default() },
        })
    }
}
