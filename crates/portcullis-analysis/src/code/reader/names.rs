//! Names that stand alone: calls without brackets, and names that nothing gives a meaning.

use super::CodeReader;
use super::chain::{Chain, ChainStep, GroupSpan};
use super::value::CodeValue;
use crate::code::Language;
use crate::code::tree::CodeItem;

impl CodeReader<'_> {
    /// A name that neither the program nor a library gives a meaning is no program that was meant to be one.
    pub(super) fn read_stray_name(&mut self, chain: &Chain, values: &[CodeValue]) {
        let is_closed = matches!(self.profile().language, Language::Python | Language::JavaScript);
        if let [CodeValue::Named(name)] = values
            && is_closed
            && chain.steps.is_empty()
            && !self.is_declared(chain)
            && !name.starts_with('_')
            && !self.knows_root(name)
            && !self.evaluator.scope.bounds.contains_key(name)
        {
            self.gap(format!("names `{}`, which is not known", shown(name)));
        }
    }

    /// Says whether a name is declared where it stands: `name: type` of Python, `get name() {…}` of JavaScript.
    fn is_declared(&self, chain: &Chain) -> bool {
        let GroupSpan { group, start, end } = chain.span;
        let next = self.cutter().tree.item(group, end);
        let is_word =
            |word: &str| self.cutter().tree.item(group, start).is_some_and(|item| item.is_name(word));
        match self.profile().language {
            // `{value!r}` says how a value is written.
            Language::Python => {
                let before = start.checked_sub(1).and_then(|at| self.cutter().tree.item(group, at));
                next.is_some_and(|item| item.is_mark(":")) || before.is_some_and(|item| item.is_mark("!"))
            }
            _ => ["arguments", "async", "get", "of", "set", "static"].iter().any(|word| is_word(word)),
        }
    }

    /// A bare name of Ruby or Perl that nothing is assigned to is a call.
    pub(super) fn read_bare_name(&mut self, chain: &Chain, values: &[CodeValue]) {
        let GroupSpan { group, start, .. } = chain.span;
        let Some(CodeItem::Name(name)) = self.cutter().tree.item(group, start) else { return };
        let is_bare = !name.starts_with(['$', '@', '&']) && !name.starts_with(char::is_uppercase);
        if !is_bare || !matches!(self.profile().language, Language::Ruby | Language::Perl) {
            return;
        }
        let is_called = matches!(chain.steps.first(), Some(ChainStep::Call(_)));
        if !is_called
            && matches!(values, [CodeValue::Named(_)])
            && (chain.steps.is_empty() || self.profile().language == Language::Ruby)
        {
            let nothing = GroupSpan { group, start, end: start };
            for value in values {
                self.read_call(value, nothing, chain, 0);
            }
        }
    }
}

/// Returns a name short enough to be shown.
pub(super) fn shown(name: &str) -> String {
    name.chars().filter(|letter| !letter.is_control()).take(60).collect()
}
