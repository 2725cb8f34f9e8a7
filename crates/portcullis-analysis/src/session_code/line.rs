//! Files that a command line writes before one of its commands uses them.

use std::collections::{BTreeMap, BTreeSet};

use crate::act::Act;
use crate::argument::Argument;
use crate::effect::Effect;
use crate::invocation::{Invocation, Survey};
use crate::lists::session_code::{UNCHANGING, UNPACKERS};
use crate::path;

/// A file that a line writes before it is used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BroughtFile {
    /// Absolute.
    pub path: String,
    /// Whether all that comes into it stands in the line, letter by letter.
    pub is_in_line: bool,
    /// All that one command puts into it, where that is known.
    pub text: Option<String>,
}

/// A command that writes files.
#[derive(Debug)]
pub struct FileWrite<'a> {
    /// The files or directories, absolute.
    pub paths: &'a [String],
    /// Whether it changes them in place, by what stands in its own words.
    pub is_in_place: bool,
    /// The command, by its place in the survey.
    writer: usize,
}

/// Lists what the commands of a line, or a call without one, write, other than what tools make of the project's own.
pub fn writes<'a>(survey: &'a Survey, effects: &'a [Effect]) -> impl Iterator<Item = FileWrite<'a>> {
    let written = effects.iter().filter(|effect| matches!(effect.act, Act::Write | Act::Link));
    let tools = tools_in(effects);
    written.filter_map(move |effect| {
        let paths = effect.target.paths();
        let Some(writer) = effect.invocation else {
            return Some(FileWrite { paths, is_in_place: false, writer: usize::MAX });
        };
        let command = survey.invocations.get(writer)?;
        let program = command.program_name().unwrap_or_default();
        let is_tool = UNCHANGING.contains(&program) && !effect.is_redirection || tools.contains(&writer);
        let is_in_place = EDITORS.contains(&program) && !effect.is_redirection;
        (!is_tool).then_some(FileWrite { paths, is_in_place, writer })
    })
}

/// Programs that bring a file elsewhere as it is.
const COPYING: &[&str] = &["cat", "cp", "gcp", "install", "ln", "mv", "rsync", "tee"];

fn program_of(command: &Invocation) -> &str {
    command.program_name().unwrap_or_default()
}

/// Signs by which a program puts letters together that stand nowhere in its words.
const MAKING_LETTERS: &[&str] = &["\\x", "\\o", "\\d", "\\u", "\\0", "\\1", "chr(", "chr ", "pack"];

/// Says whether what a command writes stands in its words as it is: nothing is filled in, and no letter is made of others.
fn spells_out(command: &Invocation) -> bool {
    let is_formatted = program_of(command) == "printf";
    let is_plain = |word: &Argument| {
        let makes = MAKING_LETTERS.iter().any(|sign| word.text.contains(sign));
        word.fixed().is_some() && !makes && !(is_formatted && word.text.contains(['%', '\\']))
    };
    let is_open = command.given.is_some() && command.input.is_none();
    // What ends without a line end goes on in what is written next.
    let has_end = !is_formatted && !command.operands().iter().any(|word| word.text == "-n");
    let appends = command.redirections.iter().any(|redirection| redirection.appends);
    !is_open && (has_end || !appends) && command.operands().iter().all(is_plain)
}

/// Programs that change files in place.
const EDITORS: &[&str] = &["ed", "ex", "gsed", "perl", "ruby", "sd", "sed"];

/// Returns the commands that are tools of the project, which make files of the project's own.
fn tools_in(effects: &[Effect]) -> BTreeSet<usize> {
    let is_running = |effect: &&Effect| matches!(effect.act, Act::RunProject | Act::InstallDeclared);
    effects.iter().filter(is_running).filter_map(|effect| effect.invocation).collect()
}

