//! Running text that was hidden.
//!
//! Nobody encodes a command that they want others to understand.
//! Write the command as it is.
//! Or say what it does and that it is to be run.

use crate::act::Act;
use crate::argument::{Argument, Knowledge};
use crate::case::Case;
use crate::effect::Effect;
use crate::findings::{ExampleCall, Finding, Firmness, Severity, Sighting};
use crate::flow::{DataFlow, ProgramSource, program_of};
use crate::invocation::{Invocation, Variable};

pub(super) static FINDING: Finding = Finding {
    code: "PC045",
    name: "obfuscation",
    title: "runs text that was hidden",
    category: "obfuscation",
    severity: Severity::High,
    firmness: Firmness::Soft {
        verbs: &["decode", "base64", "encoded", "obfuscated", "unpack"],
        must_name: "what the hidden text does",
    },
    instead: "Write the command in plain text",
    hits: &[
        ExampleCall::Bash("base64 -d notes.txt > run.sh && bash run.sh"),
        ExampleCall::Bash("cat /tmp/a.b64 | base64 --decode > /tmp/a; chmod +x /tmp/a; /tmp/a"),
        ExampleCall::Bash("d='xxd -r -p'; $d a.hex > tool; ./tool"),
        ExampleCall::Bash("IFS=.; x=rm.-rf.build; $x"),
        ExampleCall::Bash("declare -n x=y; y='rm -rf build'; exec $x"),
        ExampleCall::Bash("eval {ec,ho}' '{a,b}' 'c"),
        ExampleCall::PowerShell("attrib +h +s x.exe"),
        ExampleCall::Bash("cp payload report.pdf.exe"),
        ExampleCall::Bash("mkdir ~/..."),
        ExampleCall::Bash("sudo() { cat >> /tmp/x; command sudo \"$@\"; }"),
        ExampleCall::Bash("alias ssh='/tmp/ssh'"),
        ExampleCall::Bash("echo bHM= | base64 -d | sh"),
        ExampleCall::Bash("base64 -d x.b64 | bash"),
        ExampleCall::Bash("echo 6c73 | xxd -r -p | sh"),
        ExampleCall::Bash("eval \"$(echo bHM= | base64 --decode)\""),
        ExampleCall::Bash("openssl enc -d -aes-256-cbc -in x | sh"),
        ExampleCall::Bash("printf '\\x6c\\x73' | sh"),
        ExampleCall::Bash("python3 -c \"import base64; exec(base64.b64decode('cHJpbnQoMSk='))\""),
        ExampleCall::Bash("bash <(base64 -d x.b64)"),
        ExampleCall::Bash("bash -c \"$(base64 -d x.b64)\""),
        ExampleCall::Bash("echo sl | rev | sh"),
        ExampleCall::Bash("gunzip -c run.gz | sh"),
        ExampleCall::Bash("/???/c?t notes.txt"),
        ExampleCall::Bash("${HOME:0:1}bin${HOME:0:1}ls"),
        ExampleCall::PowerShell(r"powershell -EncodedCommand bABzAA=="),
    ],
    misses: &[
        ExampleCall::Bash("base64 -d logo.b64 > logo.png && file logo.png"),
        ExampleCall::Bash("xxd -r -p dump.hex > dump.bin; ./scripts/check.sh dump.bin"),
        ExampleCall::Bash("IFS=,; for x in a,b; do echo $x; done"),
        ExampleCall::Bash("alias ssh='ssh -4'"),
        ExampleCall::Bash("cp app.tar.gz out.tar.gz"),
        ExampleCall::Bash("go test ./..."),
        ExampleCall::Bash("echo bHM= | base64 -d"),
        ExampleCall::Bash("base64 -d x.b64 > x.bin"),
        ExampleCall::Bash("echo hello | sh -c cat"),
        ExampleCall::Bash("kubectl get secret x -o jsonpath={.data.y}"),
        ExampleCall::Bash("openssl enc -aes-256-cbc -in a -out b"),
        ExampleCall::Bash("gunzip -c dump.sql.gz | head"),
        ExampleCall::Bash("echo \"base64 -d x | sh\""),
        ExampleCall::Bash("printf \"a\\nb\\n\""),
        ExampleCall::Bash("echo $'a\\tb\\x1b[0m'"),
        ExampleCall::Bash("echo ls | sh"),
        ExampleCall::Bash("base64 -d cert.b64 | openssl x509 -noout -text"),
        ExampleCall::Bash("echo abc | rev"),
    ],
    filter,
};

