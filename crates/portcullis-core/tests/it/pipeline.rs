//! Every step of the pipeline, one test each, named after its row (spec A).

use crate::support::{Rules, case_without_links, context, decide_bash, decide_call, short};
use portcullis_core::{
    Aborted, Case, Context, Decision, DisabledModes, Mode, Need, Outcome, PendingAnswer, Person, Policy,
    Reason, STEPS, Sandbox, StepId, ToolCall, ToolHints, ToolInput, TraceOutcome, Value,
};

fn file_call(tool: &str, path: &str) -> ToolCall {
    ToolCall::new(tool, ToolInput::of_text("file_path", path))
}

fn headless(mode: Mode) -> Context {
    Context { person: Person::Absent, ..context(mode) }
}

fn outcome(policy: &Policy, call: ToolCall, context: Context) -> Outcome {
    case_without_links(policy, call, context).decide(policy).expect("not aborted")
}

#[test]
fn a0_an_aborted_session_is_an_error_and_never_a_verdict() {
    let policy = Rules { allow: &["Bash"], ..Rules::default() }.policy();
    let aborted = Context { aborted: true, ..context(Mode::BypassPermissions) };
    assert_eq!(Case::new(ToolCall::bash("ls"), aborted).decide(&policy), Err(Aborted));
}

#[test]
fn a1_a_tool_wide_deny_rule_denies_in_every_mode_whatever_is_allowed() {
    for rule in ["Bash", "Bash(*)", "Bash()", "*", "B*"] {
        let policy = Rules { allow: &["Bash(ls:*)"], deny: &[rule], ..Rules::default() }.policy();
        for info in portcullis_core::MODES {
            assert_eq!(
                short(&decide_bash(&policy, "ls -la", info.mode)),
                "deny A1",
                "{rule} in {}",
                info.name
            );
        }
    }
    let policy = Rules { deny: &["mcp__github"], ..Rules::default() }.policy();
    let call = ToolCall::new("mcp__github__create_issue", ToolInput::default());
    assert_eq!(short(&decide_call(&policy, call, context(Mode::Default))), "deny A1");
    let policy = Rules { deny: &["Bash"], ..Rules::default() }.policy();
    let call = ToolCall::new("Monitor", ToolInput::of_text("command", "ls"));
    assert_eq!(short(&decide_call(&policy, call, context(Mode::Default))), "deny A1");
}

#[test]
fn a2_content_and_parameter_deny_rules_deny() {
    let deny =
        &["Bash(git push:*)", "Read(.env)", "WebFetch(domain:evil.com)", "Agent(model:opus)", "Agent(spy)"];
    let policy = Rules { allow: &["Bash", "Read", "WebFetch", "Edit"], deny, ..Rules::default() }.policy();
    let agent = |field: &str, value: &str| ToolCall::new("Agent", ToolInput::of_text(field, value));
    let calls = [
        ToolCall::bash("git push"),
        ToolCall::bash("cat .env"),
        ToolCall::bash("cat < sub/.env"),
        ToolCall::bash("echo x > .env"),
        file_call("Read", "/code/app/.env"),
        file_call("Write", "/code/app/.env"),
        ToolCall::new("WebFetch", ToolInput::of_text("url", "https://EVIL.com./x")),
        agent("model", "opus"),
        agent("subagent_type", "spy"),
        ToolCall::new("Task", ToolInput::of_text("subagent_type", "spy")),
    ];
    for call in calls {
        let verdict = decide_call(&policy, call.clone(), context(Mode::BypassPermissions));
        assert_eq!(short(&verdict), "deny A2", "{call:?}");
        assert!(verdict.reason.rule().is_some());
    }
}

