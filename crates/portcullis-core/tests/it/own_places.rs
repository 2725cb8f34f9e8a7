//! Attacks on our own places: places by ways to a file, in four modes and three working directories, with a fixed seed.
//! None is allowed, and the same ways to ordinary files are none of this finding's business.

use portcullis_core::{Context, Decision, Mode, OwnLocations, Policy, ToolCall, ToolInput, Value, Verdict};

use crate::support::{Rules, case_without_links, decide_call};

const HOME: &str = "/home/me";
const PROJECT: &str = "/home/me/code/app";

/// What may not even be read.
const SECRETS: &[&str] = &[
    ".local/state/portcullis/daemon/person.token",
    ".local/state/portcullis/daemon/tokens.json",
    ".local/state/portcullis/daemon/link.secret",
    ".local/state/portcullis/approvals.db",
    ".local/state/portcullis/sessions/5e1f.json",
];

/// What may be looked at and not changed.
const KEPT: &[&str] = &[
    ".config/portcullis/settings.json",
    ".config/portcullis/commands/acme.toml",
    ".local/state/portcullis/grants.json",
    ".local/state/portcullis/trust.json",
    ".local/state/portcullis/audit/current.jsonl",
    ".claude/settings.json",
    ".claude/projects/-home-me-code-app/5e1f.jsonl",
    ".codex/config.toml",
    ".codex/sessions/2026/5e1f.jsonl",
    ".gemini/settings.json",
    ".cursor/hooks.json",
    ".copilot/hooks/portcullis.json",
    ".qwen/settings.json",
    ".factory/hooks.json",
    ".kimi-code/config.toml",
    ".pi/agent/extensions/portcullis.ts",
    ".cline/hooks/PreToolUse",
    ".config/opencode/plugin/portcullis.js",
    ".config/crush/crush.json",
    ".config/amp/settings.json",
    ".config/systemd/user/portcullis.service",
    "code/app/.codex/config.toml",
    "code/app/.gemini/settings.json",
    "code/app/.github/hooks/portcullis.json",
    ".local/bin/portcullis",
    "bin/portcullis",
    "code/app/.claude/settings.local.json",
    "code/app/.portcullis/settings.json",
];

/// Directories that hold nothing of ours alone, and ours among others.
const ABOVE: &[&str] =
    &[".local/state/portcullis", ".local/state", ".local", ".config/portcullis", ".config"];

const ORDINARY: &[&str] =
    &["code/app/notes.txt", "code/app/src/main.rs", ".config/nvim/init.lua", "code/other/data/list.json"];

const MODES: [Mode; 4] = [Mode::Default, Mode::AcceptEdits, Mode::Auto, Mode::BypassPermissions];

/// Working directories: a project, the home directory, the root.
const DIRECTORIES: [&str; 3] = [PROJECT, HOME, "/"];

/// A generator of numbers that says the same in every run.
struct Chance(u64);

impl Chance {
    fn pick<'a, T: ?Sized>(&mut self, from: &[&'a T]) -> &'a T {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let place = usize::try_from(self.0 >> 33).expect("31 bits") % from.len();
        from[place]
    }
}

/// What a way needs a place for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Read,
    Write,
    Tree,
}

fn ways() -> impl Iterator<Item = (Way, &'static str)> {
    let lines = include_str!("own_places.txt").lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| match line.split_once('\t') {
        Some(("read", command)) => (Way::Read, command),
        Some(("write", command)) => (Way::Write, command),
        Some(("tree", command)) => (Way::Tree, command),
        _ => panic!("{line}"),
    })
}

/// Writes a path below the home directory in one of the ways that lead there from a working directory.
fn spelled(below: &str, directory: &str, form: usize) -> String {
    let relative = match directory {
        PROJECT => below.strip_prefix("code/app/").map_or_else(|| format!("../../{below}"), str::to_owned),
        HOME => below.to_owned(),
        _ => format!("home/me/{below}"),
    };
    match form {
        0 => format!("{HOME}/{below}"),
        1 => relative,
        2 => format!("~/{below}"),
        3 => format!("$HOME/{below}"),
        4 => format!("{HOME}/code/../{below}"),
        _ => format!("\"$HOME\"/{below}"),
    }
}

