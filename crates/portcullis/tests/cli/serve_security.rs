//! Attacks on the daemon over real sockets: by other programs, other users' pages, broken and slow clients.

use std::fs;
use std::io::{Read as _, Write as _};
use std::path::Path;

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::daemon::{Answer, Asking, Daemon, serve};
use super::sandbox::Sandbox;

/// Who a route is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Open {
    /// Whoever asks.
    Anyone,
    Read,
    /// Whoever looks, and whoever asks and waits.
    ReadOrDecide,
    Decide,
    Person,
}

/// Every route. One that is missing here fails a test.
const ROUTES: &[(&str, &str, Open)] = &[
    ("GET", "/healthz", Open::Anyone),
    ("GET", "/login", Open::Anyone),
    ("POST", "/login", Open::Anyone),
    ("POST", "/logout", Open::Anyone),
    ("GET", "/assets/{name}", Open::Anyone),
    ("GET", "/favicon.ico", Open::Anyone),
    ("GET", "/metrics", Open::Read),
    ("GET", "/v1/openapi.json", Open::Anyone),
    ("GET", "/v1/decisions", Open::Read),
    ("GET", "/v1/decisions/{id}", Open::Read),
    ("GET", "/v1/decisions/{id}/today", Open::Read),
    ("GET", "/v1/sessions", Open::Read),
    ("GET", "/v1/sessions/{id}", Open::Read),
    ("GET", "/v1/approvals", Open::ReadOrDecide),
    ("GET", "/v1/approvals/{id}", Open::ReadOrDecide),
    ("GET", "/v1/grants", Open::Read),
    ("GET", "/v1/rules", Open::Read),
    ("GET", "/v1/stats", Open::Read),
    ("GET", "/v1/events", Open::Read),
    ("GET", "/v1/policy", Open::Read),
    ("POST", "/v1/decide", Open::Decide),
    ("POST", "/v1/approvals", Open::Decide),
    ("POST", "/v1/approvals/{id}/withdraw", Open::Decide),
    ("POST", "/v1/rules/test", Open::Read),
    ("POST", "/v1/approvals/{id}/answer", Open::Person),
    ("DELETE", "/v1/grants/{id}", Open::Person),
    ("POST", "/v1/rules", Open::Person),
    ("DELETE", "/v1/rules", Open::Person),
    ("POST", "/v1/login-links", Open::Person),
    ("DELETE", "/passkeys", Open::Person),
    ("POST", "/passkeys/challenge", Open::Anyone),
    ("POST", "/passkeys/register", Open::Person),
    ("POST", "/passkeys/use", Open::Anyone),
    ("GET", "/presence", Open::Read),
    ("POST", "/presence", Open::Read),
    ("GET", "/", Open::Read),
    ("GET", "/decisions", Open::Read),
    ("GET", "/decisions/{id}", Open::Read),
    ("GET", "/sessions", Open::Read),
    ("GET", "/sessions/{id}", Open::Read),
    ("GET", "/approvals", Open::Read),
    ("GET", "/approvals/{id}", Open::Read),
    ("GET", "/stats", Open::Read),
    ("GET", "/rules", Open::Read),
    ("GET", "/findings/{code}", Open::Read),
    ("POST", "/rules", Open::Person),
    ("POST", "/grants/{id}/revoke", Open::Person),
    ("POST", "/approvals/{id}/answer", Open::Person),
    ("GET", "/runs/{id}", Open::Read),
    ("POST", "/runs/{id}/answer", Open::Person),
];

/// The route whose refusals are the agent's own no, with the status of an answer.
const HOOK: &str = "/v1/hook/{host}";

fn started() -> (Sandbox, Daemon) {
    let sandbox = Sandbox::new();
    let daemon = Daemon::start(&sandbox);
    (sandbox, daemon)
}

/// Starts a daemon with a fault of the debug build.
fn faulty(sandbox: &Sandbox, fault: &str) -> Daemon {
    let mut command = serve(sandbox, &[]);
    command.env("PORTCULLIS_FAULT", fault);
    Daemon::run(sandbox, command)
}

