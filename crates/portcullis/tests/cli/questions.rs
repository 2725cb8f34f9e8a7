//! `portcullis questions`: what waits is listed, read and answered in a terminal, one by one and in the full screen.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use pretty_assertions::assert_eq;
use serde_json::Value;

use super::daemon::{Daemon, signal};
use super::grants::{Scene, said};
use super::sandbox::{Ran, ran};

/// How long a test waits for what must come.
const PATIENCE: Duration = Duration::from_mins(1);
/// How long to wait before looking again.
const GLANCE: Duration = Duration::from_millis(20);

/// A home with a daemon.
struct Stage {
    scene: Scene,
    daemon: Daemon,
}

impl Stage {
    fn new() -> Self {
        let scene = Scene::new();
        let daemon = Daemon::start(&scene.sandbox);
        Self { scene, daemon }
    }

    /// Starts a hook with a call that nobody is there to allow, and returns it when its question waits, with its id.
    fn ask(&self, command: &str) -> (Child, String) {
        let before = self.open();
        let input = self.scene.bash("s1", "default", command);
        let mut hook = self.scene.sandbox.command(&["hook", "claude", "--headless"]);
        let mut hook = hook.stdin(Stdio::piped()).spawn().unwrap();
        hook.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        let until = Instant::now() + PATIENCE;
        loop {
            if let Some(id) = self.open().into_iter().find(|id| !before.contains(id)) {
                return (hook, id);
            }
            assert!(Instant::now() < until, "the question does not come");
            assert!(hook.try_wait().unwrap().is_none(), "the hook ended: {:?}", hook.wait_with_output());
            std::thread::sleep(GLANCE);
        }
    }

    /// Returns the ids of the questions that wait.
    fn open(&self) -> Vec<String> {
        let listed = self.daemon.get("/v1/approvals?state=open").as_json();
        let ids = listed["approvals"].as_array().unwrap().iter();
        ids.map(|one| one["id"].as_str().unwrap().to_owned()).collect()
    }

    fn run(&self, arguments: &[&str]) -> Ran {
        self.scene.sandbox.run(&[&["questions"], arguments].concat())
    }

    /// Answers a question in a terminal, with what a person types: first `allow` or `deny`, then the id.
    fn type_in(&self, arguments: &[&str], typed: &str) -> Ran {
        self.scene.at_terminal(&named_by_id(arguments), typed)
    }
}

/// Puts `--id` before the id, which comes second.
fn named_by_id<'a>(arguments: &[&'a str]) -> Vec<&'a str> {
    let (verb, rest) = arguments.split_first().unwrap();
    [&[*verb, "--id"], rest].concat()
}

/// Shortens an id.
fn short(id: &str) -> &str {
    id.split_at(12).0
}

/// Waits until a hook has answered; returns the decision and what it said.
fn answer(hook: Child) -> (String, String) {
    said(&ran(&hook.wait_with_output().unwrap()))
}

#[test]
fn what_waits_is_listed_and_shown() {
    let stage = Stage::new();
    assert_eq!(stage.run(&["list"]).stdout, "no question waits\n");
    let (mut hook, id) = stage.ask("make \u{1b}[2J\u{202e}install");
    let listed = stage.run(&["list"]);
    assert_eq!((listed.code, listed.stderr.as_str()), (Some(0), ""), "{listed:?}");
    assert!(listed.stdout.contains(&id) && listed.stdout.contains("min left"), "{}", listed.stdout);
    assert!(listed.stdout.contains("make \\u{1b}[2J\\u{202e}install"), "{}", listed.stdout);
    assert!(stage.run(&[]).stdout.contains(&id), "without a terminal there is no full screen");
    for start in [id.as_str(), short(&id)] {
        let shown = stage.run(&["show", start]);
        assert_eq!(shown.code, Some(0), "{shown:?}");
        for part in ["open", &id, "install", "what it does", "risk", "trace", "PC045", "s1"] {
            assert!(shown.stdout.contains(part), "{part}: {}", shown.stdout);
        }
    }
    for arguments in [&["--json"][..], &["list", "--json"], &["show", &id, "--json"]] {
        let told = stage.run(arguments).stdout;
        assert!(!told.contains(['\u{1b}', '\u{202e}']), "{arguments:?}: {told:?}");
        let value: Value = serde_json::from_str(&told).unwrap();
        let one = value.pointer("/approvals/0").unwrap_or(&value);
        assert_eq!((one["id"].as_str(), one["state"].as_str()), (Some(id.as_str()), Some("open")));
    }
    for unknown in ["ffffffffffffffffffffffffffffffff", "zz", "", "../sessions"] {
        let ran = stage.run(&["show", unknown]);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(64), ""), "{unknown}: {ran:?}");
        assert!(ran.stderr.contains("no question has an id"), "{}", ran.stderr);
    }
    let (mut plain, id) = stage.ask("make install");
    let shown = stage.run(&["show", &id]).stdout;
    assert!(shown.contains("rules that would decide it\n    allow Bash(make install *)"), "{shown}");
    for hook in [&mut hook, &mut plain] {
        hook.kill().unwrap();
        hook.wait().unwrap();
    }
}

