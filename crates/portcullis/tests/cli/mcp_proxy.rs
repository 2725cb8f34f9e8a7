//! `portcullis mcp-proxy`: in front of real processes.

use std::io::Write;
use std::process::{Command, Stdio};

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::dialogue::Dialogue;
use crate::sandbox::Sandbox;

const SETTINGS: &str = r#"{"permissions":{"allow":["mcp__fs__echo"],"deny":["mcp__fs__drop"]}}"#;

/// A server that keeps what it gets and gives it back.
const MIRROR: [&str; 2] = ["tee", "received"];

fn words<'a>(flags: &[&'a str], server: &[&'a str]) -> Vec<&'a str> {
    [&["mcp-proxy"], flags, &["--"], server].concat()
}

fn named<'a>(server: &[&'a str]) -> Vec<&'a str> {
    words(&["--name", "fs"], server)
}

fn received(sandbox: &Sandbox) -> String {
    String::from_utf8(std::fs::read(sandbox.project.join("received")).unwrap()).unwrap()
}

fn tool_call(id: impl Into<Value>, tool: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id.into(), "method": "tools/call", "params": {"name": tool, "arguments": {}}})
}

#[test]
fn what_is_allowed_passes_byte_for_byte_both_ways() {
    let sandbox = Sandbox::with_user_settings(SETTINGS);
    let input = concat!(
        "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{}}\n",
        " {\t\"id\" :1e0 , \"unknown\":[1.50,0.10e-2],\"method\":\"tools\\/call\",",
        "\"params\":{\"name\":\"\\u0065cho\",\"arguments\":{\"é\":\"\\u00e9 日本 \u{1f600}\\ud83d\\ude00\u{2028}\"}}}  \r\n",
        "\n  \n",
        "{\"method\":\"notifications/x\",\"params\":{\"method\":\"tools/call\"}}\n",
        "[{\"id\":2,\"method\":\"ping\"} ,{\"id\":3,\"method\":\"tools/call\",\"params\":{\"name\":\"echo\"}}]\n",
        "{\"id\":4,\"result\":{\"action\":\"accept\"}}",
    );
    let ran = sandbox.run_with_input(&named(&MIRROR), input.as_bytes());
    assert_eq!((ran.stdout.as_str(), ran.code), (input, Some(0)), "{}", ran.stderr);
    assert_eq!(received(&sandbox), input);
}

#[test]
fn a_note_names_us_once() {
    let sandbox = Sandbox::with_user_settings(SETTINGS);
    let input = format!("{}\n", tool_call(1, "other"));
    let ran = sandbox.run_with_input(&named(&MIRROR), input.as_bytes());
    assert!(ran.stderr.contains("note: `portcullis allow --id "), "{}", ran.stderr);
}

