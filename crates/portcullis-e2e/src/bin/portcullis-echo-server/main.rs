//! A tiny MCP server on standard input and output, for agents to call tools of.
//!
//! It has two tools, `echo` and `shout`, so that rules can tell them apart. Both leave a file named by their argument
//! `text` in the directory that the first argument of the program names: a test sees by it that the call came through.

use std::io::{self, BufRead, Write};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

const TOOLS: [&str; 2] = ["echo", "shout"];

fn main() -> io::Result<()> {
    let directory = std::env::args_os().nth(1).map(PathBuf::from).unwrap_or_default();
    let mut output = io::stdout().lock();
    for line in io::stdin().lock().lines() {
        let Ok(message) = serde_json::from_str::<Value>(&line?) else { continue };
        // What has no id wants no answer.
        let (Some(id), Some(method)) = (message.get("id"), message.get("method").and_then(Value::as_str))
        else {
            continue;
        };
        let parameters = message.get("params").unwrap_or(&Value::Null);
        let answer = match respond(method, parameters, &directory)? {
            Some(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
            None => {
                json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32601, "message": "no such method"}})
            }
        };
        writeln!(output, "{answer}")?;
        output.flush()?;
    }
    Ok(())
}

/// Returns the result of a method, or nothing if there is no such method.
fn respond(method: &str, parameters: &Value, directory: &Path) -> io::Result<Option<Value>> {
    Ok(match method {
        "initialize" => Some(json!({
            "protocolVersion": parameters.get("protocolVersion").unwrap_or(&json!("2025-06-18")),
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "echo-server", "version": "1.0.0"},
        })),
        "ping" => Some(json!({})),
        "tools/list" => Some(json!({"tools": TOOLS.map(describe)})),
        "tools/call" => {
            let argument = |name| parameters.get("arguments").and_then(|arguments| arguments.get(name));
            let text = argument("text").and_then(Value::as_str).unwrap_or("nothing");
            // Only the last part of the text can become a name, so no call reaches another directory.
            let name = Path::new(text).file_name().unwrap_or_default();
            std::fs::write(directory.join(name), "called\n")?;
            Some(json!({"content": [{"type": "text", "text": format!("echoed {text}")}], "isError": false}))
        }
        _ => None,
    })
}

fn describe(name: &str) -> Value {
    json!({
        "name": name,
        "description": "Says a text again.",
        "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
    })
}