fn path(route: &str) -> String {
    route
        .replace("{id}", "none")
        .replace("{name}", "none")
        .replace("{code}", "PC001")
        .replace("{host}", "claude")
}

fn call() -> Value {
    json!({"tool": "Bash", "input": {"command": "ls"}, "cwd": "/", "session": "s"})
}

/// What Claude Code would be told.
fn decision(answer: &Answer) -> String {
    let value = answer.as_json();
    value["hookSpecificOutput"]["permissionDecision"].as_str().unwrap_or_default().to_owned()
}

/// Says whether an answer tells nothing to whoever has not said who they are.
fn is_refused(answer: &Answer) -> bool {
    answer.status == 401 || answer.status == 303 && answer.header("location") == Some("/login")
}

/// Returns the paths that the sources of the daemon give to a router.
fn served() -> Vec<String> {
    fn collect(directory: &Path, found: &mut Vec<String>) {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                collect(&path, found);
                continue;
            }
            let text = fs::read_to_string(&path).unwrap_or_default();
            let routes = text.split(".route(").skip(1).filter_map(|rest| rest.trim_start().strip_prefix('"'));
            found.extend(routes.map(|rest| rest.split('"').next().unwrap().to_owned()));
        }
    }
    let mut found = Vec::new();
    collect(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../portcullis-daemon/src"), &mut found);
    found
}

/// Returns what of the list is served and can be answered at once.
fn routes() -> Vec<(&'static str, &'static str, Open)> {
    let served = served();
    let is_meant = |route: &str| route != "/v1/events" && served.iter().any(|known| known == route);
    ROUTES.iter().copied().filter(|(_, route, _)| is_meant(route)).collect()
}

/// Begins a request to a route, with a body of the kind it takes.
fn ask<'a>(daemon: &'a Daemon, method: &str, route: &str) -> Asking<'a> {
    let asking = daemon.ask(method, &path(route));
    match (method, route.starts_with("/v1/")) {
        ("GET", _) => asking,
        (_, true) => asking.json(&json!({})),
        (_, false) => asking.form("decision=deny&scope=once"),
    }
}

#[test]
fn every_route_is_on_the_list() {
    let served = served();
    assert!(served.len() > 20, "{served:?}");
    for route in &served {
        let is_listed = route == HOOK || ROUTES.iter().any(|(_, known, _)| known == route);
        assert!(is_listed, "the route {route} is not on the list of this test");
    }
}

#[test]
fn without_a_token_nothing_but_the_short_list_is_told() {
    let (_sandbox, daemon) = started();
    for (method, route, open) in routes() {
        let answer = ask(&daemon, method, route).send();
        if open == Open::Anyone {
            assert!(![403, 500].contains(&answer.status), "{method} {route}: {answer:?}");
        } else {
            assert!(is_refused(&answer), "{method} {route}: {answer:?}");
        }
    }
}

#[test]
fn a_wrong_token_is_refused_everywhere() {
    let (_sandbox, daemon) = started();
    let person = daemon.person_token();
    let wrong = [
        "Bearer x".to_owned(),
        format!("Bearer {person}x"),
        format!("Basic {person}"),
        person.clone(),
        "Bearer ".to_owned(),
        format!("Bearer {}", person.to_lowercase()),
    ];
    let (first, rest) = wrong.split_first().unwrap();
    let refused = |method: &str, route: &str, authorization: &str| {
        let answer = daemon.ask(method, &path(route)).locally().header("authorization", authorization).send();
        assert_eq!(answer.status, 401, "{method} {route}: {answer:?}");
        assert_eq!(answer.error_code(), "unauthenticated");
    };
    for (method, route, _) in ROUTES.iter().copied() {
        refused(method, route, first);
    }
    for authorization in rest {
        refused("GET", "/v1/decisions", authorization);
    }
    let network = daemon.ask("GET", "/v1/decisions").token("wrong").send();
    assert_eq!(network.status, 401);
    let two = daemon.ask("GET", "/v1/decisions").token(&person).token(&person).send();
    assert_eq!(two.status, 401, "two tokens are none");
}