#[test]
fn a_person_allows_and_the_waiting_call_runs() {
    let stage = Stage::new();
    let (hook, id) = stage.ask("make install");
    let ran = stage.type_in(&["allow", short(&id)], "y\n");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.stdout.contains("make install"), "the call is shown first: {}", ran.stdout);
    assert!(ran.stdout.contains("allow this very call? [y/N]"), "{}", ran.stdout);
    assert!(ran.stdout.contains("(terminal), once"), "{}", ran.stdout);
    assert_eq!(answer(hook).0, "allow");
    let listed = stage.run(&["list", "--state", "allowed", "--json"]).stdout;
    assert_eq!(serde_json::from_str::<Value>(&listed).unwrap()["approvals"][0]["answer"]["via"], "terminal");
}

#[test]
fn a_denial_tells_the_agent_what_the_person_said() {
    let stage = Stage::new();
    let (hook, id) = stage.ask("make install");
    let ran = stage.type_in(&["deny", &id, "--message", "use the container", "--yes"], "");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let (decision, text) = answer(hook);
    assert_eq!(decision, "deny");
    assert!(text.contains("use the container"), "{text}");
}

#[test]
fn the_old_names_do_what_the_new_ones_do() {
    let stage = Stage::new();
    let (hook, id) = stage.ask("make install");
    let sandbox = &stage.scene.sandbox;
    let [old, new] = ["approvals", "questions"].map(|noun| sandbox.run(&[noun, "show", &id, "--json"]));
    assert_eq!((old.code, old.stdout), (Some(0), new.stdout));
    let words = ["approvals", "allow", short(&id), "--session", "--rule", "Bash(make install *)", "--yes"];
    let ran = stage.scene.at_terminal(&words, "");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.stdout.contains("(terminal), session by `Bash(make install *)`"), "{}", ran.stdout);
    assert_eq!(answer(hook).0, "allow");
    let (hook, id) = stage.ask("npm publish");
    let ran = stage.scene.at_terminal(&["approvals", "deny", &id, "--message", "no", "--yes"], "");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(answer(hook).0, "deny");
}

#[test]
fn the_first_answer_counts_and_the_second_is_told_so() {
    let stage = Stage::new();
    let (hook, id) = stage.ask("make install");
    assert_eq!(stage.type_in(&["deny", &id, "--yes"], "").code, Some(0));
    for arguments in [&["allow", &id, "--yes"][..], &["deny", &id, "--yes"]] {
        let ran = stage.type_in(arguments, "");
        assert_eq!(ran.code, Some(64), "{ran:?}");
        assert!(ran.stdout.contains("not open any more: denied by"), "{}", ran.stdout);
    }
    assert_eq!(answer(hook).0, "deny");
}

