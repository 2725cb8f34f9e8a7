//! Searching the machine for secrets.
//!
//! A search through homes and system directories for keys and passwords is what an intruder does first.
//! Look in the project, or ask where the key is kept.
//! Or name what is looked for and where.

use crate::act::Act;
use crate::argument::Argument;
use crate::case::Case;
use crate::effect::Effect;
use crate::findings::{ExampleCall, Finding, Firmness, Severity, Sighting};
use crate::invocation::Invocation;
use crate::place::{is_open, is_windows_system};

pub(super) static FINDING: Finding = Finding {
    code: "PC035",
    name: "credential-hunt",
    title: "searches the machine for secrets",
    category: "credential_browse",
    severity: Severity::High,
    firmness: Firmness::Soft {
        verbs: &["find", "search", "look for", "locate", "where is", "grep"],
        must_name: "what is looked for and where",
    },
    instead: "Search inside the project, as in `grep -rn token src`, or ask the user where it is",
    hits: &[
        ExampleCall::PowerShell(r"findstr /si password *.ini *.txt"),
        ExampleCall::PowerShell(r"findstr /s cpassword \\dc\sysvol\*.xml"),
        ExampleCall::PowerShell(r"Get-ChildItem C:\ -Recurse -Include *.kdbx"),
        ExampleCall::Bash("find / -name id_rsa"),
        ExampleCall::Bash("find ~ -name \"*.pem\""),
        ExampleCall::Bash("grep -ri password /etc"),
        ExampleCall::Bash("rg api_key ~"),
        ExampleCall::Bash("locate .kdbx"),
        ExampleCall::Bash("env | grep -i secret"),
        ExampleCall::Bash("printenv | grep -E \"KEY|TOKEN\""),
        ExampleCall::Bash("find /home -name \".env\" -type f"),
        ExampleCall::Bash("fd id_ed25519 /"),
        ExampleCall::Bash("sudo find / -name \"*shadow*\""),
        ExampleCall::Bash("trufflehog filesystem /"),
    ],
    misses: &[
        ExampleCall::PowerShell(r"findstr /si password *.cs"),
        ExampleCall::PowerShell(r"findstr /i password settings.ini"),
        ExampleCall::Bash("grep -rn password src"),
        ExampleCall::Bash("find . -name \"*.pem\""),
        ExampleCall::Bash("find / -name \"*.rs\""),
        ExampleCall::Bash("rg token src"),
        ExampleCall::Bash("locate libssl.so"),
        ExampleCall::Bash("env | grep PATH"),
        ExampleCall::Bash("printenv HOME"),
        ExampleCall::Bash("grep -rn TODO ~/notes"),
        ExampleCall::Bash("find ~ -name package.json"),
        ExampleCall::Bash("grep -rn secret ../other/src"),
        ExampleCall::Bash("grep -i \"failed password\" app.log"),
        ExampleCall::Bash("find /usr/lib -name \"libsecret*\""),
    ],
    filter,
};

fn filter(case: Case<'_>) -> Vec<Sighting> {
    let mut sightings: Vec<Sighting> = case
        .of(&[Act::SecretHunt, Act::List, Act::Read, Act::Observe])
        .filter(|effect| effect.act == Act::SecretHunt || hunts(case, effect))
        .map(|effect| {
            let sentence = match effect.target.written() {
                "" => "it searches the machine for secrets".to_owned(),
                written => format!("it searches `{written}` for secrets"),
            };
            Sighting::of(case, effect, sentence)
        })
        .collect();
    sightings.extend(
        case.of(&[Act::Environment])
            .filter(|effect| is_sifted(case, effect))
            .map(|effect| Sighting::of(case, effect, "it searches the environment for secrets")),
    );
    sightings
}

/// Programs that search below a directory without being told to.
const SEARCHES: &[&str] = &["ack", "ag", "bfs", "fd", "fdfind", "find", "gfind", "rg", "ripgrep", "ugrep"];

/// Programs that look for lines.
const GREPS: &[&str] =
    &["ag", "awk", "egrep", "fgrep", "ggrep", "grep", "rg", "ripgrep", "sed", "ugrep", "zgrep"];

/// Words that speak of secrets.
const SECRETS: &[&str] = &[
    ".env",
    ".kdbx",
    ".keystore",
    ".netrc",
    ".p12",
    ".pem",
    ".pfx",
    ".pgpass",
    ".ppk",
    "aws_access",
    "aws_secret",
    "api_key",
    "api-key",
    "api.key",
    "apikey",
    "begin openssh",
    "begin rsa",
    "credential",
    "id_dsa",
    "id_ecdsa",
    "id_ed25519",
    "id_rsa",
    "passwd",
    "password",
    "private key",
    "private_key",
    "secret",
    "shadow",
    "token",
    "wallet",
];

