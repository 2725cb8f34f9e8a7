//! Which variables of a shell text are set in one place only, so that their value can be followed.
//!
//! A variable that two places set, or that `read`, `eval` or arithmetic may set, has no value that could be followed.

use std::collections::{BTreeMap, BTreeSet};

use portcullis_shell::ParsedScript;
use portcullis_shell::ast::{
    AssignmentValue, Command, CommandKind, Descriptor, List, RedirectTarget, SimpleCommand, Word, WordPart,
};

use super::calculation::set_by;
use super::lasting::LineFacts;
use crate::lists::programs::shells::OF_SHELL;

/// The variables a text names, and how.
#[derive(Debug, Default)]
pub(super) struct VariableNames {
    /// Where each is set.
    set: BTreeMap<String, SettingPlaces>,
    /// Whether a function is being read.
    is_in_function: bool,
    /// Those that stand in words as text, which arithmetic may evaluate.
    mentioned: BTreeSet<String>,
    /// Whether anything is evaluated as arithmetic.
    evaluates: bool,
}

/// How many places set a variable.
#[derive(Debug, Default, Clone, Copy)]
struct SettingPlaces {
    /// Those that give it a whole value: `x=a`, `for x in`, `read x`.
    plain: usize,
    /// Those of them that give it the result of a calculation.
    calculated: usize,
    /// Others: `x+=a`, `${x:=a}`, `make x=a`.
    other: usize,
    is_in_function: bool,
}

/// Declarations that only give a value.
pub(super) const DECLARING: &[&str] = &["export", "local", "readonly"];

/// Operators of `[[ … ]]` that evaluate what stands beside them as a number, or as the name of a variable.
pub(super) const CALCULATING: &[&str] = &["-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-v", "-R"];

/// Says whether a letter may stand in a variable's name.
pub(super) fn is_name(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || letter == '_'
}

/// Returns the name at the start of a text shaped like an assignment.
pub(super) fn assigned_name(text: &str) -> Option<&str> {
    let (before, _) = text.split_once('=')?;
    let name = before.strip_suffix('+').unwrap_or(before);
    let is_whole = !name.is_empty() && name.chars().all(is_name);
    (is_whole && !name.starts_with(|letter: char| letter.is_ascii_digit())).then_some(name)
}

impl VariableNames {
    /// Finds the names in a script.
    pub(super) fn of(script: &ParsedScript, text: &str) -> Self {
        let mut names = Self::default();
        names.list(&script.body, text);
        names
    }

    /// Finds the names in a part of a script.
    pub(super) fn of_list(list: &List, text: &str) -> Self {
        let mut names = Self::default();
        names.list(list, text);
        names
    }

    /// Returns the variables that are followed, and those of them that several places set.
    pub(super) fn settled(&self, facts: &LineFacts) -> (BTreeSet<String>, BTreeSet<String>) {
        let is_open = self.evaluates || facts.is_evaluated;
        let is_followed = |name: &str, places: &SettingPlaces| {
            let is_plain = places.other == 0 && places.plain > 0;
            let is_in_order = places.plain == 1 || !places.is_in_function || !facts.has_open_function;
            let is_own = !OF_SHELL.contains(&name) && !name.starts_with("BASH");
            is_plain && is_in_order && is_own && (!is_open || !self.mentioned.contains(name))
        };
        let followed = self.set.iter().filter(|(name, places)| is_followed(name, places));
        let changing = followed.clone().filter(|(_, places)| places.plain > 1).map(|(name, _)| name.clone());
        (followed.clone().map(|(name, _)| name.clone()).collect(), changing.collect())
    }

    /// Returns the names that only calculations set.
    pub(super) fn calculated(&self) -> impl Iterator<Item = &str> {
        let is_calculated = |places: &SettingPlaces| places.other == 0 && places.calculated == places.plain;
        self.set.iter().filter(move |(_, places)| is_calculated(places)).map(|(name, _)| name.as_str())
    }

    /// Returns every name that is set or mentioned.
    pub(super) fn all(&self) -> impl Iterator<Item = &str> {
        self.set.keys().chain(&self.mentioned).map(String::as_str)
    }

    /// Says whether anything is evaluated as arithmetic.
    pub(super) fn evaluates(&self) -> bool {
        self.evaluates
    }

