//! Recording traffic, keys, the screen or the clipboard.
//!
//! What is recorded holds passwords and private matters of everybody who uses the machine.
//! Look at the logs of the program you work on instead.
//! Or say what is to be recorded.

use crate::act::Act;
use crate::case::Case;
use crate::effect::Effect;
use crate::findings::{ExampleCall, Finding, Firmness, Severity, Sighting};
use crate::invocation::Invocation;

pub(super) static FINDING: Finding = Finding {
    code: "PC048",
    name: "surveillance",
    title: "records traffic, keys, the screen or the clipboard",
    category: "credential_browse",
    severity: Severity::High,
    firmness: Firmness::Soft {
        verbs: &["capture", "record", "tcpdump", "screenshot", "clipboard", "sniff", "packet"],
        must_name: "what is to be recorded",
    },
    instead: "Read the log of the program you work on, as in `tail -n 100 app.log`",
    hits: &[
        ExampleCall::Bash("tcpdump -i eth0 -w /tmp/out.pcap"),
        ExampleCall::Bash("tshark -i eth0"),
        ExampleCall::Bash("screencapture /tmp/s.png"),
        ExampleCall::Bash("xclip -o"),
        ExampleCall::Bash("ngrep -d any password"),
        ExampleCall::Bash("import -window root s.png"),
        ExampleCall::Bash("arecord -d 10 a.wav"),
        ExampleCall::Bash("fswebcam shot.jpg"),
        ExampleCall::Bash("pbpaste"),
        ExampleCall::Bash("ettercap -T -i eth0"),
        ExampleCall::Bash(
            "osascript -e 'display dialog \"Your password\" default answer \"\" with hidden answer'",
        ),
        ExampleCall::PowerShell(r"Get-Clipboard"),
    ],
    misses: &[
        ExampleCall::Bash("ss -tlnp"),
        ExampleCall::Bash("ip addr"),
        ExampleCall::Bash("echo tcpdump -i eth0"),
        ExampleCall::Bash("tcpdump --version"),
        ExampleCall::Bash("grep -rn screencapture src"),
        ExampleCall::Bash("git commit -m \"tcpdump helper\""),
        ExampleCall::Bash("man tcpdump"),
        ExampleCall::Bash("tcpdump -r out.pcap"),
        ExampleCall::Bash("cat docs/xclip.md"),
    ],
    filter,
};

fn filter(case: Case<'_>) -> Vec<Sighting> {
    case.of(&[Act::Capture, Act::Unknown])
        .filter(|effect| effect.act == Act::Capture || asks_for_password(case, effect))
        .filter(|effect| !is_python_import(case, effect))
        .map(|effect| {
            let sentence = match effect.target.written() {
                "" => "it records traffic, keys, the screen or the clipboard".to_owned(),
                written => format!("it records traffic, keys, the screen or the clipboard: `{written}`"),
            };
            Sighting::of(case, effect, sentence)
        })
        .collect()
}

/// Says whether words look like a line of Python: `import os` names no picture to write.
fn is_python_import(case: Case<'_>, effect: &Effect) -> bool {
    let words = case.command(effect).map(Invocation::operands).unwrap_or_default();
    effect.act == Act::Capture
        && case.program(effect) == "import"
        && !words.iter().any(|word| word.is_option() || word.text.contains('.'))
}

/// Says whether a script puts up a window that asks the person for a password.
fn asks_for_password(case: Case<'_>, effect: &Effect) -> bool {
    let text = effect.target.written();
    let is_hidden = ["hidden answer", "password", "passphrase"].iter().any(|word| text.contains(word));
    case.program(effect) == "osascript" && text.contains("display dialog") && is_hidden
}
