//! What a pipeline stage writes to the next one, where that can be told.

use portcullis_shell::ast::{
    Command, CommandKind, Descriptor, RedirectOperator, RedirectTarget, SimpleCommand, Word,
};

/// What arrives on a command's standard input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Feed {
    /// Nothing the command line says.
    Nothing,
    /// Exactly this text.
    Text(String),
    /// This text, with parts in source form that are only known at run time.
    Partly(String),
    /// Something only known at run time.
    Unknown,
}

impl Feed {
    /// Returns what arrives if it may be this or another text: both count.
    pub(crate) fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Nothing, only) | (only, Self::Nothing) => only,
            (Self::Text(first), Self::Text(second)) => Self::Text(appended(first, &second)),
            (Self::Unknown, Self::Unknown) => Self::Unknown,
            (Self::Unknown, Self::Text(text) | Self::Partly(text))
            | (Self::Text(text) | Self::Partly(text), Self::Unknown) => Self::Partly(text),
            (Self::Partly(first), Self::Text(second) | Self::Partly(second))
            | (Self::Text(first), Self::Partly(second)) => Self::Partly(appended(first, &second)),
        }
    }
}

/// Adds a line, in the place of the first text so that many cost no more than their length.
fn appended(mut first: String, second: &str) -> String {
    first.push('\n');
    first.push_str(second);
    first
}

/// Returns what a stage writes: the here-document of a `cat`, the words of an `echo` or `printf`.
pub(crate) fn output_of(stage: &Command) -> Feed {
    let CommandKind::Simple(simple) = &stage.kind else {
        return Feed::Unknown;
    };
    let Some((program, operands)) = simple.words.split_first() else {
        return Feed::Unknown;
    };
    match program.fixed() {
        Some("cat") if operands.iter().all(|word| word.text == "-") => here_text(stage),
        Some("echo") => echoed(operands),
        Some("printf") => printed(simple),
        _ => Feed::Unknown,
    }
}

fn here_text(stage: &Command) -> Feed {
    let mut texts = stage.redirects.iter().filter_map(|redirect| match &redirect.target {
        _ if !matches!(redirect.descriptor, None | Some(Descriptor::Number(0))) => {
            is_input(redirect.operator).then_some(Feed::Unknown)
        }
        RedirectTarget::Heredoc(heredoc) if heredoc.quoted => Some(Feed::Text(heredoc.text.clone())),
        RedirectTarget::Heredoc(heredoc) => Some(Feed::Partly(heredoc.text.clone())),
        RedirectTarget::Word(_) => is_input(redirect.operator).then_some(Feed::Unknown),
    });
    let first = texts.next().unwrap_or(Feed::Unknown);
    texts.fold(first, Feed::and)
}

/// Says whether a redirection replaces what a command reads.
pub(crate) fn is_input(operator: RedirectOperator) -> bool {
    matches!(
        operator,
        RedirectOperator::Input
            | RedirectOperator::ReadWrite
            | RedirectOperator::DuplicateInput
            | RedirectOperator::HereString
            | RedirectOperator::Heredoc
    )
}

fn echoed(operands: &[Word]) -> Feed {
    let is_option = |word: &&Word| {
        word.text.len() > 1
            && word.text.starts_with('-')
            && word.text.chars().skip(1).all(|c| "neE".contains(c))
    };
    let words: Vec<&Word> = operands.iter().skip_while(is_option).collect();
    let text = crate::invocation::join(words.iter().map(|word| word.text.as_str()));
    let is_plain = words.iter().all(|word| word.fixed().is_some_and(|text| !text.contains('\\')));
    if is_plain { Feed::Text(text) } else { Feed::Partly(text) }
}

/// A `printf` whose format holds no conversion but `%s` at its end, and no escape but `\n`.
fn printed(simple: &SimpleCommand) -> Feed {
    let words: Vec<&str> = simple.words.iter().skip(1).map(|word| word.text.as_str()).collect();
    let Some((format, values)) = words.split_first().filter(|(format, _)| !format.starts_with('-')) else {
        return Feed::Unknown;
    };
    let literal = format.replace("\\n", "\n");
    let joined = crate::invocation::join(values.iter().copied());
    let text = literal.replace("%s", &joined);
    let is_fixed = simple.words.iter().all(|word| word.fixed().is_some());
    let places = literal.matches("%s").count();
    let is_plain = !literal.contains('\\') && literal.matches('%').count() == places && places < 2;
    match (is_fixed && is_plain, values.len()) {
        (true, 0 | 1) => Feed::Text(text),
        _ => Feed::Partly(text),
    }
}
