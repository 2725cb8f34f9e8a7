//! Variables that bash evaluates as arithmetic, and those that hold text nobody knows: `read x < f; echo $((x))` runs `cmd`
//! where the file holds `a[$(cmd)]`.
//!
//! Both are gathered wherever they stand, because loops and functions run text in another order than it is written, and
//! are held against each other when the whole line was walked. What nothing on the line sets is the user's own.

use std::collections::{BTreeMap, BTreeSet};

use portcullis_shell::Span;
use portcullis_shell::ast::{AssignmentValue, SimpleCommand, Word, WordPart};

use super::settled::{CALCULATING, DECLARING, assigned_name, is_name, names_read};
use super::variables::KnownValue;
use super::walk::SurveyWalk;
use crate::argument::Argument;

/// What is evaluated on a line, and where the values of its variables come from.
#[derive(Debug, Default)]
pub(super) struct Evaluations {
    /// The variables that are evaluated, with the place.
    evaluated: BTreeMap<String, Span>,
    /// The variables that may hold any text.
    open: BTreeSet<String>,
    /// Which variables each takes its value from.
    sources: BTreeMap<String, BTreeSet<String>>,
}

impl Evaluations {
    /// Returns an evaluated variable that may hold any text, itself or by way of others, with the place.
    pub(super) fn unsafe_one(&self) -> Option<(&str, Span)> {
        self.evaluated.iter().find(|(name, _)| self.is_open(name)).map(|(name, span)| (name.as_str(), *span))
    }

    fn is_open(&self, name: &str) -> bool {
        let mut seen = BTreeSet::new();
        let mut next = vec![name];
        while let Some(name) = next.pop() {
            if self.open.contains(name) {
                return true;
            }
            if seen.insert(name) {
                next.extend(self.sources.get(name).into_iter().flatten().map(String::as_str));
            }
        }
        false
    }

    /// Notes the words that a shell is given behind its text.
    pub(super) fn note_parameters(&mut self, words: &[Argument]) {
        for (place, word) in words.iter().enumerate() {
            let value = KnownValue::of_argument(word, false);
            if !value.is_some_and(|value| is_number(&value) || is_without_subscript(&value)) {
                self.open.extend([(place + 1).to_string(), "@".to_owned(), "*".to_owned()]);
            }
        }
    }

    fn take_from(&mut self, name: &str, source: &str) {
        self.sources.entry(name.to_owned()).or_default().insert(source.to_owned());
    }
}

