//! The words that a program is started with: `sys.argv`, `process.argv`, `ARGV`.
//!
//! They are known where the line that starts the program says them, and where each time that the program names the list
//! it does one of a few things that leave it as it is. Whatever else is done with it, or may be, makes them unknown.

use super::chain::{Chain, ChainCutter, ChainStep, GroupSpan};
use super::element::place;
use super::evaluator::Evaluator;
use super::growth::has;
use super::scope::ProgramNames;
use super::targets::SetPlaces;
use super::value::CodeValue;
use crate::code::tree::CodeItem;
use crate::code::{Language, ProgramArguments};

/// The words that a program is started with.
#[derive(Debug, Clone, Copy)]
pub(super) struct GivenWords<'a> {
    /// What the language calls the list.
    pub(super) name: &'static str,
    before: usize,
    words: &'a [Option<String>],
    part: WordsPart,
}

/// Which of the words are meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WordsPart {
    /// All, each in its place.
    Whole,
    /// Some of those that the line gives the program.
    Given,
    /// Any, the interpreter and the program among them.
    Any,
}

/// What stands behind the name of the list for a part of it.
const GIVEN: &str = "[]";
const ANY: &str = "[?]";

/// Methods that give a part of the list.
const PARTS: &str = "drop each slice";

/// Methods that leave the list as it is, and give nobody the list itself.
const READING: &str = "count each each_with_index empty? fetch first include? includes index indexOf join last \
    lastIndexOf length size slice any? all? none? drop take map select reject";

/// Methods of JavaScript that do so where the function that they call takes no more than an element and its place.
const CALLING: &str = "every filter find findIndex flatMap forEach map some";

/// Functions that such a method may call by their name.
const CALLED: &str = "Boolean Number String";

/// Names of Ruby by which the list is read or changed without being named.
const TAKING: &str = "$* $< $FILENAME ARGF GetoptLong OptionParser getopts gets optparse readline readlines";

/// Returns the words a program is started with, if it leaves the list as it is.
pub(super) fn of<'a>(
    cutter: ChainCutter<'_>,
    scope: &ProgramNames,
    text: &str,
    arguments: &'a ProgramArguments,
) -> Option<GivenWords<'a>> {
    let ProgramArguments::Known { before, words } = arguments else { return None };
    let (name, owner, list) = match cutter.profile.language {
        Language::Python => ("sys.argv", Some("sys"), "argv"),
        Language::JavaScript => ("process.argv", Some("process"), "argv"),
        Language::Ruby => ("ARGV", None, "ARGV"),
        _ => return None,
    };
    let finder = ReadingFinder { cutter, scope, places: SetPlaces::of(cutter), owner, list };
    // By another name, or out of a text that is run, it could be changed unseen.
    let is_read = finder.readings()? == text.matches(list).count() && !scope.bounds.contains_key(name);
    is_read.then_some(GivenWords { name, before: *before, words, part: WordsPart::Whole })
}

/// Finds where a program reads the list of its words.
struct ReadingFinder<'a> {
    cutter: ChainCutter<'a>,
    scope: &'a ProgramNames,
    places: SetPlaces<'a>,
    /// What the list is a member of.
    owner: Option<&'static str>,
    list: &'static str,
}

