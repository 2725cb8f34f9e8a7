//! Work that a call would take away for good: files that git does not hold as they are and no build makes again (spec D3).
//!
//! What the session itself wrote is the agent's to remove. What nobody could look up counts as not held.

use portcullis_analysis::effect::{Act, Certainty, Effect, Target};
use portcullis_analysis::place::{Scope, is_output_folder};
use portcullis_analysis::session_code::{FileKind, kind_of};

use super::judgement::is_agents_own;
use super::overwrite;
use super::view::CaseView;
use crate::disk::{DiskAnswer, DiskQuestion};
use crate::path;
use crate::pattern::may_name_component;
use portcullis_analysis::{Invocation, Survey};
use portcullis_shell::Span;

/// Lists what must be known of the files that a call would take away.
pub(super) fn questions(view: &CaseView<'_>) -> Vec<DiskQuestion> {
    let all = works(view)
        .into_iter()
        .flat_map(|work| work.effects.iter().flat_map(move |effect| taken(view, work, effect)));
    all.map(|taken| DiskQuestion::Unheld(taken.path)).collect()
}

/// Effects with the commands that have them.
#[derive(Clone, Copy)]
struct Work<'a> {
    effects: &'a [Effect],
    survey: &'a Survey,
}

impl<'a> Work<'a> {
    fn command(self, effect: &Effect) -> Option<&'a Invocation> {
        effect.invocation.and_then(|index| self.survey.invocations.get(index))
    }
}

/// Returns what the call does itself, and what scripts of the agent's own do that it runs.
fn works<'a>(view: &CaseView<'a>) -> Vec<Work<'a>> {
    let case = view.case;
    let mut works = vec![Work { effects: case.effects(), survey: case.survey() }];
    for called in view.scripts().filter(|called| is_agents_own(view, &called.script.file)) {
        let layouts = case.readings(called).into_iter().flatten();
        works.extend(layouts.map(|layout| Work { effects: &layout.effects, survey: &layout.survey }));
    }
    works
}

/// Returns an unknown effect for everything that would be lost.
pub(super) fn losses(view: &CaseView<'_>) -> Vec<Effect> {
    let mut losses = Vec::new();
    for (at, work) in works(view).into_iter().enumerate() {
        for effect in work.effects {
            let lost = taken(view, work, effect).into_iter().find_map(|taken| loss(view, work, &taken));
            let lost = lost.map(|lost| format!("a removal of `{lost}`, which git could not bring back"));
            let why = lost.or_else(|| emptied(view, work, effect)).or_else(|| filled_up(work, effect));
            // What stands in a script stands in no command of the call.
            let place = |why: String| match at {
                0 => Effect { word: None, ..renamed(effect, why) },
                _ => Effect::of_call(Act::Unknown, Target::Name(why), Span::default()),
            };
            losses.extend(why.map(place));
        }
    }
    losses
}

fn renamed(effect: &Effect, why: String) -> Effect {
    Effect { act: Act::Unknown, target: Target::Name(why), certainty: Certainty::Certain, ..effect.clone() }
}

/// How something is taken away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Taking {
    /// A file that is named.
    File,
    /// A directory with everything below.
    Tree,
    /// Changes, if it is a file at all: the word may be a branch.
    Changes,
    /// What a file holds, by something else that takes its place.
    Content,
    /// What a search finds.
    Found,
}

/// A path that is taken away.
struct TakenPath {
    path: String,
    taking: Taking,
    /// What a search says of the names of files; empty if it says nothing.
    names: Vec<String>,
}

/// Returns the paths of the project that an effect takes away, as far as git and builds may not make them again.
fn taken(view: &CaseView<'_>, work: Work<'_>, effect: &Effect) -> Vec<TakenPath> {
    let command = work.command(effect);
    let search = command.filter(|command| is_search(command));
    let taking = match effect.act {
        Act::Delete | Act::DeleteTree if search.is_some() => Taking::Found,
        Act::Delete => Taking::File,
        Act::DeleteTree | Act::Wipe => Taking::Tree,
        Act::GitLocal => Taking::Changes,
        Act::Write => Taking::Content,
        _ => return Vec::new(),
    };
    let Some(names) = search.map_or(Some(Vec::new()), names_of) else { return Vec::new() };
    let paths = match &effect.target {
        Target::Path(target) => target.paths.clone(),
        _ if taking == Taking::Changes => command.map(checked_out).unwrap_or_default(),
        _ => Vec::new(),
    };
    let scope = Scope { roots: view.roots.clone(), home: view.case.context().home.clone() };
    let is_work = |path: &String| {
        view.is_in_project(path)
            && !view.is_rebuilt(path)
            && !is_temporary_place(&scope, path)
            && (taking != Taking::Content || overwrite::loses_content(view, effect, command, path))
            && !(taking == Taking::Tree && is_output_folder(path) && is_built_into(work, effect, path))
    };
    let take = |path| TakenPath { path, taking, names: names.clone() };
    paths.into_iter().filter(is_work).map(take).collect()
}

/// Says whether a program chooses by itself what it removes.
fn is_search(command: &Invocation) -> bool {
    command.program_name().is_some_and(|name| matches!(name, "bfs" | "find" | "gfind"))
}