#[test]
fn many_wrong_tokens_do_not_lock_anybody_out() {
    let (_sandbox, daemon) = started();
    for _ in 0..13 {
        assert_eq!(daemon.ask("GET", "/v1/decisions").token("wrong").send().status, 401);
    }
    assert_eq!(daemon.get("/v1/decisions").status, 200);
}

#[test]
fn a_role_may_do_its_own_and_no_more() {
    let (sandbox, daemon) = started();
    let token = |role: &str| {
        let made = sandbox.at_terminal(&["tokens", "create", role, "--role", role], "");
        made.stdout.lines().find(|line| line.len() == 43).unwrap_or_else(|| panic!("{made:?}")).to_owned()
    };
    let tokens =
        [(Open::Read, token("read")), (Open::Decide, token("decide")), (Open::Person, daemon.person_token())];
    for (role, token) in &tokens {
        for (method, route, open) in routes().into_iter().filter(|(_, route, _)| *route != "/login") {
            let asking = ask(&daemon, method, route).token(token);
            // A person is there; whoever has nothing but their token is not.
            let answer = if *role == Open::Person { asking.locally().send() } else { asking.send() };
            let may = match open {
                Open::Anyone | Open::ReadOrDecide => true,
                own => *role == own || *role == Open::Person,
            };
            // What a role may do fails for other reasons: there is no such thing, the body is missing.
            assert_eq!([401, 403].contains(&answer.status), !may, "{role:?} {method} {route}: {answer:?}");
        }
    }
}

#[test]
fn a_token_counts_only_in_its_header() {
    let (_sandbox, daemon) = started();
    let token = daemon.person_token();
    for path in [
        format!("/v1/decisions?token={token}"),
        format!("/v1/decisions?access_token={token}"),
        format!("/v1/decisions?authorization=Bearer%20{token}"),
    ] {
        assert_eq!(daemon.ask("GET", &path).send().status, 401, "{path}");
    }
    let form = daemon.ask("POST", "/v1/login-links").form(&format!("access_token={token}")).send();
    assert_eq!(form.status, 401);
    let cookie = daemon.ask("GET", "/v1/decisions").header("cookie", &format!("portcullis={token}")).send();
    assert_eq!(cookie.status, 401);
}

#[test]
fn other_names_are_not_answered_to() {
    let (_sandbox, daemon) = started();
    let port = daemon.address.rsplit_once(':').unwrap().1.to_owned();
    let with = |host: &str| {
        let asked = daemon.ask("GET", "/v1/decisions").without("host").header("host", host);
        asked.token(&daemon.person_token()).send()
    };
    for host in [
        format!("evil.example:{port}"),
        "evil.example".to_owned(),
        format!("127.0.0.1.evil.example:{port}"),
        "127.0.0.1:1".to_owned(),
        "127.0.0.1".to_owned(),
        format!("0.0.0.0:{port}"),
        format!("evil.example@127.0.0.1:{port}"),
    ] {
        let answer = with(&host);
        assert!([400, 421].contains(&answer.status), "{host}: {answer:?}");
    }
    for host in [format!("localhost:{port}"), format!("LocalHost:{port}"), format!("[::1]:{port}")] {
        assert_eq!(with(&host).status, 200, "{host}");
    }
    for (_, route, _) in routes().iter().filter(|(method, _, _)| *method == "GET") {
        let answer = daemon.ask("GET", &path(route)).without("host").header("host", "evil.example").send();
        assert_eq!(answer.status, 421, "{route}");
    }
}

#[test]
fn a_name_is_said_once() {
    let (_sandbox, daemon) = started();
    let missing = daemon.ask("GET", "/healthz").without("host").send();
    assert_eq!(missing.status, 421);
    let double = daemon.ask("GET", "/healthz").header("host", "evil.example").send();
    assert_eq!(double.status, 421);
    let line = daemon.ask("GET", "http://evil.example/healthz").send();
    assert_eq!(line.status, 421);
    let same = daemon.ask("GET", &format!("http://{}/healthz", daemon.address)).send();
    assert_eq!(same.status, 200);
}

