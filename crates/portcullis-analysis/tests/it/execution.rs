//! The decisive test: bash runs generated command lines, and every program they start must be one that the survey
//! lists, in a directory it names; every file that is there afterwards must be one that an effect writes.
//!
//! The lines consist of stubs and of wrappers that do no harm. Each stands in `PATH` as a script that logs its
//! directory and its arguments, then ends or becomes the wrapper.
#![expect(clippy::disallowed_methods, reason = "the oracle is a process, its log a file")]

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use portcullis_analysis::command_effects::{effects, runs_what_it_writes};
use portcullis_analysis::effect::{Act, Effect};
use portcullis_analysis::profile::Profiles;
use portcullis_analysis::{Argument, Bound, Invocation, Surroundings, base_name, survey};

use crate::lines::Lines;
use crate::shape_lines::shape_line;
use crate::value_lines::values_line;

/// Programs that are started for real after their start is logged.
const WRAPPERS: &[&str] = &[
    "base64", "basename", "bash", "cat", "dash", "date", "dirname", "env", "find", "flock", "grep", "head",
    "ls", "mktemp", "nice", "nohup", "rev", "seq", "setsid", "sh", "sort", "stdbuf", "tail", "tee",
    "timeout", "tr", "uname", "uniq", "wc", "xargs",
];

/// Where a line starts, so deep that no chain of `cd ..` leaves the folder of the test.
const DEEP: &str = "d/d/d/d/d/d/d/d/d/d/d/d/d/d";

/// The files that are there from the start.
const FILES: &[&str] = &["w/f", "w/a/g", "w/b/g", "w/a/x.ts", "w/b/y.ts", "w/a/b/z.ts", "w/a/.h.ts"];

/// Logs a start next to the directory through which the program was found.
const STUB: &str = r#"#!/bin/sh
cd -P ./ && printf '%s\0' "$#" "$PWD" "${0##*/}" "$@" >> "${0%/bin/*}/log"
case ${0##*/} in
c[1-5]) exit 0 ;;
c[6-9]) exit 1 ;;
git)
    case $* in
    ls-files | 'diff --name-only')
        # What lies outside the folder of the test is nobody's project.
        case $PWD/ in "${0%/bin/*}"/*) exec /usr/bin/find . -type f -printf '%P\n' ;; esac ;;
    'rev-parse --show-toplevel') printf '%s\n' "$PWD" ;;
    'branch --show-current') echo topic/one ;;
    *) echo 0123456789abcdef0123456789abcdef01234567 ;;
    esac ;;
*) exec "/usr/bin/${0##*/}" "$@" ;;
esac
"#;

/// Runs the NUL-ended lines of its input, each in its own directory tree.
const DRIVER: &str = r#"
root=$1 number=$2
ulimit -t 5 -f 2000
ulimit -S -u 8000
export -n OLDPWD PWD SHLVL
while IFS= read -r -d '' line; do
    tree=$root/$number
    cd "$tree/$3/w" && PATH="$tree/bin" HOME="$tree/$3/h" LC_ALL=C \
        /usr/bin/timeout -k 1 5 /bin/bash --norc --noprofile -c "$line" </dev/null >/dev/null 2>&1
    number=$((number + 2))
done
cd /
"#;

/// A program that was started, and where.
struct Start {
    directory: String,
    arguments: Vec<String>,
}

/// What came of a number of lines.
#[derive(Default)]
struct Outcome {
    lines: usize,
    opaque: usize,
    starts: usize,
    files: usize,
    uncovered: Vec<String>,
}

