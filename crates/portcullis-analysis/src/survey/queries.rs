//! Queries in the arguments of database clients, or on their standard input.

use super::program::{fed, joined};
use crate::argument::Argument;
use crate::code::{Code, Language};
use crate::option::values;
use crate::standard_input::StandardInput;

/// A client, the options whose value is a query, and those that name a file of them.
struct DatabaseClient {
    name: &'static str,
    query: &'static [&'static str],
    file: &'static [&'static str],
}

const fn client(
    name: &'static str,
    query: &'static [&'static str],
    file: &'static [&'static str],
) -> DatabaseClient {
    DatabaseClient { name, query, file }
}

/// Clients that read queries from standard input if no option gives any.
const CLIENTS: &[DatabaseClient] = &[
    client("psql", &["-c", "--command"], &["-f", "--file", "-l", "--list"]),
    client("pgcli", &["-c", "--command"], &[]),
    client("usql", &["-c", "--command"], &["-f", "--file"]),
    client("mysql", EXECUTE, &[]),
    client("mariadb", EXECUTE, &[]),
    client("mycli", EXECUTE, &[]),
    client("clickhouse-client", &["-q", "--query", "--queries"], &["--queries-file"]),
    client("clickhouse", &["-q", "--query"], &["--queries-file"]),
    client("clickhouse-local", &["-q", "--query"], &["--queries-file"]),
    client("cockroach", EXECUTE, &["-f", "--file"]),
    client("snowsql", &["-q", "--query"], &["-f", "--filename"]),
    client("sqlcmd", &["-Q", "-q", "--query"], &["-i", "--input-file"]),
    client("osql", &["-Q", "-q"], &["-i"]),
    client("isql", &[], &[]),
    client("sqlplus", &[], &[]),
    client("trino", &["--execute"], &["-f", "--file"]),
    client("presto", &["--execute"], &["-f", "--file"]),
    client("spark-sql", &["-e"], &["-f"]),
    client("hive", &["-e"], &["-f"]),
    client("beeline", &["-e"], &["-f"]),
    client("impala-shell", &["-q", "--query"], &["-f", "--query_file"]),
];

const EXECUTE: &[&str] = &["-e", "--execute"];

/// Options of `sqlite3` and `duckdb` whose value is the next word.
const FILE_VALUED: &[&str] = &[
    "-init",
    "-separator",
    "-nullvalue",
    "-newline",
    "-maxsize",
    "-mmap",
    "-vfs",
    "-heap",
    "-escape",
    "-f",
    "-storage-version",
];

/// Options of `bq` that are written before its subcommand or query, their value in the next word.
const BQ_VALUED: &[&str] =
    &["--project_id", "--location", "--format", "--dataset_id", "--destination_table", "-n"];

/// Finds the query that a client is given.
pub(super) fn code_of(name: &str, rest: &[Argument], stdin: &StandardInput) -> Option<Code> {
    match name {
        "sqlite3" | "sqlite" | "duckdb" => of_file(rest, stdin),
        "mongosh" | "mongo" => {
            let code = values(rest, &["--eval"]);
            let has_file = rest.iter().any(|word| word.text.to_ascii_lowercase().ends_with(".js"));
            joined(Language::JavaScript, &code, "\n", true)
                .or_else(|| if has_file { None } else { fed(Language::JavaScript, stdin) })
        }
        "bq" => {
            let place = rest.iter().position(|word| word.text == "query")?;
            let code = operands(rest.get(place + 1..)?, BQ_VALUED);
            joined(Language::Sql, &code, " ", true).or_else(|| fed(Language::Sql, stdin))
        }
        "cockroach" if !rest.iter().any(|word| word.text == "sql") => None,
        name => {
            let client = CLIENTS.iter().find(|client| client.name == name)?;
            let code = values(rest, client.query);
            let has_file = rest.iter().any(|word| {
                client
                    .file
                    .iter()
                    .any(|option| word.text == *option || word.text.starts_with(&format!("{option}=")))
            });
            let is_input = values(rest, client.file).iter().any(|file| file.text == "-");
            match joined(Language::Sql, &code, ";\n", true) {
                Some(code) => Some(Code { is_whole: code.is_whole && !has_file, ..code }),
                None if has_file && !is_input => None,
                None => fed(Language::Sql, stdin),
            }
        }
    }
}

/// Finds the query of a client whose first operand is a database file and whose others are queries.
fn of_file(rest: &[Argument], stdin: &StandardInput) -> Option<Code> {
    let mut code = values(rest, &["-cmd"]);
    code.extend(rest.windows(2).filter_map(|two| match two {
        [option, value] if matches!(option.text.as_str(), "-c" | "-s" | "-cmd" | "--cmd") => {
            Some(value.clone())
        }
        _ => None,
    }));
    let valued: Vec<&str> = FILE_VALUED.iter().copied().chain(["-c", "-s", "-cmd", "--cmd"]).collect();
    code.extend(operands(rest, &valued).into_iter().skip(1));
    let is_open = rest.iter().any(|word| word.is_option() && !word.is_known());
    // A command of the client ends with its line.
    joined(Language::Sql, &code, "\n;\n", !is_open).or_else(|| fed(Language::Sql, stdin))
}

/// Returns the words that are neither options nor their values.
fn operands(rest: &[Argument], valued: &[&str]) -> Vec<Argument> {
    let mut words = rest.iter();
    let mut operands = Vec::new();
    while let Some(word) = words.next() {
        if valued.contains(&word.text.as_str()) {
            words.next();
        } else if !word.is_option() {
            operands.push(word.clone());
        }
    }
    operands
}
