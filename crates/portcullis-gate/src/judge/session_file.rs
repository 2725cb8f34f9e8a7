//! The file a host writes its session to, read from its end.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use portcullis_classifier::transcript::{
    NoticeKind, Transcript, TranscriptEntry, TranscriptFormat, read, read_answers, read_end, read_outcomes,
};

use super::call_judge::SessionHistory;

/// How much of a session file is read, in bytes, counted from its end.
const LONGEST: u64 = 8 << 20;

/// How long the first line of a longer file may be, in bytes: it says what kind of session it is.
const LONGEST_LINE: u64 = 256 << 10;

/// How many subagents of a session are looked at.
const MOST_SUBAGENTS: usize = 64;

/// Reads a session file.
pub(super) fn read_session(path: &Path, format: Option<TranscriptFormat>) -> io::Result<Transcript> {
    // A pipe or a device would keep the hook waiting.
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"));
    }
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    if length <= LONGEST {
        let mut bytes = Vec::with_capacity(usize::try_from(length).unwrap_or_default());
        file.take(LONGEST).read_to_end(&mut bytes)?;
        return Ok(read(&bytes, format));
    }
    let mut first = Vec::new();
    (&mut file).take(LONGEST_LINE).read_to_end(&mut first)?;
    let first_line = first.split(|byte| *byte == b'\n').next().unwrap_or_default();
    file.seek(SeekFrom::Start(length - LONGEST))?;
    let mut end = Vec::new();
    file.take(LONGEST).read_to_end(&mut end)?;
    Ok(read_end(first_line, &end, format))
}

/// Adds what became of the calls of a session and of its subagent, and what the user answered where the main agent asked.
/// What cannot be read is not known.
pub(super) fn add_results(transcript: &mut Transcript, history: &SessionHistory) {
    let Some(main) = &history.file else { return };
    if let Ok(bytes) = read_end_of(main) {
        transcript.outcomes = read_outcomes(&bytes, history.format);
        transcript.answers = read_answers(&bytes, history.format);
    }
    let agent = history.agent.as_ref().filter(|agent| is_plain_name(agent));
    if let Some(bytes) = agent.and_then(|agent| read_end_of(&subagent_file(main, agent)).ok()) {
        transcript.outcomes.extend(read_outcomes(&bytes, history.format));
    }
}

/// Reads the end of a regular file.
fn read_end_of(path: &Path) -> io::Result<Vec<u8>> {
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"));
    }
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(LONGEST)))?;
    let mut bytes = Vec::new();
    file.take(LONGEST).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn is_plain_name(agent: &str) -> bool {
    !agent.is_empty() && agent.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
}

fn subagent_file(main: &Path, agent: &str) -> PathBuf {
    main.with_extension("").join("subagents").join(format!("agent-{agent}.jsonl"))
}

/// Reads what the subagents of a Claude Code session did. What cannot be read, or is one too many, counts as cut.
pub(super) fn read_subagents(main: &Path) -> Vec<Transcript> {
    let Ok(entries) = fs::read_dir(main.with_extension("").join("subagents")) else { return Vec::new() };
    let files = entries.flatten().map(|entry| entry.path());
    let files = files.filter(|file| file.extension().is_some_and(|extension| extension == "jsonl"));
    let read = |(place, file): (usize, PathBuf)| {
        let within = Some(file).filter(|_| place < MOST_SUBAGENTS);
        within
            .and_then(|file| read_session(&file, Some(TranscriptFormat::Claude)).ok())
            .unwrap_or_else(unknown)
    };
    files.take(MOST_SUBAGENTS + 1).enumerate().map(read).collect()
}

/// Stands for what happened and cannot be read.
fn unknown() -> Transcript {
    Transcript { is_cut: true, ..Transcript::default() }
}

/// Reads the session of a Claude Code subagent: the user's words from the main session, then what the subagent did.
///
/// The task a subagent was given was written by an agent, so it is nobody's consent.
pub(super) fn read_subagent(main: &Path, agent: &str) -> io::Result<Transcript> {
    let mut transcript = read_session(main, Some(TranscriptFormat::Claude))?;
    // Where the subagent's own file is missing, so is what it did.
    if !is_plain_name(agent) {
        return Ok(Transcript { is_cut: true, ..transcript });
    }
    let mut inner = read_session(&subagent_file(main, agent), Some(TranscriptFormat::Claude))
        .unwrap_or_else(|_| unknown());
    for entry in &mut inner.entries {
        if let TranscriptEntry::Human(text) = entry {
            *entry = TranscriptEntry::Notice { kind: NoticeKind::Agent, text: std::mem::take(text) };
        }
    }
    transcript.entries.append(&mut inner.entries);
    transcript.skipped += inner.skipped;
    transcript.is_cut |= inner.is_cut;
    Ok(transcript)
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn line(uuid: &str, is_sidechain: bool, text: &str) -> String {
        format!(
            r#"{{"type":"user","uuid":"{uuid}","parentUuid":null,"isSidechain":{is_sidechain},"message":{{"content":"{text}"}}}}"#
        ) + "\n"
    }

    #[test]
    fn what_is_no_regular_file_is_an_error() {
        let directory = tempfile::tempdir().unwrap();
        for path in [directory.path(), Path::new("/dev/zero"), &directory.path().join("missing")] {
            assert!(read_session(path, None).is_err(), "{}", path.display());
        }
    }

    #[test]
    fn of_a_long_file_the_end_is_read_and_the_first_line_says_what_it_is() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("session.jsonl");
        let words = |text: &str| format!("{{\"user\":\"{text}\"}}\n");
        let filler = words(&"x".repeat(1 << 20)).repeat(9);
        fs::write(&path, words("first") + &filler + &words("last")).unwrap();
        let turns = read_session(&path, None).unwrap().human_turns();
        assert_eq!(turns.last().map(String::as_str), Some("last"));
        assert!(turns.len() < 10 && !turns.contains(&"first".to_owned()), "{}", turns.len());
    }

    #[test]
    fn a_subagent_has_the_users_words_from_the_main_session_only() {
        let directory = tempfile::tempdir().unwrap();
        let main = directory.path().join("session.jsonl");
        fs::write(&main, line("a", false, "main words")).unwrap();
        let inner = directory.path().join("session/subagents");
        fs::create_dir_all(&inner).unwrap();
        // Also where the file claims that nobody but the user speaks.
        fs::write(inner.join("agent-a1.jsonl"), line("b", true, "task")).unwrap();
        fs::write(inner.join("agent-a2.jsonl"), line("b", false, "task")).unwrap();
        let task = TranscriptEntry::Notice { kind: NoticeKind::Agent, text: "task".to_owned() };
        for (agent, expected) in [
            ("a1", Some(&task)),
            ("a2", Some(&task)),
            ("a3", None),
            ("", None),
            ("x/../a1", None),
            ("../a1", None),
        ] {
            let read = read_subagent(&main, agent).unwrap();
            assert_eq!(read.human_turns(), ["main words"], "{agent}");
            assert_eq!(read.entries.get(1), expected, "{agent}");
        }
    }
}
