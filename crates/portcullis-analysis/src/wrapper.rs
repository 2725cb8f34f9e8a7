//! Programs that run the command in their arguments, and how to find it there.
//!
//! The table says what must be skipped between the wrapper's name and the command: options with and without a value,
//! assignments, leading operands. An option the table does not know is taken to have no value, and a word that is only
//! known at run time before the command makes the rest opaque.

use crate::argument::Argument;
use crate::invocation::{Variable, Wrapping, base_name};

/// What stands inside a wrapper's arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Inside {
    /// Commands as words.
    Commands(Vec<Vec<Argument>>),
    /// A command line as text, one argument or several joined with blanks.
    Text(Vec<Argument>),
    /// Shell text on standard input.
    Input,
    /// A command whose place cannot be told.
    Unknown(&'static str),
}

/// A wrapper and what it wraps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Peeled {
    pub(crate) wrapping: Wrapping,
    pub(crate) inside: Inside,
    pub(crate) assignments: Vec<Variable>,
    /// The directory the wrapped command runs in, if the wrapper changes it.
    pub(crate) directory: Option<Argument>,
}

/// How one wrapper's arguments are laid out.
struct Layout {
    name: &'static str,
    /// A subcommand that must follow the name, as in `uv run`.
    subcommand: Option<&'static str>,
    /// Short options whose value is the next word unless attached.
    valued: &'static str,
    /// Long options whose value is the next word unless given with `=`.
    valued_long: &'static [&'static str],
    /// Operands between options and command.
    operands: usize,
    /// Whether `NAME=value` words may precede the command.
    assigns: bool,
    /// Short option whose value is shell text.
    text_option: Option<char>,
    /// Short option that names the directory the command runs in.
    directory_option: Option<char>,
    /// Whether the words after the options are joined into shell text.
    joins: bool,
    wrapping: Wrapping,
}

const PLAIN: Layout = Layout {
    name: "",
    subcommand: None,
    valued: "",
    valued_long: &[],
    operands: 0,
    assigns: false,
    text_option: None,
    directory_option: None,
    joins: false,
    wrapping: Wrapping::Changing,
};

const fn transparent(name: &'static str, valued: &'static str, operands: usize) -> Layout {
    Layout { name, valued, operands, wrapping: Wrapping::Transparent, ..PLAIN }
}

const fn changing(name: &'static str, valued: &'static str, operands: usize) -> Layout {
    Layout { name, valued, operands, ..PLAIN }
}

const fn runner(name: &'static str, subcommand: &'static str) -> Layout {
    Layout { name, subcommand: Some(subcommand), ..PLAIN }
}

