//! The words that one word becomes once values are put in, and where the shell splits them.

use super::variables::KnownValue;
use crate::shape::Shape;
use crate::standard_input::LineCount;

/// What becomes of a value that is not quoted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WordSplitting {
    /// It is split at blanks, and its patterns count.
    Splits,
    /// It stays as it is: in assignments and here-strings.
    Keeps,
    /// It would have to be one word, or nobody knows: in redirections.
    Refuses,
}

/// The words that one word becomes, under construction.
pub(super) struct SplitWords {
    pub(super) splitting: WordSplitting,
    pub(super) done: Vec<SplitWord>,
    pub(super) open: Option<SplitWord>,
    /// Whether anything was put in.
    pub(super) has_known: bool,
    pub(super) is_decoded: bool,
}

#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts, not a state")]
pub(super) struct SplitWord {
    pub(super) text: String,
    pub(super) is_dynamic: bool,
    pub(super) is_glob: bool,
    /// Whether it stands for any number of words.
    pub(super) is_many: bool,
    /// Whether it may be empty, or is no word then.
    pub(super) may_be_empty: bool,
    /// Whether it may be a pattern that no file fitted, and that files may fit here.
    pub(super) may_be_pattern: bool,
    /// What it may be; `None` if it may be anything.
    pub(super) shape: Option<Shape>,
}

impl Default for SplitWord {
    fn default() -> Self {
        let shape = Some(Shape::text(""));
        Self {
            text: String::new(),
            is_dynamic: false,
            is_glob: false,
            is_many: false,
            may_be_empty: false,
            may_be_pattern: false,
            shape,
        }
    }
}

impl SplitWords {
    pub(super) fn new(splitting: WordSplitting) -> Self {
        Self { splitting, done: Vec::new(), open: None, has_known: false, is_decoded: false }
    }

    pub(super) fn field(&mut self) -> &mut SplitWord {
        self.open.get_or_insert_default()
    }

    pub(super) fn push(&mut self, text: &str) {
        let field = self.field();
        field.text.push_str(text);
        // Nothing may follow what stands for many words or none.
        let is_whole = !field.is_many && !field.may_be_empty || text.is_empty();
        field.shape =
            field.shape.take().filter(|_| is_whole).and_then(|shape| shape.join(&Shape::text(text)));
    }

    /// Adds a wildcard of the shell.
    pub(super) fn push_wild(&mut self, written: &str) {
        let keeps = self.splitting == WordSplitting::Keeps;
        let field = self.field();
        field.text.push_str(written);
        field.is_glob = true;
        let is_plain = matches!(written, "*" | "?") && !field.is_many && !field.may_be_empty && !keeps;
        field.shape = field.shape.take().filter(|_| is_plain);
        field.shape.iter_mut().for_each(Shape::push_wild);
    }

    /// Adds what nobody knows.
    pub(super) fn push_unknown(&mut self, written: &str) {
        let field = self.field();
        field.text.push_str(written);
        field.is_dynamic = true;
        field.shape = None;
    }

    /// Puts words in; says no if what would become of them is not known.
    pub(super) fn put_all(
        &mut self,
        words: &[KnownValue],
        written: &str,
        is_quoted: bool,
        splits: bool,
    ) -> bool {
        let [only] = words else {
            // Several elements in quotes are a word each; several lines are, if nothing quotes them.
            let is_lines =
                words.iter().all(|word| matches!(word, KnownValue::Shaped { count: LineCount::Many, .. }));
            let is_list = written.contains("[@]") || written.contains("$@");
            if self.splitting != WordSplitting::Splits || words.is_empty() || is_quoted != is_list {
                return false;
            }
            if !is_list && !is_lines {
                return false;
            }
            let is_blank = |word: &&KnownValue| matches!(word, KnownValue::Shaped { shape, .. } if shape.as_text() == Some(""));
            let words = words.iter().filter(|word| is_list || !is_blank(word));
            for (place, word) in words.enumerate() {
                if place > 0 {
                    self.done.extend(self.open.take());
                }
                if !self.put(word, written, is_quoted, splits) {
                    return false;
                }
            }
            self.has_known = true;
            return true;
        };
        self.put(only, written, is_quoted, splits)
    }

    /// Puts a value in; says no if what would become of it is not known.
    pub(super) fn put(
        &mut self,
        value: &KnownValue,
        written: &str,
        is_quoted: bool,
        splits_at_blanks: bool,
    ) -> bool {
        match value {
            KnownValue::Text { text, is_decoded } => {
                self.put_text(text, is_quoted, splits_at_blanks) && {
                    self.is_decoded |= is_decoded;
                    true
                }
            }
            KnownValue::Shaped { shape, count } => {
                self.put_shape(shape, *count, written, is_quoted, splits_at_blanks)
            }
            KnownValue::Elements(_) | KnownValue::Columns(_) => false,
        }
    }

    pub(super) fn put_shape(
        &mut self,
        shape: &Shape,
        count: LineCount,
        written: &str,
        is_quoted: bool,
        splits_at_blanks: bool,
    ) -> bool {
        let keeps = is_quoted || self.splitting == WordSplitting::Keeps;
        let is_list = written.contains("[@]") || written.contains("$@");
        let open = self.open.as_ref();
        let is_alone = open.is_none_or(|open| open.text.is_empty() && !open.is_dynamic);
        let follows_none = open.is_some_and(|open| open.is_many || open.may_be_empty);
        if follows_none || count != LineCount::One && !is_alone || !keeps && !splits_at_blanks {
            return false;
        }
        let is_many = match (count, self.splitting) {
            (LineCount::One, _) => false,
            (LineCount::AtMostOne, WordSplitting::Splits) => !is_quoted,
            (LineCount::AtMostOne, WordSplitting::Keeps) => false,
            // Many lines in quotes are one word; many elements of an array are many.
            (LineCount::Many, WordSplitting::Splits) if is_quoted && !is_list => return false,
            (LineCount::Many, WordSplitting::Splits | WordSplitting::Keeps) => true,
            (LineCount::AtMostOne | LineCount::Many, WordSplitting::Refuses) => return false,
        };
        let field = self.field();
        field.text.push_str(written);
        field.is_dynamic = true;
        field.is_many |= is_many;
        field.may_be_empty |= count == LineCount::AtMostOne;
        field.may_be_pattern |= !keeps && shape.may_be_pattern();
        field.shape = field.shape.take().and_then(|before| before.join(shape));
        self.has_known = true;
        true
    }

    pub(super) fn put_text(&mut self, text: &str, is_quoted: bool, splits_at_blanks: bool) -> bool {
        let has_pattern = text.contains(['*', '?', '[', '\\']);
        if is_quoted || self.splitting == WordSplitting::Keeps {
            self.push(text);
        } else if !splits_at_blanks
            || (self.splitting == WordSplitting::Refuses
                && (has_pattern || text.is_empty() || text.contains(char::is_whitespace)))
        {
            return false;
        } else {
            self.split(text, has_pattern);
        }
        self.has_known = true;
        true
    }

    /// Adds a value that is not quoted, split at blanks.
    pub(super) fn split(&mut self, text: &str, has_pattern: bool) {
        for (place, piece) in text.split([' ', '\t', '\n']).enumerate() {
            if place > 0 {
                self.done.extend(self.open.take());
            }
            if !piece.is_empty() {
                self.push(piece);
                let field = self.field();
                field.is_glob |= has_pattern;
                field.shape = field.shape.take().filter(|_| !has_pattern);
            }
        }
    }

    pub(super) fn finish(mut self) -> Vec<SplitWord> {
        self.done.extend(self.open.take());
        self.done
    }
}
