//! Recipes of makefiles and justfiles.

use std::collections::{BTreeMap, BTreeSet};

/// The most targets that one target pulls in and that are followed.
const MOST: usize = 64;

/// The most lines of a makefile that are searched for variables.
const MOST_LINES: usize = 10_000;

/// How deep variables may stand in variables.
const DEPTH: usize = 4;

/// How long a recipe may grow by its variables, in bytes.
const LONGEST: usize = 64 * 1024;

/// A target with what it needs and what it runs.
#[derive(Debug, Default)]
struct MakeTarget {
    names: Vec<String>,
    needs: Vec<String>,
    lines: Vec<String>,
}

/// Returns the commands of a target of a makefile and of what it needs.
pub(super) fn of_makefile(text: &str, name: Option<&str>) -> Option<String> {
    let text = text.replace("\\\r\n", " ").replace("\\\n", " ");
    let lines = gather(&read(&text, |line| line.starts_with('\t'), header), name);
    let at_once = run_at_once(&text);
    if lines.is_none() && at_once.is_empty() {
        return None;
    }
    let lines = format!("{at_once}{}", lines.unwrap_or_default());
    Some(expand_variables(&insert_values(&lines, &variables(&text))))
}

/// Returns what make runs while it reads the file: `$(shell …)` outside of recipes.
fn run_at_once(text: &str) -> String {
    let outside = text.lines().filter(|line| !line.starts_with(['\t', '#']));
    let commands = outside.flat_map(|line| line.split("$(shell ").skip(1)).filter_map(|rest| {
        let end = rest.rfind(')')?;
        rest.get(..end)
    });
    commands.flat_map(|command| [command, "\n"]).collect()
}

/// Returns the variables of a makefile with their texts; the last of several counts.
fn variables(text: &str) -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    let mut block: Option<(String, Vec<&str>)> = None;
    for line in text.lines().take(MOST_LINES) {
        if let Some((name, lines)) = block.as_mut() {
            if line.trim() == "endef" {
                all.insert(std::mem::take(name), lines.join("\n"));
                block = None;
            } else {
                lines.push(line);
            }
        } else if let Some(name) = line.strip_prefix("define ") {
            block = Some((name.trim().trim_end_matches(['=', ':', ' ']).to_owned(), Vec::new()));
        } else if let Some((name, value)) = line.split_once('=').filter(|_| !line.starts_with('\t')) {
            let name = name.trim_end_matches([':', '?', '!', ' ']).trim_start_matches("export ").trim();
            let is_name = name.chars().all(|letter| letter.is_alphanumeric() || letter == '_');
            if is_name && !name.is_empty() {
                all.insert(name.to_owned(), value.trim().to_owned());
            }
        }
    }
    all
}

/// Puts the values of variables in their places, as deep as they may stand in one another.
fn insert_values(text: &str, variables: &BTreeMap<String, String>) -> String {
    let mut text = text.to_owned();
    for _ in 0..DEPTH {
        let mut out = String::with_capacity(text.len());
        let mut rest = text.as_str();
        while let Some((before, after)) = rest.split_once("$(") {
            out.push_str(before);
            let value = after.split_once(')').and_then(|(name, behind)| Some((variables.get(name)?, behind)));
            let value = value.filter(|_| !before.ends_with('$') && out.len() < LONGEST);
            let (piece, behind) = value.map_or(("$(", after), |(value, behind)| (value.as_str(), behind));
            out.push_str(piece);
            rest = behind;
        }
        out.push_str(rest);
        text = out;
    }
    text
}

/// Returns the commands of a recipe of a justfile and of what it needs.
pub(super) fn of_justfile(text: &str, name: Option<&str>) -> Option<String> {
    let lines = gather(&read(text, |line| line.starts_with([' ', '\t']), recipe_header), name)?;
    Some(lines.replace("{{", "${").replace("}}", "}"))
}

/// What a line that begins a target names and needs.
type Header = (Vec<String>, Vec<String>);

fn read(
    text: &str,
    is_recipe: impl Fn(&str) -> bool,
    header: impl Fn(&str) -> Option<Header>,
) -> Vec<MakeTarget> {
    let mut targets: Vec<MakeTarget> = Vec::new();
    for line in text.lines() {
        if is_recipe(line) && !targets.is_empty() {
            if let Some(target) = targets.last_mut() {
                // These signs steer make and just, not the shell.
                target.lines.push(line.trim().trim_start_matches(['@', '-', '+', ' ']).to_owned());
            }
            continue;
        }
        let Some((names, needs)) = header(line) else {
            continue;
        };
        // A command may stand behind the needs on the same line.
        let inline = line.split_once(':').and_then(|(_, rest)| rest.split_once(';'));
        let lines = inline.map(|(_, command)| command.trim().to_owned()).into_iter().collect();
        targets.push(MakeTarget { names, needs, lines });
    }
    targets
}