#[test]
fn a_name_that_stands_before_it_must_be_allowed() {
    let sandbox = Sandbox::new();
    let daemon = Daemon::start_with(&sandbox, &["--allow-host", "gate.example"]);
    let with = |host: &str, origin: &str| {
        let asked = daemon.ask("GET", "/healthz").without("host").header("host", host);
        asked.header("origin", origin).send().status
    };
    assert_eq!(with("gate.example", "https://gate.example"), 200);
    assert_eq!(with("gate.example", "https://evil.example"), 403);
    assert_eq!(with("other.example", "https://other.example"), 421);
}

#[test]
fn pages_of_others_may_ask_nothing() {
    let (_sandbox, daemon) = started();
    let own = format!("http://{}", daemon.address);
    let cookie = daemon.sign_in();
    let with = |name: &str, value: &str| {
        let asked = daemon.ask("GET", "/v1/decisions").header("cookie", &cookie);
        asked.header(name, value).send()
    };
    for origin in ["http://evil.example", "null", "", "http://127.0.0.1:1", "https://127.0.0.1"] {
        let answer = with("origin", origin);
        assert_eq!((answer.status, answer.error_code().as_str()), (403, "cross_origin"), "{origin}");
    }
    assert_eq!(with("origin", &own).status, 200);
    for site in ["cross-site", "same-site", "anything"] {
        assert_eq!(with("sec-fetch-site", site).status, 403, "{site}");
    }
    for site in ["same-origin", "none"] {
        assert_eq!(with("sec-fetch-site", site).status, 200, "{site}");
    }
    // Nobody is ever told that another origin may read.
    for (method, route, _) in routes() {
        let answer = daemon.ask(method, &path(route)).header("origin", "http://evil.example").send();
        assert_eq!(answer.status, 403, "{method} {route}");
        assert!(answer.headers.iter().all(|(name, _)| !name.starts_with("access-control")), "{answer:?}");
    }
    let preflight = daemon.ask("OPTIONS", "/v1/decide").header("origin", "http://evil.example");
    assert_eq!(preflight.header("access-control-request-method", "POST").send().status, 403);
    // Nor at the unix socket, where no page can be.
    let local = daemon.ask("GET", "/v1/decisions").locally().header("origin", &own).send();
    assert_eq!(local.status, 403);
}

#[test]
fn a_link_from_elsewhere_is_opened_by_a_page_of_ours() {
    let (_sandbox, daemon) = started();
    let follow = |path: &str| {
        let asked = daemon.ask("GET", path).header("sec-fetch-site", "cross-site");
        asked.header("sec-fetch-mode", "navigate").header("sec-fetch-dest", "document").send()
    };
    let page = follow("/approvals/a1?key=%22%3E&x=1");
    assert_eq!(page.status, 403);
    assert!(page.text().contains("content=\"0;url=/approvals/a1?key=%22%3E&amp;x=1\""), "{}", page.text());
    assert!(!page.text().contains("Sign in"), "no handler ran");
    for path in ["//evil.example/", "/x\"><script>alert(1)</script>"] {
        let text = follow(path).text();
        assert!(!text.contains("url=//") && !text.contains("<script>"), "{text}");
    }
    let framed = daemon.ask("GET", "/").header("sec-fetch-site", "cross-site");
    let framed = framed.header("sec-fetch-mode", "navigate").header("sec-fetch-dest", "iframe").send();
    assert_eq!(framed.error_code(), "cross_origin");
}

