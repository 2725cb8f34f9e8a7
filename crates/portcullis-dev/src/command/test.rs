//! `cargo dev test`: the README's second command. Installs what the tests need, runs them all and adds them up.

use anyhow::{Result, ensure};

use super::{clients, prerequisites};
use crate::{output, process, repository};

/// What the tests call beside cargo, with the package that has it: `bash -n` is the parser's oracle, `git check-ignore`
/// that of the path patterns, `script` gives a command a terminal, `postgres` keeps the store of a fleet, and `chromium`
/// shows the web page. The others are ways by which an agent could pass for a person.
const PREREQUISITES: &[(&str, &str)] = &[
    ("bash", "bash"),
    ("git", "git"),
    ("script", "bsdutils"),
    ("chromium", "chromium"),
    ("chromedriver", "chromium-driver"),
    ("postgres", "postgresql"),
    ("psql", "postgresql"),
    ("curl", "curl"),
    ("expect", "expect"),
    ("perl", "perl"),
    ("python3", "python3"),
    ("screen", "screen"),
    ("socat", "socat"),
    ("ssh", "openssh-client"),
    ("sshd", "openssh-server"),
    ("tmux", "tmux"),
];

/// The variable by which the test programs know how many tests to run at once.
const THREADS: &str = "RUST_TEST_THREADS";

pub(super) fn run(arguments: &[String]) -> Result<()> {
    prerequisites::install(PREREQUISITES)?;
    clients::install()?;
    let root = repository::root();
    let mut command = process::cargo(&root);
    // Without fail-fast the sum is that of all tests, also when some fail.
    command.args(["test", "--workspace", "--locked", "--no-fail-fast"]).args(arguments);
    if std::env::var_os(THREADS).is_none() {
        // Most of the time goes into waiting for agents, daemons and browsers, so that cores would be idle.
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        command.env(THREADS, (2 * cores).to_string());
    }
    let mut total = Total::default();
    let succeeded = process::run_reading(&mut command, |line| {
        output::say(line);
        total.add(line);
    })?;
    output::say(&format!("\nin {} test programs:", total.programs));
    output::say(&format!("{} passed, {} failed, {} skipped", total.passed, total.failed, total.ignored));
    ensure!(succeeded, "the tests failed");
    ensure!(total.passed > 0 || !arguments.is_empty(), "no test ran");
    Ok(())
}

/// The sum of the lines `test result: ok. 3 passed; 0 failed; 0 ignored; …`.
#[derive(Debug, Default, PartialEq, Eq)]
struct Total {
    programs: usize,
    passed: usize,
    failed: usize,
    ignored: usize,
}

impl Total {
    fn add(&mut self, line: &str) {
        let Some((_, counts)) = line.strip_prefix("test result: ").and_then(|rest| rest.split_once(". "))
        else {
            return;
        };
        self.programs += 1;
        for part in counts.split("; ") {
            let mut words = part.split(' ');
            let count: usize = words.next().and_then(|word| word.parse().ok()).unwrap_or(0);
            match words.next() {
                Some("passed") => self.passed += count,
                Some("failed") => self.failed += count,
                Some("ignored") => self.ignored += count,
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn result_lines_add_up_and_other_lines_do_not_count() {
        let mut total = Total::default();
        for line in [
            "running 2 tests",
            "test result: ok. 2 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s",
            "test says_3_passed ... ok",
            "test result: FAILED. 3 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s",
        ] {
            total.add(line);
        }
        assert_eq!(total, Total { programs: 2, passed: 5, failed: 1, ignored: 1 });
    }
}
