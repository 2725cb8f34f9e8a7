//! Temporary files that the agent wrote, where a call runs them or what it builds of them.
//!
//! What stands in such a script is judged like a command of its own (`judgement::inside_scripts`). Here it is told which
//! effects of the call are nothing beside that.

use portcullis_analysis::Invocation;
use portcullis_analysis::effect::{Act, Effect};
use portcullis_analysis::place::Scope;
use portcullis_analysis::session_code::plain_build;

use super::judgement::is_agents_own;
use super::session_files::is_computation;
use super::view::CaseView;

/// Says whether all that an effect runs was written by the agent and judged.
pub(super) fn is_judged(view: &CaseView<'_>, scope: &Scope, effect: &Effect) -> bool {
    let is_own = |file: &str| scope.is_temporary(file) && is_read(view, file) || is_built(view, file);
    match effect.act {
        // Behind `cd x &&` a line may go on where it began, so that a file of the project may be meant as well.
        Act::Execute => {
            effect.target.paths().iter().any(|file| is_own(file))
                && effect.target.is_path_with(|file| is_own(file) || is_of_project(view, file))
        }
        Act::RunProject => command_of(view, effect).is_some_and(|command| builds_own(view, command)),
        _ => false,
    }
}

/// Says whether a program is built by the line out of texts of the agent's own that only compute.
pub(super) fn is_built(view: &CaseView<'_>, program: &str) -> bool {
    let mut writes = view.case.effects().iter().filter(|effect| {
        effect.act == Act::Write && effect.target.paths().iter().any(|path| path == program)
    });
    let builds = |effect: &Effect| {
        !effect.is_redirection && command_of(view, effect).is_some_and(|command| builds_own(view, command))
    };
    writes.next().is_some_and(builds) && writes.all(builds)
}

fn command_of<'a>(view: &CaseView<'a>, effect: &Effect) -> Option<&'a Invocation> {
    view.case.survey().invocations.get(effect.invocation?)
}

/// Says whether a command translates nothing but texts of the agent's own that only compute.
fn builds_own(view: &CaseView<'_>, command: &Invocation) -> bool {
    let is_plain =
        |file: &String| view.case.own_text(file).is_some_and(stands_alone) && is_computation(view, file);
    let is_own = |file: &String| is_plain(file) || is_of_project(view, file);
    plain_build(command).is_some_and(|inputs| inputs.iter().all(is_own))
}

/// Says whether a file is the project's own.
fn is_of_project(view: &CaseView<'_>, file: &str) -> bool {
    view.is_in_project(file) && !is_agents_own(view, file)
}

/// Says whether a text names no other file whose code it takes in; those of the system do not count.
fn stands_alone(text: &str) -> bool {
    let takes_in = |line: &str| {
        let line = line.trim();
        let directive = line.strip_prefix('#').map(str::trim_start);
        let is_foreign = directive.and_then(|rest| rest.strip_prefix("include")).is_some_and(|rest| {
            !rest.trim_start().starts_with('<') || rest.contains("..") || rest.contains("</")
        });
        let is_module = line.ends_with(';') && line.split_whitespace().any(|word| word == "mod");
        let is_import = line.strip_prefix("import").is_some_and(|rest| rest.contains("\"."));
        is_foreign || is_module || is_import || line.contains("#[path") || line.ends_with('\\')
    };
    !text.contains("include!") && !text.contains("??=") && !text.contains("%:") && !text.lines().any(takes_in)
}

/// Says whether a script of the agent's own was read, or only computes.
fn is_read(view: &CaseView<'_>, file: &str) -> bool {
    let called = view.scripts().find(|called| called.script.file == file);
    let readings = called.map(|called| view.case.readings(called)).unwrap_or_default();
    let is_understood = !readings.is_empty() && readings.iter().all(Option::is_some);
    view.case.own_text(file).is_some() && (is_understood || is_computation(view, file))
}
