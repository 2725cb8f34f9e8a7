//! The server: a script behind a listener, and the record of what it was asked.

use std::io::{self, Write};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::answer::compose;
use crate::delivery::{ScriptedResponse, misbehave, wait_before};
use crate::http::HttpRequest;
use crate::listening::{HttpService, ListeningService, ServedConnection, lock};
use crate::recorded::{RecordedRequest, RequestLog};
use crate::script::{ModelScript, RequestMatch, ScriptStep, ScriptedAnswer, ServerFault};
use crate::wire::{ModelRequest, WireProtocol, error_body, reply_body};

/// How long [`ScriptedServer::wait_for_requests`] waits.
const LONGEST_WAIT: Duration = Duration::from_secs(10);

const JSON: &str = "application/json";

/// A model server on loopback that answers by a script. It ends when it is dropped.
#[derive(Debug)]
pub struct ScriptedServer {
    listening: ListeningService<ScriptedModel>,
}

/// What answers: the script, and how far it has come.
#[derive(Debug)]
struct ScriptedModel {
    script: ModelScript,
    progress: Mutex<ScriptProgress>,
    arrival: Condvar,
}

#[derive(Debug)]
struct ScriptProgress {
    log: RequestLog,
    used_steps: usize,
}

/// What is to be done about a request.
struct ResponsePlan {
    response: ScriptedResponse,
    fault: Option<ServerFault>,
    delay: Duration,
}

impl ScriptedServer {
    /// Starts a server on a free port of 127.0.0.1.
    ///
    /// # Panics
    ///
    /// Panics if loopback has no port left, because then there is nothing to test with. [`Self::start_on`] does not.
    #[expect(clippy::panic, reason = "a test without its server has nothing to go on with")]
    pub fn start(script: ModelScript) -> Self {
        match Self::start_on(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)), script) {
            Ok(server) => server,
            Err(error) => panic!("the scripted server does not start: {error}"),
        }
    }

    /// Starts a server on an address, which must be one of loopback.
    pub fn start_on(address: SocketAddr, script: ModelScript) -> io::Result<Self> {
        Self::launch(address, script, None)
    }

    /// Starts a server that also writes every request as a line of JSON, with keys left out.
    pub fn start_recording(
        address: SocketAddr,
        script: ModelScript,
        record: Box<dyn Write + Send>,
    ) -> io::Result<Self> {
        Self::launch(address, script, Some(record))
    }

    fn launch(
        address: SocketAddr,
        script: ModelScript,
        record: Option<Box<dyn Write + Send>>,
    ) -> io::Result<Self> {
        let model = ScriptedModel {
            script,
            progress: Mutex::new(ScriptProgress { log: RequestLog::new(record), used_steps: 0 }),
            arrival: Condvar::new(),
        };
        Ok(Self { listening: ListeningService::start(address, model)? })
    }

    /// Returns the address to send requests to, such as `http://127.0.0.1:40123`.
    pub fn url(&self) -> String {
        format!("http://{}", self.address())
    }

    /// Returns the address it listens on.
    pub const fn address(&self) -> SocketAddr {
        self.listening.address()
    }

    /// Returns the requests so far in the order they came. The oldest are dropped after 10,000, or 256 MiB.
    pub fn requests(&self) -> Vec<RecordedRequest> {
        lock(&self.listening.service().progress).log.kept()
    }

    /// Waits until so many requests came, at most ten seconds, and says whether they did. A request counts as soon as it
    /// was read, before it is answered.
    pub fn wait_for_requests(&self, count: usize) -> bool {
        let model = self.listening.service();
        let waited = model.arrival.wait_timeout_while(lock(&model.progress), LONGEST_WAIT, |progress| {
            progress.log.arrived() < count
        });
        waited.unwrap_or_else(PoisonError::into_inner).0.log.arrived() >= count
    }
}

