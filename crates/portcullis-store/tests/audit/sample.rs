//! Entries and trails to try things on.

use std::fs;
use std::path::PathBuf;

use portcullis_store::Store;
use portcullis_store::audit::{
    Audit, Break, EffectEntry, Entry, FindingEntry, JudgeEntry, ModelEntry, OriginEntry, RuleEntry,
    SpanEntry, SuggestionEntry, TraceEntry,
};
use tempfile::TempDir;

/// When the first entry is made.
pub(crate) const START: u64 = 1_800_000_000_000;

/// A trail in a directory of its own.
pub(crate) struct Trail {
    pub(crate) directory: TempDir,
    pub(crate) audit: Audit,
}

impl Trail {
    /// Makes an empty trail.
    pub(crate) fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let audit = Store::new(directory.path().to_path_buf()).audit();
        Self { directory, audit }
    }

    /// Makes a trail of so many records, a second apart.
    pub(crate) fn of(count: u64) -> Self {
        let trail = Self::new();
        trail.add(0..count);
        trail
    }

    /// Appends records and returns their ids.
    pub(crate) fn add(&self, numbers: std::ops::Range<u64>) -> Vec<String> {
        numbers.map(|number| self.audit.append(&entry(number)).unwrap()).collect()
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.directory.path().join("audit").join(name)
    }

    pub(crate) fn current(&self) -> String {
        fs::read_to_string(self.file("current.jsonl")).unwrap()
    }

    pub(crate) fn set_current(&self, text: &str) {
        fs::write(self.file("current.jsonl"), text).unwrap();
    }

    /// Puts the current file aside, as a writer does that finds it full.
    pub(crate) fn seal(&self, number: u32) {
        fs::rename(self.file("current.jsonl"), self.file(&format!("{number:06}.jsonl"))).unwrap();
    }

    pub(crate) fn lines(&self) -> Vec<String> {
        self.current().lines().map(str::to_owned).collect()
    }

    /// Returns the breaks of the trail as `FILE:LINE: WHAT`.
    pub(crate) fn breaks(&self) -> Vec<String> {
        self.audit.verify(&[], None).unwrap().breaks.iter().map(shown).collect()
    }
}

/// Writes a break as `FILE:LINE: WHAT`.
pub(crate) fn shown(found: &Break) -> String {
    let file = found.file.file_name().unwrap().to_str().unwrap();
    format!("{file}:{}: {}", found.line, found.what)
}

/// Makes an entry with everything an entry can have.
pub(crate) fn entry(number: u64) -> Entry {
    Entry {
        at_ms: START + number * 1_000,
        host: "claude".to_owned(),
        event: "PreToolUse".to_owned(),
        session: "a-session".to_owned(),
        agent: Some("reviewer".to_owned()),
        call_id: Some(format!("call-{number}")),
        cwd: "/code/app".to_owned(),
        mode: "auto".to_owned(),
        headless: false,
        tool: "Bash".to_owned(),
        summary: format!("Bash make step-{number}"),
        input: format!(r#"{{"command":"make step-{number}"}}"#),
        decision: "ask".to_owned(),
        said: "ask".to_owned(),
        step: "A10".to_owned(),
        kind: "default".to_owned(),
        reason: "nothing decided".to_owned(),
        rule: Some(RuleEntry {
            text: "Bash(make:*)".to_owned(),
            behavior: "ask".to_owned(),
            origin: OriginEntry {
                source: "user".to_owned(),
                file: Some("/home/me/settings.json".to_owned()),
                line: Some(7),
            },
        }),
        code: Some("PC007".to_owned()),
        denial: Some("abc-1".to_owned()),
        findings: vec![FindingEntry {
            code: "PC007".to_owned(),
            sentence: "it deploys".to_owned(),
            requested: false,
            severity: "medium".to_owned(),
            span: SpanEntry::new(0, 4),
            effect: Some(0),
        }],
        trace: vec![TraceEntry {
            step: "A1".to_owned(),
            outcome: "pass".to_owned(),
            detail: "no rule".to_owned(),
        }],
        suggestions: vec![SuggestionEntry { behavior: "allow".to_owned(), rule: "Bash(make:*)".to_owned() }],
        models: vec![ModelEntry {
            provider: "anthropic".to_owned(),
            model: "small".to_owned(),
            stage: "fast".to_owned(),
            outcome: "allow".to_owned(),
            input: 100,
            cache_read: 900,
            cache_write: 0,
            output: 5,
            cost_usd: Some(0.001),
            latency_ms: 400,
        }],
        judge: Some(JudgeEntry { prompt: "2".to_owned(), self_test: "passed".to_owned() }),
        micros: 700 + number,
        version: "1.2.3".to_owned(),
        spans: vec![SpanEntry(0, 4)],
        effects: vec![EffectEntry {
            act: "execute".to_owned(),
            target: "make".to_owned(),
            possible: true,
            spans: vec![SpanEntry(0, 4)],
        }],
        has_more_effects: true,
    }
}