fn speaks_of_secrets(word: &str) -> bool {
    let word = word.to_ascii_lowercase();
    let is_source = [".env.example", "environment", "package", "tokeniz", "libsecret"]
        .iter()
        .any(|plain| word.contains(plain));
    !is_source && SECRETS.iter().any(|secret| word.contains(secret))
}

/// Says whether a search goes through places where people keep secrets and looks for them.
fn hunts(case: Case<'_>, effect: &Effect) -> bool {
    let program = case.program(effect);
    let words = case.command(effect).map(Invocation::operands).unwrap_or_default();
    let is_letter = |word: &Argument| {
        word.text.starts_with('-') && !word.text.starts_with("--") && word.text.contains(['r', 'R'])
            || matches!(word.text.as_str(), "--recursive" | "--dereference-recursive")
    };
    let searches = SEARCHES.contains(&program)
        || matches!(program, "locate" | "plocate" | "mlocate")
        || matches!(program, "grep" | "egrep" | "fgrep" | "zgrep" | "ggrep") && words.iter().any(is_letter);
    let asks = || {
        let written = effect.target.written();
        // Several words may stand in one: `{find,/,-name,id_rsa}`.
        let is_split = words.iter().filter(|word| word.as_written() == written).count() > 1;
        let is_place = |word: &Argument| word.text == written || word.as_written() == written && !is_split;
        words.iter().any(|word| !is_place(word) && speaks_of_secrets(&word.text))
    };
    if matches!(program, "findstr" | "select-string" | "get-childitem" | "dir" | "where") {
        let written = effect.target.written();
        let is_policy = words.iter().any(|word| word.text.to_ascii_lowercase().contains("cpassword"));
        return is_policy || is_windows_system(written) && asks() || searches_documents(program, words);
    }
    let is_wide = || match effect.act {
        Act::Observe => matches!(program, "locate" | "plocate" | "mlocate"),
        _ => effect.target.paths().iter().any(|path| is_wide_place(case, path)),
    };
    searches && is_wide() && asks()
}

/// Endings of files in which people and installers leave passwords, and no program does.
const DOCUMENTS: &[&str] = &[".config", ".doc", ".docx", ".ini", ".txt", ".vbs", ".xls", ".xlsx", ".xml"];

/// Says whether a whole tree of documents is searched for passwords.
fn searches_documents(program: &str, words: &[Argument]) -> bool {
    let texts = || words.iter().map(|word| word.text.to_ascii_lowercase());
    let descends = |text: &str| {
        let letters = text.strip_prefix('/').unwrap_or_default();
        !letters.is_empty() && letters.len() < 6 && letters.contains('s') && !letters.contains([':', '.'])
    };
    let is_asked = |text: &str| ["pass", "passwd", "password", "pwd", "cred"].contains(&text);
    let names_all = |text: &str| text.starts_with("*.") && DOCUMENTS.contains(&text.trim_start_matches('*'));
    program == "findstr"
        && texts().any(|text| descends(&text))
        && texts().any(|text| is_asked(text.trim_matches(['"', '\''])))
        && texts().any(|text| names_all(&text))
}

/// Says whether a directory is one where people or the system keep secrets: homes, the root, what is not open.
fn is_wide_place(case: Case<'_>, path: &str) -> bool {
    let is_file =
        crate::path::components(path).last().is_some_and(|name| name.trim_start_matches('.').contains('.'));
    let is_home = case.scope.home.as_deref() == Some(path)
        || matches!(path, "/" | "/home" | "/Users" | "/root" | "/mnt" | "/opt" | "/srv");
    let is_own = case.scope.is_in_project(path) || case.scope.is_temporary(path);
    !is_own && !is_file && (is_home || !is_open(path, case.scope) && path != "/tmp")
}

/// So many commands of a pipeline are looked at, and so many of a function.
const MOST_CALLS: usize = 64;

/// Says whether the environment is shown and then searched for secrets.
fn is_sifted(case: Case<'_>, effect: &Effect) -> bool {
    let Some(index) = effect.invocation else {
        return false;
    };
    let all = &case.survey.invocations;
    let reaches = |command: &Invocation| {
        let mut calls = command.piped.clone().take(MOST_CALLS).filter_map(|at| all.get(at));
        command.piped.contains(&index)
            || calls.any(|call| case.survey.body(call).take(MOST_CALLS).any(|at| at == index))
    };
    all.iter().any(|command| {
        command.program_name().is_some_and(|name| GREPS.contains(&name))
            && reaches(command)
            && command.operands().iter().any(|word| names_variable(&word.text))
    })
}

/// Says whether a pattern is after variables that hold secrets.
fn names_variable(pattern: &str) -> bool {
    let lower = pattern.to_ascii_lowercase();
    ["secret", "token", "passw", "key", "credential"].iter().any(|secret| lower.contains(secret))
}
