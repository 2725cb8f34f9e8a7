//! Ending or disturbing what others run.
//!
//! A process found by a name or a number may be somebody else's, and what it had in hand is lost.
//! End what you started, by the number you got when you started it.
//! Or name the process or service and say that it is to be ended.

use crate::act::Act;
use crate::case::Case;
use crate::findings::{Finding, Firmness, Sample, Severity, Sighting};

pub(super) static FINDING: Finding = Finding {
    code: "PC029",
    name: "process-interference",
    title: "ends or disturbs processes and services",
    category: "interfere_processes",
    severity: Severity::Medium,
    firmness: Firmness::Soft {
        verbs: &["kill", "stop", "restart", "shut down", "reboot", "end", "terminate", "free the port"],
        must_name: "the process, service or machine",
    },
    hits: &[
        Sample::Bash("kill 12345"),
        Sample::Bash("kill -9 $(pgrep node)"),
        Sample::Bash("pkill -f server.py"),
        Sample::Bash("killall python3"),
        Sample::Bash("systemctl stop nginx"),
        Sample::Bash("sudo reboot"),
        Sample::Bash("shutdown -h now"),
        Sample::Bash("gdb -p 1234"),
        Sample::Bash(":(){ :|:& };:"),
        Sample::Bash("kill $(lsof -ti:3000)"),
        Sample::Bash("launchctl bootout system/app"),
        Sample::Bash("stress-ng --vm 4 --vm-bytes 90%"),
        Sample::Bash("fuser -k 8080/tcp"),
        Sample::PowerShell(r"Stop-Process -Name explorer"),
    ],
    misses: &[
        Sample::Bash("sleep 100 & kill $!"),
        Sample::Bash("kill -0 12345"),
        Sample::Bash("pgrep -f server.py"),
        Sample::Bash("ps aux"),
        Sample::Bash("systemctl status nginx"),
        Sample::Bash("systemctl restart app --dry-run"),
        Sample::Bash("echo kill 12345"),
        Sample::Bash("kill -l"),
        Sample::Bash("npm start & PID=$!; kill $PID"),
        Sample::Bash("jobs"),
        Sample::Bash("git commit -m \"pkill node\""),
        Sample::PowerShell(r"Get-Process"),
    ],
    filter,
};

fn filter(case: Case<'_>) -> Vec<Sighting> {
    case.of(&[Act::Kill, Act::ServiceStop, Act::Inject, Act::PowerOff, Act::Exhaust])
        .filter(|effect| !case.is_in_container(effect))
        .map(|effect| {
            let deed = match effect.act {
                Act::Kill => "ends or signals processes",
                Act::ServiceStop => "stops a service",
                Act::Inject => "reaches into another process",
                Act::PowerOff => "stops or restarts the machine",
                _ => "uses up the machine",
            };
            let sentence = match effect.target.written() {
                "" => format!("it {deed}"),
                written => format!("it {deed}: `{written}`"),
            };
            Sighting::of(case, effect, sentence)
        })
        .collect()
}
