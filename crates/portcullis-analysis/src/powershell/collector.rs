//! What is gathered while PowerShell text is read: commands, what is unknown, constants, and the limits.
//!
//! Everything that is computed is paid for with fuel in proportion to the text: PowerShell can multiply a text by a number,
//! and a hostile line must not make the reader do it.

use std::collections::{BTreeMap, BTreeSet};

use portcullis_shell::Span;

use super::value::{ObjectKind, PowerShellValue};
use super::{CommandDialect, PipedFiles, PowerShellCommand, PowerShellSurvey, alias};
use crate::directories::Directories;
use crate::invocation::Opacity;

/// How deep brackets, blocks and texts may stand in one another. Past it, the rest is opaque.
const DEEPEST: usize = 40;

/// How much text may be computed or read again for each byte of the command, and in any case.
const FUEL_FOR_EACH_BYTE: usize = 8;
const FUEL_IN_ANY_CASE: usize = 1 << 16;

/// Where text that is being read stands.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct TextPlace {
    /// The span of the argument it is, if it is not the outermost text.
    pub(super) span: Option<Span>,
    /// The command it belongs to.
    pub(super) owner: Option<usize>,
    /// Whether it was decoded.
    pub(super) is_decoded: bool,
    /// Whether part of it is not known.
    pub(super) is_open: bool,
}

/// The variables, aliases and functions a script defines.
#[derive(Debug, Default)]
pub(super) struct ScriptScope {
    constants: BTreeMap<String, PowerShellValue>,
    aliases: BTreeMap<String, String>,
    unstable: BTreeSet<String>,
    functions: BTreeMap<String, ScriptFunction>,
    defined: BTreeSet<String>,
    assigned: BTreeSet<String>,
    documents: BTreeSet<String>,
    /// Whether tables and lists are changed in place somewhere, so that what one holds at first says nothing.
    pub(super) changes_in_place: bool,
}

/// A function that a script defines: its parameters and body, as they are written.
#[derive(Debug, Clone)]
pub(super) struct ScriptFunction {
    pub(super) text: String,
    pub(super) span: Span,
    pub(super) is_called: bool,
}

/// What has been found so far.
#[derive(Debug)]
pub(super) struct CommandCollector {
    pub(super) commands: Vec<PowerShellCommand>,
    pub(super) scope: ScriptScope,
    pub(super) is_plain: bool,
    /// Whether everything that is run has been met in the text, under the name it is run by.
    is_followed: bool,
    opacities: Vec<Opacity>,
    fuel: usize,
    depth: usize,
    /// Where the commands run that are read now.
    pub(super) directories: Directories,
    /// Where the script goes back to.
    pub(super) pushed: Vec<Directories>,
    /// Whether nothing that is read now is kept.
    pub(super) is_trial: bool,
}

impl ScriptScope {
    /// Returns what a variable holds, by its name in lower case.
    pub(super) fn value(&self, name: &str) -> Option<&PowerShellValue> {
        self.constants.get(name)
    }

    /// Keeps what a variable holds, unless several places set it.
    pub(super) fn assign(&mut self, name: &str, value: PowerShellValue) {
        let is_document = self.documents.contains(name);
        let value = if is_document { PowerShellValue::Instance(ObjectKind::Document) } else { value };
        let is_shared =
            self.changes_in_place && matches!(value, PowerShellValue::Table(_) | PowerShellValue::List(_));
        if value == PowerShellValue::unknown() || self.unstable.contains(name) || is_shared {
            self.constants.remove(name);
        } else {
            self.constants.insert(name.to_owned(), value);
        }
    }

    /// Returns what a variable holds and forgets it, because it is about to change.
    pub(super) fn take(&mut self, name: &str) -> Option<PowerShellValue> {
        self.constants.remove(name)
    }

    /// Puts a value in the place of what a variable holds, which is returned.
    pub(super) fn replace(&mut self, name: &str, value: Option<PowerShellValue>) -> Option<PowerShellValue> {
        match value {
            Some(value) => self.constants.insert(name.to_owned(), value),
            None => self.constants.remove(name),
        }
    }

