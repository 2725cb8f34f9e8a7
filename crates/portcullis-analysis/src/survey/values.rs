//! What words become: variables of one value, the home directory and the output of plain commands are put in.
//!
//! Only what the text itself sets, in one place and before it is used, counts as known. A value that may come from
//! elsewhere stays dynamic, and a dynamic word is never taken for the text that stands in the source.

use portcullis_shell::ast::{Word, WordPart};

use super::settled::{DECLARING, is_name};
use super::split_words::{SplitWord, SplitWords, WordSplitting};
use super::variables::KnownValue;
use super::walk::SurveyWalk;
use super::{braces, calculation, parameter};
use crate::argument::{Argument, Bound, Knowledge};
use crate::directories::Directories;
use crate::lists::programs::shells::{
    COMMIT_VARIABLES, PROJECT_DIRECTORIES, ROOT_DIRECTORIES, TEMPORARY_DIRECTORIES,
};
use crate::place::is_system;
use crate::shape::{Shape, TextKind};
use crate::standard_input::{LineCount, StandardInput};

/// So many bytes are put in all in all: values may be made of values.
const MOST_PUT_IN: usize = 1 << 20;

/// What the shell splits words at, where nobody sets it.
const BLANKS: &str = " \t\n";

impl SurveyWalk<'_> {
    /// Returns the arguments that words become.
    pub(super) fn arguments(&mut self, words: &[Word], directories: &Directories) -> Vec<Argument> {
        words.iter().flat_map(|word| self.expand(word, directories, WordSplitting::Splits)).collect()
    }

    /// Returns the arguments that the words of a command become. One that is split, and may be any text, stands for any number
    /// of words, which may be options and operands too: `grep $(cat f) x`.
    pub(super) fn command_arguments(&mut self, words: &[Word], directories: &Directories) -> Vec<Argument> {
        let is_declaration = words.first().and_then(Word::fixed).is_some_and(is_declaring);
        let mut arguments = Vec::new();
        for word in words {
            let expanded = self.expand(word, directories, WordSplitting::Splits);
            let is_open = expanded.iter().any(|word| !word.is_known() && word.bound.is_none());
            let splits = is_open && !is_declaration && self.may_split(&word.parts);
            let span = self.fixed_span.unwrap_or(word.span);
            arguments.extend(expanded.into_iter().chain(splits.then(|| Argument::further(span))));
        }
        arguments
    }

    /// Says whether quotes keep nothing of what stands in a word together, and somebody but the user chose it: a command
    /// writes it, or the line sets it.
    fn may_split(&self, parts: &[WordPart]) -> bool {
        let is_open = |part: &WordPart| match part {
            WordPart::Command { body, .. } => self.values.output(body).is_none(),
            WordPart::Parameter { name, .. } if is_special(name) => false,
            WordPart::Parameter { name, .. } => {
                self.values.get(name).is_none()
                    && is_set_anew(self.text, name, self.lasting.has_other_separators)
            }
            _ => false,
        };
        parts.iter().any(is_open)
    }

    /// Returns the value that a word of an assignment or here-string becomes.
    pub(super) fn value(&mut self, word: &Word, directories: &Directories) -> Argument {
        self.single(word, directories, WordSplitting::Keeps)
    }

    /// Returns the file or descriptor that a word of a redirection becomes.
    pub(super) fn target(&mut self, word: &Word, directories: &Directories) -> Argument {
        self.single(word, directories, WordSplitting::Refuses)
    }

    /// Reads a word that must stay one.
    fn single(&mut self, word: &Word, directories: &Directories, splitting: WordSplitting) -> Argument {
        let mut all = self.expand(word, directories, splitting);
        match (all.pop(), all.is_empty()) {
            (Some(only), true) => only,
            _ => Argument::of_word(word, self.text, self.fixed_span),
        }
    }

    /// Returns the text of a here-document, if all that is expanded in it is known.
    pub(super) fn document(
        &mut self,
        parts: &[WordPart],
        directories: &Directories,
    ) -> Option<StandardInput> {
        let mut fields = SplitWords::new(WordSplitting::Keeps);
        self.add(parts, directories, true, &mut fields);
        let is_decoded = fields.is_decoded;
        let text = match fields.finish().as_slice() {
            [] => String::new(),
            [only] if !only.is_dynamic => only.text.clone(),
            _ => return None,
        };
        Some(if is_decoded { StandardInput::Decoded(text) } else { StandardInput::Text(text) })
    }

    /// Notes the value an assignment gives.
    pub(super) fn assign(&mut self, name: &str, value: &Argument) {
        let text = match value.knowledge {
            Knowledge::Fixed | Knowledge::Glob => Some(value.text.clone()),
            // Quotes behind the tilde keep it from being expanded.
            Knowledge::Tilde if value.text.contains(":~") || !is_plain_tilde(value.as_written()) => None,
            Knowledge::Tilde => self.expand_tilde(&value.text).filter(|_| self.knows_home),
            Knowledge::Dynamic => None,
        };
        let is_decoded = self.values.is_decoded(value);
        let known = match text {
            Some(text) => Some(KnownValue::Text { text, is_decoded }),
            None => {
                KnownValue::of_argument(value, is_decoded).filter(|_| value.knowledge == Knowledge::Dynamic)
            }
        };
        self.set_variable(name, known.map(|value| vec![value]));
    }

    /// Returns the lines in columns that a word stands for, if it is nothing but the output of a command or a variable.
    pub(super) fn columns_of(&self, word: &Word, directories: &Directories) -> Option<KnownValue> {
        let part = match word.parts.as_slice() {
            [WordPart::Double { parts, .. }] if parts.len() == 1 => parts.first()?,
            [part] => part,
            _ => return None,
        };
        let values = self.known(part, directories)?;
        values.into_iter().find(|value| matches!(value, KnownValue::Columns(_)))
    }

    /// Notes the elements an assignment gives to an array.
    pub(super) fn assign_elements(&mut self, name: &str, words: &[Word], directories: &Directories) {
        let elements = self.arguments(words, directories);
        let is_plain = elements.iter().all(|word| !word.text.starts_with('['));
        let values: Option<Vec<KnownValue>> =
            elements.iter().map(|word| element_of(word, self.values.is_decoded(word))).collect();
        self.set_variable(name, values.filter(|_| is_plain).map(|all| vec![KnownValue::Elements(all)]));
    }

    /// Notes the values a variable may have; `None` if it may be anything.
    pub(super) fn set_variable(&mut self, name: &str, values: Option<Vec<KnownValue>>) {
        let is_sure = !self.lasting.is_unsettled(name);
        let values = values.map(|values| values.into_iter().flat_map(KnownValue::alternatives).collect());
        self.values.set(name, values.filter(|_| is_sure));
    }

    /// Reads a word as the words it becomes: values put in, split and kept where the shell would.
    fn expand(&mut self, word: &Word, directories: &Directories, splitting: WordSplitting) -> Vec<Argument> {
        let plain = Argument::of_word(word, self.text, self.fixed_span);
        let written = || Some(plain.as_written().to_owned());
        if word.traits.brace && !word.traits.dynamic && splitting == WordSplitting::Splits && !self.is_posix {
            let Some(words) = braces::expand(word) else { return vec![plain] };
            let make = |(text, knowledge)| Argument {
                text,
                source: written(),
                knowledge,
                span: plain.span,
                bound: None,
            };
            return words.into_iter().map(make).collect();
        }
        if !word.traits.dynamic || word.traits.brace {
            return vec![plain];
        }
        let mut fields = SplitWords::new(splitting);
        self.add(&word.parts, directories, false, &mut fields);
        let (is_known, is_decoded) = (fields.has_known, fields.is_decoded);
        let fields = fields.finish();
        if !is_known {
            return vec![plain];
        }
        if is_decoded {
            self.values.decoded.insert(plain.span);
        }
        let has_tilde = word.traits.tilde;
        let is_odd = has_tilde && !has_whole_tilde(word);
        let make = |(place, field): (usize, SplitWord)| {
            let shape = field.shape.filter(|_| field.is_dynamic && !has_tilde);
            let is_many = field.is_many || field.is_glob || field.may_be_pattern;
            let may_be_empty = field.may_be_empty;
            let bound = shape.map(|shape| Box::new(Bound { shape, is_many, may_be_empty }));
            let knowledge = if field.is_dynamic || is_odd {
                Knowledge::Dynamic
            } else if field.is_glob {
                Knowledge::Glob
            } else if has_tilde && place == 0 {
                Knowledge::Tilde
            } else {
                Knowledge::Fixed
            };
            Argument { text: field.text, source: written(), knowledge, span: plain.span, bound }
        };
        fields.into_iter().enumerate().map(make).collect()
    }

    /// Adds the parts of a word to the words under construction.
    fn add(
        &mut self,
        parts: &[WordPart],
        directories: &Directories,
        is_quoted: bool,
        fields: &mut SplitWords,
    ) {
        for (at, part) in parts.iter().enumerate() {
            match part {
                WordPart::Literal { text, .. }
                | WordPart::Escaped { text, .. }
                | WordPart::Single { text, .. }
                | WordPart::AnsiC { text, .. } => fields.push(text),
                WordPart::Glob { text, .. } => fields.push_wild(text),
                WordPart::Double { parts, .. } => {
                    fields.push("");
                    self.add(parts, directories, true, fields);
                }
                WordPart::Parameter { span, .. }
                | WordPart::Command { span, .. }
                | WordPart::Process { span, .. }
                | WordPart::Arithmetic { span, .. } => {
                    let build = || self.directory_of_build(part, parts.get(at + 1..).unwrap_or_default());
                    let words = self.known(part, directories).or_else(build);
                    self.values.put_in += words.iter().flatten().map(KnownValue::len).sum::<usize>();
                    let splits = !self.lasting.has_other_separators;
                    let written = span.of(self.text);
                    if !words.is_some_and(|words| fields.put_all(&words, written, is_quoted, splits)) {
                        fields.push_unknown(written);
                    }
                }
            }
        }
    }

    /// Returns the one directory a command may run in, in every round of a loop.
    pub(super) fn place(&self, directories: &Directories) -> Option<String> {
        if self.is_moving { None } else { only_place(directories) }
    }

    /// Returns the kind of a variable that a build system sets.
    fn kind_of_build(&self, name: &str) -> Option<TextKind> {
        (COMMIT_VARIABLES.contains(&name) && self.lasting.is_of_build(name)).then_some(TextKind::Revision)
    }

    /// Returns the directory that a variable of a build system holds. Where it is not set, what stands behind it begins at
    /// the root, and has to be a path that nobody has there.
    fn directory_of_build(&self, part: &WordPart, behind: &[WordPart]) -> Option<Vec<KnownValue>> {
        let WordPart::Parameter { name, plain: true, .. } = part else { return None };
        let is_project = PROJECT_DIRECTORIES.contains(&name.as_str());
        if !is_project && !TEMPORARY_DIRECTORIES.contains(&name.as_str()) || !self.lasting.is_of_build(name) {
            return None;
        }
        let [WordPart::Literal { text, .. }, rest @ ..] = behind else { return None };
        let path = text
            .strip_prefix('/')
            .filter(|path| self.knows_values && (path.contains('/') || rest.is_empty()))?;
        let first = path.split('/').next()?;
        let is_name = first
            .starts_with(|letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '.' | '_'))
            && !matches!(first, "." | "..");
        let at_root = format!("/{first}");
        if !is_name || is_system(&at_root) || ROOT_DIRECTORIES.contains(&at_root.as_str()) {
            return None;
        }
        let directory = if is_project {
            Shape::text(self.start)
        } else {
            Shape::text("/tmp/").join(&Shape::of(TextKind::Word))?
        };
        Some(vec![KnownValue::of(directory, LineCount::One)])
    }

    /// Returns the words that an expansion stands for.
    pub(super) fn known(&self, part: &WordPart, directories: &Directories) -> Option<Vec<KnownValue>> {
        if !self.knows_values || self.values.put_in > MOST_PUT_IN {
            return None;
        }
        let plain = |text: &str| Some(vec![KnownValue::text(text)]);
        match part {
            WordPart::Parameter { name, plain: true, .. } => match name.as_str() {
                "HOME" if self.knows_home && !self.lasting.has_other_home => plain(self.home?),
                "PWD" if !self.lasting.has_other_place => plain(&self.place(directories)?),
                "IFS" if !self.lasting.has_other_separators => plain(BLANKS),
                "@" => match self.values.get(name)? {
                    KnownValue::Elements(all) => Some(all.clone()),
                    _ => None,
                },
                name => match self.values.get(name) {
                    Some(KnownValue::Elements(all)) => first_of(all).map(|first| vec![first.clone()]),
                    Some(value) => Some(vec![value.clone()]),
                    None => kind_of_variable(name)
                        .or_else(|| self.kind_of_build(name))
                        .map(|kind| vec![KnownValue::of(Shape::of(kind), LineCount::One)]),
                },
            },
            WordPart::Parameter { span, .. } => {
                let inside = span.of(self.text).strip_prefix("${")?.strip_suffix('}')?;
                parameter::expand(inside, &self.values)
            }
            // `${| …; }` stands for a variable, not for what is written.
            WordPart::Command { span, body } if !span.of(self.text).starts_with("${") => {
                self.values.output(body).cloned()
            }
            WordPart::Arithmetic { span, .. } => {
                Some(vec![calculation::value_of(span.of(self.text), &self.values)])
            }
            _ => None,
        }
    }
}