    /// Returns every name that the text may set.
    pub(super) fn into_all(self) -> impl Iterator<Item = String> {
        self.set.into_keys().chain(self.mentioned)
    }

    /// Notes a place that gives a variable a whole value.
    fn sets(&mut self, name: &str) {
        let places = self.set.entry(name.to_owned()).or_default();
        places.plain += 1;
        places.is_in_function |= self.is_in_function;
    }

    /// Notes what `((…))` names and sets.
    fn calculation(&mut self, written: &str) {
        self.evaluates = true;
        match inside_of(written).and_then(set_by) {
            Some(names) => names.into_iter().for_each(|name| self.calculates(name)),
            None => self.mention(written),
        }
    }

    /// Notes a calculation that sets a variable.
    fn calculates(&mut self, name: &str) {
        self.sets(name);
        if let Some(places) = self.set.get_mut(name) {
            places.calculated += 1;
        }
    }

    /// Notes a place that sets a variable in another way.
    fn changes(&mut self, name: &str) {
        self.set.entry(name.to_owned()).or_default().other += 1;
    }

    /// Notes the names in a text that stand there other than to use their value.
    fn mention(&mut self, text: &str) {
        let mut before = ("", "");
        for piece in text.split_inclusive(|letter| !is_name(letter)) {
            let name = piece.trim_end_matches(|letter| !is_name(letter));
            let after = piece.strip_prefix(name).unwrap_or_default();
            let is_used = before.1 == "$" || (before == ("$", "{") && after == "}");
            if !is_used && !name.is_empty() && !name.starts_with(|letter: char| letter.is_ascii_digit()) {
                self.mentioned.insert(name.to_owned());
            }
            before = (if name.is_empty() { before.1 } else { "" }, after);
        }
    }

    fn list(&mut self, list: &List, text: &str) {
        for (_, pipeline) in list.items.iter().flat_map(|item| &item.pipelines) {
            for stage in &pipeline.stages {
                self.command(stage, text);
            }
        }
    }

    fn command(&mut self, command: &Command, text: &str) {
        for redirect in &command.redirects {
            if let Some(Descriptor::Variable(name)) = &redirect.descriptor {
                self.changes(name);
            }
            match &redirect.target {
                RedirectTarget::Word(word) => self.word(word, text),
                RedirectTarget::Heredoc(heredoc) => {
                    self.mention(&heredoc.text);
                    self.parts(&heredoc.parts, text);
                }
            }
        }
        match &command.kind {
            CommandKind::Simple(simple) => self.simple(simple, text),
            CommandKind::Subshell(body) | CommandKind::Group(body) => self.list(body, text),
            CommandKind::If { branches, otherwise } => {
                for list in branches.iter().flat_map(|(condition, body)| [condition, body]).chain(otherwise) {
                    self.list(list, text);
                }
            }
            CommandKind::Loop { condition, body } => {
                self.list(condition, text);
                self.list(body, text);
            }
            CommandKind::For { variable, words, body } => {
                self.sets(variable);
                self.words(words.iter().flatten(), text);
                self.list(body, text);
            }
            CommandKind::ArithmeticFor { header, body } => {
                self.evaluates = true;
                self.mention(command.span.of(text));
                self.parts(header, text);
                self.list(body, text);
            }
            CommandKind::Case { subject, arms } => {
                self.word(subject, text);
                for arm in arms {
                    self.words(arm.patterns.iter(), text);
                    self.list(&arm.body, text);
                }
            }
            CommandKind::Function { body, .. } => self.function(body, text),
            CommandKind::Conditional(words) => {
                self.evaluates |= words.iter().any(|word| CALCULATING.contains(&word.text.as_str()));
                self.words(words.iter(), text);
            }
            CommandKind::Arithmetic(parts) => {
                self.calculation(command.span.of(text));
                self.parts(parts, text);
            }
            CommandKind::Coprocess { name, body } => {
                self.changes(name.as_deref().unwrap_or("COPROC"));
                self.command(body, text);
            }
            CommandKind::Opaque => self.mention(command.span.of(text)),
        }
    }

