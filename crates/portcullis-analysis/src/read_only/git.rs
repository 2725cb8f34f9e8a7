//! `git` subcommands that only look, with arguments that keep them so.

use crate::argument::Argument;

/// Subcommands that look, whatever their arguments but the banned options.
const QUERIES: &[&str] = &[
    "annotate",
    "blame",
    "cat-file",
    "check-attr",
    "check-ignore",
    "check-mailmap",
    "check-ref-format",
    "cherry",
    "count-objects",
    "describe",
    "diff",
    "diff-files",
    "diff-index",
    "diff-tree",
    "for-each-ref",
    "grep",
    "log",
    "ls-files",
    "ls-tree",
    "merge-base",
    "name-rev",
    "range-diff",
    "rev-list",
    "rev-parse",
    "shortlog",
    "show",
    "show-branch",
    "show-ref",
    "status",
    "version",
    "whatchanged",
];

/// Beginnings of options that write a file or run a program.
const BANNED: &[&str] = &[
    "--output",
    "--ext-diff",
    "--textconv",
    "--filters",
    "--open-files-in-pager",
    "-O",
    "--upload-pack",
    "--exec",
    "--contents",
    "--no-index",
    "--show-signature",
];

pub(super) fn is_read_only(operands: &[Argument]) -> bool {
    let rest = skip_harmless_globals(operands);
    let Some((verb, arguments)) = rest.split_first() else {
        return operands.iter().all(|argument| matches!(argument.text.as_str(), "--version" | "--help"));
    };
    let texts: Vec<&str> = arguments.iter().map(|argument| argument.text.as_str()).collect();
    if texts.iter().any(|text| is_banned(text)) {
        return false;
    }
    match verb.text.as_str() {
        name if QUERIES.contains(&name) => true,
        "branch" | "tag" => is_listing(&texts),
        "remote" => {
            is_one_of(&texts, &["", "-v", "--verbose"])
                || (matches!(texts.first(), Some(&("show" | "get-url")))
                    && texts
                        .iter()
                        .skip(1)
                        .all(|text| is_plain_remote(text) || matches!(*text, "-n" | "--all")))
        }
        "stash" => matches!(texts.first(), Some(&("list" | "show"))),
        "worktree" => is_one_of(&texts, &["list", "list --porcelain"]),
        "reflog" => !matches!(texts.first(), Some(&("expire" | "delete" | "drop" | "write"))),
        "config" => is_config_query(&texts),
        "ls-remote" => is_remote_listing(&texts),
        _ => false,
    }
}

/// Skips the options before the subcommand that change neither directory nor configuration.
fn skip_harmless_globals(operands: &[Argument]) -> &[Argument] {
    let count = operands
        .iter()
        .take_while(|argument| matches!(argument.text.as_str(), "--no-pager" | "-P" | "--no-optional-locks"))
        .count();
    operands.get(count..).unwrap_or_default()
}

fn is_banned(text: &str) -> bool {
    let name = text.split('=').next().unwrap_or(text);
    BANNED.iter().any(|banned| text.starts_with(banned))
        || (name.len() > 4 && name.starts_with("--") && BANNED.iter().any(|banned| banned.starts_with(name)))
        // A format of signatures runs the program that checks them.
        || text.contains("%G")
}

fn is_one_of(texts: &[&str], forms: &[&str]) -> bool {
    let joined = texts.join(" ");
    forms.contains(&joined.as_str())
}

/// Options of `git branch` and `git tag` that may stand in a listing.
const LISTING: &[&str] = &[
    "-a",
    "-r",
    "-v",
    "-vv",
    "--all",
    "--remotes",
    "--show-current",
    "--verbose",
    "--no-color",
    "--color",
    "--column",
    "--no-column",
    "-n",
    "--ignore-case",
    "-i",
    "--sort",
    "--format",
];

/// Options of theirs that make it a listing, so that operands are patterns and not new names.
const FORCING_LIST: &[&str] =
    &["--list", "-l", "--contains", "--no-contains", "--merged", "--no-merged", "--points-at"];

/// Says whether `git branch` or `git tag` lists: nothing but listing options, operands only if one of them forces it.
fn is_listing(texts: &[&str]) -> bool {
    let name = |text: &str| text.split('=').next().unwrap_or_default().to_owned();
    let is_forced = texts.iter().any(|text| FORCING_LIST.contains(&name(text).as_str()));
    texts.iter().all(|text| {
        if text.starts_with('-') {
            LISTING.contains(&name(text).as_str()) || FORCING_LIST.contains(&name(text).as_str())
        } else {
            is_forced
        }
    })
}

fn is_config_query(texts: &[&str]) -> bool {
    let queries = ["--get", "--get-all", "--get-regexp", "--get-urlmatch", "--list", "-l", "get", "list"];
    let scopes = [
        "--global",
        "--local",
        "--system",
        "--worktree",
        "--null",
        "-z",
        "--show-origin",
        "--show-scope",
        "--name-only",
    ];
    let mut after_scopes = texts.iter().skip_while(|text| scopes.contains(text));
    after_scopes.next().is_some_and(|text| queries.contains(text))
        && !texts.iter().any(|text| is_config_change(text))
}

/// Says whether a word makes `git config` change something or read another file.
fn is_config_change(text: &str) -> bool {
    let name = text.split('=').next().unwrap_or(text);
    let is_cluster = text.starts_with('-') && !text.starts_with("--");
    (is_cluster && text.contains(['e', 'f']))
        || ["--add", "--blob", "--edit", "--file", "--remove", "--rename", "--replace", "--unset"]
            .iter()
            .any(|change| name.starts_with(change) || (name.len() > 2 && change.starts_with(name)))
}

/// A remote by a plain name: a URL could name a transport that runs a program.
fn is_remote_listing(texts: &[&str]) -> bool {
    texts.iter().all(|text| {
        let is_flag = matches!(
            *text,
            "--heads" | "--tags" | "--refs" | "-q" | "--symref" | "--branches" | "--exit-code"
        );
        is_flag || is_plain_remote(text)
    })
}

fn is_plain_remote(text: &str) -> bool {
    text.chars().all(|letter| letter.is_ascii_alphanumeric() || "-_./*".contains(letter))
        && !text.starts_with(['-', '/', '.'])
}