/// Returns what a search says of the names of files; `None` if it finds nothing that could be lost: empty directories.
fn names_of(search: &Invocation) -> Option<Vec<String>> {
    let words: Vec<&str> = search.operands().iter().map(|word| word.text.as_str()).collect();
    let finds_nothing = words.contains(&"-empty") || words.windows(2).any(|two| two == ["-type", "d"]);
    let negates = |word: &str| matches!(word, "!" | "-not");
    let is_group_negated = words.windows(2).any(|two| matches!(two, [word, "("] if negates(word)));
    let is_chosen = is_group_negated || words.iter().any(|word| matches!(*word, "-o" | "-or" | ","));
    // What a test leaves out leaves less to be found.
    let names = words.iter().enumerate().filter_map(|(at, test)| {
        let is_left_out = at.checked_sub(1).and_then(|at| words.get(at)).is_some_and(|word| negates(word));
        let name = words.get(at + 1).filter(|_| matches!(*test, "-name" | "-iname") && !is_left_out)?;
        Some((*name).to_owned())
    });
    (!finds_nothing).then(|| if is_chosen { Vec::new() } else { names.collect() })
}

/// Returns the file that a lone word of `git checkout` may name: git takes it for one if there is no such branch.
fn checked_out(command: &Invocation) -> Vec<String> {
    let words: Vec<&str> = command.operands().iter().map(|word| word.text.as_str()).collect();
    match words.as_slice() {
        ["checkout", word] if !word.starts_with('-') => {
            let places = command.directories.alternatives().unwrap_or_default();
            places.iter().map(|place| path::join(place, word)).collect()
        }
        _ => Vec::new(),
    }
}

/// Says whether a path lies among temporary files while the project does not.
fn is_temporary_place(scope: &Scope, path: &str) -> bool {
    scope.is_temporary(path) && !scope.roots.iter().any(|root| scope.is_temporary(root))
}

/// Returns a file that would be lost with a path.
fn loss(view: &CaseView<'_>, work: Work<'_>, taken: &TakenPath) -> Option<String> {
    let TakenPath { path, taking, names } = taken;
    let session = &view.case.context().session;
    let is_own = |file: &str| {
        let is_whole = matches!(session.written.get(file), Some(Some(_))) || session.touched.contains(file);
        is_whole && !session.edits.contains_key(file)
    };
    let is_named = |file: &str| {
        let name = path::file_name(file).unwrap_or(file);
        names.is_empty() || names.iter().any(|pattern| may_name_component(pattern, name))
    };
    let shown = || path::file_name(path).unwrap_or(path).to_owned();
    match view.case.answers.settings(&DiskQuestion::Unheld(path.clone())) {
        // What lies there now was there before the line.
        Some(DiskAnswer::Leads(lost)) => {
            let lost = lost.iter().find(|file| is_named(file) && !is_own(file))?;
            Some(path::file_name(lost).unwrap_or(lost).to_owned())
        }
        Some(DiskAnswer::Absent) => {
            (*taking == Taking::Tree && !is_own(path) && !is_made_here(view, work, path)).then(shown)
        }
        _ => Some(shown()),
    }
}

/// Says whether a command that empties a folder also fills it.
fn is_built_into(work: Work<'_>, emptying: &Effect, folder: &String) -> bool {
    let fills = |effect: &Effect| effect.act == Act::Write && effect.invocation == emptying.invocation;
    work.effects.iter().any(|effect| fills(effect) && effect.target.paths().contains(folder))
}

/// Says whether the same line makes a file, so that it may also take it away.
fn is_made_here(view: &CaseView<'_>, work: Work<'_>, file: &str) -> bool {
    let makes = |effect: &&Effect| matches!(effect.act, Act::Write | Act::Link);
    let mut made = work.effects.iter().filter(makes).flat_map(|effect| effect.target.paths());
    made.any(|made| path::is_inside(file, made) && !view.roots.contains(made))
}

/// Says that a file of code is emptied: a redirection without a command, a size of nothing.
fn emptied(view: &CaseView<'_>, work: Work<'_>, effect: &Effect) -> Option<String> {
    let command = work.command(effect)?;
    let has_size =
        |size: &str| command.operands().iter().any(|word| word.text.trim_start_matches("-s") == size);
    let is_emptied = match command.program_name() {
        None | Some(":" | "true") => effect.is_redirection && command.arguments.len() < 2,
        Some("truncate") => has_size("0") || has_size("--size=0"),
        _ => false,
    };
    let is_code = |path: &&String| {
        matches!(kind_of(path), FileKind::Code(_) | FileKind::Unread) && !view.is_rebuilt(path)
    };
    let file =
        effect.target.paths().iter().find(is_code).filter(|_| is_emptied && effect.act == Act::Write)?;
    view.is_in_project(file)
        .then(|| format!("an end to all that `{}` holds", path::file_name(file).unwrap_or(file)))
}

/// Sizes that fill a disk.
const HUGE: &[char] = &['T', 'P', 'E', 'Z', 'Y'];

/// Says that a file grows until the disk is full: an endless output, a size beyond measure.
fn filled_up(work: Work<'_>, effect: &Effect) -> Option<String> {
    let command = work.command(effect).filter(|_| effect.act == Act::Write)?;
    let is_huge = |word: &&portcullis_analysis::Argument| {
        let text = word.text.trim_end_matches(['B', 'i']);
        let number: String = text.chars().filter(char::is_ascii_digit).collect();
        text.ends_with(HUGE) && !number.is_empty() || number.len() > 11
    };
    let is_endless = match command.program_name() {
        Some("yes") => effect.is_redirection,
        Some("truncate" | "fallocate" | "mkfile") => command.operands().iter().any(|word| is_huge(&word)),
        _ => false,
    };
    is_endless.then(|| "a file that may fill the disk".to_owned())
}
