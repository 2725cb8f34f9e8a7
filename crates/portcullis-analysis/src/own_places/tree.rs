//! Directories above our places: which commands take, fill or rewrite all that lies in them.

use super::{Trespass, workplaces};
use crate::act::Act;
use crate::argument::{Argument, Knowledge};
use crate::case::Case;
use crate::command_effects::{name_filters, searches_hidden};
use crate::effect::Effect;
use crate::effect::target::path_of;
use crate::invocation::Invocation;
use crate::lists::mcp::FILLING;
use crate::lists::places::own::{
    FILE_SERVERS, GIT_REWRITING, GIT_REWRITING_ALL, NAMING, PASSING_HIDDEN, SECRET_NAMES, SINGLE_WRITERS,
    UNPACKERS,
};
use crate::option::values;
use crate::path::{join, may_name_component, normal};
use crate::place::{OwnTouch, Scope, is_agent_directory, is_agent_shelter};

/// Says whether a command that reads a directory above secrets would come across them.
pub(super) fn is_searched(case: Case<'_>, effect: &Effect, touch: OwnTouch) -> bool {
    let Some(command) = case.command(effect) else {
        return true;
    };
    let program = command.program_name().unwrap_or_default();
    // Who serves a directory shows all that lies in it.
    if case.of(&[Act::Listen]).any(|listen| listen.invocation == effect.invocation) {
        return true;
    }
    let filters = name_filters(command.operands());
    let takes_secret = |filter: &String| SECRET_NAMES.iter().any(|name| may_name_component(filter, name));
    if !filters.is_empty() && !filters.iter().any(takes_secret) {
        return false;
    }
    !PASSING_HIDDEN.contains(&program)
        || touch.above_plain_secret
        || searches_hidden(program, command.operands())
}

/// Says whether a command puts files into a directory whose names nobody is told.
pub(super) fn fills(case: Case<'_>, effect: &Effect) -> bool {
    let Some(command) = case.command(effect).filter(|_| !effect.is_redirection) else {
        let tool = case.tool.to_ascii_lowercase();
        return effect.invocation.is_none() && FILLING.iter().any(|verb| tool.contains(verb));
    };
    match command.program_name().unwrap_or_default() {
        "cp" | "gcp" | "ln" | "gln" | "mv" | "gmv" => brings_unnamed(command),
        program => !SINGLE_WRITERS.contains(&program),
    }
}

/// Says whether a command puts all that an archive or another directory holds into a directory, hidden files too.
pub(super) fn unpacks(case: Case<'_>, effect: &Effect) -> bool {
    let Some(command) = case.command(effect).filter(|_| !effect.is_redirection) else {
        return false;
    };
    match command.program_name().unwrap_or_default() {
        "cp" | "gcp" => {
            let words: Vec<&Argument> = command.operands().iter().filter(|word| !word.is_option()).collect();
            let sources = words.split_last().map_or(&[][..], |(_, sources)| sources);
            let keeps_directories = |word: &Argument| word.text.starts_with("--pa");
            command.operands().iter().any(|word| is_onto(word) || keeps_directories(word))
                || sources.iter().any(|word| is_contents(word))
        }
        program => UNPACKERS.contains(&program),
    }
}

/// Says whether a command is told the directory and the name of a file apart, and both together are a place of ours.
pub(super) fn names_below(case: Case<'_>, effect: &Effect) -> bool {
    let mut writes = case.of(&[Act::Write]).filter(|other| other.invocation == effect.invocation);
    writes.any(|other| {
        let name = other.target.written();
        let is_name = !name.is_empty() && !name.contains('/') && effect.invocation.is_some();
        let together = effect.target.paths().iter().map(|directory| join(directory, name));
        is_name && together.into_iter().any(|path| case.own_places().touch(&path, false).inside.is_any())
    })
}

/// Says whether a command copies or moves files whose names its words do not say.
fn brings_unnamed(command: &Invocation) -> bool {
    let is_open = |word: &Argument| matches!(word.knowledge, Knowledge::Glob | Knowledge::Dynamic);
    let words = command.operands();
    words.iter().any(is_onto)
        || words.iter().any(|word| !word.is_option() && (is_contents(word) || is_open(word)))
}

/// Says whether a word means all that a directory holds.
fn is_contents(word: &Argument) -> bool {
    matches!(word.text.trim_end_matches('/').rsplit('/').next().unwrap_or_default(), "." | "..")
}

