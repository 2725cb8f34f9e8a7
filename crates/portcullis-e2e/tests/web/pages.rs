//! What a person sees and does.

use std::fs;

use serde_json::json;

use super::browser::{Browser, Screen};
use super::watchtower::{Watchtower, told};

fn watchtower() -> Watchtower {
    Watchtower::start(&json!({"permissions": {
        "allow": ["Bash(cargo test:*)", "Bash(cargo doc:*)"],
        "deny": ["Bash(git push:*)"],
    }}))
}

/// Asserts that nothing on the page failed: no script, no request, nothing that the content policy stopped.
fn assert_quiet(browser: &Browser) {
    assert_eq!(browser.console_errors(), Vec::<String>::new());
}

/// Asserts that the page asked nobody but its own daemon for anything.
fn assert_stays_home(browser: &Browser, tower: &Watchtower) {
    let script = "return performance.getEntriesByType('resource').map(one => one.name)";
    for one in browser.run(script).as_array().unwrap() {
        let url = one.as_str().unwrap();
        assert!(url.starts_with(&tower.url) || url.starts_with("data:"), "the page asked for {url}");
    }
}

#[test]
fn decisions_appear_while_one_looks() {
    let tower = watchtower();
    let browser = Browser::start(Screen::Wide);
    tower.sign_in(&browser);
    browser.wait_for_text("Nothing was decided yet");
    assert_eq!(told(&tower.hook("s1", "cargo test --workspace").join().unwrap()).0, "allow");
    browser.wait_for_text("cargo test --workspace");
    assert_eq!(told(&tower.hook("s1", "git push --force origin main").join().unwrap()).0, "deny");
    browser.wait_for_text("git push --force origin main");
    // The newest is on top, and leads to its own page.
    let first = browser.find("#rows li");
    assert!(first.text().contains("git push"), "{}", first.text());
    browser.screenshot("live");
    browser.find("#rows li a.cover").click();
    browser.wait_for_text("Bash(git push:*)");
    let marked = browser.find_all("mark");
    assert!(marked.iter().any(|mark| mark.text().contains("git push")), "the deciding words are underlined");
    for part in ["deny", "A2", "Steps", "What it would do", "PC007"] {
        assert!(browser.text().contains(part), "{part} is missing:\n{}", browser.text());
    }
    browser.screenshot("decision");
    assert_quiet(&browser);
    assert_stays_home(&browser, &tower);
}

#[test]
fn a_waiting_call_runs_after_it_is_allowed() {
    let tower = watchtower();
    let browser = Browser::start(Screen::Wide);
    tower.sign_in(&browser);
    let waiting = tower.hook("s1", "make install");
    browser.find("#banner:not([hidden]) a").click();
    browser.find("#rows li.approval a.cover").click();
    browser.wait_for_text("May this run?");
    browser.screenshot("approval");
    browser.find("button.allow").click();
    browser.wait_for_text("allowed");
    assert_eq!(told(&waiting.join().unwrap()).0, "allow");
    assert_quiet(&browser);
}

#[test]
fn held_changes_are_read_and_kept_in_part() {
    let tower = watchtower();
    let project = tower.project();
    fs::write(project.join("main.py"), "import os\n\ndef area(width, height):\n    return width * height\n")
        .unwrap();
    fs::write(project.join("notes.txt"), "call Ada\n").unwrap();
    tower.run_fenced(
        "sed -i 's/width \\* height/width + height/' main.py; rm notes.txt; echo '<img src=x onerror=alert(1)>' > page.html; \
         echo 'export KEY=1' > .envrc",
    );
    let browser = Browser::start(Screen::Wide);
    tower.sign_in(&browser);
    browser.open(&format!("{}/approvals", tower.url));
    browser.wait_for_text("Held changes");
    browser.screenshot("approvals-held");
    browser.find("#held a.cover").click();
    browser.wait_for_text("Keep what this changed?");
    for part in
        ["-    return width * height", "+    return width + height", "-call Ada", "<img src=x", "runs later"]
    {
        assert!(browser.text().contains(part), "{part} is missing:\n{}", browser.text());
    }
    browser.screenshot("held-run");
    browser.find("input[value='main.py']").click();
    browser.find("button[value=part]").click();
    browser.wait(|browser| browser.find_all("input[value='main.py']").is_empty(), "the part to land");
    assert!(fs::read_to_string(project.join("main.py")).unwrap().contains("width + height"));
    assert!(project.join("notes.txt").exists() && !project.join(".envrc").exists());
    browser.find("button[value=drop]").click();
    browser.find("#confirm[open] button[value=yes]").click();
    browser.wait_for_text("Nobody waits for an answer");
    assert!(project.join("notes.txt").exists() && !project.join(".envrc").exists());
    assert_quiet(&browser);
    assert_stays_home(&browser, &tower);
}

