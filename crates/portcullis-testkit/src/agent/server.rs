//! The server that plays the model of an agent.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::dialect::{AnswerDelivery, ClientProtocol, ModelTurn, StreamEvent, WrittenAnswer};
use super::script::{AgentScript, AgentTurn, id_of, next_turn};
use crate::delivery::{ScriptedResponse, ShutdownSignal};
use crate::http::HttpRequest;
use crate::listening::{HttpService, ListeningService, ServedConnection, lock};
use crate::recorded::{RecordedRequest, RequestLog};

const JSON: &str = "application/json";
const EVENTS: &str = "text/event-stream";

/// How long a turn waits for the subagent.
const LONGEST_WAIT: Duration = Duration::from_mins(1);

/// How often it looks.
const LOOK: Duration = Duration::from_millis(20);

/// A model server on loopback that plays an agent's model by a script. It ends when it is dropped.
#[derive(Debug)]
pub struct AgentServer {
    listening: ListeningService<ScriptPlayer>,
}

/// Who asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum AskingAgent {
    /// The agent itself.
    Agent,
    /// A subagent of it.
    Subagent,
    /// The client, for something beside the work, such as a title.
    Beside,
}

#[derive(Debug)]
struct ScriptPlayer {
    script: AgentScript,
    log: Mutex<RequestLog>,
    has_subagent_ended: AtomicBool,
}

impl AgentServer {
    /// Starts a server on a free port of 127.0.0.1.
    pub fn start(script: AgentScript) -> io::Result<Self> {
        let log = Mutex::new(RequestLog::new(None));
        let player = ScriptPlayer { script, log, has_subagent_ended: AtomicBool::new(false) };
        let listening = ListeningService::start(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)), player)?;
        Ok(Self { listening })
    }

    /// Returns the address to send requests to, such as `http://127.0.0.1:40123`.
    pub fn url(&self) -> String {
        format!("http://{}", self.address())
    }

    /// Returns the address it listens on.
    pub const fn address(&self) -> SocketAddr {
        self.listening.address()
    }

    /// Returns the requests so far in the order they came.
    pub fn requests(&self) -> Vec<RecordedRequest> {
        lock(&self.listening.service().log).kept()
    }

    /// Says who sent a request, if it is one to a model.
    pub fn asking(&self, request: &RecordedRequest) -> Option<AskingAgent> {
        let (dialect, _) = ClientProtocol::of_path(&request.path)?;
        Some(self.listening.service().choose(dialect, request.json.as_ref()?).0)
    }

    /// Returns what the model was told the call with this label came to, if it was told.
    pub fn told(&self, label: &str) -> Option<String> {
        let id = id_of(label);
        self.requests().iter().find_map(|request| {
            let (dialect, _) = ClientProtocol::of_path(&request.path)?;
            let results = (dialect.results)(request.json.as_ref()?);
            results.into_iter().find(|result| result.id.contains(&id)).map(|result| result.text)
        })
    }
}

impl HttpService for ScriptPlayer {
    fn answer(&self, request: &HttpRequest, connection: &mut ServedConnection<'_>) -> io::Result<bool> {
        connection.incoming.release()?;
        let recorded = lock(&self.log).add(request);
        let mut response = self.respond(&recorded, connection.ending);
        if recorded.method == "HEAD" {
            response.body.clear();
        }
        response.send(connection.stream, request.keeps_alive)?;
        Ok(request.keeps_alive)
    }

    fn refuse(&self, status: u16, message: &str) -> ScriptedResponse {
        refusal(status, message)
    }
}

impl ScriptPlayer {
    fn respond(&self, request: &RecordedRequest, ending: &ShutdownSignal) -> ScriptedResponse {
        let path = request.path.split_once('?').map_or(request.path.as_str(), |(path, _)| path);
        let Some((dialect, delivery)) = ClientProtocol::of_path(path).filter(|_| request.method == "POST")
        else {
            return respond_beside(path);
        };
        let Some(body) = &request.json else { return refusal(400, "the body is not JSON") };
        let (asking, turn) = self.choose(dialect, body);
        if turn.is_after_subagent {
            self.wait_for_subagent(ending);
        }
        if asking == AskingAgent::Subagent && turn.calls.is_empty() {
            self.has_subagent_ended.store(true, Ordering::Release);
        }
        let written = (dialect.write)(body, ModelTurn { text: turn.text.as_deref(), calls: &turn.calls });
        let is_streamed = match delivery {
            AnswerDelivery::Streamed => true,
            AnswerDelivery::Whole => false,
            AnswerDelivery::AsAsked => body.get("stream").and_then(Value::as_bool).unwrap_or_default(),
        };
        if is_streamed { stream(&written) } else { whole(&written.whole) }
    }

    fn wait_for_subagent(&self, ending: &ShutdownSignal) {
        let start = Instant::now();
        while !self.has_subagent_ended.load(Ordering::Acquire) && start.elapsed() < LONGEST_WAIT {
            if ending.wait(LOOK) {
                return;
            }
        }
    }

    /// Says who asks and what the model says.
    fn choose(&self, dialect: &ClientProtocol, body: &Value) -> (AskingAgent, AgentTurn) {
        if !(dialect.has_tools)(body) {
            return (AskingAgent::Beside, AgentTurn::say("ok"));
        }
        let (is_subagent, turns) = self.script.turns_for(&(dialect.said_by_user)(body));
        let answered: Vec<String> = (dialect.results)(body).into_iter().map(|result| result.id).collect();
        let turn = next_turn(turns, &answered).cloned().unwrap_or_else(|| AgentTurn::say("done"));
        (if is_subagent { AskingAgent::Subagent } else { AskingAgent::Agent }, turn)
    }
}

/// Answers what clients ask a server before and beside the work.
fn respond_beside(path: &str) -> ScriptedResponse {
    if path.ends_with("/count_tokens") {
        whole(&json!({"input_tokens": 1}))
    } else if path.ends_with(":countTokens") {
        whole(&json!({"totalTokens": 1}))
    } else if path.ends_with("/models") {
        whole(&json!({"object": "list", "data": [], "models": [], "has_more": false}))
    } else if path == "/" {
        whole(&json!({}))
    } else {
        refusal(404, "nothing is served at this path")
    }
}

fn whole(body: &Value) -> ScriptedResponse {
    let body = body.to_string().into_bytes();
    ScriptedResponse { status: 200, content_type: JSON, headers: Vec::new(), body }
}

/// All events are sent at once: no client minds how fast a model is.
fn stream(written: &WrittenAnswer) -> ScriptedResponse {
    let body: String = written.events.iter().map(StreamEvent::to_text).collect();
    ScriptedResponse { status: 200, content_type: EVENTS, headers: Vec::new(), body: body.into_bytes() }
}

fn refusal(status: u16, message: &str) -> ScriptedResponse {
    let error = json!({"type": "invalid_request_error", "message": message});
    let body = json!({"type": "error", "error": error}).to_string().into_bytes();
    ScriptedResponse { status, content_type: JSON, headers: Vec::new(), body }
}