/// Says whether a word tells that a directory takes the place of another.
fn is_onto(word: &Argument) -> bool {
    word.text == "--no-target-directory"
        || word.text.starts_with('-') && !word.text.starts_with("--") && word.text.contains('T')
}

/// Says what git does to our places by working on a directory in or above them.
pub(super) fn by_repository(case: Case<'_>, effect: &Effect) -> Option<Trespass> {
    let is_change = matches!(
        effect.act,
        Act::GitLocal | Act::GitRewrite | Act::GitDiscard | Act::GitErase | Act::GitConfig | Act::GitRemote
    );
    if !is_change || case.is_in_container(effect) {
        return None;
    }
    let rewrites = case.has_word(effect, GIT_REWRITING);
    let spares = effect.act != Act::GitDiscard && case.has_word(effect, NOT_REWRITING);
    let rewrites_all = case.has_word(effect, GIT_REWRITING_ALL) && !spares;
    let takes_all =
        case.has_word(effect, &["add", "stage"]) && case.has_word(effect, &["-A", "--all", "-Af"]);
    // What a command names is all that it rewrites.
    let same = case
        .of(&[Act::GitLocal, Act::GitRewrite, Act::GitDiscard])
        .filter(|other| other.invocation == effect.invocation);
    let named: Vec<&String> = same.flat_map(|other| other.target.paths()).collect();
    let passed = passed_directories(case, effect);
    workplaces(case, effect).iter().enumerate().find_map(|(at, place)| {
        let touch = case.own_places().touch(&normal(place), false);
        if takes_all && named.is_empty() && touch.above.secret && at >= passed {
            return Some(Trespass::Read);
        }
        let is_inside = touch.inside.kept || touch.inside.secret;
        let is_above = rewrites && !touch.is_broad && is_above(case, place, touch);
        let is_within = || match named.as_slice() {
            [] => is_above_ours(touch),
            named => named.iter().any(|path| {
                let touch = case.own_places().touch(&normal(path), false);
                touch.inside.is_any() || is_above_ours(touch)
            }),
        };
        let is_rewritten = || touch.is_broad && rewrites_all && at >= passed && is_within();
        (is_inside || is_above || is_rewritten()).then_some(Trespass::Change)
    })
}

/// Returns how many of the directories that git is started in it leaves before it does anything, as it is told.
fn passed_directories(case: Case<'_>, effect: &Effect) -> usize {
    let Some(command) = case.command(effect) else { return 0 };
    let has = |start: &str| command.operands().iter().any(|word| word.text.starts_with(start));
    let entered = command.directories.alternatives().map_or(0, <[String]>::len);
    let is_sent = has("--work-tree") || has("-C") && !has("--git-dir");
    if is_sent && workplaces(case, effect).len() > entered { entered } else { 0 }
}

/// Words by which git leaves the files alone that lie in the directory it works on.
const NOT_REWRITING: &[&str] =
    &["--cached", "--mixed", "--soft", "--staged", "--stat", "-S", "-b", "-c", "list", "show"];

fn is_above_ours(touch: OwnTouch) -> bool {
    touch.above.kept || touch.above.secret
}

/// Says whether a directory holds a place of ours. A file that settings name in a project is that project's work, too.
fn is_above(case: Case<'_>, directory: &str, touch: OwnTouch) -> bool {
    touch.above.kept
        || touch.above.secret
        || touch.above_named_file && !case.scope.is_in_project(&normal(directory))
}

/// Says what a container could do to our places by a directory that it is given.
pub(super) fn by_container(case: Case<'_>, effect: &Effect) -> Option<Trespass> {
    if !matches!(effect.act, Act::ContainerLocal | Act::ContainerPower) {
        return None;
    }
    let command = case.command(effect)?;
    mounted(command, case.scope).iter().find_map(|path| {
        let touch = case.own_places().touch(path, false);
        let is_given = touch.inside.is_any()
            || touch.above.program && !touch.is_broad
            || is_above(case, path, touch)
            || is_agent_directory(path);
        is_given.then_some(Trespass::Change)
    })
}