#[test]
fn a3_a_tool_wide_ask_rule_asks_unless_the_command_runs_sandboxed() {
    let mut policy = Rules { allow: &["Bash"], ask: &["Bash"], ..Rules::default() }.policy();
    for mode in [Mode::Default, Mode::BypassPermissions, Mode::AcceptEdits, Mode::Auto, Mode::Plan] {
        assert_eq!(short(&decide_bash(&policy, "ls", mode)), "ask A3", "{mode}");
    }
    assert_eq!(short(&decide_bash(&policy, "ls", Mode::DontAsk)), "deny A11");
    policy.sandbox = Sandbox { enabled: true, auto_allow: true };
    assert_eq!(short(&decide_bash(&policy, "npm publish", Mode::Default)), "allow A9");
    assert_eq!(short(&decide_bash(&policy, "ls", Mode::Plan)), "ask A3");
    let fields = [("command", Value::Text("ls".into())), ("dangerouslyDisableSandbox", Value::Bool(true))];
    let input = fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    assert_eq!(short(&decide_call(&policy, ToolCall::new("Bash", input), context(Mode::Default))), "ask A3");
    policy.sandbox = Sandbox { enabled: true, auto_allow: false };
    assert_eq!(short(&decide_bash(&policy, "ls", Mode::Default)), "ask A3");
}

#[test]
fn a_sandbox_lets_nothing_run_that_steers_programs_or_opens_a_connection() {
    let mut policy = Rules { ask: &["Bash"], ..Rules::default() }.policy();
    policy.sandbox = Sandbox { enabled: true, auto_allow: true };
    assert_eq!(short(&decide_bash(&policy, "npm publish > /tmp/log", Mode::Default)), "allow A9");
    assert_eq!(short(&decide_bash(&policy, "echo x > /dev/tcp/host/80", Mode::Default)), "ask A10");
    assert_eq!(short(&decide_bash(&policy, "cat < /dev/udp/host/53", Mode::Default)), "ask A10");
    assert_eq!(short(&decide_bash(&policy, "LD_PRELOAD=x npm test", Mode::Default)), "ask A10");
}

#[test]
fn a4_the_tools_own_check_raises_what_is_outside_or_opaque_and_fails_closed_on_bad_input() {
    let policy = Policy::default();
    let decided = |call: ToolCall| short(&decide_call(&policy, call, context(Mode::Default)));
    assert_eq!(decided(file_call("Read", "/etc/passwd")), "ask A4");
    assert_eq!(decided(file_call("Read", "../other/x")), "ask A4");
    assert_eq!(decided(file_call("Write", "/tmp/x")), "ask A4");
    assert_eq!(decided(ToolCall::bash("$x")), "ask A4");
    assert_eq!(decided(ToolCall::new("WebFetch", ToolInput::of_text("url", "not a url"))), "ask A4");
    assert_eq!(decided(ToolCall::new("Bash", ToolInput::default())), "deny A4");
    assert_eq!(decided(ToolCall::new("Read", ToolInput::default())), "deny A4");
    assert_eq!(decided(ToolCall::new("WebFetch", ToolInput::default())), "deny A4");
    let number = [("file_path".to_owned(), Value::Number("1".into()))].into_iter().collect();
    assert_eq!(decided(ToolCall::new("Edit", number)), "deny A4");
}

#[test]
fn a5_a_tool_that_needs_a_person_asks_in_every_mode_that_asks() {
    let policy = Rules { allow: &["AskUserQuestion", "mcp__x__y"], ..Rules::default() }.policy();
    for mode in [Mode::Default, Mode::Auto, Mode::BypassPermissions, Mode::Plan, Mode::AcceptEdits] {
        let question = ToolCall::new("AskUserQuestion", ToolInput::default());
        assert_eq!(short(&decide_call(&policy, question, context(mode))), "ask A5", "{mode}");
        let hints = ToolHints { needs_person: true, read_only: true };
        let call = ToolCall::new("mcp__x__y", ToolInput::default());
        assert_eq!(
            short(&decide_call(&policy, call, Context { hints, ..context(mode) })),
            "ask A5",
            "{mode}"
        );
    }
    let question = ToolCall::new("ExitPlanMode", ToolInput::default());
    assert_eq!(short(&decide_call(&policy, question, context(Mode::DontAsk))), "deny A11");
}

