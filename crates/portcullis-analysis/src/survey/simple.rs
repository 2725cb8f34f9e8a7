//! Simple commands: assignments, words, redirections, and `cd`.
//!
//! A simple command is where everything meets: its words are read with the values that are known so far, what it is
//! redirected from decides what it reads, and `cd` decides where the next one runs. Substitutions in its words run
//! before it, so they are listed before it, and `substituted` names them.

use portcullis_shell::ast::{
    AssignmentValue, Command, Descriptor, Redirect, RedirectOperator, RedirectTarget, SimpleCommand, Word,
    WordPart,
};

use super::columns;
use super::movement::DirectoryChange;
use super::output::output_of;
use super::settled::{DECLARING, assigned_name, names_read};
use super::variables::{KnownValue, as_lines};
use super::walk::{DirectoriesAfter, SurveyWalk, is_expansion};
use crate::act::Access;
use crate::argument::{Argument, Knowledge};
use crate::directories::Directories;
use crate::invocation::{Invocation, Redirection, Variable, Wrapping};
use crate::standard_input::{ColumnSeparator, LineCount, StandardInput, is_input};

impl SurveyWalk<'_> {
    /// Makes an invocation of nothing but redirections.
    pub(super) fn bare(
        &self,
        command: &Command,
        redirections: Vec<Redirection>,
        directories: &Directories,
    ) -> Invocation {
        Invocation {
            span: self.fixed_span.unwrap_or(command.span),
            arguments: Vec::new(),
            assignments: Vec::new(),
            redirections,
            directories: directories.clone(),
            parent: self.parent,
            background: self.background,
            wrapping: Wrapping::Nothing,
            piped: self.piped.clone(),
            substituted: 0..0,
            code: None,
            decoded: self.is_decoded,
            given: None,
            input: None,
            put: None,
        }
    }

    /// Reads the redirections of a command, and what it reads on its standard input after all of them.
    pub(super) fn redirections(
        &mut self,
        command: &Command,
        directories: &Directories,
        stdin: &mut StandardInput,
    ) -> Vec<Redirection> {
        let mut redirections = Vec::new();
        let mut own: Option<StandardInput> = None;
        let mut others = StandardInput::Nothing;
        let is_fed = command.redirects.iter().any(|redirect| is_input(redirect.operator));
        for redirect in &command.redirects {
            let mut given = StandardInput::Nothing;
            // A substitution in one redirection may read what another one gives.
            let outer = is_fed.then(|| std::mem::replace(&mut self.input, StandardInput::Unknown));
            self.redirect(redirect, directories, &mut redirections, &mut given);
            if let Some(outer) = outer {
                self.input = outer;
            }
            if given == StandardInput::Nothing {
                continue;
            }
            match &redirect.descriptor {
                None | Some(Descriptor::Number(0)) => {
                    own = Some(own.unwrap_or(StandardInput::Nothing).and(given));
                }
                // Another descriptor may become the input later.
                Some(Descriptor::Number(_) | Descriptor::Variable(_)) => others = others.and(given),
            }
        }
        let input = own.unwrap_or_else(|| std::mem::replace(stdin, StandardInput::Nothing));
        *stdin = input.and(others);
        redirections
    }

    /// Walks a simple command once for each value that its variables may have; returns where the shell may be after it.
    pub(super) fn simple(
        &mut self,
        simple: &SimpleCommand,
        command: &Command,
        before: Directories,
        stdin: StandardInput,
    ) -> DirectoriesAfter {
        let names = self.values.several_in(command.span.of(self.text));
        let choices = if names.is_empty() { None } else { self.values.choices(&names) };
        let Some(choices) = choices else {
            return self.simple_once(simple, command, before, stdin);
        };
        let mark = self.values.mark();
        let mut after: Option<DirectoriesAfter> = None;
        let mut values = Vec::new();
        let mut outputs = Vec::new();
        for choice in choices {
            self.values.choose(&names, &choice);
            let next = self.simple_once(simple, command, before.clone(), stdin.clone());
            outputs.push(std::mem::replace(&mut self.output, StandardInput::Unknown));
            values.push(self.values.undo_branch(mark));
            after = Some(match after {
                Some(after) => after.either(next),
                None => next,
            });
            self.values.unchoose(&names);
        }
        self.values.merge_branches(&values);
        // Lines of one form are of that form whichever value it was.
        let is_same = |output: &StandardInput| {
            matches!(output, StandardInput::Columns(_) | StandardInput::Lines { .. })
        };
        if let Some(first) = outputs.first().filter(|first| is_same(first))
            && outputs.iter().all(|output| output == first)
        {
            self.output = first.clone();
        }
        after.unwrap_or_else(|| DirectoriesAfter::same(before))
    }

    fn simple_once(
        &mut self,
        simple: &SimpleCommand,
        command: &Command,
        before: Directories,
        mut stdin: StandardInput,
    ) -> DirectoriesAfter {
        let substituted = self.found.invocations.len();
        // Substitutions in the words read what the command itself would read.
        let outer = std::mem::replace(&mut self.input, stdin.clone());
        let assignments = self.assignments(simple, command, &before);
        self.words(simple.words.iter(), &before);
        self.note_settings(simple);
        let redirections = self.redirections(command, &before, &mut stdin);
        self.input = outer;
        let mut invocation = self.bare(command, redirections, &before);
        invocation.arguments = self.command_arguments(&simple.words, &before);
        invocation.decoded |= invocation.program().is_some_and(|program| self.values.is_decoded(program));
        invocation.assignments = assignments;
        invocation.substituted = self.since(substituted);
        take_own_input(&mut invocation, command, &stdin);
        // `exec < file` replaces the input of every command after it.
        let takes_over = matches!(invocation.program_name(), Some("exec" | "command" | "builtin"))
            && invocation.arguments.iter().any(|word| word.text == "exec");
        if takes_over && command.redirects.iter().any(|redirect| is_input(redirect.operator)) {
            self.lasting.note_input(stdin.clone());
        }
        self.lasting.note_invocation(&invocation);
        let indirect = self.mover(&invocation);
        let is_trap = invocation.arguments.iter().any(|word| word.text == "trap");
        let moved = self.change_of_directory(&invocation, &before);
        let first = self.found.invocations.len() + 1;
        let output = self.output(&invocation, command, &stdin, &before);
        let output = self.passed_on(simple, command, &before).unwrap_or(output);
        invocation.put = self.put(&invocation, command, &stdin, &before);
        self.sets_followed = self.set_by_builtin(simple, &stdin);
        let call = self.lasting.is_function(invocation.program_name().unwrap_or_default());
        let call = call.then(|| invocation.clone());
        self.invoke(invocation, &stdin);
        if call.is_some_and(|call| self.call(&call, &before, &stdin)) {
            self.output = StandardInput::Unknown;
        } else {
            self.output = output;
        }
        match (indirect, moved) {
            (DirectoryChange::Inside, _) if is_trap && self.moves_since(first) => {
                self.opaque(command.span, "a trap changes the directory at any time".to_owned());
                DirectoriesAfter::same(Directories::Unknown)
            }
            (DirectoryChange::Itself, _) => DirectoriesAfter::same(Directories::Unknown),
            (DirectoryChange::Inside, _) if self.moves_since(first) => {
                DirectoriesAfter::same(Directories::Unknown)
            }
            (_, Some(success)) => DirectoriesAfter { success, failure: before },
            (_, None) => DirectoriesAfter::same(before),
        }
    }

    /// Reads the assignments of a command, and notes the values they give.
    fn assignments(
        &mut self,
        simple: &SimpleCommand,
        command: &Command,
        before: &Directories,
    ) -> Vec<Variable> {
        let mut assignments = Vec::new();
        // An assignment before a command holds for that command alone.
        let is_lasting = simple.words.is_empty() && command.redirects.is_empty();
        for assignment in &simple.assignments {
            if self.is_posix && !assignment.subscript.is_empty() {
                self.not_everywhere(assignment.span);
            }
            self.parts(&assignment.subscript, before);
            self.note_subscript(&assignment.name, &assignment.subscript);
            let value = match &assignment.value {
                AssignmentValue::Word(word) => {
                    self.words(std::iter::once(word), before);
                    self.value(word, before)
                }
                AssignmentValue::Array(words) => {
                    self.words(words.iter(), before);
                    if is_lasting {
                        self.assign_elements(&assignment.name, words, before);
                    }
                    Argument::unknown(assignment.span)
                }
            };
            if is_lasting && let AssignmentValue::Word(word) = &assignment.value {
                match self.columns_of(word, before) {
                    Some(columns) => self.set_variable(&assignment.name, Some(vec![columns])),
                    None => self.assign(&assignment.name, &value),
                }
            } else if !is_lasting && (simple.words.is_empty() || self.is_posix) {
                // Whether it holds depends on the redirection, or on the shell and the command.
                self.set_variable(&assignment.name, None);
            }
            assignments.push(Variable { name: assignment.name.clone(), value });
        }
        assignments
    }

    /// Returns what a command writes, and notes the constants it sets.
    fn output(
        &mut self,
        invocation: &Invocation,
        command: &Command,
        stdin: &StandardInput,
        directories: &Directories,
    ) -> StandardInput {
        let program = invocation.program().and_then(Argument::fixed).unwrap_or_default();
        if DECLARING.contains(&program) {
            let has_options = invocation.operands().iter().any(Argument::is_option);
            for word in invocation.operands() {
                // A value with blanks becomes several words in some shells.
                let is_split =
                    invocation.operands().iter().filter(|other| other.span == word.span).count() > 1;
                let declared = Variable::declared(word).filter(|_| !has_options && !is_split);
                match (declared, assigned_name(word.as_written())) {
                    (Some(variable), _) if command.redirects.is_empty() => {
                        self.assign(&variable.name, &variable.value);
                    }
                    (_, Some(name)) => self.set_variable(name, None),
                    _ => {}
                }
            }
        }
        let home = self.home.filter(|_| self.knows_home && !self.lasting.has_other_home);
        let place = self.place(directories);
        let output = output_of(&invocation.arguments, stdin, place.as_deref(), home, self.is_posix);
        let is_plain = |redirect: &Redirect| match &redirect.descriptor {
            None | Some(Descriptor::Number(0)) => is_input(redirect.operator),
            Some(Descriptor::Number(2)) => !is_input(redirect.operator),
            Some(Descriptor::Number(_) | Descriptor::Variable(_)) => false,
        };
        let inputs = command.redirects.iter().filter(|redirect| is_input(redirect.operator));
        // A redirected command may write less than it would, or elsewhere.
        let is_exact = command.redirects.iter().all(is_plain) && inputs.count() < 2;
        if is_exact { output } else { output.roughly() }
    }

    /// Returns what a command writes into the file to which its output goes, if it fills that file alone and anew.
    fn put(
        &self,
        invocation: &Invocation,
        command: &Command,
        stdin: &StandardInput,
        directories: &Directories,
    ) -> Option<String> {
        let mut outputs = command.redirects.iter().filter(|redirect| !is_input(redirect.operator));
        let output = outputs.next().filter(|_| outputs.next().is_none())?;
        let inputs = command.redirects.iter().filter(|redirect| is_input(redirect.operator)).count();
        let fills = matches!(output.operator, RedirectOperator::Output | RedirectOperator::Clobber)
            && matches!(output.descriptor, None | Some(Descriptor::Number(1)));
        if !fills || inputs > 1 {
            return None;
        }
        let place = self.place(directories);
        match output_of(&invocation.arguments, stdin, place.as_deref(), None, self.is_posix) {
            StandardInput::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the lines that `echo "$x"` and `printf '%s\n' "$x"` pass on.
    fn passed_on(
        &self,
        simple: &SimpleCommand,
        command: &Command,
        before: &Directories,
    ) -> Option<StandardInput> {
        let (word, said) = simple.words.split_last()?;
        let said: Vec<&str> = said.iter().map(|word| word.text.as_str()).collect();
        let is_relay = matches!(said.as_slice(), ["echo"] | ["printf", "%s" | "%s\\n"]) && !self.is_posix;
        (is_relay && command.redirects.is_empty()).then(|| self.lines_in(word, before))?
    }

    /// Returns the lines that a quoted variable holds.
    fn lines_in(&self, word: &Word, before: &Directories) -> Option<StandardInput> {
        let [WordPart::Double { parts, .. }] = word.parts.as_slice() else { return None };
        let [part @ WordPart::Parameter { plain: true, .. }] = parts.as_slice() else { return None };
        let values = self.known(part, before)?;
        let is_list = |value: &KnownValue| match value {
            KnownValue::Columns(_) => true,
            KnownValue::Shaped { count, .. } => *count == LineCount::Many,
            KnownValue::Text { .. } | KnownValue::Elements(_) => false,
        };
        // Where there is no line, an empty one is passed on.
        values.iter().all(is_list).then(|| as_lines(&values, true))
    }

    /// Notes the variables that `read` and `mapfile` set; says whether it is such a command.
    fn set_by_builtin(&mut self, simple: &SimpleCommand, stdin: &StandardInput) -> bool {
        let Some(names) = names_read(&simple.words) else { return false };
        if let StandardInput::Columns(columns) = stdin {
            let separator = separator_of(simple, self.lasting.has_other_separators);
            let is_line = self.is_condition && simple.words.first().is_some_and(|word| word.text == "read");
            for (name, value) in names.iter().zip(columns::read_into(columns, separator, names.len())) {
                self.note_read(name, value.as_deref());
                self.set_variable(name, value.filter(|_| is_line));
            }
            return true;
        }
        let is_list = simple.words.first().is_some_and(|program| program.text != "read");
        let line = match stdin {
            StandardInput::Lines { shapes, .. } => Some(shapes.iter().cloned()),
            _ => None,
        };
        let values: Option<Vec<KnownValue>> = match (line, names.as_slice()) {
            (Some(shapes), [_]) if is_list => {
                let elements = shapes.map(|shape| KnownValue::Shaped { shape, count: LineCount::Many });
                Some(vec![KnownValue::Elements(elements.collect())])
            }
            // At its end the input leaves the variable empty, which ends a loop that asks for more.
            (Some(shapes), [_]) if self.is_condition => {
                Some(shapes.map(|shape| KnownValue::of(shape, LineCount::One)).collect())
            }
            _ => None,
        };
        let is_known = matches!(stdin, StandardInput::Text(text) if !text.contains('['));
        for name in names {
            if !is_known {
                self.note_read(name, values.as_deref());
            }
            self.set_variable(name, values.clone());
        }
        true
    }

    /// Reads one redirection.
    pub(super) fn redirect(
        &mut self,
        redirect: &Redirect,
        directories: &Directories,
        redirections: &mut Vec<Redirection>,
        stdin: &mut StandardInput,
    ) {
        if self.is_posix && is_of_bash(redirect) {
            self.not_everywhere(redirect.span);
        }
        let word = match &redirect.target {
            RedirectTarget::Heredoc(heredoc) => {
                self.parts(&heredoc.parts, directories);
                *stdin = if heredoc.quoted || !heredoc.parts.iter().any(is_expansion) {
                    StandardInput::Text(heredoc.text.clone())
                } else {
                    // Tabs are stripped before expansion, and where is not kept.
                    let known =
                        if heredoc.strip_tabs { None } else { self.document(&heredoc.parts, directories) };
                    known.unwrap_or_else(|| StandardInput::Partly(heredoc.text.clone()))
                };
                return;
            }
            RedirectTarget::Word(word) => word,
        };
        self.words(std::iter::once(word), directories);
        let is_text = redirect.operator == RedirectOperator::HereString;
        let target = if is_text { self.value(word, directories) } else { self.target(word, directories) };
        let accesses: &[Access] = match redirect.operator {
            RedirectOperator::Input => &[Access::Read],
            RedirectOperator::Output
            | RedirectOperator::Append
            | RedirectOperator::Clobber
            | RedirectOperator::OutputBoth
            | RedirectOperator::AppendBoth => &[Access::Write],
            RedirectOperator::ReadWrite => &[Access::Read, Access::Write],
            RedirectOperator::DuplicateInput | RedirectOperator::DuplicateOutput
                if !is_descriptor(&target) =>
            {
                &[Access::Read, Access::Write]
            }
            RedirectOperator::HereString => {
                *stdin = match target.knowledge {
                    _ if self.values.is_decoded(&target) => StandardInput::Decoded(target.text.clone()),
                    Knowledge::Fixed | Knowledge::Tilde | Knowledge::Glob => {
                        StandardInput::Text(target.text.clone())
                    }
                    Knowledge::Dynamic => self
                        .lines_in(word, directories)
                        .unwrap_or_else(|| StandardInput::Partly(target.text.clone())),
                };
                &[]
            }
            RedirectOperator::DuplicateInput => {
                *stdin = StandardInput::Unknown;
                &[]
            }
            RedirectOperator::DuplicateOutput | RedirectOperator::Heredoc => &[],
        };
        if accesses.contains(&Access::Read) {
            *stdin = match word.parts.as_slice() {
                [WordPart::Process { body, .. }] => self.values.lines_of(body),
                _ => StandardInput::Unknown,
            };
        }
        let appends = matches!(redirect.operator, RedirectOperator::Append | RedirectOperator::AppendBoth);
        let redirection = |&access: &Access| Redirection { access, target: target.clone(), appends };
        redirections.extend(accesses.iter().map(redirection));
    }
}

/// Returns what `read` splits lines at: what is set for it alone, else blanks, unless the line sets something else.
fn separator_of(simple: &SimpleCommand, has_other: bool) -> Option<ColumnSeparator> {
    let Some(assignment) = simple.assignments.iter().rfind(|one| one.name == "IFS") else {
        return (!has_other).then_some(ColumnSeparator::Blanks);
    };
    let AssignmentValue::Word(word) = &assignment.value else { return None };
    let mut letters = word.fixed()?.chars();
    match (letters.next(), letters.next()) {
        (Some(letter), None) => Some(ColumnSeparator::Letter(letter)),
        _ => None,
    }
}

/// Says whether a redirection is one that only bash and its kin know.
fn is_of_bash(redirect: &Redirect) -> bool {
    matches!(
        redirect.operator,
        RedirectOperator::HereString | RedirectOperator::OutputBoth | RedirectOperator::AppendBoth
    )
}

/// Notes that a redirection takes the place of what the pipeline would give, and the text that it gives instead.
fn take_own_input(invocation: &mut Invocation, command: &Command, stdin: &StandardInput) {
    if has_own_input(command) {
        invocation.piped = 0..0;
        match stdin {
            StandardInput::Partly(text) => invocation.given = Some(text.clone()),
            StandardInput::Text(text) | StandardInput::Decoded(text) => invocation.input = Some(text.clone()),
            _ => {}
        }
    }
}

/// Says whether a redirection takes the place of what the pipeline would give.
pub(super) fn has_own_input(command: &Command) -> bool {
    let inputs = || command.redirects.iter().filter(|redirect| is_input(redirect.operator));
    let is_own = |redirect: &Redirect| matches!(redirect.descriptor, None | Some(Descriptor::Number(0)));
    // A duplicate may be the pipeline under another number.
    inputs().any(is_own) && inputs().all(|redirect| redirect.operator != RedirectOperator::DuplicateInput)
}

/// Says whether a target is the number of a descriptor, or `-`, which closes one.
fn is_descriptor(target: &Argument) -> bool {
    target.fixed().is_some_and(|text| {
        let digits = text.trim_end_matches('-');
        digits.chars().all(|letter| letter.is_ascii_digit())
    })
}