/// Says what is read of what a search below our places finds and hands on without saying where.
pub(super) fn by_search(case: Case<'_>, effect: &Effect) -> Option<Trespass> {
    let is_nameless = effect.act.access().is_some() && effect.target.paths().is_empty();
    let place = case.command(effect).filter(|_| is_nameless)?.parent?;
    let search = case.survey.invocations.get(place)?;
    let program = search.program_name().filter(|name| PASSING_HIDDEN.contains(name))?;
    let endings = values(search.operands(), &["-e", "--extension"]);
    let is_chosen = |name: &&'static str| endings.iter().any(|ending| name.ends_with(&ending.text));
    if !endings.is_empty() && !SECRET_NAMES.iter().any(is_chosen) {
        return None;
    }
    let shows_hidden = searches_hidden(program, search.operands()) || has_hidden_switch(search);
    let mut looks = case.of(&[Act::List]).filter(|look| look.invocation == Some(place));
    let finds = looks.any(|look| {
        look.target.paths().iter().any(|path| {
            let touch = case.own_places().touch(path, false);
            touch.inside.secret || touch.above.secret && (shows_hidden || touch.above_plain_secret)
        })
    });
    finds.then_some(Trespass::Read)
}

/// Says whether `fd` is told to look at hidden files.
fn has_hidden_switch(search: &Invocation) -> bool {
    let is_switch = |word: &Argument| {
        let short = word.text.strip_prefix('-').filter(|rest| !rest.starts_with('-'));
        matches!(word.text.as_str(), "--hidden" | "--unrestricted")
            || short.is_some_and(|letters| letters.contains(['H', 'u']))
    };
    search.operands().iter().any(is_switch)
}

/// Says what a command may do to a place that is a word of it, or a part of one, where no effect says what becomes of its
/// words: it sends them, connects to them, runs code on them, or nobody knows it.
pub(super) fn by_word(case: Case<'_>, effect: &Effect) -> Option<Trespass> {
    let sends = matches!(effect.act, Act::Send | Act::CloudWrite | Act::Post | Act::Publish);
    let connects = matches!(effect.act, Act::Fetch | Act::Connect | Act::Tunnel);
    let runs = matches!(effect.act, Act::RunProject | Act::InstallPackage | Act::GitConfig | Act::Unknown);
    let concerns = (sends || connects || runs) && !case.is_in_container(effect);
    let command = case.command(effect).filter(|_| concerns)?;
    let is_search = |name: &str| name.ends_with("grep") || PASSING_HIDDEN.contains(&name);
    let takes_tree = sends || command.program_name().is_some_and(is_search);
    let home = case.scope.home.as_deref();
    let mut pieces = command
        .operands()
        .iter()
        .flat_map(|word| path_pieces(word).into_iter().map(move |piece| (word, piece)));
    pieces.find_map(|(word, piece)| {
        let target = path_of(&word.piece(piece), &command.directories, home);
        target.paths.iter().find_map(|path| {
            let touch = case.own_places().touch(path, target.is_pattern);
            if touch.inside.secret || takes_tree && touch.above.secret {
                return Some(Trespass::Read);
            }
            let is_changed = touch.inside.kept || touch.inside.program || is_agent_shelter(path, case.scope);
            (runs && is_changed).then_some(Trespass::Change)
        })
    })
}

/// Says whether a command installs a package that nobody published into a directory in which our program lies: it may
/// bring one of the same name.
pub(super) fn by_install(case: Case<'_>, effect: &Effect) -> Option<Trespass> {
    let mut installs = case.of(&[Act::InstallPackage, Act::InstallGlobal, Act::InstallDeclared]);
    let is_target = matches!(effect.act, Act::Write | Act::Execute)
        && effect.target.paths().iter().any(|path| case.own_places().touch(path, false).above.program)
        && installs.any(|install| install.invocation == effect.invocation);
    let words = case.command(effect).filter(|_| is_target)?.operands();
    let is_local = |word: &Argument| {
        matches!(word.text.as_str(), "." | "--path")
            || word.text.starts_with(['/', '~'])
            || word.text.starts_with("./")
    };
    let is_target = |word: &Argument| effect.word.as_ref().is_some_and(|target| target.span == word.span);
    words.iter().any(|word| is_local(word) && !is_target(word)).then_some(Trespass::Change)
}

