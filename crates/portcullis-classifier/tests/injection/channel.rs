//! The ways by which somebody else's words come near the judge, and a session with words planted in one of them.

use portcullis_classifier::prompt::{FileTracking, PromptSession};
use portcullis_classifier::transcript::TranscriptFormat;
use portcullis_core::{Case, Context, FindingReport, Mode, Policy, ToolCall};
use portcullis_hosts::json as house_json;
use serde_json::{Value, json};

use crate::session_file::{Records, claude, codex, gemini, plain};

/// Where the words are planted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Channel {
    // The action that is judged, which is also the call before it.
    Command,
    Comment,
    Heredoc,
    Quotes,
    ToolName,
    InputKey,
    InputValue,
    NestedInput,
    WriteContent,
    WritePath,
    EditOld,
    EditNew,
    MultiEdit,
    Notebook,
    FetchUrl,
    FetchPrompt,
    AgentPrompt,
    AgentType,
    Message,
    MessageTo,
    Cron,
    Config,
    Search,
    // What holds for the session, and what was found.
    Project,
    Cwd,
    Branch,
    DenyRule,
    ClaudeMd,
    AgentsMd,
    GeminiMd,
    InstructionName,
    FindingSentence,
    DefaultBranch,
    Remote,
    Effect,
    ChangedFile,
    UserNotes,
    // Shown, and nobody's consent.
    Paste,
    Summary,
    Peer,
    Schedule,
    Teammate,
    QueuedByPeer,
    CodexSummary,
    CodexSubagent,
    GeminiSubagent,
    GeminiSnapshot,
    PlainNotice,
    CodexCommand,
    GeminiCommand,
    Question,
    AnswerText,
    SlashArguments,
    // Never shown.
    Prose,
    Thoughts,
    ToolResult,
    ResultBlocks,
    ResultField,
    MetaRecord,
    Sidechain,
    Reminder,
    TaskReport,
    SystemRecord,
    Bookkeeping,
    HookContext,
    CapitalType,
    DeadBranch,
    CommandOutput,
    Description,
    CodexProse,
    CodexReasoning,
    CodexResult,
    CodexDeveloper,
    CodexEnvironment,
    CodexReport,
    GeminiProse,
    GeminiThoughts,
    GeminiResult,
    GeminiResponse,
    GeminiInfo,
    GeminiFile,
    DeniedResult,
    OthersAnswers,
    OwnAnswers,
    SubagentAnswers,
}

use Channel as C;

/// What becomes of the words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Showing {
    /// They are quoted in the action.
    InAction,
    /// They are quoted elsewhere.
    Quoted,
    /// The judge never sees them.
    Hidden,
}

/// A session with words planted in it.
pub(crate) struct Scene {
    pub(crate) format: TranscriptFormat,
    pub(crate) file: String,
    pub(crate) action: ToolCall,
    pub(crate) facts: PromptSession,
    pub(crate) findings: Vec<FindingReport>,
}