#[test]
fn a_person_may_say_no_to_their_own_answer() {
    let stage = Stage::new();
    let (hook, id) = stage.ask("make install");
    for no in ["\n", "n\n", "maybe\n"] {
        let ran = stage.type_in(&["allow", &id], no);
        assert_eq!(ran.code, Some(64), "{ran:?}");
        assert!(ran.stdout.contains("nothing was changed"), "{}", ran.stdout);
    }
    assert_eq!(stage.open(), [id.as_str()]);
    assert_eq!(stage.type_in(&["deny", &id, "--yes"], "").code, Some(0));
    assert_eq!(answer(hook).0, "deny");
}

#[test]
fn a_rule_may_come_with_the_answer() {
    let stage = Stage::new();
    let (hook, id) = stage.ask("make install");
    let ran = stage.type_in(&["allow", &id, "--session"], "y\n");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.stdout.contains("allow Bash(make install *)"), "the rule is shown: {}", ran.stdout);
    assert_eq!(answer(hook).0, "allow");
    let input = stage.scene.bash("s1", "default", "make install -j4");
    assert_eq!(stage.scene.ask(&["--headless"], &input).0, "allow");
    let (hook, id) = stage.ask("npm publish");
    let wrong = stage.type_in(&["deny", &id, "--always", "Bash(npm", "--yes"], "");
    assert_eq!(wrong.code, Some(64), "{wrong:?}");
    let without = stage.type_in(&["deny", &id, "Bash(npm *)", "--yes"], "");
    assert_eq!(without.code, Some(64), "a rule wants a term: {without:?}");
    let ran = stage.type_in(&["deny", &id, "--always", "Bash(npm publish *)", "--yes"], "");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(answer(hook).0, "deny");
    let settings = stage.scene.sandbox.home.join(".config/portcullis/settings.json");
    assert!(std::fs::read_to_string(settings).unwrap().contains("Bash(npm publish *)"));
}

#[test]
fn without_a_terminal_nobody_answers() {
    let stage = Stage::new();
    let (hook, id) = stage.ask("make install");
    for arguments in [
        &["allow", &id][..],
        &["allow", &id, "--yes"],
        &["allow", &id, "--session", "--yes", "--json"],
        &["allow", &id, "--always", "--yes"],
        &["deny", &id, "--yes"],
    ] {
        let old = ["approvals", "questions"].map(|noun| [&[noun], arguments].concat());
        for words in old.into_iter().chain([named_by_id(arguments)]) {
            let sandbox = &stage.scene.sandbox;
            for ran in [sandbox.run(&words), sandbox.run_with_input(&words, b"y\ny\n")] {
                assert_eq!((ran.code, ran.stdout.as_str()), (Some(64), ""), "{words:?}: {ran:?}");
                assert!(ran.stderr.contains("run it yourself in a terminal"), "{}", ran.stderr);
            }
        }
    }
    assert_eq!(stage.open(), [id.as_str()]);
    assert_eq!(stage.type_in(&["deny", &id, "--yes"], "").code, Some(0));
    assert_eq!(answer(hook).0, "deny");
}

#[test]
fn without_a_daemon_the_way_to_one_is_told() {
    let scene = Scene::new();
    for arguments in
        [&["questions"][..], &["questions", "list"], &["questions", "show", "ab"], &["approvals", "watch"]]
    {
        let ran = scene.sandbox.run(arguments);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(64), ""), "{arguments:?}: {ran:?}");
        assert!(ran.stderr.contains("portcullis serve"), "{}", ran.stderr);
    }
    for arguments in [&["questions"][..], &["allow", "--id", "ab", "--yes"], &["approvals", "deny", "ab"]] {
        let ran = scene.at_terminal(arguments, "");
        assert_eq!(ran.code, Some(64), "{ran:?}");
        assert!(ran.stdout.contains("portcullis serve"), "{}", ran.stdout);
        assert!(!ran.stdout.contains("\u{1b}[?1049h"), "no screen is opened: {ran:?}");
    }
}

