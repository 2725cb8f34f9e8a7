//! How a shell rule meets an invocation.
//!
//! A deny or ask rule is read by its meaning: past directories, quoting, global options and the order of flags
//! (spec C7). Words that are only known at run time make the answer [`Certainty::Possible`]. An allow rule is read
//! by its letter: it must match the command as written, or in its plain quoting.

use portcullis_analysis::effect::Certainty;
use portcullis_analysis::environment::is_safe_prefix;
use portcullis_analysis::global_options::{self, GlobalOptions};
use portcullis_analysis::{Argument, Invocation, Knowledge, base_name};

use crate::rule::{PatternPiece, ShellPattern};
use crate::rule_set::program_key;

/// Programs whose allow rules must be exact, because any argument may be another command.
const EXACT_ONLY: &[&str] = &["watch", "setsid", "ionice", "flock"];

/// An invocation as deny and ask rules read it, made ready once for all of them.
#[derive(Debug)]
pub(crate) struct InvocationMeaning<'a> {
    words: &'a [Argument],
    /// The program's name; `None` if it is only known at run time.
    name: Option<&'a str>,
    /// The texts the invocation may be written as.
    readings: Vec<String>,
    /// Whether any word is only known at run time.
    is_open: bool,
}

impl<'a> InvocationMeaning<'a> {
    /// Reads an invocation; `None` if it starts no program.
    pub(crate) fn of(invocation: &'a Invocation) -> Option<Self> {
        let words = invocation.arguments.as_slice();
        let name = invocation.program()?.fixed().map(base_name);
        let readings = if name.is_some() { readings(invocation) } else { Vec::new() };
        Some(Self { words, name, readings, is_open: words.iter().any(|word| !word.is_known()) })
    }

    /// Says whether and how surely a deny or ask pattern matches.
    pub(crate) fn meets(&self, pattern: &ShellPattern) -> Option<Certainty> {
        // A program that nobody knows yet may be any.
        let Some(name) = self.name else {
            return Some(Certainty::Possible);
        };
        if self.readings.iter().any(|reading| pattern.matches(reading)) {
            return Some(Certainty::Certain);
        }
        let by_words = match pattern.literal_words() {
            Some(rule) if pattern.is_open_ended() => restrains_by_words(&rule, self.words),
            Some(_) | None => None,
        };
        if by_words == Some(Certainty::Certain) || !self.is_open {
            return by_words;
        }
        if pattern.may_match(&pieces(name, self.words)) { Some(Certainty::Possible) } else { by_words }
    }
}

/// Returns the texts an invocation may be written as.
fn readings(invocation: &Invocation) -> Vec<String> {
    let words = &invocation.arguments;
    let cooked = join(words.iter().map(|word| word.text.as_str()));
    let mut readings = vec![invocation.as_written(), cooked];
    if words.last().is_some_and(Argument::is_appended) {
        // `xargs` may find nothing to append.
        readings.push(join(words.iter().rev().skip(1).rev().map(|word| word.text.as_str())));
    }
    if let Some((program, rest)) = words.split_first() {
        let name = base_name(&program.text);
        let rest = rest.iter().map(|word| word.text.as_str());
        if name != program.text {
            readings.push(join(std::iter::once(name).chain(rest.clone())));
        }
        if let Some(globals) = globals_of(name)
            && let Some(first) = words.get(1).filter(|word| word.is_option())
            && !first.text.is_empty()
        {
            let skipped = globals.skip(words);
            let rest = words.iter().skip(1 + skipped).map(|word| word.text.as_str());
            readings.push(join(std::iter::once(name).chain(rest)));
        }
    }
    readings.dedup();
    readings
}

/// Returns the known and unknown pieces of a command line.
fn pieces<'a>(name: &'a str, words: &'a [Argument]) -> Vec<PatternPiece<'a>> {
    let mut pieces = Vec::with_capacity(words.len() * 2);
    for (place, word) in words.iter().enumerate() {
        if place > 0 {
            pieces.push(PatternPiece::Known(" "));
        }
        match (place, word.knowledge) {
            (0, _) => pieces.push(PatternPiece::Known(name)),
            (_, Knowledge::Fixed | Knowledge::Tilde) => pieces.push(PatternPiece::Known(&word.text)),
            (_, Knowledge::Glob | Knowledge::Dynamic) => {
                // The fixed beginning still counts; the word may also vanish with the blank before it.
                let fixed = fixed_start(word);
                if fixed.is_empty() {
                    pieces.pop();
                } else {
                    pieces.push(PatternPiece::Known(fixed));
                }
                pieces.push(PatternPiece::Unknown);
            }
        }
    }
    pieces
}

/// Returns the text of a word before anything that is not known.
fn fixed_start(word: &Argument) -> &str {
    let at = word.text.find(['$', '`', '*', '?', '[', '{', '<', '>', '…']).unwrap_or(0);
    word.text.get(..at).unwrap_or_default()
}