fn prepare(root: &Path, lines: &[String]) {
    let programs = root.join("programs");
    fs::create_dir_all(&programs).unwrap();
    let stub = programs.join("stub");
    fs::write(&stub, STUB).unwrap();
    fs::set_permissions(&stub, fs::Permissions::from_mode(0o755)).unwrap();
    let stubs = (1..=9).map(|number| format!("c{number}")).chain(["git".to_owned()]);
    for name in stubs.chain(WRAPPERS.iter().map(|&name| name.to_owned())) {
        symlink("stub", programs.join(name)).unwrap();
    }
    for number in 0..lines.len() {
        let tree = root.join(number.to_string());
        let deep = tree.join(DEEP);
        for directory in ["w/a/b", "w/a/a", "w/b/a", "h/hb"] {
            fs::create_dir_all(deep.join(directory)).unwrap();
        }
        for file in FILES {
            fs::write(deep.join(file), "a\n").unwrap();
        }
        symlink("../programs", tree.join("bin")).unwrap();
    }
}

fn run(root: &Path, lines: &[String]) {
    let drivers = [0, 1].map(|first| {
        let input = root.join(format!("lines{first}"));
        let own: Vec<&str> = lines.iter().skip(first).step_by(2).map(String::as_str).collect();
        fs::write(&input, own.join("\0") + "\0").unwrap();
        Command::new("/bin/bash")
            .args(["--norc", "-c", DRIVER, "driver"])
            .args([root.to_str().unwrap(), &first.to_string(), DEEP])
            .env_clear()
            .stdin(Stdio::from(fs::File::open(input).unwrap()))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("this test compares with bash: it must be installed")
    });
    for mut driver in drivers {
        assert!(driver.wait().unwrap().success());
    }
}

fn read_log(tree: &Path) -> Vec<Start> {
    let log = fs::read(tree.join("log")).unwrap_or_default();
    let log = String::from_utf8_lossy(&log);
    let mut fields = log.split_terminator('\0').map(str::to_owned);
    let mut starts = Vec::new();
    while let (Some(count), Some(directory)) = (fields.next(), fields.next()) {
        let count: usize = count.parse().expect("a record begins with a number");
        let arguments: Vec<String> = fields.by_ref().take(count + 1).collect();
        // The last record is cut where the log reached the size that a line may write.
        if arguments.len() > count {
            starts.push(Start { directory, arguments });
        }
    }
    starts
}

/// Lists the files that a line left behind, which were not there before.
fn left_files(tree: &Path) -> Vec<String> {
    let deep = tree.join(DEEP);
    let mut open = vec![tree.to_owned()];
    let mut left = Vec::new();
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(directory).unwrap().map(Result::unwrap) {
            let path = entry.path();
            match entry.file_type().unwrap() {
                kind if kind.is_dir() => open.push(path),
                kind if kind.is_file() && path != tree.join("log") => {
                    let is_old = FILES.iter().any(|file| path == deep.join(file));
                    left.extend((!is_old).then(|| path.to_string_lossy().into_owned()));
                }
                _ => {}
            }
        }
    }
    left
}

/// Says whether an effect writes a file, or a file that nobody knows before.
fn writes(effect: &Effect, file: &str) -> bool {
    let paths = effect.target.paths();
    let is_it = paths.is_empty() || paths.iter().any(|path| is_directory(path, file));
    is_it && matches!(effect.act, Act::Write | Act::Move | Act::Link | Act::Unknown)
}

/// A fixed word stands for itself, one of a shape for what that admits, any other for any number of arguments.
fn matches(words: &[Argument], arguments: &[String]) -> bool {
    let Some((word, rest)) = words.split_first() else { return arguments.is_empty() };
    let one = |is: &dyn Fn(&str) -> bool| {
        arguments.split_first().is_some_and(|(first, after)| is(first) && matches(rest, after))
    };
    match (word.fixed(), word.bound.as_deref()) {
        (Some(text), _) => one(&|first| first == text),
        (None, Some(bound)) if !bound.is_many => {
            one(&|first| bound.shape.admits(first) || bound.may_be_empty && first.is_empty())
                || bound.may_be_empty && matches(rest, arguments)
        }
        (None, bound) => {
            // Words that one list gives come in any order.
            let is_same = |other: &&Argument| other.span == word.span && other.fixed().is_none();
            let same: Vec<&Argument> = rest.iter().take_while(is_same).collect();
            let rest = &rest[same.len()..];
            let admits =
                |bound: Option<&Bound>, taken: &str| bound.is_none_or(|bound| bound.shape.admits(taken));
            let is_admitted = |taken: &String| {
                admits(bound, taken) || same.iter().any(|other| admits(other.bound.as_deref(), taken))
            };
            (0..=arguments.len())
                .take_while(|taken| *taken == 0 || is_admitted(&arguments[taken - 1]))
                .any(|taken| matches(rest, &arguments[taken..]))
        }
    }
}