#[test]
fn a_cookie_changes_nothing_without_the_word_of_our_page() {
    let (_sandbox, daemon) = started();
    let (cookie, csrf) = daemon.sign_in_to_change();
    let link = || daemon.ask("POST", "/v1/login-links").header("cookie", &cookie);
    assert_eq!(link().send().error_code(), "csrf");
    assert_eq!(link().header("portcullis-csrf", "wrong").send().error_code(), "csrf");
    assert_eq!(link().header("portcullis-csrf", "").send().error_code(), "csrf");
    assert_eq!(link().header("portcullis-csrf", &csrf).send().status, 200);
    assert_eq!(link().form("csrf=wrong").send().error_code(), "csrf");
    assert_eq!(link().form(&format!("csrf={csrf}&csrf=x")).send().error_code(), "csrf");
    assert_eq!(link().form(&format!("csrf={csrf}")).send().status, 200);
    // As text a form is sent across origins without asking first, so a field in it counts for nothing.
    let text = link().body(format!("csrf={csrf}").as_bytes()).header("content-type", "text/plain");
    assert_eq!(text.send().error_code(), "csrf");
    let other = daemon.sign_in();
    let theirs =
        daemon.ask("POST", "/v1/login-links").header("cookie", &other).header("portcullis-csrf", &csrf);
    assert_eq!(theirs.send().error_code(), "csrf", "another session has another word");
    let logout = daemon.ask("POST", "/logout").header("cookie", &cookie).form(&format!("csrf={csrf}")).send();
    assert_eq!(logout.status, 303);
    assert_eq!(daemon.ask("GET", "/v1/decisions").header("cookie", &cookie).send().status, 401);
}

#[test]
fn the_unix_socket_tells_without_a_token_and_changes_nothing() {
    let (_sandbox, daemon) = started();
    for (method, route, open) in routes() {
        let answer = ask(&daemon, method, route).locally().send();
        let may = open == Open::Anyone || method == "GET";
        // Signing out and signing in with nothing lead to the page for signing in, whoever does.
        let is_told = !is_refused(&answer) || ["/login", "/logout"].contains(&route);
        assert_eq!(is_told, may, "{method} {route}: {answer:?}");
    }
    let judged = daemon.ask("POST", "/v1/decide").locally().token(&daemon.hook_token()).json(&call()).send();
    assert_eq!(judged.status, 200);
    let answered = daemon.ask("POST", "/v1/approvals/none/answer").locally().token(&daemon.hook_token());
    assert_eq!(answered.json(&json!({"decision": "allow"})).send().status, 403, "a hook answers no question");
}

#[test]
fn every_answer_protects_the_page() {
    let (_sandbox, daemon) = started();
    let strange = daemon.ask("GET", "/healthz").without("host").header("host", "evil.example").send();
    for answer in
        [daemon.get("/"), daemon.get("/healthz"), daemon.get("/none"), strange, daemon.ask("GET", "/").send()]
    {
        let policy = answer.header("content-security-policy").unwrap();
        for part in ["default-src 'none'", "script-src 'self'", "frame-ancestors 'none'", "base-uri 'none'"] {
            assert!(policy.contains(part), "{policy}");
        }
        assert!(!policy.contains("unsafe"), "{policy}");
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
        assert_eq!(answer.header("referrer-policy"), Some("same-origin"));
        assert_eq!(answer.header("cross-origin-opener-policy"), Some("same-origin"));
        assert_eq!(answer.header("cross-origin-resource-policy"), Some("same-origin"));
        assert_eq!(answer.header("cache-control"), Some("no-store"));
        assert_eq!(answer.header("server"), None);
    }
}

