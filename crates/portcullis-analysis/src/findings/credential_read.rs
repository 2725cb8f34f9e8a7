//! Reading keys, tokens or passwords.
//!
//! What is read stands in the conversation and in every log of it, and whoever has it can be the user.
//! Use the key through the program that needs it, without showing it.
//! Or name the file and say that it is to be read.

use crate::act::Act;
use crate::case::Case;
use crate::effect::{Effect, Target};
use crate::findings::{ExampleCall, Finding, Firmness, Severity, Sighting};
use crate::place::{Secrecy, secrecy};

pub(super) static FINDING: Finding = Finding {
    code: "PC034",
    name: "credential-read",
    title: "reads keys, tokens or passwords",
    category: "credential_browse",
    severity: Severity::High,
    firmness: Firmness::Soft {
        verbs: &["read", "show", "print", "cat", "check", "look at", "get the secret", "token"],
        must_name: "the file or the secret",
    },
    instead: "Let the program that needs the secret read it, and show it nowhere",
    hits: &[
        ExampleCall::PowerShell(
            r"Get-Content $env:APPDATA\Microsoft\Windows\PowerShell\PSReadLine\ConsoleHost_history.txt",
        ),
        ExampleCall::PowerShell(
            "Copy-Item \"$env:LOCALAPPDATA\\Google\\Chrome\\User Data\\Default\\Login Data\" x",
        ),
        ExampleCall::PowerShell(r"Get-ChildItem -Force $env:LOCALAPPDATA\Microsoft\Vault"),
        ExampleCall::PowerShell(r"Get-Content D:\images\autounattend.xml"),
        ExampleCall::Bash("osascript -e 'duplicate file \"Cookies.binarycookies\" to desktop'"),
        ExampleCall::Bash("cat ~/.ssh/id_rsa"),
        ExampleCall::Bash("less ~/.aws/credentials"),
        ExampleCall::Bash("sudo cat /etc/shadow"),
        ExampleCall::Bash("kubectl get secret db -o yaml"),
        ExampleCall::Bash("vault kv get secret/app"),
        ExampleCall::Bash("gh auth token"),
        ExampleCall::Bash("security find-generic-password -s app -w"),
        ExampleCall::Bash("cat /proc/1234/environ"),
        ExampleCall::Bash("ln -s ~/.ssh/id_ed25519 key"),
        ExampleCall::Bash("head -c 100 ~/.config/gh/hosts.yml"),
        ExampleCall::Bash("grep -r aws_secret ~/.aws"),
        ExampleCall::Bash("cat ~/.bash_history"),
        ExampleCall::Call("Read", &[("file_path", "/home/me/.aws/credentials")]),
        ExampleCall::Bash("curl file:///etc/shadow"),
        ExampleCall::PowerShell(r"Get-Content C:\Users\me\.aws\credentials"),
    ],
    misses: &[
        ExampleCall::PowerShell(r"Get-Content $env:APPDATA\npm\notes.txt"),
        ExampleCall::Bash("osascript -e 'tell application \"Finder\" to quit'"),
        ExampleCall::Bash("cat ~/.ssh/config"),
        ExampleCall::Bash("cat ~/.ssh/id_rsa.pub"),
        ExampleCall::Bash("ssh -i ~/.ssh/id_rsa me@example.com"),
        ExampleCall::Bash("ls -la ~/.ssh"),
        ExampleCall::Bash("cat .env.example"),
        ExampleCall::Bash("test -f ~/.ssh/id_rsa"),
        ExampleCall::Bash("kubectl get pods"),
        ExampleCall::Bash("gh auth status"),
        ExampleCall::Bash("echo cat ~/.ssh/id_rsa"),
        ExampleCall::Bash("cat tests/fixtures/id_rsa"),
        ExampleCall::Bash("chmod 600 ~/.ssh/id_rsa"),
        ExampleCall::Call("Read", &[("file_path", "/code/app/README.md")]),
        ExampleCall::Bash("cat .env"),
    ],
    filter,
};

fn filter(case: Case<'_>) -> Vec<Sighting> {
    case.of(&[Act::SecretRead, Act::Read, Act::Move, Act::Link, Act::Fetch, Act::Unknown, Act::List])
        .filter(|effect| match effect.act {
            Act::Unknown => is_scripted(case, effect),
            Act::List => is_vault_of_windows(effect.target.written()),
            _ => case.is_secret(effect) || is_addressed(case, effect),
        })
        .map(|effect| {
            let sentence = match effect.target.written() {
                "" => "it shows a secret".to_owned(),
                written => format!("it reads `{written}`, which holds keys or passwords"),
            };
            Sighting::of(case, effect, sentence)
        })
        .collect()
}

/// Says whether an address names a file of this machine that holds keys: `file:///etc/shadow`.
fn is_addressed(case: Case<'_>, effect: &Effect) -> bool {
    let file = match &effect.target {
        Target::Host { written, .. } => written.strip_prefix("file://"),
        Target::Name(name) => Some(name.as_str()).filter(|_| effect.act == Act::Read),
        Target::None | Target::Path(_) => None,
    };
    file.is_some_and(|path| path.starts_with('/') && secrecy(path, case.scope) == Some(Secrecy::Key))
}

/// Says whether a script for another program names where browsers and the system keep secrets.
fn is_scripted(case: Case<'_>, effect: &Effect) -> bool {
    let text = effect.target.written().to_ascii_lowercase();
    let names = ["binarycookies", "login data", "logins.json", "login.keychain", "keychain-db"];
    case.program(effect) == "osascript" && names.iter().any(|name| text.contains(name))
}

/// Says whether a directory is where Windows keeps passwords and the keys to them.
fn is_vault_of_windows(written: &str) -> bool {
    let path = written.trim_matches(['"', '\'']).to_ascii_lowercase().replace('\\', "/");
    let path = path.trim_end_matches('/');
    ["/microsoft/credentials", "/microsoft/protect", "/microsoft/vault"].iter().any(|end| path.ends_with(end))
}
