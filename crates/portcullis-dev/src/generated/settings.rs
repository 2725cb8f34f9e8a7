//! The page of settings keys, from the key table.

use std::borrow::Cow;
use std::fmt::Write as _;

use portcullis_settings::{KEYS, Kind, Merge, Scope};

use super::{NOTICE, cell};

pub(super) fn page() -> String {
    let mut page = format!(
        "{NOTICE}\n\n# Settings keys\n\n\
         A key that is not listed here is ignored, and reported in our own files.\n\
         The [schema](../../crates/portcullis-settings/schema/settings.json) describes the same keys for editors.\n\n\
         | key | value | default | who may set it | several settings | meaning |\n|---|---|---|---|---|---|\n"
    );
    for key in KEYS {
        // Writing to a string cannot fail.
        let _ = writeln!(
            page,
            "| `{}` | {} | {} | {} | {} | {} |",
            key.path,
            kind(key.kind),
            if key.default.is_empty() { String::new() } else { format!("`{}`", cell(key.default)) },
            scope(key.scope),
            merge(key.merge),
            cell(key.description),
        );
    }
    page
}

fn kind(kind: Kind) -> Cow<'static, str> {
    Cow::Borrowed(match kind {
        Kind::Object | Kind::FreeObject => "object",
        Kind::Rules => "list of rules",
        Kind::Directories => "list of directories",
        Kind::Sentences => "list of sentences",
        Kind::Mode => "mode",
        Kind::Disable => "`\"disable\"`",
        Kind::Boolean => "boolean",
        Kind::Text => "string",
        Kind::Words => "list of words",
        Kind::Variable => "name of an environment variable",
        Kind::Address => "address",
        Kind::Path => "path of a file",
        Kind::StoreAddress => "address",
        Kind::PublicKeys => "list of public keys",
        Kind::Webhook => "object",
        Kind::Choice(words) => {
            let words: Vec<String> = words.iter().map(|word| format!("`\"{word}\"`")).collect();
            return Cow::Owned(words.join(", "));
        }
        Kind::Number { least, most } => return Cow::Owned(format!("whole number from {least} to {most}")),
    })
}

const fn scope(scope: Scope) -> &'static str {
    match scope {
        Scope::Everywhere => "everyone",
        Scope::TrustedRepository => "everyone; the repository only when trusted",
        Scope::SafeInRepository => "everyone; risky modes not from the repository",
        Scope::NotProject => "everyone but the shared project file",
        Scope::OutsideRepository => "user, managed and flag settings",
        Scope::UserOrManaged => "user and managed settings",
        Scope::Managed => "managed settings",
    }
}

const fn merge(merge: Merge) -> &'static str {
    match merge {
        Merge::Strongest => "the strongest source decides",
        Merge::Strictest => "the strictest value decides",
        Merge::Joined => "joined",
        Merge::None => "",
    }
}
