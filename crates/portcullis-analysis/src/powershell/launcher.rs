//! Programs that run the text or program on their command line: shells, schedulers, loaders.

use super::CommandDialect;
use super::carrier::line;
use super::cursor::is_dash;
use super::encoded;
use super::inside::{RunPart, RunText, RunningCommand};
use super::value::PowerShellValue;
use super::word::PowerShellWord;

/// Options of `powershell` whose value is the next word, in full.
const VALUED: &[&str] = &[
    "configurationfile",
    "configurationname",
    "custompipename",
    "ep",
    "executionpolicy",
    "inputformat",
    "outputformat",
    "psconsolefile",
    "settingsfile",
    "windowstyle",
];

/// Options of `powershell` without a value, in full.
const FLAGS: &[&str] = &[
    "interactive",
    "login",
    "mta",
    "noexit",
    "nologo",
    "noninteractive",
    "noprofile",
    "noprofileloadtime",
    "sta",
];

/// Options of `wsl` whose value is the next word.
const WSL_VALUED: &[&str] =
    &["-d", "--distribution", "--distribution-id", "-u", "--user", "--cd", "--shell-type"];

/// Returns what a program runs; `None` if it is none of those known here.
pub(super) fn insides(call: &RunningCommand<'_>, dialect: CommandDialect) -> Option<Vec<RunPart>> {
    let found = match call.name {
        "powershell" | "pwsh" => powershell(call),
        "cmd" => cmd(call),
        "wsl" => wsl(call.words),
        "start" if dialect == CommandDialect::Cmd => start(call.words),
        "schtasks" => after(call.words, &["/tr", "-tr"]),
        "forfiles" => after(call.words, &["/c", "-c"]),
        "pcalua" => after(call.words, &["-a", "/a"]),
        "sc" => service(call.words),
        "wmic" => wmic(call.words),
        "runas" => line(call.words.last().filter(|word| !is_slash(word))).into_iter().collect(),
        "conhost" | "sudo" | "gsudo" => tail(call.words),
        "psexec" | "psexec64" | "paexec" => tail(call.words),
        "rundll32" => rundll32(call.words),
        "mshta" => mshta(call.words),
        _ => return None,
    };
    Some(found)
}

/// Says whether a word is an option the way of cmd.
fn is_slash(word: &PowerShellWord) -> bool {
    word.text().starts_with('/')
}

/// Returns the command line after an option.
fn after(words: &[PowerShellWord], options: &[&str]) -> Vec<RunPart> {
    let place = words.iter().position(|word| options.contains(&word.lower().as_str()));
    place.and_then(|place| line(words.get(place + 1))).into_iter().collect()
}

/// Returns the program after a program's own options.
fn tail(words: &[PowerShellWord]) -> Vec<RunPart> {
    let is_own =
        |word: &&PowerShellWord| word.text().starts_with(['-', '/', '\\']) && !word.text().contains(".exe");
    let rest: Vec<PowerShellWord> = words.iter().skip_while(is_own).cloned().collect();
    if rest.is_empty() { Vec::new() } else { vec![RunPart::Program(rest)] }
}

/// Finds what another PowerShell is told to run. Options may be cut short: `-enc`, `-e`, `-c`.
fn powershell(call: &RunningCommand<'_>) -> Vec<RunPart> {
    let words = call.words;
    let mut unknown = Vec::new();
    let mut place = 0;
    while let Some(word) = words.get(place) {
        let rest = words.get(place + 1..).unwrap_or_default();
        let Some(option) = option_name(word) else {
            unknown.extend(command_text(call, words.get(place..).unwrap_or_default()));
            return unknown;
        };
        let is = |full: &str| !option.is_empty() && full.starts_with(option.as_str());
        if is("command") || is("commandwithargs") || option == "cwa" {
            unknown.extend(command_text(call, rest));
            return unknown;
        } else if is("encodedcommand") || option == "ec" {
            unknown.push(encoded_text(rest.first()));
            return unknown;
        } else if is("file") {
            unknown.extend(script_file(rest));
            return unknown;
        } else if VALUED.iter().any(|full| is(full)) {
            place += 1;
        } else if is("version") {
            place += usize::from(
                rest.first()
                    .is_some_and(|next| next.text().starts_with(|letter: char| letter.is_ascii_digit())),
            );
        } else if !FLAGS.iter().any(|full| is(full)) {
            unknown.push(RunPart::Unknown("it has an option that is not known here"));
        }
        place += 1;
    }
    unknown.extend(piped_text(call));
    unknown
}

