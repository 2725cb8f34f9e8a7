//! What one statement does, by its words.

use super::calls;
use super::words::SqlWord;
use crate::act::Act;
use crate::code::{CodeReading, CodeTarget};
use crate::lists::code::sql::{FUNCTIONS, PURE, PURE_STARTS, SKIPPED, TAKING};

/// Words that make a statement destroy wherever they stand first.
const CHANGES: &[&str] =
    &["ALTER", "CREATE", "DELETE", "DROP", "INSERT", "MERGE", "REPLACE", "TRUNCATE", "UPDATE", "UPSERT"];

/// Words that begin a query.
const QUERYING: &[&str] = &["SELECT", "TABLE", "VALUES", "WITH"];

/// Adds what a statement does; says whether it is known.
pub(super) fn read(words: &[SqlWord], out: &mut CodeReading) -> bool {
    read_functions(words, out);
    let first = words.first().and_then(SqlWord::bare).unwrap_or_default();
    let has_expressions = QUERYING.contains(&first) || CHANGES.contains(&first);
    if has_expressions {
        calls::read(words, out);
    }
    match first {
        "SELECT" | "VALUES" | "TABLE" | "WITH" => read_query(words, out),
        "SHOW" | "DESCRIBE" | "DESC" | "ANALYZE" | "CHECKPOINT" | "HELP" => {
            out.add(Act::DatabaseQuery, CodeTarget::None);
        }
        "EXPLAIN" => return read_explain(words, out),
        "PRAGMA" => read_pragma(words, out),
        "INSERT" | "REPLACE" | "MERGE" | "UPSERT" => {
            out.add(Act::DatabaseWrite, CodeTarget::None);
            read_nested(words, out);
        }
        "UPDATE" | "DELETE" => read_change(words, out),
        "DROP" | "TRUNCATE" => read_drop(words, out),
        "ALTER" => read_alter(words, out),
        "CREATE" => read_create(words, out),
        "GRANT" => out.add(Act::Grant, CodeTarget::Name(shown(words))),
        "REVOKE" => out.add(Act::Account, CodeTarget::Name(shown(words))),
        "COPY" => read_copy(words, out),
        "LOAD" => read_load(words, out),
        "SET" if has(words, "PASSWORD") => out.add(Act::Account, CodeTarget::Name("password".to_owned())),
        "SET" if has(words, "GLOBAL") => out.add(Act::SystemConfig, CodeTarget::Name(shown(words))),
        "SET" | "BEGIN" | "START" | "COMMIT" | "ROLLBACK" | "SAVEPOINT" | "RELEASE" | "END" | "USE"
        | "RESET" | "DISCARD" | "LISTEN" | "UNLISTEN" | "FETCH" | "CLOSE" | "DEALLOCATE" | "GO" | "ABORT"
        | "PRINT" => out.add(Act::Observe, CodeTarget::None),
        "VACUUM" if has(words, "INTO") => read_vacuum(words, out),
        "LOCK" | "UNLOCK" | "NOTIFY" | "COMMENT" | "VACUUM" | "REINDEX" | "REFRESH" | "CLUSTER"
        | "OPTIMIZE" | "REPAIR" | "FLUSH" => {
            out.add(Act::DatabaseWrite, CodeTarget::None);
        }
        "ATTACH" => read_attach(words, out),
        "DETACH" => out.add(Act::Observe, CodeTarget::None),
        "KILL" => out.add(Act::Kill, CodeTarget::Name(shown(words))),
        "SHUTDOWN" => out.add(Act::ServiceStop, CodeTarget::Name("the database server".to_owned())),
        "INSTALL" => out.add(Act::LoadCode, CodeTarget::Name(shown(words))),
        _ => {
            read_scan(words, out);
            return false;
        }
    }
    if has_expressions {
        read_places(words, out);
    }
    true
}

/// Says whether a statement has a form that the parser need not confirm, because databases differ in it.
pub(super) fn is_simple(words: &[SqlWord]) -> bool {
    let first = words.first().and_then(SqlWord::bare).unwrap_or_default();
    matches!(
        first,
        "PRAGMA"
            | "SHOW"
            | "SET"
            | "USE"
            | "BEGIN"
            | "COMMIT"
            | "ROLLBACK"
            | "VACUUM"
            | "ATTACH"
            | "DETACH"
            | "DESCRIBE"
            | "DESC"
            | "END"
            | "RESET"
            | "KILL"
            | "SHUTDOWN"
            | "GO"
            | "ABORT"
            | "START"
            | "HELP"
            | "ANALYZE"
            | "REINDEX"
            | "DISCARD"
            | "CHECKPOINT"
    ) && !words.iter().any(|word| word.is("SELECT") || word.is("DELETE") || word.is("DROP"))
}

