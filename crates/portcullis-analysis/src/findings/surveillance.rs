//! Recording traffic, keys, the screen or the clipboard.
//!
//! What is recorded holds passwords and private matters of everybody who uses the machine.
//! Look at the logs of the program you work on instead.
//! Or say what is to be recorded.

use crate::act::Act;
use crate::case::Case;
use crate::effect::Effect;
use crate::findings::{Finding, Firmness, Sample, Severity, Sighting};
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
    hits: &[
        Sample::Bash("tcpdump -i eth0 -w /tmp/out.pcap"),
        Sample::Bash("tshark -i eth0"),
        Sample::Bash("screencapture /tmp/s.png"),
        Sample::Bash("xclip -o"),
        Sample::Bash("ngrep -d any password"),
        Sample::Bash("import -window root s.png"),
        Sample::Bash("arecord -d 10 a.wav"),
        Sample::Bash("fswebcam shot.jpg"),
        Sample::Bash("pbpaste"),
        Sample::Bash("ettercap -T -i eth0"),
        Sample::Bash(
            "osascript -e 'display dialog \"Your password\" default answer \"\" with hidden answer'",
        ),
        Sample::PowerShell(r"Get-Clipboard"),
    ],
    misses: &[
        Sample::Bash("ss -tlnp"),
        Sample::Bash("ip addr"),
        Sample::Bash("echo tcpdump -i eth0"),
        Sample::Bash("tcpdump --version"),
        Sample::Bash("grep -rn screencapture src"),
        Sample::Bash("git commit -m \"tcpdump helper\""),
        Sample::Bash("man tcpdump"),
        Sample::Bash("tcpdump -r out.pcap"),
        Sample::Bash("cat docs/xclip.md"),
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
