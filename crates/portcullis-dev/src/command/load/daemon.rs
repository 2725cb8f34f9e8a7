//! The daemon that is put under load: started in a home of its own, killed, started again, looked through at the end.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use portcullis_postgres::{PostgresOptions, PostgresStore};
use portcullis_store::Store;
use portcullis_store::audit::Position;
use serde_json::{Value, json};

use crate::command::hook_bench;

/// A daemon and its home.
pub(super) struct LoadedDaemon {
    folder: tempfile::TempDir,
    program: PathBuf,
    url: Option<String>,
    child: Option<Child>,
    address: SocketAddr,
}

impl LoadedDaemon {
    pub(super) fn start(program: &Path, url: Option<&str>) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let home = folder.path().join("home");
        fs::create_dir_all(home.join("project/.git"))?;
        fs::create_dir_all(home.join(".claude"))?;
        fs::create_dir_all(home.join(".config/portcullis"))?;
        fs::write(home.join(".claude/settings.json"), hook_bench::settings().to_string())?;
        if let Some(url) = url {
            let own = json!({"store": {"url": url}});
            fs::write(home.join(".config/portcullis/settings.json"), own.to_string())?;
        }
        let mut daemon = Self {
            folder,
            program: program.to_owned(),
            url: url.map(str::to_owned),
            child: None,
            address: SocketAddr::from(([127, 0, 0, 1], 0)),
        };
        daemon.launch()?;
        Ok(daemon)
    }

    /// Starts the program and waits until it says where it listens.
    fn launch(&mut self) -> Result<()> {
        let mut child = Command::new(&self.program)
            .args(["serve", "--json", "--listen", &self.address.to_string()])
            .env_clear()
            .env("HOME", self.home())
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .context("the daemon cannot be started")?;
        let mut line = String::new();
        let output = child.stdout.take().context("the daemon has no output")?;
        BufReader::new(output).read_line(&mut line)?;
        let said: Value = serde_json::from_str(&line).with_context(|| format!("the daemon said `{line}`"))?;
        let address = said.get("address").and_then(Value::as_str).context("it names no address")?;
        self.address = address.parse()?;
        self.child = Some(child);
        Ok(())
    }

    /// Kills the program and starts it again at the same address.
    pub(super) fn restart(&mut self) -> Result<()> {
        if let Some(mut child) = self.child.take() {
            child.kill()?;
            child.wait()?;
        }
        self.launch()
    }

    /// Ends the program as a service manager does.
    pub(super) fn stop(&mut self) -> Result<()> {
        let Some(mut child) = self.child.take() else { return Ok(()) };
        let ended = Command::new("kill").arg(child.id().to_string()).status()?;
        ensure!(ended.success(), "the daemon could not be told to end");
        let status = child.wait()?;
        ensure!(status.success(), "the daemon ended with {status}");
        Ok(())
    }

    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }

    pub(super) fn project(&self) -> String {
        self.home().join("project").display().to_string()
    }

    pub(super) fn place(&self) -> &'static str {
        if self.url.is_some() { "PostgreSQL" } else { "files" }
    }

    /// Reads one of the tokens that the daemon made: `hook` or `person`.
    pub(super) fn token(&self, name: &str) -> Result<String> {
        let file = self.state().join(format!("daemon/{name}.token"));
        Ok(fs::read_to_string(file)?.trim().to_owned())
    }

    /// Returns how much memory the program has, in KiB.
    pub(super) fn memory(&self) -> Option<u64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.as_ref()?.id())).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
        line.trim().trim_end_matches(" kB").parse().ok()
    }

    /// Returns how much processor time the program has used since it was started.
    pub(super) fn processor_time(&self) -> Option<Duration> {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.child.as_ref()?.id())).ok()?;
        // The name of the program stands in brackets and may hold anything; the times are the 12th and 13th word after it.
        let words: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
        let ticks = |at: usize| words.get(at)?.parse::<u64>().ok();
        // A tick is a hundredth of a second wherever Linux runs.
        Some(Duration::from_millis((ticks(11)? + ticks(12)?) * 10))
    }

    /// Walks the whole trail: the chain must hold, and every record must be there that was acknowledged. Returns how many
    /// records there are.
    pub(super) fn check_trail(&self, acknowledged: &[String]) -> Result<u64> {
        let store = match &self.url {
            Some(url) => Store::with_backend(
                self.state(),
                Arc::new(PostgresStore::open(url, PostgresOptions::default())?),
            ),
            None => Store::new(self.state()),
        };
        let verification = store.backend().verify_trail(&[], None)?;
        ensure!(verification.breaks.is_empty(), "the chain is broken: {:?}", verification.breaks);
        let mut left: BTreeSet<&str> = acknowledged.iter().map(String::as_str).collect();
        ensure!(left.len() == acknowledged.len(), "a record was acknowledged twice");
        let mut position = Position::default();
        loop {
            let update = store.backend().trail_after(position, 10_000)?;
            if update.records.is_empty() {
                break;
            }
            for record in &update.records {
                left.remove(record.id.as_str());
            }
            position = update.position;
        }
        ensure!(left.is_empty(), "{} acknowledged records are lost", left.len());
        Ok(verification.records)
    }

    fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    fn state(&self) -> PathBuf {
        self.home().join(".local/state/portcullis")
    }
}

impl Drop for LoadedDaemon {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            // It is over either way.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