/// Reads `name other: need need`; an assignment is none.
fn header(line: &str) -> Option<Header> {
    if line.starts_with(['#', ' ', '\t', '.']) || line.is_empty() {
        return None;
    }
    let (names, rest) = line.split_once(':')?;
    if rest.starts_with('=') || names.contains('=') {
        return None;
    }
    let words = |text: &str| -> Vec<String> { text.split_whitespace().map(str::to_owned).collect() };
    let needs = rest.trim_start_matches(':').split(['#', ';', '|']).next().unwrap_or_default();
    Some((words(names), words(needs)))
}

/// Reads `@name parameter='x': need need` of a justfile.
fn recipe_header(line: &str) -> Option<Header> {
    let line = line.trim_start_matches('@');
    let name =
        line.split([' ', ':']).next().filter(|name| !name.is_empty() && !name.starts_with(['#', '[']))?;
    let (before, needs) = line.rsplit_once(':').filter(|(_, needs)| !needs.starts_with('='))?;
    let is_setting = matches!(name, "set" | "export" | "alias" | "import" | "mod") || before.ends_with(':');
    let needs = needs.split(['#', '&']).next().unwrap_or_default();
    let needs = needs.split_whitespace().map(|need| need.trim_matches(['(', ')']).to_owned()).collect();
    (!is_setting).then(|| (vec![name.to_owned()], needs))
}

fn gather(targets: &[MakeTarget], name: Option<&str>) -> Option<String> {
    let first = targets.iter().find_map(|target| target.names.first()).map(String::as_str);
    let mut open = vec![name.or(first)?.to_owned()];
    let mut seen = BTreeSet::new();
    let mut lines: Vec<&str> = Vec::new();
    while let Some(next) = open.pop() {
        if seen.len() >= MOST || !seen.insert(next.clone()) {
            continue;
        }
        let is_meant = |name: &String| {
            let name = name.trim_start_matches('@');
            let pattern = name.split_once('%').is_some_and(|(start, end)| {
                next.len() > start.len() + end.len() && next.starts_with(start) && next.ends_with(end)
            });
            name == next || pattern
        };
        for target in targets.iter().filter(|target| target.names.iter().any(is_meant)) {
            lines.extend(target.lines.iter().map(String::as_str));
            open.extend(target.needs.iter().cloned());
        }
    }
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// Writes variables of make as the shell writes its own: `$(X)` is `${X}`, `$$` a dollar.
fn expand_variables(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('$') {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        let after = from.get(1..).unwrap_or_default();
        if let Some(after) = after.strip_prefix('$') {
            out.push('$');
            rest = after;
        } else if let Some((name, after)) = after.strip_prefix('(').and_then(|inside| inside.split_once(')'))
        {
            out.push_str("${");
            out.push_str(&name.replace(|letter: char| !letter.is_ascii_alphanumeric(), "_"));
            out.push('}');
            rest = after;
        } else {
            out.push_str("${MAKE_VARIABLE}");
            rest = after.get(after.chars().next().map_or(0, char::len_utf8)..).unwrap_or_default();
        }
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_runs_its_recipe_and_what_it_needs() {
        let text = "X = 1\nall: build\n\nbuild: gen\n\t@cargo build $(FLAGS)\n\ngen:\n\techo $$HOME $@\nother:\n\trm x\n";
        assert_eq!(
            of_makefile(text, None).as_deref(),
            Some("cargo build ${FLAGS}\necho $HOME ${MAKE_VARIABLE}")
        );
        assert_eq!(of_makefile(text, Some("other")).as_deref(), Some("rm x"));
        assert_eq!(of_makefile(text, Some("none")), None);
        assert_eq!(of_makefile("a: b ; rm x\n", Some("a")).as_deref(), Some("rm x"));
        assert_eq!(of_makefile("lint-%:\n\trm x\n", Some("lint-a")).as_deref(), Some("rm x"));
        assert_eq!(of_makefile("a:\n\t@ - rm \\\n\t  x\n", Some("a")).as_deref(), Some("rm  \t  x"));
        assert_eq!(of_makefile("C = rm $(X)\nX=y\na:\n\t$(C)\n", Some("a")).as_deref(), Some("rm y"));
        assert_eq!(of_makefile("define C\nrm x\nendef\na:\n\t$(C)\n", Some("a")).as_deref(), Some("rm x"));
        assert_eq!(of_makefile("X := $(shell rm x)\na:\n\ty\n", Some("a")).as_deref(), Some("rm x\ny"));
        assert_eq!(of_makefile("a: a\n\tx\n", Some("a")).as_deref(), Some("x"));
    }

    #[test]
    fn a_recipe_of_just_is_read_the_same_way() {
        let text =
            "set shell := [\"bash\"]\ntest name='x': build\n  cargo test {{name}}\nbuild:\n    cargo build\n";
        assert_eq!(of_justfile(text, Some("test")).as_deref(), Some("cargo test ${name}\ncargo build"));
    }
}
