//! The page of settings keys, from the key table.

use std::borrow::Cow;
use std::fmt::Write as _;

use portcullis_settings::{KEYS, KeyKind, KeyMerge, KeyScope};

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

fn kind(kind: KeyKind) -> Cow<'static, str> {
    Cow::Borrowed(match kind {
        KeyKind::Object | KeyKind::FreeObject => "object",
        KeyKind::Rules => "list of rules",
        KeyKind::Directories => "list of directories",
        KeyKind::Sentences => "list of sentences",
        KeyKind::Mode => "mode",
        KeyKind::Disable => "`\"disable\"`",
        KeyKind::Boolean => "boolean",
        KeyKind::Text => "string",
        KeyKind::Words => "list of words",
        KeyKind::Variable => "name of an environment variable",
        KeyKind::Address => "address",
        KeyKind::Path => "path of a file",
        KeyKind::StoreAddress => "address",
        KeyKind::PublicKeys => "list of public keys",
        KeyKind::SecretForms => "list of forms of secrets",
        KeyKind::Webhook => "object",
        KeyKind::Choice(words) => {
            let words: Vec<String> = words.iter().map(|word| format!("`\"{word}\"`")).collect();
            return Cow::Owned(words.join(", "));
        }
        KeyKind::Number { least, most } => return Cow::Owned(format!("whole number from {least} to {most}")),
    })
}

const fn scope(scope: KeyScope) -> &'static str {
    match scope {
        KeyScope::Everywhere => "everyone",
        KeyScope::TrustedRepository => "everyone; the repository only when trusted",
        KeyScope::SafeInRepository => "everyone; risky modes not from the repository",
        KeyScope::NotProject => "everyone but the shared project file",
        KeyScope::OutsideRepository => "user, managed and flag settings",
        KeyScope::UserOrManaged => "user and managed settings",
        KeyScope::Managed => "managed settings",
    }
}

const fn merge(merge: KeyMerge) -> &'static str {
    match merge {
        KeyMerge::Strongest => "the strongest source decides",
        KeyMerge::Strictest => "the strictest value decides",
        KeyMerge::Joined => "joined",
        KeyMerge::None => "",
    }
}