#[test]
fn what_is_not_allowed_is_answered_and_never_reaches_the_server() {
    let sandbox = Sandbox::with_user_settings(SETTINGS);
    let mut dialogue = Dialogue::start(&mut sandbox.command(&named(&MIRROR)));
    for (id, tool, part) in
        [(json!(1), "drop", "mcp__fs__drop"), (json!("é\n"), "other", "portcullis allow --last")]
    {
        let answer = dialogue.ask(&tool_call(id.clone(), tool));
        assert_eq!((&answer["jsonrpc"], &answer["id"]), (&json!("2.0"), &id));
        assert_eq!(answer["result"]["isError"], true);
        assert_eq!(answer["result"]["content"].as_array().unwrap().len(), 1);
        assert!(answer["result"]["content"][0]["text"].as_str().unwrap().contains(part), "{answer}");
    }
    // Nobody waits for the answer to a call without an id, which is not forwarded either.
    dialogue.say(b"{\"jsonrpc\":\"2.0\",\"method\":\"tools/call\",\"params\":{\"name\":\"drop\"}}\n");
    let allowed = tool_call(3, "echo");
    assert_eq!(dialogue.ask(&allowed), allowed);
    assert_eq!(dialogue.finish(), (String::new(), Some(0)));
    assert_eq!(received(&sandbox), format!("{allowed}\n"));
    let audit =
        std::fs::read_to_string(sandbox.home.join(".local/state/portcullis/audit/current.jsonl")).unwrap();
    assert_eq!(audit.lines().count(), 4);
    assert!(audit.contains(r#""mcp-proxy""#) && audit.contains(r#""tools/call""#), "{audit}");
}

#[test]
fn a_call_in_disguise_does_not_pass_in_any_mode() {
    let sandbox = Sandbox::new();
    let flags = ["--name", "fs", "--mode", "bypassPermissions"];
    let mut dialogue = Dialogue::start(&mut sandbox.command(&words(&flags, &MIRROR)));
    let table = [
        r#"{"id":1,"method":"ping","method":"tools/call","params":{"name":"drop"}}"#,
        r#"{"id":1,"method":"tools/call","params":{"name":"echo"},"params":{"name":"drop"}}"#,
        r#"{"id":1,"method":"ping","Method":"tools/call","params":{"name":"drop"}}"#,
        r#"{"id":1,"method":"TOOLS/CALL","params":{"name":"drop"}}"#,
        r#"{"id":1,"method":" tools/call","params":{"name":"drop"}}"#,
        r#"{"id":1,"method":"tools/call","params":{"name":"echo","Name":"drop"}}"#,
        r#"{"id":1,"method":"tools/call","params":["drop"]}"#,
        r#"{"id":1,"method":"tools/call","params":{"name":"drop","#,
        "{\"id\":1,\"x\":\r{\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"drop\"}}\r}",
        "\u{feff}{\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"drop\"}}",
        r#"[[{"id":1,"method":"tools/call","params":{"name":"drop"}}]]"#,
        "{\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"drop\\u0000\"}}",
    ];
    for line in table {
        dialogue.say(format!("{line}\n").as_bytes());
        let answer = dialogue.hear_json();
        assert!(answer["error"]["code"].is_i64() || answer["result"]["isError"] == true, "{line}: {answer}");
    }
    assert_eq!(dialogue.finish(), (String::new(), Some(0)));
    assert_eq!(received(&sandbox), "");
}

#[test]
fn a_deny_rule_holds_against_escapes() {
    let sandbox = Sandbox::with_user_settings(SETTINGS);
    let flags = ["--name", "fs", "--mode", "bypassPermissions"];
    let mut dialogue = Dialogue::start(&mut sandbox.command(&words(&flags, &MIRROR)));
    let table = [
        r#"{"id":1,"method":"tools\/call","params":{"name":"drop"}}"#,
        r#"{"id":1,"method":"\u0074ools/call","params":{"name":"dr\u006fp"}}"#,
        r#"  {"params":{"_meta":{},"name":"drop"},"method":"tools/call","id":1}"#,
    ];
    for line in table {
        dialogue.say(format!("{line}\n").as_bytes());
        assert_eq!(dialogue.hear_json()["result"]["isError"], true, "{line}");
    }
    assert_eq!(dialogue.finish(), (String::new(), Some(0)));
    assert_eq!(received(&sandbox), "");
}

#[test]
fn of_a_batch_the_rest_goes_on() {
    let sandbox = Sandbox::with_user_settings(SETTINGS);
    let mut dialogue = Dialogue::start(&mut sandbox.command(&named(&MIRROR)));
    let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"});
    let batch = json!([ping, tool_call(2, "drop"), tool_call(3, "echo")]);
    let refused = dialogue.ask(&batch);
    assert_eq!((&refused["id"], &refused["result"]["isError"]), (&json!(2), &json!(true)));
    assert_eq!(dialogue.hear_json(), json!([ping, tool_call(3, "echo")]));
    // Of a batch that is refused as a whole nothing goes on.
    let refused = dialogue.ask(&json!([tool_call(4, "drop")]));
    assert_eq!(refused["id"], 4);
    assert_eq!(dialogue.finish(), (String::new(), Some(0)));
    assert_eq!(received(&sandbox).lines().count(), 1);
}

#[test]
fn the_server_may_name_itself_but_nothing_is_called_before() {
    let sandbox = Sandbox::with_user_settings(r#"{"permissions":{"allow":["mcp__My_Files__echo"]}}"#);
    let script = "read -r line; echo '{\"id\":0,\"result\":{\"serverInfo\":{\"name\":\"My Files\"}}}'; exec tee received";
    let server = ["sh", "-c", script];
    let mut dialogue =
        Dialogue::start(&mut sandbox.command(&words(&["--mode", "bypassPermissions"], &server)));
    let early = dialogue.ask(&tool_call(1, "echo"));
    assert!(early["result"]["content"][0]["text"].as_str().unwrap().contains("--name"), "{early}");
    let hello = dialogue.ask(&json!({"id": 0, "method": "initialize"}));
    assert_eq!(hello["result"]["serverInfo"]["name"], "My Files");
    let allowed = tool_call(2, "echo");
    assert_eq!(dialogue.ask(&allowed), allowed);
    assert_eq!(dialogue.finish().1, Some(0));
    assert_eq!(received(&sandbox), format!("{allowed}\n"));
}

#[test]
fn the_servers_end_is_the_proxys() {
    let sandbox = Sandbox::new();
    for (script, code) in [("exit 7", 7), ("kill -9 $$", 137), ("cat >&2; echo last words", 0)] {
        let ran = sandbox.run_with_input(&named(&["sh", "-c", script]), b"{\"method\":\"ping\"}\n");
        assert_eq!(ran.code, Some(code), "{script}: {}", ran.stderr);
        if code == 0 {
            assert_eq!(ran.stdout, "last words\n");
            assert!(ran.stderr.contains("{\"method\":\"ping\"}"), "{}", ran.stderr);
        }
    }
    let ran = sandbox.run(&named(&["no-such-program-here"]));
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(64), ""), "{}", ran.stderr);
    assert!(ran.stderr.contains("no-such-program-here"), "{}", ran.stderr);
    let ran = sandbox.run(&words(&["--name", "a__b"], &MIRROR));
    assert_eq!(ran.code, Some(64), "{}", ran.stderr);
}

#[test]
fn a_server_that_dies_ends_the_proxy_while_the_client_waits() {
    let sandbox = Sandbox::new();
    let script = "read -r line; printf 'half a line'; exit 3";
    let mut dialogue = Dialogue::start(&mut sandbox.command(&named(&["sh", "-c", script])));
    dialogue.say(b"{\"id\":1,\"method\":\"ping\"}\n");
    assert_eq!(dialogue.hear(), "half a line");
    assert_eq!(dialogue.child.wait().unwrap().code(), Some(3));
}

#[test]
fn a_signal_is_passed_on_to_the_server() {
    let sandbox = Sandbox::new();
    let script = "trap 'kill $!; exit 9' TERM; sleep 600 & echo ready; wait";
    let mut dialogue = Dialogue::start(&mut sandbox.command(&named(&["sh", "-c", script])));
    assert_eq!(dialogue.hear(), "ready\n");
    let id = dialogue.child.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
    assert_eq!(dialogue.child.wait().unwrap().code(), Some(9));
}

#[test]
fn half_a_frame_at_the_end_is_not_forwarded_and_a_whole_one_is_judged() {
    let sandbox = Sandbox::with_user_settings(SETTINGS);
    let ran =
        sandbox.run_with_input(&named(&MIRROR), br#"{"id":1,"method":"tools/call","params":{"name":"drop""#);
    assert!(ran.stdout.contains("-32700"), "{}", ran.stdout);
    assert_eq!(received(&sandbox), "");
    let ran = sandbox.run_with_input(&named(&MIRROR), tool_call(1, "drop").to_string().as_bytes());
    assert!(ran.stdout.contains("\"isError\":true"), "{}", ran.stdout);
    assert_eq!(received(&sandbox), "");
    let allowed = tool_call(1, "echo").to_string();
    assert_eq!(sandbox.run_with_input(&named(&MIRROR), allowed.as_bytes()).stdout, allowed);
}

#[test]
fn a_frame_that_is_too_long_is_refused_and_the_next_one_passes() {
    let sandbox = Sandbox::new();
    let mut input = vec![b' '; (16 << 20) + 1];
    input.extend_from_slice(b"{}\n{\"id\":1,\"method\":\"ping\"}\n");
    let ran = sandbox.run_with_input(&named(&MIRROR), &input);
    assert_eq!(received(&sandbox), "{\"id\":1,\"method\":\"ping\"}\n");
    assert!(ran.stdout.contains("-32600"), "{}", ran.stdout);
}

#[test]
fn a_thousand_calls_in_flight_are_each_answered_once_and_in_order() {
    let sandbox = Sandbox::with_user_settings(SETTINGS);
    let mut dialogue = Dialogue::start(&mut sandbox.command(&named(&MIRROR)));
    let mut input = dialogue.take_input();
    let writer = std::thread::spawn(move || {
        for id in 0..1_000 {
            let tool = if id % 3 == 0 { "drop" } else { "echo" };
            writeln!(input, "{}", tool_call(id, tool)).unwrap();
        }
    });
    let (mut passed, mut refused) = (Vec::new(), Vec::new());
    for _ in 0..1_000 {
        let answer = dialogue.hear_json();
        let id = answer["id"].as_i64().unwrap();
        if answer["result"]["isError"] == true { refused.push(id) } else { passed.push(id) }
    }
    writer.join().unwrap();
    assert_eq!(dialogue.finish(), (String::new(), Some(0)));
    assert_eq!(refused, (0..1_000).filter(|id| id % 3 == 0).collect::<Vec<_>>());
    assert_eq!(passed, (0..1_000).filter(|id| id % 3 != 0).collect::<Vec<_>>());
}

#[test]
fn what_cannot_be_audited_is_refused() {
    let sandbox = Sandbox::with_user_settings(SETTINGS);
    sandbox.write_home(".local/state/portcullis/audit", "in the way");
    let ran = sandbox.run_with_input(&named(&MIRROR), format!("{}\n", tool_call(1, "echo")).as_bytes());
    assert!(ran.stdout.contains("\"isError\":true") && ran.stdout.contains("audit"), "{}", ran.stdout);
    assert_eq!(received(&sandbox), "");
}

#[test]
fn the_server_speaks_while_nothing_is_asked_of_it() {
    let sandbox = Sandbox::new();
    let script = "printf '{\"method\":\"elicitation/create\",\"id\":1}\\r\\n\\0\\377 not even JSON'";
    let output = sandbox.command(&named(&["sh", "-c", script])).stdin(Stdio::null()).output().unwrap();
    let expected = b"{\"method\":\"elicitation/create\",\"id\":1}\r\n\0\xff not even JSON";
    assert_eq!(output.stdout, expected);
}

/// A source of numbers that looks random and is the same every time.
struct Dice(u64);

impl Dice {
    /// Returns a number below a limit.
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % u64::try_from(limit).unwrap()).unwrap()
    }

    fn pick<'a>(&mut self, choices: &[&'a str]) -> &'a str {
        choices[self.below(choices.len())]
    }

    /// Makes a line that passes, written in an odd way.
    fn line(&mut self, id: usize) -> String {
        let blank = |dice: &mut Self| dice.pick(&["", " ", "\t", "  "]);
        let text = self.pick(&[
            "é\u{1f600}",
            "\\u0041",
            "\\ud83d\\ude00",
            "a\\/b",
            "",
            "\\\"",
            "tools/call",
            "\u{7f}",
        ]);
        let number = self.pick(&["0", "-0", "1e5", "1.50", "123456789012345678901234567890", "-1E-7"]);
        let body = match self.below(6) {
            0 => format!(r#"{{"id":{id},"method":"ping","x":["{text}",{number}]}}"#),
            1 => format!(
                r#"{{"x":{number},"method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#
            ),
            2 => format!(r#"{{"jsonrpc":"2.0","id":"{id}","result":{{"a":"{text}"}}}}"#),
            3 => format!(r#"{{"id":{number},"error":{{"code":{number},"message":"{text}"}}}}"#),
            4 => {
                format!(r#"[{{"id":{id},"method":"ping"}} ,{{"method":"x/{id}","params":{{"k":{number}}}}}]"#)
            }
            _ => format!(
                r#"{{"params":{{"arguments":{{"{text}":{number}}},"name":"echo"}},"method":"tools\/call","id":{id}}}"#
            ),
        };
        let (before, after) = (blank(self), blank(self));
        format!("{before}{body}{after}{}", self.pick(&["\n", "\r\n", "\n\n", "\n \n"]))
    }
}

#[test]
fn whatever_passes_is_the_same_byte_for_byte() {
    let sandbox = Sandbox::with_user_settings(SETTINGS);
    let mut dice = Dice(0x2545_f491_4f6c_dd1d);
    let (mut input, mut passing) = (String::new(), String::new());
    for id in 0..600 {
        let line = dice.line(id);
        passing.push_str(&line);
        input.push_str(&line);
        if dice.below(3) == 0 {
            input.push_str(&tool_call(id, "drop").to_string());
            input.push('\n');
        }
    }
    let ran = sandbox.run_with_input(&named(&MIRROR), input.as_bytes());
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert_eq!(received(&sandbox), passing);
}

#[test]
fn whatever_the_server_says_is_heard_as_it_is_between_answers() {
    let sandbox = Sandbox::with_user_settings(SETTINGS);
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    // Few line ends, so that most answers have to wait for one.
    let said: Vec<u8> =
        (0..400_000).map(|_| if dice.below(500) == 0 { b'\n' } else { random_byte(&mut dice) }).collect();
    std::fs::write(sandbox.project.join("said"), &said).unwrap();
    let mut child = sandbox
        .command(&named(&["sh", "-c", "cat said; cat >received"]))
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let writer = std::thread::spawn(move || {
        for id in 0..300 {
            writeln!(stdin, "{}", tool_call(id, "drop")).unwrap();
        }
    });
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    let is_answer = |line: &&[u8]| line.starts_with(b"{\"jsonrpc\":\"2.0\",\"id\":");
    let lines: Vec<&[u8]> = output.stdout.split_inclusive(|byte| *byte == b'\n').collect();
    assert_eq!(lines.iter().copied().filter(|line| is_answer(line)).count(), 300);
    let heard = lines.iter().copied().filter(|line| !is_answer(line)).collect::<Vec<_>>().concat();
    // The last line of the server is ended if an answer follows it.
    assert_eq!(heard.strip_suffix(b"\n").unwrap_or(&heard), said.strip_suffix(b"\n").unwrap_or(&said));
    assert_eq!(received(&sandbox), "");
}

fn random_byte(dice: &mut Dice) -> u8 {
    u8::try_from(dice.below(256)).unwrap()
}

#[test]
fn a_client_that_reads_nothing_does_not_keep_the_proxy() {
    let sandbox = Sandbox::with_user_settings(SETTINGS);
    // What the server leaves behind writes more than any pipe holds.
    let script = "head -c 4000000 /dev/zero & exit 5";
    let mut child = sandbox.command(&named(&["sh", "-c", script])).stdin(Stdio::piped()).spawn().unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(5));
}