const LAYOUTS: &[Layout] = &[
    Layout { valued_long: &["kill-after", "signal"], ..transparent("timeout", "ks", 1) },
    Layout { valued_long: &["kill-after", "signal"], ..transparent("gtimeout", "ks", 1) },
    Layout { valued_long: &["adjustment"], ..transparent("nice", "n", 0) },
    transparent("nohup", "", 0),
    Layout { valued_long: &["input", "output", "error"], ..transparent("stdbuf", "ioe", 0) },
    transparent("command", "", 0),
    transparent("builtin", "", 0),
    transparent("noglob", "", 0),
    Layout { valued_long: &["format", "output"], ..changing("time", "fo", 0) },
    changing("nocorrect", "", 0),
    changing("exec", "a", 0),
    Layout {
        valued_long: &["unset", "chdir", "split-string", "block-signal", "default-signal", "ignore-signal"],
        assigns: true,
        text_option: Some('S'),
        directory_option: Some('C'),
        ..transparent("env", "uCS", 0)
    },
    Layout {
        valued_long: &[
            "user",
            "group",
            "host",
            "prompt",
            "close-from",
            "role",
            "type",
            "command-timeout",
            "other-user",
            "chdir",
            "chroot",
        ],
        assigns: true,
        directory_option: Some('D'),
        ..changing("sudo", "ughpCrtTUDR", 0)
    },
    changing("doas", "uC", 0),
    Layout { valued_long: &["user"], ..changing("pkexec", "", 0) },
    Layout {
        text_option: Some('c'),
        valued_long: &["command", "group", "shell"],
        ..changing("su", "cgsGw", usize::MAX)
    },
    Layout {
        text_option: Some('c'),
        valued_long: &["command", "user", "group"],
        ..changing("runuser", "cgsGwu", 0)
    },
    Layout { joins: true, valued_long: &["interval", "equexit"], ..changing("watch", "nq", 0) },
    Layout { valued_long: &["class", "classdata"], ..changing("ionice", "cn", 0) },
    changing("setsid", "", 0),
    changing("taskset", "", 1),
    changing("chrt", "TPD", 1),
    changing("strace", "oepsuEabIOSXP", 0),
    changing("ltrace", "oepsuEanlADFwx", 0),
    Layout {
        text_option: Some('c'),
        valued_long: &["wait", "timeout", "command"],
        ..changing("flock", "wEc", 1)
    },
    Layout { text_option: Some('c'), valued_long: &["command"], ..changing("script", "cEIOBTmo", 0) },
    Layout { valued_long: &["root", "wd", "setuid", "setgid"], ..changing("unshare", "RwSG", 0) },
    Layout { valued_long: &["target", "setuid", "setgid"], ..changing("nsenter", "tSG", 0) },
    changing("chroot", "", 1),
    Layout { valued_long: &["reuid", "regid", "groups"], ..changing("setpriv", "", 0) },
    Layout { valued_long: &["unit", "property", "slice", "uid", "gid"], ..changing("systemd-run", "puE", 0) },
    changing("caffeinate", "tw", 0),
    changing("fakeroot", "lib", 0),
    changing("xvfb-run", "enfpsaw", 0),
    changing("dbus-run-session", "", 0),
    changing("busybox", "", 0),
    changing("toybox", "", 0),
    Layout {
        valued_long: &[
            "max-args",
            "max-procs",
            "max-lines",
            "max-chars",
            "replace",
            "delimiter",
            "arg-file",
            "eof",
        ],
        ..changing("xargs", "nPLsIdaEJRS", 0)
    },
    Layout { valued_long: &["jobs", "colsep", "arg-file", "joblog"], ..changing("parallel", "jNnLaIC", 0) },
    Layout { joins: true, ..changing("ssh", "BbcDEeFIiJLlmOopQRSWw", 1) },
    runner("uv", "run"),
    runner("poetry", "run"),
    runner("pipenv", "run"),
    runner("pdm", "run"),
    runner("rye", "run"),
    runner("hatch", "run"),
    runner("bundle", "exec"),
    runner("mise", "exec"),
    runner("mise", "x"),
    runner("asdf", "exec"),
    runner("devbox", "run"),
    runner("rbenv", "exec"),
    runner("pyenv", "exec"),
    runner("nodenv", "exec"),
    Layout { operands: 1, ..runner("direnv", "exec") },
    runner("npm", "exec"),
    runner("pnpm", "exec"),
    runner("pnpm", "dlx"),
    runner("yarn", "exec"),
    runner("yarn", "dlx"),
    changing("npx", "pc", 0),
    changing("bunx", "", 0),
    changing("pnpx", "", 0),
    changing("uvx", "", 0),
    changing("pipx", "", 1),
];

/// Finds what a command's arguments run; `None` if it is no wrapper.
pub(crate) fn peel(arguments: &[Argument]) -> Option<Peeled> {
    let (program, rest) = arguments.split_first()?;
    let name = base_name(program.fixed()?);
    match name {
        "command" if is_query(rest) => None,
        "find" | "gfind" | "fd" | "fdfind" => peel_find(rest),
        _ => {
            let layout = LAYOUTS.iter().find(|layout| layout.name == name && layout.takes(rest))?;
            let skipped = usize::from(layout.subcommand.is_some());
            Some(layout.peel(rest.get(skipped..).unwrap_or_default()))
        }
    }
}

/// Says whether `command` only looks something up: `command -v git`.
fn is_query(rest: &[Argument]) -> bool {
    rest.iter().take_while(|argument| argument.is_option()).any(|argument| argument.text.contains(['v', 'V']))
}

impl Layout {
    fn takes(&self, rest: &[Argument]) -> bool {
        self.subcommand.is_none_or(|wanted| rest.first().is_some_and(|word| word.text == wanted))
    }

