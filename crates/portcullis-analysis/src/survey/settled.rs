//! Which variables of a shell text are set in one place only, so that their value can be followed.
//!
//! A variable that two places set, or that `read`, `eval` or arithmetic may set, has no value that could be followed.

use std::collections::{BTreeMap, BTreeSet};

use portcullis_shell::ParsedScript;
use portcullis_shell::ast::{
    AssignmentValue, Command, CommandKind, Descriptor, List, RedirectTarget, SimpleCommand, Word, WordPart,
};

use crate::lists::shells::OF_SHELL;

/// The variables a text names, and how.
#[derive(Debug, Default)]
pub(super) struct VariableNames {
    /// How many places set each.
    set: BTreeMap<String, usize>,
    /// Those that stand in words as text, which arithmetic may evaluate.
    mentioned: BTreeSet<String>,
    /// Whether anything is evaluated as arithmetic.
    evaluates: bool,
}

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

    /// Returns the variables that one place sets and nothing else can.
    pub(super) fn settled(&self, is_evaluated: bool) -> BTreeSet<String> {
        let is_open = self.evaluates || is_evaluated;
        let once = self.set.iter().filter(|(_, places)| **places == 1).map(|(name, _)| name);
        once.filter(|name| !OF_SHELL.contains(&name.as_str()) && !name.starts_with("BASH"))
            .filter(|name| !is_open || !self.mentioned.contains(*name))
            .cloned()
            .collect()
    }

    /// Says whether anything is evaluated as arithmetic.
    pub(super) fn evaluates(&self) -> bool {
        self.evaluates
    }

    /// Returns every name that the text may set.
    pub(super) fn into_all(self) -> impl Iterator<Item = String> {
        self.set.into_keys().chain(self.mentioned)
    }

    fn sets(&mut self, name: &str) {
        *self.set.entry(name.to_owned()).or_default() += 1;
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
                self.sets(name);
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
            CommandKind::Function { body, .. } => self.command(body, text),
            CommandKind::Conditional(words) => {
                self.evaluates = true;
                self.words(words.iter(), text);
            }
            CommandKind::Arithmetic(parts) => {
                self.evaluates = true;
                self.mention(command.span.of(text));
                self.parts(parts, text);
            }
            CommandKind::Coprocess { name, body } => {
                self.sets(name.as_deref().unwrap_or("COPROC"));
                self.command(body, text);
            }
            CommandKind::Opaque => self.mention(command.span.of(text)),
        }
    }

    fn simple(&mut self, simple: &SimpleCommand, text: &str) {
        for assignment in &simple.assignments {
            self.sets(&assignment.name);
            // Parts of the value are all the same: neither an element nor an addition is the whole of it.
            if !assignment.span.of(text).starts_with(&format!("{}=", assignment.name)) {
                self.sets(&assignment.name);
                self.evaluates = true;
            }
            self.parts(&assignment.subscript, text);
            match &assignment.value {
                AssignmentValue::Word(word) => self.word(word, text),
                AssignmentValue::Array(words) => {
                    self.evaluates = true;
                    self.words(words.iter(), text);
                }
            }
        }
        let assigned = simple.words.iter().skip(1).filter_map(|word| assigned_name(&word.text));
        for name in assigned {
            self.sets(name);
        }
        self.words(simple.words.iter(), text);
    }

    fn words<'w>(&mut self, words: impl Iterator<Item = &'w Word>, text: &str) {
        for word in words {
            self.word(word, text);
        }
    }

    fn word(&mut self, word: &Word, text: &str) {
        self.mention(&word.text);
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
                    self.evaluates |= written.contains(['[', ':', '!', '@', '=']);
                    if written.contains('=') {
                        self.sets(name);
                        self.mention(written);
                    }
                    self.parts(parts, text);
                }
                WordPart::Arithmetic { span, parts } => {
                    self.evaluates = true;
                    self.mention(span.of(text));
                    self.parts(parts, text);
                }
                WordPart::Command { body, .. } | WordPart::Process { body, .. } => self.list(body, text),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settled(text: &str) -> Vec<String> {
        VariableNames::of(&portcullis_shell::parse(text), text).settled(false).into_iter().collect()
    }

    #[test]
    fn a_variable_is_settled_if_one_place_sets_it() {
        for (text, expected) in [
            ("x=1", &["x"] as &[&str]),
            ("x=1; echo $x ${x} \"$x\"", &["x"]),
            ("x=1; x=2", &[]),
            ("x=1; echo $(x=2)", &[]),
            ("x=1; f() { x=2; }", &[]),
            ("x=1; export x=2", &[]),
            ("x=1; : ${x:=2}", &[]),
            ("x=1; : ${x=2}", &[]),
            ("x=1; exec {x}> f", &[]),
            ("x=1; x+=2", &[]),
            ("x+=1", &[]),
            ("x[0]=1", &[]),
            ("x=1; (( x++ ))", &[]),
            ("x=1; echo $((x+=1))", &[]),
            ("x=1; y='x=2'; (( y ))", &[]),
            ("x=1; y=x=2; [[ y -eq 2 ]]", &[]),
            ("x=1; for ((x=0; x<2; x++)); do :; done", &[]),
            ("x=1; for x in a; do :; done", &[]),
            ("x=1; coproc x { ls; }", &[]),
            ("x=1; echo x", &["x"]),
            ("PATH=1; IFS=2; BASH_ENV=3", &[]),
        ] {
            assert_eq!(settled(text), expected, "{text}");
        }
    }
}
