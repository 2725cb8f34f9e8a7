//! One long run of an agent that does everything that must be judged, and the tests that look at what came of it.
//!
//! A run takes seconds, so the tests of an agent share one.

use std::collections::BTreeSet;

use portcullis_hosts::{Host, offered_tools};
use portcullis_testkit::{AgentScript, AgentTurn};
use serde_json::{Value, json};

use crate::harness::{Client, Finished, Registration, SECRET, ScriptedUser, Session, Stage};

/// What a subagent is known by.
const TASK: &str = "SUBAGENT-TASK: leave two files";

/// What the user of the tour allows, forbids and wants to be asked about.
pub(crate) fn policy() -> Value {
    json!({"permissions": {
        "allow": [
            "Bash(touch allowed.txt)", "Bash(touch allowed-of-subagent.txt)", "Edit(inside.txt)", "Agent",
            "mcp__scripted__echo",
        ],
        "ask": ["Bash(touch asked.txt)"],
        "deny": [
            "Bash(touch denied.txt)", "Bash(touch denied-of-subagent.txt)", "mcp__scripted__shout",
        ],
    }})
}

/// Takes an agent on the tour.
pub(crate) fn take(client: Client) -> Finished {
    take_with(client, &policy())
}

/// Takes an agent on the tour that runs everything which no rule stops.
pub(crate) fn take_with(client: Client, policy: &Value) -> Finished {
    Session::new(client, policy).play(|stage| {
        let mut turns = alone(stage);
        turns.extend(with_subagent(stage));
        AgentScript::new(turns).with_subagent(TASK, subagent(stage))
    })
}

/// Takes an agent on the tour that can have a subagent only under other circumstances.
pub(crate) fn take_alone(client: Client) -> Finished {
    Session::new(client, &policy()).play(|stage| AgentScript::new(alone(stage)))
}

/// Takes an agent on the tour that knows no MCP servers and has no subagents.
pub(crate) fn take_without_servers(client: Client) -> Finished {
    Session::new(client, &policy()).play(|stage| AgentScript::new(without_servers(stage)))
}

/// Has an agent do nothing but give its subagent something to do.
pub(crate) fn delegate(client: Client, arguments: &[&str]) -> Finished {
    let session = Session::new(client, &policy()).with_arguments(arguments);
    session.play(|stage| AgentScript::new(with_subagent(stage)).with_subagent(TASK, subagent(stage)))
}

/// Has an agent do so under a policy, with a user who can be asked.
pub(crate) fn delegate_under(
    client: Client,
    policy: &Value,
    arguments: &[&str],
    user: ScriptedUser,
) -> Finished {
    let session = Session::new(client, policy).with_arguments(arguments).with_user(user);
    session.play(|stage| AgentScript::new(with_subagent(stage)).with_subagent(TASK, subagent(stage)))
}

fn alone(stage: Stage<'_>) -> Vec<AgentTurn> {
    let mut turns = without_servers(stage);
    turns.push(stage.mcp("allowed-tool", "echo", "allowed-tool.txt"));
    turns.push(stage.mcp("denied-tool", "shout", "denied-tool.txt"));
    turns
}

fn without_servers(stage: Stage<'_>) -> Vec<AgentTurn> {
    vec![
        stage.shell("allowed", "touch allowed.txt"),
        stage.shell("denied", "touch denied.txt"),
        stage.shell("asked", "touch asked.txt"),
        stage.write("inside", "inside.txt"),
        stage.write_outside("outside", "outside.txt"),
    ]
}

fn with_subagent(stage: Stage<'_>) -> Vec<AgentTurn> {
    vec![stage.delegate("delegated", TASK), AgentTurn::say("All done.").after_subagent()]
}

fn subagent(stage: Stage<'_>) -> Vec<AgentTurn> {
    vec![
        stage.shell("denied-of-subagent", "touch denied-of-subagent.txt"),
        stage.shell("allowed-of-subagent", "touch allowed-of-subagent.txt"),
        AgentTurn::say("The part is done."),
    ]
}

/// Checks that what a subagent did was judged.
pub(crate) fn assert_subagent_was_judged(finished: &Finished) {
    finished.assert_ran("allowed-of-subagent", "allowed-of-subagent.txt");
    let reason = "the deny rule `Bash(touch denied-of-subagent.txt)` matches";
    finished.assert_stopped("denied-of-subagent", "denied-of-subagent.txt", reason);
}

/// Checks that nothing runs when our settings cannot be read. The arguments make the agent run everything by itself.
pub(crate) fn assert_broken_settings_stop(client: Client, arguments: &[&str]) {
    let session = Session::with_policy_text(client, "{\"permissions\": {\"allow\": [\"Bash");
    let finished = session.with_arguments(arguments).play(one_command);
    finished.assert_stopped("only", "allowed.txt", "portcullis: ");
}

