//! `init`, `doctor` and `uninstall` over many shapes of settings files: what an agent takes is given back byte for byte, and
//! what it would drop is never written into.

use std::collections::BTreeMap;
use std::fs;

use portcullis_hosts::registration::RegistrationPiece;
use portcullis_hosts::{Host, registration::HookCommand};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::init::run;
use super::sandbox::Sandbox;

/// The agents whose settings are a JSON file that others write too, with the list of their hooks.
const FILES: [(Host, &str, &[&str]); 7] = [
    (Host::Claude, ".claude/settings.json", &["hooks", "PreToolUse"]),
    (Host::Codex, ".codex/hooks.json", &["hooks", "PreToolUse"]),
    (Host::Gemini, ".gemini/settings.json", &["hooks", "BeforeTool"]),
    (Host::Cursor, ".cursor/hooks.json", &["hooks", "preToolUse"]),
    (Host::Qwen, ".qwen/settings.json", &["hooks", "PreToolUse"]),
    (Host::Droid, ".factory/hooks.json", &["PreToolUse"]),
    (Host::Crush, ".config/crush/crush.json", &["hooks", "PreToolUse"]),
];

/// What may stand in a file before us. `at` leads to the list of hooks.
fn contents(at: &[&str]) -> Vec<(&'static str, Value)> {
    let under = |value: Value| at.iter().rev().fold(value, |value, name| json!({ *name: value }));
    let theirs = json!({"matcher": "Bash", "hooks": [{"type": "command", "command": "theirs"}]});
    let with = |mut value: Value, more: Value| {
        for (name, field) in more.as_object().cloned().unwrap_or_default() {
            value[name] = field;
        }
        value
    };
    vec![
        ("nothing", json!({})),
        ("other keys", json!({"theme": "dark", "nested": {"deep": [1, 2.5, true, null, "x"]}})),
        ("an empty list", under(json!([]))),
        ("a hook of theirs", under(json!([theirs]))),
        ("several of theirs", under(json!([theirs, theirs, theirs]))),
        ("keys around ours", with(under(json!([theirs])), json!({"zebra": 1, "aardvark": "ä 🦊 \u{7f}"}))),
        ("a long text", with(under(json!([theirs])), json!({"long": "x".repeat(200_000)}))),
    ]
}

/// How a value is written.
#[derive(Debug, Clone, Copy)]
struct Writing {
    indent: Option<&'static str>,
    line_end: &'static str,
    last: &'static str,
}

const WRITINGS: [Writing; 5] = [
    Writing { indent: Some("  "), line_end: "\n", last: "\n" },
    Writing { indent: Some("\t"), line_end: "\n", last: "" },
    Writing { indent: Some("    "), line_end: "\r\n", last: "\r\n" },
    Writing { indent: None, line_end: "\n", last: "\n\n\n" },
    Writing { indent: Some(""), line_end: "\n", last: "  \t\n" },
];

fn written(value: &Value, writing: Writing) -> String {
    let Some(indent) = writing.indent else { return format!("{value}{}", writing.last) };
    let mut bytes = Vec::new();
    let formatter = serde_json::ser::PrettyFormatter::with_indent(indent.as_bytes());
    let mut serializer = serde_json::Serializer::with_formatter(&mut bytes, formatter);
    serde::Serialize::serialize(value, &mut serializer).unwrap();
    String::from_utf8(bytes).unwrap().replace('\n', writing.line_end) + writing.last
}

