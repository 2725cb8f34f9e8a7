//! Searching for openings or breaking in.
//!
//! Scanners and password crackers aimed at other machines are an attack, whatever they are meant for.
//! Test what runs on this machine, by its own address.
//! Or name the target and say that you may test it.

use crate::act::Act;
use crate::case::Case;
use crate::effect::Effect;
use crate::findings::{Finding, Firmness, Sample, Severity, Sighting};
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
    hits: &[
        Sample::Bash("find / -perm -4000 -type f"),
        Sample::Bash("python3 /tmp/tools/laZagne.py all"),
        Sample::Bash("./stratus detonate aws.example.thing"),
        Sample::Bash("nmap -sS 192.0.2.0/24"),
        Sample::Bash("hydra -l root -P words.txt ssh://192.0.2.1"),
        Sample::Bash("sqlmap -u https://example.com/?id=1"),
        Sample::Bash("nikto -h https://example.com"),
        Sample::Bash("gobuster dir -u https://example.com -w words.txt"),
        Sample::Bash("msfconsole -q"),
        Sample::Bash("john hashes.txt"),
        Sample::Bash("hashcat -m 0 hashes.txt words.txt"),
        Sample::Bash("masscan 192.0.2.0/24 -p80"),
        Sample::Bash("subfinder -d example.com"),
    ],
    misses: &[
        Sample::Bash("find . -perm -4000"),
        Sample::Bash("python3 tools/seed.py"),
        Sample::Bash("nmap -p 3000 localhost"),
        Sample::Bash("nmap 127.0.0.1"),
        Sample::Bash("echo nmap 192.0.2.1"),
        Sample::Bash("grep -rn nmap docs"),
        Sample::Bash("ss -tlnp"),
        Sample::Bash("ping -c 1 example.com"),
        Sample::Bash("git commit -m \"Mention hydra\""),
        Sample::Bash("nmap --version"),
        Sample::Bash("man nmap"),
    ],
    filter,
};

fn filter(case: Case<'_>) -> Vec<Sighting> {
    case.of(&[Act::Scan, Act::Attack, Act::Execute, Act::List])
        .filter(|effect| match effect.act {
            Act::Attack => true,
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
