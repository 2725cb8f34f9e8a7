//! What stands after a telling name: a secret, or a type, a variable, a path, a word of a sentence.

use super::MARK;
use super::name::{self, NameWeight, SecretLabel};

/// How a name and its value are put together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ValueForm {
    /// `NAME=value`, or the value of a header.
    Tight,
    /// `name = value`, `name: value`, `name => value`.
    Loose,
    /// `name == value`.
    Compared,
    /// `--name value`.
    Option,
    /// `name value`.
    Bare,
}

/// A value, as it stands in the text.
#[derive(Debug, Clone, Copy)]
pub(super) struct NamedValue<'a> {
    pub(super) bytes: &'a [u8],
    /// The quote around it, or 0.
    pub(super) quote: u8,
    pub(super) form: ValueForm,
    /// Whether it is all of a line besides its name.
    pub(super) is_alone: bool,
}

/// Words that say what kind of value belongs there, or that there is none.
const NO_SECRETS: &str = "string str text bytes bool boolean true false null none nil undefined number int integer object any \
    char varchar unknown never void required optional missing invalid yes no on off auto default inherit \
    include omit same-origin hidden prompt ask read write env file stdin incorrect expired changed reset \
    enabled disabled secretstr empty basic bearer auth authentication oauth oauth2 option self input \
    redacted todo tbd";

/// Words that follow the name of an option in a sentence.
const SENTENCE: &str = "to is or and option options flag flags argument for the with if in from was has must should can will \
    not on as of at via when parameter value are a an instead so because but which that it be would may \
    here then into by given switch than does takes needs cannot without";

/// Words for secrets, which stand for one and are none.
const WORDS: &str = "password passwd passphrase pwd pass secret token apikey key cookie authorization credential \
    credentials";

/// Names that values of a program are kept under.
const HOLDERS: &str = "self this args config cfg env os process settings options opts params req request ctx state props \
    secrets var local data input vault credentials steps github inputs user module session response res \
    payload body";

/// Says whether a value is a secret, given its name.
pub(super) fn is_secret(label: SecretLabel, value: NamedValue<'_>) -> bool {
    let bytes = value.bytes;
    if bytes.is_empty() || is_mark(bytes) || is_placeholder(value) || is_variable(value) || is_path(bytes) {
        return false;
    }
    if is_word_of(NO_SECRETS, bytes) || is_code(label, value) {
        return false;
    }
    if value.form == ValueForm::Bare {
        return is_random(bytes) && !is_hex(bytes);
    }
    if value.form == ValueForm::Option && value.quote == 0 && is_word_of(SENTENCE, bytes) {
        return false;
    }
    match label.weight {
        NameWeight::Password => is_password(label, value),
        NameWeight::Secret => is_chosen_secret(label, value),
        NameWeight::Token | NameWeight::Authorization => is_token(label, value),
        NameWeight::Weak => {
            let is_key_hex = label.is_capital && value.form == ValueForm::Tight && bytes.len() >= 32;
            bytes.len() >= 20 && is_random(bytes) && (!is_hex(bytes) || is_key_hex)
        }
        NameWeight::Cookie => bytes.contains(&b'=') || (bytes.len() >= 16 && is_random(bytes)),
    }
}

fn is_password(label: SecretLabel, value: NamedValue<'_>) -> bool {
    let bytes = value.bytes;
    let is_number = bytes.iter().all(|byte| byte.is_ascii_digit() || *byte == b'.');
    // Tests pass, and are counted.
    if is_number && label.is_single && !label.is_capital && bytes.len() < 4 {
        return false;
    }
    match value.form {
        // A sentence about passwords says so.
        _ if value.quote != 0 => !(bytes.contains(&b' ') && speaks_of_secrets(bytes)),
        ValueForm::Tight | ValueForm::Option => true,
        ValueForm::Loose => {
            let is_word = bytes.iter().all(u8::is_ascii_lowercase) && bytes.len() >= 6;
            is_mixed(bytes)
                || (value.is_alone && is_word)
                || (is_number && bytes.len() >= 4 && !label.is_short)
        }
        ValueForm::Compared | ValueForm::Bare => false,
    }
}

