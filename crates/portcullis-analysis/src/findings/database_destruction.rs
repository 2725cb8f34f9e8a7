//! Destroying data of a database or a shared store.
//!
//! Dropped tables and flushed caches are gone for everybody who uses them; only a backup brings the data back.
//! Work on a database made for tests, or show the statement to the person.
//! A person is asked about tasks of the project that build its schema anew; statements and commands of servers are refused.
//! Or name the database or table and say that its data are to go.

use crate::act::Act;
use crate::case::Case;
use crate::effect::Effect;
use crate::findings::{ExampleCall, Finding, Firmness, Severity, Sighting};
use crate::invocation::{Invocation, Variable};

pub(super) static FINDING: Finding = Finding {
    code: "PC015",
    name: "database-destruction",
    title: "destroys data of a database or a shared store",
    category: "modify_shared",
    severity: Severity::High,
    firmness: Firmness::Soft {
        verbs: &["drop", "truncate", "flush", "reset", "delete", "wipe", "purge"],
        must_name: "the database, table or queue",
    },
    instead: "Read the data, and show the user the statement that would change it",
    hits: &[
        ExampleCall::Bash("psql -c 'DROP TABLE users'"),
        ExampleCall::Bash("mysql -e 'DROP DATABASE shop'"),
        ExampleCall::Bash("dropdb shop"),
        ExampleCall::Bash("redis-cli FLUSHALL"),
        ExampleCall::Bash("mariadb -e 'TRUNCATE TABLE orders'"),
        ExampleCall::Bash("mongosh shop --eval 'db.dropDatabase()'"),
        ExampleCall::Bash("aws dynamodb delete-table --table-name users"),
        ExampleCall::Bash("npx prisma migrate reset --force"),
        ExampleCall::Bash("psql -c 'DELETE FROM users'"),
        ExampleCall::Bash("aws sqs purge-queue --queue-url https://sqs.example.com/q"),
        ExampleCall::Call("mcp__db__query", &[("sql", "DROP TABLE users")]),
    ],
    misses: &[
        ExampleCall::Bash("psql -c 'SELECT * FROM users'"),
        ExampleCall::Bash("psql -d app_test -c 'DROP TABLE users'"),
        ExampleCall::Bash("dropdb app_test"),
        ExampleCall::Bash("sqlite3 /tmp/x.db 'DROP TABLE a'"),
        ExampleCall::Bash("redis-cli GET key"),
        ExampleCall::Bash("echo 'DROP TABLE users'"),
        ExampleCall::Bash("grep -rn \"DROP TABLE\" migrations"),
        ExampleCall::Bash("git commit -m \"drop table users\""),
        ExampleCall::Bash("psql -c 'CREATE TABLE a (b int)'"),
        ExampleCall::Call("mcp__db__query", &[("sql", "SELECT 1")]),
    ],
    filter,
};

fn filter(case: Case<'_>) -> Vec<Sighting> {
    case.of(&[Act::DatabaseDestroy, Act::SharedWrite])
        .filter(|effect| !is_for_tests(case, effect))
        .map(|effect| {
            let sentence = match effect.target.written() {
                "" => "it destroys data of a database or shared store".to_owned(),
                written => format!("it destroys data of a database or shared store: `{written}`"),
            };
            let is_task = TASK_RUNNERS.contains(&case.program(effect));
            Sighting::of(case, effect, sentence).ordinary_if(is_task && !case.names_production(effect))
        })
        .collect()
}

/// Programs that carry out tasks of a project; which database these work on is told by its settings.
const TASK_RUNNERS: &[&str] = &[
    "alembic",
    "artisan",
    "bin/rails",
    "composer",
    "diesel",
    "drizzle-kit",
    "knex",
    "mix",
    "npm",
    "php",
    "prisma",
    "python",
    "python3",
    "rails",
    "rake",
    "sequelize",
    "sequelize-cli",
    "sqlx",
    "typeorm",
];

/// Says whether a command names a database that is there to be destroyed: a test's, or one among temporary files.
fn is_for_tests(case: Case<'_>, effect: &Effect) -> bool {
    let words = case.command(effect).map(Invocation::operands).unwrap_or_default();
    let names =
        words.iter().map(|word| word.text.as_str()).filter(|text| !text.contains(char::is_whitespace));
    let parts = |text: &str| {
        let mut parts = text.split(|letter: char| !letter.is_ascii_alphanumeric());
        parts.any(|part| matches!(part.to_ascii_lowercase().as_str(), "test" | "tests" | "testing"))
    };
    let variables = case.command(effect).map(|command| command.assignments.as_slice()).unwrap_or_default();
    let is_of_tests = |variable: &Variable| {
        variable.name.ends_with("_ENV") && variable.value.fixed().is_some_and(|value| value == "test")
    };
    names.into_iter().any(|text| text == ":memory:" || case.scope.is_temporary(text) || parts(text))
        || variables.iter().any(is_of_tests)
}