/// Every shape by its name: what stands in the file of each agent.
fn shapes() -> BTreeMap<String, BTreeMap<&'static str, String>> {
    let mut shapes: BTreeMap<String, BTreeMap<&'static str, String>> = BTreeMap::new();
    for (_, file, at) in FILES {
        for (number, writing) in WRITINGS.into_iter().enumerate() {
            for (name, value) in contents(at) {
                let text = written(&value, writing);
                shapes.entry(format!("{name}, writing {number}")).or_default().insert(file, text);
            }
        }
        // What some agents take and some drop.
        let plain = written(&contents(at)[3].1, WRITINGS[0]);
        let wrong = |more: &str| plain.replacen('{', &format!("{{{more},"), 1);
        for (name, text) in [
            ("empty", String::new()),
            ("blank", " \n\t".to_owned()),
            ("a comment", plain.replacen('{', "{ // mine", 1)),
            ("a comment of several lines", plain.replacen('{', "{ /* mine\n */", 1)),
            ("a comma too many", plain.replacen("\n}", ",\n}", 1)),
            ("a byte order mark", format!("\u{feff}{plain}")),
            ("a wrong permission", wrong(r#""permissions":{"allow":"Bash(ls:*)"}"#)),
            ("a wrong environment", wrong(r#""env":[]"#)),
            ("a name twice", wrong(r#""x":1,"x":2"#)),
            ("no JSON", "{\"a\": ".to_owned()),
            ("no object", "[1, 2]".to_owned()),
            (
                "hooks that are a text",
                at.first().map_or(String::new(), |first| format!(r#"{{"{first}":"x"}}"#)),
            ),
        ] {
            shapes.entry(name.to_owned()).or_default().insert(file, text);
        }
    }
    shapes
}

/// Says whether an agent was told of us in its file.
fn names_us(text: &str) -> bool {
    text.contains("hook claude") || text.contains(" hook ") || text.contains("\"hook\"")
}

fn registered_by(sandbox: &Sandbox) -> BTreeMap<&'static str, (bool, String)> {
    let look = |file: &'static str| {
        let text = fs::read_to_string(sandbox.home.join(file)).unwrap();
        (file, (names_us(&text), text))
    };
    FILES.iter().map(|(_, file, _)| look(file)).collect()
}

#[test]
fn over_many_shapes_no_byte_is_lost_and_what_an_agent_drops_is_left_alone() {
    let shapes = shapes();
    assert!(shapes.len() >= 30, "{} shapes", shapes.len());
    for (shape, files) in &shapes {
        let sandbox = Sandbox::new();
        for (file, text) in files {
            sandbox.write_home(file, text);
        }
        let hosts: Vec<&str> = FILES.iter().map(|(host, ..)| host.name()).collect();
        let first = run(&sandbox, &[&["init", "--yes", "--no-replay"], hosts.as_slice()].concat());
        let after = registered_by(&sandbox);
        for (host, file, _) in FILES {
            let (is_registered, text) = &after[file];
            let original = &files[file];
            let is_dropped = (host.adapter().registration.refusal)(original).is_some();
            assert!(!(is_dropped && *is_registered), "{shape}: {} drops it", host.name());
            assert!(*is_registered || text == original, "{shape}: {}: {text}", host.name());
            let path = sandbox.home.join(file).display().to_string();
            assert!(
                *is_registered || first.stderr.contains(&path),
                "{shape}: {} {}",
                host.name(),
                first.stderr
            );
        }
        // Of Codex there is no program here that could be asked to trust us.
        let is_whole = after.values().all(|(is_registered, _)| *is_registered);
        assert!(is_whole || first.code == Some(64), "{shape}: {}", first.stderr);
        let undone = run(&sandbox, &["uninstall", "--yes"]);
        assert!(!is_whole || undone.code == Some(0), "{shape}: {}", undone.stderr);
        for (file, (_, text)) in registered_by(&sandbox) {
            assert_eq!(&text, &files[file], "{shape}: {file}");
        }
    }
}

#[test]
fn doctor_tells_a_file_that_an_agent_drops_from_one_that_it_takes() {
    for (shape, files) in
        shapes().iter().filter(|(name, _)| !name.ends_with(|last| ('1'..='4').contains(&last)))
    {
        let sandbox = Sandbox::new();
        let original = &files[".claude/settings.json"];
        sandbox.write_home(".claude/settings.json", original);
        let registered = run(&sandbox, &["init", "claude", "--yes", "--no-replay"]).code == Some(0);
        let ran = run(&sandbox, &["doctor", "claude", "--json"]);
        let report: Value = serde_json::from_str(&ran.stdout).unwrap();
        let checks = report["checks"].as_array().unwrap().iter();
        let problems: Vec<&Value> =
            checks.filter(|check| check["host"] == "claude" && check["state"] == "problem").collect();
        assert_eq!(problems.is_empty(), registered, "{shape}: {problems:#?}");
    }
}

/// What an agent is told of us must be what these tests look for.
#[test]
fn every_list_is_one_that_a_piece_goes_to() {
    let arguments = |host: Host| vec!["hook".to_owned(), host.name().to_owned()];
    for (host, file, at) in FILES {
        let command =
            HookCommand { program: "/p".to_owned(), arguments: arguments(host), host_version: None };
        let pieces = (host.adapter().registration.pieces)(&command);
        let has = pieces.iter().any(|piece| match piece {
            RegistrationPiece::Element { file: own, at: own_at, .. } => file.ends_with(own) && *own_at == at,
            _ => false,
        });
        assert!(has, "{}", host.name());
    }
}