fn is_chosen_secret(label: SecretLabel, value: NamedValue<'_>) -> bool {
    let bytes = value.bytes;
    if bytes.contains(&b' ') {
        return false;
    }
    match value.form {
        _ if value.quote != 0 => bytes.len() >= 4,
        ValueForm::Tight | ValueForm::Option => bytes.len() >= 6 || label.is_capital,
        ValueForm::Loose => is_mixed(bytes) && bytes.len() >= 8,
        ValueForm::Compared | ValueForm::Bare => false,
    }
}

fn is_token(label: SecretLabel, value: NamedValue<'_>) -> bool {
    let bytes = value.bytes;
    let least = if label.is_single { 8 } else { 6 };
    if bytes.contains(&b' ') || bytes.len() < least || is_file(bytes) {
        return false;
    }
    let is_certain = is_mixed(bytes) || (bytes.len() >= 20 && is_shuffled(bytes));
    match value.form {
        ValueForm::Tight | ValueForm::Option => !label.is_single || label.is_capital || is_certain,
        ValueForm::Loose | ValueForm::Compared if value.quote != 0 => {
            is_certain || (!label.is_single && !bytes.contains(&b'('))
        }
        ValueForm::Loose => is_certain,
        ValueForm::Compared | ValueForm::Bare => false,
    }
}

/// Says whether this is nothing but what stands in the place of a secret.
pub(super) fn is_mark(bytes: &[u8]) -> bool {
    let Some(rest) = bytes.strip_prefix(MARK.as_bytes()) else { return false };
    let kind = rest.strip_suffix(b"]").unwrap_or(rest);
    kind.len() < 40 && kind.iter().all(|byte| byte.is_ascii_lowercase() || matches!(byte, b'-' | b'0'..=b'9'))
}

/// Says whether a text is exactly what stands in the place of a secret.
pub(super) fn is_whole_mark(text: &str) -> bool {
    text.ends_with(']') && is_mark(text.as_bytes())
}

/// Says whether a value is one that somebody still has to fill in, or a mask.
fn is_placeholder(value: NamedValue<'_>) -> bool {
    let bytes = value.bytes;
    let (Some(first), Some(last)) = (bytes.first().copied(), bytes.last().copied()) else { return true };
    let is_mask = (bytes.len() > 2 || first == b'*')
        && bytes.iter().all(|byte| matches!(byte, b'*' | b'x' | b'X' | b'.' | b'?' | b'-' | b'_'));
    let is_pair = matches!((first, last), (b'<', b'>') | (b'{', b'}') | (b'(', b')') | (b'[', b']'));
    let opens = matches!(first, b'<' | b'{' | b'(' | b'[' | b'&' | b'|')
        && bytes.get(1).is_none_or(|second| second.is_ascii_alphabetic() || b"{}[] %)'".contains(second));
    let is_bracket = (is_pair || (value.quote == 0 && opens)) && !bytes.starts_with(MARK.as_bytes());
    let has_joint = bytes.iter().any(|byte| matches!(byte, b'-' | b'_'));
    let is_yours = bytes.starts_with(b"your") && has_joint && !bytes.iter().any(u8::is_ascii_digit);
    is_mask || is_bracket || is_yours
}

/// Says whether a value names a variable, a command or a template that gives the secret.
pub(super) fn is_reference(bytes: &[u8]) -> bool {
    if bytes.starts_with(b"${")
        || bytes.starts_with(b"$(")
        || bytes.starts_with(b"{{")
        || bytes.starts_with(b"#{")
    {
        return true;
    }
    if bytes.starts_with(b"{") && bytes.ends_with(b"}") || bytes.starts_with(b"<") && bytes.ends_with(b">") {
        return true;
    }
    let percent = bytes.strip_prefix(b"%").and_then(|rest| rest.strip_suffix(b"%"));
    let name = percent.or_else(|| bytes.strip_prefix(b"$"));
    name.is_some_and(|name| !name.is_empty() && name.iter().all(|byte| is_name_byte(*byte) || *byte == b':'))
}

