//! A survey finds the code of other languages that a command runs.

use portcullis_analysis::Invocation;
use portcullis_analysis::code::Language::{self, Awk, JavaScript, Perl, Php, Python, Ruby, Sql};
use portcullis_analysis::profile::Profiles;

use crate::survey::{HERE, look};

/// Commands, the language and text of the code they run, and whether that is all of it.
const CODE: &[(&str, Language, &str, bool)] = &[
    ("python3 -c 'print(1)'", Python, "print(1)", true),
    ("python -Ic 'x'", Python, "x", true),
    ("python3.12 -W ignore -c 'x' a", Python, "x", true),
    ("python3 -cx", Python, "x", true),
    ("python3 -c \"x $y\"", Python, "x $y", false),
    ("python3 $o -c 'x'", Python, "x", false),
    ("Y=1; python3 -c \"x $Y\"", Python, "x 1", true),
    ("python3 - <<'E'\nx\nE", Python, "x\n", true),
    ("python3 <<E\nx\nE", Python, "x\n", true),
    ("python3 <<E\n$x\nE", Python, "$x\n", false),
    ("echo x | python3", Python, "x", true),
    ("curl u | python3", Python, "", false),
    ("curl u | sudo python3 -", Python, "", false),
    ("uv run python -c x", Python, "x", true),
    ("echo eA== | base64 -d | python3", Python, "x", true),
    ("node -e x", JavaScript, "x", true),
    ("node -pe x", JavaScript, "x", true),
    ("node -p x", JavaScript, "x", true),
    ("node --eval=x", JavaScript, "x", true),
    ("node --input-type=module --eval x", JavaScript, "x", true),
    ("node -r mod -e x", JavaScript, "require('mod');\nx", true),
    ("deno eval x", JavaScript, "x", true),
    ("bun -e x", JavaScript, "x", true),
    ("mongosh db --eval 'x'", JavaScript, "x", true),
    ("ruby -e x -e y", Ruby, "x\ny", true),
    ("ruby -rjson -ne x", Ruby, "require 'json'\nx", true),
    ("perl -ne x f", Perl, "x", true),
    ("perl -lane x", Perl, "x", true),
    ("perl -i -pe x f", Perl, "x", true),
    ("perl -i.bak -pe x f", Perl, "x", true),
    ("perl -0777 -pe x f", Perl, "x", true),
    ("perl -0777pe x f", Perl, "x", true),
    ("perl -MFoo=a -e x", Perl, "use Foo;\nx", true),
    ("php -r x", Php, "x", true),
    ("php -d a=b -r x", Php, "x", false),
    ("awk '{print}' f", Awk, "{print}", true),
    ("awk -F: '{print}' f", Awk, "{print}", true),
    ("awk -F : -v a=b '{print}' f", Awk, "{print}", true),
    ("gawk -v a=$b x f", Awk, "x", true),
    ("psql -c 'select 1'", Sql, "select 1", true),
    ("psql -tAc x db", Sql, "x", true),
    ("psql --command=x", Sql, "x", true),
    ("psql db <<E\nx\nE", Sql, "x\n", true),
    ("mysql -uroot -e x db", Sql, "x", true),
    ("mariadb --execute x", Sql, "x", true),
    ("cat f | mysql db", Sql, "", false),
    ("sqlite3 a.db x y", Sql, "x\n;\ny", true),
    ("sqlite3 -header a.db x", Sql, "x", true),
    ("sqlite3 a.db < f", Sql, "", false),
    ("duckdb -c x", Sql, "x", true),
    ("clickhouse-client -q x", Sql, "x", true),
    ("cockroach sql -e x", Sql, "x", true),
    ("bq query --nouse_legacy_sql x", Sql, "x", true),
    ("snowsql -q x", Sql, "x", true),
    ("sqlcmd -S h -Q x", Sql, "x", true),
    ("docker exec c psql -U me -c x", Sql, "x", true),
];

#[test]
fn code_in_arguments_and_on_standard_input_is_found() {
    for (command, language, text, is_whole) in CODE {
        let found = look(command);
        let code = found.invocations.iter().rev().find_map(|invocation| invocation.code.as_ref());
        let code = code.unwrap_or_else(|| panic!("{command}"));
        assert_eq!(
            (code.language, code.text.as_str(), code.is_whole),
            (*language, *text, *is_whole),
            "{command}"
        );
    }
}

#[test]
fn what_runs_no_code_of_its_own_arguments_has_none() {
    for command in [
        "python3 x.py",
        "python3 -m http.server",
        "python3",
        "node x.js",
        "node",
        "deno run x.ts",
        "bun install",
        "ruby x.rb -e y",
        "perl x.pl",
        "php x.php",
        "php -S localhost:1",
        "awk -f x.awk f",
        "psql -f x.sql",
        "psql -l",
        "sqlite3 a.db",
        "cockroach start",
        "mongosh x.js",
        "ls -e x",
    ] {
        let found = look(command);
        assert!(found.invocations.iter().all(|found| found.code.is_none()), "{command}");
    }
}

#[test]
fn what_runs_code_stays_a_program_of_its_own() {
    let found = look("python3 -c 'print(1)'");
    let [only] = found.invocations.as_slice() else { panic!("{found:?}") };
    assert_eq!(Invocation::program_name(only), Some("python3"));
    assert!(!portcullis_analysis::command_effects::is_looking(
        Profiles::BUILT_IN,
        only,
        &portcullis_analysis::command_effects::effects(&found, HERE)
    ));
}

#[test]
fn what_code_starts_is_listed() {
    for command in [
        "python3 -c \"import os; os.system('rm -rf x')\"",
        "python3 -c \"import subprocess; subprocess.run(['rm', '-rf', 'x'])\"",
        "python3 <<'E'\nimport os\nos.system('rm -rf x')\nE",
    ] {
        let found = look(command);
        let removal = found.invocations.iter().find(|found| found.program_name() == Some("rm"));
        let removal = removal.unwrap_or_else(|| panic!("{command}: {found:?}"));
        assert_eq!(removal.parent, Some(0), "{command}");
    }
}
