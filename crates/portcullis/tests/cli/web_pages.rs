//! The pages over the real daemon: every one shows what it must, as text, and changes only what a person sent.

use serde_json::{Value, json};

use super::daemon::{Answer, Daemon};
use super::log::write_old_trail;
use super::sandbox::Sandbox;

/// What an attacker has an agent run.
const HOSTILE: &str = "echo '<script>alert(1)</script>\" onerror=alert(1) \u{202e}'";

/// A daemon with a few decisions, and a browser that is signed in.
struct Site {
    sandbox: Sandbox,
    daemon: Daemon,
    cookie: String,
    csrf: String,
}

impl Site {
    fn new() -> Self {
        Self::of(Sandbox::new())
    }

    fn of(sandbox: Sandbox) -> Self {
        let daemon = Daemon::start(&sandbox);
        let (cookie, csrf) = daemon.sign_in_to_change();
        Self { sandbox, daemon, cookie, csrf }
    }

    /// Has a call judged, and returns what came of it.
    fn decide(&self, command: &str, more: &Value) -> Value {
        let mut body = json!({
            "tool": "Bash",
            "input": {"command": command},
            "cwd": self.sandbox.project.to_str().unwrap(),
            "session": "ses-1",
        });
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let answer = self.daemon.post("/v1/decide", &body);
        assert_eq!(answer.status, 200, "{}", answer.text());
        answer.as_json()
    }

    /// Puts a question into the queue, and returns its id.
    fn question(&self, command: &str) -> String {
        let decided = self.decide(command, &json!({"person": "absent", "waitSeconds": 1}));
        decided["approval"].as_str().unwrap_or_else(|| panic!("no question: {decided}")).to_owned()
    }

    /// Gets a page as the browser does.
    fn get(&self, path: &str) -> Answer {
        self.daemon.ask("GET", path).header("cookie", &self.cookie).header("accept", "text/html").send()
    }

    fn page(&self, path: &str) -> String {
        let answer = self.get(path);
        assert_eq!(answer.status, 200, "{path}: {}", answer.text());
        assert!(answer.header("content-type").unwrap().starts_with("text/html"), "{path}");
        answer.text()
    }

    /// Sends a form as the browser does.
    fn post(&self, path: &str, fields: &[(&str, &str)]) -> Answer {
        let fields: Vec<String> = std::iter::once(("csrf", self.csrf.as_str()))
            .chain(fields.iter().copied())
            .map(|(name, value)| format!("{name}={}", encoded(value)))
            .collect();
        self.daemon.ask("POST", path).header("cookie", &self.cookie).form(&fields.join("&")).send()
    }
}

