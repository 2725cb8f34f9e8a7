//! `portcullis-scripted-model`: the scripted model server as a program.

use std::fs::OpenOptions;
use std::io::{self, Read, Write};
use std::net::SocketAddr;
use std::process::ExitCode;

use portcullis_testkit::{ModelScript, ScriptedServer};

const HELP: &str = "\
Answers requests to a model by a script, on loopback.

Usage: portcullis-scripted-model [--listen ADDRESS] [--record FILE] SCRIPT.json
       portcullis-scripted-model [--listen ADDRESS] [--record FILE] -

  SCRIPT.json        the script, - for standard input
  --listen ADDRESS   where to listen, on loopback only [127.0.0.1:8765]; port 0 takes a free one
  --record FILE      append every request to a file as a line of JSON, keys left out
  --help             print this

The script is described in docs/guides/test-with-a-scripted-model.md. Ctrl-C ends the server.
";

/// The exit code for arguments or a script that cannot be used.
const USAGE: u8 = 64;

/// The largest script.
const LARGEST_SCRIPT: u64 = 16 * 1024 * 1024;

#[derive(Debug)]
struct CliArguments {
    listen: SocketAddr,
    record: Option<String>,
    script: String,
}

#[derive(Debug)]
enum StartFailure {
    Usage(String),
    Other(String),
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.iter().any(|argument| argument == "--help" || argument == "-h") {
        say(HELP);
        return ExitCode::SUCCESS;
    }
    let (message, code) = match run(&arguments) {
        Ok(never) => match never {},
        Err(StartFailure::Usage(message)) => (message, ExitCode::from(USAGE)),
        Err(StartFailure::Other(message)) => (message, ExitCode::FAILURE),
    };
    complain(&message);
    code
}

fn run(arguments: &[String]) -> Result<std::convert::Infallible, StartFailure> {
    let arguments = read_arguments(arguments).map_err(StartFailure::Usage)?;
    let text = read_script(&arguments.script)?;
    let script = ModelScript::from_json(&text).map_err(|error| StartFailure::Usage(error.to_string()))?;
    let failed = |error: io::Error| {
        StartFailure::Other(format!(
            "cannot listen on {}: {error}; choose another --listen",
            arguments.listen
        ))
    };
    let server = match &arguments.record {
        None => ScriptedServer::start_on(arguments.listen, script).map_err(failed)?,
        Some(path) => {
            let record = open_record(path)?;
            ScriptedServer::start_recording(arguments.listen, script, record).map_err(failed)?
        }
    };
    say(&format!("listening on {}\n", server.url()));
    loop {
        std::thread::park();
    }
}

fn read_arguments(arguments: &[String]) -> Result<CliArguments, String> {
    let mut listen = "127.0.0.1:8765".to_owned();
    let mut record = None;
    let mut script = None;
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        let mut value =
            |name: &str| rest.next().cloned().ok_or_else(|| format!("{name} has no value; see --help"));
        match argument.as_str() {
            "--listen" => listen = value("--listen")?,
            "--record" => record = Some(value("--record")?),
            option if option.starts_with("--") => {
                return Err(format!("unknown option {option:?}; see --help"));
            }
            path if script.is_none() => script = Some(path.to_owned()),
            extra => return Err(format!("one script too many: {extra:?}; name one")),
        }
    }
    let script = script.ok_or("no script is named; give a file or - for standard input")?;
    Ok(CliArguments { listen: read_address(&listen)?, record, script })
}

/// Reads an address and refuses what other machines could reach.
fn read_address(text: &str) -> Result<SocketAddr, String> {
    let numeric = match text.strip_prefix("localhost:") {
        Some(port) => format!("127.0.0.1:{port}"),
        None => text.to_owned(),
    };
    let address: SocketAddr = numeric
        .parse()
        .map_err(|_| format!("--listen {text:?} is not an address with a port; write 127.0.0.1:8765"))?;
    if !address.ip().is_loopback() {
        return Err(format!("--listen {text:?} is not on loopback; use 127.0.0.1 or [::1]"));
    }
    Ok(address)
}

fn read_script(path: &str) -> Result<String, StartFailure> {
    let mut text = String::new();
    let read = match path {
        "-" => io::stdin().lock().take(LARGEST_SCRIPT + 1).read_to_string(&mut text),
        _ => {
            std::fs::File::open(path).and_then(|file| file.take(LARGEST_SCRIPT + 1).read_to_string(&mut text))
        }
    };
    read.map_err(|error| StartFailure::Usage(format!("cannot read the script {path:?}: {error}")))?;
    if u64::try_from(text.len()).unwrap_or(u64::MAX) > LARGEST_SCRIPT {
        return Err(StartFailure::Usage(format!(
            "the script {path:?} is larger than 16 MiB; make it shorter"
        )));
    }
    Ok(text)
}

/// Opens a file to append to, for its owner only: prompts may hold what is nobody else's business.
fn open_record(path: &str) -> Result<Box<dyn Write + Send>, StartFailure> {
    let mut options = OpenOptions::new();
    options.append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match options.open(path) {
        Ok(file) => Ok(Box::new(file)),
        Err(error) => Err(StartFailure::Other(format!("cannot write the record {path:?}: {error}"))),
    }
}

fn say(text: &str) {
    let mut out = io::stdout().lock();
    // A closed pipe is the reader's wish.
    let _ = out.write_all(text.as_bytes());
    let _ = out.flush();
}

fn complain(message: &str) {
    let _ = writeln!(io::stderr().lock(), "error: {message}");
}
