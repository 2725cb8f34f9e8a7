//! Whether a hook speaks for a session: the agent whose session it is started it, and nothing but the hook.

use std::path::Path;

use super::SystemProcesses;
use super::agents::{AgentRoster, RecordedAgent, agents_of};
use super::known_programs::{SHELLS, STARTERS};
use super::process_table::{Process, ProcessTable};
use crate::Failure;

/// Letters by which a shell does more than start one program with plain words.
const SHELL_LETTERS: [char; 13] = ['|', ';', '&', '<', '>', '\n', '`', '$', '(', ')', '{', '*', '\\'];

/// What may stand after a hook.
const OR_BLOCK: &str = " || exit 2";

/// Says whether a hook was started by the agent whose session it is, and by nothing that an agent started. A session that
/// no running agent has is the hook's.
pub fn is_session_of(state: &Path, hook: u32, session: &str) -> Result<bool, Failure> {
    let (roster, table) = (AgentRoster::read(state)?, SystemProcesses::default());
    Ok(owns(&roster, &table, hook, session))
}

fn owns(roster: &AgentRoster, table: &dyn ProcessTable, hook: u32, session: &str) -> bool {
    let Some(line) = table.line(hook) else { return false };
    let starters = agents_of(table, hook);
    let launchers = launchers(roster, table, &line, &starters);
    // A program that an agent runs becomes an agent itself by starting a hook, and speaks for no person.
    let is_agents_own = line.iter().skip(1).any(|above| {
        roster.is_agent(above, table) && !starters.contains(above) && !launchers.contains(&above)
    });
    let has = |agent: &&RecordedAgent| {
        agent.sessions.iter().any(|known| known == session) && agent.is_running(table)
    };
    let mut owners = roster.agents.iter().filter(has).peekable();
    let is_owner =
        owners.peek().is_none() || owners.any(|agent| starters.iter().any(|it| agent.is(it, table)));
    is_owner && !is_agents_own && is_plain_start(table, &line)
}

/// Returns the processes right above an agent that bear its name and started nothing but it, as the launchers of packages
/// do. One that starts hooks itself is an agent of its own.
fn launchers<'a>(
    roster: &AgentRoster,
    table: &dyn ProcessTable,
    line: &'a [Process],
    starters: &[Process],
) -> Vec<&'a Process> {
    let Some(at) = line.iter().rposition(|process| starters.contains(process)) else { return Vec::new() };
    let name = line.get(at).map(Process::program).unwrap_or_default();
    let is_launcher = |above: &&Process| above.is_one_of(&[name]) && !roster.has(above, table);
    line.iter().skip(at + 1).take_while(is_launcher).collect()
}

/// Says whether the programs between a hook and its agent start nothing but the hook. One that does more feeds it.
fn is_plain_start(table: &dyn ProcessTable, line: &[Process]) -> bool {
    let Some(own) = line.first().map(|hook| table.arguments(hook.pid)) else { return false };
    let between = line.iter().skip(1).take_while(|process| process.is_one_of(&STARTERS));
    between.filter(|process| process.pid != process.session || process.terminal == 0).all(|starter| {
        let words = table.arguments(starter.pid);
        if starter.is_one_of(&SHELLS) { is_shell_of(&words, &own) } else { ends_with(&words, &own) }
    })
}

/// Says whether a shell was given a line that names the hook and nothing else. What a script does nobody knows.
fn is_shell_of(words: &[String], own: &[String]) -> bool {
    let is_code = |word: &String| word.starts_with('-') && !word.starts_with("--") && word.ends_with('c');
    let Some(at) = words.iter().position(is_code) else { return false };
    let text = words.get(at + 1).map(String::as_str).unwrap_or_default();
    // So that an agent blocks what a hook that failed did not answer.
    let text = text.strip_suffix(OR_BLOCK).unwrap_or(text);
    if text.contains(SHELL_LETTERS) {
        return false;
    }
    let said = split(text);
    let start = said.iter().position(|word| word != "exec" && !word.contains('='));
    start.and_then(|at| said.get(at..)).is_some_and(|said| said.len() == own.len() && ends_with(said, own))
}

/// Splits a text into words as a shell does that has nothing but quotes to heed.
fn split(text: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), String::new(), None);
    for letter in text.chars() {
        match quote {
            Some(open) if open == letter => quote = None,
            None if letter == '\'' || letter == '"' => quote = Some(letter),
            None if letter.is_whitespace() => words.push(std::mem::take(&mut word)),
            _ => word.push(letter),
        }
    }
    words.push(word);
    words.retain(|word| !word.is_empty());
    words
}

/// Says whether words end with a program of the same name and the same arguments.
fn ends_with(words: &[String], own: &[String]) -> bool {
    let Some(tail) = words.len().checked_sub(own.len()).and_then(|at| words.get(at..)) else { return false };
    let (Some((program, arguments)), Some((own_program, own_arguments))) =
        (tail.split_first(), own.split_first())
    else {
        return false;
    };
    let name = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
    name(program) == name(own_program) && arguments == own_arguments
}