/// Says whether a directory is one that a pattern stands for; `**` is any number of components.
fn is_directory(pattern: &str, directory: &str) -> bool {
    fn fits(pattern: &[&str], directory: &[&str]) -> bool {
        match pattern.split_first() {
            None => directory.is_empty(),
            Some((&"**", rest)) => (0..=directory.len()).any(|taken| fits(rest, &directory[taken..])),
            Some((first, rest)) => directory.split_first().is_some_and(|(name, after)| {
                portcullis_analysis::path::may_name_component(first, name) && fits(rest, after)
            }),
        }
    }
    let pattern = normalised(pattern);
    let parts = |path: &str| path.split('/').map(str::to_owned).collect::<Vec<_>>();
    let (pattern, directory) = (parts(&pattern), parts(directory));
    let pattern: Vec<&str> = pattern.iter().map(String::as_str).collect();
    let directory: Vec<&str> = directory.iter().map(String::as_str).collect();
    fits(&pattern, &directory)
}

fn covers(invocation: &Invocation, start: &Start) -> bool {
    let Some((program, arguments)) = start.arguments.split_first() else { return false };
    let is_program =
        invocation.program().and_then(Argument::fixed).is_some_and(|name| base_name(name) == program);
    is_program
        && matches(invocation.operands(), arguments)
        && invocation
            .directories
            .alternatives()
            .is_none_or(|all| all.iter().any(|directory| is_directory(directory, &start.directory)))
}

fn normalised(directory: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in directory.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    format!("/{}", parts.join("/"))
}

fn check(name: &str, first: u64, count: u64, make: fn(u64) -> String) -> Outcome {
    let place = format!("{name}-{first}-{}", std::process::id());
    let folder = std::env::var("EXECUTION_DIR").unwrap_or_else(|_| env!("CARGO_TARGET_TMPDIR").to_owned());
    let root = PathBuf::from(folder).join(place);
    let _ = fs::remove_dir_all(&root);
    let tree = |number: usize| root.join(number.to_string());
    let work = |number: usize| tree(number).join(DEEP).join("w").to_str().unwrap().to_owned();
    let lines: Vec<String> = (first..first + count)
        .map(make)
        .enumerate()
        .map(|(number, line)| {
            let programs = tree(number).join("bin").to_str().unwrap().to_owned();
            line.replace("@W@", &work(number)).replace("@B@", &programs)
        })
        .collect();
    prepare(&root, &lines);
    run(&root, &lines);
    let mut outcome = Outcome { lines: lines.len(), ..Outcome::default() };
    for (number, line) in lines.iter().enumerate() {
        let home = tree(number).join(DEEP).join("h").to_str().unwrap().to_owned();
        let directory = work(number);
        let here = Surroundings { directory: &directory, home: Some(&home), profiles: Profiles::BUILT_IN };
        let found = survey(line, here);
        let effects = effects(&found, here);
        let runs_written = runs_what_it_writes(&effects, &std::collections::BTreeMap::new());
        if !found.opacities.is_empty() || runs_written.is_some() {
            outcome.opaque += 1;
            continue;
        }
        let seed = first + number as u64;
        let mut complain = |what: String| {
            let what: String = what.chars().take(1_000).collect();
            let shown = format!("{seed}: {what} of\n{line}\n");
            outcome.uncovered.push(shown.replace(&directory, "@W@"));
        };
        let starts = read_log(&tree(number));
        outcome.starts += starts.len();
        let is_listed = |start: &&Start| found.invocations.iter().any(|one| covers(one, start));
        if let Some(start) = starts.iter().find(|start| !is_listed(start)) {
            complain(format!("{:?} in {}", start.arguments, start.directory));
        }
        let left = left_files(&tree(number));
        outcome.files += left.len();
        if let Some(file) = left.iter().find(|file| !effects.iter().any(|effect| writes(effect, file))) {
            complain(format!("writing {file}"));
        }
    }
    fs::remove_dir_all(&root).unwrap();
    outcome
}

