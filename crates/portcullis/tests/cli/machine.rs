//! Services of a machine by which an agent could have something started that does not descend from it: a server for ssh,
//! which is the real one, and stand-ins for what only root or the system can run (`atd`, the service manager of a user).

use std::fs;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::sandbox::{Sandbox, stand_ins};

/// How long a service may take to begin.
const PATIENCE: Duration = Duration::from_secs(20);

/// Fails unless a program is installed: what cannot be tried is not proven.
pub(crate) fn require(program: &str) {
    assert!(find(program).is_some(), "`{program}` is needed: `cargo dev test` installs it");
}

fn find(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    // Servers stand where the path of an ordinary user does not lead.
    let places = std::env::split_paths(&path).chain(["/usr/sbin".into(), "/usr/local/sbin".into()]);
    places.map(|place| place.join(program)).find(|file| file.is_file())
}

/// A service that ends with the test.
pub(crate) struct Service {
    child: Child,
}

impl Drop for Service {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// Starts something that runs the jobs which somebody puts into a directory, under the name of a program that does so. As
/// the real one it was there before the agent, and no agent stands above it.
pub(crate) fn runs_jobs(sandbox: &Sandbox, name: &str) -> (Service, PathBuf) {
    let jobs = sandbox.home.join(format!("jobs-of-{name}"));
    fs::create_dir_all(&jobs).unwrap();
    require("perl");
    let program = "while (select(undef, undef, undef, 0.05) >= 0) { for my $job (glob \"$ARGV[0]/*.job\") { rename $job, \"$job.taken\"; system qw(setsid sh), \"$job.taken\" } }";
    let mut command = Command::new("perl");
    command.arg0(name).args(["-e", program]).arg(&jobs);
    command.env_clear().envs(stand_ins()).env("HOME", &sandbox.home);
    command.env("PATH", std::env::var_os("PATH").unwrap_or_default()).env("TERM", "xterm");
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    (Service { child: command.spawn().unwrap() }, jobs)
}

/// A server for ssh that lets this user in with a key of theirs.
pub(crate) struct SshServer {
    _service: Service,
    /// What connects to it, up to the command that is run there in a terminal.
    pub(crate) client: String,
}

impl SshServer {
    pub(crate) fn start(sandbox: &Sandbox) -> Self {
        for program in ["ssh", "sshd", "ssh-keygen"] {
            require(program);
        }
        let folder = sandbox.home.join("ssh");
        fs::create_dir_all(&folder).unwrap();
        let [server_key, user_key] = ["server", "user"].map(|name| make_key(&folder.join(name)));
        fs::copy(user_key.with_extension("pub"), folder.join("authorized")).unwrap();
        // Where root runs the server it wants an empty directory, which the package's own service makes.
        fs::create_dir_all("/run/sshd").ok();
        let port = free_port();
        let settings = format!(
            "Port {port}\nListenAddress 127.0.0.1\nHostKey {}\nAuthorizedKeysFile {}\nPidFile none\nUsePAM no\n\
             StrictModes no\nPasswordAuthentication no\nPermitRootLogin yes\n",
            server_key.display(),
            folder.join("authorized").display()
        );
        let settings = write(&folder.join("sshd_config"), &settings);
        let mut command = Command::new(find("sshd").unwrap());
        command.args(["-D", "-e", "-f"]).arg(&settings);
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(fs::File::create(folder.join("log")).unwrap());
        let service = Service { child: command.spawn().unwrap() };
        wait_for(port, &folder.join("log"));
        let client = format!(
            "ssh -tt -F none -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR \
             -o IdentitiesOnly=yes -i {} -p {port} 127.0.0.1",
            user_key.display()
        );
        Self { _service: service, client }
    }
}

fn make_key(file: &Path) -> PathBuf {
    let made = Command::new("ssh-keygen").args(["-q", "-t", "ed25519", "-N", "", "-f"]).arg(file).status();
    assert!(made.unwrap().success());
    file.to_path_buf()
}

fn free_port() -> u16 {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap().port()
}

fn wait_for(port: u16, log: &Path) {
    let begun = Instant::now();
    while TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err() {
        let said = fs::read_to_string(log).unwrap_or_default();
        assert!(begun.elapsed() < PATIENCE, "the server for ssh does not begin: {said}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn write(path: &Path, text: &str) -> PathBuf {
    fs::write(path, text).unwrap();
    path.to_path_buf()
}
