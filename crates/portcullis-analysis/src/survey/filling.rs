//! What `find`, `fd` and `xargs` put into the commands they run: names of files of a known shape, or the lines they read.

use super::find_names::{found_by_fd, found_by_find};
use super::walk::SurveyWalk;
use crate::argument::{Argument, Bound, Knowledge};
use crate::invocation::Invocation;
use crate::shape::Shape;
use crate::standard_input::StandardInput;

impl SurveyWalk<'_> {
    /// Returns the words of a command with what its wrapper puts in, once for each kind of that; and whether nothing else
    /// may be put in.
    pub(super) fn filled(
        &self,
        words: &[Argument],
        index: usize,
        stdin: &StandardInput,
    ) -> (Vec<Vec<Argument>>, bool) {
        if !words.iter().any(|word| word.shape().is_some_and(Shape::has_input) || word.is_appended()) {
            return (Vec::new(), false);
        }
        let wrapper = self.found.invocations.get(index);
        let name = wrapper.and_then(Invocation::program_name).unwrap_or_default();
        let operands = wrapper.map(Invocation::operands).unwrap_or_default();
        let home = self.home.filter(|_| self.knows_home && !self.lasting.has_other_home);
        // Items that a zero byte ends are no words.
        let is_split = !operands.iter().take_while(|word| word.is_option()).any(ends_at_zero);
        let shapes = match name {
            "find" | "gfind" | "bfs" => found_by_find(operands, home),
            "fd" | "fdfind" => found_by_fd(operands),
            _ => match stdin {
                StandardInput::Lines { shapes, .. } => {
                    // An empty line is no word, unless lines are told apart by something else than blanks.
                    let is_delimited =
                        |word: &Argument| word.text.starts_with("-d") || word.text.starts_with("--delimiter");
                    let counts_empty = name == "parallel" || !is_split || operands.iter().any(is_delimited);
                    let counts = |shape: &&Shape| counts_empty || shape.as_text() != Some("");
                    Some(shapes.iter().filter(counts).cloned().collect())
                }
                // A line is one word to `parallel`, an empty one too.
                StandardInput::Text(_) if name == "parallel" => return (Vec::new(), false),
                StandardInput::Text(text) if is_split => lines_put_in(text, words),
                StandardInput::Text(_) if !is_split => {
                    return (with_input(words, stdin).into_iter().collect(), false);
                }
                _ => return (with_input(words, stdin).into_iter().collect(), false),
            },
        };
        match shapes {
            Some(shapes) if words.iter().any(takes_all) => {
                let fill_all = |word: &Argument| {
                    let copies =
                        if takes_all(word) { shapes.as_slice() } else { shapes.get(..1).unwrap_or_default() };
                    copies.iter().map(|shape| fill(word, shape)).collect::<Vec<_>>()
                };
                let filled = words.iter().flat_map(fill_all).collect();
                (with_none(words, filled), true)
            }
            Some(shapes) => {
                let fill_all = |shape: &Shape| words.iter().map(|word| fill(word, shape)).collect();
                let filled: Vec<Vec<Argument>> = shapes.iter().map(fill_all).collect();
                // Where nothing is read, or another option says where the words go, nothing is appended.
                let last = words.split_last().filter(|(last, _)| last.is_appended());
                (filled.into_iter().chain(last.map(|(_, before)| before.to_vec())).collect(), true)
            }
            None => {
                let known = with_input(words, stdin);
                let is_whole = known.is_some() && is_exact(stdin, words);
                (known.into_iter().collect(), is_whole)
            }
        }
    }
}

/// Returns the words of a command with those that `xargs` appends to it, where its input is known.
fn with_input(words: &[Argument], stdin: &StandardInput) -> Option<Vec<Argument>> {
    let (last, before) = words.split_last().filter(|(last, _)| last.is_appended())?;
    let (StandardInput::Text(text) | StandardInput::Decoded(text) | StandardInput::Partly(text)) = stdin
    else {
        return None;
    };
    let fixed = Argument { knowledge: Knowledge::Fixed, ..last.clone() };
    let input = text.split_whitespace().map(|word| fixed.piece(word.trim_matches(['\'', '"'])));
    Some(before.iter().cloned().chain(input).collect())
}

/// Says whether a word stands for all that a wrapper reads or finds.
fn takes_all(word: &Argument) -> bool {
    word.shape().is_some_and(Shape::has_input) && word.bound.as_ref().is_some_and(|bound| bound.is_many)
}

/// Puts what a wrapper reads into a word, if it has a place for it.
fn fill(word: &Argument, input: &Shape) -> Argument {
    let Some(bound) = word.bound.as_deref().filter(|bound| bound.shape.has_input()) else {
        return word.clone();
    };
    match bound.shape.fill(Some(input)) {
        Some(shape) => match shape.as_text() {
            Some(text) if !bound.is_many => {
                Argument { text: text.to_owned(), knowledge: Knowledge::Fixed, bound: None, ..word.clone() }
            }
            _ => Argument { bound: Some(Box::new(Bound { shape, ..bound.clone() })), ..word.clone() },
        },
        None => word.clone().unbounded(),
    }
}

/// Returns a word with a place for what nobody knows as something only known at run time.
pub(super) fn unfilled(word: Argument) -> Argument {
    if word.shape().is_some_and(Shape::has_input) { word.unbounded() } else { word }
}

/// The most lines that are put in one by one.
const MOST_LINES: usize = 64;

/// Returns the lines that a wrapper puts into its command one by one; `None` if it puts in all at once.
fn lines_put_in(text: &str, words: &[Argument]) -> Option<Vec<Shape>> {
    let is_one_by_one = words.iter().all(|word| {
        !word.shape().is_some_and(Shape::has_input) || word.bound.as_ref().is_some_and(|bound| !bound.is_many)
    });
    let is_plain = !text.contains(['\'', '"', '\\']);
    let pieces: Vec<&str> = if words.iter().any(Argument::is_appended) {
        text.split_whitespace().collect()
    } else {
        text.lines().map(str::trim_start).filter(|line| !line.is_empty()).collect()
    };
    (is_one_by_one && is_plain && !pieces.is_empty() && pieces.len() <= MOST_LINES)
        .then(|| pieces.into_iter().map(Shape::text).collect())
}

/// Says whether the words that are put in all at once are exactly those of a text.
fn is_exact(stdin: &StandardInput, words: &[Argument]) -> bool {
    let is_whole = words.last().is_some_and(|last| last.bound.as_ref().is_some_and(|bound| bound.is_many));
    is_whole && matches!(stdin, StandardInput::Text(text) if !text.contains(['\'', '"', '\\']))
}

/// Says whether an option of `xargs` makes a zero byte end each item.
fn ends_at_zero(word: &Argument) -> bool {
    word.text == "--null" || !word.text.starts_with("--") && word.text.contains('0')
}

/// Adds the command without what is appended: where nothing is read, it may run all the same.
fn with_none(words: &[Argument], filled: Vec<Argument>) -> Vec<Vec<Argument>> {
    let none = words.split_last().filter(|(last, _)| last.is_appended()).map(|(_, before)| before.to_vec());
    std::iter::once(filled).chain(none).collect()
}
