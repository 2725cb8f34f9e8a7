//! SQL of any database: what statements ask, change and destroy, and the commands of the clients between them.
//!
//! `sqlparser` says whether a statement is one; its words, outside of quotes and comments, say what it does.

mod calls;
mod client;
mod script;
mod statement;
mod words;

use sqlparser::dialect::{
    Dialect, GenericDialect, MsSqlDialect, MySqlDialect, PostgreSqlDialect, SQLiteDialect,
};
use sqlparser::parser::Parser;

use super::CodeReading;
use script::SqlPart;

/// How deep brackets may nest in a statement that is parsed.
const DEPTH_LIMIT: usize = 32;
/// How many operators a statement that is parsed may have: each may make the tree one level deeper.
const OPERATOR_LIMIT: usize = 400;
/// How deep the parser may go.
const PARSER_LIMIT: usize = 48;

/// Says what a script of statements and commands of clients does.
pub(super) fn read(text: &str) -> CodeReading {
    let mut out = CodeReading::default();
    let script = script::split(text);
    for problem in script.problems {
        out.add_gap(problem.to_owned());
    }
    for part in script.parts {
        match part {
            SqlPart::Statement(statement) => read_statement(&statement, &mut out),
            SqlPart::Command(line) => client::read(&line, &mut out),
        }
    }
    out
}

fn read_statement(text: &str, out: &mut CodeReading) {
    let words = words::split(text);
    if words.is_empty() || client::read_statement(text, &words, out) {
        return;
    }
    let is_understood = statement::read(&words, out);
    if !is_understood {
        out.add_gap("has a statement that is not known".to_owned());
    } else if !statement::is_simple(&words) && !parses(text, &words) {
        out.add_gap("has a statement that cannot be parsed".to_owned());
    }
}

/// Says whether any dialect takes a statement.
fn parses(text: &str, words: &[words::SqlWord]) -> bool {
    if words::depth(words) > DEPTH_LIMIT || words::operators(words) > OPERATOR_LIMIT {
        return false;
    }
    let dialects: [&dyn Dialect; 5] =
        [&GenericDialect {}, &PostgreSqlDialect {}, &MySqlDialect {}, &SQLiteDialect {}, &MsSqlDialect {}];
    dialects.iter().any(|dialect| {
        let parser = Parser::new(*dialect).with_recursion_limit(PARSER_LIMIT).try_with_sql(text);
        parser.and_then(|mut parser| parser.parse_statements()).is_ok_and(|statements| statements.len() == 1)
    })
}