/// Returns what commands may do to places that their words name and of which no effect says what becomes: scripts and
/// programs that nobody knows do what they like with their words, and tables leave out some of what the others do.
pub(super) fn untold(case: Case<'_>) -> impl Iterator<Item = (&Argument, Trespass)> {
    let commands = case.survey.invocations.iter().enumerate();
    let started = commands.filter(|(_, command)| !command.arguments.is_empty());
    started.filter_map(move |(place, command)| {
        if case.runs_in_container(place) {
            return None;
        }
        let names_alone = command.program_name().is_some_and(|program| NAMING.contains(&program));
        // Whatever a variable steers, a program that is handed a secret by it may show it.
        let mut values = command.assignments.iter().map(|variable| &variable.value);
        let set = values.find(|value| is_secret_value(case, command, value));
        let mut words = command.operands().iter().filter(|_| !names_alone);
        let shown = command.program().filter(|_| serves_ours(case, place, command));
        set.or(shown)
            .map(|word| (word, Trespass::Read))
            .or_else(|| words.find_map(|word| Some((word, by_untold_word(case, place, word)?))))
    })
}

/// Says whether a command shows a directory that holds secrets to whoever asks for its files: one that it is told, or the
/// one that it runs in. A home is one, too.
fn serves_ours(case: Case<'_>, place: usize, command: &Invocation) -> bool {
    let program = command.program_name().unwrap_or_default();
    let is_php = program.starts_with("php")
        && case.of(&[Act::Listen]).any(|listen| listen.invocation == Some(place))
        && !command.operands().iter().any(|word| word.text.starts_with("-t"));
    if !is_php && !FILE_SERVERS.contains(&program) {
        return false;
    }
    let home = case.scope.home.as_deref();
    let told: Vec<String> = command
        .operands()
        .iter()
        .filter(|word| {
            !word.is_option() && (word.text.starts_with(['/', '~', '.']) || word.text.contains('/'))
        })
        .flat_map(|word| path_of(word, &command.directories, home).paths)
        .collect();
    let entered = command.directories.alternatives().unwrap_or_default();
    let shown = if told.is_empty() { entered } else { told.as_slice() };
    shown.iter().any(|path| {
        let touch = case.own_places().touch(&normal(path), false);
        touch.inside.secret || touch.above.secret
    })
}

fn is_secret_value(case: Case<'_>, command: &Invocation, value: &Argument) -> bool {
    let target = path_of(value, &command.directories, case.scope.home.as_deref());
    let is_path = value.text.contains('/');
    is_path && target.paths.iter().any(|path| case.own_places().touch(path, false).inside.secret)
}

/// Says whether a word belongs to a command that the command at a place wraps, where it is judged.
fn is_wrapped(case: Case<'_>, place: usize, word: &Argument) -> bool {
    let mut wrapped = case.survey.invocations.iter().filter(|command| command.parent == Some(place));
    wrapped.any(|command| command.arguments.iter().any(|inner| inner.span == word.span))
}

fn by_untold_word(case: Case<'_>, place: usize, word: &Argument) -> Option<Trespass> {
    let command = case.survey.invocations.get(place)?;
    let is_plain = |piece: &&str| !piece.contains(['\'', '"', '(', ')', '<', '>', ';', '|', '&', '`', '$']);
    let is_address = word.text.contains("://") && !word.text.contains("file://");
    path_pieces(word).into_iter().filter(is_plain).find_map(|piece| {
        let target = path_of(&word.piece(piece), &command.directories, case.scope.home.as_deref());
        let paths = target.paths.iter().cloned().chain(sent_paths(case, place, piece));
        let touches = paths.map(|path| {
            let touch = case.own_places().touch(&path, target.is_pattern);
            (path, touch)
        });
        let found: Vec<(String, OwnTouch)> = touches
            .filter(|(path, touch)| touch.inside.is_any() || touch.above.is_any() || is_shelter(case, path))
            .collect();
        if found.is_empty() || is_told(case, place, &target.paths) || is_wrapped(case, place, word) {
            return None;
        }
        if found.iter().any(|(_, touch)| touch.inside.secret) {
            return Some(Trespass::Read);
        }
        let changes = !is_address && may_change(case, place);
        let fills = is_filled(case, place, word);
        let is_ours = |(path, touch): &(String, OwnTouch)| {
            let takes_tree = is_shelter(case, path) && runs_unread(case, place) || touch.above.kept && fills;
            touch.inside.is_any() || !touch.is_broad && takes_tree
        };
        (changes && found.iter().any(is_ours)).then_some(Trespass::Change)
    })
}