/// Lists the files that the commands before one of a line write, other than what tools make of the project's own.
pub fn brought_before(
    survey: &Survey,
    effects: &[Effect],
    index: usize,
    is_in_project: impl Fn(&str) -> bool,
    is_written: impl Fn(&str) -> bool,
) -> Vec<BroughtFile> {
    let is_own = |file: &str| is_in_project(file) && !is_written(file);
    let mut brought = Vec::new();
    for write in writes(survey, effects).filter(|write| write.writer < index) {
        let Some(command) = survey.invocations.get(write.writer) else { continue };
        let work = WriterWork::of(command, write.writer, effects);
        let is_copy = !work.reads.is_empty() && !work.is_foreign && COPYING.contains(&program_of(command));
        let is_brought = |path: &str| brought.iter().any(|file: &BroughtFile| file.path == path);
        if is_copy && work.reads.iter().all(|path| is_own(path) && !is_brought(path)) {
            continue;
        }
        // A copy of what stands in the line stands there too.
        let stands_in_line = |path: &&String| {
            let mut same = brought.iter().filter(|file: &&BroughtFile| file.path == **path).peekable();
            same.peek().is_some() && same.all(|file| file.is_in_line)
        };
        // Several files that are joined stand there in pieces.
        let is_copy_of_line = is_copy && work.reads.len() == 1 && work.reads.iter().all(stands_in_line);
        let copied = work.reads.first().filter(|_| is_copy_of_line);
        let copied =
            copied.and_then(|source| brought.iter().find(|file| file.path == **source)?.text.clone());
        let text = if work.is_foreign { None } else { command.put.clone().or(copied) };
        let is_spelled = || is_copy_of_line || work.reads.is_empty() && spells_out(command);
        let is_edit =
            || write.is_in_place && spells_out(command) && !write.paths.iter().any(|path| is_brought(path));
        let goes_on = brought.iter().any(|file: &BroughtFile| {
            let is_ended = file.text.as_ref().is_none_or(|text| text.ends_with('\n'));
            !is_ended && write.paths.contains(&file.path)
        });
        let is_in_line = !goes_on && !work.is_foreign && (text.is_some() || is_edit() || is_spelled());
        let file = |path: &String| BroughtFile { path: path.clone(), is_in_line, text: text.clone() };
        let all: Vec<BroughtFile> = write.paths.iter().map(file).collect();
        brought.extend(all);
    }
    brought.extend(compiled_before(survey, effects, index, is_in_project));
    brought
}

/// Lists the directories that commands of a line fill from elsewhere: clones, archives, what is merged from an address.
pub fn filled_directories(survey: &Survey, effects: &[Effect]) -> Vec<String> {
    let mut filled = Vec::new();
    let mut written: BTreeMap<usize, Vec<&Effect>> = BTreeMap::new();
    for effect in effects.iter().filter(|effect| effect.act == Act::Write) {
        if let Some(index) = effect.invocation {
            written.entry(index).or_default().push(effect);
        }
    }
    for (index, command) in survey.invocations.iter().enumerate() {
        let directories = command.directories.alternatives().unwrap_or_default();
        let words: Vec<&str> = command.operands().iter().map(|word| word.text.as_str()).collect();
        let program = command.program_name().unwrap_or_default();
        if let Some(at) =
            words.iter().position(|word| *word == "clone").filter(|_| CLONING.contains(&program))
        {
            let rest = words.get(at + 1..).unwrap_or_default();
            let mut names = rest.iter().filter(|word| !word.starts_with('-')).rev();
            let last = names.next().copied().unwrap_or_default();
            let name = last.trim_end_matches('/').trim_end_matches(".git").rsplit(['/', ':']).next();
            filled.extend(directories.iter().map(|at| path::join(at, name.unwrap_or(last))));
            filled.extend(directories.iter().map(|at| path::join(at, last)));
        }
        let takes_address = program == "git"
            && words.iter().any(|word| matches!(*word, "fetch" | "pull" | "submodule" | "subtree"))
            && words.iter().any(|word| word.contains("://") || word.contains('@') && word.contains(':'));
        if takes_address || takes_request(program, &words) {
            filled.extend(directories.iter().cloned());
        }
        if UNPACKERS.contains(&program) {
            let into = written.get(&index).into_iter().flatten();
            filled.extend(into.flat_map(|effect| effect.target.paths().iter().cloned()));
        }
    }
    filled
}

/// Says whether a command brings in what anybody may have asked the project to take: a pull or merge request.
fn takes_request(program: &str, words: &[&str]) -> bool {
    let has = |wanted: &[&str]| words.iter().any(|word| wanted.contains(word));
    match program {
        "git" => {
            let names_request = |word: &&str| REQUEST_REFS.iter().any(|start| word.contains(start));
            has(&["fetch", "pull"]) && words.iter().any(names_request)
        }
        "gh" | "glab" | "hub" | "tea" => has(&["checkout"]) && has(REQUESTS),
        _ => false,
    }
}

/// How references of requests begin, at any of the usual services.
const REQUEST_REFS: [&str; 4] = ["pull/", "pull-requests/", "merge-requests/", "refs/changes/"];

/// What requests are called on the command line.
const REQUESTS: &[&str] = &["pr", "prs", "mr", "pulls", "pull-request"];

/// Programs whose subcommand `clone` fetches a whole repository.
const CLONING: &[&str] = &["gh", "ghq", "git", "glab", "hg", "jj", "svn"];

/// What a command does beside writing a file.
struct WriterWork<'a> {
    /// The files it reads, or is fed with.
    reads: Vec<&'a String>,
    /// Whether what it writes comes from elsewhere: the network, an archive, a patch.
    is_foreign: bool,
}

