//! An install inside reaches the registry that its user chose, and none that the project names. The registries are servers
//! of the test, on the loopback of this machine.

use std::fs;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use portcullis_fence::{AllowedHost, NetworkAccess, RegistryPlaces, installers};

use super::run;
use super::yard::{Who, Yard, text};

/// A registry of pip with one package.
struct ScriptedRegistry {
    server: Child,
    port: u16,
}

impl ScriptedRegistry {
    fn start(folder: &Path) -> Self {
        let script = "
import os, sys, zipfile
place = os.path.join(sys.argv[1], 'simple', 'demo')
os.makedirs(place)
name = 'demo-1.0-py3-none-any.whl'
with zipfile.ZipFile(os.path.join(place, name), 'w') as wheel:
    wheel.writestr('demo.py', 'print(\"installed\")')
    wheel.writestr('demo-1.0.dist-info/METADATA', 'Metadata-Version: 2.1\\nName: demo\\nVersion: 1.0\\n')
    wheel.writestr('demo-1.0.dist-info/WHEEL', 'Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n')
    wheel.writestr('demo-1.0.dist-info/RECORD', '')
with open(os.path.join(place, 'index.html'), 'w') as page:
    page.write(f'<a href=\"{name}\">{name}</a>')
";
        let made = Command::new("python3").args(["-c", script]).arg(folder).status().expect("it runs");
        assert!(made.success());
        let port =
            TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr()).expect("a port").port();
        let server = Command::new("python3")
            .args(["-m", "http.server", "--bind", "127.0.0.1", &port.to_string(), "--directory"])
            .arg(folder)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("a server");
        for _ in 0..500 {
            if std::net::TcpStream::connect(("127.0.0.1", port)).is_ok() {
                break;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Self { server, port }
    }
}

impl Drop for ScriptedRegistry {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// Returns what pip may reach in a project, for a user with these settings; and a registry that nobody chose.
fn access(workspace: &Path, home: &Path) -> (Vec<AllowedHost>, Option<String>) {
    let directories = [workspace.to_path_buf()];
    let places = RegistryPlaces { directories: &directories, home: Some(home) };
    let found = installers(places, |_| false, |_| None);
    let pip = found.into_iter().find(|access| access.program == "pip").expect("pip is known");
    (pip.hosts, pip.stranger.map(|host| host.to_string()))
}

#[test]
fn an_install_reaches_the_registry_of_its_user_and_none_of_the_project() {
    if !Command::new("python3")
        .args(["-m", "pip", "--version"])
        .output()
        .is_ok_and(|done| done.status.success())
    {
        println!("pip is not installed and was not tried");
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let registry = ScriptedRegistry::start(folder.path());
    let url = |host: &str| format!("http://{host}:{}/simple", registry.port);
    let home = folder.path().join("home");
    fs::create_dir_all(home.join(".config/pip")).expect("a directory");
    fs::write(home.join(".config/pip/pip.conf"), format!("[global]\nindex-url = {}\n", url("server.test")))
        .expect("a file");
    let mut yard = Yard::new(Who::Tester);
    fs::write(yard.workspace().join("requirements.txt"), "demo==1.0\n").expect("a file");
    let install = |host: &str| {
        format!(
            "python3 -m pip install -q --disable-pip-version-check --no-cache-dir --retries 0 --timeout 5 \
             --trusted-host {host} --target {host} -i {} -r requirements.txt; python3 {host}/demo.py",
            url(host)
        )
    };
    let (mut hosts, stranger) = access(&yard.workspace(), &home);
    assert_eq!((hosts.len(), stranger), (1, None));
    // The name leads to this machine, which has to be listed too.
    hosts.push(format!("127.0.0.1:{}", registry.port).parse().expect("a host"));
    yard.policy.network = NetworkAccess::Hosts(hosts.clone());
    let installed = run(&yard, &install("server.test"));
    assert!(String::from_utf8_lossy(&installed.stdout).ends_with("installed\n"), "{}", text(&installed));
    // A registry of the project widens nothing, and is told apart so that somebody can be asked.
    let named = format!("--extra-index-url {}\ndemo==1.0\n", url("other.test"));
    fs::write(yard.workspace().join("requirements.txt"), named).expect("a file");
    let (again, stranger) = access(&yard.workspace(), &home);
    assert_eq!(again, hosts.get(..1).expect("one"));
    assert_eq!(stranger, Some(format!("other.test:{}", registry.port)));
    let refused = run(&yard, &install("other.test"));
    assert!(!refused.status.success(), "{}", text(&refused));
    assert!(
        text(&refused).contains("host: \"other.test\", port: None, result: NotListed"),
        "{}",
        text(&refused)
    );
}