impl ReadingFinder<'_> {
    /// Counts the places where the list is plainly read; `None` if something else may be done with it.
    fn readings(&self) -> Option<usize> {
        let mut readings = 0;
        for group in 0..self.cutter.tree.groups.len() {
            let length = self.cutter.tree.items(group).len();
            let mut at = 0;
            while at < length {
                let limit = length.min(at + super::CHAIN_LIMIT);
                let Some(chain) = self.cutter.chain(group, at, limit) else {
                    at += 1;
                    continue;
                };
                readings += usize::from(self.is_reading(&chain)?);
                at = chain.next.max(at + 1);
            }
        }
        Some(readings)
    }

    /// Says whether a chain reads the list; `None` if it does something else with it or with what holds it.
    fn is_reading(&self, chain: &Chain) -> Option<bool> {
        let GroupSpan { group, start, .. } = chain.span;
        let Some(CodeItem::Name(base)) = self.cutter.tree.item(group, start) else { return Some(false) };
        let is_of_kernel =
            base == "Kernel" || chain.steps.is_empty() || !base.starts_with(char::is_uppercase);
        let takes = |name: &str| self.owner.is_none() && has(TAKING, name);
        let is_taken = takes(base)
            || matches!(chain.steps.first(), Some(ChainStep::Member(name)) if is_of_kernel && takes(name));
        if is_taken {
            return None;
        }
        let (length, steps) = match (self.owner, chain.steps.as_slice()) {
            (None, steps) if base == self.list => (1, steps),
            (Some(owner), [ChainStep::Member(member), steps @ ..]) if base == owner => {
                if member != self.list {
                    return (!member.starts_with('_')).then_some(false);
                }
                (3, steps)
            }
            (Some(owner), _) if base == owner => {
                // An import names it, and nothing is done with it there.
                return self.scope.skips.contains(&(group, start)).then_some(false);
            }
            _ => return Some(false),
        };
        let list = GroupSpan { group, start, end: start + length };
        self.is_plain(chain, list, steps).then_some(true)
    }

    /// Says whether what follows the list is one of the things that leave it as it is.
    fn is_plain(&self, chain: &Chain, list: GroupSpan, steps: &[ChainStep]) -> bool {
        let is_called = matches!(steps.get(1), Some(ChainStep::Call(_)));
        match steps.first() {
            _ if self.places.is_set(chain.span) => false,
            None => self.is_counted(list) || self.is_gone_through(list),
            Some(ChainStep::Index(inner)) => !is_called && !self.is_text(*inner),
            Some(ChainStep::Member(name)) if name == "length" => true,
            Some(ChainStep::Member(name)) => match steps.get(1) {
                Some(ChainStep::Call(arguments)) if self.language() == Language::JavaScript => {
                    if has(CALLING, name) { self.is_plain_function(*arguments) } else { has(READING, name) }
                }
                Some(ChainStep::Call(_)) => has(READING, name),
                _ => self.language() == Language::Ruby && has(READING, name),
            },
            Some(ChainStep::Call(_)) => false,
        }
    }

    fn language(&self) -> Language {
        self.cutter.profile.language
    }

    /// Says whether the list is all that `len` is given.
    fn is_counted(&self, list: GroupSpan) -> bool {
        let is_alone = self.cutter.whole(list.group) == list;
        let function = self.places.parent(list.group).and_then(|(group, at)| {
            let is_member = at
                .checked_sub(2)
                .is_some_and(|dot| self.cutter.tree.item(group, dot).is_some_and(|item| item.is_mark(".")));
            self.cutter.tree.item(group, at.checked_sub(1)?).filter(|_| !is_member)
        });
        is_alone && function.is_some_and(|item| item.is_name("len")) && !self.scope.bounds.contains_key("len")
    }

    /// Says whether the list is gone through, or searched: `for word in list`, `word in list`.
    fn is_gone_through(&self, list: GroupSpan) -> bool {
        let word = if self.language() == Language::JavaScript { "of" } else { "in" };
        let next = self.cutter.tree.item(list.group, list.end);
        let is_end = match next {
            None | Some(CodeItem::Line | CodeItem::Mark(":" | ";")) => true,
            Some(CodeItem::Name(name)) => {
                matches!(name.as_str(), "and" | "or" | "if" | "else" | "for" | "do")
            }
            _ => false,
        };
        is_end && self.places.before(list).is_some_and(|item| item.is_name(word))
    }

    /// Says whether brackets name a member rather than a place.
    fn is_text(&self, inner: GroupSpan) -> bool {
        let mut items = self.cutter.items(inner).iter();
        self.language() == Language::JavaScript && items.any(|token| matches!(token.item, CodeItem::Text(_)))
    }

    /// Says whether a function takes no more than an element and its place.
    fn is_plain_function(&self, arguments: GroupSpan) -> bool {
        let first: Vec<&CodeItem> =
            self.cutter.items(arguments).iter().map(|token| &token.item).take(2).collect();
        match first.as_slice() {
            [CodeItem::Name(_), arrow] if arrow.is_mark("=>") => true,
            [CodeItem::Group('(', inner), arrow] if arrow.is_mark("=>") => {
                let parameters = self.cutter.whole(*inner);
                let mut items = self.cutter.items(parameters).iter();
                self.cutter.split(parameters).len() < 3 && !items.any(|token| token.item.is_mark("..."))
            }
            [CodeItem::Name(name)] => has(CALLED, name),
            _ => false,
        }
    }
}