#[test]
fn a_large_body_is_refused_before_it_is_read() {
    let (_sandbox, daemon) = started();
    let token = daemon.person_token();
    let head = |path: &str, length: &str| {
        format!(
            "POST {path} HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {token}\r\n\
             content-type: application/json\r\n{length}\r\n\r\n",
            daemon.address
        )
    };
    let sent = |bytes: &[u8]| Answer::read(&mut daemon.raw(bytes)).status;
    let mebibyte = 1024 * 1024;
    for (path, most) in [("/v1/decide", 8 * mebibyte), ("/v1/rules/test", 64 * 1024), ("/login", 64 * 1024)] {
        assert_eq!(sent(head(path, &format!("content-length: {}", most + 1)).as_bytes()), 413, "{path}");
    }
    // Without a length it is counted as it comes.
    let mut chunked = head("/v1/rules/test", "transfer-encoding: chunked").into_bytes();
    for _ in 0..5 {
        chunked.extend(b"4000\r\n");
        chunked.extend([b' '; 0x4000]);
        chunked.extend(b"\r\n");
    }
    assert_eq!(sent(&chunked), 413);
    assert_eq!(sent(head("/v1/decide", "content-length: 99999999999999999999").as_bytes()), 400);
    // Whoever has not said who they are sends little, wherever to.
    let stranger =
        format!("POST /v1/decide HTTP/1.1\r\nhost: {}\r\ncontent-length: 70000\r\n\r\n", daemon.address);
    assert_eq!(sent(stranger.as_bytes()), 413);
    let fits =
        json!({"tool": "Bash", "input": {"command": format!("echo {}", "a".repeat(100_000))}, "cwd": "/"});
    assert_eq!(daemon.post("/v1/decide", &fits).status, 200);
}

#[test]
fn a_large_head_is_refused() {
    let (_sandbox, daemon) = started();
    let one = daemon.ask("GET", "/healthz").header("x", &"a".repeat(64 * 1024)).send();
    assert_eq!(one.status, 431);
    let mut many = daemon.ask("GET", "/healthz");
    for number in 0..100 {
        many = many.header(&format!("x-{number}"), "a");
    }
    assert_eq!(many.send().status, 431);
    let long = daemon.ask("GET", &format!("/{}", "a".repeat(100_000))).send();
    assert!([414, 431].contains(&long.status), "{long:?}");
}

/// Reads until the daemon closes the connection.
fn until_closed(mut stream: std::net::TcpStream) -> String {
    let mut heard = Vec::new();
    // A connection that is reset is closed as well.
    let _ = stream.read_to_end(&mut heard);
    String::from_utf8_lossy(&heard).into_owned()
}

#[test]
fn a_slow_client_is_not_waited_for() {
    let sandbox = Sandbox::new();
    let daemon = faulty(&sandbox, "patience=100");
    let host = &daemon.address;
    for head in
        ["", "GET", "GET /healthz HTTP/1.1\r\nho", &format!("GET /healthz HTTP/1.1\r\nhost: {host}\r\nx:")]
    {
        let heard = until_closed(daemon.raw(head.as_bytes()));
        assert!(!heard.contains("200 OK"), "{heard}");
    }
    let body = format!(
        "POST /v1/decide HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer {}\r\ncontent-length: 100\r\n\r\n{{",
        daemon.person_token()
    );
    let heard = until_closed(daemon.raw(body.as_bytes()));
    assert!(heard.starts_with("HTTP/1.1 408 "), "{heard}");
    assert_eq!(daemon.get("/healthz").status, 200);
}

#[test]
fn however_many_connect_the_unix_socket_still_answers() {
    let sandbox = Sandbox::new();
    let daemon = faulty(&sandbox, "patience=600000");
    // A connection counts once it was answered on.
    let held: Vec<_> = (0..16)
        .map(|_| {
            let request = format!("GET /healthz HTTP/1.1\r\nhost: {}\r\n\r\n", daemon.address);
            let mut stream = daemon.raw(request.as_bytes());
            assert_eq!(Answer::read(&mut stream).status, 200);
            stream
        })
        .collect();
    assert_eq!(Answer::read(&mut daemon.raw(b"")).status, 503);
    assert_eq!(daemon.ask("GET", "/healthz").locally().send().status, 200);
    drop(held);
    // Room comes back as soon as the daemon hears that they are gone.
    let is_back = (0..1_000).any(|_| Answer::read(&mut daemon.raw(&healthz(&daemon))).status == 200);
    assert!(is_back);
}

fn healthz(daemon: &Daemon) -> Vec<u8> {
    format!("GET /healthz HTTP/1.1\r\nhost: {}\r\nconnection: close\r\n\r\n", daemon.address).into_bytes()
}

