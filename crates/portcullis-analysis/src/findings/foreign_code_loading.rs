//! Making a program load foreign code.
//!
//! A library, plug-in or object that is slipped under a program runs with everything the program may do, and no command names it.
//! Run the code as a program of its own.
//! Or name the file and say that it is to be loaded.

use crate::act::Act;
use crate::case::Case;
use crate::effect::Effect;
use crate::findings::{ExampleCall, Finding, Firmness, Severity, Sighting};
use crate::invocation::{Invocation, Variable};

pub(super) static FINDING: Finding = Finding {
    code: "PC012",
    name: "foreign-code-loading",
    title: "makes a program load foreign code",
    category: "shell_escape",
    severity: Severity::High,
    firmness: Firmness::Soft {
        verbs: &["preload", "ld_preload", "plugin", "load", "inject", "unpickle", "debug"],
        must_name: "what is loaded",
    },
    instead: "Run the code as a program of its own, not inside another one",
    hits: &[
        ExampleCall::Bash("GIT_ASKPASS=frob-pass git clone https://example.com/a.git"),
        ExampleCall::Bash("SSH_ASKPASS=/tmp/answer ssh-add"),
        ExampleCall::Bash("HOME=/tmp/elsewhere ssh me@example.com"),
        ExampleCall::Bash("LD_PRELOAD=/tmp/x.so ls"),
        ExampleCall::Bash("LD_PRELOAD=./hook.so ./app"),
        ExampleCall::Bash("DYLD_INSERT_LIBRARIES=/tmp/x.dylib ls"),
        ExampleCall::Bash("BASH_ENV=/tmp/x.sh bash run.sh"),
        ExampleCall::Bash("gcc -fplugin=/tmp/x.so -c main.c"),
        ExampleCall::Bash("make SHELL=/tmp/sh"),
        ExampleCall::Bash("NODE_OPTIONS=\"--require /tmp/x.js\" npm test"),
        ExampleCall::Bash("PYTHONPATH=/tmp/lib python3 app.py"),
        ExampleCall::Bash("gdb -batch -ex \"call (int)system(\\\"id\\\")\" ./app"),
        ExampleCall::Bash("LD_LIBRARY_PATH=/tmp/lib ./app"),
        ExampleCall::Bash("export LD_AUDIT=/tmp/x.so"),
        ExampleCall::Bash("export PROMPT_COMMAND=./x"),
        ExampleCall::Bash("env LD_AUDIT=/tmp/x.so ls"),
        ExampleCall::PowerShell(r"rundll32 C:\Users\me\x.dll,Main"),
    ],
    misses: &[
        ExampleCall::Bash("GIT_ASKPASS=true git ls-remote https://example.com/a.git"),
        ExampleCall::Bash("GIT_ASKPASS= git fetch"),
        ExampleCall::Bash("GIT_ASKPASS=./scripts/askpass.sh git fetch"),
        ExampleCall::Bash("HOME=/tmp/x npm test"),
        ExampleCall::Bash("NODE_OPTIONS=--max-old-space-size=4096 npm run build"),
        ExampleCall::Bash("NODE_OPTIONS=--experimental-vm-modules npx jest"),
        ExampleCall::Bash("JAVA_TOOL_OPTIONS=-Xmx2g mvn test"),
        ExampleCall::Bash("LD_LIBRARY_PATH=/usr/local/lib ./app"),
        ExampleCall::Bash("gcc -c main.c"),
        ExampleCall::Bash("LD_PRELOAD=/usr/lib/libasan.so ./app"),
        ExampleCall::Bash("make test"),
        ExampleCall::Bash("echo LD_PRELOAD=/tmp/x.so"),
        ExampleCall::Bash("grep -rn LD_PRELOAD src"),
        ExampleCall::Bash("PYTHONPATH=src python3 -m pytest"),
        ExampleCall::Bash("gdb -batch -ex run -ex bt ./app"),
        ExampleCall::Bash("RUBYOPT=-W0 bundle exec rspec"),
    ],
    filter,
};

fn filter(case: Case<'_>) -> Vec<Sighting> {
    let loads = case.of(&[Act::LoadCode]).filter(|effect| !is_plain(case, effect)).map(|effect| {
        let sentence = match effect.target.written() {
            "" => "it makes a program load foreign code".to_owned(),
            written => format!("it makes a program load foreign code: `{written}`"),
        };
        Sighting::of(case, effect, sentence)
    });
    let mut sightings: Vec<Sighting> = loads.collect();
    for (index, command) in case.survey.invocations.iter().enumerate() {
        for variable in command.assignments.iter().filter(|_| !command.arguments.is_empty()) {
            sightings.extend(misleads(case, index, command, variable));
        }
    }
    sightings
}