fn encoded(value: &str) -> String {
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_".contains(byte);
    let byte = |byte: u8| if is_plain(&byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    value.bytes().map(byte).collect()
}

fn assert_has(page: &str, wanted: &[&str]) {
    for text in wanted {
        assert!(page.contains(text), "`{text}` is missing in {page}");
    }
}

/// Checks what must hold of every page: nothing inline, nobody else's address, and forms that say where they come from.
fn assert_is_safe(path: &str, page: &str) {
    assert!(!page.contains("<script>") && !page.contains("<style"), "{path}: something inline");
    for tag in page.split('<').skip(1).map(|rest| rest.split('>').next().unwrap_or_default()) {
        for attribute in [" style=", " onclick=", " onerror="] {
            assert!(!tag.contains(attribute), "{path}: {tag}");
        }
        for address in [" href=\"", " src=\"", " action=\""] {
            for rest in tag.split(address).skip(1) {
                let is_ours = rest.starts_with('/') && !rest.starts_with("//") || rest.starts_with('#');
                assert!(is_ours, "{path}: {tag}");
            }
        }
    }
    for form in page.split("<form").skip(1).map(|rest| rest.split("</form>").next().unwrap_or_default()) {
        assert!(!form.contains("method=\"post\"") || form.contains("name=\"csrf\""), "{path}: {form}");
    }
}

#[test]
fn every_page_shows_what_it_must_and_stays_safe() {
    let site = Site::new();
    let hostile = site.decide(HOSTILE, &json!({}));
    site.decide("git push --force origin main", &json!({}));
    let id = site.question("git push origin main");
    let record = hostile["record"].as_str().unwrap();
    let decision = format!("/decisions/{record}");
    let approval = format!("/approvals/{id}");
    let pages: [(&str, &[&str]); 11] = [
        ("/", &["Latest decisions", "waiting for a person", "git push origin main", "id=\"row\""]),
        ("/decisions", &["git push --force origin main", "More filters", "in all"]),
        (&decision, &["&#60;script&#62;alert(1)", "\\u{202e}", "Chain", "The record as JSON", record]),
        ("/sessions", &["ses-1"]),
        ("/sessions/ses-1", &["ses-1", "Calls", "Granted for a while", "Waiting for a person"]),
        ("/approvals", &["Waiting", "git push origin main"]),
        (&approval, &["May this run?", "Allow once", "Always allow", "What it does", "PC009"]),
        ("/stats", &["<svg", "As a table", "Time to decide", "Asked most"]),
        ("/rules", &["In force", "Try a call", "Add a rule"]),
        ("/rules?tool=Bash&call=git+push+--force+origin+main", &["PC007", "<mark", "What it would do"]),
        ("/findings/PC007", &["PC007 git-force-push", "Overwriting history"]),
    ];
    for (path, wanted) in pages {
        let page = site.page(path);
        assert_has(&page, wanted);
        assert_is_safe(path, &page);
    }
}

#[test]
fn a_decision_has_its_deciding_words_underlined_and_links_to_what_was_found() {
    let site = Site::new();
    let decided = site.decide("ls && git push --force origin main", &json!({}));
    let page = site.page(&format!("/decisions/{}", decided["record"].as_str().unwrap()));
    assert_has(
        &page,
        &["<mark class=\"ask\">git push --force origin main</mark>", "href=\"/findings/PC007\""],
    );
    assert_has(&page, &["git-push-force", "overwrites history of the remote repository", "Add this rule"]);
}

#[test]
fn a_decision_is_shown_as_it_was_whatever_settings_say_now() {
    let site = Site::new();
    let decided = site.decide("ls && git push --force origin main", &json!({}));
    let decision = format!("/decisions/{}", decided["record"].as_str().unwrap());
    let question = format!("/approvals/{}", site.question("git push origin main"));
    let before = site.page(&decision);
    assert_has(&before, &["What would today’s rules say?"]);
    site.sandbox.write_home(".claude/settings.json", r#"{"permissions":{"deny":["Bash(git push:*)"]}}"#);
    assert_eq!(site.page(&decision), before);
    assert_has(&site.page(&question), &["<mark class=\"ask\">git push origin main</mark>", "git-push"]);
    // What settings say now is told when it is asked for, and apart.
    let today = site.page(&format!("{decision}?today=yes"));
    let (recorded, now) = today.split_once("id=\"today\"").unwrap();
    assert_has(recorded, &["<mark class=\"ask\">git push --force origin main</mark>", "PC007"]);
    assert!(!recorded.contains("the deny rule"), "{recorded}");
    assert_has(now, &["the deny rule `Bash(git push:*)` matches", "No model, hook or person is asked"]);
    let json = site.daemon.get(&format!("/v1{decision}/today")).as_json();
    assert_eq!((&json["decision"], &json["step"]), (&"deny".into(), &"A2".into()));
}

#[test]
fn a_decision_of_an_older_program_says_what_was_not_recorded() {
    let sandbox = Sandbox::new();
    write_old_trail(&sandbox);
    let site = Site::of(sandbox);
    let page = site.page("/decisions/01M7HD01GN");
    assert_has(&page, &["tar cz ~/.ssh", "PC036", "older version of Portcullis", "It recorded neither"]);
    assert!(!page.contains("<mark") && !page.contains("What it would do"), "{page}");
    let json = site.daemon.get("/v1/decisions/01M7HD01GN").as_json();
    assert!(json["effects"].is_null() && json["version"].is_null(), "{json}");
}

#[test]
fn filters_choose_and_pages_go_on_where_the_last_ended() {
    let site = Site::new();
    for number in 0..55 {
        site.decide(&format!("ls dir{number}"), &json!({}));
    }
    site.decide("git push --force origin main", &json!({}));
    let denied = site.page("/decisions?decision=ask");
    assert!(denied.contains("git push") && !denied.contains("ls dir"), "{denied}");
    let first = site.page("/decisions?decision=allow");
    assert!(first.contains("ls dir54") && !first.contains("ls dir1<"), "{first}");
    let older = first.split("href=\"").find(|link| link.contains("before=")).unwrap();
    let older = site.page(&older.split('"').next().unwrap().replace("&#38;", "&"));
    assert!(older.contains("ls dir1<") && !older.contains("ls dir54"), "{older}");
    assert_has(&site.page("/decisions?decision=perhaps"), &["must be one of"]);
    assert_has(&site.page("/decisions?since=%3Cscript%3E"), &["&#60;script&#62;"]);
}

#[test]
fn a_person_answers_from_the_page_and_the_first_answer_wins() {
    let site = Site::new();
    let id = site.question("git push origin main");
    let path = format!("/approvals/{id}/answer");
    let form = [("choice", "deny"), ("message", "not today <b>")];
    let without = site.daemon.ask("POST", &path).header("cookie", &site.cookie).form("choice=once").send();
    assert_eq!(without.status, 403, "a form of somebody else's");
    assert_eq!(site.post(&path, &[("choice", "perhaps")]).status, 400);
    let answered = site.post(&path, &form);
    assert_eq!(
        (answered.status, answered.header("location")),
        (303, Some(format!("/approvals?answered={id}").as_str()))
    );
    let late = site.post(&path, &[("choice", "once")]);
    assert_eq!(
        (late.status, late.header("location")),
        (303, Some(format!("/approvals/{id}?late=1").as_str()))
    );
    let page = site.page(&format!("/approvals/{id}?late=1"));
    assert_has(&page, &["Somebody was faster", "Denied by link (web)", "not today &#60;b&#62;"]);
    assert_has(
        &site.page(&format!("/approvals?answered={id}")),
        &["Denied by link (web): git push origin main"],
    );
    assert!(!page.contains("name=\"choice\""), "{page}");
}

#[cfg(target_os = "linux")]
#[test]
fn held_changes_are_shown_line_by_line_and_kept_in_part() {
    let site = Site::new();
    site.sandbox.write_project("a", "before\n");
    let change = "echo '<b>after' > a; echo new > b; rm -f c; mkdir d; echo deep > d/e";
    let ran = site.sandbox.run(&["run", "--", "bash", "-c", change]);
    assert!(ran.stderr.contains("held:"), "{ran:?}");
    let listed = site.page("/approvals");
    assert_has(&listed, &["Held changes", "4 changes", "&#60;b&#62;after"]);
    assert_is_safe("/approvals", &listed);
    let path = listed.split("href=\"").find(|link| link.starts_with("/runs/")).unwrap();
    let path = path.split('"').next().unwrap().to_owned();
    let page = site.page(&path);
    assert_has(
        &page,
        &["-before\n", "+&#60;b&#62;after\n", "name=\"path\" value=\"d/e\"", "Keep all", "Drop all"],
    );
    assert_is_safe(&path, &page);
    let answer = format!("{path}/answer");
    let read = |name: &str| std::fs::read_to_string(site.sandbox.project.join(name)).ok();
    // A form of somebody else's, a form that says nothing, a look without more, and a token alone keep nothing.
    let foreign = site.daemon.ask("POST", &answer).header("cookie", &site.cookie).form("choice=keep").send();
    assert_eq!(foreign.status, 403);
    for wrong in
        [&[][..], &[("choice", "part")], &[("choice", "yes")], &[("choice", "part"), ("path", "nowhere")]]
    {
        assert_eq!(site.post(&answer, wrong).status, 400, "{wrong:?}");
    }
    let token =
        site.daemon.ask("POST", &answer).token(&site.daemon.person_token()).form("choice=keep").send();
    assert_eq!(token.header("location"), Some("/presence"), "{token:?}");
    let hook = site.daemon.ask("POST", &answer).token(&site.daemon.hook_token()).form("choice=drop").send();
    assert_eq!(hook.status, 403, "{hook:?}");
    assert_eq!((read("a").as_deref(), read("b")), (Some("before\n"), None));
    let part = site.post(&answer, &[("choice", "part"), ("path", "a"), ("path", "d/e")]);
    assert_eq!((part.status, part.header("location")), (303, Some(path.as_str())));
    assert_eq!(read("a").as_deref(), Some("<b>after\n"));
    assert_eq!((read("d/e").as_deref(), read("b")), (Some("deep\n"), None));
    let dropped = site.post(&answer, &[("choice", "drop")]);
    assert_eq!((dropped.status, dropped.header("location")), (303, Some("/approvals")));
    assert_eq!((read("b"), site.get(&path).status), (None, 404));
    assert!(!site.page("/approvals").contains("Held changes"));
}

#[test]
fn an_answer_for_the_session_is_a_grant_that_can_be_taken_back() {
    let site = Site::new();
    let id = site.question("git push origin main");
    let form = [("choice", "session"), ("rule", "Bash(git push *)"), ("edited", "")];
    assert_eq!(site.post(&format!("/approvals/{id}/answer"), &form).status, 303);
    let page = site.page("/sessions/ses-1");
    assert_has(&page, &["<code>Bash(git push *)</code>", "Take it back"]);
    let revoke = page.split("action=\"").find(|rest| rest.starts_with("/grants/")).unwrap();
    let back = [("back", "/sessions/ses-1")];
    let revoked = site.post(revoke.split('"').next().unwrap(), &back);
    assert_eq!(revoked.header("location"), Some("/sessions/ses-1"));
    assert!(!site.page("/sessions/ses-1").contains("Take it back"));
}

#[test]
fn a_page_of_others_is_not_gone_back_to() {
    let site = Site::new();
    let id = site.question("git push origin main");
    let form = [("choice", "session"), ("rule", "Bash(git push *)")];
    assert_eq!(site.post(&format!("/approvals/{id}/answer"), &form).status, 303);
    let revoked = site.post("/grants/g1/revoke", &[("back", "//evil.example/sessions/")]);
    assert_eq!(revoked.header("location"), Some("/sessions"));
}

#[test]
fn a_token_that_only_reads_sees_the_question_and_cannot_answer() {
    let site = Site::new();
    let id = site.question("git push origin main");
    let made = site.sandbox.at_terminal(&["tokens", "create", "watcher", "--role", "read"], "");
    let token = made.stdout.lines().find(|line| line.len() == 43).unwrap_or_else(|| panic!("{made:?}"));
    let page = site.daemon.ask("GET", &format!("/approvals/{id}")).token(token).send().text();
    assert_has(&page, &["May this run?", "You may look, and not answer."]);
    assert!(!page.contains("name=\"choice\""), "{page}");
    let answer =
        site.daemon.ask("POST", &format!("/approvals/{id}/answer")).token(token).form("choice=once").send();
    assert_eq!(answer.status, 403);
    let rule = site.daemon.ask("POST", "/rules").token(token).form("do=add&behavior=allow&rule=Bash").send();
    assert_eq!(rule.status, 403);
}

#[test]
fn rules_are_added_and_removed_and_what_is_wrong_with_them_is_said() {
    let site = Site::new();
    let rule = [("do", "add"), ("behavior", "deny"), ("rule", "Bash(curl:*)"), ("source", "user")];
    assert_has(&site.post("/rules", &rule).text(), &["Written to", "Bash(curl:*)"]);
    let page = site.page("/rules");
    assert_has(&page, &["<code>Bash(curl:*)</code>", "aria-label=\"Remove Bash(curl:*)\""]);
    let listed = site.daemon.get("/v1/rules").as_json();
    assert_eq!(listed["rules"][0]["text"], "Bash(curl:*)");
    let again =
        [("do", "add"), ("behavior", "allow"), ("rule", "Bash(curl example.org)"), ("source", "user")];
    assert_has(&site.post("/rules", &again).text(), &["deny-shadowed", "Fix: "]);
    let removed = [("do", "remove"), ("behavior", "deny"), ("rule", "Bash(curl:*)"), ("source", "user")];
    assert_has(&site.post("/rules", &removed).text(), &["Taken out of"]);
    let wrong = [("do", "add"), ("behavior", "allow"), ("rule", "Bash(<script>"), ("source", "user")];
    let refused = site.post("/rules", &wrong).text();
    assert_has(&refused, &["role=\"alert\"", "&#60;script&#62;"]);
    for source in ["managed", "user:other", "project"] {
        let form = [("do", "add"), ("behavior", "allow"), ("rule", "Bash(ls)"), ("source", source)];
        assert_has(&site.post("/rules", &form).text(), &["role=\"alert\""]);
    }
}

#[test]
fn broken_settings_are_shown() {
    let site = Site::new();
    site.sandbox.write_home(".claude/settings.json", "{\"permissions\": {");
    assert_has(&site.page("/rules"), &["Settings files", ".claude/settings.json"]);
}

#[test]
fn a_call_is_tried_without_a_trace() {
    let site = Site::new();
    site.page("/rules?tool=Bash&call=rm+-rf+%2F&mode=auto");
    let body = json!({"tool": "Bash", "command": "git push --force", "mode": "auto"});
    let tried = site.daemon.post("/v1/rules/test", &body).as_json();
    assert_eq!(tried["findings"][0]["code"], "PC007");
    assert_eq!(tried["effects"][0]["act"], "git-push-force");
    assert_eq!(site.daemon.get("/v1/decisions").as_json()["records"], json!([]));
    assert_has(&site.page("/rules?tool=Nothing&call=x"), &["has no main field"]);
}

#[test]
fn what_is_not_there_is_a_page_that_says_so() {
    let site = Site::new();
    for path in [
        "/decisions/ZZZZ",
        "/approvals/none",
        "/approvals/..%2f..%2f",
        "/sessions/none",
        "/findings/PC999",
        "/x",
    ] {
        let answer = site.get(path);
        assert_eq!(answer.status, 404, "{path}");
        assert_has(&answer.text(), &["<h1>", "Back to the live view"]);
        assert_is_safe(path, &answer.text());
    }
    let program = site.daemon.get("/v1/decisions/ZZZZ");
    assert_eq!((program.status, program.error_code().as_str()), (404, "not_found"));
}

#[test]
fn whoever_is_not_signed_in_is_led_to_where_they_can_be() {
    let site = Site::new();
    for path in
        ["/", "/decisions", "/approvals/a1", "/approvals/a1?key=00", "/rules", "/stats", "/findings/PC007"]
    {
        let answer = site.daemon.ask("GET", path).send();
        assert_eq!((answer.status, answer.header("location")), (303, Some("/login")), "{path}");
    }
    assert_has(&site.daemon.ask("GET", "/login").send().text(), &["<h1>Sign in</h1>", "name=\"token\""]);
}

#[test]
fn files_are_kept_by_their_content_and_need_no_token() {
    let site = Site::new();
    let page = site.page("/");
    for name in ["style.css", "app.js", "icon.svg"] {
        let address = page.split('"').find(|text| text.starts_with(&format!("/assets/{name}?v="))).unwrap();
        let file = site.daemon.ask("GET", address).send();
        assert_eq!(file.status, 200, "{name}");
        assert!(file.header("cache-control").unwrap().contains("immutable"), "{name}");
        let tag = file.header("etag").unwrap().to_owned();
        let known = site.daemon.ask("GET", address).header("if-none-match", &tag).send();
        assert_eq!(known.status, 304, "{name}");
        let other = site.daemon.ask("GET", &format!("/assets/{name}")).send();
        assert!(!other.header("cache-control").unwrap().contains("immutable"), "{name}");
    }
    for path in ["/assets/none", "/assets/..%2fstyle.css", "/assets/%2e%2e%2fCargo.toml"] {
        assert_eq!(site.daemon.ask("GET", path).send().status, 404, "{path}");
    }
}

#[test]
fn programs_get_the_same_as_json() {
    let site = Site::new();
    let decided = site.decide("git push --force origin main", &json!({}));
    site.decide("ls", &json!({"session": "ses-2"}));
    let id = decided["record"].as_str().unwrap();
    let get = |path: &str| site.daemon.get(path).as_json();
    assert_eq!(get(&format!("/v1/decisions/{id}"))["id"], id);
    assert_eq!(get("/v1/decisions?decision=ask")["records"][0]["id"], id);
    assert_eq!(get("/v1/decisions?limit=1")["next"], get("/v1/decisions?limit=1")["records"][0]["id"]);
    let sessions = get("/v1/sessions");
    assert_eq!(sessions["sessions"].as_array().unwrap().len(), 2);
    assert_eq!(sessions["sessions"][0]["session"], "ses-2");
    assert_eq!(get("/v1/sessions/ses-1")["records"][0]["id"], id);
    let stats = get("/v1/stats?since=1h&slot=60");
    assert_eq!((&stats["decisions"]["ask"], &stats["decisions"]["allow"]), (&json!(1), &json!(1)));
    assert_eq!(
        stats["slots"].as_array().unwrap().iter().map(|slot| slot["ask"].as_u64().unwrap()).sum::<u64>(),
        1
    );
    assert_eq!(get("/v1/grants")["grants"], json!([]));
    for wrong in ["/v1/decisions?decision=x", "/v1/decisions?limit=x", "/v1/stats?since=x", "/v1/rules?cwd=x"]
    {
        assert_eq!(site.daemon.get(wrong).status, 400, "{wrong}");
    }
}
