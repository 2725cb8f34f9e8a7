//! One word after another: which are options, which their values, which name a subcommand.

use super::unlisted::{self, Unlisted};
use super::{Flag, FlagValue, Form, OtherOptions, Role, Style, Twist};
use crate::act::Act;
use crate::argument::{Argument, Knowledge};
use crate::shape::Shape;

/// What the words of a command turned out to be.
#[derive(Debug)]
pub(super) struct Words<'a> {
    /// The form in force: that of the innermost subcommand.
    inner: Form<'a>,
    /// The forms around it, the program's first.
    outer: Vec<Form<'a>>,
    /// The names of the subcommands that were taken.
    pub(super) path: Vec<&'a str>,
    /// Options that are listed, with their values.
    pub(super) flags: Vec<(Flag<'a>, Option<Argument>, &'a Argument)>,
    /// Every option as it is spelled, letters behind one dash each by itself, with its value.
    spellings: Vec<(String, Option<Argument>)>,
    /// Operands of the innermost form.
    pub(super) operands: Vec<&'a Argument>,
    /// Options that are not listed where that matters.
    pub(super) strangers: Vec<&'a Argument>,
    /// Words that could turn out to be options.
    pub(super) loose: Vec<&'a Argument>,
    /// Whether a word counts as the value of an option and as an option.
    takes_twice: bool,
    /// The option right before, if it is not listed: the next word may be its value.
    before: Option<&'a Argument>,
}

/// What the words of a command spell: no option stands for more than its name and value say.
#[derive(Debug)]
pub(crate) struct Spelled<'a> {
    /// The subcommands, outermost first.
    pub(crate) subcommands: Vec<&'a str>,
    /// Options with their values. Numbers such as `-5` are not among them.
    pub(crate) options: Vec<(String, Option<Argument>)>,
    pub(crate) operands: Vec<&'a Argument>,
}

/// Spells out the words after a program with a built-in profile; `None` if a word may be more than it seems.
pub(crate) fn spelled_out<'a>(program: &str, words: &'a [Argument]) -> Option<Spelled<'a>> {
    Words::sort(super::find(program)?.form, words).spelled()
}

/// Says whether a program is given nothing to run, so that it reads its standard input: no operand, or one that names it.
pub(crate) fn is_given_nothing(program: &str, words: &[Argument]) -> bool {
    const INPUTS: [&str; 4] = ["-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"];
    let is_input = |word: &Argument| INPUTS.contains(&word.text.as_str());
    let Some(profile) = super::find(program) else {
        return words.iter().all(|word| word.is_option() || is_input(word));
    };
    let sorted = Words::sort(profile.form, words);
    // What is only checked is a program too: `ruby -c FILE`, `php -l FILE`, `node --check FILE`.
    let checks = |flag: &Flag<'_>| {
        let is_spelled = |spelling: &&str| flag.is_spelled(spelling, false);
        flag.value == FlagValue::Required(Role::Act(Act::Read))
            && ["-c", "-l"].iter().any(is_spelled)
            && !is_spelled(&"--config")
    };
    let hands_on = sorted
        .flags
        .iter()
        .any(|(flag, value, _)| flag.twist == Twist::Rest || value.is_some() && checks(flag));
    // Some tables list the dash as a subcommand.
    let reads_input = match sorted.path.as_slice() {
        [] => sorted.operands.first().is_none_or(|word| is_input(word)),
        path => path == ["-"],
    };
    !hands_on && reads_input
}

impl<'a> Words<'a> {
    /// Sorts the words after a program.
    pub(super) fn sort(form: Form<'a>, words: &'a [Argument]) -> Self {
        let mut sorted = Self {
            inner: form,
            outer: Vec::new(),
            path: Vec::new(),
            flags: Vec::new(),
            spellings: Vec::new(),
            operands: Vec::new(),
            strangers: Vec::new(),
            loose: Vec::new(),
            takes_twice: false,
            before: None,
        };
        let mut rest = words.iter();
        let mut has_ended = false;
        while let Some(word) = rest.next() {
            let innermost = sorted.innermost();
            let may_be_option = !has_ended && (innermost.permutes || sorted.operands.is_empty());
            if may_be_option && word.text == "--" && innermost.style != Style::Windows {
                has_ended = true;
                // What follows would be taken for a subcommand, which not every program does.
                if innermost.has_subcommands() && !innermost.has_operands() {
                    sorted.strangers.push(word);
                }
            } else if may_be_option && sorted.is_option(word) {
                sorted.end_before();
                if sorted.option(word, &mut rest) == Twist::Rest {
                    break;
                }
            } else {
                if may_be_option && may_become_option(word) && !is_of_project(innermost, word) {
                    sorted.loose.push(word);
                }
                sorted.follow(word);
                sorted.operand(word);
            }
        }
        sorted.end_before();
        sorted
    }

