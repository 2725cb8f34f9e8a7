//! A real PostgreSQL server on loopback, with a data directory of its own, that can be killed and started again.
//!
//! ```text
//! test ── standard input ──► sh ──► postgres       the shell waits for its input to end
//! ```
//!
//! A server that a whole test program shares is never dropped. So a shell stands in between: when the test program ends,
//! however it ends, the shell's input ends, and the shell kills the server and removes its directory.

use std::collections::hash_map::RandomState;
use std::fs::{self, DirBuilder};
use std::hash::{BuildHasher as _, Hasher as _};
use std::io::{self, Write as _};
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// How long a server may take until it answers.
const PATIENCE: Duration = Duration::from_mins(2);

/// Where Debian puts the programs, a directory for each version.
const DEBIAN: &str = "/usr/lib/postgresql";

/// Runs the server until the input ends; only on the word `keep` does the directory stay.
const SUPERVISOR: &str = r#"
directory=$1; shift
trap '' INT TERM HUP
(
    "$@" </dev/null >"$directory/log" 2>&1 &
    echo $! >"$directory/pid"
    wait
    : >"$directory/ended"
) &
read -r word
kill -9 "$(cat "$directory/pid")"
wait
if [ "$word" != keep ]; then
    cd /
    for attempt in 1 2 3 4 5; do rm -rf "$directory" && exit; sleep 1; done
fi
"#;

/// A PostgreSQL server. It ends when it is dropped.
#[derive(Debug)]
pub struct PostgresServer {
    directory: PathBuf,
    account: Option<ServerAccount>,
    port: u16,
    password: String,
    settings: Vec<String>,
    supervisor: Option<Child>,
}

/// Whom the server runs as: PostgreSQL refuses to run as root.
#[derive(Debug, Clone, Copy)]
struct ServerAccount {
    user: u32,
    group: u32,
}

impl PostgresServer {
    /// Starts a server of one's own.
    ///
    /// # Panics
    /// If there is no PostgreSQL, or it does not start.
    pub fn start() -> Self {
        Self::start_with(&[])
    }

    /// Starts a server with settings such as `fsync=off`.
    ///
    /// # Panics
    /// If there is no PostgreSQL, or it does not start.
    #[expect(clippy::panic, reason = "the server serves tests, and a test without it has failed")]
    pub fn start_with(settings: &[&str]) -> Self {
        let made = Self::make(settings).and_then(|mut server| server.launch().map(|()| server));
        made.unwrap_or_else(|error| panic!("no PostgreSQL server for the tests: {error}"))
    }