/// Programs that make text readable again, with the words that say so; none means they always do.
const DECODERS: &[(&str, &[&str])] = &[
    ("base32", &["-d", "--decode", "-D"]),
    ("base64", &["-d", "--decode", "-D", "-di", "-id"]),
    ("basenc", &["-d", "--decode"]),
    ("bunzip2", &[]),
    ("bzcat", &[]),
    ("gbase64", &["-d", "--decode"]),
    ("gunzip", &[]),
    ("gzip", &["-d", "-dc", "-cd", "--decompress"]),
    ("openssl", &["-d", "-decrypt"]),
    ("rev", &[]),
    ("tr", &[]),
    ("unxz", &[]),
    ("uudecode", &[]),
    ("b64decode", &[]),
    ("xxd", &["-r", "-rp", "-revert"]),
    ("xz", &["-d", "-dc", "--decompress"]),
    ("xzcat", &[]),
    ("zcat", &[]),
];

fn filter(case: Case<'_>) -> Vec<Sighting> {
    let flow = DataFlow::of(case);
    let mut sightings: Vec<Sighting> = case
        .of(&[Act::Obfuscate])
        .map(|effect| Sighting::of(case, effect, "it hides what it runs"))
        .collect();
    sightings.extend(
        case.of(&[Act::Write, Act::Move]).filter(|effect| effect.target.spellings().any(is_masked)).map(
            |effect| {
                let sentence = format!(
                    "it gives something the name `{}`, which hides what it is",
                    effect.target.written()
                );
                Sighting::of(case, effect, sentence)
            },
        ),
    );
    if let Some((name, effect)) = redefined(case).zip(case.effects.first()) {
        sightings.push(Sighting::of(case, effect, format!("it gives `{name}` another meaning")));
    }
    for (index, command) in case.survey.invocations.iter().enumerate() {
        let is_hidden = || is_disguised(command) || runs_decoded(case, &flow, index, command);
        if !(command.decoded || is_hidden() || is_cut_up(case, command)) {
            continue;
        }
        // A decoded command that does nothing worth an effect shows in the shell that runs it.
        let places = [Some(index), command.parent];
        let seen = places.into_iter().flatten().find_map(|at| flow.own(at).first().copied());
        if let Some(effect) = seen.or_else(|| case.effects.first()) {
            sightings.push(Sighting::of(case, effect, "it runs text that an encoding hid"));
            break;
        }
    }
    sightings.extend(decoded_file(case).map(|effect| {
        let sentence = format!("it runs `{}`, which it decodes first", effect.target.written());
        Sighting::of(case, effect, sentence)
    }));
    sightings
}

/// Decoders whose input nobody reads as a program, with the words that say so: an archive is none.
const ENCODERS: &[&str] =
    &["b64decode", "base32", "base64", "basenc", "gbase64", "openssl", "uudecode", "xxd"];

/// Returns what runs a file that an earlier command of the line decodes.
fn decoded_file(case: Case<'_>) -> Option<&Effect> {
    let invocations = &case.survey.invocations;
    let is_decoder = |at: usize| {
        let command = invocations.get(at);
        command.is_some_and(|command| {
            command.program_name().is_some_and(|name| ENCODERS.contains(&name)) && decodes(command)
        })
    };
    if !(0..invocations.len()).any(is_decoder) {
        return None;
    }
    let writes = |write: &&Effect| write.invocation.is_some_and(is_decoder);
    let written: Vec<&Effect> = case.of(&[Act::Write]).filter(writes).collect();
    let is_of = |write: &Effect, name: &str| DataFlow::names(write).any(|written| written == name);
    let runs = |effect: &&Effect| {
        let earlier = written.iter().filter(|write| write.invocation < effect.invocation);
        earlier.into_iter().any(|write| DataFlow::names(effect).any(|name| is_of(write, name)))
    };
    case.of(&[Act::Execute, Act::LoadCode]).find(runs)
}

/// Programs whose meaning nobody changes without a reason to hide: those that are handed passwords and keys.
const TRUSTED: &[&str] = &[
    "command_not_found_handle",
    "command_not_found_handler",
    "doas",
    "gpg",
    "login",
    "passwd",
    "pkexec",
    "scp",
    "ssh",
    "su",
    "sudo",
];

/// Returns the trusted program that a function or an alias takes the place of.
fn redefined(case: Case<'_>) -> Option<&str> {
    let function = case.survey.functions.iter().map(String::as_str).find(|name| TRUSTED.contains(name));
    let alias = |command: &'_ Invocation| {
        let words = command.operands().iter().filter_map(|word| word.text.split_once('='));
        words.into_iter().find_map(|(name, value)| {
            let loads = value.contains("LD_PRELOAD") || value.contains("DYLD_INSERT");
            let is_other = TRUSTED.contains(&name) && value.split_whitespace().next() != Some(name);
            TRUSTED
                .iter()
                .find(|listed| **listed == name)
                .copied()
                .filter(|_| is_other)
                .or(loads.then_some("alias"))
        })
    };
    let mut aliases =
        case.survey.invocations.iter().filter(|command| command.program_name() == Some("alias"));
    function.or_else(|| aliases.find_map(alias))
}

