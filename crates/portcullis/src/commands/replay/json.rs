//! The report as JSON, a stable shape: the same keys in the same order.

use portcullis_core::findings::with_code;
use serde_json::{Map, Value, json};

use super::section::{Bundle, FATES, bundles, host_name};
use super::tally::{Answer, Counts, Example, Group, Groups, Tally};

/// The version of the shape; another one means that a key has changed its meaning.
const VERSION: u32 = 1;

/// Makes the report; `limit` is how many entries a list has.
pub(super) fn report(tally: &Tally, limit: usize, has_other: bool) -> String {
    let mut object = Map::new();
    let mut put = |name: &str, value: Value| _ = object.insert(name.to_owned(), value);
    put("version", json!(VERSION));
    put("files", files(tally));
    put("totals", totals(tally));
    put("byAgent", tally.by_host.iter().map(|(host, own)| named(host_name(*host), *own)).collect());
    put("byMode", tally.by_mode.iter().map(|(mode, own)| named(mode.as_str(), *own)).collect());
    put("byStep", tally.by_step.iter().map(|(step, own)| named(step.as_str(), *own)).collect());
    put("byTool", tally.by_tool.by_size().iter().take(limit).map(|(tool, own)| named(tool, *own)).collect());
    put("prompts", prompts(tally, limit));
    put("denied", groups(&tally.denied, limit, Clone::clone));
    put("findings", findings(tally, limit));
    put("happened", happened(tally));
    put(
        "cut",
        json!({
            "byTool": tally.by_tool.left_out,
            "prompts": tally.prompts.left_out,
            "noRule": tally.stubborn.left_out,
            "denied": tally.denied.left_out,
            "findings": tally.findings.left_out,
        }),
    );
    if has_other {
        put("changes", changes(tally));
    }
    format!("{}\n", Value::Object(object))
}

fn files(tally: &Tally) -> Value {
    json!({
        "sessions": tally.sessions,
        "others": tally.others,
        "failed": tally.failed,
        "linesSkipped": tally.skipped,
        "linesTooLong": tally.too_long,
        "problems": tally.problems,
    })
}

fn totals(tally: &Tally) -> Value {
    let mut object = counts(tally.total);
    object.insert("leftOut".to_owned(), json!(tally.left_out));
    object.insert("unjudged".to_owned(), json!(tally.unjudged));
    Value::Object(object)
}

fn counts(counts: Counts) -> Map<String, Value> {
    let mut object = Map::new();
    object.insert("calls".to_owned(), json!(counts.all()));
    for answer in Answer::ALL {
        object.insert(answer.as_str().to_owned(), json!(counts.of(answer)));
    }
    object
}

fn named(name: &str, own: Counts) -> Value {
    let mut object = Map::new();
    object.insert("name".to_owned(), json!(name));
    object.extend(counts(own));
    Value::Object(object)
}

fn examples(examples: &[Example]) -> Value {
    let example =
        |example: &Example| json!({"call": example.title, "reason": example.reason, "place": example.place});
    examples.iter().map(example).collect()
}

fn groups<K: Ord + Clone>(groups: &Groups<K>, limit: usize, name: impl Fn(&K) -> String) -> Value {
    let entry = |(key, group): &(&K, &Group)| {
        let (why, calls) = (name(key), group.counts.all());
        json!({"why": why, "calls": calls, "examples": examples(&group.examples)})
    };
    groups.by_size().iter().take(limit).map(entry).collect()
}

fn prompts(tally: &Tally, limit: usize) -> Value {
    let chosen = bundles(tally, limit);
    let entry = |bundle: &Bundle<'_>| {
        json!({
            "rules": bundle.rules,
            "ends": bundle.ends,
            "ended": bundle.ended,
            "examples": examples(&bundle.examples),
        })
    };
    json!({
        "asked": tally.total.of(Answer::Ask),
        "runByAcceptEdits": tally.run_by_edits,
        "rules": chosen.iter().map(entry).collect::<Vec<_>>(),
        "noRule": groups(&tally.stubborn, limit, Clone::clone),
    })
}

fn findings(tally: &Tally, limit: usize) -> Value {
    let all = tally.findings.by_size();
    let entry = |(code, group): &(&&'static str, &Group)| {
        let mut object = Map::new();
        object.insert("code".to_owned(), json!(code));
        object.insert("title".to_owned(), json!(with_code(code).map(|finding| finding.title)));
        object.extend(counts(group.counts));
        object.insert("examples".to_owned(), examples(&group.examples));
        Value::Object(object)
    };
    all.iter().take(limit).map(entry).collect()
}

fn happened(tally: &Tally) -> Value {
    let of = |answer: Answer| {
        let number = |(fate, name): (_, &str)| {
            (name.to_owned(), json!(tally.fates.get(&(fate, answer)).copied().unwrap_or_default()))
        };
        (answer.as_str().to_owned(), Value::Object(FATES.map(number).into_iter().collect()))
    };
    Value::Object(Answer::ALL.map(of).into_iter().collect())
}

fn changes(tally: &Tally) -> Value {
    let entry = |((before, after), group): (&(Answer, Answer), &Group)| {
        json!({
            "before": before.as_str(),
            "after": after.as_str(),
            "calls": group.counts.all(),
            "examples": examples(&group.examples),
        })
    };
    tally.changes.iter().map(entry).collect()
}
