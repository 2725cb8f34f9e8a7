//! Searching for openings or breaking in.
//!
//! Scanners and password crackers aimed at other machines are an attack, whatever they are meant for.
//! Test what runs on this machine, by its own address.
//! Or name the target and say that you may test it.

use crate::act::Act;
use crate::case::Case;
use crate::effect::Effect;
use crate::findings::{ExampleCall, Finding, Firmness, Severity, Sighting};
use crate::invocation::Invocation;
use crate::place::is_loopback;
use crate::profile;

pub(super) static FINDING: Finding = Finding {
    code: "PC047",
    name: "attack-tools",
    title: "searches for openings or breaks in",
    category: "discovery",
    severity: Severity::High,
    firmness: Firmness::Soft {
        verbs: &["scan", "nmap", "pentest", "brute force", "crack", "exploit", "audit"],
        must_name: "the target and that it may be tested",
    },
    instead: "Look at what runs on this machine with `ss -tlnp`",
    hits: &[
        ExampleCall::Bash("find / -perm -4000 -type f"),
        ExampleCall::Bash("python3 /tmp/tools/laZagne.py all"),
        ExampleCall::Bash("chmod +x /tmp/metasploit-framework/msfvenom"),
        ExampleCall::Bash("./stratus detonate aws.example.thing"),
        ExampleCall::Bash("nmap -sS 192.0.2.0/24"),
        ExampleCall::Bash("hydra -l root -P words.txt ssh://192.0.2.1"),
        ExampleCall::Bash("sqlmap -u https://example.com/?id=1"),
        ExampleCall::Bash("nikto -h https://example.com"),
        ExampleCall::Bash("gobuster dir -u https://example.com -w words.txt"),
        ExampleCall::Bash("msfconsole -q"),
        ExampleCall::Bash("john hashes.txt"),
        ExampleCall::Bash("hashcat -m 0 hashes.txt words.txt"),
        ExampleCall::Bash("masscan 192.0.2.0/24 -p80"),
        ExampleCall::Bash("subfinder -d example.com"),
    ],
    misses: &[
        ExampleCall::Bash("find . -perm -4000"),
        ExampleCall::Bash("python3 tools/seed.py"),
        ExampleCall::Bash("nmap -p 3000 localhost"),
        ExampleCall::Bash("nmap 127.0.0.1"),
        ExampleCall::Bash("echo nmap 192.0.2.1"),
        ExampleCall::Bash("grep -rn nmap docs"),
        ExampleCall::Bash("ss -tlnp"),
        ExampleCall::Bash("ping -c 1 example.com"),
        ExampleCall::Bash("git commit -m \"Mention hydra\""),
        ExampleCall::Bash("nmap --version"),
        ExampleCall::Bash("man nmap"),
    ],
    filter,
};

fn filter(case: Case<'_>) -> Vec<Sighting> {
    case.of(&[Act::Scan, Act::Attack, Act::Execute, Act::List, Act::LoadCode, Act::SetMode])
        .filter(|effect| match effect.act {
            Act::Attack => true,
            Act::LoadCode | Act::SetMode => lies_in_kit(case, effect),
            Act::Execute if lies_in_kit(case, effect) => true,
            Act::List => seeks_raised(case, effect),
            Act::Execute => effect.target.spellings().any(is_tool_by_name),
            _ => !is_loopback(effect.target.written()),
        })
        .map(|effect| {
            let sentence = match effect.target.written() {
                "" => "it searches for openings or breaks in".to_owned(),
                written => format!("it searches for openings or breaks in: `{written}`"),
            };
            Sighting::of(case, effect, sentence)
        })
        .collect()
}

/// Folders that collections of such tools are unpacked to, in lower case and without signs.
const KITS: &[&str] = &[
    "atomicredteam",
    "bloodhound",
    "caldera",
    "covenant",
    "empire",
    "impacket",
    "lazagne",
    "linpeas",
    "metasploit",
    "metasploitframework",
    "mimikatz",
    "mythic",
    "nishang",
    "peassng",
    "powersploit",
    "pupy",
    "rubeus",
    "sliver",
    "winpeas",
];

/// Says whether a file outside the project lies in such a collection.
fn lies_in_kit(case: Case<'_>, effect: &Effect) -> bool {
    let is_kit = |part: &str| {
        let plain: String = part.chars().filter(char::is_ascii_alphanumeric).collect();
        KITS.contains(&plain.to_ascii_lowercase().as_str())
    };
    !case.is_in_project(effect) && effect.target.spellings().any(|path| path.split(['/', '\\']).any(is_kit))
}

/// Says whether a file that is run is called like a tool for breaking in: `python3 tools/laZagne.py`.
fn is_tool_by_name(written: &str) -> bool {
    let file = written.trim_matches(['"', '\'']).rsplit(['/', '\\']).next().unwrap_or_default();
    let stem = file.rsplit_once('.').map_or(file, |(stem, _)| stem).to_ascii_lowercase();
    let profile = profile::find(&stem).or_else(|| profile::find_cmdlet(&stem));
    profile
        .is_some_and(|profile| profile::read(profile, &[]).uses.iter().any(|found| found.act == Act::Attack))
}

/// Says whether the whole machine is searched for programs that run with the rights of their owner.
fn seeks_raised(case: Case<'_>, effect: &Effect) -> bool {
    let words = case.command(effect).map(Invocation::operands).unwrap_or_default();
    let mode = words.iter().skip_while(|word| word.text != "-perm").nth(1);
    let is_raised =
        |mode: &str| ["4000", "6000", "2000", "u=s", "u+s", "g=s"].iter().any(|bits| mode.contains(bits));
    let is_wide = |path: &String| matches!(path.as_str(), "/" | "/usr" | "/bin" | "/sbin" | "/usr/bin");
    case.program(effect) == "find"
        && mode.is_some_and(|mode| is_raised(&mode.text))
        && effect.target.paths().iter().any(is_wide)
}