#[test]
fn a6_a_content_ask_rule_asks_and_no_mode_lifts_it() {
    let policy =
        Rules { allow: &["Bash", "Bash(npm view)"], ask: &["Bash(npm view:*)"], ..Rules::default() }.policy();
    for mode in [Mode::Default, Mode::Auto, Mode::BypassPermissions, Mode::AcceptEdits] {
        assert_eq!(short(&decide_bash(&policy, "cd . && npm view --tag x", mode)), "ask A6", "{mode}");
    }
    assert_eq!(short(&decide_bash(&policy, "npm view", Mode::DontAsk)), "deny A11");
}

#[test]
fn a7_safety_checks_ask_in_every_mode_bypass_included() {
    let mut policy = Rules { allow: &["Bash", "Edit", "Write", "Edit(//**)"], ..Rules::default() }.policy();
    for mode in [Mode::Default, Mode::BypassPermissions, Mode::AcceptEdits] {
        let write = file_call("Write", "/code/app/.git/hooks/pre-commit");
        assert_eq!(short(&decide_call(&policy, write, context(mode))), "ask A7", "{mode}");
        assert_eq!(short(&decide_bash(&policy, "echo x >> ~/.bashrc", mode)), "ask A7", "{mode}");
        assert_eq!(short(&decide_bash(&policy, "rm -rf ~", mode)), "ask A7", "{mode}");
    }
    // In auto mode what is found is blocked, and the rest still needs a person.
    assert_eq!(short(&decide_bash(&policy, "rm -rf ~", Mode::Auto)), "deny A11");
    assert_eq!(short(&decide_bash(&policy, "echo x >> .vscode/settings.json", Mode::Auto)), "ask A7");
    policy.bypass_protected_paths = true;
    let write = file_call("Write", "/code/app/.git/config");
    assert_eq!(short(&decide_call(&policy, write.clone(), context(Mode::BypassPermissions))), "allow A8");
    assert_eq!(short(&decide_call(&policy, write, context(Mode::Default))), "ask A7");
    assert_eq!(short(&decide_bash(&policy, "rm -rf /", Mode::BypassPermissions)), "ask A7");
}

#[test]
fn a8_bypass_mode_and_a_plan_started_from_it_allow() {
    let mut policy = Policy::default();
    assert_eq!(short(&decide_bash(&policy, "npm publish", Mode::BypassPermissions)), "allow A8");
    assert_eq!(short(&decide_bash(&policy, "eval $x", Mode::BypassPermissions)), "allow A8");
    let plan = Context { plan_from_bypass: true, ..context(Mode::Plan) };
    assert_eq!(short(&decide_call(&policy, ToolCall::bash("npm publish"), plan.clone())), "allow A8");
    assert_eq!(short(&decide_call(&policy, file_call("Write", "/code/app/x"), plan.clone())), "allow A8");
    policy.disabled_modes = DisabledModes { bypass: true, auto: false };
    assert_eq!(short(&decide_bash(&policy, "npm publish", Mode::BypassPermissions)), "ask A10");
    assert_eq!(short(&decide_call(&policy, file_call("Write", "/code/app/x"), plan)), "ask A4");
}

#[test]
fn a9_allow_rules_and_the_read_only_set_allow() {
    let allow = &[
        "Bash(npm test)",
        "mcp__db__*",
        "WebFetch(domain:*.rust-lang.org)",
        "Edit(src/**)",
        "Skill(deploy *)",
        "Agent(helper)",
    ];
    let policy = Rules { allow, ..Rules::default() }.policy();
    let skill = [("skill", "deploy"), ("args", "staging")];
    let skill = skill.map(|(name, value)| (name.to_owned(), Value::Text(value.to_owned())));
    let calls = [
        ToolCall::bash("npm test"),
        ToolCall::bash("ls -la && git status"),
        file_call("Read", "/code/app/src/main.rs"),
        file_call("Edit", "/code/app/src/main.rs"),
        ToolCall::new("Grep", ToolInput::of_text("pattern", "x")),
        ToolCall::new("Glob", ToolInput::of_text("pattern", "**/*.rs")),
        ToolCall::new("mcp__db__query", ToolInput::default()),
        ToolCall::new("WebFetch", ToolInput::of_text("url", "https://doc.rust-lang.org/std")),
        ToolCall::new("Skill", skill.into_iter().collect()),
        ToolCall::new("Agent", ToolInput::of_text("subagent_type", "helper")),
        ToolCall::new("TodoWrite", ToolInput::default()),
    ];
    for call in calls {
        assert_eq!(
            short(&decide_call(&policy, call.clone(), context(Mode::Default))),
            "allow A9",
            "{call:?}"
        );
    }
}

