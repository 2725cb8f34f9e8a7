//! Functions that a text defines: what they run is read where they are called, with the values they are called with.
//!
//! A function that nothing calls is read once at the end, so that rules see its commands. Values reach it only if each
//! of its parameters is plain; a parameter that is bound in another way is unknown.

use std::collections::BTreeMap;

use super::super::collector::{ScriptFunction, TextPlace};
use super::super::cursor::{TextCursor, is_name};
use super::super::value::PowerShellValue;
use super::super::word::{BoundParameters, PowerShellWord};
use super::PowerShellReader;

/// Signs that a parameter is bound in another way than by its name and place.
const ODD_BINDING: &[&str] =
    &["position", "remaining", "alias(", "fromPipeline", "dynamicparam", "parametersetname"];

/// Types and attributes of parameters that leave a value as it is.
const PLAIN_PARAMETERS: &[&str] = &[
    "int",
    "int32",
    "int64",
    "long",
    "object",
    "object[]",
    "parameter",
    "string",
    "string[]",
    "switch",
    "system.management.automation.scriptblock",
    "validatenotnullorempty",
    "validatenotnull",
    "validateset",
];

/// Signs that a function sets variables of its caller.
const REACHING_OUT: &[&str] = &["global:", "script:", "-variable", "[ref]", "-scope"];

/// A parameter of a function.
#[derive(Debug)]
struct FunctionParameter {
    name: String,
    is_switch: bool,
    is_plain: bool,
    default: Option<PowerShellValue>,
}

impl PowerShellReader<'_, '_> {
    /// Keeps the parameters and the block of a function, whose name was read.
    pub(super) fn keep_function(&mut self, name: &str) {
        let start = self.cursor.position();
        let mut trial = self.collector.trial();
        let mut reader = PowerShellReader::at(self.cursor, self.place, &mut trial);
        reader.definition_rest();
        self.cursor = reader.cursor;
        let left = trial.fuel();
        self.collector.end_trial(left);
        let span = self.span(start);
        let text = self.cursor.since(start).to_owned();
        if !self.collector.spend(text.len().saturating_mul(2), span) {
            return;
        }
        let lower = name.to_lowercase();
        let bare = lower.rsplit(':').next().unwrap_or_default().to_owned();
        // What PowerShell finds before a function of the name, and what would be hidden by it.
        if bare.is_empty() || !bare.chars().all(|letter| is_name(letter) || letter == '-') {
            self.collector.lose();
        }
        if super::super::alias::alias_of(&bare).is_some() {
            self.collector.lose();
        }
        self.collector.scope.define_function(&bare, ScriptFunction { text, span, is_called: false });
    }

    /// Reads the functions that nothing called.
    pub(super) fn uncalled_functions(&mut self) {
        while let Some(function) = self.collector.scope.take_uncalled() {
            let place = TextPlace { span: Some(function.span), ..self.place };
            if !self.collector.enter(function.span) {
                return;
            }
            let before = self.collector.scope.take_values();
            PowerShellReader::new(&function.text, place, self.collector).function_body(None);
            self.collector.scope.restore(before);
            self.collector.leave();
        }
    }

    /// Reads what a call of a function runs; `None` if the name is none of a function here.
    pub(super) fn call_function(
        &mut self,
        name: &str,
        index: usize,
        words: &[PowerShellWord],
        is_piped: bool,
        start: usize,
    ) -> Option<PowerShellValue> {
        let function = self.collector.scope.called_function(name)?;
        let span = self.span(start);
        if !self.collector.spend(function.text.len(), span) || !self.collector.enter(span) {
            return Some(PowerShellValue::unknown());
        }
        let place = TextPlace { span: Some(span), owner: Some(index), ..self.place };
        let before = self.collector.scope.values();
        self.collector.scope.forget("_");
        let words = if is_piped { None } else { Some(words) };
        PowerShellReader::new(&function.text, place, self.collector).function_body(words);
        self.collector.scope.restore(before);
        let lower = function.text.to_lowercase();
        if REACHING_OUT.iter().any(|sign| lower.contains(sign)) {
            self.collector.scope.forget_all();
        }
        self.collector.leave();
        Some(PowerShellValue::unknown())
    }

    /// Reads the parameters and the block of a function that is called with words; `None` if nobody knows with what.
    fn function_body(&mut self, words: Option<&[PowerShellWord]>) {
        let start = self.cursor.position();
        self.cursor.skip_trivia();
        let mut parameters = Vec::new();
        if self.cursor.peek() == Some('(') {
            parameters.extend(self.parameter_list());
        }
        self.cursor.skip_trivia();
        if !self.cursor.eat('{') {
            self.opaque(start, "a keyword has no block");
            return;
        }
        parameters.extend(self.parameter_block());
        let lower = self.cursor.rest().to_lowercase();
        let is_odd = ODD_BINDING.iter().any(|sign| lower.contains(&sign.to_lowercase()));
        self.bind(&parameters, words.filter(|_| !is_odd));
        self.statements(Some('}'));
    }

