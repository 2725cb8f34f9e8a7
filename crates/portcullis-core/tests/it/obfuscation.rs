//! However a dangerous command is spelled or wrapped, auto mode does not let it run; however a harmless one is laid out,
//! it stays allowed. Every example of every finding is written again in every way listed here.

use std::fmt::Write as _;

use portcullis_analysis::findings::{ExampleCall, FINDINGS};
use portcullis_core::{Case, Context, Decision, Mode, Policy, SessionKnowledge, ToolCall, Verdict};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use crate::support::{context, decide_bash};

/// Decides a command in auto mode on an empty disk, after the user said something.
pub(crate) fn judged(command: &str, turns: &[&str]) -> Verdict {
    let policy = Policy::of_rules(Vec::new());
    let turns = turns.iter().map(|turn| (*turn).to_owned()).collect();
    let context =
        Context { session: SessionKnowledge { turns, ..SessionKnowledge::default() }, ..context(Mode::Auto) };
    let mut case = Case::new(ToolCall::bash(command), context);
    case.assume_empty_disk(&policy);
    case.decide(&policy).expect("the session is not aborted").into_verdict()
}

fn is_allowed(command: &str) -> bool {
    judged(command, &[]).decision == Decision::Allow
}

/// A way to write a command so that it still runs.
enum Spelling {
    /// The command stands between two texts, as it is.
    Around(&'static str, &'static str),
    /// The command stands between two texts as one quoted word.
    Quoted(&'static str, &'static str),
    /// A program that starts the one named after it.
    Before(&'static str),
    /// Anything else; `None` where it would change what runs.
    Other(fn(&str) -> Option<String>),
}

impl Spelling {
    fn write(&self, command: &str) -> Option<String> {
        match self {
            Self::Around(before, after) => Some([before, command, after].concat()),
            Self::Quoted(before, after) => Some([before, quoted(command).as_str(), after].concat()),
            Self::Before(words) => program(command).map(|_| [words, " ", command].concat()),
            Self::Other(write) => write(command),
        }
    }
}

/// Places of the shell's grammar that a command may stand in.
const AROUND: &[Spelling] = &[
    Spelling::Around("( ", "\n)"),
    Spelling::Around("{ ", "\n}"),
    Spelling::Around("if true; then ", "\nfi"),
    Spelling::Around("if ", "\nthen true; fi"),
    Spelling::Around("if false; then ls; else ", "\nfi"),
    Spelling::Around("while ", "\ndo break; done"),
    Spelling::Around("while true; do ", "\nbreak; done"),
    Spelling::Around("until ", "\ndo break; done"),
    Spelling::Around("for name in one; do ", "\ndone"),
    Spelling::Around("case one in one) ", "\n;; esac"),
    Spelling::Around("run() { ", "\n}; run"),
    Spelling::Around("function run { ", "\n}\nrun"),
    Spelling::Around("run() ( ", "\n)\nrun"),
    Spelling::Around("true | { ", "\n}"),
    Spelling::Around("{ ", "\n} 2>&1 | cat"),
    Spelling::Around("{ ", "\n} > /dev/null 2>&1"),
    Spelling::Around("true && ", ""),
    Spelling::Around("false || ", ""),
    Spelling::Around("ls; ", ""),
    Spelling::Around("ls\n", "\nls"),
    Spelling::Around("{ ", "\n} &"),
    Spelling::Around("{ ", "\n} & wait"),
    Spelling::Around("! { ", "\n}"),
    Spelling::Around("time ", ""),
    Spelling::Around("coproc { ", "\n}"),
    Spelling::Around("echo $( ", "\n)"),
    Spelling::Around("echo \"$( ", "\n)\""),
    Spelling::Around("out=$( ", "\n)"),
    Spelling::Around("export out=$( ", "\n)"),
    Spelling::Around("echo ${out:-$( ", "\n)}"),
    Spelling::Around("echo $(( $( ", "\n) + 1 ))"),
    Spelling::Around("[[ -n $( ", "\n) ]]"),
    Spelling::Around("cat <( ", "\n)"),
    Spelling::Around("cat < <( ", "\n)"),
    Spelling::Around("ls | tee >( ", "\n)"),
    Spelling::Around("cat <<EOF\n$( ", "\n)\nEOF"),
    Spelling::Around("cat <<< \"$( ", "\n)\""),
    Spelling::Around("words=( $( ", "\n) )"),
    Spelling::Around("for name in $( ", "\n); do ls; done"),
    Spelling::Around("case $( ", "\n) in *) ;; esac"),
    Spelling::Around("ls # a note\n", "\n# another"),
    Spelling::Around("   \n\n", "   "),
];

/// Programs and builtins that take a command as one word or as a text.
const QUOTED: &[Spelling] = &[
    Spelling::Quoted("eval ", ""),
    Spelling::Other(|command| Some(format!("eval eval {}", quoted(&quoted(command))))),
    Spelling::Quoted("bash -c ", ""),
    Spelling::Quoted("/bin/sh -c ", ""),
    Spelling::Quoted("bash -lc ", ""),
    Spelling::Quoted("bash -x -e -c ", ""),
    Spelling::Quoted("bash --norc -c ", ""),
    Spelling::Quoted("zsh -c ", ""),
    Spelling::Quoted("dash -c ", ""),
    Spelling::Quoted("busybox sh -c ", ""),
    Spelling::Quoted("bash <<< ", ""),
    Spelling::Quoted("source /dev/stdin <<< ", ""),
    Spelling::Quoted(". /dev/stdin <<< ", ""),
    Spelling::Quoted("bash <(echo ", ")"),
    Spelling::Quoted("source <(printf '%s\\n' ", ")"),
    Spelling::Quoted("echo ", " | sh"),
    Spelling::Quoted("printf '%s' ", " | bash -s"),
    Spelling::Quoted("echo ", " | sudo bash"),
    Spelling::Quoted("echo ", " | tee >(sh)"),
    Spelling::Quoted("echo ", " | cat | cat | sh"),
    Spelling::Quoted("echo ", " | while read -r line; do eval \"$line\"; done"),
    Spelling::Quoted("line=", "; eval \"$line\""),
    Spelling::Quoted("line=", "; bash -c \"$line\""),
    Spelling::Quoted("line=", "; echo \"$line\" | sh"),
    Spelling::Quoted("export line=", "; bash -c 'eval \"$line\"'"),
    Spelling::Quoted("read -r line <<< ", "; eval \"$line\""),
    Spelling::Quoted("printf -v line %s ", "; eval \"$line\""),
    Spelling::Quoted("set -- ", "; eval \"$1\""),
    Spelling::Quoted("run() { eval \"$1\"; }; run ", ""),
    Spelling::Quoted("run() { \"$@\"; }; run sh -c ", ""),
    Spelling::Quoted("trap ", " EXIT"),
    Spelling::Quoted("shopt -s expand_aliases\nalias go=", "\ngo"),
    Spelling::Quoted("alias go=", "; go"),
    Spelling::Quoted("find . -maxdepth 0 -exec sh -c ", " \\;"),
    Spelling::Quoted("find . -name '*.rs' -exec bash -c ", " _ {} +"),
    Spelling::Quoted("ls | xargs -I{} sh -c ", ""),
    Spelling::Quoted("echo ", " | xargs -0 -n 1 sh -c"),
    Spelling::Quoted("xargs sh -c ", " < list.txt"),
    Spelling::Quoted("ls | xargs -P 4 -n 1 bash -c ", " _"),
    Spelling::Quoted("env sh -c ", ""),
    Spelling::Quoted("env -i PATH=/bin sh -c ", ""),
    Spelling::Quoted("env -S 'sh -c' ", ""),
    Spelling::Quoted("nohup sh -c ", " &"),
    Spelling::Quoted("timeout -k 1 5 sh -c ", ""),
    Spelling::Quoted("nice -n 5 sh -c ", ""),
    Spelling::Quoted("setsid -f sh -c ", ""),
    Spelling::Quoted("command bash -c ", ""),
    Spelling::Quoted("exec bash -c ", ""),
    Spelling::Quoted("sudo -u root sh -c ", ""),
    Spelling::Quoted("su -c ", ""),
    Spelling::Quoted("ssh localhost ", ""),
    Spelling::Quoted("ssh -o BatchMode=yes me@localhost -- ", ""),
    Spelling::Quoted("script -q -c ", " /dev/null"),
    Spelling::Quoted("flock /tmp/lock -c ", ""),
    Spelling::Quoted("watch -n 1 ", ""),
    Spelling::Quoted("parallel ::: ", ""),
    Spelling::Quoted("strace -f sh -c ", ""),
    Spelling::Quoted("stdbuf -o0 sh -c ", ""),
    Spelling::Quoted("unshare -r sh -c ", ""),
    Spelling::Quoted("hyperfine ", ""),
    Spelling::Quoted("npx -c ", ""),
    Spelling::Quoted("npm exec -c ", ""),
    Spelling::Quoted("poetry run sh -c ", ""),
    Spelling::Quoted("uv run sh -c ", ""),
    Spelling::Quoted("bundle exec sh -c ", ""),
    Spelling::Quoted("git -c alias.go='!'", " go"),
    Spelling::Quoted("git bisect run sh -c ", ""),
    Spelling::Quoted("git submodule foreach ", ""),
    Spelling::Quoted("git rebase --exec ", " main"),
    Spelling::Quoted("GIT_SSH_COMMAND=", " git fetch"),
    Spelling::Quoted("GIT_EXTERNAL_DIFF=", " git diff"),
    Spelling::Quoted("PAGER=", " git log"),
    Spelling::Quoted("EDITOR=", " git commit"),
    Spelling::Quoted("git -c core.pager=", " log"),
    Spelling::Quoted("tar -cf /dev/null --checkpoint=1 --checkpoint-action=exec=", " ."),
    Spelling::Quoted("tar -cf a.tar . --to-command=", ""),
    Spelling::Quoted("rsync -e ", " a b"),
    Spelling::Quoted("tmux new-session -d ", ""),
    Spelling::Quoted("at now <<< ", ""),
    Spelling::Quoted("split --filter=", " a.txt"),
    Spelling::Quoted("make SHELL=/bin/sh .SHELLFLAGS=-c --eval=x:\\;", " x"),
    Spelling::Quoted("sqlite3 :memory: '.shell '", ""),
    Spelling::Quoted("man -P ", " ls"),
    Spelling::Quoted("sed -n 1e", " a.txt"),
    Spelling::Quoted("PROMPT_COMMAND=", " bash -i"),
    Spelling::Quoted("cat <<< ", " | bash"),
    Spelling::Quoted("$(echo bash) -c ", ""),
    Spelling::Quoted("bash -c \"$(echo ", ")\""),
];

/// Programs that run the words after them, and spellings of the program and its arguments.
const WORDS: &[Spelling] = &[
    Spelling::Before("env"),
    Spelling::Before("env -u LANG A=1"),
    Spelling::Before("nohup"),
    Spelling::Before("timeout 5"),
    Spelling::Before("timeout --signal=KILL 5"),
    Spelling::Before("nice"),
    Spelling::Before("command"),
    Spelling::Before("command -p"),
    Spelling::Before("sudo"),
    Spelling::Before("sudo -n -E"),
    Spelling::Before("xargs"),
    Spelling::Before("ls | xargs -n 1"),
    Spelling::Before("setsid"),
    Spelling::Before("exec"),
    Spelling::Before("stdbuf -oL"),
    Spelling::Before("ionice -c 3"),
    Spelling::Before("time -p"),
    Spelling::Before("busybox"),
    Spelling::Before("A=1 B=2"),
    Spelling::Before("</dev/null"),
    Spelling::Before("2>&1"),
    Spelling::Before("env nice timeout 5 nohup"),
    Spelling::Other(|command| each_word(command, |word| split_word(word, "''"))),
    Spelling::Other(|command| each_word(command, |word| split_word(word, "\"\""))),
    Spelling::Other(|command| each_word(command, |word| split_word(word, "\\\n"))),
    Spelling::Other(|command| each_word(command, |word| split_word(word, "$''"))),
    Spelling::Other(|command| each_word(command, |word| split_word(word, "${nothing}"))),
    Spelling::Other(|command| each_word(command, |word| split_word(word, "$@"))),
    Spelling::Other(|command| each_word(command, |word| split_word(word, "$(true)"))),
    Spelling::Other(|command| each_word(command, |word| split_word(word, "``"))),
    Spelling::Other(|command| each_word(command, |word| format!("'{word}'"))),
    Spelling::Other(|command| each_word(command, |word| format!("\"{word}\""))),
    Spelling::Other(|command| each_word(command, |word| format!("$'{word}'"))),
    Spelling::Other(|command| each_word(command, |word| format!("$\"{word}\""))),
    Spelling::Other(|command| each_word(command, |word| each_letter(word, |letter| format!("\\{letter}")))),
    Spelling::Other(|command| each_word(command, |word| each_letter(word, |letter| format!("'{letter}'")))),
    Spelling::Other(|command| each_word(command, |word| format!("$'{}'", escaped(word, Base::Hex)))),
    Spelling::Other(|command| each_word(command, |word| format!("$'{}'", escaped(word, Base::Octal)))),
    Spelling::Other(|command| {
        each_word(command, |word| format!("$'{}'", each_letter(word, |l| format!("\\u{:04x}", u32::from(l)))))
    }),
    Spelling::Other(|command| each_word(command, |word| format!("$(printf %s {word})"))),
    Spelling::Other(|command| split_program(command, |program| format!("`echo {program}`"))),
    Spelling::Other(|command| each_word(command, |word| format!("${{nothing:-{word}}}"))),
    Spelling::Other(|command| {
        each_word(command, |word| format!("$(printf '{}')", escaped(word, Base::Octal)))
    }),
    Spelling::Other(|command| each_word(command, |word| format!("$(echo {} | base64 -d)", base64(word)))),
    Spelling::Other(|command| {
        let backwards = |word: &str| word.chars().rev().collect::<String>();
        each_word(command, |word| format!("$(echo {} | rev)", backwards(word)))
    }),
    Spelling::Other(|command| split_program(command, |program| format!("P={program}; $P"))),
    Spelling::Other(|command| split_program(command, |program| format!("P='{program}'; \"${{P}}\""))),
    Spelling::Other(|command| split_program(command, |program| format!("P=x{program}; ${{P:1}}"))),
    Spelling::Other(|command| split_program(command, |program| format!("P=x{program}; ${{P#x}}"))),
    Spelling::Other(|command| split_program(command, |program| format!("P={program}x; ${{P%?}}"))),
    Spelling::Other(|command| split_program(command, |program| format!("P=({program}); ${{P[0]}}"))),
    Spelling::Other(|command| split_program(command, |program| format!("Q={program}; P=Q; ${{!P}}"))),
    Spelling::Other(|command| split_program(command, |program| format!("Q={program}; P=$Q; $P"))),
    Spelling::Other(|command| split_program(command, |program| format!("declare -n P=Q; Q={program}; $P"))),
    Spelling::Other(|command| split_program(command, |program| format!("printf -v P %s {program}; $P"))),
    Spelling::Other(|command| split_program(command, |program| format!("read P <<< {program}; $P"))),
    Spelling::Other(|command| split_program(command, |program| format!("set -- {program}; $1"))),
    Spelling::Other(|command| {
        split_program(command, |program| format!("for P in {program}; do :; done; $P"))
    }),
    Spelling::Other(|command| split_program(command, |program| format!("alias go={program}\ngo"))),
    Spelling::Other(|command| split_program(command, |program| format!("go() {{ {program} \"$@\"; }}; go"))),
    Spelling::Other(|command| split_program(command, |program| format!(": ${{P:={program}}}; $P"))),
    Spelling::Other(|command| split_program(command, |program| format!("$(which {program})"))),
    Spelling::Other(|command| split_program(command, |program| format!("$(command -v {program})"))),
    Spelling::Other(|command| absolute(command, "/usr/bin/")),
    Spelling::Other(|command| absolute(command, "/bin/../usr/bin/")),
    Spelling::Other(|command| absolute(command, "/usr//local/bin/./")),
    Spelling::Other(last_in_variable),
    Spelling::Other(|command| Some(format!("find . -maxdepth 0 -exec {} \\;", simple(command)?.join(" ")))),
    Spelling::Other(|command| Some(simple(command)?.join("${IFS}"))),
    Spelling::Other(|command| Some(simple(command)?.join("$IFS$9"))),
    Spelling::Other(|command| Some(simple(command)?.join("\t \t"))),
    Spelling::Other(|command| Some(simple(command)?.join(" \\\n  "))),
    Spelling::Other(|command| {
        let words = simple(command).filter(|words| words.len() > 1 && !command.contains(','))?;
        Some(format!("{{{}}}", words.join(",")))
    }),
    Spelling::Other(|command| Some(format!("W=({}); \"${{W[@]}}\"", simple(command)?.join(" ")))),
    Spelling::Other(|command| Some(format!("W='{}'; $W", simple(command)?.join(" ")))),
    Spelling::Other(|command| Some(format!("set -- {}; \"$@\"", simple(command)?.join(" ")))),
    Spelling::Other(|command| Some(format!("IFS=,; W='{}'; $W", simple_without_commas(command)?.join(",")))),
    Spelling::Other(|command| {
        let words = simple(command)?;
        let (program, arguments) = words.split_first()?;
        Some(format!("echo {} | xargs {program}", arguments.join(" ")))
    }),
];

/// Commands written in code that a program turns into text again, or in another language.
const ENCODED: &[Spelling] = &[
    Spelling::Other(|command| Some(format!("echo {} | base64 -d | sh", base64(command)))),
    Spelling::Other(|command| Some(format!("echo {} | base64 --decode | bash", base64(command)))),
    Spelling::Other(|command| Some(format!("eval \"$(echo {} | base64 -d)\"", base64(command)))),
    Spelling::Other(|command| Some(format!("bash -c \"$(base64 -d <<< {})\"", base64(command)))),
    Spelling::Other(|command| Some(format!("bash <(base64 -d <<< {})", base64(command)))),
    Spelling::Other(|command| Some(format!("source <(echo {} | base64 -d)", base64(command)))),
    Spelling::Other(|command| Some(format!("echo {} | openssl base64 -d -A | sh", base64(command)))),
    Spelling::Other(|command| Some(format!("X={}; echo $X | base64 -d | sh", base64(command)))),
    Spelling::Other(|command| {
        Some(format!("echo {} | base64 -d | base64 -d | sh", base64(&base64(command))))
    }),
    Spelling::Other(|command| {
        Some(format!("python3 -c \"import base64,os; os.system(base64.b64decode('{}'))\"", base64(command)))
    }),
    Spelling::Other(|command| Some(format!("printf '{}' | sh", escaped(command, Base::Hex)))),
    Spelling::Other(|command| Some(format!("echo -e '{}' | sh", escaped(command, Base::Hex)))),
    Spelling::Other(|command| Some(format!("eval $'{}'", escaped(command, Base::Hex)))),
    Spelling::Other(|command| Some(format!("eval \"$(printf '{}')\"", escaped(command, Base::Octal)))),
    Spelling::Other(|command| Some(format!("echo {} | xxd -r -p | sh", hex(command)))),
    Spelling::Other(|command| Some(format!("xxd -r -p <<< {} | bash", hex(command)))),
    Spelling::Other(|command| {
        let backwards: String = command.chars().rev().collect();
        Some(format!("echo {} | rev | sh", quoted(&backwards)))
    }),
    Spelling::Other(|command| {
        let turned: String = command.chars().map(turned).collect();
        Some(format!("echo {} | tr 'A-Za-z' 'N-ZA-Mn-za-m' | sh", quoted(&turned)))
    }),
    Spelling::Other(|command| Some(format!("bash -c {}", quoted(&format!("bash -c {}", quoted(command)))))),
    Spelling::Other(|command| Some(format!("eval {}", quoted(&format!("sh -c {}", quoted(command)))))),
    Spelling::Other(|command| Some(format!("bash -c \"{}\"", in_double_quotes(command)))),
    Spelling::Other(|command| {
        Some(format!("bash -c \"bash -c \\\"{}\\\"\"", in_double_quotes(&in_double_quotes(command))))
    }),
    Spelling::Other(|command| Some(format!("sh <<'END'\n{command}\nEND"))),
    Spelling::Other(|command| Some(format!("bash -s <<-'END'\n\t{command}\n\tEND"))),
    Spelling::Other(|command| Some(format!("cat <<'END' | sh\n{command}\nEND"))),
    Spelling::Other(|command| Some(format!("eval \"$(cat <<'END'\n{command}\nEND\n)\""))),
    Spelling::Other(|command| Some(format!("ssh localhost bash <<'END'\n{command}\nEND"))),
    Spelling::Other(|command| Some(format!("cat > go.sh <<'END'\n{command}\nEND\nsh go.sh"))),
    Spelling::Other(|command| Some(format!("echo {} > go.sh && bash ./go.sh", quoted(command)))),
    Spelling::Other(|command| Some(format!("echo {} > go.sh; chmod +x go.sh; ./go.sh", quoted(command)))),
    Spelling::Other(|command| Some(format!("echo {} > /tmp/go; source /tmp/go", quoted(command)))),
    Spelling::Other(|command| Some(format!("echo `{}`", in_backquotes(command)))),
    Spelling::Other(|command| Some(code("python3 -c", "import os; os.system(\"", command, "\")"))),
    Spelling::Other(|command| {
        Some(code("python -c", "import subprocess; subprocess.run(\"", command, "\", shell=True)"))
    }),
    Spelling::Other(|command| Some(code("python3 -c", "__import__('os').popen(\"", command, "\").read()"))),
    Spelling::Other(|command| Some(code("node -e", "require('child_process').execSync(\"", command, "\")"))),
    Spelling::Other(|command| Some(code("awk", "BEGIN { system(\"", command, "\") }"))),
    Spelling::Other(|command| Some(single_quoted_code("perl -e", "system('", command, "');"))),
    Spelling::Other(|command| Some(single_quoted_code("ruby -e", "system('", command, "')"))),
    Spelling::Other(|command| Some(single_quoted_code("php -r", "shell_exec('", command, "');"))),
];

fn all_spellings() -> impl Iterator<Item = &'static Spelling> {
    AROUND.iter().chain(QUOTED).chain(WORDS).chain(ENCODED)
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

fn in_double_quotes(text: &str) -> String {
    each_letter(text, |letter| match letter {
        '\\' | '"' | '$' | '`' => format!("\\{letter}"),
        other => other.to_string(),
    })
}

fn in_backquotes(text: &str) -> String {
    each_letter(text, |letter| match letter {
        '\\' | '`' | '$' => format!("\\{letter}"),
        other => other.to_string(),
    })
}

fn each_letter(text: &str, write: impl Fn(char) -> String) -> String {
    text.chars().map(write).collect()
}

#[derive(Clone, Copy)]
enum Base {
    Hex,
    Octal,
}

fn escaped(text: &str, base: Base) -> String {
    text.bytes().fold(String::new(), |mut all, byte| {
        match base {
            Base::Hex => write!(all, "\\x{byte:02x}"),
            Base::Octal => write!(all, "\\{byte:03o}"),
        }
        .expect("a string takes any text");
        all
    })
}

fn hex(text: &str) -> String {
    escaped(text, Base::Hex).replace("\\x", "")
}

fn base64(text: &str) -> String {
    const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut all = String::new();
    for group in text.as_bytes().chunks(3) {
        let bits =
            (0..3).fold(0_usize, |bits, at| bits << 8 | usize::from(group.get(at).copied().unwrap_or(0)));
        for at in 0..4 {
            let letter = char::from(LETTERS[bits >> (18 - 6 * at) & 63]);
            all.push(if at <= group.len() { letter } else { '=' });
        }
    }
    all
}

fn turned(letter: char) -> char {
    let turn = |first: u8| char::from(first + (letter as u8 - first + 13) % 26);
    match letter {
        'a'..='z' => turn(b'a'),
        'A'..='Z' => turn(b'A'),
        other => other,
    }
}

/// Writes a command into code whose strings stand in double quotes.
fn code(program: &str, before: &str, command: &str, after: &str) -> String {
    let text = command.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
    format!("{program} {}", quoted(&[before, &text, after].concat()))
}

/// Writes a command into code whose strings stand in single quotes.
fn single_quoted_code(program: &str, before: &str, command: &str, after: &str) -> String {
    let text = command.replace('\\', "\\\\").replace('\'', "\\'");
    format!("{program} {}", quoted(&[before, &text, after].concat()))
}

const RESERVED: &[&str] = &[
    "if", "then", "else", "elif", "fi", "for", "while", "until", "do", "done", "case", "esac", "in",
    "select", "function", "time", "coproc",
];

/// Names that only the shell itself knows, so that no program can start them.
const BUILTINS: &[&str] = &[
    ".", ":", "alias", "cd", "command", "declare", "eval", "exec", "exit", "export", "history", "read",
    "set", "shopt", "source", "trap", "unset",
];

fn is_plain(word: &str) -> bool {
    let is_plain_letter = |letter: char| letter.is_ascii_alphanumeric() || "_./:@%+,-=".contains(letter);
    let is_assignment = word.contains('=') && !word.starts_with('-');
    !word.is_empty() && word.chars().all(is_plain_letter) && !is_assignment
}

/// Returns the program a command begins with, and the rest, if it can be started by others.
fn program(command: &str) -> Option<(&str, &str)> {
    let (first, rest) = command.split_once(' ').unwrap_or((command, ""));
    let is_program = is_plain(first) && !RESERVED.contains(&first) && !BUILTINS.contains(&first);
    (is_program && !first.contains('\n')).then_some((first, rest))
}

/// Returns the words of a command that is nothing but plain words.
fn simple(command: &str) -> Option<Vec<&str>> {
    program(command)?;
    let words: Vec<&str> = command.split(' ').collect();
    words.iter().all(|word| is_plain(word)).then_some(words)
}

fn simple_without_commas(command: &str) -> Option<Vec<&str>> {
    simple(command).filter(|_| !command.contains(','))
}

/// Writes every plain word anew, or only the program where others may stand in quotes.
fn each_word(command: &str, write: impl Fn(&str) -> String) -> Option<String> {
    let has_words_only = !command.contains(['\'', '"', '\\', '`', '$', '(', '#', '\n', '{'])
        && !command.split(' ').any(|word| RESERVED.contains(&word));
    if has_words_only {
        let words: Vec<String> = command
            .split(' ')
            .map(|word| if is_plain(word) { write(word) } else { word.to_owned() })
            .collect();
        let anew = words.join(" ");
        return (anew != command).then_some(anew);
    }
    let (program, rest) = program(command)?;
    Some(format!("{} {rest}", write(program)))
}

fn split_word(word: &str, between: &str) -> String {
    let mut letters = word.chars();
    let first: String = letters.by_ref().take(1).collect();
    [first.as_str(), between, letters.as_str()].concat()
}

fn split_program(command: &str, write: impl Fn(&str) -> String) -> Option<String> {
    let (program, rest) = program(command)?;
    Some(format!("{} {rest}", write(program)))
}

fn absolute(command: &str, directory: &str) -> Option<String> {
    let (first, _) = program(command)?;
    (!first.contains('/')).then(|| [directory, command].concat())
}

fn last_in_variable(command: &str) -> Option<String> {
    let words = simple(command).filter(|words| words.len() > 1)?;
    let (last, others) = words.split_last()?;
    Some(format!("A={last}; {} $A", others.join(" ")))
}

fn hits() -> Vec<(&'static str, &'static str)> {
    let bash = |sample: &ExampleCall| match *sample {
        ExampleCall::Bash(command) => Some(command),
        ExampleCall::PowerShell(_) | ExampleCall::Call(..) => None,
    };
    FINDINGS
        .iter()
        .flat_map(|finding| finding.hits.iter().filter_map(bash).map(|command| (finding.code, command)))
        .collect()
}

fn check_hits(spellings: &[Spelling]) {
    let mut holes = Vec::new();
    let mut count = 0;
    for (code, command) in hits() {
        for spelled in spellings.iter().filter_map(|spelling| spelling.write(command)) {
            count += 1;
            if is_allowed(&spelled) {
                holes.push(format!("{code} {command}\n    {spelled}"));
            }
        }
    }
    assert!(count > 5_000, "only {count} commands were looked at");
    assert!(holes.is_empty(), "{} of {count} are allowed:\n{}", holes.len(), holes.join("\n"));
}

#[test]
fn every_example_of_a_finding_is_stopped_as_it_stands() {
    let allowed: Vec<_> = hits().into_iter().filter(|(_, command)| is_allowed(command)).collect();
    assert_eq!(allowed, []);
}

#[test]
fn no_place_in_the_grammar_hides_a_finding() {
    check_hits(AROUND);
}

#[test]
fn no_program_that_takes_a_text_hides_a_finding() {
    check_hits(QUOTED);
}

#[test]
fn no_spelling_of_words_hides_a_finding() {
    check_hits(WORDS);
}

#[test]
fn no_code_and_no_other_language_hides_a_finding() {
    check_hits(ENCODED);
}

/// The same cases in every run.
fn configuration() -> ProptestConfig {
    ProptestConfig {
        cases: 4_000,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(1),
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(configuration())]

    #[test]
    fn no_two_or_three_spellings_together_hide_a_finding(
        hit in prop::sample::select(hits()),
        places in prop::collection::vec(0..all_spellings().count(), 2..=3),
    ) {
        let spelled = places.iter().fold(hit.1.to_owned(), |command, place| {
            all_spellings().nth(*place).and_then(|spelling| spelling.write(&command)).unwrap_or(command)
        });
        prop_assert!(!is_allowed(&spelled), "{} {}\n{spelled}", hit.0, hit.1);
    }
}

/// Layouts that change nothing.
const LAYOUTS: &[Spelling] = &[
    Spelling::Around("  ", "  "),
    Spelling::Around("\n", "\n"),
    Spelling::Around("", " # a note"),
    Spelling::Around("# a note\n", ""),
    Spelling::Around("( ", "\n)"),
    Spelling::Around("{ ", "\n}"),
    // Where there are several commands, only the first would depend on what is before.
    Spelling::Other(|command| (!command.contains([';', '\n'])).then(|| format!("true && {command}"))),
    Spelling::Around("", "\ntrue"),
    Spelling::Around("", " && true"),
    Spelling::Around("", " || true"),
    Spelling::Around("if true; then ", "\nfi"),
    Spelling::Other(|command| (!command.ends_with(['&', ';'])).then(|| format!("{command};"))),
    Spelling::Other(|command| (!command.ends_with(['&', ';'])).then(|| format!("{{ {command}; }}"))),
    Spelling::Other(|command| Some(simple(command)?.join("   "))),
    Spelling::Other(|command| Some(simple(command)?.join(" \\\n  "))),
    Spelling::Other(|command| each_word(command, |word| format!("'{word}'"))),
    Spelling::Other(|command| each_word(command, |word| format!("\"{word}\""))),
];

#[test]
fn a_harmless_command_stays_allowed_however_it_is_laid_out() {
    let mut stopped = Vec::new();
    let mut count = 0;
    let misses = FINDINGS.iter().flat_map(|finding| finding.misses);
    for command in misses.filter_map(|miss| match *miss {
        ExampleCall::Bash(command) => Some(command),
        ExampleCall::PowerShell(_) | ExampleCall::Call(..) => None,
    }) {
        if !is_allowed(command) {
            continue;
        }
        for spelled in LAYOUTS.iter().filter_map(|layout| layout.write(command)) {
            count += 1;
            let verdict = judged(&spelled, &[]);
            if verdict.decision != Decision::Allow {
                stopped.push(format!("{} for {spelled:?}: {}", verdict.decision, verdict.reason.message()));
            }
        }
    }
    assert!(count > 2_000, "only {count} commands were looked at");
    assert!(stopped.is_empty(), "{} of {count} are stopped:\n{}", stopped.len(), stopped.join("\n"));
}

#[test]
fn a_program_that_an_option_names_is_seen() {
    for command in [
        "rg --pre rm foo",
        "rg --pre=rm foo src",
        "sort --compress-program=rm a.txt",
        "sort --compress-program rm a.txt",
        "go test -exec 'rm -rf' ./...",
        "go test -exec='rm -rf' ./...",
        "go vet -vettool=rm ./...",
        "env -S 'sh -c' 'dd if=/dev/zero of=/dev/sda'",
        "env --split-string='sh -c' 'git push --force origin a=b'",
        "cat names | xargs grep",
        "cat names | xargs egrep -f",
    ] {
        assert!(!is_allowed(command), "{command}");
    }
}

#[test]
fn the_codes_are_what_the_programs_write() {
    assert_eq!(base64("rm -rf /"), "cm0gLXJmIC8=");
    assert_eq!(base64("rm -rf ~/x"), "cm0gLXJmIH4veA==");
    assert_eq!(hex("rm"), "726d");
    assert_eq!(escaped("rm", Base::Octal), "\\162\\155");
    assert_eq!("rm -rf".chars().map(turned).collect::<String>(), "ez -es");
}

#[test]
fn text_that_is_read_is_evaluated_by_no_calculation() {
    const SOURCES: &[&str] = &[
        "read x < n.txt; {}",
        "read -r y x < n.txt; {}",
        "builtin read x < n.txt; {}",
        "command read x < n.txt; {}",
        "x=$(cat n.txt); {}",
        "x=\"$(cat n.txt)\"; {}",
        "y=$(cat n.txt); x=$y; {}",
        "export x=$(cat n.txt); {}",
        "printf -v x %s \"$(cat n.txt)\"; {}",
        "mapfile -t x < n.txt; {}",
        "x=($(cat n.txt)); {}",
        "while read -r x; do {}; done < n.txt",
        "cat n.txt | while read -r x; do {}; done",
        "for x in $(cat n.txt); do {}; done",
        "for x in src/*; do {}; done",
        "while true; do {}; read -r x < n.txt; done",
    ];
    const EVALUATIONS: &[&str] = &[
        "echo $((x))",
        "echo $(( $x + 1 ))",
        "echo $[x]",
        "(( x > 1 ))",
        "[[ $x -gt 1 ]]",
        "[[ 1 -lt x ]]",
        "echo ${a[x]}",
        "echo ${a[$x]}",
        "echo ${s:x:2}",
        "echo ${s:0:$x}",
        "a[x]=1",
        "a=([x]=1)",
        "let y=x",
        "declare -i z=$x",
        "echo ${x@P}",
        "for ((i=x;i<2;i++)); do :; done",
        "f() { echo $(($1)); }; f \"$x\"",
        "bash -c 'echo $(($1))' _ \"$x\"",
        "eval 'echo $((x))'",
        "z=x; echo $((z))",
    ];
    for source in SOURCES {
        for evaluation in EVALUATIONS {
            let line = source.replace("{}", evaluation);
            for mode in [Mode::Default, Mode::Auto] {
                let verdict = decide_bash(&Policy::default(), &line, mode);
                assert_ne!(verdict.decision, Decision::Allow, "{mode:?}: {line}");
            }
        }
    }
}

#[test]
fn numbers_may_be_calculated_with() {
    for line in [
        "x=$(wc -l < n.txt); echo $((x + 1))",
        "x=3; echo ${a[x]} ${s:x:2}",
        "for x in $(seq 3); do echo $((x * 2)); done",
        "x=$(git rev-list --count HEAD); (( x > 3 )) && echo many",
        "i=0; while [ $i -lt 5 ]; do ((i++)); echo $i; done",
        "declare -A m; while read -r k v; do m[$k]=$v; done < n.txt; echo ${m[a]}",
        "read -r x < n.txt; [ \"$x\" -gt 3 ] && printf '%d\\n' \"$x\"",
        "a=(a b); for i in \"${!a[@]}\"; do echo \"$i ${a[$i]}\"; done",
    ] {
        let verdict = decide_bash(&Policy::default(), line, Mode::Auto);
        assert_eq!(verdict.decision, Decision::Allow, "{line}: {}", verdict.reason.message());
    }
}

#[test]
fn words_that_are_split_may_be_options_and_operands_too() {
    const SOURCES: &[&str] = &[
        "x=$(cat n.txt); {}",
        "read x < n.txt; {}",
        "cat n.txt | while read -r x; do {}; done",
        "y=$(cat n.txt); x=$y; {}",
        "f() { x=$1; {}; }; f \"$(cat n.txt)\"",
        "IFS=,; for x in $(cat n.txt); do IFS=' '; {}; done",
    ];
    // Each of the commands does no more than look, if the word is one.
    const USES: &[&str] = &[
        "grep $x a.txt",
        "grep -m $x b a.txt",
        "head -n $x a.txt",
        "tail -n +$x a.txt",
        "cut -d: -f$x a.txt",
        "sort -k $x a.txt",
        "awk -v n=$x '{ print n }' a.txt",
        "jq --arg a $x . a.json",
        "git log --author=$x",
        "git log -n ${x}",
        "diff -U $x a.txt b.txt",
        "rg -g $x b src",
    ];
    for usage in USES {
        let quoted = usage.replace("$x", "\"$x\"").replace("${x}", "\"${x}\"");
        let whole = format!("x=3; {quoted}");
        assert_eq!(
            decide_bash(&Policy::default(), &whole, Mode::Default).decision,
            Decision::Allow,
            "{whole}"
        );
        for line in SOURCES.iter().map(|source| source.replace("{}", usage)) {
            for mode in [Mode::Default, Mode::Auto] {
                let verdict = decide_bash(&Policy::default(), &line, mode);
                assert_ne!(verdict.decision, Decision::Allow, "{mode:?}: {line}");
            }
        }
        let direct = usage.replace("$x", "$(cat n.txt)").replace("${x}", "$(cat n.txt)");
        assert_ne!(
            decide_bash(&Policy::default(), &direct, Mode::Default).decision,
            Decision::Allow,
            "{direct}"
        );
    }
}
