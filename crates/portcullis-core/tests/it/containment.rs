//! What runs inside a fence instead of being asked about, and what never does (spec H1).

use portcullis_core::{
    Context, Decision, FenceCause, FenceNetwork, FenceOffer, FenceWrites, Mode, Person, Policy, Prose,
    Sandbox, StrangeRegistry, ToolCall, ToolInput, Value, Verdict,
};

use crate::support::{Rules, context, decide_call};

/// The places that a fence has its own of, and some that are masked.
const HIDDEN: [&str; 4] = ["/tmp", "/var/tmp", "/run", "/home/me/.claude"];

fn over(workspace: &str) -> FenceOffer {
    let hidden = HIDDEN.map(str::to_owned).to_vec();
    FenceOffer {
        workspace: workspace.to_owned(),
        hidden,
        installers: Vec::new(),
        strange_registries: Vec::new(),
    }
}

fn fenced(mode: Mode) -> Context {
    Context { fence: Some(over("/code/app")), ..context(mode) }
}

fn decide(command: &str) -> Verdict {
    decide_call(&Policy::default(), ToolCall::bash(command), fenced(Mode::Auto))
}

/// Commands of which nothing is unknown but what is local, with why.
const LOCAL: &[(&str, FenceCause)] = &[
    ("frobnicate --all src", FenceCause::UnknownProgram),
    ("frobnicate src && cargo build", FenceCause::UnknownProgram),
    ("$TOOL --check", FenceCause::UnreadCode),
    ("portcullis run --call 1f -- bash -c 'frobnicate'", FenceCause::UnknownProgram),
    ("timeout 5 env A=b frobnicate", FenceCause::UnknownProgram),
    ("cd sub && frobnicate", FenceCause::UnknownProgram),
    ("frobnicate --in=src/tmp/x a/tmp/b runs/x ./run/it", FenceCause::UnknownProgram),
    ("frobnicate /code/app/tmp/x /opt/tmp/x", FenceCause::UnknownProgram),
];

/// Commands whose purpose is outside, that are found, or that a fence would only break.
const NEVER: &[&str] = &[
    "git push origin topic && frobnicate",
    "frobnicate && curl https://example.com/x",
    "frobnicate | nc example.com 80",
    "gh frobnicate --all",
    "aws frobnicate",
    "kubectl frobnicate",
    "docker frobnicate",
    "sudo frobnicate",
    "ssh host frobnicate",
    "npm install left-pad && frobnicate",
    "frobnicate > /home/me/notes.txt",
    "frobnicate > .git/hooks/pre-commit",
    "frobnicate; rm -rf ~",
    "frobnicate; git push --force",
    "cat ~/.ssh/id_rsa | frobnicate",
    "python3 /tmp/made.py",
    "frobnicate < /tmp/input",
    "cd /tmp && frobnicate > out",
    "frobnicate /tmp/input",
    "frobnicate --in=/tmp/input",
    "frobnicate -I/tmp/include",
    "frobnicate a:/var/tmp/b",
    "frobnicate ../../tmp/input",
    "frobnicate --socket unix:/run/x.sock",
    "frobnicate ~/.claude/skills/x.json",
    "frobnicate --in=/home/me/.claude/x.json",
    "/tmp/made --all",
    "node /run/user/1000/made.js",
    "python3 ~/.claude/skills/draw/draw.py",
    "npm run deploy:prod",
    "kill -9 4711; frobnicate",
    "portcullis run --call 1f -- bash -c 'frobnicate; rm -rf ~'",
    "portcullis run --call 1f -- portcullis run --call 2f -- bash -c 'git push --force'",
];

#[test]
fn what_is_local_and_unknown_is_contained() {
    for (command, cause) in LOCAL {
        let verdict = decide(command);
        assert_eq!(verdict.decision, Decision::Contained, "{command}: {}", verdict.reason.message());
        let fence = verdict.fence().expect("a contained call has a fence");
        assert_eq!((fence.cause, fence.writes), (*cause, FenceWrites::CopyOnWrite), "{command}");
        assert_eq!((fence.workspace.as_str(), verdict.step.as_str()), ("/code/app", "A11"), "{command}");
        let last = verdict.trace.last().map(|line| line.outcome.as_str());
        assert_eq!((verdict.reason.kind(), last), ("contained", Some("settle-contained")), "{command}");
    }
}

