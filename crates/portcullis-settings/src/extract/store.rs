//! Keys of the store and of approvals that need a closer look: addresses, public keys, where questions are sent.

use std::collections::BTreeSet;

use portcullis_core::closeness::find_closest;
use portcullis_core::secret_form::SecretForm;

use super::LayerExtractor;
use super::hooks::read_webhook;
use super::scalar::{ScalarProblem, check_plain, consequence};
use crate::hooks::WebhookSettings;
use crate::json::{JsonMember, JsonNode, JsonValue, TextPosition};
use crate::keys::{KEYS, SettingsKey};
use crate::layer::SettingValue;
use crate::problem::ProblemSeverity;
use crate::public_key::PublicKey;

impl LayerExtractor<'_> {
    /// Takes the list as a whole: with one key left out, it is not what its author trusts.
    pub(super) fn public_keys(&mut self, key: &'static SettingsKey, node: &JsonNode<'_>) {
        let JsonValue::Array(nodes) = &node.value else {
            self.lost(key);
            self.wrong_kind(key, node, consequence(key));
            self.set(key, SettingValue::Wrong, node.position);
            return;
        };
        let mut names = BTreeSet::new();
        let mut keys = Vec::with_capacity(nodes.len());
        for entry in nodes {
            match read_key(entry, &mut names) {
                Ok(text) => keys.push(text),
                Err(complaint) => {
                    let message = format!("`{}`: {complaint}{}", key.path, consequence(key));
                    let hint = "write the line that `portcullis policy keygen` prints".to_owned();
                    // Somebody may have put the private key here.
                    self.problem_without_excerpt(
                        ProblemSeverity::Warning,
                        message,
                        entry.position,
                        Some(hint),
                    );
                    self.set(key, SettingValue::Wrong, node.position);
                    return;
                }
            }
        }
        self.set(key, SettingValue::Words(keys), node.position);
    }

    /// Takes one form of a secret. A wrong one is left out: those that are built in, and the others, still count.
    pub(super) fn secret_form(&mut self, key: &'static SettingsKey, text: &str, position: TextPosition) {
        match SecretForm::parse(text) {
            Ok(_) => self.set(key, SettingValue::Text(text.to_owned()), position),
            Err(what) => {
                let message = format!("a form of `{}` {what}; it is left out", key.path);
                let hint = "write text and classes of bytes, such as `acme_[key 20+]`".to_owned();
                self.problem(ProblemSeverity::Warning, message, position, Some(hint));
            }
        }
    }

    pub(super) fn webhook(&mut self, key: &'static SettingsKey, node: &JsonNode<'_>) {
        let JsonValue::Object(members) = &node.value else {
            self.wrong_kind(key, node, consequence(key));
            self.set(key, SettingValue::Wrong, node.position);
            return;
        };
        let value = match read_posted(members) {
            Ok(webhook) => SettingValue::Webhook(Box::new(webhook)),
            Err(what) => {
                let message = format!("`{}` {what}{}", key.path, consequence(key));
                self.problem_without_excerpt(ProblemSeverity::Warning, message, node.position, None);
                SettingValue::Wrong
            }
        };
        self.set(key, value, node.position);
    }

    /// Reports an unknown key of the store, in any file. One that looks like a misspelt address or list of keys must not
    /// leave files or no policy in its place, and the line may hold a password.
    pub(super) fn unknown_of_store(&mut self, name: &str, position: TextPosition) {
        let siblings = KEYS.iter().filter(|key| key.parent() == Some("store"));
        let near = find_closest(name, siblings.clone().map(SettingsKey::name));
        let meant = siblings.into_iter().find(|key| Some(key.name()) == near);
        let shown: String = name.chars().take(40).collect();
        let mut message = format!("unknown key `store.{shown}`");
        let severity = if meant.is_some() { ProblemSeverity::Warning } else { ProblemSeverity::Note };
        let hint = meant.map(|key| format!("did you mean `{}`?", key.path));
        if let Some(key) = meant {
            message.push_str(consequence(key));
            self.set(key, SettingValue::Wrong, position);
        }
        self.problem_without_excerpt(severity, message, position, hint);
    }
}

/// Checks an entry of the list of keys. Two keys of one name would leave open which one is meant.
fn read_key(entry: &JsonNode<'_>, names: &mut BTreeSet<String>) -> Result<String, String> {
    let JsonValue::String(text) = &entry.value else {
        return Err(format!("entries must be strings, not {}", entry.value.kind()));
    };
    let key = PublicKey::parse(text).map_err(str::to_owned)?;
    let shown = key.name.clone();
    if names.insert(key.name) { Ok(text.to_string()) } else { Err(format!("two keys are named `{shown}`")) }
}