/// Returns an option's name in lower case; `None` if the word is no option.
fn option_name(word: &PowerShellWord) -> Option<String> {
    let name = word.text().strip_prefix(|letter| is_dash(letter) || letter == '/')?;
    let name = name.strip_prefix(is_dash).unwrap_or(name);
    let is_name = !name.is_empty() && name.chars().all(char::is_alphabetic);
    is_name.then(|| name.to_lowercase())
}

/// Returns the text after `-Command`, which takes all words that follow.
fn command_text(call: &RunningCommand<'_>, words: &[PowerShellWord]) -> Vec<RunPart> {
    match words {
        [only] if only.text() == "-" => piped_text(call).into_iter().collect(),
        [block, ..] if block.value == PowerShellValue::Block => Vec::new(),
        words => RunText::of_words(words).map(RunPart::PowerShell).into_iter().collect(),
    }
}

/// Returns what a shell reads that is given nothing to run.
fn piped_text(call: &RunningCommand<'_>) -> Option<RunPart> {
    match call.input_text() {
        Some(text) if call.name == "cmd" => Some(RunPart::Cmd(text)),
        Some(text) => Some(RunPart::PowerShell(text)),
        None if call.is_piped => Some(RunPart::Unknown("what a shell reads through a pipe is not known")),
        None => None,
    }
}

/// Undoes `-EncodedCommand`; what cannot be undone is unknown.
fn encoded_text(word: Option<&PowerShellWord>) -> RunPart {
    let decoded = word.filter(|word| !word.is_open()).and_then(|word| {
        let content = encoded::decode_command(word.text())?;
        Some(RunText { content, span: word.argument.span, is_open: false, is_decoded: true })
    });
    decoded.map_or(RunPart::Unknown("an encoded command cannot be decoded"), RunPart::PowerShell)
}

/// Returns a script that is named by its file as a program, so that rules see it; one from a pipe is unknown.
fn script_file(words: &[PowerShellWord]) -> Vec<RunPart> {
    match words.first() {
        Some(file) if file.text() == "-" => vec![RunPart::Unknown("the script comes through a pipe")],
        Some(_) => vec![RunPart::Program(words.to_vec())],
        None => Vec::new(),
    }
}

/// Returns the line after `/c` or `/k`.
fn cmd(call: &RunningCommand<'_>) -> Vec<RunPart> {
    for (place, word) in call.words.iter().enumerate() {
        let lower = word.lower();
        let Some(switch) = lower.strip_prefix(['/', '-']).and_then(|name| name.chars().next()) else { break };
        if matches!(switch, 'c' | 'k' | 'r') {
            let glued = word.text().get(2..).unwrap_or_default();
            let rest = call.words.get(place + 1..).unwrap_or_default();
            return cmd_text(glued, word, rest).map(RunPart::Cmd).into_iter().collect();
        }
    }
    piped_text(call).into_iter().collect()
}

/// Puts the line of `cmd /c` together again, with quotes around words that need them.
fn cmd_text(glued: &str, switch: &PowerShellWord, rest: &[PowerShellWord]) -> Option<RunText> {
    let mut text = RunText::of_words(rest).or_else(|| {
        let empty = PowerShellWord::computed("", switch.is_open(), switch.argument.span);
        RunText::of_words(&[empty])
    })?;
    if rest.len() > 1 {
        text.content = rest.iter().map(requoted).collect::<Vec<_>>().join(" ");
    }
    text.content = format!("{glued} {}", text.content);
    text.is_open |= switch.is_open();
    Some(text)
}

/// Writes a word so that cmd reads it as one.
fn requoted(word: &PowerShellWord) -> String {
    let needs_quotes = word.text().contains(char::is_whitespace) && !word.text().contains('"');
    if needs_quotes { format!("\"{}\"", word.text()) } else { word.text().to_owned() }
}

