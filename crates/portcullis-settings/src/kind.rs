//! What the value of a key looks like, who may set it, and how several settings of it combine.

use std::borrow::Cow;

use portcullis_core::Source;

/// What a key's value must look like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyKind {
    /// An object whose own keys have rows here.
    Object,
    /// An object nobody looks into closely.
    FreeObject,
    /// A list of permission rules.
    Rules,
    /// A list of directories.
    Directories,
    /// A list of sentences.
    Sentences,
    /// A permission mode.
    Mode,
    /// The word `disable`.
    Disable,
    /// True or false.
    Boolean,
    /// A string.
    Text,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// A whole number; both ends belong to the range.
    Number {
        /// The smallest.
        least: u32,
        /// The largest.
        most: u32,
    },
    /// A program and its arguments, a word each. No shell reads them, and lists of several sources are not joined.
    Words,
    /// The name of an environment variable.
    Variable,
    /// A web address.
    Address,
    /// A file: absolute, under `~/`, or relative to the directory of the settings file.
    Path,
    /// The address of a store, which may carry a password.
    StoreAddress,
    /// A list of public keys, each with its name. Lists of several sources are not joined.
    PublicKeys,
    /// A list of forms of secrets. One that is wrong is left out.
    SecretForms,
    /// Where questions are sent and how: an object that counts as a whole.
    Webhook,
}

/// Which sources may set a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyScope {
    /// Every source.
    Everywhere,
    /// Every source; from files inside the repository only when the workspace is trusted.
    /// `false` counts even then, since it takes away.
    TrustedRepository,
    /// Every source; a mode that is risky is not taken from files inside the repository.
    SafeInRepository,
    /// Every source but the shared project file.
    NotProject,
    /// User, managed and flag settings.
    OutsideRepository,
    /// User and managed settings.
    UserOrManaged,
    /// Managed settings.
    Managed,
}

/// How several settings of one key combine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyMerge {
    /// The strongest source decides.
    Strongest,
    /// The restrictive value of any source decides.
    Strictest,
    /// The lists of all sources are joined.
    Joined,
    /// The key has no value of its own.
    None,
}

impl KeyScope {
    /// Says whether a source may set the key at all, trust left aside.
    pub const fn contains(self, source: Source) -> bool {
        match self {
            Self::Everywhere | Self::TrustedRepository | Self::SafeInRepository => true,
            Self::NotProject => !matches!(source, Source::Project),
            Self::OutsideRepository => !source.is_in_repository(),
            Self::UserOrManaged => matches!(source, Source::User | Source::Policy),
            Self::Managed => matches!(source, Source::Policy),
        }
    }

    /// Describes it for the reference.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Everywhere => "every source",
            Self::TrustedRepository => {
                "every source; files inside the repository when the workspace is trusted"
            }
            Self::SafeInRepository => "every source; risky modes not from files inside the repository",
            Self::NotProject => "every source but the shared project file",
            Self::OutsideRepository => "user, managed and flag settings",
            Self::UserOrManaged => "user and managed settings",
            Self::Managed => "managed settings",
        }
    }
}

impl KeyKind {
    /// Describes it for messages and the reference, with its article.
    pub fn describe(self) -> Cow<'static, str> {
        Cow::Borrowed(match self {
            Self::Object | Self::FreeObject => "an object",
            Self::Rules => "a list of rules",
            Self::Directories => "a list of directories",
            Self::Sentences => "a list of sentences",
            Self::Mode => "the name of a mode",
            Self::Disable => "the word `disable`",
            Self::Boolean => "true or false",
            Self::Text => "a string",
            Self::Words => "a list of words",
            Self::Variable => "the name of an environment variable",
            Self::Address => "an address that begins with `https://` or `http://`",
            Self::Path => "the path of a file",
            Self::StoreAddress => "an address that begins with `postgres://`",
            Self::PublicKeys => "a list of public keys",
            Self::SecretForms => "a list of forms of secrets",
            Self::Webhook => "an object with a `url`",
            Self::Choice(words) => {
                let words: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
                return Cow::Owned(format!("one of {}", words.join(", ")));
            }
            Self::Number { least, most } => {
                return Cow::Owned(format!("a whole number from {least} to {most}"));
            }
        })
    }
}
