//! Redirections.

use crate::TokenKind;
use crate::ast::{Descriptor, Redirect, RedirectOperator, RedirectTarget, Word};
use crate::cursor::Parser;
use crate::pieces::{WordPieces, WordRole};

/// The operators, longer ones before those they begin with.
const OPERATORS: [(&str, RedirectOperator); 12] = [
    ("<<<", RedirectOperator::HereString),
    ("<<-", RedirectOperator::Heredoc),
    ("&>>", RedirectOperator::AppendBoth),
    ("<<", RedirectOperator::Heredoc),
    (">>", RedirectOperator::Append),
    (">|", RedirectOperator::Clobber),
    ("<>", RedirectOperator::ReadWrite),
    ("&>", RedirectOperator::OutputBoth),
    ("<&", RedirectOperator::DuplicateInput),
    (">&", RedirectOperator::DuplicateOutput),
    ("<", RedirectOperator::Input),
    (">", RedirectOperator::Output),
];

impl Parser<'_> {
    /// Says whether a redirection without a descriptor comes next.
    pub(crate) fn at_redirect(&mut self) -> bool {
        match self.peek() {
            Some(b'<' | b'>') => self.peek_at(1) != Some(b'('),
            Some(b'&') => self.peek_at(1) == Some(b'>'),
            _ => false,
        }
    }

    /// A redirection, if one comes next.
    pub(crate) fn opt_redirect(&mut self) -> Option<Redirect> {
        let start = self.here();
        let descriptor = self.opt_descriptor();
        if !self.at_redirect() {
            return None;
        }
        let (text, operator) = OPERATORS.into_iter().find(|(text, _)| self.looking_at(text.as_bytes()))?;
        self.operator(text.len());
        self.skip_space();
        let (operator, target) = match operator {
            RedirectOperator::Heredoc => (operator, self.heredoc_start(text == "<<-")),
            RedirectOperator::DuplicateInput | RedirectOperator::DuplicateOutput
                if self.peek() == Some(b'-') =>
            {
                (operator, RedirectTarget::Word(self.closing_dash()))
            }
            _ => {
                self.refuse_descriptor(operator);
                let word = self.required_word();
                (settle(operator, &word), RedirectTarget::Word(word))
            }
        };
        let span = self.source.span(start, self.pos);
        Some(Redirect { span, descriptor, operator, target })
    }

    /// A number or `{name}` directly before a redirection operator.
    fn opt_descriptor(&mut self) -> Option<Descriptor> {
        let start = self.here();
        let braced = self.raw(start) == Some(b'{');
        if !braced && !self.raw(start).is_some_and(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let (text, end) = self.descriptor_text(start + usize::from(braced));
        let operator = if braced { self.past_brace(end)? } else { end };
        let after = self.after_continuations(operator + 1);
        let is_process = self.raw(after) == Some(b'(');
        if !matches!(self.raw(operator), Some(b'<' | b'>')) || is_process {
            return None;
        }
        let descriptor = self.descriptor(start, text, braced)?;
        self.advance_to(operator);
        self.flush(TokenKind::Operator);
        Some(descriptor)
    }

    /// Returns what `text`, found in braces or not, names.
    fn descriptor(&mut self, start: usize, text: String, braced: bool) -> Option<Descriptor> {
        let begins_with_digit = text.starts_with(|character: char| character.is_ascii_digit());
        if braced {
            return (!text.is_empty() && !begins_with_digit).then_some(Descriptor::Variable(text));
        }
        if !text.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let number = text.parse().ok();
        if number.is_none() {
            self.fail(start, "the number of a file descriptor is too large");
        }
        number.map(Descriptor::Number)
    }

    /// Returns the letters and digits from `from` on, and where they end, line continuations skipped.
    fn descriptor_text(&mut self, from: usize) -> (String, usize) {
        let mut text = String::new();
        let mut index = self.after_continuations(from);
        while let Some(byte) = self.raw(index).filter(|byte| byte.is_ascii_alphanumeric() || *byte == b'_') {
            self.charge(1);
            text.push(char::from(byte));
            index = self.after_continuations(index + 1);
        }
        (text, index)
    }

    fn past_brace(&mut self, index: usize) -> Option<usize> {
        (self.raw(index) == Some(b'}')).then(|| self.after_continuations(index + 1))
    }

    /// Fails where a target is read as the descriptor of another redirection, as in `>2>file`.
    pub(crate) fn refuse_descriptor(&mut self, operator: RedirectOperator) {
        let start = self.here();
        let number_fits =
            matches!(operator, RedirectOperator::DuplicateInput | RedirectOperator::DuplicateOutput);
        if number_fits && self.raw(start).is_some_and(|byte| byte.is_ascii_digit()) {
            return;
        }
        if self.opt_descriptor().is_some() {
            self.fail(start, "a redirection whose target is another one's descriptor");
        }
    }

    /// The `-` of `>&-`, complete by itself: what follows is the next word.
    fn closing_dash(&mut self) -> Word {
        let start = self.here();
        let mut pieces = WordPieces::default();
        self.literal_bytes(&mut pieces, 1);
        self.flush(TokenKind::Word);
        pieces.into_word(self.source.span(start, self.pos), WordRole::Argument)
    }
}

/// Tells `>&2` from `>&file`.
fn settle(operator: RedirectOperator, target: &Word) -> RedirectOperator {
    if operator != RedirectOperator::DuplicateOutput {
        return operator;
    }
    let digits = target.text.strip_suffix('-').unwrap_or(&target.text);
    let is_descriptor = target.fixed().is_some() && digits.bytes().all(|byte| byte.is_ascii_digit());
    if is_descriptor { RedirectOperator::DuplicateOutput } else { RedirectOperator::OutputBoth }
}