fn has(words: &[SqlWord], keyword: &str) -> bool {
    words.iter().any(|word| word.is(keyword))
}

/// Returns the first words as they are written.
fn shown(words: &[SqlWord]) -> String {
    let names: Vec<&str> = words.iter().skip(1).filter_map(SqlWord::name).take(6).collect();
    names.join(" ").chars().take(80).collect()
}

/// Returns the name that stands from a place on.
fn name_from(words: &[SqlWord], start: usize) -> String {
    let mut name = String::new();
    for (at, word) in words.iter().enumerate().skip(start) {
        match word {
            SqlWord::Mark('.') => name.push('.'),
            SqlWord::Bare(_, text) | SqlWord::Quoted(text) | SqlWord::Text(text)
                if name.is_empty() || name.ends_with('.') =>
            {
                name.push_str(text);
            }
            SqlWord::Mark('*' | '[' | ']') if at == start => {}
            _ => break,
        }
    }
    name.chars().take(80).collect()
}

/// Returns where the name begins after words such as `TABLE IF EXISTS`.
fn name_place(words: &[SqlWord], start: usize) -> usize {
    start
        + words
            .iter()
            .skip(start)
            .take_while(|word| word.bare().is_some_and(|word| SKIPPED.contains(&word)))
            .count()
}

/// Adds what functions do that reach out of the database.
fn read_functions(words: &[SqlWord], out: &mut CodeReading) {
    for (at, word) in words.iter().enumerate() {
        let Some(name) = word.name().map(str::to_uppercase) else { continue };
        if matches!(word, SqlWord::Text(_)) {
            continue;
        }
        let Some((_, act)) = FUNCTIONS.iter().find(|(known, _)| *known == name) else { continue };
        let argument = words.iter().skip(at + 1).take(3).find_map(|word| match word {
            SqlWord::Text(text) => Some(text.clone()),
            _ => None,
        });
        if name == "XP_CMDSHELL" || name == "SYS_EXEC" || name == "SYS_EVAL" {
            match argument {
                Some(command) => out.shell_texts.push(command),
                None => out.add_gap("runs a shell command that is only known at run time".to_owned()),
            }
            continue;
        }
        let is_path = matches!(act, Act::Read | Act::Write | Act::List | Act::LoadCode);
        let object = match argument {
            Some(path) if is_path && name != "LO_EXPORT" => CodeTarget::Path(path),
            None if is_path => CodeTarget::SomePath,
            _ if is_path => CodeTarget::SomePath,
            _ if matches!(act, Act::Connect | Act::Send) => CodeTarget::SomeHost,
            _ => CodeTarget::Name(name.to_lowercase()),
        };
        out.add(*act, object);
    }
}

/// Reads functions that take a place, and files that stand in the place of a table.
fn read_places(words: &[SqlWord], out: &mut CodeReading) {
    for (at, word) in words.iter().enumerate() {
        let is_table = word.is("FROM") || word.is("JOIN");
        match (words.get(at + 1), words.get(at + 2)) {
            (Some(SqlWord::Text(path)), _) if is_table && path.contains('/') => {
                out.add(Act::Read, CodeTarget::Path(path.clone()));
            }
            (Some(SqlWord::Mark('(')), text) => {
                let Some((_, act)) = TAKING.iter().find(|(known, _)| word.is(known)) else { continue };
                match (act, text) {
                    (Act::Read, Some(SqlWord::Text(path))) => out.add(*act, CodeTarget::Path(path.clone())),
                    (Act::Connect, Some(SqlWord::Text(host))) => {
                        out.add(*act, CodeTarget::Host(host.clone()));
                    }
                    (Act::Unknown, _) => out.add_gap("runs an editor or a command".to_owned()),
                    _ => {}
                }
            }
            _ => {}
        }
    }
}

