//! Functions of the text: a call is read with the body in its place, its words as `$1` and the rest.
//!
//! A function that is called in another way (by a trap, from another shell) or never is read once with nothing known of
//! where and with what it runs. Bodies are read in place to a small depth and size, so that calls of calls stay affordable.

use std::collections::BTreeMap;
use std::rc::Rc;

use portcullis_shell::ast::Command;

use super::variables::KnownValue;
use super::walk::SurveyWalk;
use crate::argument::Argument;
use crate::directories::Directories;
use crate::invocation::{Invocation, Variable};
use crate::standard_input::StandardInput;

/// Calls inside bodies inside … are read in place this far.
const DEEPEST: usize = 3;

/// So many commands are read in the place of calls, all in all.
const MOST_IN_PLACE: usize = 2_000;

/// Functions that are defined in functions in … are read this far.
const MOST_NESTED: usize = 8;

/// Names whose usual meaning the survey relies on.
const RELIED_ON: &[&str] = &[
    "base64", "cat", "cd", "echo", "gbase64", "openssl", "popd", "printf", "pushd", "pwd", "rev", "tr", "xxd",
];

/// The functions of a text.
#[derive(Debug, Default)]
pub(super) struct KnownFunctions {
    all: BTreeMap<String, KnownFunction>,
    depth: usize,
    /// How many commands were read in the place of calls.
    in_place: usize,
}

#[derive(Debug)]
struct KnownFunction {
    body: Rc<Command>,
    /// How many calls were read in place.
    calls: usize,
    /// Whether it may be called in a way that is not followed.
    is_open: bool,
}

impl SurveyWalk<'_> {
    /// Notes a definition.
    pub(super) fn function(&mut self, name: &str, body: &Command, command: &Command) {
        let at = self.found.invocations.len();
        self.found.bodies.entry(name.to_owned()).or_default().push(at..at);
        // Whichever of two definitions holds, calls are not read in place.
        let is_again = self.functions.all.contains_key(name);
        self.lasting.has_open_function |= is_again;
        let known = KnownFunction {
            body: Rc::new(body.clone()),
            calls: 0,
            is_open: self.lasting.exports_functions || self.lasting.has_open_function,
        };
        if let Some(before) = self.functions.all.insert(name.to_owned(), known) {
            self.open_body(name, &before.body);
        }
        self.lasting.note_function(name);
        if RELIED_ON.contains(&name) {
            self.opaque(command.span, format!("it gives `{name}` another meaning"));
        }
    }

    /// Reads the body of a function in the place of a call; says whether it did.
    pub(super) fn call(&mut self, call: &Invocation, before: &Directories, stdin: &StandardInput) -> bool {
        let Some(name) = call.program().and_then(Argument::fixed) else { return false };
        let is_affordable = self.functions.depth < DEEPEST && self.functions.in_place < MOST_IN_PLACE;
        let Some(function) = self.functions.all.get_mut(name).filter(|_| is_affordable) else { return false };
        if function.is_open {
            return false;
        }
        function.calls += 1;
        let body = Rc::clone(&function.body);
        let is_kept = !moves_parameters(body.span.of(self.text));
        let parameters = if is_kept { parameters_of(call.operands()) } else { None };
        let outer = self.values.replace_parameters(parameters.unwrap_or_default());
        let chosen = self.values.replace_choice(BTreeMap::new());
        self.functions.depth += 1;
        let (first, mark) = (self.found.invocations.len(), self.values.mark());
        let input = std::mem::replace(&mut self.input, stdin.clone());
        let _ = self.command(&body, before.clone(), stdin.clone());
        self.input = input;
        // It may return at any point.
        self.values.weaken(mark);
        self.functions.depth -= 1;
        let _ = self.values.replace_parameters(outer);
        let _ = self.values.replace_choice(chosen);
        self.functions.in_place += 1 + self.found.invocations.len() - first;
        self.lasting.has_moving_function |= self.moves_since(first);
        let body = self.since(first);
        self.found.bodies.entry(name.to_owned()).or_default().push(body);
        true
    }

    /// Reads every function of which not every call was read in place, and those that are defined in these.
    pub(super) fn open_functions(&mut self) {
        for _ in 0..MOST_NESTED {
            let all = std::mem::take(&mut self.functions.all);
            if all.is_empty() {
                return;
            }
            let mut calls: BTreeMap<String, usize> = BTreeMap::new();
            for name in self.found.invocations.iter().filter_map(Invocation::program_name) {
                if all.contains_key(name) {
                    *calls.entry(name.to_owned()).or_default() += 1;
                }
            }
            for (name, function) in all {
                let calls = calls.get(&name).copied().unwrap_or_default();
                self.lasting.has_open_function |= calls > function.calls;
                if function.is_open || calls != function.calls || calls == 0 {
                    self.open_body(&name, &function.body);
                }
            }
        }
        if let Some(function) = self.functions.all.values().next() {
            let span = function.body.span;
            self.opaque(span, "functions are nested too deep to follow".to_owned());
        }
    }

    /// Reads a body with nothing known of where and with what it runs.
    fn open_body(&mut self, name: &str, body: &Command) {
        let outer = std::mem::replace(&mut self.input, StandardInput::Unknown);
        let piped = std::mem::take(&mut self.piped);
        let first = self.found.invocations.len();
        let values = self.lasting.exports_functions.then(|| std::mem::take(&mut self.values));
        let mark = self.values.mark();
        self.values.forget_changing();
        let parameters = self.values.replace_parameters(BTreeMap::new());
        let _ = self.command(body, Directories::Unknown, StandardInput::Unknown);
        let _ = self.values.replace_parameters(parameters);
        let _ = self.values.undo(mark);
        if let Some(mut values) = values {
            values.put_in = self.values.put_in;
            self.values = values;
        }
        self.piped = piped;
        self.input = outer;
        self.lasting.has_moving_function |= self.moves_since(first);
        let body = self.since(first);
        self.found.bodies.entry(name.to_owned()).or_default().push(body);
    }
}