impl SurveyWalk<'_> {
    /// Notes what the expansions of a word evaluate: calculations, subscripts, offsets.
    pub(super) fn note_expansions(&mut self, parts: &[WordPart]) {
        for part in parts {
            match part {
                WordPart::Double { parts, .. } => self.note_expansions(parts),
                WordPart::Arithmetic { parts, .. } => self.note_evaluated(parts),
                WordPart::Parameter { plain: false, span, name, parts } => {
                    self.note_parameter(*span, name, parts);
                    self.note_expansions(parts);
                }
                WordPart::Parameter { plain: true, .. }
                | WordPart::Literal { .. }
                | WordPart::Escaped { .. }
                | WordPart::Single { .. }
                | WordPart::AnsiC { .. }
                | WordPart::Glob { .. }
                | WordPart::Command { .. }
                | WordPart::Process { .. } => {}
            }
        }
    }

    /// Notes the variables in parts that are evaluated as arithmetic.
    pub(super) fn note_evaluated(&mut self, parts: &[WordPart]) {
        for part in parts {
            let span = part.span();
            match part {
                WordPart::Literal { text, .. }
                | WordPart::Escaped { text, .. }
                | WordPart::Single { text, .. }
                | WordPart::AnsiC { text, .. }
                | WordPart::Glob { text, .. } => self.note_names(text, span),
                WordPart::Double { parts, .. } | WordPart::Arithmetic { parts, .. } => {
                    self.note_evaluated(parts);
                }
                WordPart::Parameter { name, parts, .. } => {
                    if !span.of(self.text).starts_with("${#") {
                        self.note_name(name, span);
                    }
                    self.note_evaluated(parts);
                }
                WordPart::Command { body, .. } => {
                    let values = self.values.output(body);
                    if !values.is_some_and(|values| values.iter().all(is_number)) {
                        self.opaque(
                            span,
                            "a calculation may run a command that stands in what it reads".to_owned(),
                        );
                    }
                }
                WordPart::Process { .. } => {}
            }
        }
    }

    /// Notes what a condition in `[[ … ]]` evaluates: what stands beside `-gt` and its like.
    pub(super) fn note_condition(&mut self, words: &[Word]) {
        let is_operator =
            |word: Option<&Word>| word.is_some_and(|word| CALCULATING.contains(&word.text.as_str()));
        for (at, word) in words.iter().enumerate() {
            let before = at.checked_sub(1).and_then(|before| words.get(before));
            let names_variable = before.is_some_and(|word| matches!(word.text.as_str(), "-v" | "-R"));
            // The name itself is not evaluated, what is put into it is.
            let is_number = is_operator(before) && !names_variable || is_operator(words.get(at + 1));
            if is_number || names_variable && word.traits.dynamic {
                self.note_evaluated(&word.parts);
            }
        }
    }

    /// Notes where the variables come from that a command sets, and what it evaluates besides its expansions.
    pub(super) fn note_settings(&mut self, simple: &SimpleCommand) {
        for assignment in &simple.assignments {
            match &assignment.value {
                AssignmentValue::Word(word) => self.note_source(&assignment.name, &word.parts),
                AssignmentValue::Array(words) => {
                    for word in words {
                        self.note_element(&assignment.name, word);
                        self.note_place(&assignment.name, word);
                    }
                }
            }
        }
        // `builtin read x` does what `read x` does.
        let is_prefix = |word: &Word| matches!(word.fixed(), Some("builtin" | "command" | "-p" | "--"));
        let prefixes = simple.words.iter().take_while(|word| is_prefix(word)).count();
        let words = simple.words.get(prefixes..).unwrap_or_default();
        let Some((program, operands)) = words.split_first() else { return };
        match program.fixed().unwrap_or_default() {
            "read" | "mapfile" | "readarray" if names_read(&simple.words).is_none() => {
                self.note_input(operands);
            }
            "let" => operands.iter().for_each(|word| self.note_evaluated(&word.parts)),
            "set" => operands.iter().enumerate().for_each(|(at, word)| self.note_parameter_source(at, word)),
            "printf" if operands.first().is_some_and(|word| word.text == "-v") => {
                let name = operands.get(1).and_then(Word::fixed).unwrap_or_default();
                operands.iter().skip(2).for_each(|word| self.note_source(name, &word.parts));
            }
            program if DECLARING.contains(&program) || matches!(program, "declare" | "typeset") => {
                self.note_declared(operands);
            }
            program if self.lasting.is_function(program) => {
                operands.iter().enumerate().for_each(|(at, word)| self.note_parameter_source(at, word));
            }
            _ => {}
        }
    }

    /// Notes where the variable of a loop comes from.
    pub(super) fn note_loop(&mut self, variable: &str, words: Option<&[Word]>) {
        match words {
            Some(words) => words.iter().for_each(|word| self.note_element(variable, word)),
            None => self.evaluations.take_from(variable, "@"),
        }
    }

    /// Notes what assignments of `declare` and its like set; what is an integer evaluates whatever it is set to.
    fn note_declared(&mut self, operands: &[Word]) {
        let has = |letter: char| {
            operands.iter().any(|word| word.text.starts_with('-') && word.text.contains(letter))
        };
        let (is_integer, is_map) = (has('i'), has('A'));
        for word in operands.iter().filter(|word| !word.text.starts_with('-')) {
            let name = assigned_name(&word.text).unwrap_or(&word.text);
            let name = name.split('[').next().unwrap_or(name).to_owned();
            self.note_source(&name, &word.parts);
            if is_integer {
                self.note_name(&name, word.span);
            }
            if is_map {
                self.values.note_map(&name);
            }
        }
    }

    /// Notes that a builtin puts what it reads into variables, in a way that is not followed.
    fn note_input(&mut self, operands: &[Word]) {
        let names = operands.iter().map(|word| word.text.as_str()).filter(|text| text.chars().all(is_name));
        self.evaluations.open.extend(names.chain(["REPLY", "MAPFILE"]).map(str::to_owned));
    }

    /// Notes what `read` puts into a variable; `None` may be anything.
    pub(super) fn note_read(&mut self, name: &str, values: Option<&[KnownValue]>) {
        if !values.is_some_and(|values| values.iter().all(is_number)) {
            self.evaluations.open.insert(name.to_owned());
        }
    }

    /// Notes where `$1` or another argument of the shell or a function comes from.
    fn note_parameter_source(&mut self, at: usize, word: &Word) {
        let place = (at + 1).to_string();
        for name in [place.as_str(), "@", "*"] {
            self.note_source(name, &word.parts);
        }
    }

    /// Notes where a variable comes from that stands for each of several words in turn; a pattern becomes names of files.
    fn note_element(&mut self, name: &str, word: &Word) {
        if word.parts.iter().any(|part| matches!(part, WordPart::Glob { .. })) {
            self.evaluations.open.insert(name.to_owned());
        }
        self.note_source(name, &word.parts);
    }

    /// Notes where the value of a variable comes from.
    fn note_source(&mut self, name: &str, parts: &[WordPart]) {
        for part in parts {
            match part {
                WordPart::Literal { text, .. }
                | WordPart::Escaped { text, .. }
                | WordPart::Single { text, .. }
                | WordPart::AnsiC { text, .. } => {
                    names_in(text).for_each(|source| self.evaluations.take_from(name, source));
                }
                WordPart::Double { parts, .. } => self.note_source(name, parts),
                WordPart::Parameter { name: source, parts, span, .. } => {
                    if !span.of(self.text).starts_with("${#") {
                        self.evaluations.take_from(name, source);
                        self.note_source(name, parts);
                    }
                }
                WordPart::Command { body, .. } => {
                    let values = self.values.output(body);
                    if !values.is_some_and(|all| {
                        all.iter().all(|value| is_number(value) || is_without_subscript(value))
                    }) {
                        self.evaluations.open.insert(name.to_owned());
                    }
                }
                WordPart::Glob { .. } | WordPart::Process { .. } | WordPart::Arithmetic { .. } => {}
            }
        }
    }

    /// Notes what an expansion with more than a name evaluates: a subscript, an offset, its text once more.
    fn note_parameter(&mut self, span: Span, name: &str, parts: &[WordPart]) {
        let written = span.of(self.text);
        let inside = written.trim_start_matches("${").trim_end_matches('}').trim_start_matches(['#', '!']);
        let Some(mut rest) = inside.strip_prefix(name) else { return };
        if let Some((subscript, after)) = rest.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            if !matches!(subscript, "@" | "*") && !self.is_map(name) {
                self.note_names(subscript, span);
                self.note_substitutions(parts);
            }
            rest = after;
        }
        if rest.starts_with("@P") {
            self.note_name(name, span);
        } else if let Some(offset) = rest.strip_prefix(':')
            && !offset.starts_with(['-', '=', '+', '?'])
        {
            self.note_names(offset, span);
            self.note_substitutions(parts);
        }
    }

    /// Notes the place that an element of an array is given: `a=([x]=1)`.
    fn note_place(&mut self, name: &str, word: &Word) {
        let place = word.text.strip_prefix('[').and_then(|rest| rest.split(']').next());
        if let Some(place) = place.filter(|_| !self.is_map(name)) {
            self.note_names(place, word.span);
            self.note_substitutions(&word.parts);
        }
    }

    /// Notes the subscript of an assignment.
    pub(super) fn note_subscript(&mut self, name: &str, subscript: &[WordPart]) {
        if !self.is_map(name) {
            self.note_evaluated(subscript);
        }
    }

    /// Says whether the subscripts of a variable are texts and no calculations.
    fn is_map(&self, name: &str) -> bool {
        self.values.is_map(name) && !self.text.contains("unset")
    }

    fn note_substitutions(&mut self, parts: &[WordPart]) {
        let substitutions = parts.iter().filter(|part| matches!(part, WordPart::Command { .. })).cloned();
        self.note_evaluated(&substitutions.collect::<Vec<_>>());
    }

    fn note_names(&mut self, text: &str, span: Span) {
        names_in(text).for_each(|name| self.note_name(name, span));
    }

    fn note_name(&mut self, name: &str, span: Span) {
        let span = self.fixed_span.unwrap_or(span);
        self.evaluations.evaluated.entry(name.to_owned()).or_insert(span);
    }
}

/// Returns the names that may be those of variables in a text, and the places of arguments behind a dollar.
fn names_in(text: &str) -> impl Iterator<Item = &str> {
    let is_variable =
        |name: &&str| !name.is_empty() && !name.starts_with(|letter: char| letter.is_ascii_digit());
    text.split(|letter| !is_name(letter)).filter(is_variable)
}

/// Says whether a value is a text in which no subscript stands, so that no command hides in it.
fn is_without_subscript(value: &KnownValue) -> bool {
    matches!(value, KnownValue::Text { text, .. } if !text.contains('['))
}

/// Says whether a value is one that no calculation finds a command in.
fn is_number(value: &KnownValue) -> bool {
    match value {
        KnownValue::Text { text, .. } => text.trim().parse::<i64>().is_ok(),
        KnownValue::Shaped { shape, .. } => shape.is_plain(),
        KnownValue::Elements(all) => all.iter().all(is_number),
        KnownValue::Columns(_) => false,
    }
}
