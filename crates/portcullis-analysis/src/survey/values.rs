//! What words become: variables of one value, the home directory and the output of plain commands are put in.
//!
//! Only what the text itself sets, in one place and before it is used, counts as known. A value that may come from
//! elsewhere stays dynamic, and a dynamic word is never taken for the text that stands in the source.

use std::collections::{BTreeMap, BTreeSet};

use portcullis_shell::Span;
use portcullis_shell::ast::{List, Word, WordPart};

use super::braces;
use super::walk::SurveyWalk;
use crate::argument::{Argument, Knowledge};
use crate::directories::Directories;
use crate::standard_input::StandardInput;

/// A value longer than this is not followed.
const LONGEST_VALUE: usize = 64 * 1024;

/// So many bytes are put in all in all: values may be made of values.
const MOST_PUT_IN: usize = 1 << 20;

/// What the shell splits words at, where nobody sets it.
const BLANKS: &str = " \t\n";

/// What is known of the values of variables and substitutions at a place in the text.
#[derive(Debug, Default)]
pub(super) struct KnownValues {
    /// The variables that one place sets.
    pub(super) settled: BTreeSet<String>,
    constants: BTreeMap<String, KnownText>,
    /// The constants in the order they were set, so that those of a branch can be forgotten after it.
    order: Vec<String>,
    /// What command substitutions write, by the place of their body in memory.
    outputs: BTreeMap<usize, KnownText>,
    /// The words that hold something an encoding hid.
    decoded: BTreeSet<Span>,
    /// How many bytes were put in.
    pub(super) put_in: usize,
}

/// A text, and whether an encoding hid it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct KnownText {
    text: String,
    is_decoded: bool,
}

/// What becomes of a value that is not quoted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WordSplitting {
    /// It is split at blanks, and its patterns count.
    Splits,
    /// It stays as it is: in assignments and here-strings.
    Keeps,
    /// It would have to be one word, or nobody knows: in redirections.
    Refuses,
}

impl KnownValues {
    /// Begins a text of its own, in which these variables are settled.
    pub(super) fn of_text(settled: BTreeSet<String>, put_in: usize) -> Self {
        Self { settled, put_in, ..Self::default() }
    }

    /// Returns the place to go back to with [`Self::forget`].
    pub(super) fn mark(&self) -> usize {
        self.order.len()
    }

    /// Forgets the constants that were set since.
    pub(super) fn forget(&mut self, mark: usize) {
        for name in self.order.drain(mark.min(self.order.len())..) {
            self.constants.remove(&name);
        }
    }

    /// Notes what a substitution writes.
    pub(super) fn note_output(&mut self, body: &List, output: StandardInput) {
        let place = std::ptr::from_ref(body).addr();
        let value = match output {
            StandardInput::Text(text) => KnownText { text, is_decoded: false },
            StandardInput::Decoded(text) => KnownText { text, is_decoded: true },
            StandardInput::Nothing | StandardInput::Partly(_) | StandardInput::Unknown => {
                // Another text may have stood in the same place.
                self.outputs.remove(&place);
                return;
            }
        };
        let text = value.text.trim_end_matches('\n').to_owned();
        self.outputs.insert(place, KnownText { text, ..value });
    }

    /// Says whether a word holds something an encoding hid.
    pub(super) fn is_decoded(&self, word: &Argument) -> bool {
        self.decoded.contains(&word.span)
    }

    /// Keeps the value of a variable, and that it was set here.
    fn set(&mut self, name: &str, value: KnownText) {
        if value.text.len() <= LONGEST_VALUE && self.constants.insert(name.to_owned(), value).is_none() {
            self.order.push(name.to_owned());
        }
    }
}