#[test]
fn what_reaches_outside_or_is_found_is_never_contained() {
    for command in NEVER {
        let verdict = decide(command);
        assert!(verdict.decision >= Decision::Ask, "{command}: {}", verdict.reason.message());
    }
}

#[test]
fn without_a_fence_nothing_changes_and_a_fence_never_makes_anything_laxer_than_an_ask() {
    let policies = [Policy::default(), Policy { contains_project_code: true, ..Policy::default() }];
    let commands = LOCAL.iter().map(|(command, _)| *command).chain(NEVER.iter().copied());
    let ordinary = ["ls", "cargo test", "npm ci", "git status", "rm -rf target", "cat src/a.rs"];
    for command in commands.chain(ordinary) {
        for policy in &policies {
            for mode in [Mode::Default, Mode::Auto, Mode::Plan, Mode::AcceptEdits, Mode::DontAsk] {
                for person in [Person::Present, Person::Absent] {
                    let call = || ToolCall::bash(command);
                    let bare = decide_call(policy, call(), Context { person, ..context(mode) });
                    let with = decide_call(policy, call(), Context { person, ..fenced(mode) });
                    assert_ne!(bare.decision, Decision::Contained, "{command} {mode}");
                    let is_moved = bare.decision != with.decision;
                    assert!(!is_moved || with.decision == Decision::Contained, "{command} {mode} {with:?}");
                    assert_eq!(with.fence().is_some(), with.decision == Decision::Contained, "{command}");
                }
            }
        }
    }
}

#[test]
fn a_rule_a_boundary_and_words_of_settings_come_first() {
    let command = "frobnicate --all src";
    let with = |policy: &Policy, context: Context| decide_call(policy, ToolCall::bash(command), context);
    let decision = |policy: &Policy| with(policy, fenced(Mode::Auto)).decision;
    let rules = |rules: Rules<'_>| rules.policy();
    assert_eq!(decision(&rules(Rules { deny: &["Bash(frobnicate:*)"], ..Rules::default() })), Decision::Deny);
    assert_eq!(decision(&rules(Rules { ask: &["Bash(frobnicate:*)"], ..Rules::default() })), Decision::Ask);
    assert_eq!(
        decision(&rules(Rules { allow: &["Bash(frobnicate:*)"], ..Rules::default() })),
        Decision::Allow
    );
    assert_eq!(decision(&rules(Rules { ask: &["Bash"], ..Rules::default() })), Decision::Ask);
    let prose = Prose { prohibitions: vec!["never frobnicate".to_owned()], ..Prose::default() };
    assert_eq!(decision(&Policy { prose, ..Policy::default() }), Decision::Ask);
    assert_eq!(decision(&Policy { classify_all_shell: true, ..Policy::default() }), Decision::Ask);
    let sandbox = Sandbox { enabled: true, auto_allow: false };
    assert_eq!(decision(&Policy { sandbox, ..Policy::default() }), Decision::Ask);
    let mut bounded = fenced(Mode::Auto);
    bounded.session.boundaries = vec!["do not run any commands".to_owned()];
    assert!(with(&Policy::default(), bounded).decision >= Decision::Contained);
    // A rule that may match what nobody can read is a person's to weigh.
    let maybe = rules(Rules { deny: &["Bash(rm:*)"], ..Rules::default() });
    let verdict = decide_call(&maybe, ToolCall::bash("$TOOL --check"), fenced(Mode::Auto));
    assert_eq!(verdict.decision, Decision::Ask, "{}", verdict.reason.message());
}