#[test]
fn a10_what_nothing_decides_becomes_a_question_that_names_the_parts() {
    let verdict = decide_bash(&Policy::default(), "npm test && ls && npm publish", Mode::Default);
    assert_eq!(short(&verdict), "ask A10");
    let Reason::Unsettled { parts, doubt } = &verdict.reason else {
        panic!("{:?}", verdict.reason);
    };
    assert_eq!(parts, &["npm test", "npm publish"]);
    assert_eq!(doubt, "it publishes to everybody");
    assert_eq!(verdict.highlights.len(), 2);
    for tool in ["WebSearch", "SendMessage", "mcp__a__b", "Quux", "Write"] {
        let call = file_call(tool, "/code/app/x");
        assert_eq!(
            short(&decide_call(&Policy::default(), call, context(Mode::Default))),
            "ask A10",
            "{tool}"
        );
    }
}

#[test]
fn a10_a_question_names_the_variables_that_no_rule_looks_past() {
    for (command, part) in [
        ("PATH=. ls", "PATH=… ls"),
        ("LANG=C PATH=. LD_PRELOAD=x ls -l", "PATH=… LD_PRELOAD=… ls -l"),
        ("LANG=C npm test", "npm test"),
        ("PATH=.", "PATH=…"),
    ] {
        let verdict = decide_bash(&Policy::default(), command, Mode::Default);
        let Reason::Unsettled { parts, .. } = &verdict.reason else {
            panic!("{command}: {:?}", verdict.reason);
        };
        assert_eq!(parts, &[part], "{command}");
    }
}

#[test]
fn a11_the_mode_or_an_absent_person_turns_a_question() {
    let mut policy = Policy::default();
    let call = || ToolCall::bash("frobnicate --now");
    assert_eq!(short(&decide_call(&policy, call(), context(Mode::DontAsk))), "deny A11");
    for mode in [Mode::Default, Mode::AcceptEdits, Mode::Plan, Mode::Auto] {
        assert_eq!(short(&decide_call(&policy, call(), headless(mode))), "deny A11", "{mode}");
    }
    assert_eq!(short(&decide_call(&policy, call(), context(Mode::Auto))), "ask A11");
    policy.has_permission_hooks = true;
    let Outcome::Needs(pending) = outcome(&policy, call(), headless(Mode::Default)) else {
        panic!("hooks must be asked");
    };
    assert_eq!(pending.need(), Need::Hooks);
    let allowed = pending.clone().resume(PendingAnswer::Allow { by: "my-hook".into() }).into_verdict();
    assert_eq!(short(&allowed), "allow A11");
    let denied = pending
        .clone()
        .resume(PendingAnswer::Deny { by: "my-hook".into(), category: None, sentence: "no".into() })
        .into_verdict();
    assert_eq!(short(&denied), "deny A11");
    assert_eq!(short(&pending.unanswered()), "deny A11");
}

#[test]
fn a11_auto_mode_asks_the_classifier_and_an_answer_settles_the_call() {
    let policy = Policy::default();
    let Outcome::Needs(pending) = outcome(&policy, ToolCall::bash("frobnicate --now"), context(Mode::Auto))
    else {
        panic!("the classifier must be asked");
    };
    assert_eq!(pending.need(), Need::Classifier);
    assert_eq!(pending.question().decision, Decision::Ask);
    let allowed = pending.clone().resume(PendingAnswer::Allow { by: "fast".into() }).into_verdict();
    assert_eq!((short(&allowed), allowed.reason.kind()), ("allow A11".to_owned(), "classifier"));
    let denied = pending
        .clone()
        .resume(PendingAnswer::Deny { by: "thinking".into(), category: None, sentence: "no".into() })
        .into_verdict();
    assert_eq!(short(&denied), "deny A11");
    let Outcome::Needs(next) = pending.resume(PendingAnswer::None) else {
        panic!("a person must be asked next");
    };
    assert_eq!(next.need(), Need::Person);
}

