//! `portcullis serve` and `portcullis tokens`: starting, being found, signing in, stopping.

use std::fs;
use std::io::Read as _;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pretty_assertions::assert_eq;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use serde_json::{Value, json};

use super::daemon::{Daemon, serve, signal};
use super::sandbox::{Sandbox, ran};

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().permissions().mode() & 0o7777
}

fn running(sandbox: &Sandbox) -> String {
    fs::read_to_string(sandbox.home.join(".local/state/portcullis/daemon/daemon.json")).unwrap()
}

/// A call that looks at a directory.
fn harmless(sandbox: &Sandbox) -> Value {
    json!({"tool": "Bash", "input": {"command": "ls"}, "cwd": sandbox.project, "session": "s"})
}

#[test]
fn it_says_where_it_listens_and_others_find_it() {
    let sandbox = Sandbox::new();
    let daemon = Daemon::start(&sandbox);
    assert_eq!(daemon.get("/healthz").status, 200);
    let found: Value = serde_json::from_str(&running(&sandbox)).unwrap();
    assert_eq!(found["pid"], daemon.pid());
    assert_eq!(found["address"], daemon.address.as_str());
    assert_eq!(found["url"], format!("http://{}", daemon.address));
    assert_eq!(found["socket"], daemon.socket.to_str().unwrap());
    assert_eq!(daemon.greeting["link"], Value::Null, "what is no terminal may be a journal");
}

#[test]
fn what_it_makes_is_private() {
    let sandbox = Sandbox::new();
    let daemon = Daemon::start(&sandbox);
    let root = daemon.state().join("daemon");
    assert_eq!(mode(&root), 0o700);
    for name in ["socket", "person.token", "hook.token", "daemon.json"] {
        assert_eq!(mode(&root.join(name)), 0o600, "{name}");
    }
}

#[test]
fn plain_lines_say_where_it_listens() {
    let sandbox = Sandbox::new();
    let mut child = sandbox.command(&["serve", "--listen", "127.0.0.1:0"]).spawn().unwrap();
    let mut stdout = child.stdout.take().unwrap();
    let mut text = String::new();
    while text.lines().count() < 2 || !text.ends_with('\n') {
        let mut bytes = [0; 512];
        let read = stdout.read(&mut bytes).unwrap();
        assert!(read > 0, "{text}");
        text.push_str(std::str::from_utf8(&bytes[..read]).unwrap());
    }
    signal("INT", child.id());
    assert_eq!(child.wait().unwrap().code(), Some(0));
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].starts_with("listening at http://127.0.0.1:"), "{text}");
    assert!(lines[1].starts_with("listening at /") && lines[1].ends_with("/daemon/socket"), "{text}");
    assert_eq!(lines.len(), 2, "the link is for a terminal: {text}");
}

#[test]
fn a_second_daemon_is_told_about_the_first() {
    let sandbox = Sandbox::new();
    let daemon = Daemon::start(&sandbox);
    let refused = ran(&serve(&sandbox, &[]).output().unwrap());
    assert_eq!(refused.code, Some(64), "{refused:?}");
    let expected = format!("process {} listens at http://{}", daemon.pid(), daemon.address);
    assert!(refused.stderr.contains(&expected), "{}", refused.stderr);
    assert_eq!(daemon.get("/healthz").status, 200);
}

#[test]
fn what_a_killed_daemon_left_is_no_obstacle() {
    let sandbox = Sandbox::new();
    let first = Daemon::start(&sandbox);
    let token = first.person_token();
    first.kill();
    assert!(!running(&sandbox).is_empty());
    let second = Daemon::start(&sandbox);
    assert!(second.socket.exists());
    assert_eq!(second.ask("GET", "/healthz").locally().send().status, 200);
    assert_eq!(second.person_token(), token, "tokens outlive a daemon");
}

#[test]
fn it_stops_when_it_is_asked_to() {
    let sandbox = Sandbox::new();
    let daemon = Daemon::start(&sandbox);
    let socket = daemon.socket.clone();
    let idle = daemon.raw(b"");
    let (code, stderr) = daemon.stop();
    assert_eq!((code, stderr.as_str()), (Some(0), ""));
    assert!(!socket.exists());
    assert_eq!(running(&sandbox), "");
    drop(idle);
}