#[test]
fn where_nobody_can_be_asked_a_fence_takes_the_place_of_a_refusal() {
    for (mode, person, expected) in [
        (Mode::Auto, Person::Present, Decision::Contained),
        (Mode::Auto, Person::Absent, Decision::Contained),
        (Mode::DontAsk, Person::Present, Decision::Contained),
        (Mode::Default, Person::Absent, Decision::Contained),
        (Mode::AcceptEdits, Person::Absent, Decision::Contained),
        (Mode::Default, Person::Present, Decision::Ask),
        (Mode::Plan, Person::Absent, Decision::Deny),
    ] {
        let context = Context { person, ..fenced(mode) };
        let verdict = decide_call(&Policy::default(), ToolCall::bash("frobnicate src"), context);
        assert_eq!(verdict.decision, expected, "{mode} {person:?}");
    }
    let context = Context { person: Person::Absent, ..fenced(Mode::Default) };
    let verdict = decide_call(&Policy::default(), ToolCall::bash("cargo test"), context);
    assert_eq!(verdict.fence().map(|fence| fence.cause), Some(FenceCause::NobodyToAsk));
}

#[test]
fn code_of_the_project_is_contained_only_if_settings_say_so() {
    let strict = Policy { contains_project_code: true, ..Policy::default() };
    for command in ["cargo test", "npm test", "./scripts/check.sh", "make", "cd sub && pytest -q"] {
        let decide = |policy: &Policy| decide_call(policy, ToolCall::bash(command), fenced(Mode::Auto));
        assert_eq!(decide(&Policy::default()).decision, Decision::Allow, "{command}");
        let verdict = decide(&strict);
        assert_eq!(verdict.fence().map(|fence| fence.cause), Some(FenceCause::ProjectCode), "{command}");
    }
    for command in ["ls", "git status", "mkdir -p out", "npm ci"] {
        let verdict = decide_call(&strict, ToolCall::bash(command), fenced(Mode::Auto));
        assert_eq!(verdict.decision, Decision::Allow, "{command}");
    }
}

/// Else whatever a fence cannot hold would be the way round the fence that settings want.
#[test]
fn code_of_the_project_that_no_fence_holds_is_asked_about() {
    let strict = Policy { contains_project_code: true, ..Policy::default() };
    for command in ["cargo test --target-dir /tmp/out", "docker compose exec web npm test"] {
        let decide =
            |policy: &Policy, context: Context| decide_call(policy, ToolCall::bash(command), context);
        let verdict = decide(&strict, fenced(Mode::Auto));
        assert_eq!(verdict.decision, Decision::Ask, "{command}");
        assert!(verdict.reason.message().contains("no fence holds"), "{command}: {verdict:?}");
        assert_eq!(decide(&Policy::default(), fenced(Mode::Auto)).decision, Decision::Allow, "{command}");
        assert_eq!(decide(&strict, context(Mode::Auto)).decision, Decision::Allow, "{command}");
    }
    let background = ToolInput::from_iter([
        ("command".to_owned(), Value::Text("npm test".to_owned())),
        ("run_in_background".to_owned(), Value::Bool(true)),
    ]);
    let call = ToolCall::new("Bash", background);
    assert_eq!(decide_call(&strict, call, fenced(Mode::Auto)).decision, Decision::Ask);
}

#[test]
fn declared_packages_are_installed_inside_where_their_registry_is_known() {
    let strict = Policy { contains_project_code: true, ..Policy::default() };
    let usual = Policy::default();
    let decide = |policy: &Policy, mode: Mode, command: &str| {
        let offer = FenceOffer { installers: vec!["npm".to_owned(), "pip".to_owned()], ..over("/code/app") };
        let context = Context { fence: Some(offer), ..context(mode) };
        let verdict = decide_call(policy, ToolCall::bash(command), context);
        (verdict.decision, verdict.fence().map(|fence| fence.network))
    };
    let inside = (Decision::Contained, Some(FenceNetwork::Registries));
    for command in ["npm ci", "npm install", "pip install -r requirements.txt"] {
        assert_eq!(decide(&strict, Mode::Auto, command), inside, "{command}");
        assert_eq!(decide(&usual, Mode::DontAsk, command), inside, "{command}");
        assert_eq!(decide(&usual, Mode::Auto, command), (Decision::Allow, None), "{command}");
    }
    // Without its registry it could only fail.
    assert_eq!(decide(&strict, Mode::Auto, "cargo fetch"), (Decision::Allow, None));
    assert_eq!(decide(&usual, Mode::DontAsk, "cargo fetch").0, Decision::Deny);
    for command in ["npm install left-pad", "pip install requests", "npm ci && curl https://example.com/x"] {
        assert_ne!(decide(&strict, Mode::Auto, command), inside, "{command}");
        assert_eq!(decide(&usual, Mode::DontAsk, command).0, Decision::Deny, "{command}");
    }
    let code = (Decision::Contained, Some(FenceNetwork::None));
    assert_eq!(decide(&strict, Mode::Auto, "npm test"), code);
}

