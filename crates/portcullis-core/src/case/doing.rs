//! What the call of a case does: its effects, the files it writes, the scripts it runs, the paths it touches.

use portcullis_analysis::command_effects::Layout;
use portcullis_analysis::effect::{Act, Effect};
use portcullis_analysis::{SYNTAX_ERROR, Survey};

use super::{Case, CaseView, reading};
use crate::effect_report::{EffectList, EffectReport};
use crate::policy::Policy;

impl Case {
    /// Lists what the call would do, each thing once and no more than a person reads, in the order of its commands.
    pub fn effect_reports(&self) -> Vec<EffectReport> {
        EffectList::of(self.effects()).reports
    }

    /// Says whether the call writes files that it does not name, as a patch does.
    pub fn writes_unnamed(&self) -> bool {
        self.effects().iter().any(|effect| effect.act == Act::Write && effect.target.paths().is_empty())
    }

    /// Returns the files and directories that the call writes, absolute. What it only makes room in is none of them.
    pub fn written_paths(&self) -> Vec<String> {
        let invocations = &self.survey().invocations;
        let makes_room = |effect: &Effect| {
            let command = effect.invocation.and_then(|index| invocations.get(index));
            command.and_then(|command| command.program_name()) == Some("mkdir")
        };
        let writes = |effect: &&Effect| matches!(effect.act, Act::Write | Act::Link) && !makes_room(effect);
        self.effects().iter().filter(writes).flat_map(|effect| effect.target.paths().to_vec()).collect()
    }

    /// Says whether it does something that the user may have forbidden, beyond looking, fetching and writing files.
    pub fn may_cross_boundary(&self) -> bool {
        let is_plain = |act: Act| act.is_observing() || matches!(act, Act::Fetch | Act::Write);
        self.effects().iter().any(|effect| !is_plain(effect.act))
    }

    /// Says whether the call runs scripts of the project, which are judged by who wrote them.
    pub fn runs_scripts(&self, policy: &Policy) -> bool {
        CaseView::new(self, policy).scripts().next().is_some()
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