#[test]
fn those_who_watch_are_told_that_it_ends() {
    let sandbox = Sandbox::new();
    let daemon = Daemon::start(&sandbox);
    let (host, token) = (&daemon.address, daemon.person_token());
    let request = format!("GET /v1/events HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer {token}\r\n\r\n");
    let mut watching = daemon.raw(request.as_bytes());
    let mut heard = String::new();
    while !heard.contains("\r\n\r\n") {
        let mut bytes = [0; 1024];
        let read = watching.read(&mut bytes).unwrap();
        assert!(read > 0, "{heard}");
        heard.push_str(std::str::from_utf8(&bytes[..read]).unwrap());
    }
    assert_eq!(daemon.stop().0, Some(0));
    watching.read_to_string(&mut heard).unwrap();
    assert!(heard.ends_with("0\r\n\r\n"), "the answer is complete: {heard}");
}

#[test]
fn it_can_listen_at_its_socket_alone() {
    let sandbox = Sandbox::new();
    let daemon = Daemon::start_with(&sandbox, &["--no-tcp"]);
    assert_eq!(daemon.address, "");
    assert_eq!(daemon.greeting["link"], Value::Null);
    assert_eq!(daemon.ask("GET", "/healthz").locally().send().status, 200);
    let link = daemon.ask("POST", "/v1/login-links").locally().token(&daemon.person_token()).send();
    assert_eq!(link.status, 400);
}

#[test]
fn a_socket_is_made_only_where_it_can_be_ours() {
    let sandbox = Sandbox::new();
    let refused = |path: &Path, why: &str| {
        let refused = ran(&serve(&sandbox, &["--socket", path.to_str().unwrap()]).output().unwrap());
        assert_eq!(refused.code, Some(64), "{refused:?}");
        assert!(refused.stderr.contains(why), "{}", refused.stderr);
    };
    refused(&sandbox.home.join("a".repeat(120)), "too long");
    let file = sandbox.write_home("file", "not a socket");
    refused(&file, "is no socket");
    assert_eq!(fs::read_to_string(&file).unwrap(), "not a socket");
    let taken = sandbox.home.join("taken");
    let _listener = UnixListener::bind(&taken).unwrap();
    refused(&taken, "somebody listens");
    let open = sandbox.home.join("open");
    fs::create_dir(&open).unwrap();
    fs::set_permissions(&open, fs::Permissions::from_mode(0o777)).unwrap();
    refused(&open.join("socket"), "others may write");
    let link = sandbox.home.join("link");
    std::os::unix::fs::symlink(&file, &link).unwrap();
    refused(&link, "is no socket");
}

#[test]
fn a_socket_that_nobody_listens_at_is_replaced() {
    let sandbox = Sandbox::new();
    let path = sandbox.home.join("left");
    drop(UnixListener::bind(&path).unwrap());
    let daemon = Daemon::start_with(&sandbox, &["--socket", path.to_str().unwrap()]);
    assert_eq!(daemon.socket, path);
    assert_eq!(mode(&path), 0o600);
    assert!(UnixStream::connect(&path).is_ok());
    let link = sandbox.at_terminal(&["tokens", "link"], "");
    assert_eq!(link.code, Some(0), "other commands find it there: {link:?}");
}

#[test]
fn outside_of_loopback_it_listens_only_encrypted_or_if_that_is_wanted() {
    let sandbox = Sandbox::new();
    for address in ["0.0.0.0:0", "[::]:0"] {
        let refused = ran(&serve(&sandbox, &["--listen", address]).output().unwrap());
        assert_eq!(refused.code, Some(64), "{refused:?}");
        assert!(refused.stderr.contains("nothing is encrypted"), "{}", refused.stderr);
        assert!(refused.stderr.contains("--insecure-plain-http"), "{}", refused.stderr);
    }
    let mut daemon = Daemon::start_with(&sandbox, &["--listen", "0.0.0.0:0", "--insecure-plain-http"]);
    daemon.address = daemon.address.replace("0.0.0.0", "127.0.0.1");
    assert_eq!(daemon.ask("GET", "/v1/decisions").send().status, 401, "and still not without a token");
}

fn certificate(name: &str) -> PathBuf {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("../portcullis-classifier/tests");
    tests.join("transport/certificates").join(name)
}

/// Puts the key of the certificate into the home, for those whom the mode lets in.
fn key_with_mode(sandbox: &Sandbox, mode: u32) -> PathBuf {
    let text = std::fs::read_to_string(certificate("server.key.pem")).unwrap();
    let key = sandbox.write_home("server.key.pem", &text);
    std::fs::set_permissions(&key, std::os::unix::fs::PermissionsExt::from_mode(mode)).unwrap();
    key
}

#[test]
fn a_key_that_others_can_read_is_not_used() {
    let sandbox = Sandbox::new();
    let chain = certificate("server.pem");
    for mode in [0o644, 0o640, 0o604, 0o660, 0o666, 0o777] {
        let key = key_with_mode(&sandbox, mode);
        let flags = ["--tls-cert", chain.to_str().unwrap(), "--tls-key", key.to_str().unwrap()];
        let refused = ran(&serve(&sandbox, &flags).output().unwrap());
        assert_eq!(refused.code, Some(64), "{mode:o}: {refused:?}");
        assert!(refused.stderr.contains("others can use the key"), "{}", refused.stderr);
        assert!(refused.stderr.contains("chmod 600"), "{}", refused.stderr);
    }
}

