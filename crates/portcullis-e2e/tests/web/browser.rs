//! A real Chromium, driven through the protocol that the W3C made for that, by the driver that comes with it.

use std::fs;
use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// The key under which the protocol names an element.
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";

/// How long something on a page is waited for.
const PATIENCE: Duration = Duration::from_secs(20);

/// What a window looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Screen {
    /// A desk.
    Wide,
    /// A phone: narrow, touched, dense.
    Phone,
}

/// A browser with one window.
pub(crate) struct Browser {
    driver: Child,
    agent: ureq::Agent,
    session: String,
}

/// Something on a page.
pub(crate) struct Element<'b> {
    browser: &'b Browser,
    id: String,
}

impl Browser {
    /// Starts a browser with an empty profile.
    pub(crate) fn start(screen: Screen) -> Self {
        let port = TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap().port();
        let driver = Command::new("chromedriver")
            .arg(format!("--port={port}"))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the driver of Chromium is not installed: `cargo dev test` installs `chromium` and `chromium-driver`");
        let config = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .timeout_global(Some(Duration::from_mins(2)))
            .build();
        let agent = ureq::Agent::new_with_config(config);
        let mut browser = Self { driver, agent, session: format!("http://127.0.0.1:{port}") };
        browser.wait(|browser| browser.try_call("GET", "/status", &Value::Null).is_some(), "ChromeDriver");
        let answer = browser.call("POST", "/session", &capabilities(screen));
        let id = answer.get("sessionId").and_then(Value::as_str).expect("a session");
        browser.session = format!("{}/session/{id}", browser.session);
        browser
    }

    /// Goes to an address.
    pub(crate) fn open(&self, url: &str) {
        self.call("POST", "/url", &json!({"url": url}));
    }