/// Reads where questions are posted to. An answer may come back the same way, so nobody on the way may change it.
fn read_posted(members: &[JsonMember<'_>]) -> Result<WebhookSettings, String> {
    let known = ["url", "headers", "allowedEnvVars"];
    if let Some(member) = members.iter().find(|member| !known.contains(&member.name.as_ref())) {
        let shown: String = member.name.chars().take(40).collect();
        return Err(format!("has an unknown key `{shown}`"));
    }
    let webhook = read_webhook(members)?;
    check_plain(&webhook.url).map_err(|(complaint, _)| format!("has a `url` that is wrong: {complaint}"))?;
    let (is_encrypted, rest) = match webhook.url.split_once("://") {
        Some(("https", rest)) => (true, rest),
        Some(("http", rest)) => (false, rest),
        _ => return Err("has a `url` that does not begin with `https://` or `http://`".to_owned()),
    };
    let authority = rest.split(['/', '\\', '?', '#']).next().unwrap_or_default();
    if authority.is_empty() || authority.starts_with(':') || rest.contains(char::is_whitespace) {
        return Err("has a `url` that names no server".to_owned());
    }
    if authority.contains('@') {
        return Err("has a `url` that carries a user or a password; use a header".to_owned());
    }
    if !is_encrypted && !is_this_machine(authority) {
        return Err("has a `url` of another machine without TLS; write `https://`".to_owned());
    }
    Ok(webhook)
}

fn is_this_machine(authority: &str) -> bool {
    let host = match authority.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((host, _)) => host,
        None => authority.split(':').next().unwrap_or_default(),
    };
    host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// Checks as much of the address of a store as settings can tell. What could be part of a password stands where the
/// parts of an address can be told apart, so that it is never shown.
pub(super) fn check_store(text: &str) -> Result<String, ScalarProblem> {
    let complaint = |message: &str, hint: &str| Err((message.to_owned(), Some(hint.to_owned())));
    let text = check_plain(text)?;
    let usual = "write `postgres://USER@SERVER/DATABASE`";
    let Some(rest) = text.strip_prefix("postgres://").or_else(|| text.strip_prefix("postgresql://")) else {
        return complaint("this does not begin with `postgres://`", usual);
    };
    if rest.is_empty() || rest.contains(char::is_whitespace) {
        return complaint("this address names no server, or contains a blank", usual);
    }
    let (place, parameters) = rest.split_once('?').unwrap_or((rest, ""));
    if parameters.contains('@') || place.matches('@').count() > 1 || place.contains('#') {
        let hint = "write `@` as `%40`, `?` as `%3F`, `/` as `%2F` and `#` as `%23` in a password";
        return complaint("where the password ends is ambiguous", hint);
    }
    if place.split_once('/').is_some_and(|(_, path)| path.contains('@')) {
        return complaint("where the password ends is ambiguous", "write `/` as `%2F` in a password");
    }
    let is_secret = |name: &str| name.to_ascii_lowercase().contains("pass") || name.contains('%');
    if parameters.split('&').any(|parameter| is_secret(parameter.split('=').next().unwrap_or_default())) {
        let hint = "write it before the server, or set the variable `PGPASSWORD`";
        return complaint("a parameter of this address carries a password", hint);
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_of_a_store_hides_its_password_or_is_refused() {
        for fine in [
            "postgres://db/fleet",
            "postgresql://me:secret@db.example.com:5432/fleet?sslmode=verify-full",
            "postgres://me:p%40ss@db/fleet",
            "postgres://me@%2Frun%2Fpostgresql/fleet",
        ] {
            assert_eq!(check_store(fine).as_deref(), Ok(fine));
        }
        for wrong in [
            "",
            "mysql://db/x",
            "postgres://",
            "postgres://me:a b@db/x",
            "postgres://me:p@ss@db/x",
            "postgres://me:p?ss@db/x",
            "postgres://me:p/ss@db/x",
            "postgres://me:p#ss@db/x",
            "postgres://db/x?password=secret",
            "postgres://db/x?user=me&PASSWORD=secret",
            "postgres://db/x?p%61ssword=secret",
            "postgres://db/x?application_name=a@b",
        ] {
            assert!(check_store(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn only_this_machine_is_reached_without_tls() {
        for near in ["localhost", "localhost:80", "127.0.0.1:9", "[::1]:80", "127.8.8.8"] {
            assert!(is_this_machine(near), "{near}");
        }
        for far in ["example.com", "localhost.example.com", "10.0.0.1", "[::2]", "127.0.0.1.example.com"] {
            assert!(!is_this_machine(far), "{far}");
        }
    }
}
