//! The simple commands of a script in order of appearance, each before those nested in its words.

use portcullis_shell::ast::{
    Assignment, AssignmentValue, Command, CommandKind, List, RedirectTarget, SimpleCommand, Word, WordPart,
};
use portcullis_shell::{ParsedScript, nested_lists};

/// Returns every simple command of the script.
pub(crate) fn simple_commands(script: &ParsedScript) -> Vec<&SimpleCommand> {
    let mut found = Vec::new();
    list(&script.body, &mut found);
    found
}

/// Returns the words' texts of every simple command that has words.
pub(crate) fn argument_lists(script: &ParsedScript) -> Vec<Vec<&str>> {
    simple_commands(script)
        .into_iter()
        .filter(|simple| !simple.words.is_empty())
        .map(|simple| simple.words.iter().map(|word| word.text.as_str()).collect())
        .collect()
}

fn list<'a>(list: &'a List, found: &mut Vec<&'a SimpleCommand>) {
    for item in &list.items {
        for (_, pipeline) in &item.pipelines {
            for stage in &pipeline.stages {
                command(stage, found);
            }
        }
    }
}

fn command<'a>(subject: &'a Command, found: &mut Vec<&'a SimpleCommand>) {
    match &subject.kind {
        CommandKind::Simple(simple) => {
            found.push(simple);
            for one in &simple.assignments {
                assignment(one, found);
            }
            words(&simple.words, found);
        }
        CommandKind::Subshell(body) | CommandKind::Group(body) => list(body, found),
        CommandKind::If { branches, otherwise } => {
            for (condition, body) in branches {
                list(condition, found);
                list(body, found);
            }
            if let Some(body) = otherwise {
                list(body, found);
            }
        }
        CommandKind::Loop { condition, body } => {
            list(condition, found);
            list(body, found);
        }
        CommandKind::For { words: values, body, .. } => {
            words(values.as_deref().unwrap_or_default(), found);
            list(body, found);
        }
        CommandKind::ArithmeticFor { header, body } => {
            parts(header, found);
            list(body, found);
        }
        CommandKind::Case { subject, arms } => {
            parts(&subject.parts, found);
            for arm in arms {
                words(&arm.patterns, found);
                list(&arm.body, found);
            }
        }
        CommandKind::Function { body, .. } | CommandKind::Coprocess { body, .. } => command(body, found),
        CommandKind::Conditional(values) => words(values, found),
        CommandKind::Arithmetic(text) => parts(text, found),
        CommandKind::Opaque => {}
    }
    for redirect in &subject.redirects {
        match &redirect.target {
            RedirectTarget::Word(word) => parts(&word.parts, found),
            RedirectTarget::Heredoc(heredoc) => parts(&heredoc.parts, found),
        }
    }
}

fn assignment<'a>(subject: &'a Assignment, found: &mut Vec<&'a SimpleCommand>) {
    parts(&subject.subscript, found);
    match &subject.value {
        AssignmentValue::Word(word) => parts(&word.parts, found),
        AssignmentValue::Array(elements) => words(elements, found),
    }
}

fn words<'a>(subject: &'a [Word], found: &mut Vec<&'a SimpleCommand>) {
    for word in subject {
        parts(&word.parts, found);
    }
}

fn parts<'a>(subject: &'a [WordPart], found: &mut Vec<&'a SimpleCommand>) {
    nested_lists(subject, &mut |body| list(body, found));
}