    /// Reads `[CmdletBinding()] param (…)` at the beginning of a block, if it is there.
    fn parameter_block(&mut self) -> Vec<FunctionParameter> {
        let before = self.cursor;
        self.cursor.skip_trivia();
        while self.cursor.peek() == Some('[') {
            self.type_literal();
            self.cursor.skip_trivia();
        }
        let is_block = self.cursor.take_while(is_name).eq_ignore_ascii_case("param");
        self.cursor.skip_trivia();
        if is_block && self.cursor.peek() == Some('(') {
            return self.parameter_list();
        }
        self.cursor = before;
        Vec::new()
    }

    /// Reads `([string]$name = 'default', …)`.
    fn parameter_list(&mut self) -> Vec<FunctionParameter> {
        let start = self.cursor.position();
        let mut parameters = Vec::new();
        let (mut is_switch, mut is_plain) = (false, true);
        self.cursor.bump();
        loop {
            self.cursor.skip_trivia();
            match self.cursor.peek() {
                Some(')') => {
                    self.cursor.bump();
                    return parameters;
                }
                Some(',') => {
                    self.cursor.bump();
                    (is_switch, is_plain) = (false, true);
                }
                Some('[') => {
                    let name = self.type_literal();
                    is_switch |= name.ends_with("switch");
                    is_plain &= PLAIN_PARAMETERS.contains(&name.as_str());
                }
                Some('$') => {
                    let (name, _) = self.variable_name();
                    self.cursor.skip_trivia();
                    let is_given = self.cursor.eat('=');
                    self.cursor.skip_trivia();
                    let default = if is_given { self.item() } else { None };
                    parameters.push(FunctionParameter { name, is_switch, is_plain, default });
                }
                _ => {
                    self.opaque(start, "the parameters are not written as they are read here");
                    return parameters;
                }
            }
        }
    }

    /// Gives parameters the values of a call.
    fn bind(&mut self, parameters: &[FunctionParameter], words: Option<&[PowerShellWord]>) {
        let mut values: BTreeMap<&str, Option<PowerShellValue>> = BTreeMap::new();
        if let Some(words) = words {
            let switches: Vec<&str> =
                parameters.iter().filter(|one| one.is_switch).map(|one| one.name.as_str()).collect();
            let bound = BoundParameters::new(words, &switches);
            let names: Vec<&str> = parameters.iter().map(|one| one.name.as_str()).collect();
            if bound.has_only(&[&names]) {
                let mut positional = bound.positional.iter();
                for parameter in parameters {
                    let given = match bound.named(&parameter.name) {
                        Some(words) => Some(words),
                        None if parameter.is_switch || bound.has(&parameter.name) => None,
                        None => positional.next().map(Vec::as_slice),
                    };
                    let value = match given {
                        Some([word]) => Some(word.value.clone()),
                        Some(words) => {
                            Some(PowerShellValue::List(words.iter().map(|word| word.value.clone()).collect()))
                        }
                        None if parameter.is_switch => None,
                        None => parameter.default.clone(),
                    };
                    values.insert(&parameter.name, value);
                }
            }
        }
        self.collector.scope.forget("args");
        for parameter in parameters {
            let value = values.get(parameter.name.as_str()).cloned().flatten().filter(|_| parameter.is_plain);
            self.collector.scope.bind(&parameter.name, value);
        }
    }
}

/// Returns every variable that a text sets by a sign, with how often it does and in how many loops it counts.
pub(super) fn assigned_variables(text: &str) -> BTreeMap<String, (usize, usize)> {
    let mut counts = BTreeMap::<String, (usize, usize)>::new();
    for piece in text.split('$').skip(1) {
        let piece = piece.strip_prefix('{').unwrap_or(piece);
        let end = piece.find(|letter| !is_name(letter) && letter != ':').unwrap_or(piece.len());
        let (name, rest) = piece.split_at_checked(end).unwrap_or((piece, ""));
        let rest = rest.trim_start_matches('}').trim_start();
        let signs = ["+=", "-=", "*=", "/=", "%=", "++", "--", "??="];
        let is_assigned = rest.starts_with('=') || signs.iter().any(|sign| rest.starts_with(sign));
        let is_counted = rest
            .get(..3)
            .is_some_and(|word| word.eq_ignore_ascii_case("in ") || word.eq_ignore_ascii_case("in("));
        let count = counts.entry(super::text::variable_key(name)).or_default();
        count.0 += usize::from(is_assigned);
        count.1 += usize::from(is_counted);
    }
    counts
}

/// Says whether a text changes a table or list in place: what was put into a variable at first says nothing then.
pub(super) fn changes_in_place(text: &str) -> bool {
    const CHANGERS: &[&str] =
        &[".add(", ".remove(", ".clear(", ".insert(", ".set_item(", "add-member", ".reverse(", ".sort("];
    let lower = text.to_lowercase();
    if CHANGERS.iter().any(|changer| lower.contains(changer)) {
        return true;
    }
    let mut cursor = TextCursor::new(&lower);
    while let Some(letter) = cursor.bump() {
        let is_place = match letter {
            ']' => true,
            '.' => !cursor.take_while(is_name).is_empty(),
            _ => false,
        };
        if is_place {
            let mut ahead = cursor;
            ahead.skip_blanks();
            let is_sum = ["+=", "-=", "*=", "/=", "??="].iter().any(|sign| ahead.starts_with(sign));
            if is_sum || ahead.peek() == Some('=') {
                return true;
            }
        }
    }
    false
}
