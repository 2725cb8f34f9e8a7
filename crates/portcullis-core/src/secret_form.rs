//! The form of a secret, as a list of what is known of providers and users of their own write it: `acme_[key 20+]`.
//!
//! A form is text with classes in brackets, each with how many bytes of it there are: `[hex 32]` are exactly 32, `[key 20+]`
//! at least 20. It begins with text by which it is found, or with one class of an exact length and then such text. No form
//! can be so wide that it hides what people must see: there is enough text to know it by, and enough bytes that follow.

/// The classes of bytes that secrets are made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SecretBytes {
    /// Letters and digits.
    Plain,
    /// Letters, digits, `_` and `-`.
    Key,
    /// The same and `.`.
    Dotted,
    /// Capital letters and digits.
    Capitals,
    /// Digits.
    Digits,
    /// Hexadecimal digits.
    Hex,
    /// What base64 is written with, in all its spellings.
    Base64,
    /// The path of an address.
    Path,
}

impl SecretBytes {
    /// All of them, by name.
    pub const ALL: [(&'static str, Self); 8] = [
        ("plain", Self::Plain),
        ("key", Self::Key),
        ("dotted", Self::Dotted),
        ("capitals", Self::Capitals),
        ("digits", Self::Digits),
        ("hex", Self::Hex),
        ("base64", Self::Base64),
        ("path", Self::Path),
    ];

    /// Says whether a byte is one of them.
    pub const fn has(self, byte: u8) -> bool {
        let is_key = byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
        match self {
            Self::Plain => byte.is_ascii_alphanumeric(),
            Self::Key => is_key,
            Self::Dotted => is_key || byte == b'.',
            Self::Capitals => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
            Self::Digits => byte.is_ascii_digit(),
            Self::Hex => byte.is_ascii_hexdigit(),
            Self::Base64 => is_key || matches!(byte, b'+' | b'/' | b'='),
            Self::Path => is_key || matches!(byte, b'/' | b'.' | b'@' | b'%'),
        }
    }
}

/// A part of a form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SecretPart {
    /// This very text.
    Text(String),
    /// Bytes of a class.
    Bytes {
        /// The class.
        class: SecretBytes,
        /// How many there are at least.
        least: usize,
        /// Whether there are exactly so many.
        is_exact: bool,
    },
}

/// The form of a secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecretForm {
    /// The class of an exact length that stands before the text, if one does.
    pub before: Option<(SecretBytes, usize)>,
    /// The text by which it is found.
    pub text: String,
    /// What follows.
    pub rest: Vec<SecretPart>,
}

/// The shortest text that a form is found by.
const LEAST_TEXT: usize = 2;

/// How many bytes beside its text a secret has at least.
const LEAST_BYTES: usize = 8;

/// How many bytes of one class there are at most.
const MOST_BYTES: usize = 512;

/// How long a form may be.
const LONGEST: usize = 256;

impl SecretForm {
    /// Reads a form. The error says what is wrong with it, as the rest of a sentence about it.
    pub fn parse(text: &str) -> Result<Self, String> {
        if text.len() > LONGEST {
            return Err(format!("is longer than {LONGEST} bytes"));
        }
        if !text.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' ') {
            return Err("has characters other than letters, digits and signs of ASCII".to_owned());
        }
        let mut parts = split(text)?.into_iter().peekable();
        let before = match parts.peek() {
            Some(SecretPart::Bytes { class, least, is_exact: true }) => Some((*class, *least)),
            Some(SecretPart::Bytes { .. }) => {
                return Err("begins with bytes of no exact number, such as `[hex 32]`".to_owned());
            }
            _ => None,
        };
        if before.is_some() {
            parts.next();
        }
        let Some(SecretPart::Text(text)) = parts.next() else {
            return Err("has no text by which it is found".to_owned());
        };
        let form = Self { before, text, rest: parts.collect() };
        form.check()?;
        Ok(form)
    }

    fn check(&self) -> Result<(), String> {
        if self.text.len() < LEAST_TEXT || self.text.contains(' ') {
            return Err(format!(
                "must be found by a text of {LEAST_TEXT} characters or more, without spaces"
            ));
        }
        let of_rest = self.rest.iter().map(|part| match part {
            SecretPart::Text(_) => 0,
            SecretPart::Bytes { least, .. } => *least,
        });
        let bytes = of_rest.sum::<usize>() + self.before.map_or(0, |(_, least)| least);
        if bytes < LEAST_BYTES {
            return Err(format!("has fewer than {LEAST_BYTES} bytes besides its text"));
        }
        if !matches!(self.rest.last(), Some(SecretPart::Bytes { .. })) {
            return Err("must end with bytes, such as `[key 20+]`".to_owned());
        }
        Ok(())
    }
}

