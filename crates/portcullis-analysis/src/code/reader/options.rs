//! What a call is told beside its command: the directory, the variables, where the output goes.
//!
//! Options may stand as named arguments, in a table, or in a name that is bound to a table. An option that no list
//! names, and a table that is only known at run time, are gaps.

use super::CodeReader;
use super::chain::{ChainCutter, GroupSpan};
use super::names::shown;
use super::scope::{NameMeaning, named_argument};
use super::value::CodeValue;
use crate::act::Act;
use crate::code::table::Does;
use crate::code::tree::{CodeItem, StringPiece};
use crate::code::{CodeTarget, Language};

/// How many names lead to a table.
const DEPTH_LIMIT: usize = 4;

/// Options that leave what is started as it is.
const PLAIN_OPTIONS: &[&str] = &[
    "all",
    "args",
    "binmode",
    "bufsize",
    "capture_output",
    "check",
    "cleanup",
    "close_fds",
    "close_others",
    "cmd",
    "command",
    "creationflags",
    "detached",
    "encoding",
    "errors",
    "exception",
    "external_encoding",
    "in",
    "input",
    "internal_encoding",
    "killSignal",
    "limit",
    "loop",
    "maxBuffer",
    "mode",
    "new_pgroup",
    "pass_fds",
    "pgroup",
    "pipesize",
    "preferLocal",
    "process_group",
    "reject",
    "restore_signals",
    "signal",
    "silent",
    "start_new_session",
    "startupinfo",
    "stdin",
    "stdin_data",
    "stdio",
    "stripFinalNewline",
    "text",
    "textmode",
    "timeout",
    "umask",
    "universal_newlines",
    "unsetenv_others",
    "windowsHide",
    "windowsVerbatimArguments",
];

/// Options that say where the output goes.
const OUTPUT_OPTIONS: &[&str] = &["err", "out", "stderr", "stdout"];

/// Options by their names; `None` for a part that cannot be told.
pub(super) type CallOptions = Vec<Option<(String, GroupSpan)>>;

/// How a program is started.
#[derive(Debug, Clone, Default)]
pub(super) struct StartSetting {
    /// The directory it is started in.
    directory: StartDirectory,
    /// Its variables as `NAME=value`.
    variables: Vec<String>,
    /// Whether a shell reads the command.
    pub(super) in_shell: bool,
}

/// Where a program is started.
#[derive(Debug, Clone, Default, PartialEq)]
enum StartDirectory {
    /// Where the program runs that starts it.
    #[default]
    Same,
    /// In a directory that is told.
    Told(String),
    /// In one that is only known at run time.
    Unknown,
}

impl StartSetting {
    /// Says whether the program starts like any other.
    pub(super) fn is_plain(&self) -> bool {
        self.directory == StartDirectory::Same && self.variables.is_empty()
    }

    /// Puts what the setting says before the words of a command, in the way of `env`.
    pub(super) fn around(&self, words: Vec<Option<String>>) -> Vec<Option<String>> {
        if self.is_plain() {
            return words;
        }
        let mut all = vec![Some("env".to_owned())];
        match &self.directory {
            StartDirectory::Same => {}
            StartDirectory::Told(directory) => {
                all.extend(["-C".to_owned(), directory.clone()].map(Some));
            }
            StartDirectory::Unknown => all.extend([Some("-C".to_owned()), None]),
        }
        all.extend(self.variables.iter().cloned().map(Some));
        all.extend(words);
        all
    }
}