#[test]
fn it_encrypts_if_it_has_a_certificate() {
    let sandbox = Sandbox::new();
    let (chain, key) = (certificate("server.pem"), key_with_mode(&sandbox, 0o600));
    let flags = [
        "--tls-cert",
        chain.to_str().unwrap(),
        "--tls-key",
        key.to_str().unwrap(),
        "--allow-host",
        "gate.lan",
    ];
    let daemon = Daemon::start_with(&sandbox, &flags);
    assert_eq!(daemon.greeting["url"], format!("https://{}", daemon.address));

    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(certificate("authority.pem")).unwrap()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let config = Arc::new(config.with_root_certificates(roots).with_no_client_auth());
    let connect = || {
        let connection = ClientConnection::new(Arc::clone(&config), "localhost".try_into().unwrap()).unwrap();
        StreamOwned::new(connection, daemon.raw(b""))
    };
    let answer = daemon.ask("GET", "/v1/decisions").token(&daemon.person_token()).over(connect());
    assert_eq!(answer.status, 200, "{answer:?}");
    assert_eq!(answer.header("strict-transport-security"), None, "other servers share the name of loopback");
    let named = daemon.ask("GET", "/healthz").without("host").header("host", "gate.lan").over(connect());
    assert_eq!(named.header("strict-transport-security"), Some("max-age=31536000"), "{named:?}");
    let port = daemon.address.rsplit_once(':').unwrap().1;
    let login = daemon.ask("POST", "/login").header("origin", &format!("https://{}", daemon.address));
    let login = login.form(&format!("token={}", daemon.person_token())).over(connect());
    let cookie = login.header("set-cookie").unwrap();
    assert!(cookie.starts_with("__Host-portcullis=") && cookie.contains("; Secure"), "{cookie}");
    let plain = daemon.ask("POST", "/login").header("origin", &format!("http://127.0.0.1:{port}"));
    assert_eq!(plain.form("token=x").over(connect()).status, 403, "a page that is not encrypted is not ours");
    // Whoever speaks plain text hears nothing of use.
    let mut plain = daemon.raw(b"GET /healthz HTTP/1.1\r\n\r\n");
    let mut heard = Vec::new();
    let _ = plain.read_to_end(&mut heard);
    assert!(!String::from_utf8_lossy(&heard).contains("HTTP"), "{heard:?}");
}