#[test]
fn whoever_watches_is_told_line_by_line() {
    let stage = Stage::new();
    let (hook, first) = stage.ask("make install");
    let mut watching = stage.scene.sandbox.command(&["questions", "watch"]).spawn().unwrap();
    let mut lines = BufReader::new(watching.stdout.take().unwrap()).lines();
    let mut next = || lines.next().unwrap().unwrap();
    let line = next();
    assert!(
        line.contains(&first) && line.contains("asked, claude") && line.contains("make install"),
        "{line}"
    );
    let (other, second) = stage.ask("npm publish");
    let line = next();
    assert!(line.contains(&second) && line.contains("asked, claude"), "{line}");
    assert_eq!(stage.type_in(&["deny", &first, "--yes"], "").code, Some(0));
    let line = next();
    assert!(line.contains(&first) && line.contains("denied by"), "{line}");
    assert_eq!(answer(hook).0, "deny");
    watching.kill().unwrap();
    watching.wait().unwrap();
    assert_eq!(stage.type_in(&["deny", &second, "--yes"], "").code, Some(0));
    assert_eq!(answer(other).0, "deny");
}

#[test]
fn in_the_full_screen_a_waiting_call_is_allowed() {
    let stage = Stage::new();
    let (hook, _) = stage.ask("make install");
    let mut screen = Screen::open(&stage, (100, 30), &[]);
    screen.wait_for("▸ ");
    screen.wait_for("│ make install");
    screen.wait_for("connected");
    let underlined = |screen: &Screen| screen.written().contains("\u{1b}[4mmake install");
    assert!(screen.shows(underlined, PATIENCE), "the deciding words are underlined:\n{}", screen.text());
    screen.press_until("a", "0 open");
    assert_eq!(answer(hook).0, "allow");
    screen.press("q");
    let (code, rest) = screen.end();
    assert_eq!(code, Some(0));
    assert!(rest.contains("\u{1b}[?1049l"), "the terminal is given back: {rest:?}");
    assert!(rest.contains("\u{1b}[38;5;"), "there are colours: {rest:?}");
}

#[test]
fn in_a_small_screen_a_call_is_denied_with_a_message() {
    let stage = Stage::new();
    let (first, _) = stage.ask("make install");
    let (second, _) = stage.ask("npm publish");
    let mut screen = Screen::open(&stage, (40, 12), &[("NO_COLOR", "1")]);
    screen.wait_for("2 open");
    screen.press("j");
    screen.press_until("m", "deny, because:");
    screen.press("not today\r");
    screen.wait_for("1 open");
    let (decision, text) = answer(second);
    assert_eq!(decision, "deny");
    assert!(text.contains("not today"), "{text}");
    screen.press_until("d", "0 open");
    assert_eq!(answer(first).0, "deny");
    screen.press("q");
    let (code, written) = screen.end();
    assert_eq!(code, Some(0));
    assert!(!written.contains("\u{1b}[38;5;"), "nobody wants colours: {written:?}");
}

#[test]
fn the_full_screen_outlives_the_daemon_and_ends_in_order() {
    let Stage { scene, daemon } = Stage::new();
    let stage = Stage { scene, daemon };
    let (hook, _) = stage.ask("make install");
    let mut screen = Screen::open(&stage, (100, 30), &[]);
    screen.wait_for("1 open");
    let Stage { scene, daemon } = stage;
    daemon.kill();
    screen.wait_for("reconnecting…");
    screen.wait_for("│ make install");
    let stage = Stage { daemon: Daemon::start(&scene.sandbox), scene };
    screen.wait_for(" connected");
    screen.press_until("d", "0 open");
    assert_eq!(answer(hook).0, "deny");
    drop(stage);
    signal("TERM", screen.process);
    let (code, rest) = screen.end();
    assert_eq!(code, Some(0));
    assert!(rest.contains("\u{1b}[?1049l"), "the terminal is given back: {rest:?}");
}

/// The full screen in a terminal of its own.
struct Screen {
    child: Child,
    keys: ChildStdin,
    output: Receiver<Vec<u8>>,
    bytes: Vec<u8>,
    process: u32,
    size: (usize, usize),
}