/// `EXECUTION=first,count` asks for other lines than the usual ones, `EXECUTION_DIR` for another folder to run them in.
fn range() -> (u64, u64) {
    let asked = std::env::var("EXECUTION").unwrap_or_default();
    let number = |text: &str| text.parse().expect("a number");
    asked.split_once(',').map_or((1, 400), |(first, count)| (number(first), number(count)))
}

#[test]
fn every_program_that_a_line_starts_was_listed_with_its_directory() {
    check_range("execution", Lines::line, 4);
}

#[test]
fn every_program_that_values_name_was_listed() {
    check_range("values", values_line, 8);
}

#[test]
fn every_argument_is_one_that_its_value_admits() {
    check_range("shapes", shape_line, 4);
}

/// Lines of kinds that generated ones showed not to be covered: a calculation that fails and leaves the value from before,
/// nothing left of a name, the first of a list that may be any of it, a lone dot, a count of nothing, a loop that moves.
const MISSED_ONCE: &[&str] = &[
    "n=$(git rev-parse --show-toplevel); n=$((n+1))\nc1 $n",
    "y=g; n=$(mktemp ./t.XXXXXX); y=$((n*2))\nc1 \"$y\"",
    "while read -r x; do c1 \"${x##*/}\"; done < <(ls -d */)",
    "mapfile -t r < <(grep -rl a a b | tail -n 1); c1 $r",
    "mapfile -t r < <(grep -l a f a/g); c1 ${r%.ts}",
    "find . -maxdepth 1 -type d | while read -r x; do c1 \"${x%.ts}.js\"; done",
    "find a -type d | while read -r x; do c1 \"${x%.ts}\" \"${x##*/}\"; done",
    "cd b; x=$(wc -l < f); c1 ${x:-a}",
    "cd b; for y in 1 2; do x=$(git rev-parse --show-toplevel); c1 \"$x\" \"$PWD\"; cd \"$(dirname \"$x\")\"; done",
];

#[test]
fn every_line_of_a_kind_that_was_missed_once_is_covered() {
    let make = |number: u64| MISSED_ONCE[usize::try_from(number).unwrap()].to_owned();
    let outcome = check("missed", 0, u64::try_from(MISSED_ONCE.len()).unwrap(), make);
    assert!(outcome.uncovered.is_empty(), "{}", outcome.uncovered.join("\n"));
    assert!(outcome.starts >= MISSED_ONCE.len(), "only {} programs were started", outcome.starts);
}

/// Checks the lines of a generator, of which at most so many tenths may be opaque.
fn check_range(name: &str, make: fn(u64) -> String, most_opaque: usize) {
    let (mut first, count) = range();
    let end = first + count;
    let mut total = Outcome::default();
    while first < end {
        let outcome = check(name, first, (end - first).min(1000), make);
        first += 1000;
        total.lines += outcome.lines;
        total.opaque += outcome.opaque;
        total.starts += outcome.starts;
        total.files += outcome.files;
        total.uncovered.extend(outcome.uncovered);
    }
    let Outcome { lines, opaque, starts, files, .. } = total;
    println!("{lines} lines, {opaque} opaque, {starts} starts and {files} files checked");
    total.uncovered.sort_by_key(String::len);
    assert!(
        total.uncovered.is_empty(),
        "{} uncovered:\n{}",
        total.uncovered.len(),
        total.uncovered.join("\n")
    );
    assert!(
        total.opaque * 10 <= total.lines * most_opaque,
        "{} of {} lines are opaque",
        total.opaque,
        total.lines
    );
    assert!(total.starts > total.lines, "only {} programs were started", total.starts);
}
