//! The server: one thread accepts, each connection has one of its own, and all of them end with it.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::answer::compose;
use crate::delivery::{Ending, Response, drain, misbehave, wait_before};
use crate::http::{HttpRequest, Incoming, Unreadable};
use crate::recorded::{Log, Recorded};
use crate::script::{Answer, Fault, Script, Step, When};
use crate::wire::{Inquiry, Wire, error_body, reply_body};

/// How long [`ScriptedServer::wait_for_requests`] waits.
const LONGEST_WAIT: Duration = Duration::from_secs(10);

/// How long a connection may be idle.
const LONGEST_IDLE: Duration = Duration::from_mins(1);

/// How many connections there may be at once.
const MOST_CONNECTIONS: usize = 512;

const JSON: &str = "application/json";

/// A model server on loopback that answers by a script. It ends when it is dropped.
#[derive(Debug)]
pub struct ScriptedServer {
    address: SocketAddr,
    shared: Arc<Shared>,
    acceptor: Option<JoinHandle<()>>,
}

/// What all threads of a server share.
#[derive(Debug)]
struct Shared {
    script: Script,
    progress: Mutex<Progress>,
    arrival: Condvar,
    ending: Ending,
    connections: Mutex<Connections>,
}

#[derive(Debug)]
struct Progress {
    log: Log,
    used_steps: usize,
}

#[derive(Debug, Default)]
struct Connections {
    next: u64,
    open: BTreeMap<u64, TcpStream>,
    threads: Vec<JoinHandle<()>>,
}

/// What is to be done about a request.
struct Plan {
    response: Response,
    fault: Option<Fault>,
    delay: Duration,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl ScriptedServer {
    /// Starts a server on a free port of 127.0.0.1.
    ///
    /// # Panics
    ///
    /// Panics if loopback has no port left, because then there is nothing to test with. [`Self::start_on`] does not.
    #[expect(clippy::panic, reason = "a test without its server has nothing to go on with")]
    pub fn start(script: Script) -> Self {
        match Self::start_on(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)), script) {
            Ok(server) => server,
            Err(error) => panic!("the scripted server does not start: {error}"),
        }
    }

    /// Starts a server on an address, which must be one of loopback.
    pub fn start_on(address: SocketAddr, script: Script) -> io::Result<Self> {
        Self::launch(address, script, None)
    }

    /// Starts a server that also writes every request as a line of JSON, with keys left out.
    pub fn start_recording(
        address: SocketAddr,
        script: Script,
        record: Box<dyn Write + Send>,
    ) -> io::Result<Self> {
        Self::launch(address, script, Some(record))
    }

    fn launch(
        address: SocketAddr,
        script: Script,
        record: Option<Box<dyn Write + Send>>,
    ) -> io::Result<Self> {
        if !address.ip().is_loopback() {
            let message = format!("{address} is not an address of loopback; use 127.0.0.1 or [::1]");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
        }
        let listener = TcpListener::bind(address)?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared {
            script,
            progress: Mutex::new(Progress { log: Log::new(record), used_steps: 0 }),
            arrival: Condvar::new(),
            ending: Ending::default(),
            connections: Mutex::new(Connections::default()),
        });
        let own = Arc::clone(&shared);
        let acceptor =
            thread::Builder::new().name("scripted-model".into()).spawn(move || own.accept(&listener))?;
        Ok(Self { address, shared, acceptor: Some(acceptor) })
    }

    /// Returns the address to send requests to, such as `http://127.0.0.1:40123`.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Returns the address it listens on.
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the requests so far in the order they came. The oldest are dropped after 10,000, or 256 MiB.
    pub fn requests(&self) -> Vec<Recorded> {
        lock(&self.shared.progress).log.kept()
    }

    /// Waits until so many requests came, at most ten seconds, and says whether they did. A request counts as soon as it
    /// was read, before it is answered.
    pub fn wait_for_requests(&self, count: usize) -> bool {
        let progress = lock(&self.shared.progress);
        let waited = self
            .shared
            .arrival
            .wait_timeout_while(progress, LONGEST_WAIT, |progress| progress.log.arrived() < count);
        waited.unwrap_or_else(PoisonError::into_inner).0.log.arrived() >= count
    }
}