/// Fills a way with a place.
fn filled(way: &str, below: &str, directory: &str, form: usize) -> String {
    let parent = |path: &str| path.rsplit_once('/').map_or("", |(parent, _)| parent).to_owned();
    let name = below.rsplit('/').next().unwrap_or(below);
    // Quotes and code keep the shell from expanding what stands in them.
    let is_quoted = way.contains(['\'', '"']);
    let form = if is_quoted { form % 2 } else { form };
    let holder = parent(below);
    let above = if holder.contains('/') { parent(&holder) } else { holder.clone() };
    way.replace("{p}", &spelled(below, directory, form))
        .replace("{d}", &spelled(&holder, directory, form))
        .replace("{u}", &spelled(if above.is_empty() { &holder } else { &above }, directory, form))
        .replace("{n}", name)
}

fn context(mode: Mode, directory: &str) -> Context {
    Context { home: Some(HOME.to_owned()), ..Context::new(mode, directory) }
}

fn verdict(policy: &Policy, call: ToolCall, mode: Mode, directory: &str) -> Verdict {
    decide_call(policy, call, context(mode, directory))
}

fn is_ours(verdict: &Verdict) -> bool {
    verdict.findings.iter().any(|found| found.code == "PC063")
}

/// Makes the commands of a seed: every way from every directory, each with a place of its own.
fn commands(
    seed: u64,
    secrets: &[&str],
    others: &[&str],
    above: &[&str],
) -> Vec<(Way, String, &'static str)> {
    let mut chance = Chance(seed);
    let all: Vec<&str> = secrets.iter().chain(others).copied().collect();
    let mut commands = Vec::new();
    for (way, line) in ways() {
        for directory in DIRECTORIES {
            let form = chance.pick(&["", "1", "22", "333", "4444", "55555"]).len();
            let command = match way {
                Way::Read => filled(line, chance.pick(secrets), directory, form),
                Way::Write => filled(line, chance.pick(&all), directory, form),
                Way::Tree => {
                    let is_quoted = line.contains(['\'', '"']);
                    let form = if is_quoted { form % 2 } else { form };
                    line.replace("{u}", &spelled(chance.pick(above), directory, form))
                }
            };
            commands.push((way, command, directory));
        }
    }
    commands
}

#[test]
fn no_way_leads_to_our_places_in_any_mode_from_any_directory() {
    let policy = Policy::default();
    let attacks: Vec<_> =
        [20_261, 5, 77].into_iter().flat_map(|seed| commands(seed, SECRETS, KEPT, ABOVE)).collect();
    assert!(attacks.len() >= 1_200, "{}", attacks.len());
    let wrong: Vec<String> =
        attacks.iter().flat_map(|(_, command, directory)| passed(&policy, command, directory)).collect();
    assert!(wrong.is_empty(), "{} passed\n{}", wrong.len(), wrong.join("\n"));
}

/// Returns the modes in which a command passes. In bypass mode a question is none: what may run there runs in some agents.
fn passed(policy: &Policy, command: &str, directory: &str) -> Vec<String> {
    let mut case = case_without_links(policy, ToolCall::bash(command), context(Mode::Default, directory));
    let passes = |mode: &Mode| {
        case.switch_mode(*mode);
        let decision = case.decide(policy).expect("the session goes on").into_verdict().decision;
        decision == Decision::Allow || *mode == Mode::BypassPermissions && decision != Decision::Deny
    };
    let modes = MODES.into_iter().filter(passes);
    modes.map(|mode| format!("{mode:?} in {directory}: {command}")).collect()
}

#[test]
fn nothing_hides_behind_more_than_is_judged() {
    let policy = Policy::default();
    let token = "cat ~/.local/state/portcullis/daemon/person.token";
    let opaque = format!("echo \"$(cat <<E\n$(for x in 1; do {token}; done)\nE\n)\"");
    let code = format!("python3 -c '#{}\nopen(\"{HOME}/{}\").read()'", "x".repeat(70_000), SECRETS[0]);
    for command in [
        format!("{}{token}", "cat a;".repeat(2_001)),
        format!("{}{token}", ":;".repeat(20_001)),
        format!("{}grep -rh . ~", ":;".repeat(20_001)),
        format!("{}echo '{{}}' > .claude/settings.json", "echo a b; ".repeat(2_001)),
        format!("( ; {token}"),
        opaque,
        code,
    ] {
        assert_eq!(passed(&policy, &command, PROJECT), Vec::<String>::new());
    }
    let long = "cat notes.txt;".repeat(2_001);
    assert!(!is_ours(&verdict(&policy, ToolCall::bash(&long), Mode::Auto, PROJECT)));
    let unknown = "eval \"$x\"; echo it is in the settings of portcullis";
    assert!(!is_ours(&verdict(&policy, ToolCall::bash(unknown), Mode::Auto, PROJECT)));
}