#[test]
fn a_denial_reaches_the_agent_with_its_message() {
    let tower = watchtower();
    let browser = Browser::start(Screen::Wide);
    tower.sign_in(&browser);
    let waiting = tower.hook("s1", "make install");
    browser.open(&format!("{}/approvals", tower.url));
    browser.find("#rows li.approval a.cover").click();
    browser.find("#answer details summary").click();
    browser.find("textarea[name=message]").write("use the package manager instead");
    browser.find("#answer details button[value=deny]").click();
    browser.wait_for_text("denied");
    let (decision, reason) = told(&waiting.join().unwrap());
    assert_eq!(decision, "deny");
    assert!(reason.contains("use the package manager instead"), "{reason}");
    assert_quiet(&browser);
}

#[test]
fn an_answer_can_become_a_rule() {
    let tower = watchtower();
    let browser = Browser::start(Screen::Wide);
    tower.sign_in(&browser);
    let waiting = tower.hook("s1", "make install");
    browser.open(&format!("{}/approvals", tower.url));
    browser.find("#rows li.approval a.cover").click();
    browser.find("#more summary").click();
    browser.find("#more button[value=always]").click();
    browser.find("#confirm[open] button[value=yes]").click();
    browser.wait_for_text("allowed");
    assert_eq!(told(&waiting.join().unwrap()).0, "allow");
    // The next session needs nobody.
    assert_eq!(told(&tower.hook("s2", "make install").join().unwrap()).0, "allow");
    browser.open(&format!("{}/rules", tower.url));
    browser.wait_for_text("Bash(make install");
}

#[test]
fn a_rule_is_tried_added_and_removed() {
    let tower = watchtower();
    let browser = Browser::start(Screen::Wide);
    tower.sign_in(&browser);
    browser.open(&format!("{}/rules", tower.url));
    browser.find("textarea[name=call]").write("terraform plan");
    browser.find("#try button").click();
    browser.find("#try .result");
    assert!(browser.find("#try .result").text().contains("ask"));
    browser.find("input[name=rule]:not([type=hidden])").write("Bash(terraform plan:*)");
    browser.find("form:has(input[name=rule]:not([type=hidden])) button").click();
    browser.wait(|browser| browser.find_all(".rules.inforce li").len() >= 4, "the new rule");
    assert!(browser.text().contains("Bash(terraform plan:*)"));
    browser.screenshot("rules");
    let settings = fs::read_to_string(tower.home().join(".config/portcullis/settings.json")).unwrap();
    assert!(settings.contains("Bash(terraform plan:*)"), "{settings}");
    assert_eq!(told(&tower.hook("s1", "terraform plan -out x").join().unwrap()).0, "allow");
    browser.find("button[aria-label='Remove Bash(terraform plan:*)']").click();
    browser.wait(
        |browser| browser.find_all("button[aria-label='Remove Bash(terraform plan:*)']").is_empty(),
        "the rule to go",
    );
    let settings = fs::read_to_string(tower.home().join(".config/portcullis/settings.json")).unwrap();
    assert!(!settings.contains("terraform"), "{settings}");
    assert_quiet(&browser);
}