/// Notes functions that no list names: somebody wrote them, and they may do anything.
fn read_own_functions(words: &[SqlWord], out: &mut CodeReading) {
    for (at, word) in words.iter().enumerate() {
        let Some(name) = word.bare() else { continue };
        let is_called = matches!(words.get(at + 1), Some(SqlWord::Mark('(')));
        let before = at.checked_sub(1).and_then(|before| words.get(before));
        // `WITH name (columns) AS`, `INTO table (columns)`.
        let is_named = before.is_some_and(|word| {
            ["AS", "INTO", "RECURSIVE", "TABLE", "WITH"].iter().any(|keyword| word.is(keyword))
        });
        let is_pure = PURE.contains(&name) || PURE_STARTS.iter().any(|start| name.starts_with(start));
        let is_listed = FUNCTIONS.iter().chain(TAKING).any(|(known, _)| *known == name);
        if is_called && !is_named && !is_pure && !is_listed {
            out.add_gap(format!("calls the function `{}`, which is not known", name.to_lowercase()));
        }
    }
}

/// Reads a query: it only asks, unless it writes a file or into a table.
fn read_query(words: &[SqlWord], out: &mut CodeReading) {
    out.add(Act::DatabaseQuery, CodeTarget::None);
    read_own_functions(words, out);
    read_nested(words, out);
    for (at, word) in words.iter().enumerate() {
        let follows = |keyword: &str| words.get(at + 1).is_some_and(|word| word.is(keyword));
        if word.is("INTO")
            && at > 0
            && !words
                .get(at - 1)
                .is_some_and(|word| word.is("INSERT") || word.is("MERGE") || word.is("REPLACE"))
        {
            match words.get(at + 2) {
                Some(SqlWord::Text(path)) if follows("OUTFILE") || follows("DUMPFILE") => {
                    out.add(Act::Write, CodeTarget::Path(path.clone()));
                }
                _ => out.add(Act::DatabaseWrite, CodeTarget::None),
            }
        }
    }
}

/// Adds what statements inside brackets and after `WITH` change.
fn read_nested(words: &[SqlWord], out: &mut CodeReading) {
    for (at, word) in words.iter().enumerate().skip(1) {
        let opens = matches!(words.get(at - 1), Some(SqlWord::Mark('(' | ')')));
        if opens
            && word.bare().is_some_and(|word| CHANGES.contains(&word))
            && !matches!(words.get(at + 1), Some(SqlWord::Mark('(' | ',' | ')' | '.' | '=')))
        {
            let end = closing(words, at);
            read_change_words(words.get(at..end).unwrap_or(&[]), out);
        }
    }
}

/// Returns where the brackets that open at a place close.
fn closing(words: &[SqlWord], start: usize) -> usize {
    let mut depth = 0_usize;
    for (at, word) in words.iter().enumerate().skip(start) {
        match word {
            SqlWord::Mark('(') => depth += 1,
            SqlWord::Mark(')') if depth == 0 => return at,
            SqlWord::Mark(')') => depth -= 1,
            _ => {}
        }
    }
    words.len()
}

/// Adds the changes that stand inside another statement, as in `WITH … DELETE`.
fn read_change_words(words: &[SqlWord], out: &mut CodeReading) {
    match words.first().and_then(SqlWord::bare) {
        Some("DELETE" | "UPDATE") => read_change(words, out),
        Some("DROP" | "TRUNCATE") => read_drop(words, out),
        Some(_) => out.add(Act::DatabaseWrite, CodeTarget::None),
        None => {}
    }
}

/// Reads `EXPLAIN`, which runs the statement only with `ANALYZE`.
fn read_explain(words: &[SqlWord], out: &mut CodeReading) -> bool {
    out.add(Act::DatabaseQuery, CodeTarget::None);
    let runs = words.iter().take(4).any(|word| word.is("ANALYZE") || word.is("ANALYSE"));
    let inner = words.iter().skip(1).position(|word| {
        word.bare()
            .is_some_and(|word| CHANGES.contains(&word) || matches!(word, "SELECT" | "WITH" | "VALUES"))
    });
    match inner {
        Some(place) if runs => read(words.get(place + 1..).unwrap_or(&[]), out),
        _ => true,
    }
}