    /// Returns what the words spell, if nothing among them may be an option that nobody knows or the value of one.
    fn spelled(self) -> Option<Spelled<'a>> {
        let has_rest = self.flags.iter().any(|(flag, ..)| flag.twist == Twist::Rest);
        let is_sure = self.strangers.is_empty() && self.loose.is_empty() && !self.takes_twice && !has_rest;
        is_sure.then_some(Spelled {
            subcommands: self.path,
            options: self.spellings,
            operands: self.operands,
        })
    }

    pub(super) fn innermost(&self) -> Form<'a> {
        self.inner
    }

    /// Returns the forms in force, the innermost first.
    pub(super) fn forms(&self) -> impl Iterator<Item = Form<'a>> {
        std::iter::once(self.inner).chain(self.outer.iter().rev().copied())
    }

    fn is_option(&self, word: &Argument) -> bool {
        if !word.is_known() && word.knowledge != Knowledge::Glob && !word.text.starts_with('-') {
            return false;
        }
        match self.innermost().style {
            Style::Windows => {
                word.is_option() || !self.find(&word.text).is_empty() || self.is_slash_option(&word.text)
            }
            Style::Gnu | Style::SingleDash => {
                word.is_option() || (word.text.starts_with('+') && !self.find(&word.text).is_empty())
            }
        }
    }

    /// Says whether a word is written like the options of a program that begin with a slash or a plus: `/mir`, `+h`. Where
    /// unlisted switches are harmless, such a word is an operand, of which more may be known.
    fn is_slash_option(&self, text: &str) -> bool {
        if self.innermost().other_options == OtherOptions::Harmless {
            return false;
        }
        let Some(rest) = text.strip_prefix(['/', '+']).filter(|rest| !rest.contains(['/', '\\'])) else {
            return false;
        };
        let begins_alike = |spelling: &str| spelling.as_bytes().first() == text.as_bytes().first();
        !rest.is_empty()
            && self.forms().flat_map(Form::options).any(|flag| flag.spellings().any(begins_alike))
    }

    fn operand(&mut self, word: &'a Argument) {
        // A pattern that names no file stays as it is written.
        let written =
            word.fixed().or_else(|| (word.knowledge == Knowledge::Glob).then_some(word.text.as_str()));
        if self.operands.is_empty()
            && let Some((name, form)) = written.and_then(|name| find_subcommand(self.innermost(), name))
        {
            // A name that any word may be is no path.
            if name == "*" && word.text.contains("../") {
                self.strangers.push(word);
            }
            let outer = std::mem::replace(&mut self.inner, form);
            self.outer.push(outer);
            self.path.push(name);
        } else {
            self.operands.push(word);
        }
    }

    /// Takes the option before as one without a value. A parameter without one is a switch that nobody listed.
    fn end_before(&mut self) {
        let is_parameter = self.innermost().other_options == OtherOptions::Parameters;
        self.strangers.extend(self.before.take().filter(|_| is_parameter));
    }

    /// Reads an option and the words that are its values.
    fn option(&mut self, word: &'a Argument, rest: &mut std::slice::Iter<'a, Argument>) -> Twist {
        let (name, attached) = split_value(&word.text, self.innermost().style);
        self.take_back(name, attached);
        let is_short = self.innermost().style == Style::Gnu && !word.text.starts_with("--");
        let whole = self.find(name);
        if whole.is_empty() && is_short && self.find(&word.text).is_empty() {
            return self.cluster(word, rest);
        }
        let whole = if whole.is_empty() { self.find(&word.text) } else { whole };
        // Nobody cuts an option that takes a value but to hide it: which one it stands for depends on the version.
        let is_cut =
            whole.iter().all(|flag| !flag.is_spelled(name, true) && !flag.is_spelled(&word.text, true));
        if is_cut && self.innermost().abbreviates && whole.iter().any(|flag| flag.value != FlagValue::None) {
            self.strangers.push(word);
        }
        if whole.is_empty() {
            self.spellings.push((name.to_owned(), attached.map(|value| word.piece(value))));
            self.stranger(word, name, attached);
        }
        let mut taken: Option<Argument> = None;
        let mut twist = Twist::None;
        for flag in whole {
            let is_bare = flag.value == FlagValue::None;
            // `--dry-run=false` switches off what the option says.
            if is_bare && flag.twist != Twist::None && attached.is_some_and(|value| !is_yes(value)) {
                continue;
            }
            if is_bare && attached.is_some_and(|value| !unlisted::is_tame(value)) {
                self.strangers.push(word);
            }
            let value = match flag.value {
                FlagValue::None => None,
                FlagValue::Attached(_) => attached.map(|value| word.piece(value)),
                FlagValue::Required(_) => {
                    if attached.is_none() {
                        taken = taken.or_else(|| self.take_value(rest));
                    }
                    attached.map(|value| word.piece(value)).or_else(|| taken.clone())
                }
            };
            twist = if flag.twist == Twist::None { twist } else { flag.twist };
            self.spellings.push((name.to_owned(), value.clone()));
            self.flags.push((flag, value, word));
        }
        twist
    }

    /// Takes the word behind an option as its value. What looks like another option counts as that too, since versions of
    /// a program differ in which options take a value.
    fn take_value(&mut self, rest: &mut std::slice::Iter<'a, Argument>) -> Option<Argument> {
        let next = rest.as_slice().first()?;
        let (name, attached) = split_value(&next.text, self.innermost().style);
        let found = if next.text.starts_with('-') { self.find(name) } else { Vec::new() };
        let takes_more =
            attached.is_none() && found.iter().any(|flag| matches!(flag.value, FlagValue::Required(_)));
        if takes_more {
            self.strangers.push(next);
        }
        if found.is_empty() || takes_more {
            return rest.next().cloned();
        }
        self.takes_twice = true;
        Some(next.clone())
    }

    /// Forgets a trial that a later option takes back: `--dry-run --no-dry-run`, `--dry-run --dry-run=false`.
    fn take_back(&mut self, name: &str, attached: Option<&str>) {
        let negated = name.strip_prefix("--no-").filter(|taken| !taken.is_empty());
        let is_off = attached.is_some_and(|value| !is_yes(value));
        let is_taken = |spelling: &str| {
            let plain = spelling.split('=').next().unwrap_or(spelling);
            is_off && plain == name
                || negated.is_some_and(|taken| spelling.trim_start_matches('-').starts_with(taken))
        };
        self.flags.retain(|(flag, ..)| flag.twist != Twist::Dry || !flag.spellings().any(is_taken));
    }

    /// Reads letters behind one dash: `-uoFILE`.
    fn cluster(&mut self, word: &'a Argument, rest: &mut std::slice::Iter<'a, Argument>) -> Twist {
        let letters = word.text.strip_prefix(['-', '+']).unwrap_or(&word.text);
        let mut twist = Twist::None;
        for (at, letter) in letters.char_indices() {
            if letter.is_ascii_digit() {
                continue;
            }
            let mut spelling = String::from("-");
            spelling.push(letter);
            let after = letters.get(at + letter.len_utf8()..).unwrap_or_default();
            let Some(flag) = self.find(&spelling).first().copied() else {
                let value = unlisted::holds_value(after).then_some(after);
                self.spellings.push((spelling.clone(), value.map(|value| word.piece(value))));
                self.stranger(word, &spelling, value);
                if self.strangers.last() == Some(&word) {
                    return twist;
                }
                continue;
            };
            twist = if flag.twist == Twist::None { twist } else { flag.twist };
            let value = match flag.value {
                FlagValue::None => None,
                FlagValue::Attached(_) => (!after.is_empty()).then(|| word.piece(after)),
                FlagValue::Required(_) if after.is_empty() => self.take_value(rest),
                FlagValue::Required(_) => Some(word.piece(after.strip_prefix('=').unwrap_or(after))),
            };
            let takes_rest = flag.value != FlagValue::None;
            self.spellings.push((spelling, value.clone()));
            self.flags.push((flag, value, word));
            if takes_rest {
                break;
            }
        }
        twist
    }

    /// Takes an option that is not listed for what it can be.
    fn stranger(&mut self, word: &'a Argument, name: &str, value: Option<&str>) {
        match unlisted::judge(self.innermost(), name, value) {
            Unlisted::Unknown => self.strangers.push(word),
            Unlisted::Switch | Unlisted::Parameter => self.before = Some(word),
            Unlisted::Harmless => {}
        }
    }

    /// Looks at a word that may be the value of the option before it.
    fn follow(&mut self, word: &'a Argument) {
        let Some(before) = self.before.take() else {
            return;
        };
        let is_subcommand = self.operands.is_empty()
            && word.fixed().is_some_and(|name| find_subcommand(self.innermost(), name).is_some());
        if is_subcommand || unlisted::may_matter(self.innermost(), before, word) {
            self.strangers.push(before);
        }
    }

    /// Finds the options a spelling stands for, the innermost form's first.
    fn find(&self, spelling: &str) -> Vec<Flag<'a>> {
        let style = self.innermost().style;
        let ignores_case = style == Style::Windows;
        let shorter = spelling.strip_prefix('-').filter(|_| style == Style::SingleDash);
        for form in self.forms() {
            let found = form.options().find(|flag| {
                flag.is_spelled(spelling, ignores_case)
                    || shorter.is_some_and(|spelling| flag.is_spelled(spelling, false))
            });
            if let Some(flag) = found {
                return vec![flag];
            }
        }
        self.find_abbreviated(spelling)
    }

    fn find_abbreviated(&self, spelling: &str) -> Vec<Flag<'a>> {
        let is_windows = self.innermost().style == Style::Windows;
        let is_long = spelling.len() > 2 && spelling.starts_with("--");
        let is_name = is_windows && spelling.len() > 1 && spelling.starts_with('-');
        if !(is_name || is_long && self.innermost().abbreviates) {
            return Vec::new();
        }
        let begins = |listed: &str| match listed.get(..spelling.len()) {
            Some(beginning) if is_windows => beginning.eq_ignore_ascii_case(spelling),
            Some(beginning) => beginning == spelling,
            None => false,
        };
        let all = self.forms().flat_map(Form::options);
        // A cut switch that does nothing is no better known than one that nobody listed.
        let matters = |flag: &Flag<'_>| is_windows || flag.value != FlagValue::None || is_sharp(*flag);
        all.filter(|flag| matters(flag) && flag.spellings().any(begins)).collect()
    }
}

