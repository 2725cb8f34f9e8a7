//! The effects of PowerShell command lines, by the profiles of cmdlets and Windows programs.

use portcullis_shell::Span;

use super::Layout;
use super::maker::{Lookup, effects, effects_by};
use super::{power_shell_native, power_shell_pipe};
use crate::act::{Access, Act};
use crate::argument::{Argument, Bound, Knowledge};
use crate::effect::{Certainty, Effect, Target};
use crate::environment::is_secret_name;
use crate::invocation::{Invocation, Redirection, Survey, Wrapping};
use crate::powershell::{self, CommandDialect, EXPORT, PowerShellCommand, PowerShellSurvey};
use crate::profile::Profiles;
use crate::shape::Shape;
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
    let read = powershell::survey_in(text, surroundings.directory);
    let invocations: Vec<Invocation> = read
        .commands
        .iter()
        .map(|command| {
            let piped = power_shell_pipe::piped_paths(command, &read.commands);
            invocation_of(command, piped, surroundings.home)
        })
        .collect();
    let natives = read.commands.iter().zip(&invocations).map(|(command, invocation)| {
        let is_native = command.name == EXPORT || power_shell_native::is_native(command);
        is_native.then(|| power_shell_native::read(command, invocation, surroundings))?
    });
    let natives: Vec<Option<Survey>> = natives.collect();
    let is_bash: Vec<bool> = natives.iter().map(Option::is_some).collect();
    let bodies = read.functions.iter().map(|name| (name.clone(), std::iter::once(0..0).collect())).collect();
    let functions = read.functions.clone();
    let opacities = read.opacities.clone();
    let mut found = Survey { invocations, opacities, functions, bodies, text: text.to_owned() };
    let places = power_shell_native::merge(&mut found, natives);
    let of_bash: Vec<bool> =
        places.iter().zip(is_bash).flat_map(|(place, is_bash)| place.clone().map(move |_| is_bash)).collect();
    let lookup = |index: usize| -> Lookup {
        let is_bash = of_bash.get(index).copied().unwrap_or_default();
        if is_bash { Profiles::find } else { Profiles::find_cmdlet }
    };
    let mut all = effects_by(&found, surroundings, &lookup);
    for script in read.commands.iter().filter_map(shell_script) {
        all.extend(effects(&survey(script, surroundings), surroundings).into_iter().map(outside));
    }
    all.extend(doubts(&read, text));
    Layout { effects: all, survey: found }
}

/// Says whether a program of bash runs PowerShell.
pub(super) fn is_launcher(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    matches!(lower.strip_suffix(".exe").unwrap_or(&lower), "powershell" | "pwsh")
}

/// Works out what PowerShell does that bash starts with words; `None` if a word is only known at run time.
///
/// Whatever is more than looking at files and changing them is unknown besides: the commands that do it are no part of
/// the survey, so that nobody could look at their words.
pub(super) fn launched(invocation: &Invocation, surroundings: Surroundings<'_>) -> Option<Vec<Effect>> {
    let words: Option<Vec<&str>> = invocation.operands().iter().map(Argument::fixed).collect();
    let quoted = |word: &str| format!(" '{}'", word.replace('\'', "''"));
    let text: String = std::iter::once("pwsh".to_owned()).chain(words?.into_iter().map(quoted)).collect();
    let [directory] = invocation.directories.alternatives()? else { return None };
    let layout = power_shell_layout(&text, Surroundings { directory, ..surroundings });
    let of_files = [Act::Write, Act::Delete, Act::DeleteTree, Act::Move];
    let is_plain = |effect: &Effect| effect.act.is_observing() || of_files.contains(&effect.act);
    // What it is not given as words it reads from its input.
    let is_fed = !invocation.piped.is_empty()
        || invocation.redirections.iter().any(|from| from.access == Access::Read)
        || layout.survey.invocations.len() < 2;
    let is_more = is_fed || !layout.effects.iter().all(is_plain);
    let mut all = layout.effects;
    if is_more {
        let target = Target::Name("what PowerShell runs".to_owned());
        all.push(Effect::of_call(Act::Unknown, target, invocation.span));
    }
    Some(all.into_iter().map(|effect| Effect { span: invocation.span, ..effect }).collect())
}

/// What is left open of the text as a whole.
fn doubts(read: &PowerShellSurvey, text: &str) -> Vec<Effect> {
    let mut all = Vec::new();
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
    all.extend(secret_variables(text).map(|name| {
        let target = Target::Name(name.to_owned());
        Effect::of_call(Act::Environment, target, Span::new(0, text.len()))
    }));
    let lists_variables = read.commands.iter().any(lists_variables);
    if lists_variables || read.commands.is_empty() && text.to_ascii_lowercase().contains("env:") {
        // What a variable of the environment holds is printed.
        let target = Target::Name("a variable of the environment".to_owned());
        all.push(Effect::of_call(Act::Unknown, target, Span::new(0, text.len())));
    }
    all
}