/// Programs that show who the user is, and go by settings in the home directory.
const PROVING: &[&str] = &["scp", "sftp", "ssh", "ssh-add", "ssh-copy-id", "sshfs"];

/// Says whether a variable gives a program that hands out keys or passwords a foreign helper or foreign settings.
fn misleads(case: Case<'_>, index: usize, command: &Invocation, variable: &Variable) -> Option<Sighting> {
    let value = variable.value.as_written();
    if variable.name.ends_with("ASKPASS") {
        let is_helper = |at: usize| {
            let helper = case.survey.invocations.get(at);
            helper.is_some_and(|helper| helper.parent == Some(index) && helper.span == variable.value.span)
        };
        let effect = case.of(&[Act::Unknown, Act::Execute]).find(|effect| {
            effect.invocation.is_some_and(is_helper)
                && (effect.act == Act::Unknown || !case.is_in_project(effect))
        })?;
        return Some(Sighting::of(case, effect, format!("it lets `{value}` answer for the password")));
    }
    let name = command.program_name().filter(|name| PROVING.contains(name))?;
    let is_foreign = |path: &str| !case.scope.is_in_project(path) && case.scope.home.as_deref() != Some(path);
    let is_elsewhere = variable.name == "HOME" && variable.value.fixed().is_some_and(is_foreign);
    let effect = case.effects.iter().find(|effect| is_elsewhere && effect.invocation == Some(index))?;
    Some(Sighting::of(case, effect, format!("it gives `{name}` the settings of `{value}`")))
}

/// Variables that set many things, with what a value holds that makes them load code.
const MANY_SIDED: &[(&str, &[&str])] = &[
    ("JAVA_TOOL_OPTIONS", &["agent", "bootclasspath"]),
    ("LD_LIBRARY_PATH", &["/tmp", "/dev/shm"]),
    ("NODE_OPTIONS", &["require", "-r ", "import", "loader", "inspect=0.0.0.0"]),
    ("PERL5OPT", &["-M", "-d", "-I"]),
    ("RUBYOPT", &["-r", "-I"]),
    ("_JAVA_OPTIONS", &["agent", "bootclasspath"]),
    ("DYLD_LIBRARY_PATH", &["/tmp", "/dev/shm"]),
    ("DYLD_FALLBACK_LIBRARY_PATH", &["/tmp", "/dev/shm"]),
];

/// Commands of debuggers that run other programs or code.
const RUNNING: &[&str] =
    &["call", "shell", "!", "python", "source", "platform shell", "script", "system", "/"];

/// Says whether nothing foreign is loaded after all.
fn is_plain(case: Case<'_>, effect: &Effect) -> bool {
    let written = effect.target.written().trim_matches(['"', '\'']);
    if let Some((name, value)) = written.split_once('=')
        && let Some((_, signs)) = MANY_SIDED.iter().find(|(variable, _)| *variable == name)
    {
        return !signs.iter().any(|sign| value.contains(sign));
    }
    if let Some((name, value)) = written.split_once('=')
        && matches!(name, "LD_PRELOAD" | "DYLD_INSERT_LIBRARIES")
    {
        // Only the owner of the machine puts libraries there.
        return ["/usr/lib/", "/usr/lib64/", "/lib/", "/lib64/"].iter().any(|start| value.starts_with(start))
            && !["..", ":", " "].iter().any(|sign| value.contains(sign));
    }
    match case.program(effect) {
        "gdb" | "lldb" | "rust-gdb" | "rust-lldb" => !RUNNING.iter().any(|sign| written.contains(sign)),
        // An object that the project keeps is the project's own.
        _ if effect.target.paths().is_empty() && written.contains("serialized") => {
            let mut reads = case
                .effects
                .iter()
                .filter(|other| other.act == Act::Read && other.invocation == effect.invocation);
            reads.clone().next().is_some() && reads.all(|read| case.is_in_project(read))
        }
        "export" | "declare" | "typeset" => false,
        // Loaders of Windows run whatever they are given, from wherever it is.
        "rundll32" | "regsvr32" | "mshta" | "hh" | "regasm" | "regsvcs" | "installutil" => false,
        _ if written.contains("://") => false,
        _ => {
            case.is_in_project(effect)
                && !case.background.written.iter().any(|path| effect.target.paths().contains(path))
        }
    }
}