#[cfg(test)]
mod tests {
    use super::super::agents::tests::{in_a_terminal, noted};
    use super::super::test_table::{MadeUpTable, pts};
    use super::*;

    const HOOK: [&str; 3] = ["/opt/portcullis", "hook", "claude"];

    /// An agent whose hook is started by a shell with a text, and something that the agent started.
    fn speaking(text: &str) -> MadeUpTable {
        in_a_terminal()
            .start((100, 30), "harness", (30, pts(1)))
            .start((110, 100), "sh", (110, 0))
            .says(110, &["sh", "-c", text])
            .start((120, 110), "portcullis", (110, 0))
            .says(120, &HOOK)
            .start((130, 100), "python3", (130, 0))
            .start((140, 130), "portcullis", (130, 0))
            .says(140, &HOOK)
    }

    #[test]
    fn a_session_is_spoken_for_by_its_own_agent() {
        for text in [
            "'/opt/portcullis' hook claude",
            "exec /opt/portcullis hook claude",
            "A=b portcullis hook claude",
            "'/my bin/portcullis' hook claude || exit 2",
        ] {
            let table = speaking(text);
            let roster = noted(&table, 120, "s1");
            assert!(owns(&roster, &table, 120, "s1"), "{text}");
            assert!(!owns(&roster, &table, 140, "s1"), "what the agent runs is not the agent");
            assert!(!owns(&roster, &table, 140, "s2"), "not even for a session of nobody's");
        }
    }

    #[test]
    fn the_launcher_of_an_agent_is_no_agent_above_it() {
        let launched = in_a_terminal()
            .start((90, 1), "qwen", (90, 0))
            .start((100, 90), "qwen", (90, 0))
            .start((120, 100), "portcullis", (90, 0))
            .says(120, &HOOK);
        let roster = noted(&launched, 120, "s1");
        assert!(owns(&roster, &launched, 120, "s1"));
        // One that starts hooks itself runs what is below it.
        let above = launched.start((130, 90), "portcullis", (90, 0)).says(130, &HOOK);
        let mut both = noted(&above, 130, "s0");
        both.agents.extend(noted(&above, 120, "s1").agents);
        assert!(!owns(&both, &above, 120, "s1"));
        // Nor does another agent launch it.
        let other = in_a_terminal()
            .start((90, 1), "claude", (90, 0))
            .start((100, 90), "qwen", (90, 0))
            .start((120, 100), "portcullis", (90, 0))
            .says(120, &HOOK);
        assert!(!owns(&noted(&other, 120, "s1"), &other, 120, "s1"));
    }

    #[test]
    fn a_session_of_nobodys_is_the_hooks() {
        let table = in_a_terminal().start((150, 30), "harness", (30, pts(1))).start(
            (160, 150),
            "portcullis",
            (30, pts(1)),
        );
        let before = noted(&speaking("portcullis hook claude"), 120, "s1");
        assert!(owns(&before, &table.says(160, &HOOK), 160, "s1"), "the agent has ended and is resumed");
    }

    #[test]
    fn what_an_agent_runs_does_not_become_the_agent_by_starting_a_hook() {
        let table = speaking("/opt/portcullis hook claude");
        // It noted itself for the session, as every hook does.
        let mut roster = noted(&table, 120, "s1");
        roster.agents.extend(noted(&table, 140, "s1").agents);
        assert!(!owns(&roster, &table, 140, "s1"));
        assert!(owns(&roster, &table, 120, "s1"));
    }

    #[test]
    fn whoever_feeds_a_hook_does_not_speak_for_the_session() {
        for text in [
            "echo '{}' | '/opt/portcullis' hook claude",
            "'/opt/portcullis' hook claude < forged.json",
            "'/opt/portcullis' hook claude <<< $(cat forged.json)",
            "x; '/opt/portcullis' hook claude",
            "bash forge.sh",
            "bash ./hook-claude.sh",
            ". ./portcullis hook claude",
            "source /tmp/portcullis hook claude",
            "bash /tmp/portcullis hook claude",
            "python3 /tmp/portcullis hook claude",
            "/opt/portcullis hook claude --headless",
            "",
        ] {
            let table = speaking(text);
            assert!(!owns(&noted(&table, 120, "s1"), &table, 120, "s1"), "{text}");
        }
    }

    #[test]
    fn a_script_between_an_agent_and_a_hook_is_a_stranger() {
        let through = |name: &str, words: &[&str]| {
            let table = in_a_terminal()
                .start((100, 30), "harness", (30, pts(1)))
                .start((110, 100), name, (110, 0))
                .says(110, words)
                .start((120, 110), "portcullis", (110, 0))
                .says(120, &HOOK);
            owns(&noted(&table, 120, "s1"), &table, 120, "s1")
        };
        assert!(through("timeout", &["timeout", "9", "/opt/portcullis", "hook", "claude"]));
        assert!(through("env", &["env", "A=b", "/opt/portcullis", "hook", "claude"]));
        assert!(!through("bash", &["bash", "/tmp/portcullis", "hook", "claude"]));
        assert!(!through("bash", &["bash", "forge.sh"]));
        assert!(!through("timeout", &["timeout", "9", "bash", "forge.sh"]));
    }
}
