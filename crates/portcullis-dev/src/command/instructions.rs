//! `cargo dev instructions`: counts the instructions of the shipped binary and compares them with the committed ones.
//!
//! Instruction counts do not depend on how busy the machine is, so a small regression shows. Counted are whole
//! processes; the cost of one more decision is the difference between two batches divided by their difference in length.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};

use crate::{output, process, repository};

const COMMITTED: &str = "benches/instructions.toml";
const TOLERANCE_PERCENT: u64 = 10;
const BATCH_DIFFERENCE: u64 = 1_000;

/// A process to measure.
struct Measure {
    name: &'static str,
    arguments: &'static [&'static str],
    input: &'static str,
}

const MEASURES: &[Measure] = &[
    Measure {
        name: "check-read-only",
        arguments: &["check", "--mode", "default", "--", "ls -la src"],
        input: "",
    },
    Measure {
        name: "check-compound",
        arguments: &[
            "check",
            "--mode",
            "default",
            "--",
            "cd src && git log --oneline | head -5; git push --force",
        ],
        input: "",
    },
    Measure {
        name: "hook-claude",
        arguments: &["hook", "claude"],
        input: r#"{"session_id":"s","transcript_path":"/tmp/t.jsonl","cwd":"/tmp","permission_mode":"default","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"git status"},"tool_use_id":"t"}"#,
    },
];

const BATCH_LINE: &str =
    r#"{"id":"1","tool":"Bash","input":{"command":"cargo test --workspace 2>&1 | tail -n 20"}}"#;

pub(super) fn run(arguments: &[String]) -> Result<()> {
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let write = match words.as_slice() {
        [] => false,
        ["--write"] => true,
        _ => bail!("usage: cargo dev instructions [--write]"),
    };
    ensure!(
        process::find_program("valgrind").is_some(),
        "valgrind is not installed; on a Debian-like machine: apt-get install valgrind"
    );
    let root = repository::root();
    process::run(process::cargo(&root).args([
        "build",
        "--profile",
        "dist",
        "--locked",
        "--package",
        "portcullis",
    ]))?;
    let counts = measure_all(&root.join("target/dist/portcullis"))?;
    for (name, count) in &counts {
        output::say(&format!("{name:<20} {count:>12}"));
    }
    let file = root.join(COMMITTED);
    if write {
        return std::fs::write(&file, render(&counts)).with_context(|| format!("cannot write `{COMMITTED}`"));
    }
    let committed = std::fs::read_to_string(&file).with_context(|| format!("cannot read `{COMMITTED}`"))?;
    let problems = compare(&parse(&committed)?, &counts);
    ensure!(problems.is_empty(), "instruction counts moved:\n{}", problems.join("\n"));
    Ok(())
}

fn measure_all(binary: &Path) -> Result<BTreeMap<String, u64>> {
    let mut counts = BTreeMap::new();
    for measure in MEASURES {
        counts.insert(measure.name.to_owned(), count(binary, measure.arguments, measure.input)?);
    }
    let batch = |lines: u64| -> Result<u64> {
        let mut input = String::new();
        for _ in 0..lines {
            input.push_str(BATCH_LINE);
            input.push('\n');
        }
        count(binary, &["check", "--batch"], &input)
    };
    let more = batch(BATCH_DIFFERENCE + 1)?.saturating_sub(batch(1)?);
    counts.insert("batch-line".to_owned(), more / BATCH_DIFFERENCE);
    Ok(counts)
}

/// Runs the binary under callgrind and returns the instructions it took.
fn count(binary: &Path, arguments: &[&str], input: &str) -> Result<u64> {
    let home = std::env::temp_dir().join(format!("portcullis-instructions-{}", std::process::id()));
    std::fs::create_dir_all(&home)?;
    let input_file = home.join("input");
    std::fs::write(&input_file, input)?;
    let result = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(binary)
        .args(arguments)
        .current_dir(&home)
        .env("HOME", &home)
        .env_remove("XDG_CONFIG_HOME")
        .stdin(std::fs::File::open(&input_file)?)
        .stdout(Stdio::null())
        .output()
        .context("cannot start valgrind")?;
    std::fs::remove_dir_all(&home)?;
    let report = String::from_utf8_lossy(&result.stderr).into_owned();
    find_count(&report).with_context(|| format!("callgrind counted nothing:\n{report}"))
}

fn find_count(report: &str) -> Option<u64> {
    let (_, count) = report.lines().find_map(|line| line.split_once("Collected :"))?;
    count.trim().parse().ok()
}

fn render(counts: &BTreeMap<String, u64>) -> String {
    let mut text = String::from(
        "# Instructions counted by `cargo dev instructions`, renewed with `--write`.\n# Compared within 10 %.\n",
    );
    for (name, count) in counts {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{name} = {count}");
    }
    text
}

fn parse(text: &str) -> Result<BTreeMap<String, u64>> {
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines
        .map(|line| {
            let (name, count) = line.split_once(" = ").with_context(|| format!("cannot read `{line}`"))?;
            Ok((name.to_owned(), count.parse().with_context(|| format!("cannot read `{line}`"))?))
        })
        .collect()
}

fn compare(committed: &BTreeMap<String, u64>, counted: &BTreeMap<String, u64>) -> Vec<String> {
    let mut problems = Vec::new();
    for (name, count) in counted {
        match committed.get(name) {
            None => problems.push(format!("  {name}: {count}, and no committed count")),
            Some(before) if count.abs_diff(*before) * 100 > before * TOLERANCE_PERCENT => {
                problems.push(format!("  {name}: {before} -> {count}"));
            }
            Some(_) => {}
        }
    }
    for name in committed.keys().filter(|name| !counted.contains_key(*name)) {
        problems.push(format!("  {name}: committed, but not counted any more"));
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(entries: &[(&str, u64)]) -> BTreeMap<String, u64> {
        entries.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect()
    }

    #[test]
    fn counts_survive_writing_and_reading() {
        let before = counts(&[("batch-line", 30_000), ("hook-claude", 900_000)]);
        assert_eq!(parse(&render(&before)).unwrap(), before);
    }

    #[test]
    fn a_move_of_more_than_a_tenth_is_a_problem_in_both_directions() {
        let committed = counts(&[("a", 1_000)]);
        assert!(compare(&committed, &counts(&[("a", 1_100)])).is_empty());
        assert!(compare(&committed, &counts(&[("a", 900)])).is_empty());
        assert_eq!(compare(&committed, &counts(&[("a", 1_101)])), ["  a: 1000 -> 1101"]);
        assert_eq!(compare(&committed, &counts(&[("a", 899)])), ["  a: 1000 -> 899"]);
    }

    #[test]
    fn a_missing_count_on_either_side_is_a_problem() {
        assert_eq!(compare(&counts(&[("a", 1)]), &counts(&[])), ["  a: committed, but not counted any more"]);
        assert_eq!(compare(&counts(&[]), &counts(&[("a", 1)])), ["  a: 1, and no committed count"]);
    }

    #[test]
    fn the_count_is_found_in_the_report() {
        assert_eq!(find_count("==7== Events    : Ir\n==7== Collected : 42\n"), Some(42));
        assert_eq!(find_count("==7== Events    : Ir\n"), None);
    }
}