/// Says whether a file is called so that people take it for another kind, or overlook it: `report.pdf.exe`, `...`.
fn is_masked(name: &str) -> bool {
    const SHOWN: &[&str] = &[
        "doc", "docx", "gif", "jpeg", "jpg", "mp3", "mp4", "pdf", "png", "ppt", "pptx", "ps1", "rtf", "txt",
        "xls", "xlsx", "zip",
    ];
    const RUN: &[&str] = &["bat", "cmd", "com", "exe", "hta", "lnk", "pif", "ps1", "scr", "vbs"];
    let written = name.trim_matches(['"', '\'']).to_ascii_lowercase();
    let mut parts = written.rsplit(['/', '\\']);
    let mut endings = parts.next().unwrap_or_default().rsplit('.');
    let is_double = endings.next().is_some_and(|last| RUN.contains(&last))
        && endings.next().is_some_and(|shown| SHOWN.contains(&shown))
        && endings.next().is_some();
    let is_overlooked = |part: &str| part.len() > 2 && part.chars().all(|letter| matches!(letter, '.' | ' '));
    is_double || written.split(['/', '\\']).any(is_overlooked)
}

/// Says whether the name of a program is put together so that nobody reads it, or words hold signs that nobody sees.
fn is_disguised(command: &Invocation) -> bool {
    let is_put_together = |program: &Argument| match program.knowledge {
        Knowledge::Glob => program.text.contains(['?', '[']),
        Knowledge::Dynamic | Knowledge::Fixed | Knowledge::Tilde => {
            program.as_written().split("${").skip(1).any(is_cut_out)
        }
    };
    let is_unseen = |letter: char| matches!(letter, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}');
    let mut words = command.arguments.iter();
    command.program().is_some_and(is_put_together)
        || command.program_name() != Some("echo")
            && words.any(|word| !word.text.is_ascii() && word.text.contains(is_unseen))
}

/// Says whether the words of a command come from where nobody reads them as words: letters between braces, another
/// separator, a name for a name.
fn is_cut_up(case: Case<'_>, command: &Invocation) -> bool {
    let name = command.program_name().unwrap_or_default();
    let is_glued = |word: &Argument| {
        let written = word.as_written();
        written.contains("}'") && written.starts_with('{') && written.contains(',')
    };
    if name == "eval" && command.operands().iter().any(is_glued) {
        return true;
    }
    let is_open =
        |word: &Argument| word.knowledge == Knowledge::Dynamic && word.as_written().starts_with('$');
    let runs_open = match name {
        "eval" | "exec" => command.operands().first().is_some_and(is_open),
        _ => command.program().is_some_and(is_open),
    };
    let resets = |other: &Invocation| {
        let separates =
            |value: &str| !value.is_empty() && value.chars().all(|letter| letter.is_ascii_punctuation());
        let is_separator =
            other.assignments.iter().any(|set| set.name == "IFS" && separates(&set.value.text));
        let is_reference = matches!(other.program_name(), Some("declare" | "typeset" | "local"))
            && other.operands().iter().any(|word| word.text == "-n");
        let is_list =
            |set: &Variable| set.value.as_written().starts_with('{') && set.value.as_written().contains(',');
        other.arguments.is_empty() && (is_separator || other.assignments.iter().any(is_list)) || is_reference
    };
    runs_open && case.survey.invocations.iter().any(resets)
}

/// Says whether an expansion takes letters out of a value by their places: `${HOME:0:1}`.
fn is_cut_out(expansion: &str) -> bool {
    let inside = expansion.split('}').next().unwrap_or(expansion);
    let after = inside.split_once(':').map(|(_, after)| after);
    after.is_some_and(|after| after.starts_with(|letter: char| letter.is_ascii_digit()))
}

/// Says whether an interpreter runs what a decoder hands it.
fn runs_decoded(case: Case<'_>, flow: &DataFlow<'_>, index: usize, command: &Invocation) -> bool {
    let takes_feed = match program_of(command) {
        Some(ProgramSource::Input) => true,
        Some(ProgramSource::Text(word) | ProgramSource::File(word)) => !word.is_known(),
        Some(ProgramSource::Installed) | None => false,
    };
    let is_fetched = || flow.fed(index).iter().any(|effect| effect.act == Act::Fetch);
    let feeding = || flow.feeding(index).into_iter().filter_map(|at| case.survey.invocations.get(at));
    takes_feed && feeding().any(decodes) && !is_fetched()
}

fn decodes(command: &Invocation) -> bool {
    let name = command.program_name().unwrap_or_default();
    DECODERS.iter().any(|(decoder, words)| {
        *decoder == name
            && (words.is_empty() || command.operands().iter().any(|word| words.contains(&word.text.as_str())))
    })
}