/// A pragma with a value sets something in the database or the connection.
fn read_pragma(words: &[SqlWord], out: &mut CodeReading) {
    let sets = words.iter().any(|word| matches!(word, SqlWord::Mark('=')));
    let name = words.get(1).and_then(SqlWord::bare).unwrap_or_default();
    if sets
        && matches!(
            name,
            "WRITABLE_SCHEMA"
                | "USER_VERSION"
                | "APPLICATION_ID"
                | "JOURNAL_MODE"
                | "PAGE_SIZE"
                | "ENCODING"
                | "AUTO_VACUUM"
                | "REKEY"
                | "KEY"
        )
    {
        out.add(Act::DatabaseWrite, CodeTarget::None);
    } else {
        out.add(Act::DatabaseQuery, CodeTarget::None);
    }
}

/// `UPDATE` and `DELETE` without a condition, or with one that always holds, destroy everything in a table.
fn read_change(words: &[SqlWord], out: &mut CodeReading) {
    let place = name_place(words, 1);
    let name = name_from(words, place);
    let condition = words.iter().position(|word| word.is("WHERE")).and_then(|at| words.get(at + 1..));
    // A limit or a join narrows a change as well, but not by anything that can be judged here.
    if condition.is_none_or(|condition| is_always_true(&top_level(condition))) {
        out.add(Act::DatabaseDestroy, CodeTarget::Name(name));
    } else {
        out.add(Act::DatabaseWrite, CodeTarget::None);
    }
}

/// Returns the words of a condition before clauses that do not belong to it.
fn top_level(words: &[SqlWord]) -> Vec<SqlWord> {
    words
        .iter()
        .take_while(|word| !(word.is("RETURNING") || word.is("LIMIT") || word.is("ORDER")))
        .cloned()
        .collect()
}

/// Says whether a condition names no column, in any of the alternatives of `OR`.
fn is_always_true(words: &[SqlWord]) -> bool {
    let is_column = |word: &SqlWord| match word {
        SqlWord::Bare(word, _) => !matches!(
            word.as_str(),
            "TRUE" | "AND" | "NOT" | "IS" | "NULL" | "LIKE" | "IN" | "BETWEEN" | "FALSE"
        ),
        SqlWord::Quoted(_) => true,
        _ => false,
    };
    let is_false = |branch: &[SqlWord]| {
        branch.iter().any(|word| word.is("FALSE"))
            || matches!(branch, [SqlWord::Number(number)] if number == "0")
    };
    let is_empty = words.is_empty();
    words
        .split(|word| word.is("OR"))
        .any(|branch| (!branch.iter().any(is_column) && !is_false(branch)) || is_empty)
}

/// Reads `DROP`: what goes decides how much is lost.
fn read_drop(words: &[SqlWord], out: &mut CodeReading) {
    let kind = words.get(1).and_then(SqlWord::bare).unwrap_or_default();
    let start = name_place(words, if words.first().is_some_and(|word| word.is("TRUNCATE")) { 1 } else { 2 });
    let act =
        if matches!(kind, "ROLE" | "USER" | "LOGIN" | "GROUP") { Act::Account } else { Act::DatabaseDestroy };
    out.add(act, CodeTarget::Name(name_from(words, start)));
    let commas = words.iter().enumerate().skip(start).filter(|(_, word)| **word == SqlWord::Mark(','));
    for (at, _) in commas.take(16) {
        out.add(act, CodeTarget::Name(name_from(words, at + 1)));
    }
}

/// Reads `VACUUM INTO`, which writes the database into another file.
fn read_vacuum(words: &[SqlWord], out: &mut CodeReading) {
    match words.last() {
        Some(SqlWord::Text(path)) => out.add(Act::Write, CodeTarget::Path(path.clone())),
        _ => out.add(Act::Write, CodeTarget::SomePath),
    }
}

/// Reads `ALTER`: roles, settings of the server and what is dropped weigh more than a column.
fn read_alter(words: &[SqlWord], out: &mut CodeReading) {
    let kind = words.get(1).and_then(SqlWord::bare).unwrap_or_default();
    let name = name_from(words, name_place(words, 2));
    match kind {
        "ROLE" | "USER" | "LOGIN" | "GROUP" => out.add(Act::Account, CodeTarget::Name(name)),
        "SYSTEM" => out.add(Act::SystemConfig, CodeTarget::Name(shown(words))),
        "DEFAULT" => out.add(Act::Grant, CodeTarget::Name(shown(words))),
        _ if has(words, "DROP") => out.add(Act::DatabaseDestroy, CodeTarget::Name(name)),
        _ if has(words, "SUPERUSER") => out.add(Act::Grant, CodeTarget::Name(name)),
        _ => out.add(Act::DatabaseWrite, CodeTarget::None),
    }
}