#[test]
fn a_path_leads_to_no_file() {
    let (_sandbox, daemon) = started();
    for path in [
        "/assets/../../etc/passwd",
        "/assets/%2e%2e/%2e%2e/etc/passwd",
        "/assets/..%2f..%2fetc%2fpasswd",
        "/assets/%252e%252e%252fetc%252fpasswd",
        "/assets/..%5c..%5cetc%5cpasswd",
        "/assets//etc/passwd",
        "/assets/",
        "/assets/%00",
        "/assets/style.css%00",
        "/assets/%ff",
        "/../../etc/passwd",
        "//etc/passwd",
        "/v1/../healthz",
        "/v1/decisions/..%2f..%2fhealthz",
    ] {
        let answer = daemon.get(path);
        assert!([400, 404].contains(&answer.status), "{path}: {answer:?}");
        assert!(!answer.text().contains("root:"), "{path}");
    }
}

#[test]
fn one_request_is_not_taken_for_two() {
    let (_sandbox, daemon) = started();
    let (host, token) = (&daemon.address, daemon.person_token());
    let inner = format!("GET /metrics HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer {token}\r\n\r\n");
    let lengths = [
        format!("content-length: {}\r\ntransfer-encoding: chunked", inner.len() + 5),
        format!("transfer-encoding: chunked\r\ncontent-length: {}", inner.len() + 5),
        "transfer-encoding: chunked".to_owned(),
        "content-length: 5\r\ncontent-length: 6".to_owned(),
        "transfer-encoding: chunked, identity".to_owned(),
        "transfer-encoding: xchunked".to_owned(),
        "content-length: +5".to_owned(),
        "content-length: 5, 6".to_owned(),
    ];
    for length in lengths {
        let outer = format!("POST /login HTTP/1.1\r\nhost: {host}\r\n{length}\r\n\r\n0\r\n\r\n{inner}");
        let heard = until_closed(daemon.raw(outer.as_bytes()));
        assert_eq!(heard.matches("HTTP/1.1 ").count(), 1, "{length}: {heard}");
        assert!(!heard.contains("portcullis_"), "{length}: {heard}");
    }
    let mut broken = daemon.raw(format!("GET /healthz HTTP/1.1\r\nhost : {host}\r\n\r\n").as_bytes());
    assert_eq!(Answer::read(&mut broken).status, 400);
    broken.flush().unwrap();
}

#[test]
fn a_handler_that_panics_allows_nothing() {
    let sandbox = Sandbox::new();
    let daemon = faulty(&sandbox, "request");
    let judged = daemon.post("/v1/decide", &call());
    assert_eq!((judged.status, judged.error_code().as_str()), (500, "internal"));
    let asked = json!({
        "hook_event_name": "PreToolUse", "session_id": "s", "cwd": "/", "tool_name": "Bash",
        "tool_input": {"command": "ls"},
    });
    let hook = daemon.post("/v1/hook/claude", &asked);
    assert_eq!((hook.status, decision(&hook).as_str()), (200, "deny"));
    let (code, _) = daemon.stop();
    assert_eq!(code, Some(0), "the daemon lives on until it is stopped");
}

#[test]
fn a_hook_that_is_refused_is_told_no_in_the_words_of_its_agent() {
    let (_sandbox, daemon) = started();
    let wrong = daemon.ask("POST", "/v1/hook/claude").token("wrong").json(&json!({})).send();
    let missing = daemon.ask("POST", "/v1/hook/claude").json(&json!({})).send();
    let large = daemon.ask("POST", "/v1/hook/claude").token(&daemon.hook_token());
    let large = large.body(&vec![b' '; 8 * 1024 * 1024 + 1]).send();
    for answer in [wrong, missing, large] {
        assert_eq!((answer.status, decision(&answer).as_str()), (200, "deny"), "{answer:?}");
    }
    let nobody = daemon.post("/v1/hook/nobody", &json!({}));
    assert_eq!(nobody.status, 404);
}
