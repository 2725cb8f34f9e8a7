//! Only a person who is there answers on the page: by a code of their terminal, or by a passkey.

use serde_json::json;

use super::browser::{Browser, Screen};
use super::watchtower::{Watchtower, told};

/// A daemon whose page is opened by a name, which passkeys need.
fn named() -> Watchtower {
    let mut tower = Watchtower::start(&json!({}));
    tower.url = tower.url.replace("127.0.0.1", "localhost");
    tower
}

fn open_question(tower: &Watchtower, browser: &Browser) {
    browser.open(&format!("{}/approvals", tower.url));
    browser.wait_for_text("make deploy");
    browser.find("#rows li a.cover").click();
    browser.find("#answer button[value=once]");
}

#[test]
fn whoever_only_has_the_token_may_look_and_allows_nothing_before_the_code() {
    let tower = Watchtower::start(&json!({}));
    let browser = Browser::start(Screen::Wide);
    tower.sign_in_to_look(&browser);
    let hook = tower.hook("s1", "make deploy");
    open_question(&tower, &browser);
    browser.find("#answer button[value=once]").click();
    browser.wait_for_text("Show that you are there");
    browser.find("input[name=presence]").write("ABCD-EFGH");
    browser.find("main button.primary").click();
    browser.wait_for_text("This code is wrong");
    browser.find("input[name=presence]").write(&tower.link().1);
    browser.find("main button.primary").click();
    browser.find("#answer button[value=once]").click();
    assert_eq!(told(&hook.join().unwrap()).0, "allow");
}

#[test]
fn a_passkey_signs_in_and_shows_again_that_somebody_is_there() {
    let tower = named();
    let browser = Browser::start(Screen::Wide);
    browser.open(&format!("{}/login", tower.url));
    let authenticator = browser.plug_in_authenticator();
    let (link, code) = tower.link();
    browser.open(&link.replace("127.0.0.1", "localhost"));
    browser.find("input[name=presence]").write(&code);
    browser.find("main button.primary").click();
    browser.wait_for_text("Latest decisions");
    browser.open(&format!("{}/presence", tower.url));
    browser.find("button[data-passkey=add]").click();
    browser.wait_for_text("The passkey is added.");
    browser.screenshot("passkey");
    // Another session begins with the passkey alone, and may answer at once.
    browser.find(".signout button").click();
    browser.find("button[data-passkey=use]").click();
    browser.wait_for_text("Latest decisions");
    let hook = tower.hook("s1", "make deploy");
    open_question(&tower, &browser);
    browser.find("#answer button[value=once]").click();
    assert_eq!(told(&hook.join().unwrap()).0, "allow");
    // Whoever signed in with a token shows it by the passkey.
    browser.find(".signout button").click();
    tower.sign_in_to_look(&browser);
    let hook = tower.hook("s2", "make deploy");
    open_question(&tower, &browser);
    browser.find("#answer button[value=once]").click();
    browser.find("button[data-passkey=use]").click();
    browser.find("#answer button[value=once]").click();
    assert_eq!(told(&hook.join().unwrap()).0, "allow");
    // The key is lost: a passkey of somebody else's is none, and the code of a terminal still is one.
    browser.find(".signout button").click();
    browser.unplug_authenticator(&authenticator);
    browser.plug_in_authenticator();
    tower.sign_in_to_look(&browser);
    browser.open(&format!("{}/presence", tower.url));
    browser.find("input[name=presence]").write(&tower.link().1);
    browser.find("main button.primary").click();
    // Only the next page says so; going on before it is there would be undone when it comes.
    browser.wait_for_text("Nobody waits for an answer.");
    browser.open(&format!("{}/presence", tower.url));
    browser.find("button[data-passkey=add]");
}