impl CodeReader<'_> {
    /// Reads how a call starts its program.
    pub(super) fn start_setting(&mut self, does: Does, arguments: GroupSpan) -> StartSetting {
        let mut setting = StartSetting::default();
        if matches!(does, Does::Code(_) | Does::Sql(_)) {
            return setting;
        }
        for option in self.start_options(does, arguments) {
            match option {
                Some((name, value)) => self.apply_option(&name, value, &mut setting),
                None => self.gap("starts a program with options that are only known at run time".to_owned()),
            }
        }
        setting
    }

    fn apply_option(&mut self, name: &str, value: GroupSpan, setting: &mut StartSetting) {
        match name {
            "cwd" | "chdir" => {
                if !self.is_own_directory(value) {
                    setting.directory =
                        self.one_text(value).map_or(StartDirectory::Unknown, StartDirectory::Told);
                }
            }
            "env" => self.read_variables(value, setting),
            "shell" => match self.evaluator.values(value).as_slice() {
                [CodeValue::Plain(plain)] if matches!(plain.as_str(), "False" | "false" | "None" | "0") => {}
                [CodeValue::Text(shell)] if !super::run::is_shell(shell) => {
                    self.gap(format!("runs a command in `{}`", shown(shell)));
                }
                _ => setting.in_shell = true,
            },
            name if OUTPUT_OPTIONS.contains(&name) => {
                for value in self.evaluator.values(value) {
                    if let CodeValue::Text(path) = value {
                        self.out.add(Act::Write, CodeTarget::Path(path));
                    } else if let CodeValue::List(_) | CodeValue::Mixed(_) = value {
                        self.out.add(Act::Write, CodeTarget::SomePath);
                    }
                }
            }
            name if PLAIN_OPTIONS.binary_search(&name).is_ok() => {}
            name => self.gap(format!("starts a program with `{}`, which is not known", shown(name))),
        }
    }

    /// Returns the text of a value if it is one.
    fn one_text(&self, value: GroupSpan) -> Option<String> {
        match self.evaluator.values(value).as_slice() {
            [CodeValue::Text(text) | CodeValue::Kind("path", Some(text))] => Some(text.clone()),
            _ => None,
        }
    }

    /// Says whether a value is the directory that the program itself runs in.
    fn is_own_directory(&self, value: GroupSpan) -> bool {
        let names: Vec<&str> =
            self.cutter().items(value).iter().filter_map(|token| token.item.name()).collect();
        matches!(
            names.as_slice(),
            ["os", "getcwd"]
                | ["process" | "Path", "cwd"]
                | ["pathlib", "Path", "cwd"]
                | ["Dir", "pwd"]
                | ["None"]
        )
    }

    /// Reads the variables that a program gets: those of this process, and those of a table.
    fn read_variables(&mut self, value: GroupSpan, setting: &mut StartSetting) {
        let is_own = |reader: &Self, span: GroupSpan| {
            reader.evaluator.values(span).iter().all(|value| reader.is_environment(value))
        };
        if is_own(self, value) {
            return;
        }
        for option in self.options_of(value) {
            match option {
                Some((name, span)) if name == "**" && is_own(self, span) => {}
                Some((name, span)) if name != "**" => {
                    let text = match self.evaluator.values(span).as_slice() {
                        [CodeValue::Text(text) | CodeValue::Plain(text)] => text.clone(),
                        _ => super::run::HOLE.to_owned(),
                    };
                    setting.variables.push(format!("{name}={text}"));
                }
                _ => self.gap("starts a program with variables that are only known at run time".to_owned()),
            }
        }
    }

    /// Collects the options of a call that starts a program.
    fn start_options(&self, does: Does, arguments: GroupSpan) -> CallOptions {
        let parts = self.cutter().split(arguments);
        let language = self.profile().language;
        let mut options = CallOptions::new();
        let mut place = 0;
        for part in parts {
            match option_of(self.cutter(), part) {
                OptionPart::Named(name, value) => options.push(Some((name, value))),
                OptionPart::Spread(span) => options.extend(self.options_of(span)),
                OptionPart::Unclear => options.push(None),
                OptionPart::Positional => {
                    options.extend(self.positional_options(does, language, place, part));
                    place += 1;
                }
            }
        }
        options
    }

    /// Reads an argument without a name that holds options.
    fn positional_options(
        &self,
        does: Does,
        language: Language,
        place: usize,
        part: GroupSpan,
    ) -> CallOptions {
        let values = self.evaluator.values(part);
        let is_table = || values.iter().any(|value| matches!(value, CodeValue::Kind("table", _)));
        match (language, does) {
            (Language::JavaScript, Does::Shell(first)) if place > first => {
                self.trailing_options(part, &values)
            }
            (Language::JavaScript, Does::Spawn) if place == 1 && !is_table() => CallOptions::new(),
            (Language::JavaScript, Does::Spawn | Does::Command) if place > 0 => {
                self.trailing_options(part, &values)
            }
            // Variables stand before the command, options after it.
            (Language::Ruby, Does::System | Does::Command) if is_table() && place == 0 => {
                vec![Some(("env".to_owned(), part))]
            }
            (Language::Ruby, Does::System | Does::Command) if is_table() => self.options_of(part),
            (Language::Python, Does::Command) if place > 0 => vec![None],
            (Language::Php, Does::Shell(_)) if place > 2 => vec![None],
            _ => CallOptions::new(),
        }
    }

    fn trailing_options(&self, part: GroupSpan, values: &[CodeValue]) -> CallOptions {
        let is_other = |value: &CodeValue| {
            matches!(
                value,
                CodeValue::Own
                    | CodeValue::Plain(_)
                    | CodeValue::Text(_)
                    | CodeValue::List(_)
                    | CodeValue::Mixed(_)
            )
        };
        if values.iter().all(is_other) { CallOptions::new() } else { self.options_of(part) }
    }

    /// Returns the options of a table; a value that is no table in sight is one unknown option.
    pub(super) fn options_of(&self, span: GroupSpan) -> CallOptions {
        self.table(span, 0).unwrap_or_else(|| vec![None])
    }

    /// Finds the table that an expression stands for and takes it apart.
    fn table(&self, span: GroupSpan, depth: usize) -> Option<CallOptions> {
        if depth > DEPTH_LIMIT {
            return None;
        }
        let cutter = self.cutter();
        let span = cutter.trim(span);
        let items = cutter.items(span);
        match items.iter().map(|token| &token.item).collect::<Vec<_>>().as_slice() {
            [CodeItem::Group('{', inner)] => self.table_of(cutter.whole(*inner), depth),
            [CodeItem::Group('[', inner)] if self.profile().language == Language::Php => {
                self.table_of(cutter.whole(*inner), depth)
            }
            [CodeItem::Name(dict), CodeItem::Group('(', inner)] if dict == "dict" => {
                self.table_of(cutter.whole(*inner), depth)
            }
            [CodeItem::Name(name)] => match self.evaluator.scope.bounds.get(name).map(Vec::as_slice) {
                Some([NameMeaning::Value(value)]) => self.table(*value, depth + 1),
                _ => None,
            },
            _ => None,
        }
    }

    fn table_of(&self, whole: GroupSpan, depth: usize) -> Option<CallOptions> {
        let mut options = CallOptions::new();
        for part in self.cutter().split(whole) {
            match option_of(self.cutter(), part) {
                OptionPart::Named(name, value) => options.push(Some((name, value))),
                OptionPart::Spread(inner) => match self.table(inner, depth + 1) {
                    Some(inner) => options.extend(inner),
                    None => options.push(Some(("**".to_owned(), inner))),
                },
                // `{cwd}` is short for `{cwd: cwd}`; `dict(os.environ, …)` begins with what it takes over.
                OptionPart::Positional => match self.cutter().items(part) {
                    [token] if self.profile().language == Language::JavaScript => {
                        options.push(token.item.name().map(|name| (name.to_owned(), part)));
                    }
                    _ => options.push(Some(("**".to_owned(), part))),
                },
                OptionPart::Unclear => return None,
            }
        }
        Some(options)
    }
}