    fn function(&mut self, body: &Command, text: &str) {
        let outer = std::mem::replace(&mut self.is_in_function, true);
        self.command(body, text);
        self.is_in_function = outer;
    }

    fn simple(&mut self, simple: &SimpleCommand, text: &str) {
        for assignment in &simple.assignments {
            self.sets(&assignment.name);
            if is_calculated(&assignment.value)
                && let Some(places) = self.set.get_mut(&assignment.name)
            {
                places.calculated += 1;
            }
            // Parts of the value are all the same: neither an element nor an addition is the whole of it.
            if !assignment.span.of(text).starts_with(&format!("{}=", assignment.name)) {
                self.changes(&assignment.name);
                self.evaluates = true;
            }
            self.parts(&assignment.subscript, text);
            match &assignment.value {
                AssignmentValue::Word(word) => self.word(word, text),
                AssignmentValue::Array(words) => {
                    self.evaluates |= words.iter().any(|word| word.text.starts_with('['));
                    self.words(words.iter(), text);
                }
            }
        }
        let program = simple.words.first().and_then(Word::fixed).unwrap_or_default();
        let is_declaration = DECLARING.contains(&program);
        for name in simple.words.iter().skip(1).filter_map(|word| assigned_name(&word.text)) {
            if is_declaration {
                self.sets(name);
            } else {
                self.changes(name);
            }
        }
        if matches!(program, "read" | "mapfile" | "readarray") && names_read(&simple.words).is_none() {
            for word in simple.words.iter().skip(1) {
                self.changes(&word.text);
            }
        }
        if let Some(names) = names_read(&simple.words) {
            for name in names {
                self.sets(name);
            }
            return self.words(simple.words.iter().take(1), text);
        }
        self.words(simple.words.iter(), text);
    }

    fn words<'w>(&mut self, words: impl Iterator<Item = &'w Word>, text: &str) {
        for word in words {
            self.word(word, text);
        }
    }

    fn word(&mut self, word: &Word, text: &str) {
        let mut written = String::with_capacity(word.text.len());
        append_literals(&word.parts, &mut written);
        self.mention(&written);
        self.parts(&word.parts, text);
    }

    fn parts(&mut self, parts: &[WordPart], text: &str) {
        for part in parts {
            match part {
                WordPart::Literal { .. }
                | WordPart::Escaped { .. }
                | WordPart::Single { .. }
                | WordPart::AnsiC { .. }
                | WordPart::Glob { .. } => {}
                WordPart::Double { parts, .. } => self.parts(parts, text),
                WordPart::Parameter { plain: true, .. } => {}
                WordPart::Parameter { span, name, parts, .. } => {
                    let written = span.of(text);
                    if evaluates(written, name) {
                        self.evaluates = true;
                        self.mention(written);
                    }
                    if written.contains('=') {
                        self.changes(name);
                        self.mention(written);
                    }
                    self.parts(parts, text);
                }
                WordPart::Arithmetic { span, parts } => {
                    self.evaluates = true;
                    // What a calculation only reads it does not set.
                    let written = span.of(text);
                    if written.contains(['=', '[']) || written.contains("++") || written.contains("--") {
                        self.mention(written);
                    }
                    self.parts(parts, text);
                }
                WordPart::Command { body, .. } | WordPart::Process { body, .. } => self.list(body, text),
            }
        }
    }
}

/// Returns what stands between the brackets of `((…))`.
pub(super) fn inside_of(calculation: &str) -> Option<&str> {
    calculation.trim().strip_prefix("((")?.strip_suffix("))")
}

/// Says whether a value is nothing but a calculation.
fn is_calculated(value: &AssignmentValue) -> bool {
    matches!(value, AssignmentValue::Word(word) if matches!(word.parts.as_slice(), [WordPart::Arithmetic { .. }]))
}

/// Appends what the parts of a word say literally; what is expanded stands between.
fn append_literals(parts: &[WordPart], text: &mut String) {
    for part in parts {
        match part {
            WordPart::Literal { text: literal, .. }
            | WordPart::Escaped { text: literal, .. }
            | WordPart::Single { text: literal, .. }
            | WordPart::AnsiC { text: literal, .. }
            | WordPart::Glob { text: literal, .. } => text.push_str(literal),
            WordPart::Double { parts, .. } => append_literals(parts, text),
            WordPart::Parameter { .. }
            | WordPart::Command { .. }
            | WordPart::Process { .. }
            | WordPart::Arithmetic { .. } => text.push(' '),
        }
    }
}

