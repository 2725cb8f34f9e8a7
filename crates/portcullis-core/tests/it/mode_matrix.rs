//! Every mode against every kind of call and rule, as one table (spec B). `mode_matrix.txt` is the expected table; when a
//! change is meant, replace it with the table the failing test prints, and read the difference.

use portcullis_core::{Context, MODES, Mode, Person, ToolCall, ToolInput};

use crate::support::{Rules, context, decide_call, short};

/// Calls by name, with a rule that names just this call.
fn calls() -> Vec<(&'static str, ToolCall, &'static str)> {
    let file = |tool: &str, path: &str| ToolCall::new(tool, ToolInput::of_text("file_path", path));
    vec![
        ("read inside", file("Read", "/code/app/a"), "Read(/a)"),
        ("read outside", file("Read", "/etc/hosts"), "Read(//etc/hosts)"),
        ("write inside", file("Write", "/code/app/a"), "Edit(/a)"),
        ("write outside", file("Write", "/data/x/a"), "Edit(//data/x/a)"),
        ("write protected", file("Write", "/code/app/.git/config"), "Edit(.git/**)"),
        ("bash read-only", ToolCall::bash("git status"), "Bash(git status)"),
        ("bash edit inside", ToolCall::bash("touch a"), "Bash(touch a)"),
        ("bash edit outside", ToolCall::bash("touch /data/x/a"), "Bash(touch *)"),
        ("bash other", ToolCall::bash("npm publish"), "Bash(npm publish)"),
        ("bash redirect", ToolCall::bash("echo x > a"), "Edit(/a)"),
        ("bash opaque", ToolCall::bash("$X"), "Bash(npm *)"),
        ("bash critical", ToolCall::bash("rm -rf ~"), "Bash(rm *)"),
        (
            "fetch",
            ToolCall::new("WebFetch", ToolInput::of_text("url", "https://a.com/x")),
            "WebFetch(domain:a.com)",
        ),
        ("mcp", ToolCall::new("mcp__s__t", ToolInput::default()), "mcp__s__t"),
        ("agent", ToolCall::new("Agent", ToolInput::of_text("subagent_type", "x")), "Agent(x)"),
        ("question", ToolCall::new("AskUserQuestion", ToolInput::default()), "AskUserQuestion"),
        ("bookkeeping", ToolCall::new("TodoWrite", ToolInput::default()), "TodoWrite"),
        ("unknown tool", ToolCall::new("Quux", ToolInput::default()), "Quux"),
    ]
}

fn row(name: &str, call: &ToolCall, kind: &str, rules: &Rules<'_>) -> String {
    let policy = rules.policy();
    let answer = |context: Context| short(&decide_call(&policy, call.clone(), context));
    let answers: Vec<String> = MODES
        .iter()
        .map(|info| answer(context(info.mode)))
        .chain([answer(Context { person: Person::Absent, ..context(Mode::Default) })])
        .map(|answer| format!("{answer:9}"))
        .collect();
    format!("{:18} {kind:6} {}", name, answers.join(" ")).trim_end().to_owned()
}

#[test]
fn every_mode_answers_every_kind_of_call_as_the_table_says() {
    let modes: Vec<String> = MODES.iter().map(|info| format!("{:9.9}", info.name)).collect();
    let mut table = vec![format!("{:18} {:6} {} headless", "call", "rule", modes.join(" "))];
    for (name, call, rule) in calls() {
        let named = [rule];
        table.push(row(name, &call, "none", &Rules::default()));
        table.push(row(name, &call, "allow", &Rules { allow: &named, ..Rules::default() }));
        table.push(row(name, &call, "ask", &Rules { ask: &named, ..Rules::default() }));
        table.push(row(name, &call, "deny", &Rules { deny: &named, ..Rules::default() }));
    }
    let table = table.join("\n") + "\n";
    assert!(table == include_str!("mode_matrix.txt"), "\n{table}");
}