/// One part of a table or of a call's arguments.
pub(super) enum OptionPart {
    Named(String, GroupSpan),
    Spread(GroupSpan),
    Positional,
    Unclear,
}

/// Tells an option from an argument: `name=value`, `name: value`, `"name" => value`, `:name => value`, `**table`.
pub(super) fn option_of(cutter: ChainCutter<'_>, part: GroupSpan) -> OptionPart {
    let part = cutter.trim(part);
    if let (Some(name), value) = named_argument(cutter, part) {
        return OptionPart::Named(name, value);
    }
    let items = cutter.items(part);
    if matches!(items.first().map(|token| &token.item), Some(CodeItem::Mark("**" | "..."))) {
        return OptionPart::Spread(GroupSpan { start: part.start + 1, ..part });
    }
    if let Some(place) = items.iter().position(|token| token.item.is_mark("=>"))
        && cutter.profile.language != Language::JavaScript
    {
        let key = items.iter().take(place).find_map(|token| key_of(&token.item));
        let value = GroupSpan { start: part.start + place + 1, ..part };
        return key.map_or(OptionPart::Unclear, |key| OptionPart::Named(key, value));
    }
    let is_pair = items.get(1).is_some_and(|token| token.item.is_mark(":"));
    match items.first().and_then(|token| key_of(&token.item)) {
        Some(key) if is_pair => OptionPart::Named(key, GroupSpan { start: part.start + 2, ..part }),
        None if is_pair => OptionPart::Unclear,
        _ => OptionPart::Positional,
    }
}

fn key_of(item: &CodeItem) -> Option<String> {
    match item {
        CodeItem::Name(name) => Some(name.trim_start_matches(':').to_owned()),
        CodeItem::Text(pieces) => match pieces.as_slice() {
            [StringPiece::Plain(text)] => Some(text.clone()),
            _ => None,
        },
        _ => None,
    }
}