impl Drop for ScriptedServer {
    fn drop(&mut self) {
        self.shared.ending.announce();
        // The acceptor sleeps until somebody comes.
        let woken = TcpStream::connect_timeout(&self.address, Duration::from_secs(1));
        if let (Some(acceptor), Ok(_)) = (self.acceptor.take(), &woken) {
            let _ = acceptor.join();
        }
        let threads = {
            let mut connections = lock(&self.shared.connections);
            for stream in connections.open.values() {
                let _ = stream.shutdown(Shutdown::Both);
            }
            std::mem::take(&mut connections.threads)
        };
        for thread in threads {
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn accept(self: &Arc<Self>, listener: &TcpListener) {
        loop {
            let accepted = listener.accept();
            if self.ending.is_over() {
                return;
            }
            match accepted {
                Ok((stream, _)) => self.begin(stream),
                // No descriptor left, or the client is gone already.
                Err(_) => {
                    self.ending.wait(Duration::from_millis(10));
                }
            }
        }
    }

    /// Gives a connection its thread. One too many is closed.
    fn begin(self: &Arc<Self>, stream: TcpStream) {
        let mut connections = lock(&self.connections);
        connections.threads.retain(|thread| !thread.is_finished());
        let Ok(second) = stream.try_clone() else { return };
        if connections.open.len() >= MOST_CONNECTIONS {
            return;
        }
        let number = connections.next;
        connections.next += 1;
        connections.open.insert(number, second);
        let own = Arc::clone(self);
        let spawned = thread::Builder::new().name("scripted-connection".into()).spawn(move || {
            // Errors of the connection concern nobody but the client.
            let _ = own.serve(stream);
            lock(&own.connections).open.remove(&number);
        });
        match spawned {
            Ok(thread) => connections.threads.push(thread),
            Err(_) => {
                connections.open.remove(&number);
            }
        }
    }

    fn serve(&self, mut stream: TcpStream) -> io::Result<()> {
        stream.set_nodelay(true)?;
        stream.set_write_timeout(Some(LONGEST_IDLE))?;
        stream.set_read_timeout(Some(LONGEST_IDLE))?;
        let mut incoming = Incoming::new(stream.try_clone()?);
        while !self.ending.is_over() {
            let request = match incoming.read_request() {
                Ok(request) => request,
                Err(Unreadable::Gone) => return Ok(()),
                Err(Unreadable::Wrong(status, message)) => {
                    error_response(None, status, message).send(&mut stream, false)?;
                    drain(&mut stream, &self.ending);
                    return Ok(());
                }
            };
            let plan = self.plan(&request);
            if !wait_before(plan.delay, &self.ending) {
                return Ok(());
            }
            if plan.fault != Some(Fault::Reset) {
                incoming.release()?;
            }
            match plan.fault {
                Some(fault) => return misbehave(&mut stream, &plan.response, fault, &self.ending),
                None => plan.response.send(&mut stream, request.keeps_alive)?,
            }
            if !request.keeps_alive {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Records a request and finds its answer, both at once, so that requests are numbered as steps are used.
    fn plan(&self, request: &HttpRequest) -> Plan {
        let mut progress = lock(&self.progress);
        let recorded = progress.log.add(request);
        self.arrival.notify_all();
        let written = progress.log.write(&recorded);
        let plan = match (written, understand(&recorded)) {
            (Err(_), _) => Plan::of(error_response(recorded.wire(), 500, "the record cannot be written")),
            (Ok(()), Err(response)) => Plan::of(response),
            (Ok(()), Ok(inquiry)) => match self.find_step(&mut progress, &recorded, &inquiry) {
                Some(step) => {
                    drop(progress);
                    return Plan::by(step, &inquiry, recorded.number);
                }
                None => Plan::of(error_response(
                    Some(inquiry.wire),
                    400,
                    "no rule of the script fits this request; add `steps` or `default`",
                )),
            },
        };
        drop(progress);
        plan
    }

    fn find_step(&self, progress: &mut Progress, recorded: &Recorded, inquiry: &Inquiry) -> Option<&Step> {
        let rule = self.script.rules.iter().find(|rule| fits(&rule.when, recorded, inquiry));
        if let Some(rule) = rule {
            return Some(&rule.answer);
        }
        let step = self.script.step_at(progress.used_steps);
        progress.used_steps = progress.used_steps.saturating_add(1);
        step
    }
}

/// Understands a request, or says why it is none for a model.
fn understand(recorded: &Recorded) -> Result<Inquiry, Response> {
    let Some(wire) = recorded.wire() else {
        return Err(error_response(None, 404, "no model is served at this path"));
    };
    if recorded.method != "POST" {
        return Err(error_response(Some(wire), 405, "models are asked with POST"));
    }
    let Some(inquiry) = recorded.inquiry() else {
        return Err(error_response(Some(wire), 400, "the body is not JSON"));
    };
    if inquiry.is_streamed {
        let message = "the scripted server does not stream; ask without `stream`";
        return Err(error_response(Some(wire), 400, message));
    }
    Ok(inquiry)
}

fn fits(when: &When, recorded: &Recorded, inquiry: &Inquiry) -> bool {
    let has =
        |wanted: &Option<String>, text: &str| wanted.as_ref().is_none_or(|part| text.contains(part.as_str()));
    let When { action, text, path, model, headers, wire, stage } = when;
    let has_action = action.as_ref().is_none_or(|part| {
        inquiry.action().contains(part.as_str()) || inquiry.action_raw().contains(part.as_str())
    });
    has_action
        && has(path, &recorded.path)
        && has(model, &inquiry.model)
        && (text.is_none() || has(text, &inquiry.everything()))
        && wire.is_none_or(|wire| wire == inquiry.wire)
        && stage.is_none_or(|stage| stage == inquiry.stage())
        && headers.iter().all(|(name, part)| recorded.header(name).is_some_and(|value| value.contains(part)))
}

impl Plan {
    fn of(response: Response) -> Self {
        Self { response, fault: None, delay: Duration::ZERO }
    }

    fn by(step: &Step, inquiry: &Inquiry, number: usize) -> Self {
        let id = format!("req_scripted_{number}");
        let (status, body) = match &step.answer {
            Answer::Error { status, details } => {
                (*status, error_body(Some(inquiry.wire), *status, details, &id).to_string().into_bytes())
            }
            Answer::Raw { status, body } => (*status, body.clone().into_bytes()),
            _ => (200, reply_body(inquiry, &compose(step, inquiry), number).to_string().into_bytes()),
        };
        let name = if inquiry.wire == Wire::Anthropic { "request-id" } else { "x-request-id" };
        let mut headers = vec![(name.to_owned(), id)];
        headers.extend(step.headers.iter().cloned());
        let fault = match step.answer {
            Answer::Fault(fault) => Some(fault),
            _ => None,
        };
        Self { response: Response { status, content_type: JSON, headers, body }, fault, delay: step.delay }
    }
}

fn error_response(wire: Option<Wire>, status: u16, message: &str) -> Response {
    let details: Map<String, Value> = [("message".to_owned(), json!(message))].into_iter().collect();
    let body = error_body(wire, status, &details, "req_scripted").to_string().into_bytes();
    Response { status, content_type: JSON, headers: Vec::new(), body }
}
