//! Keys of the Windows registry: which of them start programs, guard the machine, keep records or hold secrets.
//!
//! The tables say that a key is looked at or changed; this reader looks at the text of the key and of the names
//! and values beside it. A word that is no key stays what the tables say.

use super::CommandContext;
use super::{certain, nameless};
use crate::act::Act;
use crate::argument::{Argument, Knowledge};
use crate::lists::readers::registry::{
    GUARDING, GUARDING_NAMES, PERSISTING, PERSISTING_NAMES, RECORDING, RECORDING_NAMES, SECRET,
};
use crate::profile::{Match, Use};

/// The long names of the roots and their short ones.
const ROOTS: &[(&str, &str)] = &[
    ("hkey_local_machine", "hklm"),
    ("hkey_current_user", "hkcu"),
    ("hkey_classes_root", "hkcr"),
    ("hkey_users", "hku"),
    ("hkey_current_config", "hkcc"),
];

/// Parts of keys that give a program more rights when it starts something.
const ELEVATING: &[&str] =
    &[r"\ms-settings\", r"\mscfile\", r"\exefile\", r"\app paths\control.exe\", r"\folder\shell\"];

/// Parts of keys that say who is trusted.
const TRUSTING: &[&str] =
    &[r"\cryptography\oid\", r"\cryptography\providers\", r"\schannel\", r"\systemcertificates\"];

/// Names of values that say how the network is reached.
const ROUTING_NAMES: &[&str] = &["autoconfigurl", "proxyenable", "proxyserver"];

/// Pieces of values that are programs kept in the registry.
const CODE: &[&str] =
    &["<script", "javascript:", "vbscript:", "frombase64string", "-encodedcommand", "downloadstring"];

/// Reads a command that looks at or changes keys.
pub(super) fn read(context: &CommandContext<'_>, found: &Match<'_>) -> Vec<Use> {
    let words: Vec<String> =
        context.invocation.operands().iter().map(|word| word.text.to_lowercase()).collect();
    let mut uses = Vec::new();
    for found in &found.uses {
        match found.word.as_ref().and_then(|word| Some((word, key_of(word)?))) {
            Some((word, key)) => {
                let acts = acts_of(found.act, &key, &words);
                uses.extend(acts.into_iter().map(|act| certain(act, word)));
            }
            None => uses.push(found.clone()),
        }
    }
    if hunts(&words) {
        uses.push(nameless(Act::SecretHunt));
    }
    uses
}

/// Returns a key in one spelling: lower case, a short root, a backslash after every part.
fn key_of(word: &Argument) -> Option<String> {
    if word.knowledge == Knowledge::Tilde {
        return None;
    }
    // A shell that is no shell of Windows takes the backslashes away, which nobody means.
    let text = if word.text.contains(['\\', '/']) { word.text.as_str() } else { word.as_written() };
    let lower = text.trim_matches(['"', '\'']).to_lowercase().replace('/', "\\");
    let parts: Vec<&str> = lower.split('\\').filter(|part| !part.is_empty()).collect();
    let plain = |part: &str| part.rsplit("::").next().unwrap_or(part).trim_end_matches(':').to_owned();
    // A machine or a provider may stand before the root.
    let at = parts.iter().take(3).position(|part| plain(part).starts_with("hk"))?;
    let root = plain(parts.get(at)?);
    let long = ROOTS.iter().find(|(long, _)| *long == root).map(|(_, short)| *short);
    let is_short =
        ROOTS.iter().any(|(_, short)| root.trim_end_matches("64").trim_end_matches("32") == *short);
    let root = long.or_else(|| is_short.then_some(root.as_str()))?;
    let mut key = root.to_owned();
    for part in parts.iter().skip(at + 1) {
        key.push('\\');
        key.push_str(part);
    }
    key.push('\\');
    Some(key)
}

/// Returns what an act on a key amounts to, by the key and the names and values beside it.
fn acts_of(act: Act, key: &str, words: &[String]) -> Vec<Act> {
    match act {
        Act::Observe | Act::List | Act::Query => {
            vec![if is_secret(key, words) { Act::SecretRead } else { Act::Observe }]
        }
        Act::Read => {
            vec![if is_secret(key, words) || key == r"hklm\system\" { Act::SecretRead } else { Act::Observe }]
        }
        Act::Unknown => vec![Act::Unknown],
        Act::Delete | Act::DeleteTree => removal(key, words),
        _ => change(key, words),
    }
}

/// Says whether a key or a name holds a secret.
fn is_secret(key: &str, words: &[String]) -> bool {
    key.starts_with(r"hklm\sam\")
        || key.starts_with(r"hklm\security\")
        || has_part(key, SECRET)
        || has_name(words, &["defaultpassword"])
}

/// What taking a key or value away does.
fn removal(key: &str, words: &[String]) -> Vec<Act> {
    if key.matches('\\').count() <= 2 {
        return vec![Act::Wipe];
    }
    let changes = change(key, words);
    // What no longer starts is no danger by itself; a service that is gone is stopped.
    let kept = changes.into_iter().filter_map(|act| match act {
        Act::Persist if key.contains(r"\services\") => Some(Act::ServiceStop),
        Act::Persist | Act::Elevate => None,
        other => Some(other),
    });
    let mut kept: Vec<Act> = kept.collect();
    if kept.is_empty() {
        kept.push(Act::SystemConfig);
    }
    kept
}

/// What writing a key or value does.
fn change(key: &str, words: &[String]) -> Vec<Act> {
    let is_tame = has_name(words, &["longpathsenabled"]) || key.ends_with(r"\session manager\environment\");
    let has = |parts: &[&str]| !is_tame && has_part(key, parts);
    let starts_command = key.contains(r"\shell\") && key.contains(r"\command\");
    let is_variable = key.ends_with(r"\environment\") && has_name(words, &["windir", "systemroot"]);
    let elevates = has_part(key, ELEVATING) && starts_command
        || has_name(words, &["delegateexecute", "isolatedcommand"])
        || is_variable;
    let mut acts = Vec::new();
    if elevates {
        acts.push(Act::Elevate);
    }
    if elevates || starts_command || has(PERSISTING) || has_name(words, PERSISTING_NAMES) {
        acts.push(Act::Persist);
    }
    if has(RECORDING) || has_name(words, RECORDING_NAMES) {
        acts.push(Act::TamperLog);
    }
    if has(GUARDING) || has_name(words, GUARDING_NAMES) {
        acts.push(Act::Weaken);
    }
    if has(TRUSTING) {
        acts.push(Act::WeakenTrust);
    }
    if has_name(words, ROUTING_NAMES) {
        acts.push(Act::NetworkConfig);
    }
    if words.iter().any(|word| has_part(word, CODE)) {
        acts.push(Act::Obfuscate);
    }
    if acts.is_empty() {
        acts.push(Act::SystemConfig);
    }
    acts
}

/// Says whether the keys are searched for passwords: `reg query HKLM /f password /s`.
fn hunts(words: &[String]) -> bool {
    let after = words.iter().skip_while(|word| *word != "/f" && *word != "-f").nth(1);
    let is_query = words.first().is_some_and(|word| word == "query");
    is_query
        && after.is_some_and(|word| ["pass", "pwd", "secret", "cred"].iter().any(|hint| word.contains(hint)))
}

fn has_part(text: &str, parts: &[&str]) -> bool {
    parts.iter().any(|part| text.contains(part))
}

fn has_name(words: &[String], names: &[&str]) -> bool {
    words.iter().any(|word| names.contains(&word.as_str()))
}

#[cfg(test)]
mod tests {
    use crate::command_effects::power_shell_layout;
    use crate::survey::Surroundings;

    fn acts(command: &str) -> Vec<&'static str> {
        let here = Surroundings {
            directory: "/code/app",
            home: Some("/home/me"),
            profiles: crate::profile::Profiles::BUILT_IN,
        };
        let mut acts: Vec<&str> =
            power_shell_layout(command, here).effects.iter().map(|effect| effect.act.name()).collect();
        acts.sort_unstable();
        acts.dedup();
        acts
    }

    #[test]
    fn keys_that_start_programs_persist() {
        assert_eq!(
            acts(r"reg add HKCU\Software\Microsoft\Windows\CurrentVersion\Run /v a /d b.exe /f"),
            ["persist"]
        );
        assert_eq!(
            acts(
                r"New-ItemProperty -Path HKLM:\SYSTEM\CurrentControlSet\Services\x -Name ImagePath -Value y"
            ),
            ["persist"]
        );
        assert_eq!(
            acts(r"reg add HKEY_CURRENT_USER\Software\Classes\ms-settings\shell\open\command /d cmd.exe"),
            ["elevate", "persist"]
        );
    }

    #[test]
    fn keys_that_guard_are_weakened_and_records_are_tampered_with() {
        assert_eq!(
            acts(
                r"Set-ItemProperty 'HKLM:\Software\Policies\Microsoft\Windows Defender' DisableAntiSpyware 1"
            ),
            ["weaken"]
        );
        assert_eq!(acts(r"reg add HKCU\Environment /v COMPlus_ETWEnabled /d 0"), ["tamper-log"]);
        assert_eq!(acts(r"reg add \\host\HKLM\Software\Policies\Microsoft\FVE /v UsePIN /d 2"), ["weaken"]);
    }

    #[test]
    fn other_keys_are_settings_and_files_are_files() {
        assert_eq!(acts(r"reg add HKCU\Software\MyApp /v Theme /d dark"), ["system-config"]);
        assert_eq!(
            acts(r"reg add HKLM\SYSTEM\CurrentControlSet\Control\FileSystem /v LongPathsEnabled /d 1"),
            ["system-config"]
        );
        assert_eq!(acts(r"New-Item -Path src\run\a.txt"), ["write"]);
        assert_eq!(acts("New-Item hk/a.txt"), ["write"]);
    }

    #[test]
    fn taking_away_what_starts_is_a_setting_but_a_root_is_destroyed() {
        assert_eq!(
            acts(r"reg delete HKCU\Software\Microsoft\Windows\CurrentVersion\Run /v a /f"),
            ["system-config"]
        );
        assert_eq!(acts(r"reg delete HKLM\SYSTEM\CurrentControlSet\Services\x /f"), ["service-stop"]);
        assert_eq!(acts(r"Remove-Item HKLM:\SOFTWARE -Recurse"), ["wipe"]);
    }

    #[test]
    fn stores_of_passwords_are_secrets() {
        assert_eq!(acts(r"reg save HKLM\SAM sam.hiv"), ["secret-read", "write"]);
        assert_eq!(acts(r"reg save HKLM\SYSTEM system.hiv"), ["secret-read", "write"]);
        assert_eq!(acts(r"reg query HKLM\SYSTEM\CurrentControlSet"), ["observe"]);
        assert_eq!(acts(r"reg query HKCU\Software\SimonTatham\PuTTY\Sessions /s"), ["secret-read"]);
        assert!(acts(r"reg query HKLM /f password /t REG_SZ /s").contains(&"secret-hunt"));
    }
}
