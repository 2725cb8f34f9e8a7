//! The audit trail.

use std::collections::BTreeSet;

use super::CheckResult;
use super::sample::{START, at_once, entry, model, several};
use crate::Store;
use crate::audit::chain::BEGINNING;
use crate::audit::index::{Filter, Found, LatencyBin, Slot};
use crate::audit::{Entry, Head, OriginEntry, Position, RuleEntry};

const ANY: u64 = 1_000;

fn entries(numbers: std::ops::Range<u64>) -> Vec<Entry> {
    numbers.map(entry).collect()
}

fn numbers(open: &dyn Fn() -> Store, filter: &Filter) -> Result<Vec<u64>, crate::StoreError> {
    Ok(open().audit().find(filter, ANY)?.into_iter().map(|record| record.number).collect())
}

pub(super) fn a_batch_is_kept_in_order(open: &dyn Fn() -> Store) -> CheckResult {
    let audit = open().audit();
    assert_eq!(audit.append_all(&[])?, Vec::<String>::new());
    assert_eq!(audit.head()?, None);
    let same_time: Vec<Entry> = entries(0..50).into_iter().map(|one| Entry { at_ms: START, ..one }).collect();
    let mut ids = audit.append_all(&same_time)?;
    ids.push(open().audit().append(&entry(50))?);
    assert!(ids.is_sorted_by(|left, right| left < right), "ids do not sort: {ids:?}");
    let read = open().audit().read_after(Position::default(), 1_000)?.records;
    assert_eq!(read.iter().map(|record| &record.id).collect::<Vec<_>>(), ids.iter().collect::<Vec<_>>());
    assert!(read.iter().map(|record| record.number).eq(1..=51));
    assert_eq!(read.first().map(|record| record.previous.as_str()), Some(BEGINNING));
    let hashes = read.iter().map(|record| &record.hash);
    assert!(hashes.zip(read.iter().skip(1)).all(|(hash, next)| *hash == next.previous));
    assert_eq!(read.first().map(|record| &record.entry), same_time.first());
    let head = read.last().map(|record| Head { number: record.number, hash: record.hash.clone() });
    assert_eq!(open().audit().head()?, head);
    Ok(())
}

pub(super) fn many_writers_make_one_chain(open: &dyn Fn() -> Store) -> CheckResult {
    let stores = several(open, 4);
    let ids = at_once(&stores, |number, store| {
        let from = u64::try_from(number).unwrap_or_default() * 100;
        let batches =
            (0..10).map(|batch| store.audit().append_all(&entries(from + batch * 5..from + batch * 5 + 5)));
        batches.collect::<Result<Vec<_>, _>>()
    })?;
    let ids: BTreeSet<String> = ids.into_iter().flatten().flatten().collect();
    assert_eq!(ids.len(), 200, "an id was given twice");
    let found = open().audit().verify(&[], None)?;
    assert!(found.is_whole(), "{:?}", found.breaks);
    assert_eq!((found.records, found.removed), (200, 0));
    let kept = open().audit().read_after(Position::default(), 1_000)?.records;
    assert_eq!(kept.into_iter().map(|record| record.id).collect::<BTreeSet<_>>(), ids);
    assert_eq!(open().audit().count(&Filter::default())?, 200);
    Ok(())
}

pub(super) fn a_reader_goes_on_where_it_was(open: &dyn Fn() -> Store) -> CheckResult {
    let audit = open().audit();
    assert_eq!(audit.read_after(audit.end()?, 10)?.records, []);
    audit.append_all(&entries(0..7))?;
    let end = open().audit().end()?;
    audit.append_all(&entries(7..10))?;
    let mut place = Position::default();
    let mut seen = Vec::new();
    loop {
        let update = open().audit().read_after(place, 4)?;
        if update.records.is_empty() {
            break;
        }
        assert!(update.records.len() <= 4);
        seen.extend(update.records.into_iter().map(|record| record.number));
        place = update.position;
    }
    assert!(seen.into_iter().eq(1..=10));
    let later = open().audit().read_after(end, 10)?.records;
    assert!(later.iter().map(|record| record.number).eq(8..=10));
    Ok(())
}

