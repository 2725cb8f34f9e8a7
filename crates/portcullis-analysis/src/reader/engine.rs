//! Options of Perl, Ruby, PHP and Java that load code or settings, and what their one-liners read.

use super::CommandContext;
use super::{certain, has, nameless};
use crate::act::Act;
use crate::argument::Argument;
use crate::profile::{Match, Use};

/// Settings of PHP that load code, write files or lift a limit.
const PHP_SETTINGS: &[&str] = &[
    "allow_url",
    "auto_append_file",
    "auto_prepend_file",
    "disable_functions",
    "error_log",
    "extension",
    "ffi.",
    "include_path",
    "mail.log",
    "open_basedir",
    "opcache.preload",
    "sendmail_path",
    "zend_extension",
];

/// Beginnings of options of Java that load code, run commands or write files.
const JAVA_OPTIONS: &[&str] = &[
    "-XX:Flags",
    "-XX:On",
    "-XX:VMOptionsFile",
    "-Xbootclasspath",
    "-Xlog:",
    "-Xrun",
    "-agentlib",
    "-agentpath",
    "-javaagent",
    "@",
];

/// Reads what a one-liner is fed: with code on the command line, operands are files.
pub(super) fn filter(context: &CommandContext<'_>, found: &Match<'_>) -> Vec<Use> {
    let mut uses = found.uses.clone();
    if found.is_idle {
        return uses;
    }
    let is_perl = context.invocation.program_name() == Some("perl");
    let has_code = context.invocation.code.is_some();
    if is_perl && has_code {
        uses = of_perl(context.invocation.operands(), uses);
    } else if is_perl && has(found, &["-i"]) {
        uses.push(nameless(Act::Unknown));
    }
    if has_code && !is_perl {
        // What options load is part of the code, and judged with it.
        let loaded = |text: &str| {
            let is_value = |value: &Option<Argument>| value.as_ref().is_some_and(|value| value.text == text);
            found.wanted.options.iter().any(|(option, value)| *option == "-r" && is_value(value))
        };
        uses.retain(|used| {
            used.act != Act::Execute || !used.word.as_ref().is_some_and(|word| loaded(&word.text))
        });
    }
    for operand in found.wanted.operands.iter().filter(|_| has_code) {
        let text = operand.text.trim();
        // A name with a pipe or an angle is a command or a file to write.
        let is_odd = text.starts_with(['|', '>', '<', '+']) || text.ends_with('|');
        if is_odd {
            uses.push(certain(Act::Unknown, operand));
        } else if !is_perl && text.contains(['/', '.']) {
            uses.push(certain(Act::Read, operand));
        }
    }
    let is_hidden = context.invocation.code.as_ref().is_some_and(|code| hides_calls(&code.text));
    if is_perl && is_hidden {
        uses.push(nameless(Act::Unknown));
    }
    for (option, value) in &found.wanted.options {
        let Some(value) = value else { continue };
        match *option {
            "-M" if !is_module(&value.text) => uses.push(certain(Act::Unknown, value)),
            "-M" => uses.extend(
                value.text.strip_prefix("lib=").map(|path| certain(Act::Execute, &value.piece(path))),
            ),
            "-I" => uses.push(certain(Act::Execute, value)),
            "-F" if value.text.contains("(?") => uses.push(certain(Act::Unknown, value)),
            _ => {}
        }
    }
    uses
}

/// Reads the words of a one-liner of Perl, in which options stand together: `-lane`, `-pi.bak`. The files that follow the
/// code are read, and with `-i` rewritten.
fn of_perl(words: &[Argument], mut uses: Vec<Use>) -> Vec<Use> {
    let mut rest = words.iter();
    let mut rewrites = false;
    let mut files = Vec::new();
    while let Some(word) = rest.next() {
        let letters = word.text.strip_prefix('-').filter(|letters| !letters.is_empty());
        let Some(letters) = letters.filter(|_| word.text != "--" && word.is_option()) else {
            files.extend((word.text != "--").then_some(word));
            files.extend(rest);
            break;
        };
        let (cluster, takes_next) = perl_cluster(letters);
        rewrites |= cluster.contains('i');
        if takes_next {
            rest.next();
        }
    }
    uses.retain(|found| {
        !matches!(found.act, Act::Execute | Act::Read | Act::Unknown)
            || found.word.is_some() && found.act == Act::Unknown
    });
    let act = if rewrites { Act::Write } else { Act::Read };
    uses.extend(files.into_iter().map(|file| certain(act, file)));
    uses
}

/// Returns the switches of a cluster up to the one that takes the rest, and whether that one takes the next word.
fn perl_cluster(letters: &str) -> (String, bool) {
    let mut switches = String::new();
    let mut rest = letters;
    while let Some(letter) = rest.chars().next() {
        rest = rest.get(letter.len_utf8()..).unwrap_or_default();
        switches.push(letter);
        match letter {
            'e' | 'E' | 'I' => return (switches, rest.is_empty()),
            'i' | 'F' | 'M' | 'm' | 'x' | 'D' | 'd' | 'C' | 'V' => return (switches, false),
            '0' | 'l' => {
                rest = rest
                    .trim_start_matches(|digit: char| digit.is_ascii_digit() || matches!(digit, 'x' | 'X'));
            }
            _ => {}
        }
    }
    (switches, false)
}