#[test]
fn a11_auto_mode_takes_its_fast_paths_before_the_classifier() {
    let policy = Policy::default();
    let allowed = [
        file_call("Write", "/code/app/x"),
        ToolCall::bash("mkdir -p a/b && touch a/b/c && mv a/b/c d && cp d e && rm e"),
        ToolCall::bash("sed -i 's/a/b/' src/x.rs"),
        ToolCall::bash("echo hi > notes.txt"),
    ];
    for call in allowed {
        assert_eq!(short(&decide_call(&policy, call.clone(), headless(Mode::Auto))), "allow A11", "{call:?}");
    }
    let judged = [
        file_call("Write", "/data/x"),
        ToolCall::bash("rm ../x"),
        ToolCall::bash("frobnicate"),
        ToolCall::bash("sed -i 's/a/b/e' src/x.rs"),
        ToolCall::new("Agent", ToolInput::of_text("prompt", "x")),
        ToolCall::new("Quux", ToolInput::default()),
    ];
    for call in judged {
        let Outcome::Needs(pending) = outcome(&policy, call.clone(), context(Mode::Auto)) else {
            panic!("{call:?} must be judged");
        };
        assert_eq!(pending.need(), Need::Classifier, "{call:?}");
    }
    let person_only = [
        ToolCall::new("PowerShell", ToolInput::of_text("command", "frobnicate")),
        ToolCall::bash("echo x > .vscode/tasks.json"),
    ];
    for call in person_only {
        let Outcome::Needs(pending) = outcome(&policy, call.clone(), context(Mode::Auto)) else {
            panic!("{call:?} must go to a person");
        };
        assert_eq!(pending.need(), Need::Person, "{call:?}");
    }
}

#[test]
fn d1_auto_mode_suspends_allow_rules_that_would_slip_past_its_judge() {
    let allow = &["Bash", "Bash(python:*)", "Bash(frobnicate)", "Agent"];
    let mut policy = Rules { allow, ..Rules::default() }.policy();
    let suspended: Vec<&str> = policy.suspended_in_auto().map(|rule| rule.source_text.as_str()).collect();
    assert_eq!(suspended, ["Bash", "Bash(python:*)", "Agent"]);
    assert_eq!(short(&decide_bash(&policy, "python /srv/x.py", Mode::Default)), "allow A9");
    assert_eq!(short(&decide_bash(&policy, "python /srv/x.py", Mode::Auto)), "ask A11");
    assert_eq!(short(&decide_bash(&policy, "frobnicate", Mode::Auto)), "allow A9");
    policy.classify_all_shell = true;
    assert_eq!(short(&decide_bash(&policy, "frobnicate", Mode::Auto)), "ask A11");
    assert_eq!(short(&decide_bash(&policy, "frobnicate", Mode::Default)), "allow A9");
    assert_eq!(short(&decide_bash(&policy, "ls", Mode::Auto)), "allow A9");
}

#[test]
fn the_trace_names_every_step_that_ran_in_order() {
    let verdict = decide_bash(&Policy::default(), "ls", Mode::Default);
    let ids: Vec<StepId> = verdict.trace.iter().map(|line| line.step).collect();
    let all: Vec<StepId> = STEPS.iter().map(|step| step.id).collect();
    assert_eq!(ids, all.iter().copied().take(ids.len()).collect::<Vec<_>>());
    assert!(
        matches!(verdict.trace.last(), Some(line) if line.outcome == TraceOutcome::Settle(Decision::Allow))
    );
    let asked = decide_bash(&Policy::default(), "npm publish", Mode::Default);
    assert_eq!(asked.trace.len(), STEPS.len());
}

#[test]
fn decisions_are_ordered_by_strictness() {
    assert!(Decision::Allow < Decision::Ask && Decision::Ask < Decision::Deny);
}