impl GivenWords<'_> {
    /// Returns what a place of the list may hold; what stands behind its end is nothing that anybody wrote.
    pub(super) fn at(self, number: &str) -> Vec<CodeValue> {
        if self.part != WordsPart::Whole {
            return self.any();
        }
        let place = place(number).and_then(|at| at.checked_sub(self.before));
        vec![value(place.and_then(|at| self.words.get(at)).and_then(Option::as_ref))]
    }

    /// Returns a part of the list that begins at a place, if that is known.
    pub(super) fn part(self, start: Option<usize>) -> CodeValue {
        let is_given = self.part == WordsPart::Given || start.is_some_and(|start| start >= self.before);
        CodeValue::Named(format!("{}{}", self.name, if is_given { GIVEN } else { ANY }))
    }

    /// Returns what any place of the list may hold.
    pub(super) fn any(self) -> Vec<CodeValue> {
        let mut values: Vec<CodeValue> = self.words.iter().map(|word| value(word.as_ref())).collect();
        if values.is_empty() || self.part != WordsPart::Given && self.before > 0 {
            values.push(CodeValue::Unknown);
        }
        values
    }
}

fn value(word: Option<&String>) -> CodeValue {
    word.map_or(CodeValue::Unknown, |word| CodeValue::Text(word.clone()))
}