/// Says whether `$1` may be another argument at some place of a text: it is shifted, or set anew.
pub(super) fn moves_parameters(text: &str) -> bool {
    let is_of_name = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '-' | '.' | '/');
    let begins = |at: usize| !text.get(..at).is_some_and(|before| before.ends_with(is_of_name));
    let ends = |rest: &str| !rest.starts_with(is_of_name);
    let rest_of = |at: usize, word: &str| text.get(at + word.len()..).unwrap_or_default();
    let is_word = |word: &'static str| {
        text.match_indices(word).filter(move |(at, _)| begins(*at) && ends(rest_of(*at, word)))
    };
    is_word("shift").next().is_some()
        || is_word("getopts").next().is_some()
        || is_word("set").any(|(at, word)| sets_parameters(rest_of(at, word)))
}

/// Says whether the words behind `set` are more than options: `-euo pipefail` leaves the arguments alone.
fn sets_parameters(rest: &str) -> bool {
    let end = rest.find(['\n', ';', '&', '|', ')', '}']).unwrap_or(rest.len());
    let mut words = rest.get(..end).unwrap_or_default().split_whitespace();
    while let Some(word) = words.next() {
        let is_option = word.starts_with(['-', '+']) && !matches!(word, "-" | "--");
        if !is_option {
            return !word.starts_with('#');
        }
        if word.ends_with('o') {
            let _ = words.next();
        }
    }
    false
}

/// Returns what `$1`, `$2` and `$@` are where these words are given; `None` if they are not told apart.
pub(super) fn parameters_of(words: &[Argument]) -> Option<BTreeMap<String, KnownValue>> {
    let mut all = Vec::new();
    let mut parameters = BTreeMap::new();
    for (place, word) in words.iter().enumerate() {
        let value = KnownValue::of_argument(word, false);
        let is_many = word.fixed().is_none() && word.bound.as_ref().is_none_or(|bound| bound.is_many);
        if is_many {
            return None;
        }
        parameters.extend(value.clone().map(|value| ((place + 1).to_string(), value)));
        all.push(value);
    }
    let all: Option<Vec<KnownValue>> = all.into_iter().collect();
    parameters.extend(all.map(|all| ("@".to_owned(), KnownValue::Elements(all))));
    Some(parameters)
}

/// Says whether a command changes the arguments of its shell or function: in zsh, `argv` names them.
pub(super) fn sets_arguments(invocation: &Invocation) -> bool {
    let words = || invocation.operands().iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ");
    let is_argv = |variable: &Variable| variable.name == "argv";
    match invocation.program_name() {
        Some("shift" | "getopts") => true,
        Some("set") => sets_parameters(&words()),
        _ => invocation.assignments.iter().any(is_argv),
    }
}