pub(super) fn a_walk_finds_what_was_expected_and_what_is_missing(open: &dyn Fn() -> Store) -> CheckResult {
    let audit = open().audit();
    assert!(audit.verify(&[], None)?.is_whole());
    audit.append_all(&entries(0..3))?;
    let third = audit.head()?.unwrap_or_default();
    audit.append_all(&entries(3..5))?;
    let found = open().audit().verify(std::slice::from_ref(&third), Some(&third.hash))?;
    assert!(found.is_whole() && found.has_expected == Some(true), "{found:?}");
    assert_eq!(found.head, audit.head()?);
    assert_eq!(audit.verify(&[], Some(&"f".repeat(64)))?.has_expected, Some(false));
    let beyond = Head { number: 9, hash: third.hash.clone() };
    assert!(!audit.verify(&[beyond], None)?.is_whole(), "an end that was seen is missing");
    let changed = Head { number: 2, hash: third.hash };
    assert!(!audit.verify(&[changed], None)?.is_whole(), "a record is not the one that was seen");
    Ok(())
}

pub(super) fn secrets_are_not_kept(open: &dyn Fn() -> Store) -> CheckResult {
    let secret = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
    let input = format!(r#"{{"command":"GITHUB_TOKEN={secret} make {}"}}"#, "x".repeat(100_000));
    open().audit().append(&Entry { input, reason: format!("GITHUB_TOKEN={secret} is set"), ..entry(0) })?;
    let kept = open().audit().find(&Filter::default(), 1)?;
    let text = format!("{kept:?}");
    assert!(kept.len() == 1 && !text.contains(secret) && text.len() < 65_536, "{}", text.len());
    Ok(())
}

/// A decision that differs from others in all that can be asked for.
fn other(number: u64) -> Entry {
    let [text, behavior, source] = ["Write(*)", "deny", "user"].map(str::to_owned);
    let origin = OriginEntry { source, ..OriginEntry::default() };
    Entry {
        decision: "deny".to_owned(),
        said: "silence".to_owned(),
        host: "codex".to_owned(),
        tool: "Write".to_owned(),
        session: "b_session".to_owned(),
        mode: "plan".to_owned(),
        step: "A3".to_owned(),
        kind: "rule".to_owned(),
        code: Some("PC007".to_owned()),
        cwd: "/code/100%".to_owned(),
        rule: Some(RuleEntry { text, behavior, origin }),
        ..entry(number)
    }
}

pub(super) fn records_are_found_by_what_is_in_them(open: &dyn Fn() -> Store) -> CheckResult {
    let made: Vec<Entry> =
        (0..10).map(|number| if (4..6).contains(&number) { other(number) } else { entry(number) }).collect();
    open().audit().append_all(&made)?;
    let some = |text: &str| Some(text.to_owned());
    let none = Filter::default();
    let filters = [
        Filter { decision: some("deny"), ..none.clone() },
        Filter { said: some("silence"), ..none.clone() },
        Filter { host: some("codex"), ..none.clone() },
        Filter { tool: some("Write"), ..none.clone() },
        Filter { session: some("b_sess"), ..none.clone() },
        Filter { other_than: some("a-session"), ..none.clone() },
        Filter { mode: some("plan"), ..none.clone() },
        Filter { step: some("A3"), ..none.clone() },
        Filter { kind: some("rule"), ..none.clone() },
        Filter { rule: some("Write(*)"), ..none.clone() },
        Filter { code: some("PC007"), ..none.clone() },
        Filter { text: some("CODE/100%"), ..none.clone() },
        Filter { since_ms: Some(START + 4_000), until_ms: Some(START + 6_000), ..none.clone() },
    ];
    let all = open().audit().find(&none, ANY)?;
    for filter in filters {
        assert_eq!(numbers(open, &filter)?, [6, 5], "{filter:?}");
        assert_eq!(open().audit().count(&filter)?, 2, "{filter:?}");
        assert_eq!(all.iter().filter(|record| filter.has(record)).count(), 2, "{filter:?}");
    }
    for nothing in ["b%", "%", "b' OR 1 = 1 --", "b-"] {
        assert_eq!(numbers(open, &Filter { session: some(nothing), ..none.clone() })?, [0_u64; 0]);
    }
    assert_eq!(open().audit().find(&none, 3)?.len(), 3);
    Ok(())
}

pub(super) fn pages_tell_every_record_once(open: &dyn Fn() -> Store) -> CheckResult {
    // Several of one millisecond, and some that were written later than others but decided before.
    let at = |number: u64| START + (number / 7) * 10 - (number % 3) / 2 * 15;
    let made = entries(0..40).into_iter().zip(0..).map(|(one, number)| Entry { at_ms: at(number), ..one });
    open().audit().append_all(&made.collect::<Vec<_>>())?;
    let whole = numbers(open, &Filter::default())?;
    assert_eq!(whole.len(), 40);
    let mut filter = Filter::default();
    let mut paged = Vec::new();
    loop {
        let page = open().audit().find(&filter, 6)?;
        let Some(last) = page.last() else { break };
        filter.before = Some(last.id.clone());
        paged.extend(page.iter().map(|record| record.number));
        assert!(paged.len() <= 40, "a page is told twice");
    }
    assert_eq!(paged, whole);
    let unknown = Filter { before: Some("0".repeat(26)), ..Filter::default() };
    assert_eq!(numbers(open, &unknown)?, [0_u64; 0]);
    Ok(())
}

pub(super) fn a_record_is_found_by_its_id_or_the_beginning_of_one(open: &dyn Fn() -> Store) -> CheckResult {
    let ids = open().audit().append_all(&entries(0..5))?;
    for (number, id) in (1..).zip(&ids) {
        for sought in [id.clone(), id.to_lowercase(), id.chars().take(24).collect()] {
            let Found::One(record) = open().audit().get(&sought)? else { return Err(sought.into()) };
            assert_eq!((record.number, &record.id), (number, id));
        }
    }
    let beginning: String = ids.iter().flat_map(|id| id.chars()).take(4).collect();
    let Found::Several(several) = open().audit().get(&beginning)? else { return Err(beginning.into()) };
    assert_eq!(several, ids);
    for nothing in ["Z", "%", "' OR 1 = 1 --"] {
        assert_eq!(open().audit().get(nothing)?, Found::Nothing);
    }
    Ok(())
}

/// Three calls of two sessions; the first is asked about again, which costs money once more.
fn repeated() -> Vec<Entry> {
    let first = Entry { models: vec![model(0.25)], micros: 3_000, ..entry(0) };
    let again = Entry { event: "PermissionRequest".to_owned(), at_ms: START + 500, ..first.clone() };
    let other = Entry { session: "b".to_owned(), ..again.clone() };
    let allowed = Entry { decision: "allow".to_owned(), said: "allow".to_owned(), micros: 0, ..entry(61) };
    vec![first, again, Entry { decision: "deny".to_owned(), ..other }, allowed]
}

pub(super) fn a_repeated_question_is_counted_once(open: &dyn Fn() -> Store) -> CheckResult {
    open().audit().append_all(&repeated())?;
    let totals = open().audit().totals(&Filter::default(), 5)?;
    assert_eq!((totals.calls, totals.repeats, totals.prompts_avoided), (3, 1, 1));
    let decisions: Vec<_> = totals.decisions.iter().map(|one| (one.name.as_str(), one.count)).collect();
    assert_eq!(decisions, [("allow", 1), ("ask", 1), ("deny", 1)]);
    assert_eq!((totals.cost.tool_calls, totals.cost.requests, totals.cost.unpriced), (2, 3, 0));
    assert!((totals.cost.usd - 0.75).abs() < 1e-9, "{}", totals.cost.usd);
    assert_eq!((totals.latency_alone.count, totals.latency_with_model.max), (1, 3_000));
    let asked: Vec<_> = totals.asked.iter().map(|one| (one.count, one.rule.as_deref())).collect();
    assert_eq!(asked, [(1, Some("Bash(make *)"))]);
    let denied: Vec<_> = totals.denied.iter().map(|one| (one.count, one.code.as_str())).collect();
    assert_eq!(denied, [(1, "default")]);
    assert_eq!(totals.days.iter().map(|day| (day.allow, day.ask, day.deny)).collect::<Vec<_>>(), [(1, 1, 1)]);
    Ok(())
}

pub(super) fn decisions_are_counted_over_time(open: &dyn Fn() -> Store) -> CheckResult {
    open().audit().append_all(&repeated())?;
    let slots = open().audit().timeline(&Filter::default(), 60_000)?;
    let first = Slot { at_ms: START, ask: 1, deny: 1, model_calls: 3, usd: 0.75, ..Slot::default() };
    assert_eq!(slots, [first, Slot { at_ms: START + 60_000, allow: 1, ..Slot::default() }]);
    let none = Filter { host: Some("none".to_owned()), ..Filter::default() };
    assert_eq!(open().audit().timeline(&none, 0)?, []);
    Ok(())
}

pub(super) fn times_are_counted_in_bins(open: &dyn Fn() -> Store) -> CheckResult {
    let mut made = repeated();
    made.extend([1, 2, 3, 4, 1_023, 1_024].map(|micros| Entry { micros, ..entry(70) }));
    open().audit().append_all(&made)?;
    let bins = open().audit().latencies(&Filter::default())?;
    let bin = |below_us, alone, with_model| LatencyBin { below_us, alone, with_model };
    let alone = [bin(1, 1, 0), bin(2, 1, 0), bin(4, 2, 0), bin(8, 1, 0), bin(1_024, 1, 0), bin(2_048, 1, 0)];
    assert_eq!(bins, [alone.as_slice(), &[bin(4_096, 0, 2)]].concat());
    Ok(())
}

pub(super) fn sessions_are_told_the_latest_first(open: &dyn Fn() -> Store) -> CheckResult {
    let mut made = repeated();
    let [last, strange] =
        [("/code/web", "plan", "a-session"), ("/", "auto", "")].map(|(cwd, mode, session)| Entry {
            at_ms: START + 90_000,
            cwd: cwd.to_owned(),
            mode: mode.to_owned(),
            session: session.to_owned(),
            ..entry(3)
        });
    made.extend([last, strange]);
    open().audit().append_all(&made)?;
    let seen = open().audit().seen_sessions(&Filter::default(), 10)?;
    let told: Vec<_> = seen
        .iter()
        .map(|one| {
            (one.session.as_str(), one.cwd.as_str(), one.mode.as_str(), (one.allow, one.ask, one.deny))
        })
        .collect();
    assert_eq!(told, [("a-session", "/code/web", "plan", (1, 2, 0)), ("b", "/code/app", "auto", (0, 0, 1))]);
    let times: Vec<_> = seen.iter().map(|one| (one.first_ms, one.last_ms)).collect();
    assert_eq!(times, [(START, START + 90_000), (START + 500, START + 500)]);
    assert_eq!(open().audit().seen_sessions(&Filter::default(), 1)?.len(), 1);
    Ok(())
}

pub(super) fn removing_the_old_leaves_a_whole_chain(open: &dyn Fn() -> Store) -> CheckResult {
    const DAY: u64 = 24 * 60 * 60 * 1_000;
    let audit = open().audit();
    let on_day =
        |day: u64| (0..5).map(move |number| Entry { at_ms: START + day * DAY + number, ..entry(number) });
    for day in [0, 8, 16] {
        audit.append_all(&on_day(day).collect::<Vec<_>>())?;
        audit.prune(30 * DAY, START + day * DAY + 10, false)?;
    }
    let now_ms = START + 16 * DAY + 10;
    let before = audit.verify(&[], None)?;
    let trial = audit.prune(3 * DAY, now_ms, true)?;
    assert_eq!(open().audit().verify(&[], None)?, before, "a trial removed something");
    // A clock that is far ahead removes no more than one that is right.
    let pruned = audit.prune(3 * DAY, now_ms + 1_000 * DAY, false)?;
    assert!(trial.records <= 10 && pruned.records <= 10, "{trial:?} {pruned:?}");
    let after = open().audit().verify(&before.head.clone().into_iter().collect::<Vec<_>>(), None)?;
    assert!(after.is_whole(), "{:?}", after.breaks);
    assert_eq!((after.removed + after.records, after.removed), (15, before.removed + pruned.records));
    assert_eq!(open().audit().count(&Filter::default())?, after.records);
    let young = Filter { since_ms: Some(START + 16 * DAY), ..Filter::default() };
    assert_eq!(numbers(open, &young)?, [15, 14, 13, 12, 11]);
    audit.append_all(&entries(0..1))?;
    assert!(open().audit().verify(&[], None)?.is_whole());
    Ok(())
}