impl HttpService for ScriptedModel {
    fn answer(&self, request: &HttpRequest, connection: &mut ServedConnection<'_>) -> io::Result<bool> {
        let plan = self.plan(request);
        if !wait_before(plan.delay, connection.ending) {
            return Ok(false);
        }
        if plan.fault != Some(ServerFault::Reset) {
            connection.incoming.release()?;
        }
        if let Some(fault) = plan.fault {
            misbehave(connection.stream, &plan.response, fault, connection.ending)?;
            return Ok(false);
        }
        plan.response.send(connection.stream, request.keeps_alive)?;
        Ok(request.keeps_alive)
    }

    fn refuse(&self, status: u16, message: &str) -> ScriptedResponse {
        error_response(None, status, message)
    }
}

impl ScriptedModel {
    /// Records a request and finds its answer, both at once, so that requests are numbered as steps are used.
    fn plan(&self, request: &HttpRequest) -> ResponsePlan {
        let mut progress = lock(&self.progress);
        let recorded = progress.log.add(request);
        self.arrival.notify_all();
        let written = progress.log.write(&recorded);
        let plan = match (written, understand(&recorded)) {
            (Err(_), _) => {
                ResponsePlan::of(error_response(recorded.wire(), 500, "the record cannot be written"))
            }
            (Ok(()), Err(response)) => ResponsePlan::of(response),
            (Ok(()), Ok(inquiry)) => match self.find_step(&mut progress, &recorded, &inquiry) {
                Some(step) => {
                    drop(progress);
                    return ResponsePlan::by(step, &inquiry, recorded.number);
                }
                None => ResponsePlan::of(error_response(
                    Some(inquiry.wire),
                    400,
                    "no rule of the script fits this request; add `steps` or `default`",
                )),
            },
        };
        drop(progress);
        plan
    }

    fn find_step(
        &self,
        progress: &mut ScriptProgress,
        recorded: &RecordedRequest,
        inquiry: &ModelRequest,
    ) -> Option<&ScriptStep> {
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
fn understand(recorded: &RecordedRequest) -> Result<ModelRequest, ScriptedResponse> {
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

fn fits(when: &RequestMatch, recorded: &RecordedRequest, inquiry: &ModelRequest) -> bool {
    let has =
        |wanted: &Option<String>, text: &str| wanted.as_ref().is_none_or(|part| text.contains(part.as_str()));
    let RequestMatch { action, text, path, model, headers, wire, stage } = when;
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

impl ResponsePlan {
    fn of(response: ScriptedResponse) -> Self {
        Self { response, fault: None, delay: Duration::ZERO }
    }

    fn by(step: &ScriptStep, inquiry: &ModelRequest, number: usize) -> Self {
        let id = format!("req_scripted_{number}");
        let (status, body) = match &step.answer {
            ScriptedAnswer::Error { status, details } => {
                (*status, error_body(Some(inquiry.wire), *status, details, &id).to_string().into_bytes())
            }
            ScriptedAnswer::Raw { status, body } => (*status, body.clone().into_bytes()),
            _ => (200, reply_body(inquiry, &compose(step, inquiry), number).to_string().into_bytes()),
        };
        let name = if inquiry.wire == WireProtocol::Anthropic { "request-id" } else { "x-request-id" };
        let mut headers = vec![(name.to_owned(), id)];
        headers.extend(step.headers.iter().cloned());
        let fault = match step.answer {
            ScriptedAnswer::Fault(fault) => Some(fault),
            _ => None,
        };
        Self {
            response: ScriptedResponse { status, content_type: JSON, headers, body },
            fault,
            delay: step.delay,
        }
    }
}

fn error_response(wire: Option<WireProtocol>, status: u16, message: &str) -> ScriptedResponse {
    let details: Map<String, Value> = [("message".to_owned(), json!(message))].into_iter().collect();
    let body = error_body(wire, status, &details, "req_scripted").to_string().into_bytes();
    ScriptedResponse { status, content_type: JSON, headers: Vec::new(), body }
}
