//! The effects of PowerShell command lines, by the profiles of cmdlets and Windows programs.

use super::Layout;
use super::maker::{effects, effects_by};
use crate::act::Act;
use crate::argument::{Argument, Knowledge};
use crate::directories::Directories;
use crate::effect::{Certainty, Effect, Target};
use crate::invocation::{Invocation, Redirection, Survey, Wrapping};
use crate::powershell::{self, PowerShellCommand};
use crate::profile::Profiles;
use crate::survey::{Surroundings, survey};

/// Works out what a PowerShell command line does.
pub fn power_shell_layout(text: &str, surroundings: Surroundings<'_>) -> Layout {
    let read = powershell::survey(text);
    let invocations =
        read.commands.iter().map(|command| invocation_of(command, surroundings.directory)).collect();
    let found = Survey { invocations, opacities: read.opacities.clone(), ..Survey::default() };
    let mut all = effects_by(&found, surroundings, Profiles::find_cmdlet);
    for script in read.commands.iter().filter_map(shell_script) {
        all.extend(effects(&survey(script, surroundings), surroundings).into_iter().map(outside));
    }
    if !read.is_literal_only()
        && let Some(first) = read.commands.first()
    {
        let target = Target::Name("PowerShell that is more than plain commands".to_owned());
        all.push(Effect {
            certainty: Certainty::Possible,
            ..Effect::of_call(Act::Unknown, target, first.span)
        });
    }
    Layout { effects: all, survey: found }
}

/// An effect of text that the survey does not list.
fn outside(effect: Effect) -> Effect {
    Effect { invocation: None, ..effect }
}

fn invocation_of(command: &PowerShellCommand, directory: &str) -> Invocation {
    let program = Argument {
        text: command.name.clone(),
        source: Some(command.written_name.clone()),
        knowledge: Knowledge::Fixed,
        span: command.span,
        bound: None,
    };
    let redirections = command.redirections.iter();
    Invocation {
        span: command.span,
        arguments: std::iter::once(program).chain(command.arguments.iter().cloned()).collect(),
        assignments: Vec::new(),
        redirections: redirections
            .map(|(access, target)| Redirection { access: *access, target: target.clone(), appends: false })
            .collect(),
        directories: Directories::only(directory),
        parent: command.nested_in,
        background: false,
        wrapping: Wrapping::Nothing,
        piped: command.piped.clone(),
        substituted: 0..0,
        code: None,
        decoded: command.decoded,
        given: None,
        input: None,
        put: None,
    }
}

/// Returns the script that a shell of the bash family is given.
fn shell_script(command: &PowerShellCommand) -> Option<&str> {
    if !matches!(command.name.as_str(), "bash" | "sh" | "zsh" | "wsl") {
        return None;
    }
    let mut words = command.arguments.iter().skip_while(|word| word.text != "-c" && word.text != "-lc");
    words.nth(1).and_then(Argument::fixed)
}
