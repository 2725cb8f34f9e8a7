//! `cargo dev load`: a daemon under load, the released program on this machine, with the audit trail on.
//!
//! Connections send one call after the other and check every answer: its decision is the expected one, and its record is
//! noted. At the end every acknowledged record must be on the trail, the chain must hold, and every question that was
//! left open must have got its answer. With `--kills` the daemon is killed at random moments meanwhile and started anew.

mod client;
mod daemon;
mod driver;
mod figures;

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use portcullis_testkit::PostgresServer;

use self::daemon::LoadedDaemon;
use self::driver::LoadDriver;
use super::package;
use crate::{output, repository};

const USAGE: &str = "usage: cargo dev load [--seconds N] [--connections N] [--approvals N] [--kills N] [--batch N] [--store files|postgres] \
                     [--program PATH]";

/// What is to be done.
#[derive(Debug, Clone)]
struct LoadTestOptions {
    seconds: u64,
    connections: usize,
    approvals: usize,
    kills: u32,
    /// How many calls a request brings.
    batch: usize,
    is_postgres: bool,
    program: Option<PathBuf>,
}

impl LoadTestOptions {
    fn parse(arguments: &[String]) -> Result<Self> {
        let mut options = Self {
            seconds: 60,
            connections: 32,
            approvals: 0,
            kills: 0,
            batch: 1,
            is_postgres: false,
            program: None,
        };
        let mut words = arguments.iter();
        while let Some(word) = words.next() {
            let value = words.next().with_context(|| format!("`{word}` needs a value; {USAGE}"))?;
            match word.as_str() {
                "--seconds" => options.seconds = value.parse()?,
                "--connections" => options.connections = value.parse()?,
                "--approvals" => options.approvals = value.parse()?,
                "--kills" => options.kills = value.parse()?,
                "--batch" => options.batch = value.parse()?,
                "--program" => options.program = Some(PathBuf::from(value)),
                "--store" => {
                    options.is_postgres = match value.as_str() {
                        "files" => false,
                        "postgres" => true,
                        _ => bail!("{USAGE}"),
                    }
                }
                _ => bail!("{USAGE}"),
            }
        }
        ensure!(
            options.seconds > 0 && options.connections > 0 && options.batch > 0,
            "there is nothing to do; {USAGE}"
        );
        Ok(options)
    }
}

pub(super) fn run(arguments: &[String]) -> Result<()> {
    let options = LoadTestOptions::parse(arguments)?;
    let root = repository::root();
    let program = match &options.program {
        Some(program) => program.clone(),
        None => package::build(&root, std::env::consts::ARCH)?,
    };
    let server = if options.is_postgres { Some(PostgresServer::start()) } else { None };
    let url = server.as_ref().map(|server| server.database("load"));
    let mut daemon = LoadedDaemon::start(&program, url.as_deref())?;
    output::say(&format!(
        "{} connections, {} calls a request, for {} s against {}, {} questions open, {} kills",
        options.connections,
        options.batch,
        options.seconds,
        daemon.place(),
        options.approvals,
        options.kills
    ));
    let driver = LoadDriver::new(&options);
    let run = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?
        .block_on(driver.drive(&mut daemon, Duration::from_secs(options.seconds)))?;
    figures::print(&run);
    daemon.stop()?;
    let found = daemon.check_trail(&run.acknowledged)?;
    output::say(&format!(
        "the trail is whole: {found} records, every one of the {} acknowledged among them",
        run.acknowledged.len()
    ));
    ensure!(run.wrong.is_empty(), "wrong answers: {}", run.wrong.join("; "));
    Ok(())
}
