//! The server: which tools there are, and who answers a call of one.
//!
//! The protocol runs on this thread. Every call is worked on in a thread of its own, because loading settings and asking
//! a model block; a panic there ends in an answer like any other failure.

use std::sync::Arc;

use portcullis_core::MODES;
use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, CustomRequest, CustomResult,
    Implementation, JsonObject, ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig,
    Tool, ToolAnnotations,
};
use rmcp::service::{RequestContext, serve_server};
use rmcp::{ErrorData, RoleServer};
use serde_json::{Value, json};
use tokio::sync::Semaphore;

use super::transport::StandardStreams;
use super::{McpToolContext, approve, check};
use portcullis_gate::Failure;

/// How many calls are worked on at once; the others wait.
const MOST_AT_ONCE: usize = 16;

/// The stack of a thread that works on a call: that of a main thread.
const STACK: usize = 8 << 20;

/// Where Claude Code puts the id of the call in what it sends along with a request.
const CALL_ID: &str = "claudecode/toolUseId";

const INSTRUCTIONS: &str = "`approve` decides whether a tool call may run; it is for the host, not for the agent. `check` \
                            says what would be decided, and why; it changes nothing.";

/// Serves until standard input ends.
pub(super) fn serve(tools: McpToolContext) -> Result<(), Failure> {
    let unstarted = |error: std::io::Error| Failure::internal(format!("the server cannot start: {error}"));
    let mut builder = tokio::runtime::Builder::new_current_thread();
    let runtime = builder.enable_all().thread_stack_size(STACK).build().map_err(unstarted)?;
    let server = Server { tools: Arc::new(tools), turns: Arc::new(Semaphore::new(MOST_AT_ONCE)) };
    let streams = StandardStreams::open().map_err(unstarted)?;
    let outcome = runtime.block_on(async {
        match serve_server(server, streams).await {
            Ok(running) => running.waiting().await.map(|_| ()).map_err(|error| error.to_string()),
            // A client that leaves before it said anything wants nothing.
            Err(rmcp::service::ServerInitializeError::ConnectionClosed(_)) => Ok(()),
            Err(error) => Err(error.to_string()),
        }
    });
    // A judgement that nobody waits for any more does not keep the process.
    runtime.shutdown_background();
    outcome.map_err(|message| Failure::internal(format!("the server failed: {message}")))
}

/// Answers requests.
struct Server {
    tools: Arc<McpToolContext>,
    turns: Arc<Semaphore>,
}

impl Server {
    /// Works on a call in a thread of its own. `None` if it could not be finished.
    async fn apart<T: Send + 'static>(
        &self,
        work: impl FnOnce(&McpToolContext) -> T + Send + 'static,
    ) -> Option<T> {
        let tools = Arc::clone(&self.tools);
        let turn = Arc::clone(&self.turns).acquire_owned().await.ok()?;
        let worker = tokio::task::spawn_blocking(move || {
            let _turn = turn;
            work(&tools)
        });
        worker.await.ok()
    }

    async fn approve(&self, arguments: JsonObject, request_id: Option<String>) -> CallToolResult {
        let text = self.apart(move |tools| approve::approve(tools, arguments, request_id)).await;
        let text = text.unwrap_or_else(|| approve::blocked(UNFINISHED));
        CallToolResult::success(vec![ContentBlock::text(text)])
    }

    async fn check(&self, arguments: JsonObject) -> CallToolResult {
        let checked = self.apart(move |tools| check::check(tools, &arguments)).await;
        match checked.unwrap_or_else(|| Err(UNFINISHED.to_owned())) {
            Ok(checked) => {
                let mut result = CallToolResult::structured(checked.object);
                result.content.insert(0, ContentBlock::text(checked.summary));
                result
            }
            Err(message) => CallToolResult::error(vec![ContentBlock::text(message)]),
        }
    }
}

const UNFINISHED: &str = "the call could not be judged because of an internal failure";

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new("portcullis", env!("CARGO_PKG_VERSION")))
            .with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(vec![approve_tool(), check_tool()]))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = request.arguments.unwrap_or_default();
        match &*request.name {
            "approve" => {
                let request_id = context.meta.get(CALL_ID).and_then(Value::as_str).map(str::to_owned);
                Ok(self.approve(arguments, request_id).await.into())
            }
            "check" => Ok(self.check(arguments).await.into()),
            _ => Err(ErrorData::invalid_params("there is no such tool", None)),
        }
    }

    /// A call of a tool whose parameters are not even those of a call arrives here.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        if request.method != "tools/call" {
            return Err(ErrorData::new(rmcp::model::ErrorCode::METHOD_NOT_FOUND, request.method, None));
        }
        let name = request.params.as_ref().and_then(|params| params.get("name"));
        if name.and_then(Value::as_str) != Some("approve") {
            return Err(ErrorData::invalid_params("the parameters are not those of a call", None));
        }
        let text = approve::blocked("the parameters of `approve` are not those of a call");
        Ok(CustomResult::new(json!({"content": [{"type": "text", "text": text}]})))
    }
}

fn approve_tool() -> Tool {
    let schema = json!({
        "type": "object",
        "properties": {
            "tool_name": {"type": "string", "description": "The tool that is about to be called"},
            "input": {"type": "object", "description": "Its input"},
            "tool_use_id": {"type": "string", "description": "The id of the call"},
        },
        "required": ["tool_name", "input"],
    });
    let description = "Decides whether a tool call may run. Claude Code calls it where it would ask its user: \
                       --permission-prompt-tool mcp__portcullis__approve";
    // Deciding is recorded and may use up what a person granted, so it is not read-only.
    let annotations = ToolAnnotations::new().read_only(false).destructive(false).open_world(false);
    Tool::new("approve", description, object(schema)).with_annotations(annotations)
}

fn check_tool() -> Tool {
    let modes: Vec<&str> = MODES.iter().map(|info| info.name).collect();
    let schema = json!({
        "type": "object",
        "properties": {
            "command": {"type": "string", "description": "A shell command; alone, instead of tool and input"},
            "tool": {"type": "string", "description": "A tool, such as Edit"},
            "input": {"type": "object", "description": "Its input"},
            "cwd": {"type": "string", "description": "The directory it runs in, inside this server's"},
            "mode": {"type": "string", "enum": modes, "description": "The permission mode"},
        },
    });
    let description = "Says what would be answered to a tool call, and why, without a model: allow, ask or deny. \
                       Decides nothing and records nothing.";
    let annotations = ToolAnnotations::new().read_only(true).idempotent(true).open_world(false);
    Tool::new("check", description, object(schema)).with_annotations(annotations)
}

fn object(schema: Value) -> JsonObject {
    match schema {
        Value::Object(fields) => fields,
        _ => JsonObject::new(),
    }
}

#[cfg(test)]
mod tests {
    use portcullis_hosts::HookSession;

    use super::*;
    use crate::flags::GateArgs;

    #[test]
    fn a_panic_in_a_call_ends_the_call_alone() {
        let tools = Arc::new(McpToolContext { gate: GateArgs::default(), place: HookSession::default() });
        let server = Server { tools, turns: Arc::new(Semaphore::new(1)) };
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            for _ in 0..3 {
                let lost: Option<()> = server.apart(|_| panic!("the fault under test")).await;
                assert!(lost.is_none());
            }
            assert_eq!(server.apart(|tools| tools.place.cwd.len()).await, Some(0));
        });
    }
}
