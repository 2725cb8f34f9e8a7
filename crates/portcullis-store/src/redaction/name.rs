//! Names that say that a secret follows: `DB_PASSWORD`, `x-api-key`, `clientSecret`.

/// How much a name says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NameWeight {
    /// A password: any text may be one.
    Password,
    /// A secret that a person or a machine chose: one word.
    Secret,
    /// A token or key that a machine made.
    Token,
    /// Something that may be a key: only what looks like one counts.
    Weak,
    /// The header that says who asks: a scheme and a secret.
    Authorization,
    /// Cookies: names and values.
    Cookie,
}

/// What a name says about the value after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SecretLabel {
    pub(super) weight: NameWeight,
    pub(super) kind: &'static str,
    /// Whether it is written like a variable of the environment.
    pub(super) is_capital: bool,
    /// Whether it is one word, as in a program that reads tokens.
    pub(super) is_single: bool,
    /// Whether it is short for a password, as it is for other things.
    pub(super) is_short: bool,
}

/// How much of the end of a name is read.
const LONGEST: usize = 64;

/// How many words of the end of a name are read.
const MOST_WORDS: usize = 5;

/// Last words that change nothing about what a name says.
const TAILS: &str =
    "prod production dev development staging stage test live base old new default main b64 base64 v";

/// Words before `key` that make it a secret.
const KEY_OWNERS: &str = "api access secret private account encryption signing master auth service license deploy ssh app \
    application client storage subscription ingest webhook admin hmac jwt";

/// Words before `key` that make it none.
const KEY_STRANGERS: &str = "public primary foreign cache sort partition object row group unique index map dict hot registry \
    idempotency publishable s3 restore press candidate composite routing";

/// Reads a name; `None` if it says nothing.
pub(super) fn classify(name: &[u8]) -> Option<SecretLabel> {
    let name = name.get(name.len().saturating_sub(LONGEST)..).unwrap_or_default();
    if !may_tell(name) {
        return None;
    }
    let is_capital = !name.iter().any(u8::is_ascii_lowercase) && name.iter().any(u8::is_ascii_uppercase);
    let mut words = split(name);
    while is_capital && words.len() > 1 && words.last().is_some_and(|word| is_one_of(TAILS, word)) {
        words.pop();
    }
    let (weight, kind) = classify_words(&words, name)?;
    let is_single = words.len() == 1;
    let is_short = words.last().is_some_and(|word| matches!(word.as_str(), "pass" | "pw" | "pwd"));
    Some(SecretLabel { weight, kind, is_capital, is_single, is_short })
}

/// Says whether a name has a part in it that every telling name has: most names are no more than looked at.
fn may_tell(name: &[u8]) -> bool {
    (0..name.len()).any(|place| {
        let rest = name.get(place..).unwrap_or_default();
        let has = |part: &[u8]| rest.get(..part.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(part));
        match rest.first().map(u8::to_ascii_lowercase) {
            Some(b'a') => has(b"auth"),
            Some(b'c') => has(b"credential") || has(b"cookie"),
            Some(b'k') => has(b"key"),
            Some(b'p') => has(b"pass") || has(b"pw"),
            Some(b's') => has(b"secret") || has(b"sig"),
            Some(b't') => has(b"token"),
            _ => false,
        }
    })
}

