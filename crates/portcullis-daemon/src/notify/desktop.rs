//! Notifications of the desktop, by the program `notify-send`: a question with two buttons, taken away when it ended.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use portcullis_core::visible;
use portcullis_store::{AnswerScope, ApprovalRequest};

use super::{NotifiedQuestions, answer};
use portcullis_output::shorten::shorten;
use portcullis_output::terminal::print_notes;

/// How many notifications are shown at once. Each is a process, and nobody reads more.
const MOST_SHOWN: usize = 5;
/// The longest text of a notification, in characters.
const LONGEST_TEXT: usize = 300;

/// Where the program may be. It answers for a person, so one that somebody put on the `PATH` is not asked.
const PLACES: [&str; 3] =
    ["/usr/bin/notify-send", "/usr/local/bin/notify-send", "/run/current-system/sw/bin/notify-send"];

fn find_program() -> Option<PathBuf> {
    #[cfg(debug_assertions)]
    if let Some(program) = crate::fault::notifier() {
        return Some(program);
    }
    PLACES.iter().map(PathBuf::from).find(|place| is_installed(place))
}

/// Says whether a program is there that the administrator alone can replace.
fn is_installed(place: &Path) -> bool {
    let Ok(place) = place.canonicalize() else { return false };
    let is_closed =
        |path: &Path| fs::metadata(path).is_ok_and(|seen| seen.uid() == 0 && seen.mode() & 0o022 == 0);
    place.is_file() && place.ancestors().all(is_closed)
}

/// The notifications that are shown, by the id of their question.
#[derive(Debug, Clone, Default)]
pub(super) struct Desktop {
    shown: Arc<Mutex<BTreeMap<String, Child>>>,
}

impl Desktop {
    /// Shows a question, unless many are shown already.
    pub(super) fn show(&self, questions: &Arc<dyn NotifiedQuestions>, approval: &ApprovalRequest) {
        let mut shown = self.shown();
        if shown.len() >= MOST_SHOWN {
            return;
        }
        let Some(program) = find_program() else {
            print_notes(["`notify-send` is not installed where only the administrator writes".to_owned()]);
            return;
        };
        let mut child = match command(&program, approval).spawn() {
            Ok(child) => child,
            Err(error) => {
                print_notes([format!("`{}` cannot be started: {error}", program.display())]);
                return;
            }
        };
        let Some(mut stdout) = child.stdout.take() else { return };
        shown.insert(approval.id.clone(), child);
        drop(shown);
        let (desktop, questions, id) = (self.clone(), Arc::clone(questions), approval.id.clone());
        let is_whole = is_whole(approval);
        let reading = thread::Builder::new().name("notification".to_owned()).spawn(move || {
            let mut said = String::new();
            let is_read = stdout.by_ref().take(64).read_to_string(&mut said).is_ok();
            if let Some(mut child) = desktop.shown().remove(&id) {
                let _ = child.kill();
                let _ = child.wait();
            }
            match said.trim() {
                "allow" if is_read && is_whole => {
                    answer(questions.as_ref(), &id, "desktop", (true, AnswerScope::Once, None));
                }
                "deny" if is_read => {
                    answer(questions.as_ref(), &id, "desktop", (false, AnswerScope::Once, None));
                }
                // It was closed, or taken away.
                _ => {}
            }
        });
        if reading.is_err() {
            self.hide(&approval.id);
        }
    }

    /// Takes a notification away.
    pub(super) fn hide(&self, id: &str) {
        let child = self.shown().remove(id);
        if let Some(mut child) = child {
            let _ = child.kill();
            let _ = child.wait();
        }
    }

    fn shown(&self) -> MutexGuard<'_, BTreeMap<String, Child>> {
        self.shown.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn command(program: &Path, approval: &ApprovalRequest) -> Command {
    let question = &approval.question;
    let risk = approval.explanation.as_ref().map(|told| format!("{}: {}", told.level, told.risk));
    let title = format!("{} asks in {}", question.host, question.cwd);
    let lines = [Some(&question.summary), Some(&question.reason), risk.as_ref()];
    let text: Vec<String> = lines.into_iter().flatten().map(|line| harmless(line)).collect();
    let mut command = Command::new(program);
    command
        .args(["--app-name=Portcullis", "--urgency=critical", "--wait"])
        .args(is_whole(approval).then_some("--action=allow=Allow once"))
        .args(["--action=deny=Deny", "--"])
        .args([harmless(&title), text.join("\n")])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    command
}

/// Says whether a notification shows all of a call. One that does not lets nobody allow what they cannot see; the page and
/// the terminal show more.
fn is_whole(approval: &ApprovalRequest) -> bool {
    let summary = &approval.question.summary;
    visible(summary).chars().count() <= LONGEST_TEXT && !summary.ends_with('…')
}

/// Makes a text harmless: short, nothing hidden in it, no markup.
fn harmless(text: &str) -> String {
    let text = visible(&shorten(text, LONGEST_TEXT)).into_owned();
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_cannot_write_markup_or_hide_in_a_notification() {
        assert_eq!(harmless("echo <b>x</b> && ls"), "echo &lt;b&gt;x&lt;/b&gt; &amp;&amp; ls");
        assert_eq!(harmless("a\u{202e}b"), "a\\u{202e}b");
        assert!(harmless(&"x".repeat(5_000)).chars().count() <= LONGEST_TEXT + 1);
    }

    #[test]
    fn a_program_that_others_can_replace_is_not_asked() {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("notify-send");
        assert!(!is_installed(&program));
        fs::write(&program, "#!/bin/sh\necho allow\n").unwrap();
        assert!(!is_installed(&program), "anybody may write to the directory of temporary files");
    }
}