/// Checks that no tool shows the model a file with a secret, or the folder it is in, which a rule denies.
pub(crate) fn assert_secret_is_kept(
    client: Client,
    calls: impl FnOnce(Stage<'_>, &str, &str) -> Vec<AgentTurn>,
) {
    let policy = json!({"permissions": {"deny": ["Read(~/private/**)"]}});
    let mut labels = Vec::new();
    let finished = Session::new(client, &policy).play(|stage| {
        let secret = stage.secret();
        let folder = secret.rsplit_once('/').expect("a folder").0;
        let turns = calls(stage, &secret, folder);
        labels.extend(turns.iter().flat_map(AgentTurn::labels));
        AgentScript::new(turns)
    });
    for label in labels {
        let told = finished.told(&label);
        assert!(!told.contains(SECRET.trim()), "`{label}` showed it: {}", finished.describe());
        assert!(told.contains("portcullis: "), "of `{label}` the model was told {told:?}");
    }
}

/// What is offered beside the tools that an adapter knows: what no hook is told of, and what runs code of the model and is
/// asked about as a tool that nobody knows.
const NOT_KNOWN: [&str; 4] = ["exec", "js_repl", "workflow", "write_stdin"];

/// Checks that the adapter knows every tool that the agent offered its model. A new one must be looked at: unknown, it is
/// asked about, and denied where the agent offers no way to ask.
pub(crate) fn assert_offered_tools_are_known(finished: &Finished) {
    let host = Host::find(finished.client.name()).expect("a host");
    let known: Vec<&str> = offered_tools(host).collect();
    let mut names = BTreeSet::new();
    for request in finished.model.requests() {
        collect_names(request.json.as_ref().map_or(&Value::Null, |body| &body["tools"]), &mut names);
    }
    assert!(!names.is_empty(), "no tools were offered: {}", finished.describe());
    if known.is_empty() {
        return;
    }
    let is_new = |name: &&String| {
        !known.contains(&name.as_str()) && !NOT_KNOWN.contains(&name.as_str()) && !name.contains("scripted")
    };
    let new: Vec<&String> = names.iter().filter(is_new).collect();
    assert!(new.is_empty(), "the adapter of {} does not know {new:?}", host.name());
}

/// Collects the names of tools, in every form in which agents hand them to a model.
fn collect_names(tools: &Value, names: &mut BTreeSet<String>) {
    for tool in tools.as_array().into_iter().flatten() {
        let inner = [&tool["functionDeclarations"], &tool["tools"]];
        if inner.iter().any(|inner| inner.is_array()) {
            // What a server offers stands below its own name.
            let is_foreign = tool["name"].as_str().is_some_and(|name| name.starts_with("mcp__"));
            inner.into_iter().filter(|_| !is_foreign).for_each(|inner| collect_names(inner, names));
        } else if let Some(name) = tool["function"]["name"].as_str().or(tool["name"].as_str()) {
            names.insert(name.to_owned());
        }
    }
}

/// Has an agent run a command that is allowed when our program is not there any more. The arguments make the agent run
/// everything by itself.
pub(crate) fn run_without_program(client: Client, arguments: &[&str]) -> Finished {
    let session = Session::new(client, &policy()).registered(Registration::ByInitAndGone);
    session.with_arguments(arguments).play(one_command)
}

fn one_command(stage: Stage<'_>) -> AgentScript {
    AgentScript::new(vec![stage.shell("only", "touch allowed.txt"), AgentTurn::say("All done.")])
}

/// Writes the tests of a tour that is taken once; `asked` is what the model hears of a question nobody can answer.
macro_rules! tour_tests {
    ($take:expr, asked: $asked:expr) => {
        $crate::tour::plain_tour_tests!($take, asked: $asked);

        #[test]
        fn a_tool_of_an_mcp_server_is_judged() {
            tour().assert_ran("allowed-tool", "allowed-tool.txt");
            tour().assert_stopped("denied-tool", "denied-tool.txt", "portcullis: the deny rule");
        }
    };
}

/// Writes those tests of a tour that need no MCP server.
macro_rules! plain_tour_tests {
    ($take:expr, asked: $asked:expr) => {
        fn tour() -> &'static $crate::harness::Finished {
            static TOUR: std::sync::LazyLock<$crate::harness::Finished> = std::sync::LazyLock::new(|| $take);
            &TOUR
        }

        #[test]
        fn an_allowed_command_runs() {
            tour().assert_ran("allowed", "allowed.txt");
        }

        #[test]
        fn a_denied_command_does_not_run_and_the_model_is_told_why() {
            tour().assert_stopped("denied", "denied.txt", "the deny rule `Bash(touch denied.txt)` matches");
        }

        #[test]
        fn a_command_to_ask_about_does_not_run_when_nobody_is_there() {
            tour().assert_stopped("asked", "asked.txt", $asked);
        }

        #[test]
        fn a_file_is_written_in_the_workspace_and_not_outside_of_it() {
            tour().assert_ran("inside", "inside.txt");
            tour().assert_stopped("outside", "outside.txt", "portcullis: ");
        }

        #[test]
        fn every_tool_that_is_offered_is_known() {
            $crate::tour::assert_offered_tools_are_known(tour());
        }

        #[test]
        fn every_decision_is_recorded_once() {
            for (command, decision) in [("allowed", "allow"), ("denied", "deny")] {
                tour().assert_recorded(&format!("touch {command}.txt"), decision);
            }
        }
    };
}

pub(crate) use {plain_tour_tests, tour_tests};