/// Says whether Perl code names what it reads or calls in a way that only shows at run time.
fn hides_calls(code: &str) -> bool {
    let sets_files = code.match_indices("@ARGV").any(|(at, name)| {
        let rest = code.get(at + name.len()..).unwrap_or_default().trim_start();
        rest.starts_with('=') && !rest.starts_with("==") && !rest.starts_with("=~")
    });
    sets_files || ["&{\"", "&{'", "&{q", "->can(", "syscall"].iter().any(|sign| code.contains(sign))
}

/// Says whether the value of `-M` is a module and what is taken of it; anything else is code.
fn is_module(text: &str) -> bool {
    let is_plain = |letter: char| letter.is_alphanumeric() || "_:-=,./ ".contains(letter);
    let (module, list) = text.split_once(" qw").unwrap_or((text, ""));
    let list = list.trim_matches(['(', ')', '/', '{', '}', '[', ']']);
    module.chars().all(is_plain) && list.chars().all(is_plain)
}

/// Reads the settings that PHP is started with.
pub(super) fn php(_: &CommandContext<'_>, found: &Match<'_>) -> Vec<Use> {
    let mut uses = found.uses.clone();
    // What a setting loads is loaded before the version is shown.
    let values = found.wanted.options.iter().filter(|(option, _)| *option == "-d");
    let is_steering = |word: &&Argument| {
        let name = word.text.trim().to_ascii_lowercase();
        PHP_SETTINGS.iter().any(|setting| name.starts_with(setting))
    };
    uses.extend(
        values
            .filter_map(|(_, value)| value.as_ref())
            .filter(is_steering)
            .map(|word| certain(Act::Unknown, word)),
    );
    uses
}

/// Reads the options of a Java machine: they stand before the class or the archive.
pub(super) fn java(context: &CommandContext<'_>, found: &Match<'_>) -> Vec<Use> {
    let mut uses = found.uses.clone();
    let words = context.invocation.operands().iter();
    let options = words.take_while(|word| word.is_option() || word.text.contains(['@', '/', ':']));
    let is_steering = |word: &&Argument| {
        // A setting of the machine whose value is a place is a file that it writes or a library that it loads.
        let is_place = word.text.starts_with("-XX:") && word.text.contains('/');
        is_place || JAVA_OPTIONS.iter().any(|start| word.text.starts_with(start))
    };
    uses.extend(options.filter(is_steering).map(|word| certain(Act::Unknown, word)));
    if found.is_idle {
        return uses;
    }
    let paths = found.wanted.options.iter().filter(|(option, _)| *option == "-cp");
    for value in paths.filter_map(|(_, value)| value.as_ref()) {
        let parts = value.text.split(':').filter(|part| !part.is_empty());
        uses.extend(parts.map(|part| certain(Act::Execute, &value.piece(part))));
    }
    uses
}

#[cfg(test)]
mod tests {
    use crate::reader::testing::effects;

    #[test]
    fn code_in_a_module_option_and_commands_for_files_are_unknown() {
        assert!(effects("perl '-Mstrict; unlink 1' -e 1").contains(&"unknown strict; unlink 1".to_owned()));
        assert!(effects("perl '-MList::Util qw(sum max)' -e 1").is_empty());
        assert!(effects("perl -I/tmp/x -e 1").contains(&"execute /tmp/x".to_owned()));
        assert_eq!(effects("perl -lane 1 a.txt"), ["read a.txt"]);
        assert_eq!(effects("perl -i.bak -pe 1 a.txt"), ["write a.txt"]);
        assert_eq!(effects("perl -pi -e 1 a.txt b.txt"), ["write a.txt", "write b.txt"]);
        assert_eq!(effects("perl -e '@ARGV = (1)'"), ["unknown"]);
        assert_eq!(effects("perl -F'/(?{1})/' -ane 1"), ["unknown /(?{1})/"]);
        assert!(effects("perl -ne 1 'date|'").contains(&"unknown date|".to_owned()));
        assert_eq!(effects("ruby -pe 1 /home/me/.netrc"), ["read /home/me/.netrc"]);
        assert!(effects("ruby -ne 1 '|date'").contains(&"unknown |date".to_owned()));
    }

    #[test]
    fn settings_that_load_code_are_unknown() {
        let prepended = "unknown auto_prepend_file=/tmp/x".to_owned();
        assert!(effects("php -d auto_prepend_file=/tmp/x -r 1").contains(&prepended));
        assert!(effects("php -d memory_limit=-1 -r 1").is_empty());
        assert_eq!(effects("java -agentpath:/tmp/x -version"), ["unknown -agentpath:/tmp/x"]);
        assert!(
            effects("java '-XX:OnError=date' -jar a.jar").contains(&"unknown -XX:OnError=date".to_owned())
        );
        assert!(effects("java -cp /tmp/x Main").contains(&"execute /tmp/x".to_owned()));
        assert_eq!(effects("java -Xmx2g -jar a.jar"), ["execute a.jar"]);
    }
}
