//! What the call of a case does: its effects, the files it writes, the scripts it runs, the paths it touches.

use portcullis_analysis::command_effects::Layout;
use portcullis_analysis::effect::{Act, Effect};
use portcullis_analysis::place::Scope;
use portcullis_analysis::session_code::{code_runs, filled_directories, writes};
use portcullis_analysis::{SYNTAX_ERROR, Survey};

use super::{Case, reading};
use crate::context::Context;
use crate::effect_report::{EffectList, EffectReport};

impl Case {
    /// Returns the directories that a shell may be in after it ran the command line; `None` if nobody can tell. One that
    /// goes nowhere is where it began.
    pub fn directories_afterwards(&self) -> Option<Vec<String>> {
        let command = self.call().command()?;
        if !["cd", "pushd", "popd"].iter().any(|word| command.contains(word)) {
            return Some(vec![self.context().cwd.clone()]);
        }
        let survey = reading::survey_command(&format!("{command}\n:"), self.context().surroundings());
        let last = survey.invocations.last().filter(|last| last.program_name() == Some(":"))?;
        last.directories.alternatives().map(<[String]>::to_vec)
    }

    /// Returns the programs that the call starts, as they are written, with those of the scripts that somebody read.
    pub fn programs(&self) -> Vec<&str> {
        let scripts = self.scripts.iter().flat_map(|called| self.readings(called)).flatten();
        let surveys = std::iter::once(self.survey()).chain(scripts.map(|layout| &layout.survey));
        let commands = surveys.flat_map(|survey| &survey.invocations);
        commands.filter_map(|command| command.program()?.fixed()).collect()
    }

    /// Lists what the call would do, each thing once and no more than a person reads, in the order of its commands.
    pub fn effect_reports(&self) -> Vec<EffectReport> {
        EffectList::of(self.effects()).reports
    }

    /// Says whether the call writes files that it does not name, as a patch does.
    pub fn writes_unnamed(&self) -> bool {
        self.effects().iter().any(|effect| effect.act == Act::Write && effect.target.paths().is_empty())
    }

    /// Returns the files and directories that the call writes, absolute. What it only makes room in, gives another form or
    /// has a tool make of the project's own is none of them.
    pub fn written_paths(&self) -> Vec<String> {
        writes(self.survey(), self.effects()).flat_map(|write| write.paths.to_vec()).collect()
    }

    /// Says whether it does something that the user may have forbidden, beyond looking, fetching and writing files.
    pub fn may_cross_boundary(&self) -> bool {
        let is_plain = |act: Act| act.is_observing() || matches!(act, Act::Fetch | Act::Write);
        self.effects().iter().any(|effect| !is_plain(effect.act))
    }

    /// Returns the files that the call changes in place, absolute: all it brings into them stands in its own words.
    pub fn edited_paths(&self) -> Vec<String> {
        let edits = writes(self.survey(), self.effects()).filter(|write| write.is_in_place);
        edits.flat_map(|write| write.paths.to_vec()).collect()
    }

    /// Returns the directories that the call fills from elsewhere, absolute.
    pub fn filled_directories(&self) -> Vec<String> {
        filled_directories(self.survey(), self.effects())
    }

    /// Says whether the call removes files, so that it matters whose these are.
    pub fn removes_files(&self) -> bool {
        self.effects().iter().any(|effect| matches!(effect.act, Act::Delete | Act::DeleteTree))
    }

    /// Says whether the call may run, load or unpack files that the session wrote, so that it matters what these are.
    pub fn may_use_session_files(&self) -> bool {
        !self.scripts.is_empty()
            || !code_runs(self.survey(), self.effects()).is_empty()
            || !self.filled_directories().is_empty()
    }

    /// Says whether the call shows a secret, of the project or of anybody.
    pub fn reads_secrets(&self) -> bool {
        let Context { project, home, .. } = self.context();
        let scope = Scope { roots: vec![project.clone()], home: home.clone() };
        self.effects().iter().any(|effect| effect.shows_secret(&scope))
    }

    /// Says whether the call asks a host that not everybody knows, to which it could carry what was read before.
    pub fn asks_strangers(&self) -> bool {
        self.effects().iter().any(Effect::asks_stranger)
    }

    /// Returns the texts of the scripts of the project that the call runs, with their files, as far as the disk has
    /// told them.
    pub fn script_texts(&self) -> impl Iterator<Item = (&str, &str)> {
        // Nobody is asked for the text of a script outside the project.
        self.scripts.iter().filter_map(|called| {
            let file = called.script.file.as_str();
            Some((file, self.answers.text(file)?))
        })
    }

    /// Returns what the call would do.
    pub(crate) fn effects(&self) -> &[Effect] {
        self.subject.shell().map_or(&self.layout.effects, |shell| &shell.effects)
    }

    /// Returns the commands of the call.
    pub(crate) fn survey(&self) -> &Survey {
        self.subject.shell().map_or(&self.layout.survey, |shell| &shell.survey)
    }

    /// Returns a command line that the shell would not understand as it was likely meant.
    pub(super) fn as_meant(&self) -> Option<&Layout> {
        let has_syntax_error =
            self.survey().opacities.iter().any(|opacity| opacity.why.starts_with(SYNTAX_ERROR));
        let command = self.call.command().filter(|_| has_syntax_error)?;
        let read = || reading::read_as_meant(command, self.context.surroundings());
        self.as_meant.get_or_init(read).as_ref()
    }
}
