//! The switches of `MSBuild`, which `dotnet` hands on to it: `/p:OutDir=out`, `-logger:x.dll`, `--target:Build`.

use super::CommandContext;
use super::{certain, nameless};
use crate::act::Act;
use crate::argument::Argument;
use crate::profile::{Match, Use};

/// Properties that name where something is written, in lower case.
const OUTPUTS: &[&str] = &[
    "artifactspath",
    "baseintermediateoutputpath",
    "baseoutputpath",
    "coverletoutput",
    "documentationfile",
    "intermediateoutputpath",
    "outdir",
    "outputdir",
    "outputpath",
    "packageoutputpath",
    "publishdir",
    "restorepackagespath",
    "vstestresultsdirectory",
];

/// Parts of the names of properties whose value is run.
const RUNNING: &[&str] = &["command", "event", "exe", "tool"];

/// Switches that say what is built and what is shown.
const PLAIN: &[&str] = &[
    "?",
    "c",
    "clp",
    "consoleloggerparameters",
    "detailedsummary",
    "ds",
    "err",
    "f",
    "graph",
    "graphbuild",
    "h",
    "help",
    "isolate",
    "isolateprojects",
    "low",
    "lowpriority",
    "m",
    "maxcpucount",
    "noautoresponse",
    "noautorsp",
    "noconlog",
    "noconsolelogger",
    "noerr",
    "nologo",
    "nowarn",
    "nodereuse",
    "nr",
    "r",
    "restore",
    "t",
    "target",
    "terminallogger",
    "tl",
    "toolsversion",
    "ts",
    "tv",
    "v",
    "ver",
    "verbosity",
    "version",
    "warnasmessage",
    "warnaserror",
    "warnnotaserror",
];

/// Reads the words of `MSBuild` itself.
pub(super) fn read(context: &CommandContext<'_>, _: &Match<'_>) -> Vec<Use> {
    let mut uses = vec![nameless(Act::RunProject)];
    for word in context.invocation.operands() {
        match switch(word) {
            None if word.text.starts_with('@') => uses.push(certain(Act::Unknown, word)),
            None => uses.push(certain(Act::Read, word)),
            Some((name, _)) if PLAIN.contains(&name.as_str()) && word.fixed().is_some() => {}
            Some((name, value)) => match acting(word, &name, value) {
                Some(acts) => uses.extend(acts),
                None => uses.push(certain(Act::Unknown, word)),
            },
        }
    }
    uses
}

/// Adds what the switches do that `dotnet` hands on.
pub(super) fn handed_on(context: &CommandContext<'_>, found: &Match<'_>) -> Vec<Use> {
    let mut uses = found.uses.clone();
    if !found.is_idle {
        let switches = context.invocation.operands().iter();
        let acts =
            switches.filter_map(|word| switch(word).and_then(|(name, value)| acting(word, &name, value)));
        uses.extend(acts.flatten());
    }
    uses
}

/// Splits a switch into its name in lower case and its value. A path has another slash before any colon.
fn switch(word: &Argument) -> Option<(String, &str)> {
    let bare = word.text.trim_start_matches(['-', '/']);
    let (name, value) = bare.split_once(':').unwrap_or((bare, ""));
    let is_switch = bare.len() < word.text.len() && !name.contains(['/', '\\', '.']);
    is_switch.then(|| (name.to_ascii_lowercase(), value))
}

/// Returns what a switch does that does something; `None` for any other.
fn acting(word: &Argument, name: &str, value: &str) -> Option<Vec<Use>> {
    let file = |value: &str, act| {
        let (_, path) = value.split_once('=').unwrap_or(("", value));
        certain(act, &word.piece(if path.is_empty() { "msbuild.log" } else { path }))
    };
    Some(match name {
        "p" | "property" if !value.is_empty() => {
            value.split(';').filter_map(|set| property(word, set)).collect()
        }
        "bl" | "binarylogger" | "fl" | "filelogger" => vec![file(value, Act::Write)],
        "flp" | "fileloggerparameters" => value
            .split(';')
            .filter(|part| part.to_ascii_lowercase().starts_with("logfile="))
            .map(|part| file(part, Act::Write))
            .collect(),
        "l" | "logger" | "dl" | "distributedlogger" if !value.is_empty() => vec![load(word, value)],
        _ => return None,
    })
}

/// Returns what setting a property does: what is a path is written to or, for all that is known, built from.
fn property(word: &Argument, set: &str) -> Option<Use> {
    let Some((key, value)) = set.split_once('=') else { return Some(certain(Act::Unknown, word)) };
    let key = key.to_ascii_lowercase();
    let is_of_word = |letter: char| letter.is_alphanumeric() || "_.,:+-/\\~ =*".contains(letter);
    let runs = RUNNING.iter().any(|part| key.contains(part));
    if word.fixed().is_none() || runs || !value.chars().all(is_of_word) {
        return Some(certain(Act::Unknown, word));
    }
    let is_path = value.contains(['/', '\\', '~']) && !value.contains("://");
    let is_output = OUTPUTS.contains(&key.as_str());
    match (is_output, is_path) {
        (true, _) => Some(certain(Act::Write, &word.piece(value))),
        (false, true) => Some(load(word, value)),
        (false, false) => None,
    }
}

/// Loads code of a file. Of a logger the file may be what stands behind its class.
fn load(word: &Argument, value: &str) -> Use {
    let path = value.rsplit(',').next().unwrap_or(value).split(';').next().unwrap_or(value);
    certain(Act::LoadCode, &word.piece(&path.replace('\\', "/")))
}

#[cfg(test)]
mod tests {
    use crate::reader::testing::effects;

    #[test]
    fn switches_are_told_from_projects() {
        assert_eq!(
            effects("msbuild App.sln -t:Rebuild /p:Configuration=Release -v:m /m"),
            ["read App.sln", "run-project"]
        );
        assert_eq!(effects("msbuild /p:OutDir=/srv/x"), ["run-project", "write /srv/x"]);
        assert_eq!(effects("msbuild -bl:/srv/x.binlog"), ["run-project", "write /srv/x.binlog"]);
        assert_eq!(
            effects("msbuild /p:PostBuildEvent=calc"),
            ["run-project", "unknown /p:PostBuildEvent=calc"]
        );
        assert_eq!(effects("msbuild @more.rsp"), ["run-project", "unknown @more.rsp"]);
        assert_eq!(effects("msbuild -zzz:1"), ["run-project", "unknown -zzz:1"]);
    }

    #[test]
    fn what_loads_code_is_seen_whoever_starts_it() {
        for line in ["msbuild /logger:A.B,/tmp/x.dll", "dotnet build /logger:A.B,/tmp/x.dll"] {
            assert!(effects(line).contains(&"load-code /tmp/x.dll".to_owned()), "{line}");
        }
        for line in ["msbuild '-p:A=1;B=/tmp/x.targets'", "dotnet build '-p:A=1;B=/tmp/x.targets'"] {
            assert!(effects(line).contains(&"load-code /tmp/x.targets".to_owned()), "{line}");
        }
        assert!(effects("dotnet test /p:CollectCoverage=true --no-build") == ["run-project"]);
    }
}