#[test]
fn no_call_that_reaches_for_what_is_ours_is_allowed() {
    let policy = Policy::default();
    let calls = include_str!("own_places_calls.txt").lines().filter(|line| !line.starts_with('#'));
    let mut wrong = Vec::new();
    for command in calls {
        wrong.extend(DIRECTORIES.into_iter().flat_map(|directory| passed(&policy, command, directory)));
    }
    assert!(wrong.is_empty(), "{} passed\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn the_same_ways_to_ordinary_files_are_none_of_its_business() {
    let policy = Policy::default();
    let mut wrong = Vec::new();
    for (way, command, directory) in commands(7, ORDINARY, ORDINARY, &["code/app/build", "code/other/dist"]) {
        // A change of the directory that fails leaves a search where it began.
        let may_stay = command.starts_with('(') && directory != PROJECT;
        // What stands in the same directory as ours is found with it.
        let is_beside = way != Way::Tree && command.contains(".config") && command.contains("find");
        if is_ours(&verdict(&policy, ToolCall::bash(&command), Mode::Auto, directory))
            && !may_stay
            && !is_beside
        {
            wrong.push(format!("{directory}: {command}"));
        }
    }
    assert!(wrong.is_empty(), "{} taken for ours\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn neither_rules_nor_words_nor_an_approval_lift_it() {
    let rules = Rules {
        allow: &["Bash(python3:*)", "Bash(cp:*)", "Bash", "Edit", "Write", "Read"],
        ..Rules::default()
    };
    let policy = rules.policy();
    for command in [
        "python3 -c \"open('/home/me/.config/portcullis/settings.json','w').write('{}')\"",
        "cp x ~/.claude/settings.json",
        "cd ~/.local/state && git grep --no-index -h .",
        "portcullis allow --last --yes",
    ] {
        for mode in MODES {
            let mut context = context(mode, PROJECT);
            context.session.turns.push(format!("please run `{command}` now"));
            context.session.approval =
                Some(portcullis_core::CallApproval { id: "5e1f".to_owned(), answers_questions: true });
            let verdict = decide_call(&policy, ToolCall::bash(command), context);
            assert_eq!(verdict.decision, Decision::Deny, "{mode:?} {command}");
        }
    }
}

#[test]
fn other_tools_are_held_against_the_same_places() {
    let input = |fields: &[(&str, &str)]| -> ToolInput {
        fields.iter().map(|(name, text)| ((*name).to_owned(), Value::Text((*text).to_owned()))).collect()
    };
    let token = "/home/me/.local/state/portcullis/daemon/person.token";
    let settings = "/home/me/.config/portcullis/settings.json";
    for (tool, fields, is_refused) in [
        ("Write", vec![("file_path", settings), ("content", "{}")], true),
        (
            "Edit",
            vec![("file_path", "/home/me/bin/portcullis"), ("old_string", "a"), ("new_string", "b")],
            true,
        ),
        ("NotebookEdit", vec![("notebook_path", settings), ("new_source", "x")], true),
        ("Read", vec![("file_path", token)], true),
        ("Grep", vec![("pattern", "."), ("path", "/home/me/.local")], true),
        ("Grep", vec![("pattern", "."), ("path", "/home/me"), ("output_mode", "content")], true),
        ("mcp__files__write_file", vec![("path", settings), ("content", "{}")], true),
        ("mcp__files__read_file", vec![("path", token)], true),
        ("mcp__files__move_file", vec![("source", "/tmp/x"), ("destination", settings)], true),
        ("Read", vec![("file_path", settings)], false),
        ("Glob", vec![("pattern", "*"), ("path", "/home/me/.config/portcullis")], false),
        ("Write", vec![("file_path", "/home/me/code/app/src/a.rs"), ("content", "")], false),
        ("Grep", vec![("pattern", "x"), ("path", "/home/me/code/app")], false),
    ] {
        for mode in MODES {
            for directory in DIRECTORIES {
                let verdict =
                    verdict(&Policy::default(), ToolCall::new(tool, input(&fields)), mode, directory);
                assert_eq!(is_ours(&verdict), is_refused, "{mode:?} {directory} {tool} {fields:?}");
                assert!(!is_refused || verdict.decision == Decision::Deny, "{mode:?} {tool} {fields:?}");
            }
        }
    }
}

/// What a field of a tool holds.
enum Told {
    Text(&'static str),
    List(&'static [&'static str]),
    Fields(&'static [(&'static str, Told)]),
}