impl<'a> WriterWork<'a> {
    fn of(command: &Invocation, index: usize, effects: &'a [Effect]) -> Self {
        let sources = command.piped.clone().chain(command.substituted.clone()).chain([index]);
        let sources: Vec<usize> = sources.collect();
        let mut work = Self { reads: Vec::new(), is_foreign: false };
        for effect in effects {
            if !effect.invocation.is_some_and(|place| sources.contains(&place)) {
                continue;
            }
            match effect.act {
                Act::Read | Act::Move | Act::Link => work.reads.extend(effect.target.paths()),
                Act::Fetch | Act::Connect | Act::Unknown | Act::Query | Act::RemoteRun => {
                    work.is_foreign = true;
                }
                _ => {}
            }
        }
        let program = command.program_name().unwrap_or_default();
        work.is_foreign |= UNPACKERS.contains(&program);
        work
    }
}

/// Compilers that make a program, and what it is called if no option says so.
const COMPILERS: &[(&str, &str)] = &[
    ("cc", "a.out"),
    ("c++", "a.out"),
    ("gcc", "a.out"),
    ("g++", "a.out"),
    ("clang", "a.out"),
    ("clang++", "a.out"),
    ("tcc", "a.out"),
    ("gfortran", "a.out"),
    ("ghc", ""),
    ("rustc", ""),
    ("go", ""),
    ("fpc", ""),
    ("dmd", ""),
    ("ldc2", ""),
    ("javac", ""),
    ("kotlinc", ""),
    ("valac", ""),
    ("nim", ""),
    ("zig", ""),
    ("swiftc", ""),
    ("ocamlfind", "a.out"),
    ("ocamlopt", "a.out"),
    ("as", "a.out"),
    ("ld", "a.out"),
];

/// Options of compilers that only say how code is translated, by how they begin.
const PLAIN_OPTIONS: &[&str] =
    &["-O", "-W", "-g", "-lm", "-pedantic", "-pthread", "-std=", "--edition=", "-fsanitize=", "-v"];

/// Returns the files that a plain call of a compiler translates, absolute; `None` if it is no such call.
///
/// Any other option, and any other word that could be a place, may bring in more code.
pub fn plain_build(command: &Invocation) -> Option<Vec<String>> {
    let name = command.program_name()?;
    let is_go = name == "go";
    if !COMPILERS.iter().any(|(compiler, _)| *compiler == name) || !command.assignments.is_empty() {
        return None;
    }
    let directories = command.directories.alternatives()?;
    let mut words = command.operands().iter().map(crate::argument::Argument::fixed);
    if is_go && !matches!(words.next()?, Some("build" | "run")) {
        return None;
    }
    let mut inputs = Vec::new();
    while let Some(word) = words.next() {
        match word? {
            "-o" => _ = words.next()??,
            "--edition" => _ = words.next()??,
            option if option.starts_with('-') => {
                PLAIN_OPTIONS.iter().find(|plain| option.starts_with(*plain))?;
            }
            file if file.contains('.') => inputs.extend(directories.iter().map(|at| path::join(at, file))),
            other if is_go && !inputs.is_empty() && !other.contains(['/', '~', '@']) => {}
            _ => return None,
        }
    }
    (!inputs.is_empty()).then_some(inputs)
}

/// Lists the programs that are compiled before a command from files that are not the project's.
fn compiled_before(
    survey: &Survey,
    effects: &[Effect],
    index: usize,
    is_in_project: impl Fn(&str) -> bool,
) -> Vec<BroughtFile> {
    let mut made = Vec::new();
    for (place, command) in survey.invocations.iter().enumerate().take(index) {
        let name = command.program_name().unwrap_or_default();
        let name =
            name.trim_end_matches(|letter: char| letter.is_ascii_digit() || matches!(letter, '-' | '.'));
        let Some((_, default)) = COMPILERS.iter().find(|(compiler, _)| *compiler == name) else { continue };
        let directories = command.directories.alternatives().unwrap_or_default();
        let words: Vec<&str> = command.operands().iter().map(|word| word.text.as_str()).collect();
        let inputs: Vec<&str> =
            words.iter().copied().filter(|word| !word.starts_with('-') && word.contains('.')).collect();
        let is_foreign = |input: &&str| directories.iter().any(|at| !is_in_project(&path::join(at, input)));
        let Some(foreign) = inputs.iter().copied().find(is_foreign) else { continue };
        let stem = path::file_name(foreign).and_then(|name| name.split('.').next()).unwrap_or_default();
        let outputs =
            effects.iter().filter(|effect| effect.invocation == Some(place) && effect.act == Act::Write);
        let outputs = outputs.flat_map(|effect| effect.target.paths().to_vec());
        let default = if default.is_empty() { stem } else { default };
        let by_default = directories.iter().map(|at| path::join(at, default));
        made.extend(outputs.chain(by_default).map(|path| BroughtFile {
            path,
            is_in_line: false,
            text: None,
        }));
    }
    made
}