impl SurveyWalk<'_> {
    /// Returns the arguments that words become.
    pub(super) fn arguments(&mut self, words: &[Word], directories: &Directories) -> Vec<Argument> {
        words.iter().flat_map(|word| self.expand(word, directories, WordSplitting::Splits)).collect()
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

    /// Notes the value an assignment gives, if it is the only one and is known.
    pub(super) fn set_constant(&mut self, name: &str, value: &Argument) {
        let text = match value.knowledge {
            Knowledge::Fixed | Knowledge::Glob => value.text.clone(),
            // Quotes behind the tilde keep it from being expanded.
            Knowledge::Tilde if value.text.contains(":~") || !is_plain_tilde(value.as_written()) => return,
            Knowledge::Tilde => match self.expand_tilde(&value.text) {
                Some(text) if self.knows_home => text,
                Some(_) | None => return,
            },
            Knowledge::Dynamic => return,
        };
        let is_sure = self.values.settled.contains(name) && !self.lasting.is_unsettled(name);
        if is_sure {
            let is_decoded = self.values.is_decoded(value);
            self.values.set(name, KnownText { text, is_decoded });
        }
    }

    /// Reads a word as the words it becomes: values put in, split and kept where the shell would.
    fn expand(&mut self, word: &Word, directories: &Directories, splitting: WordSplitting) -> Vec<Argument> {
        let plain = Argument::of_word(word, self.text, self.fixed_span);
        let written = || Some(plain.as_written().to_owned());
        if word.traits.brace && !word.traits.dynamic && splitting == WordSplitting::Splits && !self.is_posix {
            let Some(words) = braces::expand(word) else { return vec![plain] };
            let make = |(text, knowledge)| Argument { text, source: written(), knowledge, span: plain.span };
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
            let knowledge = if field.is_dynamic || is_odd {
                Knowledge::Dynamic
            } else if field.is_glob {
                Knowledge::Glob
            } else if has_tilde && place == 0 {
                Knowledge::Tilde
            } else {
                Knowledge::Fixed
            };
            Argument { text: field.text, source: written(), knowledge, span: plain.span }
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
        for part in parts {
            match part {
                WordPart::Literal { text, .. }
                | WordPart::Escaped { text, .. }
                | WordPart::Single { text, .. }
                | WordPart::AnsiC { text, .. } => fields.push(text),
                WordPart::Glob { text, .. } => {
                    fields.push(text);
                    fields.field().is_glob = true;
                }
                WordPart::Double { parts, .. } => {
                    fields.push("");
                    self.add(parts, directories, true, fields);
                }
                WordPart::Parameter { span, .. }
                | WordPart::Command { span, .. }
                | WordPart::Process { span, .. }
                | WordPart::Arithmetic { span, .. } => {
                    let value = self.known(part, directories);
                    self.values.put_in += value.as_ref().map_or(0, |value| value.text.len());
                    let splits = !self.lasting.has_other_separators;
                    if !value.is_some_and(|value| fields.put(&value, is_quoted, splits)) {
                        fields.push(span.of(self.text));
                        fields.field().is_dynamic = true;
                    }
                }
            }
        }
    }

    /// Returns what an expansion stands for.
    fn known(&self, part: &WordPart, directories: &Directories) -> Option<KnownText> {
        if !self.knows_values || self.values.put_in > MOST_PUT_IN {
            return None;
        }
        match part {
            WordPart::Parameter { name, plain: true, .. } => {
                let plain = |text: &str| Some(KnownText { text: text.to_owned(), is_decoded: false });
                match name.as_str() {
                    "HOME" if self.knows_home && !self.lasting.has_other_home => plain(self.home?),
                    "PWD" if !self.lasting.has_other_place => plain(&only_place(directories)?),
                    "IFS" if !self.lasting.has_other_separators => plain(BLANKS),
                    name => self.values.constants.get(name).cloned(),
                }
            }
            // `${| …; }` stands for a variable, not for what is written.
            WordPart::Command { span, body } if !span.of(self.text).starts_with("${") => {
                self.values.outputs.get(&std::ptr::from_ref(body).addr()).cloned()
            }
            _ => None,
        }
    }
}

/// Returns the one directory a command may run in, without `.` and `..`.
pub(super) fn only_place(directories: &Directories) -> Option<String> {
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

/// The words that one word becomes, under construction.
struct SplitWords {
    splitting: WordSplitting,
    done: Vec<SplitWord>,
    open: Option<SplitWord>,
    /// Whether anything was put in.
    has_known: bool,
    is_decoded: bool,
}

#[derive(Debug, Default)]
struct SplitWord {
    text: String,
    is_dynamic: bool,
    is_glob: bool,
}

impl SplitWords {
    fn new(splitting: WordSplitting) -> Self {
        Self { splitting, done: Vec::new(), open: None, has_known: false, is_decoded: false }
    }

    fn field(&mut self) -> &mut SplitWord {
        self.open.get_or_insert_default()
    }

    fn push(&mut self, text: &str) {
        self.field().text.push_str(text);
    }

    /// Puts a value in; says no if what would become of it is not known.
    fn put(&mut self, value: &KnownText, is_quoted: bool, splits_at_blanks: bool) -> bool {
        let has_pattern = value.text.contains(['*', '?', '[', '\\']);
        if is_quoted || self.splitting == WordSplitting::Keeps {
            self.push(&value.text);
        } else if !splits_at_blanks
            || (self.splitting == WordSplitting::Refuses
                && (has_pattern || value.text.is_empty() || value.text.contains(char::is_whitespace)))
        {
            return false;
        } else {
            self.split(&value.text, has_pattern);
        }
        self.has_known = true;
        self.is_decoded |= value.is_decoded;
        true
    }

    /// Adds a value that is not quoted, split at blanks.
    fn split(&mut self, text: &str, has_pattern: bool) {
        for (place, piece) in text.split([' ', '\t', '\n']).enumerate() {
            if place > 0 {
                self.done.extend(self.open.take());
            }
            if !piece.is_empty() {
                self.push(piece);
                self.field().is_glob |= has_pattern;
            }
        }
    }

    fn finish(mut self) -> Vec<SplitWord> {
        self.done.extend(self.open.take());
        self.done
    }
}
