//! Words of a description by which an option may do more than say how: a person looks at these first.

use portcullis_settings::profile_draft::DraftOption;

/// What an option may do, and the words that speak for it.
const WORDS: &[(&str, &[&str])] = &[
    (
        "delete",
        &["delete", "deletes", "remove", "removes", "purge", "prune", "wipe", "truncate", "unlink", "erase"],
    ),
    (
        "run",
        &[
            "command",
            "exec",
            "execute",
            "executes",
            "program",
            "shell",
            "script",
            "hook",
            "hooks",
            "editor",
            "pager",
            "helper",
            "filter",
            "pipe",
            "interpreter",
            "invoke",
            "spawn",
            "system",
        ],
    ),
    (
        "load",
        &[
            "load",
            "loads",
            "plugin",
            "module",
            "library",
            "import",
            "preload",
            "include",
            "extension",
            "source",
        ],
    ),
    (
        "write",
        &[
            "write",
            "writes",
            "output",
            "save",
            "saves",
            "overwrite",
            "append",
            "create",
            "creates",
            "log",
            "dump",
            "generate",
            "store",
            "update",
            "replace",
            "in-place",
            "backup",
            "destination",
        ],
    ),
    (
        "send",
        &[
            "send", "sends", "upload", "post", "submit", "publish", "push", "remote", "proxy", "mail",
            "server",
        ],
    ),
    ("listen", &["listen", "listens", "bind", "daemon", "serve", "accept"]),
    (
        "weaken",
        &["force", "insecure", "unsafe", "skip", "disable", "ignore", "no-verify", "allow", "trust", "root"],
    ),
];

/// Returns what an option may do, by its names and its description.
pub(super) fn hints(option: &DraftOption) -> Vec<&'static str> {
    let about = option.about.to_ascii_lowercase();
    let names = option.spellings.iter().flat_map(|spelling| spelling.split('-'));
    let is_letter = |letter: char| letter.is_ascii_alphanumeric() || letter == '-';
    let words: Vec<&str> = about.split(|letter| !is_letter(letter)).chain(names).collect();
    let has = |listed: &&(&str, &[&str])| words.iter().any(|word| listed.1.contains(word));
    WORDS.iter().filter(has).map(|(hint, _)| *hint).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use portcullis_settings::profile_draft::DraftValue;

    #[test]
    fn an_option_is_looked_at_first_for_its_name_or_its_description() {
        let option = |spelling: &str, about: &str| DraftOption {
            spellings: vec![spelling.to_owned()],
            value: DraftValue::None,
            about: about.to_owned(),
        };
        assert_eq!(hints(&option("-o", "Write the result to FILE")), ["write"]);
        assert_eq!(hints(&option("--post-hook", "what follows")), ["run", "send"]);
        assert_eq!(hints(&option("--listen", "")), ["listen"]);
        assert_eq!(hints(&option("--width", "columns of a line")), [""; 0]);
    }
}