/// Returns where a name leads from the directories that git is sent to.
fn sent_paths(case: Case<'_>, place: usize, piece: &str) -> Vec<String> {
    let mut of_git = case.of(&[Act::GitConfig]).filter(|effect| effect.invocation == Some(place));
    let Some(effect) = of_git.next().filter(|_| !piece.starts_with(['/', '~'])) else { return Vec::new() };
    // Where git works is told from its own directory.
    let below = |directory: &String| [join(directory, piece), join(&join(directory, ".git"), piece)];
    workplaces(case, effect).iter().flat_map(below).collect()
}

fn is_shelter(case: Case<'_>, path: &str) -> bool {
    is_agent_shelter(path, case.scope)
}

/// Says whether an effect of the command says what becomes of a path.
fn is_told(case: Case<'_>, place: usize, paths: &[String]) -> bool {
    let mut effects = case.effects.iter().filter(|effect| effect.invocation == Some(place));
    effects.any(|effect| effect.target.paths().iter().any(|path| paths.contains(path)))
}

/// Says whether a word is the place to which a command brings what lies elsewhere.
fn is_filled(case: Case<'_>, place: usize, word: &Argument) -> bool {
    let words = case.survey.invocations.get(place).map(Invocation::operands).unwrap_or_default();
    let plain: Vec<&Argument> = words.iter().filter(|word| !word.is_option()).collect();
    let is_remote = |word: &&Argument| word.text.contains(':') && !word.text.starts_with(['/', '~', '.']);
    let mut brings = case.of(&[Act::Send, Act::Fetch, Act::RemoteRun, Act::CloudWrite, Act::Connect]);
    brings.any(|effect| effect.invocation == Some(place))
        && plain
            .split_last()
            .is_some_and(|(last, others)| std::ptr::eq(*last, word) && others.iter().any(is_remote))
}

/// Says whether a command runs something that nobody reads with its words.
fn runs_unread(case: Case<'_>, place: usize) -> bool {
    let mut runs = case.of(&[Act::Execute, Act::RunProject, Act::Unknown, Act::LoadCode, Act::GitDiscard]);
    runs.any(|effect| effect.invocation == Some(place))
}

/// Says whether a command may change a file that a word of it names.
fn may_change(case: Case<'_>, place: usize) -> bool {
    let words = case.survey.invocations.get(place).map(Invocation::operands).unwrap_or_default();
    let has = |list: &[&str]| words.iter().any(|word| list.contains(&word.text.as_str()));
    let mut effects = case.effects.iter().filter(|effect| effect.invocation == Some(place));
    effects.any(|effect| match effect.act {
        // What git commits or compares it leaves as it is.
        Act::GitLocal | Act::GitRewrite | Act::GitDiscard => has(GIT_REWRITING),
        // Paths in a container are not those of this machine, unless something is copied.
        Act::ContainerLocal | Act::ContainerPower => has(&["copy", "cp"]),
        act => !act.is_observing() && !effect.is_redirection,
    })
}

/// Returns the parts of a word that may be paths: `--file=PATH`, `@PATH`, `UNIX-CONNECT:PATH,OPTION`.
fn path_pieces(word: &Argument) -> Vec<&str> {
    let is_path = |piece: &str| piece.starts_with('~') || piece.contains('/');
    let last = word.text.rsplit(['=', '@']).next().unwrap_or_default();
    let mut pieces: Vec<&str> =
        word.text.split(['=', '@', ':', ',']).filter(|piece| is_path(piece)).collect();
    if is_path(last) || word.knowledge != Knowledge::Fixed {
        pieces.push(last);
    }
    pieces.retain(|piece| !piece.contains(char::is_whitespace));
    pieces
}

/// Returns the directories of this machine that a container is given.
fn mounted(command: &Invocation, scope: &Scope) -> Vec<String> {
    let plain = values(command.operands(), &["-v", "--volume"]).into_iter().filter_map(|value| {
        let source = value.text.split(':').next()?;
        source.contains(['/', '~', '.']).then(|| value.piece(source))
    });
    let long = values(command.operands(), &["--mount"]).into_iter().filter_map(|value| {
        let mut parts = value.text.split(',').filter_map(|part| part.split_once('='));
        let (_, source) = parts.find(|(key, _)| matches!(*key, "source" | "src"))?;
        Some(value.piece(source))
    });
    plain
        .chain(long)
        .flat_map(|word| path_of(&word, &command.directories, scope.home.as_deref()).paths)
        .collect()
}