/// Compares word by word: operands of the rule must lead the command's operands, its options may stand anywhere.
fn restrains_by_words(rule: &[&str], words: &[Argument]) -> Option<Certainty> {
    let (rule_program, rule_rest) = rule.split_first()?;
    let (program, rest) = words.split_first()?;
    let name = program.fixed()?;
    let same_program = if rule_program.contains('/') {
        *rule_program == name
    } else {
        program_key(rule_program) == program_key(name)
    };
    if !same_program {
        return None;
    }
    let rule_options: Vec<&str> = rule_rest.iter().copied().filter(|word| is_option(word)).collect();
    let rule_operands: Vec<&str> = rule_rest.iter().copied().filter(|word| !is_option(word)).collect();
    if !rule_options.iter().all(|option| has_option(rest, option)) {
        return None;
    }
    let globals = globals_of(base_name(name));
    lead(&rule_operands, rest, globals)
}

fn is_option(word: &str) -> bool {
    word.len() > 1 && word.starts_with('-')
}

/// Says whether a command has an option, alone or inside a cluster of short ones.
fn has_option(words: &[Argument], option: &str) -> bool {
    if words.iter().any(|word| {
        word.text == option || word.text.strip_prefix(option).is_some_and(|rest| rest.starts_with('='))
    }) {
        return true;
    }
    let Some(letters) = option.strip_prefix('-').filter(|letters| !letters.starts_with('-')) else {
        return false;
    };
    let clusters = words.iter().map(|word| word.text.as_str());
    let clusters = clusters.filter(|text| is_option(text) && !text.starts_with("--"));
    let given: String = clusters.flat_map(|text| text.chars().skip(1)).collect();
    letters.chars().all(|letter| letter.is_ascii_alphanumeric() && given.contains(letter))
}

/// Says whether the rule's operands lead the command's, options between them skipped.
///
/// For a program with known global options the skipping is exact. For others the word after an option may be its
/// value or an operand; a match that needs it to be a value is only possible.
fn lead(operands: &[&str], words: &[Argument], globals: Option<&GlobalOptions>) -> Option<Certainty> {
    let mut certainty = Certainty::Certain;
    let mut wanted = operands.iter().peekable();
    let mut place = 0;
    let mut after_option = false;
    while let Some(operand) = wanted.peek() {
        let word = words.get(place)?;
        if word.fixed() == Some(**operand) {
            wanted.next();
            after_option = false;
        } else if !word.is_known() {
            return Some(Certainty::Possible);
        } else if word.is_option() || globals.is_some_and(|globals| globals.is_toolchain(word)) {
            if globals.is_some_and(|globals| globals.rewrites(word, words.get(place + 1))) {
                return Some(Certainty::Possible);
            }
            let takes_value = globals.map(|globals| globals.takes_value(word));
            place += usize::from(takes_value == Some(true));
            after_option = takes_value.is_none() && !word.text.contains('=');
        } else if after_option {
            certainty = Certainty::Possible;
            after_option = false;
        } else {
            return None;
        }
        place += 1;
    }
    Some(certainty)
}

fn globals_of(name: &str) -> Option<&'static GlobalOptions> {
    global_options::find(&program_key(name))
}

/// Says whether an allow pattern covers an invocation, its redirections and substitutions aside.
pub(crate) fn permits(pattern: &ShellPattern, invocation: &Invocation) -> bool {
    let Some(name) = invocation.program().and_then(Argument::fixed).filter(|name| !name.is_empty()) else {
        return false;
    };
    let is_exact = matches!(pattern, ShellPattern::Exact(_));
    if !is_exact && (EXACT_ONLY.contains(&base_name(name)) || is_acting_find(invocation)) {
        return false;
    }
    let written = invocation.as_written();
    let plain = join(invocation.arguments.iter().map(plain_quoting));
    let matches = |text: &str| pattern.matches(text);
    if invocation.assignments.iter().all(|variable| is_safe_prefix(&variable.name))
        && (matches(&written) || matches(&plain))
    {
        return true;
    }
    let assigned = invocation.assignments.iter().map(|variable| {
        std::borrow::Cow::Owned(format!("{}={}", variable.name, variable.value.as_written()))
    });
    !invocation.assignments.is_empty()
        && is_exact
        && matches(&join(assigned.chain(std::iter::once(std::borrow::Cow::Borrowed(written.as_str())))))
}

/// Says whether a `find` does more than find.
fn is_acting_find(invocation: &Invocation) -> bool {
    invocation.program_name() == Some("find")
        && invocation.operands().iter().any(|argument| {
            let text = argument.text.as_str();
            ["-exec", "-ok", "-delete", "-fprint", "-fls"].iter().any(|action| text.starts_with(action))
        })
}

/// Returns a word in the quoting a rule would be written in: bare where that is the same word, as written elsewhere.
fn plain_quoting(word: &Argument) -> &str {
    let is_bare = word.knowledge == Knowledge::Fixed
        && !word.text.is_empty()
        && word.text.chars().all(|letter| letter.is_alphanumeric() || "-_./:=@%+,^".contains(letter));
    if is_bare { &word.text } else { word.as_written() }
}

fn join<T: AsRef<str>>(words: impl Iterator<Item = T>) -> String {
    let mut joined = String::new();
    for word in words {
        if !joined.is_empty() {
            joined.push(' ');
        }
        joined.push_str(word.as_ref());
    }
    joined
}