impl Screen {
    fn open(stage: &Stage, (width, height): (usize, usize), variables: &[(&str, &str)]) -> Self {
        let line = format!(
            "stty rows {height} cols {width}; echo process $$; exec '{}' questions",
            env!("CARGO_BIN_EXE_portcullis")
        );
        let mut command = Command::new("script");
        command.args(["-qec", &line, "/dev/null"]).env_clear();
        command.envs(std::env::var_os("PATH").map(|it| ("PATH", it)));
        command.env("HOME", &stage.scene.sandbox.home).env("TERM", "xterm-256color");
        command.envs(variables.iter().copied());
        command.current_dir(&stage.scene.sandbox.project);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().expect("`script` of bsdutils is needed");
        let keys = child.stdin.take().unwrap();
        let mut stdout = child.stdout.take().unwrap();
        let (sender, output) = channel();
        std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(length @ 1..) = stdout.read(&mut buffer) {
                if sender.send(buffer[..length].to_vec()).is_err() {
                    return;
                }
            }
        });
        let mut screen = Self { child, keys, output, bytes: Vec::new(), process: 0, size: (width, height) };
        screen.wait_for("portcullis questions");
        let text = screen.written();
        let process = text.split_once("process ").unwrap().1;
        screen.process = process.split(['\r', '\n']).next().unwrap().trim().parse().unwrap();
        screen
    }

    fn press(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).unwrap();
        self.keys.flush().unwrap();
    }

    /// Presses a key until a text is on the screen: what was there for a moment only takes no answer.
    fn press_until(&mut self, key: &str, wanted: &str) {
        let until = Instant::now() + PATIENCE;
        while !self.shows(|screen| screen.text().contains(wanted), Duration::from_millis(300)) {
            assert!(Instant::now() < until, "{wanted} does not come:\n{}", self.text());
            self.press(key);
        }
    }

    /// Waits until a text is on the screen.
    fn wait_for(&mut self, wanted: &str) {
        let is_there = |screen: &Self| screen.text().contains(wanted);
        assert!(self.shows(is_there, PATIENCE), "{wanted} does not come:\n{}", self.text());
    }

    /// Waits until something holds; false if it does not in that time.
    fn shows(&mut self, is_there: impl Fn(&Self) -> bool, within: Duration) -> bool {
        let until = Instant::now() + within;
        loop {
            if is_there(self) {
                return true;
            }
            match self.output.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(bytes) => self.bytes.extend(bytes),
                Err(_) => return false,
            }
        }
    }

    /// Returns everything that was written.
    fn written(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }

    /// Returns what a terminal would show.
    fn text(&self) -> String {
        let text = self.written();
        let (width, height) = self.size;
        let mut cells = vec![vec![' '; width]; height];
        let (mut row, mut column) = (0, 0);
        let mut characters = text.chars();
        while let Some(character) = characters.next() {
            match character {
                '\u{1b}' => {
                    let mut sequence = String::new();
                    for next in characters.by_ref() {
                        sequence.push(next);
                        if next.is_ascii_alphabetic() {
                            break;
                        }
                    }
                    if let Some(place) = sequence.strip_prefix('[').and_then(|rest| rest.strip_suffix('H')) {
                        let mut numbers = place.split(';').map(|number| number.parse().unwrap_or(1_usize));
                        row = numbers.next().unwrap_or(1) - 1;
                        column = numbers.next().unwrap_or(1) - 1;
                    }
                    if sequence == "[2J" {
                        cells = vec![vec![' '; width]; height];
                    }
                }
                '\r' => column = 0,
                '\n' => row += 1,
                plain => {
                    if let Some(cell) = cells.get_mut(row).and_then(|cells| cells.get_mut(column)) {
                        *cell = plain;
                    }
                    column += 1;
                }
            }
        }
        cells.iter().map(|cells| cells.iter().collect::<String>() + "\n").collect()
    }

    /// Waits for the end; returns the exit code and everything that was written.
    fn end(mut self) -> (Option<i32>, String) {
        let until = Instant::now() + PATIENCE;
        let code = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status.code();
            }
            assert!(Instant::now() < until, "it does not end:\n{}", self.text());
            std::thread::sleep(GLANCE);
        };
        while let Ok(bytes) = self.output.recv() {
            self.bytes.extend(bytes);
        }
        (code, self.written())
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