/// Says whether a value is a variable where it stands. Within quotes that keep a dollar sign, only capitals are one.
fn is_variable(value: NamedValue<'_>) -> bool {
    let is_kept = value.quote == b'\'' || (value.quote == b'"' && value.form == ValueForm::Loose);
    let has_small = value.bytes.iter().any(u8::is_ascii_lowercase);
    let is_plain =
        value.bytes.starts_with(b"$") && !value.bytes.starts_with(b"${") && !value.bytes.starts_with(b"$(");
    let names_secret = value.bytes.strip_prefix(b"$").and_then(name::classify).is_some();
    is_reference(value.bytes) && !(is_kept && has_small && is_plain && !names_secret)
}

/// Says whether a value is a path to a file. The key of a machine may begin like one, but has no words in it.
fn is_path(bytes: &[u8]) -> bool {
    let starts = |prefix: &[u8]| bytes.starts_with(prefix);
    let rest = bytes.strip_prefix(b"/").unwrap_or_default();
    let has_drive = bytes.first().is_some_and(u8::is_ascii_alphabetic)
        && bytes.get(1..3).is_some_and(|b| b == b":\\" || b == b":/");
    let is_rooted =
        starts(b"~/") || starts(b"./") || starts(b"../") || has_drive || starts(b"file:") || starts(b"@/");
    let is_absolute = rest.contains(&b'/') || (starts(b"/") && rest.contains(&b'.'));
    (is_rooted || is_absolute)
        && bytes.split(|byte| matches!(byte, b'/' | b'\\')).all(|part| part.len() < 16 || !is_shuffled(part))
}

/// Says whether a value is the name of a file that may hold a key.
fn is_file(bytes: &[u8]) -> bool {
    let endings: [&[u8]; 9] =
        [b".pem", b".key", b".json", b".txt", b".yaml", b".yml", b".pub", b".p12", b".pfx"];
    endings.iter().any(|ending| bytes.ends_with(ending)) && !is_shuffled(bytes)
}

/// Says whether a value is an expression of a program: another name, a call, an element.
fn is_code(label: SecretLabel, value: NamedValue<'_>) -> bool {
    let bytes = value.bytes;
    if value.quote != 0 {
        // The name of a secret is no secret.
        return !bytes.iter().any(u8::is_ascii_digit) && is_name_of_secret(bytes);
    }
    let path = bytes
        .iter()
        .take_while(|byte| is_name_byte(**byte) || matches!(**byte, b'.' | b':' | b'?' | b'-'))
        .count();
    let (path, rest) = bytes.split_at_checked(path).unwrap_or((bytes, b""));
    let is_named = path.first().is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'_');
    if !is_named {
        return false;
    }
    let opens = matches!(rest.first(), Some(b'(' | b'[' | b'{')) || rest.starts_with(b"!(");
    if opens && !label.is_capital {
        return true;
    }
    if !matches!(rest, b"" | b"," | b")" | b"}" | b")," | b"))" | b"()" | b"]") {
        return false;
    }
    let has_digit = path.iter().any(u8::is_ascii_digit);
    // What is assigned in a shell is text, and names of variables that stand for others are capitals.
    let is_text =
        label.is_capital && value.form == ValueForm::Tight && path.iter().any(u8::is_ascii_lowercase);
    if !has_digit && if is_text { is_word_of(WORDS, path) } else { is_name_of_secret(path) } {
        return true;
    }
    let mut parts = path.split(|byte| matches!(byte, b'.' | b':' | b'?')).filter(|part| !part.is_empty());
    let first = parts.next().unwrap_or_default();
    let has_parts = parts.next().is_some();
    let is_loose = value.form == ValueForm::Loose || value.form == ValueForm::Compared;
    let is_long_path = is_loose && has_parts && !is_random(path) && !has_digit;
    has_parts && (is_one_of(HOLDERS, first) || path.windows(2).any(|pair| pair == b"::"))
        || is_long_path
        || is_type(path)
}