impl<'a> Evaluator<'a> {
    /// Returns the words that the program is started with, if a value is the list of them, or a part of it.
    pub(super) fn given_words(&self, value: &CodeValue) -> Option<GivenWords<'a>> {
        let CodeValue::Named(name) = value else { return None };
        let words = self.words?;
        let part = match name.strip_prefix(words.name)? {
            "" => WordsPart::Whole,
            GIVEN => WordsPart::Given,
            ANY => WordsPart::Any,
            _ => return None,
        };
        Some(GivenWords { part, ..words })
    }

    /// Returns what a method of the list gives: a part of it, or an element if there is but one.
    pub(super) fn words_of(&self, name: &str, arguments: GroupSpan, depth: usize) -> Option<CodeValue> {
        let (list, method) = name.rsplit_once('.')?;
        let list = CodeValue::Named(list.to_owned());
        let words = self.given_words(&list)?;
        if has(PARTS, method) {
            let first = self.cutter.split(arguments).first().map(|first| self.single(*first, depth));
            let start = match first {
                Some(CodeValue::Plain(number)) => place(&number),
                None => Some(0),
                _ => None,
            };
            return Some(words.part(start));
        }
        match words.any().as_slice() {
            [only] if matches!(method, "first" | "fetch") => Some(only.clone()),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::code::Language::{JavaScript, Python, Ruby};
    use crate::code::{Code, CodeTarget, Language, ProgramArguments};

    /// What a program may do to the list of its words, or to what holds it, before it takes the first of them.
    const CHANGED_WORDS: &[(Language, &str)] = &[
        (Python, "del sys.argv[1]"),
        (Python, "if True: del y, (sys.argv[1:2])"),
        (Python, "sys.argv[1], y = 'KEY', 0"),
        (Python, "y, (z, sys.argv[1]) = 1, (2, 'KEY')"),
        (Python, "[sys.argv[1]] = ['KEY']"),
        (Python, "*sys.argv[1:], = ['KEY']"),
        (Python, "sys.argv[1]: str = 'KEY'"),
        (Python, "sys.argv[1] @= 2"),
        (Python, "for sys.argv[1] in ['KEY']: pass"),
        (Python, "[0 for y, sys.argv[1] in [(0, 'KEY')]]"),
        (Python, "with open('b') as sys.argv[1]: pass"),
        (Python, "y = [sys.argv]\ny[0][1] = 'KEY'"),
        (Python, "for y in sys.argv, 1: y[1] = 'KEY'"),
        (Python, "def f(l): l[1] = 'KEY'\nf(sys.argv)"),
        (Python, "def f(l=sys.argv): l[1] = 'KEY'\nf()"),
        (Python, "sys.argv.pop(1)"),
        (Python, "exec(\"sys.argv[1] = 'KEY'\")"),
        (Python, "setattr(sys, 'ar' + 'gv', ['', 'KEY'])"),
        (JavaScript, "[process.argv[1]] = ['KEY']"),
        (JavaScript, "[...[process.argv[1]]] = ['KEY']"),
        (JavaScript, "({y: process.argv[1]} = {y: 'KEY'})"),
        (JavaScript, "if (true) [process.argv[1]] = ['KEY']"),
        (JavaScript, "for (process.argv[1] of ['KEY']);"),
        (JavaScript, "for (process.argv[1] in {KEY: 1});"),
        (JavaScript, "process.argv.map((e, i, l) => { l[1] = 'KEY' })"),
        (JavaScript, "process.argv.forEach(function (e, i, l) { l[1] = 'KEY' })"),
        (JavaScript, "process.argv.map((...r) => { r[2][1] = 'KEY' })"),
        (JavaScript, "const f = (e, i, l) => { l[1] = 'KEY' }; process.argv.map(f)"),
        (JavaScript, "delete process.argv[1]"),
        (JavaScript, "process.argv['splice'](1, 1)"),
        (JavaScript, "process.argv\n[1]\n= 'KEY'"),
        (JavaScript, "Object.assign(process, {['ar' + 'gv']: ['', 'KEY']})"),
        (Ruby, "ARGV.map! { 'KEY' }"),
        (Ruby, "$*[0] = 'KEY'"),
        (Ruby, "ARGV[0], x = 'KEY', 1"),
        (Ruby, "begin; raise 'KEY'; rescue => ARGV[0]; end"),
        (Ruby, "for ARGV[0] in ['KEY'] do end"),
        (Ruby, "ARGV[0].sub!('a', 'KEY')"),
        (Ruby, "ARGV.first << 'KEY'"),
        (Ruby, "ARGV.each { |x| x.replace('KEY') }"),
        (Ruby, "x = ARGV[0]; x.prepend('KEY')"),
        (Ruby, "ARGV.map(&:upcase!)"),
        (Ruby, "gets"),
        (Ruby, "OptionParser.new.parse!"),
    ];

    #[test]
    fn words_that_a_program_may_change_are_not_known() {
        for (language, change) in CHANGED_WORDS {
            let (before, text) = match language {
                Python => (1, format!("import sys\n{change}\nprint(open(sys.argv[1]).read())")),
                JavaScript => (1, format!("{change}\n;require('fs').readFileSync(process.argv[1])")),
                _ => (0, format!("{change}\nputs File.read(ARGV[0])")),
            };
            let arguments = ProgramArguments::Known { before, words: vec![Some("a".to_owned()), None] };
            let reading = Code { language: *language, text: text.clone(), is_whole: true, arguments }.read();
            let is_unknown = reading.actions.iter().any(|action| action.object == CodeTarget::SomePath);
            assert!(is_unknown, "{language:?} {text:?}: {reading:?}");
        }
    }
}