/// Splits a form into its parts.
fn split(text: &str) -> Result<Vec<SecretPart>, String> {
    let mut parts = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let Some((before, after)) = rest.split_once('[') else {
            parts.push(SecretPart::Text(rest.to_owned()));
            break;
        };
        if !before.is_empty() {
            parts.push(SecretPart::Text(before.to_owned()));
        }
        let Some((inside, end)) = after.split_once(']') else {
            return Err("has a `[` without its `]`".to_owned());
        };
        parts.push(bytes(inside)?);
        rest = end;
    }
    Ok(parts)
}

/// Reads what stands in brackets.
fn bytes(inside: &str) -> Result<SecretPart, String> {
    let (name, count) = inside.split_once(' ').ok_or_else(|| format!("has no number in `[{inside}]`"))?;
    let class = SecretBytes::ALL.into_iter().find(|(known, _)| *known == name);
    let Some((_, class)) = class else {
        let known: Vec<&str> = SecretBytes::ALL.iter().map(|(name, _)| *name).collect();
        return Err(format!("knows no `{name}`; there are {}", known.join(", ")));
    };
    let (digits, is_exact) = count.strip_suffix('+').map_or((count, true), |digits| (digits, false));
    let least = digits.parse().ok().filter(|least| (1..=MOST_BYTES).contains(least));
    let least = least.ok_or_else(|| format!("needs a number from 1 to {MOST_BYTES} in `[{inside}]`"))?;
    Ok(SecretPart::Bytes { class, least, is_exact })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_are_read() {
        let form = SecretForm::parse("SG.[key 16+].[hex 32]").unwrap();
        assert_eq!((form.before, form.text.as_str()), (None, "SG."));
        let key = SecretPart::Bytes { class: SecretBytes::Key, least: 16, is_exact: false };
        let hex = SecretPart::Bytes { class: SecretBytes::Hex, least: 32, is_exact: true };
        assert_eq!(form.rest, [key, SecretPart::Text(".".to_owned()), hex]);
        let form = SecretForm::parse("[plain 14].atlasv1.[key 50+]").unwrap();
        assert_eq!((form.before, form.text.as_str()), (Some((SecretBytes::Plain, 14)), ".atlasv1."));
    }

    #[test]
    fn what_is_no_form_or_too_wide_is_refused() {
        let wrong = [
            ("", "no text"),
            ("acme", "besides its text"),
            ("a[key 20+]", "found by a text"),
            ("a b[key 20+]", "without spaces"),
            ("[key 20+]", "no exact number"),
            ("[key 20+]abc[key 20+]", "no exact number"),
            ("[hex 32]", "no text"),
            ("acme_[key 4+]", "fewer than 8"),
            ("acme_[key 20+]_end", "must end with bytes"),
            ("acme_[key 20", "without its `]`"),
            ("acme_[key]", "no number"),
            ("acme_[word 20+]", "knows no `word`"),
            ("acme_[key 0+]", "from 1 to 512"),
            ("acme_[key 9999]", "from 1 to 512"),
            ("acmé_[key 20+]", "ASCII"),
            (".*", "besides its text"),
        ];
        for (text, part) in wrong {
            let error = SecretForm::parse(text).unwrap_err();
            assert!(error.contains(part), "{text}: {error}");
        }
        assert!(SecretForm::parse(&format!("ac{}[key 20+]", "m".repeat(300))).is_err());
    }
}
