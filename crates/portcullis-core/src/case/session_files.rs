//! Files that the session wrote, where a call would run them or be steered by them (spec D3).
//!
//! A file of the agent's own is judged by what stands in it. What the session only edited counts as far as the edits go:
//! the rest of the file is the project's.

use std::collections::BTreeSet;

use super::judgement::AssessmentGrounds;
use super::view::CaseView;
use super::{own_scripts, reading};
use crate::disk::{DiskAnswer, DiskQuestion};
use crate::path;
use portcullis_analysis::Invocation;
use portcullis_analysis::effect::{Act, Effect, ModuleUse, Target};
use portcullis_analysis::script::{Entry, Script};
use portcullis_analysis::session_code::{
    BroughtFile, CodeRun, FileKind, SessionText, brought_before, code_runs, declares_more, is_manifest,
    kind_of, reaching_word, starting_word, steering_word,
};
use portcullis_shell::Span;

/// The most files of a session that are held against a call.
const MOST_FILES: usize = 1_000;

/// The most commands of a line that are held against each other; with more, nobody says what a run of code uses.
const MOST_COMMANDS: usize = 200;

/// Says whether a line has more commands than are followed.
fn is_too_long(view: &CaseView<'_>) -> bool {
    view.case.survey().invocations.len() > MOST_COMMANDS
}

/// Lists the files that must be read because the session wrote them and the call may use them.
pub(super) fn questions(view: &CaseView<'_>) -> Vec<DiskQuestion> {
    if is_too_long(view) {
        return Vec::new();
    }
    let runs = code_runs(view.case.survey(), view.case.effects());
    let used = session_files(view).into_iter().filter(|file| runs.iter().any(|run| run.uses(file)));
    used.map(|file| DiskQuestion::Text(file.to_owned())).collect()
}

/// Returns an unknown effect for everything of the session's own that a call uses and that is not known to be harmless.
pub(super) fn doubts(view: &CaseView<'_>, grounds: &AssessmentGrounds) -> Vec<Effect> {
    let case = view.case;
    if is_too_long(view) {
        let why = Target::Name("the line runs more commands than are followed".to_owned());
        return vec![Effect::of_call(Act::Unknown, why, Span::default())];
    }
    let runs = code_runs(case.survey(), case.effects());
    if runs.is_empty() {
        return Vec::new();
    }
    let files = session_files(view);
    let filled: Vec<String> =
        case.context().session.filled.iter().cloned().chain(case.filled_directories()).collect();
    let mut doubts = BTreeSet::new();
    for run in &runs {
        let used = files.iter().filter(|file| run.uses(file));
        doubts
            .extend(used.filter_map(|file| Some((file_doubt(view, grounds, run, file)?, run.command.span))));
        doubts.extend(filled_doubt(&filled, run).map(|why| (why, run.command.span)));
        doubts.extend(line_doubt(view, run, &files).map(|why| (why, run.command.span)));
    }
    doubts.into_iter().map(|(why, span)| Effect::of_call(Act::Unknown, Target::Name(why), span)).collect()
}

/// Returns the files that the session is known to have written.
fn session_files<'a>(view: &CaseView<'a>) -> BTreeSet<&'a str> {
    let session = &view.case.context().session;
    let all = session.written.keys().chain(&session.touched).map(String::as_str);
    all.take(MOST_FILES).collect()
}

/// Says what is not known of a file of the session that a command uses.
fn file_doubt(
    view: &CaseView<'_>,
    grounds: &AssessmentGrounds,
    run: &CodeRun<'_>,
    file: &str,
) -> Option<String> {
    let case = view.case;
    let session = &case.context().session;
    let name = path::file_name(file).unwrap_or(file);
    let unread = || format!("what `{name}` does, which may have been written in this session");
    let written = session.written.get(file).and_then(Option::as_deref);
    let on_disk = match case.answers.text_answer(file) {
        Some(DiskAnswer::Text(text)) => Some(text.as_str()),
        Some(DiskAnswer::Absent) => None,
        // A directory that a command filled is no file; what it holds is told by the calls that use it.
        _ if written.is_none() && kind_of(file) == FileKind::Settings => return None,
        _ => return Some(unread()),
    };
    let pieces = session.edits.get(file).map(Vec::as_slice).filter(|_| written.is_none());
    let texts = on_disk.into_iter().chain(written.filter(|written| Some(*written) != on_disk));
    for whole in texts {
        let text = SessionText { whole, pieces };
        if run.installs && declares_more(file, &text) {
            return Some(format!("what `{name}` declares, to which this session added"));
        }
        let is_called = view.scripts().any(|called| called.script.file == file);
        if is_manifest(file) && !matches!(kind_of(file), FileKind::Code(_)) {
            match starting_word(file, &text, run.tool(), is_called) {
                Some(word) => {
                    return Some(format!("what `{word}` in `{name}` does, written in this session"));
                }
                None => continue,
            }
        }
        if is_called {
            continue;
        }
        match read_own(view, grounds, file, &text) {
            OwnReading::Harmless => continue,
            OwnReading::Found => return Some(unread()),
            OwnReading::Open => {}
        }
        match kind_of(file) {
            FileKind::Code(language) => {
                if let Some(word) = reaching_word(language, &text) {
                    return Some(format!("what `{name}` does with `{word}`, written in this session"));
                }
                if language == "shell" {
                    return Some(unread());
                }
            }
            FileKind::Settings if is_plain(&text) => {}
            FileKind::Settings | FileKind::Unread if run.may_be_settings(file) => {
                if let Some(word) = steering_word(&text) {
                    return Some(format!("what `{word}` in `{name}` does, written in this session"));
                }
            }
            FileKind::Data | FileKind::Settings | FileKind::Unread => return Some(unread()),
        }
    }
    None
}