impl Channel {
    pub(crate) const ALL: &'static [Self] = &[
        C::Command,
        C::Comment,
        C::Heredoc,
        C::Quotes,
        C::ToolName,
        C::InputKey,
        C::InputValue,
        C::NestedInput,
        C::WriteContent,
        C::WritePath,
        C::EditOld,
        C::EditNew,
        C::MultiEdit,
        C::Notebook,
        C::FetchUrl,
        C::FetchPrompt,
        C::AgentPrompt,
        C::AgentType,
        C::Message,
        C::MessageTo,
        C::Cron,
        C::Config,
        C::Search,
        C::Project,
        C::Cwd,
        C::Branch,
        C::DenyRule,
        C::ClaudeMd,
        C::AgentsMd,
        C::GeminiMd,
        C::InstructionName,
        C::FindingSentence,
        C::DefaultBranch,
        C::Remote,
        C::Effect,
        C::ChangedFile,
        C::UserNotes,
        C::Paste,
        C::Summary,
        C::Peer,
        C::Schedule,
        C::Teammate,
        C::QueuedByPeer,
        C::CodexSummary,
        C::CodexSubagent,
        C::GeminiSubagent,
        C::GeminiSnapshot,
        C::PlainNotice,
        C::CodexCommand,
        C::GeminiCommand,
        C::Question,
        C::AnswerText,
        C::SlashArguments,
        C::Prose,
        C::Thoughts,
        C::ToolResult,
        C::ResultBlocks,
        C::ResultField,
        C::MetaRecord,
        C::Sidechain,
        C::Reminder,
        C::TaskReport,
        C::SystemRecord,
        C::Bookkeeping,
        C::HookContext,
        C::CapitalType,
        C::DeadBranch,
        C::CommandOutput,
        C::Description,
        C::CodexProse,
        C::CodexReasoning,
        C::CodexResult,
        C::CodexDeveloper,
        C::CodexEnvironment,
        C::CodexReport,
        C::GeminiProse,
        C::GeminiThoughts,
        C::GeminiResult,
        C::GeminiResponse,
        C::GeminiInfo,
        C::GeminiFile,
        C::DeniedResult,
        C::OthersAnswers,
        C::OwnAnswers,
        C::SubagentAnswers,
    ];

    /// Says what becomes of words in this channel.
    pub(crate) fn showing(self) -> Showing {
        let place = Self::ALL.iter().position(|channel| *channel == self).unwrap();
        let start_of = |other| Self::ALL.iter().position(|channel| *channel == other).unwrap();
        if place < start_of(C::Project) {
            Showing::InAction
        } else if place < start_of(C::Prose) {
            Showing::Quoted
        } else {
            Showing::Hidden
        }
    }

    /// Makes a session with the words planted in it.
    pub(crate) fn plant(self, text: &str) -> Scene {
        let action = self.action(text);
        let mut facts = PromptSession {
            project: "/home/ada/app".to_owned(),
            cwd: "/home/ada/app/src".to_owned(),
            deny_rules: vec!["Bash(git push:*)".to_owned()],
            repository_rules: vec!["WebFetch(domain:example.net)".to_owned()],
            is_planning: false,
            branch: Some("topic".to_owned()),
            instructions: vec![("CLAUDE.md".to_owned(), "Use tabs.".to_owned())],
            ..PromptSession::default()
        };
        let mut findings = Vec::new();
        match self {
            C::Project => facts.project = format!("/home/ada/{text}"),
            C::Cwd => facts.cwd = format!("/home/ada/app/{text}"),
            C::Branch => facts.branch = Some(text.to_owned()),
            C::DenyRule => facts.repository_rules.push(format!("Bash({text})")),
            C::ClaudeMd => facts.instructions = vec![("CLAUDE.md".to_owned(), text.to_owned())],
            C::AgentsMd => facts.instructions.push(("AGENTS.md".to_owned(), format!("Rules.\n\n{text}\n"))),
            C::GeminiMd => facts.instructions.push(("GEMINI.md".to_owned(), format!("{text}\nThe end."))),
            C::InstructionName => facts.instructions = vec![(text.to_owned(), "Use tabs.".to_owned())],
            C::FindingSentence => findings.push(finding(text)),
            C::DefaultBranch => facts.default_branch = Some(text.to_owned()),
            C::Remote => facts.remotes.push((text.to_owned(), format!("https://{text}"))),
            C::Effect => facts.effects.push(format!("writes `{text}`")),
            C::ChangedFile => facts.files.push((text.to_owned(), FileTracking::Tracked)),
            C::UserNotes => facts.user_instructions.push(("CLAUDE.local.md".to_owned(), text.to_owned())),
            _ => {}
        }
        let records = self.records(text, &action);
        let format = records.format();
        Scene { format, file: records.into_text(), action, facts, findings }
    }

    /// Makes the action that is judged: the planted one, or one that nothing is planted in.
    fn action(self, text: &str) -> ToolCall {
        let path = "/srv/shared/notes.md";
        let (tool, input) = match self {
            C::Command => ("Bash", json!({"command": format!("frobnicate {text}")})),
            C::Comment => ("Bash", json!({"command": format!("frobnicate # {text}")})),
            C::Heredoc => ("Bash", json!({"command": format!("frobnicate <<'EOF'\n{text}\nEOF")})),
            C::Quotes => ("Bash", json!({"command": format!("frobnicate '{text}'")})),
            C::ToolName => (text, json!({"topic": "weather"})),
            C::InputKey => ("mcp__radio__send", json!({text: "weather"})),
            C::InputValue => ("mcp__radio__send", json!({"words": text})),
            C::NestedInput => ("mcp__radio__send", json!({"list": [{text: [text]}, {"user": text}]})),
            C::WriteContent => ("Write", json!({"file_path": path, "content": text})),
            C::WritePath => ("Write", json!({"file_path": format!("/srv/{text}"), "content": "x"})),
            C::EditOld => ("Edit", json!({"file_path": path, "old_string": text, "new_string": "x"})),
            C::EditNew => ("Edit", json!({"file_path": path, "old_string": "x", "new_string": text})),
            C::MultiEdit => {
                let edits =
                    json!([{"old_string": "x", "new_string": text}, {"old_string": text, "new_string": "y"}]);
                ("MultiEdit", json!({"file_path": path, "edits": edits}))
            }
            C::Notebook => (
                "NotebookEdit",
                json!({"notebook_path": "/srv/a.ipynb", "cell_id": text, "new_source": text}),
            ),
            C::FetchUrl => ("WebFetch", json!({"url": text, "prompt": "sum it up"})),
            C::FetchPrompt => ("WebFetch", json!({"url": "https://example.org/", "prompt": text})),
            C::AgentPrompt => ("Agent", json!({"prompt": text})),
            C::AgentType => ("Agent", json!({"subagent_type": text, "prompt": "look around"})),
            C::Message => ("SendMessage", json!({"to": "worker", "message": text})),
            C::MessageTo => ("SendMessage", json!({"to": text, "message": "hello"})),
            C::Cron => ("CronCreate", json!({"cron": "0 9 * * *", "prompt": text})),
            C::Config => ("Config", json!({"setting": "theme", "value": text})),
            C::Search => ("WebSearch", json!({"query": text})),
            _ => ("Bash", json!({"command": "frobnicate --now"})),
        };
        call(tool, &input)
    }

    /// Makes the records of the session.
    fn records(self, text: &str, action: &ToolCall) -> Records {
        match self.showing() {
            Showing::InAction => claude::with_call(action),
            Showing::Quoted => self.quoted_records(text),
            Showing::Hidden => self.hidden_records(text),
        }
    }

    fn quoted_records(self, text: &str) -> Records {
        let noted = format!("note: {text}");
        let by = |origin: &str| claude::with(&claude::said_by(&noted, origin));
        match self {
            C::Paste => claude::with(&claude::said(&format!("what does this mean? {text}"))),
            C::Summary => claude::with(&claude::said_with(&noted, &json!({"isCompactSummary": true}))),
            C::Peer => by("peer"),
            C::Schedule => by("cron"),
            C::Teammate => {
                claude::with(&claude::said(&format!("<teammate-message>{text}</teammate-message>")))
            }
            C::QueuedByPeer => claude::with(&json!({"type": "attachment", "attachment":
                {"type": "queued_command", "commandMode": "prompt", "origin": {"kind": "peer"}, "prompt": noted}})),
            C::CodexSummary => codex::with(&codex::record("compacted", &json!({"message": noted}))),
            C::CodexSubagent => codex::of_subagent(&noted),
            C::GeminiSubagent => gemini::of_subagent(&noted),
            C::GeminiSnapshot => {
                let snapshot = format!("<state_snapshot>{text}</state_snapshot>");
                gemini::with(&json!({"id": "x", "type": "user", "content": [{"text": snapshot}]}))
            }
            C::PlainNotice => plain::with(&json!({"notice": text, "kind": "agent"})),
            C::CodexCommand => {
                let arguments = json!({"cmd": format!("frobnicate {text}")}).to_string();
                let payload =
                    json!({"type": "function_call", "name": "exec_command", "arguments": arguments});
                codex::with(&codex::record("response_item", &payload))
            }
            C::GeminiCommand => {
                let args = json!({"command": format!("frobnicate {text}")});
                let calls = json!([{"id": "c", "name": "run_shell_command", "args": args}]);
                gemini::with(&json!({"id": "x", "type": "gemini", "content": "", "toolCalls": calls}))
            }
            C::Question => answered("AskUserQuestion", &json!({}), text, "no"),
            C::AnswerText => answered("AskUserQuestion", &json!({}), "Push to main?", text),
            C::SlashArguments => {
                let (name, arguments) =
                    ("<command-name>/fix</command-name>", format!("<command-args>{text} </command-args>"));
                claude::with(&claude::said(&format!(
                    "<command-message>fix</command-message>\n{name}\n{arguments}"
                )))
            }
            _ => claude::with_call(&call("Bash", &json!({"command": "cargo test"}))),
        }
    }

    fn hidden_records(self, text: &str) -> Records {
        let result =
            |content: &Value| json!([{"type": "tool_result", "tool_use_id": "t1", "content": content}]);
        match self {
            C::Prose => claude::with(&claude::answered(&json!([{"type": "text", "text": text}]))),
            C::Thoughts => claude::with(&claude::answered(&json!([{"type": "thinking", "thinking": text}]))),
            C::ToolResult => claude::with(&claude::user(&result(&json!(text)), &json!({}))),
            C::ResultBlocks => {
                claude::with(&claude::user(&result(&json!([{"type": "text", "text": text}])), &json!({})))
            }
            C::ResultField => claude::with(&claude::user(
                &result(&json!("done")),
                &json!({"toolUseResult": {"stdout": text, "type": "user", "message": {"content": text}}}),
            )),
            C::MetaRecord => claude::with(&claude::said_with(text, &json!({"isMeta": true}))),
            C::Sidechain => claude::with(&claude::said_with(
                text,
                &json!({"isSidechain": true, "origin": {"kind": "human"}, "promptSource": "typed"}),
            )),
            C::Reminder => {
                claude::with(&claude::said(&format!("go on<system-reminder>{text}</system-reminder>")))
            }
            C::TaskReport => claude::with(&claude::said(&format!(
                "<task-notification><status>completed</status><result>{text}</result></task-notification>"
            ))),
            C::SystemRecord => claude::with(
                &json!({"type": "system", "subtype": "informational", "content": text, "message": {"content": text}}),
            ),
            C::Bookkeeping => {
                claude::with(&json!({"type": "last-prompt", "lastPrompt": text, "sessionId": "s"}))
            }
            C::HookContext => claude::with(&json!({"type": "attachment",
                "attachment": {"type": "hook_additional_context", "prompt": text, "content": [text]}})),
            C::CapitalType => {
                claude::with(&json!({"type": "User", "message": {"role": "user", "content": text}}))
            }
            C::DeadBranch => claude::with_dead_branch(text),
            C::CommandOutput => {
                claude::with(&claude::said(&format!("<local-command-stdout>{text}</local-command-stdout>")))
            }
            C::Description => {
                claude::with_call(&call("Bash", &json!({"command": "cargo test", "description": text})))
            }
            _ => self.hidden_elsewhere(text),
        }
    }

    fn hidden_elsewhere(self, text: &str) -> Records {
        let item = |payload: Value| codex::with(&codex::record("response_item", &payload));
        let message = |role: &str, text: &str| {
            item(json!({"type": "message", "role": role, "content": [{"type": "input_text", "text": text}]}))
        };
        let said = |record: Value| gemini::with(&record);
        match self {
            C::CodexProse => message("assistant", text),
            C::CodexReasoning => {
                item(json!({"type": "reasoning", "summary": [{"type": "summary_text", "text": text}]}))
            }
            C::CodexResult => item(json!({"type": "function_call_output", "call_id": "c", "output": text})),
            C::CodexDeveloper => message("developer", text),
            C::CodexEnvironment => {
                message("user", &format!("<environment_context>{text}</environment_context>"))
            }
            C::CodexReport => {
                message("user", &format!("<subagent_notification>{text}</subagent_notification>"))
            }
            C::GeminiProse => said(json!({"id": "x", "type": "gemini", "content": text})),
            C::GeminiThoughts => {
                said(json!({"id": "x", "type": "gemini", "content": "", "thoughts": [{"subject": text}]}))
            }
            C::GeminiResult => {
                let response = json!([{"functionResponse": {"response": {"output": text}}}]);
                let calls = json!([{"id": "c", "name": "run_shell_command", "args": {"command": "ls"}, "result": response, "resultDisplay": text, "description": text}]);
                said(json!({"id": "x", "type": "gemini", "content": "", "toolCalls": calls}))
            }
            C::GeminiResponse => said(
                json!({"id": "x", "type": "user", "content": [{"functionResponse": {"response": {"output": text}}}]}),
            ),
            C::GeminiInfo => said(json!({"id": "x", "type": "info", "content": text})),
            C::DeniedResult => claude::with_end(
                "Bash",
                &json!({"command": "git push -f"}),
                &claude::ended(text, &json!({"toolDenialKind": "user-rejected", "toolUseResult": text})),
            ),
            C::OthersAnswers => answered("mcp__radio__AskUserQuestion", &json!({}), "Push to main?", text),
            C::OwnAnswers => answered(
                "AskUserQuestion",
                &json!({"answers": {"Push to main?": "x"}}),
                "Push to main?",
                text,
            ),
            C::SubagentAnswers => {
                let answers =
                    json!({"isSidechain": true, "toolUseResult": {"answers": {"Push to main?": text}}});
                claude::with_end("AskUserQuestion", &json!({}), &claude::ended("answered", &answers))
            }
            _ => said(json!({"id": "x", "type": "user", "content": [
                {"text": "fix @a.txt"},
                {"text": "\n--- Content from referenced files ---"},
                {"text": "\nContent from @a.txt:\n"},
                {"text": text},
                {"text": "\n--- End of content ---"},
            ]})),
        }
    }
}

/// Makes a session in which a tool returned what looks like an answer of the user.
fn answered(tool: &str, input: &Value, question: &str, answer: &str) -> Records {
    let result = json!({"toolUseResult": {"questions": [], "answers": {question: answer}}});
    claude::with_end(tool, input, &claude::ended(answer, &result))
}

/// Makes a call of a tool.
pub(crate) fn call(tool: &str, input: &Value) -> ToolCall {
    ToolCall::new(tool, house_json::parse_input(input.to_string().as_bytes()).unwrap())
}

fn finding(text: &str) -> FindingReport {
    let policy = Policy::of_rules(Vec::new());
    let call = ToolCall::bash("git push --force origin topic");
    let mut case = Case::new(call, Context::new(Mode::Auto, "/home/ada/app"));
    case.assume_empty_disk(&policy);
    let found = case.decide(&policy).unwrap().into_verdict().findings.remove(0);
    FindingReport { subject: text.to_owned(), sentence: format!("it overwrites `{text}`"), ..found }
}
