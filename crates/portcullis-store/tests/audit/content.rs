//! What is kept of an entry: no secrets, no endless texts, nothing that breaks a line.

use portcullis_store::audit::{Entry, Position, SpanEntry, TraceEntry};
use pretty_assertions::assert_eq;

use crate::sample::{Trail, entry};

const SECRET: &str = "ghp_abcdefghijklmnopqrstuvwxyz0123456789";

fn kept(entry: &Entry) -> (Entry, String) {
    let trail = Trail::new();
    trail.audit.append(entry).unwrap();
    assert!(trail.audit.verify(&[], None).unwrap().is_whole());
    let mut read = trail.audit.read_after(Position::default(), 10).unwrap().records;
    assert_eq!(read.len(), 1);
    (read.pop().unwrap().entry, trail.current())
}

#[test]
fn secrets_are_blacked_out_wherever_they_stand() {
    let mut hostile = entry(0);
    let with = |text: &str| format!("{text} {SECRET}");
    hostile.summary = with("curl -H");
    hostile.input = format!(r#"{{"command":"export TOKEN={SECRET}","password":"hunter2hunter2"}}"#);
    hostile.reason = with("the reason");
    hostile.cwd = format!("/tmp/{SECRET}");
    hostile.session = SECRET.to_owned();
    hostile.tool = SECRET.to_owned();
    hostile.rule.as_mut().unwrap().text = format!("Bash(x {SECRET})");
    for finding in &mut hostile.findings {
        finding.sentence = with("found");
    }
    for effect in &mut hostile.effects {
        effect.target = with("target");
    }
    hostile.rule.as_mut().unwrap().origin.file = Some(format!("/tmp/{SECRET}"));
    for line in &mut hostile.trace {
        line.detail = with("detail");
    }
    for suggestion in &mut hostile.suggestions {
        suggestion.rule = format!("Bash(x {SECRET})");
    }
    let (_, text) = kept(&hostile);
    assert!(!text.contains(SECRET) && !text.contains("hunter2"), "{text}");
    assert!(text.contains("[redacted:"), "{text}");
}

#[test]
fn a_secret_is_not_kept_because_a_cut_went_through_it() {
    for length in (8_100..8_300).chain(12_150..12_350).chain([4_000, 16_000]) {
        let mut long = entry(0);
        long.input = format!("{} {SECRET} {}", "x".repeat(length), "y".repeat(20_000));
        let (_, text) = kept(&long);
        assert!(!text.contains("ghp_abcdef"), "{length}");
    }
    // So many secrets that what is left of the text is short.
    let mut many = entry(0);
    many.input = format!("{SECRET} ").repeat(2_000);
    let (_, text) = kept(&many);
    assert!(!text.contains("ghp_abc"), "{text}");
}

#[test]
fn long_texts_are_cut_and_say_so() {
    let mut long = entry(0);
    long.input = "é".repeat(1 << 20);
    long.trace =
        vec![
            TraceEntry { step: "A1".to_owned(), outcome: "pass".to_owned(), detail: "d".repeat(10_000) };
            1_000
        ];
    let (kept, text) = kept(&long);
    assert!(kept.input.len() <= 8 * 1024 + 3 && kept.input.ends_with('…'));
    assert!(kept.trace.iter().all(|line| line.detail.len() == 503));
    assert!(text.len() <= 64 * 1024, "{}", text.len());
}

#[test]
fn no_line_is_longer_than_it_may_be() {
    let worst = "\u{1}".repeat(100_000);
    let mut all = entry(0);
    for text in [
        &mut all.host,
        &mut all.event,
        &mut all.session,
        &mut all.cwd,
        &mut all.mode,
        &mut all.tool,
        &mut all.summary,
        &mut all.input,
        &mut all.decision,
        &mut all.said,
        &mut all.step,
        &mut all.kind,
        &mut all.reason,
    ] {
        text.clone_from(&worst);
    }
    (all.agent, all.call_id) = (Some(worst.clone()), Some(worst.clone()));
    (all.code, all.denial) = (Some(worst.clone()), Some(worst.clone()));
    let rule = all.rule.as_mut().unwrap();
    (rule.text, rule.behavior) = (worst.clone(), worst.clone());
    (rule.origin.source, rule.origin.file) = (worst.clone(), Some(worst.clone()));
    let (mut finding, mut effect) = (all.findings.pop().unwrap(), all.effects.pop().unwrap());
    (finding.code, finding.sentence, finding.severity) = (worst.clone(), worst.clone(), worst.clone());
    all.findings = vec![finding; 100];
    let far = SpanEntry(u32::MAX - 1, u32::MAX);
    (effect.act, effect.target, effect.spans) = (worst.clone(), worst.clone(), vec![far; 100]);
    all.effects = vec![effect; 100];
    (all.version, all.spans) = (worst.clone(), vec![far; 100]);
    all.trace = vec![TraceEntry { step: worst.clone(), outcome: worst.clone(), detail: worst.clone() }; 100];
    let mut model = all.models.pop().unwrap();
    (model.provider, model.model) = (worst.clone(), worst.clone());
    (model.stage, model.outcome) = (worst.clone(), worst);
    all.models = vec![model; 100];
    let (_, text) = kept(&all);
    assert!(text.len() <= 64 * 1024, "{}", text.len());
}

#[test]
fn hostile_text_cannot_end_a_line_or_forge_a_field() {
    let mut hostile = entry(0);
    hostile.summary = "a\n{\"n\":2,\"id\":\"X\",\"prev\":\"\"}\r\n\u{2028}\u{1b}[2J\0".to_owned();
    hostile.host = "\",\"n\":9,\"prev\":\"".to_owned();
    let (kept, text) = kept(&hostile);
    assert_eq!((&kept.summary, &kept.host), (&hostile.summary, &hostile.host));
    assert_eq!(text.lines().count(), 1);
    assert!(text.starts_with("{\"n\":1,"), "{text}");
}

#[test]
fn what_a_decision_was_made_by_comes_back_as_it_was() {
    let all = entry(3);
    let (kept, text) = kept(&all);
    assert_eq!(kept, all);
    // Programs that know no source read the rule all the same.
    assert!(text.contains(r#""origin":"/home/me/settings.json:7","source":"user""#), "{text}");
}

#[test]
fn words_are_pointed_at_where_they_stand_beside_a_secret() {
    let mut all = entry(0);
    let command = format!("TOKEN={SECRET} make step-0");
    all.input = serde_json::json!({ "command": command }).to_string();
    let start = u32::try_from(command.find("make").unwrap()).unwrap();
    all.spans = vec![SpanEntry(start, start + 4)];
    let (kept, _) = kept(&all);
    let input: serde_json::Value = serde_json::from_str(&kept.input).unwrap();
    let [SpanEntry(start, end)] = kept.spans[..] else { panic!("{:?}", kept.spans) };
    assert_eq!(input["command"].as_str().unwrap().get(start as usize..end as usize), Some("make"));
}
