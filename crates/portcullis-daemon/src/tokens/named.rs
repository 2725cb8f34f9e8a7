//! The tokens that were made for others: a file of names, roles and hashes, changed under a lock.

use std::path::Path;

use portcullis_settings::disk::{DirectoryLock, FilePrivacy, ReplaceError, read_text, replace};
use serde::{Deserialize, Serialize};

use super::secret::{self, SecretHash};
use portcullis_gate::Failure;
use portcullis_gate::daemon_client::Places;
use portcullis_gate::daemon_client::Role;

/// The largest file of tokens that is read.
const LARGEST: u64 = 1024 * 1024;
/// The most tokens there may be.
const MOST: usize = 1_000;

/// A token that was made for somebody, without its secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NamedToken {
    /// What it is called.
    pub name: String,
    /// What it may do.
    pub role: Role,
    /// The hash of its secret.
    pub(super) hash: String,
    /// When it was made, in unix milliseconds.
    pub created_at_ms: u64,
    /// When it stops to hold, in unix milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at_ms: Option<u64>,
}

impl NamedToken {
    /// Says whether its time is over.
    pub fn is_over(&self, now_ms: u64) -> bool {
        self.expires_at_ms.is_some_and(|end| end <= now_ms)
    }
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    tokens: Vec<NamedToken>,
}

/// Lists the tokens in the order they were made.
pub fn list(places: &Places) -> Result<Vec<NamedToken>, Failure> {
    Ok(read(&places.tokens())?.1.tokens)
}

/// Makes a token and returns its secret, which is shown once and never again.
pub fn create(
    places: &Places,
    name: &str,
    role: Role,
    now_ms: u64,
    expires_at_ms: Option<u64>,
) -> Result<String, Failure> {
    check_name(name)?;
    let secret = secret::fresh()?;
    change(places, |tokens| {
        tokens.retain(|token| !token.is_over(now_ms));
        if tokens.iter().any(|token| token.name == name) {
            return Err(Failure::usage(format!("there is a token `{name}` already"))
                .with_hint(format!("choose another name, or `portcullis tokens revoke {name}` first")));
        }
        if tokens.len() >= MOST {
            return Err(Failure::usage(format!("there are {MOST} tokens already"))
                .with_hint("revoke those that nobody uses: `portcullis tokens revoke NAME`"));
        }
        tokens.push(NamedToken {
            name: name.to_owned(),
            role,
            hash: SecretHash::of(&secret).to_string(),
            created_at_ms: now_ms,
            expires_at_ms,
        });
        Ok(())
    })?;
    Ok(secret)
}

/// Takes a token back: it no longer holds.
pub fn revoke(places: &Places, name: &str) -> Result<(), Failure> {
    change(places, |tokens| {
        let before = tokens.len();
        tokens.retain(|token| token.name != name);
        if tokens.len() == before {
            return Err(Failure::usage(format!("there is no token `{name}`"))
                .with_hint("see `portcullis tokens list`"));
        }
        Ok(())
    })
}

/// A name is shown in lists, pages and the audit trail, and typed in a terminal.
fn check_name(name: &str) -> Result<(), Failure> {
    let is_plain = |character: char| character.is_ascii_alphanumeric() || "-_.@".contains(character);
    if !name.is_empty()
        && name.len() <= 64
        && name.chars().all(is_plain)
        && !["person", "hook"].contains(&name)
    {
        return Ok(());
    }
    Err(Failure::usage(format!("`{name}` cannot be the name of a token"))
        .with_hint("use up to 64 letters, digits and the signs - _ . @; `person` and `hook` are taken"))
}

fn change(
    places: &Places,
    changing: impl FnOnce(&mut Vec<NamedToken>) -> Result<(), Failure>,
) -> Result<(), Failure> {
    super::prepare(places)?;
    let path = places.tokens();
    let _lock = DirectoryLock::take(places.root()).map_err(|refusal| unwritten(&path, &refusal))?;
    let (before, mut document) = read(&path)?;
    changing(&mut document.tokens)?;
    let text = serde_json::to_string_pretty(&document)
        .map_err(|error| Failure::internal(format!("the tokens cannot be written: {error}")))?;
    replace(&path, before.as_deref(), &format!("{text}\n"), FilePrivacy::Private)
        .map_err(|refusal| unwritten(&path, &refusal))
}

/// Reads the file, as it is and as it is understood.
fn read(path: &Path) -> Result<(Option<String>, Document), Failure> {
    let broken = |what: &str| {
        Failure::usage(format!("`{}`: {what}", path.display()))
            .with_hint("remove the file; every token that was made for others has to be made anew")
    };
    let Some(text) = read_text(path, LARGEST).map_err(|error| broken(&error.message))? else {
        return Ok((None, Document::default()));
    };
    let document = serde_json::from_str(&text)
        .map_err(|error| broken(&format!("this is no list of tokens: {error}")))?;
    Ok((Some(text), document))
}

/// Says why a file of tokens was not written.
pub(super) fn unwritten(path: &Path, refusal: &ReplaceError) -> Failure {
    let why = match refusal {
        ReplaceError::Locked => "somebody else changes it for too long".to_owned(),
        ReplaceError::Changed => "it changed in the meantime".to_owned(),
        ReplaceError::Io(error) => portcullis_settings::disk::plain(error),
    };
    Failure::internal(format!("`{}` was not written: {why}", path.display()))
}
