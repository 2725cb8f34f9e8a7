//! Starting a program that lies outside of the project and of where programs are installed.
//!
//! Nobody installed it, the project does not hold it, and nothing tells what it does.
//! Use an installed program, or one of the project's.
//! Or name the program and say that it is to run.

use crate::act::Act;
use crate::argument::Argument;
use crate::case::Case;
use crate::effect::Effect;
use crate::findings::{ExampleCall, Finding, Firmness, Severity, Sighting};

pub(super) static FINDING: Finding = Finding {
    code: "PC062",
    name: "foreign-program",
    title: "starts a program from outside the project",
    category: "download_exec",
    severity: Severity::Medium,
    firmness: Firmness::Soft {
        verbs: &["run", "start", "execute", "launch", "install"],
        must_name: "the program",
    },
    instead: "Use an installed program, or one of the project",
    hits: &[
        ExampleCall::PowerShell(r"& 'C:\Users\Public\tool.exe' -debug"),
        ExampleCall::PowerShell(r"Start-Process 'D:\payloads\setup.exe'"),
        ExampleCall::PowerShell(r"C:\Temp\x64\inject.exe --pid 12"),
        ExampleCall::PowerShell(r"& '\\server\share\run.ps1'"),
        ExampleCall::PowerShell(r"Start-Process C:\Users\me\Downloads\viewer.exe -ArgumentList '/S'"),
        ExampleCall::PowerShell(r"D:\tools\dump.exe out.bin"),
        ExampleCall::PowerShell(r"& C:\ProgramData\updater\run.exe"),
        ExampleCall::PowerShell(r"C:\perflogs\a.exe"),
    ],
    misses: &[
        ExampleCall::PowerShell(r".\build.ps1"),
        ExampleCall::PowerShell(r"& 'C:\Program Files\Git\bin\git.exe' status"),
        ExampleCall::PowerShell(r"C:\Windows\System32\whoami.exe"),
        ExampleCall::PowerShell("git status"),
        ExampleCall::PowerShell("Get-ChildItem src"),
        ExampleCall::PowerShell(r"Get-Content C:\Users\Public\tool.exe"),
        ExampleCall::PowerShell(r"& .\node_modules\.bin\tsc.cmd"),
        ExampleCall::PowerShell("dotnet build"),
    ],
    filter,
};

/// Directories below a drive in which installed programs lie.
const INSTALLED: &[&str] = &["program files", "program files (x86)", "windows"];

fn filter(case: Case<'_>) -> Vec<Sighting> {
    if case.tool != "PowerShell" {
        return Vec::new();
    }
    let started = case.of(&[Act::Execute, Act::Unknown]).find_map(|effect| {
        let program = program_of(case, effect)?;
        Some(Sighting::of(case, effect, format!("it starts `{program}`, which lies outside the project")))
    });
    started.into_iter().collect()
}

/// Returns the program that an effect starts, if it is named by a path outside of the project.
fn program_of(case: Case<'_>, effect: &Effect) -> Option<String> {
    let named = case.command(effect).and_then(|command| command.program()).map(Argument::as_written);
    let started = (effect.act == Act::Execute).then(|| effect.target.written());
    let written = started.into_iter().chain(named).find(|written| is_elsewhere(case, written))?;
    Some(written.trim_matches(['"', '\'']).to_owned())
}

fn is_elsewhere(case: Case<'_>, written: &str) -> bool {
    let path = written.trim_matches(['"', '\'', '$']).replace('\\', "/").to_ascii_lowercase();
    let below_drive = path.split_once(":/").filter(|(drive, _)| drive.len() == 1).map(|(_, below)| below);
    let is_installed = below_drive.is_some_and(|below| {
        INSTALLED.iter().any(|directory| below.starts_with(directory))
            || below.contains("/appdata/local/programs/")
    });
    let is_absolute = below_drive.is_some() || path.starts_with('/');
    let is_program = [".exe", ".ps1", ".bat", ".cmd", ".com", ".vbs"].iter().any(|end| path.ends_with(end));
    let is_own = case.scope.roots.iter().any(|root| path.starts_with(&root.to_ascii_lowercase()));
    is_absolute && is_program && !is_installed && !is_own
}
