//! Claude Code's inputs and our answers to them, byte for byte: `tests/golden/claude/<case>.{input,output}.json`.
//!
//! `UPDATE_GOLDEN=1 cargo test -p portcullis-hosts` writes the answers anew; read their diff before committing.
#![cfg(test)]
#![expect(clippy::disallowed_methods, reason = "the golden files are read and written here")]

use std::path::{Path, PathBuf};
use std::sync::Arc;

use portcullis_core::rule::{Behavior, Rule};
use portcullis_core::{Context, Facts, Origin, Policy, Request, Source, decide};
use portcullis_hosts::HostReply;
use portcullis_hosts::claude::{self, Hook, HookCall};
use pretty_assertions::assert_eq;

const RULES: &[(Behavior, &str)] = &[
    (Behavior::Allow, "Bash(cargo test:*)"),
    (Behavior::Allow, "Bash(cargo doc)"),
    (Behavior::Allow, "WebFetch(domain:docs.rs)"),
    (Behavior::Ask, "Bash(npm publish:*)"),
    (Behavior::Deny, "Bash(git push:*)"),
    (Behavior::Deny, "mcp__tracker__close"),
];

fn policy() -> Policy {
    let rule = |(index, (behavior, text)): (usize, &(Behavior, &str))| {
        let origin = Origin {
            source: Source::User,
            file: Some(Arc::from("/home/ada/.claude/settings.json")),
            line: Some(u32::try_from(index).unwrap() + 4),
            column: Some(7),
            base: Some(Arc::from("/home/ada/.claude")),
        };
        Rule::compile(text, *behavior, origin).unwrap()
    };
    Policy::of_rules(RULES.iter().enumerate().map(rule).collect())
}

/// Answers as the hook does, in a world without symbolic links.
fn answer(text: &[u8]) -> HostReply {
    match claude::parse(text) {
        Ok(Hook::PreToolUse(call)) => answer_call(call),
        Ok(Hook::Other) => claude::no_opinion(),
        Err(error) => claude::failure(&error.to_string()),
    }
}

fn answer_call(call: HookCall) -> HostReply {
    let policy = policy();
    let mut context = Context::new(call.mode, &call.cwd);
    context.home = Some("/home/ada".to_owned());
    let request = Request::new(&policy, call.call, context);
    let facts = Facts::of_empty_disk(request.questions());
    claude::reply(&decide(&policy, &request, &facts).unwrap().into_verdict(), None, None)
}

fn inputs() -> Vec<(PathBuf, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/claude");
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.to_str().unwrap().ends_with(".input.json"))
        .collect();
    paths.sort();
    assert!(paths.len() >= 20, "the golden folder was not found");
    paths.into_iter().map(|path| (path.clone(), std::fs::read(&path).unwrap())).collect()
}

#[test]
fn every_input_has_its_answer() {
    for (path, input) in inputs() {
        let reply = answer(&input);
        assert_eq!((reply.stderr.as_str(), reply.exit_code), ("", 0), "{}", path.display());
        let golden = PathBuf::from(path.to_str().unwrap().replace(".input.json", ".output.json"));
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            std::fs::write(&golden, &reply.stdout).unwrap();
        }
        let expected = std::fs::read_to_string(&golden).unwrap();
        assert_eq!(reply.stdout, expected, "{}", golden.display());
    }
}

#[test]
fn fields_that_nobody_knows_change_nothing() {
    let mut seed = 0x2545_f491_4f6c_dd1d_u64;
    for (path, input) in inputs() {
        let expected = answer(&input);
        for _ in 0..20 {
            let text = with_unknown_field(&String::from_utf8(input.clone()).unwrap(), &mut seed);
            assert_eq!(answer(text.as_bytes()), expected, "{}: {text}", path.display());
        }
    }
}

/// Puts a field with a made-up name and value before a top-level one.
fn with_unknown_field(text: &str, seed: &mut u64) -> String {
    const VALUES: [&str; 6] =
        ["null", "true", "-3.5", "\"PreToolUse\"", "[1,{}]", "{\"tool_name\":\"Read\"}"];
    let mut next = |bound: usize| {
        *seed ^= *seed << 13;
        *seed ^= *seed >> 7;
        *seed ^= *seed << 17;
        usize::try_from(*seed % u64::try_from(bound).unwrap()).unwrap()
    };
    let places: Vec<usize> = text.match_indices("\n \"").map(|(index, _)| index + 2).collect();
    let place = places[next(places.len())];
    let field = format!("\"future_{}\": {}, ", next(1_000_000), VALUES[next(VALUES.len())]);
    let (before, after) = text.split_at(place);
    format!("{before}{field}{after}")
}

#[test]
fn a_missing_or_wrong_field_blocks() {
    let required = ["hook_event_name", "tool_name", "tool_input", "cwd"];
    let call = |field: &str, replacement: Option<&str>| {
        let fields = [
            ("hook_event_name", "\"PreToolUse\""),
            ("tool_name", "\"Bash\""),
            ("tool_input", "{\"command\":\"cargo doc\"}"),
            ("cwd", "\"/srv/engine\""),
        ];
        let written: Vec<String> = fields
            .iter()
            .filter_map(|(name, value)| {
                let value = if *name == field { replacement? } else { value };
                Some(format!("\"{name}\":{value}"))
            })
            .collect();
        answer(format!("{{{}}}", written.join(",")).as_bytes())
    };
    assert!(call("", None).stdout.contains("\"permissionDecision\":\"allow\""), "the whole input is fine");
    for field in required {
        for replacement in [None, Some("null"), Some("7"), Some("[]"), Some("\"\""), Some("false")] {
            let reply = call(field, replacement);
            assert_eq!(reply.exit_code, 2, "{field} {replacement:?}");
            assert!(reply.stdout.contains("\"permissionDecision\":\"deny\""), "{field} {replacement:?}");
            assert!(reply.stderr.starts_with("portcullis: "), "{field} {replacement:?}");
        }
    }
}