#[test]
fn charts_are_drawn_in_light_and_dark() {
    let tower = watchtower();
    for command in ["ls", "cargo test", "git push", "cargo doc", "cat README.md"] {
        tower.hook("s1", command).join().unwrap();
    }
    let browser = Browser::start(Screen::Wide);
    tower.sign_in(&browser);
    browser.open(&format!("{}/stats?range=hour", tower.url));
    browser.find("figure.chart svg rect");
    let drawn = browser.run(
        "return [...document.querySelectorAll('figure.chart svg rect')].filter(one => one.getBoundingClientRect().height > 1).length",
    );
    assert!(drawn.as_u64().unwrap() >= 2, "{drawn} bars are to be seen");
    let background = "return getComputedStyle(document.body).backgroundColor";
    browser.prefer("light");
    let light = browser.run(background);
    browser.screenshot("stats-light");
    browser.prefer("dark");
    let dark = browser.run(background);
    browser.screenshot("stats-dark");
    assert_ne!(light, dark, "both look alike");
    assert_quiet(&browser);
}

#[test]
fn a_question_is_answered_on_a_phone() {
    let tower = watchtower();
    let browser = Browser::start(Screen::Phone);
    tower.sign_in(&browser);
    let waiting = tower.hook("s1", "make install");
    browser.open(&format!("{}/approvals", tower.url));
    browser.find("#rows li.approval a.cover").click();
    browser.wait_for_text("May this run?");
    let width = browser.run("return [document.documentElement.scrollWidth, window.innerWidth]");
    assert_eq!(width[0], width[1], "the page is wider than the screen");
    for name in ["button.allow", "button.deny"] {
        let (left, _, width, height) = browser.find(name).place();
        assert!(height >= 44.0 && width >= 100.0, "{name} is too small for a thumb: {width} × {height}");
        assert!(left >= 0.0 && left + width <= 360.0, "{name} is not on the screen");
    }
    browser.screenshot("phone-approval");
    browser.find("button.allow").click();
    browser.wait_for_text("allowed");
    assert_eq!(told(&waiting.join().unwrap()).0, "allow");
    for page in ["", "decisions", "sessions", "stats", "rules", "approvals"] {
        browser.open(&format!("{}/{page}", tower.url));
        let width = browser.run("return [document.documentElement.scrollWidth, window.innerWidth]");
        assert_eq!(width[0], width[1], "/{page} is wider than the screen");
        browser.screenshot(&format!("phone-{}", if page.is_empty() { "live" } else { page }));
    }
    assert_quiet(&browser);
}

#[test]
fn the_keyboard_is_enough() {
    let tower = watchtower();
    let browser = Browser::start(Screen::Wide);
    tower.sign_in(&browser);
    let waiting = tower.hook("s1", "make install");
    browser.press("ga");
    browser.wait_for_text("Waiting");
    browser.find("#rows li.approval");
    browser.press("j");
    browser.press("\u{e007}");
    browser.wait_for_text("May this run?");
    browser.press("d");
    browser.wait_for_text("denied");
    assert_eq!(told(&waiting.join().unwrap()).0, "deny");
    browser.press("?");
    browser.find("dialog#help[open]");
    browser.screenshot("keyboard");
}

#[test]
fn a_script_in_a_command_is_a_text() {
    let tower = watchtower();
    let browser = Browser::start(Screen::Wide);
    tower.sign_in(&browser);
    let command = "echo '<img src=x onerror=\"document.title=1\"><script>document.title=2</script>' > \"</code><svg onload=document.title=3>\"";
    let waiting = tower.hook("<script>document.title=4</script>", command);
    // As it comes in live, as a row of the server, on the pages of the question, the decision and the session.
    browser.find("#banner:not([hidden]) a").click();
    browser.find("#rows li.approval a.cover").click();
    browser.wait_for_text("May this run?");
    assert!(browser.text().contains("<script>document.title=2</script>"), "{}", browser.text());
    browser.find("button.deny").click();
    waiting.join().unwrap();
    browser.open(&tower.url);
    browser.find("#rows li a.cover").click();
    browser.wait_for_text("Steps");
    browser.open(&format!("{}/sessions", tower.url));
    browser.wait_for_text("document.title=4");
    for page in ["decisions", "approvals", "sessions", "stats"] {
        browser.open(&format!("{}/{page}", tower.url));
        let title = browser.run("return document.title");
        assert!(title.as_str().unwrap().contains("Portcullis"), "a script ran on /{page}: {title}");
        let injected = browser.run(
            "return document.querySelectorAll('main script, main svg[onload], main img[onerror]').length",
        );
        assert_eq!(injected, json!(0), "/{page} has elements that a command brought");
    }
    assert_quiet(&browser);
}