    /// Waits for something on the page and returns it.
    pub(crate) fn find(&self, css: &str) -> Element<'_> {
        self.wait(|browser| !browser.find_all(css).is_empty(), css);
        self.find_all(css).into_iter().next().unwrap_or_else(|| panic!("`{css}` is gone"))
    }

    /// Returns everything of a kind that is on the page now.
    pub(crate) fn find_all(&self, css: &str) -> Vec<Element<'_>> {
        let found = self.call("POST", "/elements", &json!({"using": "css selector", "value": css}));
        let ids = found.as_array().cloned().unwrap_or_default();
        let id = |one: &Value| one.get(ELEMENT)?.as_str().map(str::to_owned);
        ids.iter().filter_map(id).map(|id| Element { browser: self, id }).collect()
    }

    /// Waits until the page shows a text.
    pub(crate) fn wait_for_text(&self, text: &str) {
        self.wait(|browser| browser.text().contains(text), text);
    }

    /// Returns all text that is shown.
    pub(crate) fn text(&self) -> String {
        self.run("return document.body ? document.body.innerText : ''")
            .as_str()
            .unwrap_or_default()
            .to_owned()
    }

    /// Runs a script in the page and returns what it returns.
    pub(crate) fn run(&self, script: &str) -> Value {
        self.call("POST", "/execute/sync", &json!({"script": script, "args": []}))
    }

    /// Types keys, as if at the keyboard, wherever the focus is.
    pub(crate) fn press(&self, keys: &str) {
        let strokes = keys.chars().flat_map(|key| {
            [json!({"type": "keyDown", "value": key}), json!({"type": "keyUp", "value": key})]
        });
        let actions = strokes.collect::<Vec<_>>();
        self.call(
            "POST",
            "/actions",
            &json!({"actions": [{"type": "key", "id": "keys", "actions": actions}]}),
        );
    }

    /// Plugs in an authenticator that is touched whenever it is asked; returns its id.
    pub(crate) fn plug_in_authenticator(&self) -> String {
        let body = json!({
            "protocol": "ctap2", "transport": "internal", "hasResidentKey": true, "hasUserVerification": true,
            "isUserConsenting": true, "isUserVerified": true,
        });
        self.call("POST", "/webauthn/authenticator", &body).as_str().expect("an id").to_owned()
    }

    /// Takes an authenticator away, with its keys.
    pub(crate) fn unplug_authenticator(&self, id: &str) {
        self.call("DELETE", &format!("/webauthn/authenticator/{id}"), &Value::Null);
    }

    /// Pretends that the user likes dark or light pages.
    pub(crate) fn prefer(&self, scheme: &str) {
        let features = json!([{"name": "prefers-color-scheme", "value": scheme}]);
        let body = json!({"cmd": "Emulation.setEmulatedMedia", "params": {"features": features}});
        self.call("POST", "/goog/cdp/execute", &body);
    }

    /// Keeps a picture of the page in `target/screenshots`.
    pub(crate) fn screenshot(&self, name: &str) {
        let picture = self.call("GET", "/screenshot", &Value::Null);
        let bytes = decode(picture.as_str().unwrap_or_default());
        assert!(bytes.starts_with(b"\x89PNG"), "the picture is none");
        let folder = screenshots();
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join(format!("{name}.png")), bytes).unwrap();
    }

    /// Returns what the page's console has said that is an error.
    pub(crate) fn console_errors(&self) -> Vec<String> {
        let lines = self.call("POST", "/se/log", &json!({"type": "browser"}));
        let lines = lines.as_array().cloned().unwrap_or_default();
        let is_error = |line: &&Value| line.get("level").and_then(Value::as_str) == Some("SEVERE");
        let message = |line: &Value| line.get("message")?.as_str().map(str::to_owned);
        lines.iter().filter(is_error).filter_map(message).collect()
    }

    /// Waits until something holds.
    pub(crate) fn wait(&self, holds: impl Fn(&Self) -> bool, what: &str) {
        let end = Instant::now() + PATIENCE;
        while !holds(self) {
            assert!(Instant::now() < end, "waited in vain for: {what}\nthe page says:\n{}", self.shown());
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    fn shown(&self) -> String {
        let script = json!({"script": "return document.body.innerText", "args": []});
        let text = self.try_call("POST", "/execute/sync", &script);
        text.as_ref().and_then(Value::as_str).unwrap_or_default().to_owned()
    }

    fn call(&self, method: &str, path: &str, body: &Value) -> Value {
        self.try_call(method, path, body).unwrap_or_else(|| panic!("{method} {path} with {body} failed"))
    }

    fn try_call(&self, method: &str, path: &str, body: &Value) -> Option<Value> {
        let url = format!("{}{path}", self.session);
        let response = match method {
            "GET" => self.agent.get(&url).call(),
            "DELETE" => self.agent.delete(&url).call(),
            _ => self.agent.post(&url).content_type("application/json").send(body.to_string()),
        };
        let text = response.ok()?.into_body().with_config().limit(64 << 20).read_to_string().ok()?;
        let answer: Value = serde_json::from_str(&text).ok()?;
        let value = answer.get("value")?;
        if let Some(error) = value.get("error") {
            // An element may go while it is looked at.
            assert!(error != "javascript error", "{value}");
            return None;
        }
        Some(value.clone())
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // The driver ends its browser with itself if it is asked first.
        let _ = self.agent.delete(&self.session).call();
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}

impl Element<'_> {
    /// Clicks it.
    pub(crate) fn click(&self) {
        self.browser.call("POST", &format!("/element/{}/click", self.id), &json!({}));
    }

    /// Types into it.
    pub(crate) fn write(&self, text: &str) {
        self.browser.call("POST", &format!("/element/{}/value", self.id), &json!({"text": text}));
    }

    /// Returns the text that it shows.
    pub(crate) fn text(&self) -> String {
        let text = self.browser.call("GET", &format!("/element/{}/text", self.id), &Value::Null);
        text.as_str().unwrap_or_default().to_owned()
    }

    /// Returns where it is on the page: left, top, width, height.
    pub(crate) fn place(&self) -> (f64, f64, f64, f64) {
        let place = self.browser.call("GET", &format!("/element/{}/rect", self.id), &Value::Null);
        let side = |name: &str| place.get(name).and_then(Value::as_f64).unwrap_or_default();
        (side("x"), side("y"), side("width"), side("height"))
    }
}

fn capabilities(screen: Screen) -> Value {
    let mut options = json!({
        "args": [
            "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
            "--disable-background-networking", "--disable-component-update", "--disable-sync",
            "--disable-dev-shm-usage", "--window-size=1280,1000",
        ],
    });
    if screen == Screen::Phone {
        let metrics = json!({"width": 360, "height": 740, "pixelRatio": 2.0, "touch": true, "mobile": true});
        options["mobileEmulation"] = json!({"deviceMetrics": metrics});
    }
    let wanted = json!({
        "browserName": "chrome",
        "goog:chromeOptions": options,
        "goog:loggingPrefs": {"browser": "ALL"},
    });
    json!({"capabilities": {"alwaysMatch": wanted}})
}

fn screenshots() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../target/screenshots")
}

/// Reads base64.
fn decode(text: &str) -> Vec<u8> {
    let digit = |byte: u8| match byte {
        b'A'..=b'Z' => Some(byte - b'A'),
        b'a'..=b'z' => Some(byte - b'a' + 26),
        b'0'..=b'9' => Some(byte - b'0' + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    };
    let digits: Vec<u8> = text.bytes().filter_map(digit).collect();
    let group = |four: &[u8]| {
        let bits =
            four.iter().fold(0_u32, |bits, digit| bits << 6 | u32::from(*digit)) << (6 * (4 - four.len()));
        bits.to_be_bytes().into_iter().skip(1).take(four.len() - 1).collect::<Vec<u8>>()
    };
    digits.chunks(4).flat_map(group).collect()
}