/// Says whether a name ends in a word that speaks of a secret, as `my_password` and `API-KEY` do.
fn is_name_of_secret(bytes: &[u8]) -> bool {
    bytes.len() <= 64
        && bytes.iter().all(|byte| is_name_byte(*byte) || matches!(*byte, b'.' | b'-' | b':' | b'?'))
        && (name::classify(bytes).is_some_and(|label| {
            if label.is_single { is_word_of(WORDS, bytes) } else { label.weight != NameWeight::Weak }
        }) || bytes.to_ascii_lowercase().ends_with(b"secrets")
            || bytes.to_ascii_lowercase().ends_with(b"tokens"))
}

/// Says whether this is the name of a type with a number, as `u64` and `Sha256` are.
fn is_type(bytes: &[u8]) -> bool {
    let letters = bytes.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
    let (letters, digits) = bytes.split_at_checked(letters).unwrap_or((bytes, b""));
    let stems: &[&[u8]] = &[
        b"u", b"i", b"f", b"uint", b"int", b"float", b"sha", b"md", b"base", b"bytes", b"utf", b"vec", b"h",
    ];
    let stem = letters.to_ascii_lowercase();
    !digits.is_empty() && digits.iter().all(u8::is_ascii_digit) && stems.contains(&stem.as_slice())
}

/// Says whether a value has letters and digits or signs in it, and is no version or measure.
fn is_mixed(bytes: &[u8]) -> bool {
    let has_letter = bytes.iter().any(u8::is_ascii_alphabetic);
    let has_digit = bytes.iter().any(u8::is_ascii_digit);
    let has_sign =
        bytes.iter().any(|byte| matches!(byte, b'!' | b'@' | b'#' | b'%' | b'^' | b'*' | b'~' | b'$'));
    bytes.len() >= 6 && has_letter && (has_digit || has_sign) && !is_type(bytes)
}

/// Says whether a value looks as if a machine made it by chance.
pub(super) fn is_random(bytes: &[u8]) -> bool {
    let digits = bytes.iter().filter(|byte| byte.is_ascii_digit()).count();
    let is_text = bytes.iter().all(u8::is_ascii_graphic);
    bytes.len() >= 16
        && digits >= 2
        && is_text
        && !is_uuid(bytes)
        && !contains(bytes, b"://")
        && is_shuffled(bytes)
}

/// Says whether small letters, capitals and digits take turns more often than in names.
fn is_shuffled(bytes: &[u8]) -> bool {
    let turns = bytes.windows(2).filter(|pair| match pair {
        [left, right] => {
            let is_capital_first = left.is_ascii_uppercase() && right.is_ascii_lowercase();
            let (left, right) = (class(*left), class(*right));
            left != 0 && right != 0 && left != right && !is_capital_first
        }
        _ => false,
    });
    turns.count() * 5 >= bytes.len()
}

const fn class(byte: u8) -> u8 {
    match byte {
        b'a'..=b'z' => 1,
        b'A'..=b'Z' => 2,
        b'0'..=b'9' => 3,
        _ => 0,
    }
}

fn is_hex(bytes: &[u8]) -> bool {
    bytes.iter().all(u8::is_ascii_hexdigit)
}

fn is_uuid(bytes: &[u8]) -> bool {
    bytes.len() == 36
        && bytes.split(|byte| *byte == b'-').map(<[u8]>::len).eq([8, 4, 4, 4, 12])
        && bytes.iter().all(|byte| byte.is_ascii_hexdigit() || *byte == b'-')
}

fn is_word_of(words: &str, bytes: &[u8]) -> bool {
    let word = bytes
        .strip_suffix(b")")
        .or_else(|| bytes.strip_suffix(b","))
        .or_else(|| bytes.strip_suffix(b"."))
        .unwrap_or(bytes);
    words.split(' ').any(|known| known.as_bytes().eq_ignore_ascii_case(word))
}

fn is_one_of(words: &str, word: &[u8]) -> bool {
    words.split(' ').any(|known| known.as_bytes() == word)
}

/// Says whether a text speaks of secrets in words of its own.
fn speaks_of_secrets(bytes: &[u8]) -> bool {
    bytes
        .split(|byte| !byte.is_ascii_alphabetic())
        .any(|word| name::classify(word).is_some() || word.eq_ignore_ascii_case(b"passwords"))
}

fn contains(bytes: &[u8], what: &[u8]) -> bool {
    bytes.windows(what.len()).any(|part| part == what)
}

const fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}