/// Splits an option from the value attached to it.
fn split_value(text: &str, style: Style) -> (&str, Option<&str>) {
    let separator = match style {
        Style::Gnu if !text.starts_with("--") => return (text, None),
        Style::Gnu | Style::SingleDash => '=',
        Style::Windows => ':',
    };
    match text.split_once(separator) {
        Some((name, value)) if name.len() > 1 => (name, Some(value)),
        _ => (text, None),
    }
}

/// Finds a subcommand: the very name, else the pattern with the longest fixed beginning. Some words are taken in any
/// case: `kubectl get Secret`.
fn find_subcommand<'a>(form: Form<'a>, name: &str) -> Option<(&'a str, Form<'a>)> {
    let is_windows = form.style == Style::Windows;
    let find = |name: &str| {
        form.subcommand(name, is_windows).or_else(|| {
            let fitting = form.subcommands().filter(|(listed, _)| matches_pattern(listed, name));
            fitting.max_by_key(|(listed, _)| listed.len())
        })
    };
    match find(name) {
        // What fits any word fits less than what is named.
        Some(("*", any)) => find(&name.to_ascii_lowercase()).or(Some(("*", any))),
        None if name.contains(|letter: char| letter.is_ascii_uppercase()) => find(&name.to_ascii_lowercase()),
        found => found,
    }
}

