//! `cargo dev fuzz TARGET`: builds a fuzz target with coverage on the stable toolchain and runs it for a while.
//!
//! The coverage flags are ordinary code generation options, so no nightly compiler and no extra tool is needed. They
//! are given together with `--target`, which keeps them away from build scripts and procedural macros.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use portcullis_testkit::GoldenFile;

use crate::{process, repository};

const COVERAGE_FLAGS: &[&str] = &[
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
    "-Ccodegen-units=1",
    "-Cdebug-assertions",
    "-Coverflow-checks",
    "--cfg",
    "fuzzing",
];

const DEFAULT_SECONDS: &str = "60";

pub(super) fn run(arguments: &[String]) -> Result<()> {
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let (target, seconds) = match words.as_slice() {
        [target] => (*target, DEFAULT_SECONDS),
        [target, "--seconds", seconds] => (*target, *seconds),
        _ => bail!("usage: cargo dev fuzz TARGET [--seconds N]; the targets are in fuzz/targets"),
    };
    ensure!(seconds.parse::<u32>().is_ok(), "`{seconds}` is not a number of seconds");
    let fuzz = repository::root().join("fuzz");
    ensure!(
        fuzz.join("targets").join(format!("{target}.rs")).is_file(),
        "there is no fuzz target `{target}`"
    );
    let triple = host_triple()?;
    let mut build = process::cargo(&fuzz);
    build.args(["build", "--release", "--bin", target, "--target", &triple]);
    build.env("RUSTFLAGS", COVERAGE_FLAGS.join(" "));
    process::run(&mut build)?;

    let corpus = fuzz.join("corpus").join(target);
    let artifacts = fuzz.join("artifacts").join(target);
    std::fs::create_dir_all(&artifacts)?;
    write_seeds(target, &corpus)?;
    let mut program = Command::new(fuzz.join("target").join(&triple).join("release").join(target));
    program.current_dir(&fuzz).arg(&corpus);
    let dictionary = fuzz.join("dictionaries").join(format!("{target}.dict"));
    if dictionary.is_file() {
        program.arg(format!("-dict={}", dictionary.display()));
    }
    program.arg(format!("-max_total_time={seconds}"));
    program.args(["-max_len=4096", "-timeout=10", "-rss_limit_mb=4096", "-print_final_stats=1"]);
    program.arg(format!("-artifact_prefix={}/", artifacts.display()));
    process::run(&mut program)
}

/// Puts the seeds of a target into its corpus, each as a file of its own, as the fuzzer wants them.
fn write_seeds(target: &str, corpus: &Path) -> Result<()> {
    let root = repository::root();
    std::fs::create_dir_all(corpus)?;
    let mut files =
        vec![(GoldenFile::read(root.join("fuzz/seeds").join(target).with_extension("md"))?, "seed")];
    if target == "hook" {
        let hosts = GoldenFile::read_folder(root.join("crates/portcullis-hosts/tests/golden"))?;
        files.extend(hosts.into_iter().map(|file| (file, "input")));
    }
    for (file, block) in &files {
        for case in &file.cases {
            let seed = case.find(block).with_context(|| format!("{}: no block `{block}`", case.name))?;
            std::fs::write(corpus.join(format!("seed-{}-{}", file.topic(), case.name)), seed)?;
        }
    }
    Ok(())
}

fn host_triple() -> Result<String> {
    let version = process::capture(Command::new("rustc").arg("-vV"))?;
    let host = version.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(host.context("`rustc -vV` names no host")?.to_owned())
}
