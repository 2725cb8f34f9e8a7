//! The effects of PowerShell command lines, by the profiles of cmdlets and Windows programs.

use portcullis_shell::Span;

use super::Layout;
use super::maker::{effects, effects_by};
use super::power_shell_pipe;
use crate::act::Act;
use crate::argument::{Argument, Knowledge};
use crate::directories::Directories;
use crate::effect::{Certainty, Effect, Target};
use crate::invocation::{Invocation, Redirection, Survey, Wrapping};
use crate::powershell::{self, CommandDialect, PowerShellCommand};
use crate::profile::Profiles;
use crate::survey::{Surroundings, survey};

/// Cmdlets whose whole work is to run what they are given.
const BLOCK_RUNNERS: &[&str] = &["invoke-command", "start-job", "start-threadjob"];

/// Works out what a PowerShell command line does.
pub fn power_shell_layout(text: &str, surroundings: Surroundings<'_>) -> Layout {
    let read = powershell::survey(text);
    let invocations = read.commands.iter().map(|command| {
        let piped = power_shell_pipe::piped_paths(command, &read.commands);
        invocation_of(command, piped, surroundings.directory)
    });
    let invocations = invocations.collect();
    let found = Survey { invocations, opacities: read.opacities.clone(), ..Survey::default() };
    let mut all = effects_by(&found, surroundings, Profiles::find_cmdlet);
    for script in read.commands.iter().filter_map(shell_script) {
        all.extend(effects(&survey(script, surroundings), surroundings).into_iter().map(outside));
    }
    if !read.is_literal_only()
        && !read.is_followed()
        && let Some(first) = read.commands.first()
    {
        let target = Target::Name("PowerShell that is more than plain commands".to_owned());
        all.push(Effect {
            certainty: Certainty::Possible,
            ..Effect::of_call(Act::Unknown, target, first.span)
        });
    }
    if read.commands.is_empty() && text.to_ascii_lowercase().contains("env:") {
        // Nothing runs, but what a variable of the environment holds is printed.
        let target = Target::Name("a variable of the environment".to_owned());
        all.push(Effect::of_call(Act::Unknown, target, Span::new(0, text.len())));
    }
    Layout { effects: all, survey: found }
}

/// An effect of text that the survey does not list.
fn outside(effect: Effect) -> Effect {
    Effect { invocation: None, ..effect }
}

fn invocation_of(command: &PowerShellCommand, piped: Vec<Argument>, directory: &str) -> Invocation {
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
        arguments: std::iter::once(program).chain(words_of(command)).chain(piped).collect(),
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

/// Returns the arguments of a command. What a variable or a script block holds is never a parameter of a cmdlet, as it may
/// be an option of a program, and brackets around it say so.
fn words_of(command: &PowerShellCommand) -> impl Iterator<Item = Argument> {
    let is_cmdlet = command.dialect == CommandDialect::PowerShell
        && command.name.split_once('-').is_some_and(|(verb, noun)| !verb.is_empty() && !noun.is_empty())
        && !command.name.starts_with(['.', '['])
        && !BLOCK_RUNNERS.contains(&command.name.as_str());
    command.arguments.iter().cloned().map(move |word| {
        let is_value = is_cmdlet && word.knowledge == Knowledge::Dynamic && is_bare(&word.text);
        if is_value { Argument { text: format!("({})", word.text), ..word } } else { word }
    })
}

/// Says whether a word is a script block, or a variable with members and nothing beside it that could be a path.
fn is_bare(text: &str) -> bool {
    let is_of_name = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '.');
    text.starts_with('{')
        || text.strip_prefix('$').is_some_and(|name| !name.is_empty() && name.chars().all(is_of_name))
}

/// Returns the script that a shell of the bash family is given.
fn shell_script(command: &PowerShellCommand) -> Option<&str> {
    if !matches!(command.name.as_str(), "bash" | "sh" | "zsh" | "wsl") {
        return None;
    }
    let mut words = command.arguments.iter().skip_while(|word| word.text != "-c" && word.text != "-lc");
    words.nth(1).and_then(Argument::fixed)
}
