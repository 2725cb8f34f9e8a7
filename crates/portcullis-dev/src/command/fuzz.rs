//! `cargo dev fuzz TARGET`: builds a fuzz target with coverage on the stable toolchain and runs it for a while.
//!
//! The coverage flags are ordinary code generation options, so no nightly compiler and no extra tool is needed. They
//! are given together with `--target`, which keeps them away from build scripts and procedural macros.

use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

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
    std::fs::create_dir_all(&corpus)?;
    std::fs::create_dir_all(&artifacts)?;
    let mut program = Command::new(fuzz.join("target").join(&triple).join("release").join(target));
    program.current_dir(&fuzz).arg(&corpus).arg(fuzz.join("seeds").join(target));
    let dictionary = fuzz.join("dictionaries").join(format!("{target}.dict"));
    if dictionary.is_file() {
        program.arg(format!("-dict={}", dictionary.display()));
    }
    program.arg(format!("-max_total_time={seconds}"));
    program.args(["-max_len=4096", "-timeout=10", "-rss_limit_mb=4096", "-print_final_stats=1"]);
    program.arg(format!("-artifact_prefix={}/", artifacts.display()));
    process::run(&mut program)
}

fn host_triple() -> Result<String> {
    let version = process::capture(Command::new("rustc").arg("-vV"))?;
    let host = version.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(host.context("`rustc -vV` names no host")?.to_owned())
}
