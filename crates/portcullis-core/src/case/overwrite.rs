//! Writes that put something else in the place of what a file holds, where what it holds matters (spec D3).

use portcullis_analysis::Invocation;
use portcullis_analysis::effect::Effect;
use portcullis_analysis::place::{Scope, secrecy};
use portcullis_analysis::session_code::{FileKind, kind_of};

use super::view::CaseView;

/// Programs that put a whole file in the place of another, in lower case.
const REPLACING: &[&str] = &[
    "clear-content",
    "copy-item",
    "cp",
    "curl",
    "dd",
    "gcp",
    "gmv",
    "install",
    "ln",
    "move-item",
    "mv",
    "out-file",
    "rsync",
    "scp",
    "set-content",
    "tee",
    "truncate",
    "wget",
];

/// Programs that change a part of a file and keep the rest, or none of it.
const EDITING: &[&str] = &[
    "ac",
    "add-content",
    "biome",
    "crudini",
    "dasel",
    "dos2unix",
    "eslint",
    "gsed",
    "gtouch",
    "mkdir",
    "patch",
    "prettier",
    "sed",
    "touch",
    "unix2dos",
    "yq",
];

/// Options that leave what is there, or write behind it.
const KEEPING: &[&str] =
    &["-a", "--append", "-n", "--no-clobber", "--ignore-existing", "conv=notrunc", "-nc"];

/// Says whether a write takes something away: all that a file holds for nothing, or a key or code for something else.
pub(super) fn loses_content(
    view: &CaseView<'_>,
    effect: &Effect,
    command: Option<&Invocation>,
    path: &str,
) -> bool {
    let scope = Scope { roots: view.roots.clone(), home: view.case.context().home.clone() };
    let is_secret = || secrecy(path, &scope).is_some();
    let is_code = || matches!(kind_of(path), FileKind::Code(_));
    let Some(command) = command else {
        return view.case.call().tool() == "Write" && is_secret();
    };
    let deletes_lines = |text: &str| matches!(text, "d" | "1,$d");
    if command.program_name() == Some("sed")
        && command.operands().iter().any(|word| deletes_lines(&word.text))
    {
        return true;
    }
    if keeps(effect, command) {
        return false;
    }
    if !replaces(effect, command) {
        // Of code nobody knows whether it adds to a file or begins anew, of any other program that it keeps a secret.
        return is_secret() || command.code.is_some() && is_code();
    }
    empties(effect, command) || is_secret() || is_code()
}

/// Says whether a write leaves what a file holds, all of it or all but what is edited.
fn keeps(effect: &Effect, command: &Invocation) -> bool {
    if effect.is_redirection {
        let is_same = |text: &str| effect.word.as_ref().is_some_and(|word| word.text == text);
        return command.redirections.iter().any(|to| to.appends && is_same(&to.target.text));
    }
    let name = program(command);
    let keeps = |text: &str| KEEPING.contains(&text) && (text != "-a" || name == "tee");
    EDITING.contains(&name.as_str())
        || REPLACING.contains(&name.as_str()) && command.operands().iter().any(|word| keeps(&word.text))
}

/// Says whether a write puts a whole new text in the place of what a file holds.
fn replaces(effect: &Effect, command: &Invocation) -> bool {
    effect.is_redirection || REPLACING.contains(&program(command).as_str())
}

fn program(command: &Invocation) -> String {
    command.program_name().unwrap_or_default().to_ascii_lowercase()
}

/// Says whether nothing takes the place of what a file holds.
fn empties(effect: &Effect, command: &Invocation) -> bool {
    let has = |texts: &[&str]| command.operands().iter().any(|word| texts.contains(&word.text.as_str()));
    match command.program_name() {
        None | Some(":" | "true") => effect.is_redirection && command.arguments.len() < 2,
        Some("truncate") => has(&["0", "-s0", "--size=0"]),
        Some("clear-content" | "Clear-Content") => true,
        Some(_) => has(&["/dev/null", "if=/dev/null", "/dev/zero", "if=/dev/zero"]),
    }
}
