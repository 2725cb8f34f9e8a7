//! The scripts that a call runs, read once for every text that is known of them.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use portcullis_analysis::Invocation;
use portcullis_analysis::command_effects::Layout;
use portcullis_analysis::effect::{Act, Effect};
use portcullis_analysis::script::{self, Entry, Script};

use super::view::CaseView;
use super::{Case, reading};
use crate::path;

/// A script that a call runs, with what it does as far as that was read.
#[derive(Debug, Clone)]
pub(crate) struct CalledScript {
    pub(crate) script: Script,
    on_disk: OnceLock<Option<Layout>>,
    /// By what the agent wrote into it in this session.
    as_written: OnceLock<Option<Layout>>,
}

impl CalledScript {
    pub(super) fn new(script: Script) -> Self {
        Self { script, on_disk: OnceLock::new(), as_written: OnceLock::new() }
    }

    /// Forgets what the agent wrote into it, because it wrote something else.
    pub(super) fn forget_written(&mut self) {
        self.as_written = OnceLock::new();
    }
}

impl Case {
    /// Lists the scripts that the command line runs, wherever they lie.
    pub(super) fn list_scripts(&self) -> Vec<CalledScript> {
        let all = script::scripts(self.survey(), self.effects());
        all.into_iter().map(CalledScript::new).collect()
    }

    /// Returns what a script does by each text that is known of it, the one on the disk first; `None` for a text that is not
    /// understood. What the agent said it wrote may not be what stands there now, so both count.
    pub(crate) fn readings<'a>(&'a self, called: &'a CalledScript) -> Vec<Option<&'a Layout>> {
        let read = |text: &str| reading::read_script(&called.script, text, self.context().surroundings());
        let (on_disk, written) = (self.answers.text(&called.script.file), self.written_text(&called.script));
        let mut readings = Vec::new();
        if let Some(text) = on_disk {
            readings.push(called.on_disk.get_or_init(|| read(text)).as_ref());
        }
        if let Some(text) = written.filter(|_| on_disk != written) {
            readings.push(called.as_written.get_or_init(|| read(text)).as_ref());
        }
        readings
    }

    /// Returns the script that the call itself writes, with what it would do.
    pub(super) fn written_script(&self) -> Option<&(Script, Layout)> {
        let read = || {
            let input = self.call().input();
            let (file, text) = (input.text("file_path")?, input.text("content")?);
            let script =
                Script { file: path::join(&self.context().cwd, file), entry: Entry::Whole, arguments: None };
            let layout = reading::read_script(&script, text, self.context().surroundings())?;
            Some((script, layout))
        };
        self.written_script.get_or_init(read).as_ref()
    }

    fn written_text(&self, script: &Script) -> Option<&str> {
        self.own_text(&script.file)
    }

    /// Returns what the agent put into a file, in this very call or earlier in the session, as far as that is known.
    pub(super) fn own_text(&self, file: &str) -> Option<&str> {
        let in_line = self.subject.shell().and_then(|shell| shell.texts.get(file));
        let in_session = || self.context().session.written.get(file)?.as_deref();
        in_line.map(String::as_str).or_else(in_session)
    }

    /// Says whether the command line itself fills a file with a text that is known.
    pub(super) fn fills(&self, file: &str) -> bool {
        self.subject.shell().is_some_and(|shell| shell.texts.contains_key(file))
    }
}

/// Returns the name of a script that a call runs and that does not exist.
pub(crate) fn missing_script(view: &CaseView<'_>) -> Option<String> {
    view.scripts().find(|called| is_missing(view, &called.script)).map(|called| called.script.name())
}

/// Says whether a script does not exist, and nothing that the call does before would make it.
pub(super) fn is_missing(view: &CaseView<'_>, script: &Script) -> bool {
    // A program that another one is told to run; what is started itself, or has a language, is the project's way to run.
    let is_operand = |effect: &Effect| {
        let command = effect.invocation.and_then(|index| view.case.survey().invocations.get(index));
        let is_program = command.and_then(Invocation::program).map(|word| word.span) == Some(effect.span);
        !is_program && !path::file_name(&script.file).is_some_and(|name| name.contains('.'))
    };
    let runs_it = |effect: &&Effect| {
        effect.act == Act::Execute && effect.target.paths().contains(&script.file) && is_operand(effect)
    };
    let runners: BTreeSet<Option<usize>> =
        view.case.effects().iter().filter(runs_it).map(|effect| effect.invocation).collect();
    let is_made = |effect: &Effect| match effect.act {
        // What runs it has not made it before.
        Act::RunProject | Act::InstallDeclared => !runners.contains(&effect.invocation),
        Act::Write => effect.target.paths().iter().any(|made| path::is_inside(&script.file, made)),
        _ => false,
    };
    let is_nowhere = match &script.entry {
        Entry::Whole => view.case.answers.is_absent(&script.file),
        Entry::Module { is_called: true, .. } => {
            let mut places = view.scripts().filter(|called| called.script.entry == script.entry);
            places.all(|place| view.case.answers.is_absent(&place.script.file))
        }
        _ => false,
    };
    is_nowhere && !is_output(view, &script.file) && !view.case.effects().iter().any(is_made)
}

/// Says whether a program is one that a build leaves: in a folder for outputs, or called like the folder of the project.
fn is_output(view: &CaseView<'_>, file: &str) -> bool {
    let is_called_like = |root: &String| path::file_name(root) == path::file_name(file);
    view.is_rebuilt(file) || view.roots.iter().any(is_called_like)
}