/// Says whether all that the session put into a file of code is a computation, by each text that is known of it.
pub(super) fn is_computation(view: &CaseView<'_>, file: &str) -> bool {
    let FileKind::Code(language) = kind_of(file) else { return false };
    let session = &view.case.context().session;
    let written = view.case.own_text(file);
    let pieces = session.edits.get(file).map(Vec::as_slice).filter(|_| written.is_none());
    let mut texts = view.case.answers.text(file).into_iter().chain(written).peekable();
    let has_text = texts.peek().is_some();
    let is_plain = |whole: &str| reaching_word(language, &SessionText { whole, pieces }).is_none();
    has_text && language != "shell" && texts.all(is_plain)
}

/// Says whether nothing was written.
fn is_plain(text: &SessionText<'_>) -> bool {
    text.own().trim().is_empty()
}

/// What a reader makes of a file that the session wrote.
enum OwnReading {
    /// All of it is understood, and nobody has to vouch for any of it.
    Harmless,
    /// Something is found in it that a call of its own would be stopped for.
    Found,
    /// It is not understood to its end.
    Open,
}

/// Reads what the session put into a file.
fn read_own(
    view: &CaseView<'_>,
    grounds: &AssessmentGrounds,
    file: &str,
    text: &SessionText<'_>,
) -> OwnReading {
    let own = text.own();
    // Settings without an ending read like a shell's assignments.
    if !matches!(kind_of(file), FileKind::Code(_)) && !own.trim_start().starts_with("#!") {
        return OwnReading::Open;
    }
    let script = Script { file: file.to_owned(), entry: Entry::Whole, arguments: None };
    let Some(layout) = reading::read_script(&script, &own, view.case.context().surroundings()) else {
        return OwnReading::Open;
    };
    let assessment = grounds.assess_text(&layout);
    // Where its modules lie is told by its own place, which the text alone does not know.
    let loads =
        |effect: &Effect| matches!(&effect.target, Target::Path(path) if path.module != ModuleUse::None);
    match (assessment.findings.is_empty(), assessment.open.is_empty()) {
        (false, _) => OwnReading::Found,
        (true, true) if !layout.effects.iter().any(loads) => OwnReading::Harmless,
        (true, _) => OwnReading::Open,
    }
}

/// Says what is not known of a directory that the session filled from elsewhere and in which a command runs code.
fn filled_doubt(filled: &[String], run: &CodeRun<'_>) -> Option<String> {
    let directory = filled.iter().find(|directory| run.works_in(directory))?;
    let name = path::file_name(directory).unwrap_or(directory);
    Some(format!("what the code in `{name}` does, which this session fetched or unpacked"))
}

/// Says whether a command would use a file that the session wrote, so that a mere look is none.
pub(crate) fn is_steered(view: &CaseView<'_>, invocation: &Invocation) -> bool {
    let files = session_files(view);
    if files.is_empty() || is_too_long(view) {
        return !files.is_empty();
    }
    let runs = code_runs(view.case.survey(), view.case.effects());
    let mut own = runs.iter().filter(|run| std::ptr::eq(run.command, invocation));
    own.any(|run| files.iter().any(|file| run.uses(file)))
}

/// Says what is not known of a file that the line itself writes before a command of it uses it.
fn line_doubt(view: &CaseView<'_>, run: &CodeRun<'_>, session: &BTreeSet<&str>) -> Option<String> {
    let case = view.case;
    let is_written = |file: &str| session.contains(file);
    let is_in_project = |file: &str| view.is_in_project(file);
    let brought = brought_before(case.survey(), case.effects(), run.index, is_in_project, is_written);
    let line = case.call().command().unwrap_or_default();
    // What a script of the line does is judged where it is called.
    let is_read = |file: &str| {
        case.fills(file) && !run.installs && view.scripts().any(|called| called.script.file == file)
    };
    let is_known = |file: &BroughtFile| is_read(&file.path) || own_scripts::is_built(view, &file.path);
    let mut brought = brought.into_iter().filter(|file| run.uses(&file.path) && !is_known(file));
    brought.find(|file| !is_plain_line(file, line, run)).map(|file| {
        let name = path::file_name(&file.path).unwrap_or(&file.path).to_owned();
        format!("what `{name}` does, which the same command line writes")
    })
}

/// Says whether a line puts nothing but a computation into a file.
fn is_plain_line(file: &BroughtFile, line: &str, run: &CodeRun<'_>) -> bool {
    // Quotes inside of a word are the shell's, and do not come into the file.
    let bare: String = line.chars().filter(|letter| !matches!(letter, '\'' | '"' | '\\')).collect();
    let texts = [file.text.as_deref().unwrap_or(line), file.text.as_deref().unwrap_or(&bare)];
    let texts = texts.map(|whole| SessionText { whole, pieces: None });
    if run.installs && (is_manifest(&file.path) || texts.iter().any(|text| declares_more(&file.path, text))) {
        return false;
    }
    match kind_of(&file.path) {
        FileKind::Code(language) if file.is_in_line && language != "shell" => {
            texts.iter().all(|text| reaching_word(language, text).is_none())
        }
        _ => false,
    }
}
