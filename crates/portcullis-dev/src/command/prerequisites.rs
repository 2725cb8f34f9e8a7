//! Programs that commands need beside cargo: looked for, and installed where that can be done.

use std::path::Path;
use std::process::Command;

use anyhow::{Result, bail};
use portcullis_testkit::PostgresServer;

use crate::process;

/// Installs those programs that are missing. Each comes with the name of the Debian package that has it.
pub(super) fn install(programs: &[(&str, &str)]) -> Result<()> {
    let (missing, packages): (Vec<&str>, Vec<&str>) =
        programs.iter().copied().filter(|(name, _)| !is_there(name)).unzip();
    if missing.is_empty() {
        return Ok(());
    }
    let names = missing.join(" ");
    if process::find_program("apt-get").is_none() {
        bail!("the tests need `{names}`: install them and try again");
    }
    let installed = process::run(Command::new("apt-get").arg("update"))
        .and_then(|()| process::run(Command::new("apt-get").args(["install", "-y"]).args(&packages)));
    match installed {
        Ok(()) => Ok(()),
        Err(error) => bail!("the tests need `{names}` and they could not be installed: {error:#}"),
    }
}

/// Looks for a program. Debian keeps the programs of a PostgreSQL server out of `PATH`, and servers out of most people's.
fn is_there(name: &str) -> bool {
    process::find_program(name).is_some()
        || PostgresServer::find_program(name).is_ok()
        || Path::new("/usr/sbin").join(name).is_file()
}