/// Says whether a name has the form of `*`, `get-*`, `*-list`, `get-*-list` or `*secret*`.
fn matches_pattern(pattern: &str, name: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('*') else {
        return false;
    };
    let Some(name) = name.strip_prefix(start) else {
        return false;
    };
    match rest.split_once('*') {
        None => name.ends_with(rest),
        Some((middle, end)) => name.split_once(middle).is_some_and(|(_, after)| after.ends_with(end)),
    }
}

fn is_yes(value: &str) -> bool {
    matches!(value, "" | "1" | "true" | "True" | "yes" | "client" | "server")
}

/// Says whether a word that only the running shell knows could turn out to be an option.
pub(crate) fn may_become_option(word: &Argument) -> bool {
    match word.knowledge {
        Knowledge::Fixed | Knowledge::Tilde => false,
        Knowledge::Glob => word.text.starts_with(['*', '?', '[', '-', '@', '+', '!']),
        Knowledge::Dynamic if word.shape().is_some() => word.shape().is_some_and(Shape::may_be_option),
        Knowledge::Dynamic => word.text.starts_with(['$', '`', '…', '-', '{', '*', '?', '[']),
    }
}

/// Says whether a word is the name of a file below where the command runs, and the program runs code from there anyway:
/// whatever such a name brings about, the files could.
fn is_of_project(form: Form<'_>, word: &Argument) -> bool {
    word.shape().is_some_and(Shape::begins_inside)
        && form.does().any(|act| act == crate::act::Act::RunProject)
}

/// Says whether an option may make the program do more than look.
pub(super) fn is_sharp(flag: Flag<'_>) -> bool {
    let value_acts = match flag.value {
        FlagValue::None => false,
        FlagValue::Required(role) | FlagValue::Attached(role) => match role {
            Role::Text | Role::Target | Role::Key => false,
            Role::Data | Role::Command => true,
            Role::Act(act) => !act.is_observing(),
        },
    };
    value_acts || flag.acts().any(|act| !act.is_observing())
}