    /// Returns what all variables hold.
    pub(super) fn values(&self) -> BTreeMap<String, PowerShellValue> {
        self.constants.clone()
    }

    /// Forgets every variable that does not hold what it held before.
    pub(super) fn forget_changed(&mut self, before: &BTreeMap<String, PowerShellValue>) {
        self.constants.retain(|name, value| before.get(name) == Some(value));
    }

    /// Goes back to what variables held before.
    pub(super) fn restore(&mut self, before: BTreeMap<String, PowerShellValue>) {
        self.constants = before;
    }

    /// Returns what all variables hold, and forgets it.
    pub(super) fn take_values(&mut self) -> BTreeMap<String, PowerShellValue> {
        std::mem::take(&mut self.constants)
    }

    /// Notes a variable that a sign sets somewhere: what a loop or a call gives it may not last.
    pub(super) fn note_assigned(&mut self, name: String) {
        self.assigned.insert(name);
    }

    /// Notes a variable that turns whatever it is given into a document.
    pub(super) fn note_document(&mut self, name: &str) {
        self.documents.insert(name.to_owned());
    }

    /// Gives a variable what a loop or a call gives it; nothing is known if something else sets it as well.
    pub(super) fn bind(&mut self, name: &str, value: Option<PowerShellValue>) {
        match value.filter(|_| !self.assigned.contains(name)) {
            Some(value) => self.assign(name, value),
            None => self.forget(name),
        }
    }

    /// Keeps a function by its name in lower case.
    pub(super) fn define_function(&mut self, name: &str, function: ScriptFunction) {
        self.defined.insert(name.to_owned());
        self.functions.insert(name.to_owned(), function);
    }

    /// Returns the function of a name and notes that it is called.
    pub(super) fn called_function(&mut self, name: &str) -> Option<ScriptFunction> {
        let function = self.functions.get_mut(name)?;
        function.is_called = true;
        Some(function.clone())
    }

    /// Says whether the text defines a function of this name.
    pub(super) fn is_defined(&self, name: &str) -> bool {
        self.defined.contains(name)
    }

    /// Takes a function that nothing called.
    pub(super) fn take_uncalled(&mut self) -> Option<ScriptFunction> {
        let name = self.functions.iter().find(|(_, function)| !function.is_called)?.0.clone();
        self.functions.remove(&name)
    }

    /// Forgets what a variable holds.
    pub(super) fn forget(&mut self, name: &str) {
        self.constants.remove(name);
    }

    /// Forgets what all variables hold, after something that may change any.
    pub(super) fn forget_all(&mut self) {
        self.constants.clear();
    }

    /// Notes a variable whose value depends on the way taken through the script.
    pub(super) fn never_keep(&mut self, name: String) {
        self.constants.remove(&name);
        self.unstable.insert(name);
    }

    /// Notes an alias that the script defines, by which later commands are known.
    pub(super) fn define_alias(&mut self, name: &str, target: &str) {
        self.aliases.insert(name.to_lowercase(), target.to_owned());
    }

    /// Returns a command's canonical name, aliases the script defines considered.
    pub(super) fn canonical_name(&self, written: &str) -> String {
        let target = self.aliases.get(&written.to_lowercase());
        alias::canonical_name(target.map_or(written, String::as_str))
    }
}

impl CommandCollector {
    /// Begins with fuel in proportion to the text, so that no text costs more than its length.
    pub(super) fn new(length: usize, directory: &str) -> Self {
        Self {
            commands: Vec::new(),
            scope: ScriptScope::default(),
            is_plain: true,
            is_followed: true,
            opacities: Vec::new(),
            fuel: length.saturating_mul(FUEL_FOR_EACH_BYTE).saturating_add(FUEL_IN_ANY_CASE),
            depth: 0,
            directories: Directories::only(directory),
            pushed: Vec::new(),
            is_trial: false,
        }
    }

