//! `portcullis explain`: the pages of findings and allowances.

use pretty_assertions::assert_eq;
use serde_json::Value;

use super::sandbox::Sandbox;

#[test]
fn a_page_is_found_by_code_number_and_name() {
    let sandbox = Sandbox::new();
    let page = sandbox.run(&["explain", "PC007"]);
    assert_eq!((page.code, page.stderr.as_str()), (Some(0), ""));
    for part in [
        "PC007 git-force-push\n",
        "  A forced push replaces commits that other people may have built on.\n",
        "  severity   high\n",
        "  firmness   soft\n",
        "Examples it finds\n\n    $ git push --force origin main\n",
        "Examples it leaves alone\n",
    ] {
        assert!(page.stdout.contains(part), "no {part:?} in\n{}", page.stdout);
    }
    for markup in ["<!--", "|---", "```", "]("] {
        assert!(!page.stdout.contains(markup), "{markup:?} in\n{}", page.stdout);
    }
    for typed in ["pc007", "7", "git-force-push"] {
        assert_eq!(sandbox.run(&["explain", typed]), page, "{typed}");
    }
    let allowance = sandbox.run(&["explain", "pa02"]).stdout;
    assert!(allowance.starts_with("PA02 local-operations\n"), "{allowance}");
}

#[test]
fn every_code_of_the_list_has_its_page() {
    let sandbox = Sandbox::new();
    let list = sandbox.run(&["explain"]);
    assert_eq!(list.code, Some(0));
    let rows: Vec<Vec<&str>> = list
        .stdout
        .lines()
        .filter(|line| line.starts_with("  P"))
        .map(|line| line.split_whitespace().collect())
        .collect();
    let json: Value = serde_json::from_str(&sandbox.run(&["explain", "--json"]).stdout).unwrap();
    assert_eq!(rows.len(), json.as_array().unwrap().len());
    assert!(rows.len() > 50, "{}", list.stdout);
    for row in rows {
        let page = sandbox.run(&["explain", row[0]]);
        assert_eq!(page.code, Some(0), "{row:?}");
        assert!(page.stdout.starts_with(&format!("{} {}\n", row[0], row[1])), "{row:?}\n{}", page.stdout);
    }
}

#[test]
fn json_has_exactly_the_documented_keys() {
    let sandbox = Sandbox::new();
    let object = |code: &str| -> Value {
        let ran = sandbox.run(&["explain", code, "--json"]);
        assert_eq!(ran.stdout.matches('\n').count(), 1);
        serde_json::from_str(&ran.stdout).unwrap()
    };
    let keys = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>().join(" ");
    let soft = object("PC011");
    assert_eq!(
        keys(&soft),
        "kind code name title category severity firmness words mustName instead clearedBy hits misses"
    );
    assert_eq!(keys(&soft["hits"][0]), "tool input");
    assert_eq!(soft["firmness"], "soft");
    assert_eq!(soft["clearedBy"], serde_json::json!(["PA05"]));
    let hard = object("PC031");
    assert_eq!((&hard["firmness"], &hard["mustName"]), (&"hard".into(), &Value::Null));
    assert_eq!(keys(&object("PA05")), "kind code name title clears hits misses");
}

#[test]
fn examples_can_be_handed_to_check() {
    let sandbox = Sandbox::new();
    let page: Value = serde_json::from_str(&sandbox.run(&["explain", "7", "--json"]).stdout).unwrap();
    for (key, is_found) in [("hits", true), ("misses", false)] {
        let calls: Vec<String> = page[key].as_array().unwrap().iter().map(ToString::to_string).collect();
        let ran = sandbox.run_with_input(&["check", "--batch"], calls.join("\n").as_bytes());
        assert_eq!(ran.stdout.lines().count(), calls.len(), "{}", ran.stderr);
        for (answer, call) in ran.stdout.lines().zip(&calls) {
            assert_eq!(answer.contains(r#""code":"PC007""#), is_found, "{call}\n{answer}");
        }
    }
}

#[test]
fn an_unknown_code_is_a_usage_error_that_names_the_closest() {
    let sandbox = Sandbox::new();
    for (typed, hint) in [
        ("git-force-psuh", "hint: did you mean `PC007` (git-force-push)?"),
        ("PA0", "hint: did you mean `PA01` (read-only)?"),
        ("PC999", "hint: `portcullis explain` lists all codes"),
        ("", "hint: `portcullis explain` lists all codes"),
    ] {
        let ran = sandbox.run(&["explain", typed]);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(64), ""), "{typed}");
        assert!(ran.stderr.contains(hint), "{typed}: {}", ran.stderr);
    }
}
