//! Making something run again later.
//!
//! A start-up file, a schedule or a service runs long after the work is done, and nobody looks at it again.
//! Run it now, or put it into the project where people see it.
//! Or name the file or the schedule and say that it is to be set up.

use crate::act::Act;
use crate::case::Case;
use crate::effect::Effect;
use crate::findings::{ExampleCall, Finding, Firmness, Severity, Sighting};
use crate::place::startup_file;

pub(super) static FINDING: Finding = Finding {
    code: "PC037",
    name: "persistence",
    title: "makes something run again later",
    category: "persistence",
    severity: Severity::High,
    firmness: Firmness::Soft {
        verbs: &[
            "cron",
            "schedule",
            "start-up",
            "startup",
            "at login",
            "bashrc",
            "zshrc",
            "profile",
            "service",
            "hook",
            "authorized_keys",
            "alias",
        ],
        must_name: "the file, schedule or service",
    },
    instead: "Run it now, or write it into the project and let the user set it up",
    hits: &[
        ExampleCall::PowerShell(r"echo x > $dir\usercustomize.py"),
        ExampleCall::Bash("trap 'nohup sh x.sh' EXIT"),
        ExampleCall::Bash("chmod +x .git/hooks/pre-push"),
        ExampleCall::Bash("echo \"alias ll=ls\" >> ~/.bashrc"),
        ExampleCall::Bash("crontab jobs.txt"),
        ExampleCall::Bash("(crontab -l; echo \"0 * * * * x\") | crontab -"),
        ExampleCall::Bash("echo \"x\" >> ~/.ssh/authorized_keys"),
        ExampleCall::Bash("cp app.service ~/.config/systemd/user/app.service"),
        ExampleCall::Bash("systemctl enable app"),
        ExampleCall::Bash("echo \"* * * * * root x\" > /etc/cron.d/x"),
        ExampleCall::Bash("cp check.sh .git/hooks/pre-commit"),
        ExampleCall::Bash("launchctl load ~/Library/LaunchAgents/x.plist"),
        ExampleCall::Bash("echo ./x | at now + 1 hour"),
        ExampleCall::Bash("cat x.sh >> /etc/profile"),
        ExampleCall::Call("Write", &[("file_path", "/home/me/.zshrc"), ("content", "x")]),
        ExampleCall::Bash("ln -s /code/app/x.service /etc/systemd/system/x.service"),
        ExampleCall::PowerShell(r"schtasks /create /tn x /tr calc.exe /sc daily"),
        ExampleCall::PowerShell(
            r"reg add HKCU\Software\Microsoft\Windows\CurrentVersion\Run /v x /d calc.exe",
        ),
    ],
    misses: &[
        ExampleCall::Bash("crontab -l"),
        ExampleCall::Bash("cat ~/.bashrc"),
        ExampleCall::Bash("systemctl status app"),
        ExampleCall::Bash("systemctl list-timers"),
        ExampleCall::Bash("echo \"crontab jobs.txt\""),
        ExampleCall::Bash("source ~/.bashrc"),
        ExampleCall::Bash("ls .git/hooks"),
        ExampleCall::Bash("atq"),
        ExampleCall::Bash("grep -n alias ~/.zshrc"),
        ExampleCall::Bash("chmod 600 ~/.ssh/authorized_keys"),
        ExampleCall::Call("Write", &[("file_path", "/code/app/deploy/app.service"), ("content", "x")]),
        ExampleCall::Bash("echo \"registry=https://registry.example.com\" > ~/.npmrc"),
        ExampleCall::PowerShell(r"schtasks /query"),
    ],
    filter,
};

fn filter(case: Case<'_>) -> Vec<Sighting> {
    let is_hook = |path: &String| path.contains("/.git/hooks/") && !path.ends_with(".sample");
    case.of(&[Act::Persist, Act::Write, Act::SetMode])
        .filter(|effect| effect.act != Act::SetMode || effect.target.paths().iter().any(is_hook))
        .filter(|effect| !case.is_in_container(effect))
        .filter_map(|effect| {
            if effect.act == Act::Persist {
                return Some((effect, "something"));
            }
            let later = effect.target.paths().iter().find_map(|path| runs_later(case, path));
            let later = later.or_else(|| runs_later_by_text(case, effect));
            let later = later.or_else(|| is_python_hook(effect).then_some("code that every Python runs"));
            later.map(|what| (effect, what))
        })
        .map(|(effect, what)| {
            let sentence = match (what, effect.target.written()) {
                ("something", "") => "it makes something run again later".to_owned(),
                ("something", written) => format!("it makes `{written}` run again later"),
                (what, written) => format!("it writes `{written}`, {what}"),
            };
            Sighting::of(case, effect, sentence)
        })
        .collect()
}

/// Says whether a file is one that Python obeys whenever it starts.
fn is_python_hook(effect: &Effect) -> bool {
    let written = effect.target.written().trim_matches('"').to_ascii_lowercase().replace('-', "_");
    written
        .rsplit_once('.')
        .is_some_and(|(before, ending)| ending == "pth" && before.contains("site_packages"))
}

/// Says what a file makes run later, if it does; settings that only choose a server or a directory are left to questions.
fn runs_later(case: Case<'_>, path: &str) -> Option<&'static str> {
    const SETTINGS: &[&str] = &[
        "the configuration of cargo",
        "the configuration of conda",
        "the configuration of curl",
        "the configuration of npm",
        "the configuration of pip",
        "the configuration of wget",
    ];
    let is_plain = path.ends_with("/.git/hooks") || path.contains("/known_hosts");
    startup_file(path, case.scope).filter(|what| !is_plain && !SETTINGS.contains(what))
}

/// Says the same of a file whose directory is only known when it runs: `$dir\usercustomize.py`.
fn runs_later_by_text(case: Case<'_>, effect: &Effect) -> Option<&'static str> {
    let written = effect.target.written().trim_matches(['"', '\'']);
    let is_open = effect.target.paths().is_empty() && written.contains('\\');
    is_open.then(|| written.replace('\\', "/")).and_then(|path| runs_later(case, &path))
}