    /// Begins a reading of which nothing is kept, by what is left here.
    pub(super) fn trial(&self) -> Self {
        Self { fuel: self.fuel, depth: self.depth, is_trial: true, ..Self::new(0, "") }
    }

    /// Takes over what a trial left of the work that may be done.
    pub(super) fn end_trial(&mut self, left: usize) {
        self.fuel = self.fuel.min(left);
    }

    /// Returns how much work may still be done.
    pub(super) fn fuel(&self) -> usize {
        self.fuel
    }

    /// Says that where commands run is no longer followed.
    pub(super) fn lose_directory(&mut self, span: Span) {
        self.directories = Directories::Unknown;
        self.opaque(span, "where later commands run is only known at run time");
    }

    /// Notes something by which names or arguments mean something else than they say.
    pub(super) fn lose(&mut self) {
        self.is_plain = false;
        self.is_followed = false;
    }

    /// Notes something that is not known.
    pub(super) fn opaque(&mut self, span: Span, why: &str) {
        self.is_plain = false;
        let is_repeated = self.opacities.last().is_some_and(|last| last.span == span && last.why == why);
        if !is_repeated {
            self.opacities.push(Opacity { span, why: why.to_owned() });
        }
    }

    /// Goes one level deeper; `false` if that is too deep.
    pub(super) fn enter(&mut self, span: Span) -> bool {
        if self.depth >= DEEPEST {
            self.opaque(span, "it is nested too deeply to be read");
            return false;
        }
        self.depth += 1;
        true
    }

    /// Comes out of brackets or of a text that is run.
    pub(super) fn leave(&mut self) {
        self.depth = self.depth.saturating_sub(1);
    }

    /// Spends work on computed text; `false` if none is left.
    pub(super) fn spend(&mut self, amount: usize, span: Span) -> bool {
        let Some(left) = self.fuel.checked_sub(amount) else {
            self.opaque(span, "it computes too much text to be followed");
            return false;
        };
        self.fuel = left;
        true
    }

    /// Adds a command whose arguments follow; returns its index.
    pub(super) fn reserve(&mut self, name: String, written: &str, span: Span, place: TextPlace) -> usize {
        self.commands.push(PowerShellCommand {
            span,
            name,
            written_name: written.to_owned(),
            arguments: Vec::new(),
            redirections: Vec::new(),
            piped: 0..0,
            nested_in: place.owner,
            is_dot_sourced_or_called: false,
            decoded: place.is_decoded,
            dialect: CommandDialect::PowerShell,
            directories: self.directories.clone(),
            piped_files: PipedFiles::Unknown,
            input: None,
        });
        self.is_plain &= !place.is_decoded;
        self.is_followed &= !place.is_decoded;
        self.commands.len() - 1
    }

    /// Returns a command that was reserved.
    pub(super) fn command(&mut self, index: usize) -> Option<&mut PowerShellCommand> {
        self.commands.get_mut(index)
    }

    /// Drops the commands of a second reading if they are those of the first.
    pub(super) fn drop_repeated(&mut self, first: usize) {
        let (one, other) = self.commands.split_at_checked(first).unwrap_or_default();
        let is_same = |one: &PowerShellCommand, other: &PowerShellCommand| {
            one.name == other.name
                && one.arguments == other.arguments
                && one.redirections == other.redirections
        };
        let is_repeated =
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| is_same(one, other));
        if is_repeated {
            self.commands.truncate(first);
        } else {
            self.lose();
        }
    }

    /// Returns all that was found.
    pub(super) fn finish(self) -> PowerShellSurvey {
        let is_plain = self.is_plain && !self.commands.is_empty();
        let is_followed = self.is_followed && !self.commands.is_empty();
        let mut functions: BTreeSet<String> = self.scope.defined;
        functions.insert("&".to_owned());
        let (commands, opacities) = (self.commands, self.opacities);
        PowerShellSurvey { commands, opacities, functions, is_plain, is_followed }
    }
}