/// Reads `wsl`: a program after `-e`, else a line that bash reads.
fn wsl(words: &[PowerShellWord]) -> Vec<RunPart> {
    let mut place = 0;
    while let Some(word) = words.get(place) {
        let lower = word.lower();
        let rest = words.get(place + 1..).unwrap_or_default();
        match lower.as_str() {
            "-e" | "--exec" => {
                return if rest.is_empty() { Vec::new() } else { vec![RunPart::Program(rest.to_vec())] };
            }
            "--" => return bash(rest),
            _ if WSL_VALUED.contains(&lower.as_str()) => place += 2,
            _ if lower.starts_with('-') || lower == "~" => place += 1,
            _ => return bash(words.get(place..).unwrap_or_default()),
        }
    }
    Vec::new()
}

/// Returns what a shell of the bash family is told to run, which another survey reads.
fn bash(words: &[PowerShellWord]) -> Vec<RunPart> {
    let Some(text) = RunText::of_words(words) else { return Vec::new() };
    let line =
        if words.len() > 1 { words.iter().map(requoted).collect::<Vec<_>>().join(" ") } else { text.content };
    let mut script = PowerShellWord::computed(&line, text.is_open, text.span);
    script.argument.knowledge =
        if text.is_open { crate::argument::Knowledge::Dynamic } else { crate::argument::Knowledge::Fixed };
    vec![RunPart::Program(vec![
        PowerShellWord::computed("bash", false, text.span),
        PowerShellWord::computed("-c", false, text.span),
        script,
    ])]
}

/// Reads `start ["title"] [/options] program arguments`.
fn start(words: &[PowerShellWord]) -> Vec<RunPart> {
    let has_title = words.first().is_some_and(|word| word.argument.as_written().starts_with('"'));
    let mut rest = words.get(usize::from(has_title)..).unwrap_or_default();
    while let Some((first, others)) = rest.split_first() {
        if !is_slash(first) {
            return vec![RunPart::Program(rest.to_vec())];
        }
        let takes_directory = first.lower() == "/d";
        rest = others.get(usize::from(takes_directory)..).unwrap_or_default();
    }
    // A lone quoted word is the title of a new shell, but a program is what is meant most often.
    words.first().filter(|_| has_title).and_then(|word| line(Some(word))).into_iter().collect()
}

/// Reads `binPath= "…"`.
fn service(words: &[PowerShellWord]) -> Vec<RunPart> {
    let place = words.iter().position(|word| word.lower().starts_with("binpath="));
    let Some((place, word)) = place.and_then(|place| Some((place, words.get(place)?))) else {
        return Vec::new();
    };
    let glued = word.text().get("binpath=".len()..).unwrap_or_default();
    let inside = if glued.is_empty() {
        line(words.get(place + 1))
    } else {
        line(Some(&PowerShellWord::computed(glued, word.is_open(), word.argument.span)))
    };
    inside.into_iter().collect()
}

/// Reads `wmic process call create "…"`.
fn wmic(words: &[PowerShellWord]) -> Vec<RunPart> {
    let place = words.iter().position(|word| word.lower() == "create");
    place.and_then(|place| line(words.get(place + 1))).into_iter().collect()
}

/// Reads the entry points of libraries that start what they are given.
fn rundll32(words: &[PowerShellWord]) -> Vec<RunPart> {
    let lower: Vec<String> = words.iter().map(PowerShellWord::lower).collect();
    let has = |name: &str| lower.iter().any(|word| word.contains(name));
    if has("javascript:") || has("vbscript:") {
        return vec![RunPart::Unknown("it runs a script of another language")];
    }
    let entry_points = ["shellexec_rundll", "fileprotocolhandler", "openurl", "routethecall", "registerocx"];
    let place = lower.iter().position(|word| entry_points.iter().any(|entry| word.contains(entry)));
    let rest = place.and_then(|place| words.get(place + 1..)).unwrap_or_default();
    if rest.is_empty() { Vec::new() } else { vec![RunPart::Program(rest.to_vec())] }
}

/// Notes a script that stands in the address itself: it is code of another language.
fn mshta(words: &[PowerShellWord]) -> Vec<RunPart> {
    let is_inline = words.iter().any(|word| {
        let lower = word.lower();
        lower.starts_with("javascript:") || lower.starts_with("vbscript:") || lower.starts_with("about:")
    });
    if is_inline { vec![RunPart::Unknown("it runs a script of another language")] } else { Vec::new() }
}