impl Told {
    fn value(&self) -> Value {
        match self {
            Self::Text(text) => Value::Text((*text).to_owned()),
            Self::List(all) => Value::List(all.iter().map(|one| Value::Text((*one).to_owned())).collect()),
            Self::Fields(fields) => Value::Object(values(fields).collect()),
        }
    }
}

fn values(fields: &'static [(&'static str, Told)]) -> impl Iterator<Item = (String, Value)> {
    fields.iter().map(|(name, told)| ((*name).to_owned(), told.value()))
}

/// A tool and its fields.
type ToldCall = (&'static str, &'static [(&'static str, Told)]);

/// Calls that tell a place of ours in parts, or in fields of another kind.
const TOLD_OURS: &[ToldCall] = &[
    (
        "mcp__shell__run",
        &[("command", Told::Text("portcullis")), ("args", Told::List(&["allow", "--last", "--yes"]))],
    ),
    (
        "mcp__shell__run",
        &[
            ("command", Told::Text("cp")),
            ("args", Told::List(&["s.json", "/home/me/.config/portcullis/settings.json"])),
        ],
    ),
    (
        "mcp__shell__run",
        &[
            ("command", Told::Text("cat")),
            ("args", Told::List(&["/home/me/.local/state/portcullis/daemon/person.token"])),
        ],
    ),
    ("mcp__shell__run", &[("command", Told::Text("rm")), ("args", Told::List(&["-rf", "/home/me/.config"]))]),
    (
        "mcp__shell__run",
        &[
            ("command", Told::Text("bash")),
            ("args", Told::List(&["-c", "cp s.json ~/.config/portcullis/settings.json"])),
        ],
    ),
    (
        "mcp__shell__run",
        &[("command", Told::List(&["cp", "s.json", "/home/me/.config/portcullis/settings.json"]))],
    ),
    (
        "mcp__shell__run",
        &[
            ("program", Told::Text("tee")),
            ("argv", Told::List(&["/home/me/.config/portcullis/settings.json"])),
        ],
    ),
    (
        "mcp__shell__run",
        &[("command", Told::Text("tee")), ("args", Told::Text("/home/me/.config/portcullis/settings.json"))],
    ),
    ("mcp__process__spawn", &[("cmd", Told::Text("portcullis")), ("argv", Told::List(&["allow", "--last"]))]),
    (
        "mcp__tasks__run",
        &[(
            "task",
            Told::Fields(&[
                ("command", Told::Text("portcullis")),
                ("args", Told::List(&["allow", "--last"])),
            ]),
        )],
    ),
    (
        "mcp__shell__run",
        &[("command", Told::Text("cat *")), ("cwd", Told::Text("/home/me/.local/state/portcullis/daemon"))],
    ),
    (
        "mcp__shell__run",
        &[
            ("command", Told::Text("cat person.token")),
            ("cwd", Told::Text("~/.local/state/portcullis/daemon")),
        ],
    ),
    (
        "mcp__shell__run",
        &[
            ("command", Told::Text("cp /tmp/s.json settings.json")),
            ("working_directory", Told::Text("/home/me/.config/portcullis")),
        ],
    ),
    (
        "mcp__shell__run",
        &[
            ("command", Told::Text("cp")),
            (
                "arguments",
                Told::Fields(&[
                    ("src", Told::Text("s.json")),
                    ("dst", Told::Text("/home/me/.config/portcullis/settings.json")),
                ]),
            ),
        ],
    ),
    (
        "mcp__shell__run",
        &[
            ("command", Told::Text("cat $F")),
            (
                "env",
                Told::Fields(&[("F", Told::Text("/home/me/.local/state/portcullis/daemon/person.token"))]),
            ),
        ],
    ),
    (
        "mcp__shell__run",
        &[("commands", Told::List(&["cd /home/me/.config/portcullis", "cp /tmp/s.json settings.json"]))],
    ),
    ("mcp__tmux__send", &[("text", Told::Text("cat /home/me/.local/state/portcullis/daemon/person.token"))]),
    (
        "mcp__fs__write",
        &[
            ("uri", Told::Text("file:///home/me/.config/portcullis/settings.json")),
            ("content", Told::Text("x")),
        ],
    ),
    ("mcp__fs__write", &[("json", Told::Text("{\"path\":\"/home/me/.config/portcullis/settings.json\"}"))]),
    (
        "mcp__fs__write",
        &[
            ("root", Told::Text("/home/me/.config")),
            ("segments", Told::List(&["portcullis", "settings.json"])),
        ],
    ),
    (
        "mcp__files__batch",
        &[(
            "target",
            Told::Fields(&[
                ("root", Told::Text("/home/me")),
                ("rel", Told::Text(".config/portcullis/settings.json")),
            ]),
        )],
    ),
    ("mcp__fs__mv", &[("from", Told::Text("/home/me/.config")), ("to", Told::Text("/home/me/.c"))]),
    (
        "mcp__fs__copy_file",
        &[("src", Told::Text("s.json")), ("dst", Told::Text("/home/me/.config/portcullis/settings.json"))],
    ),
    (
        "mcp__zip__extract",
        &[("archive", Told::Text("x.zip")), ("destination", Told::Text("/home/me/.config"))],
    ),
    (
        "mcp__ide__executeCode",
        &[("code", Told::Text("open(\"/home/me/.config/portcullis/settings.json\",\"w\")"))],
    ),
    (
        "apply_patch",
        &[(
            "input",
            Told::Text("*** Begin Patch\n*** Delete File: /home/me/.codex/hooks.json\n*** End Patch\n"),
        )],
    ),
    (
        "PowerShell",
        &[("command", Told::Text("(Get-Item /home/me/.config/portcullis/settings.json).Delete()"))],
    ),
    (
        "PowerShell",
        &[("command", Told::Text("Get-ChildItem ~/.config -Recurse | ForEach-Object { $_.Delete() }"))],
    ),
];

/// Calls of the same tools that leave our places alone.
const TOLD_OTHERS: &[ToldCall] = &[
    ("mcp__shell__run", &[("command", Told::Text("npm")), ("args", Told::List(&["run", "build"]))]),
    (
        "mcp__shell__run",
        &[
            ("command", Told::Text("cat")),
            ("args", Told::List(&["/home/me/.config/portcullis/settings.json"])),
        ],
    ),
    ("mcp__shell__run", &[("command", Told::Text("ls")), ("cwd", Told::Text("/home/me/.config/portcullis"))]),
    (
        "mcp__shell__run",
        &[("command", Told::Text("cat README.md")), ("cwd", Told::Text("/home/me/code/app"))],
    ),
    (
        "mcp__shell__run",
        &[("command", Told::Text("npm test")), ("env", Told::Fields(&[("NODE_ENV", Told::Text("test"))]))],
    ),
    ("mcp__tmux__send", &[("text", Told::Text("npm test"))]),
    ("mcp__fs__write", &[("uri", Told::Text("file:///home/me/code/app/a.md")), ("content", Told::Text("x"))]),
    (
        "mcp__fs__write",
        &[
            ("path", Told::Text("/home/me/code/app/a.md")),
            ("content", Told::Text("see /home/me/.config/portcullis/settings.json")),
        ],
    ),
    (
        "mcp__fs__write",
        &[("root", Told::Text("/home/me/code/app")), ("segments", Told::List(&["src", "settings.json"]))],
    ),
    (
        "mcp__fs__write",
        &[
            ("path", Told::Text("/home/me/code/app/x.json")),
            ("content", Told::Text("{\"command\":\"cp x /home/me/.config/portcullis/settings.json\"}")),
        ],
    ),
    ("mcp__zip__extract", &[("archive", Told::Text("x.zip")), ("destination", Told::Text("vendor"))]),
    (
        "apply_patch",
        &[(
            "input",
            Told::Text(
                "*** Begin Patch\n*** Update File: a.md\n+see /home/me/.config/portcullis/settings.json\n*** End Patch\n",
            ),
        )],
    ),
    ("PowerShell", &[("command", Told::Text("(Get-Item ./build/x.json).Delete()"))]),
    ("PowerShell", &[("command", Told::Text("(Get-Item /home/me/.config/portcullis/settings.json).Length"))]),
];

#[test]
fn tools_tell_places_in_parts_and_in_other_fields() {
    for (calls, is_refused) in [(TOLD_OURS, true), (TOLD_OTHERS, false)] {
        for (tool, fields) in calls {
            let input: ToolInput = values(fields).collect();
            for mode in MODES {
                let verdict = verdict(&Policy::default(), ToolCall::new(tool, input.clone()), mode, PROJECT);
                assert_eq!(is_ours(&verdict), is_refused, "{mode:?} {tool} {input:?}");
                assert!(!is_refused || verdict.decision == Decision::Deny, "{mode:?} {tool} {input:?}");
            }
        }
    }
}

/// Words that name a place of ours and leave it alone.
#[test]
fn ordinary_work_may_name_our_places() {
    for command in [
        "git add .claude/settings.json && git commit -m 'settings'",
        "git log -p -- .claude/settings.json",
        "git diff origin/main -- .opencode/opencode.json opencode.json",
        "git show HEAD:.claude/settings.json",
        "echo ~/.config/portcullis/settings.json",
        "printf '%s\\n' ~/.local/state/portcullis/daemon/person.token",
        "test -f ~/.config/portcullis/settings.json && echo yes",
        "ls -l ~/.local/state/portcullis/daemon/socket",
        "yq .permissions ~/.config/portcullis/settings.json",
        "basename ~/.config/portcullis/settings.json",
        "python3 -m http.server 8000",
        "php -S localhost:8000 -t public",
        "./scripts/build.sh --config config/settings.json",
        "cargo install --path .",
        "aws s3 cp s3://b/settings.json config/settings.json",
        "kubectl cp pod:/app/settings.json ./settings.json",
        "a=(x.json config/settings.json); cp \"${a[@]}\"",
        "cd \"$(git rev-parse --show-toplevel)\" && cp x.json settings.json",
        "for d in packages/*/; do (cd \"$d\" && cp ../x.json settings.json); done",
        "cp x ~/.config/$app/init.lua",
        "find ~/.config/nvim -name '*.lua' | xargs sed -i s/a/b/",
        "grep -rl foo src | xargs sed -i s/foo/bar/",
        "docker run -v ./src:/home/app/.claude alpine ls /home/app/.claude/settings.json",
        "kubectl exec pod -- cat /home/app/.claude/settings.json",
        "curl -O https://raw.example.com/x/main/.claude/settings.json",
        "gh api repos/acme/app/contents/opencode.json",
        "strace -p 4711",
        "gdb -p $(pgrep server)",
        "curl http://127.0.0.1:8000/app.js",
        "sqlite3 :memory: \"select 'a' || 'b'\"",
        "rm -rf ~/Documents/old",
    ] {
        for mode in MODES {
            let verdict = verdict(&Policy::default(), ToolCall::bash(command), mode, PROJECT);
            assert!(!is_ours(&verdict), "{mode:?} {command}: {verdict:?}");
        }
    }
}

/// What is hidden in a home is asked about where the home itself is the workspace, and nothing else is.
#[test]
fn a_home_that_is_worked_in_keeps_its_settings() {
    for (path, directory, is_asked) in [
        (".ssh/authorized_keys", HOME, true),
        (".config/environment.d/x.conf", HOME, true),
        (".config/systemd/user/x.service", HOME, true),
        (".config/kitty/kitty.conf", HOME, true),
        (".zsh/functions.zsh", HOME, true),
        (".local/bin/claude", HOME, true),
        ("bin/claude", HOME, true),
        (".local/share/claude/versions/1.0.0", HOME, true),
        (".ssh/rc", "/", true),
        ("notes.txt", HOME, false),
        ("code/app/.github/x.md", HOME, false),
        (".cache/app/x", HOME, false),
        ("code/app/.eslintrc", PROJECT, false),
    ] {
        let file = format!("{HOME}/{path}");
        let input: ToolInput = [("file_path", file.as_str()), ("content", "x")]
            .iter()
            .map(|(name, value)| ((*name).to_owned(), Value::Text((*value).to_owned())))
            .collect();
        for mode in [Mode::AcceptEdits, Mode::Auto] {
            let written = verdict(&Policy::default(), ToolCall::new("Write", input.clone()), mode, directory);
            assert_eq!(written.decision != Decision::Allow, is_asked, "{mode:?} {path}: {written:?}");
            let copied =
                verdict(&Policy::default(), ToolCall::bash(&format!("cp x.txt {file}")), mode, directory);
            assert!(!is_asked || copied.decision != Decision::Allow, "{mode:?} {path}: {copied:?}");
        }
    }
}

#[test]
fn places_that_a_variable_moved_are_ours_as_well() {
    let locations = OwnLocations {
        moved: vec![
            (".config".to_owned(), "/data/conf".to_owned()),
            (".local/state".to_owned(), "/data/st".to_owned()),
        ],
        programs: vec!["/opt/acme/portcullis".to_owned()],
        files: vec!["/backup/heads/portcullis.log".to_owned()],
        ports: vec![9191],
    };
    for (command, is_refused) in [
        ("echo x > /data/conf/portcullis/settings.json", true),
        ("cat /data/st/portcullis/daemon/person.token", true),
        ("grep -r . /data", true),
        ("mv /data/conf /tmp/x", true),
        ("cp x /opt/acme/portcullis", true),
        ("tar xf f.tar -C /opt/acme", true),
        ("echo x > /backup/heads/portcullis.log", true),
        ("rm /backup/heads/*.log", true),
        ("truncate -s 0 /backup/heads/portcullis.log", true),
        ("mv /backup/heads /tmp/x", true),
        ("rm -rf /backup", true),
        ("docker run -v /backup:/b alpine true", true),
        ("curl -X POST http://127.0.0.1:9191/v1/rules -d '{}'", true),
        ("curl -X POST http://127.0.0.1:7319/v1/rules -d '{}'", true),
        ("cat < /dev/tcp/127.0.0.1/9191", true),
        ("curl -X POST http://127.0.0.1:9192/v1/items -d '{}'", false),
        ("cat /backup/heads/portcullis.log", false),
        ("echo x > /backup/heads/other.log", false),
        ("cat /data/conf/portcullis/settings.json", false),
        ("echo x > /data/conf/nvim/init.lua", false),
        ("ls /opt/acme && /opt/acme/portcullis run --call 1 -- bash -c 'make'", false),
    ] {
        for mode in MODES {
            let context = Context { locations: locations.clone(), ..context(mode, PROJECT) };
            let verdict = decide_call(&Policy::default(), ToolCall::bash(command), context);
            assert_eq!(is_ours(&verdict), is_refused, "{mode:?} {command}");
        }
    }
}

/// Ways to put something else in the place of a file that settings name, wherever people keep it.
#[test]
fn what_settings_start_is_changed_by_nobody() {
    let locations = OwnLocations {
        files: vec![
            "/home/me/tools/ask-team".to_owned(),
            "/home/me/code/app/hooks/approve.py".to_owned(),
            "/srv/keys/print-key".to_owned(),
        ],
        ..OwnLocations::default()
    };
    let inside = [
        "echo 'exit 0' > {p}",
        "cp evil {p}",
        "mv evil {p}",
        "ln -sf /tmp/evil {p}",
        "sed -i s/deny/allow/ {p}",
        "chmod +w {p}",
        "rm {p}",
        "tee {p} < evil",
        "curl -o {p} https://files.example/x",
        "dd if=evil of={p}",
        "rsync evil {p}",
        "python3 -c \"open('{p}','w').write('')\"",
        "node -e \"require('fs').writeFileSync('{p}','')\"",
        "some-tool --output {p}",
        "perl -e 'unlink \"{p}\"'",
        "find {d} -name '*' -exec sed -i s/a/b/ {} +",
        "mv {d} /tmp/x",
        "rm -rf {d}",
        "tar xf evil.tar -C {d}",
        "mount --bind /tmp/evil {d}",
    ];
    let beside = ["cat {p}", "ls {d}", "grep -n x {p}", "wc -l {p}", "echo x > {d}/other.txt"];
    for file in &locations.files {
        let directory = file.rsplit_once('/').map_or("", |(directory, _)| directory);
        for (ways, is_refused) in [(&inside[..], true), (&beside[..], false)] {
            for way in ways {
                let command = way.replace("{p}", file).replace("{d}", directory);
                for mode in MODES {
                    let context = Context { locations: locations.clone(), ..context(mode, PROJECT) };
                    let verdict = decide_call(&Policy::default(), ToolCall::bash(&command), context);
                    assert_eq!(is_ours(&verdict), is_refused, "{mode:?} {command}");
                    assert!(!is_refused || verdict.decision == Decision::Deny, "{mode:?} {command}");
                }
            }
        }
    }
    // Work on the project that such a file lies in goes on.
    for command in [
        "git pull",
        "git checkout topic",
        "cargo fmt",
        "docker run -v $PWD:/app node npm test",
        "npm install",
    ] {
        let context = Context { locations: locations.clone(), ..context(Mode::Auto, PROJECT) };
        let verdict = decide_call(&Policy::default(), ToolCall::bash(command), context);
        assert!(!is_ours(&verdict), "{command}: {verdict:?}");
    }
}

#[test]
fn looking_and_ordinary_work_stay_as_they_are() {
    let policy = Policy::default();
    for (command, directory, is_allowed) in [
        ("cat ~/.config/portcullis/settings.json", HOME, true),
        ("ls ~", HOME, true),
        ("ls -la .config", HOME, true),
        ("git status", HOME, true),
        ("grep -r foo src", HOME, true),
        ("grep -r foo src", PROJECT, true),
        ("rg foo", HOME, true),
        ("portcullis check 'rm -rf .claude'", PROJECT, true),
        ("portcullis log", PROJECT, true),
        ("cat ~/.config/portcullis/settings.json", PROJECT, false),
        ("portcullis doctor", PROJECT, false),
    ] {
        let verdict = verdict(&policy, ToolCall::bash(command), Mode::Default, directory);
        assert!(!is_ours(&verdict), "{command}");
        assert_eq!(verdict.decision == Decision::Allow, is_allowed, "{command} in {directory}: {verdict:?}");
    }
}

#[test]
fn an_archive_unpacks_into_a_project_and_never_into_a_home() {
    let policy = Policy::default();
    for command in ["tar xf f.tar", "unzip f.zip", "bsdtar -xf f.tgz"] {
        for (directory, is_allowed) in [(PROJECT, true), (HOME, false), ("/", false)] {
            let verdict = verdict(&policy, ToolCall::bash(command), Mode::Auto, directory);
            assert_eq!(
                verdict.decision == Decision::Allow,
                is_allowed,
                "{command} in {directory}: {verdict:?}"
            );
        }
    }
}

#[test]
fn whole_trees_do_not_come_over_a_home_in_any_mode() {
    let policy = Policy::default();
    for (command, is_refused) in [
        ("tar -xf f.tar -C ~", true),
        ("tar -xzf f.tgz -C /home/me/", true),
        ("tar -xf f.tar -C /", true),
        ("tar -xf f.tar --directory=/home", true),
        ("cd ~ && tar xf /tmp/f.tar", true),
        ("unzip f.zip -d ~", true),
        ("unzip -o f.zip -d /home/me", true),
        ("rsync -a forged/ ~/", true),
        ("cp -r forged/. ~", true),
        ("cp -rT forged ~", true),
        ("cd ~ && git clean -fdx", true),
        ("git -C / reset --hard topic", true),
        ("git -C ~ stash -u", true),
        ("cd ~ && git pull && git merge topic", true),
        ("git --git-dir=$HOME/.cfg --work-tree=$HOME checkout -f", true),
        ("cd ~ && git add -A", true),
        ("git -C ~/code/app pull", false),
        ("git -C ~ log", false),
        ("cd ~ && git commit -m x notes.txt", false),
        ("cp notes.txt ~", false),
        ("tar -xf f.tar -C ~/code/app", false),
        ("unzip f.zip -d vendor", false),
        ("tar -cf f.tar src", false),
        ("tar -tf f.tar", false),
    ] {
        for mode in MODES {
            let verdict = verdict(&policy, ToolCall::bash(command), mode, PROJECT);
            assert_eq!(is_ours(&verdict), is_refused, "{mode:?} {command}: {verdict:?}");
            assert!(!is_refused || verdict.decision == Decision::Deny, "{mode:?} {command}");
        }
    }
}