/// Says whether words that look like assignments are not split behind a builtin.
fn is_declaring(program: &str) -> bool {
    DECLARING.contains(&program) || matches!(program, "declare" | "typeset" | "alias")
}

/// Says whether a parameter is one of the shell's own that is a number, or flags.
fn is_special(name: &str) -> bool {
    matches!(name, "?" | "#" | "$" | "!" | "-" | "0" | "_") || kind_of_variable(name).is_some()
}

/// Says whether a text sets a variable, or hands arguments on, other than word by word as a loop does. Where words are split
/// elsewhere than at blanks, a loop leaves blanks in them.
fn is_set_anew(text: &str, name: &str, has_other_separators: bool) -> bool {
    let is_argument = matches!(name, "@" | "*") || name.chars().all(|letter| letter.is_ascii_digit());
    let of_loop = |at: usize| {
        let before = text.get(..at).unwrap_or_default().trim_end();
        let after = text.get(at + name.len()..).unwrap_or_default().trim_start();
        !has_other_separators
            && before.ends_with("for")
            && (after.starts_with("in") || after.starts_with([';', '\n']))
    };
    let is_whole = |at: usize| {
        let before = text.get(..at).unwrap_or_default();
        let after = text.get(at + name.len()..).unwrap_or_default();
        !before.ends_with(is_name) && !after.starts_with(is_name)
    };
    let is_used = |at: usize| {
        let before = text.get(..at).unwrap_or_default();
        before.ends_with('$') || before.ends_with("${")
    };
    let mut places = text.match_indices(name).map(|(at, _)| at).filter(|at| is_whole(*at));
    is_argument && text.contains("()") || !is_argument && places.any(|at| !is_used(at) && !of_loop(at))
}