    /// Returns the server that all tests of a program share.
    ///
    /// # Panics
    /// If there is no PostgreSQL, or it does not start.
    pub fn shared() -> &'static Self {
        static SHARED: OnceLock<PostgresServer> = OnceLock::new();
        SHARED.get_or_init(Self::start)
    }

    /// Finds a program of PostgreSQL in `PATH` or where Debian puts it, the newest version first.
    pub fn find_program(name: &str) -> io::Result<PathBuf> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let mut directories: Vec<PathBuf> = std::env::split_paths(&path).collect();
        let installed = fs::read_dir(DEBIAN).into_iter().flatten().flatten();
        let mut versions: Vec<PathBuf> = installed.map(|entry| entry.path().join("bin")).collect();
        versions.sort();
        directories.extend(versions.into_iter().rev());
        let found = directories.iter().map(|directory| directory.join(name)).find(|file| file.is_file());
        let missing = || {
            io::Error::other(format!("there is no `{name}`: run `cargo dev test`, or install `postgresql`"))
        };
        found.ok_or_else(missing)
    }

    /// Returns the user and the group that servers run as, if those are not our own.
    pub fn account() -> Option<(u32, u32)> {
        let own = fs::metadata("/proc/self").map(|process| process.uid());
        let account = ServerAccount::find().ok().filter(|_| own.is_ok_and(|own| own == 0));
        account.map(|account| (account.user, account.group))
    }

    /// Makes an empty database and returns its URL.
    ///
    /// # Panics
    /// If it cannot be made.
    pub fn database(&self, name: &str) -> String {
        self.run_sql("postgres", &format!("CREATE DATABASE \"{name}\""));
        self.url(name)
    }

    /// Returns the URL of a database over TCP.
    pub fn url(&self, database: &str) -> String {
        format!("postgres://postgres:{}@127.0.0.1:{}/{database}", self.password, self.port)
    }

    /// Returns the URL of a database over the unix socket.
    pub fn socket_url(&self, database: &str) -> String {
        let directory = self.directory.display();
        format!("postgres://postgres:{}@/{database}?host={directory}&port={}", self.password, self.port)
    }

    /// Returns the port.
    pub const fn port(&self) -> u16 {
        self.port
    }

    /// Returns the password of the user `postgres`.
    pub fn password(&self) -> &str {
        &self.password
    }

    /// Runs statements with `psql` and returns what they print.
    ///
    /// # Panics
    /// If one fails.
    #[expect(clippy::panic, reason = "the server serves tests, and a test without it has failed")]
    pub fn run_sql(&self, database: &str, statements: &str) -> String {
        let mut command = Command::new(Self::find_program("psql").unwrap_or_else(|_| PathBuf::from("psql")));
        command.args([
            "-X",
            "-q",
            "-A",
            "-t",
            "-v",
            "ON_ERROR_STOP=1",
            "-c",
            statements,
            &self.url(database),
        ]);
        match command.output() {
            Ok(output) if output.status.success() => {
                String::from_utf8_lossy(&output.stdout).trim().to_owned()
            }
            Ok(output) => panic!("psql failed: {}", String::from_utf8_lossy(&output.stderr)),
            Err(error) => panic!("cannot start psql: {error}"),
        }
    }

    /// Kills the server as a power cut would, and returns when it is dead. What it wrote stays.
    pub fn kill(&mut self) {
        self.end(b"keep\n");
    }

    /// Starts a server that was killed again, on the same port.
    ///
    /// # Panics
    /// If it does not start.
    #[expect(clippy::panic, reason = "the server serves tests, and a test without it has failed")]
    pub fn restart(&mut self) {
        self.end(b"keep\n");
        self.launch().unwrap_or_else(|error| panic!("the PostgreSQL server does not start again: {error}"));
    }

    fn make(settings: &[&str]) -> io::Result<Self> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let directory =
            std::env::temp_dir().join(format!("portcullis-postgres-{}-{number}", std::process::id()));
        // Whoever reaches the socket is let in, so only we and the server reach it.
        DirBuilder::new().mode(0o700).create(&directory)?;
        let account = ServerAccount::unprivileged(&directory)?;
        // Nobody else on the machine is to know it: whoever is a superuser there can run programs.
        let password = format!("{:016x}", RandomState::new().build_hasher().finish());
        let server = Self {
            port: free_port()?,
            account,
            password,
            settings: settings.iter().map(|setting| (*setting).to_owned()).collect(),
            directory,
            supervisor: None,
        };
        server.initialise()?;
        Ok(server)
    }

    fn initialise(&self) -> io::Result<()> {
        let password_file = self.directory.join("password");
        fs::write(&password_file, &self.password)?;
        if let Some(account) = self.account {
            chown(&password_file, Some(account.user), Some(account.group))?;
        }
        let mut command = self.command(&Self::find_program("initdb")?);
        command.arg("--pgdata").arg(self.data()).arg("--pwfile").arg(&password_file);
        // Only the files that are made now are not flushed; the server flushes what it is told.
        command.args([
            "--username=postgres",
            "--auth-host=scram-sha-256",
            "--auth-local=trust",
            "--encoding=UTF8",
            "--locale=C",
            "--no-sync",
        ]);
        let output = command.output()?;
        if output.status.success() {
            return Ok(());
        }
        Err(io::Error::other(format!("initdb failed: {}", String::from_utf8_lossy(&output.stderr))))
    }

    /// Starts the server and waits until it answers. What is left of one that was killed may stand in the way for a while.
    fn launch(&mut self) -> io::Result<()> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            self.spawn()?;
            while !self.has_given_up() {
                if self.is_ready()? {
                    return Ok(());
                }
                if Instant::now() > deadline {
                    return Err(self.failure());
                }
                thread::sleep(Duration::from_millis(20));
            }
            self.end(b"keep\n");
            if Instant::now() > deadline {
                return Err(self.failure());
            }
            thread::sleep(Duration::from_millis(100));
        }
    }

    fn spawn(&mut self) -> io::Result<()> {
        // What these say must be about this start.
        for name in ["log", "ended", "pid"] {
            let _ = fs::remove_file(self.directory.join(name));
        }
        let mut command = self.command(Path::new("/bin/sh"));
        command.args(["-c", SUPERVISOR, "sh"]).arg(&self.directory);
        command.arg(Self::find_program("postgres")?).arg("-D").arg(self.data());
        command.arg("-p").arg(self.port.to_string()).arg("-k").arg(&self.directory);
        command.args(["-h", "127.0.0.1", "-c", "max_connections=60"]);
        for setting in &self.settings {
            command.args(["-c", setting]);
        }
        self.supervisor =
            Some(command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?);
        Ok(())
    }

    fn is_ready(&self) -> io::Result<bool> {
        let state = fs::read_to_string(self.data().join("postmaster.pid")).unwrap_or_default();
        // A file that a killed server left says `ready` too, so the log must say it as well.
        Ok(state.lines().any(|line| line.trim() == "ready")
            && self.log()?.contains("ready to accept connections"))
    }

    fn has_given_up(&self) -> bool {
        self.directory.join("ended").exists()
    }

    fn log(&self) -> io::Result<String> {
        match fs::read(self.directory.join("log")) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(String::new()),
            other => other.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()),
        }
    }

    fn failure(&self) -> io::Error {
        io::Error::other(format!("it does not start: {}", self.log().unwrap_or_default()))
    }

    /// Tells the shell to kill the server, and waits for it.
    fn end(&mut self, word: &[u8]) {
        let Some(mut supervisor) = self.supervisor.take() else { return };
        if let Some(mut input) = supervisor.stdin.take() {
            let _ = input.write_all(word);
        }
        let _ = supervisor.wait();
    }

    fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command.current_dir(&self.directory).env_remove("LC_ALL").env("LANG", "C");
        if let Some(account) = self.account {
            command.uid(account.user).gid(account.group);
        }
        command
    }

    fn data(&self) -> PathBuf {
        self.directory.join("data")
    }
}

impl Drop for PostgresServer {
    fn drop(&mut self) {
        self.end(b"");
        let _ = fs::remove_dir_all(&self.directory);
    }
}

impl ServerAccount {
    /// Finds somebody who is not root, if we are, and gives them the directory.
    fn unprivileged(directory: &Path) -> io::Result<Option<Self>> {
        if fs::metadata(directory)?.uid() != 0 {
            return Ok(None);
        }
        let account = Self::find()?;
        chown(directory, Some(account.user), Some(account.group))?;
        Ok(Some(account))
    }

    fn find() -> io::Result<Self> {
        let accounts = fs::read_to_string("/etc/passwd")?;
        let found = ["postgres", "nobody"].iter().find_map(|name| Self::named(&accounts, name));
        found.ok_or_else(|| io::Error::other("there is no user `postgres` or `nobody`"))
    }

    fn named(accounts: &str, name: &str) -> Option<Self> {
        let line = accounts.lines().find(|line| line.split(':').next() == Some(name))?;
        let mut fields = line.split(':').skip(2);
        Some(Self { user: fields.next()?.parse().ok()?, group: fields.next()?.parse().ok()? })
    }
}

fn free_port() -> io::Result<u16> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port())
}