/// Files of the project could otherwise lead an install out of the fence that settings want, by naming a registry.
#[test]
fn an_install_from_where_only_the_project_says_is_asked_about() {
    let strict = Policy { contains_project_code: true, ..Policy::default() };
    let usual = Policy::default();
    let decide = |policy: &Policy, mode: Mode, command: &str| {
        let strange = StrangeRegistry { program: "npm".to_owned(), host: "evil.example".to_owned() };
        let offer = FenceOffer {
            installers: vec!["pip".to_owned()],
            strange_registries: vec![strange],
            ..over("/code/app")
        };
        decide_call(policy, ToolCall::bash(command), Context { fence: Some(offer), ..context(mode) })
    };
    for command in ["npm ci", "true && npm install"] {
        let verdict = decide(&strict, Mode::Auto, command);
        assert_eq!(verdict.decision, Decision::Ask, "{command}");
        assert!(verdict.reason.message().contains("`evil.example`"), "{verdict:?}");
        assert_eq!(decide(&usual, Mode::DontAsk, command).decision, Decision::Deny, "{command}");
        // Without a fence that settings want there is nothing to slip past.
        assert_eq!(decide(&usual, Mode::Auto, command).decision, Decision::Allow, "{command}");
    }
    let others = decide(&strict, Mode::Auto, "pip install -r requirements.txt");
    assert_eq!(others.decision, Decision::Contained);
    assert_eq!(decide(&strict, Mode::Auto, "npm test").decision, Decision::Contained);
}

#[test]
fn code_that_the_agent_wrote_is_contained() {
    let mut context = fenced(Mode::Auto);
    let text = "import shutil\nshutil.rmtree('/home/me')\n".to_owned();
    context.session.written.insert("/code/app/conftest.py".to_owned(), Some(text));
    let verdict = decide_call(&Policy::default(), ToolCall::bash("pytest"), context.clone());
    assert_eq!(verdict.fence().map(|fence| fence.cause), Some(FenceCause::UnreadCode), "{verdict:?}");
    let bare = Context { fence: None, ..context };
    assert_eq!(decide_call(&Policy::default(), ToolCall::bash("pytest"), bare).decision, Decision::Ask);
}

#[test]
fn only_commands_that_end_and_start_inside_the_workspace_are_contained() {
    let input: ToolInput = [
        ("command".to_owned(), Value::Text("frobnicate".to_owned())),
        ("run_in_background".to_owned(), Value::Bool(true)),
    ]
    .into_iter()
    .collect();
    let decide = |call: ToolCall, context: Context| decide_call(&Policy::default(), call, context).decision;
    assert_eq!(decide(ToolCall::new("Bash", input), fenced(Mode::Auto)), Decision::Ask);
    let context = Context { fence: Some(over("/code/other")), ..context(Mode::Auto) };
    assert_eq!(decide(ToolCall::bash("frobnicate"), context), Decision::Ask);
    let unknown = ToolCall::new("mcp__shell__run", ToolInput::of_text("command", "frobnicate"));
    assert_eq!(decide(unknown, fenced(Mode::Auto)), Decision::Ask);
}

#[test]
fn where_a_line_ends_is_worked_out_from_its_text() {
    let ends = |command: &str| {
        let case = portcullis_core::Case::new(ToolCall::bash(command), context(Mode::Auto));
        case.directories_afterwards()
    };
    let paths = |paths: &[&str]| Some(paths.iter().map(|path| (*path).to_owned()).collect::<Vec<_>>());
    assert_eq!(ends("make"), paths(&["/code/app"]));
    assert_eq!(ends("(cd sub && make)"), paths(&["/code/app"]));
    assert_eq!(ends("cd \"$X\""), None);
    let both = ends("cd sub && make").unwrap();
    assert!(both.iter().any(|end| end == "/code/app/sub"), "{both:?}");
}