/// Returns the value of an element of an array, which may stand for many.
fn element_of(word: &Argument, is_decoded: bool) -> Option<KnownValue> {
    match word.knowledge {
        Knowledge::Glob => word.as_shape().map(|shape| KnownValue::Shaped { shape, count: LineCount::Many }),
        Knowledge::Tilde => None,
        Knowledge::Fixed | Knowledge::Dynamic => KnownValue::of_argument(word, is_decoded),
    }
}

/// Returns the kind of a variable that the shell or the system keeps.
fn kind_of_variable(name: &str) -> Option<TextKind> {
    match name {
        "?" | "#" | "$" | "!" | "BASHPID" | "EPOCHSECONDS" | "EUID" | "LINENO" | "PPID" | "RANDOM"
        | "SECONDS" | "SHLVL" | "SRANDOM" | "UID" => Some(TextKind::Digits),
        "HOSTNAME" | "HOSTTYPE" | "LOGNAME" | "OSTYPE" | "USER" => Some(TextKind::Word),
        _ => None,
    }
}

/// Returns the first element of an array; `None` if that may be one of several, where each stands for any number.
pub(super) fn first_of(all: &[KnownValue]) -> Option<&KnownValue> {
    let is_sure =
        |value: &KnownValue| !matches!(value, KnownValue::Shaped { count, .. } if *count != LineCount::One);
    match all {
        [only] => Some(only),
        [first, ..] => Some(first).filter(|first| is_sure(first)),
        [] => None,
    }
}

/// Returns the one directory a command may run in, without `.` and `..`.
fn only_place(directories: &Directories) -> Option<String> {
    let [only] = directories.alternatives()? else { return None };
    let mut parts: Vec<&str> = Vec::new();
    for part in only.strip_prefix('/')?.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    Some(format!("/{}", parts.join("/")))
}

/// Says whether a word begins with nothing but the tilde itself.
fn is_plain_tilde(written: &str) -> bool {
    written.strip_prefix('~').is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Says whether the name after `~` ends in plain text, so that nothing put in belongs to it.
fn has_whole_tilde(word: &Word) -> bool {
    match word.parts.as_slice() {
        [_] => true,
        [WordPart::Literal { text, .. }, ..] => {
            text.rsplit_once('~').is_some_and(|(_, name)| name.contains('/'))
        }
        _ => false,
    }
}