    fn peel(&self, rest: &[Argument]) -> Peeled {
        let mut peeled = Peeled {
            wrapping: self.wrapping,
            inside: Inside::Commands(Vec::new()),
            assignments: Vec::new(),
            directory: None,
        };
        let mut words = rest.iter().peekable();
        let mut operands = self.operands;
        while let Some(word) = words.peek() {
            if !word.is_known() {
                peeled.inside =
                    Inside::Unknown("what comes before the wrapped command is only known at run time");
                return peeled;
            }
            if word.text == "--" {
                words.next();
                if operands == 0 {
                    break;
                }
            } else if word.is_option() {
                let option = words.next();
                let value = option.and_then(|option| self.value_of(option, &mut words));
                if let (Some(option), Some(value)) = (option, value)
                    && let Some(inside) = self.note_option(option, value, &mut peeled)
                {
                    peeled.inside = inside;
                    return peeled;
                }
            } else if let Some(variable) = self.assignment(word) {
                peeled.assignments.push(variable);
                words.next();
            } else if operands > 0 {
                operands -= 1;
                words.next();
            } else {
                break;
            }
        }
        peeled.inside = self.inside(words.cloned().collect());
        peeled
    }

    /// Returns the value of an option, attached or as the next word.
    fn value_of<'a>(
        &self,
        option: &Argument,
        words: &mut std::iter::Peekable<impl Iterator<Item = &'a Argument>>,
    ) -> Option<Argument> {
        if let Some(long) = option.text.strip_prefix("--") {
            if let Some((_, value)) = long.split_once('=') {
                return Some(Argument { text: value.to_owned(), source: None, ..option.clone() });
            }
            return self.valued_long.contains(&long).then(|| words.next().cloned()).flatten();
        }
        let cluster = option.text.strip_prefix('-')?;
        let at = cluster.find(|letter| self.valued.contains(letter))?;
        let attached = cluster.get(at + 1..).unwrap_or_default();
        if attached.is_empty() {
            return words.next().cloned();
        }
        Some(Argument { text: attached.to_owned(), source: None, ..option.clone() })
    }

    /// Notes what an option's value means; returns the inside if it is shell text.
    fn note_option(&self, option: &Argument, value: Argument, peeled: &mut Peeled) -> Option<Inside> {
        let is = |letter: Option<char>, long: &str| {
            letter.is_some_and(|letter| {
                !option.text.starts_with("--") && option.text.contains(letter)
                    || option.text.trim_start_matches('-').split('=').next() == Some(long)
            })
        };
        if is(self.text_option, if self.name == "env" { "split-string" } else { "command" }) {
            peeled.wrapping = Wrapping::Changing;
            return Some(Inside::Text(vec![value]));
        }
        if is(self.directory_option, "chdir") {
            peeled.wrapping = Wrapping::Changing;
            peeled.directory = Some(value);
        }
        None
    }

    fn assignment(&self, word: &Argument) -> Option<Variable> {
        let (name, value) = word.text.split_once('=').filter(|_| self.assigns)?;
        let is_name = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        is_name.then(|| Variable {
            name: name.to_owned(),
            value: Argument { text: value.to_owned(), source: None, ..word.clone() },
        })
    }

    fn inside(&self, mut words: Vec<Argument>) -> Inside {
        if self.joins && !words.is_empty() {
            return Inside::Text(words);
        }
        if words.is_empty() {
            return Inside::Commands(Vec::new());
        }
        if matches!(self.name, "xargs" | "parallel")
            && let Some(last) = words.last()
        {
            let appended = Argument::unknown(last.span);
            words.push(appended);
        }
        Inside::Commands(vec![words])
    }
}

/// Options of `find` and `fd` that start a command.
const EXECUTING: &[&str] = &["-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "--exec", "--exec-batch"];

/// Finds the commands after `-exec` and the like.
fn peel_find(rest: &[Argument]) -> Option<Peeled> {
    let mut commands = Vec::new();
    let mut words = rest.iter();
    while let Some(word) = words.next() {
        if EXECUTING.contains(&word.text.as_str()) {
            let command: Vec<Argument> = words
                .by_ref()
                .take_while(|word| !matches!(word.text.as_str(), ";" | "+"))
                .map(|word| if word.text.contains('{') { placeholder(word) } else { word.clone() })
                .collect();
            commands.push(command);
        }
    }
    (!commands.is_empty()).then(|| Peeled {
        wrapping: Wrapping::Changing,
        inside: Inside::Commands(commands),
        assignments: Vec::new(),
        directory: None,
    })
}

/// A word with `{}` in it stands for file names nobody knows yet.
fn placeholder(word: &Argument) -> Argument {
    Argument { knowledge: crate::Knowledge::Dynamic, ..word.clone() }
}
