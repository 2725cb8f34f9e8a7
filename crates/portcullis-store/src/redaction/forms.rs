//! The tables of `data/secret-forms.toml`, as the build made them.

use portcullis_core::secret_form::SecretBytes;

/// What a token looks like.
#[derive(Debug)]
pub(super) struct TokenForm {
    pub(super) kind: &'static str,
    /// Bytes of a class that stand before the text, and how many.
    pub(super) before: Option<(SecretBytes, usize)>,
    /// What it is found by.
    pub(super) text: &'static str,
    pub(super) rest: &'static [TokenPart],
    pub(super) place: TokenPlace,
    pub(super) look: TokenLook,
    /// Whether the text that it is found by stays.
    pub(super) keeps_text: bool,
}

/// Where a token counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TokenPlace {
    /// Where a word begins.
    Start,
    /// Inside of words too.
    Anywhere,
}

/// What a token must look like besides its form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TokenLook {
    /// Anything.
    Any,
    /// A short one has a digit early on.
    Mixed,
    /// It looks as if a machine made it by chance.
    Random,
}

/// A part of what follows the text of a token.
#[derive(Debug)]
pub(super) enum TokenPart {
    /// This very text.
    Text(&'static str),
    /// Bytes of a class, how many at least, and whether exactly so many.
    Bytes(SecretBytes, usize, bool),
}

/// How a program takes a secret with an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SecretOption {
    /// In the same word as the option.
    Glued,
    /// In the next word or the same one.
    Next,
    /// As `Next`, after `login` only.
    NextOfLogin,
    /// In the next word alone: longer options begin with the same letter.
    NextAlone,
    /// In the next word or the same one, after this byte.
    After(u8),
    /// The word itself begins with the option.
    Prefix,
    /// As `Next`, if there is an equals sign in it: cookies, and no file that holds them.
    Cookie,
}

/// Programs that read a secret from standard input.
#[derive(Debug)]
pub(super) struct PipedSecret {
    pub(super) programs: &'static [&'static str],
    /// What must stand in the command, one of them; nothing if the program always reads one.
    pub(super) words: &'static str,
    /// The secret is what comes after it.
    pub(super) mark: Option<u8>,
}

include!(concat!(env!("OUT_DIR"), "/secret_forms.rs"));
