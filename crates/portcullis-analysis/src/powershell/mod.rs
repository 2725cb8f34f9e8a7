//! What PowerShell text would run, and the `cmd.exe` lines that agents pass to it.
//!
//! [`survey`] reads the text once, from left to right. It lists every command it meets, also those in script
//! blocks, sub-expressions and texts that are run, and computes what literals tell: names glued together from
//! pieces, constants, Base64. What it cannot tell is an opacity. Nothing is classified here.
//!
//! The text may be hostile. Brackets and texts nest to a limit, computed text is paid for from a budget that
//! grows with the input, and past either the rest is opaque.

mod alias;
mod carrier;
mod cmd;
mod collector;
mod command_line;
mod cursor;
mod encoded;
mod inside;
mod item;
mod launcher;
mod operator;
mod reader;
mod temporary;
mod value;
mod word;

use std::collections::BTreeSet;
use std::ops::Range;

use portcullis_shell::Span;

pub(crate) use alias::is_script;
pub use alias::spellings;
pub(crate) use reader::EXPORT;

use crate::act::Access;
use crate::argument::{Argument, Knowledge};
use crate::directories::Directories;
use crate::invocation::Opacity;

use collector::{CommandCollector, TextPlace};
use reader::PowerShellReader;

/// Every command of a PowerShell text, in order of appearance, and what is opaque in it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PowerShellSurvey {
    /// The commands. One that stands inside another follows it.
    pub commands: Vec<PowerShellCommand>,
    /// What could not be read or is only known when it runs.
    pub opacities: Vec<Opacity>,
    /// The functions it defines, and the signs that call a script block: what these run is listed behind a call of theirs.
    pub functions: BTreeSet<String>,
    is_plain: bool,
    is_followed: bool,
}

/// One command, or one use of a .NET type or member.
///
/// Types and members are listed by names such as `[system.net.webclient]::new` and `.downloadstring`. Text
/// that is piped or redirected is listed as `write-output`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PowerShellCommand {
    /// Where it stands in the outermost text.
    pub span: Span,
    /// Its canonical name: lower case, aliases resolved, without module, directory or extension of a program.
    ///
    /// In a `cmd.exe` line the names are those of `cmd.exe`: `del`, not `remove-item`.
    pub name: String,
    /// Its name as it is written, computed names included.
    pub written_name: String,
    /// Its arguments. The items of a list are arguments of their own.
    pub arguments: Vec<Argument>,
    /// The files it is redirected from and to, `$null` left out.
    pub redirections: Vec<(Access, Argument)>,
    /// The commands of the pipeline stage before it.
    pub piped: Range<usize>,
    /// The command in whose script block, sub-expression, argument or text it stands.
    pub nested_in: Option<usize>,
    /// Whether it follows `&` or `.`.
    pub is_dot_sourced_or_called: bool,
    /// Whether it was decoded, from `-EncodedCommand` or Base64.
    pub decoded: bool,
    /// The language it is written in.
    pub dialect: CommandDialect,
    /// The directories it may run in.
    pub directories: Directories,
    /// The files that come to it through a pipe.
    pub piped_files: PipedFiles,
    /// The text that comes to it through a pipe, if it is written there.
    pub input: Option<String>,
}

/// What comes to a command through a pipe, for one that opens files that come so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PipedFiles {
    /// Text, which is no file.
    Text,
    /// These files.
    Files(Vec<Argument>),
    /// Only known at run time.
    Unknown,
}

/// The language a command is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommandDialect {
    /// PowerShell.
    PowerShell,
    /// The command line of `cmd.exe`.
    Cmd,
}

impl PowerShellSurvey {
    /// Says whether the list of commands is all that runs, each under the name that it is run by.
    ///
    /// Variables, expressions, conditions, loops and script blocks are fine then: what they run is listed, and an argument
    /// that is only known at run time says so. Not fine are definitions, aliases, call operators, splatted and verbatim
    /// arguments, names with quotes or escapes in them, decoded text, and variables that steer PowerShell itself.
    pub fn is_followed(&self) -> bool {
        self.is_followed && self.opacities.is_empty()
    }

    /// Says whether nothing stands there but commands and pipelines with literal arguments.
    ///
    /// Such text has no script block, expression, variable, assignment, member, call operator, redirection
    /// other than to `$null`, and nothing opaque.
    pub fn is_literal_only(&self) -> bool {
        self.is_plain
            && self.opacities.is_empty()
            && self.commands.iter().all(|command| {
                command.redirections.is_empty()
                    && command.arguments.iter().all(|argument| argument.knowledge != Knowledge::Dynamic)
            })
    }
}

/// Lists the commands of PowerShell text.
///
/// Text that may as well be meant for `cmd.exe` is read both ways, and the commands of both readings are
/// listed.
pub fn survey(text: &str) -> PowerShellSurvey {
    survey_in(text, ".")
}

/// Lists the commands of PowerShell text that runs in a directory.
pub fn survey_in(text: &str, directory: &str) -> PowerShellSurvey {
    let mut collector = CommandCollector::new(text.len(), directory);
    temporary::note_folders(&mut collector.scope, text);
    let whole = Span::new(0, text.len());
    if text.contains('\0') {
        collector.opaque(whole, "it holds a character no command line can hold");
    }
    PowerShellReader::new(text, TextPlace::default(), &mut collector).read();
    // What names `cmd` is read as its line already.
    let names_cmd = collector.commands.first().is_some_and(|command| command.name == "cmd");
    if !names_cmd && cmd::may_be_cmd(text) {
        let first = collector.commands.len();
        cmd::read(text, TextPlace::default(), &mut collector);
        collector.drop_repeated(first);
    }
    collector.finish()
}