/// Says whether an expansion evaluates something: a subscript, an offset, another variable's name.
fn evaluates(written: &str, name: &str) -> bool {
    let inside = written.trim_start_matches("${").trim_end_matches('}');
    let inside = inside.strip_prefix('#').unwrap_or(inside);
    let Some(rest) = inside.strip_prefix(name) else { return true };
    let rest = match rest.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((subscript, rest))
            if matches!(subscript, "@" | "*") || subscript.chars().all(|letter| letter.is_ascii_digit()) =>
        {
            rest
        }
        Some(_) => return true,
        None => rest,
    };
    match rest.strip_prefix(':') {
        Some(after) => {
            let is_offset = after.chars().all(|letter| letter.is_ascii_digit() || letter == ':');
            !after.starts_with(['-', '=', '+', '?']) && !is_offset
        }
        None => rest.starts_with(['@', '[']),
    }
}

/// Returns the variables that a plain `read` or `mapfile` sets; `None` for any other command.
pub(super) fn names_read(words: &[Word]) -> Option<Vec<&str>> {
    let (program, operands) = words.split_first()?;
    let (flags, valued) = match program.fixed()? {
        "read" => ("rs", "dnptu"),
        "mapfile" | "readarray" => ("t", "dnOsu"),
        _ => return None,
    };
    let mut names = Vec::new();
    let mut rest = operands.iter();
    while let Some(word) = rest.next() {
        let text = word.fixed()?;
        let Some(letters) = text.strip_prefix('-').filter(|_| names.is_empty()) else {
            let is_whole = !text.is_empty() && text.chars().all(is_name);
            names.push(
                Some(text).filter(|_| is_whole && !text.starts_with(|first: char| first.is_ascii_digit()))?,
            );
            continue;
        };
        let plain = letters.trim_start_matches(|letter| flags.contains(letter));
        if let Some(letter) = plain.chars().next() {
            let is_valued = valued.contains(letter);
            if !is_valued {
                return None;
            }
            if plain.len() == 1 {
                rest.next();
            }
        }
    }
    (!names.is_empty()).then_some(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settled(text: &str) -> Vec<String> {
        let names = VariableNames::of(&portcullis_shell::parse(text), text);
        names.settled(&LineFacts::default()).0.into_iter().collect()
    }

    #[test]
    fn a_variable_is_followed_if_every_place_gives_it_a_whole_value() {
        for (text, expected) in [
            ("x=1", &["x"] as &[&str]),
            ("x=1; echo $x ${x} \"$x\"", &["x"]),
            ("x=1; x=2", &["x"]),
            ("x=1; echo $(x=2)", &["x"]),
            ("x=1; f() { x=2; }", &["x"]),
            ("x=1; export x=2", &["x"]),
            ("x=1; make x=2", &[]),
            ("x=1; read -r x", &["x"]),
            ("x=1; read -a x", &[]),
            ("x=1; : ${x:=2}", &[]),
            ("x=1; : ${x=2}", &[]),
            ("x=1; exec {x}> f", &[]),
            ("x=1; x+=2", &[]),
            ("x+=1", &[]),
            ("x[0]=1", &[]),
            ("x=1; (( x++ ))", &["x"]),
            ("x=1; (( a[x]++ ))", &[]),
            ("x=1; echo $((x+=1))", &[]),
            ("x=1; y='x=2'; (( y ))", &["y"]),
            ("x=1; y=x=2; [[ y -eq 2 ]]", &[]),
            ("x=1; echo 'the x'; [[ ! -s f ]]", &["x"]),
            ("x=1; echo 'the x'; [[ -v y ]]", &[]),
            ("x=1; for ((x=0; x<2; x++)); do :; done", &[]),
            ("x=1; for x in a; do :; done", &["x"]),
            ("x=1; coproc x { ls; }", &[]),
            ("x=1; echo x", &["x"]),
            ("PATH=1; IFS=2; BASH_ENV=3", &[]),
        ] {
            assert_eq!(settled(text), expected, "{text}");
        }
    }
}
