//! Ending or disturbing what others run.
//!
//! A process found by a name or a number may be somebody else's, and what it had in hand is lost.
//! End what you started, by the number you got when you started it.
//! Or name the process or service and say that it is to be ended.

use crate::act::Act;
use crate::case::Case;
use crate::findings::{ExampleCall, Finding, Firmness, Severity, Sighting};

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
        ExampleCall::Bash("kill 12345"),
        ExampleCall::Bash("kill -9 $(pgrep node)"),
        ExampleCall::Bash("pkill -f server.py"),
        ExampleCall::Bash("killall python3"),
        ExampleCall::Bash("systemctl stop nginx"),
        ExampleCall::Bash("sudo reboot"),
        ExampleCall::Bash("shutdown -h now"),
        ExampleCall::Bash("gdb -p 1234"),
        ExampleCall::Bash(":(){ :|:& };:"),
        ExampleCall::Bash("kill $(lsof -ti:3000)"),
        ExampleCall::Bash("launchctl bootout system/app"),
        ExampleCall::Bash("stress-ng --vm 4 --vm-bytes 90%"),
        ExampleCall::Bash("fuser -k 8080/tcp"),
        ExampleCall::PowerShell(r"Stop-Process -Name explorer"),
    ],
    misses: &[
        ExampleCall::Bash("sleep 100 & kill $!"),
        ExampleCall::Bash("kill -0 12345"),
        ExampleCall::Bash("pgrep -f server.py"),
        ExampleCall::Bash("ps aux"),
        ExampleCall::Bash("systemctl status nginx"),
        ExampleCall::Bash("systemctl restart app --dry-run"),
        ExampleCall::Bash("echo kill 12345"),
        ExampleCall::Bash("kill -l"),
        ExampleCall::Bash("npm start & PID=$!; kill $PID"),
        ExampleCall::Bash("jobs"),
        ExampleCall::Bash("git commit -m \"pkill node\""),
        ExampleCall::PowerShell(r"Get-Process"),
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
