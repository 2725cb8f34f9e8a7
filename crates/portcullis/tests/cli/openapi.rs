//! The document of the API says what the API does: every path is there, and what comes back has the form it says.

use serde_json::{Value, json};

use super::daemon::Daemon;
use super::sandbox::Sandbox;

#[test]
fn answers_have_the_form_that_the_document_says() {
    let sandbox = Sandbox::with_user_settings(r#"{"permissions": {"deny": ["Bash(git push:*)"]}}"#);
    let daemon = Daemon::start(&sandbox);
    let document = daemon.ask("GET", "/v1/openapi.json").send().as_json();
    let cwd = sandbox.project.to_str().unwrap();
    let call =
        |command: &str| json!({"tool": "Bash", "input": {"command": command}, "cwd": cwd, "session": "s1"});
    let mut waiting = call("make install");
    waiting["person"] = json!("absent");
    waiting["waitSeconds"] = json!(0);
    let decided = daemon.post("/v1/decide", &waiting).as_json();
    let approval = decided["approval"].as_str().unwrap().to_owned();
    let record = decided["record"].as_str().unwrap().to_owned();
    let requests: Vec<(&str, String, &str, Value)> = vec![
        ("GET", "/healthz".to_owned(), "/healthz", Value::Null),
        ("POST", "/v1/decide".to_owned(), "/v1/decide", call("git push")),
        ("POST", "/v1/decide".to_owned(), "/v1/decide", call("rm -rf / ; ls")),
        ("GET", "/v1/decisions?limit=5".to_owned(), "/v1/decisions", Value::Null),
        ("GET", format!("/v1/decisions/{record}"), "/v1/decisions/{id}", Value::Null),
        ("GET", "/v1/decisions/0".to_owned(), "/v1/decisions/{id}", Value::Null),
        ("GET", format!("/v1/decisions/{record}/today"), "/v1/decisions/{id}/today", Value::Null),
        ("GET", "/v1/sessions".to_owned(), "/v1/sessions", Value::Null),
        ("GET", "/v1/sessions/s1".to_owned(), "/v1/sessions/{id}", Value::Null),
        ("GET", "/v1/approvals".to_owned(), "/v1/approvals", Value::Null),
        ("GET", format!("/v1/approvals/{approval}"), "/v1/approvals/{id}", Value::Null),
        (
            "POST",
            format!("/v1/approvals/{approval}/answer"),
            "/v1/approvals/{id}/answer",
            json!({"decision": "deny", "message": "not now"}),
        ),
        (
            "POST",
            format!("/v1/approvals/{approval}/answer"),
            "/v1/approvals/{id}/answer",
            json!({"decision": "allow"}),
        ),
        ("POST", format!("/v1/approvals/{approval}/withdraw"), "/v1/approvals/{id}/withdraw", json!({})),
        ("GET", "/v1/grants".to_owned(), "/v1/grants", Value::Null),
        ("DELETE", "/v1/grants/g1".to_owned(), "/v1/grants/{id}", Value::Null),
        ("GET", format!("/v1/rules?cwd={cwd}"), "/v1/rules", Value::Null),
        ("POST", "/v1/rules".to_owned(), "/v1/rules", json!({"behavior": "allow", "rule": "Bash(make:*)"})),
        ("DELETE", "/v1/rules".to_owned(), "/v1/rules", json!({"behavior": "allow", "rule": "Bash(make:*)"})),
        ("POST", "/v1/rules/test".to_owned(), "/v1/rules/test", json!({"command": "git push", "cwd": cwd})),
        ("GET", "/v1/stats".to_owned(), "/v1/stats", Value::Null),
        ("GET", "/v1/policy".to_owned(), "/v1/policy", Value::Null),
        ("POST", "/v1/login-links".to_owned(), "/v1/login-links", Value::Null),
    ];
    let mut tried: Vec<&str> = vec!["/metrics", "/v1/openapi.json", "/v1/hook/{host}", "/v1/events"];
    for (method, path, template, body) in requests {
        let asking = daemon.ask(method, &path).locally().token(&daemon.person_token());
        let answer = if body.is_null() { asking.send() } else { asking.json(&body).send() };
        let operation = &document["paths"][template][method.to_lowercase()];
        let response = resolve(&document, &operation["responses"][answer.status.to_string()]);
        assert!(!response.is_null(), "{method} {path}: status {} is not in the document", answer.status);
        let schema = &response["content"]["application/json"]["schema"];
        let problems = check(&document, schema, &answer.as_json(), &path);
        assert_eq!(problems, Vec::<String>::new(), "{method} {path}: {}", answer.text());
        tried.push(template);
    }
    for path in document["paths"].as_object().unwrap().keys() {
        assert!(tried.contains(&path.as_str()), "{path} was not tried");
    }
}

#[test]
fn every_path_needs_the_role_that_the_document_says() {
    let sandbox = Sandbox::new();
    let daemon = Daemon::start(&sandbox);
    let document = daemon.ask("GET", "/v1/openapi.json").send().as_json();
    for (path, operations) in document["paths"].as_object().unwrap() {
        for (method, operation) in operations.as_object().unwrap() {
            let address = path.replace("{id}", "0").replace("{host}", "claude");
            let method = method.to_uppercase();
            let role = operation["x-role"].as_str().unwrap();
            let nobody = daemon.ask(&method, &address).send();
            // An agent takes any status but 200 for a hook that failed, and runs the call.
            let is_refused = match path.as_str() {
                "/v1/hook/{host}" => nobody.status == 200 && nobody.text().contains("\"deny\""),
                _ => nobody.status == 401,
            };
            assert_eq!(is_refused, role != "none", "{method} {path} without a token: {nobody:?}");
            if role == "person" {
                let hook = daemon.ask(&method, &address).token(&daemon.hook_token()).json(&json!({})).send();
                assert_eq!(hook.status, 403, "{method} {path} with the token of hooks");
            }
        }
    }
}

fn resolve<'d>(document: &'d Value, part: &'d Value) -> &'d Value {
    let Some(name) = part["$ref"].as_str() else { return part };
    document.pointer(name.trim_start_matches('#')).unwrap_or_else(|| panic!("{name} is not there"))
}

/// Says where a value is not what a schema says; only what the document uses is understood.
fn check(document: &Value, schema: &Value, value: &Value, at: &str) -> Vec<String> {
    let schema = resolve(document, schema);
    if let Some(any) = schema["oneOf"].as_array() {
        let fits = any.iter().any(|one| check(document, one, value, at).is_empty());
        return if fits { Vec::new() } else { vec![format!("{at}: {value} fits none of {any:?}")] };
    }
    let types: Vec<&str> = match &schema["type"] {
        Value::String(one) => vec![one],
        Value::Array(several) => several.iter().filter_map(Value::as_str).collect(),
        _ => return Vec::new(),
    };
    let kind = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_u64() || number.is_i64() => "integer",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    let is_number = kind == "integer" && types.contains(&"number");
    if !types.contains(&kind) && !is_number {
        return vec![format!("{at}: {kind} instead of {types:?}")];
    }
    let mut problems = Vec::new();
    if let Some(words) = schema["enum"].as_array().filter(|words| !words.contains(value)) {
        problems.push(format!("{at}: {value} is none of {words:?}"));
    }
    if let Value::Array(items) = value {
        for (index, item) in items.iter().enumerate() {
            problems.extend(check(document, &schema["items"], item, &format!("{at}[{index}]")));
        }
    }
    if let Value::Object(fields) = value {
        problems.extend(check_fields(document, schema, fields, at));
    }
    problems
}

fn check_fields(
    document: &Value,
    schema: &Value,
    fields: &serde_json::Map<String, Value>,
    at: &str,
) -> Vec<String> {
    let mut problems = Vec::new();
    let required = schema["required"].as_array().cloned().unwrap_or_default();
    for name in required.iter().filter_map(Value::as_str).filter(|name| !fields.contains_key(*name)) {
        problems.push(format!("{at}: `{name}` is missing"));
    }
    for (name, field) in fields {
        let place = format!("{at}.{name}");
        match (schema["properties"].get(name), &schema["additionalProperties"]) {
            (Some(schema), _) => problems.extend(check(document, schema, field, &place)),
            (None, Value::Bool(false)) => problems.push(format!("{place} is not in the document")),
            (None, others) => problems.extend(check(document, others, field, &place)),
        }
    }
    problems
}