#[test]
fn files_that_cannot_encrypt_are_named() {
    let sandbox = Sandbox::new();
    let (chain, key, other) =
        (certificate("server.pem"), key_with_mode(&sandbox, 0o600), certificate("stranger.pem"));
    let nothing = sandbox.write_home("nothing.pem", "");
    std::fs::set_permissions(&nothing, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    for (chain, key, why) in [
        (&nothing, &key, "has no certificate that can be used"),
        (&chain, &nothing, "has no private key that can be used"),
        (&other, &key, "cannot be used"),
        (&sandbox.home.join("missing.pem"), &key, "missing.pem"),
    ] {
        let flags = ["--tls-cert", chain.to_str().unwrap(), "--tls-key", key.to_str().unwrap()];
        let refused = ran(&serve(&sandbox, &flags).output().unwrap());
        assert_eq!(refused.code, Some(64), "{refused:?}");
        assert!(refused.stderr.contains(why), "{}", refused.stderr);
    }
}

#[test]
fn a_broken_settings_flag_is_said_at_the_start() {
    let sandbox = Sandbox::new();
    let refused = ran(&serve(&sandbox, &["--settings", "{"]).output().unwrap());
    assert_eq!(refused.code, Some(64), "{refused:?}");
    assert!(refused.stderr.contains("--settings"), "{}", refused.stderr);
}

#[test]
fn tokens_are_made_listed_and_taken_back_while_it_runs() {
    let sandbox = Sandbox::new();
    let daemon = Daemon::start(&sandbox);
    let made = sandbox.at_terminal(&["tokens", "create", "grafana", "--role", "read", "--days", "30"], "");
    assert_eq!(made.code, Some(0), "{made:?}");
    let token = made.stdout.lines().find(|line| line.len() == 43).unwrap().to_owned();
    let reads = || daemon.ask("GET", "/v1/decisions").token(&token).send().status;
    assert_eq!(reads(), 200);
    assert_eq!(daemon.ask("POST", "/v1/decide").token(&token).json(&harmless(&sandbox)).send().status, 403);
    let listed: Value = serde_json::from_str(&sandbox.run(&["tokens", "list", "--json"]).stdout).unwrap();
    assert_eq!((&listed[0]["name"], &listed[0]["role"]), (&json!("grafana"), &json!("read")));
    assert_eq!(listed[0].get("hash"), None);
    assert!(sandbox.run(&["tokens", "list"]).stdout.contains("30 days left"));
    assert_eq!(sandbox.at_terminal(&["tokens", "revoke", "grafana"], "").code, Some(0));
    assert_eq!(reads(), 401);
    assert_eq!(sandbox.at_terminal(&["tokens", "revoke", "grafana"], "").code, Some(64));
    let old = daemon.person_token();
    assert_eq!(sandbox.at_terminal(&["tokens", "renew"], "").code, Some(0));
    assert_ne!(daemon.person_token(), old);
    assert_eq!(daemon.ask("GET", "/v1/decisions").token(&old).send().status, 401);
    assert_eq!(daemon.get("/v1/decisions").status, 200);
}

#[test]
fn without_a_terminal_no_token_is_made_and_no_link_printed() {
    let sandbox = Sandbox::new();
    let _daemon = Daemon::start(&sandbox);
    for arguments in [
        &["tokens", "create", "x", "--role", "person"][..],
        &["tokens", "renew"],
        &["tokens", "revoke", "x"],
        &["tokens", "link"],
    ] {
        let refused = sandbox.run(arguments);
        assert_eq!(refused.code, Some(64), "{refused:?}");
        assert!(refused.stderr.contains("run it yourself in a terminal"), "{}", refused.stderr);
    }
    assert_eq!(sandbox.run(&["tokens", "list"]).stdout, "no tokens were made for others\n");
}

#[test]
fn a_link_signs_in_once() {
    let sandbox = Sandbox::new();
    let daemon = Daemon::start(&sandbox);
    let printed = sandbox.at_terminal(&["tokens", "link"], "");
    let url = printed.stdout.lines().find(|line| line.starts_with("http://")).unwrap();
    let path = url.strip_prefix(&format!("http://{}", daemon.address)).unwrap();
    // Looking at a link uses nothing up.
    for _ in 0..2 {
        let page = daemon.ask("GET", path).send();
        assert_eq!(page.status, 200);
        assert!(page.text().contains("name=\"code\""), "{}", page.text());
    }
    let code = path.split_once("code=").unwrap().1;
    let sign_in = || daemon.ask("POST", "/login").form(&format!("code={code}")).send();
    let first = sign_in();
    assert_eq!(first.status, 303);
    assert!(first.header("location").unwrap().starts_with("/#csrf="), "{first:?}");
    let cookie = first.header("set-cookie").unwrap();
    for part in ["HttpOnly", "SameSite=Strict", "Path=/"] {
        assert!(cookie.contains(part), "{cookie}");
    }
    let again = sign_in();
    assert_eq!((again.status, again.header("set-cookie")), (401, None));
    let cookie = cookie.split(';').next().unwrap();
    assert_eq!(daemon.ask("GET", "/v1/decisions").header("cookie", cookie).send().status, 200);
}

#[test]
fn a_token_that_is_taken_back_signs_out_whoever_used_it() {
    let sandbox = Sandbox::new();
    let daemon = Daemon::start(&sandbox);
    let made = sandbox.at_terminal(&["tokens", "create", "phone", "--role", "person"], "");
    let token = made.stdout.lines().find(|line| line.len() == 43).unwrap();
    let signed_in = daemon.ask("POST", "/login").form(&format!("token={token}")).send();
    let phone = signed_in.header("set-cookie").unwrap().split(';').next().unwrap().to_owned();
    let by_link = daemon.sign_in();
    let reads = |cookie: &str| daemon.ask("GET", "/v1/decisions").header("cookie", cookie).send().status;
    assert_eq!((reads(&phone), reads(&by_link)), (200, 200));
    assert_eq!(sandbox.at_terminal(&["tokens", "revoke", "phone"], "").code, Some(0));
    assert_eq!((reads(&phone), reads(&by_link)), (401, 200));
    assert_eq!(sandbox.at_terminal(&["tokens", "renew"], "").code, Some(0));
    assert_eq!(reads(&by_link), 401);
}

#[test]
fn without_a_daemon_there_is_no_link() {
    let sandbox = Sandbox::new();
    let refused = sandbox.at_terminal(&["tokens", "link"], "");
    assert_eq!(refused.code, Some(64));
    assert!(refused.stdout.contains("no daemon runs"), "{}", refused.stdout);
}