/// Reads `CREATE`. A function, trigger or event is code that runs later, when nobody looks.
fn read_create(words: &[SqlWord], out: &mut CodeReading) {
    let kinds: Vec<&str> = words
        .iter()
        .skip(1)
        .filter_map(SqlWord::bare)
        .filter(|word| {
            !matches!(
                *word,
                "OR" | "REPLACE" | "TEMP" | "TEMPORARY" | "UNIQUE" | "AGGREGATE" | "IF" | "NOT" | "EXISTS"
            )
        })
        .take(1)
        .collect();
    match kinds.first().copied().unwrap_or_default() {
        "ROLE" | "USER" | "LOGIN" | "GROUP" => {
            out.add(Act::Account, CodeTarget::Name(name_from(words, name_place(words, 2))));
        }
        "EXTENSION" => out.add(Act::LoadCode, CodeTarget::Name(name_from(words, name_place(words, 2)))),
        "FUNCTION" | "PROCEDURE" | "TRIGGER" | "EVENT" | "LANGUAGE" => {
            out.add(Act::DatabaseWrite, CodeTarget::None);
            out.add_gap("makes the database keep code that runs later".to_owned());
        }
        _ => {
            out.add(Act::DatabaseWrite, CodeTarget::None);
            read_nested(words, out);
        }
    }
}

/// `COPY` reads or writes a file of the server, or runs a program there.
fn read_copy(words: &[SqlWord], out: &mut CodeReading) {
    let is_program = has(words, "PROGRAM");
    let direction = words.iter().rposition(|word| word.is("TO") || word.is("FROM"));
    let target = words.iter().skip(direction.unwrap_or(0)).find_map(|word| match word {
        SqlWord::Text(text) => Some(text.clone()),
        _ => None,
    });
    let writes_file = words.iter().skip(1).any(|word| word.is("TO"));
    if writes_file {
        out.add(Act::DatabaseQuery, CodeTarget::None);
    } else {
        out.add(Act::DatabaseWrite, CodeTarget::None);
    }
    match (is_program, target) {
        (true, Some(command)) => out.shell_texts.push(command),
        (true, None) => out.add_gap("runs a shell command that is only known at run time".to_owned()),
        (false, Some(path)) => {
            out.add(if writes_file { Act::Write } else { Act::Read }, CodeTarget::Path(path));
        }
        (false, None) => {}
    }
    read_nested(words, out);
}

/// `LOAD DATA INFILE` reads a file, `LOAD 'library'` loads code.
fn read_load(words: &[SqlWord], out: &mut CodeReading) {
    let path = words.iter().find_map(|word| match word {
        SqlWord::Text(text) => Some(CodeTarget::Path(text.clone())),
        _ => None,
    });
    if has(words, "DATA") {
        out.add(Act::Read, path.unwrap_or(CodeTarget::SomePath));
        out.add(Act::DatabaseWrite, CodeTarget::None);
    } else {
        out.add(Act::LoadCode, path.unwrap_or(CodeTarget::SomePath));
    }
}

/// Reads `ATTACH`, which opens another file.
fn read_attach(words: &[SqlWord], out: &mut CodeReading) {
    let path = words.iter().find_map(|word| match word {
        SqlWord::Text(text) => Some(CodeTarget::Path(text.clone())),
        _ => None,
    });
    out.add(Act::Write, path.unwrap_or(CodeTarget::SomePath));
}

/// Looks at an unknown statement for words that destroy.
fn read_scan(words: &[SqlWord], out: &mut CodeReading) {
    for (at, word) in words.iter().enumerate() {
        let begins = at == 0
            || matches!(words.get(at - 1), Some(SqlWord::Mark('(' | ')')))
            || words
                .get(at - 1)
                .is_some_and(|word| matches!(word.bare(), Some("BEGIN" | "THEN" | "AS" | "DO" | "ELSE")));
        if begins && word.bare().is_some_and(|word| CHANGES.contains(&word)) {
            read_change_words(words.get(at..).unwrap_or(&[]), out);
        }
    }
}