/// Returns the secret variables of the environment that a text reads.
fn secret_variables(text: &str) -> impl Iterator<Item = &str> {
    let is_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let pieces = text.split('$').skip(1).filter_map(|piece| {
        let piece = piece.strip_prefix('{').unwrap_or(piece);
        piece.get(..4).filter(|drive| drive.eq_ignore_ascii_case("env:"))?;
        piece.get(4..)
    });
    pieces.filter_map(move |piece| {
        let end = piece.find(|letter| !is_name(letter)).unwrap_or(piece.len());
        let (name, rest) = piece.split_at_checked(end)?;
        let is_set = rest.trim_start_matches('}').trim_start().starts_with('=');
        (is_secret_name(name) && !is_set).then_some(name)
    })
}

/// An effect of text that the survey does not list.
fn outside(effect: Effect) -> Effect {
    Effect { invocation: None, ..effect }
}

fn invocation_of(command: &PowerShellCommand, piped: Vec<Argument>, home: Option<&str>) -> Invocation {
    let program = Argument {
        text: in_home(program_of(command), home),
        source: Some(command.written_name.clone()),
        knowledge: Knowledge::Fixed,
        span: command.span,
        bound: None,
    };
    let redirections = command.redirections.iter();
    Invocation {
        span: command.span,
        arguments: std::iter::once(program)
            .chain(piped.into_iter().chain(words_of(command)).map(with_slashes))
            .collect(),
        assignments: Vec::new(),
        redirections: redirections
            .map(|(access, target)| {
                let target = with_slashes(target.clone());
                Redirection { access: *access, target, appends: false }
            })
            .collect(),
        directories: command.directories.clone(),
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

/// Returns the program of a command; a script or program that is named by its path keeps it, unless Windows has it there.
fn program_of(command: &PowerShellCommand) -> String {
    let written = command.written_name.replace('\\', "/");
    let is_named = power_shell_native::is_native(command) || powershell::is_script(&command.name);
    let lower = written.to_lowercase();
    match written.rsplit_once('/') {
        Some((directory, _)) if is_named && !SYSTEM_PLACES.iter().any(|place| lower.starts_with(place)) => {
            let file = written.rsplit('/').next().unwrap_or_default();
            let is_script = powershell::is_script(&command.name);
            format!("{directory}/{}", if is_script { file } else { &command.name })
        }
        _ => command.name.clone(),
    }
}

/// Puts the home directory for the tilde that a program begins with. A home that nobody knows is at least not here.
fn in_home(program: String, home: Option<&str>) -> String {
    match program.strip_prefix("~/") {
        Some(rest) => format!("{}/{rest}", home.unwrap_or("/~")),
        None => program,
    }
}

/// Where Windows keeps its programs.
const SYSTEM_PLACES: &[&str] = &["c:/windows/", "c:/program files/", "c:/program files (x86)/"];

/// Returns the arguments of a command. What a variable or an expression yields is never a parameter of a cmdlet, as it may
/// be an option of a program, and brackets around it say so. A switch that is set to a value is there or is not.
fn words_of(command: &PowerShellCommand) -> impl Iterator<Item = Argument> {
    let is_cmdlet = command.dialect == CommandDialect::PowerShell
        && command.name.split_once('-').is_some_and(|(verb, noun)| !verb.is_empty() && !noun.is_empty())
        && !command.name.starts_with(['.', '[']);
    let is_runner = BLOCK_RUNNERS.contains(&command.name.as_str());
    let is_written = command.name == "write-output";
    let words = command
        .arguments
        .iter()
        .filter(move |word| !(is_cmdlet && word.text.starts_with('-') && word.text.ends_with(":$false")));
    words.cloned().map(move |word| {
        if !is_cmdlet || is_runner && !word.text.starts_with('{') {
            return word;
        }
        match word.knowledge {
            Knowledge::Dynamic if word.bound.is_some() => anchored(word),
            Knowledge::Dynamic if is_written || is_bare(&word.text) => {
                Argument { text: format!("({})", word.text), ..word }
            }
            Knowledge::Fixed if word.text.starts_with('-') && word.text.ends_with(":$true") => {
                let text = word.text.trim_end_matches(":$true").to_owned();
                Argument { source: Some(word.source.unwrap_or(word.text)), text, ..word }
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

/// Writes a path of a known shape so that it is seen to be no parameter.
fn anchored(word: Argument) -> Argument {
    let is_seen = word.text.starts_with("$env:");
    let text = if is_seen { word.text.clone() } else { format!("({})", word.text) };
    let bound = word.bound.map(|bound| {
        let is_absolute =
            bound.shape.path_patterns().is_none_or(|all| all.iter().all(|path| path.starts_with('/')));
        let anchored = (!is_absolute).then(|| Shape::text("./").join(&bound.shape)).flatten();
        Box::new(Bound { shape: anchored.unwrap_or(bound.shape), ..*bound })
    });
    Argument { text, bound, ..word }
}

/// Says whether a command looks at the drive of the environment's variables.
fn lists_variables(command: &PowerShellCommand) -> bool {
    let is_variable = |word: &Argument| {
        let text = word.text.trim_matches(['"', '\'']).to_ascii_lowercase();
        text.starts_with("env:") || text.contains("environment::")
    };
    !matches!(command.name.as_str(), "remove-item" | "test-path") && command.arguments.iter().any(is_variable)
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