fn classify_words(words: &[String], name: &[u8]) -> Option<(NameWeight, &'static str)> {
    let mut backwards = words.iter().rev().map(String::as_str);
    let last = backwards.next()?;
    let owner = backwards.next().unwrap_or_default();
    let ends = |ending: &str| last.ends_with(ending);
    if ends("password") || ends("passwd") || ends("passphrase") || last == "passcode" {
        return Some((NameWeight::Password, "password"));
    }
    if matches!(last, "dbpass" | "userpass" | "rootpass" | "keypass" | "storepass" | "rootpw")
        || matches!(last, "pass" | "pw")
    {
        return Some((NameWeight::Password, "password"));
    }
    // The shell's own variable says where one is.
    if last == "pwd" && !matches!(name, b"PWD" | b"OLDPWD") && owner != "old" {
        return Some((NameWeight::Password, "password"));
    }
    if ends("secret") || (last == "key" && owner == "secret") || ends("secretkey") {
        return Some((NameWeight::Secret, "secret"));
    }
    if last == "key" && owner == "access" && words.iter().any(|word| word == "secret") {
        return Some((NameWeight::Secret, "secret"));
    }
    if ends("token") || name == b"_auth" {
        return Some((NameWeight::Token, "token"));
    }
    if ends("apikey") || ends("accesskey") || ends("privatekey") || ends("accountkey") || ends("authkey") {
        return Some((NameWeight::Token, "key"));
    }
    match last {
        "key" if is_one_of(KEY_OWNERS, owner) => Some((NameWeight::Token, "key")),
        "key" if is_one_of(KEY_STRANGERS, owner) => None,
        "key" => Some((NameWeight::Weak, "key")),
        "credential" | "credentials" => Some((NameWeight::Weak, "credential")),
        "sig" => Some((NameWeight::Weak, "signature")),
        "signature" if matches!(owner, "amz" | "goog" | "access") => Some((NameWeight::Token, "signature")),
        "authorization" => Some((NameWeight::Authorization, "authorization")),
        "cookie" | "cookies" => Some((NameWeight::Cookie, "cookie")),
        _ => None,
    }
}

fn is_one_of(words: &str, word: &str) -> bool {
    words.split(' ').any(|known| known == word)
}

/// Splits the end of a name into words of small letters, without the digits at the end of each.
fn split(name: &[u8]) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut last = b'_';
    for (index, byte) in name.iter().copied().enumerate() {
        if byte.is_ascii_alphanumeric() {
            let next = name.get(index + 1).copied().unwrap_or(b'_');
            let is_hump = byte.is_ascii_uppercase()
                && (last.is_ascii_lowercase() || (last.is_ascii_uppercase() && next.is_ascii_lowercase()));
            if is_hump || !last.is_ascii_alphanumeric() {
                words.push(String::new());
            }
            if let Some(word) = words.last_mut() {
                word.push(char::from(byte.to_ascii_lowercase()));
            }
        }
        last = byte;
    }
    let mut words: Vec<String> = words.split_off(words.len().saturating_sub(MOST_WORDS));
    for word in &mut words {
        let letters = word.trim_end_matches(|character: char| character.is_ascii_digit()).len();
        // `s3` and `b64` are words.
        if letters > 2 {
            word.truncate(letters);
        }
    }
    words.retain(|word| !word.bytes().all(|byte| byte.is_ascii_digit()));
    words
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn names_are_read_in_every_spelling() {
        let cases = [
            ("password", Some(NameWeight::Password)),
            ("PGPASSWORD", Some(NameWeight::Password)),
            ("spring.datasource.password", Some(NameWeight::Password)),
            ("dbPassword2", Some(NameWeight::Password)),
            ("MYSQL_PWD", Some(NameWeight::Password)),
            ("clientSecret", Some(NameWeight::Secret)),
            ("AWS_SECRET_ACCESS_KEY", Some(NameWeight::Secret)),
            ("SECRET_KEY_BASE", Some(NameWeight::Secret)),
            ("x-api-key", Some(NameWeight::Token)),
            ("APIKey", Some(NameWeight::Token)),
            ("AccountKey", Some(NameWeight::Token)),
            ("SharedAccessKey", Some(NameWeight::Token)),
            ("_authToken", Some(NameWeight::Token)),
            ("STRIPE_KEY", Some(NameWeight::Weak)),
            ("Proxy-Authorization", Some(NameWeight::Authorization)),
            ("Set-Cookie", Some(NameWeight::Cookie)),
            ("PWD", None),
            ("OLDPWD", None),
            ("primary_key", None),
            ("publicKey", None),
            ("max_tokens", None),
            ("password_file", None),
            ("tokenizer", None),
            ("compass", None),
            ("monkey", None),
            ("", None),
        ];
        for (name, weight) in cases {
            assert_eq!(classify(name.as_bytes()).map(|label| label.weight), weight, "{name}");
        }
    }
}
