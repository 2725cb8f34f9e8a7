//! Commands of the clients between the statements: `\…` of psql, `.…` of sqlite3, words of mysql.

use super::words::SqlWord;
use crate::act::Act;
use crate::code::{CodeReading, CodeTarget};
use crate::lists::code::sql::SHOWING;

/// Reads a command that begins with a backslash or a dot.
pub(super) fn read(line: &str, out: &mut CodeReading) {
    match line.strip_prefix('\\') {
        Some(command) => read_psql(command, out),
        None => read_sqlite(line.strip_prefix('.').unwrap_or(line), out),
    }
}

/// Reads a command of psql: some run a shell, a script or a file in the middle of plain SQL.
fn read_psql(command: &str, out: &mut CodeReading) {
    if let Some(shell) = command.strip_prefix('!') {
        push_shell(shell, out);
        return;
    }
    let (name, rest) = cut(command);
    let file = || path(rest);
    match name {
        "g" | "gx" if !rest.is_empty() => match rest.strip_prefix('|') {
            Some(shell) => push_shell(shell, out),
            None => out.add(Act::Write, file()),
        },
        "copy" => read_copy(rest, out),
        "o" | "out" | "w" | "write" => match rest.strip_prefix('|') {
            Some(shell) => push_shell(shell, out),
            None if rest.is_empty() => {}
            None => out.add(Act::Write, file()),
        },
        "i" | "ir" | "include" | "include_relative" => {
            out.add(Act::Read, file());
            out.add_gap("runs a script that is not read".to_owned());
        }
        "lo_export" => out.add(Act::Write, CodeTarget::SomePath),
        "lo_import" => out.add(Act::Read, file()),
        "password" => out.add(Act::Account, CodeTarget::Name("password".to_owned())),
        _ if rest.contains('`') => {
            out.add_gap("runs a shell command inside a command of the client".to_owned());
        }
        _ if SHOWING.contains(&name) || name.starts_with('d') || name.starts_with('l') => {
            out.add(Act::DatabaseQuery, CodeTarget::None);
        }
        _ => out.add_gap(format!(
            "uses the command `\\{}`, which is not known",
            name.chars().take(40).collect::<String>()
        )),
    }
}

/// Reads `\copy table to 'file'`, `\copy … from program 'command'`.
fn read_copy(rest: &str, out: &mut CodeReading) {
    let words = super::words::split(rest);
    let place = words.iter().rposition(|word| word.is("TO") || word.is("FROM"));
    let writes = place.and_then(|place| words.get(place)).is_some_and(|word| word.is("TO"));
    let is_program = words.iter().any(|word| word.is("PROGRAM"));
    let target = words.iter().skip(place.map_or(0, |place| place + 1)).find_map(|word| match word {
        SqlWord::Text(text) => Some(text.clone()),
        SqlWord::Bare(upper, text)
            if !matches!(upper.as_str(), "PROGRAM" | "STDIN" | "STDOUT" | "PSTDIN" | "PSTDOUT") =>
        {
            Some(text.clone())
        }
        _ => None,
    });
    out.add(if writes { Act::DatabaseQuery } else { Act::DatabaseWrite }, CodeTarget::None);
    // Without quotes everything up to a blank is the name of the file.
    let target = bare_file(rest).map(str::to_owned).or(target);
    match (is_program, target) {
        (true, Some(command)) => out.shell_texts.push(command),
        (true, None) => out.add_gap("runs a shell command that is only known at run time".to_owned()),
        (false, Some(text)) => out.add(if writes { Act::Write } else { Act::Read }, CodeTarget::Path(text)),
        (false, None) => {}
    }
}

/// Returns the file that stands without quotes behind the last `to` or `from`.
fn bare_file(rest: &str) -> Option<&str> {
    let words: Vec<&str> = rest.split_whitespace().collect();
    let is_direction = |word: &str| word.eq_ignore_ascii_case("to") || word.eq_ignore_ascii_case("from");
    let file = words.get(words.iter().rposition(|word| is_direction(word))? + 1)?;
    let is_other = |name: &&str| name.eq_ignore_ascii_case(file);
    let is_file = !file.starts_with(['\'', '"'])
        && !["program", "stdin", "stdout", "pstdin", "pstdout"].iter().any(is_other);
    is_file.then_some(file)
}

