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

/// The parts of the registry, as `reg` writes them.
const HIVES: &[&str] = &[
    "hkcc",
    "hkcr",
    "hkcu",
    "hkey_classes_root",
    "hkey_current_config",
    "hkey_current_user",
    "hkey_local_machine",
    "hkey_users",
    "hklm",
    "hku",
];

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
    let lists_variables = read.commands.iter().any(lists_variables);
    if lists_variables || read.commands.is_empty() && text.to_ascii_lowercase().contains("env:") {
        // What a variable of the environment holds is printed.
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
        arguments: std::iter::once(program).chain(words_of(command).chain(piped).map(with_slashes)).collect(),
        assignments: Vec::new(),
        redirections: redirections
            .map(|(access, target)| {
                let target = with_slashes(target.clone());
                Redirection { access: *access, target, appends: false }
            })
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
        if !is_cmdlet {
            return word;
        }
        match word.knowledge {
            Knowledge::Dynamic if is_bare(&word.text) => {
                Argument { text: format!("({})", word.text), ..word }
            }
            // A cmdlet gets the pattern itself, which no name of a file turns into a parameter.
            Knowledge::Glob if word.text.starts_with(['*', '?', '[']) => {
                let text = format!("./{}", word.text);
                Argument { source: Some(word.source.unwrap_or(word.text)), text, ..word }
            }
            _ => word,
        }
    })
}

/// Says whether a command looks at the drive of the environment's variables.
fn lists_variables(command: &PowerShellCommand) -> bool {
    let is_variable = |word: &Argument| {
        let text = word.text.trim_matches(['"', '\'']).to_ascii_lowercase();
        text.starts_with("env:") || text.contains("environment::")
    };
    command.name != "test-path" && command.arguments.iter().any(is_variable)
}

/// Writes a path as the rest of the analysis reads it: PowerShell takes either slash, on every system. What begins with a
/// drive or a hive, such as `C:\` or `HKLM\`, or names another machine is read as it stands.
fn with_slashes(word: Argument) -> Argument {
    let Some((before, _)) = word.text.split_once('\\') else { return word };
    let is_drive = before.contains(':') && !before.to_ascii_lowercase().starts_with("$env:");
    let is_hive = HIVES.contains(&before.to_ascii_lowercase().as_str());
    if before.is_empty() || is_drive || is_hive {
        return word;
    }
    let text = word.text.replace('\\', "/");
    Argument { source: Some(word.source.unwrap_or(word.text)), text, ..word }
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
