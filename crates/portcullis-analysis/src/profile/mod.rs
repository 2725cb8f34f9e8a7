//! Command profiles: what is known of a program, compiled in from `data/commands/*.toml` and `data/cmdlets/*.toml`, and
//! read from files that users, their organizations and trusted projects add.
//!
//! A profile says which options take values, what operands are, which subcommands there are, and what all of these do.
//! `docs/development/command-profiles.md` describes the format. The build encodes them into one piece of bytes, of which
//! only what a command needs is ever read: a table of pointers would have to be mended at every start of the program.

mod added;
mod compile;
mod encoded;
mod matching;
mod unlisted;
mod words;

#[cfg(test)]
mod mutation_tests;

pub use added::{Authority, ProfileOrigin, Profiles};
pub use compile::{CompiledProfile, ProfileError, ProfileExample, ProgramName, compile};
pub use encoded::Form;
pub(crate) use matching::is_secret_name;
pub use matching::{Match, Use, Wanted, read};
pub(crate) use words::{Spelled, is_given_nothing, may_become_option, spelled_out};

use encoded::Bytes;

use crate::act::Act;
use crate::argument::Argument;

/// What is known of one program.
#[derive(Debug, Clone, Copy)]
pub struct Profile<'a> {
    /// What it is for, in a few words.
    pub summary: &'a str,
    /// How to read its arguments.
    pub form: Form<'a>,
}

/// How options are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// `-abc`, `-ovalue`, `--long=value`.
    Gnu,
    /// `-name value`, no clusters: Go, Java, terraform, find.
    SingleDash,
    /// `-Name value` or `/name`, in any case, beginnings count: PowerShell and Windows programs.
    Windows,
}

/// What is taken of options that a profile does not list. None of it holds for an option with a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OtherOptions {
    /// Nobody knows what they do.
    Unknown,
    /// Switches that mean the same everywhere are harmless; nobody knows what others do.
    Common,
    /// Switches are harmless: the program has none that acts.
    Harmless,
    /// Options are parameters of a request, as of a cloud's interface: their values are plain text.
    Parameters,
}

/// A place for operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slot {
    /// What the operand is.
    pub role: Role,
    /// Whether any number of operands go here.
    pub is_many: bool,
}

/// What a word of a command is to its program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Plain data.
    Text,
    /// What the form's own acts are done to.
    Target,
    /// Data that is sent; `@name` reads the file.
    Data,
    /// A command that the survey lists on its own.
    Command,
    /// The name of what a service is asked for; some names are those of secrets.
    Key,
    /// The act is done to it.
    Act(Act),
}

/// An option.
#[derive(Debug, Clone, Copy)]
pub struct Flag<'a> {
    spellings: Bytes<'a>,
    /// Whether it takes a value, and what that is.
    pub value: FlagValue,
    acts: Bytes<'a>,
    /// How it changes the reading of the rest.
    pub twist: Twist,
}

/// Whether an option takes a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FlagValue {
    /// It does not.
    None,
    /// It does: attached or in the next word.
    Required(Role),
    /// Only one that is attached.
    Attached(Role),
}

/// How an option changes the reading of the rest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Twist {
    /// Not at all.
    None,
    /// Nothing is done: it only shows what would be.
    Dry,
    /// The first operand's place is taken: `grep -e PATTERN`.
    Drop,
    /// Its acts take the place of the form's.
    Instead,
    /// Everything after it is data.
    Rest,
}

/// Says whether an option among the words of a program is listed as one that takes no value: `-f` of `rm`.
pub(crate) fn is_switch(program: &str, words: &[Argument], option: &Argument) -> bool {
    let Some(profile) = find(program) else { return false };
    let sorted = words::Words::sort(profile.form, words);
    let mut meanings = sorted.flags.iter().filter(|(_, _, word)| std::ptr::eq(*word, option)).peekable();
    meanings.peek().is_some() && meanings.all(|(flag, ..)| flag.value == FlagValue::None)
}

/// Finds the built-in profile of a program by its name without directory.
pub fn find(name: &str) -> Option<Profile<'static>> {
    encoded::find(encoded::Table::Commands, name)
}

/// Finds the built-in profile of a PowerShell cmdlet or Windows program by its canonical lower-case name.
pub fn find_cmdlet(name: &str) -> Option<Profile<'static>> {
    encoded::find(encoded::Table::Cmdlets, name)
}

/// Says whether there is a built-in profile of a program, by its name without directory.
fn is_listed(name: &str) -> bool {
    encoded::place_of(encoded::Table::Commands, name).is_some()
}

/// Says whether there is a built-in profile of a cmdlet or Windows program, by its canonical lower-case name.
fn is_listed_cmdlet(name: &str) -> bool {
    encoded::place_of(encoded::Table::Cmdlets, name).is_some()
}

/// Returns every name that has a built-in profile, with it.
pub fn built_in() -> impl Iterator<Item = (&'static str, Profile<'static>)> {
    encoded::all(encoded::Table::Commands).chain(encoded::all(encoded::Table::Cmdlets))
}