/// Reads a command of sqlite3, of which several hand a text after a bar to a shell.
fn read_sqlite(command: &str, out: &mut CodeReading) {
    let (name, rest) = cut(command);
    match name {
        "shell" | "system" => push_shell(rest, out),
        "import" => {
            match rest.split_whitespace().find(|word| !word.starts_with('-')) {
                Some(command) if command.trim_matches(['"', '\'']).starts_with('|') => {
                    push_shell(rest.trim_matches(['"', '\'']).trim_start_matches('|'), out);
                }
                Some(_) => out.add(Act::Read, path(rest)),
                None => out.add(Act::Read, CodeTarget::SomePath),
            }
            out.add(Act::DatabaseWrite, CodeTarget::None);
        }
        "output" | "once" | "excel" | "log" | "trace" => {
            match rest.trim_matches(['"', '\'']).strip_prefix('|') {
                Some(shell) => push_shell(shell, out),
                None if rest.is_empty() || matches!(rest, "stdout" | "stderr" | "off") => {}
                None => out.add(Act::Write, path(rest)),
            }
        }
        "read" => {
            if let Some(shell) = rest.trim_matches(['"', '\'']).strip_prefix('|') {
                push_shell(shell, out);
            } else {
                out.add(Act::Read, path(rest));
                out.add_gap("runs a script that is not read".to_owned());
            }
        }
        "backup" | "save" | "clone" => {
            out.add(Act::Write, path(rest.split_whitespace().last().unwrap_or_default()));
        }
        "restore" => {
            out.add(Act::Read, path(rest));
            out.add(Act::DatabaseDestroy, CodeTarget::Name("the database".to_owned()));
        }
        "open" => out.add(Act::Write, path(rest)),
        "load" => out.add(Act::LoadCode, path(rest)),
        "cd" | "archive" | "ar" | "recover" => {
            out.add_gap(format!("uses the command `.{name}`, which is not known"));
        }
        "tables" | "table" | "schema" | "mode" | "headers" | "header" | "quit" | "exit" | "databases"
        | "dump" | "indexes" | "indices" | "width" | "separator" | "nullvalue" | "timer" | "stats"
        | "show" | "help" | "echo" | "bail" | "changes" | "eqp" | "explain" | "fullschema" | "print"
        | "dbinfo" | "sha3sum" | "lint" | "limit" | "timeout" | "version" | "parameter" | "prompt"
        | "crnl" => {
            out.add(Act::DatabaseQuery, CodeTarget::None);
        }
        _ => out.add_gap(format!(
            "uses the command `.{}`, which is not known",
            name.chars().take(40).collect::<String>()
        )),
    }
}

/// Reads words of the mysql client that stand where a statement would; says whether it was one.
pub(super) fn read_statement(text: &str, words: &[SqlWord], out: &mut CodeReading) -> bool {
    let (_, rest) = cut(text);
    match words.first().and_then(SqlWord::bare) {
        Some("SYSTEM") => push_shell(rest, out),
        Some("SOURCE") => {
            out.add(Act::Read, path(rest));
            out.add_gap("runs a script that is not read".to_owned());
        }
        Some("TEE") => out.add(Act::Write, path(rest)),
        Some("PAGER" | "NOPAGER") if !rest.is_empty() => push_shell(rest, out),
        Some("DELIMITER") => out.add_gap("changes what ends a statement".to_owned()),
        _ => return false,
    }
    true
}

/// Cuts a command from its arguments.
fn cut(text: &str) -> (&str, &str) {
    let text = text.trim();
    match text.split_once(char::is_whitespace) {
        Some((name, rest)) => (name, rest.trim()),
        None => (text, ""),
    }
}

/// Returns the file that an argument names: in quotes, or the first word that is no option.
fn path(rest: &str) -> CodeTarget {
    let word = match rest.chars().next() {
        Some(quote @ ('\'' | '"')) => rest.trim_matches(quote),
        _ => rest.split_whitespace().find(|word| !word.starts_with('-')).unwrap_or_default(),
    };
    if word.is_empty() { CodeTarget::SomePath } else { CodeTarget::Path(word.to_owned()) }
}

/// Lists a command line that the client hands to a shell.
fn push_shell(command: &str, out: &mut CodeReading) {
    let command = command.trim();
    if command.is_empty() {
        out.add_gap("opens a shell".to_owned());
    } else {
        out.shell_texts.push(command.to_owned());
    }
}
